/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: how they are refused, fail and end.
 */
#include "xt.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

/* --------------------------------------------------------------------- refusal */

XT_CASE(CO, a_call_to_nobody_is_a_disconnect)
{
	struct t_call call = {.sequence = 0};
	struct t_discon dis = {.reason = 0};
	struct xt_addr at;
	int fd = xt_bound(0, 0);

	xt_nobody(&at);
	xt_netbuf(&call.addr, &at);
	T_TERR(t_connect(fd, &call, NULL), TLOOK);
	T_STATE(fd, T_OUTCON);
	T_EQ(t_look(fd), T_DISCONNECT);
	T_TOK(t_rcvdis(fd, &dis));
	T_EQ(dis.reason, ECONNREFUSED);
	T_STATE(fd, T_IDLE);
	T_EQ(t_look(fd), 0);
}

XT_CASE(CO, a_call_to_nobody_may_be_followed_by_another)
{
	struct xt_addr nobody, at;
	int fd = xt_bound(1, 0), lfd;

	xt_nobody(&nobody);
	xt_call(fd, &nobody);
	T_EVENT(fd, T_DISCONNECT);
	T_TERR(t_rcvconnect(fd, NULL), TLOOK);
	T_TOK(t_rcvdis(fd, NULL));
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd, &at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
}

XT_CASE(CO, a_call_that_is_refused_is_a_disconnect)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_snddis(e.fd, &call));
	T_STATE(e.fd, T_IDLE);
	T_EVENT(e.peer, T_DISCONNECT);
	T_TOK(t_rcvdis(e.peer, NULL));
	T_STATE(e.peer, T_IDLE);
}

XT_CASE(CO, one_of_two_callers_is_refused)
{
	int lfd, who[2], seq[2];
	struct t_call call = {.sequence = 0};
	struct xt_addr at;

	xt_two(&at, &lfd, who, seq);
	call.sequence = seq[0];
	T_TOK(t_snddis(lfd, &call));
	T_STATE(lfd, T_INCON);
	call.sequence = seq[1];
	T_TOK(t_accept(lfd, xt_open(0), &call));
	T_STATE(lfd, T_IDLE);
}

XT_CASE(CO, refusing_an_unknown_sequence_is_TBADSEQ)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq + 77};
	T_TERR(t_snddis(e.fd, &call), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CO, a_caller_may_give_up)
{
	struct t_discon dis = {.sequence = 0};
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	T_TOK(t_snddis(e.peer, NULL));
	T_STATE(e.peer, T_IDLE);
	T_EVENT(e.fd, T_DISCONNECT);
	T_TOK(t_rcvdis(e.fd, &dis));
	T_EQ(dis.sequence, e.seq);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, accept_of_a_caller_who_gave_up_is_TLOOK)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_snddis(e.peer, NULL));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TERR(t_accept(e.fd, xt_open(0), &call), TLOOK);
	T_TERR(t_listen(e.fd, &call), TLOOK);
	T_TOK(t_rcvdis(e.fd, NULL));
}

/* However close: the caller gives up between the look and the answer. */
XT_CASE_TIMEOUT(CO, an_answer_that_meets_a_withdrawal_is_TLOOK, 60)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd, fd, acc;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	lfd = xt_bound_at(0, 1, &at);
	if (T_OK(fork()) == 0) {
		fd = xt_bound(1, 0);
		for (;;) {
			struct t_call to = {.sequence = 0};

			xt_netbuf(&to.addr, &at);
			if (t_connect(fd, &to, NULL) < 0 &&
			    t_errno == TNODATA) {
				for (uint64_t n = t_rand_below(20000); n > 0;
					n--)
					__asm__ volatile("");
				if (t_snddis(fd, NULL) == 0 ||
				    t_rcvdis(fd, NULL) == 0)
					continue;
			}
			T_TOK(t_close(fd));
			fd = xt_bound(1, 0);
		}
	}
	acc = xt_bound(0, 0);
	for (int i = 0; i < 500; i++) {
		int ret = (i & 1) ? -2 : 0;

		if (t_listen(lfd, &call) < 0) {
			T_EQ(t_errno, TLOOK);
			T_TOK(t_rcvdis(lfd, NULL));
			continue;
		}
		ret = ret == 0 ? t_accept(lfd, acc, &call) :
				 t_snddis(lfd, &call);
		if (ret < 0) {
			T_EQ(t_errno, TLOOK);
			T_EQ(T_TOK(t_look(lfd)), T_DISCONNECT);
			T_TOK(t_rcvdis(lfd, NULL));
		} else if ((i & 1) == 0) {
			T_TOK(t_close(acc));
			acc = xt_bound(0, 0);
		}
		T_STATE(lfd, T_IDLE);
	}
}

