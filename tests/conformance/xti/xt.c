/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "xt.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <sys/xti_inet.h>
#include <unistd.h>

static const struct xt_target targets[] = {
	{"ticotsord", "/dev/ticotsord", T_COTS_ORD, 0, 1, 0, 0, 0, 0, 0},
	{"ticots", "/dev/ticots", T_COTS, 0, 1, 0, 0, 0, 0, 0},
	{"ticlts", "/dev/ticlts", T_CLTS, 0, 0, 0, 0, 0, 0, 0},
	{"inet-tcp", "/dev/tcp", T_COTS_ORD, 1, 1, 1, 0, 0, 0, 0},
	{"sctp", "/dev/sctp", T_COTS_ORD, 1, 1, 1, 0, 0, 0, 1},
	{"sctp-packets", "/dev/sctp", T_COTS_ORD, 1, 1, 1, 0, 0, 0, 2},
	{"inet-udp", "/dev/udp", T_CLTS, 1, 0, 0, 0, 0, 0, 0},
	{"inet-rawip", "/dev/rawip", T_CLTS, 1, 0, 0, 1, 0, 0, 0},
	{"udp2", "/dev/udp2", T_CLTS, 1, 0, 0, 0, 0, 1, 0},
	{"udp2-6", "/dev/udp2_6", T_CLTS, 1, 0, 0, 0, 1, 1, 0},
	{"rawip2", "/dev/rawip2", T_CLTS, 1, 0, 0, 1, 0, 1, 0},
	{"rawip2-6", "/dev/rawip2_6", T_CLTS, 1, 0, 0, 1, 1, 1, 0},
};
const struct xt_target *xt = &targets[0];

T_CONSTRUCTOR static void
choose(void)
{
	const char *name = getenv("XT_TARGET");

	for (size_t i = 0; name != NULL &&
		i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(targets[i].name, name) == 0)
			xt = &targets[i];
}

void
xt_case_add(unsigned services, struct t_case *c)
{
	choose();
	if (services & 1u << xt->service)
		t_case_add(c);
}

int
xt_ok(const char *file, int line, const char *what, int ret)
{
	if (ret < 0)
		t_fail(file, line, "%s failed: %s, %s", what,
			t_strerror(t_errno), t_errno_name(errno));
	return ret;
}

void
xt_err(const char *file, int line, const char *what, long ret, int want)
{
	if (ret != -1)
		t_fail(file, line, "%s is %ld, not -1 with \"%s\"", what, ret,
			t_strerror(want));
	if (t_errno != want)
		t_fail(file, line, "%s: %s (%s), not %s", what,
			t_strerror(t_errno), t_errno_name(errno),
			t_strerror(want));
}

/*
 * Another event may be there first: t_look() returns T_DATA until expedited data
 * or a disconnection, which precede data, has been delivered.  The sender need
 * not deliver itself: if another thread runs the stream's procedures, that
 * thread delivers the message, after the sender's call has returned.
 */
void
xt_event(const char *file, int line, int fd, int want)
{
	uint64_t end = t_now_ns() + T_PATIENCE * UINT64_C(1000000);
	int got;

	while ((got = t_look(fd)) != want) {
		if (got < 0 || t_now_ns() > end)
			t_fail(file, line, "event %#x, not %#x", got, want);
		t_pause();
	}
}

/* Data goes in packets, although the other end is in the domain. */
static void
make_packets(int fd)
{
	struct option o = {.h = {.len = sizeof(o.h) + sizeof(o.v[0]),
		.level = T_INET_SCTP, .name = T_SCTP_LOCHECK},
		.v = {T_YES, 0}};
	char back[64];
	struct t_optmgmt req = {.opt = {.buf = (char *)&o,
		.len = (unsigned)o.h.len}, .flags = T_NEGOTIATE};
	struct t_optmgmt ret = {.opt = {.buf = back, .maxlen = sizeof(back)}};

	T_TOK(t_optmgmt(fd, &req, &ret));
	T_EQ(ret.flags, T_SUCCESS);
}

int
xt_open_info(int nonblock, struct t_info *info)
{
	int fd;

	if (xt->raw)
		t_need_raw();
	fd = t_open(xt->device, O_RDWR | (nonblock ? O_NONBLOCK : 0), info);
	if (fd < 0 && (t_errno == TBADNAME ||
		(t_errno == TSYSERR && (errno == ENXIO || errno == ENODEV ||
		errno == EPERM || errno == EACCES))))
		T_SKIP("%s does not open", xt->device);
	T_TOK(fd);
	if (xt->whole == XT_PACKETS)
		make_packets(fd);
	return fd;
}

int
xt_open(int nonblock)
{
	return xt_open_info(nonblock, NULL);
}

void
xt_netbuf(struct netbuf *nb, struct xt_addr *a)
{
	nb->maxlen = sizeof(a->buf);
	nb->len = a->len;
	nb->buf = a->buf;
}

/* On the inet transports an address of this host must be asked for. */
void
xt_local(struct xt_addr *a, int port)
{
	struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port)};

	a->len = 0;
	if (!xt->inet)
		return;
	if (xt->six) {
		memcpy(a->buf, &sin6, sizeof(sin6));
		a->len = sizeof(sin6);
		return;
	}
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(a->buf, &sin, sizeof(sin));
	a->len = sizeof(sin);
}

