/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What STREAMS is compared with on one machine: the kernel's pipes and UNIX
 * sockets, and the bare ring.  TCP and UDP are in transports_sockets.c.
 */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ring.h"
#include "sockets.h"

static int
pipe_open(struct channel *channel, int two_way)
{
	int there[2], back[2] = {-1, -1};

	if (pipe(there) != 0)
		return -1;
	if (two_way && pipe(back) != 0) {
		int error = errno;

		(void)close(there[0]);
		(void)close(there[1]);
		errno = error;
		return -1;
	}
	channel_set_fds(channel, back[0], there[1], there[0], back[1]);
	return 0;
}

/* The largest that a user may have unless the system is told otherwise. */
static int
pipe_open_1m(struct channel *channel, int two_way)
{
	if (pipe_open(channel, two_way) != 0)
		return -1;
	if (fcntl(channel->ends[0].wfd, F_SETPIPE_SZ, 1 << 20) != -1 &&
		(!two_way ||
			fcntl(channel->ends[1].wfd, F_SETPIPE_SZ, 1 << 20) !=
				-1))
		return 0;
	channel->absent = errno == EPERM;
	return -1;
}

static int
fifo_linux_open(struct channel *channel, int two_way)
{
	(void)two_way;
	return fifo_open(channel, NULL);
}

static int
socketpair_open(struct channel *channel, int type)
{
	int fds[2];

	if (socketpair(AF_UNIX, type, 0, fds) != 0)
		return -1;
	channel_set_fds(channel, fds[0], fds[0], fds[1], fds[1]);
	if (socket_set_buffers(fds[0], channel->bufsize) == 0 &&
		socket_set_buffers(fds[1], channel->bufsize) == 0)
		return 0;
	type = errno;
	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	errno = type;
	return -1;
}

static int
unix_stream_open(struct channel *channel, int two_way)
{
	(void)two_way;
	return socketpair_open(channel, SOCK_STREAM);
}

static int
unix_seqpacket_open(struct channel *channel, int two_way)
{
	(void)two_way;
	return socketpair_open(channel, SOCK_SEQPACKET);
}

static int
unix_dgram_open(struct channel *channel, int two_way)
{
	(void)two_way;
	if (socketpair_open(channel, SOCK_DGRAM) != 0)
		return -1;
	return channel_share_ends(channel);
}

/* A record is whatever one call returns: no second call may complete it. */
static ssize_t
seqpacket_recv(struct end *end, void *buf, size_t n)
{
	end->read_calls++;
	return read(end->rfd, buf, n);
}

static int
ring_open(struct channel *channel, int two_way)
{
	struct ring *there = ring_create();
	struct ring *back = NULL;

	if (there == NULL)
		return -1;
	if (two_way && (back = ring_create()) == NULL) {
		ring_destroy(there);
		return -1;
	}
	channel_set_fds(channel, -1, -1, -1, -1);
	channel->ends[0].out = there;
	channel->ends[1].in = there;
	channel->ends[1].out = back;
	channel->ends[0].in = back;
	return 0;
}

static int
ring_keep(struct channel *channel, int which)
{
	struct end *end = &channel->ends[which];
	int error = 0;

	if (end->in != NULL)
		error = ring_attach(end->in, RING_CONSUMER);
	if (error == 0 && end->out != NULL)
		error = ring_attach(end->out, RING_PRODUCER);
	errno = error;
	return error == 0 ? 0 : -1;
}

static ssize_t
ring_send(struct end *end, const void *buf, size_t n)
{
	return (ssize_t)ring_write(end->out, buf, n);
}

static ssize_t
ring_recv(struct end *end, void *buf, size_t n)
{
	size_t got = 0;

	for (;;) {
		size_t ret = ring_read(end->in, (char *)buf + got, n - got);

		end->read_calls++;
		got += ret;
		if (__builtin_expect(got == n, 1))
			return (ssize_t)n;
		if (ret == 0 && got == 0)
			return 0;
		if (ret == 0) {
			errno = EIO;
			return -1;
		}
	}
}

/* The memory goes with the process: the peer may still be reading. */
static void
ring_hang_up(struct end *end)
{
	if (end->out != NULL)
		ring_close(end->out);
}

static const struct transport pipe_linux = {
	.name = "pipe-linux",
	.open = pipe_open,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = end_recv_all,
	.hang_up = end_close_fds,
};

static const struct transport pipe_linux_1m = {
	.name = "pipe-linux-1m",
	.open = pipe_open_1m,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = end_recv_all,
	.hang_up = end_close_fds,
};

static const struct transport fifo_linux = {
	.name = "fifo-linux",
	.open = fifo_linux_open,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = end_recv_all,
	.hang_up = end_close_fds,
};

static const struct transport unix_stream = {
	.name = "unix-stream",
	.open = unix_stream_open,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = end_recv_all,
	.hang_up = end_close_fds,
	.net = &unix_stream_net,
};

static const struct transport unix_seqpacket = {
	.name = "unix-seqpacket",
	.records = 1,
	.open = unix_seqpacket_open,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = seqpacket_recv,
	.hang_up = end_close_fds,
};

/* Nothing is lost here: a sender to a full receiver waits. */
static const struct net unix_dgram_net = {
	.mark = socket_mark,
};

static const struct transport unix_dgram = {
	.name = "unix-dgram",
	.records = 1,
	.datagrams = 1,
	.open = unix_dgram_open,
	.keep = channel_keep_fds,
	.send = socket_send,
	.recv = socket_recv_datagram,
	.hang_up = socket_hang_up_datagrams,
	.net = &unix_dgram_net,
};

static const struct transport ring = {
	.name = "ring",
	.open = ring_open,
	.keep = ring_keep,
	.send = ring_send,
	.recv = ring_recv,
	.hang_up = ring_hang_up,
};

const struct transport *const transports[] = {
	&pipe_linux,
	&pipe_linux_1m,
	&fifo_linux,
	&unix_stream,
	&unix_seqpacket,
	&unix_dgram,
	&tcp_sockets,
	&tcp_sockets_nodelay,
	&udp_sockets,
	&udp_sockets_netns,
	&raw_sockets,
	&ring,
	NULL,
};
