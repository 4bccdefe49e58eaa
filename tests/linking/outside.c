/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stream's descriptor in a process outside the domain: what such a process
 * writes arrives, what a member writes to it arrives there, and what cannot
 * arrive fails.  The outsiders are the system's programs (sh, cat, head), which
 * are not linked with -lstreams.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outside.h"

extern char **environ;

#define BIG (1 << 20)

pid_t
start(const char *text, int in, int out, int unused)
{
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	if (in >= 0)
		T_OK(dup2(in, 0));
	if (out >= 0)
		T_OK(dup2(out, 1));
	if (in > 2)
		T_OK(close(in));
	if (out > 2)
		T_OK(close(out));
	if (unused >= 0)
		T_OK(close(unused));
	execv("/bin/sh", SHELL(text));
	_exit(127);
}

int
status_of(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	return status;
}

void
nap(unsigned ms)
{
	while (ms-- > 0)
		t_pause();
}

/* Read to the end of file.  Return: bytes, the first @size of them in @buf. */
static size_t
slurp(int fd, char *buf, size_t size)
{
	size_t done = 0;
	char rest[5000];

	for (;;) {
		ssize_t n = T_OK(done < size ? read(fd, buf + done, size - done) :
					       read(fd, rest, sizeof rest));

		if (n == 0)
			return done;
		done += (size_t)n;
	}
}

static void
expect(int fd, const char *text)
{
	char buf[256] = "";
	size_t n = slurp(fd, buf, sizeof buf - 1);

	T_STR(buf, text);
	T_EQ(n, strlen(text));
}

/* ------------------------------------------------- from outside to a member */

T_CASE(what_a_program_writes_arrives)
{
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = start("echo hello", -1, p[1], p[0]);
	T_OK(close(p[1]));
	expect(p[0], "hello\n");
	T_EQ(status_of(pid), 0);
}

T_CASE(what_was_written_before_the_end_arrives_after_it)
{
	int p[2];

	T_OK(pipe(p));
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	T_OK(close(p[1]));
	expect(p[0], "hello\n");
}

T_CASE(zero_bytes_arrive_as_they_are)
{
	char buf[64];
	int p[2];

	T_OK(pipe(p));
	T_EQ(status_of(start("printf 'a\\0b\\0\\0c'", -1, p[1], p[0])), 0);
	T_OK(close(p[1]));
	T_EQ(slurp(p[0], buf, sizeof buf), 6);
	T_MEM(buf, "a\0b\0\0c", 6);
}

T_CASE(much_arrives_and_a_slow_reader_holds_the_writer_up)
{
	size_t n = 0, k;
	char buf[3000];
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = start("head -c 8388608 /dev/zero", -1, p[1], p[0]);
	T_OK(close(p[1]));
	nap(200);
	T_EQ(waitpid(pid, NULL, WNOHANG), 0); /* no buffer holds as much */
	while ((k = (size_t)T_OK(read(p[0], buf, sizeof buf))) != 0)
		n += k;
	T_EQ(n, 8388608);
	T_EQ(status_of(pid), 0);
}

T_CASE(through_modules_too)
{
	int p[2];

	T_OK(pipe(p));
	T_OK(ioctl(p[1], I_PUSH, "nullmod"));
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	T_OK(close(p[1]));
	expect(p[0], "hello\n");
}

T_CASE(a_writer_without_a_reader_fails)
{
	int p[2], status;
	pid_t pid;

	T_OK(pipe(p));
	pid = start("exec yes 2>/dev/null", -1, p[1], p[0]);
	T_OK(close(p[1]));
	T_OK(read(p[0], (char[10]){0}, 10));
	T_OK(close(p[0]));
	status = status_of(pid);
	T_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGPIPE :
				     WEXITSTATUS(status) == 1);
}

T_CASE(a_reader_that_does_not_wait_finds_it)
{
	char buf[16];
	ssize_t n;
	int p[2];

	T_OK(pipe2(p, O_NONBLOCK));
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	n = T_OK(read(p[0], buf, sizeof buf));
	T_EQ(n, 6);
	T_ERR(read(p[0], buf, sizeof buf), EAGAIN);
	T_OK(close(p[1]));
	T_EQ(T_OK(read(p[0], buf, sizeof buf)), 0);
}

