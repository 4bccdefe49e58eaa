/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * call - a client of the exchange.
 *
 *	call PATH talk CHANNEL COUNT	send COUNT numbered messages
 *	call PATH hear CHANNEL COUNT	receive them, check them, and answer
 *	call PATH list			what the exchange has given away
 *	call PATH stop			end it
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include "exch.h"

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* Ask, and wait for the answer; its text goes to the standard output. */
static void
ask(int fd, int op, int arg, int flags)
{
	struct exch x;
	struct strbuf ctl, data;
	char text[4096];
	int how = 0;

	x.x_op = op;
	x.x_arg = arg;
	x.x_error = 0;
	ctl.buf = (char *)&x;
	ctl.len = ctl.maxlen = sizeof(x);
	if (putmsg(fd, &ctl, NULL, flags) < 0)
		die("putmsg");
	data.buf = text;
	data.maxlen = sizeof(text);
	if (getmsg(fd, &ctl, &data, &how) < 0)
		die("getmsg");
	if (ctl.len != sizeof(x) || x.x_op != op) {
		fprintf(stderr, "call: not an answer\n");
		exit(1);
	}
	if (x.x_error != 0) {
		errno = x.x_error;
		die("exchange");
	}
	if (data.len > 0)
		fwrite(text, 1, data.len, stdout);
}

static int
getline_(int fd, int chan)
{
	struct strrecvfd rfd;

	ask(fd, EX_LINE, chan, 0);
	if (ioctl(fd, I_RECVFD, &rfd) < 0)
		die("I_RECVFD");
	return rfd.fd;
}

/* Message number i has a length of its own. */
static int
text(char *buf, int i)
{
	int n = sprintf(buf, "%d:", i);

	memset(buf + n, 'a' + i % 26, i % 1000);
	return n + i % 1000;
}

static void
talk(int line, int count)
{
	char buf[1100];
	int i, n;

	for (i = 0; i < count; i++) {
		n = text(buf, i);
		if (write(line, buf, n) != n)
			die("write");
	}
	n = read(line, buf, sizeof(buf) - 1);
	if (n < 0)
		die("read");
	buf[n] = '\0';
	printf("the other side heard %s\n", buf);
}

static void
hear(int line, int count)
{
	char buf[1100], want[1100];
	int i, n;

	if (ioctl(line, I_SRDOPT, RMSGN) < 0)
		die("I_SRDOPT");
	for (i = 0; i < count; i++) {
		n = read(line, buf, sizeof(buf));
		if (n != text(want, i) || memcmp(buf, want, n) != 0) {
			fprintf(stderr, "call: message %d is wrong\n", i);
			exit(1);
		}
	}
	n = sprintf(buf, "%d", count);
	if (write(line, buf, n) != n)
		die("write");
	if (close(line) < 0) /* waits until it has been sent */
		die("close");
}

int
main(int argc, char **argv)
{
	int fd = argc < 3 ? -1 : open(argv[1], O_RDWR);

	if (fd < 0)
		die(argc < 3 ? "usage" : argv[1]);
	if (isastream(fd) != 1) {
		fprintf(stderr, "call: no server is at %s\n", argv[1]);
		return 1;
	}
	if (strcmp(argv[2], "list") == 0)
		ask(fd, EX_LIST, 0, 0);
	else if (strcmp(argv[2], "stop") == 0)
		ask(fd, EX_STOP, 0, RS_HIPRI);
	else if (argc == 5 && strcmp(argv[2], "talk") == 0)
		talk(getline_(fd, atoi(argv[3])), atoi(argv[4]));
	else if (argc == 5 && strcmp(argv[2], "hear") == 0)
		hear(getline_(fd, atoi(argv[3])), atoi(argv[4]));
	else
		return 2;
	return 0;
}
