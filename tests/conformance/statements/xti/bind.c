/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_bind, t_unbind, t_getprotaddr.
 */
#include "statement.h"

XS(ANY, t_bind, DESCRIPTION, activates,
	"A bound endpoint is idle.")
{
	int fd = xt_open(0);

	T_TOK(t_bind(fd, NULL, NULL));
	T_STATE(fd, T_IDLE);
}

XS(CO, t_bind, DESCRIPTION, indications_come,
	"With connections, the provider begins to queue indications.")
{
	struct xt_addr at;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
}

XS(CL, t_bind, DESCRIPTION, units_come,
	"With datagrams, the endpoint can send and receive.")
{
	struct xs_two w;
	char c;

	xs_two(&w, 0);
	T_TOK(xs_send(&w, 0, "x", 1));
	T_EQ(T_TOK(xs_receive(&w, 1, &c, 1, NULL)), 1);
}

XS(ANY, t_bind, DESCRIPTION, same_address_returned,
	"ret has the address that was asked for.")
{
	struct t_bind req = {.qlen = 0}, ret = {.qlen = 0};
	struct xt_addr want, got;
	int fd = xt_open(0);

	xt_nobody(&want);
	xt_netbuf(&req.addr, &want);
	xt_netbuf(&ret.addr, &got);
	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.addr.len, want.len);
	T_MEM(got.buf, want.buf, want.len);
}

XS(ANY, t_bind, DESCRIPTION, maxlen_of_req,
	"maxlen has no meaning in req.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr want;

	xt_nobody(&want);
	xt_netbuf(&req.addr, &want);
	req.addr.maxlen = 0;
	T_TOK(t_bind(xt_open(0), &req, NULL));
}

XS(ANY, t_bind, DESCRIPTION, maxlen_zero,
	"With a maxlen of zero in ret no address is returned.")
{
	struct t_bind ret = {.qlen = 7};
	char c = 'c';

	ret.addr.buf = &c;
	ret.addr.maxlen = 0;
	T_TOK(t_bind(xt_open(0), NULL, &ret));
	T_EQ(c, 'c');
	T_EQ(ret.qlen, 0);
}

XS(ANY, t_bind, DESCRIPTION, no_req,
	"Without req the provider chooses an address, and tells it in ret.")
{
	struct t_bind ret = {.qlen = 7};
	struct xt_addr at;

	xt_netbuf(&ret.addr, &at);
	ret.addr.len = 0;
	T_TOK(t_bind(xt_open(0), NULL, &ret));
	T_GT(ret.addr.len, 0);
}

XS(ANY, t_bind, DESCRIPTION, no_req_no_qlen,
	"Without req qlen is taken as zero.")
{
	struct t_bind ret = {.qlen = 7};

	T_TOK(t_bind(xt_open(0), NULL, &ret));
	T_EQ(ret.qlen, 0);
}

XS(ANY, t_bind, DESCRIPTION, empty_address,
	"An address of length zero in req lets the provider choose.")
{
	struct t_bind req = {.qlen = 0}, ret = {.qlen = 0};
	struct xt_addr at;

	xt_netbuf(&ret.addr, &at);
	ret.addr.len = 0;
	T_TOK(t_bind(xt_open(0), &req, &ret));
	T_GT(ret.addr.len, 0);
}

XS(ANY, t_bind, DESCRIPTION, no_ret,
	"ret may be null with a req.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr want;
	int fd = xt_open(0);

	xt_nobody(&want);
	xt_netbuf(&req.addr, &want);
	T_TOK(t_bind(fd, &req, NULL));
	T_STATE(fd, T_IDLE);
}

XS(CO, t_bind, DESCRIPTION, qlen_negotiated,
	"ret has the negotiated qlen, which is not zero if more was asked for.")
{
	static const unsigned want[] = {1, 2, 5, 100, 1u << 20};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct t_bind req = {.qlen = want[i]}, ret = {.qlen = 0};

		T_TOK(t_bind(xt_open(0), &req, &ret));
		T_GT(ret.qlen, 0);
		T_LE(ret.qlen, want[i]);
	}
}

