/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Opening, information, addresses, binding.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tp.h"

T_CASE(info_is_what_the_transport_is)
{
	int fd = tp_open();
	const struct T_info_ack *ia = &tp.p.info_ack;

	tp_prim(fd, T_INFO_REQ);
	tp_want(fd, T_INFO_ACK);
	T_TRUE(tp.hipri);
	T_EQ(tp.ctllen, (int)sizeof(*ia));
	T_EQ(ia->SERV_type, tp_is()->service);
	T_EQ(ia->TSDU_size, tp_is()->tsdu);
	T_EQ(ia->ETSDU_size, tp_is()->etsdu);
	/* System V's tl: of any size */
	T_EQ(ia->CDATA_size, tp_tl() ? T_INFINITE : T_INVALID);
	T_EQ(ia->DDATA_size, tp_tl() ? T_INFINITE :
		tp_is()->ddata != 0 ? tp_is()->ddata : T_INVALID);
	T_GT(ia->TIDU_size, 0);
	T_EQ(ia->CURRENT_state, TS_UNBND);
	T_TRUE((ia->PROVIDER_flag & XPG4_1) != 0);
	T_EQ((ia->PROVIDER_flag & T_SNDZERO) != 0, !tp_cots() || tp_tl());
}

T_CASE(a_request_of_information_may_be_of_high_priority)
{
	struct T_info_req r = { T_INFO_REQ };
	int fd = tp_open();

	T_OK(tp_try(fd, &r, sizeof(r), NULL, -1, -1));
	tp_want(fd, T_INFO_ACK);
}

T_CASE(data_behind_a_request_of_information_does_no_harm)
{
	struct T_info_req r = { T_INFO_REQ };
	int fd = tp_open();

	tp_put(fd, &r, sizeof(r), "surplus", 7);
	tp_want(fd, T_INFO_ACK);
	T_EQ(tp_state(fd), TS_UNBND);
}

T_CASE(capabilities_are_those_asked_for)
{
	struct T_capability_req r = { T_CAPABILITY_REQ, TC1_INFO };
	int fd = tp_open();

	tp_put(fd, &r, sizeof(r), NULL, -1);
	tp_want(fd, T_CAPABILITY_ACK);
	T_EQ((int)tp.p.capability_ack.CAP_bits1, TC1_INFO);
	T_EQ(tp.p.capability_ack.INFO_ack.SERV_type, tp_is()->service);
	T_EQ((int)tp.p.capability_ack.ACCEPTOR_id, 0);
	r.CAP_bits1 = 0xfffffff0u | TC1_ACCEPTOR_ID | TC1_INFO;
	tp_put(fd, &r, sizeof(r), NULL, -1);
	tp_want(fd, T_CAPABILITY_ACK);
	T_EQ((int)tp.p.capability_ack.CAP_bits1, TC1_INFO | TC1_ACCEPTOR_ID);
	T_NE((int)tp.p.capability_ack.ACCEPTOR_id, 0);
	r.CAP_bits1 = 0;
	tp_put(fd, &r, sizeof(r), NULL, -1);
	tp_want(fd, T_CAPABILITY_ACK);
	T_EQ((int)tp.p.capability_ack.CAP_bits1, 0);
}

T_CASE(acceptors_have_different_ids)
{
	int a = tp_open(), b = tp_open();

	T_NE(tp_id(a), tp_id(b));
}

T_CASE(every_open_is_an_endpoint_of_its_own)
{
	int a = tp_open(), b = tp_open();

	tp_bind(a, 0, NULL);
	T_EQ(tp_state(b), TS_UNBND);
	T_EQ(tp_state(a), TS_IDLE);
}

/* A node of the domain, which stays, is made for each minor. */
T_CASE(endpoints_that_are_opened_in_turn_take_few_minors)
{
	struct stat st;
	unsigned most = 0, least = ~0u;

	for (int i = 0; i < 100; i++) {
		int fd = tp_open();

		T_OK(fstat(fd, &st));
		most = minor(st.st_rdev) > most ? minor(st.st_rdev) :
			most;
		least = minor(st.st_rdev) < least ? minor(st.st_rdev) :
			least;
		T_OK(close(fd));
	}
	T_TRUE(most - least < 50);
}

T_CASE(ioctls_that_are_not_known_are_refused)
{
	struct strioctl s = { 0x5a5a, 2, 0, NULL };
	int fd = tp_open();

	T_ERR(ioctl(fd, I_STR, &s), EINVAL);
	T_EQ(tp_state(fd), TS_UNBND);
}

T_CASE(flushing_leaves_the_endpoint_usable)
{
	int fd = tp_open();

	T_OK(ioctl(fd, I_FLUSH, FLUSHRW));
	tp_bind(fd, 0, NULL);
	T_OK(ioctl(fd, I_FLUSH, FLUSHR));
	T_EQ(tp_state(fd), TS_IDLE);
}

