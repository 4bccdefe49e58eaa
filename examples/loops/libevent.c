/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stream in the loop of libevent, beside a descriptor that is none.
 *
 *	cc libevent.c $(pkg-config --cflags --libs fast-streams libevent)
 */

#include <event2/event.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int other;

/* Each message is announced through the eventfd, which ends the loop. */
static void
message(evutil_socket_t fd, short what, void *arg)
{
	char text[64];
	struct strbuf in = { .maxlen = sizeof text, .buf = text };
	int flags = 0;

	if (getmsg(fd, NULL, &in, &flags) == -1)
		return;
	printf("message of %d bytes: %.*s\n", in.len, in.len, text);
	(void)eventfd_write(other, 1);
}

static void
announced(evutil_socket_t fd, short what, void *arg)
{
	printf("eventfd\n");
	event_base_loopbreak(arg);
}

/* It is sent while the loop waits. */
static void
later(evutil_socket_t fd, short what, void *arg)
{
	struct strbuf out = { .len = 5, .buf = "hello" };

	(void)putmsg(*(int *)arg, NULL, &out, 0);
}

int
main(void)
{
	struct event_base *base = event_base_new();
	struct timeval soon = { .tv_usec = 50000 };
	struct timeval most = { .tv_sec = 10 };
	int fd[2];

	other = eventfd(0, EFD_NONBLOCK);
	if (base == NULL || other == -1 || pipe(fd) == -1) {
		perror("libevent");
		return 1;
	}
	event_add(event_new(base, fd[1], EV_READ, message, NULL), NULL);
	event_add(event_new(base, other, EV_READ, announced, base), NULL);
	event_base_once(base, -1, EV_TIMEOUT, later, fd, &soon);
	event_base_loopexit(base, &most);
	event_base_dispatch(base);
	return !event_base_got_break(base);
}
