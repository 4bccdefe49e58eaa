/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams, and raw IP, that leave the domain on a configured wire
 * (strwire(8)) instead of the endpoint's own socket: <str/wire.h>.
 *
 * The packet is complete with its checksums before it is passed to the wire.
 * udp_wire and raw_wire (input.c) receive the packets of the other direction.  An
 * endpoint with options that only the system implements always uses its socket.
 *
 * Direct path.  The destination of the last datagram through the socket is kept
 * for at most a second, as long as no member of the domain gets or loses a
 * port, and only without configured wires.  The next datagram to it is sent
 * from its user's memory.  With configured wires a short datagram is copied from
 * there into a packet on the stack, and passed to its wire.
 */
#include "udp_impl.h"

static int
proto_of(const struct udp *u)
{
	return !u->raw ? IPPROTO_UDP :
		u->in.proto != 0 ? (int)u->in.proto : IPPROTO_RAW;
}

/* The IP header of packets from @u to @dst on a configured wire. */
static void
describe(struct udp *u, struct ip_hdr *h, const struct ip_addr *dst,
	const struct ip_addr *src)
{
	bzero(h, sizeof(*h));
	h->src = *src;
	h->dst = *dst;
	h->tos = (uint8_t)u->tos;
	h->ttl = (uint8_t)(udp_is_group(dst) ? u->manyttl : u->ttl);
	h->proto = (uint8_t)proto_of(u);
	h->id = wire_id(src, dst, h->proto);
	h->hlen = (uint16_t)ip_size(h);
}

/*
 * T_IP_MTU_DISCOVER, as for sockets: may the packet be fragmented, if the path
 * MTU is @mtu? 0, or EMSGSIZE: do not send it.
 */
static int
set_df(const struct udp *u, struct ip_hdr *h, uint32_t mtu)
{
	uint32_t len = h->hlen + h->len;

	switch (u->discover) {
	case UDP_DF_NEVER:
		return 0;
	case UDP_DF_DO:
		h->df = 1;
		return len > mtu ? EMSGSIZE : 0;
	case UDP_DF_PROBE:
		h->df = 1;
		return 0;
	default:
		/* a path below the least MTU: routers may fragment */
		h->df = len <= mtu && mtu > WIRE_MTU_LEAST;
		return 0;
	}
}

/* Options of one datagram: 0: there is one that wires do not support. */
static int
apply_to(const struct tpi_buf *opts, unsigned char *hdr, struct ip_hdr *h)
{
	if (opts->len == 0)
		return 1;
	if (!udp_apply(opts, hdr))
		return 0;
	if (h->dst.len == 4) {
		h->tos = hdr[1];
		h->ttl = hdr[8];
	} else {
		h->tos = (uint8_t)(hdr[0] << 4 | hdr[1] >> 4);
		h->ttl = hdr[7];
	}
	return 1;
}

/* The source address, if the wire returned @src, len 0: none. 0: unknown. */
static int
source(struct udp *u, const struct ip_addr *dst, struct ip_addr *src)
{
	/* the group of an endpoint's address is for receiving only */
	if (u->port->at.a.len != 0 && !udp_is_group(&u->port->at.a))
		*src = u->port->at.a;
	if (src->len != 0)
		return src->len == dst->len;
	return wire_source(dst, src);
}

/* 255.255.255.255, for which there is no route. */
static int
is_limited(const struct ip_addr *a)
{
	return a->len == 4 && (a->b[0] & a->b[1] & a->b[2] & a->b[3]) == 0xff;
}

/* The socket knows the option, which has several names. */
static int
may_broadcast(const struct udp *u)
{
	uint32_t len = sizeof(int);
	int on = 0;

	return ksock_getopt(u->in.ks, SOL_SOCKET, SO_BROADCAST, &on, &len) ==
		0 && on;
}

/*
 * The wire of a group or of 255.255.255.255: the option's, or that of the
 * endpoint's own address, or that to which the route leads.
 */
static struct wire *
wire_for_many(struct udp *u, struct wire *lo, const struct ip_addr *dst,
	struct wire_path *path)
{
	struct wire *w;

	if (u->by.own.len != 0 || u->by.ifindex != 0) {
		w = wire_route_by(lo, &u->by.own, u->by.ifindex, dst, path);
		if (w != NULL)
			return w;
	}
	w = wire_route_by(lo, &u->port->at.a, 0, dst, path);
	return w != NULL ? w : wire_route_for(lo, dst, NULL, proto_of(u), path);
}

/*
 * The wire of a datagram with @opts to @dst, and the path; NULL: none, or lo.
 * Its source address, if @opts choose one, must be one of the wire.
 */
