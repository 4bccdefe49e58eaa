/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams between the caller's memory and the socket (drv/inet/short.c), by
 * the calls that libxti makes of t_sndudata() and t_rcvudata(), beside all that
 * may happen at the same time.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include <str/tli.h>

#include "in.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

T_TARGETS("ipv4", "ipv6")

static int
family(void)
{
	return strcmp(t_target(), "ipv6") == 0 ? AF_INET6 : AF_INET;
}

/* An endpoint and, at the other end, a plain socket. */
struct both {
	int fd, s;
	struct sockaddr_storage me, peer;
	socklen_t len;
};

/* What came, and how. */
struct unit {
	union {
		struct T_unitdata_ind ui;
		unsigned char room[512];
	} c;
	struct strm_prim gp;
};

static void
start(struct both *b)
{
	const char *home = family() == AF_INET6 ? "::1" : "127.0.0.1";

	b->s = in_here(family(), SOCK_DGRAM, &b->peer, &b->len);
	b->len = in_addr(&b->me, family(), home, 0);
	b->fd = in_open(family() == AF_INET6 ? "/dev/udp6" : "/dev/udp");
	((struct sockaddr_in *)&b->me)->sin_port =
		htons((uint16_t)in_bind(b->fd, &b->me, b->len, 0));
}

static void
done(struct both *b)
{
	T_OK(close(b->fd));
	T_OK(close(b->s));
}

static void
ids(int fd, struct strm_id *id)
{
	uint32_t *user;

	T_EQ(strm_id(fd, id, &user), 0);
}

static void
fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = in_byte((uint64_t)seed * 70001 + i);
}

/* From the plain socket. */
static void
plain_sends(struct both *b, const void *p, size_t n)
{
	T_EQ(T_OK(sendto(b->s, p, n, 0, (struct sockaddr *)&b->me, b->len)),
		(ssize_t)n);
}

/*
 * What is said of the next one, into @p.  @how: 0: by strm_take(), 2: by
 * strm_take_lent(), 1: by one after the other, as libxti does.
 */
static int
take(int fd, struct unit *u, void *p, size_t room, int how)
{
	struct strm_id id;
	int ret = 1;

	ids(fd, &id);
	u->gp.data.buf = p;
	u->gp.data.maxlen = (int)room;
	u->gp.ctl.buf = &u->c;
	u->gp.ctl.maxlen = sizeof(u->c);
	u->gp.want = 1u << T_UNITDATA_IND;
	u->gp.nowait = 0;
	if (how < 2)
		ret = strm_take(fd, &id, &u->gp);
	if (how > 0 && ret > 0)
		ret = strm_take_lent(fd, &id, &u->gp);
	return ret;
}

/* One that is whole, @n bytes of @seed from @from; it has come straight. */
static void
is_whole(const struct unit *u, const void *p, size_t n, unsigned seed,
	const struct both *b)
{
	static unsigned char want[65536];

	fill(want, n, seed);
	T_EQ(u->gp.prim, T_UNITDATA_IND);
	T_EQ(u->gp.data.len, (int)n);
	T_MEM(p, want, n);
	T_EQ(u->c.ui.PRIM_type, T_UNITDATA_IND);
	T_EQ(u->c.ui.OPT_length, 0);
	T_EQ(u->c.ui.SRC_length, (int)b->len);
	T_EQ(u->gp.ctl.len, (int)(u->c.ui.SRC_offset + u->c.ui.SRC_length));
	T_EQ(in_port(u->c.room + u->c.ui.SRC_offset), in_port(&b->peer));
}

/* One datagram by the long way: from then on they may be received straight. */
static void
begin(struct both *b)
{
	start(b);
	plain_sends(b, "first", 5);
	in_want(b->fd, T_UNITDATA_IND);
}

static int
send_unit(const struct both *b, const void *p, size_t n)
{
	struct {
		struct T_unitdata_req ur;
		unsigned char to[128];
	} c = {.ur = {.PRIM_type = T_UNITDATA_REQ,
		.DEST_length = (t_scalar_t)b->len,
		.DEST_offset = sizeof(c.ur)}};
	struct strm_id id;

	ids(b->fd, &id);
	memcpy(c.to, &b->peer, b->len);
	return strm_send(b->fd, &id, &c, sizeof(c.ur) + b->len, p, n, 0);
}

