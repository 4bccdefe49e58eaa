/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses and ports: who may have which, and who gets what.
 */
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>

#include "ud.h"

static int
port(const struct ud *u)
{
	return in_port(&u->at);
}

/* ------------------------------------------------------------------- ports */

T_CASE(a_port_is_chosen_and_is_the_kernels_too)
{
	struct ud a, b, c;

	ud_bound(&a, ud_home(), UD_ANY);
	ud_bound(&b, ud_home(), UD_ANY);
	T_GT(port(&a), 0);
	T_NE(port(&a), port(&b));
	c = a;
	c.fd = in_sock(ud_family(), SOCK_DGRAM);
	T_ERR(bind(c.fd, (struct sockaddr *)&c.at, c.len), EADDRINUSE);
	ud_close(&c);
	ud_close(&a);
	ud_close(&b);
}

T_CASE(a_port_of_a_plain_socket_is_busy)
{
	struct ud a, b;

	ud_plain(&a, ud_home(), 0);
	b = a;
	b.fd = in_open(ud_dev());
	in_bind_req(b.fd, T_BIND_REQ, &b.at, (int)b.len, 0);
	in_error(b.fd, T_BIND_REQ, TADDRBUSY, 0);
	ud_close(&a);
	T_EQ(in_bind(b.fd, &b.at, b.len, 0), port(&b));
	ud_close(&b);
}

/* @two cannot be bound while @one is. */
static void
collide(const char *one, const char *two)
{
	struct ud a, b;

	ud_bound(&a, one, 0);
	ud_addr(&b, two, port(&a));
	b.fd = in_open(ud_dev());
	in_bind_req(b.fd, T_BIND_REQ, &b.at, (int)b.len, 0);
	in_error(b.fd, T_BIND_REQ, TADDRBUSY, 0);
	T_EQ(in_state(b.fd), TS_UNBND);
	ud_close(&a);
	T_EQ(in_bind(b.fd, &b.at, b.len, 0), port(&a));
	ud_close(&b);
}

T_CASE(an_address_in_use_is_busy)
{
	collide(ud_home(), ud_home());
}

T_CASE(any_address_is_busy_where_one_is_used)
{
	collide(ud_home(), ud_any());
}

T_CASE(an_address_is_busy_where_any_is_used)
{
	collide(ud_any(), ud_home());
}

T_CASE(an_address_that_is_not_the_hosts_cannot_be_bound)
{
	struct ud a;

	ud_addr(&a, ud_six() ? "2001:db8::1" : "192.0.2.1", 0);
	a.fd = in_open(ud_dev());
	in_bind_req(a.fd, T_BIND_REQ, &a.at, (int)a.len, 0);
	in_error(a.fd, T_BIND_REQ, TNOADDR, 0);
	ud_close(&a);
}

T_CASE(low_ports_are_the_super_users)
{
	struct ud a;
	int st;
	pid_t pid;

	if (geteuid() != 0)
		T_SKIP("for the super-user, who gives it up");
	pid = T_OK(fork());
	if (pid == 0) {
		FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start",
			"r");
		int start = 1024;

		if (f != NULL && fscanf(f, "%d", &start) != 1)
			start = 1024;
		if (start < 8)
			_exit(77);
		T_OK(setgid(65534));
		T_OK(setuid(65534));
		ud_addr(&a, ud_home(), 7);
		a.fd = in_open(ud_dev());
		in_bind_req(a.fd, T_BIND_REQ, &a.at, (int)a.len, 0);
		in_error(a.fd, T_BIND_REQ, TACCES, 0);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	if (WIFEXITED(st) && WEXITSTATUS(st) == 77)
		T_SKIP("all ports are everybody's here");
	T_EQ(st, 0);
}

