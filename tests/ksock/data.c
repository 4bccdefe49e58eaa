/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data through a kernel socket below a driver: much of it, what that costs,
 * what is gathered, and what is left when the stream is closed.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ks.h"

/* ----------------------------------------------------------------- much data */

T_CASE(a_blocked_writer_goes_on_when_there_is_room)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	pid = child(drain_slowly, p, MUCH);
	fill(s, MUCH);
	reap(pid);
}

T_CASE(much_data_comes_in_order)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	pid = child(fill, p, MUCH);
	drain_slowly(s, MUCH);
	reap(pid);
}

T_CASE(a_head_that_is_full_costs_no_time)
{
	int s, p, n = 0;
	struct rusage a, b;
	struct pollfd pfd;
	static char buf[65536];
	ssize_t r;

	wired(&s, &p);
	T_OK(fcntl(p, F_SETFL, O_NONBLOCK));
	for (int idle = 0; idle < 20;) {
		struct pollfd out = {p, POLLOUT, 0};

		r = write(p, buf, sizeof buf);
		if (r > 0)
			n += (int)r;
		else
			idle++;
		/* what the head has room for is taken in */
		pfd = (struct pollfd){s, POLLIN | POLLOUT | POLLPRI, 0};
		(void)poll(&pfd, 1, 5);
		(void)poll(&out, 1, 5);
	}
	/* asleep for something else, the socket readable all the time */
	pfd = (struct pollfd){s, POLLPRI, 0};
	T_OK(getrusage(RUSAGE_SELF, &a));
	T_EQ(poll(&pfd, 1, 500), 0);
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 60);
	T_LT((b.ru_utime.tv_sec - a.ru_utime.tv_sec) * 1000000 +
		b.ru_utime.tv_usec - a.ru_utime.tv_usec, 100000);
	/* and it is all there */
	while (n > 0) {
		r = read(s, buf, sizeof buf);
		T_GT(r, 0);
		n -= (int)r;
	}
	T_EQ(n, 0);
}

T_CASE(an_idle_reader_costs_no_time)
{
	int s, p;
	struct rusage a, b;
	pid_t pid;

	wired(&s, &p);
	pid = child(later, p, 700);
	T_OK(getrusage(RUSAGE_SELF, &a));
	expect(s, "late");
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 12);
	reap(pid);
}

T_CASE(a_blocked_read_and_a_dialogue_waste_no_calls)
{
	int s, p;
	struct wire_count c;

	wired(&s, &p);
	for (int i = 0; i < 100; i++) {
		text(s, "q");
		expect(p, "q");
		text(p, "a");
		expect(s, "a");
	}
	T_OK(cmd(s, WIRE_COUNT, 0));
	answer(s, &c, sizeof c);
	T_LE(c.writes, 101);
	T_LE(c.reads, 105);
	T_LE(c.dry, 5);
}

/* ----------------------------------------------------------------- gathering */

T_CASE(gathered_data_goes_before_the_thread_sleeps)
{
	int s, p;
	struct wire_count c;

	wired(&s, &p);
	text(s, "up"); /* it is connected */
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	for (int i = 0; i < 20; i++) {
		pid_t pid;

		text(s, "one ");
		text(s, "two");
		pid = child(later, p, 1);
		expect(s, "late");
		expect(p, "one two");
		reap(pid);
	}
	T_OK(cmd(s, WIRE_COUNT, 0));
	answer(s, &c, sizeof c);
	T_LE(c.writes, 45);
}

T_CASE(gathered_data_goes_by_itself)
{
	int s, p;
	struct pollfd pfd;
	uint64_t then;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	for (int i = 0; i < 10; i++) {
		text(s, "x");
		/* the real one: this process's own poll would flush */
		then = now_ms();
		pfd = (struct pollfd){p, POLLIN, 0};
		T_EQ(syscall(SYS_ppoll, &pfd, 1, &(struct timespec){2, 0},
			NULL, 8), 1);
		T_LT(now_ms() - then, 1000);
		expect(p, "x");
	}
}

T_CASE(gathered_data_goes_when_the_stream_is_closed)
{
	int s, p;
	char c;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	text(s, "rest");
	T_OK(close(s));
	expect(p, "rest");
	T_EQ(read(p, &c, 1), 0);
}

/* What a slow peer has not taken when the stream is closed. */
static void
left_behind(int oflags)
{
	int s, p, total = 0, n = 0;
	static char buf[65536];
	ssize_t r;
	uint64_t then;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	while ((r = write(s, buf, sizeof buf)) > 0)
		total += (int)r;
	T_OK(fcntl(s, F_SETFL, oflags));
	then = now_ms();
	T_OK(close(s));
	if (oflags & O_NONBLOCK)
		T_LT(now_ms() - then, 3000);
	while ((r = read(p, buf, sizeof buf)) > 0)
		n += (int)r;
	T_EQ(n, total);
}

T_CASE(a_close_that_does_not_wait_loses_nothing)
{
	left_behind(O_NONBLOCK);
}

static void
slow_close(int s, int arg)
{
	(void)arg;
	(void)close(s);
}

T_CASE(a_close_that_waits_lets_the_rest_go)
{
	int s, p, total = 0, n = 0;
	static char buf[65536];
	ssize_t r;
	pid_t pid;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	while ((r = write(s, buf, sizeof buf)) > 0)
		total += (int)r;
	T_OK(fcntl(s, F_SETFL, 0));
	pid = child(slow_close, s, 0);
	T_OK(close(s));
	while ((r = read(p, buf, sizeof buf)) > 0)
		n += (int)r;
	T_EQ(n, total);
	reap(pid);
}
