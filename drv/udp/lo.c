/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams within a domain: the transports' side of the wire `lo'.
 *
 * Sending.  A datagram for an endpoint of the domain becomes an IP packet: its
 * headers are written into the head room of the data's block, from a template
 * for the destination (struct udp_dest).  The receiving side of lo reads them
 * there, turns the T_UNITDATA_REQ's block into the T_UNITDATA_IND, and puts
 * that to the head of the receiver's stream.  All this happens in the put
 * procedure of the sender, without a queue, a copy or a system call.  Checksums
 * are made and checked if T_UDP_LOCHECK is set or lo is impaired, and
 * made if there is a tap or a raw endpoint of protocol 17.
 *
 * Waiting.  A datagram for a full receiver waits at the front of its sender's
 * queue until there is room, or the receiver closes.  A receiver that has read
 * nothing for UDP_HOLD (str_read_mark()) is `stuck': datagrams to it are
 * dropped and counted at once, until it reads.  For a slow reader the sender
 * waits as long as necessary.
 *
 * Finding a receiver works as in drv/ti: find an entry of the table without a
 * lock, copy it, hold its stream, check its generation again.  A closer changes
 * the generation first, or waits for the end of the hold.  An unbind does not
 * wait, and the entry may be reused at once: therefore only the copy is used.
 *
 * Locks.  The sender's perimeter; not the receiver's.
 */
#include "udp_impl.h"
#include <sys/strlog.h>

#define IP4_HLEN 20u
#define IP6_HLEN 40u
#define DF 0x40u

/* The wire lo, or NULL without memory. */
struct wire *
udp_lo(struct udp_state *st)
{
	struct wire *lo = str_load_acq(&st->lo);

	if (str_unlikely(lo == NULL)) {
		lo = wire_lo();
		if (lo != NULL)
			__atomic_store_n(&st->lo, lo, __ATOMIC_RELEASE);
	}
	return lo;
}

/* ------------------------------------------------------------------ receiving */

/* Turn @mp into a T_UNITDATA_IND with room for @more bytes; NULL: no memory, and
 * @mp is unchanged. */
static inline mblk_t *
make_ind(mblk_t *mp, int six, const unsigned char *addr, uint32_t alen,
	uint16_t port, long more)
{
	struct T_unitdata_ind *ui;
	mblk_t *bp;

	if (str_unlikely(mp->b_datap->db_ref != 1 ||
		mp->b_datap->db_lim - mp->b_rptr <
		(long)(sizeof(*ui) + sizeof(struct sockaddr_in6)) + more)) {
		bp = allocb(sizeof(*ui) + sizeof(struct sockaddr_in6) +
			(size_t)more, BPRI_MED);
		if (bp == NULL)
			return NULL;
		bp->b_cont = mp->b_cont;
		freeb(mp);
		mp = bp;
	}
	DB_TYPE(mp) = M_PROTO;
	mp->b_band = 0;
	ui = (struct T_unitdata_ind *)(void *)mp->b_rptr;
	ui->PRIM_type = T_UNITDATA_IND;
	ui->SRC_offset = sizeof(*ui);
	ui->OPT_length = 0;
	ui->OPT_offset = 0;
	ui->SRC_length = (t_scalar_t)udp_put_source((unsigned char *)(ui + 1),
		six, addr, alen, port);
	mp->b_wptr = (unsigned char *)(ui + 1) + ui->SRC_length;
	return mp;
}

/* What the header @h of a packet on @w says about it. */
static void
told_by(struct wire *w, const struct ip_hdr *h, struct inet_told *ret)
{
	ret->dst = h->dst;
	ret->ifindex = wire_ifindex(w);
	ret->ttl = h->ttl;
	ret->tos = h->tos;
}

/*
 * udp_ind - make @mp the T_UNITDATA_IND of a packet with @h that came on @w
 * Return: NULL: no memory, and @mp is unchanged.
 */
mblk_t *
udp_ind(struct wire *w, const struct ip_hdr *h, mblk_t *mp,
	const struct udp *to, const struct ports_at *src)
{
	int wants = str_load(&to->in.wants) != 0;
	struct inet_told told;

	mp = make_ind(mp, to->in.family == AF_INET6, src->a.b, src->a.len,
		src->port, wants ? UDP_TOLD : 0);
	if (mp != NULL && wants) {
		told_by(w, h, &told);
		inet_recv_add(&to->in, &told, mp);
	}
	return mp;
}

/* The same for a packet on lo with its headers at @h. */
static STR_NOINLINE mblk_t *
ind_with_options(const struct udp *to, mblk_t *mp, const unsigned char *h)
{
	int four = (*h & 0xf0) == 0x40;
	size_t n = (four ? IP4_HLEN : IP6_HLEN) + UDP_HDRLEN;
	struct ports_at src;
	struct ip_hdr ih;

	if (ip_parse(h, n, IP_MOST + n, IP_TRUST, &ih) != 0)
		return NULL;
	src.a = ih.src;
	bcopy(h + ih.hlen, &src.port, 2);
	return udp_ind(udp_lo(to->st), &ih, mp, to, &src);
}

/*
 * udp_come_near - threads at @u mostly wait for events of the domain: datagrams
 * on lo or other wires, or room at a receiver.  So streamsd watches the socket,
 * and those threads sleep as at any other stream, where a wake costs less, and
 * where a writer that is woken serves its queue itself (core/sched: commit).
 */
STR_NOINLINE void
udp_come_near(struct udp *u)
{
	if (inet_ticks() - str_load(&u->kernel) < INET_US(10000))
		return;
	str_store(&u->near, 1u);
	if (u->in.ks != NULL)
		ksock_near(u->in.ks, 1);
}

/*
 * The receiving side of lo: a packet with its headers at @h, its data at
 * @mp->b_cont, for @to, whose stream is held and has room. @from: its sender,
 * if it may have waited on the sender's queue; else NULL.
 */
static inline int
arrive(struct udp *from, struct udp *to, mblk_t *mp, const unsigned char *h)
{
	uint16_t port;
	mblk_t *bp;

	if (str_unlikely(str_load(&to->in.wants) != 0)) {
		bp = ind_with_options(to, mp, h);
	} else if ((*h & 0xf0) == 0x40) {
		__builtin_memcpy(&port, h + IP4_HLEN, 2);
		bp = make_ind(mp, to->in.family == AF_INET6, h + 12, 4, port,
			0);
	} else {
		__builtin_memcpy(&port, h + IP6_HLEN, 2);
		bp = make_ind(mp, 1, h + 8, 16, port, 0);
	}
	if (str_unlikely(bp == NULL))
		return ENOSR;
	if (str_unlikely(!str_load(&to->near)))
		udp_come_near(to);
	if (from != NULL)
		tpi_goes(&from->in.tp, bp);
	putnext(to->in.tp.rq, bp);
	return 0;
}

/* -------------------------------------------------------------------- packets */

static inline void
put_length(unsigned char *h, uint32_t hlen, uint32_t n)
{
	uint16_t ulen = htons((uint16_t)(n + UDP_HDRLEN)), len;

	__builtin_memcpy(h + hlen - 4, &ulen, 2);
	if (hlen == IP4_HLEN + UDP_HDRLEN) {
		len = htons((uint16_t)(n + hlen));
		__builtin_memcpy(h + 2, &len, 2);
	} else {
		__builtin_memcpy(h + 4, &ulen, 2);
	}
}

/* The place for the headers in front of the data @bp; NULL: no room. */
static inline unsigned char *
head_room(const mblk_t *bp, uint32_t hlen)
{
	return bp != NULL && bp->b_datap->db_ref == 1 &&
		bp->b_rptr - bp->b_datap->db_base >= (long)hlen ?
		bp->b_rptr - hlen : NULL;
}

/*
 * Set the checksums of a packet with headers at @h and data @bp. @no: without
 * the UDP checksum.
 */
void
udp_put_sums(unsigned char *h, uint32_t hlen, const mblk_t *bp, uint32_t n, int no)
{
	struct ip_addr src, dst;
	int four = hlen == IP4_HLEN + UDP_HDRLEN, odd = 0;
	uint32_t sum;
	uint16_t v;

	h[hlen - 2] = h[hlen - 1] = 0;
	src.len = dst.len = four ? 4 : 16;
	bcopy(h + (four ? 12 : 8), src.b, src.len);
	bcopy(h + (four ? 16 : 24), dst.b, dst.len);
	if (four) {
		h[10] = h[11] = 0;
		v = htons(ip_fold(ip_sum(h, IP4_HLEN, 0, 0)));
		bcopy(&v, h + 10, 2);
		if (no)
			return;
	}
	sum = ip_pseudo(&src, &dst, IPPROTO_UDP, n + UDP_HDRLEN);
	sum = ip_sum(h + hlen - UDP_HDRLEN, UDP_HDRLEN, sum, 0);
	for (; bp != NULL; bp = bp->b_cont) {
		sum = ip_sum(bp->b_rptr, (size_t)MBLKL(bp), sum, odd);
		odd ^= MBLKL(bp) & 1;
	}
	v = htons(ip_fold(sum));
	if (v == 0)
		v = 0xffff; /* 0 would mean no checksum */
	bcopy(&v, h + hlen - 2, 2);
}

/*
 * Make a packet of @hdr and @bp, which may be NULL: in the head room, or with a
 * block in front.  NULL: no memory. *ret_block: that block, or NULL.
 */
mblk_t *
udp_wrap(const unsigned char *hdr, uint32_t hlen, mblk_t *bp, mblk_t **ret_block)
{
	unsigned char *at = head_room(bp, hlen);
	mblk_t *hb;

	*ret_block = NULL;
	if (at != NULL) {
		bcopy(hdr, at, hlen);
		bp->b_rptr -= hlen;
		return bp;
	}
	hb = allocb(IP_ROOM, BPRI_MED);
	if (hb == NULL)
		return NULL;
	bcopy(hdr, hb->b_wptr, hlen);
	hb->b_wptr += hlen;
	hb->b_cont = bp;
	*ret_block = hb;
	return hb;
}

/* ... and off again. */
mblk_t *
udp_unwrap(mblk_t *pkt, uint32_t hlen, mblk_t *block)
{
	mblk_t *bp = pkt;

	if (block != NULL) {
		bp = unlinkb(block);
		freeb(block);
	} else {
		bp->b_rptr += hlen;
	}
	return bp;
}

/* --------------------------------------------------------------- destinations */

/* Make the headers of packets from @src to @dst. */
static void
make_header(const struct udp *u, struct udp_dest *d, const struct ports_at *dst,
	const struct ports_at *src)
{
	struct ip_hdr h;
	struct udp_hdr uh;

	bzero(&h, sizeof(h));
	h.src = src->a;
	h.dst = dst->a;
	h.proto = IPPROTO_UDP;
	h.tos = (uint8_t)u->tos;
	h.ttl = (uint8_t)u->ttl;
	h.df = 1;
	h.len = UDP_HDRLEN;
	h.hlen = (uint16_t)ip_size(&h);
	uh.sport = ntohs(src->port);
	uh.dport = ntohs(dst->port);
	uh.len = UDP_HDRLEN;
	uh.sum = 0;
	(void)ip_build(d->hdr + h.hlen, &h, NULL, IP_TRUST);
	udp_build(d->hdr + h.hlen, &uh);
	d->hlen = h.hlen + UDP_HDRLEN;
}

/* The source address of @u: the address it is bound to; @dflt, if that is no
 * local address of one host. */
static void
source(const struct udp *u, struct ports_at *ret, const struct ip_addr *dflt)
{
	struct ip_addr none;
	uint64_t life;

	*ret = u->port->at;
	if (ret->a.len == 0 || !wire_local(&ret->a, &none, &life))
		ret->a = *dflt; /* bound to a group, too */
}

/*
 * Begin or end a change of @d.  If a thread is killed between, @d is not used.
 */
static void
change(struct udp_dest *d)
{
	str_store(&d->seq, d->seq | 1);
	str_fence_full(); /* pairs with the check in udp_lo_direct() */
}

static void
changed(struct udp_dest *d)
{
	__atomic_store_n(&d->seq, (d->seq | 1) + 1, __ATOMIC_RELEASE);
}

static void
forget(struct udp_dest *d)
{
	change(d);
	d->len = 0;
	changed(d);
}

/*
 * Find the endpoint at @sa, for @d. @from: the source address, NULL: the usual.
 * 0: there is none on lo.
 */
static int
resolve(struct udp *u, struct udp_dest *d, const struct sockaddr_storage *sa,
	uint32_t len, const struct ip_addr *from)
{
	struct ports_at dst, src;
	struct ip_addr dflt;
	uint64_t life;

	d->changed = str_load_acq(&udp_table(u)->changed);
	if (u->port == NULL || !udp_at_of(sa, len, &dst) || dst.port == 0 ||
		sa->ss_family != u->in.family ||
		(u->port->v6only && dst.a.len == 4) ||
		(u->port->at.a.len != 0 && u->port->at.a.len != dst.a.len))
		return 0;
	/* the port is free: no need to ask the kernel */
	if (!ports_any(&u->st->ports, dst.port) ||
		!wire_local(&dst.a, &dflt, &life))
		return 0;
	d->until = life == 0 ? 0 : inet_ticks() + INET_US(life / 1000);
	source(u, &src, &dflt);
	if (from != NULL) {
		if (from->len != dst.a.len || !wire_local(from, &dflt, &life))
			return 0;
		src.a = *from;
	}
	d->nm = ports_find(&u->st->ports, &dst, &src, &d->gen);
	if (d->nm == NULL)
		return 0;
	make_header(u, d, &dst, &src);
	bcopy(sa, d->sa, len);
	d->ref = d->nm->ref;
	d->ep = str_load(&d->nm->ep);
	if (ports_gen(d->nm) != d->gen)
		return 0;
	d->len = len;
	return 1;
}

static inline int
is_good(const struct udp *u, const struct udp_dest *d)
{
	return d->changed == str_load_acq(&udp_table(u)->changed) &&
		(d->until == 0 || (int64_t)(d->until - inet_ticks()) > 0);
}

/* The struct udp_dest of @sa, or NULL. */
static struct udp_dest *
find(struct udp *u, const struct sockaddr_storage *sa, uint32_t len)
{
	struct udp_dest *d;
	uint32_t i;

	for (i = 0; i < UDP_NDEST; i++) {
		d = &u->dest[i];
		if (d->len == len && bcmp(d->sa, sa, len) == 0)
			break;
	}
	if (i == UDP_NDEST) {
		i = (u->last + 1) % UDP_NDEST;
		d = &u->dest[i];
	} else if (is_good(u, d)) {
		str_store(&u->last, i);
		return d;
	}
	change(d);
	if (!resolve(u, d, sa, len, NULL))
		d->len = 0;
	changed(d);
	if (d->len == 0)
		return NULL;
	str_store(&u->last, i);
	return d;
}

/* udp_forget - discard the destinations that @u has found, and their headers */
void
udp_forget(struct udp *u)
{
	uint32_t i;

	for (i = 0; i < UDP_NDEST; i++)
		forget(&u->dest[i]);
	str_store(&u->awaylen, 0u);
}

/* -------------------------------------------------------------------- sending */

static unsigned long
clock(void)
{
	unsigned long now = 0;

	(void)drv_getparm(LBOLT, &now);
	return now;
}

/*
 * udp_full - the receiver @to at @nm, whose stream is held, is full
 * Return: 0: it is not any more; EAGAIN: wait; ENOBUFS: drop the datagram.
 */
int
udp_full(struct udp *u, struct ports_entry *nm, struct udp *to)
{
	uint64_t mark = str_read_mark(to->in.tp.rq);
	unsigned long now = clock() | 1;

	if (str_load_acq(&to->stuck)) {
		if (str_load(&to->stop) == mark)
			return ENOBUFS;
		str_store(&to->stuck, 0u); /* it reads again */
	}
	if (u->wait != nm || u->mark != mark) {
		u->since = 0;
		u->mark = mark;
	}
	u->wait = nm;
	if (tpi_waited(&u->in.tp, &u->since, &u->waited, now) > UDP_HOLD) {
		str_store(&to->stop, mark);
		str_store_rel(&to->stuck, 1u);
		/* it may have read meanwhile, and not seen `stuck' */
		str_fence_full();
		if (!udp_has_room(to))
			return ENOBUFS;
		str_store(&to->stuck, 0u);
	}
	if (!str_load(&u->near))
		udp_come_near(u);
	ports_wait(nm, u->in.rq, u->in.wq);
	/* senders without an entry in the list are woken by the tick */
	tpi_retry(&u->in.tp);
	str_fence_full(); /* pairs with ports_wake() */
	return udp_has_room(to) ? 0 : EAGAIN;
}

