/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * epoll on many pipes, and in several threads, instances and processes.  The
 * oracle is epoll(7) and epoll_ctl(2), as in epoll.c.
 */
#include "posix.h"

#include <sched.h>
#include <sys/epoll.h>

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

#define MANY 300

/* Which of MANY pipes does the instance report?  A bit each, in @seen. */
static int
collect(int ep, int ms, unsigned char *seen)
{
	struct epoll_event ev[64];
	int total = 0, n;

	memset(seen, 0, MANY);
	do {
		n = T_OK(epoll_wait(ep, ev, 64, total == 0 ? ms : 0));
		for (int i = 0; i < n; i++) {
			if (seen[ev[i].data.u32]++ != 0)
				return total; /* round again */
			T_EQ(ev[i].events, EPOLLIN);
			total++;
		}
	} while (n != 0);
	return total;
}

static void
tells_the_active(uint32_t flags)
{
	static int fd[MANY][2];
	unsigned char wrote[MANY], seen[MANY];
	int ep = set_up();

	for (int i = 0; i < MANY; i++) {
		struct epoll_event e = { .events = EPOLLIN | flags };

		e.data.u32 = (uint32_t)i;
		p_pipe(fd[i]);
		T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[i][0], &e));
	}
	for (int round = 0; round < 60; round++) {
		int n = 0;

		memset(wrote, 0, sizeof(wrote));
		for (int k = (int)t_rand_below(round % 7 == 0 ? MANY : 8); k > 0;
			k--) {
			int i = (int)t_rand_below(MANY);

			T_EQ(write(fd[i][1], "x", 1), 1);
			n += !wrote[i];
			wrote[i] = 1;
		}
		T_EQ(collect(ep, 0, seen), n);
		for (int i = 0; i < MANY; i++) {
			T_EQ(seen[i] != 0, wrote[i]);
			if (wrote[i])
				T_GT(p_drain(fd[i][0]), 0u);
		}
		T_EQ(collect(ep, round % 10 == 0 ? 25 : 0, seen), 0);
	}
}

T_CASE(epoll_level_tells_the_active_of_many)
{
	tells_the_active(0);
}

T_CASE(epoll_edge_tells_the_active_of_many)
{
	tells_the_active(EPOLLET);
}

/* epoll_ctl(2), EPOLLEXCLUSIVE: here exactly one, as each has one waiter */
T_CASE(epoll_exclusive_wakes_one_of_two)
{
	int fd[2], a = set_up(), b = set_up(), first;
	struct p_call c[2];

	p_pipe(fd);
	T_OK(control(a, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLEXCLUSIVE));
	T_OK(control(b, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLEXCLUSIVE));
	p_call_poll(&c[0], P_EPOLL, a, 0);
	p_call_poll(&c[1], P_EPOLL, b, 0);
	T_TRUE(p_call_blocks(&c[0]));
	T_TRUE(p_call_blocks(&c[1]));
	T_EQ(write(fd[1], "x", 1), 1);
	first = p_call_returns(&c[0], 500) ? 0 : 1;
	if (first == 0)
		T_TRUE(p_call_blocks(&c[1]));
	else
		T_TRUE(p_call_returns(&c[1], P_MS_LONG));
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c[!first], P_MS_LONG));
	T_EQ(c[!first].revents, EPOLLIN);
}

T_CASE(epoll_exclusive_refuses_other_flags)
{
	int fd[2], ep = set_up();

	p_pipe(fd);
	T_ERR(control(ep, EPOLL_CTL_ADD, fd[0],
		EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT), EINVAL);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLEXCLUSIVE));
	T_ERR(control(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN), EINVAL);
}

T_CASE(two_threads_wait_at_one_epoll_and_each_gets_an_event)
{
	int x[2], y[2], ep = set_up(), other;
	struct p_call c[2];

	p_pipe(x);
	p_pipe(y);
	T_OK(control(ep, EPOLL_CTL_ADD, x[0], EPOLLIN | EPOLLET));
	T_OK(control(ep, EPOLL_CTL_ADD, y[0], EPOLLIN | EPOLLET));
	p_call_poll(&c[0], P_EPOLL, ep, 0);
	p_call_poll(&c[1], P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c[0]));
	T_TRUE(p_call_blocks(&c[1]));
	T_EQ(write(x[1], "x", 1), 1);
	other = p_call_returns(&c[0], 500);
	if (other == 0)
		T_TRUE(p_call_returns(&c[1], P_MS_LONG));
	T_TRUE(p_call_blocks(&c[other]));
	T_EQ(write(y[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c[other], P_MS_LONG));
}

struct waiter {
	int ep, fd, cpu;
	_Atomic pid_t tid;
};

static void *
waits_and_reads(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event ev;
	char c;

	T_EQ(epoll_wait(w->ep, &ev, 1, 100), 0);
	w->tid = gettid();
	T_EQ(read(w->fd, &c, 1), 1);
	return NULL;
}