/* ---------------------------------------------------------------- receiving */

T_CASE(one_after_the_other_they_come_straight)
{
	static const size_t size[] = {1, 100, 1500, 2112, 9000, 65507, 1};
	static unsigned char buf[65536], got[65536];
	struct unit u;
	struct both b;
	unsigned i, k;
	int how;

	begin(&b);
	for (k = 0; k < 3 * sizeof(size) / sizeof(size[0]); k++) {
		how = (int)(k % 3);
		i = k / 3;
		fill(buf, size[i], k);
		plain_sends(&b, buf, size[i]);
		T_EQ(take(b.fd, &u, got, size[i], how), 0);
		is_whole(&u, got, size[i], k, &b);
		T_EQ(take(b.fd, &u, got, sizeof(got), 0), 1);
	}
	done(&b);
}

T_CASE(an_empty_one_is_one)
{
	unsigned char got[10];
	struct unit u;
	struct both b;

	begin(&b);
	plain_sends(&b, "", 0);
	T_EQ(take(b.fd, &u, got, sizeof(got), 1), 0);
	is_whole(&u, got, 0, 0, &b);
	done(&b);
}

T_CASE(what_is_longer_than_the_buffer_goes_up_whole)
{
	static const size_t size[] = {101, 3000, 65507};
	static unsigned char buf[65536], got[65536];
	struct unit u;
	struct both b;
	unsigned i;

	begin(&b);
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		fill(buf, size[i], i);
		plain_sends(&b, buf, size[i]);
		T_EQ(take(b.fd, &u, got, 100, 1), 1);
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, (int)size[i]);
		T_MEM(in.data, buf, size[i]);
	}
	done(&b);
}

/* The kernel hands a train over as it came; the rest of it goes up. */
T_CASE(a_train_is_cut)
{
	static unsigned char buf[60000], got[65536];
	struct unit u;
	struct both b;
	int seg[] = {1, 1000, 9000, 1, 1000, 9000}, zero = 0;
	size_t all, at;
	unsigned i;

	begin(&b);
	for (i = 0; i < 6; i++) {
		all = (size_t)seg[i] * 6 - (seg[i] > 1);
		fill(buf, all, i);
		if (setsockopt(b.s, IPPROTO_UDP, UDP_SEGMENT, &seg[i],
			sizeof(seg[i])) != 0)
			T_SKIP("no trains here");
		plain_sends(&b, buf, all);
		T_OK(setsockopt(b.s, IPPROTO_UDP, UDP_SEGMENT, &zero,
			sizeof(zero)));
		at = 0;
		if (take(b.fd, &u, got, (size_t)seg[i], i < 3 ? 1 : 2) == 0) {
			T_EQ(u.gp.data.len, seg[i]);
			T_MEM(got, buf, (size_t)seg[i]);
			at = (size_t)seg[i];
		}
		while (at < all) {
			size_t n = all - at < (size_t)seg[i] ? all - at :
				(size_t)seg[i];

			in_want(b.fd, T_UNITDATA_IND);
			T_EQ(in.datalen, (int)n);
			T_MEM(in.data, buf + at, n);
			T_EQ(in_port(in.ctl + in.p.unitdata_ind.SRC_offset),
				in_port(&b.peer));
			at += n;
		}
		plain_sends(&b, "alone", 5);
		in_want(b.fd, T_UNITDATA_IND);
	}
	done(&b);
}

/* Those who come in numbers are asked for as trains, for each receiver. */
T_CASE(a_train_behind_many_that_were_alone_is_cut)
{
	static unsigned char buf[6000], got[1000];
	int seg = 1000;
	struct unit u;
	struct both b;
	unsigned i, first;

	begin(&b);
	for (i = 0; i < 20; i++) {
		plain_sends(&b, "x", 1);
		T_EQ(take(b.fd, &u, got, sizeof(got), 1), 0);
		T_EQ(u.gp.data.len, 1);
	}
	fill(buf, sizeof(buf), 0);
	if (setsockopt(b.s, IPPROTO_UDP, UDP_SEGMENT, &seg, sizeof(seg)) != 0)
		T_SKIP("no trains here");
	plain_sends(&b, buf, sizeof(buf));
	first = take(b.fd, &u, got, sizeof(got), 1) == 0;
	if (first) {
		T_EQ(u.gp.data.len, seg);
		T_MEM(got, buf, 1000);
	}
	for (i = first; i < 6; i++) {
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, seg);
		T_MEM(in.data, buf + i * 1000, 1000);
	}
	done(&b);
}

