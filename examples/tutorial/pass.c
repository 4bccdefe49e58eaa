/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pass - send an open descriptor through a pipe to another process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child makes a pipe of its own, and gives one end of it away. */
static void
child(int fd)
{
	int own[2];

	if (pipe(own) < 0 || ioctl(fd, I_SENDFD, own[1]) < 0)
		_exit(1);
	close(own[1]);
	write(own[0], "a private word", 14);
	_exit(0);
}

int
main(void)
{
	struct strrecvfd got;
	int fd[2], status;
	char buf[64];
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0) {
		perror("pipe");
		return 1;
	}
	pid = fork();
	if (pid == 0)
		child(fd[1]);
	if (ioctl(fd[0], I_RECVFD, &got) < 0) {
		perror("I_RECVFD");
		return 1;
	}
	printf("the sender is user %s\n", got.uid == getuid() ? "me" : "other");
	n = read(got.fd, buf, sizeof(buf));
	printf("through its end: %.*s\n", (int)n, buf);
	waitpid(pid, &status, 0);
	return status != 0;
}
