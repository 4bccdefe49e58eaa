/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Credit between datagram endpoints: when a sender may go on, and whether the
 * kernel counts what it is thought to count.
 */
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* its labelled points are where the simulated host changes tasks */
#ifndef STR_CRASH_POINTS
#define STR_CRASH_POINTS
#endif

/* of these two the test has its own */
#define inet_ports own_ports
#define ksock_getopt own_getopt
#include "credit.c"

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "../drvfix.h"

enum { BUF = 80000, MOST = BUF / 8 * 5, SIZE = 1400 };

static struct inet_port *volatile ports;
static struct inet in;
static struct inet_port *port;

struct inet_port *volatile *
own_ports(void)
{
	return &ports;
}

int
own_getopt(ksock_t *ks, int level, int name, void *val, uint32_t *len)
{
	uint32_t n = BUF;

	(void)ks, (void)level, (void)name;
	memcpy(val, &n, sizeof(n));
	*len = sizeof(n);
	return 0;
}

/* An endpoint at a port, to which as much is sent as there is credit for. */
static uint32_t
filled(struct t *t)
{
	static struct fx_pipe pipe;
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = 7,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct tpi_addr at = {.len = sizeof(sa)};
	uint32_t n = 0;

	fx_begin(t);
	fx_pipe(&pipe);
	memcpy(at.buf, &sa, sizeof(sa));
	memset(&in, 0, sizeof(in));
	in.rq = fx_push(&pipe, 0, "store");
	ports = NULL;
	inet_credit_bound(&in, &at);
	port = inet_credit_to(&in, &sa);
	T_NOTNULL(port);
	for (; inet_credit_ask(port, SIZE); n++)
		inet_credit_done(port, SIZE);
	T_EQ(n, MOST / inet_credit_cost(SIZE));
	return n;
}

static void
over(void)
{
	kmem_free((void *)ports, NPORT * sizeof(*ports));
}

/* @us ago, for the endpoint's clocks. */
static void
later(uint64_t us)
{
	str_store(&port->since, str_load(&port->since) - INET_US(us));
	str_store(&port->when, str_load(&port->when) - INET_US(us));
}

T_CASE(who_has_no_credit_waits_for_a_second)
{
	uint32_t n = filled(t), i;

	later(900000);
	T_FALSE(inet_credit_ask(port, SIZE));
	later(200000);
	T_TRUE(inet_credit_ask(port, SIZE));
	/* and then for the next one */
	for (i = 1; i < n; i++)
		T_TRUE(inet_credit_ask(port, SIZE));
	T_FALSE(inet_credit_ask(port, SIZE));
	later(900000);
	T_FALSE(inet_credit_ask(port, SIZE));
	over();
}

/* The receiver's clock, or another sender's, may have been read later. */
T_CASE(a_clock_that_is_ahead_is_not_a_second_that_has_passed)
{
	(void)filled(t);
	str_store(&port->since, inet_ticks() + INET_US(100000));
	T_FALSE(inet_credit_ask(port, SIZE));
	str_store(&port->when, inet_ticks() + INET_US(100000));
	inet_credit_took(&in, 0, 0, 1, inet_credit_sent(&in));
	T_FALSE(inet_credit_ask(port, SIZE));
	over();
}

/* Nothing was taken for long because nothing was sent. */
T_CASE(the_second_begins_when_credit_ends)
{
	uint32_t n = filled(t), i;

	later(5000000);
	for (i = 0; i < n; i++)
		inet_credit_took(&in, SIZE, 1, 0, 0);
	for (i = 0; i < n; i++)
		T_TRUE(inet_credit_ask(port, SIZE));
	T_FALSE(inet_credit_ask(port, SIZE));
	T_FALSE(inet_credit_ask(port, SIZE));
	over();
}

T_CASE(what_has_just_been_sent_is_not_forgotten_where_the_socket_is_empty)
{
	uint32_t n = filled(t), i;

	later(300000);
	for (i = 0; i < 5; i++)
		inet_credit_took(&in, 0, 0, 1, inet_credit_sent(&in));
	T_FALSE(inet_credit_ask(port, SIZE));
	/* but when it has not come for long it will not any more */
	later(300000);
	inet_credit_took(&in, 0, 0, 1, inet_credit_sent(&in));
	for (i = 0; i < n; i++)
		T_TRUE(inet_credit_ask(port, SIZE));
	T_FALSE(inet_credit_ask(port, SIZE));
	over();
}

/* Two that bind at once, at a port that they have in common. */
enum { BINDERS = 3 };
static struct inet binder[BINDERS];
static struct fx_pipe bindpipe[BINDERS];

