/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_snddis, t_rcvdis.
 */
#include "statement.h"

XS(CO, t_snddis, DESCRIPTION, aborts,
	"It ends a connection at once; the other end is told.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_EVENT(fd[1], T_DISCONNECT);
}

XS(CO, t_snddis, DESCRIPTION, rejects,
	"With a sequence number it rejects that indication.")
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_snddis(e.fd, &call));
	T_STATE(e.fd, T_IDLE);
	if (!xt->at_once)
		T_EVENT(e.peer, T_DISCONNECT);
}

XS(CO, t_snddis, DESCRIPTION, rejects_one,
	"The other indications stay, and so does T_INCON.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TOK(t_snddis(c.lfd, &call));
	T_STATE(c.lfd, T_INCON);
	call.sequence = c.seq[1];
	T_TOK(t_accept(c.lfd, xt_open(0), &call));
}

XS(CO, t_snddis, DESCRIPTION, withdraws,
	"In T_OUTCON it withdraws the request.")
{
	struct xt_end e;

	xt_make(&e, T_OUTCON);
	T_TOK(t_snddis(e.fd, NULL));
	T_STATE(e.fd, T_IDLE);
	T_EQ(t_look(e.fd), 0);
}

XS(CO, t_snddis, DESCRIPTION, other_fields_ignored,
	"Of a call that rejects nothing, address, options and sequence are ignored.")
{
	struct t_call call = {.sequence = -77};
	int fd[2];

	xt_pair(fd);
	call.addr.len = call.opt.len = 5;
	call.addr.buf = call.opt.buf = (char *)"what?";
	T_TOK(t_snddis(fd[0], &call));
	T_STATE(fd[0], T_IDLE);
}

XS(CO, t_snddis, DESCRIPTION, no_user_data,
	"Without user data in the call none is sent.")
{
	struct t_discon dis = {.reason = 0};
	char buf[8];
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	dis.udata.buf = buf;
	dis.udata.maxlen = sizeof(buf);
	dis.udata.len = 5;
	T_TOK(t_rcvdis(fd[1], &dis));
	T_EQ(dis.udata.len, 0);
}

XS(CO, t_snddis, DESCRIPTION, user_data_of_a_rejection,
	"User data of a rejection is sent to the caller.")
{
	struct t_discon dis = {.reason = 0};
	struct xt_end e;
	char buf[8];

	xt_make(&e, T_INCON);
	xs_takes_data(xs_info(e.fd).discon);
	struct t_call call = {.sequence = e.seq,
		.udata = {.len = 4, .buf = (char *)"data"}};
	if (xt->at_once) {
		T_EVENT(e.peer, T_CONNECT);
		T_TOK(t_rcvconnect(e.peer, NULL));
	}
	T_TOK(t_snddis(e.fd, &call));
	T_EVENT(e.peer, T_DISCONNECT);
	dis.udata.buf = buf;
	dis.udata.maxlen = sizeof(buf);
	T_TOK(t_rcvdis(e.peer, &dis));
	T_EQ(dis.udata.len, 4);
	T_MEM(buf, "data", 4);
}

XS(CO, t_snddis, DESCRIPTION, again,
	"The endpoint can make another connection afterwards.")
{
	struct xt_addr at;
	int fd[2], lfd;

	xt_pair(fd);
	xt_block(fd[0], 0);
	T_TOK(t_snddis(fd[0], NULL));
	lfd = xt_bound_at(0, 1, &at);
	xt_call(fd[0], &at);
	xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
}

XS(CO, t_snddis, STATES, valid,
	"It works in T_DATAXFER, T_OUTCON, T_OUTREL, T_INREL and T_INCON.")
{
	xs_valid("t_snddis", S(T_DATAXFER) | S(T_OUTCON) | S(T_OUTREL) |
		S(T_INREL) | S(T_INCON));
}

XS(CO, t_snddis, ERRORS, tbaddata,
	"More user data than the provider permits fails with TBADDATA.")
{
	static char data[4096];
	struct t_call call = {.udata = {.len = sizeof(data), .buf = data}};
	int fd[2];

	xt_pair(fd);
	xs_bounded(xs_info(fd[0]).discon);
	T_TERR(t_snddis(fd[0], &call), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

XS(ANY, t_snddis, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_snddis");
}

XS(CO, t_snddis, ERRORS, tbadseq,
	"A sequence number of no indication fails with TBADSEQ.")
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq + 1000};
	T_TERR(t_snddis(e.fd, &call), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_snddis, ERRORS, tbadseq_null,
	"A null call that is to reject an indication fails with TBADSEQ.")
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	T_TERR(t_snddis(e.fd, NULL), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_snddis, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_snddis(fd[1], NULL), TLOOK);
	T_TOK(t_rcvdis(fd[1], NULL));
}

XS(CL, t_snddis, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_snddis");
}

XS(CO, t_snddis, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_snddis", S(T_DATAXFER) | S(T_OUTCON) | S(T_OUTREL) |
		S(T_INREL) | S(T_INCON));
}

