/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_sndrel, t_rcvrel, t_sndreldata, t_rcvreldata.
 */
#include "statement.h"

/* A connection whose first end has released its direction. */
static void
released(int fd[2])
{
	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
}

/* Providers of connections without orderly release, and of datagrams. */
#define NO_ORD (CL | COTS)

XS(ORD, t_sndrel, DESCRIPTION, releases,
	"It releases the outgoing direction; the other end is told.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_STATE(fd[0], T_OUTREL);
	T_EVENT(fd[1], T_ORDREL);
}

XS(ORD, t_sndrel, DESCRIPTION, no_more_data,
	"Afterwards no data can be sent.")
{
	int fd[2];

	released(fd);
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0), TOUTSTATE);
}

XS(ORD, t_sndrel, DESCRIPTION, still_receives,
	"Afterwards data can be received until the other end releases, too.")
{
	int fd[2], flags;
	char c;

	released(fd);
	T_TOK(t_rcvrel(fd[1]));
	xt_snd_all(fd[1], "x", 1, 0);
	T_EQ(T_TOK(t_rcv(fd[0], &c, 1, &flags)), 1);
}

XS(ORD, t_sndrel, DESCRIPTION, both,
	"When both directions are released the endpoints are idle.")
{
	int fd[2];

	released(fd);
	T_TOK(t_rcvrel(fd[1]));
	T_TOK(t_sndrel(fd[1]));
	T_STATE(fd[1], T_IDLE);
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	T_STATE(fd[0], T_IDLE);
}

XS(ORD, t_sndrel, STATES, valid,
	"It works in T_DATAXFER and T_INREL.")
{
	xs_valid("t_sndrel", S(T_DATAXFER) | S(T_INREL));
}

XS(ANY, t_sndrel, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sndrel");
}

XS(ORD, t_sndrel, ERRORS, tflow,
	"With O_NONBLOCK it may fail with TFLOW, and can then be repeated.")
{
	int fd[2];
	size_t n = xs_full(fd);

	t_errno = 0;
	if (t_sndrel(fd[0]) < 0) {
		T_EQ(t_errno, TFLOW);
		T_STATE(fd[0], T_DATAXFER);
		xs_drain(fd[1], n);
		T_SOON(t_sndrel(fd[0]) == 0, 5000);
	} else {
		xs_drain(fd[1], n);
	}
	T_EVENT(fd[1], T_ORDREL);
}

XS(ORD, t_sndrel, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_sndrel(fd[1]), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XS(NO_ORD, t_sndrel, ERRORS, tnotsupport,
	"A provider without orderly release fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_sndrel");
}

XS(ORD, t_sndrel, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_sndrel", S(T_DATAXFER) | S(T_INREL));
}

XS(ORD, t_sndrel, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	xt_pair(fd);
	T_EQ(t_sndrel(fd[0]), 0);
	T_EQ(t_sndrel(fd[0]), -1);
}

/* ----------------------------------------------------------------- t_rcvrel */

XS(ORD, t_rcvrel, DESCRIPTION, acknowledges,
	"It takes the other end's release.")
{
	int fd[2];

	released(fd);
	T_TOK(t_rcvrel(fd[1]));
	T_STATE(fd[1], T_INREL);
	T_EQ(t_look(fd[1]), 0);
}

XS(ORD, t_rcvrel, DESCRIPTION, no_more_data,
	"Afterwards t_rcv and t_rcvv fail with TOUTSTATE.")
{
	char a[2];
	struct t_iovec iov = {a, 2};
	int fd[2], flags;

	released(fd);
	T_TOK(t_rcvrel(fd[1]));
	T_TERR(t_rcv(fd[1], a, 1, &flags), TOUTSTATE);
	T_TERR(t_rcvv(fd[1], &iov, 1, &flags), TOUTSTATE);
}

