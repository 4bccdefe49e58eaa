/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the driver lends the Stream head (core/sock/lend.c): t_snd() and
 * t_rcv() of plain data on a connection, by the calls that libxti makes of
 * them, beside all that may happen at the same time.  The other end is a plain
 * socket, so that every byte can be accounted for.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include <str/tli.h>

#include "in.h"

#define HANDS 2u

/* Long enough to be sent from where it is; so short that it is gathered. */
#define LONG 12000u
#define SHORT 100u

/* A connection on which data has gone both ways: things are lent. */
static int
tcp(int *s)
{
	int fd = in_pair("/dev/tcp", AF_INET, s);
	char c;

	T_EQ(write(*s, "x", 1), 1);
	in_want(fd, -1);
	T_EQ(strm_write(fd, "x", 1), 1);
	in_readn(*s, &c, 1);
	return fd;
}

static void
fill(unsigned char *p, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = in_byte(at + i);
}

static void
check(const unsigned char *p, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] != in_byte(at + i))
			T_FAIL("byte %llu is wrong",
				(unsigned long long)(at + i));
}

/* All that comes at @s until its end, from byte @at on: how much. */
static uint64_t
check_rest(int s, uint64_t at)
{
	static unsigned char buf[65536];
	uint64_t from = at;
	ssize_t n;

	while ((n = T_OK(read(s, buf, sizeof(buf)))) > 0) {
		check(buf, (size_t)n, at);
		at += (uint64_t)n;
	}
	return at - from;
}

/*
 * As t_rcv() does it: plain data, waited for; minus an errno; or 0, something
 * else: *@prim, and what comes with it is in @buf.
 */
static long
get_prim(int fd, void *buf, size_t len, int *prim)
{
	union {
		t_scalar_t prim;
		char buf[256];
	} u = {0};
	struct strbuf c = {sizeof(u), 0, u.buf};
	struct strbuf d = {(int)len, 0, buf};
	long n = strm_read(fd, buf, len);
	int flags = 0;

	*prim = -1;
	if (n != 0)
		return n;
	if (getmsg(fd, &c, &d, &flags) < 0)
		return -errno;
	if (c.len <= 0)
		return d.len;
	*prim = u.prim;
	return 0;
}

static long
get(int fd, void *buf, size_t len)
{
	int prim;

	return get_prim(fd, buf, len, &prim);
}

/* @n bytes of the stream from @at on. */
static void
get_all(int fd, size_t n, uint64_t at)
{
	static unsigned char buf[65536];
	long k;

	while (n > 0) {
		k = get(fd, buf, n < sizeof(buf) ? n : sizeof(buf));
		T_GT(k, 0);
		check(buf, (size_t)k, at);
		at += (uint64_t)k;
		n -= (size_t)k;
	}
}

static void
put_all(int fd, size_t n, uint64_t at)
{
	static unsigned char buf[65536];

	while (n > 0) {
		size_t k = n < sizeof(buf) ? n : sizeof(buf);

		fill(buf, k, at);
		T_EQ(strm_write(fd, buf, k), (long)k);
		at += k;
		n -= k;
	}
}

static void
send_all(int s, size_t n, uint64_t at)
{
	static unsigned char buf[65536];

	while (n > 0) {
		size_t k = n < sizeof(buf) ? n : sizeof(buf);

		fill(buf, k, at);
		T_EQ(write(s, buf, k), (ssize_t)k);
		at += k;
		n -= k;
	}
}

/* ------------------------------------------------------- a thread that waits */

struct waiter {
	pthread_t thr;
	int fd, out, prim;
	unsigned char *buf;
	size_t len;
	_Atomic int tid, done;
	long ret;
};

static void *
wait_there(void *arg)
{
	struct waiter *w = arg;

	w->tid = (int)gettid();
	w->ret = w->out ? strm_write(w->fd, w->buf, w->len) :
		get_prim(w->fd, w->buf, w->len, &w->prim);
	w->done = 1;
	return NULL;
}