static void
drop(struct udp *u, mblk_t *mp)
{
	if (tpi_dropped(&u->in.tp) == 0)
		(void)strlog(UDP_ID, (short)u->in.tp.minor, 1, SL_TRACE,
			"datagrams are dropped: a receiver does not read");
	wire_count(udp_lo(u->st), WIRE_FULL, 1);
	u->since = 0;
	u->wait = NULL;
	freemsg(mp);
}

/*
 * Count a datagram sent and received.  If two threads send on one endpoint at
 * the same time, only one may be counted.
 */
static inline void
count(struct udp *u, uint32_t n)
{
	str_store(&u->sent, str_load(&u->sent) + 1);
	str_store(&u->bytes, str_load(&u->bytes) + n);
}

/*
 * udp_lo_counted - datagrams or bytes that the existing endpoints have sent on
 * lo (struct wire_proto)
 */
uint64_t
udp_lo_counted(enum wire_count what)
{
	struct udp_state *st = udp_state();
	uint64_t n = 0;
	struct tpi *tp;

	if (st == NULL || what > WIRE_OUTBYTES)
		return 0;
	mutex_enter(&st->udp.lock);
	for (tp = st->udp.first; tp != NULL; tp = tp->next)
		n += what < WIRE_INBYTES ? str_load(&udp_of(tp)->sent) :
			str_load(&udp_of(tp)->bytes);
	mutex_exit(&st->udp.lock);
	return n;
}

