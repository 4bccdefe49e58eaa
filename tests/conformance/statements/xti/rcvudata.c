/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_rcvudata, t_rcvvudata, t_rcvuderr.
 */
#include "statement.h"

#include <unistd.h>

/* Two endpoints; @n bytes of the alphabet have come to the second. */
static void
sent(struct xs_two *w, unsigned n)
{
	xs_two(w, 0);
	T_TOK(xs_send(w, 0, "abcdefghijklmnopqrstuvwxyz", n));
	T_EVENT(w->fd[1], T_DATA);
}

/* Where a data unit and its address go. */
struct place {
	struct t_unitdata ud;
	struct xt_addr from;
	char buf[32];
};

static void
place(struct place *p, unsigned room)
{
	memset(p, 0, sizeof(*p));
	xt_netbuf(&p->ud.addr, &p->from);
	p->ud.addr.len = 77;
	p->ud.udata.buf = p->buf;
	p->ud.udata.maxlen = room;
}

XS(CL, t_rcvudata, DESCRIPTION, unit,
	"It returns the unit's data, and the address of its sender.")
{
	struct xs_two w;
	struct place p;
	int flags = ~0;

	sent(&w, 5);
	place(&p, 32);
	T_TOK(t_rcvudata(w.fd[1], &p.ud, &flags));
	T_EQ(p.ud.udata.len, 5);
	T_MEM(p.buf, "abcde", 5);
	T_EQ(p.ud.addr.len, w.at[0].len);
	T_MEM(p.from.buf, w.at[0].buf, w.at[0].len);
	T_EQ(flags, 0);
}

XS(CL, t_rcvudata, DESCRIPTION, maxlen_zero,
	"With a maxlen of zero no address and no options are returned.")
{
	struct xs_two w;
	struct place p;
	int flags;
	char c = 'c';

	sent(&w, 5);
	place(&p, 32);
	p.ud.addr = p.ud.opt = (struct netbuf){.buf = &c};
	T_TOK(t_rcvudata(w.fd[1], &p.ud, &flags));
	T_EQ(c, 'c');
}

XS(CL, t_rcvudata, DESCRIPTION, boundaries,
	"Each unit is received by itself.")
{
	struct xs_two w;
	char buf[32];

	sent(&w, 3);
	T_TOK(xs_send(&w, 0, "xy", 2));
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 32, NULL)), 3);
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 32, NULL)), 2);
	T_MEM(buf, "xy", 2);
}

XS(CL, t_rcvudata, DESCRIPTION, waits,
	"It waits for a unit.")
{
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(xs_send(&w, 0, "x", 1));
		_exit(0);
	}
	T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 1);
}

XS(CL, t_rcvudata, DESCRIPTION, more,
	"A short buffer is filled, and T_MORE tells that there is more.")
{
	struct xs_two w;
	int flags = 0;
	char buf[4];

	sent(&w, 10);
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 4, &flags)), 4);
	T_EQ(flags, T_MORE);
	T_MEM(buf, "abcd", 4);
}

XS(CL, t_rcvudata, DESCRIPTION, the_rest,
	"The next calls return the rest, with an address and options of length zero.")
{
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 10);
	place(&p, 4);
	T_TOK(t_rcvudata(w.fd[1], &p.ud, &flags));
	place(&p, 4);
	p.ud.opt.len = 77;
	T_TOK(t_rcvudata(w.fd[1], &p.ud, &flags));
	T_EQ(flags, T_MORE);
	T_MEM(p.buf, "efgh", 4);
	T_EQ(p.ud.addr.len, 0);
	T_EQ(p.ud.opt.len, 0);
	place(&p, 4);
	T_TOK(t_rcvudata(w.fd[1], &p.ud, &flags));
	T_EQ(flags, 0);
	T_EQ(p.ud.udata.len, 2);
}

XS(CL, t_rcvudata, DESCRIPTION, interrupted,
	"A signal while it waits fails with EINTR, and takes no unit away.")
{
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	xs_alarms();
	T_TERR(xs_receive(&w, 1, &c, 1, NULL), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(w.fd[1], T_IDLE);
	T_TOK(xs_send(&w, 0, "x", 1));
	T_EVENT(w.fd[1], T_DATA);
	T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 1);
}

XS(CL, t_rcvudata, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_rcvudata", S(T_IDLE));
}

XS(ANY, t_rcvudata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvudata");
}

XS(CL, t_rcvudata, ERRORS, tbufovflw,
	"An address longer than maxlen fails with TBUFOVFLW; the unit is discarded.")
{
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 5);
	T_TOK(xs_send(&w, 0, "xy", 2));
	place(&p, 32);
	p.ud.addr.maxlen = 1;
	T_TERR(t_rcvudata(w.fd[1], &p.ud, &flags), TBUFOVFLW);
	T_EQ(T_TOK(xs_receive(&w, 1, p.buf, 32, NULL)), 2);
}

