/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * udp, rawip and icmp - datagrams over the kernel's sockets.
 *
 * Sending.  A datagram is sent at once when the endpoint is idle, as in out.c.
 * Under load, datagrams are copied one behind the other into a buffer of the
 * endpoint (struct inet_dg), and sent by one call.  A run of datagrams of one
 * size to one address is sent as a train that the kernel cuts (UDP_SEGMENT), if
 * it can.  When the kernel has no room the buffer fills, and then requests stay
 * on the write queue, and flow control stops the writer.  Native UDP copies its
 * datagrams directly from the user's memory, except the last of each call: the
 * kernel reads that one in place when it sends the others.  The same holds for
 * long datagrams.
 *
 * Receiving.  One call receives several datagrams.  Each has a small block, and
 * a large one that is used only if the datagram is large, so that small ones
 * need little memory.  A train (UDP_GRO) is cut here: small segments are
 * copied, large ones share one block.  UDP_GRO is set when many datagrams
 * arrive for the first time, because it makes each receive more expensive.
 * Until then senders of the domain make no trains, so that they can compute the
 * cost of their datagrams.
 *
 * Errors.  An ICMP error about a datagram arrives in the socket's error queue,
 * with the destination address, and becomes a T_UDERROR_IND.
 *
 * Crash.  The buffer belongs to the endpoint, not to the thread that filled it;
 * a count says how much of it is valid.  If the sender is killed, datagrams may
 * be sent twice, which any network may do.
 */
#include <time.h>
#include <linux/errqueue.h>
#include <netinet/udp.h>
#include "inet_impl.h"

#define DG_ROOM 131072u	 /* bytes that wait */
#define DG_MAX 512u	 /* datagrams that wait */
#define DG_BATCH 65536u	 /* bytes that are enough to be sent */
#define DG_ADDRS 8u	 /* addresses of waiting ones */
#define DG_TRAIN 64u	 /* segments of a train: limit of all kernels */
#define DG_MOST 65507u	 /* bytes of a datagram, or of a train */
#define DG_LONG 32768u	 /* ... and of one that does not wait for others */
#define DG_IDLE INET_US(50)
#define DG_LATE INET_US(500)
#define DG_FLOW 16u	 /* so many within DG_GAP of each other are a flow */
#define DG_GAP INET_US(50)
#define DG_NAPS 32u	 /* ... until it is tried again to spin */
#define DG_SHORT 2048u	 /* longer ones of the domain wake the reader */

struct dg_addr {
	uint32_t len;
	struct sockaddr_in6 sa; /* of either family */
};

struct dg_ent {
	uint32_t off;
	uint16_t len;
	uint16_t addr;
};

struct inet_dg {
	volatile uint32_t n; /* entries; counts what is whole */
	uint32_t done;	     /* of these, sent */
	uint32_t used;	     /* bytes of buf */
	uint32_t naddr;
	uint32_t want;	     /* last KS_* of ksock_want() */
	uint32_t notrain;    /* the kernel cannot */
	uint64_t last;	     /* when something was sent */
	uint64_t since;	     /* since when datagrams wait */
	struct dg_addr addr[DG_ADDRS];
	struct dg_ent ent[DG_MAX];
	unsigned char buf[DG_ROOM];
};

static void
dg_want(struct inet *in, uint32_t events)
{
	if (in->dg != NULL && in->dg->want != events) {
		in->dg->want = events;
		ksock_want(in->ks, events);
	}
}

static int
is_udp(const struct inet *in)
{
	return inet_kind[in->kind].type == SOCK_DGRAM;
}

/* A raw socket whose user does not handle IP headers. */
static int
is_rawip(const struct inet *in)
{
	return in->family == AF_INET && (in->kind == INET_RAWIP ||
		(in->kind == INET_RAW2 &&
			!inet_is_on(in, T_INET_IP, T_IP_HDRINCL)));
}

/*
 * inet_dg_trains - many datagrams arrive: receive trains from now on
 * In this order: first the receive path is ready for trains, then the socket
 * and the senders may produce them.
 */
void
inet_dg_trains(struct inet *in)
{
	int one = 1;

	if (in->trains || !is_udp(in))
		return;
	str_store(&in->trains, 1u);
	STR_POINT("dgram:trains");
	(void)ksock_setopt(in->ks, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
	inet_credit_trains(in);
}

/* A new socket: set the options for received data and errors. */
static void
dg_begin(struct inet *in)
{
	int one = 1, zero = 0, most = 1 << 20;

	/* as much as possible, unless the user has set it */
	if (!inet_is_set(in, XTI_GENERIC, XTI_RCVBUF))
		(void)ksock_setopt(in->ks, SOL_SOCKET, SO_RCVBUF, &most,
			sizeof(most));
	if (is_rawip(in))
		(void)ksock_setopt(in->ks, IPPROTO_IP, IP_HDRINCL, &zero,
			sizeof(zero));
	if (in->family == AF_INET6)
		(void)ksock_setopt(in->ks, IPPROTO_IPV6, IPV6_RECVERR, &one,
			sizeof(one));
	else
		(void)ksock_setopt(in->ks, IPPROTO_IP, IP_RECVERR, &one,
			sizeof(one));
	in->trains = 0;
	in->row = 0;
	if (in->kind != INET_UDP4 && in->kind != INET_UDP6)
		inet_dg_trains(in);
	in->out.got = 1;
	in->level = 1;
}

/* ------------------------------------------------------------- operations */

static int
dg_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct inet *in = inet_of(tp);
	int err = inet_bind_to(in, want, any, got);

	/* XTI t_bind: without connections the number has no meaning */
	*qlen = 0;
	if (err == 0) {
		dg_begin(in);
		inet_credit_bound(in, got);
		in->phase = INET_OPEN;
		qenable(in->rq);
	}
	return err;
}