int
xt_bound_at(int nonblock, unsigned qlen, struct xt_addr *at)
{
	struct t_bind req = {.qlen = qlen}, ret;
	int fd = xt_open(nonblock), own = xt->inet && !xt->raw, r;

	do {
		xt_local(at, !own ? 0 : t_port(xt->six ? AF_INET6 : AF_INET,
			xt->service == T_CLTS ? SOCK_DGRAM : SOCK_STREAM));
		xt_netbuf(&req.addr, at);
		xt_netbuf(&ret.addr, at);
		r = t_bind(fd, &req, &ret);
	} while (own && r < 0 && t_errno == TADDRBUSY); /* just taken */
	T_TOK(r);
	at->len = ret.addr.len;
	T_GT(at->len, 0);
	if (xt->service != T_CLTS)
		T_EQ(ret.qlen, qlen);
	return fd;
}

int
xt_bound(int nonblock, unsigned qlen)
{
	struct xt_addr at;

	return xt_bound_at(nonblock, qlen, &at);
}

void
xt_block(int fd, int block)
{
	T_OK(fcntl(fd, F_SETFL, O_RDWR | (block ? 0 : O_NONBLOCK)));
}

void
xt_nobody(struct xt_addr *ret)
{
	T_TOK(t_close(xt_bound_at(0, 0, ret)));
}

void
xt_call(int fd, struct xt_addr *to)
{
	struct t_call call = {.sequence = 0};

	xt_netbuf(&call.addr, to);
	T_TERR(t_connect(fd, &call, NULL), TNODATA);
	T_STATE(fd, T_OUTCON);
}

int
xt_accept(int lfd)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr from;
	int fd;

	T_EVENT(lfd, T_LISTEN);
	xt_netbuf(&call.addr, &from);
	T_TOK(t_listen(lfd, &call));
	fd = xt_open(0);
	T_TOK(t_accept(lfd, fd, &call));
	T_STATE(fd, T_DATAXFER);
	return fd;
}

void
xt_pair(int fd[2])
{
	struct xt_addr at;
	int lfd = xt_bound_at(0, 1, &at);

	fd[0] = xt_bound(1, 0);
	xt_call(fd[0], &at);
	fd[1] = xt_accept(lfd);
	T_EVENT(fd[0], T_CONNECT);
	T_TOK(t_rcvconnect(fd[0], NULL));
	T_STATE(fd[0], T_DATAXFER);
	xt_block(fd[0], 1);
	T_TOK(t_close(lfd));
}

const char *
xt_state_name(int state)
{
	static const char *const name[] = {"T_UNINIT", "T_UNBND", "T_IDLE",
		"T_OUTCON", "T_INCON", "T_DATAXFER", "T_OUTREL", "T_INREL"};

	return name[state];
}

static void
make_incon(struct xt_end *e)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;

	e->fd = xt_bound_at(1, 2, &at);
	e->peer = xt_bound(1, 0);
	xt_call(e->peer, &at);
	T_EVENT(e->fd, T_LISTEN);
	T_TOK(t_listen(e->fd, &call));
	e->seq = call.sequence;
}

void
xt_make(struct xt_end *e, int state)
{
	int fd[2];

	e->fd = e->peer = -1;
	e->seq = 0;
	e->extra = xt_bound_at(1, 2, &e->addr);
	switch (state) {
	case T_UNBND:
		e->fd = xt_open(1);
		break;
	case T_IDLE:
		e->fd = xt_bound(1, 0);
		break;
	case T_OUTCON:
		e->fd = xt_bound(1, 0);
		xt_call(e->fd, &e->addr);
		break;
	case T_INCON:
		make_incon(e);
		break;
	default:
		xt_pair(fd);
		e->fd = fd[0];
		e->peer = fd[1];
		xt_block(e->fd, 0);
		if (state == T_OUTREL)
			T_TOK(t_sndrel(e->fd));
		if (state == T_INREL) {
			T_TOK(t_sndrel(e->peer));
			T_EVENT(e->fd, T_ORDREL);
			T_TOK(t_rcvrel(e->fd));
		}
		break;
	}
	T_STATE(e->fd, state);
}

void
xt_snd_all(int fd, const void *buf, size_t n, int flags)
{
	size_t at = 0;

	while (at < n)
		at += (size_t)T_TOK(t_snd(fd, (char *)(uintptr_t)buf + at,
			(unsigned)(n - at), flags));
}

size_t
xt_rcv_all(int fd, void *buf, size_t n)
{
	size_t at = 0;
	int flags, got;

	while (at < n) {
		got = T_TOK(t_rcv(fd, (char *)buf + at, (unsigned)(n - at),
			&flags));
		T_EQ(flags & T_EXPEDITED, 0);
		at += (size_t)got;
	}
	return at;
}

void
xt_traffic(struct xt_traffic *tr, int ways, const int fd[2],
	void (*send)(int fd), void (*receive)(int fd))
{
	for (tr->n = 0; tr->n < 2 * ways; tr->n++) {
		int way = tr->n / 2;

		tr->pid[tr->n] = T_OK(fork());
		if (tr->pid[tr->n] != 0)
			continue;
		if (tr->n % 2 == 0)
			send(fd[way]);
		else
			receive(fd[!way]);
		_exit(0);
	}
}

void
xt_traffic_ends(struct xt_traffic *tr)
{
	int st;

	while (tr->n-- > 0) {
		T_EQ(T_OK(waitpid(tr->pid[tr->n], &st, 0)), tr->pid[tr->n]);
		T_EQ(st, 0);
	}
}

void
xt_two(struct xt_addr *at, int *lfd, int who[2], int seq[2])
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
