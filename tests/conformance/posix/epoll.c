/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * epoll on pipes.  POSIX does not know it; the oracle is epoll(7) and
 * epoll_ctl(2): level and edge triggering, one shot, duplicates, nesting.
 */
#include "posix.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static int
set_up(void)
{
	return T_OK(epoll_create1(EPOLL_CLOEXEC));
}

static int
control(int ep, int op, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(ep, op, fd, &ev);
}

/* events of the one descriptor that is ready; 0 for none */
static int
wait_one(int ep, int fd, int ms)
{
	struct epoll_event ev[4];
	int n = T_OK(epoll_wait(ep, ev, 4, ms));

	if (n == 0)
		return 0;
	T_EQ(n, 1);
	T_EQ(ev[0].data.fd, fd);
	T_NE(ev[0].events, 0u);
	return (int)ev[0].events;
}

T_CASE(epoll_level_tells_as_long_as_there_is_data)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(write(fd[1], "ab", 2), 2);
	for (int i = 0; i < 3; i++)
		T_EQ(wait_one(ep, fd[0], -1), EPOLLIN);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(wait_one(ep, fd[0], -1), EPOLLIN);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(wait_one(ep, fd[0], 30), 0);
}

T_CASE(epoll_level_tells_as_long_as_there_is_room)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1], EPOLLOUT));
	for (int i = 0; i < 3; i++)
		T_EQ(wait_one(ep, fd[1], -1), EPOLLOUT);
	p_fill(fd[1]);
	T_EQ(wait_one(ep, fd[1], 0), 0);
	p_drain(fd[0]);
	T_EQ(wait_one(ep, fd[1], P_MS_LONG), EPOLLOUT);
}

T_CASE(epoll_tells_at_once_what_was_ready_before)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1], EPOLLIN));
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
}

/* epoll(7): edge-triggered delivers "only when changes occur" */
T_CASE(epoll_edge_tells_once_for_each_arrival)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLET));
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(write(fd[1], "ab", 2), 2);
	T_EQ(wait_one(ep, fd[0], -1), EPOLLIN);
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(wait_one(ep, fd[0], 20), 0);
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(write(fd[1], "c", 1), 1);
	T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
	T_EQ(wait_one(ep, fd[0], 0), 0);
}

/*
 * epoll(7), "Questions and answers": the suggested use is to read until
 * EAGAIN; data that arrives after that must be told again, always.
 */
T_CASE(epoll_edge_misses_nothing_when_read_until_EAGAIN)
{
	int fd[2], ep = set_up();
	char buf[37];
	ssize_t n;
	size_t got = 0, total = 300000;
	pid_t pid;

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLET));
	pid = fork();
	if (pid == 0) {
		char b[61];

		for (size_t sent = 0, k; sent < total; sent += k) {
			k = 1 + (size_t)t_rand_below(sizeof(b));
			if (k > total - sent)
				k = total - sent;
			p_pattern(b, k, sent);
			T_EQ(write(fd[1], b, k), (ssize_t)k);
		}
		_exit(0);
	}
	while (got < total) {
		T_NE(wait_one(ep, fd[0], P_MS_LONG) & EPOLLIN, 0);
		while ((n = read(fd[0], buf, sizeof(buf))) > 0) {
			T_EQ(p_pattern_ok(buf, (size_t)n, got), (size_t)n);
			got += (size_t)n;
		}
		T_EQ(n, -1);
		T_EQ(errno, EAGAIN);
	}
	T_TRUE(p_exited(pid, 0));
}

T_CASE(epoll_edge_tells_a_writer_when_there_is_room_again)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	p_fill(fd[1]);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1], EPOLLOUT | EPOLLET));
	T_EQ(wait_one(ep, fd[1], 0), 0);
	for (int i = 0; i < 3; i++) {
		p_drain(fd[0]);
		T_EQ(wait_one(ep, fd[1], P_MS_LONG), EPOLLOUT);
		p_fill(fd[1]);
		while (wait_one(ep, fd[1], 0) != 0)
			;
	}
}

/* epoll_ctl(2) EPOLLONESHOT: disabled after one event, until EPOLL_CTL_MOD */
/* An edge of room after each write that failed, whether or not a wait was
 * between. */
T_CASE(epoll_edge_tells_of_room_after_a_write_that_failed)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1],
		EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET));
	T_EQ(wait_one(ep, fd[1], 0), EPOLLOUT);
	T_EQ(wait_one(ep, fd[1], 0), 0);
	for (int waits = 0; waits < 7; waits++) {
		p_fill(fd[1]);
		p_drain(fd[0]);
		T_EQ(wait_one(ep, fd[1], P_MS_LONG), EPOLLOUT);
		for (int i = 0; i < waits; i++)
			T_EQ(wait_one(ep, fd[1], 0), 0);
	}
}