static void dg_flush(struct inet *in);

static int
dg_unbind(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	inet_credit_gone(in); /* first: noted even if we are killed in the
			       * rest */
	if (in->dg != NULL && in->ks != NULL)
		dg_flush(in);
	if (in->dg != NULL)
		in->dg->n = in->dg->done = in->dg->used = 0;
	dg_want(in, 0);
	in->phase = INET_NONE;
	return inet_unbind(tp);
}

static void
dg_close(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	(void)dg_unbind(tp);
	inet_short_end(in);
	kmem_free(in->dg, sizeof(*in->dg));
	in->dg = NULL;
}

/* ---------------------------------------------------------------- sending */

/* One option as control message of a datagram; returns its size. */
static uint32_t
dg_cmsg(struct inet *in, t_uscalar_t name, const unsigned char *at, uint32_t len,
	unsigned char *ctl, uint32_t room)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)ctl;
	int v = 0, six = in->family == AF_INET6;
	const void *val = &v;

	if ((name == T_IP_OPTIONS && !six) || name == T_IP_PKTINFO) {
		val = at;
	} else if (name == T_IP_TOS || name == T_IP_TTL) {
		v = inet_call_byte(at, len);
		len = sizeof(v);
	} else {
		return 0;
	}
	if (v < 0 || CMSG_SPACE(len) > room)
		return 0;
	bzero(ctl, CMSG_SPACE(len));
	c->cmsg_len = CMSG_LEN(len);
	c->cmsg_level = six ? IPPROTO_IPV6 : IPPROTO_IP;
	if (name == T_IP_OPTIONS)
		c->cmsg_type = IP_RETOPTS;
	else if (name == T_IP_PKTINFO)
		c->cmsg_type = six ? IPV6_PKTINFO : IP_PKTINFO;
	else if (name == T_IP_TOS)
		c->cmsg_type = six ? IPV6_TCLASS : IP_TOS;
	else
		c->cmsg_type = six ? IPV6_HOPLIMIT : IP_TTL;
	bcopy(val, CMSG_DATA(c), len);
	return (uint32_t)CMSG_SPACE(len);
}

/* Control messages for the options of one datagram, which have been checked. */
static uint32_t
dg_control(struct inet *in, const struct tpi_buf *opts, unsigned char *ctl,
	uint32_t room)
{
	struct t_opthdr h;
	uint32_t at = 0, n = 0;

	for (; at + sizeof(h) <= opts->len; at += T_ALIGN(h.len)) {
		bcopy(opts->buf + at, &h, sizeof(h));
		if (h.level == T_INET_IP && h.len != sizeof(h))
			n += dg_cmsg(in, h.name, opts->buf + at + sizeof(h),
				(uint32_t)(h.len - sizeof(h)), ctl + n,
				room - n);
	}
	return n;
}

#define DG_IOV 64u

/* One datagram at once.  0, or an errno. */
static int
dg_direct(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	const struct tpi_buf *opts, mblk_t *mp)
{
	_Alignas(struct cmsghdr) unsigned char ctl[128];
	struct iovec iov[DG_IOV];
	struct ksock_msg m = {
		.km_iov = iov,
		.km_addr = (void *)(uintptr_t)to,
		.km_addrlen = tolen,
	};
	int tries = 3;
	mblk_t *bp;
	long n;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		if (DB_TYPE(bp) != M_DATA || MBLKL(bp) == 0)
			continue;
		if (m.km_iovlen == DG_IOV)
			return EMSGSIZE;
		iov[m.km_iovlen].iov_base = bp->b_rptr;
		iov[m.km_iovlen++].iov_len = (size_t)MBLKL(bp);
	}
	if (opts->len != 0) {
		m.km_ctllen = dg_control(in, opts, ctl, sizeof(ctl));
		m.km_ctl = m.km_ctllen != 0 ? ctl : NULL;
	}
	in->spoke = 1;
	/* an earlier error is reported first; it is sent up elsewhere */
	do
		n = ksock_sendmm(in->ks, &m, 1, MSG_NOSIGNAL);
	while ((n == -ECONNREFUSED || n == -EHOSTUNREACH ||
		n == -ENETUNREACH || n == -EINTR) && --tries != 0);
	return n < 0 ? (int)-n : 0;
}

