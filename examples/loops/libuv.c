/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stream in the loop of libuv, beside a timer.
 *
 *	cc libuv.c $(pkg-config --cflags --libs fast-streams libuv)
 */

#include <stdio.h>
#include <stropts.h>
#include <unistd.h>
#include <uv.h>

static int fd[2], got;

static void
message(uv_poll_t *poll, int status, int events)
{
	char text[64];
	struct strbuf in = { .maxlen = sizeof text, .buf = text };
	int flags = 0;

	if (status < 0 || getmsg(fd[1], NULL, &in, &flags) == -1)
		return;
	printf("message of %d bytes: %.*s\n", in.len, in.len, text);
	got = 1;
	uv_stop(poll->loop);
}

/* It is sent while the loop waits. */
static void
later(uv_timer_t *timer)
{
	struct strbuf out = { .len = 5, .buf = "hello" };

	(void)putmsg(fd[0], NULL, &out, 0);
}

static void
too_late(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

int
main(void)
{
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t soon, most;
	uv_poll_t poll;

	if (pipe(fd) == -1 || uv_poll_init(loop, &poll, fd[1]) != 0) {
		perror("libuv");
		return 1;
	}
	uv_poll_start(&poll, UV_READABLE, message);
	uv_timer_init(loop, &soon);
	uv_timer_start(&soon, later, 50, 0);
	uv_timer_init(loop, &most);
	uv_timer_start(&most, too_late, 10000, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	return !got;
}
