/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A pipe that is made when another one has just been closed is a new pipe.  It
 * has no data and no flags of the former one, and a process that holds the
 * former one reads the end of file.
 */
#include "posix.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <sched.h>
#include <spawn.h>

static void
both_closed(int fd[2])
{
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

static void
is_empty_and_open(int fd[2])
{
	char c = 0;

	p_nonblock(fd[0], 1);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	T_EQ(p_ready(fd[1], POLLOUT, 0), POLLOUT);
	T_EQ(write(fd[1], "y", 1), 1);
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'y');
}

T_CASE(data_that_was_not_read_is_not_in_the_next_pipe)
{
	int fd[2];

	for (int i = 0; i < 20; i++) {
		p_pipe(fd);
		is_empty_and_open(fd);
		T_EQ(write(fd[1], "left", 4), 4);
		both_closed(fd);
	}
}

T_CASE(flags_of_a_pipe_are_not_those_of_the_next)
{
	static const int flags[] = {0, O_CLOEXEC, O_NONBLOCK,
		O_CLOEXEC | O_NONBLOCK};
	int fd[2];

	for (size_t i = 0; i < 32; i++) {
		int f = flags[i % 2 == 0 ? i / 8 : i % 8 / 2];

		T_EQ(pipe2(fd, f), 0);
		for (int e = 0; e < 2; e++) {
			T_EQ(fcntl(fd[e], F_GETFD),
				(f & O_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
			T_EQ(fcntl(fd[e], F_GETFL) & O_NONBLOCK,
				f & O_NONBLOCK);
			p_nonblock(fd[e], (int)(i & 1));
		}
		both_closed(fd);
	}
}

T_CASE(many_pipes_closed_in_any_order_and_made_again_do_not_mix)
{
	int fd[12][2];

	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 12; i++)
			p_pipe(fd[i]);
		for (int i = 0; i < 12; i++)
			T_EQ(write(fd[i][1], &i, sizeof i), (ssize_t)sizeof i);
		for (int i = 0; i < 12; i++) {
			int v = -1;

			T_EQ(read(fd[i][0], &v, sizeof v), (ssize_t)sizeof v);
			T_EQ(v, i);
		}
		for (int i = 0; i < 12; i++)
			T_OK(close(fd[(i * 5 + round) % 12][i % 2]));
		for (int i = 0; i < 12; i++)
			T_OK(close(fd[(i * 7) % 12][!p_is_closed(
				fd[(i * 7) % 12][1])]));
	}
}

/* One byte of the child that holds the reader, at the end of file. */
static int
until_end(int rfd, int answer)
{
	char buf[8];
	ssize_t n;

	while ((n = read(rfd, buf, sizeof buf)) > 0)
		;
	return n == 0 && write(answer, "e", 1) == 1 ? 0 : 1;
}

static void
child_saw_the_end(pid_t pid, int answer[2])
{
	char c = 0;

	T_OK(close(answer[1]));
	T_EQ(p_ready(answer[0], POLLIN, P_MS_LONG) & POLLIN, POLLIN);
	T_EQ(read(answer[0], &c, 1), 1);
	T_EQ(c, 'e');
	T_TRUE(p_exited(pid, 0));
	T_OK(close(answer[0]));
}

/* The writer is closed before the child gets the reader, or after. */
static void
child_reads_to_the_end(int before, pid_t (*make)(void))
{
	int fd[2], answer[2], next[2];
	pid_t pid;

	p_kernel_pipe(answer);
	p_pipe(fd);
	if (before)
		T_OK(close(fd[1]));
	pid = make();
	if (pid == 0) {
		if (!before)
			(void)close(fd[1]);
		_exit(until_end(fd[0], answer[1]));
	}
	T_TRUE(pid > 0);
	if (!before)
		T_OK(close(fd[1]));
	T_OK(close(fd[0]));
	/* the child does not hold an end of these, and reads nothing of them */
	for (int i = 0; i < 8; i++) {
		p_pipe(next);
		T_EQ(write(next[1], "wrong", 5), 5);
		T_OK(close(next[1]));
		T_EQ(p_drain(next[0]), 5);
		T_OK(close(next[0]));
	}
	child_saw_the_end(pid, answer);
}

