/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The end of a process, and of what only looks like one.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stropts.h>
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

/* it has the lock of its FILE, which stdio would want for all of them */
T_CASE(a_thread_that_waits_for_input_does_not_keep_exit_waiting)
{
	int p[2], q[2], status, held;
	pthread_t id;
	pid_t pid;

	T_OK((int)syscall(SYS_pipe2, q, 0));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(pipe(p));
		input = fdopen(q[0], "r");
		T_EQ(pthread_create(&id, NULL, read_input, NULL), 0);
		T_SOON(reading, 5000);
		/* until it is inside: then nobody else gets the lock */
		for (held = 0; held < 50; held++) {
			if (ftrylockfile(input) == 0) {
				funlockfile(input);
				held = 0;
			}
			t_pause();
		}
		exit(7);
	}
	T_OK(close(q[0]));
	T_SOON(waitpid(pid, &status, WNOHANG) == pid, 10000);
	T_EQ(WEXITSTATUS(status), 7);
	T_OK(close(q[1]));
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
