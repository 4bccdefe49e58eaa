/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process is killed while a pipe becomes PLAIN: nothing is lost, and the
 * pipe's other holders go on.  With the library that has crash points.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define SIZE 1000u
#define BEFORE 50u
#define AFTER 50u
#define END (~0u)

static const char *const label[] = {
	"plain:begin", "plain:kept", "plain:flag", "plain:moving",
	"plain:moved",
};

static void
send_some(int fd, uint32_t from, uint32_t n)
{
	unsigned char buf[SIZE];

	for (uint32_t i = from; i < from + n; i++) {
		memset(buf, (int)i, sizeof buf);
		memcpy(buf, &i, sizeof i);
		T_EQ(T_OK(write(fd, buf, sizeof buf)), SIZE);
	}
}

/* All records, in order, and then the end. */
static void
receive(int fd, uint32_t n)
{
	unsigned char buf[SIZE];
	uint32_t i;

	for (uint32_t k = 0; k < n; k++) {
		for (size_t at = 0, got; at < SIZE; at += got) {
			got = (size_t)T_OK(read(fd, buf + at, SIZE - at));
			if (got == 0)
				T_FAIL("the end after %u records", k);
		}
		memcpy(&i, buf, sizeof i);
		T_EQ(i, k);
		T_EQ(buf[SIZE - 1], (unsigned char)k);
	}
	T_EQ(T_OK(read(fd, buf, SIZE)), 0);
}

/* A child that starts `cat' with @in as its input, or @out as its output, and
 * is killed at @at. */
static void
killed(const char *at, int in, int out, int other)
{
	pid_t pid = T_OK(fork());
	int status;

	if (pid == 0) {
		T_OK(close(other));
		T_OK(setenv("STREAMS_CRASH", at, 1));
		if (in >= 0)
			T_OK(dup2(in, 0));
		if (out >= 0)
			T_OK(dup2(out, 1));
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(127);
	}
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		T_FAIL("not killed at %s: %#x", at, (unsigned)status);
}

T_CASE_TIMEOUT(a_member_reads_what_a_killed_starter_has_not, 60)
{
	for (size_t i = 0; i < sizeof label / sizeof *label; i++) {
		int p[2], status;
		pid_t pid;

		T_OK(pipe(p));
		send_some(p[1], 0, BEFORE);
		killed(label[i], p[0], -1, p[1]);
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(p[0]));
			send_some(p[1], BEFORE, AFTER);
			_exit(0);
		}
		T_OK(close(p[1]));
		receive(p[0], BEFORE + AFTER);
		T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
		T_EQ(status, 0);
		T_OK(close(p[0]));
	}
}

T_CASE_TIMEOUT(a_writer_sleeps_while_the_starter_is_killed, 60)
{
	for (size_t i = 0; i < sizeof label / sizeof *label; i++) {
		int p[2], status;
		pid_t pid;

		T_OK(pipe(p));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(p[0]));
			send_some(p[1], 0, 2000); /* more than the queue holds */
			_exit(0);
		}
		for (int k = 0; k < 50; k++)
			t_pause();
		killed(label[i], p[0], -1, p[1]);
		T_OK(close(p[1]));
		receive(p[0], 2000);
		T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
		T_EQ(status, 0);
		T_OK(close(p[0]));
	}
}

/*
 * The writer moves the queue into the kernel's pipe when the reader has found
 * that pipe empty, and has not looked into the queue yet.
 */
static void
moved_meanwhile(uint32_t (*take)(int fd))
{
	int p[2], status;
	pid_t pid;

	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(p[0]));
		send_some(p[1], 0, 2000);
		_exit(0);
	}
	for (int k = 0; k < 50; k++)
		t_pause();
	killed("plain:flag", p[0], -1, p[1]);
	T_OK(close(p[1]));
	T_OK(setenv("STREAMS_DELAY", "plain:looked:300", 1));
	for (uint32_t k = 0; k < 3; k++)
		T_EQ(take(p[0]), k);
	T_OK(setenv("STREAMS_DELAY", "", 1));
	for (uint32_t k = 3; k < 2000; k++)
		T_EQ(take(p[0]), k);
	T_EQ(take(p[0]), END);
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
	T_OK(close(p[0]));
}

static uint32_t
by_read(int fd)
{
	unsigned char buf[SIZE];
	uint32_t i;

	for (size_t at = 0, got; at < SIZE; at += got) {
		got = (size_t)T_OK(read(fd, buf + at, SIZE - at));
		if (got == 0)
			return END;
	}
	memcpy(&i, buf, sizeof i);
	return i;
}

static uint32_t
by_getmsg(int fd)
{
	unsigned char buf[SIZE];
	uint32_t i;

	for (size_t at = 0; at < SIZE;) {
		struct strbuf data = {(int)(SIZE - at), 0, (char *)buf + at};
		int flags = 0;

		T_OK(getmsg(fd, NULL, &data, &flags));
		if (data.len == 0)
			return END;
		at += (size_t)data.len;
	}
	memcpy(&i, buf, sizeof i);
	return i;
}

T_CASE_TIMEOUT(a_writer_moves_the_queue_while_a_reader_looks, 60)
{
	moved_meanwhile(by_read);
}

T_CASE_TIMEOUT(a_writer_moves_the_queue_while_getmsg_looks, 60)
{
	moved_meanwhile(by_getmsg);
}

T_CASE_TIMEOUT(a_starter_of_a_writer_is_killed, 60)
{
	for (size_t i = 0; i < sizeof label / sizeof *label; i++) {
		int p[2];

		T_OK(pipe(p));
		send_some(p[1], 0, BEFORE);
		killed(label[i], -1, p[1], p[0]);
		send_some(p[1], BEFORE, AFTER);
		T_OK(close(p[1]));
		receive(p[0], BEFORE + AFTER);
		T_OK(close(p[0]));
	}
}
