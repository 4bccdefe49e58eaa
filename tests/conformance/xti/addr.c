/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses: binding to them, and asking for them.
 */
#include "xt.h"

#include <unistd.h>

/* -------------------------------------------------------------------- t_bind */

XT_CASE(ANY, bind_to_any_address_gives_one)
{
	struct t_bind ret = {.qlen = 99};
	struct xt_addr at;
	int fd = xt_open(0);

	xt_netbuf(&ret.addr, &at);
	ret.addr.len = 0;
	T_TOK(t_bind(fd, NULL, &ret));
	T_GT(ret.addr.len, 0);
	T_EQ(ret.qlen, 0);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, addresses_of_the_providers_choice_differ)
{
	struct xt_addr a[2];

	if (xt->raw)
		T_SKIP("no ports");
	for (int i = 0; i < 2; i++) {
		struct t_bind req = {.qlen = 0}, ret;

		xt_local(&a[i], 0);
		xt_netbuf(&req.addr, &a[i]);
		xt_netbuf(&ret.addr, &a[i]);
		T_TOK(t_bind(xt_open(0), &req, &ret));
		a[i].len = ret.addr.len;
		T_GT(a[i].len, 0);
	}
	T_TRUE(a[0].len != a[1].len ||
		memcmp(a[0].buf, a[1].buf, a[0].len) != 0);
}

XT_CASE(ANY, bind_to_a_chosen_address_gives_it)
{
	struct t_bind req = {.qlen = 0}, ret;
	struct xt_addr want, got;
	int fd = xt_open(0);

	xt_nobody(&want);
	xt_netbuf(&req.addr, &want);
	xt_netbuf(&ret.addr, &got);
	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.addr.len, want.len);
	T_MEM(got.buf, want.buf, want.len);
}

XT_CASE(ANY, bind_to_an_address_in_use_is_TADDRBUSY)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int fd = xt_open(0);

	if (xt->raw)
		T_SKIP("addresses are shared");
	xt_bound_at(0, xt->service == T_CLTS ? 0 : 1, &at);
	xt_netbuf(&req.addr, &at);
	req.qlen = xt->service == T_CLTS ? 0 : 1;
	T_TERR(t_bind(fd, &req, NULL), TADDRBUSY);
	T_STATE(fd, T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
}

XT_CASE(ANY, an_address_is_free_again_after_unbind)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int a = xt_bound_at(0, 0, &at), b = xt_open(0);

	T_TOK(t_unbind(a));
	T_STATE(a, T_UNBND);
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(b, &req, NULL));
}

XT_CASE(ANY, an_address_is_free_again_after_close)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int a = xt_bound_at(0, 0, &at), b = xt_open(0);

	T_OK(close(a));
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(b, &req, NULL));
}

XT_CASE(ANY, bind_unbind_bind)
{
	int fd = xt_open(0);

	for (int i = 0; i < 10; i++) {
		T_TOK(t_bind(fd, NULL, NULL));
		T_TOK(t_unbind(fd));
	}
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, bind_with_too_small_a_buffer_is_TBUFOVFLW_and_bound)
{
	struct t_bind ret = {.qlen = 0};
	char c;
	int fd = xt_open(0);

	ret.addr.buf = &c;
	ret.addr.maxlen = 1;
	T_TERR(t_bind(fd, NULL, &ret), TBUFOVFLW);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, bind_with_no_buffer_wants_no_address)
{
	struct t_bind ret = {.qlen = 9};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, NULL, &ret));
	T_EQ(ret.addr.len, 0);
}

XT_CASE(ANY, bind_to_a_length_without_a_buffer_is_TBADADDR)
{
	struct t_bind req = {.addr = {.len = 16}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, bind_to_an_address_that_is_too_long_is_TBADADDR)
{
	static char big[4096];
	struct t_bind req = {.addr = {.len = sizeof(big), .buf = big}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	T_STATE(fd, T_UNBND);
}

XT_CASE(CO, bind_negotiates_qlen)
{
	struct t_bind req = {.qlen = 5}, ret = {.qlen = 0};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.qlen, 5);
}

XT_CASE(CL, bind_of_datagrams_has_no_qlen)
{
	struct t_bind req = {.qlen = 1}, ret = {.qlen = 7};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.qlen, 0);
	T_STATE(fd, T_IDLE);
}

/* ------------------------------------------------------------- t_getprotaddr */

XT_CASE(ANY, there_is_no_address_before_bind)
{
	struct t_bind bound, peer;
	struct xt_addr a, b;
	int fd = xt_open(0);

	xt_netbuf(&bound.addr, &a);
	xt_netbuf(&peer.addr, &b);
	T_TOK(t_getprotaddr(fd, &bound, &peer));
	T_EQ(bound.addr.len, 0);
	T_EQ(peer.addr.len, 0);
}

XT_CASE(ANY, the_address_is_what_bind_said)
{
	struct t_bind bound, peer;
	struct xt_addr at, a, b;
	int fd = xt_bound_at(0, 0, &at);

	xt_netbuf(&bound.addr, &a);
	xt_netbuf(&peer.addr, &b);
	T_TOK(t_getprotaddr(fd, &bound, &peer));
	T_EQ(bound.addr.len, at.len);
	T_MEM(a.buf, at.buf, at.len);
	T_EQ(peer.addr.len, 0);
}

XT_CASE(CO, a_connection_has_two_addresses)
{
	struct t_bind bound[2], peer[2];
	struct xt_addr a[2], b[2];
	int fd[2];

	xt_pair(fd);
	for (int i = 0; i < 2; i++) {
		xt_netbuf(&bound[i].addr, &a[i]);
		xt_netbuf(&peer[i].addr, &b[i]);
		T_TOK(t_getprotaddr(fd[i], &bound[i], &peer[i]));
		T_GT(bound[i].addr.len, 0);
		T_GT(peer[i].addr.len, 0);
	}
	T_EQ(bound[0].addr.len, peer[1].addr.len);
	T_MEM(a[0].buf, b[1].buf, bound[0].addr.len);
}

XT_CASE(ANY, addresses_in_too_small_a_buffer_are_TBUFOVFLW)
{
	struct t_bind bound = {.qlen = 0};
	char c;
	int fd = xt_bound(0, 0);

	bound.addr.buf = &c;
	bound.addr.maxlen = 1;
	T_TERR(t_getprotaddr(fd, &bound, NULL), TBUFOVFLW);
	T_TOK(t_getprotaddr(fd, NULL, NULL));
}
