/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Links a stream of the echo driver below fan: what one of fan's streams
 * writes comes back to all of them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

static void
die(const char *what)
{
	perror(what);
	_exit(1);
}

static void
expect(int fd, const char *text)
{
	char buf[64];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n != (ssize_t)strlen(text) || memcmp(buf, text, strlen(text)) != 0)
		die("read");
}

int
main(void)
{
	int a, b, low, id;

	a = open("/dev/streams/clone/fan", O_RDWR);
	b = open("/dev/streams/clone/fan", O_RDWR);
	if (a < 0 || b < 0)
		die("open fan");
	low = open("/dev/streams/clone/echo", O_RDWR);
	if (low < 0)
		die("open echo");
	id = ioctl(a, I_LINK, low);
	if (id < 0)
		die("I_LINK");
	if (write(a, "one", 3) != 3)
		die("write");
	expect(a, "one");
	expect(b, "one");
	if (write(b, "two", 3) != 3)
		die("write");
	expect(a, "two");
	expect(b, "two");
	if (ioctl(a, I_UNLINK, id) != 0)
		die("I_UNLINK");
	printf("linked as %d: all hear each\n", id);
	return 0;
}