XS(CL, t_rcvudata, ERRORS, tlook,
	"A unit's error that has come fails it with TLOOK.")
{
	struct xs_two w;
	char c;

	xs_uderr(&w);
	T_TERR(xs_receive(&w, 0, &c, 1, NULL), TLOOK);
	T_EQ(t_look(w.fd[0]), T_UDERR);
}

XS(CL, t_rcvudata, ERRORS, tnodata,
	"With O_NONBLOCK and no unit it fails with TNODATA.")
{
	struct xs_two w;
	char c;

	xs_two(&w, 1);
	T_TERR(xs_receive(&w, 1, &c, 1, NULL), TNODATA);
}

XS(CO, t_rcvudata, ERRORS, tnotsupport,
	"A provider without datagrams fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvudata");
}

XS(CL, t_rcvudata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvudata", S(T_IDLE));
}

XS(CL, t_rcvudata, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 5);
	place(&p, 32);
	T_EQ(t_rcvudata(w.fd[1], &p.ud, &flags), 0);
	T_EQ(t_rcvudata(-1, &p.ud, &flags), -1);
}

/* -------------------------------------------------------------- t_rcvvudata */

XS(CL, t_rcvvudata, DESCRIPTION, fills_in_order,
	"It fills each area before it goes on to the next, and tells the sender.")
{
	char a[2], b[8];
	struct t_iovec iov[2] = {{a, 2}, {b, 8}};
	struct xs_two w;
	struct place p;
	int flags = ~0;

	sent(&w, 5);
	place(&p, 0);
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &p.ud, iov, 2, &flags)), 5);
	T_MEM(a, "ab", 2);
	T_MEM(b, "cde", 3);
	T_EQ(p.ud.addr.len, w.at[0].len);
	T_EQ(flags, 0);
}

XS(CL, t_rcvvudata, DESCRIPTION, udata_unused,
	"udata is not used.")
{
	char a[8];
	struct t_iovec iov = {a, 8};
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 5);
	place(&p, 32);
	p.ud.udata.len = 77;
	memset(p.buf, '.', sizeof(p.buf));
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &p.ud, &iov, 1, &flags)), 5);
	T_MEM(p.buf, ".....", 5);
}

XS(CL, t_rcvvudata, DESCRIPTION, more,
	"Areas that are short are filled, and T_MORE tells that there is more.")
{
	char a[2], b[2];
	struct t_iovec iov[2] = {{a, 2}, {b, 2}};
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 6);
	place(&p, 0);
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &p.ud, iov, 2, &flags)), 4);
	T_EQ(flags, T_MORE);
	place(&p, 0);
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &p.ud, iov, 2, &flags)), 2);
	T_EQ(flags, 0);
	T_EQ(p.ud.addr.len, 0);
	T_MEM(a, "ef", 2);
}

XS(CL, t_rcvvudata, DESCRIPTION, interrupted,
	"A signal while it waits fails with EINTR.")
{
	char a[8];
	struct t_iovec iov = {a, 8};
	struct xs_two w;
	struct place p;
	int flags;

	xs_two(&w, 0);
	place(&p, 0);
	xs_alarms();
	T_TERR(t_rcvvudata(w.fd[1], &p.ud, &iov, 1, &flags), TSYSERR);
	T_EQ(errno, EINTR);
}

XS(CL, t_rcvvudata, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_rcvvudata", S(T_IDLE));
}

XS(CL, t_rcvvudata, ERRORS, tbaddata,
	"More areas than T_IOV_MAX fail with TBADDATA.")
{
	static struct t_iovec iov[1025];
	struct xs_two w;
	struct place p;
	int flags, n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 1024);
	for (int i = 0; i <= n; i++)
		iov[i] = (struct t_iovec){p.buf, 1};
	sent(&w, 5);
	place(&p, 0);
	T_TERR(t_rcvvudata(w.fd[1], &p.ud, iov, (unsigned)n + 1, &flags),
		TBADDATA);
	T_EQ(t_look(w.fd[1]), T_DATA);
}

XS(ANY, t_rcvvudata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvvudata");
}

XS(CL, t_rcvvudata, ERRORS, tbufovflw,
	"An address longer than maxlen fails with TBUFOVFLW; the unit is discarded.")
{
	char a[8];
	struct t_iovec iov = {a, 8};
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 5);
	T_TOK(xs_send(&w, 0, "xy", 2));
	place(&p, 0);
	p.ud.addr.maxlen = 1;
	T_TERR(t_rcvvudata(w.fd[1], &p.ud, &iov, 1, &flags), TBUFOVFLW);
	place(&p, 0);
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &p.ud, &iov, 1, &flags)), 2);
}