/* udp_lo_gone - @u is closed: add its counts to the permanent ones */
void
udp_lo_gone(struct udp *u)
{
	struct wire *lo = udp_lo(u->st);

	wire_count(lo, WIRE_IN, u->sent);
	wire_count(lo, WIRE_OUT, u->sent);
	wire_count(lo, WIRE_INBYTES, u->bytes);
	wire_count(lo, WIRE_OUTBYTES, u->bytes);
	u->sent = u->bytes = 0;
}

/* Make the complete packet for a tap or a checksum. 0, ENOSR. */
static STR_NOINLINE int
show(struct udp *u, struct udp *to, mblk_t *mp, unsigned char *hdr,
	uint32_t hlen, uint32_t n)
{
	struct wire *lo = udp_lo(u->st);
	mblk_t *bp = mp->b_cont, *pkt, *block;
	int err, check = u->check || str_load(&u->st->check);
	struct ip_hdr h;

	udp_put_sums(hdr, hlen, bp, n, u->nosum);
	pkt = udp_wrap(hdr, hlen, bp, &block);
	if (pkt == NULL)
		return ENOSR;
	/* once: wire_input() also shows its packets to taps */
	if (wire_tapped(lo) && !check && !wire_impaired(lo))
		wire_tap(lo, pkt, 1);
	if (wire_impaired(lo)) {
		mp->b_cont = NULL;
		freeb(mp);
		err = ip_parse(pkt->b_rptr, (size_t)MBLKL(pkt), hlen + n,
			IP_TRUST, &h);
		if (err == 0)
			return wire_send(lo, pkt, &h);
		freemsg(pkt);
		return EPROTO;
	}
	if (check) {
		/*
		 * through wire_input(), which checks it and finds the receiver
		 * again
		 */
		mp->b_cont = NULL;
		freeb(mp);
		wire_count(lo, WIRE_OUT, 1);
		wire_count(lo, WIRE_OUTBYTES, hlen + n);
		wire_input(lo, pkt, 0);
		return 0;
	}
	if (ip_parse(pkt->b_rptr, (size_t)MBLKL(pkt), hlen + n, IP_TRUST,
		&h) == 0)
		udp_raw_copies(u->st, IPPROTO_UDP, pkt, &h);
	mp->b_cont = udp_unwrap(pkt, hlen, block);
	err = arrive(NULL, to, mp, hdr);
	if (err == 0)
		count(u, hlen + n);
	return err;
}

