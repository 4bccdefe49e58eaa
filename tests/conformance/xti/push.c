/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data that a driver gathers before it sends it: its order, and T_PUSH.
 */
#include "xt.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <xti_inet.h>

/* A provider that has no use for the options sends the data in its turn. */
XT_CASE(CO, data_with_options_follows_data)
{
	struct option o = {.h = {.len = sizeof(o.h) + sizeof(o.v[0]),
		.level = INET_TCP, .name = T_TCP_NODELAY}};
	struct t_optmgmt om = {.opt = {.len = o.h.len, .buf = &o}};
	char buf[8];
	int fd[2];

	if (xt->whole)
		T_SKIP("it has use for options");
	xt_pair(fd);
	for (int i = 0; i < 100; i++) {
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ab", 2, 0)), 2);
		T_EQ(T_TOK(t_snd(fd[0], (char *)"c", 1, 0)), 1);
		T_EQ(T_TOK(t_sndopt(fd[0], &om, (char *)"d", 1, 0)), 1);
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ef", 2, 0)), 2);
		xt_rcv_all(fd[1], buf, 6);
		T_MEM(buf, "abcdef", 6);
	}
}

/* A connection of an endpoint, which is *ret_fd, with a socket of the kernel. */
static int
kernel_peer(int *ret_fd)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	int l = T_OK(socket(AF_INET, SOCK_STREAM, 0)), s;
	struct xt_addr to = {.len = sizeof(sin)};

	T_OK(bind(l, (struct sockaddr *)&sin, len));
	T_OK(listen(l, 1));
	T_OK(getsockname(l, (struct sockaddr *)&sin, &len));
	memcpy(to.buf, &sin, sizeof(sin));
	*ret_fd = xt_bound(1, 0);
	xt_call(*ret_fd, &to);
	T_EVENT(*ret_fd, T_CONNECT);
	T_TOK(t_rcvconnect(*ret_fd, NULL));
	xt_block(*ret_fd, 1);
	s = T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
	return s;
}

/*
 * Wait 2 s for @want bytes at @s, without a call of the library, which would
 * send what is gathered.  Return: how many have arrived.
 */
static long
arrives(int s, char *buf, long want)
{
	struct timespec ms = {0, 1000000};
	long done = 0, n;

	for (int i = 0; i < 2000 && done < want; i++) {
		n = syscall(SYS_recvfrom, s, buf + done, want - done,
			MSG_DONTWAIT, NULL, NULL);
		if (n > 0)
			done += n;
		else
			(void)syscall(SYS_nanosleep, &ms, NULL);
	}
	return done;
}

/* Data that follows other data at once is gathered, except with T_PUSH. */
XT_CASE(CO, pushed_data_is_sent_at_once_by_every_call)
{
	struct option o = {.h = {.len = sizeof(o.h) + sizeof(o.v[0]),
		.level = INET_TCP, .name = T_TCP_NODELAY}};
	struct t_optmgmt om = {.opt = {.len = o.h.len, .buf = &o}};
	struct t_iovec v = {(char *)"v", 1};
	char buf[8];
	int fd, s;

	if (!xt->inet || xt->whole)
		T_SKIP("its peer cannot be a socket");
	/* which would send the data after some time */
	T_OK(setenv("STREAMS_DAEMON", "/nonexistent", 1));
	s = kernel_peer(&fd);
	for (int call = 0; call < 4; call++) {
		T_EQ(T_TOK(t_snd(fd, (char *)"ab", 2, 0)), 2);
		T_EQ(T_TOK(call == 0 ? t_snd(fd, v.iov_base, 1, T_PUSH) :
			call == 1    ? t_sndv(fd, &v, 1, T_PUSH) :
			call == 2    ? t_sndopt(fd, &om, v.iov_base, 1, T_PUSH) :
				       t_sndvopt(fd, &om, &v, 1, T_PUSH)), 1);
		T_EQ(arrives(s, buf, 3), 3);
		T_MEM(buf, "abv", 3);
	}
}
