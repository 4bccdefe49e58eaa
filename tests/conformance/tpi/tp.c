/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "tp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

T_TARGETS("ticlts", "ticots", "ticotsord", "inet-tcp", "inet-udp",
	"inet-rawip", "sctp", "udp2", "udp2-6", "rawip2", "rawip2-6")

#define INET "/dev/streams/inet/"
static const struct tp_transport transports[] = {
	{ "ticlts", "/dev/ticlts", T_CLTS, 0, 65507, -2, 1, 0, 0, 0, 0 },
	{ "ticots", "/dev/ticots", T_COTS, 0, -1, -1, 1, 0, 0, 0, 0 },
	{ "ticotsord", "/dev/ticotsord", T_COTS_ORD, 0, -1, -1, 1, 0, 0, 0, 0 },
	{ "inet-tcp", INET "tcp", T_COTS_ORD, 1, 0, 1, 0, 0, 0, 0, 0 },
	{ "sctp", "/dev/sctp", T_COTS_ORD, 1, -1, -1, 1, 0, 0, 0, 512 },
	{ "inet-udp", INET "udp", T_CLTS, 1, 65507, -2, 0, 0, 0, 0, 0 },
	{ "inet-rawip", INET "rawip", T_CLTS, 1, 65515, -2, 0, 0, 1, 0, 0 },
	{ "udp2", "/dev/udp2", T_CLTS, 1, 65507, -2, 0, 0, 0, 1, 0 },
	{ "udp2-6", "/dev/udp2_6", T_CLTS, 1, 65507, -2, 0, 1, 0, 1, 0 },
	{ "rawip2", "/dev/rawip2", T_CLTS, 1, 65515, -2, 0, 0, 1, 1, 0 },
	{ "rawip2-6", "/dev/rawip2_6", T_CLTS, 1, 65515, -2, 0, 1, 1, 1, 0 },
};

struct tp_msg tp;

