/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SCTP: options that are requests about streams (RFC 6525) and addresses
 * (RFC 5061), and the options that permit them.
 */
#include "sctp_near.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/xti_inet.h>

#define HDR sizeof(struct t_opthdr)

/* The last answer. */
static struct {
	struct t_opthdr h;
	unsigned char val[128];
} got;

/* Ask for an option with a value of @n bytes.  The answer's flags. */
static unsigned
ask(int fd, int flags, unsigned name, const void *val, size_t n)
{
	struct {
		struct t_opthdr h;
		unsigned char val[128];
	} o = {.h = {.len = (t_uscalar_t)(HDR + n), .level = T_INET_SCTP,
		.name = name}};
	struct t_optmgmt req = {.opt = {.buf = (char *)&o,
		.len = (unsigned)(HDR + n)}, .flags = flags};
	struct t_optmgmt ret = {.opt = {.buf = (char *)&got,
		.maxlen = sizeof(got)}};

	if (n != 0)
		memcpy(o.val, val, n);
	memset(&got, 0, sizeof(got));
	T_TOK(t_optmgmt(fd, &req, &ret));
	T_EQ(ret.flags, (int)got.h.status);
	return got.h.status;
}

static unsigned
set(int fd, unsigned name, const void *val, size_t n)
{
	return ask(fd, T_NEGOTIATE, name, val, n);
}

static unsigned
number(int fd, unsigned name)
{
	t_uscalar_t v;

	(void)ask(fd, T_CURRENT, name, NULL, 0);
	T_EQ(got.h.len, HDR + sizeof(v));
	memcpy(&v, got.val, sizeof(v));
	return v;
}

static void
set_number(int fd, unsigned name, t_uscalar_t v)
{
	T_EQ(set(fd, name, &v, sizeof(v)), T_SUCCESS);
}

/* How the request has ended; its answer is under way. */
static unsigned
ended(int fd)
{
	unsigned v;

	while ((v = number(fd, T_SCTP_CHANGE)) == T_SCTP_CHANGE_WAITS)
		(void)sched_yield();
	return v;
}

static struct t_sctp_status
status_of(int fd)
{
	struct t_sctp_status s;

	(void)ask(fd, T_CURRENT, T_SCTP_STATUS, NULL, 0);
	T_EQ(got.h.len, HDR + sizeof(s));
	memcpy(&s, got.val, sizeof(s));
	return s;
}

static void
need_sctp(void)
{
	if (!xt->whole)
		T_SKIP("not SCTP");
}

XT_CASE(CO, streams_are_added_by_an_option)
{
	struct t_sctp_add a = {5, 3};
	int fd[2];

	need_sctp();
	xt_pair(fd);
	T_EQ(number(fd[0], T_SCTP_CHANGE), T_SCTP_CHANGE_NONE);
	T_EQ(set(fd[0], T_SCTP_ADD_STREAMS, &a, sizeof(a)), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DONE);
	T_EQ(status_of(fd[0]).ostreams, 15);
	T_EQ(status_of(fd[0]).istreams, 13);
	T_EQ(status_of(fd[1]).ostreams, 13);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
}

XT_CASE(CO, streams_and_tsns_are_reset_by_an_option)
{
	struct {
		struct t_sctp_reset r;
		unsigned short sid[T_SCTP_RESET_MOST];
	} o = {.r = {T_SCTP_RESET_OUT | T_SCTP_RESET_IN}, .sid = {1, 9}};
	int fd[2];

	need_sctp();
	xt_pair(fd);
	T_EQ(set(fd[0], T_SCTP_RESET, &o, sizeof(o.r) + 4), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DONE);
	T_EQ(set(fd[0], T_SCTP_RESET, &o, sizeof(o.r)), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DONE);
	o.r.what = T_SCTP_RESET_TSN;
	T_EQ(set(fd[0], T_SCTP_RESET, &o, sizeof(o.r)), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DONE);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
	xt_say(fd[1], "back");
	xt_hear(fd[0], "back");
}

XT_CASE(CO, a_peer_makes_the_changes_that_it_is_permitted)
{
	struct t_sctp_reset r = {T_SCTP_RESET_OUT};
	struct t_sctp_add a = {5, 0};
	struct xt_addr at;
	int lfd, fd[2];

	need_sctp();
	lfd = xt_bound_at(0, 1, &at);
	T_EQ(number(lfd, T_SCTP_RECONF), T_SCTP_MAY_RESET |
		T_SCTP_MAY_RESET_TSN | T_SCTP_MAY_ADD);
	set_number(lfd, T_SCTP_RECONF, T_SCTP_MAY_RESET);
	T_EQ(number(lfd, T_SCTP_RECONF), T_SCTP_MAY_RESET);
	fd[0] = xt_bound(1, 0);
	xt_call(fd[0], &at);
	fd[1] = xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
	T_EQ(set(fd[0], T_SCTP_ADD_STREAMS, &a, sizeof(a)), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DENIED);
	T_EQ(status_of(fd[0]).ostreams, 10);
	T_EQ(set(fd[0], T_SCTP_RESET, &r, sizeof(r)), T_SUCCESS);
	T_EQ(ended(fd[0]), T_SCTP_CHANGE_DONE);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
}

