/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: how they begin, are refused, fail and end.
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

/* Two callers at a listener with room for both. */
static void
two(struct xt_addr *at, int *lfd, int who[2], int seq[2])
{
	struct t_call call = {.sequence = 0};

	*lfd = xt_bound_at(1, 2, at);
	for (int i = 0; i < 2; i++) {
		who[i] = xt_bound(1, 0);
		xt_call(who[i], at);
		T_EVENT(*lfd, T_LISTEN);
		T_TOK(t_listen(*lfd, &call));
		seq[i] = call.sequence;
	}
	T_NE(seq[0], seq[1]);
	T_STATE(*lfd, T_INCON);
}

XT_CASE(CO, two_callers_wait_and_are_accepted_in_any_order)
{
	int lfd, who[2], seq[2], fd[2];
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	char c;

	two(&at, &lfd, who, seq);
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

	two(&at, &lfd, who, seq);
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

	two(&at, &lfd, who, seq);
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

/* --------------------------------------------------------------------- refusal */

XT_CASE(CO, a_call_to_nobody_is_a_disconnect)
{
	struct t_call call = {.sequence = 0};
	struct t_discon dis = {.reason = 0};
	struct xt_addr at;
	int fd = xt_bound(0, 0);

	xt_nobody(&at);
	xt_netbuf(&call.addr, &at);
	T_TERR(t_connect(fd, &call, NULL), TLOOK);
	T_STATE(fd, T_OUTCON);
	T_EQ(t_look(fd), T_DISCONNECT);
	T_TOK(t_rcvdis(fd, &dis));
	T_EQ(dis.reason, ECONNREFUSED);
	T_STATE(fd, T_IDLE);
	T_EQ(t_look(fd), 0);
}

XT_CASE(CO, a_call_to_nobody_may_be_followed_by_another)
{
	struct xt_addr nobody, at;
	int fd = xt_bound(1, 0), lfd;

	xt_nobody(&nobody);
	xt_call(fd, &nobody);
	T_EVENT(fd, T_DISCONNECT);
	T_TERR(t_rcvconnect(fd, NULL), TLOOK);
	T_TOK(t_rcvdis(fd, NULL));
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd, &at);
	xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
}

XT_CASE(CO, a_call_that_is_refused_is_a_disconnect)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_snddis(e.fd, &call));
	T_STATE(e.fd, T_IDLE);
	T_EVENT(e.peer, T_DISCONNECT);
	T_TOK(t_rcvdis(e.peer, NULL));
	T_STATE(e.peer, T_IDLE);
}

XT_CASE(CO, one_of_two_callers_is_refused)
{
	int lfd, who[2], seq[2];
	struct t_call call = {.sequence = 0};
	struct xt_addr at;

	two(&at, &lfd, who, seq);
	call.sequence = seq[0];
	T_TOK(t_snddis(lfd, &call));
	T_STATE(lfd, T_INCON);
	call.sequence = seq[1];
	T_TOK(t_accept(lfd, xt_open(0), &call));
	T_STATE(lfd, T_IDLE);
}

XT_CASE(CO, refusing_an_unknown_sequence_is_TBADSEQ)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq + 77};
	T_TERR(t_snddis(e.fd, &call), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CO, a_caller_may_give_up)
{
	struct t_discon dis = {.sequence = 0};
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	T_TOK(t_snddis(e.peer, NULL));
	T_STATE(e.peer, T_IDLE);
	T_EVENT(e.fd, T_DISCONNECT);
	T_TOK(t_rcvdis(e.fd, &dis));
	T_EQ(dis.sequence, e.seq);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, accept_of_a_caller_who_gave_up_is_TLOOK)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	struct t_call call = {.sequence = e.seq};
	T_TOK(t_snddis(e.peer, NULL));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TERR(t_accept(e.fd, xt_open(0), &call), TLOOK);
	T_TERR(t_listen(e.fd, &call), TLOOK);
	T_TOK(t_rcvdis(e.fd, NULL));
}