T_CASE(a_poller_finds_it)
{
	struct pollfd pfd = {.events = POLLIN};
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pfd.fd = p[0];
	pid = start("sleep 0.2; echo hello", -1, p[1], p[0]);
	T_OK(close(p[1]));
	T_EQ(T_OK(poll(&pfd, 1, 0)), 0);
	T_EQ(T_OK(poll(&pfd, 1, 10000)), 1);
	T_TRUE(pfd.revents & POLLIN);
	expect(p[0], "hello\n");
	T_EQ(status_of(pid), 0);
	T_EQ(T_OK(poll(&pfd, 1, 0)), 1);
	T_TRUE(pfd.revents & POLLHUP);
}

T_CASE(epoll_finds_it)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int p[2], q[2], ep;
	pid_t pid;

	T_OK(pipe(p));
	T_OK(pipe(q)); /* nothing comes here */
	ep = T_OK(epoll_create1(EPOLL_CLOEXEC));
	for (int edge = 0; edge < 2; edge++) {
		ev.data.fd = p[0];
		ev.events = EPOLLIN | (edge ? (uint32_t)EPOLLET : 0u);
		T_OK(epoll_ctl(ep, edge ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, p[0],
			&ev));
		pid = start("sleep 0.1; echo hello", -1, p[1], -1);
		T_EQ(T_OK(epoll_wait(ep, &ev, 1, 10000)), 1);
		T_EQ(ev.data.fd, p[0]);
		T_EQ(status_of(pid), 0);
		T_EQ(T_OK(read(p[0], (char[9]){0}, 9)), 6);
	}
}

T_CASE(getmsg_takes_it)
{
	char text[64];
	struct strbuf data = {.maxlen = sizeof text, .buf = text};
	int p[2], flags = 0;

	T_OK(pipe(p));
	T_EQ(status_of(start("echo hello", -1, p[1], p[0])), 0);
	T_OK(close(p[1]));
	T_OK(getmsg(p[0], NULL, &data, &flags));
	T_EQ(data.len, 6);
	T_MEM(text, "hello\n", 6);
	T_OK(getmsg(p[0], NULL, &data, &flags));
	T_EQ(data.len, 0);
}

/* A member writes to the same end as a program that is none. */
T_CASE(in_the_order_in_which_it_was_written)
{
	int p[2];

	T_OK(pipe(p));
	T_EQ(T_OK(write(p[1], "one\n", 4)), 4);
	T_EQ(status_of(start("echo two", -1, p[1], p[0])), 0);
	T_EQ(T_OK(write(p[1], "three\n", 6)), 6);
	T_EQ(status_of(start("echo four", -1, p[1], p[0])), 0);
	T_OK(close(p[1]));
	expect(p[0], "one\ntwo\nthree\nfour\n");
}

/* ------------------------------------------------- from a member to outside */

T_CASE(what_a_member_writes_arrives_outside)
{
	int to[2], from[2];
	pid_t pid;

	T_OK(pipe(to));
	T_OK(pipe(from));
	pid = start("exec cat", to[0], from[1], to[1]);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	for (int i = 0; i < 3; i++) {
		char buf[16] = "";

		T_EQ(T_OK(write(to[1], "hello", 5)), 5);
		T_EQ(T_OK(read(from[0], buf, sizeof buf)), 5);
		T_STR(buf, "hello");
	}
	T_OK(close(to[1]));
	expect(from[0], "");
	T_EQ(status_of(pid), 0);
}

T_CASE(what_was_written_before_the_program_began_arrives)
{
	int to[2], from[2];
	pid_t pid;

	T_OK(pipe(to));
	T_OK(pipe(from));
	T_EQ(T_OK(write(to[1], "early ", 6)), 6);
	pid = start("exec cat", to[0], from[1], to[1]);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	T_EQ(T_OK(write(to[1], "late", 4)), 4);
	T_OK(close(to[1]));
	expect(from[0], "early late");
	T_EQ(status_of(pid), 0);
}

T_CASE(much_arrives_outside)
{
	char *buf = calloc(1, BIG), count[32] = "";
	int to[2], from[2];
	pid_t pid;

	T_OK(pipe(to));
	T_OK(pipe(from));
	pid = start("sleep 0.2; exec wc -c", to[0], from[1], to[1]);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	for (int i = 0; i < 4; i++)
		T_EQ(T_OK(write(to[1], buf, BIG)), BIG);
	T_OK(close(to[1]));
	T_TRUE(slurp(from[0], count, sizeof count - 1) > 0);
	T_EQ(atoi(count), 4 * BIG);
	T_EQ(status_of(pid), 0);
	free(buf);
}

