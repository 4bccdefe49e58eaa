/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires inside of UDP (RFC 6951, for any protocol): what follows the IP header
 * of a packet is the data of a UDP datagram of the kernel's.
 *
 * One socket, bound to the wire's port, carries all packets of the domain, of
 * IPv4 and IPv6; it needs no privilege.  A received datagram gets an IP header
 * made from its addresses, hop limit and traffic class; for a sent packet these
 * go into control messages.  The kernel makes and checks UDP's checksum.
 *
 * Batches.  Consecutive packets to one port of one address that have the same
 * length, except for a shorter last one, are sent as a train, which the kernel
 * divides (UDP_SEGMENT); received trains (UDP_GRO) are divided here.
 *
 * Packets are not fragmented, and have the flag DF: EMSGSIZE if the interface
 * cannot carry one.
 *
 * The socket is made again if no process has a descriptor of it.  A process that
 * does not call the library may still have one that is bound; then the port is
 * in use, and each tick tries again.  The socket never has SO_REUSEADDR: with
 * that, any user's socket could share the port, and the last one that was bound
 * would receive.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include "ip_impl.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define BUFFER (4 << 20) /* of the socket, for bursts; bytes */
#define TRAIN 64u	 /* packets in one UDP_SEGMENT train */
#define TRAIN_MOST 65000u /* its bytes */
#define PIECES 256u
#define CTL 160u

/* An address that an IPv6 socket gives or takes: mapped if it is one of IPv4. */
static void
from_six(const struct in6_addr *s, struct ip_addr *ret)
{
	bzero(ret, sizeof(*ret));
	if (IN6_IS_ADDR_V4MAPPED(s)) {
		ret->len = 4;
		bcopy(s->s6_addr + 12, ret->b, 4);
	} else {
		ret->len = 16;
		bcopy(s, ret->b, 16);
	}
}

static void
to_six(const struct ip_addr *a, struct in6_addr *ret)
{
	bzero(ret, sizeof(*ret));
	if (a->len == 16) {
		bcopy(a->b, ret, 16);
	} else if (a->len == 4) {
		ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
		bcopy(a->b, ret->s6_addr + 12, 4);
	}
}

/* ------------------------------------------------------------------- socket */

static int
bind_to(struct ip_wire *w)
{
	struct sockaddr_in6 at;
	struct ip_addr own;
	unsigned int i;

	bzero(&at, sizeof(at));
	at.sin6_family = AF_INET6;
	at.sin6_port = htons(w->conf.port[0]);
	for (i = 0; i < IPW_NOWN; i++) {
		if (w->conf.own[i].len == 0)
			continue;
		bzero(&own, sizeof(own));
		own.len = w->conf.own[i].len;
		bcopy(w->conf.own[i].b, own.b, own.len);
		to_six(&own, &at.sin6_addr);
	}
	return -ksock_bind(w->ks[0], &at, sizeof(at));
}