static void
is_asleep(const struct waiter *w)
{
	for (int i = 0; w->tid == 0 && i < P_MS_LONG; i++)
		p_pause(1);
	T_TRUE(p_asleep(getpid(), w->tid));
}

T_CASE(a_thread_is_woken_while_the_one_that_waited_beside_it_reads)
{
	int fd[2], other[2], k[2], ep = set_up();
	struct waiter w = { .ep = ep };
	struct p_call c;
	pthread_t th;

	p_kernel_pipe(k);
	p_pipe(fd);
	p_pipe(other);
	w.fd = other[0];
	T_OK(control(ep, EPOLL_CTL_ADD, k[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_create(&th, NULL, waits_and_reads, &w), 0);
	is_asleep(&w);
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(write(other[1], "x", 1), 1);
	T_EQ(pthread_join(th, NULL), 0);
}

static void
stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	T_OK(sched_setaffinity(0, sizeof(set), &set));
}

/* It does not run between its wake-up and a signal. */
static void *
waits_idly(void *arg)
{
	struct sched_param least = { 0 };
	struct waiter *w = arg;
	struct epoll_event ev;

	stay_on(w->cpu);
	T_OK(sched_setscheduler(0, SCHED_IDLE, &least));
	w->tid = gettid();
	(void)epoll_wait(w->ep, &ev, 1, P_MS_LONG);
	return NULL;
}

T_CASE(an_event_whose_thread_was_interrupted_goes_to_another)
{
	int fd[2], ep = set_up();
	struct waiter w = { .ep = ep, .cpu = sched_getcpu() };
	struct p_call c;
	pthread_t th;

	p_signal(SIGUSR1, NULL, 0);
	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	p_pause(50); /* it looks at everything once more, and sleeps */
	stay_on(w.cpu);
	T_EQ(pthread_create(&th, NULL, waits_idly, &w), 0);
	is_asleep(&w);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(pthread_kill(th, SIGUSR1), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, EPOLLIN);
	T_EQ(pthread_join(th, NULL), 0);
}

T_CASE(a_thread_that_polls_an_epoll_is_woken_as_the_one_that_waits_there)
{
	int fd[2], ep = set_up();
	struct p_call c[2];

	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_call_poll(&c[0], P_POLL, ep, POLLIN);
	T_TRUE(p_call_blocks(&c[0]));
	p_call_poll(&c[1], P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c[1]));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c[1], P_MS_LONG));
	T_TRUE(p_call_returns(&c[0], P_MS_LONG));
	T_EQ(c[0].revents, POLLIN);
}

T_CASE(epoll_wait_in_the_kernel_sees_a_pipe_that_is_added_later)
{
	int fd[2], k[2], ep = set_up();
	struct p_call c;

	p_kernel_pipe(k);
	p_pipe(fd);
	T_OK(control(ep, EPOLL_CTL_ADD, k[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, ep, 0);
	T_TRUE(p_call_blocks(&c));
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, EPOLLIN);
	T_EQ(p_drain(fd[0]), 1u);
	T_EQ(wait_one(ep, fd[0], 20), 0);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
}

T_CASE(an_epoll_watches_an_epoll_that_gets_its_pipe_later)
{
	int fd[2], in = set_up(), out = set_up();
	struct p_call c;

	p_pipe(fd);
	T_OK(control(out, EPOLL_CTL_ADD, in, EPOLLIN));
	T_OK(control(in, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	p_call_poll(&c, P_EPOLL, out, 0);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, EPOLLIN);
	T_EQ(wait_one(in, fd[0], 0), EPOLLIN);
}

/* neither kind of descriptor keeps the other from a small buffer */
T_CASE(epoll_tells_of_each_kind_in_turn)
{
	int fd[2], k[2], ep = set_up(), seen[2] = { 0, 0 };
	struct epoll_event ev;

	p_pipe(fd);
	p_kernel_pipe(k);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_OK(control(ep, EPOLL_CTL_ADD, k[0], EPOLLIN));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(write(k[1], "x", 1), 1);
	for (int i = 0; i < 10; i++) {
		T_EQ(epoll_wait(ep, &ev, 1, 0), 1);
		seen[ev.data.fd == fd[0]]++;
	}
	T_GE(seen[0], 3);
	T_GE(seen[1], 3);
}

T_CASE(epoll_level_works_in_a_parent_and_its_child_at_once)
{
	int fd[2], go[2], ep = set_up();
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(go);
	T_OK(control(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN));
	T_EQ(wait_one(ep, fd[0], 0), 0);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 20; i++) {
			T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
			T_EQ(read(go[0], (char[1]){ 0 }, 1), 1);
		}
		_exit(0);
	}
	for (int i = 0; i < 20; i++) {
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(wait_one(ep, fd[0], P_MS_LONG), EPOLLIN);
		T_EQ(write(go[1], "x", 1), 1);
		if (i < 19)
			T_EQ(wait_one(ep, fd[0], 0), EPOLLIN);
	}
	T_TRUE(p_exited(pid, 0));
	T_EQ(p_drain(fd[0]), 20u);
	T_EQ(wait_one(ep, fd[0], 20), 0);
}
