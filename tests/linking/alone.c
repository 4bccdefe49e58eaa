/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program that order.py links in this way and that.  With WITH_XTI it makes a
 * connection, for which calls of the library and of the program must mean the
 * same; else it makes a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#ifdef WITH_XTI
#include "ends.h"
#endif

int
main(void)
{
	struct pollfd pfd = {.events = POLLIN};
	char buf[8];
	int fd[2];

	alarm(20);
#ifdef WITH_XTI
	ends_open("ticotsord", fd);
#else
	if (pipe(fd) != 0)
		return 2;
#endif
	if (fcntl(fd[0], F_SETFL, O_NONBLOCK) != 0 ||
		(fcntl(fd[0], F_GETFL) & O_NONBLOCK) == 0)
		return 3;
	if (read(fd[0], buf, sizeof buf) != -1 || errno != EAGAIN)
		return 4;
	if (write(fd[1], "hello", 5) != 5)
		return 5;
	pfd.fd = fd[0];
	if (poll(&pfd, 1, 10000) != 1 || pfd.revents != POLLIN)
		return 6;
	if (read(fd[0], buf, sizeof buf) != 5 || memcmp(buf, "hello", 5) != 0)
		return 7;
	puts("hello");
	return 0;
}