XT_CASE(CO, a_caller_who_dies_is_a_disconnect)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	T_OK(close(e.peer));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TOK(t_rcvdis(e.fd, NULL));
	T_STATE(e.fd, T_IDLE);
}

/* ------------------------------------------------------------------------ aborts */

XT_CASE(CO, an_abort_is_a_disconnect_at_the_other_end)
{
	struct t_discon dis = {.sequence = 7};
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_EVENT(fd[1], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[1], &dis));
	T_NE(dis.reason, 0);
	T_STATE(fd[1], T_IDLE);
	T_EQ(t_look(fd[0]), 0);
}

XT_CASE(CO, calls_that_meet_an_abort_are_TLOOK)
{
	struct t_iovec iov;
	int fd[2], flags;
	char c = 0;

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	iov.iov_base = &c;
	iov.iov_len = 1;
	T_TERR(t_snd(fd[1], &c, 1, 0), TLOOK);
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_TERR(t_sndv(fd[1], &iov, 1, 0), TLOOK);
	T_TERR(t_rcvv(fd[1], &iov, 1, &flags), TLOOK);
	T_TERR(t_snddis(fd[1], NULL), TLOOK);
	if (xt->service == T_COTS_ORD) {
		T_TERR(t_sndrel(fd[1]), TLOOK);
		T_TERR(t_rcvrel(fd[1]), TLOOK);
	}
	T_STATE(fd[1], T_DATAXFER);
	T_TOK(t_rcvdis(fd[1], NULL));
}

XT_CASE(CO, a_blocked_receiver_learns_of_an_abort)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(t_snddis(fd[0], NULL));
		_exit(0);
	}
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XT_CASE(CO, a_sender_learns_of_an_abort_behind_what_it_has_not_read)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xt_snd_all(fd[1], "unread", 6, 0);
	T_EVENT(fd[0], T_DATA);
	T_TOK(t_snddis(fd[1], NULL));
	T_SOON(t_snd(fd[0], (char *)"x", 1, 0) < 0, 5000);
	T_EQ(t_errno, TLOOK);
	/* what was received is there; a reset may have taken it */
	while (t_look(fd[0]) == T_DATA)
		T_EQ(T_TOK(t_rcv(fd[0], &c, 1, &flags)), 1);
	T_EVENT(fd[0], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
}

/* The port that @fd is bound to. */
static unsigned
port_of(int fd)
{
	struct sockaddr_in s4;
	struct t_bind bound = {
		.addr = {.maxlen = sizeof(s4), .buf = (void *)&s4}};

	T_TOK(t_getprotaddr(fd, &bound, NULL));
	return ntohs(s4.sin_port);
}

