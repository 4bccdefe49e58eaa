/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets that do not block: poll, select, epoll, limits of time.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

#include "sk.h"

static void
nonblock(int fd)
{
	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
}

static int
events(int fd, int want, int ms)
{
	struct pollfd p = {.fd = fd, .events = (short)want};

	return T_OK(poll(&p, 1, ms)) != 0 ? p.revents : 0;
}

/*
 * A listener with a call that fills its backlog, so that the next call stays
 * unanswered; and a caller that tries again soon.
 */
static int
full_listener(int *filler)
{
	int l = listener(1);

	*filler = new_socket();
	T_OK(call(*filler, port_of(l)));
	return l;
}

static int
caller(void)
{
	struct sctp_rtoinfo r = {.srto_initial = 20, .srto_min = 20,
		.srto_max = 100};
	struct sctp_initmsg im = {.sinit_max_attempts = 200};
	int fd = new_socket();

	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)));
	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	nonblock(fd);
	return fd;
}

T_CASE(calls_that_would_block_fail)
{
	int fd[2], l = listener(1);
	char c;

	nonblock(l);
	T_ERR(accept(l, NULL, NULL), EAGAIN);
	pair(fd);
	T_ERR(recv(fd[0], &c, 1, MSG_DONTWAIT), EAGAIN);
	nonblock(fd[0]);
	T_ERR(recv(fd[0], &c, 1, 0), EAGAIN);
	T_EQ(events(fd[0], POLLIN | POLLOUT, 0), POLLOUT);
	T_OK(send(fd[1], "a", 1, 0));
	T_EQ(events(fd[0], POLLIN | POLLOUT, 1000), POLLIN | POLLOUT);
	T_OK(recv(fd[0], &c, 1, 0));
	T_EQ(events(fd[0], POLLIN, 0), 0);
}

T_CASE(a_listener_is_readable_when_it_is_called)
{
	int l = listener(3), c = new_socket();

	T_EQ(events(l, POLLIN, 0), 0);
	T_OK(call(c, port_of(l)));
	T_TRUE((events(l, POLLIN, 5000) & POLLIN) != 0);
	T_OK(accept(l, NULL, NULL));
	T_EQ(events(l, POLLIN, 0), 0);
}

T_CASE(the_end_stays_readable)
{
	int fd[2], i;
	char c;

	pair(fd);
	T_OK(close(fd[0]));
	for (i = 0; i < 3; i++) {
		T_TRUE((events(fd[1], POLLIN, 5000) & POLLIN) != 0);
		T_EQ((int)T_OK(recv(fd[1], &c, 1, MSG_DONTWAIT)), 0);
	}
}

