/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * echo - a hundred connections to an echo server.
 *
 *	echo NETID UADDR [CONNECTIONS [ROUNDS]]
 *
 * Each says something else, of another length every time, and what comes back
 * is compared.
 *
 *	cc echo.c $(pkg-config --cflags --libs fast-streams-xti)
 */
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xti.h>

#define MOST 1000

static int fds[MOST];

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

static int
call_up(struct netconfig *nc, struct netbuf *addr)
{
	struct t_call call = {.sequence = 0};
	int fd;

	call.addr = *addr;
	for (;;) {
		fd = t_open(nc->nc_device, O_RDWR, NULL);
		if (fd < 0 || t_bind(fd, NULL, NULL) < 0)
			die(nc->nc_device);
		if (t_connect(fd, &call, NULL) == 0)
			return fd;
		if (t_errno != TLOOK)
			die("t_connect");
		/* refused: too many callers wait, perhaps */
		t_close(fd);
		usleep(1000);
	}
}

static void
say(int fd, const char *what, unsigned len)
{
	while (len > 0) {
		int n = t_snd(fd, (void *)(size_t)what, len, 0);

		if (n < 0)
			die("t_snd");
		what += n;
		len -= (unsigned)n;
	}
}

static void
hear(int fd, const char *what, unsigned len)
{
	char buf[8192];
	int n, flags;

	while (len > 0) {
		n = t_rcv(fd, buf, len < sizeof(buf) ? len : sizeof(buf),
			&flags);
		if (n < 0)
			die("t_rcv");
		if (memcmp(buf, what, (size_t)n) != 0) {
			fprintf(stderr, "echo: another answer\n");
			exit(1);
		}
		what += n;
		len -= (unsigned)n;
	}
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc > 2 ? getnetconfigent(argv[1]) : NULL;
	int conns = argc > 3 ? atoi(argv[3]) : 100;
	int rounds = argc > 4 ? atoi(argv[4]) : 10;
	struct netbuf *addr = nc != NULL ? uaddr2taddr(nc, argv[2]) : NULL;
	static char text[4000];

	if (addr == NULL || conns < 1 || conns > MOST) {
		fprintf(stderr,
			"usage: echo NETID UADDR [CONNECTIONS [ROUNDS]]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(' ' + i % 90);
	for (int i = 0; i < conns; i++)
		fds[i] = call_up(nc, addr);
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < conns; i++)
			say(fds[i], text + i, 1 + (unsigned)(i + r) * 7 % 3000);
		for (int i = 0; i < conns; i++)
			hear(fds[i], text + i, 1 + (unsigned)(i + r) * 7 % 3000);
	}
	for (int i = 0; i < conns; i++) {
		if (t_sndrel(fds[i]) < 0)
			t_snddis(fds[i], NULL);
		t_close(fds[i]);
	}
	printf("%d connections, %d rounds\n", conns, rounds);
	return 0;
}
