/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Receivers that are full, stopped, closed, killed.
 */
#include "ud.h"

static unsigned char big[8192];

/* putmsg() that does not wait: 1, or 0: there is no room. */
static int
try(const struct ud *from, const struct ud *to, const void *p, int n)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[sizeof(struct sockaddr_in6)];
	} m = {{T_UNITDATA_REQ, (t_scalar_t)to->len, sizeof(m.r), 0, 0}, {0}};
	struct strbuf c = {0, (int)(sizeof(m.r) + to->len), (char *)&m};
	struct strbuf d = {0, n, (char *)(uintptr_t)p};

	memcpy(m.addr, &to->at, to->len);
	if (putmsg(from->fd, &c, &d, 0) == 0)
		return 1;
	T_EQ(errno, EAGAIN);
	return 0;
}

static void
nonblock(const struct ud *u)
{
	T_OK(fcntl(u->fd, F_SETFL, O_RDWR | O_NONBLOCK));
}

/* Everything until there is no more room: how many. */
static int
stuff(const struct ud *from, const struct ud *to)
{
	int i;

	nonblock(from);
	for (i = 0; i < 100000; i++) {
		memcpy(big, &i, sizeof(i));
		if (!try(from, to, big, sizeof(big)))
			return i;
	}
	T_FAIL("there is room for ever");
}

T_CASE(a_receiver_that_is_full_holds_the_sender_back_and_loses_nothing)
{
	struct pollfd pfd;
	struct ud a, b;
	int n, i;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	n = stuff(&a, &b);
	T_GT(n, 20);
	for (i = 0; i < n; i++) {
		memcpy(big, &i, sizeof(i));
		ud_get(&b, big, sizeof(big), &a);
	}
	ud_quiet(&b);
	pfd = (struct pollfd){a.fd, POLLOUT, 0};
	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_EQ(ud_drops(a.fd), 0u);
	ud_close(&a);
	ud_close(&b);
}

/* Three processes send, one reads, now and then. */
T_CASE_TIMEOUT(who_reads_slowly_gets_all_of_it_in_order, 60)
{
	enum { N = 3000, S = 3 };
	struct ud a[S], b;
	int i, k, v[2], next[S] = {0}, st;
	pid_t pid[S];

	ud_bound(&b, ud_home(), 0);
	for (k = 0; k < S; k++)
		ud_bound(&a[k], ud_home(), 0);
	for (k = 0; k < S; k++) {
		pid[k] = T_OK(fork());
		if (pid[k] != 0)
			continue;
		for (i = 0; i < N; i++) {
			memcpy(big, &k, sizeof(k));
			memcpy(big + 4, &i, sizeof(i));
			ud_send(&a[k], &b, big, 8 + i % 2000);
		}
		_exit(0);
	}
	for (i = 0; i < S * N; i++) {
		T_FALSE(in_quiet(b.fd, 10000));
		in_want(b.fd, T_UNITDATA_IND);
		memcpy(v, in.data, sizeof(v));
		T_TRUE(v[0] >= 0 && v[0] < S);
		T_EQ(v[1], next[v[0]]);
		next[v[0]]++;
		T_EQ(in.datalen, 8 + v[1] % 2000);
		if (i % 1000 == 0)
			t_pause();
	}
	for (k = 0; k < S; k++) {
		T_EQ(T_OK(waitpid(pid[k], &st, 0)), pid[k]);
		T_EQ(st, 0);
	}
	ud_close(&b);
}

/* At most a second, whatever else the receiver does. */
T_CASE_TIMEOUT(a_receiver_that_does_not_read_stops_no_other_traffic, 60)
{
	struct ud a, b, c;
	uint64_t begin;
	int n;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_bound(&c, ud_home(), 0);
	nonblock(&a);
	for (n = 0; n < 1000 && try(&a, &b, big, sizeof(big)); n++)
		;
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR));
	begin = t_now_ns();
	ud_send(&a, &c, "other", 5);
	ud_get(&c, "other", 5, &a);
	T_LT(t_now_ns() - begin, 5000000000u * t_scale());
	if (ud_native()) {
		T_GT(ud_drops(a.fd), 0u);
		/* it is known: at once now */
		begin = t_now_ns();
		ud_send(&a, &b, "lost", 4);
		ud_send(&a, &c, "soon", 4);
		ud_get(&c, "soon", 4, &a);
		T_LT(t_now_ns() - begin, 900000000u * t_scale());
	}
	/* and it can come back */
	while (!in_quiet(b.fd, 50))
		(void)in_get(b.fd);
	ud_send(&a, &b, "back", 4);
	ud_get(&b, "back", 4, &a);
	ud_close(&a);
	ud_close(&b);
	ud_close(&c);
}

/*
 * Slower than it is sent to, and for longer than a second without room.  That
 * it reads is what it does here: if the machine has not let it for the better
 * part of that second, it was one that does not read.
 */
T_CASE_TIMEOUT(a_receiver_that_reads_slowly_is_not_one_that_does_not_read, 60)
{
	enum { N = 160 };
	uint64_t begin, last, most = 0;
	struct ud a, b;
	int i, st;
	pid_t pid;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			memcpy(big, &i, sizeof(i));
			ud_send(&a, &b, big, sizeof(big));
		}
		_exit(0);
	}
	/* ten a second: it would be five until there is room again */
	begin = last = t_now_ns();
	for (i = 0; i < N && !in_quiet(b.fd, 5000); i++) {
		in_want(b.fd, T_UNITDATA_IND);
		if (t_now_ns() - last > most)
			most = t_now_ns() - last;
		last = t_now_ns();
		if (most > 800000000u)
			continue;
		memcpy(big, &i, sizeof(i));
		T_EQ(in.datalen, (int)sizeof(big));
		T_MEM(in.data, big, sizeof(big));
		if (last - begin < 3000000000u)
			(void)poll(NULL, 0, 100);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	if (most > 800000000u)
		T_SKIP("the machine has stood still");
	T_EQ(i, N);
	T_EQ(ud_drops(a.fd), 0u);
	ud_close(&a);
	ud_close(&b);
}