XT_CASE(CO, bad_requests_fail_and_change_nothing)
{
	static const struct {
		const char *what;
		unsigned name;
		size_t n;
		t_uscalar_t w[16];
	} rows[] = {
		{"nothing to reset", T_SCTP_RESET, 4, {0}},
		{"unknown reset", T_SCTP_RESET, 4, {8}},
		{"short reset", T_SCTP_RESET, 3, {1}},
		{"half a stream", T_SCTP_RESET, 5, {1}},
		{"no such stream", T_SCTP_RESET, 6, {1, 10}},
		{"TSNs of a stream", T_SCTP_RESET, 6, {4, 1}},
		{"short number", T_SCTP_ADD_STREAMS, 4, {1}},
		{"long number", T_SCTP_ADD_STREAMS, 12, {1, 1}},
		{"too many streams", T_SCTP_ADD_STREAMS, 8, {65535, 0}},
		{"huge number", T_SCTP_ADD_STREAMS, 8, {0x80000001, 0}},
		{"no streams", T_SCTP_ADD_STREAMS, 8, {0, 0}},
		{"no address", T_SCTP_ADD_IP, 4, {AF_INET}},
		{"unknown family", T_SCTP_ADD_IP, 16, {99}},
		{"short IPv6 address", T_SCTP_DEL_IP, 16, {AF_INET6}},
		{"long address", T_SCTP_SET_IP, 64, {AF_INET}},
	};
	struct t_sctp_add a = {1, 0};
	int fd[2], idle;

	need_sctp();
	xt_pair(fd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_EQ(set(fd[0], rows[i].name, rows[i].w, rows[i].n), T_FAILURE);
		T_EQ(number(fd[0], T_SCTP_CHANGE), T_SCTP_CHANGE_NONE);
	}
	/* to check is not to ask */
	T_EQ(ask(fd[0], T_CHECK, T_SCTP_ADD_STREAMS, &a, sizeof(a)), T_SUCCESS);
	T_EQ(status_of(fd[0]).ostreams, 10);
	T_EQ(set(fd[0], T_SCTP_CHANGE, &a, 4), T_READONLY);
	idle = xt_bound(0, 0);
	T_EQ(set(idle, T_SCTP_ADD_STREAMS, &a, sizeof(a)), T_FAILURE);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
}

XT_CASE(CO, the_default_of_all_options_is_no_request)
{
	struct t_opthdr h = {.len = HDR, .level = T_INET_SCTP, .name = T_ALLOPT};
	char back[8192];
	struct t_optmgmt req = {.opt = {.buf = (char *)&h, .len = HDR},
		.flags = T_NEGOTIATE};
	struct t_optmgmt ret = {.opt = {.buf = back, .maxlen = sizeof(back)}};
	int fd[2];

	need_sctp();
	xt_pair(fd);
	T_TOK(t_optmgmt(fd[0], &req, &ret));
	T_EQ(number(fd[0], T_SCTP_CHANGE), T_SCTP_CHANGE_NONE);
	T_EQ(status_of(fd[0]).ostreams, 10);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
}

/* An endpoint that is bound to 127.0.0.1 and offers changes of addresses. */
static int
changing(int nonblock, unsigned qlen, struct xt_addr *ret)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct t_bind want = {.addr = {.buf = (char *)&sa, .len = sizeof(sa)},
		.qlen = qlen};
	struct t_bind is = {.addr = {.buf = (char *)ret->buf,
		.maxlen = sizeof(ret->buf)}};
	int fd = xt_open(nonblock);

	T_TOK(t_bind(fd, &want, &is));
	ret->len = is.addr.len;
	set_number(fd, T_SCTP_ASCONF, T_YES);
	T_EQ(number(fd, T_SCTP_AUTH), T_YES);
	return fd;
}

XT_CASE(CO, addresses_are_changed_by_options)
{
	struct sockaddr_in second = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)};
	struct sockaddr_in first = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct xt_addr at, own;
	int lfd, fd[2];

	need_sctp();
	lfd = changing(0, 1, &at);
	fd[0] = changing(1, 0, &own);
	xt_call(fd[0], &at);
	fd[1] = xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
	xt_block(fd[0], 1);
	T_EQ(set(fd[0], T_SCTP_SET_IP, &second, sizeof(second)), T_FAILURE);
	T_EQ(set(fd[0], T_SCTP_ADD_IP, &second, sizeof(second)), T_SUCCESS);
	while (status_of(fd[1]).addresses != 2)
		(void)sched_yield();
	T_EQ(set(fd[0], T_SCTP_SET_IP, &second, sizeof(second)), T_SUCCESS);
	T_EQ(set(fd[0], T_SCTP_DEL_IP, &first, sizeof(first)), T_SUCCESS);
	while (status_of(fd[1]).addresses != 1)
		(void)sched_yield();
	T_EQ(set(fd[0], T_SCTP_DEL_IP, &second, sizeof(second)), T_FAILURE);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
	xt_say(fd[1], "back");
	xt_hear(fd[0], "back");
}
