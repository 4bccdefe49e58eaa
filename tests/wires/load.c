/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires go on: when a receiver does not read, and when streamsd is killed.
 */
#include <net/if.h>
#include <stdio.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"

/* What the domain's memory holds. */
static double
used(void)
{
	const char *p;

	T_EQ(RUN(-1, "strinfo", "--json"), 0);
	p = strstr(out_text, "\"used\":");
	T_NOTNULL(p);
	return atof(p + 7);
}

/* Who does not read holds what it is charged for, and not the wire's blocks. */
static void
small_ones_to(const char *wire, const char *addr)
{
	enum { N = 3000 };
	int port, fd = endpoint("10.78.0.2", &port);
	double before;

	dialogue(fd, "10.78.0.2", 1000); /* whatever there is once */
	before = used();
	order('f', addr, port, N);
	good(answer());
	T_SOON(RUN(-1, "strwire", "stat", "--json", wire) == 0 &&
		json_says("v[0]['counts']['in'] > 1500"), 10000);
	T_LT(used() - before, 2048.0 * N);
	in_want(fd, T_UNITDATA_IND);
	T_EQ(in.datalen, 1);
	T_OK(close(fd));
}

T_CASE_TIMEOUT(small_packets_take_little_memory, 60)
{
	two_namespaces();
	add_tun();
	small_ones_to("t0", "10.79.0.2");
	T_EQ(RUN(-1, "strwire", "del", "t0"), 0);
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	small_ones_to("p0", "10.78.0.9");
}

/*
 * Read what has come at @fd within 100 ms: answers, and reports that the wire's
 * device is not up, because another streamsd is making it.
 * Return: 1: there was an answer.
 */
static int
was_answered(int fd)
{
	int n = 0;

	while (!in_quiet(fd, n != 0 ? 0 : 100)) {
		if (in_get(fd) == T_UDERROR_IND) {
			T_EQ(in.p.uderror_ind.ERROR_type, ENETDOWN);
			continue;
		}
		T_EQ(in.prim, T_UNITDATA_IND);
		T_EQ(in.datalen, 12);
		n++;
	}
	return n != 0;
}

/* An answer comes, if not to the first question. */
static void
answers(int fd, const char *addr)
{
	uint64_t end = t_now_ns() + 30000000000u * t_scale();
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(addr), addr, ECHO);

	do {
		if (t_now_ns() > end)
			T_FAIL("no answer from %s", addr);
		in_unitdata(fd, &ss, (int)len, "still there?", 12);
	} while (!was_answered(fd));
}

/*
 * The state that strwire(8) shows remains "up" until the next streamsd notices
 * that the sockets are gone, and the device exists before it has addresses.
 * Datagrams are lost until then, so only an answer proves that the wire works.
 */
T_CASE_TIMEOUT(a_wire_comes_back_when_streamsd_was_killed, 60)
{
	int port, fd, i;
	pid_t was;

	two_namespaces();
	add_tun();
	fd = endpoint("10.78.0.2", &port);
	dialogue(fd, "10.78.0.2", 1000);
	T_OK(close(fd));
	for (i = 0; i < 3; i++) {
		T_SOON((was = ns_streamsd()) != 0, 5000);
		T_OK(kill(was, SIGKILL));
		T_SOON(ns_ended(was), 5000);
		/* another process: it has nothing that the dead one had */
		T_SOON(RUN(-1, "strwire", "stat", "--json", "t0") == 0 &&
			json_says("v[0]['state'] == 'up'") &&
			if_nametoindex("strtun0") != 0, 10000);
	}
	fd = endpoint("10.78.0.2", &port);
	answers(fd, "10.78.0.2");
	T_OK(close(fd));
	/* another port: it receives no late answers */
	fd = endpoint("10.78.0.2", &port);
	dialogue(fd, "10.78.0.2", 4000);
	order('c', "10.79.0.2", port, 4000);
	T_EQ(turn_round(fd), 4000);
	good(answer());
	T_OK(close(fd));
}

