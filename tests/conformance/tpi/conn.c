/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: how they begin, carry data, end.
 */
#include "tp.h"

T_CASE(a_connection_is_indicated_with_the_callers_address)
{
	struct tp_addr l, c;
	int lfd, fd;

	tp_need_cots();
	lfd = tp_listener(1, &l);
	fd = tp_open();
	tp_bind(fd, 0, &c);
	tp_conn_req(fd, &l);
	tp_ok(fd, T_CONN_REQ);
	(void)tp_conn_ind(lfd);
	T_EQ(tp.p.conn_ind.SRC_length, c.len);
	T_MEM(tp.ctl + tp.p.conn_ind.SRC_offset, c.buf, (size_t)c.len);
	T_EQ(tp.datalen, -1);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
}

T_CASE(a_connection_is_confirmed)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	T_GT(tp.p.conn_con.RES_length, 0);
	T_FALSE(tp.hipri);
	T_EQ(tp_state(fd[0]), TS_DATA_XFER);
	T_EQ(tp_state(fd[1]), TS_DATA_XFER);
}

T_CASE(both_ends_know_both_addresses)
{
	struct tp_addr l, c;
	int lfd, fd, afd, seq;

	tp_need_cots();
	lfd = tp_listener(1, &l);
	fd = tp_open();
	tp_bind(fd, 0, &c);
	tp_conn_req(fd, &l);
	tp_ok(fd, T_CONN_REQ);
	seq = tp_conn_ind(lfd);
	afd = tp_open();
	tp_conn_res(lfd, tp_id(afd), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
	tp_prim(fd, T_ADDR_REQ);
	tp_want(fd, T_ADDR_ACK);
	T_EQ(tp.p.addr_ack.REMADDR_length, l.len);
	T_MEM(tp.ctl + tp.p.addr_ack.REMADDR_offset, l.buf, (size_t)l.len);
	tp_prim(afd, T_ADDR_REQ);
	tp_want(afd, T_ADDR_ACK);
	T_EQ(tp.p.addr_ack.LOCADDR_length, l.len);
	T_MEM(tp.ctl + tp.p.addr_ack.LOCADDR_offset, l.buf, (size_t)l.len);
	T_EQ(tp.p.addr_ack.REMADDR_length, c.len);
	T_MEM(tp.ctl + tp.p.addr_ack.REMADDR_offset, c.buf, (size_t)c.len);
}

T_CASE(nobody_there_refuses)
{
	struct tp_addr a;
	int fd;

	tp_need_cots();
	tp_nobody(&a);
	fd = tp_call(&a);
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	T_EQ(tp.p.discon_ind.SEQ_number, -1);
	T_EQ(tp_state(fd), TS_IDLE);
	fd = tp_call(&a); /* once more, as ever */
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
}

T_CASE(who_does_not_listen_refuses)
{
	struct tp_addr a;
	int fd, other;

	tp_need_cots();
	other = tp_open();
	tp_bind(other, 0, &a);
	fd = tp_call(&a);
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	T_EQ(tp_state(other), TS_IDLE);
	tp_quiet(other);
}

T_CASE(no_address_cannot_be_called)
{
	struct tp_addr none = { .len = 0 };
	int fd;

	tp_need_cots();
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	tp_conn_req(fd, &none);
	tp_error(fd, T_CONN_REQ, TBADADDR, 0);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(one_cannot_call_oneself)
{
	struct tp_addr a;
	int fd;

	tp_need_cots();
	tp_need_loopback();
	fd = tp_listener(3, &a);
	tp_conn_req(fd, &a);
	tp_ok(fd, T_CONN_REQ);
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(data_with_a_connection_is_refused_where_there_is_none)
{
	struct tp_addr a;
	int fd;

	tp_need_cots();
	if (tp_tl())
		T_SKIP("there is");
	tp_nobody(&a);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	tp_conn_req_data(fd, &a, "data", 4);
	tp_error(fd, T_CONN_REQ, TBADDATA, 0);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(the_listener_may_accept_itself)
{
	struct tp_addr a;
	int fd, lfd, seq;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(lfd), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
	T_EQ(tp_state(lfd), TS_DATA_XFER);
	tp_send(fd, "hello", 5, 0);
	tp_data(lfd, "hello", 5);
	tp_send(lfd, "there", 5, 0);
	tp_data(fd, "there", 5);
}

T_CASE(the_listener_cannot_accept_itself_while_others_wait)
{
	struct tp_addr a;
	int lfd, seq;

	tp_need_cots();
	lfd = tp_listener(2, &a);
	(void)tp_call(&a);
	(void)tp_call(&a);
	seq = tp_conn_ind(lfd);
	(void)tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(lfd), seq);
	tp_error(lfd, T_CONN_RES, TINDOUT, 0);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
}

T_CASE(an_acceptor_that_listens_is_refused)
{
	struct tp_addr a;
	int lfd, other, seq, fd;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	other = tp_listener(1, NULL);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(other), seq);
	tp_error(lfd, T_CONN_RES, TRESQLEN, 0);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
	T_EQ(tp_state(other), TS_IDLE);
	/* the indication is there still */
	other = tp_open();
	tp_conn_res(lfd, tp_id(other), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd, T_CONN_CON);
}

T_CASE(an_acceptor_that_is_connected_is_refused)
{
	struct tp_addr a;
	int lfd, seq, fd[2];

	tp_need_cots();
	tp_pair(fd);
	lfd = tp_listener(1, &a);
	(void)tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(fd[1]), seq);
	tp_error(lfd, T_CONN_RES, TOUTSTATE, 0);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
	tp_send(fd[0], "still", 5, 0);
	tp_data(fd[1], "still", 5);
}

T_CASE(an_acceptor_that_does_not_exist_is_refused)
{
	struct tp_addr a;
	int lfd, seq;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	(void)tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, 0xdeadbeefu, seq);
	tp_error(lfd, T_CONN_RES, TBADF, 0);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
}

