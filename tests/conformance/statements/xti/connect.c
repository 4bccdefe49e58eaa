/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_connect, t_rcvconnect.
 */
#include "statement.h"

#include <signal.h>
#include <unistd.h>

/* A child that accepts one call at @lfd and stays. */
static void
accept_elsewhere(int lfd)
{
	if (T_OK(fork()) == 0) {
		xt_accept(lfd);
		pause();
	}
}

/* A caller whose call has been accepted, T_CONNECT waiting. */
static int
accepted(struct xt_addr *at)
{
	int lfd = xt_bound_at(0, 1, at), fd = xt_bound(1, 0);

	xt_call(fd, at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	return fd;
}

/* An address of a listener. */
static int
callee(struct t_call *call, struct xt_addr *at)
{
	int lfd = xt_bound_at(0, 2, at);

	memset(call, 0, sizeof(*call));
	xt_netbuf(&call->addr, at);
	return lfd;
}

XS(CO, t_connect, DESCRIPTION, waits,
	"It waits for the answer, and then the connection is there.")
{
	struct t_call call;
	struct xt_addr at;
	int fd;

	accept_elsewhere(callee(&call, &at));
	fd = xt_bound(0, 0);
	T_TOK(t_connect(fd, &call, NULL));
	T_STATE(fd, T_DATAXFER);
	T_EQ(t_look(fd), 0);
}

XS(CO, t_connect, DESCRIPTION, rcvcall,
	"rcvcall has the address of the endpoint that answered.")
{
	struct t_call call, got = {.sequence = 0};
	struct xt_addr at, from;
	int fd;

	accept_elsewhere(callee(&call, &at));
	fd = xt_bound(0, 0);
	xt_netbuf(&got.addr, &from);
	got.addr.len = 0;
	T_TOK(t_connect(fd, &call, &got));
	T_GT(got.addr.len, 0);
	if (xt->inet) {
		T_EQ(got.addr.len, at.len);
		T_MEM(from.buf, at.buf, at.len);
	}
}

XS(CO, t_connect, DESCRIPTION, maxlen_zero,
	"Of what has a maxlen of zero in rcvcall nothing is returned.")
{
	struct t_call call, got = {.sequence = 0};
	struct xt_addr at;
	char c = 'c';

	accept_elsewhere(callee(&call, &at));
	got.addr.buf = got.opt.buf = got.udata.buf = &c;
	T_TOK(t_connect(xt_bound(0, 0), &call, &got));
	T_EQ(c, 'c');
}

XS(CO, t_connect, DESCRIPTION, maxlen_of_sndcall,
	"maxlen and sequence have no meaning in sndcall.")
{
	struct t_call call;
	struct xt_addr at;
	int fd;

	callee(&call, &at);
	call.addr.maxlen = 0;
	call.sequence = -77;
	fd = xt_bound(1, 0);
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_STATE(fd, T_OUTCON);
}

XS(CO, t_connect, DESCRIPTION, does_not_wait,
	"With O_NONBLOCK it does not wait, fails with TNODATA, and is under way.")
{
	struct t_call call;
	struct xt_addr at;
	int lfd = callee(&call, &at), fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_STATE(fd, T_OUTCON);
	T_EVENT(lfd, T_LISTEN);
}

XS(CO, t_connect, DESCRIPTION, interrupted,
	"A signal while it waits leaves T_OUTCON, and t_rcvconnect can go on.")
{
	struct t_call call;
	struct xt_addr at;
	int lfd = callee(&call, &at), fd = xt_bound(0, 0);
	struct sigaction sa = {.sa_handler = SIG_IGN};

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	xs_alarms();
	T_TERR(t_connect(fd, &call, NULL), TSYSERR);
	T_EQ(errno, EINTR);
	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_STATE(fd, T_OUTCON);
	xt_accept(lfd);
	T_TOK(t_rcvconnect(fd, NULL));
	T_STATE(fd, T_DATAXFER);
}

XS(CO, t_connect, DESCRIPTION, refused,
	"A call that is refused ends with TLOOK and T_DISCONNECT.")
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int fd = xt_bound(0, 0);

	xt_nobody(&at);
	xt_netbuf(&call.addr, &at);
	T_TERR(t_connect(fd, &call, NULL), TLOOK);
	T_EQ(t_look(fd), T_DISCONNECT);
}

XS(CO, t_connect, DESCRIPTION, no_user_data,
	"Without user data in sndcall none is sent.")
{
	struct t_call call, got = {.sequence = 0};
	struct xt_addr at;
	char buf[16];
	int lfd = callee(&call, &at), fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	got.udata.buf = buf;
	got.udata.maxlen = sizeof(buf);
	got.udata.len = 9;
	T_TOK(t_listen(lfd, &got));
	T_EQ(got.udata.len, 0);
}

