/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Cases with every possible end, for self_test.py to look at.  This program
 * is meant to fail.
 */
#define T_PATIENCE 1 /* ms */
#include "t.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

T_TARGETS("one", "two")

T_CASE(good_checks_pass)
{
	const char *null = NULL;

	T_EQ(1 + 1, 2);
	T_NE(1, 2);
	T_LT(-1, 1);
	T_GE(2, 2);
	T_TRUE(1);
	T_FALSE(0);
	T_NULL(null);
	T_NOTNULL(t->name);
	T_STR("same", "same");
	T_MEM("same", "same", 4);
	T_ERR(close(-1), EBADF);
	T_EQ(T_OK(fcntl(2, F_GETFD)) & ~FD_CLOEXEC, 0);
	T_TRUE(t_rand_below(3) < 3);
	T_SOON(1, 0);
	T_WITHIN(1, 0);
	T_STR(t->target, t_target());
}

/* Each of these fails, and self_test.py knows what it has to say. */
T_CASE(bad_eq) { T_EQ(40 + 1, 42); }
T_CASE(bad_ne) { T_NE(42, 42); }
T_CASE(bad_lt) { T_LT(2, 1); }
T_CASE(bad_true) { T_TRUE(1 > 2); }
T_CASE(bad_false) { T_FALSE(2 > 1); }
T_CASE(bad_null) { T_NULL(t); }
T_CASE(bad_notnull) { T_NOTNULL(NULL); }
T_CASE(bad_str) { T_STR("left", "right"); }
T_CASE(bad_mem) { T_MEM("abc", "abd", 3); }
T_CASE(bad_ok) { T_OK(close(-1)); }
T_CASE(bad_err_value) { T_ERR(getpid() > 0, EBADF); }
T_CASE(bad_err_errno) { T_ERR(close(-1), EPIPE); }
T_CASE(bad_soon) { T_SOON(0, 5); }
T_CASE(bad_within) { T_WITHIN(0, 3); }
T_CASE(bad_fail) { T_FAIL("said %d", 7); }

T_CASE(crash_by_signal)
{
	raise(SIGUSR1);
}

T_CASE(crash_by_exit)
{
	exit(3);
}

T_CASE(crash_by_early_exit)
{
	exit(0);
}

T_CASE_TIMEOUT(crash_by_timeout, 1)
{
	for (;;)
		pause();
}

T_CASE(child_fails)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_EQ(1, 2);
		_exit(0);
	}
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(child_comes_back)
{
	if (T_OK(fork()) != 0)
		for (;;)
			pause();
}

static void *
thread(void *arg)
{
	(void)arg;
	T_FAIL("in a thread");
}

T_CASE(thread_fails)
{
	pthread_t id;

	T_EQ(pthread_create(&id, NULL, thread, NULL), 0);
	pthread_join(id, NULL);
}

T_CASE(skipped_for_a_reason)
{
	T_SKIP("no %s", "reason");
}

T_CASE(fd_left_open)
{
	T_CHECK_FDS();
	T_OK(open("/dev/null", O_RDONLY));
}

T_CASE(fd_closed_again)
{
	T_CHECK_FDS();
	T_OK(close(T_OK(open("/dev/null", O_RDONLY))));
}

T_CASE(fds_all_closed)
{
	T_OK(close_range(0, ~0u, 0));
	T_EQ(1, 2);
}

T_CASE(rand_is_shown)
{
	T_FAIL("%llx", (unsigned long long)t_rand());
}

/* Its children are in its group, in another group, and in another session. */
T_CASE(processes_left)
{
	int p[2];
	char c;

	T_OK(pipe(p));
	for (int i = 0; i < 3; i++)
		if (T_OK(fork()) == 0) {
			if (i == 1)
				setpgid(0, 0);
			if (i == 2 && (setsid() == -1 || fork() != 0))
				_exit(0);
			fprintf(stderr, "pid %d\n", getpid());
			if (write(p[1], "", 1) == 1)
				for (;;)
					pause();
		}
	for (int i = 0; i < 3; i++)
		T_EQ(read(p[0], &c, 1), 1);
}

/* It ends by itself 100 ms later, unless the runner kills it. */
T_CASE(streamsd_left)
{
	int p[2];
	char c;

	T_OK(pipe(p));
	if (T_OK(fork()) == 0) {
		(void)setsid();
		T_OK(prctl(PR_SET_NAME, "streamsd"));
		T_EQ(write(p[1], "", 1), 1);
		for (int i = 0; i < 100; i++)
			t_pause();
		fprintf(stderr, "ended by itself\n");
		_exit(0);
	}
	T_EQ(read(p[0], &c, 1), 1);
}

T_CASE_TIMEOUT(waits_for_sigterm, 10)
{
	fprintf(stderr, "pid %d\n", getpid());
	for (;;)
		pause();
}
