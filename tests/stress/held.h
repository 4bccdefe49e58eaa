/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Streams whose other side a process holds that is about to be killed: two
 * minors of `loop' that are connected.  The close of one hangs the other up.
 */
#ifndef TESTS_HELD_H
#define TESTS_HELD_H

#include "posix.h"

#include <sys/loop.h>
#include <sys/stat.h>

#include <stropts.h>

static unsigned minor_next = 10;

static inline int
open_loop(unsigned minor)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/streams/loop/%u", minor);
	return T_OK(open(path, O_RDWR | O_NONBLOCK));
}

static inline void
loop_connect(int fd, int to)
{
	struct stat st;
	dev_t dev;
	struct strioctl ic = { LOOP_SET, 15, sizeof(dev), (char *)&dev };

	T_OK(fstat(to, &st));
	dev = st.st_rdev;
	T_OK(ioctl(fd, I_STR, &ic));
}

static inline int
hung_up(int fd)
{
	return (p_ready(fd, POLLIN, 0) & POLLHUP) != 0;
}

/* A child that holds the other side of ours[0..n), and says when it does. */
static inline pid_t
holder(int ours[], int n)
{
	int tell[2];
	pid_t pid;
	char c;

	p_kernel_pipe(tell);
	for (int i = 0; i < n; i++)
		ours[i] = open_loop(minor_next + 2 * (unsigned)i);
	pid = T_OK(fork());
	if (pid == 0) {
		for (int i = 0; i < n; i++) {
			int fd = open_loop(
				minor_next + 2 * (unsigned)i + 1);

			loop_connect(ours[i], fd);
			T_OK(close(ours[i]));
		}
		T_EQ(write(tell[1], "k", 1), 1);
		for (;;)
			pause();
	}
	T_OK(close(tell[1]));
	T_EQ(read(tell[0], &c, 1), 1);
	T_OK(close(tell[0]));
	minor_next += 2 * (unsigned)n;
	for (int i = 0; i < n; i++)
		T_FALSE(hung_up(ours[i]));
	return pid;
}

#endif
