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
#include <string.h>
#include <sys/mman.h>

#include "lib/timing.h"

#define MARK_TICK_NS    1000000
#define MARK_TIMEOUT_NS (5 * BENCH_NS_PER_S)

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
	if (net->offer(net, &channel->ends[1], &at, channel->bufsize) != 0)
		return -1;
	if (net->reach(net, &channel->ends[0], &at, &mine, channel->bufsize) !=
			0 ||
		net->take(net, &channel->ends[1], &mine, channel->bufsize) != 0)
		return -1;
	return net->reached(net, &channel->ends[0]);
}

int
net_open(struct channel *channel, int two_way)
{
	int error;

	(void)two_way;
	channel_set_fds(channel, -1, -1, -1, -1);
	if (join(channel) == 0 && (!channel->transport->datagrams ||
					  channel_share_ends(channel) == 0))
		return 0;
	error = errno;
	channel->absent = error == ENOENT || error == ENODEV ||
			  error == ENXIO || error == EAFNOSUPPORT;
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
