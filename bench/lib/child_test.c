/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

/*
 * The grandchild is adopted by this process, so that its end can be waited
 * for; the case's own deadline is what happens if it does not come.
 */
T_CASE(a_bound_child_dies_with_its_parent)
{
	pid_t parent;
	int status, pipefd[2];
	char byte;

	T_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	T_EQ(pipe(pipefd), 0);
	parent = fork();
	if (parent == 0) {
		pid_t self = getpid();

		if (fork() == 0) {
			bench_child_bind(self);
			(void)!write(pipefd[1], "", 1);
			for (;;)
				(void)pause();
		}
		for (;;)
			(void)pause();
	}
	T_EQ(read(pipefd[0], &byte, 1), 1);
	bench_child_kill(parent);
	T_GT(wait(&status), 0);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGKILL);
	T_EQ(wait(&status), -1);
}

T_CASE(a_child_bound_to_somebody_else_ends_at_once)
{
	pid_t child = fork();

	if (child == 0) {
		bench_child_bind(getpid());
		_exit(0);
	}
	T_EQ(WEXITSTATUS(bench_child_wait(child)), 1);
}

T_CASE(waiting_for_nobody_says_so)
{
	T_EQ(bench_child_wait(getpid()), -1);
	bench_child_kill(0);
}
