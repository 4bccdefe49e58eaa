/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process with more pipes than a fork prepares; see plain.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pipeline.h"

static void
nothing(int arg)
{
	(void)arg;
}

static int
descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 2000; fd++)
		n += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	return n;
}

/* A fork prepares only some of them: the others pass the carrier on. */
ROW(the_first_and_the_last_of_many_pipes)
{
	enum { N = 300 };
	static int p[N][2], before;
	int from[2];
	pid_t pid;

	for (int i = 0; i < N; i++)
		mk(p[i]);
	before = descriptors();
	status("child", member(nothing, -1, SHUT(-1)));
	if (descriptors() - before > N / 2)
		note("a fork makes a descriptor for each pipe\n");
	for (int i = 0; i < N; i += N - 1) {
		mk(from);
		put(p[i][1], 500);
		pid = run(ARGS("cat"), p[i][0], from[1],
			SHUT(p[i][1], p[i][0], from[0], from[1]));
		close(p[i][0]);
		put(p[i][1], 5000);
		close(p[i][1]);
		close(from[1]);
		get(from[0]);
		status("cat", pid);
	}
	for (int i = 1; i < N - 1; i++) {
		close(p[i][0]);
		close(p[i][1]);
	}
}
