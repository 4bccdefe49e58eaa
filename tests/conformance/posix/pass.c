/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A pipe's descriptor sent over a UNIX socket.
 *
 * POSIX sendmsg(), SCM_RIGHTS: the receiver gets a descriptor of the same
 * open file description; while the message is under way the description has
 * one holder more.
 */
#include "posix.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(8 * sizeof(int))];
};

static int
send_fds(int s, const int *fds, int n)
{
	char byte = 'f';
	struct iovec iov = { &byte, 1 };
	union control u;
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u,
		.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int)),
	};
	struct cmsghdr *c;

	memset(&u, 0, sizeof(u));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, (size_t)n * sizeof(int));
	return sendmsg(s, &m, 0) == 1 ? 0 : -1;
}

static int
receive_fds(int s, int *fds, int n, int flags)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union control u;
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u,
		.msg_controllen = sizeof(u),
	};
	struct cmsghdr *c;

	if (recvmsg(s, &m, flags) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS ||
		c->cmsg_len != CMSG_LEN((size_t)n * sizeof(int)))
		return -1;
	memcpy(fds, CMSG_DATA(c), (size_t)n * sizeof(int));
	return 0;
}

static void
socket_pair(int s[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) != 0)
		p_die("socketpair");
}

T_CASE(a_passed_reader_reads_in_a_child_forked_before_the_pipe_was)
{
	int fd[2], s[2], got;
	char buf[8];
	pid_t pid;

	socket_pair(s);
	p_warm_up();
	pid = fork();
	if (pid == 0) {
		T_OK(receive_fds(s[1], &got, 1, 0));
		T_EQ(p_read_all(got, buf, 8), 5u);
		T_MEM(buf, "hello", 5);
		_exit(0);
	}
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[0], 1));
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "hello", 5), 5);
	T_OK(close(fd[1]));
	T_TRUE(p_exited(pid, 0));
}

T_CASE(a_passed_writer_writes_in_a_child_forked_before_the_pipe_was)
{
	int fd[2], s[2], got;
	char buf[8];
	pid_t pid;

	socket_pair(s);
	p_warm_up();
	pid = fork();
	if (pid == 0) {
		T_OK(receive_fds(s[1], &got, 1, 0));
		T_EQ(write(got, "hello", 5), 5);
		_exit(0);
	}
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[1], 1));
	T_OK(close(fd[1]));
	T_EQ(p_read_all(fd[0], buf, 8), 5u);
	T_TRUE(p_exited(pid, 0));
}

/* the number differs, the pipe is the same */
T_CASE(a_descriptor_passed_to_oneself_is_a_duplicate)
{
	int fd[2], s[2], got;
	struct stat a, b;
	char c;

	socket_pair(s);
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[0], 1));
	T_OK(receive_fds(s[1], &got, 1, 0));
	T_NE(got, fd[0]);
	T_OK(fstat(fd[0], &a));
	T_OK(fstat(got, &b));
	T_TRUE(S_ISFIFO(b.st_mode));
	T_EQ(a.st_ino, b.st_ino);
	T_EQ(write(fd[1], "ab", 2), 2);
	T_EQ(read(got, &c, 1), 1);
	T_EQ(c, 'a');
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'b');
	p_nonblock(got, 1);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

/* MSG_CMSG_CLOEXEC: the descriptor's flag, not the description's */
T_CASE(a_descriptor_can_be_received_with_FD_CLOEXEC)
{
	int fd[2], s[2], got;

	socket_pair(s);
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[0], 1));
	T_OK(receive_fds(s[1], &got, 1, MSG_CMSG_CLOEXEC));
	T_EQ(fcntl(got, F_GETFD), FD_CLOEXEC);
	T_OK(send_fds(s[0], &got, 1));
	T_OK(receive_fds(s[1], &got, 1, 0));
	T_EQ(fcntl(got, F_GETFD), 0);
}

/* POSIX: a descriptor in flight keeps the description open */
T_CASE(a_writer_in_flight_is_no_end_of_file_yet)
{
	int fd[2], s[2], got;
	char c;

	socket_pair(s);
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[1], 1));
	T_OK(close(fd[1]));
	p_nonblock(fd[0], 1);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_EQ(p_ready(fd[0], POLLIN, 60), 0);
	T_OK(receive_fds(s[1], &got, 1, 0));
	T_EQ(write(got, "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_OK(close(got));
	T_EQ(read(fd[0], &c, 1), 0);
}

T_CASE(a_reader_in_flight_is_no_EPIPE_yet)
{
	int fd[2], s[2], got;
	char buf[8];

	socket_pair(s);
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[0], 1));
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "abc", 3), 3);
	T_NE(p_ready(fd[1], POLLOUT, 0), 0);
	T_EQ(p_ready(fd[1], 0, 60), 0);
	T_EQ(write(fd[1], "def", 3), 3);
	T_OK(receive_fds(s[1], &got, 1, 0));
	T_EQ(p_read_all(got, buf, 6), 6u);
	T_MEM(buf, "abcdef", 6);
	signal(SIGPIPE, SIG_IGN);
	T_OK(close(got));
	T_ERR(write(fd[1], "x", 1), EPIPE);
}

