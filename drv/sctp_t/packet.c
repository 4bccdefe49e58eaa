/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Packets: from the engine to the wires and back.
 *
 * A packet is a message of one block.  In front of the SCTP packet there is
 * room, in which struct sctpt_head stands until the packet is sent, and then
 * the IP header.  Packets that the engine makes have no checksum.  One that
 * stays in the domain gets none, and none is checked (UNSUMMED), unless a
 * tap or a raw endpoint sees it.
 *
 * Loss.  A packet for which there is no memory, or no room on a wire, is
 * dropped; the engine repeats what was in it.  So is a packet in the hands of
 * a thread that is killed.  A packet in an inbox is not lost: if its thread is
 * killed, the slot's timer has the slot served.
 */
#include "sctp_t.h"
#include "../sctp/crc32c.h"
#include "../udp/udp_impl.h"

/* b_band */
#define UNSUMMED 1u
#define FRAGMENT 2u /* it may be fragmented */

/* A block for a packet of @n bytes; NULL. */
static mblk_t *
block(size_t n)
{
	mblk_t *mp = allocb(SCTPT_ROOM + n, BPRI_MED);

	if (mp != NULL)
		mp->b_rptr = mp->b_wptr = mp->b_wptr + SCTPT_ROOM;
	return mp;
}

static struct sctpt_head *
head_of(const mblk_t *mp)
{
	return (struct sctpt_head *)(void *)(mp->b_rptr -
		sizeof(struct sctpt_head));
}

/* sctpt_packet_of - the packet as the engine reads it */
void
sctpt_packet_of(mblk_t *mp, struct sctp_packet *ret)
{
	bzero(ret, sizeof(*ret));
	ret->p = mp->b_rptr;
	ret->n = (size_t)MBLKL(mp);
	ret->src = head_of(mp)->src;
	ret->dst = head_of(mp)->dst;
	ret->unsummed = (mp->b_band & UNSUMMED) != 0;
}

/* sctpt_encap_of - the UDP port from which the packet came; 0: none */
uint16_t
sctpt_encap_of(const mblk_t *mp)
{
	return head_of(mp)->encap;
}

static void
append(struct sctpt_list *l, mblk_t *mp, const struct sctp_packet *pkt)
{
	head_of(mp)->src = pkt->src;
	head_of(mp)->dst = pkt->dst;
	head_of(mp)->encap = l->encap;
	mp->b_wptr = mp->b_rptr + pkt->n;
	mp->b_band = UNSUMMED | (pkt->fragment ? FRAGMENT : 0);
	mp->b_next = NULL;
	if (l->first == NULL)
		l->first = mp;
	else
		l->last->b_next = mp;
	l->last = mp;
}

/* sctpt_append - put a copy of @pkt on the list */
void
sctpt_append(struct sctpt_list *l, const struct sctp_packet *pkt)
{
	mblk_t *mp = block(pkt->n);

	if (mp == NULL)
		return;
	bcopy(pkt->p, mp->b_rptr, pkt->n);
	append(l, mp, pkt);
}

/*
 * Our address of a packet to @dst: the one of the association; of an endpoint
 * with several the one that belongs to the way there.
 */
static const struct ip_addr *
source(struct sctpt_conn *c, const struct ip_addr *dst)
{
	static const struct ip_addr none;
	struct ip_addr src;
	uint32_t mtu, i;

	if (c->ep.nlocal > 1 && sctpt_route(c->slot->st, dst, &none, &src, &mtu) != NULL)
		for (i = 0; i < c->ep.nlocal; i++)
			if (sctpt_addr_eq(&c->ep.local[i], &src))
				return &c->ep.local[i];
	return &c->from;
}

/*
 * sctpt_collect - take the packets that are due from the engine
 * Each is composed in a block of the largest size, and copied if it is small.
 */
void
sctpt_collect(struct sctpt_conn *c, const struct sctp_env *env,
	struct sctpt_list *out, struct sctpt_work *w)
{
	struct sctp_packet pkt;
	mblk_t *mp;

