/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * STREAMS pipes, in every way the measurements use them.  The variants
 * differ in what is done to the two ends after pipe(), and in the calls that
 * move a message.
 */
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <stropts.h>
#include <unistd.h>

/* A STREAMS pipe is full duplex: one is enough for both directions. */
static int
streams_open(struct channel *channel, int two_way)
{
	int fds[2];

	(void)two_way;
	if (pipe(fds) != 0)
		return -1;
	channel_set_fds(channel, fds[0], fds[0], fds[1], fds[1]);
	if (isastream(fds[0]) == 1 && isastream(fds[1]) == 1)
		return 0;
	/* Not what is to be measured: pipe() did not reach libstreams. */
	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	errno = ENOSTR;
	return -1;
}

static int
give_up(struct channel *channel)
{
	int error = errno;

	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	errno = error;
	return -1;
}

static int
open_pushed(struct channel *channel, int two_way, const char *module)
{
	if (streams_open(channel, two_way) != 0)
		return -1;
	return ioctl(channel->ends[0].wfd, I_PUSH, module) == -1
		       ? give_up(channel)
		       : 0;
}

static int
nullmod_open(struct channel *channel, int two_way)
{
	return open_pushed(channel, two_way, "nullmod");
}

static int
srvmod_open(struct channel *channel, int two_way)
{
	return open_pushed(channel, two_way, "srvmod");
}

static int
hold_open(struct channel *channel, int two_way)
{
	if (streams_open(channel, two_way) != 0)
		return -1;
	return ioctl(channel->ends[0].wfd, I_SWROPT, SNDPIPE | SNDHOLD) == -1
		       ? give_up(channel)
		       : 0;
}

/* The stream head that reads is the one that announces its reads. */
static int
mread_open(struct channel *channel, int two_way)
{
	if (streams_open(channel, two_way) != 0)
		return -1;
	return ioctl(channel->ends[1].rfd, I_SWROPT, SNDPIPE | SNDMREAD) == -1
		       ? give_up(channel)
		       : 0;
}

static int
rfill_open(struct channel *channel, int two_way)
{
	if (streams_open(channel, two_way) != 0)
		return -1;
	return ioctl(channel->ends[1].rfd, I_SRDOPT, RFILL | RPROTNORM) == -1
		       ? give_up(channel)
		       : 0;
}

/* That FIFO is to be a STREAMS one: streams.conf(5). */
static void
announce_fifo(const char *path)
{
	(void)setenv("STREAMS_FIFOS", path, 1);
}

static int
fifo_streams_open(struct channel *channel, int two_way)
{
	(void)two_way;
	if (fifo_open(channel, announce_fifo) != 0)
		return -1;
	if (isastream(channel->ends[0].wfd) == 1)
		return 0;
	errno = ENOSTR;
	return give_up(channel);
}

static ssize_t
msg_send(struct end *end, const void *buf, size_t n)
{
	struct strbuf data = {.len = (int)n, .buf = (char *)buf};

	return putmsg(end->wfd, NULL, &data, 0) == 0 ? (ssize_t)n : -1;
}

static ssize_t
msg_recv(struct end *end, void *buf, size_t n)
{
	struct strbuf data = {.maxlen = (int)n, .buf = buf};
	int flags = 0;
	int ret = getmsg(end->rfd, NULL, &data, &flags);

	end->read_calls++;
	if (ret == -1)
		return -1;
	/* MOREDATA: the record is longer than the one that was sent. */
	if (ret != 0) {
		errno = EMSGSIZE;
		return -1;
	}
	return data.len > 0 ? data.len : 0;
}

#define STREAMS_READ_WRITE(open_)                                      \
	.open = open_, .keep = channel_keep_fds, .send = end_send_all, \
	.recv = end_recv_all, .hang_up = end_close_fds

static const struct transport pipe_streams = {
	.name = "pipe-streams",
	STREAMS_READ_WRITE(streams_open),
};

static const struct transport fifo_streams = {
	.name = "fifo-streams",
	STREAMS_READ_WRITE(fifo_streams_open),
};

static const struct transport pipe_streams_msg = {
	.name = "pipe-streams-msg",
	.records = 1,
	.open = streams_open,
	.keep = channel_keep_fds,
	.send = msg_send,
	.recv = msg_recv,
	.hang_up = end_close_fds,
};

static const struct transport pipe_streams_nullmod = {
	.name = "pipe-streams-nullmod",
	STREAMS_READ_WRITE(nullmod_open),
};

static const struct transport pipe_streams_srvmod = {
	.name = "pipe-streams-srvmod",
	STREAMS_READ_WRITE(srvmod_open),
};

static const struct transport pipe_streams_service = {
	.name = "pipe-streams-service",
	STREAMS_READ_WRITE(srvmod_open),
};

static const struct transport pipe_streams_hold = {
	.name = "pipe-streams-hold",
	STREAMS_READ_WRITE(hold_open),
};

static const struct transport pipe_streams_mread = {
	.name = "pipe-streams-mread",
	STREAMS_READ_WRITE(mread_open),
};

static const struct transport pipe_streams_rfill = {
	.name = "pipe-streams-rfill",
	STREAMS_READ_WRITE(rfill_open),
};

const struct transport *const transports[] = {
	&pipe_streams,
	&fifo_streams,
	&pipe_streams_msg,
	&pipe_streams_nullmod,
	&pipe_streams_srvmod,
	&pipe_streams_service,
	&pipe_streams_hold,
	&pipe_streams_mread,
	&pipe_streams_rfill,
	NULL,
};
