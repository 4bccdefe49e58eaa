/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* phoned - tells each caller a number.  A program of 1990, not yet ported. */
#include <stdio.h>
#include <fcntl.h>
#include <tiuser.h>

#define DEVICE "/dev/ticotsord"
#define SERVER "phone"

extern int t_errno;

struct entry {
	char *name;
	char *number;
} book[] = {
	{ "alice", "4711" },
	{ "bert", "0815" },
	{ NULL, NULL }
};

char *
lookup(name)
char *name;
{
	struct entry *e;

	for (e = book; e->name != NULL; e++)
		if (strcmp(e->name, name) == 0)
			return e->number;
	return "unknown";
}

die(what)
char *what;
{
	t_error(what);
	exit(1);
}

serve(fd)
int fd;
{
	char name[64], *number;
	int flags;

	if (t_rcv(fd, name, sizeof name, &flags) < 0)
		die("t_rcv");
	number = lookup(name);
	if (t_snd(fd, number, strlen(number), 0) < 0)
		die("t_snd");
	t_sndrel(fd);
	t_rcv(fd, name, sizeof name, &flags);
	if (t_errno == TLOOK && t_look(fd) == T_ORDREL)
		t_rcvrel(fd);
	t_close(fd);
}

main(argc, argv)
int argc;
char **argv;
{
	struct t_bind *bind;
	struct t_call *call;
	int fd, conn, count = argc > 1 ? atoi(argv[1]) : -1;

	if ((fd = t_open(DEVICE, O_RDWR, NULL)) < 0)
		die("t_open");
	if ((bind = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL)) == NULL)
		die("t_alloc");
	bind->qlen = 1;
	bind->addr.len = strlen(SERVER);
	strcpy(bind->addr.buf, SERVER);
	if (t_bind(fd, bind, bind) < 0)
		die("t_bind");
	printf("ready\n");
	fflush(stdout);
	if ((call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL)) == NULL)
		die("t_alloc");
	while (count-- != 0) {
		if (t_listen(fd, call) < 0)
			die("t_listen");
		if ((conn = t_open(DEVICE, O_RDWR, NULL)) < 0)
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