/* Data that was not read does not hide what comes later, after any number of
 * waits. */
T_CASE(epoll_edge_tells_of_each_arrival_after_any_number_of_waits)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLET));
	for (int waits = 0; waits < 7; waits++) {
		T_EQ(write(fd[1], "ab", 2), 2);
		T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
		T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
		for (int i = 0; i < waits; i++)
			T_EQ(wait_one(ep, fd[0], 0), 0);
	}
	T_OK(close(fd[1]));
	T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN | EPOLLHUP);
	T_EQ(wait_one(ep, fd[0], 0), 0);
}

T_CASE(epoll_oneshot_tells_once_until_armed_again)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLONESHOT));
	T_EQ(write(fd[1], "ab", 2), 2);
	T_EQ(wait_one(ep, fd[0], -1), EPOLLIN);
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(write(fd[1], "c", 1), 1);
	T_EQ(wait_one(ep, fd[0], 30), 0);
	T_OK(control(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLONESHOT));
	T_EQ(wait_one(ep, fd[0], -1), EPOLLIN);
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(p_drain(fd[0]), 3u);
	T_OK(control(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLONESHOT));
	T_EQ(wait_one(ep, fd[0], 20), 0);
	T_EQ(write(fd[1], "d", 1), 1);
	T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
}

/* epoll_ctl(2) EPOLLHUP: "will always wait for this event" */
T_CASE(epoll_tells_EPOLLHUP_when_the_writer_closed)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(write(fd[1], "a", 1), 1);
	T_OK(close(fd[1]));
	T_EQ(wait_one(ep, fd[0], P_MS_LONG) & (EPOLLIN | EPOLLHUP),
		EPOLLIN | EPOLLHUP);
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(wait_one(ep, fd[0], P_MS_LONG) & EPOLLHUP, EPOLLHUP);
	T_OK(control(ep, EPOLL_CTL_MOD, fd[0], 0));
	T_EQ(wait_one(ep, fd[0], P_MS_LONG) & EPOLLHUP, EPOLLHUP);
}

T_CASE(epoll_tells_a_writer_that_the_reader_closed)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	p_fill(fd[1]);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1], EPOLLOUT));
	T_EQ(wait_one(ep, fd[1], 0), 0);
	T_OK(close(fd[0]));
	T_NE(wait_one(ep, fd[1], P_MS_LONG) & (EPOLLERR | EPOLLHUP), 0);
}

T_CASE(epoll_wait_that_waits_returns_when_data_comes)
{
	int fd[2], ep = set_up();
	struct p_call c;

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 1);
	T_EQ(c.revents, EPOLLIN);
}

T_CASE(epoll_wait_that_waits_returns_when_room_comes_or_an_end_closes)
{
	int a[2], b[2], ep = set_up();
	struct p_call c;

	p_pipe(a);
	p_pipe(b);
	p_fill(a[1]);
	T_OK(control(ep, EPOLL_CTL_ADD, a[1], EPOLLOUT));
	T_OK(control(ep, EPOLL_CTL_ADD, b[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	p_drain(a[0]);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, EPOLLOUT);
	p_fill(a[1]);
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(b[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents & EPOLLHUP, EPOLLHUP);
}

T_CASE(epoll_wait_that_waits_sees_what_another_thread_adds)
{
	int fd[2], ep = set_up();
	struct p_call c;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, EPOLLIN);
}

T_CASE(epoll_wait_waits_its_timeout)
{
	int fd[2], ep = set_up();
	struct epoll_event ev;
	double start;

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	start = p_ms();
	T_EQ(epoll_wait(ep, &ev, 1, 60), 0);
	T_GE(p_ms() - start, 59.0);
}

/* epoll_ctl(2): EPOLL_CTL_MOD changes what is waited for */
T_CASE(epoll_mod_changes_the_interest)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 1 }, got;
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	T_EQ(write(fd[1], "x", 1), 1);
	ev.events = EPOLLPRI;
	ev.data.u64 = UINT64_C(0xfeedfacecafebeef);
	T_OK(epoll_ctl(ep, EPOLL_CTL_MOD, fd[0], &ev));
	T_EQ(epoll_wait(ep, &got, 1, 20), 0);
	ev.events = EPOLLIN | EPOLLRDNORM;
	T_OK(epoll_ctl(ep, EPOLL_CTL_MOD, fd[0], &ev));
	T_EQ(epoll_wait(ep, &got, 1, P_MS_LONG), 1);
	T_EQ(got.events, (uint32_t)(EPOLLIN | EPOLLRDNORM));
	T_EQ(got.data.u64, UINT64_C(0xfeedfacecafebeef));
}