static void
wait_begin(struct waiter *w, int fd, int out, size_t len)
{
	w->fd = fd;
	w->out = out;
	w->len = len;
	w->buf = malloc(len);
	w->tid = w->done = 0;
	T_TRUE(w->buf != NULL);
	if (out)
		fill(w->buf, len, 0);
	T_EQ(pthread_create(&w->thr, NULL, wait_there, w), 0);
	T_SOON(w->tid != 0 && in_asleep(getpid(), w->tid), 5000);
	T_FALSE(w->done);
}

static long
wait_end(struct waiter *w)
{
	T_SOON(w->done, 10000);
	T_EQ(pthread_join(w->thr, NULL), 0);
	return w->ret;
}

/* ------------------------------------------------------------------ sending */

T_CASE_TIMEOUT(bytes_of_all_sizes_come_in_order, 60)
{
	int s, fd = tcp(&s), d = T_OK(dup(fd));
	uint64_t at = 0, got;
	pid_t pid = T_OK(fork());
	int i, st;

	if (pid == 0) {
		T_OK(close(fd));
		T_OK(close(d));
		got = check_rest(s, 0);
		_exit(got == 0 ? 1 : 0);
	}
	T_OK(close(s));
	for (i = 0; i < 1500; i++) {
		size_t k = 1 + t_rand_below(t_rand_below(6) == 0 ? 40000 : 300);

		put_all(i % 7 == 0 ? d : fd, k, at);
		at += k;
		if (i % 50 == 0) {
			static unsigned char b[500];

			fill(b, sizeof(b), at);
			in_put(fd, NULL, 0, b, sizeof(b), 0);
			at += sizeof(b);
		}
	}
	T_OK(close(fd));
	T_OK(close(d));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
}

/* Two hands send, each its own bytes: those of each come, in their order. */
struct hand {
	int fd;
	unsigned who;
	size_t total;
};

static void *
hand_sends(void *arg)
{
	struct hand *h = arg;
	unsigned char buf[18000];
	unsigned n = 0, x = h->who + 1;
	size_t sent = 0;

	while (sent < h->total) {
		size_t k, i;

		x = x * 1103515245u + 12345u;
		k = 1 + (x >> 16) % ((x >> 8) % 5 == 0 ? sizeof(buf) : 200);
		if (k > h->total - sent)
			k = h->total - sent;
		for (i = 0; i < k; i++)
			buf[i] = (unsigned char)(h->who << 7 | (n++ & 127));
		if (strm_write(h->fd, buf, k) != (long)k)
			return (void *)1;
		sent += k;
	}
	return NULL;
}

static void
hands_receive(int s, size_t total)
{
	static unsigned char buf[65536];
	unsigned next[HANDS] = {0};
	size_t have[HANDS] = {0};
	ssize_t n, i;

	while ((n = T_OK(read(s, buf, sizeof(buf)))) > 0)
		for (i = 0; i < n; i++) {
			unsigned who = buf[i] >> 7;

			if ((buf[i] & 127u) != (next[who]++ & 127u))
				T_FAIL("byte %zu of %u is wrong", have[who],
					who);
			have[who]++;
		}
	T_EQ(have[0], total);
	T_EQ(have[1], total);
}

T_CASE_TIMEOUT(two_threads_send_on_one_endpoint, 60)
{
	size_t total = 1u << 20;
	int s, fd = tcp(&s), st;
	struct hand h[HANDS] = {{fd, 0, total}, {fd, 1, total}};
	pthread_t thr[HANDS];
	void *ret;
	pid_t pid = T_OK(fork());
	unsigned i;

	if (pid == 0) {
		T_OK(close(fd));
		hands_receive(s, total);
		_exit(0);
	}
	T_OK(close(s));
	for (i = 0; i < HANDS; i++)
		T_EQ(pthread_create(&thr[i], NULL, hand_sends, &h[i]), 0);
	for (i = 0; i < HANDS; i++) {
		T_EQ(pthread_join(thr[i], &ret), 0);
		T_TRUE(ret == NULL);
	}
	T_OK(close(fd));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
}