/* streamsd is killed every second (WIRES_KILLS times), while both families
 * ask and are answered: only these look after wire @name. */
static void
killed_under_load(const char *name)
{
	const char *s = getenv("WIRES_KILLS");
	int n = s != NULL ? atoi(s) : 3, every = s != NULL ? 1000 : 50;
	int i, four, six, port;
	uint64_t next;
	pid_t was;

	four = endpoint("10.78.0.2", &port);
	six = endpoint("fd78::2", &port);
	for (i = 0; i < n; i++) {
		answers(four, "10.78.0.2");
		answers(six, "fd78::2");
		/* who sends sees to it that there is another, soon */
		T_SOON((was = ns_streamsd()) != 0 ||
			(answers(four, "10.78.0.2"), answers(six, "fd78::2"),
			0), 10000);
		T_OK(kill(was, SIGKILL));
		next = t_now_ns() + (uint64_t)every * 1000000u;
		do {
			answers(four, "10.78.0.2");
			answers(six, "fd78::2");
		} while (t_now_ns() < next);
	}
	/* the next streamsd may still make the sockets */
	T_SOON(RUN(-1, "strwire", "stat", "--json", name) == 0 &&
		json_says("v[0]['state'] == 'up'"), 10000);
	T_OK(close(four));
	T_OK(close(six));
	T_EQ(RUN(-1, "strwire", "del", name), 0);
}

/* What waits at @fd is read.  Return: how many there were. */
static int
drain(int fd)
{
	int n;

	for (n = 0; !in_quiet(fd, 20); n++) {
		in_want(fd, T_UNITDATA_IND);
		T_LE(in.datalen, 12);
	}
	return n;
}

/*
 * One reads some of what comes by @wire, for @addr, and no more until all has
 * been sent.  That is lost, and nothing else: each other one is served, by
 * whole packets and by fragments, and so is this one when it reads again.
 */
static void
one_stops_reading(const char *wire, const char *addr)
{
	enum { N = 1500, ROUNDS = 6, ROOM = 4096 };
	int port, other_port, i, k, room = ROOM;
	int slow = endpoint("10.78.0.2", &port);
	int fd = endpoint("10.78.0.2", &other_port);

	T_EQ(ns_option(slow, XTI_GENERIC, XTI_RCVBUF, &room, sizeof(room)),
		T_SUCCESS);
	for (i = 0; i < ROUNDS; i++) {
		order('f', addr, port, N);
		for (k = 0; k < i * 20; k++) {
			T_FALSE(in_quiet(slow, 10000));
			in_want(slow, T_UNITDATA_IND);
			T_EQ(in.datalen, 1);
		}
		good(answer());
		dialogue(fd, "10.78.0.2", 1000);
		dialogue(fd, "10.78.0.2", 20000);
		T_GT(drain(slow), 0);
		answers(slow, "10.78.0.2");
		(void)drain(slow);
	}
	stat_says(wire, "c['full'] > 0");
	T_OK(close(slow));
	T_OK(close(fd));
}

T_CASE_TIMEOUT(tun_goes_on_when_one_stops_reading, 60)
{
	two_namespaces();
	add_tun();
	one_stops_reading("t0", "10.79.0.2");
}

T_CASE_TIMEOUT(packet_goes_on_when_one_stops_reading, 60)
{
	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	one_stops_reading("p0", "10.78.0.9");
}

T_CASE_TIMEOUT(tun_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	add_tun();
	killed_under_load("t0");
}

T_CASE_TIMEOUT(raw_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "10.78.0.1/32",
		"-a", "fd78::1/128", "-r", "10.78.0.0/24", "-r", "fd78::/64"),
		0);
	killed_under_load("r0");
}

T_CASE_TIMEOUT(packet_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	killed_under_load("p0");
}
