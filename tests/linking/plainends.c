/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Members that use an end of a PLAIN pipe, and ends at other numbers than those
 * of the standard files; see plain.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <str/annot.h>

#include "pipeline.h"

extern char **environ;

/* A program that writes @n bytes into @p. */
static void
program_writes(int p[2], const char *n)
{
	status("gen", run(PROG("gen", "1", n), -1, p[1], SHUT(p[0], p[1])));
}

ROW(a_member_asks_for_the_number_of_bytes)
{
	int p[2], n = -1;

	mk(p);
	program_writes(p, "5000");
	note("poll %d\n", poll(&(struct pollfd){p[0], POLLIN, 0}, 1, 5000));
	note("ioctl %d", ioctl(p[0], FIONREAD, &n));
	note(": %d\n", n);
	close(p[1]);
	get(p[0]);
}

/* --------------------------------------------------- a spawned member */

#define VAR "LINKING_SPAWNED"

/* This program, started by spawn_member(). */
STR_CONSTRUCTOR static void
spawned(void)
{
	char buf[16];
	ssize_t n;

	if (getenv(VAR) == NULL)
		return;
	n = read(0, buf, sizeof buf);
	_exit(n == 5 ? 3 : n < 0 ? errno : 0);
}

static void
writes_late(int fd)
{
	nap(100);
	put(fd, 5);
}

static void
spawn_member(int in)
{
	const char *const *argv = ARGS("/proc/self/exe");
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int err;

	posix_spawn_file_actions_init(&fa);
	if (in != 0)
		posix_spawn_file_actions_adddup2(&fa, in, 0);
	setenv(VAR, "1", 1);
	err = posix_spawn(&pid, argv[0], &fa, NULL, (char *const *)argv,
		environ);
	unsetenv(VAR);
	posix_spawn_file_actions_destroy(&fa);
	note("spawn %d\n", err);
	status("spawned", pid);
}

ROW(a_spawned_member_waits_for_data)
{
	for (int i = 0; i < 3; i++) {
		int p[2];
		pid_t w;

		mk(p);
		program_writes(p, "5");
		nap(5);
		(void)!read(p[0], (char[5]){0}, 5);
		w = member(writes_late, p[1], SHUT(p[0]));
		if (i != 0)
			(void)fcntl(p[0], F_SETFD, FD_CLOEXEC);
		if (i == 2)
			dup2(p[0], 0);
		spawn_member(i == 2 ? 0 : p[0]);
		status("writer", w);
		close(p[0]);
		close(p[1]);
	}
}

/* A number that an action has changed does not mean the pipe any more. */
ROW(actions_that_take_an_end_s_number)
{
	const char *const *argv = SH("cat 2>&1 || echo bad; echo to a pipe");
	posix_spawn_file_actions_t fa;
	int p[2];
	pid_t pid;

	mk(p);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, p[1], 1);
	posix_spawn_file_actions_addopen(&fa, p[1], "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, p[1], 0);
	note("spawn %d\n", posix_spawn(&pid, argv[0], &fa, NULL,
		(char *const *)argv, environ));
	posix_spawn_file_actions_destroy(&fa);
	close(p[1]);
	get(p[0]);
	status("program", pid);
}

/* ------------------------------------------------------- other numbers */

/* The writer gets its end before the pipe's reader is started. */
ROW(a_writer_at_a_number_of_dup)
{
	int p[2], from[2];
	pid_t w, r;

	mk(p);
	mk(from);
	w = fork();
	if (w == 0) {
		dup2(p[1], 5);
		close(p[0]);
		close(p[1]);
		execl("/bin/sh", "sh", "-c", "sleep 0.2; echo hello >&5",
			(char *)NULL);
		_exit(127);
	}
	nap(50);
	r = run(ARGS("cat"), p[0], from[1], SHUT(p[0], p[1], from[0], from[1]));
	close(p[0]);
	close(p[1]);
	close(from[1]);
	get(from[0]);
	status("writer", w);
	status("cat", r);
}

ROW(an_end_of_a_PLAIN_pipe_in_a_message)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u = {.room = {0}};
	struct iovec iov = {(char[]){'x'}, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int sv[2], p[2], from[2];
	char num[8];
	pid_t pid;

	mk(p);
	mk(from);
	program_writes(p, "5");
	(void)!read(p[0], (char[5]){0}, 5);
	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	snprintf(num, sizeof num, "%d", sv[1]);
	pid = run(PROG("take", num, "sum", "9"), -1, from[1],
		SHUT(sv[0], p[0], p[1], from[0], from[1]));
	close(sv[1]);
	close(from[1]);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &p[0], sizeof(int));
	note("sendmsg %zd\n", sendmsg(sv[0], &m, 0));
	memcpy(&p[0], CMSG_DATA(h), sizeof(int));
	close(p[0]);
	nap(100);
	put(p[1], 3000);
	close(p[1]);
	get(from[0]);
	status("program", pid);
}
