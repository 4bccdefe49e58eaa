/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Receiving datagrams over the kernel's sockets.
 *
 * Data.  One call receives several datagrams.  Each has a small block, and
 * a large one that is used only if the datagram is large, so that small ones
 * need little memory.  A train (UDP_GRO) is cut here: small segments are
 * copied, large ones share one block.  UDP_GRO is set when many datagrams
 * arrive for the first time, because it makes each receive more expensive.
 * Until then senders of the domain make no trains, so that they can compute the
 * cost of their datagrams.
 *
 * Errors.  An ICMP error about a datagram arrives in the socket's error queue,
 * with the destination address, and becomes a T_UDERROR_IND.
 */
#include <time.h>
#include <linux/errqueue.h>
#include "dgram.h"

#define DG_FLOW 16u	 /* so many within DG_GAP of each other are a flow */
#define DG_GAP INET_US(50)
#define DG_NAPS 32u	 /* ... until it is tried again to spin */
#define DG_SHORT 2048u	 /* longer ones of the domain wake the reader */
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

	if (!inet_dg_is_rawip(in))
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
int
inet_dg_errors(struct inet *in)
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
		return inet_dg_errors(in) ? DG_GO : n != 0 ? DG_NONE : DG_STOP;
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

void
inet_dg_rsrv(struct tpi *tp)
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

void
inet_dg_up(struct inet *in, const void *from, uint32_t len, mblk_t *data)
{
	struct ksock_msg m = {.km_addr = (void *)(uintptr_t)from,
		.km_addrlen = len};

	dg_up(in, &m, data);
}