T_CASE(when_all_ports_are_taken_the_next_is_refused)
{
	enum { FIRST = 40000, N = 10 };
	struct ud a;
	int st, i;
	pid_t pid;

	pid = T_OK(fork());
	if (pid == 0) {
		FILE *f;

		if (unshare(CLONE_NEWNET) != 0)
			_exit(77);
		f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");
		if (f == NULL || fprintf(f, "%d %d", FIRST, FIRST + N - 1) < 0 ||
			fclose(f) != 0)
			_exit(77);
		ud_addr(&a, ud_any(), 0);
		for (i = 0; i < N; i++)
			ud_bound(&a, ud_any(), UD_ANY);
		ud_addr(&a, ud_any(), 0);
		a.fd = in_open(ud_dev());
		in_bind_req(a.fd, T_BIND_REQ, &a.at, (int)a.len, 0);
		in_error(a.fd, T_BIND_REQ, TADDRBUSY, 0);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	if (WIFEXITED(st) && WEXITSTATUS(st) == 77)
		T_SKIP("no network of our own");
	T_EQ(st, 0);
}

T_CASE(who_is_unbound_or_closed_has_no_port_any_more)
{
	struct ud a, b;

	ud_bound(&a, ud_home(), 0);
	in_prim(a.fd, T_UNBIND_REQ);
	in_ok(a.fd, T_UNBIND_REQ);
	ud_plain(&b, ud_home(), port(&a));
	ud_close(&b);
	T_EQ(in_bind(a.fd, &a.at, a.len, 0), port(&a));
	ud_close(&a);
	ud_plain(&b, ud_home(), port(&a));
	ud_close(&b);
}

T_CASE(a_thousand_endpoints_have_ports)
{
	enum { N = 1000 };
	static struct ud a[N];
	struct ud s;
	int i, v;

	if (t_scale() > 1)
		T_SKIP("too many for that");
	t_need_files(4 * N);
	ud_bound(&s, ud_home(), 0);
	for (i = 0; i < N; i++)
		ud_bound(&a[i], ud_home(), UD_ANY);
	for (i = 0; i < N; i += 7)
		ud_send(&s, &a[i], &i, sizeof(i));
	for (i = 0; i < N; i += 7) {
		v = i;
		ud_get(&a[i], &v, sizeof(v), &s);
	}
	for (i = 0; i < N; i++)
		ud_close(&a[i]);
	ud_close(&s);
}

/* -------------------------------------------------------------- who gets it */

T_CASE(who_shares_a_port_last_gets_the_datagrams)
{
	struct ud a, b, s;

	ud_bound(&s, ud_home(), 0);
	ud_shared(&a, ud_home(), 0);
	ud_shared(&b, ud_home(), port(&a));
	ud_send(&s, &a, "second", 6);
	ud_get(&b, "second", 6, &s);
	ud_quiet(&a);
	ud_close(&b);
	ud_send(&s, &a, "first", 5);
	ud_get(&a, "first", 5, &s);
	ud_close(&a);
	ud_close(&s);
}

T_CASE(an_address_is_closer_than_any)
{
	struct ud any, home, s;

	ud_bound(&s, ud_home(), 0);
	ud_shared(&home, ud_home(), 0);
	ud_shared(&any, ud_any(), port(&home));
	ud_send(&s, &home, "x", 1);
	ud_get(&home, "x", 1, &s);
	ud_quiet(&any);
	ud_close(&home);
	ud_send(&s, &home, "y", 1);
	ud_get(&any, "y", 1, &s);
	ud_close(&any);
	ud_close(&s);
}

T_CASE(each_address_has_its_own_ports)
{
	struct ud a, b, s;

	if (ud_six())
		T_SKIP("IPv6 has one loopback address");
	ud_bound(&s, ud_home(), 0);
	ud_bound(&a, "127.0.0.1", 0);
	ud_bound(&b, "127.0.0.2", port(&a));
	ud_send(&s, &a, "one", 3);
	ud_send(&s, &b, "two", 3);
	ud_get(&a, "one", 3, &s);
	ud_get(&b, "two", 3, &s);
	ud_quiet(&a);
	ud_quiet(&b);
	ud_close(&a);
	ud_close(&b);
	ud_close(&s);
}

/* What a plain socket bound to any address sees as the source of @to's. */
static void
source(const char *to, int sender_port)
{
	struct ud plain, sender, r, from;

	ud_plain(&plain, ud_any(), 0);
	ud_addr(&r, to, port(&plain));
	ud_bound(&sender, ud_any(), sender_port);
	ud_addr(&from, to, port(&sender));
	if (strncmp(to, "127.", 4) == 0)
		ud_addr(&from, "127.0.0.1", port(&sender));
	ud_send(&sender, &r, "plain", 5);
	ud_plain_get(&plain, "plain", 5, &from);
	ud_close(&plain);
	ud_bound(&plain, ud_any(), 0);
	ud_addr(&r, to, port(&plain));
	ud_send(&sender, &r, "ours", 4);
	ud_get(&plain, "ours", 4, &from);
	ud_close(&plain);
	ud_close(&sender);
}

T_CASE(who_is_bound_to_any_address_has_the_loopback_one_towards_itself)
{
	source(ud_home(), 0);
	if (!ud_six()) {
		source("127.5.6.7", 0);
		source("127.255.255.254", 0);
	}
}

/* An address of this host that is not on lo; 0: there is none. */
static int
own_address(char *text, size_t size)
{
	struct ifaddrs *all, *i;
	int found = 0;

	T_OK(getifaddrs(&all));
	for (i = all; i != NULL && !found; i = i->ifa_next) {
		const struct sockaddr_in6 *s6 = (void *)i->ifa_addr;
		const struct sockaddr_in *s4 = (void *)i->ifa_addr;

		if (i->ifa_addr == NULL || (i->ifa_flags & IFF_LOOPBACK) ||
			!(i->ifa_flags & IFF_UP) ||
			i->ifa_addr->sa_family != ud_family() ||
			(ud_six() && IN6_IS_ADDR_LINKLOCAL(&s6->sin6_addr)))
			continue;
		found = inet_ntop(ud_family(), ud_six() ?
			(const void *)&s6->sin6_addr : &s4->sin_addr, text,
			(socklen_t)size) != NULL;
	}
	freeifaddrs(all);
	return found;
}

T_CASE(the_hosts_own_address_is_its_own_source)
{
	char text[INET6_ADDRSTRLEN];

	if (!own_address(text, sizeof(text)))
		T_SKIP("the host has no other address");
	source(text, 0);
}

T_CASE(a_sender_that_is_bound_to_an_address_has_it)
{
	struct ud s, p, r;

	if (ud_six())
		T_SKIP("IPv6 has one loopback address");
	ud_bound(&s, "127.9.9.9", 0);
	ud_plain(&p, ud_home(), 0);
	ud_bound(&r, ud_home(), 0);
	ud_send(&s, &p, "p", 1);
	ud_plain_get(&p, "p", 1, &s);
	ud_send(&s, &r, "r", 1);
	ud_get(&r, "r", 1, &s);
	ud_close(&s);
	ud_close(&p);
	ud_close(&r);
}

T_CASE(ipv6_takes_ipv4_and_names_it_so)
{
	struct sockaddr_storage ss;
	struct ud any, from;
	socklen_t len;
	int s4, v4;

	if (!ud_six())
		T_SKIP("for IPv6");
	ud_bound(&any, ud_any(), 0);
	len = in_addr(&ss, AF_INET, "127.0.0.1", 0);
	s4 = in_sock(AF_INET, SOCK_DGRAM);
	T_OK(bind(s4, (struct sockaddr *)&ss, len));
	T_OK(getsockname(s4, (struct sockaddr *)&ss, &len));
	ud_addr(&from, "::ffff:127.0.0.1", in_port(&ss));
	in_addr(&ss, AF_INET, "127.0.0.1", port(&any));
	T_EQ(T_OK(sendto(s4, "plain", 5, 0, (struct sockaddr *)&ss, len)), 5);
	ud_get(&any, "plain", 5, &from);
	T_OK(close(s4));
	/* the same from one of ours */
	v4 = in_open(ud_native() ? "/dev/udp2" : "/dev/udp");
	in_addr(&ss, AF_INET, "127.0.0.1", 0);
	ud_addr(&from, "::ffff:127.0.0.1", in_bind(v4, &ss, len, 0));
	in_addr(&ss, AF_INET, "127.0.0.1", port(&any));
	in_unitdata(v4, &ss, (int)len, "ours", 4);
	ud_get(&any, "ours", 4, &from);
	/* and back */
	ud_send(&any, &from, "back", 4);
	T_FALSE(in_quiet(v4, 5000));
	in_want(v4, T_UNITDATA_IND);
	T_EQ(in.datalen, 4);
	T_EQ(in.p.unitdata_ind.SRC_length, (int)sizeof(struct sockaddr_in));
	T_EQ(in_port(in.ctl + in.p.unitdata_ind.SRC_offset), port(&any));
	T_OK(close(v4));
	ud_close(&any);
}

T_CASE(an_address_of_another_family_is_an_error_of_the_datagram)
{
	struct sockaddr_storage ss;
	struct ud a;
	socklen_t len;

	ud_bound(&a, ud_home(), 0);
	len = in_addr(&ss, ud_six() ? AF_INET : AF_INET6,
		ud_six() ? "127.0.0.1" : "::1", 9);
	in_unitdata(a.fd, &ss, (int)len, "x", 1);
	in_want(a.fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EINVAL);
	ud_close(&a);
}

T_CASE(port_0_is_no_destination)
{
	struct ud a, to;

	ud_bound(&a, ud_home(), 0);
	ud_addr(&to, ud_home(), 0);
	ud_send(&a, &to, "x", 1);
	ud_error(&a, &to, EINVAL);
	ud_close(&a);
}

T_CASE(a_port_that_nobody_has_is_an_error_of_the_datagram)
{
	struct ud a, to;
	int i;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&to, ud_home(), 0);
	ud_close(&to);
	for (i = 0; i < 3; i++) {
		ud_send(&a, &to, "lost", 4);
		ud_error(&a, &to, ECONNREFUSED);
	}
	ud_close(&a);
}