/* However close: the caller gives up between the look and the answer. */
XT_CASE_TIMEOUT(CO, an_answer_that_meets_a_withdrawal_is_TLOOK, 60)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd, fd, acc;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	lfd = xt_bound_at(0, 1, &at);
	if (T_OK(fork()) == 0) {
		fd = xt_bound(1, 0);
		for (;;) {
			struct t_call to = {.sequence = 0};

			xt_netbuf(&to.addr, &at);
			if (t_connect(fd, &to, NULL) < 0 &&
			    t_errno == TNODATA) {
				for (uint64_t n = t_rand_below(20000); n > 0;
					n--)
					__asm__ volatile("");
				if (t_snddis(fd, NULL) == 0 ||
				    t_rcvdis(fd, NULL) == 0)
					continue;
			}
			T_TOK(t_close(fd));
			fd = xt_bound(1, 0);
		}
	}
	acc = xt_bound(0, 0);
	for (int i = 0; i < 500; i++) {
		int ret = (i & 1) ? -2 : 0;

		if (t_listen(lfd, &call) < 0) {
			T_EQ(t_errno, TLOOK);
			T_TOK(t_rcvdis(lfd, NULL));
			continue;
		}
		ret = ret == 0 ? t_accept(lfd, acc, &call) :
				 t_snddis(lfd, &call);
		if (ret < 0) {
			T_EQ(t_errno, TLOOK);
			T_EQ(T_TOK(t_look(lfd)), T_DISCONNECT);
			T_TOK(t_rcvdis(lfd, NULL));
		} else if ((i & 1) == 0) {
			T_TOK(t_close(acc));
			acc = xt_bound(0, 0);
		}
		T_STATE(lfd, T_IDLE);
	}
}

XT_CASE(CO, a_caller_who_dies_is_a_disconnect)
{
	struct xt_end e;

	if (xt->at_once)
		T_SKIP("it is accepted before it is known");
	xt_make(&e, T_INCON);
	T_OK(close(e.peer));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TOK(t_rcvdis(e.fd, NULL));
	T_STATE(e.fd, T_IDLE);
}

/* ------------------------------------------------------------------------ aborts */

XT_CASE(CO, an_abort_is_a_disconnect_at_the_other_end)
{
	struct t_discon dis = {.sequence = 7};
	int fd[2];

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_EVENT(fd[1], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[1], &dis));
	T_NE(dis.reason, 0);
	T_STATE(fd[1], T_IDLE);
	T_EQ(t_look(fd[0]), 0);
}

XT_CASE(CO, calls_that_meet_an_abort_are_TLOOK)
{
	struct t_iovec iov;
	int fd[2], flags;
	char c = 0;

	xt_pair(fd);
	T_TOK(t_snddis(fd[0], NULL));
	T_EVENT(fd[1], T_DISCONNECT);
	iov.iov_base = &c;
	iov.iov_len = 1;
	T_TERR(t_snd(fd[1], &c, 1, 0), TLOOK);
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_TERR(t_sndv(fd[1], &iov, 1, 0), TLOOK);
	T_TERR(t_rcvv(fd[1], &iov, 1, &flags), TLOOK);
	T_TERR(t_snddis(fd[1], NULL), TLOOK);
	if (xt->service == T_COTS_ORD) {
		T_TERR(t_sndrel(fd[1]), TLOOK);
		T_TERR(t_rcvrel(fd[1]), TLOOK);
	}
	T_STATE(fd[1], T_DATAXFER);
	T_TOK(t_rcvdis(fd[1], NULL));
}

XT_CASE(CO, a_blocked_receiver_learns_of_an_abort)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(t_snddis(fd[0], NULL));
		_exit(0);
	}
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

