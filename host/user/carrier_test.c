/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Carriers: who they are, who holds them, and tokens.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
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
	struct host_carrier c[2] = { { 1, 2 }, { 3, 4 } };
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
