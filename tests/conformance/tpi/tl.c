/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What System V's tl has beside connections: units of any size and of no
 * bytes, and data with connections and with their ends.
 */
#include "tp.h"

/* ------------------------------------------------------------------------ units */

/* The next message is a whole unit, or the end of one. */
static void
want_unit(int fd, const char *data, int len)
{
	int prim = tp_get(fd);

	T_TRUE(prim == -1 || prim == T_DATA_IND);
	if (prim == T_DATA_IND)
		T_EQ(tp.p.data_ind.MORE_flag, 0);
	T_EQ(tp.datalen > 0 ? tp.datalen : 0, len);
	T_MEM(tp.data, data, (size_t)len);
	T_EQ(tp.band, 0);
}

T_CASE(a_unit_of_no_bytes_is_a_unit)
{
	struct T_data_req r = { T_DATA_REQ, 0 };
	int fd[2];

	tp_need_tl();
	tp_pair(fd);
	tp_send(fd[0], "before", 6, 0);
	tp_put(fd[0], &r, sizeof(r), NULL, -1);
	tp_put(fd[0], &r, sizeof(r), "", 0);
	tp_put(fd[0], NULL, -1, "", 0);
	tp_send(fd[0], "behind", 6, 0);
	want_unit(fd[1], "before", 6);
	want_unit(fd[1], "", 0);
	want_unit(fd[1], "", 0);
	want_unit(fd[1], "", 0);
	want_unit(fd[1], "behind", 6);
}

T_CASE(a_piece_of_no_bytes_goes_on_or_ends_a_unit)
{
	int fd[2];

	tp_need_tl();
	tp_pair(fd);
	tp_send(fd[0], "", 0, 1);
	tp_send(fd[0], "ab", 2, 1);
	tp_send(fd[0], "", 0, 0);
	tp_want(fd[1], T_DATA_IND);
	T_EQ(tp.p.data_ind.MORE_flag, 1);
	T_EQ(tp.datalen, 0);
	tp_want(fd[1], T_DATA_IND);
	T_EQ(tp.p.data_ind.MORE_flag, 1);
	T_MEM(tp.data, "ab", 2);
	want_unit(fd[1], "", 0);
}

T_CASE(an_expedited_unit_may_be_of_no_bytes)
{
	struct T_exdata_req r = { T_EXDATA_REQ, 0 };
	int fd[2];

	tp_need_tl();
	tp_pair(fd);
	tp_put(fd[0], &r, sizeof(r), NULL, -1);
	tp_exsend(fd[0], "", 0, 0);
	tp_want(fd[1], T_EXDATA_IND);
	T_LE(tp.datalen, 0);
	tp_want(fd[1], T_EXDATA_IND);
	T_EQ(tp.datalen, 0);
}

/* The i-th message of a sequence: a unit, one in two pieces, one of no bytes. */
static int
try_piece(int fd, int i)
{
	static const char unit[400];
	struct T_data_req r = { T_DATA_REQ, i % 4 == 1 };
	static const int len[] = { sizeof(unit), 2, 0, 0 };

	return tp_try(fd, &r, sizeof(r), i % 4 == 0 ? unit : "ab", len[i % 4],
		0);
}

static void
want_piece(int fd, int i)
{
	static const char unit[400];

	if (i % 4 == 0) {
		want_unit(fd, unit, sizeof(unit));
	} else if (i % 4 == 1) {
		tp_want(fd, T_DATA_IND);
		T_EQ(tp.p.data_ind.MORE_flag, 1);
		T_EQ(tp.datalen, 2);
	} else {
		want_unit(fd, "", 0);
	}
}

/* As many as there is room for. */
static int
fill(int fd)
{
	int n = 0;

	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	while (try_piece(fd, n) == 0)
		n++;
	T_EQ(errno, EAGAIN);
	return n;
}

T_CASE_TIMEOUT(units_that_wait_for_room_keep_their_ends, 60)
{
	int fd[2], i, n;

	tp_need_tl();
	tp_pair(fd);
	n = fill(fd[0]);
	for (i = 0; i < n; i++)
		want_piece(fd[1], i);
	tp_quiet(fd[1]);
}

T_CASE_TIMEOUT(units_that_wait_at_a_close_keep_their_ends, 60)
{
	int fd[2], i, n;

	tp_need_tl();
	tp_pair(fd);
	n = fill(fd[0]);
	T_OK(close(fd[0]));
	for (i = 0; i < n; i++)
		want_piece(fd[1], i);
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
}

/* -------------------------------------------------------------------- connections */

static void
want_data(const char *data)
{
	T_EQ(tp.datalen, (int)strlen(data));
	T_MEM(tp.data, data, strlen(data));
}

static int
call_with(const struct tp_addr *to, const char *data)
{
	int fd = tp_open();

	tp_bind(fd, 0, NULL);
	tp_conn_req_data(fd, to, data, (int)strlen(data));
	tp_ok(fd, T_CONN_REQ);
	return fd;
}

T_CASE(a_connection_carries_data_both_ways)
{
	struct T_conn_res r = { .PRIM_type = T_CONN_RES };
	struct tp_addr a;
	int lfd, fd, acc;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	fd = call_with(&a, "call");
	r.SEQ_number = tp_conn_ind(lfd);
	want_data("call");
	acc = tp_open();
	r.ACCEPTOR_id = tp_id(acc);
	tp_put(lfd, &r, sizeof(r), "answer", 6);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
	want_data("answer");
	tp_send(fd, "x", 1, 0);
	tp_data(acc, "x", 1);
}