/* The entries from @i on that can be sent as one train. */
static uint32_t
dg_run(const struct inet_dg *d, uint32_t i)
{
	const struct dg_ent *e = &d->ent[i];
	uint32_t k = 1, bytes = e->len;

	if (d->notrain || e->len == 0)
		return 1;
	while (i + k < d->n && k < DG_TRAIN && e[k].addr == e->addr &&
		e[k].len <= e->len && e[k].len != 0 &&
		bytes + e[k].len <= DG_MOST && e[k].off == e->off + bytes) {
		bytes += e[k].len;
		if (e[k++].len < e->len)
			break; /* the last may be shorter */
	}
	return k;
}

/* A datagram behind all that wait, still in its user's memory. */
struct dg_more {
	const void *udata;
	uint32_t len;
	uint32_t addr;
};

/* May @more be the next one of the train of @k that begins with @e? */
static int
dg_is_next(const struct inet_dg *d, const struct dg_ent *e, uint32_t k,
	const struct dg_more *more)
{
	return !d->notrain && k < DG_TRAIN && more->addr == e->addr &&
		more->len != 0 && more->len <= e->len &&
		e[k - 1].len == e->len && e->len * k + more->len <= DG_MOST;
}

/*
 * Append @more to the @n messages with @k waiting datagrams, as a new message
 * or as a part of the last.  Return: the new number of messages; 0: no room.
 */
static uint32_t
dg_put_more(const struct inet_dg *d, const struct dg_more *more,
	struct ksock_msg *m, uint32_t n, uint32_t k)
{
	const struct dg_ent *e = &d->ent[d->n - k];
	struct ksock_msg *l = &m[n - 1];
	struct iovec *v = l->km_iov + 1;

	if (dg_is_next(d, e, k, more)) {
		l->km_gso = e->len;
		l->km_iovlen = 2;
	} else if (n == KS_MAXMM) {
		return 0;
	} else {
		l = &m[n++];
		bzero(l, sizeof(*l));
		l->km_iov = v;
		l->km_iovlen = 1;
		l->km_addr = (void *)(uintptr_t)&d->addr[more->addr].sa;
		l->km_addrlen = d->addr[more->addr].len;
	}
	v->iov_base = (void *)(uintptr_t)more->udata;
	v->iov_len = more->len;
	return n;
}

/*
 * Send a batch of the waiting datagrams, and @more, which may be NULL, if all
 * the others fit.  Return: result of sendmm; 0: there is no credit for the
 * first. *ret_all: the number of messages if they contain all datagrams and
 * @more; else 0.
 */
static long
dg_batch(struct inet *in, struct ksock_msg *m, uint32_t *cnt,
	const struct dg_more *more, long *ret_all)
{
	struct inet_dg *d = in->dg;
	struct inet_port *to[KS_MAXMM];
	struct iovec iov[KS_MAXMM + 1];
	uint32_t i = d->done, n = 0, k = 0, all = 0;
	long sent, j;

	for (; i < d->n && n < KS_MAXMM; i += k, n++) {
		const struct dg_ent *e = &d->ent[i];
		const struct dg_ent *last;

		to[n] = inet_credit_to(in, &d->addr[e->addr].sa);
		k = to[n] == NULL || inet_credit_takes_trains(to[n]) ?
			dg_run(d, i) : 1;
		last = &d->ent[i + k - 1];
		iov[n].iov_base = d->buf + e->off;
		iov[n].iov_len = last->off + last->len - e->off;
		if (to[n] != NULL &&
			!inet_credit_ask(to[n], (uint32_t)iov[n].iov_len)) {
			inet_credit_wait(to[n], in);
			break;
		}
		bzero(&m[n], sizeof(m[n]));
		m[n].km_iov = &iov[n];
		m[n].km_iovlen = 1;
		m[n].km_addr = &d->addr[e->addr].sa;
		m[n].km_addrlen = d->addr[e->addr].len;
		m[n].km_gso = k > 1 ? e->len : 0;
		cnt[n] = k;
	}
	*ret_all = 0;
	if (n == 0)
		return 0;
	if (more != NULL && i == d->n && to[n - 1] == NULL)
		all = dg_put_more(d, more, m, n, k);
	*ret_all = all;
	in->spoke = 1;
	sent = ksock_sendmm(in->ks, m, all != 0 ? all : n, MSG_NOSIGNAL);
	for (j = 0; j < (long)n; j++)
		if (to[j] != NULL && j < sent)
			inet_credit_done(to[j], (uint32_t)iov[j].iov_len);
		else if (to[j] != NULL)
			inet_credit_back(to[j], (uint32_t)iov[j].iov_len);
	if (all > n)
		cnt[n] = 0;
	return sent;
}

/* A waiting datagram could not be sent at all. */
static void
dg_refused(struct inet *in, uint32_t i, int error)
{
	struct inet_dg *d = in->dg;
	struct dg_addr *a = &d->addr[d->ent[i].addr];
	struct tpi_buf to = {(unsigned char *)&a->sa, a->len};
	struct tpi_buf none = {NULL, 0};

	tpi_uderror_ind(&in->tp, &to, &none, error);
}