T_CASE(a_call_in_progress_becomes_writable_when_it_is_answered)
{
	int fill, l = full_listener(&fill), c = caller(), s;
	char b;

	T_ERR(call(c, port_of(l)), EINPROGRESS);
	T_ERR(call(c, port_of(l)), EALREADY);
	T_EQ(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	T_EQ(events(c, POLLIN | POLLOUT, 0), 0);
	T_ERR(recv(c, &b, 1, 0), EAGAIN);
	T_ERR(send(c, "a", 1, 0), EAGAIN);
	T_OK(accept(l, NULL, NULL));
	T_EQ(events(c, POLLIN | POLLOUT, 15000), POLLOUT);
	T_EQ(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	T_OK(send(c, "a", 1, 0));
	s = (int)T_OK(accept(l, NULL, NULL));
	T_EQ((int)T_OK(recv(s, &b, 1, 0)), 1);
	T_ERR(call(c, port_of(l)), EISCONN);
}

T_CASE(a_call_in_progress_that_fails_has_an_error)
{
	struct sctp_initmsg im = {.sinit_max_attempts = 3};
	int fill, l = full_listener(&fill), c = caller();

	T_OK(setsockopt(c, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	T_ERR(call(c, port_of(l)), EINPROGRESS);
	T_EQ(events(c, POLLOUT, 15000), POLLERR | POLLHUP | POLLOUT);
	T_EQ(get_int(c, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
	T_EQ(get_int(c, SOL_SOCKET, SO_ERROR), 0);
}

/*
 * Callers that repeat their call after a minute only: if one had to, the case
 * would fail.
 */
static int
patient(unsigned port)
{
	struct sctp_rtoinfo r = {.srto_initial = 60000, .srto_min = 1000,
		.srto_max = 60000};
	int fd = new_socket();

	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)));
	nonblock(fd);
	T_ERR(call(fd, port), EINPROGRESS);
	return fd;
}

#define CALLERS 50

T_CASE_TIMEOUT(more_callers_than_the_backlog_wait_for_accept_alone, 50)
{
	int l = listener(5), c[CALLERS], i;
	char b;

	for (i = 0; i < CALLERS; i++)
		c[i] = patient(port_of(l));
	for (i = 0; i < CALLERS; i++)
		T_OK(close((int)T_OK(accept(l, NULL, NULL))));
	for (i = 0; i < CALLERS; i++) {
		T_EQ(events(c[i], POLLIN, 40000) & POLLIN, POLLIN);
		T_EQ((int)T_OK(recv(c[i], &b, 1, 0)), 0);
	}
	nonblock(l);
	T_ERR(accept(l, NULL, NULL), EAGAIN);
}

T_CASE_TIMEOUT(a_caller_that_gives_up_does_not_hold_up_others, 50)
{
	int l = listener(1), c[4], i;

	for (i = 0; i < 4; i++)
		c[i] = patient(port_of(l));
	T_OK(close(c[2]));
	for (i = 0; i < 3; i++)
		T_OK(accept(l, NULL, NULL));
	T_EQ(events(c[3], POLLOUT, 40000), POLLOUT);
}

T_CASE_TIMEOUT(callers_that_wait_are_refused_when_the_listener_ends, 50)
{
	int l = listener(1), c[4], i;
	unsigned port = port_of(l);

	for (i = 0; i < 4; i++)
		c[i] = patient(port);
	T_OK(close(l));
	for (i = 1; i < 4; i++) {
		T_TRUE((events(c[i], POLLOUT, 40000) & POLLERR) != 0);
		T_EQ(get_int(c[i], SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	}
}

T_CASE_TIMEOUT(a_longer_backlog_takes_callers_that_wait, 50)
{
	int l = listener(1), c[4], i;

	for (i = 0; i < 4; i++)
		c[i] = patient(port_of(l));
	T_OK(listen(l, 4));
	for (i = 0; i < 4; i++)
		T_EQ(events(c[i], POLLOUT, 40000), POLLOUT);
}

T_CASE(select_waits_for_an_answer)
{
	int fill, l = full_listener(&fill), c = caller();
	struct timeval tv = {.tv_usec = 1000};
	fd_set r, w;

	T_ERR(call(c, port_of(l)), EINPROGRESS);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(c, &r);
	FD_SET(c, &w);
	T_EQ((int)T_OK(select(c + 1, &r, &w, NULL, &tv)), 0);
	T_TRUE(!FD_ISSET(c, &w));
	T_OK(accept(l, NULL, NULL));
	FD_SET(c, &r);
	FD_SET(c, &w);
	tv.tv_sec = 15;
	T_EQ((int)T_OK(select(c + 1, &r, &w, NULL, &tv)), 1);
	T_TRUE(FD_ISSET(c, &w));
	T_TRUE(!FD_ISSET(c, &r));
}

T_CASE(epoll_waits_for_an_answer)
{
	int fill, l = full_listener(&fill), c = caller(), s;
	int ep = (int)T_OK(epoll_create1(0));
	struct epoll_event ev = {.events = EPOLLOUT | EPOLLIN, .data.fd = c};
	struct epoll_event got[4];

	T_ERR(call(c, port_of(l)), EINPROGRESS);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, c, &ev));
	T_EQ((int)T_OK(epoll_wait(ep, got, 4, 10)), 0);
	T_OK(accept(l, NULL, NULL));
	T_EQ((int)T_OK(epoll_wait(ep, got, 4, 15000)), 1);
	T_EQ(got[0].data.fd, c);
	T_EQ(got[0].events, (uint32_t)EPOLLOUT);
	ev.events = EPOLLIN;
	T_OK(epoll_ctl(ep, EPOLL_CTL_MOD, c, &ev));
	T_EQ((int)T_OK(epoll_wait(ep, got, 4, 0)), 0);
	s = (int)T_OK(accept(l, NULL, NULL));
	T_OK(send(s, "a", 1, 0));
	T_EQ((int)T_OK(epoll_wait(ep, got, 4, 15000)), 1);
	T_EQ(got[0].events, (uint32_t)EPOLLIN);
}

T_CASE(a_full_socket_refuses_and_becomes_writable_again)
{
	static char buf[60000];
	int fd[2], n = 0, m = 0;

	pair(fd);
	nonblock(fd[0]);
	while (sctp_sendmsg(fd[0], buf, sizeof(buf), NULL, 0, 0, 0, 1, 0,
		0) > 0)
		n++;
	T_EQ(errno, EAGAIN);
	T_GT(n, 3);
	T_EQ(events(fd[0], POLLOUT, 0), 0);
	T_ERR(send(fd[0], buf, 1, 0), EAGAIN);
	while (m < n * (int)sizeof(buf))
		m += (int)T_OK(recv(fd[1], buf, sizeof(buf), 0));
	T_EQ(events(fd[0], POLLOUT, 15000), POLLOUT);
	T_OK(send(fd[0], buf, 1, 0));
}

T_CASE(a_limit_of_time_ends_a_wait)
{
	struct timeval tv = {.tv_usec = 20000}, was;
	socklen_t len = sizeof(was);
	int fd[2], l = listener(1);
	char c;

	T_OK(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	T_ERR(accept(l, NULL, NULL), EAGAIN);
	pair(fd);
	T_OK(setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	T_ERR(recv(fd[0], &c, 1, 0), EAGAIN);
	T_OK(getsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &was, &len));
	T_EQ((int)was.tv_usec, 20000);
	T_OK(send(fd[1], "a", 1, 0));
	T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 1);
	tv.tv_usec = 1000000;
	T_ERR(setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)),
		EDOM);
}
