/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_sndudata, t_sndvudata.
 */
#include "statement.h"

#include <unistd.h>

static char big[1 << 17];

/* The length that a unit of @fd's provider may have. */
static unsigned
tsdu(int fd)
{
	struct t_info ti;

	T_TOK(t_getinfo(fd, &ti));
	T_GT(ti.tsdu, 0);
	T_LT((unsigned)ti.tsdu, sizeof(big));
	return (unsigned)ti.tsdu;
}

/* A nonblocking endpoint whose partner has no room; how many units it has. */
static int
no_room(struct xs_two *w)
{
	int n = 0;

	if (xt->inet && !xt->native)
		T_SKIP("the kernel drops what there is no room for");
	xs_two(w, 1);
	t_errno = 0;
	while (xs_send(w, 0, big, 4096) == 0)
		T_LT(n++, 100000);
	T_EQ(t_errno, TFLOW);
	return n;
}

XS(CL, t_sndudata, DESCRIPTION, unit,
	"It sends a unit to the address.")
{
	struct xs_two w;
	char buf[8];

	xs_two(&w, 0);
	T_TOK(xs_send(&w, 0, "hello", 5));
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 8, NULL)), 5);
	T_MEM(buf, "hello", 5);
}

XS(CL, t_sndudata, DESCRIPTION, itself,
	"An endpoint can send to itself.")
{
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	w.at[1] = w.at[0];
	T_TOK(xs_send(&w, 0, "x", 1));
	T_EQ(T_TOK(xs_receive(&w, 0, &c, 1, NULL)), 1);
}

XS(CL, t_sndudata, DESCRIPTION, longest,
	"A unit may have as many bytes as tsdu tells.")
{
	static char in[sizeof(big)];
	struct xs_two w;
	unsigned n;

	xs_two(&w, 0);
	n = tsdu(w.fd[0]);
	memset(big, 'b', n);
	T_TOK(xs_send(&w, 0, big, n));
	T_EQ(T_TOK(xs_receive(&w, 1, in, sizeof(in), NULL)), (int)n);
	T_MEM(in, big, n);
}

XS(CL, t_sndudata, DESCRIPTION, no_bytes,
	"With T_SENDZERO a unit may have no bytes.")
{
	struct t_info ti;
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	T_TOK(t_getinfo(w.fd[0], &ti));
	if ((ti.flags & T_SENDZERO) == 0) {
		T_TERR(xs_send(&w, 0, "", 0), TBADDATA);
		return;
	}
	T_TOK(xs_send(&w, 0, "", 0));
	T_EVENT(w.fd[1], T_DATA);
	T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 0);
}

XS(CL, t_sndudata, DESCRIPTION, maxlens_mean_nothing,
	"The maxlen fields have no meaning.")
{
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"}};
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	ud.addr.maxlen = ud.opt.maxlen = ud.udata.maxlen = 0;
	T_TOK(t_sndudata(w.fd[0], &ud));
	T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 1);
}

XS(CL, t_sndudata, DESCRIPTION, before_bind,
	"A unit to an address that is not yet bound may be lost, or be in error.")
{
	struct xs_two w;

	xs_two(&w, 0);
	xt_nobody(&w.at[1]);
	T_TOK(xs_send(&w, 0, "x", 1));
	T_STATE(w.fd[0], T_IDLE);
}

XS(CL, t_sndudata, DESCRIPTION, waits,
	"It waits while flow control does not let the unit go.")
{
	struct xs_two w;
	int n = no_room(&w);

	xt_block(w.fd[0], 1);
	xt_block(w.fd[1], 1);
	if (T_OK(fork()) == 0) {
		for (int i = 0; i <= n; i++)
			T_TOK(xs_receive(&w, 1, big, sizeof(big), NULL));
		_exit(0);
	}
	T_TOK(xs_send(&w, 0, "after", 5));
}

XS(CL, t_sndudata, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_sndudata", S(T_IDLE));
}

XS(CL, t_sndudata, ERRORS, tbadaddr,
	"An address of a wrong format fails with TBADADDR.")
{
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"}};
	int fd = xt_bound(0, 0);

	T_TERR(t_sndudata(fd, &ud), TBADADDR);
	ud.addr.buf = big;
	ud.addr.len = 4096;
	T_TERR(t_sndudata(fd, &ud), TBADADDR);
	T_STATE(fd, T_IDLE);
}