T_CASE_TIMEOUT(two_processes_send_on_one_endpoint, 60)
{
	size_t total = 1u << 20;
	int s, fd = tcp(&s), st;
	struct hand h = {fd, 0, total};
	pid_t pid, other;

	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(s));
		h.who = 1;
		_exit(hand_sends(&h) != NULL);
	}
	other = T_OK(fork());
	if (other == 0) {
		T_OK(close(s));
		_exit(hand_sends(&h) != NULL);
	}
	T_OK(close(fd));
	hands_receive(s, total);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_EQ(T_OK(waitpid(other, &st, 0)), other);
	T_EQ(st, 0);
	T_OK(close(s));
}

T_CASE(what_was_gathered_before_a_fork_comes_once)
{
	int s, fd = tcp(&s), st, i;
	uint64_t at = 0;
	pid_t pid;

	for (i = 0; i < 10; i++, at += SHORT)
		put_all(fd, SHORT, at);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < 10; i++, at += SHORT)
			put_all(fd, SHORT, at);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	for (i = 0, at += 10 * SHORT; i < 10; i++, at += SHORT)
		put_all(fd, SHORT, at);
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), at);
	T_OK(close(s));
}

/* Memory that ends after @n bytes. */
static unsigned char *
edge(size_t n)
{
	size_t most = 65536;
	unsigned char *p = mmap(NULL, 2 * most, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T_TRUE(p != MAP_FAILED);
	T_OK(mprotect(p + most, most, PROT_NONE));
	return p + most - n;
}

T_CASE(a_bad_buffer_sends_what_it_has_or_nothing)
{
	static const size_t have[] = {0, 50, 3000, 4500, 5000, 20000};
	int s, fd = tcp(&s);
	uint64_t at = 0;
	unsigned i, round;
	long n;

	for (round = 0; round < 2; round++)
		for (i = 0; i < sizeof(have) / sizeof(have[0]); i++) {
			unsigned char *p = edge(have[i]);

			/* with something gathered before it, and without */
			if (round == 0) {
				put_all(fd, SHORT, at);
				put_all(fd, SHORT, at + SHORT);
				at += 2 * SHORT;
			}
			fill(p, have[i], at);
			n = strm_write(fd, p, have[i] + 80);
			T_TRUE(n == -EFAULT || (n > 0 && n <= (long)have[i]));
			at += n > 0 ? (uint64_t)n : 0;
			fill(p, have[i], at);
			n = strm_write(fd, p, have[i] + 30000);
			T_TRUE(n == -EFAULT || (n > 0 && n <= (long)have[i]));
			at += n > 0 ? (uint64_t)n : 0;
			put_all(fd, SHORT, at);
			at += SHORT;
		}
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), at);
	T_OK(close(s));
}

static void
nothing(int sig T_UNUSED)
{
}

T_CASE(a_signal_ends_a_long_send_with_what_went)
{
	struct sigaction sa = {.sa_handler = nothing};
	int s, fd = tcp(&s), st;
	struct waiter w;
	uint64_t n;
	pid_t pid;

	T_OK(sigaction(SIGUSR1, &sa, NULL));
	wait_begin(&w, fd, 1, 32u << 20);
	T_EQ(pthread_kill(w.thr, SIGUSR1), 0);
	n = (uint64_t)wait_end(&w);
	T_GT((long)n, 0);
	T_LT((long)n, (long)w.len);
	T_OK(fcntl(fd, F_SETFL, O_NONBLOCK));
	/* and goes on where it ended */
	w.ret = strm_write(fd, w.buf + n, 1000);
	T_TRUE(w.ret == -EAGAIN || w.ret == 1000);
	if (w.ret > 0)
		n += 1000;
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd));
		_exit(check_rest(s, 0) != n);
	}
	T_OK(close(s));
	T_OK(fcntl(fd, F_SETFL, 0));
	in_prim(fd, T_ORDREL_REQ);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(fd));
	free(w.buf);
}

T_CASE(a_long_send_goes_on_when_there_is_room)
{
	int s, fd = tcp(&s);
	size_t len = 16u << 20, got = 0;
	static unsigned char buf[65536];
	struct waiter w;
	ssize_t n;

	wait_begin(&w, fd, 1, len);
	while (got < len) {
		n = T_OK(read(s, buf, sizeof(buf)));
		T_GT(n, 0);
		check(buf, (size_t)n, got);
		got += (size_t)n;
	}
	T_EQ(wait_end(&w), (long)len);
	T_OK(close(fd));
	T_EQ(check_rest(s, len), 0u);
	T_OK(close(s));
	free(w.buf);
}

