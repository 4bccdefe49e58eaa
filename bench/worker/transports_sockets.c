/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * TCP and UDP through the kernel's sockets, used as netperf uses them by
 * default: Nagle's algorithm stays on, a datagram socket is connected, a
 * message is one send() and one recv() of its size, both blocking.
 */
#include "sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"

int
socket_set_buffers(int fd, size_t bytes)
{
	int n = (int)bytes;

	if (bytes == 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)) != 0)
		return -1;
	return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n));
}

ssize_t
socket_send(struct end *end, const void *buf, size_t n)
{
	ssize_t ret = send(end->wfd, buf, n, 0);

	if (__builtin_expect(ret == (ssize_t)n, 1))
		return ret;
	if (ret >= 0)
		errno = EIO;
	return -1;
}

/* A byte stream: again until the message is whole. */
static ssize_t
socket_recv(struct end *end, void *buf, size_t n)
{
	size_t got = 0;

	for (;;) {
		ssize_t ret = recv(end->rfd, (char *)buf + got, n - got, 0);

		end->read_calls++;
		if (__builtin_expect(ret == (ssize_t)(n - got), 1))
			return (ssize_t)n;
		if (ret <= 0 && got == 0)
			return ret;
		if (ret <= 0) {
			errno = ret == 0 ? EIO : errno;
			return -1;
		}
		got += (size_t)ret;
	}
}

ssize_t
socket_recv_datagram(struct end *end, void *buf, size_t n)
{
	ssize_t ret = recv(end->rfd, buf, n, MSG_TRUNC);

	end->read_calls++;
	return end_datagram_in(end, ret);
}

int
socket_mark(struct end *end)
{
	ssize_t ret = send(end->wfd, "", 0, MSG_DONTWAIT);

	return ret == -1 && errno != EAGAIN && errno != ENOBUFS ? -1 : 0;
}

static int
give_up(struct end *end)
{
	int error = errno;

	end_close_fds(end);
	errno = error;
	return -1;
}

static struct sockaddr *
sockaddr_of(const struct address *address)
{
	return (struct sockaddr *)(void *)(uintptr_t)address->bytes;
}

static int
get_name(struct end *end, struct address *name)
{
	socklen_t len = sizeof(name->bytes);

	if (getsockname(end->rfd, sockaddr_of(name), &len) != 0)
		return -1;
	name->len = len;
	return 0;
}

/* A socket bound to @at, of the family of @like. */
static int
make(const struct net *net, struct end *end, const struct address *like,
	struct address *at, size_t bufsize)
{
	int fd = socket(sockaddr_of(like)->sa_family,
		(net->stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);

	*end = (struct end){.rfd = fd, .wfd = fd};
	if (fd == -1)
		return -1;
	if (socket_set_buffers(fd, bufsize) != 0)
		return give_up(end);
	if (at->len != 0 && bind(fd, sockaddr_of(at), at->len) != 0)
		return give_up(end);
	return 0;
}

static int
socket_offer(const struct net *net, struct end *end, struct address *at,
	size_t bufsize)
{
	if (make(net, end, at, at, bufsize) != 0)
		return -1;
	if (net->stream && listen(end->rfd, 1) != 0)
		return give_up(end);
	return get_name(end, at) == 0 ? 0 : give_up(end);
}

static int
socket_reach(const struct net *net, struct end *end, const struct address *to,
	struct address *mine, size_t bufsize)
{
	if (make(net, end, to, mine, bufsize) != 0)
		return -1;
	if (connect(end->wfd, sockaddr_of(to), to->len) != 0)
		return give_up(end);
	return get_name(end, mine) == 0 ? 0 : give_up(end);
}

static int
socket_take(const struct net *net, struct end *end, const struct address *from,
	size_t bufsize)
{
	int fd;

	(void)bufsize; /* accepted sockets have those of the listening one */
	if (!net->stream)
		return from == NULL ? 0
				    : connect(end->rfd, sockaddr_of(from),
					      from->len);
	fd = accept4(end->rfd, NULL, NULL, SOCK_CLOEXEC);
	if (fd == -1)
		return -1;
	end_close_fds(end);
	end->rfd = end->wfd = fd;
	return 0;
}

static int
socket_reached(const struct net *net, struct end *end)
{
	(void)net;
	(void)end;
	return 0;
}

static const struct net tcp_net = {
	.stream = 1,
	.offer = socket_offer,
	.reach = socket_reach,
	.take = socket_take,
	.reached = socket_reached,
};

static const struct net udp_net = {
	.offer = socket_offer,
	.reach = socket_reach,
	.take = socket_take,
	.reached = socket_reached,
	.mark = socket_mark,
};

/* the receiver is there */
static const struct apart netns_apart = {
	.there = 1,
	.address = NETNS_HERE,
};

static const struct net udp_netns_net = {
	.offer = socket_offer,
	.reach = socket_reach,
	.take = socket_take,
	.reached = socket_reached,
	.mark = socket_mark,
	.apart = &netns_apart,
};

const struct transport tcp_sockets = {
	.name = "tcp-sockets",
	.open = net_open,
	.keep = channel_keep_fds,
	.send = socket_send,
	.recv = socket_recv,
	.hang_up = end_close_fds,
	.net = &tcp_net,
};

const struct transport udp_sockets = {
	.name = "udp-sockets",
	.records = 1,
	.datagrams = 1,
	.open = net_open,
	.keep = channel_keep_fds,
	.send = socket_send,
	.recv = socket_recv_datagram,
	.hang_up = socket_hang_up_datagrams,
	.net = &udp_net,
};

const struct transport udp_sockets_netns = {
	.name = "udp-sockets-netns",
	.records = 1,
	.datagrams = 1,
	.open = net_open,
	.keep = channel_keep_fds,
	.send = socket_send,
	.recv = socket_recv_datagram,
	.hang_up = socket_hang_up_datagrams,
	.net = &udp_netns_net,
};

void
socket_hang_up_datagrams(struct end *end)
{
	end_say_over(&udp_sockets, end);
	end_close_fds(end);
}