const struct tp_transport *
tp_is(void)
{
	unsigned i;

	for (i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		if (strcmp(transports[i].target, t_target()) == 0)
			return &transports[i];
	T_FAIL("no transport %s", t_target());
}

int
tp_cots(void)
{
	return tp_is()->service != T_CLTS;
}

int
tp_ord(void)
{
	return tp_is()->service == T_COTS_ORD;
}

void
tp_need_cots(void)
{
	if (!tp_cots())
		T_SKIP("no connections");
}

void
tp_need_ord(void)
{
	if (!tp_ord())
		T_SKIP("no orderly release");
}

void
tp_need_clts(void)
{
	if (tp_cots())
		T_SKIP("no datagrams");
}

/* System V's tl: data with connections and their ends, units of no bytes. */
int
tp_tl(void)
{
	return tp_cots() && !tp_is()->inet;
}

void
tp_need_tl(void)
{
	if (!tp_tl())
		T_SKIP("no units, no data with connections");
}

void
tp_need_loopback(void)
{
	if (tp_is()->inet)
		T_SKIP("addresses are the network's");
}

int
tp_open_flags(int oflag)
{
	int fd;

	if (tp_is()->raw)
		t_need_raw();
	fd = open(tp_is()->dev, oflag);
	if (fd < 0 && tp_is()->inet)
		T_SKIP("%s: %s", tp_is()->dev, strerror(errno));
	T_GE(fd, 0);
	return fd;
}

int
tp_open(void)
{
	return tp_open_flags(O_RDWR);
}

int
tp_try(int fd, const void *ctl, int ctllen, const void *data, int datalen,
	int band)
{
	struct strbuf c = { 0, ctllen, (char *)(uintptr_t)ctl };
	struct strbuf d = { 0, datalen, (char *)(uintptr_t)data };

	return putpmsg(fd, ctllen > 0 ? &c : NULL, datalen >= 0 ? &d : NULL,
		band < 0 ? 0 : band, band < 0 ? MSG_HIPRI : MSG_BAND);
}

void
tp_put(int fd, const void *ctl, int ctllen, const void *data, int datalen)
{
	T_OK(tp_try(fd, ctl, ctllen, data, datalen, 0));
}

void
tp_prim(int fd, int prim)
{
	union T_primitives p;

	memset(&p, 0, sizeof(p));
	p.type = prim;
	tp_put(fd, &p, sizeof(p), NULL, -1);
}

int
tp_get(int fd)
{
	struct strbuf c = { sizeof(tp.ctl), 0, (char *)tp.ctl };
	struct strbuf d = { sizeof(tp.data), 0, (char *)tp.data };
	struct pollfd pfd = { .fd = fd,
		.events = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND };
	int band = 0, flags = MSG_ANY;

	T_EQ(poll(&pfd, 1, TP_WAIT), 1);
	T_EQ(T_OK(getpmsg(fd, &c, &d, &band, &flags)), 0);
	tp.ctllen = c.len;
	tp.datalen = d.len;
	tp.band = band;
	tp.hipri = flags == MSG_HIPRI;
	tp.prim = c.len >= 4 ? tp.p.type : -1;
	return tp.prim;
}

void
tp_want(int fd, int prim)
{
	int got = tp_get(fd);

	if (got == T_ERROR_ACK && prim != T_ERROR_ACK)
		T_FAIL("T_ERROR_ACK of %d: %d, %d", tp.p.error_ack.ERROR_prim,
			tp.p.error_ack.TLI_error, tp.p.error_ack.UNIX_error);
	T_EQ(got, prim);
}

void
tp_ok(int fd, int prim)
{
	tp_want(fd, T_OK_ACK);
	T_EQ(tp.p.ok_ack.CORRECT_prim, prim);
	T_TRUE(tp.hipri);
	T_EQ(tp.ctllen, (int)sizeof(struct T_ok_ack));
}

void
tp_error(int fd, int prim, int tli, int err)
{
	T_EQ(tp_get(fd), T_ERROR_ACK);
	T_EQ(tp.p.error_ack.ERROR_prim, prim);
	T_EQ(tp.p.error_ack.TLI_error, tli);
	T_EQ(tp.p.error_ack.UNIX_error, err);
	T_TRUE(tp.hipri);
	T_EQ(tp.ctllen, (int)sizeof(struct T_error_ack));
}

void
tp_fatal(int fd)
{
	struct strbuf c = { sizeof(tp.ctl), 0, (char *)tp.ctl };
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int flags = 0;

	T_EQ(poll(&pfd, 1, TP_WAIT), 1);
	T_TRUE((pfd.revents & POLLERR) != 0);
	T_ERR(getmsg(fd, &c, NULL, &flags), EPROTO);
	T_ERR(putmsg(fd, &c, NULL, 0), EPROTO);
}

void
tp_quiet(int fd)
{
	struct pollfd pfd = { .fd = fd,
		.events = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND };

	T_EQ(poll(&pfd, 1, TP_SILENCE), 0);
}

void
tp_data(int fd, const void *data, int len)
{
	int got = 0;

	while (got < len) {
		int prim = tp_get(fd);

		T_TRUE(prim == -1 || prim == T_DATA_IND);
		T_LE(tp.datalen, len - got);
		T_MEM(tp.data, (const char *)data + got, (size_t)tp.datalen);
		got += tp.datalen;
	}
}

int
tp_state(int fd)
{
	tp_prim(fd, T_INFO_REQ);
	tp_want(fd, T_INFO_ACK);
	return tp.p.info_ack.CURRENT_state;
}

t_uscalar_t
tp_id(int fd)
{
	struct T_capability_req r = { T_CAPABILITY_REQ, TC1_ACCEPTOR_ID };

	tp_put(fd, &r, sizeof(r), NULL, -1);
	tp_want(fd, T_CAPABILITY_ACK);
	T_EQ((int)tp.p.capability_ack.CAP_bits1, TC1_ACCEPTOR_ID);
	return tp.p.capability_ack.ACCEPTOR_id;
}

/* ------------------------------------------------------------------ addresses */

static void
inet_addr_of(struct tp_addr *a, unsigned port)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in sin;

	if (tp_is()->six) {
		sin6.sin6_port = htons((uint16_t)port);
		a->len = sizeof(sin6);
		memcpy(a->buf, &sin6, sizeof(sin6));
		return;
	}
	memset(&sin, 0, sizeof(sin));
	sin.sin_family = AF_INET;
	sin.sin_port = htons((uint16_t)port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a->len = sizeof(sin);
	memcpy(a->buf, &sin, sizeof(sin));
}

void
tp_any(struct tp_addr *a)
{
	memset(a, 0, sizeof(*a));
	if (tp_is()->inet)
		inet_addr_of(a, 0);
}

/*
 * As tp_any(), but with a port that stays free when it is given back.
 * Return: is there such a thing?
 */
static int
own_port(struct tp_addr *a)
{
	tp_any(a);
	if (!tp_is()->inet || tp_is()->raw)
		return 0;
	inet_addr_of(a, (unsigned)t_port(tp_is()->six ? AF_INET6 : AF_INET,
		tp_cots() ? SOCK_STREAM : SOCK_DGRAM));
	return 1;
}

/* What was bound a moment ago and is not any more. */
void
tp_nobody(struct tp_addr *a)
{
	int fd = tp_open();

	tp_bind(fd, 0, a);
	T_OK(close(fd));
}

void
tp_bind_req(int fd, const struct tp_addr *a, unsigned qlen, int prim)
{
	struct {
		struct T_bind_req r;
		unsigned char addr[256];
	} m = { .r = { prim, a->len, a->len ? (int)sizeof(m.r) : 0, qlen } };

	memcpy(m.addr, a->buf, (size_t)a->len);
	tp_put(fd, &m, (int)sizeof(m.r) + a->len, NULL, -1);
}

static void
take(struct tp_addr *ret, int len, int off)
{
	if (ret == NULL)
		return;
	T_GE(len, 0);
	T_LE(len, (int)sizeof(ret->buf));
	T_TRUE(len == 0 || (off > 0 && off + len <= tp.ctllen));
	ret->len = len;
	memcpy(ret->buf, tp.ctl + off, (size_t)len);
}

void
tp_bind(int fd, unsigned qlen, struct tp_addr *ret)
{
	struct tp_addr a;
	int again;

	do {
		again = own_port(&a);
		tp_bind_req(fd, &a, qlen, T_BIND_REQ);
		again = tp_get(fd) == T_ERROR_ACK && again &&
			tp.p.error_ack.TLI_error == TADDRBUSY;
	} while (again); /* another was faster */
	if (tp.prim == T_ERROR_ACK)
		T_FAIL("T_BIND_REQ: %d, %d", tp.p.error_ack.TLI_error,
			tp.p.error_ack.UNIX_error);
	T_EQ(tp.prim, T_BIND_ACK);
	T_GT(tp.p.bind_ack.ADDR_length, 0);
	take(ret, tp.p.bind_ack.ADDR_length, tp.p.bind_ack.ADDR_offset);
}

void
tp_unbind(int fd)
{
	tp_prim(fd, T_UNBIND_REQ);
	tp_ok(fd, T_UNBIND_REQ);
}

/* ---------------------------------------------------------------- connections */

void
tp_conn_req_data(int fd, const struct tp_addr *to, const void *data, int len)
{
	struct {
		struct T_conn_req r;
		unsigned char addr[256];
	} m = { .r = { T_CONN_REQ, to->len, (int)sizeof(m.r), 0, 0 } };

	memcpy(m.addr, to->buf, (size_t)to->len);
	tp_put(fd, &m, (int)sizeof(m.r) + to->len, data, len);
}

void
tp_conn_req(int fd, const struct tp_addr *to)
{
	tp_conn_req_data(fd, to, NULL, -1);
}

void
tp_conn_res(int fd, t_uscalar_t id, int seq)
{
	struct T_conn_res r = { T_CONN_RES, id, 0, 0, seq };

	tp_put(fd, &r, sizeof(r), NULL, -1);
}

void
tp_discon_req(int fd, int seq)
{
	struct T_discon_req r = { T_DISCON_REQ, seq };

	tp_put(fd, &r, sizeof(r), NULL, -1);
}

int
tp_discon_ind(int fd)
{
	tp_want(fd, T_DISCON_IND);
	return tp.p.discon_ind.DISCON_reason;
}

void
tp_send(int fd, const void *data, int len, int more)
{
	struct T_data_req r = { T_DATA_REQ, more };

	tp_put(fd, &r, sizeof(r), data, len);
}

void
tp_exsend(int fd, const void *data, int len, int more)
{
	struct T_exdata_req r = { T_EXDATA_REQ, more };

	tp_put(fd, &r, sizeof(r), data, len);
}

void
tp_udata(int fd, const struct tp_addr *to, const void *data, int len)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[256];
	} m = { .r = { T_UNITDATA_REQ, to->len, (int)sizeof(m.r), 0, 0 } };

	memcpy(m.addr, to->buf, (size_t)to->len);
	tp_put(fd, &m, (int)sizeof(m.r) + to->len, data, len);
}

