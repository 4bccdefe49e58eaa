/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A line printer (kit/lpx.c): opened for itself alone, closed when its queue is
 * empty, jammed, switched off and on, its users killed.
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
#include <termio.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

#define LP_SPEED (('l' << 8) | 1)
#define LP_PAPER (('l' << 8) | 2)
#define LP_JAM	 (('l' << 8) | 3)
#define LP_CLEAR (('l' << 8) | 4)
#define LP_OFF	 (('l' << 8) | 5)
#define LP_ON	 (('l' << 8) | 6)

#define LP	"/dev/streams/lpx/1"
#define EYE	"/dev/streams/lpx/9"

static int eye;
static char paper[8192];
static char text[4000];

static int
str(int fd, int cmd, int arg)
{
	struct strioctl ic = { cmd, 5, sizeof arg, (char *)&arg };

	return (ioctl(fd, I_STR, &ic));
}

/* What has been printed since. */
static int
look(void)
{
	struct strioctl ic = { LP_PAPER, 5, 0, paper };

	CHECK(ioctl(eye, I_STR, &ic) >= 0);
	return (ic.ic_len);
}

static int
events(int fd, int ms)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	CHECK(poll(&p, 1, ms) >= 0);
	return (p.revents);
}

int
main(void)
{
	int fd, i, k, n, st;
	pid_t pid;

	memset(text, 'x', sizeof text);
	CHECK((eye = open(EYE, O_RDWR)) >= 0);
	CHECK(open(LP, O_RDWR) == -1 && errno == EACCES);
	CHECK(open("/dev/streams/lpx/16", O_WRONLY) == -1 && errno == ENODEV);
	CHECK(open("/dev/streams/clone/lpx", O_WRONLY) == -1 && errno == ENXIO);
	CHECK((fd = open(LP, O_WRONLY | O_EXCL)) >= 0);
	CHECK(open(LP, O_WRONLY | O_EXCL) == -1 && errno == EBUSY);
	CHECK((n = open(LP, O_WRONLY)) >= 0 && close(n) == 0);
	CHECK((fcntl(fd, F_GETFL) & O_EXCL) == 0);
	CHECK(read(fd, text, 1) == -1 && errno == EBADF);

	/* closed when all has been taken from the queue */
	CHECK(str(fd, LP_SPEED, 50) == 0);
	for (i = 0; i < 10; i++)
		CHECK(write(fd, text, 60) == 60);
	CHECK(close(fd) == 0);
	CHECK((n = look()) > 600 - 60 - 1);

	/* an ioctl that waits its turn behind data */
	CHECK((fd = open(LP, O_WRONLY)) >= 0);
	CHECK(str(fd, LP_SPEED, 500) == 0);
	CHECK(write(fd, text, 4000) == 4000);
	CHECK(ioctl(fd, TCSBRK, 1) == 0);
	CHECK(look() == 4000);

	/* full, and room again; what is flushed is not printed */
	CHECK(str(fd, LP_SPEED, 5) == 0);
	CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	for (k = 0; (n = write(fd, text, 40)) == 40; k += n)
		;
	CHECK(n == -1 && errno == EAGAIN && k >= 160);
	CHECK(events(fd, 0) == 0);
	CHECK(events(fd, 10000) == POLLOUT);
	CHECK(ioctl(fd, I_FLUSH, FLUSHW) == 0);
	(void)look();
	CHECK(ioctl(fd, TCSBRK, 1) == 0);
	CHECK(look() == 0);

	/* a jam, also under who is asleep */
	CHECK(str(eye, LP_JAM, 0) == 0);
	CHECK(write(fd, "a", 1) == -1 && errno == ENOSPC);
	CHECK(events(fd, 0) == POLLERR);
	CHECK(str(fd, LP_SPEED, 5) == -1 && errno == ENOSPC);
	CHECK(str(eye, LP_CLEAR, 0) == 0);
	CHECK(events(fd, 0) == POLLOUT);
	CHECK(str(fd, LP_SPEED, 1) == 0);
	if ((pid = fork()) == 0) {
		CHECK(fcntl(fd, F_SETFL, 0) == 0);
		while (write(fd, text, 100) == 100)
			;
		_exit(errno == ENOSPC ? 7 : 1);
	}
	while (events(fd, 0) == POLLOUT)
		poll(NULL, 0, 1);
	CHECK(str(eye, LP_JAM, 0) == 0);
	CHECK(waitpid(pid, &st, 0) == pid && st == 7 << 8);
	CHECK(str(eye, LP_CLEAR, 0) == 0);

	/* off, and on */
	CHECK(str(eye, LP_OFF, 0) == 0);
	CHECK(write(fd, "a", 1) == -1 && errno == ENXIO);
	CHECK(events(fd, 0) == POLLHUP);
	CHECK(open(LP, O_WRONLY) == -1 && errno == ENXIO);
	CHECK(str(eye, LP_ON, 0) == 0);
	CHECK(events(fd, 10000) == POLLOUT);
	CHECK(write(fd, "a", 1) == 1);
	CHECK(close(fd) == 0);

	/* a killed one has had printed what it wrote, and has closed it */
	(void)look();
	if ((pid = fork()) == 0) {
		CHECK((fd = open(LP, O_WRONLY)) >= 0);
		CHECK(str(fd, LP_SPEED, 10) == 0);
		for (i = 0; i < 4; i++)
			CHECK(write(fd, text, 50) == 50);
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(pid, &st, 0) == pid);
	for (i = k = 0; (fd = open(LP, O_WRONLY | O_EXCL)) == -1; i++) {
		CHECK(errno == EBUSY && i < 2000);
		poll(NULL, 0, 5);
	}
	CHECK(look() > 200 - 50 - 1);

	/* several at one printer: nothing of one in another's */
	CHECK(str(fd, LP_SPEED, 400) == 0);
	for (k = 0; k < 4; k++)
		if (fork() == 0) {
			memset(text, 'a' + k, 32);
			for (i = 0; i < 50; i++)
				CHECK(write(fd, text, 32) == 32);
			_exit(0);
		}
	for (k = 0; k < 4; k++)
		CHECK(wait(&st) > 0 && st == 0);
	CHECK(ioctl(fd, TCSBRK, 1) == 0);
	CHECK(look() == 4 * 50 * 32);
	for (i = 0; i < 4 * 50 * 32; i++)
		CHECK(paper[i] == paper[i - i % 32]);
	return (0);
}