T_CASE(a_receiver_that_closes_leaves_a_port_that_nobody_has)
{
	struct ud a, to;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&to, ud_home(), 0);
	ud_send(&a, &to, "found", 5);
	ud_get(&to, "found", 5, &a);
	ud_close(&to);
	ud_send(&a, &to, "lost", 4);
	ud_error(&a, &to, ECONNREFUSED);
	/* and another one may have it */
	ud_bound(&to, ud_home(), port(&to));
	ud_send(&a, &to, "again", 5);
	ud_get(&to, "again", 5, &a);
	ud_close(&to);
	ud_close(&a);
}

/* ------------------------------------------------------ default destination */

static void
need_native(void)
{
	if (!ud_native())
		T_SKIP("udp2's");
}

T_CASE(a_default_destination_takes_what_has_no_address)
{
	struct T_unitdata_req r = {T_UNITDATA_REQ, 0, 0, 0, 0};
	unsigned char val[64];
	struct ud a, b, p;

	need_native();
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, &b.at, b.len), T_SUCCESS);
	T_EQ(ud_get_opt(a.fd, T_INET_UDP, T_UDP_PEER, val, sizeof(val)),
		(int)b.len);
	T_MEM(val, &b.at, 8);
	in_prim(a.fd, T_ADDR_REQ);
	in_want(a.fd, T_ADDR_ACK);
	T_EQ(in.p.addr_ack.REMADDR_length, (int)b.len);
	T_MEM(in.ctl + in.p.addr_ack.REMADDR_offset, &b.at, 8);
	T_EQ(in_port(in.ctl + in.p.addr_ack.LOCADDR_offset), port(&a));
	in_put(a.fd, &r, sizeof(r), "hello", 5, 0);
	ud_get(&b, "hello", 5, &a);
	/* another one can be named nonetheless */
	ud_send(&a, &p, "other", 5);
	ud_plain_get(&p, "other", 5, &a);
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, &p.at, p.len), T_SUCCESS);
	in_put(a.fd, &r, sizeof(r), "plain", 5, 0);
	ud_plain_get(&p, "plain", 5, &a);
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
}

