/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: how they begin.
 */
#include "xt.h"

#include <poll.h>
#include <pthread.h>
#include <stropts.h>
#include <unistd.h>

/* ------------------------------------------------------------------- beginning */

XT_CASE(CO, connect_listen_accept)
{
	int fd[2];

	xt_pair(fd);
	T_STATE(fd[0], T_DATAXFER);
	T_STATE(fd[1], T_DATAXFER);
	T_EQ(t_look(fd[0]), 0);
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, listen_gives_the_callers_address)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at, me, from;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound_at(1, 0, &me);

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	xt_netbuf(&call.addr, &from);
	T_TOK(t_listen(lfd, &call));
	T_EQ(call.addr.len, me.len);
	T_MEM(from.buf, me.buf, me.len);
	T_STATE(lfd, T_INCON);
}

XT_CASE(CO, rcvconnect_gives_the_answerers_address)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at, who;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	xt_netbuf(&call.addr, &who);
	T_TOK(t_rcvconnect(fd, &call));
	T_GT(call.addr.len, 0);
	T_STATE(fd, T_DATAXFER);
}

/* XNS: the options asked for come back, as they were negotiated */
struct asked {
	struct t_opthdr h;
	t_uscalar_t v;
};

static const struct t_opthdr *
told(const struct netbuf *nb, t_uscalar_t name)
{
	struct t_opthdr *h;

	for (h = T_OPT_FIRSTHDR(nb); h != NULL; h = T_OPT_NEXTHDR(nb, h))
		if (h->level == XTI_GENERIC && h->name == name)
			return h;
	return NULL;
}

XT_CASE(CO, connect_tells_what_options_were_negotiated)
{
	struct asked ask[2] = {
		{{sizeof(ask[0]), XTI_GENERIC, XTI_SNDBUF, 0}, 20000},
		{{sizeof(ask[0]), XTI_GENERIC, 0x7777, 0}, 1},
	};
	struct t_call call = {.sequence = 0}, got = call;
	t_uscalar_t back[64];
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);

	xt_netbuf(&call.addr, &at);
	call.addr.len = at.len;
	call.opt.buf = ask;
	call.opt.len = sizeof(ask);
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	got.opt.buf = back;
	got.opt.maxlen = sizeof(back);
	T_TOK(t_rcvconnect(fd, &got));
	T_EQ(got.opt.len, sizeof(ask[0]) + sizeof(struct t_opthdr));
	T_NOTNULL(told(&got.opt, XTI_SNDBUF));
	T_EQ(told(&got.opt, XTI_SNDBUF)->status, T_SUCCESS);
	T_EQ(((const struct asked *)(const void *)told(&got.opt,
		XTI_SNDBUF))->v, 20000);
	T_NOTNULL(told(&got.opt, 0x7777));
	T_EQ(told(&got.opt, 0x7777)->status, T_NOTSUPPORT);
}

XT_CASE(CO, without_options_none_come_back)
{
	struct t_call call = {.sequence = 0};
	t_uscalar_t back[64];
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	call.opt.buf = back;
	call.opt.maxlen = sizeof(back);
	call.opt.len = 99;
	T_TOK(t_rcvconnect(fd, &call));
	T_EQ(call.opt.len, 0);
}

/* ... and too little room for them loses them, and nothing else */
XT_CASE(CO, options_that_do_not_fit_are_TBUFOVFLW)
{
	struct asked ask = {{sizeof(ask), XTI_GENERIC, XTI_SNDBUF, 0}, 20000};
	struct t_call call = {.sequence = 0}, got = call;
	t_uscalar_t back[2];
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);

	xt_netbuf(&call.addr, &at);
	call.addr.len = at.len;
	call.opt.buf = &ask;
	call.opt.len = sizeof(ask);
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	got.opt.buf = back;
	got.opt.maxlen = sizeof(back);
	T_TERR(t_rcvconnect(fd, &got), TBUFOVFLW);
	T_STATE(fd, T_DATAXFER);
}

XT_CASE(CO, a_blocking_connect_waits_for_the_answer)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd;

	if (T_OK(fork()) == 0) {
		xt_accept(lfd);
		pause();
	}
	fd = xt_bound(0, 0);
	xt_netbuf(&call.addr, &at);
	T_TOK(t_connect(fd, &call, NULL));
	T_STATE(fd, T_DATAXFER);
	T_EQ(t_look(fd), 0);
}