/* A packet for @to, whose stream is held. */
static int
give(struct udp *u, struct udp *to, const struct udp_dest *d,
	const struct tpi_buf *opts, mblk_t *mp)
{
	uint32_t n = mp->b_cont != NULL ? (uint32_t)msgdsize(mp->b_cont) : 0;
	struct wire *lo = udp_lo(u->st);
	unsigned char hdr[sizeof(d->hdr)];
	int err;

	bcopy(d->hdr, hdr, sizeof(hdr));
	if (opts->len != 0 && !udp_apply(opts, hdr))
		return EOPNOTSUPP;
	put_length(hdr, d->hlen, n);
	if (lo == NULL)
		return ENOSR;
	if (!wire_is_plain(lo) || u->check || str_load(&u->st->check) ||
		ports_any(&u->st->protos, IPPROTO_UDP))
		return show(u, to, mp, hdr, d->hlen, n);
	err = arrive(u, to, mp, hdr);
	if (err == 0)
		count(u, d->hlen + n);
	return err;
}

/*
 * udp_lo_unitdata - op unitdata, on lo
 * Return: as in <str/tpi.h>, or UDP_NOT_LO: not within the domain.
 */
int
udp_lo_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct sockaddr_storage ss;
	struct udp_dest *d, own;
	struct ip_addr from;
	struct udp *ep;
	struct str_hold h;
	uint32_t len;
	int err, ifindex, tries = 0;

	if (u->special || inet_addr_check(to, &ss, &len) != 0)
		return UDP_NOT_LO;
	from.len = 0;
	if (opts->len != 0)
		(void)udp_call_info(u, opts, &from, &ifindex);
	bzero(&own, sizeof(own));
	for (;;) {
		if (from.len != 0)
			d = resolve(u, &own, &ss, len, &from) ? &own : NULL;
		else
			d = find(u, &ss, len);
		if (d == NULL)
			return UDP_NOT_LO;
		err = udp_hold(&u->st->ports, d->nm, d->gen, &h, &ep);
		if (err == 0)
			break;
		if (err == EBUSY) {
			tpi_retry(&u->in.tp);
			return EAGAIN;
		}
		forget(d);
		if (++tries > 100)
			return UDP_NOT_LO; /* the table changes too fast */
	}
	if (!udp_has_room(ep)) {
		err = udp_full(u, d->nm, ep);
		if (err != 0) {
			str_unhold(&h);
			if (err == ENOBUFS)
				drop(u, mp);
			return err == ENOBUFS ? 0 : EAGAIN;
		}
	}
	u->since = 0;
	u->wait = NULL;
	err = give(u, ep, d, opts, mp);
	str_unhold(&h);
	if (err == ENOSR) {
		tpi_retry(&u->in.tp);
		return EAGAIN;
	}
	return err == EOPNOTSUPP ? UDP_NOT_LO : err;
}