int
ip_encap_make(struct ip_wire *w)
{
	int err = ip_lower_get(w, 0, AF_INET6, SOCK_DGRAM, 0);
	ksock_t *ks = w->ks[0];

	if (err != 0)
		return err;
	ip_set_int(ks, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	ip_set_int(ks, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	ip_set_int(ks, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
	ip_set_int(ks, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
	ip_set_int(ks, IPPROTO_IP, IP_RECVTTL, 1);
	ip_set_int(ks, IPPROTO_IP, IP_RECVTOS, 1);
	ip_set_int(ks, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	ip_set_int(ks, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	ip_set_int(ks, IPPROTO_UDP, UDP_GRO, 1);
	ip_set_int(ks, SOL_SOCKET, SO_RCVBUF, BUFFER);
	ip_set_int(ks, SOL_SOCKET, SO_SNDBUF, BUFFER);
	return bind_to(w);
}

/* ---------------------------------------------------------------- receiving */

/* An int or, IP_TOS, a byte. */
static uint8_t
byte_of(const struct cmsghdr *c)
{
	int v;

	if (c->cmsg_len < CMSG_LEN(sizeof(v)))
		return *CMSG_DATA(c);
	bcopy(CMSG_DATA(c), &v, sizeof(v));
	return (uint8_t)v;
}

/* ip_told - the header fields from the control data of a received packet */
void
ip_told(const struct ksock_msg *m, struct ip_hdr *h)
{
	struct in6_pktinfo i6;
	struct cmsghdr *c;
	struct msghdr mh;

	bzero(&mh, sizeof(mh));
	mh.msg_control = m->km_ctl;
	mh.msg_controllen = m->km_ctllen;
	for (c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
		int six = c->cmsg_level == IPPROTO_IPV6;

		if (!six && c->cmsg_level != IPPROTO_IP)
			continue;
		if (six && c->cmsg_type == IPV6_PKTINFO) {
			bcopy(CMSG_DATA(c), &i6, sizeof(i6));
			from_six(&i6.ipi6_addr, &h->dst);
		} else if (c->cmsg_type == (six ? IPV6_HOPLIMIT : IP_TTL)) {
			h->ttl = byte_of(c);
		} else if (c->cmsg_type == (six ? IPV6_TCLASS : IP_TOS)) {
			h->tos = byte_of(c);
		}
	}
}

/* @n bytes at @p, the data of one packet with @h, are received. */
static void
input(struct ip_wire *w, const unsigned char *p, uint32_t n, struct ip_hdr *h)
{
	mblk_t *mp = allocb(IP_ROOM + n, BPRI_MED);

	if (mp == NULL) {
		wire_count(&w->pub, WIRE_NOMEM, 1);
		return;
	}
	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + n;
	bcopy(p, mp->b_rptr, n);
	h->len = n;
	mp->b_rptr -= ip_build(mp->b_rptr, h, NULL, 0);
	wire_input(&w->pub, mp, IP_FROM_PORT(h->encap));
}

/* Receive one datagram or train; 1: there was one. */
int
ip_encap_recv(struct ip_wire *w)
{
	_Alignas(struct cmsghdr) unsigned char ctl[CTL];
	struct sockaddr_in6 from;
	uint32_t seg, off, n;
	struct ksock_msg m;
	struct iovec iov;
	struct ip_hdr h;
	mblk_t *mp = ip_block(w, IP_MOST);

	if (mp == NULL)
		return 0;
	iov.iov_base = mp->b_rptr;
	iov.iov_len = IP_MOST;
	bzero(&m, sizeof(m));
	m.km_iov = &iov;
	m.km_iovlen = 1;
	m.km_addr = &from;
	m.km_addrlen = sizeof(from);
	m.km_ctl = ctl;
	m.km_ctllen = sizeof(ctl);
	if (ksock_recvmm(w->ks[0], &m, 1, 0) != 1) {
		ip_block_keep(w, mp);
		return 0;
	}
	bzero(&h, sizeof(h));
	ip_told(&m, &h);
	from_six(&from.sin6_addr, &h.src);
	h.proto = w->conf.proto[0];
	h.encap = ntohs(from.sin6_port);
	seg = m.km_gso != 0 ? m.km_gso : m.km_len;
	if (h.encap == 0 || h.dst.len != h.src.len)
		wire_count(&w->pub, WIRE_BAD + IP_ADDR, 1);
	else
		for (off = 0; off == 0 || off < m.km_len; off += n) {
			n = m.km_len - off < seg ? m.km_len - off : seg;
			input(w, mp->b_rptr + off, n, &h);
			if (n == 0)
				break;
		}
	ip_block_keep(w, mp);
	return 1;
}

/* ------------------------------------------------------------------ sending */

/* May @b be in one train with @a? */
static int
is_alike(const struct ip_hdr *a, const struct ip_hdr *b)
{
	return a->encap == b->encap && a->tos == b->tos && a->ttl == b->ttl &&
		a->dst.len == b->dst.len && a->src.len == b->src.len &&
		bcmp(a->dst.b, b->dst.b, a->dst.len) == 0 &&
		bcmp(a->src.b, b->src.b, a->src.len) == 0;
}

/* Append what follows the IP header of @pkt; the number of pieces then, more
 * than PIECES: too many. */
static uint32_t
gather(const struct wire_pkt *pkt, struct iovec *iov, uint32_t n)
{
	size_t skip = pkt->h->hlen, k;
	const mblk_t *bp;

	for (bp = pkt->mp; bp != NULL; bp = bp->b_cont) {
		k = (size_t)MBLKL(bp);
		if (k <= skip) {
			skip -= k;
			continue;
		}
		if (n == PIECES)
			return PIECES + 1;
		iov[n].iov_base = bp->b_rptr + skip;
		iov[n++].iov_len = k - skip;
		skip = 0;
	}
	return n;
}

static uint32_t
put_ctl(unsigned char *ctl, uint32_t at, int level, int type, const void *val,
	uint32_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)(ctl + at);

	bzero(c, CMSG_SPACE(len));
	c->cmsg_len = CMSG_LEN(len);
	c->cmsg_level = level;
	c->cmsg_type = type;
	bcopy(val, CMSG_DATA(c), len);
	return at + (uint32_t)CMSG_SPACE(len);
}

/* Source address, hop limit and traffic class. */
static uint32_t
control(const struct ip_hdr *h, unsigned char *ctl)
{
	int six = h->dst.len == 16, level = six ? IPPROTO_IPV6 : IPPROTO_IP;
	int ttl = h->ttl, tos = h->tos;
	struct in6_pktinfo i6;
	struct in_pktinfo i4;
	uint32_t n = 0;

	if (h->src.len == h->dst.len && six) {
		bzero(&i6, sizeof(i6));
		bcopy(h->src.b, &i6.ipi6_addr, 16);
		n = put_ctl(ctl, n, level, IPV6_PKTINFO, &i6, sizeof(i6));
	} else if (h->src.len == h->dst.len) {
		bzero(&i4, sizeof(i4));
		bcopy(h->src.b, &i4.ipi_spec_dst, 4);
		n = put_ctl(ctl, n, level, IP_PKTINFO, &i4, sizeof(i4));
	}
	if (ttl != 0)
		n = put_ctl(ctl, n, level, six ? IPV6_HOPLIMIT : IP_TTL, &ttl,
			sizeof(ttl));
	if (tos != 0)
		n = put_ctl(ctl, n, level, six ? IPV6_TCLASS : IP_TOS, &tos,
			sizeof(tos));
	return n;
}

static uint32_t send_train(struct ip_wire *w, const struct wire_pkt *v,
	uint32_t n, uint32_t most, int *ret_err);

/* Send a packet of too many pieces. */
static uint32_t
send_pulled(struct ip_wire *w, const struct wire_pkt *v, int *ret_err)
{
	struct wire_pkt one = {msgpullup(v->mp, -1), v->h};
	uint32_t k;

	if (one.mp == NULL) {
		*ret_err = ENOSR;
		return 0;
	}
	k = send_train(w, &one, 1, 1, ret_err);
	freemsg(one.mp);
	return k;
}

/*
 * Send the first of @n packets, or a train of the first ones of at most @most.
 * Return: how many; 0: *@ret_err says why.
 */
static uint32_t
send_train(struct ip_wire *w, const struct wire_pkt *v, uint32_t n,
	uint32_t most, int *ret_err)
{
	_Alignas(struct cmsghdr) unsigned char ctl[CTL];
	const struct ip_hdr *h = v[0].h;
	struct iovec iov[PIECES];
	uint32_t k, used = 0, next, bytes = 0, len = h->len;
	struct sockaddr_in6 to;
	struct ksock_msg m;
	long r;

	for (k = 0; k < n && k < most; k++) {
		if (k != 0 && (v[k].h->len > len || !is_alike(h, v[k].h) ||
			v[k].h->len == 0 ||
			bytes + v[k].h->len > TRAIN_MOST))
			break;
		next = gather(&v[k], iov, used);
		if (next > PIECES)
			break;
		used = next;
		bytes += v[k].h->len;
		if (v[k].h->len < len) {
			k++; /* a shorter one ends the train */
			break;
		}
	}
	if (k == 0)
		return send_pulled(w, v, ret_err);
	bzero(&to, sizeof(to));
	to.sin6_family = AF_INET6;
	to.sin6_port = htons(h->encap != 0 ? h->encap : w->conf.port[1]);
	to_six(&h->dst, &to.sin6_addr);
	bzero(&m, sizeof(m));
	m.km_iov = iov;
	m.km_iovlen = used;
	m.km_addr = &to;
	m.km_addrlen = sizeof(to);
	m.km_ctllen = control(h, ctl);
	m.km_ctl = m.km_ctllen != 0 ? ctl : NULL;
	m.km_gso = k > 1 ? (uint16_t)len : 0;
	r = ksock_sendmm(w->ks[0], &m, 1, MSG_NOSIGNAL);
	*ret_err = r < 0 ? (int)-r : 0;
	return r < 0 ? 0 : k;
}

/*
 * ip_encap_send - send packets; @w's stream is held
 * Return: how many were sent; *@ret_err: the error of the next.
 */
uint32_t
ip_encap_send(struct ip_wire *w, const struct wire_pkt *v, uint32_t n,
	int *ret_err)
{
	uint32_t sent = 0, k, i;

	/* a socket that is not bound yet would get another port */
	*ret_err = w->ks[0] == NULL || w->state != IPW_UP ? ENETDOWN : 0;
	while (sent < n && *ret_err == 0) {
		k = send_train(w, v + sent, n - sent, TRAIN, ret_err);
		/* the interface may not be able to send trains of this size */
		if (k == 0 && *ret_err != EAGAIN && *ret_err != ENOBUFS)
			k = send_train(w, v + sent, 1, 1, ret_err);
		for (i = 0; i < k; i++)
			ip_sent_one(w, v[sent + i].mp);
		sent += k;
	}
	return sent;
}