T_CASE(a_reset_ends_a_long_send)
{
	struct linger lg = {1, 0};
	int s, fd = tcp(&s);
	struct waiter w;

	wait_begin(&w, fd, 1, 32u << 20);
	T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	T_OK(close(s));
	/* what is sent then is dropped, and the user told when it looks */
	T_LE(wait_end(&w), (long)w.len);
	in_want(fd, T_DISCON_IND);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_OK(close(fd));
	free(w.buf);
}

T_CASE(data_flushed_is_gone_and_the_rest_in_order)
{
	int s, fd = tcp(&s), i, round;
	char buf[SHORT], end[65536];
	size_t n = 0, k;

	memset(buf, 'a', sizeof(buf));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 10; i++)
			T_EQ(strm_write(fd, buf, sizeof(buf)),
				(long)sizeof(buf));
		T_OK(ioctl(fd, I_FLUSH, FLUSHW));
		T_EQ(strm_write(fd, "b", 1), 1);
	}
	T_OK(close(fd));
	while ((k = (size_t)T_OK(read(s, end + n, sizeof(end) - n))) > 0)
		n += k;
	for (k = 0, i = 0; k < n; k++)
		i += end[k] == 'b';
	/* a 'b' may be flushed by the next round, but not the last one */
	T_LE(i, 20);
	T_GE(i, 1);
	T_EQ(end[n - 1], 'b');
	T_LE(n, 20u * (10u * SHORT + 1u));
	T_OK(close(s));
}

T_CASE(expedited_data_goes_in_its_place)
{
	struct T_exdata_req ex = {T_EXDATA_REQ, 0};
	int s, fd = tcp(&s), one = 1, i;
	uint64_t at = 0;
	unsigned char c;

	T_OK(setsockopt(s, SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one)));
	for (i = 0; i < 40; i++) {
		put_all(fd, SHORT, at);
		at += SHORT;
		c = in_byte(at++);
		in_put(fd, &ex, sizeof(ex), &c, 1, 0);
		put_all(fd, i & 1 ? SHORT : LONG, at);
		at += i & 1 ? SHORT : LONG;
	}
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), at);
	T_OK(close(s));
}

/* ------------------------------------------------- plumbing, while it is lent */

T_CASE(modules_come_and_go_between_messages)
{
	static const char *const mods[] = {"nullmod", "timod"};
	int s, fd = tcp(&s), i, j;
	uint64_t at = 0;

	for (i = 0; i < 20; i++) {
		if (i % 4 < 2)
			T_OK(ioctl(fd, I_PUSH, mods[i % 4]));
		for (j = 0; j < 6; j++) {
			put_all(fd, SHORT, at);
			at += SHORT;
		}
		put_all(fd, LONG, at);
		at += LONG;
		if (i % 4 < 2) {
			T_OK(ioctl(fd, I_POP, 0));
			put_all(fd, SHORT, at);
			at += SHORT;
		}
	}
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), at);
	T_OK(close(s));
}

T_CASE(a_module_pushed_under_who_waits_lets_data_by)
{
	int s, fd = tcp(&s), i;
	struct waiter w;
	uint64_t at = 0;

	for (i = 0; i < 4; i++) {
		wait_begin(&w, fd, 0, 100);
		if (i & 1)
			T_OK(ioctl(fd, I_POP, 0));
		else
			T_OK(ioctl(fd, I_PUSH, "nullmod"));
		send_all(s, SHORT, at);
		w.ret = wait_end(&w);
		T_GE(w.ret, 0);
		check(w.buf, (size_t)w.ret, at);
		at += (uint64_t)w.ret;
		get_all(fd, (size_t)i * SHORT + SHORT - at, at);
		at = (uint64_t)(i + 1) * SHORT;
		free(w.buf);
	}
	T_OK(close(s));
	in_want(fd, T_ORDREL_IND);
	T_OK(close(fd));
}

/* ---------------------------------------------------------------- receiving */

