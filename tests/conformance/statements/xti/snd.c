/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_snd, t_sndv.
 */
#include "statement.h"

#include <unistd.h>

/* More than any expedited unit has, or than a limit of units. */
static char big[1 << 20];

XS(CO, t_snd, DESCRIPTION, data,
	"What it has accepted arrives at the other end, in order.")
{
	char buf[6];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"abc", 3, 0)), 3);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"def", 3, 0)), 3);
	xt_rcv_all(fd[1], buf, 6);
	T_MEM(buf, "abcdef", 6);
}

XS(CO, t_snd, DESCRIPTION, expedited,
	"T_EXPEDITED sends the data as expedited data.")
{
	int fd[2], flags = 0;
	char c;

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(flags, T_EXPEDITED);
}

XS(CO, t_snd, DESCRIPTION, more_without_units,
	"Where there are no units T_MORE is ignored.")
{
	struct t_info ti;
	char buf[2];
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.tsdu != 0)
		T_SKIP("this provider has units");
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, T_MORE)), 1);
	xt_rcv_all(fd[1], buf, 1);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"y", 1, 0)), 1);
	xt_rcv_all(fd[1], buf, 1);
}

XS(CO, t_snd, DESCRIPTION, more_with_units,
	"With units T_MORE tells that more of this one follows.")
{
	struct t_info ti;
	char buf[4];
	int fd[2], flags;

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.tsdu == 0)
		T_SKIP("a stream of bytes has no units");
	if (xt->whole)
		T_SKIP("a piece waits for the next one");
	T_EQ(T_TOK(t_snd(fd[0], (char *)"ab", 2, T_MORE)), 2);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 2);
	T_EQ(flags, T_MORE);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"cd", 2, 0)), 2);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 2);
	T_EQ(flags, 0);
}

XS(CO, t_snd, DESCRIPTION, push,
	"T_PUSH is accepted with every other flag.")
{
	char buf[3];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, T_PUSH)), 1);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"y", 1, T_PUSH | T_MORE)), 1);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"z", 1, T_PUSH)), 1);
	xt_rcv_all(fd[1], buf, 3);
	T_MEM(buf, "xyz", 3);
}

XS(CO, t_snd, DESCRIPTION, waits,
	"It waits while flow control does not let the data go.")
{
	int fd[2];
	size_t n = xs_full(fd);

	xt_block(fd[0], 1);
	if (T_OK(fork()) == 0) {
		xs_drain(fd[1], n + 5);
		_exit(0);
	}
	T_EQ(T_TOK(t_snd(fd[0], (char *)"after", 5, 0)), 5);
}

XS(CO, t_snd, DESCRIPTION, partial,
	"With O_NONBLOCK it may accept a part of the data, and tells how much.")
{
	size_t n = 0, rest;
	int fd[2], got;

	xt_pair(fd);
	xt_block(fd[0], 0);
	while ((got = t_snd(fd[0], big, sizeof(big), 0)) > 0) {
		T_LE(got, (int)sizeof(big));
		n += (size_t)got;
	}
	T_EQ(t_errno, TFLOW);
	/* the last piece of a unit may wait for the next one */
	rest = xt->whole ? sizeof(big) - n % sizeof(big) : 0;
	if (rest != 0 && T_OK(fork()) == 0) {
		xt_block(fd[0], 1);
		T_EQ(T_TOK(t_snd(fd[0], big, (unsigned)rest, 0)), rest);
		_exit(0);
	}
	n += rest;
	xs_drain(fd[1], n);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_snd, DESCRIPTION, whole,
	"Without O_NONBLOCK and without a signal it accepts all of the data.")
{
	int fd[2];

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		xs_drain(fd[1], sizeof(big));
		_exit(0);
	}
	T_EQ(T_TOK(t_snd(fd[0], big, sizeof(big), 0)), (int)sizeof(big));
}

XS(ORD, t_snd, DESCRIPTION, after_rcvrel,
	"After the other end's orderly release data can still be sent.")
{
	struct xt_end e;
	char c;

	xt_make(&e, T_INREL);
	T_EQ(T_TOK(t_snd(e.fd, (char *)"x", 1, 0)), 1);
	xt_rcv_all(e.peer, &c, 1);
	T_EQ(c, 'x');
}