XS(ORD, t_rcvrel, DESCRIPTION, still_sends,
	"Afterwards data can be sent until t_sndrel is called.")
{
	int fd[2];
	char c;

	released(fd);
	T_TOK(t_rcvrel(fd[1]));
	T_EQ(T_TOK(t_snd(fd[1], (char *)"x", 1, 0)), 1);
	xt_rcv_all(fd[0], &c, 1);
	T_TOK(t_sndrel(fd[1]));
	T_TERR(t_snd(fd[1], (char *)"x", 1, 0), TOUTSTATE);
}

XS(ORD, t_rcvrel, DESCRIPTION, after_own_release,
	"In T_OUTREL it ends the connection.")
{
	struct xt_end e;

	xt_make(&e, T_OUTREL);
	T_EVENT(e.peer, T_ORDREL);
	T_TOK(t_rcvrel(e.peer));
	T_TOK(t_sndrel(e.peer));
	T_EVENT(e.fd, T_ORDREL);
	T_TOK(t_rcvrel(e.fd));
	T_STATE(e.fd, T_IDLE);
}

XS(ORD, t_rcvrel, STATES, valid,
	"It works in T_DATAXFER and T_OUTREL.")
{
	xs_valid("t_rcvrel", S(T_DATAXFER) | S(T_OUTREL));
}

XS(ANY, t_rcvrel, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvrel");
}

XS(ORD, t_rcvrel, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_rcvrel(fd[1]), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XS(ORD, t_rcvrel, ERRORS, tnorel,
	"Without a release it fails with TNOREL, and the state stays.")
{
	struct xt_end e;

	xt_make(&e, T_DATAXFER);
	T_TERR(t_rcvrel(e.fd), TNOREL);
	T_STATE(e.fd, T_DATAXFER);
}

XS(NO_ORD, t_rcvrel, ERRORS, tnotsupport,
	"A provider without orderly release fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvrel");
}

XS(ORD, t_rcvrel, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvrel", S(T_DATAXFER) | S(T_OUTREL));
}

XS(ORD, t_rcvrel, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	released(fd);
	T_EQ(t_rcvrel(fd[1]), 0);
	T_EQ(t_rcvrel(fd[1]), -1);
}

/* ------------------------------------------------------------- t_sndreldata */

XS(ORD, t_sndreldata, DESCRIPTION, releases,
	"It releases the outgoing direction; the other end is told.")
{
	struct t_discon dis = {.reason = 0};
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndreldata(fd[0], &dis));
	T_STATE(fd[0], T_OUTREL);
	T_EVENT(fd[1], T_ORDREL);
}

XS(ORD, t_sndreldata, DESCRIPTION, null,
	"discon may be null.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndreldata(fd[0], NULL));
	T_STATE(fd[0], T_OUTREL);
}

XS(ORD, t_sndreldata, DESCRIPTION, no_more_data,
	"Afterwards no data can be sent, and data can be received.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_TOK(t_sndreldata(fd[0], NULL));
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0), TOUTSTATE);
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	xt_snd_all(fd[1], "x", 1, 0);
	T_EQ(T_TOK(t_rcv(fd[0], &c, 1, &flags)), 1);
}

XS(ORD, t_sndreldata, STATES, valid,
	"It works in T_DATAXFER and T_INREL.")
{
	xs_valid("t_sndreldata", S(T_DATAXFER) | S(T_INREL));
}