XS(CL, t_bind, DESCRIPTION, qlen_of_datagrams,
	"With datagrams qlen has no meaning.")
{
	struct t_bind req = {.qlen = 5};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, &req, NULL));
	T_STATE(fd, T_IDLE);
}

XS(ANY, t_bind, DESCRIPTION, one_address_for_an_endpoint,
	"An endpoint cannot be bound to two addresses.")
{
	int fd = xt_bound(0, 0);

	T_TERR(t_bind(fd, NULL, NULL), TOUTSTATE);
	T_STATE(fd, T_IDLE);
}

XS(CO, t_bind, DESCRIPTION, one_listener_of_an_address,
	"Of the endpoints bound to one address only one may have a qlen above zero.")
{
	struct t_bind req = {.qlen = 1};
	struct xt_addr at;
	int fd = xt_open(0);

	xt_bound_at(0, 1, &at);
	xt_netbuf(&req.addr, &at);
	T_TERR(t_bind(fd, &req, NULL), TADDRBUSY);
	T_STATE(fd, T_UNBND);
}

XS(CO, t_bind, DESCRIPTION, busy_while_connected,
	"An address whose listener has accepted on itself is busy until that ends.")
{
	struct t_bind req = {.qlen = 1};
	struct xt_addr at;
	struct t_call call = {.sequence = 0};
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TOK(t_listen(lfd, &call));
	T_TOK(t_accept(lfd, lfd, &call));
	xt_netbuf(&req.addr, &at);
	T_TERR(t_bind(xt_open(0), &req, NULL), TADDRBUSY);
}

XS(ANY, t_bind, STATES, valid,
	"It works in T_UNBND.")
{
	xs_valid("t_bind", S(T_UNBND));
}

XS(ANY, t_bind, ERRORS, tacces,
	"An address that the user may not use fails with TACCES.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	char first[32];
	int fd = xt_open(0);

	if (!xt->inet)
		T_SKIP("a loopback address is for everyone");
	if (xt->whole != 0)
		T_SKIP("the ports of sctp belong to the domain");
	if (geteuid() == 0)
		T_SKIP("the superuser may use every port");
	if (t_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", first,
		sizeof(first)) > 0 && atoi(first) <= 1)
		T_SKIP("this machine lets everyone use every port");
	xt_local(&at, 1);
	xt_netbuf(&req.addr, &at);
	T_TERR(t_bind(fd, &req, NULL), TACCES);
	T_STATE(fd, T_UNBND);
}

XS(ANY, t_bind, ERRORS, taddrbusy,
	"An address in use fails with TADDRBUSY, and the state stays.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int fd = xt_open(0);

	req.qlen = xt->service == T_CLTS ? 0 : 1;
	xt_bound_at(0, req.qlen, &at);
	xt_netbuf(&req.addr, &at);
	T_TERR(t_bind(fd, &req, NULL), TADDRBUSY);
	T_STATE(fd, T_UNBND);
}

