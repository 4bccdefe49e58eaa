/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A module and a driver that register themselves as LiS has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>
#include <sys/LiS/loop.h>
#include <sys/LiS/linuxio.h>
#include <sys/LiS/config.h>
#include <sys/LiS/lislimits.h>
#include <sys/strport.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(2,4,0)
#error that old?
#endif

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

int
main(void)
{
	struct strioctl ic = { 1, 5, 0, NULL };
	bandinfo_t band = { 0, FLUSHRW };
	int p[2], fd, other;
	char b[9];

	CHECK(pipe(p) == 0);
	CHECK(ioctl(p[0], I_PUSH, "lismod") == 0);
	CHECK(ioctl(p[0], I_LOOK, b) == 0 && strcmp(b, "lismod") == 0);
	CHECK(write(p[1], "abc", 3) == 3 && read(p[0], b, 9) == 3);
	CHECK(ioctl(p[1], I_PUSH, "lisrel") == 0);
	CHECK(write(p[1], "abc", 3) == 3 && read(p[0], b, 9) == 3);
	CHECK(memcmp(b, "ABC", 3) == 0);
	CHECK(write(p[0], "abc", 3) == 3 && read(p[1], b, 9) == 3);
	CHECK(memcmp(b, "abc", 3) == 0);
	CHECK((fd = open("/dev/streams/clone/lisdev", O_RDWR)) >= 0);
	CHECK((other = open("/dev/streams/lisdev/4", O_RDWR)) >= 0);
	CHECK(open("/dev/streams/lisdev/7", O_RDWR) == -1 && errno == ENODEV);
	CHECK(ioctl(fd, I_STR, &ic) == 2);
	CHECK(write(other, "abc", 3) == 3 && read(other, b, 9) == 3);
	CHECK(user_ioctl(other, I_FLUSHBAND, &band) == 0);
	CHECK((POLLMSG & (POLLIN | POLLOUT)) == 0 && INT_MAX > 0);
	CHECK(user_close(other) == 0);
	CHECK(ioctl(fd, I_STR, &ic) == 1);
	return (0);
}
