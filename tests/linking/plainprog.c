/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program outside the domain, linked statically and without the library.
 *
 *	plainprog gen FD N	write N bytes of a known sequence
 *	plainprog sum FD	read to the end of file; print count and sum
 *	plainprog head FD N	read N bytes
 *	plainprog copy IN OUT	copy to the end of file
 *	plainprog poll FD	as sum, not blocking, by poll(2)
 *	plainprog open PATH	as sum
 *	plainprog take SOCKET COMMAND ...	receive a descriptor in a message,
 *				which COMMAND finds as number 9
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char buf[65536];

static int
fail(void)
{
	return 40 + (errno == EPIPE) + 2 * (errno == ECONNRESET);
}

static int
gen(int fd, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t len = n - at < sizeof buf ? n - at : sizeof buf;
		ssize_t done;

		for (size_t i = 0; i < len; i++)
			buf[i] = (unsigned char)((at + i) * 2654435761u >> 13);
		done = write(fd, buf, len);
		if (done < 0)
			return fail();
		at += (size_t)done;
	}
	return 0;
}

static int
sum(int fd, int polled)
{
	uint32_t h = 2166136261u;
	size_t n = 0;
	ssize_t k;

	for (;;) {
		struct pollfd pfd = {fd, POLLIN, 0};

		if (polled && poll(&pfd, 1, -1) != 1)
			return fail();
		k = read(fd, buf, sizeof buf);
		if (k < 0 && errno == EAGAIN && polled)
			continue;
		if (k < 0)
			return fail();
		if (k == 0)
			break;
		for (ssize_t i = 0; i < k; i++)
			h = (h ^ buf[i]) * 16777619u;
		n += (size_t)k;
	}
	printf("%zu %08x\n", n, h);
	return 0;
}

static int
head(int fd, size_t n)
{
	while (n != 0) {
		ssize_t k = read(fd, buf, n < sizeof buf ? n : sizeof buf);

		if (k <= 0)
			return k == 0 ? 0 : fail();
		n -= (size_t)k;
	}
	return 0;
}

static int
copy(int in, int out)
{
	ssize_t k;

	while ((k = read(in, buf, sizeof buf)) > 0)
		for (ssize_t at = 0, done; at < k; at += done) {
			done = write(out, buf + at, (size_t)(k - at));
			if (done < 0)
				return fail();
		}
	return k == 0 ? 0 : fail();
}

static int
take(int sock)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u};
	int fd;

	if (recvmsg(sock, &m, 0) != 1 || CMSG_FIRSTHDR(&m) == NULL)
		return 50;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	if (dup2(fd, 9) != 9)
		return 51;
	close(fd);
	close(sock);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int fd = argc > 2 ? atoi(argv[2]) : -1, err;
	size_t n = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;

	if (strcmp(what, "take") == 0) {
		err = take(fd);
		return err != 0 ? err : main(argc - 2, argv + 2);
	}
	if (strcmp(what, "gen") == 0)
		return gen(fd, n);
	if (strcmp(what, "sum") == 0)
		return sum(fd, 0);
	if (strcmp(what, "head") == 0)
		return head(fd, n);
	if (strcmp(what, "copy") == 0)
		return copy(fd, (int)n);
	if (strcmp(what, "poll") == 0)
		return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? sum(fd, 1) :
								   fail();
	if (strcmp(what, "open") == 0) {
		fd = open(argv[2], O_RDONLY);
		return fd >= 0 ? sum(fd, 0) : fail();
	}
	return 64;
}