XS(CL, t_sndudata, ERRORS, tbaddata,
	"More bytes than tsdu tells fail with TBADDATA.")
{
	struct xs_two w;

	xs_two(&w, 0);
	T_TERR(xs_send(&w, 0, big, tsdu(w.fd[0]) + 1), TBADDATA);
	T_EQ(t_look(w.fd[1]), 0);
}

XS(ANY, t_sndudata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sndudata");
}

XS(CL, t_sndudata, ERRORS, tbadopt,
	"Options of a wrong format fail with TBADOPT, or with an error indication.")
{
	struct t_opthdr oh = {.len = 999, .level = XTI_GENERIC};
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"},
		.opt = {.len = sizeof(oh), .buf = &oh}};
	struct t_uderr ue = {.error = 0};
	struct xs_two w;

	xs_two(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	t_errno = 0;
	if (t_sndudata(w.fd[0], &ud) < 0) {
		T_EQ(t_errno, TBADOPT);
		return;
	}
	T_EVENT(w.fd[0], T_UDERR);
	T_TOK(t_rcvuderr(w.fd[0], &ue));
	T_NE(ue.error, 0); /* the code is the protocol's own */
}

XS(CL, t_sndudata, ERRORS, tflow,
	"With O_NONBLOCK and no room it fails with TFLOW.")
{
	struct xs_two w;

	no_room(&w);
	T_TERR(xs_send(&w, 0, big, 4096), TFLOW);
	T_STATE(w.fd[0], T_IDLE);
}

XS(CL, t_sndudata, ERRORS, tlook,
	"A unit's error that has come fails it with TLOOK.")
{
	struct xs_two w;

	xs_uderr(&w);
	T_TERR(xs_send(&w, 0, "x", 1), TLOOK);
	T_EQ(t_look(w.fd[0]), T_UDERR);
}

XS(CO, t_sndudata, ERRORS, tnotsupport,
	"A provider without datagrams fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_sndudata");
}

XS(CL, t_sndudata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_sndudata", S(T_IDLE));
}

XS(CL, t_sndudata, ERRORS, tsyserr,
	"A signal while it waits fails with TSYSERR and EINTR; nothing is sent.")
{
	struct xs_two w;
	int n = no_room(&w), got = 0;

	xt_block(w.fd[0], 1);
	xs_alarms();
	T_TERR(xs_send(&w, 0, big, 4096), TSYSERR);
	T_EQ(errno, EINTR);
	/* fewer than n if this process had no CPU for so long that units were
	 * dropped */
	while (xs_receive(&w, 1, big, sizeof(big), NULL) >= 0)
		got++;
	T_EQ(t_errno, TNODATA);
	T_LE(got, n);
	T_GT(got, 0);
}

XS(CL, t_sndudata, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"}};
	struct xs_two w;

	xs_two(&w, 0);
	T_EQ(xs_send(&w, 0, "x", 1), 0);
	T_EQ(t_sndudata(-1, &ud), -1);
}

/* -------------------------------------------------------------- t_sndvudata */

static int
sndv(struct xs_two *w, struct t_iovec *iov, unsigned n)
{
	struct t_unitdata ud = {.udata = {.len = 0}};

	xt_netbuf(&ud.addr, &w->at[1]);
	return t_sndvudata(w->fd[0], &ud, iov, n);
}

XS(CL, t_sndvudata, DESCRIPTION, gathers,
	"The areas, one after the other, are one unit.")
{
	struct t_iovec iov[3] = {{(char *)"ab", 2}, {(char *)"", 0},
		{(char *)"cde", 3}};
	struct xs_two w;
	char buf[8];

	xs_two(&w, 0);
	T_TOK(sndv(&w, iov, 3));
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 8, NULL)), 5);
	T_MEM(buf, "abcde", 5);
}

XS(CL, t_sndvudata, DESCRIPTION, udata_unused,
	"udata is not used.")
{
	struct t_iovec iov = {(char *)"ab", 2};
	struct t_unitdata ud = {.udata = {.len = 5, .buf = (char *)"never"}};
	struct xs_two w;
	char buf[8];

	xs_two(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	T_TOK(t_sndvudata(w.fd[0], &ud, &iov, 1));
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 8, NULL)), 2);
	T_MEM(buf, "ab", 2);
}