T_CASE(a_bound_acceptor_keeps_its_address)
{
	struct tp_addr a, b;
	int lfd, other, seq;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	other = tp_open();
	tp_bind(other, 0, &b);
	(void)tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(other), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_prim(other, T_ADDR_REQ);
	tp_want(other, T_ADDR_ACK);
	T_EQ(tp.p.addr_ack.LOCADDR_length, b.len);
	T_MEM(tp.ctl + tp.p.addr_ack.LOCADDR_offset, b.buf, (size_t)b.len);
}

T_CASE(a_sequence_number_counts_once)
{
	struct tp_addr a;
	int lfd, seq, x, y;

	tp_need_cots();
	lfd = tp_listener(2, &a);
	(void)tp_call(&a);
	(void)tp_call(&a);
	seq = tp_conn_ind(lfd);
	(void)tp_conn_ind(lfd);
	x = tp_open();
	tp_conn_res(lfd, tp_id(x), seq);
	tp_ok(lfd, T_CONN_RES);
	y = tp_open();
	tp_conn_res(lfd, tp_id(y), seq);
	tp_error(lfd, T_CONN_RES, TBADSEQ, 0);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
}

T_CASE(several_indications_are_answered_in_any_order)
{
	struct tp_addr a;
	int lfd, fd[4], seq[4], acc, i;

	tp_need_cots();
	lfd = tp_listener(4, &a);
	for (i = 0; i < 4; i++) {
		fd[i] = tp_call(&a);
		seq[i] = tp_conn_ind(lfd);
	}
	for (i = 3; i >= 0; i--) {
		acc = tp_open();
		tp_conn_res(lfd, tp_id(acc), seq[i]);
		tp_ok(lfd, T_CONN_RES);
		tp_want(fd[i], T_CONN_CON);
		tp_send(fd[i], &i, sizeof(i), 0);
		tp_data(acc, &i, sizeof(i));
		T_EQ(tp_state(lfd), i > 0 ? TS_WRES_CIND : TS_IDLE);
	}
}