/* Too little room for the first of a train: all of it goes up. */
T_CASE(a_train_of_what_is_too_long_goes_up)
{
	static unsigned char buf[6000], got[100];
	int seg = 1000;
	struct unit u;
	struct both b;
	unsigned i;

	begin(&b);
	fill(buf, sizeof(buf), 0);
	if (setsockopt(b.s, IPPROTO_UDP, UDP_SEGMENT, &seg, sizeof(seg)) != 0)
		T_SKIP("no trains here");
	plain_sends(&b, buf, sizeof(buf));
	T_EQ(take(b.fd, &u, got, sizeof(got), 1), 1);
	for (i = 0; i < 6; i++) {
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, seg);
		T_MEM(in.data, buf + i * 1000, 1000);
	}
	done(&b);
}

T_CASE(who_would_not_wait_does_not)
{
	unsigned char got[100];
	struct unit u;
	struct both b;

	begin(&b);
	T_OK(fcntl(b.fd, F_SETFL, O_NONBLOCK));
	T_EQ(take(b.fd, &u, got, sizeof(got), 1), 1);
	plain_sends(&b, "x", 1);
	T_EQ(take(b.fd, &u, got, sizeof(got), 1), 1);
	T_OK(fcntl(b.fd, F_SETFL, 0));
	in_want(b.fd, T_UNITDATA_IND);
	done(&b);
}

/* Who is told of edges would not be told of what another took. */
T_CASE(who_polls_is_told_of_all)
{
	struct unit u;
	unsigned char got[100];
	struct both b;
	struct pollfd p;
	unsigned i;

	begin(&b);
	p = (struct pollfd){b.fd, POLLIN, 0};
	T_EQ(T_OK(poll(&p, 1, 0)), 0);
	for (i = 0; i < 50; i++) {
		plain_sends(&b, "a", 1);
		plain_sends(&b, "b", 1);
		if (take(b.fd, &u, got, sizeof(got), 1) != 0)
			in_want(b.fd, T_UNITDATA_IND);
		T_EQ(T_OK(poll(&p, 1, 10000)), 1);
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(T_OK(poll(&p, 1, 0)), 0);
	}
	done(&b);
}

struct waiter {
	pthread_t thr;
	struct unit u;
	unsigned char got[100];
	int fd;
	_Atomic int tid, over;
	int ret;
};

static void *
wait_there(void *arg)
{
	struct waiter *w = arg;

	w->tid = (int)gettid();
	w->ret = take(w->fd, &w->u, w->got, sizeof(w->got), 1);
	w->over = 1;
	return NULL;
}

static void
wait_begin(struct waiter *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	T_EQ(pthread_create(&w->thr, NULL, wait_there, w), 0);
	T_SOON(w->tid != 0 && in_asleep(getpid(), w->tid), 5000);
	T_FALSE(w->over);
}

static int
wait_end(struct waiter *w)
{
	T_SOON(w->over, 10000);
	T_EQ(pthread_join(w->thr, NULL), 0);
	return w->ret;
}

static void
nothing(int sig)
{
	(void)sig;
}

T_CASE(a_signal_ends_the_wait)
{
	struct sigaction sa = {.sa_handler = nothing};
	struct waiter w;
	struct both b;

	begin(&b);
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	wait_begin(&w, b.fd);
	T_EQ(pthread_kill(w.thr, SIGUSR1), 0);
	T_EQ(wait_end(&w), -EINTR);
	/* one that restarts does not, though it may go on the usual way */
	sa.sa_flags = SA_RESTART;
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	wait_begin(&w, b.fd);
	T_EQ(pthread_kill(w.thr, SIGUSR1), 0);
	plain_sends(&b, "x", 1);
	T_GE(wait_end(&w), 0);
	if (w.ret != 0)
		in_want(b.fd, T_UNITDATA_IND);
	done(&b);
}

