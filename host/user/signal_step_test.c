/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signals that come together, at every instruction.
 *
 * A child is inside a call and has put SIGUSR1 off.  The call ends; before the
 * child looks for signals that were put off, SIGUSR2 comes, and SIGALRM while
 * the trampoline runs for that one: after N instructions, for each N.  All
 * three handlers run, and no signal stays blocked.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "upcalls_test_double.h"

enum { STEPS = 400 };

static const int sigs[] = { SIGUSR1, SIGUSR2, SIGALRM };

static volatile sig_atomic_t ran[65];

static void
count(int sig)
{
	ran[sig]++;
}

/* What the child does; its status says what was wrong. */
static void
child(void)
{
	struct sigaction sa = { .sa_handler = count, .sa_flags = SA_RESTART };
	struct host_call hc = { .fd = -1 };
	sigset_t set;

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
	for (int i = 0; i < 3; i++)
		if (host_sigaction(sigs[i], &sa, NULL) != 0)
			_exit(2);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(3);
	up_enter(&hc);
	(void)raise(SIGUSR1);
	if (ran[SIGUSR1] != 0)
		_exit(4);
	host_tls.depth = 0;
	(void)raise(SIGTRAP); /* here the parent steps */
	if (host_tls.sig_saved != 0)
		host_leave_slow();
	(void)sigprocmask(SIG_BLOCK, NULL, &set);
	for (int i = 0; i < 3; i++) {
		if (ran[sigs[i]] != 1)
			_exit(5);
		if (sigismember(&set, sigs[i]))
			_exit(6);
	}
	_exit(0);
}

/* Let @pid go on with @sig until it stops again. */
static int
go_on(pid_t pid, int how, int sig)
{
	int st;

	T_OK(ptrace(how, pid, NULL, (void *)(intptr_t)sig));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	return st;
}

/*
 * The child's status if SIGALRM comes @n > 0 instructions after SIGUSR2; the
 * stop before the first instruction of a handler is no place to send one.
 */
static int
status_after(int n)
{
	pid_t pid = T_OK(fork());
	int st;

	if (pid == 0)
		child();
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	while (WIFSTOPPED(st) && WSTOPSIG(st) != SIGTRAP)
		st = go_on(pid, PTRACE_CONT, WSTOPSIG(st));
	if (!WIFSTOPPED(st))
		return st;
	st = go_on(pid, PTRACE_SINGLESTEP, SIGUSR2);
	for (int i = 0; i < n && WIFSTOPPED(st); i++)
		st = go_on(pid, PTRACE_SINGLESTEP,
			WSTOPSIG(st) == SIGTRAP ? 0 : WSTOPSIG(st));
	if (WIFSTOPPED(st))
		st = go_on(pid, PTRACE_CONT, SIGALRM);
	while (WIFSTOPPED(st))
		st = go_on(pid, PTRACE_CONT, WSTOPSIG(st));
	return st;
}

T_CASE_TIMEOUT(signals_that_come_together_leave_none_blocked, 60)
{
	if (WIFEXITED(status_after(1)) && WEXITSTATUS(status_after(1)) == 3)
		T_SKIP("ptrace is not allowed");
	for (int n = 1; n < STEPS; n++) {
		int st = status_after(n);

		if (st != 0)
			T_FAIL("after %d instructions: status %#x", n, st);
	}
}
