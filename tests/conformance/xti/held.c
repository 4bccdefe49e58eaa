/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A sender of datagrams that is held back by a full receiver sleeps.
 */
#include "xt.h"

#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t
cpu_ns(clockid_t clock)
{
	struct timespec ts;

	T_OK(clock_gettime(clock, &ts));
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void
pass(uint64_t ms)
{
	uint64_t end = t_now_ns() + ms * 1000000u;

	while (t_now_ns() < end)
		t_pause();
}

static void
need_held_back(void)
{
	if (xt->raw && xt->six)
		T_SKIP("both ends have the only address");
}

/*
 * An endpoint to send from.  A raw one receives all that is sent to its address,
 * so it needs another one than the receiver.
 */
static int
bound_to_send(void)
{
	struct t_bind req = {.qlen = 0};
	struct sockaddr_in sin;
	struct xt_addr at;
	int fd;

	if (!xt->raw)
		return xt_bound(0, 0);
	xt_local(&at, 0);
	memcpy(&sin, at.buf, sizeof(sin));
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	memcpy(at.buf, &sin, sizeof(sin));
	xt_netbuf(&req.addr, &at);
	fd = xt_open(0);
	T_TOK(t_bind(fd, &req, NULL));
	return fd;
}

/* A process that sends datagrams of @n bytes to @at, for ever. */
static pid_t
sender(struct xt_addr *at, unsigned n, volatile uint64_t *sent)
{
	static char data[65536];
	struct t_unitdata ud = {.udata = {.len = n, .buf = data}};
	pid_t pid = T_OK(fork());
	int fd;

	if (pid != 0)
		return pid;
	fd = bound_to_send();
	xt_netbuf(&ud.addr, at);
	for (;; (*sent)++)
		if (t_sndudata(fd, &ud) != 0)
			_exit(1);
}

static void
run(unsigned n)
{
	volatile uint64_t *sent = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before, used, was;
	struct xt_addr at;
	clockid_t clock;
	pid_t pid;

	need_held_back();
	(void)xt_bound_at(0, 0, &at);
	pid = sender(&at, n, sent);
	T_EQ(clock_getcpuclockid(pid, &clock), 0);
	pass(200);
	was = *sent;
	before = cpu_ns(clock);
	pass(600);
	used = cpu_ns(clock) - before;
	fprintf(stderr, "# %u bytes: %llu us of 600000, %llu sent, then %llu\n",
		n, (unsigned long long)used / 1000, (unsigned long long)was,
		(unsigned long long)(*sent - was));
	T_EQ(waitpid(pid, NULL, WNOHANG), 0);
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	T_GT(was, 0);
	T_LT(used, 120000000u); /* a fifth */
}

XT_CASE(CL, a_sender_of_short_datagrams_held_back_sleeps)
{
	run(64);
}

XT_CASE(CL, a_sender_of_long_datagrams_held_back_sleeps)
{
	run(8192);
}

/* This process runs on the first CPU that it may run on. */
static void
pin(void)
{
	cpu_set_t all, one;
	int i = 0;

	T_OK(sched_getaffinity(0, sizeof(all), &all));
	while (!CPU_ISSET(i, &all))
		i++;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	T_OK(sched_setaffinity(0, sizeof(one), &one));
}

static pid_t
receiver(int fd)
{
	static char data[65536];
	struct t_unitdata ud = {
		.udata = {.maxlen = sizeof(data), .buf = data}};
	pid_t pid = T_OK(fork());
	int flags;

	if (pid != 0)
		return pid;
	(void)setpriority(PRIO_PROCESS, 0, 19);
	while (t_rcvudata(fd, &ud, &flags) == 0)
		;
	_exit(1);
}

/*
 * A sender that preempts the thread which wakes it must let that thread go on,
 * and must not be woken before there is room for @many datagrams of @n bytes:
 * what counts is its CPU time for a datagram and how often it sleeps, which no
 * other load changes.
 */
static void
preempt(unsigned n, unsigned many)
{
	volatile uint64_t *sent = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t used, was;
	struct rusage ru;
	struct xt_addr at;
	clockid_t clock;
	pid_t pid[2];
	int fd;

	need_held_back();
	pin();
	fd = xt_bound_at(0, 0, &at);
	pid[1] = receiver(fd);
	pid[0] = sender(&at, n, sent);
	(void)setpriority(PRIO_PROCESS, (id_t)pid[0], -20);
	T_EQ(clock_getcpuclockid(pid[0], &clock), 0);
	pass(200);
	was = *sent;
	used = cpu_ns(clock);
	pass(1000);
	used = cpu_ns(clock) - used;
	was = *sent - was;
	for (int i = 2; i-- > 0;) {
		T_OK(kill(pid[i], SIGKILL));
		T_OK(wait4(pid[i], NULL, 0, &ru));
	}
	fprintf(stderr, "# %llu us for %llu datagrams, %ld sleeps for %llu\n",
		(unsigned long long)used / 1000, (unsigned long long)was,
		ru.ru_nvcsw, (unsigned long long)*sent);
	T_LT(used, 20000000u + was * 5000u); /* 5 us each */
	T_LT((uint64_t)ru.ru_nvcsw, 200 + *sent / many);
}

XT_CASE(CL, a_sender_of_higher_priority_lets_its_receiver_go_on)
{
	preempt(64, 200);
}

XT_CASE(CL, a_sender_of_long_datagrams_lets_its_receiver_go_on)
{
	preempt(4096, 8);
}
