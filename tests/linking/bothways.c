/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program outside the domain that reads and writes one end of a pipe, or has
 * an end in the other direction than a pipe of the kernel would give it.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <stropts.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outside.h"

extern char **environ;

/* @file with @end as its standard input and output; it keeps @end, too. */
static pid_t
converse(const char *file, int end, int other)
{
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	T_OK(dup2(end, 0));
	T_OK(dup2(end, 1));
	if (other >= 0)
		T_OK(close(other));
	execlp(file, file, (char *)NULL);
	_exit(127);
}

static void
hears(int fd, const char *text)
{
	char buf[64] = "";
	size_t n = 0;

	while (n < strlen(text)) {
		ssize_t k = T_OK(read(fd, buf + n, sizeof buf - 1 - n));

		T_TRUE(k > 0);
		n += (size_t)k;
	}
	T_STR(buf, text);
}

T_CASE(a_program_that_reads_and_writes_one_end)
{
	for (int i = 0; i < 4; i++) {
		int p[2], e = i & 1; /* the program's end */
		pid_t pid;

		T_OK(pipe(p));
		if (i & 2)
			T_OK(write(p[!e], "early ", 6));
		pid = converse("cat", p[e], p[!e]);
		T_OK(close(p[e]));
		nap(100);
		T_EQ(T_OK(write(p[!e], "hello", 5)), 5);
		hears(p[!e], i & 2 ? "early hello" : "hello");
		T_EQ(T_OK(write(p[!e], "again", 5)), 5);
		hears(p[!e], "again");
		T_OK(close(p[!e]));
		T_EQ(status_of(pid), 0);
	}
}

/* Send @text at @fd in the way number @way.  Return: false if there is none. */
static bool
send_in_way(int way, int fd, const char *text)
{
	struct strbuf data = {.len = (int)strlen(text),
		.buf = (char *)(uintptr_t)text};
	struct iovec iov[2] = {{data.buf, 2},
		{data.buf + 2, (size_t)data.len - 2}};

	switch (way) {
	case 0:
		T_EQ(T_OK(write(fd, text, strlen(text))), data.len);
		return true;
	case 1:
		T_EQ(T_OK(writev(fd, iov, 2)), data.len);
		return true;
	case 2:
		T_OK(putmsg(fd, NULL, &data, 0));
		return true;
	case 3:
		T_OK(putpmsg(fd, NULL, &data, 0, MSG_BAND));
		return true;
	default:
		return false;
	}
}

/* The program that has end @e gets each message at once, not at the next call. */
T_CASE(in_each_way_through_a_module_to_a_program)
{
	for (int e = 0; e < 2; e++) {
		int p[2], from[2];
		pid_t pid;

		T_OK(pipe(p));
		T_OK(pipe2(from, O_CLOEXEC));
		T_OK(ioctl(p[!e], I_PUSH, "nullmod"));
		pid = start("exec cat", p[e], from[1], p[!e]);
		T_OK(close(p[e]));
		T_OK(close(from[1]));
		nap(100);
		/* no call on p[!e] follows, which would send the data */
		for (int way = 0; send_in_way(way, p[!e], "hello"); way++)
			hears(from[0], "hello");
		T_OK(close(p[!e]));
		T_OK(close(from[0]));
		T_EQ(status_of(pid), 0);
	}
}

T_CASE(a_writer_does_not_wait_for_a_program_that_has_ended)
{
	for (int i = 0; i < 4; i++) {
		struct pollfd pfd = {.events = POLLOUT};
		int p[2], e = i & 1;

		T_OK(pipe(p));
		if (i & 2)
			T_OK(write(p[!e], "early ", 6));
		T_EQ(status_of(converse("true", p[e], -1)), 0);
		pfd.fd = p[!e];
		T_EQ(T_OK(poll(&pfd, 1, 1000)), 1);
		T_EQ(pfd.revents, POLLOUT);
		T_EQ(T_OK(write(p[!e], "hello", 5)), 5);
		hears(p[e], i & 2 ? "early hello" : "hello");
		T_OK(close(p[0]));
		T_OK(close(p[1]));
	}
}

/* Another program that only writes does not take the first one's input away. */
T_CASE(a_second_program_beside_one_that_reads_and_writes)
{
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = converse("cat", p[1], p[0]);
	nap(100);
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	hears(p[0], "hello\n");
	T_OK(close(p[1]));
	T_EQ(T_OK(write(p[0], "to cat", 6)), 6);
	hears(p[0], "to cat");
	T_OK(close(p[0]));
	T_EQ(status_of(pid), 0);
}

/* Its standard output is end 0, and its standard error end 1. */
T_CASE(both_ends_of_one_pipe_in_a_program)
{
	for (int spawned = 0; spawned < 2; spawned++) {
		const char *text = "echo to1; echo to0 >&2";
		posix_spawn_file_actions_t fa;
		int p[2];
		pid_t pid;

		T_OK(pipe(p));
		if (spawned) {
			T_EQ(posix_spawn_file_actions_init(&fa), 0);
			T_EQ(posix_spawn_file_actions_adddup2(&fa, p[0], 1), 0);
			T_EQ(posix_spawn_file_actions_adddup2(&fa, p[1], 2), 0);
			T_EQ(posix_spawn(&pid, "/bin/sh", &fa, NULL,
				SHELL(text), environ), 0);
			T_EQ(posix_spawn_file_actions_destroy(&fa), 0);
		} else {
			pid = T_OK(fork());
			if (pid == 0) {
				T_OK(dup2(p[0], 1));
				T_OK(dup2(p[1], 2));
				execv("/bin/sh", SHELL(text));
				_exit(127);
			}
		}
		T_EQ(status_of(pid), 0);
		hears(p[1], "to1\n");
		hears(p[0], "to0\n");
		T_OK(close(p[0]));
		T_OK(close(p[1]));
	}
}

/* The pipe has become one of the kernel, which has one direction. */
T_CASE(the_other_direction_of_a_PLAIN_pipe_fails)
{
	int p[2], status;

	T_OK(pipe(p));
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	status = status_of(converse("cat", p[1], p[0]));
	T_TRUE(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), 1);
	hears(p[0], "hello\n");
	T_EQ(T_OK(write(p[0], "hello", 5)), 5);
	hears(p[1], "hello");
}

/* A program reads end 1 at another number; then the pipe becomes PLAIN. */
T_CASE(a_writer_at_end_0_of_a_PLAIN_pipe_does_not_wait)
{
	struct pollfd pfd = {.events = POLLOUT};
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = start("exec sleep 100", -1, -1, p[0]);
	nap(100);
	T_OK(close(p[1]));
	T_EQ(T_OK(write(p[0], "one", 3)), 3);
	T_EQ(status_of(start("exec true", p[0], -1, -1)), 0);
	pfd.fd = p[0];
	T_EQ(T_OK(poll(&pfd, 1, 1000)), 1);
	T_TRUE(pfd.revents & POLLOUT);
	T_EQ(T_OK(write(p[0], "two", 3)), 3);
	T_EQ(T_OK(write(p[0], "three", 5)), 5);
	T_OK(kill(pid, SIGKILL));
	(void)status_of(pid);
}
