/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A server and a client of XTI as textbooks have them: everything by
 * t_alloc(), a fork for each caller, t_look() when a call says TLOOK.
 */
#include <xti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROVIDER "/dev/ticotsord"

static int
fatal(char *s)
{
	t_error(s);
	exit(1);
}

static void
child(int conn_fd)
{
	char buf[1024];
	int n, flags;

	for (;;) {
		n = t_rcv(conn_fd, buf, sizeof buf, &flags);
		if (n < 0)
			break;
		if (t_snd(conn_fd, buf, n, 0) != n)
			fatal("t_snd");
	}
	if (t_errno != TLOOK || t_look(conn_fd) != T_ORDREL)
		fatal("t_rcv");
	if (t_rcvrel(conn_fd) < 0 || t_sndrel(conn_fd) < 0)
		fatal("t_rcvrel");
	exit(0);
}

static void
server(int listen_fd, int callers)
{
	struct t_call *call;
	int conn_fd;

	call = (struct t_call *)t_alloc(listen_fd, T_CALL, T_ALL);
	if (call == NULL)
		fatal("t_alloc");
	while (callers-- > 0) {
		if (t_listen(listen_fd, call) < 0)
			fatal("t_listen");
		if ((conn_fd = t_open(PROVIDER, O_RDWR, NULL)) < 0)
			fatal("t_open");
		if (t_bind(conn_fd, NULL, NULL) < 0)
			fatal("t_bind");
		if (t_accept(listen_fd, conn_fd, call) < 0)
			fatal("t_accept");
		switch (fork()) {
		case -1:
			fatal("fork");
		case 0:
			t_close(listen_fd);
			child(conn_fd);
		default:
			t_close(conn_fd);
		}
	}
	while (wait(NULL) > 0)
		;
	t_free((char *)call, T_CALL);
	exit(0);
}

static void
client(struct netbuf *addr, char *text)
{
	struct t_call *call;
	char buf[1024];
	int fd, n, flags, len = strlen(text);

	if ((fd = t_open(PROVIDER, O_RDWR, NULL)) < 0)
		fatal("t_open");
	if (t_bind(fd, NULL, NULL) < 0)
		fatal("t_bind");
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ADDR);
	if (call == NULL)
		fatal("t_alloc");
	memcpy(call->addr.buf, addr->buf, addr->len);
	call->addr.len = addr->len;
	while (t_connect(fd, call, NULL) < 0) {
		if (t_errno != TLOOK || t_look(fd) != T_DISCONNECT)
			fatal("t_connect");
		t_rcvdis(fd, NULL);
		poll(NULL, 0, 1);
	}
	if (t_snd(fd, text, len, 0) != len)
		fatal("t_snd");
	for (n = 0; n < len;)
		n += t_rcv(fd, buf + n, sizeof buf - n, &flags);
	if (memcmp(buf, text, len) != 0)
		fatal("another answer");
	if (t_sndrel(fd) < 0)
		fatal("t_sndrel");
	while (t_rcv(fd, buf, sizeof buf, &flags) >= 0)
		;
	if (t_look(fd) != T_ORDREL || t_rcvrel(fd) < 0)
		fatal("t_rcvrel");
	if (t_unbind(fd) < 0 || t_close(fd) < 0)
		fatal("t_close");
}

int
main(void)
{
	struct t_bind *bind;
	struct t_info info;
	int fd, status;

	if ((fd = t_open(PROVIDER, O_RDWR, &info)) < 0)
		fatal("t_open");
	if (info.servtype != T_COTS_ORD)
		return 1;
	bind = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	if (bind == NULL)
		fatal("t_alloc");
	bind->qlen = 5;
	bind->addr.len = 0;
	if (t_bind(fd, bind, bind) < 0)
		fatal("t_bind");
	if (fork() == 0)
		server(fd, 3);
	t_close(fd);
	client(&bind->addr, "one");
	client(&bind->addr, "and another");
	client(&bind->addr, "and the last one");
	wait(&status);
	return status != 0;
}