XS(CO, t_connect, DESCRIPTION, user_data,
	"User data in sndcall is sent to the listener.")
{
	struct t_call call, got = {.sequence = 0};
	struct xt_addr at;
	char buf[16];
	int lfd = callee(&call, &at), fd = xt_bound(1, 0);

	xs_takes_data(xs_info(fd).connect);
	call.udata.buf = (char *)"data";
	call.udata.len = 4;
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	got.udata.buf = buf;
	got.udata.maxlen = sizeof(buf);
	T_TOK(t_listen(lfd, &got));
	T_EQ(got.udata.len, 4);
	T_MEM(buf, "data", 4);
}

XS(CO, t_connect, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_connect", S(T_IDLE));
}

XS_NONE(t_connect, ERRORS, tacces,
	"An address or option that the user may not use fails with TACCES.",
	"every user may call every address of the providers here");

XS_NONE(t_connect, ERRORS, taddrbusy,
	"A connection that exists between the two addresses fails with TADDRBUSY.",
	"two endpoints of the providers here never have one address");

XS(CO, t_connect, ERRORS, tbadaddr,
	"An address of a wrong format fails with TBADADDR.")
{
	static char big[4096];
	struct t_call call = {.addr = {.len = sizeof(big), .buf = big}};
	int fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	call.addr.len = 0;
	T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	if (xt->inet) {
		call.addr.len = 3;
		T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	}
	T_STATE(fd, T_IDLE);
}

XS(CO, t_connect, ERRORS, tbaddata,
	"More user data than the provider permits fails with TBADDATA.")
{
	static char data[4096];
	struct t_call call;
	struct xt_addr at;
	int fd;

	callee(&call, &at);
	fd = xt_bound(1, 0);
	xs_bounded(xs_info(fd).connect);
	call.udata.buf = data;
	call.udata.len = sizeof(data);
	T_TERR(t_connect(fd, &call, NULL), TBADDATA);
	T_STATE(fd, T_IDLE);
}

XS(ANY, t_connect, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_connect");
}

XS(CO, t_connect, ERRORS, tbadopt,
	"Options of a wrong format fail with TBADOPT.")
{
	struct t_opthdr oh = {.len = 999, .level = XTI_GENERIC};
	struct t_call call;
	struct xt_addr at;
	int fd;

	callee(&call, &at);
	fd = xt_bound(1, 0);
	call.opt.buf = &oh;
	call.opt.len = sizeof(oh);
	T_TERR(t_connect(fd, &call, NULL), TBADOPT);
	T_STATE(fd, T_IDLE);
}

XS(CO, t_connect, ERRORS, tbufovflw,
	"What does not fit rcvcall fails with TBUFOVFLW; the connection is there.")
{
	struct t_call call, got = {.sequence = 0};
	struct xt_addr at;
	char c;
	int fd;

	accept_elsewhere(callee(&call, &at));
	fd = xt_bound(0, 0);
	got.addr.buf = &c;
	got.addr.maxlen = 1;
	T_TERR(t_connect(fd, &call, &got), TBUFOVFLW);
	T_STATE(fd, T_DATAXFER);
}

XS(CO, t_connect, ERRORS, tlook,
	"An indication that waits fails it with TLOOK.")
{
	struct t_call call;
	struct xt_addr at, own;
	int lfd, fd = xt_bound(1, 0);

	callee(&call, &at);
	lfd = xt_bound_at(1, 1, &own);
	xt_call(fd, &own);
	T_EVENT(lfd, T_LISTEN);
	T_TERR(t_connect(lfd, &call, NULL), TLOOK);
	T_STATE(lfd, T_IDLE);
}

XS(CO, t_connect, ERRORS, tnodata,
	"With O_NONBLOCK the connection that is not yet there fails it with TNODATA.")
{
	struct t_call call;
	struct xt_addr at;

	callee(&call, &at);
	T_TERR(t_connect(xt_bound(1, 0), &call, NULL), TNODATA);
}

XS(CL, t_connect, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_connect");
}

XS(CO, t_connect, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_connect", S(T_IDLE));
}

XS(CO, t_connect, ERRORS, tsyserr,
	"A system error fails with TSYSERR, and errno says which.")
{
	struct t_call call = {.addr = {.len = 16, .buf = xs_bad()}};
	int fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_IDLE);
}

XS(CO, t_connect, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_call call;
	struct xt_addr at;

	accept_elsewhere(callee(&call, &at));
	T_EQ(t_connect(xt_bound(0, 0), &call, NULL), 0);
	T_EQ(t_connect(xt_open(0), &call, NULL), -1);
}

/* ------------------------------------------------------------- t_rcvconnect */