XT_CASE(CO, a_sender_learns_of_an_abort_behind_what_it_has_not_read)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xt_snd_all(fd[1], "unread", 6, 0);
	T_EVENT(fd[0], T_DATA);
	T_TOK(t_snddis(fd[1], NULL));
	T_SOON(t_snd(fd[0], (char *)"x", 1, 0) < 0, 5000);
	T_EQ(t_errno, TLOOK);
	/* what was received is there; a reset may have taken it */
	while (t_look(fd[0]) == T_DATA)
		T_EQ(T_TOK(t_rcv(fd[0], &c, 1, &flags)), 1);
	T_EVENT(fd[0], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
}

XT_CASE(CO, a_close_is_a_disconnect_at_the_other_end)
{
	int fd[2];

	xt_pair(fd);
	T_OK(close(fd[0]));
	if (xt->inet)
		T_SOON(t_look(fd[1]) != 0, 5000);
	else
		T_EVENT(fd[1], T_DISCONNECT);
}

XT_CASE(CO, rcvdis_without_a_disconnect_is_TNODIS)
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_rcvdis(fd[0], NULL), TNODIS);
	T_TOK(t_snd(fd[1], (char *)"x", 1, 0));
	T_EVENT(fd[0], T_DATA);
	T_TERR(t_rcvdis(fd[0], NULL), TNODIS);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, an_endpoint_is_used_again_after_an_abort)
{
	struct xt_addr at;
	int fd[2], lfd;

	xt_pair(fd);
	xt_snd_all(fd[1], "unread", 6, 0);
	T_EVENT(fd[0], T_DATA);
	T_TOK(t_snddis(fd[0], NULL));
	T_EQ(t_look(fd[0]), 0);
	xt_block(fd[0], 0);
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd[0], &at);
	xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
}

XT_CASE(CO, data_with_an_abort_nobody_carries_is_TBADDATA)
{
	struct t_call call = {.udata = {.len = 4, .buf = (char *)"data"}};
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.discon != T_INVALID)
		T_SKIP("it does");
	T_TERR(t_snddis(fd[0], &call), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

/* --------------------------------------------------------------- orderly release */

XT_CASE(ORD, a_release_comes_after_all_data)
{
	int fd[2], flags;
	char buf[16];

	xt_pair(fd);
	xt_snd_all(fd[0], "last words", 10, 0);
	T_TOK(t_sndrel(fd[0]));
	T_STATE(fd[0], T_OUTREL);
	T_EVENT(fd[1], T_DATA);
	T_TERR(t_rcvrel(fd[1]), TNOREL);
	T_EQ(xt_rcv_all(fd[1], buf, 10), 10);
	T_MEM(buf, "last words", 10);
	T_EVENT(fd[1], T_ORDREL);
	T_TERR(t_rcv(fd[1], buf, 1, &flags), TLOOK);
	T_TOK(t_rcvrel(fd[1]));
	T_STATE(fd[1], T_INREL);
}

XT_CASE(ORD, data_flows_back_after_a_release)
{
	int fd[2];
	char buf[16];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	xt_snd_all(fd[1], "still", 5, 0);
	T_EQ(xt_rcv_all(fd[0], buf, 5), 5);
	T_TOK(t_sndrel(fd[1]));
	T_STATE(fd[1], T_IDLE);
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	T_STATE(fd[0], T_IDLE);
}

struct both {
	pthread_barrier_t go;
	int fd;
};

XT_CASE(ORD, both_ends_release_at_once)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_TOK(t_sndrel(fd[1]));
	for (int i = 0; i < 2; i++) {
		T_EVENT(fd[i], T_ORDREL);
		T_TOK(t_rcvrel(fd[i]));
		T_STATE(fd[i], T_IDLE);
	}
}

static void *
rel_sender(void *arg)
{
	struct both *b = arg;

	(void)pthread_barrier_wait(&b->go);
	if (t_sndrel(b->fd) < 0)
		T_FAIL("t_sndrel: %s", t_strerror(t_errno));
	return NULL;
}

