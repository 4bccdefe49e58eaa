/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * frtry - frame on one end of a pipe, and bytes cut anywhere at the other.
 * With an argument, write until it is stuck, and stay so.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include "frame.h"

static void
check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	static const char wire[] = "??\176\0\5hello\24\176\0\0\0\176\0\3abc\46";
	struct strioctl ic;
	struct frstat st;
	struct pollfd pfd;
	int fd[2], ticks = 2, n, i;
	char buf[64] = "";

	check(pipe(fd) == 0, "pipe");
	check(ioctl(fd[0], I_PUSH, "frame") == 0, "I_PUSH frame");
	check(ioctl(fd[0], I_SRDOPT, RMSGN) == 0, "I_SRDOPT");
	while (argc > 1) /* no reader: to be looked at with strtop */
		check(write(fd[0], buf, sizeof(buf)) > 0, "write");
	ic.ic_cmd = FR_TIMO;
	ic.ic_timout = 0;
	ic.ic_len = sizeof(ticks);
	ic.ic_dp = (char *)&ticks;
	check(ioctl(fd[0], I_STR, &ic) == 0, "FR_TIMO");

	/* out: a frame */
	check(write(fd[0], "hello", 5) == 5, "write");
	n = read(fd[1], buf, sizeof(buf));
	check(n == 9 && memcmp(buf, wire + 2, 9) == 0, "frame");

	/* in: byte by byte */
	for (i = 0; i < (int)sizeof(wire) - 1; i++)
		check(write(fd[1], wire + i, 1) == 1, "byte");
	n = read(fd[0], buf, sizeof(buf));
	check(n == 5 && memcmp(buf, "hello", 5) == 0, "first");
	check(read(fd[0], buf, sizeof(buf)) == 0, "empty one");
	n = read(fd[0], buf, sizeof(buf));
	check(n == 3 && memcmp(buf, "abc", 3) == 0, "third");

	/* half a frame is given up after a while, and does no harm */
	check(write(fd[1], wire + 2, 4) == 4, "half");
	do {
		check(poll(NULL, 0, 5) == 0, "poll");
		check(ioctl(fd[0], FR_STAT, &st) == 0, "FR_STAT");
	} while (st.late == 0);
	check(write(fd[1], wire + 2, 9) == 9, "whole");
	pfd.fd = fd[0];
	pfd.events = POLLIN;
	check(poll(&pfd, 1, 5000) == 1, "poll");
	n = read(fd[0], buf, sizeof(buf));
	check(n == 5 && memcmp(buf, "hello", 5) == 0, "after it");

	check(ioctl(fd[0], FR_STAT, &st) == 0, "FR_STAT");
	printf("sent %d, received %d, bad %d, late %d\n", st.sent,
		st.received, st.bad, st.late);
	return st.sent == 1 && st.received == 4 && st.bad == 2 ? 0 : 1;
}