/*
 * Send the waiting datagrams, and @more if it is not NULL.  Return: has @more
 * been sent too?
 */
static int
dg_flush_with(struct inet *in, const struct dg_more *more)
{
	struct inet_dg *d = in->dg;
	struct ksock_msg m[KS_MAXMM];
	uint32_t cnt[KS_MAXMM], tries = 0;
	long n, i, all;
	int gone = 0;

	while (d->done < d->n) {
		n = dg_batch(in, m, cnt, more, &all);
		for (i = 0; i < n; i++)
			d->done += cnt[i];
		gone = all != 0 && n == all;
		if (n == 0) {
			/* enabled by the receiver, or in a millisecond */
			dg_want(in, KS_SOON);
			return 0;
		}
		if (n > 0) {
			tries = 0;
			continue;
		}
		if (n == -EAGAIN || n == -ENOBUFS) {
			dg_want(in, n == -EAGAIN ? KS_OUT : KS_SOON);
			return 0;
		}
		if (n == -EINTR || (tries++ < 2 && (n == -ECONNREFUSED ||
			n == -EHOSTUNREACH || n == -ENETUNREACH)))
			continue;
		if (all != 0) {
			more = NULL; /* if it is the cause, that is reported
				      * later */
			continue;
		}
		if (cnt[0] > 1) {
			d->notrain = 1; /* the path cannot cut trains */
			continue;
		}
		dg_refused(in, d->done, (int)-n);
		d->done++;
		tries = 0;
	}
	d->n = d->done = d->used = d->naddr = 0;
	d->last = inet_ticks();
	dg_want(in, 0);
	return gone;
}

static void
dg_flush(struct inet *in)
{
	(void)dg_flush_with(in, NULL);
}

static int
dg_addr_of(struct inet_dg *d, const struct sockaddr_storage *to, uint32_t len)
{
	uint32_t i;

	for (i = d->naddr; i-- > 0;)
		if (d->addr[i].len == len && bcmp(&d->addr[i].sa, to, len) == 0)
			return (int)i;
	if (d->naddr == DG_ADDRS)
		return -1;
	bcopy(to, &d->addr[d->naddr].sa, len);
	d->addr[d->naddr].len = len;
	return (int)d->naddr++;
}

/* Room in the buffer for one more datagram; NULL: there is none. */
static unsigned char *
dg_room(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	uint32_t len)
{
	struct inet_dg *d = in->dg;
	struct dg_ent *e;
	int a;

	if (d->n == DG_MAX || DG_ROOM - d->used < len)
		return NULL;
	a = dg_addr_of(d, to, tolen);
	if (a < 0)
		return NULL;
	e = &d->ent[d->n];
	e->off = d->used;
	e->len = (uint16_t)len;
	e->addr = (uint16_t)a;
	return d->buf + d->used;
}

/* The datagram has been stored. */
static void
dg_filled(struct inet_dg *d, uint32_t len)
{
	d->used += len;
	str_store_rel(&d->n, d->n + 1);
}

/* Copy a datagram into the buffer. 0: there is no room. */
static int
dg_gather(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	mblk_t *mp, uint32_t len)
{
	unsigned char *p = dg_room(in, to, tolen, len);
	mblk_t *bp;

	if (p == NULL)
		return 0;
	for (bp = mp; bp != NULL; bp = bp->b_cont)
		if (DB_TYPE(bp) == M_DATA) {
			bcopy(bp->b_rptr, p, (size_t)MBLKL(bp));
			p += MBLKL(bp);
		}
	dg_filled(in->dg, len);
	return 1;
}

static int
dg_buffer(struct inet *in)
{
	if (in->dg == NULL)
		in->dg = kmem_alloc(sizeof(*in->dg), KM_NOSLEEP);
	if (in->dg == NULL)
		return 0;
	bzero(in->dg, offsetof(struct inet_dg, addr));
	return 1;
}

/* One more waits: send them, or arrange for that. */
static void
dg_gathered(struct inet *in, uint64_t now)
{
	struct inet_dg *d = in->dg;

	if (d->want & KS_OUT)
		return;
	if (d->used >= DG_BATCH || d->n == DG_MAX || now - d->since > DG_LATE)
		dg_flush(in);
	else
		dg_want(in, KS_SOON);
}

/* The destination must have a port or, for raw sockets, an address. */
static int
dg_dest(struct inet *in, const struct tpi_buf *to,
	struct sockaddr_storage *ss, uint32_t *len)
{
	int err = inet_addr_check(to, ss, len);

	if (err != 0)
		return err;
	if (ss->ss_family != in->family)
		return -TBADADDR;
	if (is_udp(in) && ((struct sockaddr_in *)(void *)ss)->sin_port == 0)
		return -TBADADDR;
	return 0;
}

