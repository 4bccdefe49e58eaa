/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Data on the move: order, completeness and boundaries while modules queue
 * it, while flow control stops and starts it, while modules come and go.
 *
 * A record is its number, its length and bytes made from both, so that any
 * loss, doubling, reordering or mixing shows.
 */
#include <sched.h>

#include "st.h"

enum { RECORD_MAX = 1500 };

struct record {
	uint32_t number, length;
	unsigned char bytes[RECORD_MAX];
};

static uint32_t
record_length(uint32_t n)
{
	uint32_t x = n * 2654435761u;

	x ^= x >> 15;
	return x % 8 == 0 ? x / 8 % RECORD_MAX : x / 8 % 100;
}

static int
record_make(struct record *r, uint32_t n)
{
	r->number = n;
	r->length = record_length(n);
	for (uint32_t i = 0; i < r->length; i++)
		r->bytes[i] = (unsigned char)(n * 13 + i * 7);
	return (int)(8 + r->length);
}

static void
record_check(const struct record *r, uint32_t n, int size)
{
	T_EQ(r->number, n);
	T_EQ(r->length, record_length(n));
	T_EQ(size, (int)(8 + r->length));
	for (uint32_t i = 0; i < r->length; i++)
		T_EQ(r->bytes[i], (unsigned char)(n * 13 + i * 7));
}

static void
send_records(int fd, uint32_t from, uint32_t to)
{
	struct record r;

	for (uint32_t n = from; n < to; n++) {
		struct strbuf d = { 0, record_make(&r, n), (char *)&r };

		T_EQ(putmsg(fd, NULL, &d, 0), 0);
	}
}

static void
receive_records(int fd, uint32_t from, uint32_t to)
{
	struct record r;
	int flags;

	for (uint32_t n = from; n < to; n++) {
		struct strbuf d = { sizeof r, 0, (char *)&r };

		flags = 0;
		T_EQ(getmsg(fd, NULL, &d, &flags), 0);
		record_check(&r, n, d.len);
	}
}

/* Both directions at once, from two processes. */
static void
both_ways(int fd[2], uint32_t n)
{
	pid_t a = st_fork(), b, c;

	if (a == 0) {
		send_records(fd[0], 0, n);
		_exit(0);
	}
	if ((b = st_fork()) == 0) {
		send_records(fd[1], 0, n);
		_exit(0);
	}
	if ((c = st_fork()) == 0) {
		receive_records(fd[0], 0, n);
		_exit(0);
	}
	receive_records(fd[1], 0, n);
	st_reap(a);
	st_reap(b);
	st_reap(c);
}

ST_CASE(records_arrive_both_ways_on_a_bare_pipe)
{
	int fd[2];

	st_pipe(t, fd);
	both_ways(fd, 1000);
}

ST_CASE(records_arrive_both_ways_with_narrow_marks)
{
	int fd[2];

	st_pipe(t, fd);
	st_marks(fd[0], 300, 100);
	st_marks(fd[1], 200, 0);
	both_ways(fd, 400);
}

ST_CASE(records_arrive_through_a_queueing_module)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	both_ways(fd, 500);
}

/* A writer and a module are refused at the same head: both must go on. */
ST_ANY_CASE(records_arrive_through_two_queues_with_narrow_marks)
{
	enum { N = 400 };
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	st_marks(fd[1], 1000, 200);
	pid = st_fork();
	if (pid == 0) {
		send_records(fd[0], 0, N);
		_exit(0);
	}
	receive_records(fd[1], 0, N);
	st_reap(pid);
}

ST_CASE(records_arrive_through_eight_modules)
{
	static const char *const names[] = { "pipemod", "nullmod", "srvmod",
		"testmod" };
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 8; i++)
		T_OK(ioctl(fd[0], I_PUSH, names[i % 4]));
	both_ways(fd, 400);
}

ST_CASE(records_arrive_through_modules_on_both_ends)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "pipemod"));
	for (int i = 0; i < 4; i++) {
		T_OK(ioctl(fd[0], I_PUSH, i % 2 ? "srvmod" : "nullmod"));
		T_OK(ioctl(fd[1], I_PUSH, i % 2 ? "nullmod" : "srvmod"));
	}
	st_marks(fd[0], 1000, 200);
	st_marks(fd[1], 1000, 200);
	both_ways(fd, 400);
}