T_CASE_TIMEOUT(reads_of_all_sizes_get_all_in_order, 60)
{
	static unsigned char buf[40000];
	int s, fd = tcp(&s), st;
	uint64_t at = 0, total = 6u << 20;
	pid_t pid = T_OK(fork());
	long n;

	if (pid == 0) {
		uint64_t k;

		T_OK(close(fd));
		for (at = 0; at < total; at += k) {
			k = 1 + t_rand_below(t_rand_below(4) == 0 ? 100000 :
				900);
			if (k > total - at)
				k = total - at;
			send_all(s, k, at);
		}
		_exit(0);
	}
	T_OK(close(s));
	while (at < total) {
		if (t_rand_below(9) == 0) {
			in_want(fd, -1);
			n = in.datalen;
			check(in.data, (size_t)n, at);
		} else {
			n = get(fd, buf, 1 + t_rand_below(t_rand_below(4) == 0 ?
				sizeof(buf) : 300));
			T_GT(n, 0);
			check(buf, (size_t)n, at);
		}
		at += (uint64_t)n;
	}
	T_EQ(at, total);
	in_want(fd, T_ORDREL_IND);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(fd));
}

/* Two who read one endpoint: each byte comes to one of them, once. */
struct shared {
	_Atomic uint64_t got, kind[251], ended;
};

static void
hand_reads(int fd, struct shared *sh)
{
	static __thread unsigned char buf[20000];
	unsigned x = (unsigned)gettid();
	long n, i;

	for (;;) {
		x = x * 1103515245u + 12345u;
		n = get(fd, buf, 1 + (x >> 16) % ((x >> 8) % 3 == 0 ?
			sizeof(buf) : 300));
		T_GT(n, 0);
		for (i = 0; i < n && buf[i] != 255; i++)
			atomic_fetch_add(&sh->kind[buf[i]], 1);
		atomic_fetch_add(&sh->got, (uint64_t)i);
		if (i < n) {
			T_EQ(i, n - 1);
			atomic_fetch_add(&sh->ended, 1);
			return;
		}
	}
}

struct reader {
	int fd;
	struct shared *sh;
};

static void *
hand_reads_thread(void *arg)
{
	struct reader *r = arg;

	hand_reads(r->fd, r->sh);
	return NULL;
}

static void
shared_sends(int s, struct shared *sh, uint64_t total)
{
	static unsigned char buf[30000];
	uint64_t kind[251] = {0}, at = 0;
	unsigned i;

	while (at < total) {
		size_t k = 1 + t_rand_below(sizeof(buf)), j;

		if (k > total - at)
			k = total - at;
		for (j = 0; j < k; j++)
			kind[buf[j] = (unsigned char)t_rand_below(251)]++;
		T_EQ(write(s, buf, k), (ssize_t)k);
		at += k;
	}
	for (i = 0; i < HANDS; i++) {
		T_SOON(sh->got == total && sh->ended == i, 10000);
		T_EQ(write(s, "\377", 1), 1);
	}
	T_SOON(sh->ended == HANDS, 10000);
	for (i = 0; i < 251; i++)
		T_EQ(sh->kind[i], kind[i]);
}

static struct shared *
shared(void)
{
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T_TRUE(sh != MAP_FAILED);
	return sh;
}

T_CASE_TIMEOUT(two_processes_receive_on_one_endpoint, 60)
{
	int s, fd = tcp(&s), st;
	struct shared *sh = shared();
	pid_t pid[HANDS];
	unsigned i;

	for (i = 0; i < HANDS; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0) {
			T_OK(close(s));
			hand_reads(fd, sh);
			_exit(0);
		}
	}
	shared_sends(s, sh, 3u << 20);
	for (i = 0; i < HANDS; i++) {
		T_EQ(T_OK(waitpid(pid[i], &st, 0)), pid[i]);
		T_EQ(st, 0);
	}
	T_OK(close(fd));
	T_OK(close(s));
}

T_CASE_TIMEOUT(two_threads_receive_on_one_endpoint, 60)
{
	int s, fd = tcp(&s);
	struct reader r = {fd, shared()};
	pthread_t thr[HANDS];
	unsigned i;

	for (i = 0; i < HANDS; i++)
		T_EQ(pthread_create(&thr[i], NULL, hand_reads_thread, &r), 0);
	shared_sends(s, r.sh, 3u << 20);
	for (i = 0; i < HANDS; i++)
		T_EQ(pthread_join(thr[i], NULL), 0);
	T_OK(close(fd));
	T_OK(close(s));
}

