/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "perftest.h"

#include <errno.h>
#include <unistd.h>
#ifndef NATIVE_PIPES
#include <stropts.h>
#endif

static void
note_failure(struct tally *tally)
{
	if (errno == EAGAIN)
		tally->again++;
	else if (errno == EINTR)
		tally->interrupted++;
}

#ifndef NATIVE_PIPES
static ssize_t
put_message(const struct perftest *test, struct tally *tally)
{
	struct strbuf data = {
		.len = (int)test->options->size,
		.buf = test->buffer,
	};
	int ret = putmsg(test->fds[1], NULL, &data, 0);

	if (ret != -1)
		tally_add(tally, data.len, ret);
	else
		note_failure(tally);
	return ret == -1 ? -1 : (ssize_t)data.len;
}

/* Returns 0 for a hung-up stream, which getmsg tells by empty parts. */
static ssize_t
get_message(const struct perftest *test, struct tally *tally)
{
	struct strbuf ctl = {.maxlen = -1};
	struct strbuf data = {
		.maxlen = (int)test->read_size,
		.buf = test->buffer,
	};
	int flags = 0;
	int ret = getmsg(test->fds[0], &ctl, &data, &flags);

	if (ret == -1) {
		note_failure(tally);
		return -1;
	}
	if (data.len <= 0)
		return 0;
	tally_add(tally, data.len, ret);
	return data.len;
}
#endif

ssize_t
perftest_send(const struct perftest *test, struct tally *tally)
{
	ssize_t ret;

#ifndef NATIVE_PIPES
	if (!test->options->readwrite)
		return put_message(test, tally);
#endif
	ret = write(test->fds[1], test->buffer, test->options->size);
	if (ret > 0)
		tally_add(tally, ret, ret);
	else if (ret == -1)
		note_failure(tally);
	return ret;
}

ssize_t
perftest_receive(const struct perftest *test, struct tally *tally)
{
	ssize_t ret;

#ifndef NATIVE_PIPES
	if (!test->options->readwrite)
		return get_message(test, tally);
#endif
	ret = read(test->fds[0], test->buffer, test->read_size);
	if (ret > 0)
		tally_add(tally, ret, ret);
	else if (ret == -1)
		note_failure(tally);
	return ret;
}