T_CASE(epoll_del_ends_the_interest)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
	T_OK(epoll_ctl(ep, EPOLL_CTL_DEL, fd[0], NULL));
	T_EQ(wait_one(ep, fd[0], 20), 0);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
}

/* epoll_ctl(2), ERRORS */
T_CASE(epoll_ctl_reports_its_errors)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd[2], k[2], ep = set_up();
	volatile int minus = -1;

	p_pipe(fd);
	p_kernel_pipe(k);
	T_ERR(epoll_ctl(ep, EPOLL_CTL_MOD, fd[0], &ev), ENOENT);
	T_ERR(epoll_ctl(ep, EPOLL_CTL_DEL, fd[0], &ev), ENOENT);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	T_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev), EEXIST);
	T_ERR(epoll_ctl(ep, 77, fd[0], &ev), EINVAL);
	T_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev), EINVAL);
	T_ERR(epoll_ctl(fd[0], EPOLL_CTL_ADD, fd[1], &ev), EINVAL);
	T_ERR(epoll_ctl(-1, EPOLL_CTL_ADD, fd[1], &ev), EBADF);
	T_OK(close(k[0]));
	T_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, k[0], &ev), EBADF);
	T_ERR(epoll_wait(ep, &ev, 0, 0), EINVAL);
	T_ERR(epoll_wait(ep, &ev, minus, 0), EINVAL);
	T_ERR(epoll_wait(fd[0], &ev, 1, 0), EINVAL);
	T_ERR(epoll_wait(-1, &ev, 1, 0), EBADF);
}

T_CASE(epoll_ctl_and_wait_with_bad_memory_fail_with_EFAULT)
{
	static struct epoll_event *volatile bad = (void *)8;
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], bad), EFAULT);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(epoll_wait(ep, bad, 1, 0), EFAULT);
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
}

/*
 * epoll(7): closing a descriptor removes it only "after all the file
 * descriptors referring to the same open file description have been closed".
 */
T_CASE(epoll_keeps_a_closed_descriptor_while_a_duplicate_is_open)
{
	int fd[2], d, ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	d = T_OK(dup(fd[0]));
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
	T_OK(close(d));
	T_EQ(wait_one(ep, fd[0], 20), 0);
}

T_CASE(epoll_forgets_a_descriptor_whose_last_duplicate_closed)
{
	int fd[2], b[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
	T_OK(close(fd[0]));
	T_EQ(wait_one(ep, fd[0], 20), 0);
	/* the number comes back as another pipe: that was not asked about */
	p_pipe(b);
	T_EQ(b[0], fd[0]);
	T_EQ(write(b[1], "x", 1), 1);
	T_EQ(wait_one(ep, b[0], 20), 0);
	T_OK(control(ep, EPOLL_CTL_ADD, b[0], EPOLLIN));
	T_EQ(wait_one(ep, b[0], P_MS_LONG), EPOLLIN);
}

/* epoll(7): a duplicate is a different (descriptor, description) pair */
T_CASE(epoll_takes_a_descriptor_and_its_duplicate)
{
	struct epoll_event ev[4];
	int fd[2], d, ep = set_up();

	p_pipe(fd);
	d = T_OK(dup(fd[0]));
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, d, EPOLLIN));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(ep, ev, 4, P_MS_LONG), 2);
	T_EQ(ev[0].data.fd + ev[1].data.fd, fd[0] + d);
	T_OK(epoll_ctl(ep, EPOLL_CTL_DEL, d, NULL));
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
}

T_CASE(two_epolls_watch_one_pipe)
{
	int fd[2], e1 = set_up(), e2 = set_up();

	p_pipe(fd);
	T_OK(control(e1, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_OK(control(e2, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLET));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(e1, fd[0], P_MS_LONG), EPOLLIN);
	T_EQ(wait_one(e2, fd[0], P_MS_LONG), EPOLLIN);
	T_EQ(wait_one(e1, fd[0], 0), EPOLLIN);
	T_EQ(wait_one(e2, fd[0], 0), 0);
}

T_CASE(epoll_watches_both_ends_of_one_pipe)
{
	struct epoll_event ev[4];
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, fd[1], EPOLLOUT));
	T_EQ(wait_one(ep, fd[1], 0), EPOLLOUT);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(ep, ev, 4, P_MS_LONG), 2);
	p_fill(fd[1]);
	T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
	p_drain(fd[0]);
	T_EQ(wait_one(ep, fd[1], P_MS_LONG), EPOLLOUT);
}