static pid_t
by_number(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

T_CASE(a_child_sees_the_end_of_a_pipe_whose_writer_was_closed)
{
	int fd[2];

	p_pipe(fd);
	both_closed(fd);
	child_reads_to_the_end(1, fork);
	child_reads_to_the_end(0, fork);
	child_reads_to_the_end(1, by_number);
	child_reads_to_the_end(0, by_number);
}

static int clone_fd, clone_answer;

static int
cloned(void *arg)
{
	(void)arg;
	_exit(until_end(clone_fd, clone_answer));
}

T_CASE(a_child_of_clone_sees_the_end_of_a_pipe_whose_writer_was_closed)
{
	static _Alignas(16) char stack[65536];
	int fd[2], answer[2];
	pid_t pid;

	p_pipe(fd);
	both_closed(fd);
	p_kernel_pipe(answer);
	p_pipe(fd);
	T_OK(close(fd[1]));
	clone_fd = fd[0];
	clone_answer = answer[1];
	pid = T_OK(clone(cloned, stack + sizeof stack, SIGCHLD, NULL));
	T_OK(close(fd[0]));
	child_saw_the_end(pid, answer);
}

/* cat(1) is linked with the C library alone. */
T_CASE(a_spawned_program_sees_the_end_of_a_pipe_whose_writer_was_closed)
{
	char *argv[] = { (char[]){ "cat" }, NULL };
	posix_spawn_file_actions_t fa;
	int fd[2], out[2];
	char c;
	pid_t pid;

	p_pipe(fd);
	both_closed(fd);
	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	p_kernel_pipe(out);
	T_OK(close(fd[1]));
	T_EQ(posix_spawn_file_actions_init(&fa), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, fd[0], 0), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, out[1], 1), 0);
	T_EQ(posix_spawnp(&pid, "cat", &fa, NULL, argv, environ), 0);
	T_EQ(posix_spawn_file_actions_destroy(&fa), 0);
	T_OK(close(fd[0]));
	T_OK(close(out[1]));
	T_TRUE(p_ready(out[0], POLLIN, P_MS_LONG) != 0);
	T_EQ(read(out[0], &c, 1), 0);
	T_TRUE(p_exited(pid, 0));
	/* and none of the next ones is its input */
	for (int i = 0; i < 4; i++) {
		p_pipe(fd);
		is_empty_and_open(fd);
		both_closed(fd);
	}
}

static void
pass_fd(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u;
	struct iovec iov = { (char[]){ "x" }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u.room };
	struct cmsghdr *h;

	memset(&u, 0, sizeof u);
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(h), &fd, sizeof fd);
	T_EQ(sendmsg(sock, &m, 0), 1);
}

static int
received_fd(int sock)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u;
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u.room };
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m) != NULL)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

T_CASE(a_receiver_sees_the_end_of_a_pipe_whose_writer_was_closed)
{
	int fd[2], answer[2], sock[2];
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	p_kernel_pipe(answer);
	pid = T_OK(fork());
	if (pid == 0)
		_exit(until_end(received_fd(sock[1]), answer[1]));
	for (int i = 0; i < 2; i++) {
		p_pipe(fd);
		T_OK(close(fd[1]));
		if (i == 1)
			pass_fd(sock[0], fd[0]);
		T_OK(close(fd[0]));
	}
	p_pipe(fd);
	T_EQ(write(fd[1], "wrong", 5), 5);
	child_saw_the_end(pid, answer);
	T_EQ(p_drain(fd[0]), 5);
}

/* Threads that were woken at the former pipe, from read and poll. */
T_CASE(a_pipe_at_which_threads_slept_leaves_nothing_for_the_next)
{
	int fd[2], next[2];

	for (int i = 0; i < 10; i++) {
		struct p_call call;
		char buf[8];

		p_pipe(fd);
		if (i % 2 == 0)
			p_call(&call, P_READ, fd[0], buf, sizeof buf);
		else
			p_call_poll(&call, P_POLL, fd[0], POLLIN);
		T_TRUE(p_call_blocks(&call));
		T_EQ(write(fd[1], "x", 1), 1);
		T_TRUE(p_call_returns(&call, P_MS_LONG));
		both_closed(fd);
		p_pipe(next);
		is_empty_and_open(next);
		both_closed(next);
	}
}

static void *
makes_and_closes(void *arg)
{
	int me = *(int *)arg, fd[2];

	for (int i = 0; i < 2000; i++) {
		int v = me * 10000 + i, got = -1;

		if (pipe(fd) != 0 ||
			write(fd[1], &v, sizeof v) != (ssize_t)sizeof v ||
			read(fd[0], &got, sizeof got) != (ssize_t)sizeof got ||
			got != v || close(fd[i % 2]) != 0 ||
			(i % 2 != 0 && read(fd[0], &got, sizeof got) != 0) ||
			close(fd[!(i % 2)]) != 0)
			return (void *)1;
	}
	return NULL;
}

static void *
forks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || !p_exited(pid, 0))
			return (void *)1;
	}
	return NULL;
}

T_CASE(threads_that_make_and_close_pipes_do_not_mix_them_up)
{
	pthread_t th[4];
	int who[4];
	void *ret;

	for (int i = 0; i < 4; i++) {
		who[i] = i;
		T_EQ(pthread_create(&th[i], NULL,
			i == 3 ? forks : makes_and_closes, &who[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		T_EQ(pthread_join(th[i], &ret), 0);
		T_NULL(ret);
	}
}