/* ... and neither is one that reads again without ever having had room. */
T_CASE_TIMEOUT(a_receiver_that_reads_again_is_waited_for_again, 60)
{
	struct ud a, b, c;
	unsigned was;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_bound(&c, ud_home(), 0);
	(void)stuff(&a, &b);
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR));
	/* it is given up */
	ud_send(&a, &c, "other", 5);
	ud_get(&c, "other", 5, &a);
	was = ud_drops(a.fd);
	T_GT(was, 0u);
	in_want(b.fd, T_UNITDATA_IND);
	ud_send(&a, &b, "last", 4);
	do {
		T_FALSE(in_quiet(b.fd, 5000));
		in_want(b.fd, T_UNITDATA_IND);
	} while (in.datalen != 4);
	T_MEM(in.data, "last", 4);
	T_EQ(ud_drops(a.fd), was);
	ud_close(&a);
	ud_close(&b);
	ud_close(&c);
}

/* What the kernel makes of the option, and no more than what is decent. */
T_CASE_TIMEOUT(a_receiver_does_not_take_what_it_asks_for_without_bound, 60)
{
	int most = 0x7fffffff, n;
	struct ud a, b;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	(void)ud_set(b.fd, XTI_GENERIC, XTI_RCVBUF, &most, sizeof(most));
	n = stuff(&a, &b);
	T_LT(n * (int)sizeof(big), 6 << 20);
	ud_close(&a);
	ud_close(&b);
}

T_CASE_TIMEOUT(a_receiver_that_closes_lets_the_sender_go, 60)
{
	struct ud a, b;
	int prim, refused = 0;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	if (ud_native())
		(void)stuff(&a, &b);
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR));
	ud_close(&b);
	ud_send(&a, &b, "gone", 4);
	while (!refused) {
		T_FALSE(in_quiet(a.fd, 5000));
		prim = in_get(a.fd);
		T_EQ(prim, T_UDERROR_IND);
		refused = in.p.uderror_ind.ERROR_type == ECONNREFUSED;
	}
	ud_close(&a);
}

T_CASE_TIMEOUT(a_receiver_that_is_killed_lets_the_sender_go, 60)
{
	struct ud a, b, c;
	int p[2], st;
	pid_t pid;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&c, ud_home(), 0);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = T_OK(fork());
	if (pid == 0) {
		ud_bound(&b, ud_home(), 0);
		T_EQ(write(p[1], &b, sizeof(b)), (int)sizeof(b));
		for (;;)
			(void)pause();
	}
	T_EQ(read(p[0], &b, sizeof(b)), (int)sizeof(b));
	if (ud_native())
		(void)stuff(&a, &b);
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR));
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	ud_send(&a, &c, "alive", 5);
	ud_get(&c, "alive", 5, &a);
	/* its port is free, soon */
	for (;;) {
		b.fd = in_open(ud_dev());
		in_bind_req(b.fd, T_BIND_REQ, &b.at, (int)b.len, 0);
		if (in_get(b.fd) == T_BIND_ACK)
			break;
		T_EQ(in.p.error_ack.TLI_error, TADDRBUSY);
		ud_close(&b);
		t_pause();
	}
	/* what is left of the old ones may be told of, or come here */
	while (!in_quiet(b.fd, 50))
		(void)in_get(b.fd);
	ud_send(&a, &b, "new", 3);
	ud_get(&b, "new", 3, &a);
	T_OK(close(p[0]));
	T_OK(close(p[1]));
	ud_close(&a);
	ud_close(&b);
	ud_close(&c);
}

T_CASE_TIMEOUT(a_receiver_that_is_stopped_stops_no_other_traffic, 60)
{
	struct ud a, b, c;
	int p[2], st;
	pid_t pid;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&c, ud_home(), 0);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = T_OK(fork());
	if (pid == 0) {
		ud_bound(&b, ud_home(), 0);
		T_EQ(write(p[1], &b, sizeof(b)), (int)sizeof(b));
		for (;;)
			in_want(b.fd, T_UNITDATA_IND);
	}
	T_EQ(read(p[0], &b, sizeof(b)), (int)sizeof(b));
	ud_send(&a, &b, "runs", 4);
	T_OK(kill(pid, SIGSTOP));
	T_EQ(T_OK(waitpid(pid, &st, WUNTRACED)), pid);
	(void)stuff(&a, &b);
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR));
	ud_send(&a, &c, "other", 5);
	ud_get(&c, "other", 5, &a);
	T_OK(kill(pid, SIGKILL));
	T_OK(kill(pid, SIGCONT));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_OK(close(p[0]));
	T_OK(close(p[1]));
	ud_close(&a);
	ud_close(&c);
}

/* A sender that is killed has sent what it was told it had. */
T_CASE_TIMEOUT(what_a_killed_sender_has_sent_arrives, 60)
{
	struct ud b;
	int i, st;
	pid_t pid;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	ud_bound(&b, ud_home(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		struct ud a;

		ud_bound(&a, ud_home(), 0);
		for (i = 0; i < 200; i++)
			ud_send(&a, &b, &i, sizeof(i));
		T_OK(kill(getpid(), SIGKILL));
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	for (i = 0; i < 200; i++)
		ud_get(&b, &i, sizeof(i), NULL);
	ud_close(&b);
}
