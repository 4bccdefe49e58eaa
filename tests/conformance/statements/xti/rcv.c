/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_rcv, t_rcvv.
 */
#include "statement.h"

#include <unistd.h>

static void
need_units(int fd)
{
	if (xs_info(fd).tsdu == 0)
		T_SKIP("a stream of bytes has no units");
}

XS(CO, t_rcv, DESCRIPTION, data,
	"It puts what has come into the buffer, not more than nbytes.")
{
	char buf[8] = "........";
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abcdef", 6, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_MEM(buf, "abcd....", 8);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 8, &flags)), 2);
	T_MEM(buf, "ef", 2);
}

XS(CO, t_rcv, DESCRIPTION, flags_are_output,
	"flags are set by the call, whatever they were before.")
{
	int fd[2], flags = ~0;
	char c;

	xt_pair(fd);
	xt_snd_all(fd[0], "x", 1, 0);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(flags & ~T_MORE, 0);
}

XS(CO, t_rcv, DESCRIPTION, waits,
	"It waits for data.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		xt_snd_all(fd[0], "x", 1, 0);
		pause();
	}
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(c, 'x');
}

XS(CO, t_rcv, DESCRIPTION, more,
	"T_MORE is set while more of a unit is to be received, and not at its end.")
{
	int fd[2], flags;
	char buf[8];

	xt_pair(fd);
	need_units(fd[0]);
	xt_snd_all(fd[0], "abcdef", 6, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_EQ(flags, T_MORE);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 2);
	T_EQ(flags, 0);
}

XS(CO, t_rcv, DESCRIPTION, one_unit,
	"It does not return bytes of two units.")
{
	int fd[2], flags;
	char buf[8];

	xt_pair(fd);
	need_units(fd[0]);
	xt_snd_all(fd[0], "ab", 2, 0);
	xt_snd_all(fd[0], "cd", 2, 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 8, &flags)), 2);
	T_EQ(flags, 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 8, &flags)), 2);
	T_MEM(buf, "cd", 2);
}

XS(CO, t_rcv, DESCRIPTION, pieces_of_a_unit,
	"A unit that was sent with T_MORE in pieces ends with the last of them.")
{
	int fd[2], flags, n = 0;
	char buf[8];

	xt_pair(fd);
	need_units(fd[0]);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"ab", 2, T_MORE)), 2);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"cd", 2, 0)), 2);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"ef", 2, 0)), 2);
	do {
		n += T_TOK(t_rcv(fd[1], buf + n, 8 - (unsigned)n, &flags));
		T_LE(n, 4);
	} while (flags & T_MORE);
	T_EQ(n, 4);
	T_MEM(buf, "abcd", 4);
}

XS(CO, t_rcv, DESCRIPTION, expedited,
	"T_EXPEDITED is set if and only if the data is expedited.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(flags, T_EXPEDITED);
	T_EQ(c, '!');
	xt_snd_all(fd[0], "x", 1, 0);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(flags & T_EXPEDITED, 0);
}

XS(CO, t_rcv, DESCRIPTION, expedited_more,
	"The parts of an expedited unit have T_EXPEDITED, and all but the last T_MORE.")
{
	int fd[2], flags;
	char buf[8];

	xt_pair(fd);
	if (xs_info(fd[0]).etsdu == 1)
		T_SKIP("an expedited unit has one byte");
	T_EQ(T_TOK(t_snd(fd[0], (char *)"urgent", 6, T_EXPEDITED)), 6);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_EQ(flags, T_EXPEDITED | T_MORE);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 2);
	T_EQ(flags, T_EXPEDITED);
}

XS(ORD, t_rcv, DESCRIPTION, data_before_release,
	"Data that was sent before an orderly release is received before it.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xt_snd_all(fd[0], "x", 1, 0);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EVENT(fd[1], T_ORDREL);
}

XS(ORD, t_rcv, DESCRIPTION, after_sndrel,
	"After t_sndrel data can still be received.")
{
	struct xt_end e;
	int flags;
	char c;

	xt_make(&e, T_OUTREL);
	xt_block(e.fd, 1);
	T_EVENT(e.peer, T_ORDREL);
	T_TOK(t_rcvrel(e.peer));
	xt_snd_all(e.peer, "x", 1, 0);
	T_EQ(T_TOK(t_rcv(e.fd, &c, 1, &flags)), 1);
	T_STATE(e.fd, T_OUTREL);
}

XS(CO, t_rcv, STATES, valid,
	"It works in T_DATAXFER and T_OUTREL.")
{
	xs_valid("t_rcv", S(T_DATAXFER) | S(T_OUTREL));
}

XS(ANY, t_rcv, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcv");
}

XS(CO, t_rcv, ERRORS, tlook_disconnect,
	"An abort that has come fails it with TLOOK.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XS(ORD, t_rcv, ERRORS, tlook_ordrel,
	"An orderly release behind all data fails it with TLOOK.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_ORDREL);
}

XS(CO, t_rcv, ERRORS, tnodata,
	"With O_NONBLOCK and no data it fails with TNODATA.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xt_block(fd[1], 0);
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TNODATA);
	T_STATE(fd[1], T_DATAXFER);
}

XS(CL, t_rcv, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcv");
}

XS(CO, t_rcv, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcv", S(T_DATAXFER) | S(T_OUTREL));
}

XS(CO, t_rcv, ERRORS, tsyserr,
	"A signal while it waits fails with TSYSERR and EINTR.")
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xs_alarms();
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd[1], T_DATAXFER);
}