T_CASE(room_outside_is_what_poll_says)
{
	struct pollfd pfd = {.events = POLLOUT};
	char buf[4096] = {0};
	int to[2];
	pid_t pid;

	T_OK(pipe2(to, O_CLOEXEC));
	pid = start("exec sleep 100", to[0], -1, to[1]);
	T_OK(close(to[0]));
	T_OK(fcntl(to[1], F_SETFL, O_NONBLOCK));
	nap(100);
	while (write(to[1], buf, sizeof buf) > 0)
		;
	T_EQ(errno, EAGAIN);
	pfd.fd = to[1];
	T_EQ(T_OK(poll(&pfd, 1, 0)), 0);
	T_EQ(T_OK(poll(&pfd, 1, 50)), 0);
	T_OK(kill(pid, SIGKILL));
	(void)status_of(pid);
	T_EQ(T_OK(poll(&pfd, 1, 10000)), 1);
	T_TRUE(pfd.revents & (POLLHUP | POLLERR));
	signal(SIGPIPE, SIG_IGN);
	T_ERR(write(to[1], buf, 1), EPIPE);
}

static void
fill_and_wait(bool by_epoll, uint32_t flags)
{
	struct epoll_event ev = {.events = EPOLLOUT | flags};
	struct pollfd pfd = {.events = POLLOUT};
	char buf[4096] = {0}, end[8];
	int to[2], from[2], ep;
	size_t left = 2 * BIG;
	ssize_t n;
	pid_t pid;

	T_OK(pipe2(to, O_CLOEXEC));
	T_OK(pipe2(from, O_CLOEXEC));
	pid = start("exec wc -c", to[0], from[1], -1);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	T_OK(fcntl(to[1], F_SETFL, O_NONBLOCK));
	nap(100);
	pfd.fd = to[1];
	ep = T_OK(epoll_create1(EPOLL_CLOEXEC));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, to[1], &ev));
	while (left != 0) {
		n = write(to[1], buf, left < sizeof buf ? left : sizeof buf);
		if (n > 0) {
			left -= (size_t)n;
			continue;
		}
		T_EQ(errno, EAGAIN);
		if (by_epoll)
			T_EQ(T_OK(epoll_wait(ep, &ev, 1, 10000)), 1);
		else
			T_EQ(T_OK(poll(&pfd, 1, 10000)), 1);
	}
	T_OK(close(to[1]));
	n = T_OK(read(from[0], end, sizeof end));
	T_EQ(n, 8);
	T_MEM(end, "2097152\n", 8);
	T_EQ(status_of(pid), 0);
	T_OK(close(ep));
}

T_CASE(a_writer_by_poll_waits_for_room)
{
	fill_and_wait(false, 0);
}

T_CASE(a_writer_by_epoll_waits_for_room)
{
	fill_and_wait(true, 0);
	fill_and_wait(true, (uint32_t)EPOLLET);
}

T_CASE(a_reader_outside_that_ends_is_noticed)
{
	char buf[4096] = {0};
	int to[2];
	pid_t pid;

	T_OK(pipe(to));
	pid = start("exec head -c 1 >/dev/null", to[0], -1, to[1]);
	T_OK(close(to[0]));
	signal(SIGPIPE, SIG_IGN);
	while (write(to[1], buf, sizeof buf) > 0)
		;
	T_EQ(errno, EPIPE);
	T_EQ(status_of(pid), 0);
}

T_CASE(two_programs_side_by_side)
{
	int a[2], b[2];
	pid_t one, two;

	T_OK(pipe2(a, O_CLOEXEC));
	T_OK(pipe2(b, O_CLOEXEC));
	one = start("printf 'x\\ny\\n'", -1, a[1], -1);
	two = start("exec cat", a[0], b[1], -1);
	T_OK(close(a[0]));
	T_OK(close(a[1]));
	T_OK(close(b[1]));
	expect(b[0], "x\ny\n");
	T_EQ(status_of(one), 0);
	T_EQ(status_of(two), 0);
}

T_CASE(through_a_module_to_outside)
{
	int to[2], from[2];
	pid_t pid;

	T_OK(pipe(to));
	T_OK(pipe(from));
	T_OK(ioctl(to[1], I_PUSH, "nullmod"));
	pid = start("exec cat", to[0], from[1], to[1]);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	nap(100);
	T_EQ(T_OK(write(to[1], "hello", 5)), 5);
	T_OK(close(to[1]));
	expect(from[0], "hello");
	T_EQ(status_of(pid), 0);
}

