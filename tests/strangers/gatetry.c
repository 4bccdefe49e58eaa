/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Opens that sleep as System V's did (kit/gate.c): woken by a write of another
 * process, by a timeout, ended by a signal, or not, and killed.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "%d, line %d: %s, errno %d\n", (int)getpid(), \
	    __LINE__, #x, errno); \
	exit(1); } } while (0)

#define GATE "/dev/streams/gate/"

static int ctl;

static void
nothing(int sig)
{
	(void)sig;
}

static int
waiters(void)
{
	struct strioctl ic;
	int n = -1;

	ic.ic_cmd = ('G' << 8) | 1;
	ic.ic_timout = 5;
	ic.ic_len = sizeof n;
	ic.ic_dp = (char *)&n;
	CHECK(ioctl(ctl, I_STR, &ic) == 0);
	return n;
}

static void
until(int n)
{
	while (waiters() != n)
		poll(NULL, 0, 1);
}

/* A child that opens @path: 100 when it could, or its errno. */
static pid_t
opener(const char *path)
{
	pid_t pid = fork();
	int fd;

	CHECK(pid != -1);
	if (pid == 0) {
		fd = open(path, O_RDWR);
		_exit(fd != -1 ? 100 : errno);
	}
	return pid;
}

static int
ended(pid_t pid)
{
	int st;

	CHECK(waitpid(pid, &st, 0) == pid);
	return WIFEXITED(st) ? WEXITSTATUS(st) : 1000 + WTERMSIG(st);
}

int
main(void)
{
	struct sigaction sa;
	pid_t kid[4];
	int i, st;

	memset(&sa, 0, sizeof sa);
	sa.sa_handler = nothing;
	CHECK(sigaction(SIGUSR1, &sa, NULL) == 0);
	ctl = open(GATE "0", O_RDWR);
	CHECK(ctl != -1);
	CHECK(write(ctl, "c", 1) == 1);	/* it may have been opened before */
	CHECK(open(GATE "5", O_RDWR) == -1 && errno == EINVAL);
	CHECK(open("/dev/streams/clone/gate", O_RDWR) == -1 && errno == EINVAL);

	/* woken, by what runs in its driver's perimeter in another process */
	kid[0] = opener(GATE "1");
	until(1);
	CHECK(write(ctl, "o", 1) == 1);
	CHECK(ended(kid[0]) == 100);
	CHECK(write(ctl, "c", 1) == 1);

	/* a signal, where the driver wants to know */
	kid[0] = opener(GATE "1");
	until(1);
	do {	/* it may not have been asleep yet */
		CHECK(kill(kid[0], SIGUSR1) == 0);
		poll(NULL, 0, 2);
	} while ((i = waitpid(kid[0], &st, WNOHANG)) == 0);
	CHECK(i == kid[0] && WIFEXITED(st) && WEXITSTATUS(st) == EINTR);
	CHECK(waiters() == 0);

	/* and where it does not */
	kid[0] = opener(GATE "2");
	until(1);
	for (i = 0; i < 5; i++) {
		CHECK(kill(kid[0], SIGUSR1) == 0);
		CHECK(waiters() == 1);
	}
	CHECK(waitpid(kid[0], &st, WNOHANG) == 0);

	/* one is killed, the others go on */
	kid[1] = opener(GATE "1");
	until(2);
	CHECK(kill(kid[0], SIGKILL) == 0);
	CHECK(ended(kid[0]) == 1000 + SIGKILL);
	CHECK(write(ctl, "o", 1) == 1);
	CHECK(ended(kid[1]) == 100);
	kid[0] = opener(GATE "2");
	CHECK(ended(kid[0]) == 100);
	CHECK(write(ctl, "c", 1) == 1);

	/* a timeout */
	kid[0] = opener(GATE "3");
	CHECK(ended(kid[0]) == 100);
	CHECK(write(ctl, "c", 1) == 1);

	/* each open has an error of its own, also while another one sleeps */
	kid[0] = opener(GATE "4");
	until(2);	/* the one that was killed counts */
	CHECK(open(GATE "5", O_RDWR) == -1 && errno == EINVAL);
	CHECK(write(ctl, "o", 1) == 1);
	CHECK(ended(kid[0]) == ENOTTY);
	CHECK(write(ctl, "c", 1) == 1);
	close(ctl);
	return 0;
}
