/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A static program for pipelines: nothing can be preloaded into it.
 *
 *	outside cat		copy
 *	outside head BYTES	copy so many bytes
 *	outside fill BYTES SIZE	write so many bytes in pieces of SIZE
 *	outside run COMMAND...	become another program
 *	outside child COMMAND...	start one, and wait for it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int
copy(long left)
{
	char buf[4096];
	ssize_t n;

	while (left > 0) {
		n = read(0, buf, left < 4096 ? (size_t)left : sizeof buf);
		if (n <= 0)
			return n < 0;
		for (ssize_t k, done = 0; done < n; done += k) {
			k = write(1, buf + done, (size_t)(n - done));
			if (k < 0)
				return 1;
		}
		left -= n;
	}
	return 0;
}

static int
fill(long left, long size)
{
	static char buf[1 << 20];

	for (size_t i = 0; i < sizeof buf; i++)
		buf[i] = (char)('a' + i % 26);
	while (left > 0) {
		ssize_t n = write(1, buf, (size_t)(left < size ? left : size));

		if (n < 0)
			return 1;
		left -= n;
	}
	return 0;
}

static int
child(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
		128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "cat") == 0)
		return copy(0x7fffffffffffL);
	if (argc == 3 && strcmp(argv[1], "head") == 0)
		return copy(atol(argv[2]));
	if (argc == 4 && strcmp(argv[1], "fill") == 0 && atol(argv[3]) > 0 &&
		atol(argv[3]) <= 1 << 20)
		return fill(atol(argv[2]), atol(argv[3]));
	if (argc > 2 && strcmp(argv[1], "child") == 0)
		return child(argv + 2);
	if (argc > 2 && strcmp(argv[1], "run") == 0) {
		execvp(argv[2], argv + 2);
		return 127;
	}
	fprintf(stderr, "outside: wrong usage\n");
	return 2;
}