XS(CO, t_snd, STATES, valid,
	"It works in T_DATAXFER and T_INREL.")
{
	xs_valid("t_snd", S(T_DATAXFER) | S(T_INREL));
}

XS(CO, t_snd, ERRORS, tbaddata_zero,
	"No bytes fail with TBADDATA unless the provider has T_SENDZERO.")
{
	struct t_info ti;
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.flags & T_SENDZERO) {
		T_EQ(T_TOK(t_snd(fd[0], (char *)"", 0, 0)), 0);
		T_EVENT(fd[1], T_DATA);
		T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 0);
		T_EQ(flags, 0);
		return;
	}
	T_TERR(t_snd(fd[0], (char *)"", 0, 0), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

XS(CO, t_snd, ERRORS, tbaddata_expedited,
	"An expedited unit longer than etsdu fails with TBADDATA.")
{
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.etsdu <= 0 || ti.etsdu >= (int)sizeof(big))
		T_SKIP("this provider has no limit of expedited units");
	T_TERR(t_snd(fd[0], big, (unsigned)ti.etsdu + 1, T_EXPEDITED),
		TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

XS(ANY, t_snd, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_snd");
}

XS(CO, t_snd, ERRORS, tbadflag,
	"Unknown flags fail with TBADFLAG.")
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0x1000), TBADFLAG);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_snd, ERRORS, tflow,
	"With O_NONBLOCK and no room it fails with TFLOW.")
{
	int fd[2];

	xs_full(fd);
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0), TFLOW);
	T_STATE(fd[0], T_DATAXFER);
}

XS(CO, t_snd, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_snd(fd[1], (char *)"x", 1, 0), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XS(ORD, t_snd, ERRORS, tlook_ordrel,
	"An orderly release that has come fails it with TLOOK.")
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TERR(t_snd(fd[1], (char *)"x", 1, 0), TLOOK);
	T_EQ(t_look(fd[1]), T_ORDREL);
}

XS(CL, t_snd, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_snd");
}

XS(CO, t_snd, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_snd", S(T_DATAXFER) | S(T_INREL));
}

XS(CO, t_snd, ERRORS, tsyserr,
	"A signal before any data was accepted fails with TSYSERR and EINTR.")
{
	int fd[2];

	xs_full(fd);
	xt_block(fd[0], 1);
	xs_alarms();
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd[0], T_DATAXFER);
}

XS(CO, t_snd, RETURN, bytes,
	"It returns the number of bytes accepted, and -1 with t_errno on failure.")
{
	int fd[2];

	xt_pair(fd);
	T_EQ(t_snd(fd[0], (char *)"abc", 3, 0), 3);
	T_EQ(t_snd(-1, (char *)"abc", 3, 0), -1);
}

/* ------------------------------------------------------------------- t_sndv */

XS(CO, t_sndv, DESCRIPTION, gathers,
	"It sends the areas one after the other, as one piece.")
{
	struct t_iovec iov[3] = {{(char *)"ab", 2}, {(char *)"c", 1},
		{(char *)"def", 3}};
	char buf[6];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_sndv(fd[0], iov, 3, 0)), 6);
	xt_rcv_all(fd[1], buf, 6);
	T_MEM(buf, "abcdef", 6);
}

XS(CO, t_sndv, DESCRIPTION, one_unit,
	"The areas of one call are one unit.")
{
	struct t_iovec iov[2] = {{(char *)"ab", 2}, {(char *)"cd", 2}};
	struct t_info ti;
	char buf[8];
	int fd[2], flags;

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.tsdu == 0)
		T_SKIP("a stream of bytes has no units");
	T_EQ(T_TOK(t_sndv(fd[0], iov, 2, 0)), 4);
	T_EQ(T_TOK(t_sndv(fd[0], iov, 2, 0)), 4);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 8, &flags)), 4);
	T_EQ(flags, 0);
}