/* Is this the address of the last datagram? */
static inline int
is_same(const unsigned char *a, const struct udp_dest *d)
{
	uint64_t x, y;

	if (d->len == sizeof(struct sockaddr_in)) {
		__builtin_memcpy(&x, a, 8);
		__builtin_memcpy(&y, d->sa, 8);
		return x == y; /* all but the bytes that must be zero */
	}
	return bcmp(a, d->sa, d->len) == 0;
}

/* May the gate be skipped, because no other thread is there? */
static inline int
is_idle(const struct tpi *tp)
{
	return str_load(&tp->gate.m_lock.owner) == 0 && tp->busy == 0 &&
		str_load_acq(&tp->state) == TS_IDLE &&
		__atomic_load_n(&tp->missed, __ATOMIC_RELAXED) == 0;
}

/*
 * udp_lo_fast - a T_UNITDATA_REQ like the last one; nothing waits
 * Return: 1: it has arrived; 0: nothing has been done.
 */
STR_HOT int
udp_lo_fast(struct udp *u, mblk_t *mp)
{
	struct T_unitdata_req *ur = (struct T_unitdata_req *)(void *)mp->b_rptr;
	const struct udp_dest *d = &u->dest[u->last];
	unsigned char stack[sizeof(d->hdr)], *h;
	struct udp_state *st = u->st;
	mblk_t *bp = mp->b_cont;
	struct wire *lo = st->lo;
	struct str_hold hold;
	struct udp *to;
	uint32_t n;
	int err;

	if (MBLKL(mp) < (long)(sizeof(*ur) + sizeof(struct sockaddr_in)) ||
		ur->PRIM_type != T_UNITDATA_REQ || d->len == 0 ||
		ur->DEST_length != (t_scalar_t)d->len ||
		ur->DEST_offset != (t_scalar_t)sizeof(*ur) ||
		ur->OPT_length != 0 ||
		MBLKL(mp) < (long)(sizeof(*ur) + d->len) ||
		!is_same((const unsigned char *)(ur + 1), d))
		return 0;
	n = bp == NULL ? 0 : bp->b_cont == NULL ? (uint32_t)MBLKL(bp) :
		(uint32_t)msgdsize(bp);
	if (n > IP_UDP_MOST || !is_idle(&u->in.tp) || !is_good(u, d) ||
		ports_any(&st->protos, IPPROTO_UDP) ||
		(u->check | st->check | u->special) != 0 || lo == NULL || !wire_is_plain(lo))
		return 0;
	if (str_hold(&hold, &d->ref) != 0)
		return 0;
	to = d->ep;
	if (ports_gen(d->nm) != d->gen || !udp_has_room(to)) {
		str_unhold(&hold);
		return 0;
	}
	h = head_room(bp, d->hlen);
	if (str_unlikely(h == NULL))
		h = stack;
	if (str_likely(d->hlen == IP4_HLEN + UDP_HDRLEN))
		__builtin_memcpy(h, d->hdr, IP4_HLEN + UDP_HDRLEN);
	else
		__builtin_memcpy(h, d->hdr, IP6_HLEN + UDP_HDRLEN);
	put_length(h, d->hlen, n);
	err = arrive(NULL, to, mp, h);
	str_unhold(&hold);
	if (err == 0)
		count(u, n + d->hlen);
	return err == 0;
}

