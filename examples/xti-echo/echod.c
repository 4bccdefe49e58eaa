/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * echod - sends back what it gets, to a hundred callers at once.
 *
 *	echod NETID [UADDR [COUNT]]
 *
 * One process, one poll(2): no endpoint ever blocks.  What a caller does not
 * read waits in a buffer of its own, and meanwhile nothing is read from it.
 * After COUNT callers have come and gone it ends.
 *
 *	cc echod.c $(pkg-config --cflags --libs fast-streams-xti)
 */
#include <netconfig.h>
#include <netdir.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xti.h>

#define CALLERS 100

static struct pollfd p[1 + CALLERS]; /* [0]: who listens */
static struct {
	char buf[4096];
	unsigned len, off;
} waiting[1 + CALLERS];
static int n = 1;
static int gone;

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

static void
drop(int i)
{
	t_close(p[i].fd);
	n--;
	gone++;
	p[i] = p[n];
	waiting[i] = waiting[n];
}

/* Return: 0, or -1 when the caller is gone. */
static int
event(int fd)
{
	switch (t_look(fd)) {
	case 0:
	case T_DATA:
	case T_GODATA:
		return 0;
	case T_ORDREL:
		if (t_rcvrel(fd) == 0)
			t_sndrel(fd);
		return -1;
	case T_DISCONNECT:
		t_rcvdis(fd, NULL);
		return -1;
	default:
		return -1;
	}
}

/* Send what waits, then read. */
static int
echo(int i)
{
	int fd = p[i].fd, flags, r;

	for (;;) {
		while (waiting[i].len > 0) {
			r = t_snd(fd, waiting[i].buf + waiting[i].off,
				waiting[i].len, 0);
			if (r < 0) {
				p[i].events = POLLOUT;
				return t_errno == TFLOW ? 0 :
					t_errno == TLOOK ? event(fd) : -1;
			}
			waiting[i].off += (unsigned)r;
			waiting[i].len -= (unsigned)r;
		}
		p[i].events = POLLIN;
		r = t_rcv(fd, waiting[i].buf, sizeof(waiting[i].buf), &flags);
		if (r < 0)
			return t_errno == TNODATA ? 0 :
				t_errno == TLOOK ? event(fd) : -1;
		waiting[i].off = 0;
		waiting[i].len = (unsigned)r;
	}
}

static void
welcome(const char *device, struct t_call *call)
{
	int fd;

	if (t_listen(p[0].fd, call) < 0) {
		if (t_errno == TLOOK)
			t_rcvdis(p[0].fd, NULL);
		return;
	}
	fd = n <= CALLERS ? t_open(device, O_RDWR | O_NONBLOCK, NULL) : -1;
	if (fd < 0) {
		t_snddis(p[0].fd, call);
		return;
	}
	while (t_accept(p[0].fd, fd, call) < 0) {
		/* another caller has come meanwhile: it waits its turn */
		if (t_errno == TLOOK && t_look(p[0].fd) == T_LISTEN) {
			struct t_call more = {.sequence = 0};

			if (t_listen(p[0].fd, &more) == 0)
				t_snddis(p[0].fd, &more);
			continue;
		}
		if (t_errno == TLOOK)
			t_rcvdis(p[0].fd, NULL);
		t_close(fd);
		return;
	}
	p[n].fd = fd;
	p[n].events = POLLIN;
	p[n].revents = POLLIN;
	waiting[n].len = 0;
	n++;
}

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc > 1 ? getnetconfigent(argv[1]) : NULL;
	int count = argc > 3 ? atoi(argv[3]) : -1;
	struct t_bind *req, *got;
	struct netbuf *addr;
	struct t_call *call;

	if (nc == NULL) {
		nc_perror("usage: echod NETID [UADDR [COUNT]]");
		return 2;
	}
	p[0].fd = t_open(nc->nc_device, O_RDWR | O_NONBLOCK, NULL);
	if (p[0].fd < 0)
		die("t_open");
	p[0].events = POLLIN;
	req = t_alloc(p[0].fd, T_BIND, T_ALL);
	got = t_alloc(p[0].fd, T_BIND, T_ALL);
	call = t_alloc(p[0].fd, T_CALL, T_ADDR);
	if (req == NULL || got == NULL || call == NULL)
		die("t_alloc");
	addr = argc > 2 ? uaddr2taddr(nc, argv[2]) : NULL;
	if (addr != NULL)
		req->addr = *addr;
	/* one at a time: so that accept is never held up by another */
	req->qlen = 1;
	if (t_bind(p[0].fd, req, got) < 0)
		die("t_bind");
	printf("%s\n", taddr2uaddr(nc, &got->addr));
	fflush(stdout);
	while (count < 0 || gone < count) {
		if (poll(p, (nfds_t)n, -1) < 0)
			break;
		for (int i = n - 1; i > 0; i--)
			if (p[i].revents != 0 && echo(i) < 0)
				drop(i);
		if (p[0].revents & POLLIN)
			welcome(nc->nc_device, call);
	}
	return 0;
}