/* Does the system list a connection from port @own to port @other? */
static int
is_listed(unsigned own, unsigned other)
{
	char line[256];
	unsigned a, b;
	FILE *f = fopen("/proc/net/tcp", "re");
	int yes = 0;

	T_TRUE(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		yes |= sscanf(line, " %*[^:]: %*[^:]:%x %*[^:]:%x", &a, &b) == 2 &&
			a == own && b == other;
	fclose(f);
	return yes;
}

/* Send as @way says: one byte, after traffic, many bytes, a vector, urgent. */
static int
send_by(int fd, int way)
{
	static char buf[20000];
	struct t_iovec v[2] = {{buf, 1}, {buf + 1, 3}};

	return way == 3 ? t_sndv(fd, v, 2, 0) :
		t_snd(fd, buf, way == 2 ? sizeof(buf) : 1,
			way == 4 ? T_EXPEDITED : 0);
}

XT_CASE(ORD, the_first_send_after_a_reset_is_TLOOK)
{
	unsigned port[2];
	int fd[2], way;
	char buf[8];

	if (!xt->inet || xt->whole)
		t_skip("it has no connections of the system");
	for (way = 0; way < 5; way++) {
		xt_pair(fd);
		if (way != 0) {
			xt_snd_all(fd[0], "there", 5, 0);
			T_EVENT(fd[1], T_DATA);
			xt_snd_all(fd[1], "back", 4, 0);
			T_EQ(xt_rcv_all(fd[0], buf, 4), 4u);
		}
		port[0] = port_of(fd[0]);
		port[1] = port_of(fd[1]);
		T_TRUE(is_listed(port[0], port[1]));
		T_TOK(t_snddis(fd[1], NULL));
		/* nothing looks at the endpoint meanwhile */
		T_SOON(!is_listed(port[0], port[1]), 5000);
		T_TERR(send_by(fd[0], way), TLOOK);
		T_EQ(t_look(fd[0]), T_DISCONNECT);
		T_TOK(t_rcvdis(fd[0], NULL));
		T_STATE(fd[0], T_IDLE);
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
	}
}

XT_CASE(CO, a_close_is_a_disconnect_at_the_other_end)
{
	int fd[2];

	xt_pair(fd);
	T_OK(close(fd[0]));
	if (xt->inet)
		T_SOON(t_look(fd[1]) != 0, 5000);
	else
		T_EVENT(fd[1], T_DISCONNECT);
}

XT_CASE(CO, rcvdis_without_a_disconnect_is_TNODIS)
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_rcvdis(fd[0], NULL), TNODIS);
	T_TOK(t_snd(fd[1], (char *)"x", 1, 0));
	T_EVENT(fd[0], T_DATA);
	T_TERR(t_rcvdis(fd[0], NULL), TNODIS);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, an_endpoint_is_used_again_after_an_abort)
{
	struct xt_addr at;
	int fd[2], lfd;

	xt_pair(fd);
	xt_snd_all(fd[1], "unread", 6, 0);
	T_EVENT(fd[0], T_DATA);
	T_TOK(t_snddis(fd[0], NULL));
	T_EQ(t_look(fd[0]), 0);
	xt_block(fd[0], 0);
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd[0], &at);
	xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
}

XT_CASE(CO, data_with_an_abort_nobody_carries_is_TBADDATA)
{
	struct t_call call = {.udata = {.len = 4, .buf = (char *)"data"}};
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.discon != T_INVALID)
		T_SKIP("it does");
	T_TERR(t_snddis(fd[0], &call), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

/* --------------------------------------------------------------- orderly release */

XT_CASE(ORD, a_release_comes_after_all_data)
{
	int fd[2], flags;
	char buf[16];

	xt_pair(fd);
	xt_snd_all(fd[0], "last words", 10, 0);
	T_TOK(t_sndrel(fd[0]));
	T_STATE(fd[0], T_OUTREL);
	T_EVENT(fd[1], T_DATA);
	T_TERR(t_rcvrel(fd[1]), TNOREL);
	T_EQ(xt_rcv_all(fd[1], buf, 10), 10);
	T_MEM(buf, "last words", 10);
	T_EVENT(fd[1], T_ORDREL);
	T_TERR(t_rcv(fd[1], buf, 1, &flags), TLOOK);
	T_TOK(t_rcvrel(fd[1]));
	T_STATE(fd[1], T_INREL);
}

XT_CASE(ORD, data_flows_back_after_a_release)
{
	int fd[2];
	char buf[16];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	xt_snd_all(fd[1], "still", 5, 0);
	T_EQ(xt_rcv_all(fd[0], buf, 5), 5);
	T_TOK(t_sndrel(fd[1]));
	T_STATE(fd[1], T_IDLE);
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	T_STATE(fd[0], T_IDLE);
}

struct both {
	pthread_barrier_t go;
	int fd;
};

XT_CASE(ORD, both_ends_release_at_once)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_TOK(t_sndrel(fd[1]));
	for (int i = 0; i < 2; i++) {
		T_EVENT(fd[i], T_ORDREL);
		T_TOK(t_rcvrel(fd[i]));
		T_STATE(fd[i], T_IDLE);
	}
}

