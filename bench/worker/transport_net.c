/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What transports with addresses share: making a channel of two ends in one
 * process, and the end of a stream of datagrams, which has none by itself.
 *
 * The end.  A sender that is done sends empty datagrams, a millisecond apart,
 * until the receiver says that it has seen one: on the same machine in a word
 * of memory that both have, else on the control connection (remote.c).
 */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/timing.h"
#include "netns.h"

#define MARK_TICK_NS    1000000
#define MARK_TIMEOUT_NS (5 * BENCH_NS_PER_S)

#define GREET_TIMEOUT_MS 5000

#define RAW_PROTOCOL 253 /* for experiments, RFC 3692 */

struct address
net_address_ipv4(uint32_t host, unsigned int port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(host),
	};
	struct address address = {.len = sizeof(sin)};

	memcpy(address.bytes, &sin, sizeof(sin));
	return address;
}

int
channel_share_ends(struct channel *channel)
{
	atomic_int *words = mmap(NULL, 2 * sizeof(*words),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		return -1;
	for (int i = 0; i < 2; i++) {
		channel->ends[i].told = &words[i];
		channel->ends[!i].heard = &words[i];
	}
	return 0;
}

static int
join(struct channel *channel)
{
	const struct net *net = channel->transport->net;
	struct address at = {0}, mine = {0};

	if (!net->loopback)
		at = mine = net_address_ipv4(INADDR_LOOPBACK, 0);
	/* all get what comes to their address: so the two have one each */
	if (net->raw) {
		at = net_address_ipv4(INADDR_LOOPBACK + 1, RAW_PROTOCOL);
		mine = net_address_ipv4(INADDR_LOOPBACK, RAW_PROTOCOL);
	}
	if (net->offer(net, &channel->ends[1], &at, channel->bufsize) != 0)
		return -1;
	if (net->reach(net, &channel->ends[0], &at, &mine, channel->bufsize) !=
			0 ||
		net->take(net, &channel->ends[1], &mine, channel->bufsize) != 0)
		return -1;
	return net->reached(net, &channel->ends[0]);
}

/* What an end has got is a port; others call it at @host. */
static void
set_host(struct address *address, uint32_t host)
{
	struct sockaddr_in sin;

	memcpy(&sin, address->bytes, sizeof(sin));
	sin.sin_addr.s_addr = htonl(host);
	memcpy(address->bytes, &sin, sizeof(sin));
}

/*
 * Before a station has answered who it is, packets for it wait, of which a
 * kernel drops those that are too many.  So one goes first.  Only a
 * socket is polled: an endpoint that has been works otherwise from then on.
 */
static int
greet(struct channel *channel)
{
	const struct transport *transport = channel->transport;
	struct pollfd there = {.fd = channel->ends[1].rfd, .events = POLLIN};
	char byte = 0;

	if (transport->send(&channel->ends[0], &byte, 1) != 1)
		return -1;
	if (poll(&there, 1, GREET_TIMEOUT_MS) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	return transport->recv(&channel->ends[1], &byte, 1) == 1 ? 0 : -1;
}

static int
join_apart(struct channel *channel)
{
	const struct net *net = channel->transport->net;
	const struct apart *apart = net->apart;
	struct address at = net_address_ipv4(INADDR_ANY, 0);
	struct address mine = at;
	uint32_t hosts[2];

	hosts[apart->there] = NETNS_THERE;
	hosts[!apart->there] = apart->address;
	if (netns_make() != 0 || (apart->wire != NULL && apart->wire() != 0))
		return -1;
	if (netns_enter(apart->there == 1) != 0 ||
		net->offer(net, &channel->ends[1], &at, channel->bufsize) != 0)
		return -1;
	set_host(&at, hosts[1]);
	if (netns_enter(apart->there == 0) != 0 ||
		net->reach(net, &channel->ends[0], &at, &mine,
			channel->bufsize) != 0)
		return -1;
	set_host(&mine, hosts[0]);
	if (netns_enter(0) != 0 ||
		net->take(net, &channel->ends[1], &mine, channel->bufsize) != 0)
		return -1;
	if (net->reached(net, &channel->ends[0]) != 0)
		return -1;
	/* A socket finds its station before the station needs to find it. */
	return apart->there == 1 ? greet(channel) : 0;
}

/* No fault of anybody's: the machine is not made, or not meant, for it. */
static int
is_absent(int error, int privileged)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EAFNOSUPPORT:
		return 1;
	case EPERM:
	case EACCES:
	case EROFS:
	case ENOSYS:
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
		return privileged;
	default:
		return 0;
	}
}

int
net_open(struct channel *channel, int two_way)
{
	const struct transport *transport = channel->transport;
	int apart = transport->net->apart != NULL;
	int error;

	(void)two_way;
	channel_set_fds(channel, -1, -1, -1, -1);
	if ((apart ? join_apart(channel) : join(channel)) == 0 &&
		(!transport->datagrams || channel_share_ends(channel) == 0))
		return 0;
	error = errno;
	channel->absent = is_absent(error, apart || transport->net->raw);
	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	errno = error;
	return -1;
}

ssize_t
end_datagram_in(struct end *end, ssize_t n)
{
	if (__builtin_expect(n != 0, 1))
		return n;
	end->over = 1;
	if (end->told != NULL)
		atomic_store(end->told, 1);
	return 0;
}

void
end_say_over(const struct transport *transport, struct end *end)
{
	uint64_t deadline = bench_now_ns() + MARK_TIMEOUT_NS;
	uint64_t now;

	/* Who was told that it is over need not say so. */
	if (end->over || end->heard == NULL)
		return;
	while (!atomic_load(end->heard) && (now = bench_now_ns()) < deadline) {
		if (transport->net->mark(end) != 0)
			return;
		bench_sleep_until_ns(now + MARK_TICK_NS);
	}
}
