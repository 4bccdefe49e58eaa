/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tlisend - sends a file to tlirecv.
 *
 *	tlisend NETID FILE UADDR
 *
 *	cc tlisend.c $(pkg-config --cflags --libs fast-streams-xti)
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

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc == 4 ? getnetconfigent(argv[1]) : NULL;
	struct netbuf *addr = nc != NULL ? uaddr2taddr(nc, argv[3]) : NULL;
	struct t_call *call;
	struct t_info info;
	int fd, in, n, at, flags;
	char buf[8192];

	if (addr == NULL) {
		fprintf(stderr, "usage: tlisend NETID FILE UADDR\n");
		return 2;
	}
	in = open(argv[2], O_RDONLY);
	fd = t_open(nc->nc_device, O_RDWR, &info);
	if (fd < 0 || in < 0)
		die(argv[2]);
	if (t_bind(fd, NULL, NULL) < 0)
		die("t_bind");
	call = (struct t_call *)(void *)t_alloc(fd, T_CALL, T_ADDR);
	if (call == NULL)
		die("t_alloc");
	free(call->addr.buf);
	call->addr = *addr;
	if (t_connect(fd, call, NULL) < 0)
		die("t_connect");
	while ((n = (int)read(in, buf, sizeof(buf))) > 0)
		for (at = 0; at < n; at += flags) {
			flags = t_snd(fd, buf + at, (unsigned)(n - at), 0);
			if (flags < 0)
				die("t_snd");
		}
	if (info.servtype != T_COTS_ORD) {
		/* an abort would overtake the data: they must be out first */
		fprintf(stderr, "tlisend: no orderly release\n");
		return 1;
	}
	if (t_sndrel(fd) < 0)
		die("t_sndrel");
	while (t_rcv(fd, buf, sizeof(buf), &flags) >= 0)
		;
	if (t_look(fd) != T_ORDREL || t_rcvrel(fd) < 0)
		die("t_rcvrel");
	t_close(fd);
	return 0;
}
