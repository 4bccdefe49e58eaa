/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * call - a server and its client over the transport ticotsord, by XTI.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xti.h>

#define NAME "greeter"

static void
die(const char *what)
{
	t_error(what);
	_exit(1);
}

/* An endpoint of the transport, bound to NAME or to an address of its own. */
static int
endpoint(unsigned qlen)
{
	struct t_bind req = {.qlen = qlen};
	int fd = t_open("/dev/ticotsord", O_RDWR, NULL);

	if (fd < 0)
		die("t_open");
	req.addr.len = qlen != 0 ? sizeof(NAME) - 1 : 0;
	req.addr.buf = NAME;
	if (t_bind(fd, &req, NULL) < 0)
		die("t_bind");
	return fd;
}

static void
server(int listener)
{
	struct t_call *call = t_alloc(listener, T_CALL, T_ALL);
	int conn = endpoint(0), flags;
	char buf[64];
	int n;

	if (call == NULL || t_listen(listener, call) < 0)
		die("t_listen");
	if (t_accept(listener, conn, call) < 0)
		die("t_accept");
	n = t_rcv(conn, buf, sizeof(buf), &flags);
	printf("server: %.*s\n", n, buf);
	fflush(stdout);
	t_snd(conn, "good morning", 12, 0);
	t_sndrel(conn); /* it sends no more; it can still receive */
	n = t_rcv(conn, buf, sizeof(buf), &flags);
	if (n < 0 && t_errno == TLOOK && t_look(conn) == T_ORDREL)
		t_rcvrel(conn); /* the client sends no more either */
	t_close(conn);
}

static void
client(void)
{
	struct t_call to = {.sequence = 0};
	int fd = endpoint(0), flags, n;
	char buf[64];

	to.addr.len = sizeof(NAME) - 1;
	to.addr.buf = NAME;
	if (t_connect(fd, &to, NULL) < 0)
		die("t_connect");
	t_snd(fd, "hello", 5, 0);
	n = t_rcv(fd, buf, sizeof(buf), &flags);
	printf("client: %.*s\n", n, buf);
	n = t_rcv(fd, buf, sizeof(buf), &flags);
	if (n < 0 && t_errno == TLOOK && t_look(fd) == T_ORDREL)
		t_rcvrel(fd);
	t_sndrel(fd);
	t_close(fd);
}

int
main(void)
{
	int listener = endpoint(1);

	if (fork() == 0) {
		t_close(listener);
		client();
		return 0;
	}
	server(listener);
	wait(NULL);
	return 0;
}