static void *
rel_sender(void *arg)
{
	struct both *b = arg;

	(void)pthread_barrier_wait(&b->go);
	if (t_sndrel(b->fd) < 0)
		T_FAIL("t_sndrel: %s", t_strerror(t_errno));
	return NULL;
}

/* One thread sends its release while another takes the peer's. */
XT_CASE_TIMEOUT(ORD, a_release_sent_and_one_taken_at_once, 60)
{
	struct both b;
	pthread_t th;
	int fd[2];

	for (int i = 0; i < 300; i++) {
		xt_pair(fd);
		b.fd = fd[0];
		T_EQ(pthread_barrier_init(&b.go, NULL, 2), 0);
		T_TOK(t_sndrel(fd[1]));
		T_EVENT(fd[0], T_ORDREL);
		T_EQ(pthread_create(&th, NULL, rel_sender, &b), 0);
		(void)pthread_barrier_wait(&b.go);
		T_TOK(t_rcvrel(fd[0]));
		T_EQ(pthread_join(th, NULL), 0);
		T_STATE(fd[0], T_IDLE);
		T_EVENT(fd[1], T_ORDREL);
		T_TOK(t_rcvrel(fd[1]));
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
	}
}

XT_CASE(ORD, send_that_meets_a_release_is_TLOOK)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TERR(t_snd(fd[1], (char *)"x", 1, 0), TLOOK);
	T_TOK(t_rcvrel(fd[1]));
	T_EQ(T_TOK(t_snd(fd[1], (char *)"x", 1, 0)), 1);
}

XT_CASE(ORD, rcvrel_without_a_release_is_TNOREL)
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_rcvrel(fd[0]), TNOREL);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(ORD, a_released_endpoint_is_used_again)
{
	struct xt_addr at;
	int fd[2], lfd;

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	T_TOK(t_sndrel(fd[1]));
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	if (xt->inet)
		T_TOK(t_unbind(fd[0])), T_TOK(t_bind(fd[0], NULL, NULL));
	xt_block(fd[0], 0);
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd[0], &at);
	xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
}

XT_CASE(ORD, an_abort_overtakes_a_release)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_SOON(t_look(fd[1]) != 0, 5000);
}

XT_CASE(ORD, a_blocked_receiver_learns_of_a_release)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(t_sndrel(fd[0]));
		pause();
	}
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_ORDREL);
}

/* -------------------------------------------------------------------------- many */

XT_CASE_TIMEOUT(CO, a_thousand_connections, 60)
{
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at), fd, in;
	char c;

	for (int i = 0; i < (xt->inet ? 100 : 1000); i++) {
		fd = xt_bound(1, 0);
		xt_call(fd, &at);
		in = xt_accept(lfd);
		T_EVENT(fd, T_CONNECT);
		T_TOK(t_rcvconnect(fd, NULL));
		T_EQ(T_TOK(t_snd(fd, (char *)"x", 1, 0)), 1);
		T_EQ(xt_rcv_all(in, &c, 1), 1);
		T_TOK(t_close(fd));
		T_TOK(t_close(in));
	}
	T_STATE(lfd, T_IDLE);
}

XT_CASE_TIMEOUT(CO, fifty_connections_at_once, 60)
{
	int fd[50], in[50];
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at);
	char c;

	for (int i = 0; i < 50; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		in[i] = xt_accept(lfd);
		T_EVENT(fd[i], T_CONNECT);
		T_TOK(t_rcvconnect(fd[i], NULL));
	}
	for (int i = 0; i < 50; i++) {
		c = (char)i;
		T_EQ(T_TOK(t_snd(fd[i], &c, 1, 0)), 1);
	}
	for (int i = 49; i >= 0; i--) {
		T_EQ(xt_rcv_all(in[i], &c, 1), 1);
		T_EQ(c, i);
	}
}
