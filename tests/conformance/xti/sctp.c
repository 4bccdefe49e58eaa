/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What SCTP has and other transports have not: options of messages, lists of
 * addresses, data of an ABORT, packets that a tap sees.
 */
#include "xt.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>
#include <sys/wait.h>
#include <sys/xti_inet.h>

/* Options of one message: each has an unsigned number. */
struct opts {
	struct option o[4];
	struct t_optmgmt om;
	unsigned n;
};

static void
need_sctp(void)
{
	if (!xt->whole)
		T_SKIP("not SCTP");
}

#define SIZE (sizeof(struct t_opthdr) + sizeof(t_uscalar_t))

static void
add(struct opts *os, char *buf, unsigned name, unsigned value)
{
	struct t_opthdr h = {.len = SIZE, .level = T_INET_SCTP, .name = name};

	memcpy(buf + os->n * SIZE, &h, sizeof(h));
	memcpy(buf + os->n * SIZE + sizeof(h), &value, sizeof(value));
	os->n++;
	os->om.opt.buf = buf;
	os->om.opt.len = os->n * SIZE;
	os->om.flags = 0;
}

static unsigned
value_of(const struct t_optmgmt *om, unsigned name)
{
	unsigned at, v;
	struct t_opthdr h;

	for (at = 0; at + sizeof(h) <= om->opt.len; at += T_ALIGN(h.len)) {
		memcpy(&h, (char *)om->opt.buf + at, sizeof(h));
		if (h.level == T_INET_SCTP && h.name == name) {
			memcpy(&v, (char *)om->opt.buf + at + sizeof(h),
				sizeof(v));
			return v;
		}
	}
	T_FAIL("no option %u", name);
}

static void
negotiate(int fd, unsigned name, unsigned value)
{
	char buf[64], back[256];
	struct opts os = {.n = 0};
	struct t_optmgmt ret = {.opt = {.buf = back, .maxlen = sizeof(back)}};

	add(&os, buf, name, value);
	os.om.flags = T_NEGOTIATE;
	T_TOK(t_optmgmt(fd, &os.om, &ret));
	T_EQ(ret.flags, T_SUCCESS);
}

/* A message with its options. */
static int
receive(int fd, char *buf, unsigned size, struct t_optmgmt *om, char *obuf,
	unsigned osize, int *flags)
{
	om->opt.buf = obuf;
	om->opt.maxlen = osize;
	om->opt.len = 0;
	return T_TOK(t_rcvopt(fd, om, buf, size, flags));
}

XT_CASE(CO, a_message_has_stream_and_protocol_of_its_options)
{
	char obuf[256], rbuf[256], buf[16];
	struct t_optmgmt got;
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	negotiate(fd[1], T_SCTP_RECVOPT, T_YES);
	for (unsigned i = 0; i < 6; i++) {
		struct opts os = {.n = 0};

		add(&os, obuf, T_SCTP_SID, i % 3);
		add(&os, obuf, T_SCTP_PPI, 1000 + i);
		T_EQ(T_TOK(t_sndopt(fd[0], &os.om, (char *)"data", 4, 0)), 4);
	}
	for (unsigned i = 0; i < 6; i++) {
		T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
			&flags), 4);
		T_EQ(flags, 0);
		T_EQ(value_of(&got, T_SCTP_SID), i % 3);
		T_EQ(value_of(&got, T_SCTP_SSN), i / 3);
		T_EQ(value_of(&got, T_SCTP_PPI), 1000 + i);
		(void)value_of(&got, T_SCTP_TSN);
	}
}

XT_CASE(CO, an_unordered_message_with_options_is_expedited)
{
	char obuf[256], rbuf[256], buf[16];
	struct opts os = {.n = 0};
	struct t_optmgmt got;
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	negotiate(fd[1], T_SCTP_RECVOPT, T_YES);
	add(&os, obuf, T_SCTP_SID, 7);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"plain", 5, 0)), 5);
	T_EQ(T_TOK(t_sndopt(fd[0], &os.om, (char *)"ex", 2, T_EXPEDITED)), 2);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
		&flags), 2);
	T_EQ(flags, T_EXPEDITED);
	T_EQ(value_of(&got, T_SCTP_SID), 7);
	T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
		&flags), 5);
	T_EQ(flags, 0);
	T_EQ(value_of(&got, T_SCTP_SID), 0);
}

XT_CASE(CO, without_T_SCTP_RECVOPT_data_has_no_options)
{
	char obuf[256], rbuf[256], buf[16];
	struct opts os = {.n = 0};
	struct t_optmgmt got;
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	add(&os, obuf, T_SCTP_SID, 3);
	T_EQ(T_TOK(t_sndopt(fd[0], &os.om, (char *)"data", 4, 0)), 4);
	T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
		&flags), 4);
	T_EQ(got.opt.len, 0);
}

