/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A sender dies at a labelled point between the kernel's taking of what
 * waited and its leaving the queue.  docs/networking.md: nothing that was
 * accepted is lost, nothing is sent twice.
 */
#include <stdio.h>

#include "in.h"

static const struct {
	const char *label;
	int n[5];
} points[] = {
	{"ksock:sent", {2, 3, 5, 10, 30}},
	{"queue:linked", {1, 2, 3, 10, 30}},
	{"queue:unlinked", {1, 2, 3, 10, 30}},
};

/* Messages of all sizes until death; the pipe tells what was accepted. */
static void
victim(int fd, int p, const char *label, int n)
{
	static unsigned char buf[6000];
	char env[64];
	uint64_t at = 0;

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv("STREAMS_CRASH", env, 1));
	for (;;) {
		size_t k = 1 + t_rand_below(t_rand_below(8) == 0 ?
			sizeof(buf) : 200), i;

		for (i = 0; i < k; i++)
			buf[i] = in_byte(at + i);
		in_put(fd, NULL, 0, buf, (int)k, 0);
		at += k;
		if (write(p, &at, sizeof(at)) != sizeof(at))
			_exit(1);
	}
}

static void
one(const char *label, int n)
{
	static unsigned char buf[65536];
	int s, fd = in_pair("/dev/tcp", AF_INET, &s), p[2], st;
	uint64_t done = 0, at = 0, got = 0;
	ssize_t k, i;
	pid_t pid;

	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0)
		victim(fd, p[1], label, n);
	T_OK(close(p[1]));
	while (read(p[0], &at, sizeof(at)) == sizeof(at))
		done = at;
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_TRUE(WIFSIGNALED(st) && WTERMSIG(st) == SIGKILL);
	T_OK(close(p[0]));
	T_OK(close(fd));
	while ((k = T_OK(read(s, buf, sizeof(buf)))) > 0)
		for (i = 0; i < k; i++, got++)
			if (buf[i] != in_byte(got))
				T_FAIL("%s:%d: byte %llu is wrong", label, n,
					(unsigned long long)got);
	if (got < done)
		T_FAIL("%s:%d: %llu of %llu bytes came", label, n,
			(unsigned long long)got, (unsigned long long)done);
	T_OK(close(s));
}

#define POINT(name_, i_) \
	T_CASE_TIMEOUT(name_, 60) \
	{ \
		unsigned k; \
\
		for (k = 0; k < 5; k++) \
			one(points[i_].label, points[i_].n[k]); \
	}

POINT(death_after_the_kernel_took_it, 0)
POINT(death_as_something_is_queued, 1)
POINT(death_as_something_leaves_the_queue, 2)