/* --------------------------------------------------------------------- binding */

T_CASE(an_address_is_chosen_for_who_wants_none)
{
	struct tp_addr any, got[2];
	int i;

	tp_any(&any);
	for (i = 0; i < 2; i++) {
		int fd = tp_open();

		tp_bind_req(fd, &any, 0, T_BIND_REQ);
		tp_want(fd, T_BIND_ACK);
		got[i].len = tp.p.bind_ack.ADDR_length;
		T_GT(got[i].len, 0);
		T_LE(got[i].len, (int)sizeof(got[i].buf));
		memcpy(got[i].buf, tp.ctl + tp.p.bind_ack.ADDR_offset,
			(size_t)got[i].len);
	}
	if (!tp_is()->raw)
		T_TRUE(got[0].len != got[1].len ||
			memcmp(got[0].buf, got[1].buf, (size_t)got[0].len) !=
				0);
}

T_CASE(an_empty_range_is_no_address)
{
	struct tp_addr none = { .len = 0 };
	int fd = tp_open();

	tp_bind_req(fd, &none, 0, T_BIND_REQ);
	tp_want(fd, T_BIND_ACK);
	T_GT(tp.p.bind_ack.ADDR_length, 0);
}

T_CASE(an_address_that_is_free_is_given)
{
	struct tp_addr a;
	int fd = tp_open();

	tp_nobody(&a);
	tp_bind_req(fd, &a, 0, T_BIND_REQ);
	tp_want(fd, T_BIND_ACK);
	T_EQ(tp.p.bind_ack.ADDR_length, a.len);
	T_MEM(tp.ctl + tp.p.bind_ack.ADDR_offset, a.buf, (size_t)a.len);
}

T_CASE(an_address_in_use_is_refused)
{
	struct tp_addr a;
	int fd[2] = { tp_open(), tp_open() };

	if (tp_is()->raw)
		T_SKIP("addresses are shared");
	tp_bind(fd[0], 0, &a);
	tp_bind_req(fd[1], &a, 0, T_BIND_REQ);
	tp_error(fd[1], T_BIND_REQ, TADDRBUSY, 0);
	T_EQ(tp_state(fd[1]), TS_UNBND);
	T_OK(close(fd[0]));
	tp_bind_req(fd[1], &a, 0, T_BIND_REQ);
	tp_want(fd[1], T_BIND_ACK);
}

T_CASE(as_tli_has_it_another_address_is_chosen)
{
	struct tp_addr a;
	int fd[2] = { tp_open(), tp_open() };

	if (tp_is()->raw)
		T_SKIP("addresses are shared");
	tp_bind(fd[0], 0, &a);
	tp_bind_req(fd[1], &a, 0, O_T_BIND_REQ);
	tp_want(fd[1], T_BIND_ACK);
	T_GT(tp.p.bind_ack.ADDR_length, 0);
	T_TRUE(tp.p.bind_ack.ADDR_length != a.len ||
		memcmp(tp.ctl + tp.p.bind_ack.ADDR_offset, a.buf,
			(size_t)a.len) != 0);
}

T_CASE(as_tli_has_it_a_free_address_is_given)
{
	struct tp_addr a;
	int fd = tp_open();

	tp_nobody(&a);
	tp_bind_req(fd, &a, 0, O_T_BIND_REQ);
	tp_want(fd, T_BIND_ACK);
	T_MEM(tp.ctl + tp.p.bind_ack.ADDR_offset, a.buf, (size_t)a.len);
}

T_CASE(an_address_may_be_any_bytes)
{
	struct tp_addr a;
	int i, len;

	tp_need_loopback();
	for (len = 1; len <= 256; len = len * 3 + 1) {
		int fd = tp_open();

		a.len = len;
		for (i = 0; i < len; i++)
			a.buf[i] = (unsigned char)(i * 7);
		tp_bind_req(fd, &a, 0, T_BIND_REQ);
		tp_want(fd, T_BIND_ACK);
		T_EQ(tp.p.bind_ack.ADDR_length, len);
		T_MEM(tp.ctl + tp.p.bind_ack.ADDR_offset, a.buf, (size_t)len);
	}
}

T_CASE(addresses_of_different_length_are_different)
{
	struct tp_addr a = { 1, "a" }, b = { 2, "a" };
	int fd[2] = { tp_open(), tp_open() };

	tp_need_loopback();
	tp_bind_req(fd[0], &a, 0, T_BIND_REQ);
	tp_want(fd[0], T_BIND_ACK);
	tp_bind_req(fd[1], &b, 0, T_BIND_REQ);
	tp_want(fd[1], T_BIND_ACK);
}

