/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Opening and configuring the pipe.  The order is fixed, because water
 * marks, options and modules act on the end they are applied to: first the
 * reading end fds[0], then the writing end fds[1].
 *
 * perftestn is this file without STREAMS: it takes the same options, so
 * that a script can run both, and those that configure a stream change
 * nothing there.
 */
#include "perftest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef NATIVE_PIPES
#include <stropts.h>
#endif

#define FIFO_PATH "/dev/streams/fifo/0"

static int
set_blocking(int fd, int blocking)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1)
		return perftest_complain("F_GETFL");
	flags = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) == -1 ? perftest_complain("F_SETFL")
					       : 0;
}

#ifdef NATIVE_PIPES
static int
open_ends(struct perftest *test)
{
	return pipe(test->fds) == -1 ? perftest_complain("pipe") : 0;
}

static int
configure_reader(const struct perftest *test)
{
	return set_blocking(test->fds[0], test->options->blocking);
}

static int
configure_writer(const struct perftest *test)
{
	return set_blocking(test->fds[1], test->options->blocking);
}
#else
/*
 * Both ends of a FIFO share one stream head.  O_NONBLOCK here, because a
 * FIFO's open for reading waits for a writer, who comes one line later.
 */
static int
open_fifo(struct perftest *test)
{
	test->fds[0] = open(FIFO_PATH, O_RDONLY | O_NONBLOCK);
	if (test->fds[0] == -1)
		return perftest_complain(FIFO_PATH);
	test->fds[1] = open(FIFO_PATH, O_WRONLY | O_NONBLOCK);
	if (test->fds[1] == -1)
		return perftest_complain(FIFO_PATH);
	return 0;
}

static int
open_ends(struct perftest *test)
{
	if (test->options->fifo)
		return open_fifo(test);
	return pipe(test->fds) == -1 ? perftest_complain("pipe") : 0;
}

/*
 * The low-water mark must not exceed the high one at any moment.  Raising
 * both needs the high one first, lowering both the low one first; trying
 * high, low, high does either, so the first refusal means nothing.
 */
static int
set_water_marks(const struct perftest *test, int fd)
{
	int hiwat = (int)test->options->hiwat;
	int lowat = (int)test->options->lowat;

	if (hiwat >= 0)
		(void)ioctl(fd, I_SET_HIWAT, hiwat);
	if (lowat >= 0 && ioctl(fd, I_SET_LOWAT, lowat) == -1)
		return perftest_complain("I_SET_LOWAT");
	if (hiwat >= 0 && ioctl(fd, I_SET_HIWAT, hiwat) == -1)
		return perftest_complain("I_SET_HIWAT");
	return 0;
}

static int
configure_reader(const struct perftest *test)
{
	if (set_water_marks(test, test->fds[0]) != 0)
		return -1;
	if (test->options->readfill &&
		ioctl(test->fds[0], I_SRDOPT, RFILL | RPROTNORM) == -1)
		return perftest_complain("I_SRDOPT");
	return set_blocking(test->fds[0], test->options->blocking);
}

static int
configure_writer(const struct perftest *test)
{
	int options = SNDPIPE;

	if (set_water_marks(test, test->fds[1]) != 0)
		return -1;
	if (test->options->hold)
		options |= SNDHOLD;
	if (test->options->mread)
		options |= SNDMREAD;
	if (options != SNDPIPE && ioctl(test->fds[1], I_SWROPT, options) == -1)
		return perftest_complain("I_SWROPT");
	if (set_blocking(test->fds[1], test->options->blocking) != 0)
		return -1;
	for (long i = 0; i < test->options->push; i++) {
		if (ioctl(test->fds[1], I_PUSH, test->options->module) == -1)
			return perftest_complain(test->options->module);
	}
	return 0;
}
#endif

int
perftest_open(struct perftest *test)
{
	size_t largest = test->options->size > PERFTEST_PIPE_BUF
				 ? test->options->size
				 : PERFTEST_PIPE_BUF;

	test->fds[0] = -1;
	test->fds[1] = -1;
	test->read_size =
		test->options->full ? PERFTEST_PIPE_BUF : test->options->size;
	test->buffer = calloc(1, largest);
	if (test->buffer == NULL)
		return perftest_complain("memory");
	if (open_ends(test) != 0 || configure_reader(test) != 0 ||
		configure_writer(test) != 0) {
		perftest_close(test);
		return -1;
	}
	return 0;
}

void
perftest_close(struct perftest *test)
{
	for (int i = 0; i < 2; i++) {
		if (test->fds[i] != -1)
			(void)close(test->fds[i]);
		test->fds[i] = -1;
	}
	free(test->buffer);
	test->buffer = NULL;
}
