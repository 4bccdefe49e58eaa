/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A server polls, and hands connections to a worker by I_SENDFD. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stropts.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

int
main()
{
	struct strrecvfd rfd;
	struct pollfd pfd;
	int to[2], conn[2], status, i;
	char buf[16];
	pid_t pid;

	CHECK(pipe(to) == 0);
	CHECK((pid = fork()) >= 0);
	if (pid == 0) {
		close(to[0]);
		for (i = 0; i < 3; i++) {
			CHECK(ioctl(to[1], I_RECVFD, &rfd) == 0);
			CHECK(rfd.uid == geteuid());
			CHECK(read(rfd.fd, buf, sizeof(buf)) == 4);
			CHECK(write(rfd.fd, "done", 4) == 4);
			close(rfd.fd);
		}
		_exit(0);
	}
	close(to[1]);
	for (i = 0; i < 3; i++) {
		CHECK(pipe(conn) == 0);
		CHECK(write(conn[0], "work", 4) == 4);
		CHECK(ioctl(to[0], I_SENDFD, conn[1]) == 0);
		close(conn[1]);
		pfd.fd = conn[0];
		pfd.events = POLLIN;
		CHECK(poll(&pfd, 1, 10000) == 1);
		CHECK(pfd.revents & POLLIN);
		CHECK(read(conn[0], buf, sizeof(buf)) == 4);
		CHECK(memcmp(buf, "done", 4) == 0);
		close(conn[0]);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}
