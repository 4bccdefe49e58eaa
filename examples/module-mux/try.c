/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Links one end of a pipe below fan; two streams of fan meet at the other. */
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

int
main(void)
{
	char buf[64];
	int fd[2], a, b, id;
	ssize_t n;

	a = open("/dev/streams/clone/fan", O_RDWR);
	b = open("/dev/streams/clone/fan", O_RDWR);
	if (a < 0 || b < 0)
		die("open fan");
	if (pipe(fd) != 0)
		die("pipe");
	id = ioctl(a, I_LINK, fd[0]);
	if (id < 0)
		die("I_LINK");
	if (write(a, "one", 3) != 3 || read(fd[1], buf, sizeof(buf)) != 3 ||
	    write(b, "two", 3) != 3 || read(fd[1], buf, sizeof(buf)) != 3)
		die("down");
	if (memcmp(buf, "two", 3) != 0 || write(fd[1], "to all", 6) != 6)
		die("from below");
	n = read(a, buf, sizeof(buf));
	if (n != 6 || read(b, buf, sizeof(buf)) != 6 ||
	    memcmp(buf, "to all", 6) != 0)
		die("up");
	if (ioctl(a, I_UNLINK, id) != 0)
		die("I_UNLINK");
	printf("linked as %d: both streams wrote and read\n", id);
	return 0;
}