T_CASE(an_indication_can_be_refused)
{
	struct tp_addr a;
	int lfd, fd, seq;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_discon_req(lfd, seq);
	tp_ok(lfd, T_DISCON_REQ);
	T_EQ(tp_state(lfd), TS_IDLE);
	if (tp_is()->inet)
		return; /* the network had said yes */
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(refusing_one_leaves_the_others)
{
	struct tp_addr a;
	int lfd, fd[2], seq[2], acc;

	tp_need_cots();
	lfd = tp_listener(2, &a);
	fd[0] = tp_call(&a);
	seq[0] = tp_conn_ind(lfd);
	fd[1] = tp_call(&a);
	seq[1] = tp_conn_ind(lfd);
	tp_discon_req(lfd, seq[0]);
	tp_ok(lfd, T_DISCON_REQ);
	T_EQ(tp_state(lfd), TS_WRES_CIND);
	acc = tp_open();
	tp_conn_res(lfd, tp_id(acc), seq[1]);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd[1], T_CONN_CON);
	T_EQ(tp_state(lfd), TS_IDLE);
}

T_CASE(a_caller_may_give_up)
{
	struct tp_addr a;
	int lfd, fd, seq;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	tp_discon_req(fd, -1);
	tp_ok(fd, T_DISCON_REQ);
	T_EQ(tp_state(fd), TS_IDLE);
	(void)tp_discon_ind(lfd);
	T_EQ(tp.p.discon_ind.SEQ_number, seq);
	T_EQ(tp_state(lfd), TS_IDLE);
	tp_conn_res(lfd, tp_id(tp_open()), seq);
	tp_error(lfd, T_CONN_RES, TOUTSTATE, 0);
}

T_CASE(a_caller_may_close)
{
	struct tp_addr a;
	int lfd, fd, seq;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	fd = tp_call(&a);
	seq = tp_conn_ind(lfd);
	T_OK(close(fd));
	(void)tp_discon_ind(lfd);
	T_EQ(tp.p.discon_ind.SEQ_number, seq);
	T_EQ(tp_state(lfd), TS_IDLE);
}

T_CASE(a_listener_that_closes_refuses_all)
{
	struct tp_addr a;
	int lfd, fd[2];

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(2, &a);
	fd[0] = tp_call(&a);
	fd[1] = tp_call(&a);
	(void)tp_conn_ind(lfd);
	T_OK(close(lfd));
	T_EQ(tp_discon_ind(fd[0]), ECONNREFUSED);
	T_EQ(tp_discon_ind(fd[1]), ECONNREFUSED);
}

/* ------------------------------------------------------------------------ data */

T_CASE(data_arrives_both_ways)
{
	int fd[2], i;

	tp_need_cots();
	tp_pair(fd);
	for (i = 0; i < 100; i++) {
		tp_send(fd[i & 1], &i, sizeof(i), 0);
		tp_data(fd[!(i & 1)], &i, sizeof(i));
	}
}

T_CASE(written_data_is_data)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	T_EQ(T_OK(write(fd[0], "plain", 5)), 5);
	tp_want(fd[1], -1);
	T_EQ(tp.datalen, 5);
	T_MEM(tp.data, "plain", 5);
}

T_CASE(data_arrives_as_plain_data_and_can_be_read)
{
	char buf[16];
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_send(fd[0], "plain", 5, 0);
	T_EQ(T_OK(read(fd[1], buf, sizeof(buf))), 5);
	T_MEM(buf, "plain", 5);
}

T_CASE(data_in_a_band_keeps_its_place)
{
	struct T_data_req r = { T_DATA_REQ, 0 };
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_send(fd[0], "one", 3, 0);
	T_OK(tp_try(fd[0], &r, sizeof(r), "two", 3, 7));
	tp_send(fd[0], "three", 5, 0);
	tp_data(fd[1], "onetwothree", 11);
}

T_CASE(no_data_is_none)
{
	struct T_data_req r = { T_DATA_REQ, 0 };
	int fd[2];

	tp_need_cots();
	if (tp_tl())
		T_SKIP("it is a unit");
	tp_pair(fd);
	tp_put(fd[0], &r, sizeof(r), NULL, -1);
	tp_put(fd[0], &r, sizeof(r), "", 0);
	tp_send(fd[0], "x", 1, 0);
	tp_want(fd[1], -1);
	T_EQ(tp.datalen, 1);
}

