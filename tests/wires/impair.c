/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Impaired wires, as strwire(8) sets them and as transports find them. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/wait.h>
#include <xti.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "../tools/run.h"
#include "ns.h"

#define PORT 7777
#define MESSAGES 60

static char out[40000], in[sizeof(out)];

/* ----------------------------------------------------------------- datagrams */

static int
endpoint(struct sockaddr_in *ret)
{
	struct t_bind got = {.addr = {.maxlen = sizeof(*ret),
		.buf = (char *)ret}};
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct t_bind want = {.addr = {.len = sizeof(sin),
		.buf = (char *)&sin}};
	int fd = t_open("/dev/udp2", O_RDWR | O_NONBLOCK, NULL);

	T_GE(fd, 0);
	T_EQ(t_bind(fd, &want, &got), 0);
	return fd;
}

static void
transmit(int fd, struct sockaddr_in *to, const void *p, unsigned n)
{
	struct t_unitdata u = {.addr = {.len = sizeof(*to), .buf = (char *)to},
		.udata = {.len = n, .buf = (char *)(uintptr_t)p}};

	T_EQ(t_sndudata(fd, &u), 0);
}

/* The next datagram's length; -1: none comes within @ms. */
static int
next(int fd, int ms)
{
	struct t_unitdata u = {.udata = {.maxlen = sizeof(in), .buf = in}};
	struct pollfd p = {fd, POLLIN, 0};
	int flags;

	if (T_OK(poll(&p, 1, ms)) == 0)
		return -1;
	T_EQ(t_rcvudata(fd, &u, &flags), 0);
	return (int)u.udata.len;
}

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

T_CASE(all_are_lost_until_it_is_off)
{
	struct sockaddr_in a, b;
	int fa = endpoint(&a), fb = endpoint(&b), i;

	T_EQ(RUN(-1, "strwire", "impair", "lo", "loss=100%"), 0);
	for (i = 0; i < 10; i++)
		transmit(fa, &b, "lost", 4);
	T_EQ(next(fb, 200), -1);
	T_EQ(RUN(-1, "strwire", "impair", "--json", "lo"), 0);
	T_TRUE(json_says("v['loss-millionths'] == 1000000"));
	T_TRUE(json_says("v['counts']['seen'] == 10"));
	T_TRUE(json_says("v['counts']['lost'] == 10"));
	T_EQ(RUN(-1, "strwire", "impair", "lo", "off"), 0);
	transmit(fa, &b, "found", 5);
	T_EQ(next(fb, 5000), 5);
	T_EQ(t_close(fa), 0);
	T_EQ(t_close(fb), 0);
}

T_CASE(they_come_twice_late_and_damaged)
{
	struct sockaddr_in a, b;
	int fa = endpoint(&a), fb = endpoint(&b);
	double t0;

	T_EQ(RUN(-1, "strwire", "impair", "lo", "dup=100"), 0);
	transmit(fa, &b, "twice", 5);
	T_EQ(next(fb, 5000), 5);
	T_EQ(next(fb, 5000), 5);
	T_EQ(next(fb, 100), -1);
	T_EQ(RUN(-1, "strwire", "impair", "lo", "delay=80ms"), 0);
	t0 = now();
	transmit(fa, &b, "late", 4);
	T_EQ(next(fb, 5000), 4);
	T_TRUE(now() - t0 >= 0.08);
	/* 20 datagrams of 128 bytes with their headers: 20,480 bits */
	T_EQ(RUN(-1, "strwire", "impair", "lo", "rate=100kbit"), 0);
	t0 = now();
	for (int i = 0; i < 20; i++)
		transmit(fa, &b, out, 100);
	for (int i = 0; i < 20; i++)
		T_EQ(next(fb, 5000), 100);
	T_TRUE(now() - t0 >= 0.2048);
	T_EQ(RUN(-1, "strwire", "impair", "lo", "corrupt=100%"), 0);
	transmit(fa, &b, out, 1000);
	T_EQ(next(fb, 200), -1);
	T_EQ(t_close(fa), 0);
	T_EQ(t_close(fb), 0);
}

T_CASE(the_same_seed_loses_the_same_ones)
{
	struct sockaddr_in a, b;
	int fa = endpoint(&a), fb = endpoint(&b), n;
	char got[2][41] = {{0}};

	for (int k = 0; k < 2; k++) {
		T_EQ(RUN(-1, "strwire", "impair", "lo", "loss=50%", "seed=42"),
			0);
		for (int i = 0; i < 40; i++)
			transmit(fa, &b, out, (unsigned)i + 1);
		while ((n = next(fb, 300)) >= 0)
			got[k][n - 1] = 'x';
	}
	T_MEM(got[0], got[1], sizeof(got[0]));
	T_NOTNULL(memchr(got[0], 'x', 40));
	T_NOTNULL(memchr(got[0], '\0', 40));
	T_EQ(t_close(fa), 0);
	T_EQ(t_close(fb), 0);
}