static int
dg_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct inet *in = inet_of(tp);
	struct inet_dg *d = in->dg;
	struct inet_port *port;
	struct sockaddr_storage ss;
	uint32_t len = (uint32_t)msgdsize(mp), sslen;
	uint64_t now = inet_ticks();
	int err = dg_dest(in, to, &ss, &sslen), idle;

	if (err == 0 && opts->len != 0)
		err = inet_call_check(in, opts);
	if (err != 0)
		return err;
	if (in->ks == NULL)
		return EIO;
	idle = d == NULL || (d->n == 0 &&
		(in->out.got || now - d->last > DG_IDLE));
	if (!idle && (opts->len != 0 || !is_udp(in))) {
		dg_flush(in);
		if (d->n != 0)
			return EAGAIN;
		idle = 1;
	}
	if (d == NULL && !dg_buffer(in))
		return ENOSR;
	d = in->dg;
	in->flow = 0;
	port = inet_credit_to(in, &ss);
	if ((idle || (len > DG_BATCH / 2 && d->n == 0)) &&
		(port == NULL || opts->len != 0 ||
		inet_credit_ask(port, len))) {
		in->dg->last = now;
		in->out.got = 0;
		err = dg_direct(in, &ss, sslen, opts, mp);
		if (port != NULL && opts->len == 0) {
			if (err == 0)
				inet_credit_done(port, len);
			else
				inet_credit_back(port, len);
		}
		if (err == EAGAIN || err == ENOBUFS) {
			dg_want(in, err == EAGAIN ? KS_OUT : KS_SOON);
			return EAGAIN;
		}
		if (err == 0)
			freemsg(mp);
		return err;
	}
	if (d->n == 0)
		d->since = now;
	if (!dg_gather(in, &ss, sslen, mp, len)) {
		if ((d->want & KS_OUT) == 0)
			dg_flush(in);
		if (d->n != 0 || !dg_gather(in, &ss, sslen, mp, len))
			return EAGAIN;
	}
	freemsg(mp);
	dg_gathered(in, now);
	return 0;
}

/* Send the datagram at @udata at once. 0: it was not sent. */
static int
dg_send_from(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	const void *udata, uint32_t len, uint64_t now)
{
	struct iovec iov = {(void *)(uintptr_t)udata, len};
	struct ksock_msg m = {
		.km_iov = &iov,
		.km_iovlen = 1,
		.km_addr = (void *)(uintptr_t)to,
		.km_addrlen = tolen,
	};

	in->spoke = 1;
	if (ksock_sendmm(in->ks, &m, 1, MSG_NOSIGNAL) != 1)
		return 0; /* the usual path finds the reason */
	in->out.got = 0;
	in->dg->last = now;
	return 1;
}

/*
 * Send the waiting datagrams and the one at @udata. 0: the last was not sent.
 */
static int
dg_last(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	const void *udata, uint32_t len)
{
	struct dg_more more = {udata, len, 0};
	int a = dg_addr_of(in->dg, to, tolen);

	if (a < 0) {
		dg_flush(in);
		return 0;
	}
	more.addr = (uint32_t)a;
	return dg_flush_with(in, &more);
}

/*
 * inet_dg_from - send a datagram that is still in its user's memory
 *
 * Inside the perimeter; nothing waits on the write queue.  If something
 * prevents it, the datagram takes the usual path, dg_unitdata().
 *
 * Return: as a direct procedure, <str/direct.h>.
 */
STR_HOT int
inet_dg_from(struct inet *in, const struct sockaddr_storage *to, uint32_t tolen,
	const void *udata, uint32_t len)
{
	struct inet_dg *d = in->dg;
	uint64_t now = inet_ticks();
	unsigned char *p;

	if (d == NULL || in->ks == NULL || inet_credit_to(in, to) != NULL)
		return STR_DIRECT_NOT;
	in->flow = 0;
	/* a train has no room for another like it, or it must be sent now */
	if (d->n != 0 && (d->want & KS_OUT) == 0 && (len >= DG_LONG ||
		d->used + 2 * len > DG_MOST || d->n + 1 >= DG_MAX ||
		now - d->since > DG_LATE) && dg_last(in, to, tolen, udata, len))
		return STR_DIRECT_DONE;
	if (d->n == 0) {
		if (len >= DG_LONG || in->out.got || now - d->last > DG_IDLE)
			return dg_send_from(in, to, tolen, udata, len, now) ?
				STR_DIRECT_DONE : STR_DIRECT_NOT;
		d->since = now;
	}
	p = dg_room(in, to, tolen, len);
	if (p == NULL || copyin(udata, p, len) != 0)
		return STR_DIRECT_NOT;
	dg_filled(d, len);
	dg_gathered(in, now);
	return STR_DIRECT_DONE;
}

/* There is room, or it is time to send the waiting datagrams. */
static void
dg_wsrv(struct tpi *tp, int after)
{
	struct inet *in = inet_of(tp);

	if (in->dg == NULL || in->ks == NULL)
		return;
	if (in->dg->n != 0)
		dg_flush(in);
	else if (after && in->wq->q_first == NULL)
		dg_want(in, 0);
}

