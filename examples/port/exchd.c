/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * exchd - a telephone exchange: a server on a connld pipe.
 *
 *	exchd PATH
 *
 * It makes a line of two streams of the loop driver, with the module frame on
 * both, and links both ends below the driver hub.  Who opens PATH gets a pipe
 * to the exchange of its own, asks for a channel, and is sent a stream of hub
 * that is bound to it: the first who asks gets one end of the line, the second
 * the other.
 */
#include <sys/types.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>
#include <sys/loop.h>

#include "exch.h"
#include "hub.h"

#define NCLIENT 32
#define NCHAN 256

static int hub; /* holds the links */
static int line[2];
static int side[NCHAN]; /* sides of the channel that were given away */
static const char *path;
static volatile sig_atomic_t stop;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static void
onsignal(int sig)
{
	stop = 1;
}

static void
makeline(void)
{
	int fd[2], i;
	struct stat st;
	dev_t other;
	struct strioctl ic;

	for (i = 0; i < 2; i++)
		if ((fd[i] = open("/dev/streams/clone/loop", O_RDWR)) < 0)
			die("loop");
	if (fstat(fd[1], &st) < 0)
		die("fstat");
	other = st.st_rdev;
	ic.ic_cmd = LOOP_SET;
	ic.ic_timout = 0;
	ic.ic_len = sizeof(other);
	ic.ic_dp = (char *)&other;
	if (ioctl(fd[0], I_STR, &ic) < 0)
		die("LOOP_SET");
	if ((hub = open("/dev/streams/clone/hub", O_RDWR)) < 0)
		die("hub");
	for (i = 0; i < 2; i++) {
		if (ioctl(fd[i], I_PUSH, "frame") < 0)
			die("I_PUSH frame");
		if ((line[i] = ioctl(hub, I_LINK, fd[i])) < 0)
			die("I_LINK");
		close(fd[i]); /* the link keeps it */
	}
}

/* A name for one end of a pipe, of which connld makes new ones. */
static int
makename(void)
{
	int fd[2], file;

	if (pipe(fd) < 0)
		die("pipe");
	if (ioctl(fd[1], I_PUSH, "connld") < 0)
		die("I_PUSH connld");
	(void)fdetach(path); /* a server that was killed leaves its name */
	if ((file = open(path, O_CREAT | O_RDWR, 0600)) < 0)
		die(path);
	close(file);
	if (fattach(fd[1], path) < 0)
		die("fattach");
	close(fd[1]); /* the name keeps it */
	return fd[0];
}

static int
answer(int fd, struct exch *x, const char *text)
{
	struct strbuf ctl, data;

	ctl.len = sizeof(*x);
	ctl.buf = (char *)x;
	data.len = text != NULL ? (int)strlen(text) : -1;
	data.buf = (char *)text;
	return putmsg(fd, &ctl, &data, 0);
}

static void
giveline(int fd, struct exch *x)
{
	struct hubbind hb;
	struct strioctl ic;
	int end = -1, i;

	x->x_error = EINVAL;
	if (x->x_arg >= 0 && x->x_arg < NCHAN)
		end = open("/dev/streams/clone/hub", O_RDWR);
	for (i = 0; end >= 0 && i < 2; i++) {
		hb.hb_line = line[(side[x->x_arg] + i) % 2];
		hb.hb_chan = x->x_arg;
		ic.ic_cmd = HUB_BIND;
		ic.ic_timout = 0;
		ic.ic_len = sizeof(hb);
		ic.ic_dp = (char *)&hb;
		x->x_error = ioctl(end, I_STR, &ic) < 0 ? errno : 0;
		if (x->x_error == 0)
			break;
	}
	if (x->x_error == 0)
		side[x->x_arg]++;
	if (answer(fd, x, NULL) == 0 && x->x_error == 0)
		(void)ioctl(fd, I_SENDFD, end);
	if (end >= 0)
		close(end); /* the client has it now */
}

static void
list(int fd, struct exch *x)
{
	char text[4096];
	int i, n = 0;

	text[0] = '\0';
	for (i = 0; i < NCHAN; i++)
		if (side[i] > 0)
			n += snprintf(text + n, sizeof(text) - n, "%d:%d\n",
				i, side[i]);
	x->x_error = 0;
	(void)answer(fd, x, text);
}

/* One request.  Less than 0: this client is gone, or talks nonsense. */
static int
serve(int fd)
{
	struct exch x;
	struct strbuf ctl;
	int flags = 0, n;

	ctl.maxlen = sizeof(x);
	ctl.buf = (char *)&x;
	n = getmsg(fd, &ctl, NULL, &flags);
	if (n != 0 || ctl.len != sizeof(x))
		return -1;
	switch (x.x_op) {
	case EX_LINE:
		giveline(fd, &x);
		break;
	case EX_LIST:
		list(fd, &x);
		break;
	case EX_STOP:
		if (flags != RS_HIPRI)
			return -1;
		stop = 1;
		x.x_error = 0;
		(void)answer(fd, &x, NULL);
		break;
	default:
		x.x_error = EINVAL;
		(void)answer(fd, &x, NULL);
		break;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct pollfd pfd[1 + NCLIENT];
	struct strrecvfd rfd;
	int n = 1, i;

	if (argc != 2) {
		fprintf(stderr, "usage: exchd PATH\n");
		return 2;
	}
	path = argv[1];
	signal(SIGTERM, onsignal);
	signal(SIGPIPE, SIG_IGN);
	makeline();
	pfd[0].fd = makename();
	pfd[0].events = POLLIN;
	printf("ready\n");
	fflush(stdout);
	while (!stop) {
		if (poll(pfd, n, INFTIM) < 0)
			continue;
		if (pfd[0].revents & POLLIN) {
			if (ioctl(pfd[0].fd, I_RECVFD, &rfd) == 0) {
				if (n == 1 + NCLIENT) {
					close(rfd.fd);
				} else {
					pfd[n].fd = rfd.fd;
					pfd[n].events = POLLIN | POLLPRI;
					pfd[n++].revents = 0;
				}
			}
		}
		for (i = 1; i < n; i++)
			if (pfd[i].revents != 0 && serve(pfd[i].fd) < 0) {
				close(pfd[i].fd);
				pfd[i--] = pfd[--n];
			}
	}
	(void)fdetach(path);
	(void)unlink(path);
	return 0;
}
