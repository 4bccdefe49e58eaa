/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Writes records through pace, in one process, and reads them in another:
 * they come in order, and not faster than the module lets them.
 */
#include <stdio.h>
#include <stropts.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N 64 /* records; 8 go in a tick of 10 ms */

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int
writer(int fd)
{
	struct strbuf data = {0, sizeof(int), NULL};
	int i;

	for (i = 0; i < N; i++) {
		data.buf = (char *)&i;
		if (putmsg(fd, NULL, &data, 0) != 0)
			return 1;
	}
	return 0;
}

int
main(void)
{
	int fd[2], i, v, flags, status;
	struct strbuf data = {sizeof(v), 0, (char *)&v};
	double begin = now(), took;

	if (pipe(fd) != 0 || ioctl(fd[0], I_PUSH, "pace") != 0) {
		perror("pace");
		return 1;
	}
	if (fork() == 0)
		_exit(writer(fd[0]));
	for (i = 0; i < N; i++) {
		flags = 0;
		if (getmsg(fd[1], NULL, &data, &flags) != 0 ||
		    data.len != sizeof(v) || v != i) {
			perror("getmsg");
			return 1;
		}
	}
	took = now() - begin;
	(void)wait(&status);
	printf("%d records in %.0f ms\n", N, took * 1e3);
	return status != 0 || took < 0.05;
}