/* A T_UNITDATA_IND with its addresses. */
struct ind {
	struct T_unitdata_ind ui;
	unsigned char src[sizeof(struct sockaddr_in6)];
};

/* The receiving side of lo for data in the sender's memory. */
static inline int
arrive_direct(struct udp *to, const unsigned char *h,
	const struct str_direct *sd)
{
	uint32_t n;
	struct ind c;
	uint16_t port;

	if (str_unlikely(str_load_acq(&to->in.tp.up) != 0 ||
		str_load(&to->in.wants) != 0 ||
		str_load_acq(&to->in.tp.state) != TS_IDLE))
		return STR_DIRECT_NOT;
	if (str_unlikely(!str_load(&to->near)))
		udp_come_near(to);
	if (str_likely((*h & 0xf0) == 0x40)) {
		__builtin_memcpy(&port, h + IP4_HLEN, 2);
		n = udp_put_source(c.src, to->in.family == AF_INET6, h + 12, 4,
			port);
	} else {
		__builtin_memcpy(&port, h + IP6_HLEN, 2);
		n = udp_put_source(c.src, 1, h + 8, 16, port);
	}
	c.ui.PRIM_type = T_UNITDATA_IND;
	c.ui.SRC_length = (t_scalar_t)n;
	c.ui.SRC_offset = (t_scalar_t)sizeof(c.ui);
	c.ui.OPT_length = 0;
	c.ui.OPT_offset = 0;
	return str_direct_up(to->in.tp.rq, &c, sizeof(c.ui) + n, sd);
}