T_CASE(a_bad_buffer_loses_nothing_that_came)
{
	static const size_t have[] = {0, 10, 2000, 20000};
	int s, fd = tcp(&s);
	uint64_t at = 0, sent = 0;
	unsigned i;
	long n;

	for (i = 0; i < sizeof(have) / sizeof(have[0]); i++) {
		unsigned char *p = edge(have[i]);

		send_all(s, 30000, sent);
		sent += 30000;
		n = strm_read(fd, p, have[i] + 10000);
		T_TRUE(n == -EFAULT || (n >= 0 && n <= (long)have[i]));
		if (n > 0) {
			check(p, (size_t)n, at);
			at += (uint64_t)n;
		}
		get_all(fd, sent - at, at);
		at = sent;
	}
	T_OK(close(s));
	in_want(fd, T_ORDREL_IND);
	T_OK(close(fd));
}

T_CASE(a_signal_ends_a_wait_for_data)
{
	struct sigaction sa = {.sa_handler = nothing};
	int s, fd = tcp(&s);
	struct waiter w;

	T_OK(sigaction(SIGUSR1, &sa, NULL));
	wait_begin(&w, fd, 0, 100);
	T_EQ(pthread_kill(w.thr, SIGUSR1), 0);
	T_EQ(wait_end(&w), -EINTR);
	free(w.buf);
	/* one that restarts does not */
	sa.sa_flags = SA_RESTART;
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	wait_begin(&w, fd, 0, 100);
	T_EQ(pthread_kill(w.thr, SIGUSR1), 0);
	send_all(s, SHORT, 0);
	T_GE(wait_end(&w), 0);
	check(w.buf, (size_t)w.ret, 0);
	get_all(fd, SHORT - (size_t)w.ret, (uint64_t)w.ret);
	free(w.buf);
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(a_close_by_another_thread_ends_waits)
{
	static unsigned char buf[65536];
	int s, fd, out;
	struct waiter w;
	uint64_t at;
	ssize_t n;

	for (out = 0; out < 2; out++) {
		fd = tcp(&s);
		wait_begin(&w, fd, out, out ? 32u << 20 : 100);
		T_OK(close(fd));
		/* who waits for the socket hears of it from there, at the
		 * latest; and what is queued is waited for: make room */
		T_OK(shutdown(s, SHUT_WR));
		for (at = 0; out && (n = read(s, buf, sizeof(buf))) > 0;) {
			check(buf, (size_t)n, at);
			at += (uint64_t)n;
		}
		T_LE(wait_end(&w), (long)w.len);
		T_OK(close(s));
		free(w.buf);
	}
}

T_CASE(a_close_of_one_of_two_descriptors_ends_no_connection)
{
	int s, fd = tcp(&s), d = T_OK(dup(fd));
	struct waiter w;

	wait_begin(&w, fd, 0, 100);
	T_OK(close(d));
	send_all(s, SHORT, 0);
	T_EQ(wait_end(&w), (long)SHORT);
	check(w.buf, SHORT, 0);
	put_all(fd, LONG, 0);
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), LONG);
	T_OK(close(s));
	free(w.buf);
}

T_CASE(the_end_comes_to_who_waits)
{
	struct linger lg = {1, 0};
	int s, fd, reset;
	struct waiter w;

	for (reset = 0; reset < 2; reset++) {
		fd = tcp(&s);
		wait_begin(&w, fd, 0, 100);
		if (reset)
			T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg,
				sizeof(lg)));
		T_OK(close(s));
		T_EQ(wait_end(&w), 0);
		T_EQ(w.prim, reset ? T_DISCON_IND : T_ORDREL_IND);
		T_OK(close(fd));
		free(w.buf);
	}
}

