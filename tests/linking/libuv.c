/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * libuv on streams: a poll handle of the program's own, and a child that libuv
 * starts with a stream as its standard output.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "ends.h"
#include "t.h"

T_TARGETS(ENDS_ALL)

#define ROUNDS 100

struct side {
	uv_poll_t h;
	int fd;
	int rounds;
};

static void
ready(uv_poll_t *h, int status, int events)
{
	struct side *s = h->data;
	char buf[16];
	ssize_t n;

	T_EQ(status, 0);
	T_EQ(events, UV_READABLE);
	n = T_OK(read(s->fd, buf, sizeof buf));
	T_EQ(n, 4);
	T_MEM(buf, "ping", 4);
	if (++s->rounds == ROUNDS)
		uv_stop(h->loop);
	else
		T_EQ(T_OK(write(s->fd, buf, 4)), 4);
}

T_CASE(poll_handles_play_ping_pong)
{
	struct side s[2] = {{.rounds = 0}};
	uv_loop_t loop;
	int fd[2];

	ends_open(t_target(), fd);
	T_EQ(uv_loop_init(&loop), 0);
	for (int i = 0; i < 2; i++) {
		s[i].fd = fd[i];
		s[i].h.data = &s[i];
		T_EQ(uv_poll_init(&loop, &s[i].h, fd[i]), 0);
		s[i].h.data = &s[i];
		T_EQ(uv_poll_start(&s[i].h, UV_READABLE, ready), 0);
	}
	T_EQ(T_OK(write(fd[0], "ping", 4)), 4);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	T_EQ(s[1].rounds, ROUNDS);
	for (int i = 0; i < 2; i++)
		uv_close((uv_handle_t *)&s[i].h, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	T_EQ(uv_loop_close(&loop), 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

static char text[64];
static size_t ntext;
static int64_t status_of = -1;

static void
room(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	buf->base = text + ntext;
	buf->len = sizeof text - 1 - ntext;
}

static void
got(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	if (n > 0)
		ntext += (size_t)n;
	else if (n < 0)
		uv_close((uv_handle_t *)s, NULL);
}

static void
exited(uv_process_t *p, int64_t status, int sig)
{
	status_of = status;
	uv_close((uv_handle_t *)p, NULL);
}

T_CASE(a_child_writes_to_a_stream)
{
	uv_stdio_container_t io[2] = {{.flags = UV_IGNORE}};
	char *args[] = {"sh", "-c", "echo hello", NULL};
	uv_process_options_t o = {
		.exit_cb = exited, .file = "sh", .args = args,
		.stdio = io, .stdio_count = 2,
	};
	uv_process_t child;
	uv_pipe_t in;
	uv_loop_t loop;
	int fd[2];

	if (strcmp(t_target(), "pipe") != 0)
		T_SKIP("a child outside the domain has no use for it");
	ends_open("pipe", fd);
	T_OK(fcntl(fd[0], F_SETFD, FD_CLOEXEC));
	T_EQ(uv_loop_init(&loop), 0);
	io[1].flags = UV_INHERIT_FD;
	io[1].data.fd = fd[1];
	T_EQ(uv_spawn(&loop, &child, &o), 0);
	T_OK(close(fd[1]));
	T_EQ(uv_pipe_init(&loop, &in, 0), 0);
	T_EQ(uv_pipe_open(&in, fd[0]), 0);
	T_EQ(uv_read_start((uv_stream_t *)&in, room, got), 0);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	T_STR(text, "hello\n");
	T_EQ(status_of, 0);
	T_EQ(uv_loop_close(&loop), 0);
}