/*
 * udp_lo_direct - send a datagram on lo by the direct path (<str/direct.h>),
 * with the data in the caller's memory
 *
 * Neither the perimeter nor the gate is taken, so @u's destinations may change
 * meanwhile: the needed fields are copied between two checks of `seq'.  The
 * headers are written here and read by the receiving side; the data is copied
 * to the receiver's head.
 */
STR_HOT int
udp_lo_direct(queue_t *q, const struct str_direct *sd)
{
	const struct T_unitdata_req *ur = sd->ctl;
	struct udp *u = q->q_ptr;
	const struct udp_dest *d;
	unsigned char h[sizeof(d->hdr)];
	struct udp_state *st;
	struct ports_entry *nm;
	struct udp *ep;
	struct str_hold hold;
	struct str_ref ref;
	uint32_t seq, hlen, gen, len, n = (uint32_t)sd->dlen;
	int ret = STR_DIRECT_NOT;

	if (str_unlikely(u == NULL ||
		sd->clen < sizeof(*ur) + sizeof(struct sockaddr_in) ||
		n - 1 >= IP_UDP_MOST)) /* 0 bytes, or -1 for no data part, take
				        * the slow path too */
		return ret;
	d = &u->dest[str_load(&u->last) % UDP_NDEST];
	st = u->st;
	seq = str_load_acq(&d->seq);
	len = d->len;
	if (str_unlikely((seq & 1) != 0 || len == 0 ||
		ur->PRIM_type != T_UNITDATA_REQ || ur->OPT_length != 0 ||
		ur->DEST_offset != (t_scalar_t)sizeof(*ur) ||
		ur->DEST_length != (t_scalar_t)len ||
		sd->clen < sizeof(*ur) + len ||
		!is_same((const unsigned char *)(ur + 1), d) ||
		!is_good(u, d)))
		return udp_far_direct(q, sd);
	/* the queue first: see drv/tpi/data.c */
	if (str_unlikely(__atomic_load_n(&q->q_first, __ATOMIC_ACQUIRE) !=
		NULL || !is_idle(&u->in.tp) || (u->since | u->check |
		u->special | st->check) != 0 ||
		ports_any(&st->protos, IPPROTO_UDP) ||
		u->in.tp.dead || st->lo == NULL || !wire_is_plain(st->lo)))
		return ret;
	nm = d->nm;
	ep = d->ep;
	gen = d->gen;
	ref = d->ref;
	hlen = d->hlen;
	if (str_likely(hlen == IP4_HLEN + UDP_HDRLEN))
		__builtin_memcpy(h, d->hdr, IP4_HLEN + UDP_HDRLEN);
	else
		__builtin_memcpy(h, d->hdr, IP6_HLEN + UDP_HDRLEN);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (str_unlikely(str_load(&d->seq) != seq))
		return ret;
	put_length(h, hlen, n);
	if (str_unlikely(str_hold(&hold, &ref) != 0))
		return ret;
	if (str_likely(ports_gen(nm) == gen && !str_load(&ep->stuck)))
		ret = arrive_direct(ep, h, sd);
	str_unhold(&hold);
	if (str_likely(ret == STR_DIRECT_DONE))
		count(u, n + hlen);
	return ret;
}
