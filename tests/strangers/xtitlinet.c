/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * TLI over TCP as it was written before there were prototypes: addresses are
 * bytes, t_errno is declared once more, timod's names are asked for, and the
 * server reads and writes with tirdwr on top of timod.
 */
#include <stdio.h>
#include <sys/types.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/tihdr.h>
#include <sys/timod.h>
#include <tiuser.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int t_errno;
extern char *t_errlist[];
extern int t_nerr;
extern char *t_alloc();

static void
quit(what)
char *what;
{
	t_error(what);
	exit(1);
}

static int
same(a, b)
struct netbuf *a, *b;
{
	unsigned i;

	if (a->len != b->len)
		return 0;
	for (i = 0; i < 8; i++)		/* family, port, address */
		if (a->buf[i] != b->buf[i])
			return 0;
	return 1;
}

static int
client(to)
struct netbuf *to;
{
	struct t_call *call;
	struct netbuf peer;
	char buf[64], name[64];
	int fd, n, flags, got = 0;

	if ((fd = t_open("/dev/tcp", O_RDWR, (struct t_info *)0)) < 0)
		quit("client: t_open");
	if (t_bind(fd, (struct t_bind *)0, (struct t_bind *)0) < 0)
		quit("client: t_bind");
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ADDR);
	if (call == NULL || call->addr.maxlen < to->len)
		quit("client: t_alloc");
	memcpy(call->addr.buf, to->buf, to->len);
	call->addr.len = to->len;
	if (t_connect(fd, call, (struct t_call *)0) < 0)
		quit("client: t_connect");
	peer.buf = name;
	peer.maxlen = sizeof name;
	if (t_getname(fd, &peer, REMOTENAME) < 0 || !same(&peer, to))
		quit("client: t_getname");
	peer.len = 0;
	if (ioctl(fd, TI_GETPEERNAME, &peer) < 0 || !same(&peer, to)) {
		perror("client: TI_GETPEERNAME");
		exit(1);
	}
	if (t_snd(fd, "ls -l\n", 6, 0) != 6 || t_sndrel(fd) < 0)
		quit("client: t_snd");
	while ((n = t_rcv(fd, buf + got, sizeof buf - got, &flags)) > 0)
		got += n;
	if (t_errno != TLOOK || t_look(fd) != T_ORDREL || t_rcvrel(fd) < 0)
		quit("client: t_rcv");
	if (got != 8 || strncmp(buf, "total 0\n", 8) != 0)
		return 1;
	t_free((char *)call, T_CALL);
	return t_close(fd) < 0;
}

static void
serve(fd)
int fd;
{
	char buf[64], name[FMNAMESZ + 1];
	int n, got = 0;

	if (ioctl(fd, I_PUSH, "tirdwr") < 0 || ioctl(fd, I_LOOK, name) < 0 ||
	    strcmp(name, "tirdwr") != 0 || ioctl(fd, I_FIND, "timod") != 1) {
		perror("tirdwr");
		exit(1);
	}
	while ((n = read(fd, buf + got, sizeof buf - got)) > 0)
		got += n;
	if (n < 0 || got != 6 || strncmp(buf, "ls -l\n", 6) != 0) {
		perror("read");
		exit(1);
	}
	if (write(fd, "total 0\n", 8) != 8) {
		perror("write");
		exit(1);
	}
	close(fd);		/* tirdwr releases */
}

int
main(argc, argv)
int argc;
char **argv;
{
	struct t_info info;
	struct t_bind *req, *ret;
	struct t_call *call;
	struct sockaddr_in *sin;
	int lfd, fd, st;

	alarm(20);
	if (t_nerr <= TPROTO || t_errlist[TNOADDR] == NULL)
		return 1;
	if ((lfd = t_open("/dev/tcp", O_RDWR, &info)) < 0)
		quit("t_open");
	if (info.servtype != T_COTS_ORD || info.tsdu != 0 ||
	    info.addr < (int)sizeof *sin)
		return 1;
	req = (struct t_bind *)t_alloc(lfd, T_BIND_STR, T_ALL);
	ret = (struct t_bind *)t_alloc(lfd, T_BIND_STR, T_ALL);
	call = (struct t_call *)t_alloc(lfd, T_CALL_STR, T_ALL);
	if (req == NULL || ret == NULL || call == NULL)
		quit("t_alloc");
	sin = (struct sockaddr_in *)req->addr.buf;
	memset((char *)sin, 0, sizeof *sin);
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	req->addr.len = sizeof *sin;
	req->qlen = 1;
	if (t_bind(lfd, req, ret) < 0)
		quit("t_bind");
	if (ret->qlen != 1 || (ret->addr.buf[2] == 0 && ret->addr.buf[3] == 0))
		return 1;
	switch (fork()) {
	case -1:
		perror("fork");
		exit(1);
	case 0:
		exit(client(&ret->addr));
	}
	if (t_listen(lfd, call) < 0)
		quit("t_listen");
	if ((fd = t_open("/dev/tcp", O_RDWR, (struct t_info *)0)) < 0 ||
	    t_bind(fd, (struct t_bind *)0, (struct t_bind *)0) < 0)
		quit("t_open, t_bind");
	if (t_accept(lfd, fd, call) < 0)
		quit("t_accept");
	serve(fd);
	if (wait(&st) < 0 || st != 0) {
		fprintf(stderr, "%s: client %#x of %d\n", argv[0], st, argc);
		exit(1);
	}
	t_close(lfd);
	return 0;
}