XS(CL, t_rcvvudata, ERRORS, tlook,
	"A unit's error that has come fails it with TLOOK.")
{
	struct xs_two w;
	struct xt_end e = {.peer = -1, .extra = -1};

	xs_uderr(&w);
	e.fd = w.fd[0];
	T_TERR(xs_call("t_rcvvudata", &e), TLOOK);
}

XS(CL, t_rcvvudata, ERRORS, tnodata,
	"With O_NONBLOCK and no unit it fails with TNODATA.")
{
	struct xt_end e;

	xt_make(&e, T_IDLE);
	T_TERR(xs_call("t_rcvvudata", &e), TNODATA);
}

XS(CO, t_rcvvudata, ERRORS, tnotsupport,
	"A provider without datagrams fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvvudata");
}

XS(CL, t_rcvvudata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvvudata", S(T_IDLE));
}

XS(CL, t_rcvvudata, RETURN, bytes,
	"It returns the number of bytes, and -1 with t_errno on failure.")
{
	char a[8];
	struct t_iovec iov = {a, 8};
	struct xs_two w;
	struct place p;
	int flags;

	sent(&w, 5);
	place(&p, 0);
	T_EQ(t_rcvvudata(w.fd[1], &p.ud, &iov, 1, &flags), 5);
	T_EQ(t_rcvvudata(-1, &p.ud, &iov, 1, &flags), -1);
}

/* --------------------------------------------------------------- t_rcvuderr */

XS(CL, t_rcvuderr, DESCRIPTION, unit,
	"It tells the destination of the unit in error, and the error.")
{
	struct t_uderr ue = {.error = 0};
	struct xt_addr to;
	struct xs_two w;

	xs_uderr(&w);
	xt_netbuf(&ue.addr, &to);
	T_TOK(t_rcvuderr(w.fd[0], &ue));
	T_NE(ue.error, 0);
	T_EQ(ue.addr.len, w.at[1].len);
	T_MEM(to.buf, w.at[1].buf, ue.addr.len);
}

XS(CL, t_rcvuderr, DESCRIPTION, maxlen_zero,
	"With a maxlen of zero no address and no options are returned.")
{
	struct t_uderr ue = {.error = 0};
	struct xs_two w;
	char c = 'c';

	xs_uderr(&w);
	ue.addr.buf = ue.opt.buf = &c;
	T_TOK(t_rcvuderr(w.fd[0], &ue));
	T_EQ(c, 'c');
}

XS(CL, t_rcvuderr, DESCRIPTION, null,
	"With a null uderr it only takes the error away.")
{
	struct xs_two w;

	xs_uderr(&w);
	T_TOK(t_rcvuderr(w.fd[0], NULL));
	T_EQ(t_look(w.fd[0]), 0);
}

XS(CL, t_rcvuderr, DESCRIPTION, goes_on,
	"Afterwards units can be sent and received again.")
{
	struct xs_two w;
	struct xt_addr self;
	int fd;

	xs_uderr(&w);
	T_TOK(t_rcvuderr(w.fd[0], NULL));
	fd = xt_bound_at(0, 0, &self);
	w.at[1] = self;
	T_TOK(xs_send(&w, 0, "x", 1));
	T_EVENT(fd, T_DATA);
}

XS(CL, t_rcvuderr, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_rcvuderr", S(T_IDLE));
}

XS(ANY, t_rcvuderr, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvuderr");
}

XS(CL, t_rcvuderr, ERRORS, tbufovflw,
	"An address longer than maxlen fails with TBUFOVFLW; the error is discarded.")
{
	struct t_uderr ue = {.error = 0};
	struct xs_two w;
	char c;

	xs_uderr(&w);
	ue.addr.buf = &c;
	ue.addr.maxlen = 1;
	T_TERR(t_rcvuderr(w.fd[0], &ue), TBUFOVFLW);
	T_EQ(t_look(w.fd[0]), 0);
}

XS(CO, t_rcvuderr, ERRORS, tnotsupport,
	"A provider without datagrams fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvuderr");
}

XS(CL, t_rcvuderr, ERRORS, tnouderr,
	"Without an error it fails with TNOUDERR.")
{
	struct xs_two w;

	xs_two(&w, 0);
	T_TERR(t_rcvuderr(w.fd[0], NULL), TNOUDERR);
	T_STATE(w.fd[0], T_IDLE);
}

XS(CL, t_rcvuderr, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvuderr", S(T_IDLE));
}

XS(CL, t_rcvuderr, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct xs_two w;

	xs_uderr(&w);
	T_EQ(t_rcvuderr(w.fd[0], NULL), 0);
	T_EQ(t_rcvuderr(w.fd[0], NULL), -1);
}
