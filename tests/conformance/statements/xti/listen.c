/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_listen, t_look.
 */
#include "statement.h"

#include <unistd.h>

/* A listener at which one caller waits. */
struct waiting {
	int lfd;
	int fd;
	struct xt_addr at, from;
};

static void
wait_for_one(struct waiting *w)
{
	w->lfd = xt_bound_at(1, 2, &w->at);
	w->fd = xt_bound_at(1, 0, &w->from);
	xt_call(w->fd, &w->at);
	T_EVENT(w->lfd, T_LISTEN);
}

XS(CO, t_listen, DESCRIPTION, address,
	"call has the caller's address.")
{
	struct t_call call = {.sequence = 0};
	struct xt_addr from;
	struct waiting w;

	wait_for_one(&w);
	xt_netbuf(&call.addr, &from);
	call.addr.len = 0;
	T_TOK(t_listen(w.lfd, &call));
	T_STATE(w.lfd, T_INCON);
	T_EQ(call.addr.len, w.from.len);
	T_MEM(from.buf, w.from.buf, w.from.len);
}

XS(CO, t_listen, DESCRIPTION, address_can_be_called,
	"That address can be given to t_connect later.")
{
	struct t_call call = {.sequence = 0}, back = {.sequence = 0};
	struct xt_addr from;
	struct waiting w;

	wait_for_one(&w);
	xt_netbuf(&call.addr, &from);
	T_TOK(t_listen(w.lfd, &call));
	back.addr = call.addr;
	t_errno = 0;
	T_EQ(t_connect(xt_bound(1, 0), &back, NULL), -1);
	T_NE(t_errno, TBADADDR);
}

XS(CO, t_listen, DESCRIPTION, sequences,
	"Several indications are taken before one is answered; numbers tell them apart.")
{
	struct xs_callers c;

	xs_callers(&c);
	T_NE(c.seq[0], c.seq[1]);
	T_STATE(c.lfd, T_INCON);
}

XS(CO, t_listen, DESCRIPTION, maxlen_zero,
	"Of what has a maxlen of zero nothing is returned.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;
	char c = 'c';

	wait_for_one(&w);
	call.addr.buf = call.opt.buf = call.udata.buf = &c;
	T_TOK(t_listen(w.lfd, &call));
	T_EQ(c, 'c');
}

XS(CO, t_listen, DESCRIPTION, waits,
	"It waits for an indication.")
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at);

	if (T_OK(fork()) == 0) {
		t_pause();
		xt_call(xt_bound(1, 0), &at);
		pause();
	}
	T_TOK(t_listen(lfd, &call));
	T_STATE(lfd, T_INCON);
}

XS(CO, t_listen, STATES, valid,
	"It works in T_IDLE and T_INCON.")
{
	xs_valid("t_listen", S(T_IDLE) | S(T_INCON));
}

XS(ANY, t_listen, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_listen");
}

XS(CO, t_listen, ERRORS, tbadqlen,
	"An endpoint with a qlen of zero fails with TBADQLEN.")
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(0, 0);

	T_TERR(t_listen(fd, &call), TBADQLEN);
	T_STATE(fd, T_IDLE);
}

XS(CO, t_listen, ERRORS, tbufovflw,
	"What does not fit fails with TBUFOVFLW; the state is T_INCON.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;
	char c;

	wait_for_one(&w);
	call.addr.buf = &c;
	call.addr.maxlen = 1;
	T_TERR(t_listen(w.lfd, &call), TBUFOVFLW);
	T_STATE(w.lfd, T_INCON);
}

XS(CO, t_listen, ERRORS, tbufovflw_data,
	"User data longer than its maxlen fails with TBUFOVFLW, too.")
{
	struct t_call call = {.sequence = 0}, got = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);
	char c;

	xs_takes_data(xs_info(fd).connect);
	xt_netbuf(&call.addr, &at);
	call.udata.buf = (char *)"data";
	call.udata.len = 4;
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	got.udata.buf = &c;
	got.udata.maxlen = 1;
	T_TERR(t_listen(lfd, &got), TBUFOVFLW);
	T_STATE(lfd, T_INCON);
}

XS(CO, t_listen, ERRORS, tbufovflw_sequence,
	"After TBUFOVFLW the sequence number can be given to t_snddis.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;
	char c;

	wait_for_one(&w);
	call.addr.buf = &c;
	call.addr.maxlen = 1;
	T_TERR(t_listen(w.lfd, &call), TBUFOVFLW);
	call.addr.len = call.addr.maxlen = 0;
	T_TOK(t_snddis(w.lfd, &call));
	T_STATE(w.lfd, T_IDLE);
}

XS(CO, t_listen, ERRORS, tlook,
	"A withdrawal that has come fails it with TLOOK.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	wait_for_one(&w);
	T_TOK(t_listen(w.lfd, &call));
	T_TOK(t_snddis(w.fd, NULL));
	T_EVENT(w.lfd, T_DISCONNECT);
	T_TERR(t_listen(w.lfd, &call), TLOOK);
}

XS(CO, t_listen, ERRORS, tnodata,
	"With O_NONBLOCK and no indication it fails with TNODATA.")
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(1, 1);

	T_TERR(t_listen(fd, &call), TNODATA);
	T_STATE(fd, T_IDLE);
}