XT_CASE(CO, stream_and_protocol_of_plain_data_are_options)
{
	char rbuf[256], buf[16];
	struct t_optmgmt got;
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	negotiate(fd[0], T_SCTP_SID, 5);
	negotiate(fd[0], T_SCTP_PPI, 46);
	negotiate(fd[1], T_SCTP_RECVOPT, T_YES);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"data", 4, 0)), 4);
	T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
		&flags), 4);
	T_EQ(value_of(&got, T_SCTP_SID), 5);
	T_EQ(value_of(&got, T_SCTP_PPI), 46);
}

/* XTI: "the value is illegal": T_FAILURE, and the option is not changed */
XT_CASE(CO, a_stream_that_the_association_does_not_have_is_refused)
{
	char obuf[64], back[256], rbuf[256], buf[16];
	struct opts os = {.n = 0};
	struct t_optmgmt got = {.opt = {.buf = back, .maxlen = sizeof(back)}};
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	negotiate(fd[1], T_SCTP_RECVOPT, T_YES);
	for (int end = 0; end < 2; end++) {
		os.n = 0;
		negotiate(fd[end], T_SCTP_SID, 9);
		add(&os, obuf, T_SCTP_SID, 10); /* T_SCTP_OSTREAMS is 10 */
		os.om.flags = T_NEGOTIATE;
		T_TOK(t_optmgmt(fd[end], &os.om, &got));
		T_EQ(got.flags, T_FAILURE);
	}
	T_EQ(T_TOK(t_snd(fd[0], (char *)"data", 4, 0)), 4);
	T_EQ(receive(fd[1], buf, sizeof(buf), &got, rbuf, sizeof(rbuf),
		&flags), 4);
	T_EQ(value_of(&got, T_SCTP_SID), 9);
}

/* Set before the connection: the sender learns that the data is not sent. */
static void
cannot_send(int flags)
{
	struct xt_addr at;
	char buf[16];
	int lfd, fd, peer, got;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	fd = xt_bound(1, 0);
	negotiate(fd, T_SCTP_SID, 200);
	xt_call(fd, &at);
	peer = xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, NULL));
	xt_block(fd, 1);
	T_EQ(T_TOK(t_snd(fd, (char *)"data", 4, flags)), 4);
	T_TERR(t_rcv(fd, buf, sizeof(buf), &got), TSYSERR);
	T_EQ(errno, EPROTO);
	T_TERR(t_snd(fd, (char *)"data", 4, flags), TSYSERR);
	T_EQ(errno, EPROTO);
	T_EQ(close(fd), 0);
	T_EVENT(peer, T_DISCONNECT);
}

XT_CASE(CO, data_for_a_stream_that_is_not_there_is_an_error)
{
	cannot_send(0);
}

XT_CASE(CO, expedited_data_for_a_stream_that_is_not_there_is_an_error)
{
	cannot_send(T_EXPEDITED);
}

XT_CASE(CO, a_piece_for_a_stream_that_is_not_there_is_an_error)
{
	cannot_send(T_MORE);
}

XT_CASE(CO, a_message_may_have_a_lifetime)
{
	char obuf[256], buf[16];
	struct opts os = {.n = 0};
	int fd[2], flags;

	need_sctp();
	xt_pair(fd);
	add(&os, obuf, T_SCTP_LIFETIME, 60000);
	T_EQ(T_TOK(t_sndopt(fd[0], &os.om, (char *)"data", 4, 0)), 4);
	T_EQ(T_TOK(t_rcv(fd[1], buf, sizeof(buf), &flags)), 4);
}

/* ------------------------------------------------------------ lists of addresses */

static unsigned
list(char *buf, unsigned n, int port)
{
	for (unsigned i = 0; i < n; i++) {
		struct sockaddr_in sin = {.sin_family = AF_INET,
			.sin_port = htons((uint16_t)port)};

		sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
		memcpy(buf + i * sizeof(sin), &sin, sizeof(sin));
	}
	return n * (unsigned)sizeof(struct sockaddr_in);
}