	out->encap = c->encap;
	for (;;) {
		mp = w->spare != NULL ? w->spare : block(SCTPT_LO_MTU);
		w->spare = mp;
		if (mp == NULL)
			return;
		bzero(&pkt, sizeof(pkt));
		pkt.p = mp->b_rptr;
		pkt.size = SCTPT_LO_MTU;
		pkt.unsummed = 1;
		if (sctp_output(env, c->as, &pkt) == 0)
			break;
		pkt.src = *source(c, &pkt.dst);
		if (pkt.n < SCTPT_LO_MTU / 2) {
			sctpt_append(out, &pkt);
		} else {
			append(out, mp, &pkt);
			w->spare = NULL;
		}
	}
}

/* -------------------------------------------------------------------- arriving */

static void
push(struct sctpt_slot *sl, mblk_t *mp)
{
	mblk_t *first = str_load(&sl->inbox);

	(void)__atomic_fetch_add(&sl->npackets, 1u, __ATOMIC_RELAXED);
	do
		mp->b_next = first;
	while (!__atomic_compare_exchange_n(&sl->inbox, &first, mp, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

/*
 * sctpt_take_inbox - the packets that have arrived, the first one first
 * They are stamped with this thread while they are in the inbox, because their
 * senders may have been killed.  Context: the turn.
 */
mblk_t *
sctpt_take_inbox(struct sctpt_slot *sl)
{
	mblk_t *last = str_load_acq(&sl->inbox), *stamped = NULL;
	mblk_t *mp, *first = NULL, *next;

	str_store(&sl->npackets, 0u);
	do {
		for (mp = last; mp != stamped; mp = mp->b_next)
			str_msg_hold(mp);
		stamped = last;
	} while (!__atomic_compare_exchange_n(&sl->inbox, &last, NULL, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	for (mp = last; mp != NULL; mp = next) {
		next = mp->b_next;
		mp->b_next = first;
		first = mp;
	}
	return first;
}

/* Which slot is the packet for?  NULL: none. */
static struct sctpt_slot *
receiver(struct sctpt_state *st, const mblk_t *mp)
{
	const unsigned char *p = mp->b_rptr;
	struct sctpt_head *hd = head_of(mp);
	struct sctpt_slot *sl;
	uint32_t tag;

	tag = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 |
		(uint32_t)p[6] << 8 | p[7];
	sl = sctpt_slot_find(st, (uint16_t)(p[2] << 8 | p[3]),
		(uint16_t)(p[0] << 8 | p[1]), tag, &hd->src, &hd->dst);
	return sl != NULL ? sl : sctpt_home_find(st,
		(uint16_t)(p[2] << 8 | p[3]), &hd->dst);
}

/* The packet belongs to no endpoint; consumed. */
static void
blue(struct sctpt_state *st, mblk_t *mp, struct sctpt_work *w)
{
	unsigned char buf[1024];
	struct sctp_packet pkt, reply = {.p = buf, .size = sizeof(buf)};
	struct sctpt_list out = {NULL, NULL, head_of(mp)->encap};
	struct sctp_env env;
	struct sctp_ep ep;
	int fresh;

	bzero(&ep, sizeof(ep));
	sctpt_packet_of(mp, &pkt);
	ep.port = (uint16_t)(pkt.p[2] << 8 | pkt.p[3]);
	ep.instruction = (uint8_t)crc32c_has_instruction();
	sctpt_env(&env, NULL);
	(void)sctp_input(&env, &ep, &pkt, &reply, &fresh);
	(void)__atomic_fetch_add(&st->count[SCTP_N_BLUE], 1, __ATOMIC_RELAXED);
	freemsg(mp);
	if (reply.n == 0)
		return;
	sctpt_append(&out, &reply);
	sctpt_send(st, &out, w);
}

/* Put a packet into an inbox, which is served next; consumed. */
static void
to_inbox(struct sctpt_slot *sl, mblk_t *mp, struct sctpt_work *w)
{
	if (str_load(&sl->npackets) < SCTPT_INBOX)
		push(sl, mp);
	else
		freemsg(mp);
	sctpt_expect(sl);
	sctpt_work_add(w, sl);
}

/* A packet has arrived; consumed.  Its receiver is served next. */
static void
arrive(struct sctpt_state *st, mblk_t *mp, struct sctpt_work *w)
{
	struct sctpt_slot *sl;

	if (MBLKL(mp) < 16) {
		freemsg(mp);
		return;
	}
	sl = receiver(st, mp);
	if (sl == NULL) {
		blue(st, mp, w);
		return;
	}
	to_inbox(sl, mp, w);
}

/*
 * sctpt_pass - @mp lay in the inbox of a home: if its association has been made
 * meanwhile, it is put there
 * A COOKIE ECHO that arrives twice makes one association only.
 * Return: 1: consumed.
 */
int
sctpt_pass(struct sctpt_state *st, mblk_t *mp, struct sctpt_work *w)
{
	struct sctpt_slot *sl = receiver(st, mp);

	if (sl == NULL || sl->home)
		return 0;
	to_inbox(sl, mp, w);
	return 1;
}

/* --------------------------------------------------------------------- leaving */

static void
describe(struct ip_hdr *h, const struct sctpt_head *hd, const mblk_t *mp)
{
	bzero(h, sizeof(*h));
	h->src = hd->src;
	h->dst = hd->dst;
	h->proto = SCTPT_PROTO;
	h->ttl = 64;
	h->df = (mp->b_band & FRAGMENT) == 0;
	h->len = (uint32_t)MBLKL(mp);
	h->hlen = (uint16_t)ip_size(h);
	h->encap = hd->encap;
}

static void
set_sum(mblk_t *mp)
{
	struct sctp_packet pkt;

	sctpt_packet_of(mp, &pkt);
	sctp_sum(&pkt);
}

/* Show a packet on lo to taps and raw endpoints. */
static STR_NOINLINE void
show(struct wire *lo, mblk_t *mp, const struct sctpt_head *hd)
{
	struct ip_hdr h;

	set_sum(mp);
	describe(&h, hd, mp);
	(void)ip_build(mp->b_rptr, &h, NULL, 0);
	mp->b_rptr -= h.hlen;
	if (wire_tapped(lo))
		wire_tap(lo, mp, 1);
	udp_raw_copies(udp_state(), SCTPT_PROTO, mp, &h);
	mp->b_rptr += h.hlen;
	*head_of(mp) = *hd;
}

/* May a raw endpoint of the protocol want a copy? */
static int
has_raw(struct sctpt_state *st)
{
	const struct udp_state *us = str_load(&st->raw);

	if (us == NULL) {
		us = udp_state();
		str_store(&st->raw, (const void *)us);
	}
	return us != NULL && ports_any(&us->protos, SCTPT_PROTO);
}

/*
 * sctpt_is_watched - are the packets on lo of more use than to bring data to
 * their receiver?
 */
int
sctpt_is_watched(struct sctpt_state *st)
{
	struct wire *lo = sctpt_lo(st);

	return lo == NULL || !wire_is_plain(lo) || has_raw(st);
}

/* Packets that leave together, by one wire. */
#define TOGETHER 16u
struct far {
	struct wire *wire;
	uint32_t n;
	struct ip_hdr h[TOGETHER];
	struct wire_pkt v[TOGETHER];
};

/* Send them.  One that the wire refuses is dropped. */
static void
far_send(struct far *f)
{
	uint32_t at = 0;
	int err;

	while (at < f->n) {
		at += wire_send_batch(f->wire, f->v + at, f->n - at, &err);
		if (at < f->n)
			freemsg(f->v[at++].mp);
	}
	f->n = 0;
}

/* A packet to another host, or on an impaired lo; consumed. */
static void
far_add(struct far *f, struct wire *wire, mblk_t *mp, uint32_t mtu)
{
	struct sctpt_head hd = *head_of(mp);
	struct ip_hdr *h;

	if (f->n == TOGETHER || (f->n != 0 && f->wire != wire))
		far_send(f);
	h = &f->h[f->n];
	set_sum(mp);
	describe(h, &hd, mp);
	/* the engine learns of a smaller MTU by ICMP, until then: in pieces */
	if (h->hlen + h->len > mtu)
		h->df = 0;
	h->id = wire_id(&h->src, &h->dst, SCTPT_PROTO);
	(void)ip_build(mp->b_rptr, h, NULL, 0);
	mp->b_rptr -= h->hlen;
	mp->b_band = 0;
	f->wire = wire;
	f->v[f->n] = (struct wire_pkt){mp, h};
	f->n++;
}

/* A packet to an address of this host; consumed.  Return: bytes with IP. */
static uint64_t
send_near(struct sctpt_state *st, struct wire *lo, mblk_t *mp,
	struct sctpt_work *w)
{
	struct sctpt_head hd;
	uint64_t n = (uint64_t)MBLKL(mp) + (head_of(mp)->dst.len == 4 ? 20 : 40);

	if (str_unlikely(sctpt_is_watched(st))) {
		hd = *head_of(mp);
		show(lo, mp, &hd);
	}
	arrive(st, mp, w);
	return n;
}

/* sctpt_send - send the packets; the receivers on this host are added to @w */
void
sctpt_send(struct sctpt_state *st, struct sctpt_list *l, struct sctpt_work *w)
{
	struct wire *wire, *lo = sctpt_lo(st);
	uint64_t near = 0, bytes = 0;
	struct ip_addr src;
	mblk_t *mp, *next;
	struct far far;
	uint32_t mtu;

	far.n = 0;

	for (mp = l->first; mp != NULL; mp = next) {
		next = mp->b_next;
		mp->b_next = NULL;
		wire = sctpt_route(st, &head_of(mp)->dst, &head_of(mp)->src,
			&src, &mtu);
		if (wire == NULL) {
			freemsg(mp);
			continue;
		}
		head_of(mp)->src = src;
		if (wire == lo && !wire_impaired(lo)) {
			bytes += send_near(st, wire, mp, w);
			near++;
		} else {
			far_add(&far, wire, mp, mtu);
		}
	}
	if (far.n != 0)
		far_send(&far);
	l->first = l->last = NULL;
	if (near == 0)
		return;
	wire_count(lo, WIRE_OUT, near);
	wire_count(lo, WIRE_OUTBYTES, bytes);
	wire_count(lo, WIRE_IN, near);
	wire_count(lo, WIRE_INBYTES, bytes);
}

/* ------------------------------------------------------------- from the wires */

static int
wire_in(struct wire *wire, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	struct sctpt_state *st = sctpt_state();
	struct sctpt_work w = {NULL, 0, {NULL}};
	uint32_t skip = h->hlen, left = h->len, n;
	mblk_t *mp;

	if (st == NULL || (flags & IP_MANY) != 0)
		return 0;
	mp = block(h->len);
	if (mp == NULL) {
		wire_count(wire, WIRE_NOMEM, 1);
		return 1;
	}
	for (; pkt != NULL && left != 0; pkt = pkt->b_cont) {
		n = (uint32_t)MBLKL(pkt);
		if (n <= skip) {
			skip -= n;
			continue;
		}
		n = n - skip < left ? n - skip : left;
		bcopy(pkt->b_rptr + skip, mp->b_wptr, n);
		mp->b_wptr += n;
		left -= n;
		skip = 0;
	}
	head_of(mp)->src = h->src;
	head_of(mp)->dst = h->dst;
	head_of(mp)->encap = h->encap;
	arrive(st, mp, &w);
	sctpt_work_do(&w, 0);
	return 1;
}

/* An ICMP error about a packet of ours. */
static int
wire_error(struct wire *wire, const struct ip_hdr *h,
	const unsigned char *begin, size_t n, int error, uint32_t mtu)
{
	struct sctpt_state *st = sctpt_state();
	const unsigned char *p = begin + h->hlen;
	struct sctpt_slot *sl;
	struct sctp_env env;
	int begun;

	(void)wire;
	if (st == NULL || h->frag != 0 || n < h->hlen + 8u)
		return 0;
	sl = sctpt_slot_find(st, (uint16_t)(p[0] << 8 | p[1]),
		(uint16_t)(p[2] << 8 | p[3]), 0, &h->dst, &h->src);
	if (sl == NULL)
		return 0;
	if (error == 0 || !sctpt_turn(sl, 0))
		return 1; /* it is busy: the error will be repeated */
	begun = sl->busy == 0 && sctpt_in_use(sl) && !sl->conn->last;
	if (begun) {
		str_store_rel(&sl->busy, 1u);
		sctpt_env(&env, sl->conn);
		(void)sctp_icmp(&env, &sl->conn->ep, &h->dst, p, n - h->hlen,
			error, mtu);
	}
	sctpt_serve_owned(sl, begun);
	return 1;
}

static const struct wire_proto sctp_wire = {
	.proto = SCTPT_PROTO,
	.input = wire_in,
	.error = wire_error,
	.watched = sctpt_near_watched,
};
STR_WIRE_PROTO(sctp_wire);