XS(CL, t_listen, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_listen");
}

XS(CO, t_listen, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_listen", S(T_IDLE) | S(T_INCON));
}

XS(CO, t_listen, ERRORS, tqfull,
	"With as many indications unanswered as qlen it fails with TQFULL.")
{
	struct t_call call = {.sequence = 0};
	struct xs_callers c;

	xs_callers(&c);
	T_TERR(t_listen(c.lfd, &call), TQFULL);
	T_STATE(c.lfd, T_INCON);
}

XS(CO, t_listen, ERRORS, tqfull_after_answer,
	"After one of them is answered another can be taken.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TOK(t_accept(c.lfd, xt_open(0), &call));
	xt_call(xt_bound(1, 0), &c.at);
	T_EVENT(c.lfd, T_LISTEN);
	T_TOK(t_listen(c.lfd, &call));
}

XS(CO, t_listen, ERRORS, tsyserr,
	"A signal while it waits fails with TSYSERR and EINTR.")
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(0, 1);

	xs_alarms();
	T_TERR(t_listen(fd, &call), TSYSERR);
	T_EQ(errno, EINTR);
}

XS(CO, t_listen, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;

	wait_for_one(&w);
	T_EQ(t_listen(w.lfd, &call), 0);
	T_EQ(t_listen(w.lfd, &call), -1);
}

/* ------------------------------------------------------------------- t_look */

XS(ANY, t_look, DESCRIPTION, none,
	"It does not wait, and tells 0 when there is no event.")
{
	T_EQ(t_look(xt_open(0)), 0);
	T_EQ(t_look(xt_bound(0, 0)), 0);
}

XS(CO, t_look, DESCRIPTION, listen,
	"T_LISTEN tells of an indication until t_listen has taken it.")
{
	struct t_call call = {.sequence = 0};
	struct waiting w;

	wait_for_one(&w);
	T_EQ(t_look(w.lfd), T_LISTEN);
	T_TOK(t_listen(w.lfd, &call));
	T_EQ(t_look(w.lfd), 0);
}

XS(CO, t_look, DESCRIPTION, connect,
	"T_CONNECT tells of an answer until t_rcvconnect has taken it.")
{
	struct waiting w;

	wait_for_one(&w);
	xt_accept(w.lfd);
	T_EVENT(w.fd, T_CONNECT);
	T_EQ(t_look(w.fd), T_CONNECT);
	T_TOK(t_rcvconnect(w.fd, NULL));
	T_EQ(t_look(w.fd), 0);
}

XS(ANY, t_look, DESCRIPTION, data,
	"T_DATA tells of data until all of it has been received.")
{
	struct xs_two w;
	int fd[2];
	char c;

	if (xt->service == T_CLTS) {
		xs_two(&w, 0);
		T_TOK(xs_send(&w, 0, "x", 1));
		T_EVENT(w.fd[1], T_DATA);
		T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 1);
		T_EQ(t_look(w.fd[1]), 0);
		return;
	}
	xt_pair(fd);
	xt_snd_all(fd[0], "xy", 2, 0);
	T_EVENT(fd[1], T_DATA);
	xt_rcv_all(fd[1], &c, 1);
	T_EVENT(fd[1], T_DATA);
	xt_rcv_all(fd[1], &c, 1);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_look, DESCRIPTION, exdata,
	"T_EXDATA tells of expedited data until it has been received.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_look, DESCRIPTION, disconnect,
	"T_DISCONNECT tells of an abort until t_rcvdis has taken it.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[1], NULL));
	T_EQ(t_look(fd[1]), 0);
}

XS(ORD, t_look, DESCRIPTION, ordrel,
	"T_ORDREL tells of an orderly release until t_rcvrel has taken it.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	T_EQ(t_look(fd[1]), 0);
}

XS(CL, t_look, DESCRIPTION, uderr,
	"T_UDERR tells of a datagram's error until t_rcvuderr has taken it.")
{
	struct xs_two w;

	xs_uderr(&w);
	T_EQ(t_look(w.fd[0]), T_UDERR);
	T_TOK(t_rcvuderr(w.fd[0], NULL));
	T_EQ(t_look(w.fd[0]), 0);
}

XS(CO, t_look, DESCRIPTION, godata,
	"T_GODATA tells that what failed with TFLOW may be sent again.")
{
	int fd[2];
	size_t n = xs_full(fd);

	T_EQ(t_look(fd[0]), 0);
	xs_drain(fd[1], n);
	T_EVENT(fd[0], T_GODATA);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, 0)), 1);
}

XS(CO, t_look, DESCRIPTION, godata_needs_tflow,
	"Without a TFLOW before there is no T_GODATA.")
{
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, 0)), 1);
	xs_drain(fd[1], 1);
	T_EQ(t_look(fd[0]), 0);
}

XS(CO, t_look, DESCRIPTION, keeps,
	"To look at an event does not take it.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	for (int i = 0; i < 3; i++)
		T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XS(ANY, t_look, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_look", XS_ALL);
}

XS(ANY, t_look, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_look");
}

XS(ANY, t_look, RETURN, event,
	"It returns the event, 0, or -1 with t_errno on failure.")
{
	T_EQ(t_look(xt_open(0)), 0);
	T_EQ(t_look(-1), -1);
}