/* A pipe's end that a program has as its input is not lost to its maker. */
T_CASE(what_a_program_has_not_read_is_there_for_the_maker)
{
	char buf[16] = "";
	int p[2];

	T_OK(pipe(p));
	T_EQ(status_of(start("exit 0", p[0], -1, -1)), 0);
	T_EQ(T_OK(write(p[1], "hello", 5)), 5);
	T_EQ(T_OK(read(p[0], buf, sizeof buf)), 5);
	T_STR(buf, "hello");
}

static void
spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
	const posix_spawnattr_t *, char *const *, char *const *))
{
	posix_spawn_file_actions_t fa;
	int to[2], from[2];
	pid_t pid;

	T_OK(pipe2(to, O_CLOEXEC));
	T_OK(pipe2(from, O_CLOEXEC));
	T_EQ(posix_spawn_file_actions_init(&fa), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, to[0], 0), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, from[1], 1), 0);
	T_EQ(spawn(&pid, "/bin/sh", &fa, NULL, SHELL("cat; echo end"), environ),
		0);
	T_EQ(posix_spawn_file_actions_destroy(&fa), 0);
	T_OK(close(to[0]));
	T_OK(close(from[1]));
	T_EQ(T_OK(write(to[1], "hello ", 6)), 6);
	T_OK(close(to[1]));
	expect(from[0], "hello end\n");
	T_EQ(status_of(pid), 0);
}

T_CASE(by_posix_spawn)
{
	spawned(posix_spawn);
	spawned(posix_spawnp);
}

T_CASE(system_has_our_input_and_output)
{
	int in[2], out[2];
	char buf[16] = "";

	T_OK(pipe2(in, O_CLOEXEC));
	T_OK(pipe2(out, O_CLOEXEC));
	T_OK(dup2(in[0], 0));
	T_EQ(T_OK(write(in[1], "first\nsecond\n", 13)), 13);
	T_OK(dup2(out[1], 1));
	T_EQ(system("read x; echo \"got $x\""), 0);
	T_EQ(T_OK(read(out[0], buf, sizeof buf)), 10);
	T_STR(buf, "got first\n");
	/* the shell took one line */
	memset(buf, 0, sizeof buf);
	T_EQ(T_OK(read(0, buf, sizeof buf)), 7);
	T_STR(buf, "second\n");
}

/* ------------------------------------- at other numbers than 0, 1 and 2 */

/* A shell that reads a line from descriptor 7, without the writing end. */
static pid_t
at_seven(int p[2])
{
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	T_OK(dup2(p[0], 7));
	T_OK(close(p[0]));
	T_OK(close(p[1]));
	execv("/bin/sh", SHELL("read x <&7; test \"$x\" = secret"));
	_exit(127);
}

T_CASE(what_is_closed_after_it_was_written_arrives_at_any_number)
{
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = at_seven(p);
	T_OK(close(p[0]));
	nap(200);
	T_EQ(T_OK(write(p[1], "secret\n", 7)), 7);
	T_OK(close(p[1]));
	T_EQ(status_of(pid), 0);
}

T_CASE(a_writer_that_waits_for_an_answer_reaches_any_number)
{
	int p[2];
	pid_t pid;

	T_OK(pipe(p));
	pid = at_seven(p);
	T_OK(close(p[0]));
	nap(200);
	T_EQ(T_OK(write(p[1], "secret\n", 7)), 7);
	T_EQ(T_OK(read(p[1], (char[1]){0}, 1)), 0); /* until the shell ends */
	T_EQ(status_of(pid), 0);
}

T_CASE(a_message_that_no_member_can_get_fails)
{
	struct strbuf ctl = {.len = 4, .buf = "ctl"};
	int p[2];
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	T_OK(pipe(p));
	for (int fd = 0; fd < 8; fd += 7) {
		T_OK(putmsg(p[1], &ctl, NULL, 0)); /* for us */
		pid = fd == 0 ? start("exec sleep 100", p[0], -1, p[1]) :
				at_seven(p);
		nap(200);
		T_OK(putmsg(p[1], &ctl, NULL, 0)); /* we have it as well */
		if (fd == 0) {
			T_OK(kill(pid, SIGKILL));
			(void)status_of(pid);
		}
	}
	T_OK(close(p[0]));
	T_ERR(putmsg(p[1], &ctl, NULL, 0), EPIPE);
	T_OK(kill(pid, SIGKILL));
	(void)status_of(pid);
}
