/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * phone - asks phoned for a number: original/phone.c, ported.
 *
 *	phone NETID UADDR NAME
 */
#include <fcntl.h>
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiuser.h>

static void
die(char *what)
{
	t_error(what);
	exit(1);
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc == 4 ? getnetconfigent(argv[1]) : NULL;
	struct netbuf *addr = nc != NULL ? uaddr2taddr(nc, argv[2]) : NULL;
	struct t_call *call;
	char buf[64];
	int fd, n, flags;

	if (addr == NULL) {
		fprintf(stderr, "usage: phone netid uaddr name\n");
		exit(2);
	}
	if ((fd = t_open(nc->nc_device, O_RDWR, NULL)) < 0)
		die("t_open");
	if (t_bind(fd, NULL, NULL) < 0)
		die("t_bind");
	if ((call = (struct t_call *)t_alloc(fd, T_CALL, T_ADDR)) == NULL)
		die("t_alloc");
	call->addr.len = addr->len;
	memcpy(call->addr.buf, addr->buf, addr->len);
	if (t_connect(fd, call, NULL) < 0)
		die("t_connect");
	if (t_snd(fd, argv[3], strlen(argv[3]) + 1, 0) < 0)
		die("t_snd");
	while ((n = t_rcv(fd, buf, sizeof buf, &flags)) > 0)
		printf("%.*s", n, buf);
	printf("\n");
	if (t_errno == TLOOK && t_look(fd) == T_ORDREL)
		t_rcvrel(fd);
	t_sndrel(fd);
	t_close(fd);
	exit(0);
}
