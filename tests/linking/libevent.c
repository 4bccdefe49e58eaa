/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * libevent on streams: an echo by bufferevent at one end, and more than fits
 * sent and received at the other.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "ends.h"
#include "t.h"

T_TARGETS(ENDS_ALL)

#define MUCH (3 << 20)

struct talk {
	struct event_base *base;
	size_t sent, got;
};

static void
echo(struct bufferevent *be, void *arg)
{
	T_EQ(bufferevent_write_buffer(be, bufferevent_get_input(be)), 0);
}

static void
take(struct bufferevent *be, void *arg)
{
	struct talk *t = arg;
	struct evbuffer *in = bufferevent_get_input(be);
	size_t n = evbuffer_get_length(in);
	unsigned char *p = evbuffer_pullup(in, -1);

	for (size_t i = 0; i < n; i++)
		T_EQ(p[i], (unsigned char)((t->got + i) % 251));
	T_EQ(evbuffer_drain(in, n), 0);
	t->got += n;
	if (t->got == MUCH)
		event_base_loopbreak(t->base);
}

static void
failed(struct bufferevent *be, short what, void *arg)
{
	T_FAIL("event %#x, errno %d", what, errno);
}

static struct bufferevent *
on(struct event_base *base, int fd, bufferevent_data_cb read_cb, void *arg)
{
	struct bufferevent *be = bufferevent_socket_new(base, fd, 0);

	T_NOTNULL(be);
	T_EQ(evutil_make_socket_nonblocking(fd), 0);
	bufferevent_setcb(be, read_cb, NULL, failed, arg);
	T_EQ(bufferevent_enable(be, EV_READ | EV_WRITE), 0);
	return be;
}

static void
run_with(const char *method)
{
	struct event_config *cfg = event_config_new();
	static const char *const all[] = {"epoll", "poll", "select"};
	unsigned char *text = malloc(MUCH);
	struct talk t = {.got = 0};
	struct bufferevent *be[2];
	int fd[2];

	for (size_t i = 0; i < 3; i++)
		if (strcmp(all[i], method) != 0)
			T_EQ(event_config_avoid_method(cfg, all[i]), 0);
	ends_open(t_target(), fd);
	t.base = event_base_new_with_config(cfg);
	T_NOTNULL(t.base);
	T_STR(event_base_get_method(t.base), method);
	be[0] = on(t.base, fd[0], take, &t);
	be[1] = on(t.base, fd[1], echo, NULL);
	for (size_t i = 0; i < MUCH; i++)
		text[i] = (unsigned char)(i % 251);
	T_EQ(bufferevent_write(be[0], text, MUCH), 0);
	T_OK(event_base_dispatch(t.base));
	T_EQ(t.got, MUCH);
	bufferevent_free(be[0]);
	bufferevent_free(be[1]);
	event_base_free(t.base);
	event_config_free(cfg);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	free(text);
}

T_CASE(by_epoll)
{
	run_with("epoll");
}

T_CASE(by_poll)
{
	run_with("poll");
}

T_CASE(by_select)
{
	run_with("select");
}