/* --------------------------------------------------------------- receiving */

#define DG_SMALL 2112u
#define DG_BIG 65472u
#define DG_AT_ONCE 16u
#define DG_COPY DG_SMALL /* segments up to this are copied */

struct dg_in {
	mblk_t *small, *big;
	struct iovec iov[2];
	struct sockaddr_storage from;
};

/* Blocks for a datagram.  0: no memory. */
static int
dg_blocks(struct dg_in *v)
{
	if (v->small == NULL)
		v->small = allocb(DG_SMALL, BPRI_MED);
	if (v->big == NULL)
		v->big = allocb(DG_BIG, BPRI_MED);
	if (v->small == NULL || v->big == NULL)
		return 0;
	v->iov[0].iov_base = v->small->b_rptr;
	v->iov[0].iov_len = DG_SMALL;
	v->iov[1].iov_base = v->big->b_rptr;
	v->iov[1].iov_len = DG_BIG;
	return 1;
}

/* @len bytes of the received data, from @off on, as a message. */
static mblk_t *
dg_slice(const struct dg_in *v, uint32_t off, uint32_t len)
{
	mblk_t *mp, *bp;
	uint32_t n;

	if (len <= DG_COPY) {
		mp = allocb(len, BPRI_MED);
		if (mp == NULL)
			return NULL;
		n = off < DG_SMALL ? min((int)len, (int)(DG_SMALL - off)) : 0;
		bcopy(v->small->b_rptr + off, mp->b_wptr, n);
		if (len > n)
			bcopy(v->big->b_rptr + (off + n - DG_SMALL),
				mp->b_wptr + n, len - n);
		mp->b_wptr += len;
		return mp;
	}
	mp = NULL;
	if (off < DG_SMALL) {
		mp = dg_slice(v, off, DG_SMALL - off);
		if (mp == NULL)
			return NULL;
		len -= DG_SMALL - off;
		off = DG_SMALL;
	}
	bp = dupb(v->big);
	if (bp == NULL) {
		freemsg(mp);
		return NULL;
	}
	bp->b_rptr += off - DG_SMALL;
	bp->b_wptr = bp->b_rptr + len;
	if (mp == NULL)
		return bp;
	linkb(mp, bp);
	return mp;
}

/*
 * Send a datagram up.  There was room before the receive; the rest of a batch
 * is sent up even without room, because it cannot be put back into the socket.
 */
static void
dg_up(struct inet *in, const struct ksock_msg *m, mblk_t *data)
{
	uint32_t len = m->km_addrlen;
	struct T_unitdata_ind *ui;
	struct inet_told facts;
	mblk_t *mp;
	int told = m->km_ctl != NULL && str_load(&in->wants) != 0;

	mp = allocb(sizeof(*ui) + len + (told ? INET_TOLD_MOST + 8 : 0),
		BPRI_MED);
	if (mp == NULL) {
		(void)tpi_dropped(&in->tp);
		freemsg(data);
		return;
	}
	ui = (struct T_unitdata_ind *)(void *)mp->b_wptr;
	ui->PRIM_type = T_UNITDATA_IND;
	ui->SRC_length = (t_scalar_t)len;
	ui->SRC_offset = sizeof(*ui);
	ui->OPT_length = 0;
	ui->OPT_offset = 0;
	bcopy(m->km_addr, ui + 1, len);
	mp->b_wptr += sizeof(*ui) + len;
	if (told) {
		inet_recv_read(m, &facts);
		inet_recv_add(in, &facts, mp);
	}
	DB_TYPE(mp) = M_PROTO;
	mp->b_cont = data;
	putnext(in->rq, mp);
}

static int
dg_strip(struct inet *in, mblk_t *mp)
{
	long hdr;

	if (!is_rawip(in))
		return 1;
	hdr = MBLKL(mp) > 0 ? (*mp->b_rptr & 15) * 4 : 0;
	if (hdr < 20 || hdr > MBLKL(mp))
		return 0;
	mp->b_rptr += hdr;
	return 1;
}

/* Process a received datagram or train. */
static void
dg_deliver(struct inet *in, struct dg_in *v, const struct ksock_msg *m)
{
	uint32_t len = m->km_len, seg = m->km_gso, off;
	mblk_t *mp;

	if (m->km_flags & MSG_TRUNC)
		(void)tpi_dropped(&in->tp);
	if (seg == 0 || seg >= len) {
		mp = v->small;
		v->small = NULL;
		mp->b_wptr += min((int)len, (int)DG_SMALL);
		if (len > DG_SMALL) {
			v->big->b_wptr += len - DG_SMALL;
			linkb(mp, v->big);
			v->big = NULL;
		}
		if (dg_strip(in, mp)) {
			dg_up(in, m, mp);
		} else {
			(void)tpi_dropped(&in->tp);
			freemsg(mp);
		}
		return;
	}
	for (off = 0; off < len; off += seg) {
		mp = dg_slice(v, off, seg < len - off ? seg : len - off);
		if (mp == NULL)
			(void)tpi_dropped(&in->tp);
		else
			dg_up(in, m, mp);
	}
	if (v->big != NULL && DB_REF(v->big) > 1) {
		freeb(v->big); /* messages refer to it */
		v->big = NULL;
	}
}

