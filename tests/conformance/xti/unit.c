/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Units of data (TSDU) on connections, and data with the begin and the end of a
 * connection, for the transports that have them.
 */
#include "xt.h"

#include <stropts.h>
#include <unistd.h>

/* A pair of a transport that keeps units. */
static void
pair(int fd[2])
{
	struct t_info ti;

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.tsdu == 0)
		T_SKIP("a stream of bytes");
	T_EQ(ti.tsdu, T_INFINITE);
	T_EQ(ti.etsdu, T_INFINITE);
}

/* Can a unit have no bytes?  On loopback transports it can. */
static int
has_empty(int fd)
{
	struct t_info ti;

	T_TOK(t_getinfo(fd, &ti));
	if (!xt->whole)
		T_EQ(ti.flags & T_SENDZERO, T_SENDZERO);
	return (ti.flags & T_SENDZERO) != 0;
}

static void
need_empty(int fd)
{
	if (!has_empty(fd))
		T_SKIP("a unit has a byte at least");
}

/* The pieces in which a unit was sent, as t_rcv() has them. */
static void
need_pieces(void)
{
	if (xt->whole)
		T_SKIP("a unit that is complete is received in one piece");
}

static void
send_it(int fd, const char *data, int flags)
{
	unsigned n = (unsigned)strlen(data);

	T_EQ(T_TOK(t_snd(fd, (char *)(uintptr_t)data, n, flags)), (int)n);
}

/* One t_rcv() with room for more gives just this. */
static void
want(int fd, const char *data, int flags)
{
	char buf[256];
	int fl = -1;

	T_EQ(T_TOK(t_rcv(fd, buf, sizeof(buf), &fl)), (int)strlen(data));
	T_EQ(fl, flags);
	T_MEM(buf, data, strlen(data));
}

XT_CASE(CO, a_receive_ends_with_the_unit)
{
	int fd[2];

	pair(fd);
	send_it(fd[0], "one", 0);
	send_it(fd[0], "two!", 0);
	want(fd[1], "one", 0);
	want(fd[1], "two!", 0);
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, a_receive_ends_with_the_unit_however_many_wait)
{
	static char out[3000], in[4000];
	int fd[2], flags;

	pair(fd);
	for (int round = 0; round < 200; round++) {
		int n[8];

		for (int i = 0; i < 8; i++) {
			n[i] = 1 + (int)t_rand_below(sizeof(out));
			memset(out, round + i, (size_t)n[i]);
			T_EQ(T_TOK(t_snd(fd[0], out, (unsigned)n[i], 0)), n[i]);
		}
		for (int i = 0; i < 8; i++) {
			T_EQ(T_TOK(t_rcv(fd[1], in, sizeof(in), &flags)), n[i]);
			T_EQ(flags, 0);
			T_EQ(in[n[i] - 1], (char)(round + i));
		}
	}
}

XT_CASE(CO, a_unit_in_pieces_is_received_in_pieces)
{
	int fd[2];

	pair(fd);
	need_pieces();
	for (int i = 0; i < 3; i++) {
		send_it(fd[0], "ab", T_MORE);
		send_it(fd[0], "cde", T_MORE);
		send_it(fd[0], "f", 0);
		send_it(fd[0], "next", 0);
	}
	for (int i = 0; i < 3; i++) {
		want(fd[1], "ab", T_MORE);
		want(fd[1], "cde", T_MORE);
		want(fd[1], "f", 0);
		want(fd[1], "next", 0);
	}
}

