/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A domain whose memory is used up: which calls say so, and that they work again
 * when messages have been read.  Each case has a domain of its own, of the least
 * size.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include "t.h"

#define PIPES 4096
#define LONG 65536
#define SHORT 4000

static int fd[PIPES][2];
static int pipes;
static char buf[LONG];

static void
begin(void)
{
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setenv("STREAMS_SIZE", "16m", 1));
}

static int
puts_band(int to, int len)
{
	struct strbuf data = {.len = len, .buf = buf};

	return putpmsg(to, NULL, &data, 1, MSG_BAND);
}

static int
puts_long(int to, int len)
{
	return (int)write(to, buf, (size_t)len);
}

/* Fill pipes by @put until there is no memory. */
static void
fill(int (*put)(int to, int len), int len)
{
	int err = 0;

	while (err != ENOSR) {
		T_LT(pipes, PIPES);
		if (pipe2(fd[pipes], O_NONBLOCK) == -1) {
			T_EQ(errno, ENOSR);
			return;
		}
		while (put(fd[pipes][1], len) != -1)
			;
		err = errno;
		if (err != EAGAIN)
			T_EQ(err, ENOSR);
		pipes++;
	}
}

static void
drain(int first, int last)
{
	for (int i = first; i < last; i++)
		while (read(fd[i][0], buf, sizeof(buf)) > 0)
			;
}

/* streams(7), Memory: they do not wait, though the descriptor blocks */
T_CASE(a_write_into_a_full_domain_is_ENOSR)
{
	struct strbuf data = {.len = LONG, .buf = buf};
	int p[2];

	begin();
	T_OK(pipe(p));
	fill(puts_long, LONG);
	T_ERR(write(p[1], buf, LONG), ENOSR);
	T_ERR(putmsg(p[1], NULL, &data, 0), ENOSR);
	T_ERR(putpmsg(p[1], NULL, &data, 1, MSG_BAND), ENOSR);
	drain(0, pipes);
	T_EQ(write(p[1], buf, LONG), LONG);
	T_EQ(read(p[0], buf, LONG), LONG);
	T_OK(putmsg(p[1], NULL, &data, 0));
}

/* streams(7), Memory: a write that has written some says how much */
T_CASE(a_write_that_fills_the_domain_returns_what_it_wrote)
{
	static char large[6 * LONG];
	int p[2];
	ssize_t n;

	begin();
	T_OK(pipe(p));
	fill(puts_long, LONG);
	/* memory for some of it; the pipe has room for all */
	T_EQ(read(fd[0][0], buf, LONG), LONG);
	T_EQ(read(fd[0][0], buf, LONG), LONG);
	n = T_OK(write(p[1], large, sizeof(large)));
	T_GE(n, LONG);
	T_LT(n, (ssize_t)sizeof(large));
	T_ERR(write(p[1], large, sizeof(large)), ENOSR);
}

/* docs/memory.md: what long messages had is given to short ones */
T_CASE(memory_of_long_messages_serves_short_ones)
{
	int longs, n = 0, p[2];

	begin();
	T_OK(pipe2(p, O_NONBLOCK));
	fill(puts_long, LONG);
	longs = pipes;
	fill(puts_band, SHORT);
	T_ERR(puts_band(p[1], SHORT), ENOSR);
	drain(0, longs);
	while (n < 100 && puts_band(p[1], SHORT) == 0)
		n++;
	T_EQ(n, 100);
}
