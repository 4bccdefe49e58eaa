/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Carriers: who they are, who holds them, and tokens.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

T_CASE(a_pair_has_the_flags_asked_for)
{
	static const struct {
		int oflags, fd, fl;
	} rows[] = {
		{ 0, 0, 0 },
		{ O_CLOEXEC, FD_CLOEXEC, 0 },
		{ O_NONBLOCK, 0, O_NONBLOCK },
		{ O_CLOEXEC | O_NONBLOCK, FD_CLOEXEC, O_NONBLOCK },
	};
	struct host_carrier c[2];
	int fd[2];

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(rows); i++) {
		T_EQ(host_carrier_pair(rows[i].oflags, fd, c), 0);
		for (int e = 0; e < 2; e++) {
			T_EQ(fcntl(fd[e], F_GETFD), rows[i].fd);
			T_EQ(fcntl(fd[e], F_GETFL) & O_NONBLOCK, rows[i].fl);
			T_OK(close(fd[e]));
		}
	}
}

T_CASE(no_descriptors_is_emfile)
{
	struct host_carrier c[2] = { { .ino = 2 }, { .ino = 4 } };
	struct rlimit rl = { 4, 4096 };
	int fd[2] = { 7, 8 };

	setup();
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_EQ(host_carrier_pair(0, fd, c), EMFILE);
	T_EQ(fd[0], 7);
	T_EQ((int)c[1].ino, 4);
}

T_CASE(a_carrier_is_the_same_under_every_descriptor)
{
	struct host_carrier c[2], d;
	int fd[2], copy, p[2];

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_TRUE(c[0].cookie != c[1].cookie);
	T_TRUE(c[0].ino != c[1].ino);
	copy = T_OK(dup(fd[0]));
	T_EQ(host_carrier_id(copy, &d), 0);
	T_TRUE(d.cookie == c[0].cookie && d.ino == c[0].ino);
	T_EQ(host_carrier_id(999, &d), EBADF);
	T_OK(pipe(p));
	T_EQ(host_carrier_id(p[0], &d), ENOTSOCK);
	T_EQ(host_carrier_look(p[0]), HOST_C_NVAL);
	T_EQ(host_carrier_look(999), HOST_C_NVAL);
	T_EQ(host_carrier_look(-1), HOST_C_NVAL);
}

T_CASE(a_carrier_lives_as_long_as_a_holder)
{
	struct host_carrier c[2];
	struct host_carrier wrong;
	int fd[2], go[2];
	pid_t pid;

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_TRUE(host_carrier_alive(&c[0]));
	T_TRUE(host_carrier_alive(&c[1]));
	wrong = c[0];
	wrong.cookie++;
	T_FALSE(host_carrier_alive(&wrong));
	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_TRUE(host_carrier_alive(&c[0]));
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	T_FALSE(host_carrier_alive(&c[0]));
	T_FALSE(host_carrier_alive(&c[1]));
}

T_CASE(a_carrier_in_flight_is_alive)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} u = { .h = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (char[]){ 'x' }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u };
	struct host_carrier c[2];
	int fd[2], via[2];

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, via));
	*(int *)(void *)CMSG_DATA(&u.h) = fd[0];
	T_EQ(sendmsg(via[0], &m, 0), 1);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_TRUE(host_carrier_alive(&c[0]));
	T_FALSE(host_carrier_alive(&c[1]));
	T_OK(close(via[0]));
	T_OK(close(via[1]));
	T_SOON(!host_carrier_alive(&c[0]), 5000);
}

T_CASE(a_diagnosis_socket_replaced_by_the_program_is_made_anew)
{
	struct host_carrier c[2];
	int fd[2], diag;

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_TRUE(host_carrier_alive(&c[0]));
	diag = host_fd_get(HOST_FD_DIAG);
	T_TRUE(host_fd_is_ours(diag));
	T_OK(dup2(0, diag));
	T_TRUE(host_carrier_alive(&c[0]));
	T_OK(close(fd[0]));
	T_FALSE(host_carrier_alive(&c[0]));
}