/* Errors of sent datagrams, each with its destination address. */
static int
dg_errors(struct inet *in)
{
	_Alignas(struct cmsghdr) unsigned char ctl[256];
	struct tpi_buf none = {NULL, 0}, to;
	struct sockaddr_storage dest;
	struct sock_extended_err ee;
	struct cmsghdr *c;
	struct iovec iov;
	unsigned char byte;
	int found = 0, had;

	for (;;) {
		struct ksock_msg m = {
			.km_iov = &iov,
			.km_iovlen = 1,
			.km_addr = &dest,
			.km_addrlen = sizeof(dest),
			.km_ctl = ctl,
			.km_ctllen = sizeof(ctl),
		};
		struct msghdr h;

		iov.iov_base = &byte;
		iov.iov_len = 1;
		if (ksock_recvmm(in->ks, &m, 1, MSG_ERRQUEUE) != 1)
			return found;
		found = 1;
		h.msg_control = ctl;
		h.msg_controllen = m.km_ctllen;
		had = 0;
		for (c = CMSG_FIRSTHDR(&h); c != NULL && !had;
			c = (unsigned char *)c + CMSG_ALIGN(c->cmsg_len) +
				sizeof(*c) <= ctl + m.km_ctllen ?
				(struct cmsghdr *)(void *)((unsigned char *)c +
					CMSG_ALIGN(c->cmsg_len)) : NULL) {
			if ((c->cmsg_level != IPPROTO_IP ||
				c->cmsg_type != IP_RECVERR) &&
				(c->cmsg_level != IPPROTO_IPV6 ||
				c->cmsg_type != IPV6_RECVERR))
				continue;
			bcopy(CMSG_DATA(c), &ee, sizeof(ee));
			had = 1;
		}
		if (!had || m.km_addrlen == 0)
			continue;
		/* raw sockets also get errors of other sockets' datagrams */
		if (inet_kind[in->kind].type == SOCK_RAW && !in->spoke)
			continue;
		to.buf = (unsigned char *)&dest;
		to.len = m.km_addrlen;
		tpi_uderror_ind(&in->tp, &to, &none, (t_scalar_t)ee.ee_errno);
	}
}

static void
dg_free(struct dg_in *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (v[i].small != NULL)
			freeb(v[i].small);
		if (v[i].big != NULL)
			freeb(v[i].big);
	}
}

/* Results of dg_receive(). */
#define DG_STOP 0
#define DG_GO 1	   /* something arrived; there may be more */
#define DG_NONE 2  /* nothing was received, though there may be data */
#define DG_TRIES 3u /* most in a row */
#define DG_LATER 2 /* ticks, then */

/*
 * A flow is a sequence of datagrams that are not answered, and that are short
 * if they come from the domain.  If a reader slept until the next one arrives,
 * each datagram that finds it asleep would wake it, which costs the sender more
 * than sending the datagram.  So during a flow the reader that has emptied the
 * socket spins, and then takes all that have arrived.  If none arrives while
 * the reader spins, the reader may keep the sender from the CPU; then it naps:
 * it sleeps for a time that no datagram ends.  The flow ends when naps give
 * fewer than two datagrams each, or when none has come for a while.
 */
static void
dg_flow(struct inet *in, uint32_t n, uint32_t longer)
{
	uint64_t now = inet_ticks(), gaps = (now - in->flowed) / DG_GAP;

	in->flow = in->flow > gaps && longer == 0 ?
		in->flow - (uint32_t)gaps : 0;
	in->flow += n - longer;
	if (in->flow > 2 * DG_FLOW)
		in->flow = 2 * DG_FLOW;
	in->flowed = now;
}

/* @none: the reader found nothing. */
static void
dg_nap(struct inet *in, int spun, int none)
{
	if (spun && none)
		in->naps = DG_NAPS;
	if (in->flow < DG_FLOW + (inet_ticks() - in->flowed) / DG_GAP)
		return;
	in->spun = in->naps == 0;
	if (!in->spun)
		in->naps--;
	(void)ksock_nap(in->ks, in->spun ? KS_SPIN : KS_NAP);
}

