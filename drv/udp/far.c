/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams that leave the domain by a wire that somebody has configured
 * (strwire(8)), instead of the endpoint's own socket: <str/wire.h>.
 *
 * The packet is complete, checksums and all, before the wire has it.  What
 * comes back is that of udp_input() and udp_error().  A datagram with options
 * of its own, or of an endpoint that has set such as only the system knows,
 * goes by the socket.
 */
#include "udp_impl.h"

/* RFC 768: the checksum of what is to be sent, which is never 0. */
static uint16_t
checksum(const struct ip_hdr *h, const unsigned char *udp, const mblk_t *bp)
{
	uint32_t sum = ip_pseudo(&h->src, &h->dst, IPPROTO_UDP, h->len);
	int odd = 0;
	uint16_t v;

	sum = ip_sum(udp, UDP_HDRLEN, sum, 0);
	for (; bp != NULL; bp = bp->b_cont) {
		sum = ip_sum(bp->b_rptr, (size_t)MBLKL(bp), sum, odd);
		odd ^= MBLKL(bp) & 1;
	}
	v = ip_fold(sum);
	return v == 0 ? 0xffff : v;
}

/* The headers of @n bytes at @data, in a block of their own; NULL. */
static mblk_t *
headers(const struct udp *u, struct ip_hdr *h, uint16_t dport,
	const mblk_t *data)
{
	struct udp_hdr uh;
	mblk_t *hp = allocb(IP_ROOM, BPRI_MED);

	if (hp == NULL)
		return NULL;
	hp->b_rptr += IP_ROOM - UDP_HDRLEN;
	hp->b_wptr = hp->b_rptr + UDP_HDRLEN;
	uh.sport = ntohs(u->port->at.port);
	uh.dport = ntohs(dport);
	uh.len = (uint16_t)h->len;
	uh.sum = 0;
	udp_build(hp->b_rptr, &uh);
	if (!u->nosum || h->src.len == 16) {
		uh.sum = checksum(h, hp->b_rptr, data);
		udp_build(hp->b_rptr, &uh);
	}
	hp->b_rptr -= ip_build(hp->b_rptr, h, NULL, 0);
	return hp;
}

/*
 * udp_far_unitdata - op unitdata, on a wire that is not lo
 * Return: as that of <str/tpi.h>, or UDP_NOT_LO: there is no such wire.
 */
int
udp_far_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct wire *lo = udp_lo(u->st), *w;
	struct sockaddr_storage ss;
	struct udp_at dst;
	struct ip_hdr h;
	uint32_t len, mtu;
	mblk_t *hp;
	int err;

	if (str_likely(lo == NULL || lo->others == 0))
		return UDP_NOT_LO;
	bzero(&h, sizeof(h));
	if (u->special || opts->len != 0 || u->port == NULL ||
		inet_addr_check(to, &ss, &len) != 0 ||
		udp_at_of(&ss, len, &dst) != 0)
		return UDP_NOT_LO;
	w = wire_route(lo, &dst.a, &h.src, &mtu);
	if (w == NULL || w == lo || h.src.len == 0)
		return UDP_NOT_LO;
	if (u->port->at.a.len == dst.a.len)
		h.src = u->port->at.a;
	h.dst = dst.a;
	h.proto = IPPROTO_UDP;
	h.tos = (uint8_t)u->tos;
	h.ttl = (uint8_t)u->ttl;
	h.len = UDP_HDRLEN +
		(mp->b_cont != NULL ? (uint32_t)msgdsize(mp->b_cont) : 0);
	h.hlen = (uint16_t)ip_size(&h);
	h.df = h.hlen + h.len <= mtu;
	hp = headers(u, &h, dst.port, mp->b_cont);
	if (hp == NULL) {
		tpi_retry(&u->in.tp);
		return EAGAIN;
	}
	hp->b_cont = mp->b_cont;
	mp->b_cont = NULL;
	err = wire_send(w, hp, &h);
	if (err == 0) {
		freemsg(mp);
		return 0;
	}
	mp->b_cont = hp->b_cont;
	hp->b_cont = NULL;
	freeb(hp);
	if (err != EAGAIN && err != ENOSR)
		return err;
	tpi_retry(&u->in.tp);
	return EAGAIN;
}