T_CASE(a_wire_of_another_kind_too)
{
	int port = t_port(AF_INET6, SOCK_DGRAM);
	char text[16];

	snprintf(text, sizeof(text), "%d", port);
	T_EQ(RUN(-1, "strwire", "add", "encap", "e0", "-p", "17", "-P", text,
		"-r", "10.9.0.0/16"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "e0", "loss=1.5", "delay=1.001ms",
		"jitter=500us", "rate=10mbit", "limit=50", "seed=1",
		"reorder=0.25%"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "e0"), 0);
	T_NOTNULL(strstr(out_text, "e0: loss=1.5% dup=0% reorder=0.25% "
		"corrupt=0% delay=1001us jitter=500us rate=10000kbit limit=50 "
		"seed=1\n"));
	T_EQ(RUN(-1, "strwire", "del", "e0"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "e0"), 1);
	T_NOTNULL(strstr(err_text, "there is no wire e0"));
}

T_CASE(wrong_parameters_are_refused)
{
	static const char *const bad[] = {"loss=101%", "loss=-1", "loss=x",
		"loss", "delay=5", "delay=5min", "rate=0bit", "rate=5",
		"jitter=2h", "speed=3", "loss=nan", "delay=4000s"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		T_EQ(RUN(-1, "strwire", "impair", "lo", bad[i]), 2);
		T_NOTNULL(strstr(err_text, bad[i]));
	}
	T_EQ(RUN(-1, "strwire", "impair"), 2);
}

/* ---------------------------------------------------------------------- SCTP */

static int
receive(int fd)
{
	int n, all = 0, flags;

	do {
		n = t_rcv(fd, in + all, (unsigned)sizeof(in) - (unsigned)all,
			&flags);
		if (n < 0)
			return -1;
		all += n;
	} while ((flags & T_MORE) != 0);
	return all;
}

static void
sin_of(struct sockaddr_in *sin)
{
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_port = htons(PORT);
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void
serve(int lfd)
{
	char from[256];
	struct t_call call = {.addr = {.maxlen = sizeof(from), .buf = from}};
	int fd, n;

	T_EQ(t_listen(lfd, &call), 0);
	fd = t_open("/dev/sctp", O_RDWR, NULL);
	T_EQ(t_accept(lfd, fd, &call), 0);
	while ((n = receive(fd)) > 0)
		T_EQ(t_snd(fd, in, (unsigned)n, 0), n);
	T_EQ(t_look(fd), T_ORDREL);
	T_EQ(t_rcvrel(fd), 0);
	T_EQ(t_sndrel(fd), 0);
	T_EQ(t_close(fd), 0);
}

T_CASE_TIMEOUT(sctp_delivers_all_in_order_on_a_bad_lo, 120)
{
	struct sockaddr_in sin;
	struct t_bind bind = {.addr = {.len = sizeof(sin),
		.buf = (char *)&sin}, .qlen = 1};
	struct t_call call = {.addr = {.len = sizeof(sin),
		.buf = (char *)&sin}};
	int lfd = t_open("/dev/sctp", O_RDWR, NULL), fd, status;
	pid_t pid;

	sin_of(&sin);
	T_GE(lfd, 0);
	T_EQ(t_bind(lfd, &bind, NULL), 0);
	T_EQ(RUN(-1, "strwire", "impair", "lo", "loss=2%", "dup=2%",
		"reorder=2%", "corrupt=1%", "delay=200us", "jitter=300us",
		"seed=5"), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		serve(lfd);
		_exit(0);
	}
	fd = t_open("/dev/sctp", O_RDWR, NULL);
	T_EQ(t_bind(fd, NULL, NULL), 0);
	T_EQ(t_connect(fd, &call, NULL), 0);
	for (int i = 1; i <= MESSAGES; i++) {
		int n = i * i * 10; /* up to 36,000 bytes */

		for (int k = 0; k < n; k++)
			out[k] = (char)(i + k * 7);
		T_EQ(t_snd(fd, out, (unsigned)n, 0), n);
		T_EQ(receive(fd), n);
		T_MEM(in, out, (size_t)n);
	}
	T_EQ(RUN(-1, "strwire", "impair", "--json", "lo"), 0);
	T_TRUE(json_says("min(v['counts'][k] for k in ('lost', 'dup', "
		"'reordered', 'corrupted')) > 0"));
	T_EQ(t_sndrel(fd), 0);
	T_SOON(t_look(fd) == T_ORDREL, 20000);
	T_EQ(t_rcvrel(fd), 0);
	T_EQ(t_close(fd), 0);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_EQ(t_close(lfd), 0);
}