XS(ANY, t_bind, ERRORS, tbadaddr,
	"An address of a wrong format fails with TBADADDR.")
{
	static char big[4096];
	struct t_bind req = {.addr = {.len = sizeof(big), .buf = big}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	if (xt->inet) {
		req.addr.len = 3;
		T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	}
	T_STATE(fd, T_UNBND);
}

XS(ANY, t_bind, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_bind");
}

XS(ANY, t_bind, ERRORS, tbufovflw,
	"An address longer than ret's maxlen fails with TBUFOVFLW; it is bound.")
{
	struct t_bind ret = {.qlen = 0};
	char c;
	int fd = xt_open(0);

	ret.addr.buf = &c;
	ret.addr.maxlen = 1;
	T_TERR(t_bind(fd, NULL, &ret), TBUFOVFLW);
	T_STATE(fd, T_IDLE);
}

XS_NONE(t_bind, ERRORS, tnoaddr,
	"A provider that has no address left to choose fails with TNOADDR.",
	"it takes as many endpoints as there are addresses");

XS(ANY, t_bind, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_bind", S(T_UNBND));
}

XS(ANY, t_bind, ERRORS, tsyserr,
	"A system error fails with TSYSERR, and errno says which.")
{
	struct t_bind req = {.addr = {.len = 16, .buf = xs_bad()}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_UNBND);
}

XS(ANY, t_bind, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd = xt_open(0);

	T_EQ(t_bind(fd, NULL, NULL), 0);
	T_EQ(t_bind(fd, NULL, NULL), -1);
}

/* ----------------------------------------------------------------- t_unbind */

XS(ANY, t_unbind, DESCRIPTION, disables,
	"The endpoint is unbound afterwards, and its address is free.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int fd = xt_bound_at(0, 0, &at);

	T_TOK(t_unbind(fd));
	T_STATE(fd, T_UNBND);
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(xt_open(0), &req, NULL));
}

XS(CO, t_unbind, DESCRIPTION, no_more_indications,
	"No indication comes to it afterwards.")
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at), fd = xt_bound(0, 0);

	T_TOK(t_unbind(lfd));
	xt_netbuf(&call.addr, &at);
	T_TERR(t_connect(fd, &call, NULL), TLOOK);
	T_EQ(t_look(lfd), 0);
}

XS(CL, t_unbind, DESCRIPTION, no_more_units,
	"No datagram comes to it afterwards, nor after it is bound elsewhere.")
{
	struct xs_two w;

	xs_two(&w, 1);
	T_TOK(t_unbind(w.fd[1]));
	(void)xs_send(&w, 0, "x", 1);
	T_EQ(t_look(w.fd[1]), 0);
	T_TOK(t_bind(w.fd[1], NULL, NULL));
	T_TERR(xs_receive(&w, 1, &(char){0}, 1, NULL), TNODATA);
}

XS(ANY, t_unbind, DESCRIPTION, enabled_again,
	"A t_bind enables the endpoint again.")
{
	int fd = xt_bound(0, 0);

	T_TOK(t_unbind(fd));
	T_TOK(t_bind(fd, NULL, NULL));
	T_STATE(fd, T_IDLE);
}

XS(ANY, t_unbind, STATES, valid,
	"It works in T_IDLE.")
{
	xs_valid("t_unbind", S(T_IDLE));
}

XS(ANY, t_unbind, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_unbind");
}

XS(CO, t_unbind, ERRORS, tlook,
	"An indication that waits fails it with TLOOK.")
{
	struct xt_addr at;
	int lfd = xt_bound_at(1, 1, &at), fd = xt_bound(1, 0);

	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TERR(t_unbind(lfd), TLOOK);
	T_STATE(lfd, T_IDLE);
}

XS(CL, t_unbind, ERRORS, tlook_data,
	"A datagram that waits fails it with TLOOK.")
{
	struct xs_two w;

	xs_two(&w, 0);
	T_TOK(xs_send(&w, 0, "x", 1));
	T_EVENT(w.fd[1], T_DATA);
	T_TERR(t_unbind(w.fd[1]), TLOOK);
	T_STATE(w.fd[1], T_IDLE);
}

XS(ANY, t_unbind, ERRORS, toutstate,
	"In another state it fails with TOUTSTATE.")
{
	xs_invalid("t_unbind", S(T_IDLE));
}

XS(ANY, t_unbind, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd = xt_bound(0, 0);

	T_EQ(t_unbind(fd), 0);
	T_EQ(t_unbind(fd), -1);
}

/* ------------------------------------------------------------ t_getprotaddr */

static void
both(int fd, struct t_bind b[2], struct xt_addr at[2])
{
	for (int i = 0; i < 2; i++) {
		xt_netbuf(&b[i].addr, &at[i]);
		b[i].addr.len = 99;
	}
	T_TOK(t_getprotaddr(fd, &b[0], &b[1]));
}

