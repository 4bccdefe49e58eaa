/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * traffic [hold|crash|late-crash] - a little program that uses pipes, for the
 * tests that look at what it leaves behind.
 *
 *	(nothing)	uses pipes with two children, and exits
 *	hold		the same, then holds a pipe until its input ends
 *	crash		is killed with all its children in the middle of it
 *	late-crash	as hold, then is killed with all its children
 *
 * A line on standard output says that it is at work.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int
echo(int in, int out)
{
	char buf[1000];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			return 2;
	return n == 0 ? 0 : 3;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int there[2], back[2], status, n = 0;
	char buf[1000] = "";
	pid_t pid[2];

	if (pipe(there) != 0 || pipe(back) != 0)
		return 4;
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(there[1]);
			close(back[0]);
			_exit(echo(there[0], back[1]));
		}
	}
	close(there[0]);
	close(back[1]);
	for (int i = 0; i < 100; i++) {
		if (write(there[1], buf, sizeof(buf)) != sizeof(buf))
			return 5;
		for (ssize_t got = 0, k; got < (ssize_t)sizeof(buf);
			got += k) {
			k = read(back[0], buf, sizeof(buf));
			if (k <= 0)
				return 6;
		}
	}
	printf("at work\n");
	fflush(stdout);
	if (strcmp(mode, "hold") == 0 || strcmp(mode, "late-crash") == 0)
		while (read(0, buf, 1) > 0)
			;
	if (strcmp(mode, "crash") == 0 || strcmp(mode, "late-crash") == 0) {
		(void)!write(there[1], buf, sizeof(buf));
		kill(pid[0], SIGKILL);
		kill(pid[1], SIGKILL);
		kill(getpid(), SIGKILL);
	}
	close(there[1]);
	for (int i = 0; i < 2; i++)
		if (waitpid(pid[i], &status, 0) == pid[i] && status == 0)
			n++;
	if (read(back[0], buf, 1) != 0)
		return 7;
	return n == 2 ? 0 : 8;
}