XT_CASE(CO, a_blocking_listen_waits_for_a_caller)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd;

	if (T_OK(fork()) == 0) {
		fd = xt_bound(1, 0);
		xt_call(fd, &at);
		pause();
	}
	T_TOK(t_listen(lfd, &call));
	T_STATE(lfd, T_INCON);
}

XT_CASE(CO, accept_on_the_listener_itself)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_accept(e.fd, e.fd, &call));
	T_STATE(e.fd, T_DATAXFER);
	T_EVENT(e.peer, T_CONNECT);
}

XT_CASE(CO, accept_to_an_unbound_endpoint)
{
	struct t_bind bound = {.qlen = 0};
	struct xt_addr at;
	struct xt_end e;
	int fd;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	fd = xt_open(0);
	T_TOK(t_accept(e.fd, fd, &call));
	T_STATE(e.fd, T_IDLE);
	T_STATE(fd, T_DATAXFER);
	xt_netbuf(&bound.addr, &at);
	T_TOK(t_getprotaddr(fd, &bound, NULL));
	T_GT(bound.addr.len, 0);
}

XT_CASE(CO, accept_to_a_bound_endpoint)
{
	struct xt_end e;
	int fd;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	fd = xt_bound(0, 0);
	T_TOK(t_accept(e.fd, fd, &call));
	T_STATE(fd, T_DATAXFER);
}

XT_CASE(CO, accept_to_a_listener_is_TRESQLEN)
{
	struct xt_end e;
	int fd;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	fd = xt_bound(0, 3);
	T_TERR(t_accept(e.fd, fd, &call), TRESQLEN);
	T_STATE(e.fd, T_INCON);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, accept_with_an_unknown_sequence_is_TBADSEQ)
{
	struct xt_end e;
	int fd;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq + 1000};
	fd = xt_open(0);
	T_TERR(t_accept(e.fd, fd, &call), TBADSEQ);
	T_STATE(e.fd, T_INCON);
	T_STATE(fd, T_UNBND);
	call.sequence = e.seq;
	T_TOK(t_accept(e.fd, fd, &call));
}

XT_CASE(CO, accept_to_a_connected_endpoint_is_TOUTSTATE)
{
	struct xt_end e;
	int fd[2];

	xt_pair(fd);
	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TERR(t_accept(e.fd, fd[0], &call), TOUTSTATE);
	T_STATE(e.fd, T_INCON);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, accept_to_another_providers_endpoint_is_TPROVMISMATCH)
{
	const char *other = xt->inet ? "/dev/ticots" :
		xt->service == T_COTS ? "/dev/ticotsord" : "/dev/ticots";
	struct xt_end e;
	int fd;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	fd = T_TOK(t_open(other, O_RDWR, NULL));
	T_TERR(t_accept(e.fd, fd, &call), TPROVMISMATCH);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CO, accept_to_no_endpoint_is_TBADF)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TERR(t_accept(e.fd, -1, &call), TBADF);
	T_TERR(t_accept(e.fd, 0, &call), TBADF);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CO, two_callers_wait_and_are_accepted_in_any_order)
{
	int lfd, who[2], seq[2], fd[2];
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	char c;

	xt_two(&at, &lfd, who, seq);
	for (int i = 1; i >= 0; i--) {
		fd[i] = xt_open(0);
		call.sequence = seq[i];
		T_TOK(t_accept(lfd, fd[i], &call));
		T_STATE(lfd, i == 1 ? T_INCON : T_IDLE);
		T_EVENT(who[i], T_CONNECT);
		T_TOK(t_rcvconnect(who[i], NULL));
	}
	for (int i = 0; i < 2; i++) {
		c = (char)('a' + i);
		T_EQ(T_TOK(t_snd(who[i], &c, 1, 0)), 1);
		T_EQ(xt_rcv_all(fd[i], &c, 1), 1);
		T_EQ(c, 'a' + i);
	}
}

XT_CASE(CO, accept_on_the_listener_with_another_waiting_is_TINDOUT)
{
	int lfd, who[2], seq[2];
	struct xt_addr at;

	xt_two(&at, &lfd, who, seq);
	struct t_call call = {.sequence = seq[0]};
	T_TERR(t_accept(lfd, lfd, &call), TINDOUT);
	T_STATE(lfd, T_INCON);
}