T_CASE(with_a_default_destination_only_that_one_is_heard)
{
	struct ud a, b, c, p;

	need_native();
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_bound(&c, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, &b.at, b.len), T_SUCCESS);
	ud_send(&c, &a, "stranger", 8);
	ud_error(&c, &a, ECONNREFUSED);
	ud_plain_send(&p, &a, "stranger", 8);
	ud_send(&b, &a, "friend", 6);
	ud_get(&a, "friend", 6, &b);
	ud_quiet(&a);
	/* undone: as before, at the same port */
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, NULL, 0), T_SUCCESS);
	ud_send(&c, &a, "stranger", 8);
	ud_get(&a, "stranger", 8, &c);
	ud_plain_send(&p, &a, "plain", 5);
	ud_get(&a, "plain", 5, &p);
	ud_close(&a);
	ud_close(&b);
	ud_close(&c);
	ud_close(&p);
}

T_CASE(who_has_a_default_destination_is_closer_than_who_has_none)
{
	struct ud a, b, s;

	need_native();
	ud_bound(&s, ud_home(), 0);
	ud_shared(&a, ud_home(), 0);
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, &s.at, s.len), T_SUCCESS);
	ud_shared(&b, ud_home(), port(&a));
	ud_send(&s, &a, "x", 1);
	ud_get(&a, "x", 1, &s);
	ud_quiet(&b);
	ud_close(&a);
	ud_close(&b);
	ud_close(&s);
}