T_CASE(expedited_data_comes_as_such)
{
	int s, fd = tcp(&s), one = 1, i;
	size_t len[] = {SHORT, LONG, 20000, 1};
	static unsigned char buf[5000];
	unsigned char c;
	uint64_t at = 0;
	long n;

	T_OK(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	for (i = 0; i < 60; i++) {
		size_t k = len[i % 4], have = 0;
		int got = 0, prim;

		/* in the middle of reads that got all they could, as well */
		send_all(s, k, at);
		if (i % 3 == 0) {
			get_all(fd, k, at);
			have = k;
		}
		c = (unsigned char)i;
		T_EQ(send(s, &c, 1, MSG_OOB), 1);
		/* it may overtake others, but is none of them */
		while (have < k || !got) {
			n = get_prim(fd, buf, sizeof(buf), &prim);
			if (n == 0) {
				T_EQ(prim, T_EXDATA_IND);
				T_EQ(buf[0], c);
				T_FALSE(got);
				got = 1;
				continue;
			}
			T_GT(n, 0);
			T_LE((size_t)n, k - have);
			check(buf, (size_t)n, at + have);
			have += (size_t)n;
		}
		at += k;
	}
	T_OK(close(s));
	in_want(fd, T_ORDREL_IND);
	T_OK(close(fd));
}

T_CASE(a_flush_leaves_who_waits_waiting)
{
	int s, fd = tcp(&s);
	struct waiter w;

	wait_begin(&w, fd, 0, 100);
	T_OK(ioctl(fd, I_FLUSH, FLUSHRW));
	send_all(s, SHORT, 0);
	w.ret = wait_end(&w);
	T_GE(w.ret, 0);
	check(w.buf, (size_t)w.ret, 0);
	get_all(fd, SHORT - (size_t)w.ret, (uint64_t)w.ret);
	T_OK(close(s));
	T_OK(close(fd));
	free(w.buf);
}

/* A poller is told of edges: what another one has left is not lost to it. */
T_CASE(who_polls_and_who_waits_get_all_between_them)
{
	int s, fd = tcp(&s), i;
	struct pollfd p = {fd, POLLIN, 0};
	unsigned char buf[200];
	uint64_t at = 0;
	long n;

	for (i = 0; i < 100; i++) {
		send_all(s, 1000, at);
		n = get(fd, buf, 100);
		T_GT(n, 0);
		check(buf, (size_t)n, at);
		T_EQ(T_OK(poll(&p, 1, 10000)), 1);
		get_all(fd, 1000 - (size_t)n, at + (uint64_t)n);
		at += 1000;
		T_EQ(T_OK(poll(&p, 1, 0)), 0);
	}
	T_OK(close(s));
	T_OK(close(fd));
}

/* What needs no message needs no memory. */
T_CASE(without_memory_what_is_lent_goes_on)
{
	static char much[65536];
	int s, fd, p[64][2], n, i;
	unsigned char buf[5000];
	uint64_t at = 0, in_at = 0;
	size_t total = 0;
	ssize_t done;
	long k;

	T_OK(setenv("STREAMS_SIZE", "16M", 1)); /* before the first stream */
	fd = tcp(&s);
	for (n = 0; n < 64 && pipe(p[n]) == 0; n++) {
		T_OK(fcntl(p[n][1], F_SETFL, O_NONBLOCK));
		for (k = sizeof(much); k > 0;) {
			done = write(p[n][1], much, (size_t)k);
			if (done < 0)
				k /= 2;
			else
				total += (size_t)done;
		}
	}
	/* they would hold twice as much as there is */
	T_LT(total, 16u << 20);
	T_GT(total, 4u << 20);
	send_all(s, 100000, 0);
	while (in_at < 100000) {
		/* or a message, for which bufcall has found a small block */
		k = get(fd, buf, sizeof(buf));
		T_GT(k, 0);
		check(buf, (size_t)k, in_at);
		in_at += (uint64_t)k;
	}
	for (i = 0; i < 10; i++, at += LONG)
		put_all(fd, LONG, at);
	while (n-- > 0) {
		T_OK(close(p[n][0]));
		T_OK(close(p[n][1]));
	}
	for (i = 0; i < 10; i++, at += SHORT)
		put_all(fd, SHORT, at);
	T_OK(close(fd));
	T_EQ(check_rest(s, 0), at);
	T_OK(close(s));
}