XS(CO, t_rcv, RETURN, bytes,
	"It returns the number of bytes, and -1 with t_errno on failure.")
{
	int fd[2], flags;
	char buf[8];

	xt_pair(fd);
	xt_snd_all(fd[0], "abc", 3, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(t_rcv(fd[1], buf, 8, &flags), 3);
	T_EQ(t_rcv(-1, buf, 8, &flags), -1);
}

/* ------------------------------------------------------------------- t_rcvv */

XS(CO, t_rcvv, DESCRIPTION, fills_in_order,
	"It fills each area before it goes on to the next.")
{
	char a[2], b[3], c[8];
	struct t_iovec iov[3] = {{a, 2}, {b, 3}, {c, 8}};
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abcdefgh", 8, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 3, &flags)), 8);
	T_MEM(a, "ab", 2);
	T_MEM(b, "cde", 3);
	T_MEM(c, "fgh", 3);
}

XS(CO, t_rcvv, DESCRIPTION, iovec_stays,
	"The array of areas is as before.")
{
	char a[2], b[8];
	struct t_iovec iov[2] = {{a, 2}, {b, 8}};
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abcd", 4, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 2, &flags)), 4);
	T_TRUE(iov[0].iov_base == a && iov[0].iov_len == 2);
	T_TRUE(iov[1].iov_base == b && iov[1].iov_len == 8);
}

XS(CO, t_rcvv, DESCRIPTION, most_areas,
	"As many areas as t_sysconf tells can be given.")
{
	struct t_iovec iov[64];
	char buf[64];
	int fd[2], flags, n = T_TOK(t_sysconf(_SC_T_IOV_MAX));

	T_LE(n, 64);
	for (int i = 0; i < n; i++)
		iov[i] = (struct t_iovec){buf + i, 1};
	xt_pair(fd);
	xt_snd_all(fd[0], "0123456789abcdef", 16, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, (unsigned)n, &flags)), 16);
	T_MEM(buf, "0123456789abcdef", 16);
}

XS(CO, t_rcvv, DESCRIPTION, more,
	"T_MORE is set while more of a unit is to be received, and not at its end.")
{
	char a[2], b[2];
	struct t_iovec iov[2] = {{a, 2}, {b, 2}};
	int fd[2], flags;

	xt_pair(fd);
	need_units(fd[0]);
	xt_snd_all(fd[0], "abcdef", 6, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 2, &flags)), 4);
	T_EQ(flags, T_MORE);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 2, &flags)), 2);
	T_EQ(flags, 0);
}

XS(CO, t_rcvv, DESCRIPTION, expedited,
	"T_EXPEDITED is set when the data is expedited.")
{
	char a[2];
	struct t_iovec iov = {a, 2};
	int fd[2], flags;

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcvv(fd[1], &iov, 1, &flags)), 1);
	T_EQ(flags, T_EXPEDITED);
}

XS(CO, t_rcvv, DESCRIPTION, waits,
	"It waits for data.")
{
	char a[2];
	struct t_iovec iov = {a, 2};
	int fd[2], flags;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		xt_snd_all(fd[0], "x", 1, 0);
		pause();
	}
	T_EQ(T_TOK(t_rcvv(fd[1], &iov, 1, &flags)), 1);
}

XS(CO, t_rcvv, STATES, valid,
	"It works in T_DATAXFER and T_OUTREL.")
{
	xs_valid("t_rcvv", S(T_DATAXFER) | S(T_OUTREL));
}

XS(CO, t_rcvv, ERRORS, tbaddata,
	"More areas than T_IOV_MAX fail with TBADDATA.")
{
	static struct t_iovec iov[1025];
	int fd[2], flags, n = T_TOK(t_sysconf(_SC_T_IOV_MAX));
	char c;

	T_LE(n, 1024);
	for (int i = 0; i <= n; i++)
		iov[i] = (struct t_iovec){&c, 1};
	xt_pair(fd);
	xt_snd_all(fd[0], "x", 1, 0);
	T_EVENT(fd[1], T_DATA);
	T_TERR(t_rcvv(fd[1], iov, (unsigned)n + 1, &flags), TBADDATA);
	T_EQ(t_look(fd[1]), T_DATA);
}

XS(ANY, t_rcvv, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_rcvv");
}

XS(CO, t_rcvv, ERRORS, tlook,
	"An abort that has come fails it with TLOOK.")
{
	char a[2];
	struct t_iovec iov = {a, 2};
	int fd[2], flags;

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TERR(t_rcvv(fd[1], &iov, 1, &flags), TLOOK);
}

XS(CO, t_rcvv, ERRORS, tnodata,
	"With O_NONBLOCK and no data it fails with TNODATA.")
{
	struct xt_end e;

	xt_make(&e, T_DATAXFER);
	T_TERR(xs_call("t_rcvv", &e), TNODATA);
}

XS(CL, t_rcvv, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_rcvv");
}

XS(CO, t_rcvv, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_rcvv", S(T_DATAXFER) | S(T_OUTREL));
}

XS(CO, t_rcvv, ERRORS, tsyserr,
	"A signal while it waits fails with TSYSERR and EINTR.")
{
	char a[2];
	struct t_iovec iov = {a, 2};
	int fd[2], flags;

	xt_pair(fd);
	xs_alarms();
	T_TERR(t_rcvv(fd[1], &iov, 1, &flags), TSYSERR);
	T_EQ(errno, EINTR);
}

XS(CO, t_rcvv, RETURN, bytes,
	"It returns the number of bytes, and -1 with t_errno on failure.")
{
	char a[2], b[8];
	struct t_iovec iov[2] = {{a, 2}, {b, 8}};
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abc", 3, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(t_rcvv(fd[1], iov, 2, &flags), 3);
	T_EQ(t_rcvv(-1, iov, 2, &flags), -1);
}
