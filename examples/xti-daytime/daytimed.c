/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * daytimed - tells the time to each caller.
 *
 *	daytimed NETID [UADDR [COUNT]]
 *
 * NETID is a transport of netconfig(5), UADDR a universal address: for tcp
 * "127.0.0.1.P1.P2", for a loopback transport any name.  The address it got is
 * written to standard output.  After COUNT callers it ends.
 *
 *	cc daytimed.c $(pkg-config --cflags --libs fast-streams-xti)
 */
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xti.h>

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

/* The caller has hung up: which way? */
static int
hung_up(int fd)
{
	switch (t_look(fd)) {
	case T_ORDREL:
		return t_rcvrel(fd) == 0;
	case T_DISCONNECT:
		return t_rcvdis(fd, NULL) == 0;
	default:
		return 0;
	}
}

/* Tell the time, then wait until the caller is done. */
static void
serve(int fd, int servtype)
{
	time_t now = time(NULL);
	char line[64], rest[64];
	int flags;

	strftime(line, sizeof(line), "%a %b %e %H:%M:%S %Y\r\n",
		localtime(&now));
	if (t_snd(fd, line, (unsigned)strlen(line), 0) < 0)
		return;
	if (servtype == T_COTS_ORD && t_sndrel(fd) < 0)
		return;
	while (t_rcv(fd, rest, sizeof(rest), &flags) > 0)
		;
	if (t_errno != TLOOK || !hung_up(fd))
		t_error("daytimed");
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc > 1 ? getnetconfigent(argv[1]) : NULL;
	int count = argc > 3 ? atoi(argv[3]) : -1, fd, conn;
	struct netbuf *addr;
	struct t_bind *req, *got;
	struct t_call *call;
	struct t_info info;

	if (nc == NULL) {
		nc_perror("usage: daytimed NETID [UADDR [COUNT]]");
		return 2;
	}
	fd = t_open(nc->nc_device, O_RDWR, &info);
	if (fd < 0)
		die("t_open");
	req = t_alloc(fd, T_BIND, T_ALL);
	got = t_alloc(fd, T_BIND, T_ALL);
	call = t_alloc(fd, T_CALL, T_ADDR);
	if (req == NULL || got == NULL || call == NULL)
		die("t_alloc");
	addr = argc > 2 ? uaddr2taddr(nc, argv[2]) : NULL;
	if (addr != NULL)
		req->addr = *addr;
	else
		req->addr.len = 0;
	req->qlen = 5;
	if (t_bind(fd, req, got) < 0)
		die("t_bind");
	printf("%s\n", taddr2uaddr(nc, &got->addr));
	fflush(stdout);
	for (; count != 0; count -= count > 0) {
		if (t_listen(fd, call) < 0)
			die("t_listen");
		conn = t_open(nc->nc_device, O_RDWR, NULL);
		if (conn < 0)
			die("t_open");
		if (t_accept(fd, conn, call) == 0)
			serve(conn, info.servtype);
		else if (t_errno == TLOOK)
			(void)hung_up(fd);
		else
			t_error("t_accept");
		t_close(conn);
	}
	t_close(fd);
	return 0;
}
