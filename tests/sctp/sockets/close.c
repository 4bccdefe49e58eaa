/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The end of a socket: shutdown and close while the send buffer is full, with
 * data that was not read, and of a listener.
 *
 * The calls that must not wait are made by the thread that would read, so that a
 * call that waits for the reader never returns, or loses the data.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stropts.h>

#include "sk.h"

static char buf[60000];

static void
wait_for(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	T_EQ((int)T_OK(poll(&p, 1, 60000)), 1);
}

/* How long a close waits at most: ms. */
static int
close_time(int fd)
{
	int ms = -1;

	T_OK(ioctl(fd, I_GETCLTIME, &ms));
	return ms;
}

/* Send until the socket is full.  Return: bytes. */
static long
fill(int fd, int flags, int sid)
{
	long n = 0;
	ssize_t k;

	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	while ((k = sctp_sendmsg(fd, buf, sizeof(buf), NULL, 0, 0, 0,
		(uint16_t)sid, 0, 0)) > 0)
		n += k;
	T_EQ(errno, EAGAIN);
	T_OK(fcntl(fd, F_SETFL, O_RDWR | flags));
	return n;
}

/* Read to the end.  Return: bytes. */
static long
drain(int fd)
{
	long n = 0;
	ssize_t k;

	while ((k = T_OK(recv(fd, buf, sizeof(buf), 0))) > 0)
		n += k;
	return n;
}

static void
linger(int fd, int secs)
{
	struct linger l = {1, secs};

	T_OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}

T_CASE(shutdown_of_a_full_socket_does_not_wait)
{
	int fd[2], flags, sid;
	long n;

	for (flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK)
		for (sid = 0; sid < 2; sid++) {
			pair(fd);
			n = fill(fd[0], flags, sid);
			T_OK(shutdown(fd[0], SHUT_WR));
			T_ERR(send(fd[0], "a", 1, MSG_NOSIGNAL), EPIPE);
			T_EQ(drain(fd[1]), n);
			T_EQ((int)T_OK(recv(fd[0], buf, 9, 0)), 0);
			T_OK(close(fd[0]));
			T_OK(close(fd[1]));
		}
}

T_CASE(close_of_a_full_socket_keeps_the_data)
{
	int fd[2], flags, sid, shut;
	long n;

	for (flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK)
		for (sid = 0; sid < 2; sid++)
			for (shut = 0; shut < 2; shut++) {
				pair(fd);
				n = fill(fd[0], flags, sid);
				if (shut)
					T_OK(shutdown(fd[0], SHUT_WR));
				T_EQ(close_time(fd[0]), 0);
				T_OK(close(fd[0]));
				T_EQ(drain(fd[1]), n);
				T_OK(close(fd[1]));
			}
}

T_CASE(a_full_socket_that_does_not_linger_is_aborted)
{
	int fd[2], sid;
	ssize_t k;

	for (sid = 0; sid < 2; sid++) {
		pair(fd);
		linger(fd[0], 0);
		fill(fd[0], 0, sid);
		T_EQ(close_time(fd[0]), 0);
		T_OK(close(fd[0]));
		while ((k = recv(fd[1], buf, sizeof(buf), 0)) > 0)
			;
		T_EQ((int)k, -1);
		T_EQ(errno, ECONNRESET);
		T_OK(close(fd[1]));
	}
}

T_CASE(a_socket_lingers_no_longer_than_it_says)
{
	int fd[2], l = listener(1);
	long n;

	linger(l, 1);
	fd[0] = new_socket();
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	T_EQ(close_time(l), 1000);
	T_EQ(close_time(fd[1]), 1000);
	linger(fd[0], 1 << 20);
	T_EQ(close_time(fd[0]), 299000);
	n = fill(fd[1], 0, 0);
	T_OK(close(fd[1]));
	T_EQ(drain(fd[0]), n);
}

