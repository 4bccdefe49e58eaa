/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tlirecv - receives a file, as programs of System V's TLI did.
 *
 *	tlirecv NETID FILE [UADDR]
 *
 * Writes the address it listens at to standard output, waits for tlisend, and
 * writes what comes to FILE.  The connection goes to the endpoint that has
 * listened.
 *
 *	cc tlirecv.c $(pkg-config --cflags --libs fast-streams-xti)
 */
#include <fcntl.h>
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiuser.h>
#include <unistd.h>

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

/* How did it end?  A file is complete when the sender has said so. */
static int
ended(int fd, int servtype)
{
	switch (t_look(fd)) {
	case T_ORDREL:
		if (t_rcvrel(fd) < 0 || t_sndrel(fd) < 0)
			die("release");
		return 1;
	case T_DISCONNECT:
		if (t_rcvdis(fd, NULL) < 0)
			die("t_rcvdis");
		return servtype == T_COTS;
	default:
		return 0;
	}
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc > 2 ? getnetconfigent(argv[1]) : NULL;
	struct t_bind *req, *got;
	struct t_call *call;
	struct t_info info;
	struct netbuf *addr;
	char buf[8192];
	int fd, out, n, flags;

	if (nc == NULL) {
		fprintf(stderr, "usage: tlirecv NETID FILE [UADDR]\n");
		return 2;
	}
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fd = t_open(nc->nc_device, O_RDWR, &info);
	if (fd < 0 || out < 0)
		die(argv[2]);
	req = (struct t_bind *)(void *)t_alloc(fd, T_BIND, T_ALL);
	got = (struct t_bind *)(void *)t_alloc(fd, T_BIND, T_ALL);
	call = (struct t_call *)(void *)t_alloc(fd, T_CALL, T_ADDR | T_OPT);
	if (call == NULL)
		call = (struct t_call *)(void *)t_alloc(fd, T_CALL, T_ALL);
	if (req == NULL || got == NULL || call == NULL)
		die("t_alloc");
	addr = argc > 3 ? uaddr2taddr(nc, argv[3]) : NULL;
	if (addr != NULL)
		req->addr = *addr;
	req->qlen = 1;
	if (t_bind(fd, req, got) < 0)
		die("t_bind");
	printf("%s\n", taddr2uaddr(nc, &got->addr));
	fflush(stdout);
	if (t_listen(fd, call) < 0)
		die("t_listen");
	if (t_accept(fd, fd, call) < 0)
		die("t_accept");
	while ((n = t_rcv(fd, buf, sizeof(buf), &flags)) >= 0)
		if (write(out, buf, (size_t)n) != n)
			die("write");
	if (t_errno != TLOOK || !ended(fd, info.servtype))
		die("t_rcv");
	close(out);
	t_close(fd);
	return 0;
}