XS(ANY, t_getprotaddr, DESCRIPTION, bound,
	"boundaddr has the address to which the endpoint is bound.")
{
	struct xt_addr want, at[2];
	struct t_bind b[2];
	int fd = xt_bound_at(0, 0, &want);

	both(fd, b, at);
	T_EQ(b[0].addr.len, want.len);
	T_MEM(at[0].buf, want.buf, want.len);
}

XS(ANY, t_getprotaddr, DESCRIPTION, unbound,
	"In T_UNBND the length in boundaddr is zero.")
{
	struct xt_addr at[2];
	struct t_bind b[2];

	both(xt_open(0), b, at);
	T_EQ(b[0].addr.len, 0);
}

XS(CO, t_getprotaddr, DESCRIPTION, peer,
	"peeraddr has the address to which the endpoint is connected.")
{
	struct xt_addr at[2][2];
	struct t_bind b[2][2];
	int fd[2];

	xt_pair(fd);
	for (int i = 0; i < 2; i++)
		both(fd[i], b[i], at[i]);
	T_GT(b[0][1].addr.len, 0);
	T_EQ(b[1][1].addr.len, b[0][0].addr.len);
	T_MEM(at[1][1].buf, at[0][0].buf, b[0][0].addr.len);
}

XS(ANY, t_getprotaddr, DESCRIPTION, no_peer,
	"The length in peeraddr is zero while there is no connection.")
{
	struct xt_addr at[2];
	struct t_bind b[2];

	both(xt_open(0), b, at);
	T_EQ(b[1].addr.len, 0);
	both(xt_bound(0, 0), b, at);
	T_EQ(b[1].addr.len, 0);
}

XS(CO, t_getprotaddr, DESCRIPTION, no_peer_of_indications,
	"Nor is there a peer's address in T_INCON.")
{
	struct xt_addr at[2];
	struct t_bind b[2];
	struct xt_end e;

	xt_make(&e, T_INCON);
	both(e.fd, b, at);
	T_GT(b[0].addr.len, 0);
	T_EQ(b[1].addr.len, 0);
}

XS(ORD, t_getprotaddr, DESCRIPTION, peer_while_releasing,
	"In T_INREL and T_OUTREL there is a peer's address.")
{
	struct xt_addr at[2];
	struct t_bind b[2];
	struct xt_end e;

	xt_make(&e, T_OUTREL);
	both(e.fd, b, at);
	T_GT(b[1].addr.len, 0);
	xt_make(&e, T_INREL);
	both(e.fd, b, at);
	T_GT(b[1].addr.len, 0);
}

XS(ANY, t_getprotaddr, DESCRIPTION, maxlen_zero,
	"With a maxlen of zero no address is returned.")
{
	struct t_bind b = {.qlen = 0};
	int fd = xt_bound(0, 0);
	char c = 'c';

	b.addr.buf = &c;
	T_TOK(t_getprotaddr(fd, &b, &b));
	T_EQ(c, 'c');
}

XS(ANY, t_getprotaddr, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_getprotaddr", XS_ALL);
}

XS(ANY, t_getprotaddr, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_getprotaddr");
}

XS(ANY, t_getprotaddr, ERRORS, tbufovflw,
	"An address longer than maxlen fails with TBUFOVFLW.")
{
	struct t_bind b = {.qlen = 0}, none = {.qlen = 0};
	int fd = xt_bound(0, 0);
	char c;

	b.addr.buf = &c;
	b.addr.maxlen = 1;
	T_TERR(t_getprotaddr(fd, &b, &none), TBUFOVFLW);
	T_STATE(fd, T_IDLE);
}

XS(ANY, t_getprotaddr, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_bind b = {.qlen = 0};

	T_EQ(t_getprotaddr(xt_open(0), &b, &b), 0);
	T_EQ(t_getprotaddr(-1, &b, &b), -1);
}
