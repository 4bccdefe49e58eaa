/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Input of wires (<str/wire.h>): packets for the endpoints of UDP and raw IP,
 * and ICMP errors about their packets.
 *
 * The receiver is found in the table of ports, its stream is held, and the
 * T_UNITDATA_IND is put to its head in the context of the wire.  No sender can
 * wait, so a packet for a full receiver is lost.  Packets of lo come here if a
 * checksum or a tap is wanted; lo.c delivers all others itself.
 *
 * Locks.  None; a hold of the receiver's stream.
 */
#include "udp_impl.h"

/* ---------------------------------------------------------------- datagrams */

#define FULL INET_US(1000)
#define WAIT 5u /* ms */
#define RESPITE 100u
#define SKIPS 127u

/* Is the checksum of the received packet with @h and @uh right? */
static int
sum_is_good(const mblk_t *pkt, const struct ip_hdr *h,
	const struct udp_hdr *uh)
{
	uint32_t skip = h->hlen, left = uh->len, sum, n;
	int odd = 0;

	if (uh->sum == 0)
		return h->src.len == 4; /* RFC 8200 s8.1 */
	sum = ip_pseudo(&h->src, &h->dst, IPPROTO_UDP, uh->len);
	for (; pkt != NULL && left != 0; pkt = pkt->b_cont) {
		n = (uint32_t)MBLKL(pkt);
		if (n <= skip) {
			skip -= n;
			continue;
		}
		n = n - skip < left ? n - skip : left;
		sum = ip_sum(pkt->b_rptr + skip, n, sum, odd);
		odd ^= n & 1;
		left -= n;
		skip = 0;
	}
	return left == 0 && ip_fold(sum) == 0;
}

/* Is the time @at, of inet_ticks(), still to come?  0 is not. */
static int
is_ahead(uint64_t at)
{
	return at != 0 && (int64_t)(at - inet_ticks()) > 0;
}

/*
 * @to is full: give its reader WAIT ms to read.  A packet that finds no room is
 * lost together with all work that was spent on it, and this thread may have the
 * reader's CPU.
 *
 * Other receivers wait meanwhile.  So after a wait in vain there is none for
 * RESPITE ms, for whichever receiver; and after n in a row for @to, none the
 * next 2^n - 1 times, at most SKIPS times, so that a receiver that does not read
 * seldom takes the others' time.
 */
static int
wait_for(struct udp *to)
{
	uint32_t skips = str_load(&to->skips), vain;

	if (skips != 0)
		str_store(&to->skips, skips - 1);
	if (skips != 0 || is_ahead(str_load(&to->st->nowait)))
		return str_read_soon(to->in.tp.rq, 0);
	if (str_read_soon(to->in.tp.rq, WAIT * 1000000u)) {
		str_store(&to->vain, 0u);
		return 1;
	}
	vain = 2 * str_load(&to->vain) + 1;
	vain = vain < SKIPS ? vain : SKIPS;
	str_store(&to->vain, vain);
	str_store(&to->skips, vain);
	str_store(&to->st->nowait, (inet_ticks() + INET_US(RESPITE * 1000)) | 1);
	return 0;
}

/*
 * Is there room for a packet from @w?  Finding out that @to is full costs more
 * than a packet: so the result is kept until @to's read side is back-enabled, or
 * for a short time.
 */
static int
is_willing(const struct wire *w, struct udp *to)
{
	if (is_ahead(str_load(&to->full)))
		return 0;
	if (udp_has_room(to))
		return 1;
	/* before the check, which causes the back-enable */
	str_store(&to->full, (inet_ticks() + FULL) | 1);
	if (udp_has_room(to)) {
		str_store(&to->full, (uint64_t)0);
		return 1;
	}
	/* on lo the caller is a sender */
	if (!(w != udp_lo(to->st) ? wait_for(to) :
		str_read_soon(to->in.tp.rq, 0)) || !udp_has_room(to))
		return 0;
	str_store(&to->full, (uint64_t)0);
	return 1;
}

/* A part of a packet that is to go up. */
struct part {
	struct wire *w;
	const mblk_t *pkt;
	const struct ip_hdr *h;
	uint32_t skip, len;
	struct ports_at src;
	unsigned int flags; /* of wire_input() */
};

/* The part as a new message; NULL: no memory. */
static mblk_t *
cut(const struct part *c)
{
	mblk_t *mp;
	long more;

	if ((c->flags & IP_LENT) != 0) {
		mp = allocb(c->len, BPRI_MED);
		if (mp == NULL)
			return NULL;
		bcopy(c->pkt->b_rptr + c->skip, mp->b_wptr, c->len);
		mp->b_wptr += c->len;
		return mp;
	}
	mp = dupmsg((mblk_t *)(uintptr_t)c->pkt);
	if (mp == NULL)
		return NULL;
	more = (long)msgdsize(mp) - (long)c->skip - (long)c->len;
	if (!adjmsg(mp, (ssize_t)c->skip) || (more > 0 && !adjmsg(mp, -more))) {
		freemsg(mp);
		return NULL;
	}
	return mp;
}