XS(CO, t_sndv, DESCRIPTION, empty_areas,
	"An area of no bytes adds nothing.")
{
	struct t_iovec iov[3] = {{(char *)"ab", 2}, {(char *)"", 0},
		{(char *)"cd", 2}};
	char buf[4];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_sndv(fd[0], iov, 3, 0)), 4);
	xt_rcv_all(fd[1], buf, 4);
	T_MEM(buf, "abcd", 4);
}

XS(CO, t_sndv, DESCRIPTION, most_areas,
	"As many areas as t_sysconf tells can be given.")
{
	struct t_iovec iov[64];
	char buf[64];
	int fd[2], n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 64);
	for (int i = 0; i < n; i++)
		iov[i] = (struct t_iovec){(char *)"x", 1};
	xt_pair(fd);
	T_EQ(T_TOK(t_sndv(fd[0], iov, (unsigned)n, 0)), n);
	xt_rcv_all(fd[1], buf, (size_t)n);
}

XS(CO, t_sndv, DESCRIPTION, expedited,
	"T_EXPEDITED sends the data as expedited data.")
{
	struct t_iovec iov = {(char *)"!", 1};
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_sndv(fd[0], &iov, 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
}

XS(CO, t_sndv, STATES, valid,
	"It works in T_DATAXFER and T_INREL.")
{
	xs_valid("t_sndv", S(T_DATAXFER) | S(T_INREL));
}

XS(CO, t_sndv, ERRORS, tbaddata,
	"More areas than T_IOV_MAX fail with TBADDATA.")
{
	static struct t_iovec iov[1025];
	int fd[2], n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 1024);
	for (int i = 0; i <= n; i++)
		iov[i] = (struct t_iovec){(char *)"x", 1};
	xt_pair(fd);
	T_TERR(t_sndv(fd[0], iov, (unsigned)n + 1, 0), TBADDATA);
	T_EQ(t_look(fd[1]), 0);
}

XS(CO, t_sndv, ERRORS, tbaddata_zero,
	"Areas of no bytes in all fail with TBADDATA unless there is T_SENDZERO.")
{
	struct t_iovec iov[2] = {{(char *)"", 0}, {(char *)"", 0}};
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.flags & T_SENDZERO)
		T_EQ(T_TOK(t_sndv(fd[0], iov, 2, 0)), 0);
	else
		T_TERR(t_sndv(fd[0], iov, 2, 0), TBADDATA);
}

XS(ANY, t_sndv, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sndv");
}

XS(CO, t_sndv, ERRORS, tbadflag,
	"Unknown flags fail with TBADFLAG.")
{
	struct t_iovec iov = {(char *)"x", 1};
	int fd[2];

	xt_pair(fd);
	T_TERR(t_sndv(fd[0], &iov, 1, 0x1000), TBADFLAG);
}

XS(CO, t_sndv, ERRORS, tflow,
	"With O_NONBLOCK and no room it fails with TFLOW.")
{
	struct t_iovec iov = {(char *)"x", 1};
	int fd[2];

	xs_full(fd);
	T_TERR(t_sndv(fd[0], &iov, 1, 0), TFLOW);
}

XS(CO, t_sndv, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	struct t_iovec iov = {(char *)"x", 1};
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_sndv(fd[1], &iov, 1, 0), TLOOK);
}

XS(CL, t_sndv, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_sndv");
}

XS(CO, t_sndv, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_sndv", S(T_DATAXFER) | S(T_INREL));
}

XS(CO, t_sndv, ERRORS, tsyserr,
	"A signal before any data was accepted fails with TSYSERR and EINTR.")
{
	struct t_iovec iov = {(char *)"x", 1};
	int fd[2];

	xs_full(fd);
	xt_block(fd[0], 1);
	xs_alarms();
	T_TERR(t_sndv(fd[0], &iov, 1, 0), TSYSERR);
	T_EQ(errno, EINTR);
}

XS(CO, t_sndv, RETURN, bytes,
	"It returns the number of bytes accepted, and -1 with t_errno on failure.")
{
	struct t_iovec iov = {(char *)"abc", 3};
	int fd[2];

	xt_pair(fd);
	T_EQ(t_sndv(fd[0], &iov, 1, 0), 3);
	T_EQ(t_sndv(-1, &iov, 1, 0), -1);
}
