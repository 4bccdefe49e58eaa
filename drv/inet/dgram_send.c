/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sending datagrams over the kernel's sockets.  A datagram is sent at once when
 * the endpoint is idle, as in out.c.  Under load, datagrams are copied one
 * behind the other into a buffer of the endpoint (struct inet_dg), and sent by
 * one call.  A run of datagrams of one size to one address is sent as a train
 * that the kernel cuts (UDP_SEGMENT), if it can.  When the kernel has no room
 * the buffer fills, and then requests stay on the write queue, and flow control
 * stops the writer.  Native UDP copies its datagrams directly from the user's
 * memory, except the last of each call: the kernel reads that one in place when
 * it sends the others.  The same holds for long datagrams.
 *
 * Crash.  The buffer belongs to the endpoint, not to the thread that filled it;
 * a count says how much of it is valid.  If the sender is killed, datagrams may
 * be sent twice, which any network may do.
 */
#include "dgram.h"

#define DG_TRAIN 64u	 /* segments of a train: limit of all kernels */
#define DG_MOST 65507u	 /* bytes of a datagram, or of a train */
#define DG_LONG 32768u	 /* ... and of one that does not wait for others */
#define DG_IDLE INET_US(50)
#define DG_LATE INET_US(500)

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
			inet_dg_want(in, KS_SOON);
			return 0;
		}
		if (n > 0) {
			tries = 0;
			continue;
		}
		if (n == -EAGAIN || n == -ENOBUFS) {
			inet_dg_want(in, n == -EAGAIN ? KS_OUT : KS_SOON);
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
	inet_dg_want(in, 0);
	return gone;
}

void
inet_dg_flush(struct inet *in)
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
		inet_dg_flush(in);
	else
		inet_dg_want(in, KS_SOON);
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
	if (inet_dg_is_udp(in) && ((struct sockaddr_in *)(void *)ss)->sin_port == 0)
		return -TBADADDR;
	return 0;
}

int
inet_dg_unitdata(struct tpi *tp, const struct tpi_buf *to,
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
	if (!idle && (opts->len != 0 || !inet_dg_is_udp(in))) {
		inet_dg_flush(in);
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
			inet_dg_want(in, err == EAGAIN ? KS_OUT : KS_SOON);
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
			inet_dg_flush(in);
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
		inet_dg_flush(in);
		return 0;
	}
	more.addr = (uint32_t)a;
	return dg_flush_with(in, &more);
}

/*
 * inet_dg_from - send a datagram that is still in its user's memory
 *
 * Inside the perimeter; nothing waits on the write queue.  If something
 * prevents it, the datagram takes the usual path, inet_dg_unitdata().
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
void
inet_dg_wsrv(struct tpi *tp, int after)
{
	struct inet *in = inet_of(tp);

	if (in->dg == NULL || in->ks == NULL)
		return;
	if (in->dg->n != 0)
		inet_dg_flush(in);
	else if (after && in->wq->q_first == NULL)
		inet_dg_want(in, 0);
}

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
