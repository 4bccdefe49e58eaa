/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What servers of System V did: TLI, a connection accepted, tirdwr in place of
 * timod, and a program that knows nothing of it between standard input and
 * standard output.
 */
#include <tiuser.h>
#include <stropts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEV "/dev/ticotsord"

static void
die(char *s)
{
	t_error(s);
	exit(1);
}

int
main(void)
{
	struct t_bind *req, *ret;
	struct t_call *call;
	char buf[64];
	int fd, cfd, n, got = 0, flags;

	if ((fd = t_open(DEV, O_RDWR, NULL)) < 0)
		die("t_open");
	req = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	ret = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL);
	if (!req || !ret || !call)
		die("t_alloc");
	req->qlen = 1;
	if (t_bind(fd, req, ret) < 0 || ret->qlen != 1)
		die("t_bind");
	switch (fork()) {
	case 0:
		if (t_listen(fd, call) < 0)
			die("t_listen");
		if (t_accept(fd, fd, call) < 0)
			die("t_accept");
		if (ioctl(fd, I_POP, 0) < 0 || ioctl(fd, I_PUSH, "tirdwr") < 0) {
			perror("tirdwr");
			exit(1);
		}
		dup2(fd, 0);
		dup2(fd, 1);
		close(fd);
		while ((n = read(0, buf, sizeof buf)) > 0) {
			for (flags = 0; flags < n; flags++)
				if (buf[flags] >= 'a' && buf[flags] <= 'z')
					buf[flags] -= 'a' - 'A';
			if (write(1, buf, n) != n)
				exit(1);
		}
		exit(n != 0);
	case -1:
		die("fork");
	}
	t_close(fd);
	if ((cfd = t_open(DEV, O_RDWR, NULL)) < 0 ||
	    t_bind(cfd, NULL, NULL) < 0)
		die("t_bind");
	call->addr = ret->addr;
	if (t_connect(cfd, call, NULL) < 0)
		die("t_connect");
	if (t_snd(cfd, "shout", 5, 0) != 5)
		die("t_snd");
	while (got < 5) {
		if ((n = t_rcv(cfd, buf + got, sizeof buf - got, &flags)) < 0)
			die("t_rcv");
		got += n;
	}
	if (memcmp(buf, "SHOUT", 5) != 0 || t_sndrel(cfd) < 0)
		die("t_sndrel");
	while (t_rcv(cfd, buf, sizeof buf, &flags) >= 0)
		;
	if (t_look(cfd) != T_ORDREL || t_rcvrel(cfd) < 0)
		die("t_rcvrel");
	wait(&n);
	return n != 0;
}
