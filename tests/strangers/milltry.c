/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A driver and a module in the old style (kit/mill.c, kit/stamp.c). */
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define DEVICE "/dev/streams/clone/mill"
#define MESSAGES 700

#define ST_STARVE (('t' << 8) | 1)
#define ST_STATS (('t' << 8) | 2)

static void
bad(char *s)
{
	fprintf(stderr, "%d: %s: %s\n", (int)getpid(), s, strerror(errno));
	exit(1);
}

static int
str(int fd, int cmd, void *dp, int len)
{
	struct strioctl s;

	s.ic_cmd = cmd;
	s.ic_timout = 5;
	s.ic_len = len;
	s.ic_dp = dp;
	return ioctl(fd, I_STR, &s);
}

/* Write and read at once; what is read is what was written. */
static void
grind(int fd, int seed)
{
	int sent = 0, seen = 0, n, i, stats[3];
	char out[400], in[400];
	struct strbuf d;
	struct pollfd p;
	int flags;

	if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1)
		bad("F_SETFL");
	p.fd = fd;
	while (seen < MESSAGES) {
		p.events = POLLIN | (sent < MESSAGES ? POLLOUT : 0);
		if (poll(&p, 1, 10000) <= 0)
			bad("poll");
		if (p.revents & (POLLERR | POLLHUP))
			bad("poll: the stream is broken");
		while (sent < MESSAGES && (p.revents & POLLOUT)) {
			n = 1 + (sent * 31 + seed) % (int)sizeof out;
			memset(out, 'a' + (sent + seed) % 26, n);
			d.buf = out;
			d.len = n;
			if (putmsg(fd, NULL, &d, 0) == -1) {
				if (errno != EAGAIN)
					bad("putmsg");
				break;
			}
			sent++;
		}
		while (seen < sent) {
			d.buf = in;
			d.maxlen = sizeof in;
			flags = 0;
			if (getmsg(fd, NULL, &d, &flags) != 0) {
				if (errno != EAGAIN)
					bad("getmsg");
				break;
			}
			n = 1 + (seen * 31 + seed) % (int)sizeof out;
			for (i = 0; i < d.len; i++)
				if (in[i] != 'a' + (seen + seed) % 26)
					break;
			if (d.len != n || i != n) {
				fprintf(stderr, "message %d: %d of %d bytes, "
					"%d good\n", seen, d.len, n, i);
				exit(1);
			}
			seen++;
		}
	}
	if (str(fd, ST_STATS, stats, sizeof stats) < 0)
		bad("ST_STATS");
	if (stats[0] != MESSAGES || stats[1] < 5 || stats[2] == 0) {
		fprintf(stderr, "%d stamped, %d bufcalls, %d waits\n",
			stats[0], stats[1], stats[2]);
		exit(1);
	}
}

static void
one(int seed)
{
	int fd = open(DEVICE, O_RDWR), five = 5;
	char name[FMNAMESZ + 1];

	if (fd == -1)
		bad(DEVICE);
	if (ioctl(fd, I_FIND, "stamp") != 0)
		bad("I_FIND stamp before it is pushed");
	if (ioctl(fd, I_PUSH, "stamp") == -1)
		bad("I_PUSH stamp");
	if (ioctl(fd, I_FIND, "stamp") != 1)
		bad("I_FIND stamp");
	if (ioctl(fd, I_LOOK, name) == -1 || strcmp(name, "stamp") != 0)
		bad("I_LOOK");
	if (ioctl(fd, I_LIST, NULL) != 2)
		bad("I_LIST");
	if (str(fd, ST_STARVE, &five, sizeof five) < 0)
		bad("ST_STARVE");
	grind(fd, seed);
	if (ioctl(fd, I_POP, 0) == -1)
		bad("I_POP");
	close(fd);
}

int
main(int argc, char **argv)
{
	struct strbuf c, d;
	char cb[8], db[8];
	int fd[7], i, st, flags;

	if (argc > 1) {
		one(atoi(argv[1]));
		return 0;
	}
	/* each clone is another minor, and there are six */
	for (i = 0; i < 6; i++)
		if ((fd[i] = open(DEVICE, O_RDWR)) == -1)
			bad("clone");
	if ((fd[6] = open(DEVICE, O_RDWR)) != -1 || errno != ENXIO)
		bad("a seventh clone");

	/* what is urgent comes straight back; the rest takes its time */
	d.buf = c.buf = "x";
	d.len = c.len = 1;
	if (putmsg(fd[5], &c, &d, 0) == -1 || putmsg(fd[5], &c, NULL, RS_HIPRI)
	    == -1)
		bad("putmsg");
	c.buf = cb;
	d.buf = db;
	c.maxlen = d.maxlen = sizeof cb;
	flags = 0;
	if (getmsg(fd[5], &c, &d, &flags) != 0 || flags != RS_HIPRI)
		bad("what is urgent");
	flags = 0;
	if (getmsg(fd[5], &c, &d, &flags) != 0 || flags != 0 || d.len != 1)
		bad("what is not");
	/* more than the greatest packet */
	{
		static char big[1025];

		d.buf = big;
		d.len = sizeof big;
		if (putmsg(fd[5], &c, &d, 0) != -1 || errno != ERANGE)
			bad("ERANGE");
		/* but written, it comes in pieces */
		if (write(fd[5], big, sizeof big) != sizeof big)
			bad("write");
		for (i = 0; i < (int)sizeof big; i += st)
			if ((st = read(fd[5], big, sizeof big)) <= 0)
				bad("read");
	}
	for (i = 0; i < 6; i++)
		close(fd[i]);

	/* several processes, of which some know nothing of the others */
	for (i = 0; i < 4; i++)
		if (fork() == 0) {
			char n[8];

			if (i < 2) {
				sprintf(n, "%d", i);
				execl(argv[0], argv[0], n, (char *)0);
				_exit(99);
			}
			one(i);
			exit(0);
		}
	for (i = 0; i < 4; i++) {
		if (wait(&st) == -1 || st != 0) {
			fprintf(stderr, "a child: %x\n", st);
			return 1;
		}
	}
	return 0;
}