T_CASE(units_are_kept_where_there_are_units)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_send(fd[0], "ab", 2, 1);
	tp_send(fd[0], "c", 1, 0);
	tp_send(fd[0], "d", 1, 0);
	if (tp_is()->tsdu == 0) {
		tp_data(fd[1], "abcd", 4); /* the flag says nothing */
		return;
	}
	if (tp_is()->inet) { /* the unit, not its pieces */
		tp_want(fd[1], -1);
		T_EQ(tp.datalen, 3);
		T_MEM(tp.data, "abc", 3);
	} else {
		tp_want(fd[1], T_DATA_IND);
		T_EQ(tp.p.data_ind.MORE_flag, 1);
		T_EQ(tp.datalen, 2);
		tp_want(fd[1], -1);
		T_EQ(tp.datalen, 1);
		T_MEM(tp.data, "c", 1);
	}
	tp_want(fd[1], -1);
	T_MEM(tp.data, "d", 1);
}

T_CASE(large_messages_are_whole)
{
	static unsigned char big[65535];
	unsigned i;
	int fd[2];

	tp_need_cots();
	for (i = 0; i < sizeof(big); i++)
		big[i] = (unsigned char)(i * 31 >> 3);
	tp_pair(fd);
	tp_send(fd[0], big, sizeof(big), 0);
	tp_data(fd[1], big, sizeof(big));
}

T_CASE(data_with_options_is_data)
{
	struct {
		struct T_optdata_req r;
		struct t_opthdr o;
	} m = { { T_OPTDATA_REQ, 0, sizeof(m.o), sizeof(m.r) },
		{ sizeof(m.o), XTI_GENERIC, XTI_DEBUG, 0 } };
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_put(fd[0], &m, sizeof(m), "data", 4);
	tp_data(fd[1], "data", 4);
	m.o.len = 3;
	tp_put(fd[0], &m, sizeof(m), "data", 4);
	tp_fatal(fd[0]);
}

T_CASE(expedited_data_comes_as_such)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_exsend(fd[0], "!", 1, 0);
	tp_want(fd[1], T_EXDATA_IND);
	T_EQ(tp.datalen, 1);
	T_MEM(tp.data, "!", 1);
	T_EQ(tp.p.exdata_ind.MORE_flag, 0);
	T_FALSE(tp.hipri);
}

T_CASE(expedited_data_overtakes_what_was_not_read)
{
	int fd[2];

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	tp_send(fd[0], "slow", 4, 0);
	tp_exsend(fd[0], "a", 1, 1);
	tp_exsend(fd[0], "b", 1, 0);
	tp_want(fd[1], T_EXDATA_IND);
	T_EQ(tp.p.exdata_ind.MORE_flag, 1);
	T_MEM(tp.data, "a", 1);
	T_EQ(tp.band, 1);
	tp_want(fd[1], T_EXDATA_IND);
	T_MEM(tp.data, "b", 1);
	tp_data(fd[1], "slow", 4);
}

T_CASE(too_much_expedited_data_is_fatal)
{
	int fd[2];

	tp_need_cots();
	if (tp_is()->etsdu < 0)
		T_SKIP("there is no such thing as too much");
	tp_pair(fd);
	tp_exsend(fd[0], "ab", 2, 0);
	tp_fatal(fd[0]);
}

T_CASE(data_sent_before_the_confirmation_was_read_comes_behind_it)
{
	struct tp_addr a;
	int lfd, fd, acc, seq, i;

	tp_need_cots();
	for (i = 0; i < 20; i++) {
		lfd = tp_listener(1, &a);
		fd = tp_call(&a);
		seq = tp_conn_ind(lfd);
		acc = tp_open();
		tp_conn_res(lfd, tp_id(acc), seq);
		tp_ok(lfd, T_CONN_RES);
		tp_exsend(acc, "e", 1, 0);
		tp_send(acc, "data", 4, 0);
		tp_want(fd, T_CONN_CON);
		tp_want(fd, T_EXDATA_IND);
		tp_data(fd, "data", 4);
		T_OK(close(lfd));
		T_OK(close(fd));
		T_OK(close(acc));
	}
}

