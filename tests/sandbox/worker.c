/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A small program in a sandbox: a pipe between two processes, a device, a FIFO,
 * poll, exit.  It goes on after a step that fails.
 *
 *	worker FIFO
 *
 * Says on standard output which step failed, and the errno in words.
 * Exit status: WORKS, FAILED: all failures had an errno, WRONG: a step went
 * wrong without a word, LOST: what was sent did not come.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"

static int worst = WORKS;

static int
bad(int how)
{
	worst = how > worst ? how : worst;
	return -1;
}

/* @ret of a call of the step @what. */
static int
check(const char *what, long ret)
{
	int err = errno;
	char text[128];
	int n;

	if (ret >= 0)
		return (int)ret;
	n = snprintf(text, sizeof text, "%s: %s\n", what, strerror(err));
	/* without stdio: the child of fork() must not write it twice */
	if (write(1, text, (size_t)n) != n)
		return bad(WRONG);
	return bad(err > 0 && err < 200 ? FAILED : WRONG);
}

/* Wait for @fd to be readable, and read @want from it. */
static bool
receive(const char *what, int fd, const char *want)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	char buf[64];
	int n = check(what, poll(&pfd, 1, 10000));

	if (n == 0)
		(void)bad(LOST);
	if (n <= 0)
		return false;
	n = check(what, read(fd, buf, sizeof buf));
	if (n >= 0 && (n != (int)strlen(want) ||
		memcmp(buf, want, (size_t)n) != 0))
		(void)bad(WRONG);
	return n > 0;
}

static void
pipe_step(void)
{
	int p[2], status;
	pid_t pid;
	char c;

	if (check("pipe", pipe(p)) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		worst = WORKS;
		(void)check("write to a pipe", write(p[1], "hello", 5));
		(void)check("close of a pipe", close(p[1]));
		_exit(worst);
	}
	(void)check("close of a pipe", close(p[1]));
	/* before the end the writer has to be there, or has said why not */
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		(void)bad(WRONG);
	else if (WEXITSTATUS(status) != WORKS)
		(void)bad(WEXITSTATUS(status));
	else if (receive("read of a pipe", p[0], "hello") &&
	    check("end of a pipe", read(p[0], &c, 1)) > 0)
		(void)bad(WRONG);
	(void)check("close of a pipe", close(p[0]));
}

/* A thing that gives back what it is given. */
static void
echo_step(const char *what, const char *path)
{
	int fd = check(what, open(path, O_RDWR));

	if (fd < 0)
		return;
	if (check(what, write(fd, "echo", 4)) == 4)
		(void)receive(what, fd, "echo");
	(void)check(what, close(fd));
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return WRONG;
	alarm(5);
	pipe_step();
	echo_step("device", "/dev/echo");
	if (mkfifo(argv[1], 0600) != 0)
		return WRONG;
	echo_step("FIFO", argv[1]);
	if (unlink(argv[1]) != 0)
		return WRONG;
	return worst;
}
