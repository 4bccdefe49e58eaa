/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A listener in the manner of inetd: it accepts a connection and runs another
 * program for it, which knows no more than a descriptor's number.  That one
 * makes the descriptor an endpoint by t_sync().
 */
#include <xti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEV "/dev/ticotsord"

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

/* The other program: says what it has found, echoes, and releases. */
static int
service(int fd)
{
	struct t_info info;
	struct t_bind *me, *peer;
	char buf[100];
	int n, flags, state;

	if ((state = t_sync(fd)) != T_DATAXFER) {
		fprintf(stderr, "t_sync: %d, t_errno %d\n", state, t_errno);
		return 1;
	}
	if (t_getstate(fd) != T_DATAXFER || t_getinfo(fd, &info) < 0 ||
	    info.servtype != T_COTS_ORD)
		die("t_getinfo");
	me = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	peer = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	if (me == NULL || peer == NULL || t_getprotaddr(fd, me, peer) < 0)
		die("t_getprotaddr");
	if (peer->addr.len != 6 || memcmp(peer->addr.buf, "caller", 6) != 0) {
		fprintf(stderr, "the caller is not himself\n");
		return 1;
	}
	for (;;) {
		flags = 0;
		n = t_rcv(fd, buf, sizeof buf, &flags);
		if (n < 0)
			break;
		if (t_snd(fd, buf, n, flags & T_MORE) != n)
			die("t_snd");
	}
	if (t_errno != TLOOK || t_look(fd) != T_ORDREL)
		die("t_rcv");
	if (t_rcvrel(fd) < 0 || t_getstate(fd) != T_INREL)
		die("t_rcvrel");
	if (t_sndrel(fd) < 0 || t_getstate(fd) != T_IDLE)
		die("t_sndrel");
	/* not everything is an endpoint */
	if (t_sync(2) != -1 || t_errno != TBADF)
		die("t_sync of standard error");
	return t_close(fd) < 0;
}

static int
caller(struct t_bind *to)
{
	struct t_bind me;
	struct t_call call;
	char buf[100];
	int fd, n, got = 0, flags;

	memset(&me, 0, sizeof me);
	me.addr.buf = "caller";
	me.addr.len = 6;
	memset(&call, 0, sizeof call);
	call.addr = to->addr;
	if ((fd = t_open(DEV, O_RDWR, NULL)) < 0 || t_bind(fd, &me, NULL) < 0)
		die("t_bind");
	if (t_connect(fd, &call, NULL) < 0)
		die("t_connect");
	if (t_snd(fd, "what I say", 10, 0) != 10)
		die("t_snd");
	while (got < 10) {
		n = t_rcv(fd, buf + got, sizeof buf - got, &flags);
		if (n < 0)
			die("caller: t_rcv");
		got += n;
	}
	if (t_sndrel(fd) < 0)
		die("t_sndrel");
	if (t_rcv(fd, buf + got, 1, &flags) != -1 || t_errno != TLOOK ||
	    t_rcvrel(fd) < 0)
		die("caller: t_rcvrel");
	t_close(fd);
	return memcmp(buf, "what I say", 10) != 0;
}

int
main(int argc, char **argv)
{
	struct t_bind *req, *ret;
	struct t_call *call;
	char num[12];
	pid_t pid[2];
	int lfd, fd, i, st, bad = 0;

	alarm(20);
	if (argc == 2)
		return service(atoi(argv[1]));
	if ((lfd = t_open(DEV, O_RDWR, NULL)) < 0)
		die("t_open");
	req = (struct t_bind *)t_alloc(lfd, T_BIND, T_ALL);
	ret = (struct t_bind *)t_alloc(lfd, T_BIND, T_ALL);
	call = (struct t_call *)t_alloc(lfd, T_CALL, T_ALL);
	if (req == NULL || ret == NULL || call == NULL)
		die("t_alloc");
	req->qlen = 2;
	if (t_bind(lfd, req, ret) < 0)
		die("t_bind");
	if ((pid[0] = fork()) == 0)
		_exit(caller(ret));
	if (t_listen(lfd, call) < 0)
		die("t_listen");
	if ((fd = t_open(DEV, O_RDWR, NULL)) < 0)
		die("t_open");
	if (t_accept(lfd, fd, call) < 0)
		die("t_accept");
	if ((pid[1] = fork()) == 0) {
		sprintf(num, "%d", dup(fd));
		t_close(fd);
		t_close(lfd);
		execl("/proc/self/exe", "service", num, (char *)0);
		perror("execl");
		_exit(1);
	}
	/* it goes on: another process has it */
	if (t_close(fd) < 0)
		die("t_close");
	for (i = 0; i < 2; i++) {
		if (waitpid(pid[i], &st, 0) < 0 || st != 0) {
			fprintf(stderr, "%s: %#x\n",
			    i == 0 ? "caller" : "service", st);
			bad = 1;
		}
	}
	return bad;
}