XT_CASE(CO, accept_with_another_not_listened_to_is_TLOOK)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(1, 2, &at), a = xt_bound(1, 0);
	int b = xt_bound(1, 0), fd = xt_open(0);

	xt_call(a, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TOK(t_listen(lfd, &call));
	xt_call(b, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TERR(t_accept(lfd, fd, &call), TLOOK);
	T_STATE(lfd, T_INCON);
}

XT_CASE(CO, listen_beyond_qlen_is_TQFULL)
{
	int lfd, who[2], seq[2];
	struct t_call call = {.sequence = 0};
	struct xt_addr at;

	xt_two(&at, &lfd, who, seq);
	T_TERR(t_listen(lfd, &call), TQFULL);
	T_STATE(lfd, T_INCON);
}

XT_CASE(CO, listen_without_qlen_is_TBADQLEN)
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(1, 0);

	T_TERR(t_listen(fd, &call), TBADQLEN);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, listen_with_nobody_there_is_TNODATA)
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(1, 1);

	T_TERR(t_listen(fd, &call), TNODATA);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, listen_into_too_small_a_buffer_is_TBUFOVFLW_with_a_sequence)
{
	struct t_call call = {.sequence = -99};
	struct xt_addr at;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);
	char c;

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	call.addr.buf = &c;
	call.addr.maxlen = 1;
	T_TERR(t_listen(lfd, &call), TBUFOVFLW);
	T_STATE(lfd, T_INCON);
	T_NE(call.sequence, -99);
	T_TOK(t_snddis(lfd, &call));
	T_STATE(lfd, T_IDLE);
	if (!xt->at_once)
		T_EVENT(fd, T_DISCONNECT);
}

XT_CASE(CO, rcvconnect_into_too_small_a_buffer_is_TBUFOVFLW_and_connected)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);
	char c;

	xt_call(fd, &at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	call.addr.buf = &c;
	call.addr.maxlen = 1;
	T_TERR(t_rcvconnect(fd, &call), TBUFOVFLW);
	T_STATE(fd, T_DATAXFER);
}

XT_CASE(CO, connect_without_an_address_is_TBADADDR)
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	call.addr.len = 16;
	T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, connect_to_an_address_that_is_too_long_is_TBADADDR)
{
	static char big[4096];
	struct t_call call = {.addr = {.len = sizeof(big), .buf = big}};
	int fd = xt_bound(1, 0);

	T_TERR(t_connect(fd, &call, NULL), TBADADDR);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, data_with_a_connection_nobody_carries_is_TBADDATA)
{
	struct t_call call = {.udata = {.len = 4, .buf = (char *)"data"}};
	struct t_info ti;
	struct xt_end e;

	xt_make(&e, T_IDLE);
	T_TOK(t_getinfo(e.fd, &ti));
	if (ti.connect != T_INVALID)
		T_SKIP("it does");
	xt_netbuf(&call.addr, &e.addr);
	T_TERR(t_connect(e.fd, &call, NULL), TBADDATA);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, connect_with_broken_options_is_TBADOPT)
{
	struct t_opthdr oh = {.len = 999, .level = XTI_GENERIC};
	struct t_call call = {.opt = {.len = sizeof(oh), .buf = &oh}};
	struct xt_end e;

	xt_make(&e, T_IDLE);
	xt_netbuf(&call.addr, &e.addr);
	T_TERR(t_connect(e.fd, &call, NULL), TBADOPT);
	call.opt.buf = NULL;
	T_TERR(t_connect(e.fd, &call, NULL), TBADOPT);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, connect_with_a_caller_waiting_is_TLOOK)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at, other;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);

	xt_bound_at(1, 1, &other);
	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	xt_netbuf(&call.addr, &other);
	T_TERR(t_connect(lfd, &call, NULL), TLOOK);
	T_STATE(lfd, T_IDLE);
}

XT_CASE(CO, unbind_with_a_caller_waiting_is_TLOOK)
{
	struct xt_addr at;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TERR(t_unbind(lfd), TLOOK);
	T_STATE(lfd, T_IDLE);
}

/* XNS: the event counts when it has come, not when t_look() has told of it */
XT_CASE(CO, a_caller_whom_poll_has_announced_holds_up_as_well)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at, other;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);
	struct pollfd pfd = {.fd = lfd, .events = POLLIN};

	xt_bound_at(1, 1, &other);
	xt_call(fd, &at);
	T_EQ(poll(&pfd, 1, 10000), 1);
	T_TERR(t_unbind(lfd), TLOOK);
	xt_netbuf(&call.addr, &other);
	T_TERR(t_connect(lfd, &call, NULL), TLOOK);
	T_STATE(lfd, T_IDLE);
	T_EQ(t_look(lfd), T_LISTEN);
}