static struct sockaddr_in
home(unsigned i)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = 7,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i)};
}

static void
binds(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;
	struct sockaddr_in sa = home(i);
	struct tpi_addr at = {.len = sizeof(sa)};
	struct host_call hc = {.fd = bindpipe[i].fd[0]};

	memcpy(at.buf, &sa, sizeof(sa));
	T_EQ(host_enter(&hc), 0);
	inet_credit_bound(&binder[i], &at);
	host_leave();
	sim_sleep(1000000000u);
}

/* The slot at which all of them look is free, or of one that is no more. */
static void
bind_at_once(struct t *t, uint64_t seed, int dead)
{
	struct sockaddr_in sa;
	unsigned i;

	(void)t;
	fx_begin_seed(seed);
	sim_grain(2);
	memset(binder, 0, sizeof(binder));
	ports = NULL;
	(void)table(1);
	for (i = 0; i < BINDERS; i++) {
		fx_pipe(&bindpipe[i]);
		binder[i].rq = fx_push(&bindpipe[i], 0, "store");
	}
	if (dead) {
		sa = home(9);
		memset(&in, 0, sizeof(in)); /* an endpoint of UDP */
		port = slot_of(ports, key_of(&in, &sa), 0);
		str_ref(binder[0].rq, &port->stream);
		port->stream.sid++;
		port->owner = &in;
		str_store(&port->key, key_of(&in, &sa));
	}
	for (i = 0; i < BINDERS; i++)
		(void)sim_spawn("binder", binds, (void *)(uintptr_t)i);
	T_EQ(sim_run(), 0);
	for (i = 0; i < BINDERS; i++) {
		sa = home(i);
		port = inet_credit_to(&in, &sa);
		T_NOTNULL(port);
		T_TRUE(port->owner == &binder[i]);
		T_TRUE(binder[i].port == port);
		T_EQ(port->limit, MOST);
	}
	over();
	fx_end();
}

T_CASE(who_binds_at_the_same_time_gets_a_slot_of_his_own)
{
	uint64_t i;

	for (i = 0; i < 200; i++)
		bind_at_once(t, t->seed + i, 0);
}

T_CASE(one_of_those_who_bind_gets_the_slot_of_the_dead)
{
	uint64_t i;

	for (i = 0; i < 200; i++)
		bind_at_once(t, t->seed + i, 1);
}

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

/* What the kernel counts for @bytes that are unread; 0: it does not say. */
static uint32_t
counted(int s, const struct sockaddr_in *to, uint32_t bytes)
{
	static char buf[65507];
	uint32_t mem[9] = {0};
	socklen_t len = sizeof(mem);

	T_EQ(sendto(s, buf, bytes, 0, (const void *)to, sizeof(*to)),
		(ssize_t)bytes);
	if (getsockopt(s, SOL_SOCKET, SO_MEMINFO, mem, &len) != 0)
		mem[0] = 0;
	T_EQ(recv(s, buf, sizeof(buf), 0), (ssize_t)bytes);
	return mem[0];
}

T_CASE(no_datagram_costs_the_kernel_more_than_it_is_thought_to)
{
	static const uint32_t at[] = {0, 64, 128, 576, 704, 1500, 2048, 4096,
		8192, 9000, 15500, 16384, 17000, 32768, 49152, 65507};
	struct sockaddr_in sa = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	uint32_t i, n, seen;
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	T_GE(s, 0);
	T_EQ(bind(s, (void *)&sa, sizeof(sa)), 0);
	T_EQ(getsockname(s, (void *)&sa, &len), 0);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (n = at[i] < 600 ? 0 : at[i] - 600; n <= at[i]; n += 25) {
			seen = counted(s, &sa, n);
			if (seen == 0)
				T_SKIP("the kernel does not say");
			T_LE(seen, inet_credit_cost(n));
		}
	T_EQ(close(s), 0);
}

/* Nor for the next who is bound there. */
T_CASE(no_trains_for_who_has_not_asked_for_them)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = 7,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct tpi_addr at = {.len = sizeof(sa)};

	(void)filled(t);
	T_FALSE(inet_credit_takes_trains(port));
	inet_credit_trains(&in);
	T_TRUE(inet_credit_takes_trains(port));
	inet_credit_gone(&in);
	memcpy(at.buf, &sa, sizeof(sa));
	inet_credit_bound(&in, &at);
	T_TRUE(inet_credit_to(&in, &sa) == port);
	T_FALSE(inet_credit_takes_trains(port));
	over();
}
