/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SCTP: calls from and to ports that other associations have, too.
 */
#include "xt.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static void
need_sctp(void)
{
	if (!xt->whole)
		T_SKIP("not SCTP");
}

static void
set_address(struct xt_addr *a, unsigned host, struct xt_addr *port_of)
{
	struct sockaddr_in sin;

	memcpy(&sin, port_of->buf, sizeof(sin));
	sin.sin_addr.s_addr = htonl(host);
	memcpy(a->buf, &sin, sizeof(sin));
	a->len = sizeof(sin);
}

static int
bound_to(int nonblock, unsigned qlen, struct xt_addr *at)
{
	struct t_bind req = {.qlen = qlen};
	int fd = xt_open(nonblock);

	xt_netbuf(&req.addr, at);
	T_TOK(t_bind(fd, &req, NULL));
	return fd;
}

/*
 * Two listeners have the same port at two addresses.  The caller of one has
 * closed its stream, but its association is not over; the other one is called
 * from the same address and port.
 */
XT_CASE(CO, associations_with_two_addresses_of_the_host_are_two)
{
	struct xt_addr at, other, me;
	int lfd, lfd2, fd, peer, peer2, flags;
	char buf[8];

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	set_address(&other, INADDR_LOOPBACK + 1, &at);
	lfd2 = bound_to(0, 1, &other);
	fd = xt_bound_at(1, 0, &me);
	xt_call(fd, &at);
	peer = xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
	T_TOK(t_close(fd));
	T_EVENT(peer, T_ORDREL);
	fd = bound_to(1, 0, &me);
	xt_call(fd, &other);
	peer2 = xt_accept(lfd2);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
	T_EQ(T_TOK(t_snd(fd, (char *)"data", 4, 0)), 4);
	T_EQ(T_TOK(t_rcv(peer2, buf, sizeof(buf), &flags)), 4);
	T_TOK(t_rcvrel(peer));
	T_TOK(t_sndrel(peer));
	T_STATE(peer, T_IDLE);
}

/* Its user has not read all data of an association that both ends have ended. */
XT_CASE(ORD, an_ended_association_does_not_answer_for_the_listener)
{
	static char out[460000], in[sizeof(out)];
	struct xt_addr at, me;
	int lfd, fd, peer;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	fd = xt_bound_at(1, 0, &me);
	xt_call(fd, &at);
	peer = xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
	T_TOK(t_sndrel(peer));
	T_EVENT(fd, T_ORDREL);
	T_TOK(t_rcvrel(fd));
	xt_block(fd, 1);
	xt_snd_all(fd, out, sizeof(out), 0);
	T_TOK(t_close(fd));
	fd = bound_to(1, 0, &me);
	xt_call(fd, &at);
	T_TOK(t_close(xt_accept(lfd)));
	T_EVENT(fd, T_CONNECT);
	xt_rcv_all(peer, in, sizeof(in));
	T_EVENT(peer, T_ORDREL);
	T_TOK(t_rcvrel(peer));
}

/* An endpoint that calls itself: packets must not go round for ever. */
XT_CASE(CO, a_call_to_oneself_ends)
{
	struct xt_addr me;
	char buf[8];
	int fd, flags;

	need_sctp();
	fd = xt_bound_at(1, 0, &me);
	xt_call(fd, &me);
	T_SOON(t_look(fd) != 0, 5000);
	if (t_look(fd) == T_CONNECT) {
		T_TOK(t_rcvconnect(fd, NULL));
		xt_block(fd, 1);
		T_EQ(T_TOK(t_snd(fd, (char *)"data", 4, 0)), 4);
		T_EQ(T_TOK(t_rcv(fd, buf, sizeof(buf), &flags)), 4);
	}
	T_TOK(t_close(fd));
}

/* Confirm the call of a nonblocking endpoint, and send @c on it. */
static void
confirm_and_send(int fd, char c)
{
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
	T_EQ(T_TOK(t_snd(fd, &c, 1, 0)), 1);
}

/*
 * More callers than indications are connected, and wait in the order in which
 * they came.  One that gives up is not indicated.
 */
XT_CASE(CO, callers_beyond_qlen_are_connected_and_wait)
{
	const char sent[] = "abcd", got[] = "acd";
	struct xt_addr at;
	int lfd, fd[4], peer, flags;
	char c;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	for (int i = 0; i < 4; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		confirm_and_send(fd[i], sent[i]);
	}
	T_TOK(t_snddis(fd[1], NULL));
	T_TOK(t_close(fd[1]));
	for (int i = 0; i < 3; i++) {
		peer = xt_accept(lfd);
		T_EQ(T_TOK(t_rcv(peer, &c, 1, &flags)), 1);
		T_EQ(c, got[i]);
	}
	T_EQ(t_look(lfd), 0);
	T_STATE(lfd, T_IDLE);
}

/* The close of a listener ends the calls that wait there. */
XT_CASE(CO, a_closed_listener_ends_the_calls_that_wait)
{
	struct xt_addr at;
	int lfd, fd[3];

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	for (int i = 0; i < 3; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		confirm_and_send(fd[i], 'x');
	}
	T_TOK(t_close(lfd));
	for (int i = 0; i < 3; i++) {
		T_EVENT(fd[i], T_DISCONNECT);
		T_TOK(t_rcvdis(fd[i], NULL));
	}
}

/* A listener that accepts on itself: those that wait are indicated later. */
XT_CASE(CO, callers_wait_until_a_listener_is_free_again)
{
	struct xt_addr at;
	int lfd, fd[2], flags;
	struct t_call in = {.sequence = 0};
	char c;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	for (int i = 0; i < 2; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		confirm_and_send(fd[i], "ab"[i]);
	}
	T_TOK(t_listen(lfd, &in));
	T_TOK(t_accept(lfd, lfd, &in));
	T_EQ(T_TOK(t_rcv(lfd, &c, 1, &flags)), 1);
	T_EQ(c, 'a');
	T_TOK(t_snddis(lfd, NULL));
	T_EVENT(lfd, T_LISTEN);
	T_EVENT(fd[0], T_DISCONNECT);
}