/* --------------------------------------------------------------- disconnecting */

T_CASE(a_disconnection_is_told)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_discon_req(fd[0], -1);
	tp_ok(fd[0], T_DISCON_REQ);
	T_EQ(tp_state(fd[0]), TS_IDLE);
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
	T_EQ(tp.p.discon_ind.SEQ_number, -1);
	T_EQ(tp_state(fd[1]), TS_IDLE);
	tp_quiet(fd[0]);
}

T_CASE(who_disconnects_reads_nothing_more)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_send(fd[1], "late", 4, 0);
	tp_discon_req(fd[0], -1);
	tp_ok(fd[0], T_DISCON_REQ);
	tp_quiet(fd[0]);
}

T_CASE(a_close_disconnects)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	T_OK(close(fd[1]));
	if (tp_is()->inet)
		return; /* as the network's close, which releases */
	T_EQ(tp_discon_ind(fd[0]), ECONNRESET);
	T_EQ(tp_state(fd[0]), TS_IDLE);
}

T_CASE(what_was_sent_before_a_close_can_be_read)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_send(fd[1], "last words", 10, 0);
	T_OK(close(fd[1]));
	tp_data(fd[0], "last words", 10);
}

T_CASE(data_after_a_disconnection_is_dropped)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	tp_discon_req(fd[0], -1);
	tp_ok(fd[0], T_DISCON_REQ);
	(void)tp_discon_ind(fd[1]);
	tp_send(fd[1], "void", 4, 0);
	tp_exsend(fd[1], "v", 1, 0);
	T_EQ(T_OK(write(fd[1], "void", 4)), 4);
	T_EQ(tp_state(fd[1]), TS_IDLE);
	tp_quiet(fd[0]);
}

T_CASE(both_may_disconnect)
{
	int fd[2];

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	tp_discon_req(fd[0], -1);
	tp_ok(fd[0], T_DISCON_REQ);
	tp_discon_req(fd[1], -1);
	tp_error(fd[1], T_DISCON_REQ, TOUTSTATE, 0);
	(void)tp_discon_ind(fd[1]);
}

T_CASE(an_endpoint_can_be_connected_again)
{
	struct tp_addr a;
	int lfd, fd, acc, i;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	fd = tp_open();
	acc = tp_open();
	tp_bind(fd, 0, NULL);
	for (i = 0; i < 20; i++) {
		int seq;

		tp_conn_req(fd, &a);
		tp_ok(fd, T_CONN_REQ);
		seq = tp_conn_ind(lfd);
		if (tp_is()->inet) {
			acc = tp_open();
		}
		tp_conn_res(lfd, tp_id(acc), seq);
		tp_ok(lfd, T_CONN_RES);
		tp_want(fd, T_CONN_CON);
		tp_send(fd, &i, sizeof(i), 0);
		tp_data(acc, &i, sizeof(i));
		tp_send(acc, "unread", 6, 0);
		tp_discon_req(fd, -1);
		tp_ok(fd, T_DISCON_REQ);
		(void)tp_discon_ind(acc);
		T_EQ(tp_state(fd), TS_IDLE);
		T_EQ(tp_state(acc), TS_IDLE);
		if (tp_is()->inet)
			T_OK(close(acc));
	}
}

/* -------------------------------------------------------------- orderly release */

T_CASE(an_orderly_release_goes_both_ways)
{
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	tp_send(fd[0], "bye", 3, 0);
	tp_prim(fd[0], T_ORDREL_REQ);
	T_EQ(tp_state(fd[0]), TS_WIND_ORDREL);
	tp_data(fd[1], "bye", 3);
	tp_want(fd[1], T_ORDREL_IND);
	T_EQ(tp_state(fd[1]), TS_WREQ_ORDREL);
	tp_send(fd[1], "answer", 6, 0);
	tp_prim(fd[1], T_ORDREL_REQ);
	T_EQ(tp_state(fd[1]), TS_IDLE);
	tp_data(fd[0], "answer", 6);
	tp_want(fd[0], T_ORDREL_IND);
	T_EQ(tp_state(fd[0]), TS_IDLE);
	tp_quiet(fd[0]);
	tp_quiet(fd[1]);
}

