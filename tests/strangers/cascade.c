/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Three multiplexors on top of each other.  The lowest stands on one of two
 * loop devices; what is written at the top is read from the other one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stropts.h>
#include <sys/LiS/loop.h>
#include <sys/LiS/minimux.h>
#include <unistd.h>

#define DEPTH 3

#define must(x) ((x) ? (void)0 : lost(#x, __LINE__))

static void
lost(const char *what, int line)
{
	fprintf(stderr, "cascade.c, %d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}

static int
dev(const char *name)
{
	int fd = open(name, O_RDWR);

	must(fd >= 0);
	return fd;
}

static int
str(int fd, int cmd, int arg)
{
	struct strioctl s = { cmd, 0, sizeof arg, (char *)&arg };

	return ioctl(fd, I_STR, &s);
}

static int
loop_minor(int fd)
{
	int m = -1;
	struct strioctl s = { LOOP_GET_DEV, 0, sizeof m, (char *)&m };

	must(ioctl(fd, I_STR, &s) >= 0);
	return m;
}

/* what goes in at @from comes out at @to, as one message, in its band */
static void
through(int from, int to, const char *text)
{
	char cb[40], db[40];
	struct strbuf c = { sizeof cb, strlen(text), (char *)text };
	struct strbuf d = { sizeof db, strlen(text), (char *)text };
	int band = strlen(text) % 2 ? 3 : 0, flags = MSG_BAND;

	must(putpmsg(from, &c, &d, band, flags) == 0);
	c.buf = cb;
	d.buf = db;
	c.len = d.len = -2;
	flags = MSG_ANY;
	band = -1;
	must(getpmsg(to, &c, &d, &band, &flags) == 0);
	must(c.len == (int)strlen(text) && d.len == c.len);
	must(memcmp(cb, text, c.len) == 0 && memcmp(db, text, d.len) == 0);
	must(band == (int)(strlen(text) % 2 ? 3 : 0));
}

/* fill the stream at the top, and find everything below, in order */
static void
flood(int from, int to)
{
	unsigned char block[512], got[512];
	unsigned long sent = 0, seen = 0;
	struct pollfd p = { from, POLLOUT, 0 };
	int n, i;

	must(fcntl(from, F_SETFL, O_NONBLOCK) == 0);
	for (;;) {
		for (i = 0; i < (int)sizeof block; i++)
			block[i] = (sent + i) * 7 / 3;
		n = write(from, block, sizeof block);
		if (n < 0)
			break;
		sent += n;
	}
	must(errno == EAGAIN);
	/* high water marks of three levels: more than one of them holds */
	must(sent > 10240);
	must(poll(&p, 1, 0) == 0);
	while (seen < sent) {
		n = read(to, got, sizeof got);
		must(n > 0);
		for (i = 0; i < n; i++)
			must(got[i] == (unsigned char)((seen + i) * 7 / 3));
		seen += n;
	}
	must(poll(&p, 1, 5000) == 1 && p.revents == POLLOUT);
	must(fcntl(from, F_SETFL, 0) == 0);
}

int
main(void)
{
	int mux[DEPTH], id[DEPTH], loop[2], l[3], lid[3], other, i;
	char c;

	loop[0] = dev("/dev/loop_clone");
	loop[1] = dev("/dev/loop_clone");
	must(str(loop[0], LOOP_SET, loop_minor(loop[1])) == 0);
	for (i = 0; i < DEPTH; i++)
		mux[i] = dev("/dev/mux_clone");

	/* under itself, nothing, a pipe's end as a multiplexor: none of these */
	must(ioctl(mux[0], I_LINK, mux[0]) == -1 && errno == EINVAL);
	must(ioctl(mux[0], I_LINK, 999) == -1 && errno == EBADF);
	must(ioctl(loop[0], I_LINK, mux[0]) == -1 && errno == EINVAL);
	must(ioctl(mux[0], I_UNLINK, 12345) == -1 && errno == EINVAL);

	/* from below: [2] on the loop, [1] on [2], [0] on [1] */
	id[2] = ioctl(mux[2], I_LINK, loop[0]);
	must(id[2] > 0 || (id[2] == 0));
	must(ioctl(mux[1], I_LINK, loop[0]) == -1 && errno == EINVAL);
	id[1] = ioctl(mux[1], I_LINK, mux[2]);
	must(id[1] >= 0 && id[1] != id[2]);
	id[0] = ioctl(mux[0], I_LINK, mux[1]);
	must(id[0] >= 0 && id[0] != id[1]);
	must(write(mux[1], "x", 1) == -1 && errno == EINVAL);
	must(ioctl(mux[2], I_LINK, mux[0]) == -1);

	through(mux[0], loop[1], "down");
	through(loop[1], mux[0], "up");
	through(mux[0], loop[1], "odds!");
	flood(mux[0], loop[1]);
	flood(loop[1], mux[0]);

	/* take it apart in the middle: the lower half goes on by itself */
	must(ioctl(mux[0], I_UNLINK, id[0]) == 0);
	must(ioctl(mux[0], I_UNLINK, id[0]) == -1 && errno == EINVAL);
	through(mux[1], loop[1], "half");
	through(loop[1], mux[1], "way");
	must(ioctl(mux[1], I_UNLINK, MUXID_ALL) == 0);
	through(mux[2], loop[1], "one level");

	/* three below one; all are let go at once, and are themselves again */
	for (i = 0; i < 3; i++) {
		l[i] = dev("/dev/loop_clone");
		lid[i] = ioctl(mux[1], I_LINK, l[i]);
		must(lid[i] >= 0 && (i == 0 || lid[i] != lid[i - 1]));
	}
	must(ioctl(mux[1], I_UNLINK, MUXID_ALL) == 0);
	for (i = 0; i < 3; i++)
		must(loop_minor(l[i]) > 0);

	/* an upper stream is told which of several lower ones it sends to */
	must((lid[0] = ioctl(mux[1], I_LINK, l[0])) >= 0);
	must((lid[1] = ioctl(mux[1], I_LINK, l[1])) >= 0);
	other = dev("/dev/loop_clone");
	must(str(other, LOOP_SET, loop_minor(l[2])) == 0);
	through(other, l[2], "by itself");
	must(str(mux[1], MINIMUX_DOWN, lid[1]) >= 0);
	must(str(mux[1], MINIMUX_UP, lid[0]) >= 0);
	must(str(mux[1], MINIMUX_UP, 4711) == -1 && errno == EINVAL);
	must(ioctl(mux[1], I_UNLINK, lid[0]) == 0);
	must(ioctl(mux[1], I_UNLINK, lid[1]) == 0);

	/* the end of the loop is the end of what stands on it */
	id[1] = ioctl(mux[1], I_LINK, mux[2]);
	must(id[1] >= 0);
	must(close(loop[1]) == 0);
	must(read(mux[1], &c, 1) == 0);

	/* closing takes the links away; the loop has no other side now */
	must(close(mux[1]) == 0);
	must(ioctl(mux[2], I_UNLINK, MUXID_ALL) == 0);
	must(write(loop[0], "x", 1) == 1);
	must(read(loop[0], &c, 1) == -1 && errno == ENXIO);

	/* links that stay belong to the driver, whichever process made them */
	must(ioctl(mux[0], I_PLINK, l[0]) >= 0);
	must((id[0] = ioctl(mux[0], I_PLINK, l[1])) >= 0);
	must(ioctl(mux[0], I_UNLINK, id[0]) == -1 && errno == EINVAL);
	must(close(mux[0]) == 0);
	must(write(l[0], "x", 1) == -1 && errno == EINVAL);
	mux[0] = dev("/dev/mux_clone");
	must(ioctl(mux[0], I_PUNLINK, MUXID_ALL) == 0);
	must(loop_minor(l[0]) > 0 && loop_minor(l[1]) > 0);
	return 0;
}
