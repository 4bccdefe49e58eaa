/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2) and epoll on endpoints: which events say what, to whom, and when
 * they are over.
 */
#include "xt.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define READS (POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND)

enum { SOON = 5000, SILENCE = 30 };

/* What poll() says within @ms of @events on @fd. */
static int
says(int fd, int events, int ms)
{
	struct pollfd p = {.fd = fd, .events = (short)events};

	return T_OK(poll(&p, 1, ms)) == 0 ? 0 : p.revents;
}

static void
takes(int fd, int n, int want)
{
	char buf[64];
	int flags = 0;

	T_EQ(t_rcv(fd, buf, sizeof(buf), &flags), n);
	T_EQ(flags & T_EXPEDITED, want);
}

XT_CASE(CO, poll_says_data_by_in_and_rdnorm)
{
	int fd[2];

	xt_pair(fd);
	T_EQ(says(fd[1], READS, 0), 0);
	T_EQ(t_snd(fd[0], "abc", 3, 0), 3);
	T_EQ(says(fd[1], READS, SOON), POLLIN | POLLRDNORM);
	T_EQ(says(fd[1], POLLRDBAND | POLLPRI, 0), 0);
	T_EQ(says(fd[1], POLLRDNORM, 0), POLLRDNORM);
	takes(fd[1], 3, 0);
	T_EQ(says(fd[1], READS, 0), 0);
}

XT_CASE(CO, poll_says_expedited_data_by_rdband)
{
	int fd[2];

	if (!xt->expedited)
		T_SKIP("no expedited data");
	xt_pair(fd);
	T_EQ(t_snd(fd[0], "!", 1, T_EXPEDITED), 1);
	T_EQ(says(fd[1], READS, SOON), POLLIN | POLLRDBAND);
	T_EQ(says(fd[1], POLLRDNORM, 0), 0);
	takes(fd[1], 1, T_EXPEDITED);
	T_EQ(says(fd[1], READS, 0), 0);
}

/* A sender is not told of its own; nor of acknowledgements of requests */
XT_CASE(CO, poll_says_nothing_of_ones_own_doings)
{
	struct t_info info;
	int fd[2];

	xt_pair(fd);
	T_EQ(t_snd(fd[0], "abc", 3, 0), 3);
	T_TOK(t_getinfo(fd[0], &info));
	T_EQ(says(fd[0], READS, SILENCE), 0);
	T_EQ(says(fd[0], POLLOUT | READS, 0), POLLOUT);
	takes(fd[1], 3, 0);
	T_EQ(says(fd[0], READS, SILENCE), 0);
}

XT_CASE(CO, poll_says_room_by_out_and_wrnorm)
{
	static char buf[32768];
	int fd[2];

	xt_pair(fd);
	T_EQ(says(fd[0], POLLOUT | POLLWRNORM, 0), POLLOUT | POLLWRNORM);
	xt_block(fd[0], 0);
	while (t_snd(fd[0], buf, sizeof(buf), 0) > 0)
		;
	T_EQ(t_errno, TFLOW);
	T_EQ(says(fd[0], POLLOUT | POLLWRNORM, 0), 0);
}

/* The end of a connection is something to be looked at, and stays so */
XT_CASE(CO, poll_says_a_disconnection_by_in)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EQ(says(fd[1], POLLIN, SOON), POLLIN);
	T_EVENT(fd[1], T_DISCONNECT);
	T_EQ(says(fd[1], POLLIN, 0), POLLIN);
	T_TOK(t_rcvdis(fd[1], NULL));
	T_EQ(says(fd[1], READS, 0), 0);
}

XT_CASE(CO, epoll_says_the_same)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDBAND};
	int fd[2], ep = T_OK(epoll_create1(0));

	xt_pair(fd);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[1], &ev));
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SILENCE)), 0);
	T_EQ(t_snd(fd[0], "abc", 3, 0), 3);
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SOON)), 1);
	T_EQ(ev.events & (EPOLLIN | EPOLLRDBAND), EPOLLIN);
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, 0)), 1); /* level */
	takes(fd[1], 3, 0);
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SILENCE)), 0);
	T_OK(close(ep));
}

XT_CASE(CO, epoll_says_each_arrival_once_at_the_edge)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	int fd[2], ep = T_OK(epoll_create1(0));

	xt_pair(fd);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[1], &ev));
	for (int i = 0; i < 3; i++) {
		T_EQ(t_snd(fd[0], "abc", 3, 0), 3);
		T_EQ(T_OK(epoll_wait(ep, &ev, 1, SOON)), 1);
		T_EQ(T_OK(epoll_wait(ep, &ev, 1, SILENCE)), 0);
		takes(fd[1], 3, 0);
	}
	T_OK(close(ep));
}

/* @go: a byte for each step that the first process is ready for. */
static void
other_process(int fd, int go)
{
	char buf[32768], c;
	int flags;

	(void)poll(NULL, 0, 50);
	T_EQ(t_snd(fd, "abc", 3, 0), 3);
	T_EQ(T_OK(read(go, &c, 1)), 1);
	(void)poll(NULL, 0, 100);
	/* what the other end has sent; it sends no more */
	while (says(fd, POLLIN, 200) != 0)
		T_GT(t_rcv(fd, buf, sizeof(buf), &flags), 0);
	T_EQ(T_OK(read(go, &c, 1)), 1);
	T_TOK(t_snddis(fd, NULL));
}

/* A thread that sleeps in epoll_wait() is woken by what another process does. */
XT_CASE(CO, epoll_is_woken_by_data_by_room_and_by_the_end)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	static char buf[32768];
	int fd[2], go[2], ep = T_OK(epoll_create1(0)), st;
	pid_t pid;

	xt_pair(fd);
	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0) {
		other_process(fd[0], go[0]);
		_exit(0);
	}
	T_OK(close(fd[0]));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[1], &ev));
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SOON)), 1);
	takes(fd[1], 3, 0);
	xt_block(fd[1], 0);
	while (t_snd(fd[1], buf, sizeof(buf), 0) > 0)
		;
	T_EQ(t_errno, TFLOW);
	ev.events = EPOLLOUT | EPOLLET;
	T_OK(epoll_ctl(ep, EPOLL_CTL_MOD, fd[1], &ev));
	T_EQ(T_OK(write(go[1], "r", 1)), 1);
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SOON)), 1);
	T_TRUE(ev.events & EPOLLOUT);
	ev.events = EPOLLIN | EPOLLET;
	T_OK(epoll_ctl(ep, EPOLL_CTL_MOD, fd[1], &ev));
	T_EQ(T_OK(write(go[1], "d", 1)), 1);
	T_EQ(T_OK(epoll_wait(ep, &ev, 1, SOON)), 1);
	T_EVENT(fd[1], T_DISCONNECT);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(ep));
}