/* both ends in flight and held by no process: the data waits in the pipe */
T_CASE(a_pipe_wholly_in_flight_keeps_its_data)
{
	int fd[2], s[2], got[2];
	char buf[8];

	socket_pair(s);
	p_pipe(fd);
	T_EQ(write(fd[1], "kept", 4), 4);
	T_OK(send_fds(s[0], fd, 2));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	p_warm_up();
	T_OK(receive_fds(s[1], got, 2, 0));
	T_EQ(read(got[0], buf, 8), 4);
	T_MEM(buf, "kept", 4);
	T_EQ(write(got[1], "more", 4), 4);
	T_EQ(read(got[0], buf, 8), 4);
	T_OK(close(got[1]));
	T_EQ(read(got[0], buf, 8), 0);
}

/* an unreceived message dies with its socket, and the end with it */
T_CASE(a_writer_lost_in_flight_is_an_end_of_file)
{
	struct p_call c;
	int fd[2], s[2];
	char b;

	socket_pair(s);
	p_pipe(fd);
	T_OK(send_fds(s[0], &fd[1], 1));
	T_OK(close(fd[1]));
	p_call(&c, P_READ, fd[0], &b, 1);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(s[0]));
	T_OK(close(s[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 0);
}

T_CASE(a_killed_sender_leaves_the_passed_writer_alive)
{
	int fd[2], s[2], got;
	char c;
	pid_t pid;

	socket_pair(s);
	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		int own[2];

		p_pipe(own);
		T_OK(send_fds(s[0], own, 2));
		kill(getpid(), SIGKILL);
	}
	T_NE(p_wait(pid, P_MS_LONG), -1);
	{
		int both[2];

		T_OK(receive_fds(s[1], both, 2, 0));
		T_EQ(write(both[1], "x", 1), 1);
		T_EQ(read(both[0], &c, 1), 1);
		got = both[0];
		T_OK(close(both[1]));
		T_EQ(read(got, &c, 1), 0);
	}
}

struct passing {
	int listener, result, with;
	char path[108];
};

/* a helper that is not our child: its parent is gone before it connects */
static void
start_stranger(struct passing *p, const char *what, int out)
{
	char *argv[] = { (char *)(uintptr_t)p_helper_path,
		(char[]){ "take" }, p->path, (char *)(uintptr_t)what, NULL };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	pid_t pid;

	/* the abstract name space leaves nothing behind, but the helper
	   takes a path: a socket in a directory of our own */
	snprintf(p->path, sizeof(p->path), "/tmp/posix-pass-%d", getpid());
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", p->path);
	p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(p->listener, (struct sockaddr *)&sun, sizeof(sun)) != 0 ||
		listen(p->listener, 1) != 0)
		p_die("bind %s", p->path);
	pid = fork();
	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		if (out >= 0)
			dup2(out, 1);
		close_range(3, ~0u, 0);
		execv(argv[0], argv);
		_exit(1);
	}
	if (!p_exited(pid, 0))
		p_die("stranger");
	p->with = accept(p->listener, NULL, NULL);
	unlink(p->path);
	if (p->with < 0)
		p_die("accept");
}

/* an unrelated process gets a pipe it never inherited anything of */
T_CASE(a_stranger_writes_to_a_pipe_it_was_passed)
{
	struct passing p;
	char buf[16];
	int fd[2];

	p_warm_up();
	start_stranger(&p, "write", -1);
	p_pipe(fd);
	T_OK(send_fds(p.with, &fd[1], 1));
	T_OK(close(fd[1]));
	T_EQ(p_read_all(fd[0], buf, 16), 9u);
	T_MEM(buf, "from afar", 9);
}

T_CASE(a_stranger_reads_from_a_pipe_it_was_passed)
{
	static char buf[100000];
	int fd[2], k[2];
	struct passing p;
	pid_t pid;

	p_warm_up();
	p_kernel_pipe(k);
	start_stranger(&p, "read", k[1]);
	T_OK(close(k[1]));
	p_pipe(fd);
	p_pattern(buf, sizeof(buf), 0);
	T_EQ(write(fd[1], buf, 1000), 1000);
	T_OK(send_fds(p.with, &fd[0], 1));
	T_OK(close(fd[0]));
	pid = fork();
	if (pid == 0) {
		T_EQ(p_write_all(fd[1], buf + 1000, sizeof(buf) - 1000), 0);
		_exit(0);
	}
	T_OK(close(fd[1]));
	memset(buf, 0, sizeof(buf));
	T_EQ(p_read_all(k[0], buf, sizeof(buf)), sizeof(buf));
	T_EQ(p_pattern_ok(buf, sizeof(buf), 0), sizeof(buf));
	T_EQ(read(k[0], buf, 1), 0);
	T_TRUE(p_exited(pid, 0));
}

/* a pipe may carry on while its ends are handed from process to process */
T_CASE(a_writer_passed_on_fifty_times_writes_one_stream)
{
	int fd[2], s[2], w;
	char buf[64];
	pid_t pid;

	p_pipe(fd);
	socket_pair(s);
	T_OK(send_fds(s[0], &fd[1], 1));
	T_OK(close(fd[1]));
	for (int i = 0; i < 50; i++) {
		char c = (char)('A' + i);

		pid = fork();
		if (pid == 0) {
			T_OK(receive_fds(s[1], &w, 1, 0));
			T_EQ(write(w, &c, 1), 1);
			T_OK(send_fds(s[0], &w, 1));
			_exit(0);
		}
		T_TRUE(p_exited(pid, 0));
	}
	T_EQ(p_read_all(fd[0], buf, 50), 50u);
	for (int i = 0; i < 50; i++)
		T_EQ(buf[i], 'A' + i);
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	T_OK(close(s[0]));
	T_OK(close(s[1]));
	T_EQ(read(fd[0], buf, 1), 0);
}