static struct wire *
wire_for(struct udp *u, struct wire *lo, const struct tpi_buf *opts,
	const struct ip_addr *dst, struct wire_path *path)
{
	static const struct ip_addr any;
	struct ip_addr from;
	struct wire *w;
	int ifindex;

	if (opts->len != 0 && udp_call_info(u, opts, &from, &ifindex)) {
		w = ifindex != 0 ? wire_route_by(lo, &any, ifindex, dst, path) :
			wire_route_for(lo, dst, &from, proto_of(u), path);
		if (w == NULL || w == lo)
			return NULL;
		if (from.len == 0)
			return source(u, dst, &path->src) ? w : NULL;
		if (from.len != dst->len || !wire_has(w, &from))
			return NULL;
		path->src = from;
		return w;
	}
	w = is_limited(dst) || udp_is_group(dst) ?
		wire_for_many(u, lo, dst, path) :
		wire_route_for(lo, dst, &u->port->at.a, proto_of(u), path);
	return w == NULL || w == lo || !source(u, dst, &path->src) ? NULL : w;
}

/*
 * The copy of a packet for many that endpoints of the domain are to receive
 * (T_IP_MULTICAST_LOOP); NULL: none.
 */
static mblk_t *
copy_for_us(const struct udp *u, struct wire *w, const struct ip_hdr *h,
	mblk_t *pkt)
{
	int group = udp_is_group(&h->dst);

	if (group ? u->noloop || !wire_has_members(w, &h->dst) :
		!wire_is_broadcast(w, &h->dst))
		return NULL;
	return copymsg(pkt);
}

static void
deliver(struct wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	if (h->proto == IPPROTO_UDP)
		(void)udp_wire.input(w, pkt, h, IP_TRUST);
	(void)raw_wire.input(w, pkt, h, IP_TRUST);
	freemsg(pkt);
}

/*
 * udp_far_unitdata - op unitdata, on a configured wire
 * Return: as in <str/tpi.h>, or UDP_NOT_LO: no wire leads there.
 */
int
udp_far_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	unsigned char hdr[40 + UDP_HDRLEN]; /* of IPv6, and UDP */
	struct wire *lo = udp_lo(u->st), *w;
	struct sockaddr_storage ss;
	struct udp_hdr uh;
	struct wire_path path;
	struct ports_at dst;
	struct ip_hdr h;
	mblk_t *pkt, *block, *copy = NULL;
	uint32_t len, n, hlen;
	int err;

	if (lo == NULL || str_load(&lo->others) == 0 || u->special ||
		u->port == NULL || inet_addr_check(to, &ss, &len) != 0 ||
		ss.ss_family != u->in.family || !udp_at_of(&ss, len, &dst) ||
		(dst.port == 0 && !u->raw))
		return UDP_NOT_LO;
	w = wire_for(u, lo, opts, &dst.a, &path);
	if (w == NULL)
		return UDP_NOT_LO;
	if (wire_is_broadcast(w, &dst.a) && !may_broadcast(u))
		return EACCES;
	describe(u, &h, &dst.a, &path.src);
	n = mp->b_cont != NULL ? (uint32_t)msgdsize(mp->b_cont) : 0;
	hlen = h.hlen + (u->raw ? 0 : UDP_HDRLEN);
	h.len = n + hlen - h.hlen;
	/* IPv6 does not count its header */
	if (h.len + (h.dst.len == 4 ? h.hlen : 0u) > IP_MOST)
		return EMSGSIZE;
	err = set_df(u, &h, path.mtu);
	if (err != 0)
		return err;
	(void)ip_build(hdr + h.hlen, &h, NULL, IP_TRUST);
	if (!apply_to(opts, hdr, &h))
		return UDP_NOT_LO;
	(void)ip_build(hdr + h.hlen, &h, NULL, 0);
	if (!u->raw) {
		uh.sport = ntohs(u->port->at.port);
		uh.dport = ntohs(dst.port);
		uh.len = (uint16_t)h.len;
		uh.sum = 0;
		udp_build(hdr + h.hlen, &uh);
		udp_put_sums(hdr, hlen, mp->b_cont, n, u->nosum);
	}
	pkt = udp_wrap(hdr, hlen, mp->b_cont, &block);
	if (pkt != NULL)
		copy = copy_for_us(u, w, &h, pkt);
	err = pkt == NULL ? ENOSR : wire_send(w, pkt, &h);
	if (err == 0 && copy != NULL)
		deliver(w, copy, &h);
	else if (copy != NULL)
		freemsg(copy);
	if (err == 0) {
		mp->b_cont = NULL;
		freeb(mp);
		return 0;
	}
	if (pkt != NULL)
		mp->b_cont = udp_unwrap(pkt, hlen, block);
	if (err == EAGAIN || err == ENOSR) {
		tpi_retry(&u->in.tp);
		return EAGAIN;
	}
	return err;
}

/* ---------------------------------------------------------- the direct path */

/*
 * udp_far_went - note that a datagram to @to was sent through the socket
 * @changed: udp_state's value before the lookup.
 */