/* One call. */
static int
dg_receive(struct inet *in, struct dg_in *v, uint32_t want, int plain)
{
	_Alignas(struct cmsghdr) unsigned char ctl[DG_AT_ONCE][INET_TOLD_CTL];
	struct ksock_msg m[DG_AT_ONCE];
	int told = str_load(&in->wants) != 0;
	uint64_t bytes = 0, cost = 0, before = inet_credit_sent(in);
	uint32_t i, longer = 0;
	long n;

	for (i = 0; i < want && dg_blocks(&v[i]); i++) {
		bzero(&m[i], sizeof(m[i]));
		m[i].km_iov = v[i].iov;
		m[i].km_iovlen = 2;
		m[i].km_addr = &v[i].from;
		m[i].km_addrlen = sizeof(v[i].from);
		m[i].km_ctl = told ? ctl[i] : NULL;
		m[i].km_ctllen = told ? INET_TOLD_CTL : 0;
	}
	if (i == 0) {
		inet_again(in, DG_BIG);
		return DG_STOP;
	}
	want = i;
	n = ksock_recvmm(in->ks, m, want, 0);
	if (n == -EAGAIN)
		inet_credit_took(in, 0, 0, 1, before);
	if (n == -EAGAIN || n == -EINTR)
		return n == -EINTR ? DG_NONE : DG_STOP;
	if (n == -EIO)
		return DG_STOP; /* no descriptor yet */
	if (n <= 0)
		return dg_errors(in) ? DG_GO : n != 0 ? DG_NONE : DG_STOP;
	in->out.got = 1;
	for (i = 0; i < (uint32_t)n; i++) {
		bytes += m[i].km_len;
		cost += inet_credit_cost(m[i].km_len);
		longer += m[i].km_len > DG_SHORT ||
			(m[i].km_gso != 0 && m[i].km_gso < m[i].km_len);
		dg_deliver(in, &v[i], &m[i]);
	}
	/* a sender in the domain has credit for few long datagrams and then
	 * waits for more, so long ones are not counted as a flow */
	dg_flow(in, (uint32_t)n, before != in->before ? longer : 0);
	in->before = before;
	if (n > 1)
		inet_dg_trains(in);
	in->single = n == 1 && (m[0].km_gso == 0 || m[0].km_gso >= m[0].km_len);
	inet_credit_took_all(in, cost, (uint32_t)n < want, before);
	/* much is in few blocks, so that these are warm when they are read */
	if ((uint32_t)n == want && in->level < DG_AT_ONCE && bytes < DG_BATCH)
		in->level *= 2;
	else if (((uint32_t)n <= want / 2 || bytes > 2 * DG_BATCH) &&
		in->level > 1)
		in->level /= 2;
	return (uint32_t)n == want || !plain ? DG_GO : DG_STOP;
}

static void
dg_rsrv(struct tpi *tp)
{
	struct inet *in = inet_of(tp);
	struct dg_in v[DG_AT_ONCE];
	uint64_t was;
	uint32_t i, none = 0;
	int r = DG_GO, spun;

	if (in->phase != INET_OPEN || in->ks == NULL)
		return;
	was = in->flowed;
	spun = in->spun && ksock_nap(in->ks, 0) == 0;
	in->spun = 0;
	for (i = 0; i < DG_AT_ONCE; i++)
		v[i].small = v[i].big = NULL;
	while (r != DG_STOP && none < DG_TRIES && tpi_canput(tp)) {
		r = dg_receive(in, v, in->level, !in->odd);
		none = r == DG_NONE ? none + 1 : 0;
	}
	if (none == DG_TRIES)
		inet_later(in, DG_LATER);
	dg_nap(in, spun, in->flowed == was);
	dg_free(v, DG_AT_ONCE);
}

/* ------------------------------------------------------------ for short.c */

STR_HOT int
inet_dg_empty(const struct inet *in)
{
	return in->dg != NULL && in->dg->n == 0;
}

STR_HOT uint64_t
inet_dg_last(const struct inet *in)
{
	return in->dg->last;
}

STR_HOT void
inet_dg_sent(struct inet *in, uint64_t now)
{
	in->dg->last = now;
}

int
inet_dg_errors(struct inet *in)
{
	return dg_errors(in);
}

void
inet_dg_up(struct inet *in, const void *from, uint32_t len, mblk_t *data)
{
	struct ksock_msg m = {.km_addr = (void *)(uintptr_t)from,
		.km_addrlen = len};

	dg_up(in, &m, data);
}

/* ------------------------------------------------------------------- tables */

#define DG_OPS(name_, addr_, tsdu_, opt_, nopt_, prov_) \
	const struct tpi_ops name_ = { \
		.name = "inet", \
		.size = sizeof(struct inet), \
		.info = INET_DGRAM_INFO(addr_, tsdu_), \
		.opt = (opt_), \
		.nopt = (nopt_), \
		.prov = (prov_), \
		.open = inet_open, \
		.close = dg_close, \
		.bind = dg_bind, \
		.unbind = dg_unbind, \
		.unitdata = dg_unitdata, \
		.direct = inet_short_send, \
		.udbad = {0, EINVAL, EINVAL}, \
		.getopt = inet_getopt, \
		.setopt = inet_setopt, \
		.rsrv = dg_rsrv, \
		.wsrv = dg_wsrv, \
	}

DG_OPS(inet_udp_ops, 16, 65507, inet_opt_udp, INET_NOPT_UDP, inet_prov_udp);
DG_OPS(inet_udp6_ops, 28, 65507, inet_opt_udp, INET_NOPT_UDP, inet_prov_udp);
DG_OPS(inet_rawip_ops, 16, 65515, inet_opt_raw, INET_NOPT_RAW, inet_prov_raw);
