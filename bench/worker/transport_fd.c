/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What transports made of descriptors share.  In strbench-native read and
 * write are the C library's, in strbench-streams those of libstreams: the
 * same source, compiled and linked twice.
 */
#include "transport.h"

#include <errno.h>
#include <unistd.h>

void
end_close_fds(struct end *end)
{
	if (end->rfd != -1)
		(void)close(end->rfd);
	if (end->wfd != -1 && end->wfd != end->rfd)
		(void)close(end->wfd);
	end->rfd = -1;
	end->wfd = -1;
}

int
channel_keep_fds(struct channel *channel, int which)
{
	end_close_fds(&channel->ends[!which]);
	return 0;
}

void
channel_set_fds(struct channel *channel, int rfd0, int wfd0, int rfd1, int wfd1)
{
	channel->ends[0] = (struct end){.rfd = rfd0, .wfd = wfd0};
	channel->ends[1] = (struct end){.rfd = rfd1, .wfd = wfd1};
}

ssize_t
end_send_all(struct end *end, const void *buf, size_t n)
{
	ssize_t ret = write(end->wfd, buf, n);

	if (__builtin_expect(ret == (ssize_t)n, 1))
		return ret;
	/* A blocking write is whole unless a signal came; none is awaited. */
	if (ret >= 0)
		errno = EIO;
	return -1;
}

ssize_t
end_recv_all(struct end *end, void *buf, size_t n)
{
	size_t got = 0;

	for (;;) {
		ssize_t ret = read(end->rfd, (char *)buf + got, n - got);

		end->read_calls++;
		if (__builtin_expect(ret == (ssize_t)(n - got), 1))
			return (ssize_t)n;
		/* The end comes between two messages, or it is an error. */
		if (ret <= 0 && got == 0)
			return ret;
		if (ret <= 0) {
			errno = ret == 0 ? EIO : errno;
			return -1;
		}
		got += (size_t)ret;
	}
}