T_CASE(a_token_is_seen_at_the_other_end_only)
{
	struct host_carrier c[2];
	int fd[2];

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_EQ(host_carrier_look(fd[0]), 0);
	T_EQ(host_token_send(fd[1]), 0);
	T_EQ(host_carrier_look(fd[0]), HOST_C_TOKEN);
	T_EQ(host_carrier_look(fd[1]), 0);
	host_token_drain(fd[0]);
	T_EQ(host_carrier_look(fd[0]), 0);
	host_token_drain(fd[0]); /* never blocks */
}

T_CASE(tokens_fill_the_queue_with_eagain)
{
	struct host_carrier c[2];
	int fd[2], n = 0, err;

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	while ((err = host_token_send(fd[1])) == 0)
		T_LT(++n, 1000000);
	T_EQ(err, EAGAIN);
	T_EQ(host_carrier_look(fd[0]), HOST_C_TOKEN);
	host_token_drain(fd[0]);
	T_EQ(host_carrier_look(fd[0]), 0);
	T_EQ(host_token_send(fd[1]), 0);
}

T_CASE(an_end_that_is_gone_is_epipe_without_a_signal)
{
	struct host_carrier c[2];
	int fd[2];

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_EQ(host_token_send(fd[1]), 0); /* left unread: a reset */
	T_OK(close(fd[0]));
	T_EQ(host_carrier_look(fd[1]), HOST_C_HUP);
	T_EQ(host_token_send(fd[1]), EPIPE);
	T_EQ(host_token_send(fd[1]), EPIPE);
	host_token_drain(fd[1]);
	T_EQ(host_carrier_look(fd[1]), HOST_C_HUP);
	T_EQ(host_token_send(999), EPIPE);
}

/* ----------------------------------------------------------------- open */

T_CASE(an_open_carrier_has_the_flags_asked_for)
{
	static const struct {
		int oflags, fd, fl;
	} rows[] = {
		{ 0, 0, 0 },
		{ O_CLOEXEC, FD_CLOEXEC, 0 },
		{ O_NONBLOCK, 0, O_NONBLOCK },
	};
	struct host_carrier c, d;
	int fd;

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(rows); i++) {
		T_EQ(host_carrier_open(rows[i].oflags, &fd, &c), 0);
		T_EQ(fcntl(fd, F_GETFD), rows[i].fd);
		T_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, rows[i].fl);
		T_EQ(c.kind, HOST_CARRIER_OPEN);
		T_EQ(c.addrlen, sizeof c.addr);
		memset(&d, 0xff, sizeof d);
		T_EQ(host_carrier_id(fd, &d), 0);
		T_MEM(&d, &c, sizeof c);
		T_OK(close(fd));
	}
}

T_CASE(no_descriptor_for_an_open_carrier_is_emfile)
{
	struct host_carrier c = { .ino = 4 };
	struct rlimit rl = { 3, 4096 };
	int fd = 7;

	setup();
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_EQ(host_carrier_open(0, &fd, &c), EMFILE);
	T_EQ(fd, 7);
	T_EQ((int)c.ino, 4);
}

T_CASE(a_pair_says_that_it_is_one)
{
	struct host_carrier c[2], d;
	int fd[2];

	setup();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	T_EQ(c[0].kind, HOST_CARRIER_PAIR);
	T_EQ(c[0].addrlen, 0u);
	memset(&d, 0xff, sizeof d);
	T_EQ(host_carrier_id(fd[1], &d), 0);
	T_MEM(&d, &c[1], sizeof d);
}

T_CASE(any_member_can_send_an_open_carrier_a_token)
{
	struct host_call hc = { .fd = -1 };
	struct host_carrier c;
	int fd, status;
	pid_t pid;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_carrier_look(fd), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd));
		up_enter(&hc);
		T_EQ(host_carrier_send(&c), 0);
		host_leave();
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	host_token_drain(fd);
	T_EQ(host_carrier_look(fd), 0);
	host_token_drain(fd); /* never blocks */
}

T_CASE(an_open_carrier_without_holder_refuses_tokens)
{
	struct host_carrier c;
	int fd, copy;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	copy = T_OK(dup(fd));
	T_OK(close(fd));
	T_TRUE(host_carrier_alive(&c));
	T_EQ(host_carrier_send(&c), 0);
	T_OK(close(copy));
	T_FALSE(host_carrier_alive(&c));
	T_EQ(host_carrier_send(&c), ECONNREFUSED);
}