/* I_PUSH and I_POP of a module that queues nothing, by a third process */
ST_CASE(records_survive_modules_that_come_and_go)
{
	enum { N = 1500 };
	int fd[2], *over = st_shared(sizeof *over);
	pid_t sender, plumber;

	st_pipe(t, fd);
	sender = st_fork();
	if (sender == 0) {
		send_records(fd[0], 0, N);
		_exit(0);
	}
	plumber = st_fork();
	if (plumber == 0) {
		for (int i = 0; !__atomic_load_n(over, __ATOMIC_ACQUIRE); i++) {
			T_EQ(ioctl(fd[i % 2], I_PUSH, "nullmod"), 0);
			t_pause();
			T_EQ(ioctl(fd[i % 2], I_POP, 0), 0);
		}
		_exit(0);
	}
	receive_records(fd[1], 0, N);
	__atomic_store_n(over, 1, __ATOMIC_RELEASE);
	st_reap(sender);
	st_reap(plumber);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 0);
	T_EQ(ioctl(fd[1], I_LIST, NULL), 0);
}

/* I_PUSH only: a module that queues may be put into running traffic */
ST_CASE(records_survive_queueing_modules_that_are_pushed)
{
	enum { N = 1000 };
	int fd[2];
	pid_t sender, plumber;

	st_pipe(t, fd);
	sender = st_fork();
	if (sender == 0) {
		send_records(fd[0], 0, N);
		_exit(0);
	}
	plumber = st_fork();
	if (plumber == 0) {
		for (int i = 0; i < 10; i++) {
			T_EQ(ioctl(fd[i % 2], I_PUSH, "srvmod"), 0);
			t_pause();
		}
		_exit(0);
	}
	receive_records(fd[1], 0, N);
	st_reap(sender);
	st_reap(plumber);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 5);
}

/* read(2) in message mode: records of write(2), through a queueing module */
ST_ANY_CASE(written_records_keep_their_boundaries_in_traffic)
{
	enum { N = 600 };
	struct record r;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	st_marks(fd[1], 2000, 500);
	pid = st_fork();
	if (pid == 0) {
		for (uint32_t n = 0; n < N; n++) {
			int len = record_make(&r, n);

			T_EQ(write(fd[0], &r, (size_t)len), len);
		}
		_exit(0);
	}
	for (uint32_t n = 0; n < N; n++)
		record_check(&r, n, (int)read(fd[1], &r, sizeof r));
	st_reap(pid);
}

/* read(2) in byte mode: a stream of bytes, whatever the pieces */
ST_ANY_CASE(bytes_arrive_in_order_in_pieces_of_any_size)
{
	enum { N = 200000 };
	unsigned char buf[700];
	size_t off = 0;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		while (off < N) {
			size_t n = 1 + t_rand_below(sizeof buf);

			if (n > N - off)
				n = N - off;
			for (size_t i = 0; i < n; i++)
				buf[i] = (unsigned char)((off + i) * 7 / 5);
			T_EQ(write(fd[0], buf, n), (ssize_t)n);
			off += n;
		}
		_exit(0);
	}
	while (off < N) {
		ssize_t n = read(fd[1], buf, 1 + t_rand_below(sizeof buf));

		T_GT(n, 0);
		for (ssize_t i = 0; i < n; i++)
			T_EQ(buf[i], (unsigned char)
				((off + (size_t)i) * 7 / 5));
		off += (size_t)n;
	}
	st_reap(pid);
}

/* Held writes are joined, never lost. */
ST_ANY_CASE(bytes_arrive_in_order_with_sndhold)
{
	enum { N = 20000 };
	unsigned char c, buf[64];
	int fd[2], off = 0;
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	pid = st_fork();
	if (pid == 0) {
		for (; off < N; off++) {
			c = (unsigned char)(off * 3);
			T_EQ(write(fd[0], &c, 1), 1);
		}
		_exit(0);
	}
	while (off < N) {
		ssize_t n = read(fd[1], buf, sizeof buf);

		T_GT(n, 0);
		for (ssize_t i = 0; i < n; i++, off++)
			T_EQ(buf[i], (unsigned char)(off * 3));
	}
	st_reap(pid);
}

