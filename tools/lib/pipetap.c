/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pipetap: a copy of what flows in a pipe between programs under strrun.
 *
 * The reader reads a new pipe meanwhile (insert.c).  The kernel duplicates the old
 * pipe's bytes into an own pipe, and then moves them to the new one.  So this
 * process never has bytes in its memory that no pipe has.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pipetap.h"

#define CHUNK 65536u

static int own[2];
static FILE *copy; /* NULL: no longer */

/* Wait for bytes in the old pipe, its end, or a signal.  False: the reader has
 * ended. */
static bool
wait_data(const struct insert *in, const sigset_t *was)
{
	struct pollfd p[2] = {{in->from, POLLIN, 0}, {in->to, 0, 0}};
	int n = ppoll(p, 2, NULL, was);

	return n < 0 ? errno == EINTR : p[1].revents == 0;
}

/* Let the reader have @n bytes, which the old pipe has.  False: it has ended. */
static bool
pass_on(const struct insert *in, size_t n)
{
	while (n > 0) {
		ssize_t k = splice(in->from, NULL, in->to, NULL, n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		n -= (size_t)k;
	}
	return true;
}

/* The copy of @n bytes, of which @want are wanted. */
static void
write_copy(size_t n, size_t want)
{
	static char buf[CHUNK];
	size_t have;
	ssize_t k;

	for (have = 0; have < n; have += (size_t)k) {
		k = read(own[0], buf + have, n - have);
		if (k < 0 && errno == EINTR)
			k = 0;
		else if (k <= 0)
			break;
	}
	if (have > want)
		have = want;
	if (fwrite(buf, 1, have, copy) != have || fflush(copy) != 0)
		copy = NULL;
}

static ssize_t
move(struct insert *in, size_t max)
{
	struct pollfd p = {in->from, POLLIN, 0};
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	if ((p.revents & POLLIN) == 0)
		return -1;
	do
		n = splice(in->from, NULL, in->to, NULL, max, 0);
	while (n < 0 && errno == EINTR);
	return n > 0 ? n : -1;
}

/* One step.  False: there will be no more. */
static bool
step(struct insert *in, uint64_t left, uint64_t *done)
{
	ssize_t n = tee(in->from, own[1], CHUNK, SPLICE_F_NONBLOCK);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || !pass_on(in, (size_t)n))
		return false;
	if ((uint64_t)n < left)
		left = (uint64_t)n;
	write_copy((size_t)n, left);
	*done += copy != NULL ? left : 0;
	return true;
}

uint64_t
pipe_tap(struct insert *in, long pid, long fd, FILE *out, uint64_t count)
{
	uint64_t done = 0;
	sigset_t ends, was;
	bool goes_on = true;

	copy = out;
	/* the kernel's: pipe() makes a stream */
	if (syscall(SYS_pipe2, own, O_CLOEXEC) != 0)
		tool_die(in->tool, "pipe");
	(void)signal(SIGPIPE, SIG_IGN);
	insert_pipe(in, pid, fd);
	tool_warn(in->tool, "copying what process %ld reads", in->pid);
	/* a signal after a check of `asked_to_end' ends the wait, too */
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ends, &was);
	while (goes_on && copy != NULL && (count == 0 || done < count) &&
			!*in->asked_to_end)
		goes_on = wait_data(in, &was) && step(in, count == 0 ?
			UINT64_MAX : count - done, &done);
	if (goes_on)
		(void)insert_leave(in, move);
	return done;
}