T_CASE(both_may_release_at_once)
{
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	tp_prim(fd[0], T_ORDREL_REQ);
	tp_prim(fd[1], T_ORDREL_REQ);
	tp_want(fd[0], T_ORDREL_IND);
	tp_want(fd[1], T_ORDREL_IND);
	T_EQ(tp_state(fd[0]), TS_IDLE);
	T_EQ(tp_state(fd[1]), TS_IDLE);
}

T_CASE(data_after_a_release_is_fatal)
{
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	tp_prim(fd[0], T_ORDREL_REQ);
	tp_send(fd[0], "x", 1, 0);
	tp_fatal(fd[0]);
}

T_CASE(a_release_may_be_followed_by_a_disconnection)
{
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	tp_prim(fd[0], T_ORDREL_REQ);
	tp_want(fd[1], T_ORDREL_IND);
	tp_discon_req(fd[1], -1);
	tp_ok(fd[1], T_DISCON_REQ);
	(void)tp_discon_ind(fd[0]);
	T_EQ(tp_state(fd[0]), TS_IDLE);
	T_EQ(tp_state(fd[1]), TS_IDLE);
}

T_CASE(who_releases_and_closes_leaves_all_data)
{
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	tp_send(fd[0], "everything", 10, 0);
	tp_prim(fd[0], T_ORDREL_REQ);
	T_OK(close(fd[0]));
	tp_data(fd[1], "everything", 10);
	tp_want(fd[1], T_ORDREL_IND);
	T_EQ(tp_state(fd[1]), TS_WREQ_ORDREL);
	tp_prim(fd[1], T_ORDREL_REQ);
	T_EQ(tp_state(fd[1]), TS_IDLE);
	tp_quiet(fd[1]);
}

T_CASE(answers_to_who_released_and_closed_are_a_reset)
{
	int fd[2];

	tp_need_ord();
	tp_need_loopback();
	tp_pair(fd);
	tp_prim(fd[0], T_ORDREL_REQ);
	T_OK(close(fd[0]));
	tp_want(fd[1], T_ORDREL_IND);
	tp_send(fd[1], "anybody", 7, 0);
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
	T_EQ(tp_state(fd[1]), TS_IDLE);
}

T_CASE(a_released_endpoint_can_be_connected_again)
{
	struct tp_addr a;
	int lfd, fd, acc, seq, i;

	tp_need_ord();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	fd = tp_open();
	acc = tp_open();
	tp_bind(fd, 0, NULL);
	for (i = 0; i < 10; i++) {
		tp_conn_req(fd, &a);
		tp_ok(fd, T_CONN_REQ);
		seq = tp_conn_ind(lfd);
		tp_conn_res(lfd, tp_id(acc), seq);
		tp_ok(lfd, T_CONN_RES);
		tp_want(fd, T_CONN_CON);
		tp_send(fd, "x", 1, 0);
		tp_prim(fd, T_ORDREL_REQ);
		tp_data(acc, "x", 1);
		tp_want(acc, T_ORDREL_IND);
		tp_prim(acc, T_ORDREL_REQ);
		tp_want(fd, T_ORDREL_IND);
	}
}

T_CASE(a_hundred_connections_stand_side_by_side)
{
	enum { N = 100 };
	struct tp_addr a;
	int fd[N], acc[N], lfd, i, seq;

	tp_need_cots();
	lfd = tp_listener(5, &a);
	for (i = 0; i < N; i++) {
		fd[i] = tp_call(&a);
		seq = tp_conn_ind(lfd);
		acc[i] = tp_open();
		tp_conn_res(lfd, tp_id(acc[i]), seq);
		tp_ok(lfd, T_CONN_RES);
		tp_want(fd[i], T_CONN_CON);
	}
	for (i = 0; i < N; i++)
		tp_send(fd[i], &i, sizeof(i), 0);
	for (i = N - 1; i >= 0; i--)
		tp_data(acc[i], &i, sizeof(i));
}