/* One thread sends its release while another takes the peer's. */
XT_CASE_TIMEOUT(ORD, a_release_sent_and_one_taken_at_once, 60)
{
	struct both b;
	pthread_t th;
	int fd[2];

	for (int i = 0; i < 300; i++) {
		xt_pair(fd);
		b.fd = fd[0];
		T_EQ(pthread_barrier_init(&b.go, NULL, 2), 0);
		T_TOK(t_sndrel(fd[1]));
		T_EVENT(fd[0], T_ORDREL);
		T_EQ(pthread_create(&th, NULL, rel_sender, &b), 0);
		(void)pthread_barrier_wait(&b.go);
		T_TOK(t_rcvrel(fd[0]));
		T_EQ(pthread_join(th, NULL), 0);
		T_STATE(fd[0], T_IDLE);
		T_EVENT(fd[1], T_ORDREL);
		T_TOK(t_rcvrel(fd[1]));
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
	}
}

XT_CASE(ORD, send_that_meets_a_release_is_TLOOK)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TERR(t_snd(fd[1], (char *)"x", 1, 0), TLOOK);
	T_TOK(t_rcvrel(fd[1]));
	T_EQ(T_TOK(t_snd(fd[1], (char *)"x", 1, 0)), 1);
}

XT_CASE(ORD, rcvrel_without_a_release_is_TNOREL)
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_rcvrel(fd[0]), TNOREL);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(ORD, a_released_endpoint_is_used_again)
{
	struct xt_addr at;
	int fd[2], lfd;

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	T_TOK(t_sndrel(fd[1]));
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	if (xt->inet)
		T_TOK(t_unbind(fd[0])), T_TOK(t_bind(fd[0], NULL, NULL));
	xt_block(fd[0], 0);
	lfd = xt_bound_at(1, 1, &at);
	xt_call(fd[0], &at);
	xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
}

XT_CASE(ORD, an_abort_overtakes_a_release)
{
	int fd[2];

	xt_pair(fd);
	T_TOK(t_sndrel(fd[0]));
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_SOON(t_look(fd[1]) != 0, 5000);
}

XT_CASE(ORD, a_blocked_receiver_learns_of_a_release)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(t_sndrel(fd[0]));
		pause();
	}
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TLOOK);
	T_EQ(t_look(fd[1]), T_ORDREL);
}

/* -------------------------------------------------------------------------- many */

XT_CASE_TIMEOUT(CO, a_thousand_connections, 60)
{
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at), fd, in;
	char c;

	for (int i = 0; i < (xt->inet ? 100 : 1000); i++) {
		fd = xt_bound(1, 0);
		xt_call(fd, &at);
		in = xt_accept(lfd);
		T_EVENT(fd, T_CONNECT);
		T_TOK(t_rcvconnect(fd, NULL));
		T_EQ(T_TOK(t_snd(fd, (char *)"x", 1, 0)), 1);
		T_EQ(xt_rcv_all(in, &c, 1), 1);
		T_TOK(t_close(fd));
		T_TOK(t_close(in));
	}
	T_STATE(lfd, T_IDLE);
}

XT_CASE_TIMEOUT(CO, fifty_connections_at_once, 60)
{
	int fd[50], in[50];
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at);
	char c;

	for (int i = 0; i < 50; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		in[i] = xt_accept(lfd);
		T_EVENT(fd[i], T_CONNECT);
		T_TOK(t_rcvconnect(fd[i], NULL));
	}
	for (int i = 0; i < 50; i++) {
		c = (char)i;
		T_EQ(T_TOK(t_snd(fd[i], &c, 1, 0)), 1);
	}
	for (int i = 49; i >= 0; i--) {
		T_EQ(xt_rcv_all(in[i], &c, 1), 1);
		T_EQ(c, i);
	}
}
