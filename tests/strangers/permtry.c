/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A Solaris module with perimeters (kit/perim.c): traffic through its inner
 * ones while others change all instances in the outer one, timers of a queue,
 * and opens that sleep until they are let in, interrupted, or killed.
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
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

#define	PM_GATE		(('Q' << 8) | 1)
#define	PM_COUNT	(('Q' << 8) | 2)
#define	PM_TIMER	(('Q' << 8) | 3)
#define	PM_RENAME	(('Q' << 8) | 4)
#define	PM_CANCEL	(('Q' << 8) | 5)

#define NMSG	1000
#define NNAME	100

static int
str(int fd, int cmd, int arg)
{
	struct strioctl ic = { cmd, 5, sizeof arg, (char *)&arg };

	return (ioctl(fd, I_STR, &ic));
}

static void
nothing(int sig)
{
	(void)sig;
}

static void
sender(int fd)
{
	char b[16];
	int i;

	for (i = 0; i < NMSG; i++) {
		(void)snprintf(b, sizeof b, "%05d", i);
		CHECK(write(fd, b, 5) == 5);
	}
	_exit(0);
}

/* A child that pushes the module, and says how it went. */
static pid_t
pusher(int fd)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(ioctl(fd, I_PUSH, "perim") == 0 ? 7 : errno);
	return (pid);
}

int
main(void)
{
	struct sigaction sa;
	struct pollfd f[2];
	int p[2], r[2], c[5], w[3][2], got[2] = { 0, 0 }, i, st;
	pid_t kid[3];
	char b[16];

	CHECK(pipe(p) == 0 && pipe(r) == 0);
	CHECK(ioctl(p[0], I_PUSH, "perim") == 0);
	CHECK(ioctl(r[0], I_PUSH, "perim") == 0);
	CHECK(ioctl(p[0], PM_COUNT, c) == 0 && c[3] == 2);
	CHECK(ioctl(p[0], PM_COUNT, (void *)16) == -1 && errno == EFAULT);

	/* each way, with a bufcall now and then, and all are renamed */
	for (i = 0; i < 3; i++)
		if ((kid[i] = fork()) == 0) {
			if (i < 2)
				sender(p[i]);
			for (i = 0; i < NNAME; i++)
				CHECK(str(r[0], PM_RENAME, 0) > 0);
			_exit(0);
		}
	for (i = 0; i < 2; i++) {
		CHECK(ioctl(p[i], I_SRDOPT, RMSGN) == 0);
		f[i].fd = p[i];
		f[i].events = POLLIN;
	}
	while (got[0] < NMSG || got[1] < NMSG) {
		CHECK(poll(f, 2, 20000) > 0);
		for (i = 0; i < 2; i++)
			if (f[i].revents & POLLIN) {
				CHECK(read(p[i], b, sizeof b) == 5);
				b[5] = '\0';
				CHECK(atoi(b) == got[i]++);
			}
	}
	for (i = 0; i < 3; i++)
		CHECK(waitpid(kid[i], &st, 0) == kid[i] && st == 0);
	CHECK(ioctl(p[0], PM_COUNT, c) == 0);
	CHECK(c[1] == 0 && c[2] == NNAME);

	/* timers */
	CHECK(str(p[0], PM_TIMER, 5) == 1);
	CHECK(str(p[0], PM_TIMER, 5) == -1 && errno == EBUSY);
	CHECK(read(p[0], b, sizeof b) == 4 && memcmp(b, "tick", 4) == 0);
	CHECK(str(p[0], PM_TIMER, 1000) == 1);
	CHECK(str(p[0], PM_CANCEL, 0) == 1);
	CHECK(ioctl(p[0], PM_COUNT, c) == 0 && c[4] >= 0);
	CHECK(str(p[0], PM_CANCEL, 0) == 0);
	CHECK(str(p[0], PM_TIMER, 1000) == 1);	/* close cancels it */

	/* opens that sleep */
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = nothing;
	CHECK(sigaction(SIGUSR1, &sa, NULL) == 0);
	CHECK(str(p[0], PM_GATE, 1) == 2);
	for (i = 0; i < 3; i++) {
		CHECK(pipe(w[i]) == 0);
		kid[i] = pusher(w[i][0]);
	}
	do {
		poll(NULL, 0, 1);
		CHECK(ioctl(p[0], PM_COUNT, c) == 0);
	} while (c[3] < 5);
	do {	/* it may not have been asleep yet */
		kill(kid[0], SIGUSR1);
		poll(NULL, 0, 5);
	} while ((i = waitpid(kid[0], &st, WNOHANG)) == 0);
	CHECK(i == kid[0] && st == EINTR << 8);
	kill(kid[2], SIGKILL);
	CHECK(waitpid(kid[2], &st, 0) == kid[2]);
	CHECK(str(p[0], PM_GATE, 0) >= 0);
	CHECK(waitpid(kid[1], &st, 0) == kid[1] && st == 7 << 8);
	CHECK(ioctl(w[1][0], I_LOOK, b) == 0 && strcmp(b, "perim") == 0);
	CHECK(ioctl(w[0][0], I_LOOK, b) == -1 && errno == EINVAL);

	/* where the open was killed the stream goes on, and nothing is left */
	CHECK(write(w[2][0], "abc", 3) == 3);
	CHECK(read(w[2][1], b, sizeof b) == 3);
	while (ioctl(w[2][0], I_POP, 0) == 0)
		;
	CHECK(ioctl(w[1][0], I_POP, 0) == 0);
	CHECK(ioctl(p[0], PM_COUNT, c) == 0 && c[1] == 0);
	CHECK(c[3] == 2);
	CHECK(ioctl(p[0], I_POP, 0) == 0);
	return (0);
}
