/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The code window: one address, in every image.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

static volatile int called;

static void
procedure(void)
{
	called++;
}

static int
sum(int a, int b, int c, int d, int e, int f, int g)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g;
}

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

T_CASE(a_slot_calls_its_procedure)
{
	int (*fn)(int, int, int, int, int, int, int);
	void *p;

	setup();
	p = host_code(3, procedure);
	T_TRUE((uint64_t)(uintptr_t)p < host_domain->base);
	((void (*)(void))p)();
	T_EQ(called, 1);
	T_TRUE(host_code(3, procedure) == p);
	T_EQ(host_code_all(), 0);
	T_TRUE(host_code(3, procedure) == p);
	/* arguments and result go through */
	fn = (int (*)(int, int, int, int, int, int, int))host_code(4095,
		(void (*)(void))sum);
	T_EQ(fn(1, 2, 3, 4, 5, 6, 7), 140);
}

/* The exec'ed half: another image, perhaps at another base. */
STR_CONSTRUCTOR static void
execed(int argc, char **argv)
{
	struct host_call hc = { .fd = -1 };
	void *p;

	if (argc != 3 || strcmp(argv[1], "--execed") != 0)
		return;
	if (host_enter(&hc) != 0)
		_exit(2);
	host_leave();
	p = host_code(7, procedure);
	if ((uint64_t)(uintptr_t)p != strtoull(argv[2], NULL, 16))
		_exit(3);
	/* what the other image stored in the arena works here */
	((void (*)(void))(uintptr_t)str_load(up_word(UP_USER)))();
	_exit(called == 1 ? 0 : 4);
}

T_CASE(it_is_the_same_after_exec)
{
	char at[32];
	int status;
	pid_t pid;
	void *p;

	setup();
	p = host_code(7, procedure);
	str_store(up_word(UP_USER), (uint64_t)(uintptr_t)p);
	snprintf(at, sizeof at, "%llx", (unsigned long long)(uintptr_t)p);
	pid = T_OK(fork());
	if (pid == 0) {
		execl("/proc/self/exe", "code_test", "--execed", at, NULL);
		_exit(127);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

T_CASE(a_slot_nobody_filled_is_a_panic)
{
	int status;
	char *p;
	pid_t pid;

	setup();
	p = host_code(0, procedure);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(dup2(T_OK(open("/dev/null", O_WRONLY)), 2));
		((void (*)(void))(void *)(p + 16))();
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(WTERMSIG(status), SIGABRT);
}

T_CASE(the_window_cannot_be_written)
{
	int status;
	char *p;
	pid_t pid;

	setup();
	p = host_code(0, procedure);
	pid = T_OK(fork());
	if (pid == 0) {
		struct sigaction dfl = { .sa_handler = SIG_DFL };

		T_EQ(host_sigaction(SIGSEGV, &dfl, NULL), 0);
		*(volatile char *)p = 0;
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(WTERMSIG(status), SIGSEGV);
}