void
udp_far_went(struct udp *u, const struct tpi_buf *to, uint32_t changed)
{
	uint32_t len;

	if (u->awaylen != 0 && u->awaychanged == changed &&
		u->awaylen <= to->len &&
		bcmp(&u->away, to->buf, u->awaylen) == 0) {
		u->awayuntil = inet_ticks() + UDP_LIFE;
		return;
	}
	str_store(&u->awaylen, 0u);
	if (u->special || inet_addr_check(to, &u->away, &len) != 0 ||
		u->away.ss_family != u->in.family || len > to->len)
		return;
	u->awaychanged = changed;
	u->awayuntil = inet_ticks() + UDP_LIFE;
	str_store(&u->awaylen, len);
}

/* Is @to the last destination, and is it still reached by the socket? */
static inline int
is_away(const struct udp *u, const struct tpi_buf *to)
{
	struct wire *lo = str_load(&u->st->lo);

	return u->awaylen != 0 && u->awaylen <= to->len &&
		bcmp(&u->away, to->buf, u->awaylen) == 0 &&
		u->awaychanged == str_load_acq(&udp_table(u)->changed) &&
		(int64_t)(u->awayuntil - inet_ticks()) > 0 &&
		!u->special && (lo == NULL || str_load(&lo->others) == 0);
}

#define SHORT 2048u   /* bytes of a packet on the stack */
#define UDP_SUM_AT 6u /* where its header has the checksum */

/*
 * Send a datagram to @to on a configured wire, from its user's memory.
 * Return: as the direct procedure; in all rare cases it does nothing.
 */
static int
send_by_wire(struct udp *u, const struct tpi_buf *to,
	const struct str_direct *sd)
{
	static const struct tpi_buf none;
	unsigned char buf[WIRE_ROOM + SHORT], *pkt = buf + WIRE_ROOM;
	uint32_t len, hlen, n = (uint32_t)sd->dlen;
	struct wire *lo = udp_lo(u->st), *w;
	struct sockaddr_storage ss;
	struct wire_path path;
	struct udp_hdr uh;
	struct ports_at dst;
	struct ip_hdr h;
	int sums;

	if (lo == NULL || str_load(&lo->others) == 0 || u->special || u->raw ||
		u->port == NULL || n > SHORT - 48 ||
		inet_addr_check(to, &ss, &len) != 0 ||
		ss.ss_family != u->in.family || !udp_at_of(&ss, len, &dst) ||
		dst.port == 0 || udp_is_group(&dst.a))
		return STR_DIRECT_NOT;
	w = wire_for(u, lo, &none, &dst.a, &path);
	if (w == NULL || wire_is_broadcast(w, &dst.a))
		return STR_DIRECT_NOT;
	describe(u, &h, &dst.a, &path.src);
	hlen = h.hlen + UDP_HDRLEN;
	h.len = n + UDP_HDRLEN;
	if (n + hlen > path.mtu || set_df(u, &h, path.mtu) != 0 ||
		copyin(sd->udata, pkt + hlen, n) != 0)
		return STR_DIRECT_NOT;
	(void)ip_build(pkt + h.hlen, &h, NULL, 0);
	uh.sport = ntohs(u->port->at.port);
	uh.dport = ntohs(dst.port);
	uh.len = (uint16_t)h.len;
	/* IPv6 does not permit to leave it out: RFC 8200 s8.1 */
	sums = !u->nosum || h.dst.len == 16;
	uh.sum = sums ? (uint16_t)~ip_fold(ip_pseudo(&h.src, &h.dst,
			IPPROTO_UDP, h.len)) : 0;
	udp_build(pkt + h.hlen, &uh);
	return wire_send_bytes(w, pkt, hlen + n, sums ? UDP_SUM_AT : 0, &h) ==
		0 ? STR_DIRECT_DONE : STR_DIRECT_NOT;
}

/* udp_far_send - op direct */
STR_HOT int
udp_far_send(struct tpi *tp, const struct tpi_buf *to,
	const struct str_direct *sd)
{
	struct udp *u = udp_of(tp);
	int ret = STR_DIRECT_NOT;

	if (!str_direct_enter(u->in.wq))
		return ret;
	if (u->in.wq->q_first == NULL && str_load_acq(&tp->state) == TS_IDLE &&
		u->in.phase == INET_OPEN)
		ret = is_away(u, to) ?
			inet_dg_from(&u->in, &u->away, u->awaylen, sd->udata,
				(uint32_t)sd->dlen) :
			send_by_wire(u, to, sd);
	str_direct_leave(u->in.wq);
	return ret;
}

/* udp_far_direct - the direct path for destinations outside the domain */
STR_HOT int
udp_far_direct(queue_t *q, const struct str_direct *sd)
{
	const struct udp *u = q->q_ptr;
	const struct wire *lo = str_load(&u->st->lo);

	return str_load(&u->awaylen) == 0 &&
		(lo == NULL || str_load(&lo->others) == 0) ? STR_DIRECT_NOT :
		tpi_direct(q, sd, inet_ops(&u->in));
}