T_CASE(data_with_a_connection_may_be_long)
{
	static char big[65536];
	struct tp_addr a;
	unsigned i;
	int lfd, fd;

	tp_need_tl();
	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 31 >> 3);
	lfd = tp_listener(1, &a);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	tp_conn_req_data(fd, &a, big, sizeof(big));
	tp_ok(fd, T_CONN_REQ);
	(void)tp_conn_ind(lfd);
	T_EQ(tp.datalen, (int)sizeof(big));
	T_MEM(tp.data, big, sizeof(big));
}

T_CASE(data_with_a_call_that_fails_goes)
{
	struct tp_addr a;
	int fd;

	tp_need_tl();
	tp_nobody(&a);
	fd = call_with(&a, "call");
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	T_LE(tp.datalen, 0);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(a_request_that_is_refused_keeps_no_data)
{
	struct T_conn_res r = { .PRIM_type = T_CONN_RES };
	struct tp_addr a;
	int lfd, fd, other;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	other = tp_listener(1, NULL);
	fd = call_with(&a, "call");
	r.SEQ_number = tp_conn_ind(lfd);
	r.ACCEPTOR_id = tp_id(other);
	tp_put(lfd, &r, sizeof(r), "one", 3);
	tp_error(lfd, T_CONN_RES, TRESQLEN, 0);
	r.ACCEPTOR_id = tp_id(lfd);
	tp_put(lfd, &r, sizeof(r), "two", 3);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
	want_data("two");
}

static void
discon_with(int fd, int seq, const char *data)
{
	struct T_discon_req r = { T_DISCON_REQ, seq };

	tp_put(fd, &r, sizeof(r), data, (int)strlen(data));
	tp_ok(fd, T_DISCON_REQ);
}

T_CASE(a_refusal_carries_data)
{
	struct tp_addr a;
	int lfd, fd;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	discon_with(lfd, tp_conn_ind(lfd), "busy");
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	want_data("busy");
}

T_CASE(a_call_that_is_given_up_carries_data)
{
	struct tp_addr a;
	int lfd, fd, seq;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	discon_with(fd, -1, "never mind");
	(void)tp_discon_ind(lfd);
	T_EQ(tp.p.discon_ind.SEQ_number, seq);
	want_data("never mind");
}

T_CASE(a_disconnection_carries_data)
{
	int fd[2];

	tp_need_tl();
	tp_pair(fd);
	discon_with(fd[0], -1, "bye");
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
	want_data("bye");
	T_EQ(tp_state(fd[1]), TS_IDLE);
}

/* ------------------------------------------------ callers beyond CONIND_number */

/* Accept the indication @seq of @lfd on a new endpoint; its caller is @fd. */
static void
accept_one(int lfd, int seq, int fd)
{
	tp_conn_res(lfd, tp_id(tp_open()), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
}

T_CASE(a_caller_without_a_place_waits_with_its_data)
{
	struct tp_addr a;
	int lfd, fd[3], seq[3];

	tp_need_tl();
	lfd = tp_listener(2, &a);
	fd[0] = tp_call(&a);
	fd[1] = tp_call(&a);
	fd[2] = call_with(&a, "third");
	seq[0] = tp_conn_ind(lfd);
	seq[1] = tp_conn_ind(lfd);
	tp_quiet(lfd);
	tp_quiet(fd[2]);
	tp_discon_req(lfd, seq[0]);
	tp_ok(lfd, T_DISCON_REQ);
	T_EQ(tp_discon_ind(fd[0]), ECONNREFUSED);
	seq[2] = tp_conn_ind(lfd);
	want_data("third");
	accept_one(lfd, seq[2], fd[2]);
	accept_one(lfd, seq[1], fd[1]);
	T_EQ(tp_state(lfd), TS_IDLE);
}

T_CASE(callers_without_a_place_get_it_in_order)
{
	struct tp_addr a;
	int lfd, fd[5], i;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	for (i = 0; i < 5; i++)
		fd[i] = tp_call(&a);
	for (i = 0; i < 5; i++) {
		accept_one(lfd, tp_conn_ind(lfd), fd[i]);
		T_LE(tp.datalen, 0);
	}
	T_EQ(tp_state(lfd), TS_IDLE);
}

T_CASE(a_caller_without_a_place_may_give_up)
{
	struct tp_addr a;
	int lfd, fd[3], seq;

	tp_need_tl();
	lfd = tp_listener(1, &a);
	fd[0] = tp_call(&a);
	fd[1] = call_with(&a, "second");
	fd[2] = tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_discon_req(fd[1], -1);
	tp_ok(fd[1], T_DISCON_REQ);
	T_EQ(tp_state(fd[1]), TS_IDLE);
	accept_one(lfd, seq, fd[0]);
	accept_one(lfd, tp_conn_ind(lfd), fd[2]);
	tp_quiet(lfd);
}

T_CASE(a_listener_that_closes_refuses_callers_without_a_place)
{
	struct tp_addr a;
	int lfd, fd[2];

	tp_need_tl();
	lfd = tp_listener(1, &a);
	fd[0] = tp_call(&a);
	fd[1] = call_with(&a, "second");
	(void)tp_conn_ind(lfd);
	T_OK(close(lfd));
	T_EQ(tp_discon_ind(fd[0]), ECONNREFUSED);
	T_EQ(tp_discon_ind(fd[1]), ECONNREFUSED);
}

T_CASE(callers_beyond_the_backlog_are_refused)
{
	struct tp_addr a;
	int lfd, fd, i;

	tp_need_tl();
	lfd = tp_listener(2, &a);
	for (i = 0; i < 2 + 128; i++)
		fd = tp_call(&a);
	tp_quiet(fd);
	fd = tp_call(&a);
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	(void)tp_conn_ind(lfd);
	(void)tp_conn_ind(lfd);
	tp_quiet(lfd);
}
