/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The end of a process, and of what only looks like one.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stropts.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

static FILE *input;
static _Atomic int reading;

static void *
read_input(void *arg)
{
	reading = 1;
	(void)getc(input);
	return NULL;
}

static void
exit_beside_a_reader(bool member, int fd)
{
	pthread_t id;
	int p[2], held;

	if (member)
		T_OK(pipe(p));
	input = fdopen(fd, "r");
	T_EQ(pthread_create(&id, NULL, read_input, NULL), 0);
	T_SOON(reading, 5000);
	/* until it is inside: then no other gets the lock */
	for (held = 0; held < 50; held++) {
		if (ftrylockfile(input) == 0) {
			funlockfile(input);
			held = 0;
		}
		t_pause();
	}
	exit(7);
}

static bool
ends_within(pid_t pid, int ms)
{
	uint64_t end = t_now_ns() + (uint64_t)ms * 1000000;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (t_now_ns() > end) {
			T_OK(kill(pid, SIGKILL));
			T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
			return false;
		}
		t_pause();
	}
	return WEXITSTATUS(status) == 7;
}

/* it has the lock of its FILE, which stdio would want for all of them */
T_CASE(a_thread_that_waits_for_input_does_not_keep_exit_waiting)
{
	pid_t pid;
	int q[2];

	T_OK((int)syscall(SYS_pipe2, q, 0));
	pid = T_OK(fork());
	if (pid == 0)
		exit_beside_a_reader(false, q[0]);
	if (!ends_within(pid, 3000))
		T_SKIP("this C library's exit() waits for it without us, too");
	pid = T_OK(fork());
	if (pid == 0)
		exit_beside_a_reader(true, q[0]);
	T_TRUE(ends_within(pid, 10000));
}

static int
borrow(void *arg)
{
	_exit(0);
}

/* as some implementations of posix_spawn() do */
T_CASE(a_child_that_shares_our_memory_does_not_end_us)
{
	char *stack = calloc(1, 65536);
	int p[2], status;
	pid_t pid;
	char c;

	T_NOTNULL(stack);
	T_OK(pipe(p));
	T_EQ(isastream(p[0]), 1);
	pid = T_OK(clone(borrow, stack + 65536,
		CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_EQ(write(p[1], "k", 1), 1);
	T_EQ(read(p[0], &c, 1), 1);
	T_EQ(c, 'k');
	T_EQ(isastream(p[0]), 1);
}

static void
touch_a_stream(void)
{
	int p[2];

	T_OK(pipe(p));
	T_OK(close(p[0]));
	T_OK(close(p[1]));
}

T_CASE(what_stdio_holds_is_written_at_exit)
{
	char buf[16];
	int q[2], status;
	pid_t pid;
	FILE *f;

	T_OK((int)syscall(SYS_pipe2, q, 0));
	pid = T_OK(fork());
	if (pid == 0) {
		touch_a_stream();
		f = fdopen(q[1], "w");
		(void)fputs("held back", f);
		exit(0);
	}
	T_OK(close(q[1]));
	T_EQ(read(q[0], buf, sizeof buf), 9);
	T_MEM(buf, "held back", 9);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

/* ---------------------------------------- threads that sleep when it ends */

static struct {
	int in[2], out[2], dev, tell;
	_Atomic int about;
} s;

static void
came_back(const char *what)
{
	(void)!write(s.tell, what, 1);
}

static void *
in_read(void *arg)
{
	char c;

	s.about++;
	(void)!read(s.in[0], &c, 1);
	came_back("r");
	return NULL;
}

static void *
in_device(void *arg)
{
	char c;

	s.about++;
	(void)!read(s.dev, &c, 1);
	came_back("d");
	return NULL;
}

static void *
in_getmsg(void *arg)
{
	struct strbuf ctl = {.maxlen = 0}, data = {.maxlen = 0};
	int flags = 0;

	s.about++;
	(void)getmsg(s.in[1], &ctl, &data, &flags);
	came_back("g");
	return NULL;
}

static void *
in_write(void *arg)
{
	static char big[65536];

	s.about++;
	while (write(s.out[1], big, sizeof(big)) > 0)
		;
	came_back("w");
	return NULL;
}

static void *
in_poll(void *arg)
{
	struct pollfd pfd = {.fd = s.in[0], .events = POLLIN};

	s.about++;
	(void)poll(&pfd, 1, -1);
	came_back("p");
	return NULL;
}

static void *
in_select(void *arg)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(s.in[0], &set);
	s.about++;
	(void)select(s.in[0] + 1, &set, NULL, NULL, NULL);
	came_back("s");
	return NULL;
}

static void *
in_epoll(void *arg)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int ep = T_OK(epoll_create1(0));

	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s.in[0], &ev));
	s.about++;
	(void)epoll_wait(ep, &ev, 1, -1);
	came_back("e");
	return NULL;
}

/* exit(3): a kernel ends the threads before it closes what they sleep in, so
 * that none of them sees an end of file, a hangup or a bad descriptor. */
static void
end_with_sleepers(bool hard)
{
	static void *(*const in[])(void *) = {in_read, in_device, in_getmsg,
		in_write, in_poll, in_select, in_epoll};
	const int n = (int)(sizeof(in) / sizeof(*in));
	int q[2], status;
	pthread_t id;
	char c;
	pid_t pid;

	T_OK((int)syscall(SYS_pipe2, q, 0));
	pid = T_OK(fork());
	if (pid == 0) {
		s.tell = q[1];
		T_OK(pipe(s.in));
		T_OK(pipe(s.out));
		s.dev = T_OK(open("/dev/echo", O_RDWR));
		for (int i = 0; i < n; i++)
			T_EQ(pthread_create(&id, NULL, in[i], NULL), 0);
		T_SOON(s.about == n, 5000);
		for (int i = 0; i < 20; i++)
			t_pause();
		if (hard)
			_exit(7);
		exit(7);
	}
	T_OK(close(q[1]));
	T_SOON(waitpid(pid, &status, WNOHANG) == pid, 10000);
	T_TRUE(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), 7);
	T_EQ(read(q[0], &c, 1), 0);
	T_OK(close(q[0]));
}

T_CASE(threads_asleep_see_nothing_of_exit)
{
	end_with_sleepers(false);
}

T_CASE(threads_asleep_see_nothing_of__exit)
{
	end_with_sleepers(true);
}