/* The message is at the Stream head, in the association, or read in part. */
T_CASE(close_with_unread_data_aborts)
{
	int fd[2], how;
	char c;

	for (how = 0; how < 4; how++) {
		pair(fd);
		if (how == 3)
			subscribe(fd[1], SCTP_SHUTDOWN_EVENT);
		if (how == 1)
			fill(fd[0], 0, 1);
		else
			T_OK(sctp_sendmsg(fd[0], "data", 4, NULL, 0, 0, how ==
				3 ? SCTP_UNORDERED : 0, 0, 0, 0));
		wait_for(fd[1]);
		if (how == 2)
			T_EQ((int)T_OK(recv(fd[1], &c, 1, 0)), 1);
		T_OK(close(fd[1]));
		T_ERR(recv(fd[0], &c, 1, 0), ECONNRESET);
		T_OK(close(fd[0]));
	}
}

/* What was read, a note, or the peer's end is no unread data. */
T_CASE(close_without_unread_data_ends_in_order)
{
	struct sctp_event ev = {.se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
	int fd[2], l = listener(1), how;
	char c;

	T_OK(setsockopt(l, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)));
	for (how = 0; how < 3; how++) {
		fd[0] = new_socket();
		T_OK(call(fd[0], port_of(l)));
		fd[1] = (int)T_OK(accept(l, NULL, NULL));
		wait_for(fd[1]);
		if (how == 1) {
			T_OK(recv(fd[1], buf, sizeof(buf), 0));
			T_OK(send(fd[0], "a", 1, 0));
			T_EQ((int)T_OK(recv(fd[1], &c, 1, 0)), 1);
		}
		if (how == 2) {
			T_OK(recv(fd[1], buf, sizeof(buf), 0));
			T_OK(shutdown(fd[0], SHUT_WR));
			wait_for(fd[1]);
		}
		T_OK(close(fd[1]));
		T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 0);
		T_OK(close(fd[0]));
	}
}

static int accepting;

static void *
acceptor(void *arg)
{
	int *fd = arg;

	(void)__atomic_fetch_add(&accepting, 1, __ATOMIC_RELEASE);
	T_ERR(accept(*fd, NULL, NULL), EINVAL);
	return NULL;
}

/* Whether a thread is in accept() already makes no difference. */
T_CASE(shutdown_of_a_listener_ends_accept)
{
	int l = listener(3), c = new_socket(), other, k, i;
	pthread_t th[3];
	char b;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < 3; i++)
			T_EQ(pthread_create(&th[i], NULL, acceptor, &l), 0);
		T_SOON(__atomic_load_n(&accepting, __ATOMIC_ACQUIRE) ==
			3 * (k + 1), 10000);
		T_OK(k == 2 ? listen(l, 0) :
			shutdown(l, k == 0 ? SHUT_RD : SHUT_RDWR));
		for (i = 0; i < 3; i++)
			T_EQ(pthread_join(th[i], NULL), 0);
		T_ERR(accept(l, NULL, NULL), EINVAL);
		other = new_socket();
		T_ERR(call(other, port_of(l)), ECONNREFUSED);
		T_OK(close(other));
		T_OK(listen(l, 3));
	}
	T_OK(call(c, port_of(l)));
	other = (int)T_OK(accept(l, NULL, NULL));
	T_OK(send(c, "a", 1, 0));
	T_EQ((int)T_OK(recv(other, &b, 1, 0)), 1);
}

T_CASE(a_socket_that_was_a_listener_can_call)
{
	int l = listener(1), was = listener(1), s;
	char c;

	T_OK(shutdown(l, SHUT_WR)); /* it listens as before */
	T_OK(shutdown(was, SHUT_RD));
	T_OK(call(was, port_of(l)));
	s = (int)T_OK(accept(l, NULL, NULL));
	T_OK(send(s, "a", 1, 0));
	T_EQ((int)T_OK(recv(was, &c, 1, 0)), 1);
}