int
tp_listener(unsigned qlen, struct tp_addr *ret)
{
	int fd = tp_open();

	tp_bind(fd, qlen, ret);
	T_EQ(tp.p.bind_ack.CONIND_number, qlen);
	return fd;
}

int
tp_call(const struct tp_addr *to)
{
	int fd = tp_open();

	tp_bind(fd, 0, NULL);
	tp_conn_req(fd, to);
	tp_ok(fd, T_CONN_REQ);
	return fd;
}

int
tp_conn_ind(int lfd)
{
	tp_want(lfd, T_CONN_IND);
	T_GT(tp.p.conn_ind.SRC_length, 0);
	return tp.p.conn_ind.SEQ_number;
}

void
tp_pair(int fd[2])
{
	struct tp_addr a;
	int lfd = tp_listener(1, &a), seq;

	fd[0] = tp_call(&a);
	seq = tp_conn_ind(lfd);
	fd[1] = tp_open();
	tp_conn_res(lfd, tp_id(fd[1]), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_want(fd[0], T_CONN_CON);
	T_OK(close(lfd));
}

/* The other end of a connection, for tp_in_state(). */
static int
connected(int *ret)
{
	int fd[2];

	tp_pair(fd);
	*ret = fd[1];
	return fd[0];
}

int
tp_in_state(int state, int *ret)
{
	struct tp_addr a;
	int fd;

	*ret = -1;
	if (state != TS_UNBND && state != TS_IDLE)
		tp_need_cots();
	if (state == TS_WIND_ORDREL || state == TS_WREQ_ORDREL)
		tp_need_ord();
	switch (state) {
	case TS_UNBND:
		return tp_open();
	case TS_IDLE:
		fd = tp_open();
		tp_bind(fd, 0, NULL);
		return fd;
	case TS_WCON_CREQ:
		if (tp_is()->inet)
			T_SKIP("the network answers at once");
		*ret = tp_listener(1, &a);
		fd = tp_call(&a);
		(void)tp_conn_ind(*ret);
		return fd;
	case TS_WRES_CIND:
		fd = tp_listener(1, &a);
		*ret = tp_call(&a);
		(void)tp_conn_ind(fd);
		return fd;
	case TS_DATA_XFER:
		return connected(ret);
	case TS_WIND_ORDREL:
		fd = connected(ret);
		tp_prim(fd, T_ORDREL_REQ);
		tp_want(*ret, T_ORDREL_IND);
		return fd;
	default: /* TS_WREQ_ORDREL */
		fd = connected(ret);
		tp_prim(*ret, T_ORDREL_REQ);
		tp_want(fd, T_ORDREL_IND);
		return fd;
	}
}

int
tp_request(int prim, void *buf)
{
	union T_primitives *p = buf;
	struct tp_addr a;
	int len;

	memset(p, 0, sizeof(*p));
	p->type = prim;
	switch (prim) {
	case T_CONN_REQ:
	case T_UNITDATA_REQ: /* equal in layout */
		tp_nobody(&a);
		p->conn_req.DEST_length = a.len;
		p->conn_req.DEST_offset = len = sizeof(p->conn_req);
		memcpy((char *)buf + len, a.buf, (size_t)a.len);
		return len + a.len;
	case T_CONN_RES:
		p->conn_res.SEQ_number = 0x12345678;
		return sizeof(p->conn_res);
	case T_DISCON_REQ:
		p->discon_req.SEQ_number = -1;
		return sizeof(p->discon_req);
	case T_DATA_REQ:
		return sizeof(p->data_req);
	case T_EXDATA_REQ:
		return sizeof(p->exdata_req);
	case T_INFO_REQ:
		return sizeof(p->info_req);
	case T_BIND_REQ:
		return sizeof(p->bind_req);
	case T_UNBIND_REQ:
		return sizeof(p->unbind_req);
	case T_OPTMGMT_REQ:
		p->optmgmt_req.MGMT_flags = T_CURRENT;
		return sizeof(p->optmgmt_req);
	case T_ORDREL_REQ:
		return sizeof(p->ordrel_req);
	case T_OPTDATA_REQ:
		return sizeof(p->optdata_req);
	case T_ADDR_REQ:
		return sizeof(p->addr_req);
	case T_CAPABILITY_REQ:
		p->capability_req.CAP_bits1 = TC1_INFO;
		return sizeof(p->capability_req);
	default:
		return sizeof(p->type);
	}
}
