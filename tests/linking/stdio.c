/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stdio on a connection of a transport, both ways; tests/conformance/posix has
 * all of stdio, on pipes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "t.h"

T_TARGETS(ENDS_ALL)

static void
ask(FILE *in, FILE *out)
{
	char line[64];

	for (int i = 0; i < 100; i++) {
		T_GT(fprintf(out, "question %d\n", i), 0);
		T_EQ(fflush(out), 0);
		T_NOTNULL(fgets(line, sizeof line, in));
		T_EQ(atoi(line), i * 2);
	}
}

/* r+ on what has no position: reading and writing take turns */
static void
answer(FILE *f)
{
	char *line = NULL;
	size_t room = 0;
	int i;

	while (getline(&line, &room, f) > 0) {
		T_EQ(sscanf(line, "question %d", &i), 1);
		T_GT(fprintf(f, "%d\n", i * 2), 0);
		T_EQ(fflush(f), 0);
	}
	T_TRUE(feof(f));
	free(line);
}

T_CASE(two_processes_talk_by_FILEs)
{
	int fd[2], status;
	FILE *in, *out, *both;
	pid_t pid;

	ends_open(t_target(), fd);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd[0]));
		both = fdopen(fd[1], "r+");
		T_NOTNULL(both);
		answer(both);
		T_EQ(fclose(both), 0);
		_exit(0);
	}
	T_OK(close(fd[1]));
	in = fdopen(fd[0], "r");
	out = fdopen(T_OK(dup(fd[0])), "w");
	T_NOTNULL(in);
	T_NOTNULL(out);
	ask(in, out);
	T_EQ(fclose(in), 0);
	T_EQ(fclose(out), 0);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
}
