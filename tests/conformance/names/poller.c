/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poller [FD | recv] - waits for ordinary descriptors by every call that can,
 * and writes "o", or "x" when one of them did not work.  After a byte at standard
 * input it waits for FD, or for what it receives at descriptor 3, reads a byte
 * there and writes "s" when that is a Stream, "f" when it is none; after the next
 * byte it ends.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIMES 100
#define FILES 7

static int fd[FILES];

static int
open_all(void)
{
	int pair[2], ok = 1;

	fd[0] = open("/etc/passwd", O_RDONLY);
	fd[1] = open("/dev/null", O_RDWR);
	fd[2] = posix_openpt(O_RDWR | O_NOCTTY);
	fd[3] = socket(AF_INET, SOCK_DGRAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 0;
	fd[4] = pair[0];
	fd[5] = pair[1];
	fd[6] = socket(AF_UNIX, SOCK_DGRAM, 0);
	for (int i = 0; i < FILES; i++)
		ok = ok && fd[i] >= 0;
	return ok;
}

static int
poll_all(void)
{
	struct pollfd p[FILES];
	struct timespec ts = {0, 0};

	for (int i = 0; i < FILES; i++)
		p[i] = (struct pollfd){fd[i], POLLOUT, 0};
	return poll(p, FILES, 0) > 0 && ppoll(p, FILES, &ts, NULL) > 0;
}

static int
select_all(void)
{
	struct timespec ts = {0, 0};
	struct timeval tv = {0, 0};
	fd_set set, out;

	FD_ZERO(&set);
	for (int i = 0; i < FILES; i++)
		FD_SET(fd[i], &set);
	out = set;
	if (select(fd[FILES - 1] + 1, NULL, &out, NULL, &tv) <= 0)
		return 0;
	out = set;
	return pselect(fd[FILES - 1] + 1, NULL, &out, NULL, &ts, NULL) > 0;
}

static int
epoll_all(void)
{
	struct epoll_event ev = {.events = EPOLLOUT}, out[FILES];
	int ep = epoll_create1(0), ok = ep >= 0;

	/* a file on a disk is none for epoll */
	for (int i = 1; i < FILES && ok; i++)
		ok = i == 1 || epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], &ev) == 0;
	ok = ok && epoll_wait(ep, out, FILES, 0) > 0;
	close(ep);
	return ok;
}

/* Other calls that ask what a descriptor is. */
static int
others(void)
{
	struct sigaction sa;
	struct stat st;
	char c = 'c';
	int ok = 1;

	for (int i = 0; i < FILES; i++)
		ok = ok && fstat(fd[i], &st) == 0 && isatty(fd[i]) == (i == 2) &&
			isastream(fd[i]) == 0;
	return ok && sigaction(SIGUSR1, NULL, &sa) == 0 &&
		write(fd[4], &c, 1) == 1 && read(fd[5], &c, 1) == 1;
}

static int
receive(void)
{
	char c, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {&c, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room)};
	int got = -1;

	if (recvmsg(3, &m, 0) == 1 && CMSG_FIRSTHDR(&m) != NULL)
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(got));
	return got;
}

/* A byte from @from, which poll(2) has to announce. */
static int
is_stream(int from)
{
	struct pollfd p = {from, POLLIN, 0};
	char c;

	return poll(&p, 1, 10000) == 1 && read(from, &c, 1) == 1 &&
		isastream(from) == 1;
}

int
main(int argc, char **argv)
{
	int ok = open_all();
	char c;

	for (int i = 0; i < TIMES && ok; i++)
		ok = poll_all() && select_all() && epoll_all() && others();
	if (write(1, ok ? "o" : "x", 1) != 1 || read(0, &c, 1) != 1)
		return 1;
	if (argc == 2 && write(1, is_stream(strcmp(argv[1], "recv") == 0 ?
			receive() : atoi(argv[1])) ? "s" : "f", 1) != 1)
		return 1;
	return argc == 2 && read(0, &c, 1) != 1;
}
