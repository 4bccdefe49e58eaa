/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * phoned - tells each caller a number: original/phoned.c, ported.
 *
 *	phoned NETID UADDR [COUNT]
 */
#include <fcntl.h>
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiuser.h>

struct entry {
	char *name;
	char *number;
} book[] = {
	{ "alice", "4711" },
	{ "bert", "0815" },
	{ NULL, NULL }
};

static char *
lookup(char *name)
{
	struct entry *e;

	for (e = book; e->name != NULL; e++)
		if (strcmp(e->name, name) == 0)
			return e->number;
	return "unknown";
}

static void
die(char *what)
{
	t_error(what);
	exit(1);
}

static void
serve(int fd)
{
	char name[64], *number;
	int flags, n, len = 0;

	/* a byte stream: the name is complete when its NUL has come */
	do {
		n = t_rcv(fd, name + len, sizeof name - len, &flags);
		if (n < 0)
			die("t_rcv");
		len += n;
	} while (name[len - 1] != '\0' && len < (int)sizeof name);
	name[sizeof name - 1] = '\0';
	number = lookup(name);
	if (t_snd(fd, number, strlen(number), 0) < 0)
		die("t_snd");
	t_sndrel(fd);
	t_rcv(fd, name, sizeof name, &flags);
	if (t_errno == TLOOK && t_look(fd) == T_ORDREL)
		t_rcvrel(fd);
	t_close(fd);
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc > 2 ? getnetconfigent(argv[1]) : NULL;
	struct netbuf *addr = nc != NULL ? uaddr2taddr(nc, argv[2]) : NULL;
	int fd, conn, count = argc > 3 ? atoi(argv[3]) : -1;
	struct t_bind *bind;
	struct t_call *call;

	if (addr == NULL) {
		fprintf(stderr, "usage: phoned netid uaddr [count]\n");
		exit(2);
	}
	if ((fd = t_open(nc->nc_device, O_RDWR, NULL)) < 0)
		die("t_open");
	if ((bind = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL)) == NULL)
		die("t_alloc");
	bind->qlen = 1;
	bind->addr.len = addr->len;
	memcpy(bind->addr.buf, addr->buf, addr->len);
	if (t_bind(fd, bind, bind) < 0)
		die("t_bind");
	printf("%s\n", taddr2uaddr(nc, &bind->addr));
	fflush(stdout);
	if ((call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL)) == NULL)
		die("t_alloc");
	while (count-- != 0) {
		if (t_listen(fd, call) < 0)
			die("t_listen");
		if ((conn = t_open(nc->nc_device, O_RDWR, NULL)) < 0)
			die("t_open");
		if (t_bind(conn, NULL, NULL) < 0)
			die("t_bind");
		if (t_accept(fd, conn, call) < 0) {
			if (t_errno != TLOOK)
				die("t_accept");
			t_rcvdis(fd, NULL); /* the caller has gone */
			t_close(conn);
			continue;
		}
		serve(conn);
	}
	exit(0);
}