/*
 * Append the datagram to the messages that wait at the head of @to, without a
 * message block.  0: that is not possible now, and nothing has been done.
 */
static int
up_direct(const struct part *c, struct udp *to)
{
	struct {
		struct T_unitdata_ind ui;
		unsigned char src[sizeof(struct sockaddr_in6)];
	} ind;
	void *full;
	struct str_direct d = {.udata = c->pkt->b_rptr + c->skip,
		.dlen = (ssize_t)c->len, .full = &full};
	uint32_t n;

	if (c->pkt->b_cont != NULL || str_load(&to->in.wants) != 0 ||
		str_load_acq(&to->in.tp.state) != TS_IDLE)
		return 0;
	n = udp_put_source(ind.src, to->in.family == AF_INET6, c->src.a.b,
		c->src.a.len, c->src.port);
	ind.ui.PRIM_type = T_UNITDATA_IND;
	ind.ui.SRC_length = (t_scalar_t)n;
	ind.ui.SRC_offset = (t_scalar_t)sizeof(ind.ui);
	ind.ui.OPT_length = 0;
	ind.ui.OPT_offset = 0;
	return str_direct_up(to->in.tp.rq, &ind, sizeof(ind.ui) + n, &d) ==
		STR_DIRECT_DONE;
}

/* Send @c up to @to, whose stream is held.  Does not consume the packet. */
static void
up(const struct part *c, struct udp *to)
{
	struct wire *w = c->w;
	mblk_t *mp, *bp, *data;

	if (!is_willing(w, to)) {
		(void)tpi_dropped(&to->in.tp);
		wire_count(w, WIRE_FULL, 1);
		return;
	}
	if (str_unlikely(!str_load(&to->near)))
		udp_come_near(to);
	if (str_likely(up_direct(c, to)))
		return;
	mp = allocb(sizeof(struct T_unitdata_ind) +
		sizeof(struct sockaddr_in6) +
		(str_load(&to->in.wants) != 0 ? UDP_TOLD : 0), BPRI_MED);
	data = mp != NULL ? cut(c) : NULL;
	bp = data != NULL ? udp_ind(w, c->h, mp, to, &c->src) : NULL;
	if (bp == NULL) {
		wire_count(w, WIRE_NOMEM, 1);
		freemsg(data);
		freemsg(mp);
		return;
	}
	bp->b_cont = data;
	putnext(to->in.tp.rq, bp);
}

/*
 * Deliver to all endpoints of the port; if the packet is for a group, to those
 * that are in it.  Return: their number.
 */
static int
to_many(struct udp_state *st, const struct part *c,
	const struct ports_at *dst)
{
	struct ports_entry *nm = NULL;
	struct str_hold hold;
	struct str_ref ref;
	struct udp *ep;
	uint32_t gen;
	int n = 0;

	while ((nm = ports_next(&st->ports, nm, dst, &c->src, &gen)) != NULL) {
		ref = nm->ref;
		if ((udp_is_group(&dst->a) &&
			!wire_is_member(c->w, &ref, &dst->a)) ||
			udp_hold(&st->ports, nm, gen, &hold, &ep) != 0)
			continue;
		up(c, ep);
		str_unhold(&hold);
		n++;
	}
	return n;
}

static int
udp_input(struct wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	struct udp_state *st = udp_state();
	struct part c = {.w = w, .pkt = pkt, .h = h, .flags = flags};
	struct ports_entry *nm;
	struct ports_at dst;
	struct udp *ep;
	struct udp_hdr uh;
	struct str_hold hold;
	uint32_t gen;
	int err;

	if (st == NULL || MBLKL(pkt) < (long)h->hlen)
		return 0;
	err = udp_parse(pkt->b_rptr + h->hlen, (size_t)MBLKL(pkt) - h->hlen,
		h->len, &uh);
	if (err == 0 && (flags & IP_TRUST) == 0 && !sum_is_good(pkt, h, &uh))
		err = -IP_CKSUM;
	if (err < 0) {
		wire_count(w, (enum wire_count)(WIRE_BAD - err), 1);
		return 1;
	}
	c.skip = h->hlen + UDP_HDRLEN;
	c.len = uh.len - UDP_HDRLEN;
	c.src.a = h->src;
	c.src.port = htons(uh.sport);
	dst.a = h->dst;
	dst.port = htons(uh.dport);
	if (udp_is_group(&dst.a) || wire_is_broadcast(w, &dst.a))
		return to_many(st, &c, &dst) != 0;
	do {
		nm = ports_find(&st->ports, &dst, &c.src, &gen);
		if (nm == NULL)
			return 0;
		err = udp_hold(&st->ports, nm, gen, &hold, &ep);
	} while (err == ESRCH);
	if (err != 0) {
		wire_count(w, WIRE_FULL, 1);
		return 1;
	}
	up(&c, ep);
	str_unhold(&hold);
	return 1;
}