T_CASE(asking_for_holders_leaves_no_token)
{
	struct host_carrier c;
	int fd;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_TRUE(host_carrier_alive(&c));
	T_EQ(host_carrier_look(fd), 0);
}

/* who cannot make a netlink socket asks the address */
T_CASE(without_diagnosis_the_address_tells)
{
	struct host_carrier c;
	struct rlimit rl;
	int fd;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_carrier_send(&c), 0); /* the bell is there */
	host_token_drain(fd);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = (rlim_t)fd + 1;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_EQ(host_fd_get(HOST_FD_DIAG), -1);
	T_TRUE(host_carrier_alive(&c));
	T_EQ(host_fd_get(HOST_FD_DIAG), -1);
	rl.rlim_cur = (rlim_t)fd;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_OK(close(fd));
	T_FALSE(host_carrier_alive(&c));
	T_EQ(host_fd_get(HOST_FD_DIAG), -1);
}

T_CASE(an_open_carriers_queue_fills_with_eagain)
{
	struct host_carrier c;
	int fd, n = 0, err;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	while ((err = host_carrier_send(&c)) == 0)
		T_LT(++n, 1000000);
	T_EQ(err, EAGAIN);
	T_GT(n, 1);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	host_token_drain(fd);
	T_EQ(host_carrier_look(fd), 0);
	T_EQ(host_carrier_send(&c), 0);
}

/* a sender has only so much in the queues of others */
T_CASE(tokens_that_others_leave_unread_stop_no_other_token)
{
	struct host_carrier c;
	int fd, full = 0;

	setup();
	for (int i = 0; i < 600; i++) {
		T_EQ(host_carrier_open(0, &fd, &c), 0);
		T_EQ(host_carrier_send(&c), 0);
		T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
		/* and its own queue is not what is full */
		full += host_carrier_send(&c) == EAGAIN;
	}
	T_EQ(full, 0);
}

/* -------------------------------------------------- descriptors in flight */

/* a file that can be told from others, and its number in it */
static int
numbered(uint64_t n)
{
	int fd = T_OK((int)syscall(SYS_memfd_create, "n", 0));

	T_EQ(write(fd, &n, sizeof n), (ssize_t)sizeof n);
	return fd;
}

static uint64_t
number_of(int fd)
{
	uint64_t n = 0;

	T_EQ(pread(fd, &n, sizeof n, 0), (ssize_t)sizeof n);
	return n;
}

/* What streamsd answers with. */
T_CASE(descriptors_are_sent_to_a_carrier_by_number)
{
	struct host_carrier c, pair[2];
	int fd, p[2], got = -7, n, err;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	for (uint64_t id = 1; id <= 3; id++) {
		T_EQ(host_carrier_send(&c), 0);
		n = numbered(id << 40 | 0xff);
		T_EQ(host_fd_pass(&c, n, id << 40 | 7), 0);
		T_OK(close(n));
	}
	/* tokens, and the first one, are passed over */
	T_EQ(host_fd_take(fd, 2ull << 40 | 7, &got), 0);
	T_TRUE(number_of(got) == (2ull << 40 | 0xff));
	/* another thread may start a program before it is closed on exec */
	T_EQ(T_OK(fcntl(got, F_GETFD)), FD_CLOEXEC);
	T_OK(close(got));
	got = -7;
	T_EQ(host_fd_take(fd, 99, &got), ENOENT);
	T_EQ(got, -7);
	T_EQ(host_fd_take(999, 1, &got), ENOENT);
	T_EQ(host_fd_pass(&c, 999, 1), EBADF);
	while ((err = host_fd_pass(&c, 0, 1)) == 0)
		;
	T_EQ(err, EAGAIN);
	T_OK(close(fd));
	T_EQ(host_fd_pass(&c, 0, 1), ECONNREFUSED);
	T_EQ(host_carrier_pair(0, p, pair), 0);
	T_EQ(host_fd_pass(&pair[0], 0, 1), ECONNREFUSED);
}