/* Bands overtake each other; within one nothing does. */
ST_ANY_CASE(each_band_keeps_its_order_in_traffic)
{
	enum { BANDS = 5, EACH = 120 };
	uint32_t next[BANDS] = { 0 };
	int fd[2], band, flags;
	struct record r;
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	pid = st_fork();
	if (pid == 0) {
		for (uint32_t n = 0; n < EACH * BANDS; n++) {
			struct strbuf d = { 0, record_make(&r, n / BANDS),
				(char *)&r };

			T_EQ(putpmsg(fd[0], NULL, &d, (int)(n % BANDS),
				MSG_BAND), 0);
		}
		_exit(0);
	}
	for (int i = 0; i < EACH * BANDS; i++) {
		struct strbuf d = { sizeof r, 0, (char *)&r };

		band = 0;
		flags = MSG_ANY;
		T_EQ(getpmsg(fd[1], NULL, &d, &band, &flags), 0);
		T_TRUE(band >= 0 && band < BANDS);
		record_check(&r, next[band]++, d.len);
	}
	st_reap(pid);
}

/*
 * A dialogue on one CPU: the reader lets the other run, and what is there then is
 * taken as it stands.  Two of band 0 and 1, or 0 and high priority, at a time.
 */
ST_CASE(what_comes_while_a_reader_lets_others_run_is_in_order)
{
	enum { N = 3000 };
	struct strbuf d = { 0, 1, (char *)(uintptr_t)"B" };
	struct st_msg m;
	int fd[2], ask[2];
	cpu_set_t cpu;
	char c[2];
	pid_t pid;

	CPU_ZERO(&cpu);
	CPU_SET((unsigned)sched_getcpu(), &cpu);
	T_OK(sched_setaffinity(0, sizeof cpu, &cpu));
	st_pipe(t, fd);
	st_pipe_more(ask);
	pid = st_fork();
	if (pid == 0) {
		while (read(ask[0], c, 1) == 1 && *c != 'e') {
			if (*c == 'b')
				T_OK(putpmsg(fd[1], NULL, &d, 1, MSG_BAND));
			else if (*c == 'h')
				T_OK(st_put(fd[1], "H", NULL, RS_HIPRI));
			T_EQ(write(fd[1], "n", 1), 1);
		}
		_exit(0);
	}
	for (int i = 0; i < N; i++) {
		T_EQ(write(ask[1], "n", 1), 1);
		T_EQ(read(fd[0], c, 1), 1);
		T_EQ(c[0], 'n');
		if (i % 3 == 1) {
			T_EQ(write(ask[1], "b", 1), 1);
			T_EQ(read(fd[0], c, 1), 1);
			T_EQ(c[0], 'B');
			T_EQ(read(fd[0], c, 1), 1);
			T_EQ(c[0], 'n');
		} else if (i % 3 == 2) {
			T_EQ(write(ask[1], "h", 1), 1);
			T_ERR(read(fd[0], c, 1), EBADMSG);
			T_EQ(st_get(fd[0], &m, RS_HIPRI), 0);
			T_EQ(read(fd[0], c, 1), 1);
			T_EQ(c[0], 'n');
		}
	}
	T_EQ(write(ask[1], "e", 1), 1);
	st_reap(pid);
}

/* Poll and non-blocking calls only, both processes. */
ST_ANY_CASE(records_arrive_with_poll_and_nonblock)
{
	enum { N = 500 };
	struct pollfd p = { 0 };
	struct record r;
	int fd[2], flags;
	pid_t pid;

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	st_nonblock(fd[1]);
	st_marks(fd[1], 2000, 500);
	pid = st_fork();
	if (pid == 0) {
		p.fd = fd[0];
		p.events = POLLOUT;
		for (uint32_t n = 0; n < N; n++) {
			struct strbuf d = { 0, record_make(&r, n), (char *)&r };

			while (putmsg(fd[0], NULL, &d, 0) == -1) {
				T_EQ(errno, EAGAIN);
				T_EQ(poll(&p, 1, 5000), 1);
			}
		}
		_exit(0);
	}
	p.fd = fd[1];
	p.events = POLLIN;
	for (uint32_t n = 0; n < N; n++) {
		struct strbuf d = { sizeof r, 0, (char *)&r };

		while (flags = 0, getmsg(fd[1], NULL, &d, &flags) == -1) {
			T_EQ(errno, EAGAIN);
			T_EQ(poll(&p, 1, 5000), 1);
		}
		record_check(&r, n, d.len);
	}
	st_reap(pid);
}
