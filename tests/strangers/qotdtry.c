/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A pseudo device driver for Solaris, as its source is: kit/qotd.c. */
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

int
main(void)
{
	char buf[100];
	struct stat st;
	int fd, other;

	CHECK((fd = open("/dev/streams/clone/qotd", O_RDWR)) >= 0);
	CHECK(read(fd, buf, sizeof buf) == 8);
	CHECK(memcmp(buf, "be brief", 8) == 0);
	CHECK(fstat(fd, &st) == 0 && minor(st.st_rdev) == 1);
	CHECK(write(fd, "say it twice", 12) == 12);
	CHECK((other = open("/dev/streams/qotd/77", O_RDWR)) >= 0);
	CHECK(read(other, buf, sizeof buf) == 12);
	CHECK(memcmp(buf, "say it twice", 12) == 0);
	CHECK(write(fd, "be brief", 8) == 8);
	CHECK(ioctl(fd, ('q' << 8) | 1, 0) == -1 && errno == ENOTTY);
	CHECK(ioctl(fd, I_PUSH, "qotd") == -1 && errno == EINVAL);
	return (0);
}