XS(CL, t_sndvudata, DESCRIPTION, most_areas,
	"As many areas as t_sysconf tells can be given.")
{
	struct t_iovec iov[64];
	struct xs_two w;
	char buf[64];
	int n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 64);
	for (int i = 0; i < n; i++)
		iov[i] = (struct t_iovec){(char *)"x", 1};
	xs_two(&w, 0);
	T_TOK(sndv(&w, iov, (unsigned)n));
	T_EQ(T_TOK(xs_receive(&w, 1, buf, 64, NULL)), n);
}

XS(CL, t_sndvudata, DESCRIPTION, waits,
	"It waits while flow control does not let the unit go.")
{
	struct t_iovec iov = {big, 4096};
	struct xs_two w;
	int n = no_room(&w);

	xt_block(w.fd[0], 1);
	xt_block(w.fd[1], 1);
	if (T_OK(fork()) == 0) {
		for (int i = 0; i <= n; i++)
			T_TOK(xs_receive(&w, 1, big, sizeof(big), NULL));
		_exit(0);
	}
	T_TOK(sndv(&w, &iov, 1));
}

XS(CL, t_sndvudata, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_sndvudata", S(T_IDLE));
}

XS(CL, t_sndvudata, ERRORS, tbadaddr,
	"An address of a wrong format fails with TBADADDR.")
{
	struct t_iovec iov = {(char *)"ab", 2};
	struct t_unitdata ud = {.udata = {.len = 0}};
	int fd = xt_bound(0, 0);

	T_TERR(t_sndvudata(fd, &ud, &iov, 1), TBADADDR);
	ud.addr.buf = big;
	ud.addr.len = 4096;
	T_TERR(t_sndvudata(fd, &ud, &iov, 1), TBADADDR);
}

XS(CL, t_sndvudata, ERRORS, tbaddata,
	"More areas than T_IOV_MAX fail with TBADDATA.")
{
	static struct t_iovec iov[1025];
	struct xs_two w;
	int n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 1024);
	for (int i = 0; i <= n; i++)
		iov[i] = (struct t_iovec){(char *)"x", 1};
	xs_two(&w, 0);
	T_TERR(sndv(&w, iov, (unsigned)n + 1), TBADDATA);
	T_EQ(t_look(w.fd[1]), 0);
}

XS(CL, t_sndvudata, ERRORS, tbaddata_long,
	"More bytes in all than tsdu tells fail with TBADDATA.")
{
	struct t_iovec iov[2] = {{big, 1}, {big, 0}};
	struct xs_two w;

	xs_two(&w, 0);
	iov[1].iov_len = tsdu(w.fd[0]);
	T_TERR(sndv(&w, iov, 2), TBADDATA);
	iov[0].iov_len = 0;
	T_TOK(sndv(&w, iov, 2));
}

XS(ANY, t_sndvudata, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sndvudata");
}

XS(CL, t_sndvudata, ERRORS, tbadopt,
	"Options of a wrong format fail with TBADOPT, or with an error indication.")
{
	struct t_opthdr oh = {.len = 999, .level = XTI_GENERIC};
	struct t_unitdata ud = {.opt = {.len = sizeof(oh), .buf = &oh}};
	struct t_iovec iov = {(char *)"ab", 2};
	struct xs_two w;

	xs_two(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	t_errno = 0;
	if (t_sndvudata(w.fd[0], &ud, &iov, 1) < 0)
		T_EQ(t_errno, TBADOPT);
	else
		T_EVENT(w.fd[0], T_UDERR);
}

XS(CL, t_sndvudata, ERRORS, tflow,
	"With O_NONBLOCK and no room it fails with TFLOW.")
{
	struct t_iovec iov = {big, 4096};
	struct xs_two w;

	no_room(&w);
	T_TERR(sndv(&w, &iov, 1), TFLOW);
}

XS(CL, t_sndvudata, ERRORS, tlook,
	"A unit's error that has come fails it with TLOOK.")
{
	struct t_iovec iov = {(char *)"ab", 2};
	struct xs_two w;

	xs_uderr(&w);
	T_TERR(sndv(&w, &iov, 1), TLOOK);
}

XS(CO, t_sndvudata, ERRORS, tnotsupport,
	"A provider without datagrams fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_sndvudata");
}

XS(CL, t_sndvudata, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_sndvudata", S(T_IDLE));
}

XS(CL, t_sndvudata, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_iovec iov = {(char *)"ab", 2};
	struct xs_two w;

	xs_two(&w, 0);
	T_EQ(sndv(&w, &iov, 1), 0);
	w.fd[0] = -1;
	T_EQ(sndv(&w, &iov, 1), -1);
}