XT_CASE(CO, the_rest_of_a_unit_is_T_MORE)
{
	char buf[4];
	int fd[2], flags;

	pair(fd);
	send_it(fd[0], "0123456789", 0);
	send_it(fd[0], "next", 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_EQ(flags, T_MORE);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_EQ(flags, T_MORE);
	want(fd[1], "89", 0);
	want(fd[1], "next", 0);
}

XT_CASE(CO, a_buffer_that_a_unit_fills_is_not_T_MORE)
{
	char buf[4];
	int fd[2], flags;

	pair(fd);
	send_it(fd[0], "full", 0);
	send_it(fd[0], "next", 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_EQ(flags, 0);
	want(fd[1], "next", 0);
}

XT_CASE(CO, a_unit_of_no_bytes_arrives)
{
	int fd[2];

	pair(fd);
	need_empty(fd[0]);
	send_it(fd[0], "", 0);
	T_EVENT(fd[1], T_DATA);
	want(fd[1], "", 0);
	T_EQ(t_look(fd[1]), 0);
	send_it(fd[0], "before", 0);
	send_it(fd[0], "", 0);
	send_it(fd[0], "behind", 0);
	want(fd[1], "before", 0);
	want(fd[1], "", 0);
	want(fd[1], "behind", 0);
}

XT_CASE(CO, a_unit_may_end_with_no_bytes)
{
	int fd[2];

	pair(fd);
	need_empty(fd[0]);
	send_it(fd[0], "ab", T_MORE);
	send_it(fd[0], "", 0);
	send_it(fd[0], "next", 0);
	want(fd[1], "ab", T_MORE);
	want(fd[1], "", 0);
	want(fd[1], "next", 0);
}

XT_CASE(CO, expedited_units_are_kept_and_may_be_of_no_bytes)
{
	int fd[2];

	pair(fd);
	if (xt->whole) {
		send_it(fd[0], "ab", T_EXPEDITED);
	} else {
		send_it(fd[0], "a", T_EXPEDITED | T_MORE);
		send_it(fd[0], "b", T_EXPEDITED);
	}
	send_it(fd[0], has_empty(fd[0]) ? "" : "c", T_EXPEDITED);
	T_EVENT(fd[1], T_EXDATA);
	if (xt->whole) {
		want(fd[1], "ab", T_EXPEDITED);
	} else {
		want(fd[1], "a", T_EXPEDITED | T_MORE);
		want(fd[1], "b", T_EXPEDITED);
	}
	want(fd[1], has_empty(fd[0]) ? "" : "c", T_EXPEDITED);
	T_EQ(t_look(fd[1]), 0);
}

/* A unit that is open does not hold expedited ones back for ever. */
XT_CASE(CO, an_expedited_unit_is_sent_between_the_pieces_of_another)
{
	char buf[16];
	int fd[2], flags;
	size_t at = 0;

	pair(fd);
	send_it(fd[0], "one", T_MORE);
	send_it(fd[0], "two", T_MORE);
	send_it(fd[0], "ex", T_EXPEDITED);
	send_it(fd[0], "three", 0);
	T_EVENT(fd[1], T_EXDATA);
	want(fd[1], "ex", T_EXPEDITED);
	do
		at += (size_t)T_TOK(t_rcv(fd[1], buf + at,
			(unsigned)(sizeof(buf) - at), &flags));
	while ((flags & T_MORE) != 0);
	T_EQ(at, 11);
	T_MEM(buf, "onetwothree", 11);
}

XT_CASE(CO, a_vector_is_one_unit)
{
	struct t_iovec out[3] = {{(char *)"one", 3}, {(char *)"", 0},
		{(char *)"three", 5}};
	struct t_iovec none[1] = {{(char *)"", 0}};
	char a[4], b[64];
	struct t_iovec in[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
	int fd[2], flags, empty;

	pair(fd);
	empty = has_empty(fd[0]);
	T_EQ(T_TOK(t_sndv(fd[0], out, 3, 0)), 8);
	if (empty)
		T_EQ(T_TOK(t_sndv(fd[0], none, 1, 0)), 0);
	T_EQ(T_TOK(t_sndv(fd[0], out, 3, xt->whole ? 0 : T_MORE)), 8);
	send_it(fd[0], "next", 0);
	T_EQ(T_TOK(t_rcvv(fd[1], in, 2, &flags)), 8);
	T_EQ(flags, 0);
	T_MEM(a, "onet", 4);
	T_MEM(b, "hree", 4);
	if (empty) {
		T_EQ(T_TOK(t_rcvv(fd[1], in, 2, &flags)), 0);
		T_EQ(flags, 0);
	}
	T_EQ(T_TOK(t_rcvv(fd[1], in, 2, &flags)), 8);
	T_EQ(flags, xt->whole ? 0 : T_MORE);
	want(fd[1], "next", 0);
}

XT_CASE(CO, a_unit_beyond_a_message_of_the_interface_is_one_unit)
{
	static char out[200001], in[sizeof(out)];
	size_t at = 0;
	int fd[2], flags = T_MORE;

	pair(fd);
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 31 >> 3);
	if (T_OK(fork()) == 0) {
		T_EQ(T_TOK(t_snd(fd[0], out, sizeof(out), 0)),
			(int)sizeof(out));
		send_it(fd[0], "next", 0);
		pause();
	}
	while ((flags & T_MORE) != 0) {
		T_LT(at, sizeof(in));
		at += (size_t)T_TOK(t_rcv(fd[1], in + at,
			(unsigned)(sizeof(in) - at), &flags));
	}
	T_EQ(at, sizeof(out));
	T_MEM(in, out, sizeof(out));
	want(fd[1], "next", 0);
}

XT_CASE(CO, units_sent_before_a_close_are_kept)
{
	int fd[2], empty;

	pair(fd);
	empty = has_empty(fd[0]);
	if (!xt->whole)
		send_it(fd[0], "ab", T_MORE);
	send_it(fd[0], "c", 0);
	if (empty)
		send_it(fd[0], "", 0);
	send_it(fd[0], "last", 0);
	T_TOK(t_close(fd[0]));
	if (!xt->whole)
		want(fd[1], "ab", T_MORE);
	want(fd[1], "c", 0);
	if (empty)
		want(fd[1], "", 0);
	want(fd[1], "last", 0);
	T_EVENT(fd[1], xt->whole ? T_ORDREL : T_DISCONNECT);
}

XT_CASE(CO, a_unit_of_no_bytes_is_not_the_end_for_tirdwr)
{
	char buf[16];
	int fd[2];

	pair(fd);
	need_empty(fd[0]);
	send_it(fd[0], "", 0);
	T_EVENT(fd[1], T_DATA);
	T_OK(ioctl(fd[1], I_POP, 0));
	T_OK(ioctl(fd[1], I_PUSH, "tirdwr"));
	send_it(fd[0], "", 0);
	send_it(fd[0], "data", 0);
	T_EQ(T_OK(read(fd[1], buf, sizeof(buf))), 4);
	T_MEM(buf, "data", 4);
}

/* ---------------------------------------------------------------- connections */

static void
need_call_data(int fd)
{
	struct t_info ti;

	T_TOK(t_getinfo(fd, &ti));
	if (ti.connect == T_INVALID)
		T_SKIP("no data with a connection");
	T_EQ(ti.connect, T_INFINITE);
	T_EQ(ti.discon, T_INFINITE);
}

static void
text(struct netbuf *nb, const char *data)
{
	nb->buf = (char *)(uintptr_t)data;
	nb->len = (unsigned)strlen(data);
	nb->maxlen = 0;
}

#define T_TEXT(nb, want_) \
	do { \
		T_EQ((nb).len, strlen(want_)); \
		T_MEM((nb).buf, want_, strlen(want_)); \
	} while (0)

/* @fd, nonblocking, calls with @data; the indication is in @ret. */
static int
call(int lfd, struct xt_addr *at, const char *data, struct t_call *ret,
	char *room, unsigned size)
{
	struct t_call snd = {.sequence = 0};
	int fd = xt_bound(1, 0);

	xt_netbuf(&snd.addr, at);
	text(&snd.udata, data);
	T_TERR(t_connect(fd, &snd, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	memset(ret, 0, sizeof(*ret));
	ret->udata.buf = room;
	ret->udata.maxlen = size;
	T_TOK(t_listen(lfd, ret));
	return fd;
}

XT_CASE(CO, a_call_and_its_answer_carry_data)
{
	struct t_call ind, con = {.sequence = 0};
	struct xt_addr at;
	char room[64];
	int lfd = xt_bound_at(0, 1, &at), fd, acc;

	need_call_data(lfd);
	fd = call(lfd, &at, "a call", &ind, room, sizeof(room));
	T_TEXT(ind.udata, "a call");
	acc = xt_open(0);
	text(&ind.udata, "the answer");
	T_TOK(t_accept(lfd, acc, &ind));
	T_EVENT(fd, T_CONNECT);
	con.udata.buf = room;
	con.udata.maxlen = sizeof(room);
	T_TOK(t_rcvconnect(fd, &con));
	T_TEXT(con.udata, "the answer");
}

XT_CASE(CO, data_with_a_call_that_does_not_fit_is_TBUFOVFLW)
{
	struct t_call ind = {.sequence = 0}, snd = {.sequence = 0};
	struct xt_addr at;
	char room[4];
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0), acc;

	need_call_data(lfd);
	xt_netbuf(&snd.addr, &at);
	text(&snd.udata, "much too long");
	T_TERR(t_connect(fd, &snd, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	ind.udata.buf = room;
	ind.udata.maxlen = sizeof(room);
	T_TERR(t_listen(lfd, &ind), TBUFOVFLW);
	T_STATE(lfd, T_INCON);
	acc = xt_open(0);
	ind.udata.len = 0;
	T_TOK(t_accept(lfd, acc, &ind));
	T_EVENT(fd, T_CONNECT);
}

static void
want_dis(int fd, int reason, const char *data)
{
	char room[64];
	struct t_discon dis = {
		.udata = {.maxlen = sizeof(room), .buf = room}};

	T_EVENT(fd, T_DISCONNECT);
	T_TOK(t_rcvdis(fd, &dis));
	T_EQ(dis.reason, reason);
	T_TEXT(dis.udata, data);
}

XT_CASE(CO, a_refusal_carries_data)
{
	struct t_call ind;
	struct xt_addr at;
	char room[64];
	int lfd = xt_bound_at(0, 1, &at), fd;

	need_call_data(lfd);
	fd = call(lfd, &at, "hello", &ind, room, sizeof(room));
	text(&ind.udata, "busy");
	T_TOK(t_snddis(lfd, &ind));
	want_dis(fd, ECONNREFUSED, "busy");
}

XT_CASE(CO, a_call_that_is_given_up_carries_data)
{
	struct t_call ind, dis = {.sequence = 0};
	struct xt_addr at;
	char room[64];
	int lfd = xt_bound_at(0, 1, &at), fd;

	need_call_data(lfd);
	fd = call(lfd, &at, "hello", &ind, room, sizeof(room));
	text(&dis.udata, "no more");
	T_TOK(t_snddis(fd, &dis));
	want_dis(lfd, ECONNRESET, "no more");
}

XT_CASE(CO, a_disconnection_carries_data)
{
	struct t_call dis = {.sequence = 0};
	int fd[2];

	xt_pair(fd);
	need_call_data(fd[0]);
	text(&dis.udata, "the end");
	T_TOK(t_snddis(fd[0], &dis));
	want_dis(fd[1], ECONNRESET, "the end");
}
