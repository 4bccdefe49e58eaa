/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Native UDP with a plain socket at the other end: what goes by the wire of
 * kernel sockets.  The socket is used as in transports_sockets.c, connected, a
 * message a call; the calls are the system's own, because send() and recv() of
 * this program are those of libstreams.
 *
 * wire_*: the socket is in another network namespace, and what the endpoint
 * uses is the wire of kernel sockets too, or one that wires.c has made.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "netns.h"
#include "transports_xti.h"

static struct sockaddr *
sockaddr_of(const struct address *address)
{
	return (struct sockaddr *)(void *)(uintptr_t)address->bytes;
}

static int
give_up(struct end *end)
{
	int error = errno;

	end_close_fds(end);
	errno = error;
	return -1;
}

/* A socket bound to @at, which is what it got. */
static int
make(struct end *end, int family, struct address *at, size_t bufsize)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at->bytes);
	int n = (int)bufsize;

	*end = (struct end){.rfd = fd, .wfd = fd};
	if (fd == -1)
		return -1;
	if (bufsize != 0 &&
		(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)) != 0 ||
			setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n)) !=
				0))
		return give_up(end);
	if (at->len != 0 && bind(fd, sockaddr_of(at), at->len) != 0)
		return give_up(end);
	if (getsockname(fd, sockaddr_of(at), &len) != 0)
		return give_up(end);
	at->len = len;
	return 0;
}

static int
plain_offer(const struct net *net, struct end *end, struct address *at,
	size_t bufsize)
{
	(void)net;
	return make(end, sockaddr_of(at)->sa_family, at, bufsize);
}

static int
plain_reach(const struct net *net, struct end *end, const struct address *to,
	struct address *mine, size_t bufsize)
{
	(void)net;
	if (make(end, sockaddr_of(to)->sa_family, mine, bufsize) != 0)
		return -1;
	return connect(end->wfd, sockaddr_of(to), to->len) == 0
		       ? 0
		       : give_up(end);
}

static int
plain_take(const struct net *net, struct end *end, const struct address *from,
	size_t bufsize)
{
	(void)net;
	(void)bufsize;
	return from == NULL ? 0
			    : connect(end->rfd, sockaddr_of(from), from->len);
}

static int
plain_reached(const struct net *net, struct end *end)
{
	(void)net;
	(void)end;
	return 0;
}

static ssize_t
plain_send(struct end *end, const void *buf, size_t n)
{
	ssize_t ret = syscall(SYS_sendto, end->wfd, buf, n, 0, NULL, 0);

	if (__builtin_expect(ret == (ssize_t)n, 1))
		return ret;
	if (ret >= 0)
		errno = EIO;
	return -1;
}

static ssize_t
plain_recv(struct end *end, void *buf, size_t n)
{
	ssize_t ret = syscall(
		SYS_recvfrom, end->rfd, buf, n, MSG_TRUNC, NULL, NULL);

	end->read_calls++;
	return end_datagram_in(end, ret);
}

/* In a round trip both sides do both; an endpoint knows where it sends to. */
static ssize_t
either_send(struct end *end, const void *buf, size_t n)
{
	return end->peer.len != 0 ? xti_send_datagram(end, buf, n)
				  : plain_send(end, buf, n);
}

static ssize_t
either_recv(struct end *end, void *buf, size_t n)
{
	return end->peer.len != 0 ? xti_recv_datagram(end, buf, n)
				  : plain_recv(end, buf, n);
}

static int
plain_mark(struct end *end)
{
	ssize_t ret = syscall(
		SYS_sendto, end->wfd, "", 0, MSG_DONTWAIT, NULL, 0);

	return ret == -1 && errno != EAGAIN && errno != ENOBUFS ? -1 : 0;
}

static void
hang_up(const struct transport *transport, struct end *end)
{
	end_say_over(transport, end);
	end_close_fds(end);
}

static void
hang_up_out(struct end *end)
{
	hang_up(&udp_xti_out, end);
}

static void
hang_up_in(struct end *end)
{
	hang_up(&udp_xti_in, end);
}

/* End 0 reaches, and marks the end; end 1 offers and takes. */
#define OUT_NET                                            \
	.device = "/dev/udp2", .offer = plain_offer,       \
	.reach = xti_reach, .take = plain_take,            \
	.reached = xti_reached, .mark = xti_mark

#define IN_NET                                             \
	.device = "/dev/udp2", .offer = xti_offer,         \
	.reach = plain_reach, .take = xti_take,            \
	.reached = plain_reached, .mark = plain_mark

static const struct net out_net = {OUT_NET};
static const struct net in_net = {IN_NET};

#define DATAGRAMS                                          \
	.records = 1, .datagrams = 1, .open = net_open,    \
	.keep = channel_keep_fds, .send = either_send,     \
	.recv = either_recv

#define OUT DATAGRAMS, .hang_up = hang_up_out
#define IN  DATAGRAMS, .hang_up = hang_up_in

const struct transport udp_xti_out = {
	.name = "udp-xti-out",
	OUT,
	.net = &out_net,
};

const struct transport udp_xti_in = {
	.name = "udp-xti-in",
	IN,
	.net = &in_net,
};

#define WIRE_BOTH_WAYS(kind, host, make)                                  \
	static const struct apart kind##_to = {1, host, make};            \
	static const struct apart kind##_from = {0, host, make};          \
	static const struct net kind##_out_net = {                        \
		OUT_NET, .apart = &kind##_to};                            \
	static const struct net kind##_in_net = {                         \
		IN_NET, .apart = &kind##_from};                           \
	const struct transport wire_##kind##_out = {                      \
		.name = "wire-" #kind "-out", OUT, .net = &kind##_out_net}; \
	const struct transport wire_##kind##_in = {                       \
		.name = "wire-" #kind "-in", IN, .net = &kind##_in_net};

WIRE_BOTH_WAYS(socket, NETNS_HERE, NULL)
WIRE_BOTH_WAYS(raw, NETNS_HERE, wire_raw)
WIRE_BOTH_WAYS(packet, NETNS_STATION, wire_packet)
WIRE_BOTH_WAYS(tun, NETNS_ROUTED_END, wire_tun)