T_CASE(epoll_mixes_pipes_with_kernel_descriptors)
{
	struct itimerspec its = { .it_value = { 0, 10000000 } };
	int s[2], k[2], ev, tm, ep = set_up();
	struct epoll_event got[8];
	uint64_t one = 1;

	p_pipe(s);
	p_kernel_pipe(k);
	ev = T_OK(eventfd(0, 0));
	tm = T_OK(timerfd_create(CLOCK_MONOTONIC, 0));
	T_OK(control(ep, EPOLL_CTL_ADD, s[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, k[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, ev, EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, tm, EPOLLIN));
	T_EQ(epoll_wait(ep, got, 8, 0), 0);
	T_OK(timerfd_settime(tm, 0, &its, NULL));
	T_EQ(wait_one(ep, tm, P_MS_LONG), EPOLLIN);
	T_EQ(read(tm, &one, 8), 8);
	T_EQ(write(s[1], "x", 1), 1);
	T_EQ(wait_one(ep, s[0], P_MS_LONG), EPOLLIN);
	T_EQ(write(k[1], "x", 1), 1);
	T_EQ(epoll_wait(ep, got, 8, P_MS_LONG), 2);
	one = 3;
	T_EQ(write(ev, &one, 8), 8);
	T_EQ(epoll_wait(ep, got, 8, P_MS_LONG), 3);
	T_EQ(p_drain(s[0]), 1u);
	T_EQ(p_drain(k[0]), 1u);
	T_EQ(wait_one(ep, ev, P_MS_LONG), EPOLLIN);
	T_OK(close(k[1]));
	T_EQ(epoll_wait(ep, got, 8, P_MS_LONG), 2);
}

/* maxevents is a bound; what does not fit is told by the next calls */
T_CASE(epoll_tells_all_when_more_are_ready_than_fit)
{
	static int fd[40][2];
	int ep = set_up(), seen[40] = { 0 }, total = 0;
	struct epoll_event ev[8];

	for (int i = 0; i < 40; i++) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLET };

		e.data.u32 = (uint32_t)i;
		p_pipe(fd[i]);
		T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[i][0], &e));
		T_EQ(write(fd[i][1], "x", 1), 1);
	}
	for (int round = 0; round < 10; round++) {
		int n = T_OK(epoll_wait(ep, ev, 8, 10));

		T_LE(n, 8);
		for (int i = 0; i < n; i++)
			seen[ev[i].data.u32]++;
		total += n;
	}
	for (int i = 0; i < 40; i++)
		T_EQ(seen[i], 1);
	T_EQ(total, 40);
}

/* epoll(7): an epoll descriptor is readable when it has events */
T_CASE(an_epoll_descriptor_can_be_polled)
{
	int fd[2], ep = set_up();
	struct p_call c;

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(p_ready(ep, POLLIN, 0), 0);
	p_call_poll(&c, P_POLL, ep, POLLIN);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, POLLIN);
	T_EQ(p_ready(ep, POLLIN, 0), POLLIN);
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(wait_one(ep, fd[0], 0), 0);
	T_EQ(p_ready(ep, POLLIN, 0), 0);
}

T_CASE(an_epoll_can_watch_an_epoll)
{
	int fd[2], in = set_up(), out = set_up();

	p_pipe(fd);
	T_OK(control(in, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_OK(control(out, EPOLL_CTL_ADD, in, EPOLLIN));
	T_EQ(wait_one(out, in, 0), 0);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(out, in, P_MS_LONG), EPOLLIN);
	T_EQ(wait_one(in, fd[0], 0), EPOLLIN);
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(wait_one(in, fd[0], 0), 0);
	T_EQ(wait_one(out, in, 20), 0);
}

/* the interest list is the kernel's, and a child has it too */
T_CASE(epoll_works_in_a_child)
{
	int fd[2], ep = set_up();
	pid_t pid;

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	pid = fork();
	if (pid == 0) {
		T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
		T_EQ(p_drain(fd[0]), 1u);
		T_EQ(wait_one(ep, fd[0], 0), 0);
		_exit(0);
	}
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_exited(pid, 0));
}

T_CASE(epoll_pwait_unblocks_a_pending_signal_for_the_call)
{
	int fd[2], ep = set_up();
	struct epoll_event ev;
	sigset_t block, none;

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_signal(SIGUSR1, NULL, SA_RESTART);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &block, NULL));
	raise(SIGUSR1);
	T_ERR(epoll_pwait(ep, &ev, 1, -1, &none), EINTR);
	T_EQ(p_signals, 1);
}