/*
 * An entry of the table may become another one's at any moment: while a process
 * sends to a port its owner changes, and what was one's own is another port's.
 */
T_CASE_TIMEOUT(a_port_that_changes_hands_is_never_anothers, 60)
{
	uint64_t end = t_now_ns() + 1500000000u;
	struct ud s, a, b, to;
	unsigned got = 0, round = 0;
	int p, q, st;
	pid_t pid;

	need_native();
	p = t_port(ud_family(), SOCK_DGRAM);
	do
		q = t_port(ud_family(), SOCK_DGRAM);
	while (q == p);
	pid = T_OK(fork());
	if (pid == 0) {
		ud_bound(&s, ud_home(), 0);
		ud_addr(&to, ud_home(), p);
		for (;;) {
			ud_send(&s, &to, "p", 1);
			while (!in_quiet(s.fd, 0))
				(void)in_get(s.fd); /* it is free: told */
		}
	}
	for (; t_now_ns() < end; round++) {
		/* a has p, then q; b then has p, with a's entry perhaps */
		ud_shared(&a, ud_home(), p);
		got += !in_quiet(a.fd, (int)(round % 3));
		in_prim(a.fd, T_UNBIND_REQ);
		in_ok(a.fd, T_UNBIND_REQ);
		while (!in_quiet(a.fd, 0))
			(void)in_get(a.fd);
		ud_addr(&a, ud_home(), q);
		in_bind_req(a.fd, T_BIND_REQ, &a.at, (int)a.len, 0);
		in_want(a.fd, T_BIND_ACK);
		ud_shared(&b, ud_home(), p);
		got += !in_quiet(b.fd, (int)(round % 3));
		T_TRUE(in_quiet(a.fd, 0));
		ud_close(&b);
		ud_close(&a);
	}
	T_GT(got, 0u);
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
}
