/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* phone - asks phoned for a number.  A program of 1990, not yet ported. */
#include <stdio.h>
#include <fcntl.h>
#include <tiuser.h>

#define DEVICE "/dev/ticotsord"
#define SERVER "phone"

extern int t_errno;

die(what)
char *what;
{
	t_error(what);
	exit(1);
}

main(argc, argv)
int argc;
char **argv;
{
	struct t_call *call;
	char buf[64];
	int fd, n, flags;

	if (argc != 2) {
		fprintf(stderr, "usage: phone name\n");
		exit(2);
	}
	if ((fd = t_open(DEVICE, O_RDWR, NULL)) < 0)
		die("t_open");
	if (t_bind(fd, NULL, NULL) < 0)
		die("t_bind");
	if ((call = (struct t_call *)t_alloc(fd, T_CALL, T_ADDR)) == NULL)
		die("t_alloc");
	call->addr.len = strlen(SERVER);
	strcpy(call->addr.buf, SERVER);
	if (t_connect(fd, call, NULL) < 0)
		die("t_connect");
	if (t_snd(fd, argv[1], strlen(argv[1]) + 1, 0) < 0)
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