/* An ICMP error about a datagram of an endpoint of ours. */
static int
udp_error(struct wire *w, const struct ip_hdr *h, const unsigned char *begin,
	size_t n, int error, uint32_t mtu)
{
	struct udp_state *st = udp_state();
	struct tpi_buf to, none = {NULL, 0};
	unsigned char sa[sizeof(struct sockaddr_in6)];
	struct ports_at src, dst;
	struct ports_entry *nm;
	struct udp *ep;
	struct str_hold hold;
	uint32_t gen;

	(void)w, (void)mtu;
	/* only the first fragment contains ports */
	if (st == NULL || h->frag != 0 || n < (size_t)h->hlen + 4)
		return 0;
	src.a = h->src;
	dst.a = h->dst;
	bcopy(begin + h->hlen, &src.port, 2);
	bcopy(begin + h->hlen + 2, &dst.port, 2);
	nm = ports_find(&st->ports, &src, &dst, &gen);
	if (nm == NULL || udp_hold(&st->ports, nm, gen, &hold, &ep) != 0)
		return 0;
	/* as for sockets: no EMSGSIZE for a sender that allows fragmentation */
	if (error != 0 && (error != EMSGSIZE || ep->discover != UDP_DF_NEVER)) {
		to.buf = sa;
		to.len = udp_put_source(sa, ep->in.family == AF_INET6, dst.a.b,
			dst.a.len, dst.port);
		tpi_uderror_ind(&ep->in.tp, &to, &none, error);
	}
	str_unhold(&hold);
	return 1;
}

const struct wire_proto udp_wire = {
	.proto = IPPROTO_UDP,
	.has_ports = 1,
	.input = udp_input,
	.error = udp_error,
	.counted = udp_lo_counted,
};
STR_WIRE_PROTO(udp_wire);

/* --------------------------------------------------------------------- raw IP */

/* Give a copy to each raw endpoint of @proto.  Return: their number. */
static int
copies(struct udp_state *st, struct wire *w, unsigned int proto,
	const mblk_t *pkt, const struct ip_hdr *h, unsigned int flags)
{
	struct ports_at src = {h->src, (uint16_t)proto};
	struct ports_at dst = {h->dst, (uint16_t)proto};
	struct part c = {.w = w, .pkt = pkt, .h = h, .src = {h->src, 0},
		.flags = flags};
	struct ports_entry *nm = NULL;
	struct udp *ep;
	struct str_hold hold;
	struct str_ref ref;
	uint32_t gen;
	int n = 0;

	for (;;) {
		nm = ports_next(&st->protos, nm, &dst, &src, &gen);
		if (nm == NULL)
			return n;
		ref = nm->ref;
		if ((udp_is_group(&h->dst) &&
			!wire_is_member(w, &ref, &h->dst)) ||
			udp_hold(&st->protos, nm, gen, &hold, &ep) != 0)
			continue;
		c.skip = h->src.len == 4 && inet_is_on(&ep->in, T_INET_IP,
			T_IP_HDRINCL) ? 0 : h->hlen;
		c.len = h->hlen + h->len - c.skip;
		up(&c, ep);
		str_unhold(&hold);
		n++;
	}
}

void
udp_raw_copies(struct udp_state *st, unsigned int proto, mblk_t *pkt,
	const struct ip_hdr *h)
{
	if (ports_any(&st->protos, (uint16_t)proto))
		(void)copies(st, udp_lo(st), proto, pkt, h, 0);
}

static int
raw_input(struct wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	struct udp_state *st = udp_state();

	if (st == NULL || !ports_any(&st->protos, h->proto))
		return 0;
	return copies(st, w, h->proto, pkt, h, flags) != 0;
}

/* May a raw endpoint have sent that packet?  Errors are not reported to it. */
static int
raw_error(struct wire *w, const struct ip_hdr *h, const unsigned char *begin,
	size_t n, int error, uint32_t mtu)
{
	struct ports_at src = {h->src, h->proto}, dst = {h->dst, h->proto};
	struct udp_state *st = udp_state();
	uint32_t gen;

	(void)w, (void)begin, (void)n, (void)error, (void)mtu;
	return st != NULL && ports_any(&st->protos, h->proto) &&
		ports_next(&st->protos, NULL, &src, &dst, &gen) != NULL;
}

const struct wire_proto raw_wire = {
	.proto = -1,
	.input = raw_input,
	.error = raw_error,
};
STR_WIRE_PROTO(raw_wire);
