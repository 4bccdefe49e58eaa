/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One process, one poll(), many callers: an upper-casing server of XTI on tcp
 * of this machine, and its callers, some of them impatient or rude.
 */
#include <xti.h>
#include <xti_inet.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLERS	8
#define MAXFD	(CALLERS + 1)

static struct pollfd fds[MAXFD];
static int nfds = 1, served, urgent, waiting = CALLERS;

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

static void
drop(int i)
{
	t_close(fds[i].fd);
	fds[i] = fds[--nfds];
	waiting--;
}

static struct t_call *calls[CALLERS];

/* What came in while nothing was accepted; the others are kept. */
static void
lookat(void)
{
	struct t_discon dis;
	int i;

	memset(&dis, 0, sizeof dis);
	switch (t_look(fds[0].fd)) {
	case T_LISTEN:
		for (i = 0; calls[i] != NULL; i++)
			;
		calls[i] = (struct t_call *)t_alloc(fds[0].fd, T_CALL, T_ALL);
		if (calls[i] == NULL)
			die("t_alloc");
		if (t_listen(fds[0].fd, calls[i]) < 0)
			die("t_listen");
		break;
	case T_DISCONNECT:
		if (t_rcvdis(fds[0].fd, &dis) < 0)
			die("t_rcvdis");
		for (i = 0; i < CALLERS; i++)
			if (calls[i] != NULL &&
			    calls[i]->sequence == dis.sequence) {
				t_free((char *)calls[i], T_CALL);
				calls[i] = NULL;
				waiting--;
			}
		break;
	default:
		die("t_look");
	}
}

static void
newcalls(void)
{
	int i, fd;

	lookat();
	for (i = 0; i < CALLERS;) {
		if (calls[i] == NULL) {
			i++;
			continue;
		}
		if ((fd = t_open("/dev/tcp", O_RDWR|O_NONBLOCK, NULL)) < 0)
			die("t_open");
		while (calls[i] != NULL && t_accept(fds[0].fd, fd, calls[i]) < 0) {
			if (t_errno != TLOOK)
				die("t_accept");
			lookat();
		}
		if (calls[i] == NULL) {
			t_close(fd);
			continue;
		}
		t_free((char *)calls[i], T_CALL);
		calls[i] = NULL;
		fds[nfds].fd = fd;
		fds[nfds].events = POLLIN|POLLRDNORM|POLLRDBAND|POLLPRI;
		nfds++;
		i = 0;		/* more may have come */
	}
}

static void
serve(int i)
{
	char buf[256];
	int n, k, flags, released = 0;

	for (;;) {
		flags = 0;
		n = t_rcv(fds[i].fd, buf, sizeof buf, &flags);
		if (n < 0)
			break;
		if (flags & T_EXPEDITED)
			urgent++;
		for (k = 0; k < n; k++)
			buf[k] = toupper(buf[k]);
		while (t_snd(fds[i].fd, buf, n, 0) != n) {
			/* it has sent all it had: we may go on */
			if (t_errno != TLOOK ||
			    t_look(fds[i].fd) != T_ORDREL)
				die("t_snd");
			if (t_rcvrel(fds[i].fd) < 0)
				die("t_rcvrel");
			released = 1;
		}
		served += n;
		if (released) {
			if (t_sndrel(fds[i].fd) < 0)
				die("t_sndrel");
			drop(i);
			return;
		}
	}
	if (t_errno == TNODATA)
		return;
	if (t_errno != TLOOK)
		die("t_rcv");
	switch (t_look(fds[i].fd)) {
	case T_ORDREL:
		if (t_rcvrel(fds[i].fd) < 0 || t_sndrel(fds[i].fd) < 0)
			die("release");
		drop(i);
		break;
	case T_DISCONNECT:
		t_rcvdis(fds[i].fd, NULL);
		drop(i);
		break;
	default:
		die("t_look");
	}
}

/* With Sockets: the other end need not be XTI. */
static int
caller(struct sockaddr_in *sin, int kind)
{
	struct linger l = { 1, 0 };
	char buf[64];
	int s, n, got;

	s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (struct sockaddr *)sin, sizeof *sin) < 0)
		return (2);
	if (kind == 1) {		/* leaves without a word */
		setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof l);
		close(s);
		return (0);
	}
	if (kind == 2)
		send(s, "!", 1, MSG_OOB);
	if (send(s, "hello, world", 12, 0) != 12)
		return (3);
	shutdown(s, SHUT_WR);
	for (got = 0; (n = recv(s, buf + got, sizeof buf - got, 0)) > 0;)
		got += n;
	if (n < 0 || got < 12)
		return (4);
	close(s);
	return (memcmp(buf + got - 12, "HELLO, WORLD", 12) == 0 ? 0 : 5);
}

int
main(void)
{
	struct sockaddr_in sin;
	struct t_bind req, ret;
	pid_t pid[CALLERS];
	int i, n, st, turns = 0;

	alarm(25);
	if ((fds[0].fd = t_open("/dev/tcp", O_RDWR|O_NONBLOCK, NULL)) < 0)
		die("t_open");
	memset(&sin, 0, sizeof sin);
	sin.sin_family = AF_INET;
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	req.addr.buf = ret.addr.buf = (char *)&sin;
	req.addr.len = ret.addr.maxlen = req.addr.maxlen = sizeof sin;
	req.qlen = 5;
	if (t_bind(fds[0].fd, &req, &ret) < 0)
		die("t_bind");
	if (ret.qlen < 1 || sin.sin_port == 0) {
		fprintf(stderr, "qlen %d, port %d\n", ret.qlen, sin.sin_port);
		return (1);
	}
	fds[0].events = POLLIN;
	for (i = 0; i < CALLERS; i++)
		if ((pid[i] = fork()) == 0)
			_exit(caller(&sin, i % 3));
	while (waiting > 0) {
		n = poll(fds, nfds, -1);
		if (n < 0) {
			perror("poll");
			return (1);
		}
		if (++turns > 1000) {
			fprintf(stderr, "poll() returns for nothing\n");
			return (1);
		}
		for (i = nfds - 1; i > 0; i--)
			if (fds[i].revents != 0)
				serve(i);
		if (fds[0].revents != 0)
			newcalls();
	}
	for (i = 0; i < CALLERS; i++)
		if (waitpid(pid[i], &st, 0) != pid[i] || st != 0) {
			fprintf(stderr, "caller %d: %#x\n", i, st);
			return (1);
		}
	if (t_unbind(fds[0].fd) < 0 || t_close(fds[0].fd) < 0)
		die("t_close");
	return (0);
}