XT_CASE(CO, a_listener_is_reached_at_each_of_its_addresses)
{
	struct t_bind req = {.qlen = 4}, ret;
	char want[256], got[256], buf[8];
	struct sockaddr_in sin;
	int lfd, fd, afd, flags;
	struct xt_addr to;

	need_sctp();
	lfd = xt_open(0);
	req.addr.buf = want;
	req.addr.len = list(want, 3, 0);
	ret.addr.buf = got;
	ret.addr.maxlen = sizeof(got);
	T_TOK(t_bind(lfd, &req, &ret));
	T_EQ(ret.addr.len, 3 * sizeof(sin));
	for (unsigned i = 0; i < 3; i++) {
		memcpy(&sin, got + i * sizeof(sin), sizeof(sin));
		T_EQ(ntohl(sin.sin_addr.s_addr), INADDR_LOOPBACK + i);
		T_NE(sin.sin_port, 0);
		fd = xt_bound(1, 0);
		memcpy(to.buf, &sin, sizeof(sin));
		to.len = sizeof(sin);
		xt_call(fd, &to);
		afd = xt_accept(lfd);
		T_EVENT(fd, T_CONNECT);
		T_TOK(t_rcvconnect(fd, NULL));
		T_EQ(T_TOK(t_snd(fd, (char *)"here", 4, 0)), 4);
		T_EQ(T_TOK(t_rcv(afd, buf, sizeof(buf), &flags)), 4);
		T_EQ(T_TOK(t_snd(afd, (char *)"back", 4, 0)), 4);
		xt_block(fd, 1);
		T_EQ(T_TOK(t_rcv(fd, buf, sizeof(buf), &flags)), 4);
		T_TOK(t_close(fd));
		T_TOK(t_close(afd));
	}
}

XT_CASE(CO, a_call_to_a_list_of_addresses)
{
	struct t_call call = {.sequence = 0};
	struct sockaddr_in sin;
	struct xt_addr at;
	char to[256];
	int lfd, fd;

	need_sctp();
	lfd = xt_bound_at(0, 2, &at);
	memcpy(&sin, at.buf, sizeof(sin));
	call.addr.buf = to;
	call.addr.len = list(to, 2, ntohs(sin.sin_port));
	fd = xt_bound(1, 0);
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_TOK(t_close(xt_accept(lfd)));
	T_EVENT(fd, T_CONNECT);
}

XT_CASE(CO, caller_and_listener_learn_all_addresses_of_their_peer)
{
	struct t_bind req = {.qlen = 1}, ret;
	struct t_call call = {.sequence = 0};
	char want[256], got[256];
	struct sockaddr_in sin;
	int lfd, fd;

	need_sctp();
	lfd = xt_open(0);
	fd = xt_open(1);
	ret.addr.buf = got;
	ret.addr.maxlen = sizeof(got);
	req.addr.buf = want;
	req.addr.len = list(want, 3, 0);
	T_TOK(t_bind(lfd, &req, &ret));
	call.addr.buf = got;
	call.addr.len = sizeof(sin); /* its first address is called */
	req.qlen = 0;
	req.addr.len = list(want, 2, 0);
	T_TOK(t_bind(fd, &req, NULL));
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_EVENT(lfd, T_LISTEN);
	call.addr.maxlen = sizeof(got);
	T_TOK(t_listen(lfd, &call));
	T_EQ(call.addr.len, 2 * sizeof(sin));
	T_TOK(t_accept(lfd, xt_open(0), &call));
	T_EVENT(fd, T_CONNECT);
	T_TOK(t_rcvconnect(fd, &call));
	T_EQ(call.addr.len, 3 * sizeof(sin));
	memcpy(&sin, got + 2 * sizeof(sin), sizeof(sin));
	T_EQ(ntohl(sin.sin_addr.s_addr), INADDR_LOOPBACK + 2);
}

XT_CASE(CO, a_list_with_two_ports_is_TBADADDR)
{
	struct t_bind req = {.qlen = 0};
	char want[256];

	need_sctp();
	req.addr.buf = want;
	req.addr.len = list(want, 2, 6000);
	((struct sockaddr_in *)(void *)want)->sin_port = htons(6001);
	T_TERR(t_bind(xt_open(0), &req, NULL), TBADADDR);
}

XT_CASE(CO, an_address_of_another_host_is_TNOADDR)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct t_bind req = {.qlen = 0};

	need_sctp();
	sin.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1 */
	req.addr.buf = (char *)&sin;
	req.addr.len = sizeof(sin);
	T_TERR(t_bind(xt_open(0), &req, NULL), TNOADDR);
}

/* ---------------------------------------------------------------- the end */

XT_CASE(CO, an_ABORT_carries_data_of_its_user)
{
	struct t_call call = {.udata = {.buf = (char *)"why", .len = 3}};
	char buf[16];
	struct t_discon dis = {.udata = {.buf = buf, .maxlen = sizeof(buf)}};
	int fd[2];

	need_sctp();
	xt_pair(fd);
	T_TOK(t_snddis(fd[0], &call));
	T_EVENT(fd[1], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[1], &dis));
	T_EQ(dis.reason, ECONNRESET);
	T_EQ(dis.udata.len, 3);
	T_MEM(buf, "why", 3);
}