T_CASE(an_address_that_is_too_long_is_refused)
{
	struct {
		struct T_bind_req r;
		char addr[300];
	} m = { .r = { T_BIND_REQ, 300, sizeof(m.r), 0 } };
	int fd = tp_open();

	tp_put(fd, &m, sizeof(m), NULL, -1);
	tp_error(fd, T_BIND_REQ, TBADADDR, 0);
	T_EQ(tp_state(fd), TS_UNBND);
}

T_CASE(an_address_may_stand_anywhere_in_the_message)
{
	struct {
		struct T_bind_req r;
		char gap[33];
		char addr[5];
	} m = { .r = { T_BIND_REQ, 5, offsetof(__typeof__(m), addr), 0 },
		.addr = "where" };
	int fd = tp_open();

	tp_need_loopback();
	tp_put(fd, &m, offsetof(__typeof__(m), addr) + 5, NULL, -1);
	tp_want(fd, T_BIND_ACK);
	T_EQ(tp.p.bind_ack.ADDR_length, 5);
	T_MEM(tp.ctl + tp.p.bind_ack.ADDR_offset, "where", 5);
}

T_CASE(who_unbinds_gives_the_address_back)
{
	struct tp_addr a;
	int fd[2] = { tp_open(), tp_open() };

	tp_bind(fd[0], 0, &a);
	tp_unbind(fd[0]);
	T_EQ(tp_state(fd[0]), TS_UNBND);
	tp_bind_req(fd[1], &a, 0, T_BIND_REQ);
	tp_want(fd[1], T_BIND_ACK);
	tp_bind(fd[0], 0, NULL);
}

T_CASE(binding_and_unbinding_go_round)
{
	int fd = tp_open(), i;

	for (i = 0; i < 20; i++) {
		tp_bind(fd, 0, NULL);
		tp_unbind(fd);
	}
	T_EQ(tp_state(fd), TS_UNBND);
}

T_CASE(a_queue_of_indications_is_for_connections)
{
	struct tp_addr any;
	int fd = tp_open();

	tp_any(&any);
	tp_bind_req(fd, &any, 5, T_BIND_REQ);
	tp_want(fd, T_BIND_ACK);
	T_EQ((int)tp.p.bind_ack.CONIND_number, tp_cots() ? 5 : 0);
}

T_CASE(addresses_are_told)
{
	struct tp_addr a;
	int fd = tp_open();

	tp_prim(fd, T_ADDR_REQ);
	tp_want(fd, T_ADDR_ACK);
	T_TRUE(tp.hipri);
	T_EQ(tp.p.addr_ack.LOCADDR_length, 0);
	T_EQ(tp.p.addr_ack.REMADDR_length, 0);
	tp_bind(fd, 0, &a);
	tp_prim(fd, T_ADDR_REQ);
	tp_want(fd, T_ADDR_ACK);
	T_EQ(tp.p.addr_ack.LOCADDR_length, a.len);
	T_MEM(tp.ctl + tp.p.addr_ack.LOCADDR_offset, a.buf, (size_t)a.len);
	T_EQ(tp.p.addr_ack.REMADDR_length, 0);
	tp_unbind(fd);
	tp_prim(fd, T_ADDR_REQ);
	tp_want(fd, T_ADDR_ACK);
	T_EQ(tp.p.addr_ack.LOCADDR_length, 0);
}

/* Bare data is a T_DATA_REQ: dropped when idle, fatal elsewhere. */
T_CASE(bare_data_follows_the_table_of_data)
{
	int fd = tp_open();

	T_EQ(T_OK(write(fd, "x", 1)), 1);
	tp_fatal(fd);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	T_EQ(T_OK(write(fd, "x", 1)), 1);
	if (tp_cots()) {
		tp_quiet(fd);
		T_EQ(tp_state(fd), TS_IDLE);
	} else {
		tp_fatal(fd);
	}
}

T_CASE(an_endpoint_in_error_stays_in_error)
{
	int fd = tp_open();

	tp_put(fd, "abc", 3, NULL, -1);
	tp_fatal(fd);
	tp_fatal(fd);
	T_OK(close(fd));
	fd = tp_open();
	tp_bind(fd, 0, NULL);
}

T_CASE(a_driver_cannot_be_pushed)
{
	int fd = tp_open();

	tp_need_loopback();
	T_ERR(ioctl(fd, I_PUSH, "ticots"), EINVAL);
}

T_CASE(a_module_on_top_makes_no_difference)
{
	int fd = tp_open();

	T_OK(ioctl(fd, I_PUSH, "nullmod"));
	T_EQ(tp_state(fd), TS_UNBND);
	tp_bind(fd, 0, NULL);
	T_OK(ioctl(fd, I_POP, 0));
	T_EQ(tp_state(fd), TS_IDLE);
}