T_CASE(an_error_comes_to_who_waits)
{
	struct waiter w;
	struct both b;

	begin(&b);
	T_OK(close(b.s));
	wait_begin(&w, b.fd);
	in_unitdata(b.fd, &b.peer, (int)b.len, "lost", 4);
	T_EQ(wait_end(&w), 1);
	in_want(b.fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, ECONNREFUSED);
	T_EQ(in_port(in.ctl + in.p.uderror_ind.DEST_offset), in_port(&b.peer));
	T_OK(close(b.fd));
}

T_CASE(an_unbind_ends_what_was_lent)
{
	unsigned char got[10];
	struct unit u;
	struct both b;

	begin(&b);
	in_prim(b.fd, T_UNBIND_REQ);
	in_ok(b.fd, T_UNBIND_REQ);
	T_EQ(take(b.fd, &u, got, sizeof(got), 1), 1);
	done(&b);
}

T_CASE(a_close_by_another_thread_ends_the_wait)
{
	struct waiter w;
	struct both b;

	begin(&b);
	wait_begin(&w, b.fd);
	T_OK(close(b.fd));
	T_NE(wait_end(&w), 0);
	T_OK(close(b.s));
}

T_CASE(a_bad_buffer_is_an_error)
{
	struct unit u;
	struct both b;
	void *p = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	T_TRUE(p != MAP_FAILED);
	begin(&b);
	plain_sends(&b, "x", 1);
	T_EQ(take(b.fd, &u, p, 100, 0), -EFAULT);
	plain_sends(&b, "x", 1);
	T_EQ(take(b.fd, &u, p, 100, 2), -EFAULT);
	plain_sends(&b, "y", 1);
	in_want(b.fd, T_UNITDATA_IND);
	T_EQ(in.data[0], 'y');
	T_EQ(send_unit(&b, p, 5000), 1);
	T_OK(munmap(p, 8192));
	done(&b);
}

T_CASE_TIMEOUT(two_processes_get_each_datagram_once, 60)
{
	enum { N = 1000 };
	volatile unsigned char *seen = mmap(NULL, N + 1, PROT_READ |
		PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned char buf[200];
	pid_t pid[2];
	struct both b;
	int i, k, st, ends;

	T_TRUE(seen != MAP_FAILED);
	begin(&b);
	for (i = 0; i < 2; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] != 0)
			continue;
		for (;;) {
			struct unit u;

			if (take(b.fd, &u, buf, sizeof(buf), 0) != 0 &&
			    take(b.fd, &u, buf, sizeof(buf), 1) != 0) {
				in_want(b.fd, T_UNITDATA_IND);
				memcpy(buf, in.data, sizeof(k));
			}
			memcpy(&k, buf, sizeof(k));
			if (k < 0)
				_exit(0);
			seen[k]++;
			seen[N] = (unsigned char)k;
		}
	}
	for (k = 0; k < N; k++) {
		plain_sends(&b, &k, sizeof(k));
		if (k % 50 == 49)
			T_SOON(seen[k] != 0, 10000);
	}
	for (k = 0; k < N; k++) {
		T_SOON(seen[k] != 0, 10000);
		T_EQ(seen[k], 1);
	}
	/* each ends one of them */
	for (ends = 0, k = -1; ends < 2; ends++)
		plain_sends(&b, &k, sizeof(k));
	for (i = 0; i < 2; i++) {
		T_EQ(T_OK(waitpid(pid[i], &st, 0)), pid[i]);
		T_EQ(st, 0);
	}
	done(&b);
}