/* RFC 9260 s9.2, emulated: data after the peer's release. */
XT_CASE(ORD, much_data_follows_the_release_of_the_peer)
{
	static char out[300000], in[300000];
	int fd[2];

	need_sctp();
	xt_pair(fd);
	memset(out, 'x', sizeof(out));
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	if (T_OK(fork()) == 0) {
		xt_snd_all(fd[1], out, sizeof(out), 0);
		T_TOK(t_sndrel(fd[1]));
		_exit(0);
	}
	xt_rcv_all(fd[0], in, sizeof(in));
	T_MEM(in, out, sizeof(in));
	T_EVENT(fd[0], T_ORDREL);
	T_TOK(t_rcvrel(fd[0]));
	T_STATE(fd[0], T_IDLE);
}

XT_CASE(CO, ports_of_ended_associations_are_free)
{
	struct xt_addr at, me;
	struct t_bind req = {.qlen = 0};
	int lfd, fd;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	fd = xt_bound_at(1, 0, &me);
	for (int i = 0; i < 20; i++) {
		xt_call(fd, &at);
		T_TOK(t_close(xt_accept(lfd)));
		T_EVENT(fd, T_CONNECT);
		T_TOK(t_rcvconnect(fd, NULL));
		T_TOK(t_close(fd));
		fd = xt_open(1);
		xt_netbuf(&req.addr, &me);
		T_TOK(t_bind(fd, &req, NULL));
	}
}

enum { ROUNDS = 20000 };

static void
pour(int fd)
{
	struct { unsigned nr; char fill[200]; } m;

	memset(&m, 0, sizeof(m));
	for (m.nr = 0; m.nr < ROUNDS; m.nr++)
		xt_snd_all(fd, &m, 4 + m.nr % 197, 0);
}

static void
drink(int fd)
{
	struct { unsigned nr; char fill[400]; } m;
	int flags, n;

	for (unsigned i = 0; i < ROUNDS; i++) {
		n = T_TOK(t_rcv(fd, (char *)&m, sizeof(m), &flags));
		T_EQ(flags, 0);
		T_EQ(m.nr, i);
		T_EQ(n, (int)(4 + i % 197));
	}
}

XT_CASE_TIMEOUT(CO, both_ends_send_and_receive_much_at_once, 60)
{
	struct xt_traffic tr;
	int fd[2];

	need_sctp();
	xt_pair(fd);
	xt_traffic(&tr, 2, fd, pour, drink);
	xt_traffic_ends(&tr);
}

/* -------------------------------------------------------- closes, listeners */

/* A message is accepted when t_sndopt() has returned, and a close delivers it. */
XT_CASE(CO, a_close_delivers_messages_with_options_that_wait)
{
	static char out[8192], in[sizeof(out)], obuf[256], rbuf[256];
	struct opts os = {.n = 0};
	struct t_optmgmt got;
	int fd[2], flags, sent = 0, n = 0;

	need_sctp();
	xt_pair(fd);
	negotiate(fd[1], T_SCTP_RECVOPT, T_YES);
	xt_block(fd[0], 0);
	add(&os, obuf, T_SCTP_SID, 7);
	do {
		memset(out, sent, sizeof(out));
		n = t_sndopt(fd[0], &os.om, out, sizeof(out),
			sent % 3 == 0 ? T_EXPEDITED : 0);
		sent += n == (int)sizeof(out);
	} while (n == (int)sizeof(out));
	T_EQ(t_errno, TFLOW);
	T_TOK(t_close(fd[0]));
	for (n = 0; n < sent; n++) {
		T_EQ(receive(fd[1], in, sizeof(in), &got, rbuf, sizeof(rbuf),
			&flags), (int)sizeof(in));
		T_EQ(value_of(&got, T_SCTP_SID), 7);
	}
	T_EVENT(fd[1], T_ORDREL);
}

XT_CASE(CO, options_of_a_bound_listener_are_for_callers_to_come)
{
	char obuf[64], back[256];
	struct t_optmgmt got = {.opt = {.buf = back, .maxlen = sizeof(back)}};
	struct opts os = {.n = 0};
	struct xt_addr at;
	int lfd, fd, peer;

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	negotiate(lfd, T_SCTP_OSTREAMS, 3);
	fd = xt_bound(1, 0);
	xt_call(fd, &at);
	peer = xt_accept(lfd);
	T_EVENT(fd, T_CONNECT);
	negotiate(peer, T_SCTP_SID, 2);
	add(&os, obuf, T_SCTP_SID, 3);
	os.om.flags = T_NEGOTIATE;
	T_TOK(t_optmgmt(peer, &os.om, &got));
	T_EQ(got.flags, T_FAILURE);
}
