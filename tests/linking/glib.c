/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * glib on streams: sources of the main loop, channels, and children that glib
 * starts with pipes that glib has made.
 */
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib.h>

#include "ends.h"
#include "t.h"

T_TARGETS(ENDS_ALL)

#define ROUNDS 100

struct side {
	GMainLoop *loop;
	int rounds;
};

static gboolean
ready(gint fd, GIOCondition what, gpointer arg)
{
	struct side *s = arg;
	char buf[16];
	ssize_t n = T_OK(read(fd, buf, sizeof buf));

	T_EQ(what, G_IO_IN);
	T_EQ(n, 4);
	T_MEM(buf, "ping", 4);
	if (++s->rounds == ROUNDS) {
		g_main_loop_quit(s->loop);
		return G_SOURCE_REMOVE;
	}
	T_EQ(T_OK(write(fd, buf, 4)), 4);
	return G_SOURCE_CONTINUE;
}

T_CASE(the_main_loop_plays_ping_pong)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);
	struct side s[2] = {{.loop = loop}, {.loop = loop}};
	int fd[2];

	ends_open(t_target(), fd);
	for (int i = 0; i < 2; i++)
		(void)g_unix_fd_add(fd[i], G_IO_IN, ready, &s[i]);
	T_EQ(T_OK(write(fd[0], "ping", 4)), 4);
	g_main_loop_run(loop);
	T_EQ(s[1].rounds, ROUNDS);
	g_main_loop_unref(loop);
}

T_CASE(a_channel_reads_lines)
{
	GIOChannel *ch;
	gchar *line = NULL;
	gsize n = 0;
	int fd[2];

	ends_open(t_target(), fd);
	T_EQ(T_OK(write(fd[1], "one\ntwo\n", 8)), 8);
	ch = g_io_channel_unix_new(fd[0]);
	T_EQ(g_io_channel_read_line(ch, &line, &n, NULL, NULL),
		G_IO_STATUS_NORMAL);
	T_STR(line, "one\n");
	g_free(line);
	T_EQ(g_io_channel_read_line(ch, &line, &n, NULL, NULL),
		G_IO_STATUS_NORMAL);
	T_STR(line, "two\n");
	g_free(line);
	g_io_channel_unref(ch);
}

T_CASE(what_a_child_says_is_read)
{
	gchar *out = NULL, *err = NULL;
	gint status = -1;

	T_TRUE(g_spawn_command_line_sync("sh -c 'echo hello; echo oh >&2'",
		&out, &err, &status, NULL));
	T_STR(out, "hello\n");
	T_STR(err, "oh\n");
	T_EQ(status, 0);
}

T_CASE(a_child_has_an_input)
{
	char *args[] = {"sh", "-c", "read x; echo \"got $x\"", NULL};
	gint to, from;
	char buf[32] = "";
	GPid pid;

	T_TRUE(g_spawn_async_with_pipes(NULL, args, NULL, G_SPAWN_SEARCH_PATH,
		NULL, NULL, &pid, &to, &from, NULL, NULL));
	T_EQ(T_OK(write(to, "this\n", 5)), 5);
	T_EQ(T_OK(read(from, buf, sizeof buf)), 9);
	T_STR(buf, "got this\n");
	T_OK(close(to));
	T_OK(close(from));
}
