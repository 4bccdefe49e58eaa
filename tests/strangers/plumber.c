/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What link daemons do: I_LINK and I_PLINK, a link that outlives who made it
 * and is taken away by another process, and what a linked Stream refuses.
 */
#include <stropts.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
refused(line, ret, err)
int line, ret, err;
{
	if (ret == -1 && errno == err)
		return;
	fprintf(stderr, "line %d: %d, %s, not %s\n", line, ret,
	    ret == -1 ? strerror(errno) : "-", strerror(err));
	exit(1);
}
#define REFUSED(call, err) refused(__LINE__, (call), (err))

static int
device(name)
char *name;
{
	int fd;

	if ((fd = open(name, O_RDWR)) < 0) {
		perror(name);
		exit(1);
	}
	return fd;
}

static void
echoes(fd)
int fd;
{
	char buf[8];

	if (write(fd, "echo", 4) != 4 || read(fd, buf, sizeof buf) != 4) {
		perror("echo");
		exit(1);
	}
}

static void
linked(fd)
int fd;
{
	struct pollfd pfd;
	char c;
	int n;

	REFUSED(read(fd, &c, 1), EINVAL);
	REFUSED(write(fd, &c, 1), EINVAL);
	REFUSED(ioctl(fd, I_PUSH, "nullmod"), EINVAL);
	REFUSED(ioctl(fd, I_NREAD, &n), EINVAL);
	pfd.fd = fd;
	pfd.events = POLLIN|POLLOUT;
	if (poll(&pfd, 1, 0) != 1 || pfd.revents != POLLNVAL) {
		fprintf(stderr, "poll says %#x\n", pfd.revents);
		exit(1);
	}
}

int
main()
{
	struct strrecvfd rfd;
	int mux, mux2, a, b, p[2], ida, idb, st;

	alarm(20);
	mux = device("/dev/mux");
	a = device("/dev/echo");
	b = device("/dev/echo");
	if (pipe(p) < 0) {
		perror("pipe");
		exit(1);
	}
	REFUSED(ioctl(mux, I_LINK, 999), EBADF);
	REFUSED(ioctl(mux, I_LINK, p[0]), EINVAL);
	REFUSED(ioctl(mux, I_LINK, mux), EINVAL);
	REFUSED(ioctl(a, I_LINK, b), EINVAL);
	REFUSED(ioctl(mux, I_UNLINK, 5), EINVAL);
	/* a device is no pipe to send descriptors through */
	REFUSED(ioctl(a, I_SENDFD, p[0]), EINVAL);
	REFUSED(ioctl(a, I_RECVFD, &rfd), EINVAL);

	if ((ida = ioctl(mux, I_LINK, a)) < 0 ||
	    (idb = ioctl(mux, I_LINK, b)) < 0 || ida == idb) {
		perror("I_LINK");
		exit(1);
	}
	linked(a);
	REFUSED(ioctl(mux, I_LINK, a), EINVAL);
	REFUSED(ioctl(mux, I_PUNLINK, ida), EINVAL);
	if (ioctl(mux, I_UNLINK, idb) < 0) {
		perror("I_UNLINK");
		exit(1);
	}
	echoes(b);
	REFUSED(ioctl(mux, I_UNLINK, idb), EINVAL);

	/* no Stream may come to stand below itself */
	mux2 = device("/dev/mux");
	if ((idb = ioctl(mux2, I_LINK, mux)) < 0) {
		perror("I_LINK of a multiplexor");
		exit(1);
	}
	REFUSED(ioctl(mux, I_LINK, mux2), EINVAL);
	close(mux2);
	if (ioctl(mux, I_UNLINK, MUXID_ALL) < 0) {
		perror("I_UNLINK of all");
		exit(1);
	}
	echoes(a);

	/* closing the upper Stream undoes I_LINK */
	if (ioctl(mux, I_LINK, a) < 0) {
		perror("I_LINK again");
		exit(1);
	}
	close(mux);
	echoes(a);

	/* but not I_PLINK, and anybody may undo that */
	mux = device("/dev/mux_clone");
	if ((ida = ioctl(mux, I_PLINK, a)) < 0) {
		perror("I_PLINK");
		exit(1);
	}
	close(mux);
	close(a);
	if (fork() == 0) {
		mux = device("/dev/mux_clone");
		REFUSED(ioctl(mux, I_UNLINK, ida), EINVAL);
		if (ioctl(mux, I_PUNLINK, ida) < 0) {
			perror("I_PUNLINK");
			exit(1);
		}
		exit(0);
	}
	if (wait(&st) < 0 || st != 0)
		return 1;
	mux = device("/dev/mux_clone");
	REFUSED(ioctl(mux, I_PUNLINK, ida), EINVAL);
	return 0;
}