XS(CO, t_rcvconnect, DESCRIPTION, completes,
	"On success the connection is there.")
{
	struct xt_addr at;
	int fd = accepted(&at);

	T_TOK(t_rcvconnect(fd, NULL));
	T_STATE(fd, T_DATAXFER);
	T_EQ(t_look(fd), 0);
}

XS(CO, t_rcvconnect, DESCRIPTION, address,
	"call has the address of the endpoint that answered.")
{
	struct t_call got = {.sequence = 0};
	struct xt_addr at, from;
	int fd = accepted(&at);

	xt_netbuf(&got.addr, &from);
	got.addr.len = 0;
	T_TOK(t_rcvconnect(fd, &got));
	T_GT(got.addr.len, 0);
}

XS(CO, t_rcvconnect, DESCRIPTION, maxlen_zero,
	"Of what has a maxlen of zero nothing is returned.")
{
	struct t_call got = {.sequence = 0};
	struct xt_addr at;
	int fd = accepted(&at);
	char c = 'c';

	got.addr.buf = got.opt.buf = got.udata.buf = &c;
	T_TOK(t_rcvconnect(fd, &got));
	T_EQ(c, 'c');
}

XS(CO, t_rcvconnect, DESCRIPTION, waits,
	"It waits for the answer.")
{
	struct t_call call;
	struct xt_addr at;
	int lfd = callee(&call, &at), fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	xt_block(fd, 1);
	accept_elsewhere(lfd);
	T_TOK(t_rcvconnect(fd, NULL));
	T_STATE(fd, T_DATAXFER);
}

XS(CO, t_rcvconnect, DESCRIPTION, may_be_cancelled,
	"t_snddis ends the attempt instead.")
{
	struct xt_end e;

	xt_make(&e, T_OUTCON);
	T_TOK(t_snddis(e.fd, NULL));
	T_STATE(e.fd, T_IDLE);
}

XS(CO, t_rcvconnect, STATES, valid,
	"It works in T_OUTCON.")
{
	xs_valid("t_rcvconnect", S(T_OUTCON));
}

XS(ANY, t_rcvconnect, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvconnect");
}

XS(CO, t_rcvconnect, ERRORS, tbufovflw,
	"What does not fit fails with TBUFOVFLW; the connection is there.")
{
	struct t_call got = {.sequence = 0};
	struct xt_addr at;
	int fd = accepted(&at);
	char c;

	got.addr.buf = &c;
	got.addr.maxlen = 1;
	T_TERR(t_rcvconnect(fd, &got), TBUFOVFLW);
	T_STATE(fd, T_DATAXFER);
}

XS(CO, t_rcvconnect, ERRORS, tbufovflw_data,
	"User data longer than its maxlen fails with TBUFOVFLW, too.")
{
	struct t_call got = {.sequence = 0};
	struct xt_end e;
	char c;

	xt_make(&e, T_INCON);
	xs_takes_data(xs_info(e.fd).connect);
	struct t_call call = {.sequence = e.seq,
		.udata = {.len = 4, .buf = (char *)"data"}};
	T_TOK(t_accept(e.fd, xt_open(0), &call));
	T_EVENT(e.peer, T_CONNECT);
	got.udata.buf = &c;
	got.udata.maxlen = 1;
	T_TERR(t_rcvconnect(e.peer, &got), TBUFOVFLW);
	T_STATE(e.peer, T_DATAXFER);
}

XS(CO, t_rcvconnect, ERRORS, tlook,
	"A refusal that has come fails it with TLOOK.")
{
	struct xt_addr at;
	int fd = xt_bound(1, 0);

	xt_nobody(&at);
	xt_call(fd, &at);
	T_EVENT(fd, T_DISCONNECT);
	T_TERR(t_rcvconnect(fd, NULL), TLOOK);
	T_EQ(t_look(fd), T_DISCONNECT);
}

XS(CO, t_rcvconnect, ERRORS, tnodata,
	"With O_NONBLOCK and no answer it fails with TNODATA, and can be repeated.")
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	xt_make(&e, T_OUTCON);
	T_TERR(t_rcvconnect(e.fd, NULL), TNODATA);
	T_TERR(t_rcvconnect(e.fd, NULL), TNODATA);
	xt_accept(e.extra);
	T_EVENT(e.fd, T_CONNECT);
	T_TOK(t_rcvconnect(e.fd, NULL));
}

XS(CL, t_rcvconnect, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvconnect");
}

XS(CO, t_rcvconnect, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvconnect", S(T_OUTCON));
}

XS(CO, t_rcvconnect, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct xt_addr at;
	int fd = accepted(&at);

	T_EQ(t_rcvconnect(fd, NULL), 0);
	T_EQ(t_rcvconnect(fd, NULL), -1);
}
