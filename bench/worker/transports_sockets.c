/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * TCP, UDP and raw IP through the kernel's sockets, used as netperf uses them by
 * default: Nagle's algorithm stays on, a datagram socket is connected, a
 * message is one send() and one recv() of its size, both blocking.
 */
#include "sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"

#define IP_HEADER 20 /* bytes, without options */

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

/* The header comes with the data: behind it stands what was sent. */
static ssize_t
socket_recv_raw(struct end *end, void *buf, size_t n)
{
	char header[IP_HEADER];
	struct iovec parts[2] = {{header, sizeof(header)}, {buf, n}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t ret = recvmsg(end->rfd, &message, MSG_TRUNC);

	end->read_calls++;
	if (ret >= 0 && ret < IP_HEADER) {
		errno = EPROTO;
		return -1;
	}
	return end_datagram_in(end, ret == -1 ? -1 : ret - IP_HEADER);
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

static int
make_unbound(const struct net *net, struct end *end, int family, int protocol)
{
	int fd = socket(family,
		(net->stream ? SOCK_STREAM
			: net->raw ? SOCK_RAW
				   : SOCK_DGRAM) | SOCK_CLOEXEC, protocol);

	*end = (struct end){.rfd = fd, .wfd = fd};
	return fd == -1 ? -1 : 0;
}

static int
socket_create(const struct net *net, struct end *end)
{
	return make_unbound(net, end, net->family, 0);
}

static int
port_of(const struct address *address)
{
	struct sockaddr_in sin;

	memcpy(&sin, address->bytes, sizeof(sin));
	return ntohs(sin.sin_port);
}

/* A socket bound to @at, of the family of @like. */
static int
make(const struct net *net, struct end *end, const struct address *like,
	struct address *at, size_t bufsize)
{
	if (make_unbound(net, end, sockaddr_of(like)->sa_family,
		    net->raw ? port_of(like) : 0) != 0)
		return -1;
	if (socket_set_buffers(end->rfd, bufsize) != 0)
		return give_up(end);
	if (at->len != 0 && bind(end->rfd, sockaddr_of(at), at->len) != 0)
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
socket_accept(const struct net *net, struct end *listener, struct end *end,
	size_t bufsize)
{
	int fd = accept4(listener->rfd, NULL, NULL, SOCK_CLOEXEC);

	(void)net;
	(void)bufsize; /* accepted sockets have those of the listening one */
	*end = (struct end){.rfd = fd, .wfd = fd};
	return fd == -1 ? -1 : 0;
}

static int
socket_take(const struct net *net, struct end *end, const struct address *from,
	size_t bufsize)
{
	struct end taken;

	if (!net->stream)
		return from == NULL ? 0
				    : connect(end->rfd, sockaddr_of(from),
					      from->len);
	if (socket_accept(net, end, &taken, bufsize) != 0)
		return -1;
	end_close_fds(end);
	*end = taken;
	return 0;
}

static int
socket_reached(const struct net *net, struct end *end)
{
	(void)net;
	(void)end;
	return 0;
}

/* An address of the kernel's choice. */
static int
unix_offer(const struct net *net, struct end *end, struct address *at,
	size_t bufsize)
{
	const struct sockaddr any = {.sa_family = AF_UNIX};

	at->len = sizeof(any.sa_family);
	memcpy(at->bytes, &any, at->len);
	return socket_offer(net, end, at, bufsize);
}

#define SOCKET_NET                                            \
	.reach = socket_reach, .take = socket_take,           \
	.reached = socket_reached, .accept = socket_accept, \
	.create = socket_create

static const struct net tcp_net = {
	.family = AF_INET,
	.stream = 1,
	.offer = socket_offer,
	SOCKET_NET,
};

static const struct net udp_net = {
	.family = AF_INET,
	.offer = socket_offer,
	SOCKET_NET,
	.mark = socket_mark,
};

const struct net unix_stream_net = {
	.family = AF_UNIX,
	.loopback = 1,
	.stream = 1,
	.offer = unix_offer,
	SOCKET_NET,
};

static const struct net raw_net = {
	.raw = 1,
	.offer = socket_offer,
	SOCKET_NET,
	.mark = socket_mark,
};

/* the receiver is there */
static const struct apart netns_apart = {
	.there = 1,
	.address = NETNS_HERE,
};

static const struct net udp_netns_net = {
	.family = AF_INET,
	.offer = socket_offer,
	SOCKET_NET,
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

/* Small messages are not gathered. */
static int
nodelay_open(struct channel *channel, int two_way)
{
	int on = 1;

	if (net_open(channel, two_way) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (setsockopt(channel->ends[i].wfd, IPPROTO_TCP, TCP_NODELAY,
			    &on, sizeof(on)) != 0)
			return -1;
	}
	return 0;
}

const struct transport tcp_sockets_nodelay = {
	.name = "tcp-sockets-nodelay",
	.open = nodelay_open,
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

const struct transport raw_sockets = {
	.name = "raw-sockets",
	.records = 1,
	.datagrams = 1,
	.open = net_open,
	.keep = channel_keep_fds,
	.send = socket_send,
	.recv = socket_recv_raw,
	.hang_up = socket_hang_up_datagrams,
	.net = &raw_net,
};

void
socket_hang_up_datagrams(struct end *end)
{
	end_say_over(&udp_sockets, end);
	end_close_fds(end);
}