XS(CO, t_snddis, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	xt_pair(fd);
	T_EQ(t_snddis(fd[0], NULL), 0);
	T_EQ(t_snddis(fd[0], NULL), -1);
}

/* ----------------------------------------------------------------- t_rcvdis */

/* A connection that the first end has aborted, with data. */
static void
aborted_with_data(int fd[2])
{
	struct t_call call = {.udata = {.len = 4, .buf = (char *)"data"}};

	xt_pair(fd);
	xs_takes_data(xs_info(fd[0]).discon);
	T_TOK(t_snddis(fd[0], &call));
	T_EVENT(fd[1], T_DISCONNECT);
}

/* ... without. */
static void
aborted(int fd[2])
{
	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
}

XS(CO, t_rcvdis, DESCRIPTION, cause,
	"It tells the reason of a disconnection, and the endpoint is idle.")
{
	struct t_discon dis = {.reason = 0};
	int fd[2];

	aborted(fd);
	T_TOK(t_rcvdis(fd[1], &dis));
	T_NE(dis.reason, 0);
	T_STATE(fd[1], T_IDLE);
}

XS(CO, t_rcvdis, DESCRIPTION, user_data,
	"It tells the user data that came with it.")
{
	struct t_discon dis = {.reason = 0};
	char buf[8];
	int fd[2];

	aborted_with_data(fd);
	dis.udata.buf = buf;
	dis.udata.maxlen = sizeof(buf);
	T_TOK(t_rcvdis(fd[1], &dis));
	T_EQ(dis.udata.len, 4);
	T_MEM(buf, "data", 4);
}

XS(CO, t_rcvdis, DESCRIPTION, maxlen_zero,
	"udata's maxlen may be zero.")
{
	struct t_discon dis = {.reason = 0};
	char c = 'c';
	int fd[2];

	aborted(fd);
	dis.udata.buf = &c;
	T_TOK(t_rcvdis(fd[1], &dis));
	T_EQ(c, 'c');
}

XS(CO, t_rcvdis, DESCRIPTION, null,
	"discon may be null.")
{
	int fd[2];

	aborted(fd);
	T_TOK(t_rcvdis(fd[1], NULL));
	T_STATE(fd[1], T_IDLE);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_rcvdis, DESCRIPTION, sequence,
	"Of several indications sequence tells the one that was withdrawn.")
{
	struct t_discon dis = {.sequence = -77};
	struct xs_callers c;

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	xs_callers(&c);
	T_TOK(t_snddis(c.fd[1], NULL));
	T_EVENT(c.lfd, T_DISCONNECT);
	T_TOK(t_rcvdis(c.lfd, &dis));
	T_EQ(dis.sequence, c.seq[1]);
	T_STATE(c.lfd, T_INCON);
}

XS(CO, t_rcvdis, DESCRIPTION, last_indication,
	"When the only indication was withdrawn the endpoint is idle.")
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	xt_make(&e, T_INCON);
	T_TOK(t_snddis(e.peer, NULL));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TOK(t_rcvdis(e.fd, NULL));
	T_STATE(e.fd, T_IDLE);
}

XS(CO, t_rcvdis, STATES, valid,
	"It works in T_DATAXFER, T_OUTCON, T_OUTREL, T_INREL and T_INCON.")
{
	xs_valid("t_rcvdis", S(T_DATAXFER) | S(T_OUTCON) | S(T_OUTREL) |
		S(T_INREL) | S(T_INCON));
}

XS(ANY, t_rcvdis, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvdis");
}

XS(CO, t_rcvdis, ERRORS, tbufovflw,
	"User data longer than maxlen fails with TBUFOVFLW; the endpoint is idle.")
{
	struct t_discon dis = {.reason = 0};
	int fd[2];
	char c;

	aborted_with_data(fd);
	dis.udata.buf = &c;
	dis.udata.maxlen = 1;
	T_TERR(t_rcvdis(fd[1], &dis), TBUFOVFLW);
	T_STATE(fd[1], T_IDLE);
}

XS(CO, t_rcvdis, DESCRIPTION, null_with_data,
	"With a null discon the user data is discarded.")
{
	int fd[2];

	aborted_with_data(fd);
	T_TOK(t_rcvdis(fd[1], NULL));
	T_STATE(fd[1], T_IDLE);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_rcvdis, ERRORS, tnodis,
	"Without a disconnection it fails with TNODIS, and the state stays.")
{
	struct xt_end e;

	xt_make(&e, T_DATAXFER);
	T_TERR(t_rcvdis(e.fd, NULL), TNODIS);
	T_STATE(e.fd, T_DATAXFER);
}

XS(CL, t_rcvdis, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvdis");
}

XS(CO, t_rcvdis, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvdis", S(T_DATAXFER) | S(T_OUTCON) | S(T_OUTREL) |
		S(T_INREL) | S(T_INCON));
}

XS(CO, t_rcvdis, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	aborted(fd);
	T_EQ(t_rcvdis(fd[1], NULL), 0);
	T_EQ(t_rcvdis(fd[1], NULL), -1);
}