XS(ORD, t_sndreldata, ERRORS, tbaddata,
	"User data for a provider without T_ORDRELDATA fails with TBADDATA.")
{
	struct t_discon dis = {.udata = {.len = 4, .buf = (char *)"data"}};
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	T_EQ(ti.flags & T_ORDRELDATA, 0);
	T_TERR(t_sndreldata(fd[0], &dis), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

XS(ANY, t_sndreldata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sndreldata");
}

XS(ORD, t_sndreldata, ERRORS, tflow,
	"With O_NONBLOCK it may fail with TFLOW, and can then be repeated.")
{
	int fd[2];
	size_t n = xs_full(fd);

	t_errno = 0;
	if (t_sndreldata(fd[0], NULL) < 0) {
		T_EQ(t_errno, TFLOW);
		xs_drain(fd[1], n);
		T_SOON(t_sndreldata(fd[0], NULL) == 0, 5000);
	}
	T_STATE(fd[0], T_OUTREL);
}

XS(ORD, t_sndreldata, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_sndreldata(fd[1], NULL), TLOOK);
}

XS(NO_ORD, t_sndreldata, ERRORS, tnotsupport,
	"A provider without orderly release fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_sndreldata");
}

XS(ORD, t_sndreldata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_sndreldata", S(T_DATAXFER) | S(T_INREL));
}

XS(ORD, t_sndreldata, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	xt_pair(fd);
	T_EQ(t_sndreldata(fd[0], NULL), 0);
	T_EQ(t_sndreldata(fd[0], NULL), -1);
}

/* ------------------------------------------------------------- t_rcvreldata */

XS(ORD, t_rcvreldata, DESCRIPTION, acknowledges,
	"It takes the other end's release.")
{
	struct t_discon dis = {.reason = 0};
	int fd[2];

	released(fd);
	T_TOK(t_rcvreldata(fd[1], &dis));
	T_STATE(fd[1], T_INREL);
}

XS(ORD, t_rcvreldata, DESCRIPTION, null,
	"discon may be null.")
{
	int fd[2];

	released(fd);
	T_TOK(t_rcvreldata(fd[1], NULL));
	T_STATE(fd[1], T_INREL);
}

XS(ORD, t_rcvreldata, DESCRIPTION, as_rcvrel,
	"Without T_ORDRELDATA it is as t_rcvrel, and returns no user data.")
{
	struct t_discon dis = {.reason = 0};
	char buf[4];
	int fd[2];

	released(fd);
	dis.udata.buf = buf;
	dis.udata.maxlen = sizeof(buf);
	dis.udata.len = 3;
	T_TOK(t_rcvreldata(fd[1], &dis));
	T_EQ(dis.udata.len, 0);
}

XS(ORD, t_rcvreldata, DESCRIPTION, no_more_data,
	"Afterwards no data can be received, and data can be sent.")
{
	int fd[2], flags;
	char c;

	released(fd);
	T_TOK(t_rcvreldata(fd[1], NULL));
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TOUTSTATE);
	T_EQ(T_TOK(t_snd(fd[1], (char *)"x", 1, 0)), 1);
}

XS(ORD, t_rcvreldata, STATES, valid,
	"It works in T_DATAXFER and T_OUTREL.")
{
	xs_valid("t_rcvreldata", S(T_DATAXFER) | S(T_OUTREL));
}

XS(ANY, t_rcvreldata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvreldata");
}

XS_NONE(t_rcvreldata, ERRORS, tbufovflw,
	"User data longer than maxlen fails with TBUFOVFLW.",
	"no provider here takes data with a release");

XS(ORD, t_rcvreldata, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_rcvreldata(fd[1], NULL), TLOOK);
}

XS(ORD, t_rcvreldata, ERRORS, tnorel,
	"Without a release it fails with TNOREL, and the state stays.")
{
	struct xt_end e;

	xt_make(&e, T_DATAXFER);
	T_TERR(t_rcvreldata(e.fd, NULL), TNOREL);
	T_STATE(e.fd, T_DATAXFER);
}

XS(NO_ORD, t_rcvreldata, ERRORS, tnotsupport,
	"A provider without orderly release fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvreldata");
}

XS(ORD, t_rcvreldata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvreldata", S(T_DATAXFER) | S(T_OUTREL));
}

XS(ORD, t_rcvreldata, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd[2];

	released(fd);
	T_EQ(t_rcvreldata(fd[1], NULL), 0);
	T_EQ(t_rcvreldata(fd[1], NULL), -1);
}