/* A process that is killed, or stopped, while it waits leaves it to others. */
T_CASE(a_wait_that_never_ends_keeps_nobody)
{
	static const int sig[] = {SIGKILL, SIGSTOP};
	unsigned char got[100];
	struct both b;
	unsigned i;

	for (i = 0; i < 2; i++) {
		int up[2], st;
		pid_t pid;
		char c = 0;

		begin(&b);
		T_OK(pipe(up));
		pid = T_OK(fork());
		if (pid == 0) {
			struct unit u;

			(void)!write(up[1], "x", 1);
			/* 1: nothing was done, streamsd had a token there */
			while (take(b.fd, &u, got, sizeof(got), 1) == 1)
				;
			_exit(0);
		}
		T_EQ(T_OK(read(up[0], &c, 1)), 1);
		T_SOON(in_asleep(pid, pid), 5000);
		T_OK(kill(pid, sig[i]));
		T_EQ(T_OK(waitpid(pid, &st, WUNTRACED)), pid);
		T_TRUE(WIFSIGNALED(st) || WIFSTOPPED(st));
		plain_sends(&b, "x", 1);
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.data[0], 'x');
		if (sig[i] == SIGSTOP) {
			T_OK(kill(pid, SIGKILL));
			T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		}
		T_OK(close(up[0]));
		T_OK(close(up[1]));
		done(&b);
	}
}

/* ------------------------------------------------------------------ sending */

T_CASE(long_ones_go_straight_and_in_order)
{
	static unsigned char buf[65536], got[65536];
	struct both b;
	unsigned i, k, straight = 0;
	size_t n[20];

	start(&b);
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 20; k++) {
			n[k] = i % 10 == 0 ? (k % 3 == 0 ? 9000 : 40) :
				1 + t_rand_below(2000);
			if (k >= 8 && n[k] > 2000)
				n[k] = 2000;
			fill(buf, n[k], i * 20 + k);
			if (send_unit(&b, buf, n[k]) == 0)
				straight++;
			else
				in_unitdata(b.fd, &b.peer, (int)b.len, buf,
					(int)n[k]);
		}
		for (k = 0; k < 20; k++) {
			fill(buf, n[k], i * 20 + k);
			T_EQ(T_OK(recv(b.s, got, sizeof(got), 0)),
				(ssize_t)n[k]);
			T_MEM(got, buf, n[k]);
		}
	}
	T_GT(straight, 0u);
	done(&b);
}

T_CASE(who_answers_does_so_at_once)
{
	unsigned char got[100];
	struct unit u;
	struct both b;
	unsigned i;

	begin(&b);
	in_unitdata(b.fd, &b.peer, (int)b.len, "first", 5);
	T_EQ(T_OK(recv(b.s, got, sizeof(got), 0)), 5);
	for (i = 0; i < 20; i++) {
		plain_sends(&b, "ask", 3);
		T_EQ(take(b.fd, &u, got, sizeof(got), 1), 0);
		T_EQ(send_unit(&b, "answer", 6), 0);
		T_EQ(T_OK(recv(b.s, got, sizeof(got), MSG_DONTWAIT)), 6);
	}
	done(&b);
}

T_CASE(what_is_wrong_goes_the_long_way)
{
	static unsigned char buf[65536];
	struct both b;

	start(&b);
	T_EQ(send_unit(&b, buf, 65508), 1);
	((struct sockaddr_in *)&b.peer)->sin_port = 0;
	T_EQ(send_unit(&b, buf, 9000), 1);
	T_EQ(in_state(b.fd), TS_IDLE);
	done(&b);
}

/* The receiver reads now and then: nothing is lost, whichever way it goes. */
T_CASE_TIMEOUT(nothing_is_lost_on_the_way_to_one_who_stalls, 60)
{
	enum { N = 600, SIZE = 16384 };
	static unsigned char buf[SIZE], got[SIZE];
	struct both a, b;
	unsigned i;
	pid_t pid;
	int st;

	start(&a);
	start(&b);
	a.peer = b.me;
	b.peer = a.me;
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			struct unit u;

			if (i % 100 == 50)
				for (st = 0; st < 20; st++)
					t_pause();
			if (take(b.fd, &u, got, SIZE, 0) == 0 ||
			    take(b.fd, &u, got, SIZE, 1) == 0) {
				is_whole(&u, got, SIZE, i, &b);
				continue;
			}
			in_want(b.fd, T_UNITDATA_IND);
			fill(buf, SIZE, i);
			T_EQ(in.datalen, SIZE);
			T_MEM(in.data, buf, SIZE);
		}
		_exit(0);
	}
	for (i = 0; i < N; i++) {
		fill(buf, SIZE, i);
		if (send_unit(&a, buf, SIZE) != 0)
			in_unitdata(a.fd, &a.peer, (int)a.len, buf, SIZE);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	done(&a);
	done(&b);
}
