/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The lower side of a wire: descriptors of the system (<str/ksock.h>) for raw
 * sockets, TUN devices and, with packet.c, frames.
 *
 * Life. ip_lower_make() makes all sockets of the wire's configuration.  The
 * process that adds the wire calls it, and the wire's timer calls it again if
 * no process has a descriptor any more, because streamsd, which had the last
 * one, died.  The ksock_t remain valid meanwhile.
 *
 * Raw sockets.  Two sockets send our packets, one for each version.  UDP
 * datagrams are not received here: the endpoints' own sockets, which reserve
 * the ports, get them.  Each protocol in the configuration has a socket for
 * each version.  An IPv6 raw socket returns no header: it is made from the
 * control data.
 *
 * Blocks.  The length of a packet is unknown before it is received, and flow
 * control counts only its bytes.  So a packet is received into a large block,
 * and only lent (IP_LENT): its receivers copy what they keep.  The block is kept
 * for the next packet on the read queue of the wire's stream, which is not used
 * otherwise.
 *
 * Locks.  The sockets are changed in the perimeter of the wire's stream.
 * Senders read them while they hold that stream.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/ioctl.h>
#include <netinet/in.h>
#include <net/if.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include "bytes.h"
#include "ip_impl.h"

#ifndef IPV6_HDRINCL
#define IPV6_HDRINCL 36
#endif

#define BUFFER (4 << 20) /* bytes of a socket, for bursts */

/* ------------------------------------------------------------------- blocks */

/* An empty block for @most bytes, and headers in front; NULL: no memory. */
mblk_t *
ip_block(struct ip_wire *w, uint32_t most)
{
	mblk_t *mp = getq(w->rq);

	if (mp != NULL && mp->b_datap->db_lim - mp->b_datap->db_base <
		(long)(IP_ROOM + most)) { /* the MTU has become greater */
		freemsg(mp);
		mp = NULL;
	}
	if (mp == NULL)
		mp = allocb(IP_ROOM + most, BPRI_MED);
	if (mp == NULL) {
		wire_count(&w->pub, WIRE_NOMEM, 1);
		return NULL;
	}
	mp->b_rptr = mp->b_wptr = mp->b_datap->db_base + IP_ROOM;
	return mp;
}

/* Keep the block @mp for the next packet. */
void
ip_block_keep(struct ip_wire *w, mblk_t *mp)
{
	mp->b_wptr = mp->b_rptr;
	if (putq(w->rq, mp) == 0)
		freemsg(mp);
}

/* The address family of socket @k of the wire. */
static uint32_t
family_of(uint32_t k)
{
	return k % 2 == 0 ? AF_INET : AF_INET6;
}

static uint32_t
proto_of(const struct ip_wire *w, uint32_t k)
{
	return k < 2 ? IPPROTO_RAW : w->conf.proto[k / 2 - 1];
}

/* Has the wire addresses of this version? */
static int
has_family(const struct ip_wire *w, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == len)
			return 1;
	return 0;
}

/*
 * ip_lower_get - make the @k-th socket, in the existing ksock_t or, if NULL, in
 * a new one
 */
int
ip_lower_get(struct ip_wire *w, uint32_t k, int family, int type, int proto)
{
	ksock_t *ks = w->ks[k];
	int err;

	if (ks != NULL)
		return -ksock_again(ks, family, type, proto, NULL);
	err = ksock_create(w->rq, family, type, proto, &ks);
	if (err == 0)
		w->ks[k] = ks;
	return -err;
}

void
ip_set_int(ksock_t *ks, int level, int name, int val)
{
	(void)ksock_setopt(ks, level, name, &val, sizeof(val));
}

/* Set the receive buffer to BUFFER, if that is permitted. */
static void
set_input(ksock_t *ks)
{
	ip_set_int(ks, SOL_SOCKET, SO_RCVBUF, BUFFER);
	ip_set_int(ks, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER);
}

/* -------------------------------------------------------------- raw sockets */

static int
raw_make(struct ip_wire *w)
{
	uint32_t k;
	int err;

	for (k = 0; k < IP_KSOCKS; k++) {
		int v6 = k % 2 != 0;

		if (!has_family(w, v6 ? 16 : 4) || proto_of(w, k) == 0)
			continue;
		err = ip_lower_get(w, k, (int)family_of(k), SOCK_RAW,
			(int)proto_of(w, k));
		if (err != 0)
			return err;
		if (k >= 2)
			set_input(w->ks[k]);
		if (k < 2) {
			ip_set_int(w->ks[k], SOL_SOCKET, SO_SNDBUF, BUFFER);
			ip_set_int(w->ks[k], v6 ? IPPROTO_IPV6 : IPPROTO_IP,
				v6 ? IPV6_HDRINCL : IP_HDRINCL, 1);
			ip_set_int(w->ks[k], SOL_SOCKET, SO_BROADCAST, 1);
		} else if (v6) {
			ip_set_int(w->ks[k], IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
			ip_set_int(w->ks[k], IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
			ip_set_int(w->ks[k], IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		}
	}
	return 0;
}

/* ip_raw_to - the address of a packet's destination; its length */
uint32_t
ip_raw_to(const struct ip_hdr *h, struct sockaddr_in6 *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)ret;

	bzero(ret, sizeof(*ret));
	if (h->dst.len == 4) {
		in->sin_family = AF_INET;
		bcopy(h->dst.b, &in->sin_addr, 4);
		return sizeof(*in);
	}
	ret->sin6_family = AF_INET6;
	bcopy(h->dst.b, &ret->sin6_addr, 16);
	return sizeof(*ret);
}

static int
raw_send(struct ip_wire *w, struct iovec *iov, uint32_t n,
	const struct ip_hdr *h)
{
	struct sockaddr_in6 to;
	struct ksock_msg m;
	ksock_t *ks = w->ks[h->dst.len == 16];
	long r;

	if (ks == NULL)
		return ENETUNREACH;
	bzero(&m, sizeof(m));
	m.km_iov = iov;
	m.km_iovlen = n;
	m.km_addr = &to;
	m.km_addrlen = ip_raw_to(h, &to);
	r = ksock_sendmm(ks, &m, 1, 0);
	return r < 0 ? (int)-r : 0;
}

/* Receive one packet from the socket @k; 1: there was one. */
static int
raw_recv(struct ip_wire *w, uint32_t k)
{
	unsigned long ctl[16];
	struct sockaddr_in6 from;
	struct ksock_msg m;
	struct ip_hdr h;
	struct iovec iov;
	mblk_t *mp;

	mp = ip_block(w, IP_MOST);
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
	if (ksock_recvmm(w->ks[k], &m, 1, 0) != 1) {
		ip_block_keep(w, mp);
		return 0;
	}
	mp->b_wptr += m.km_len;
	if (k % 2 != 0) {
		bzero(&h, sizeof(h));
		h.src.len = h.dst.len = 16;
		bcopy(&from.sin6_addr, h.src.b, 16);
		h.proto = (uint8_t)proto_of(w, k);
		h.len = m.km_len;
		ip_told(&m, &h);
		mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	}
	wire_input(&w->pub, mp, IP_LENT);
	ip_block_keep(w, mp);
	return 1;
}

/* ----------------------------------------------------------------------- TUN */

/* Set the device up, and set this host's address on it if there is one. */
static int
tun_set(struct ip_wire *w, const char *name, uint32_t len)
{
	/* layout of the system */
	struct { struct in6_addr addr; uint32_t bits; int index; } six;
	const struct ipw_addr *gw = &w->conf.gateway[len == 16];
	struct sockaddr_in *in;
	struct ifreq r;
	ksock_t *ks;
	int err;

	err = ksock_create(w->rq, len == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0,
		&ks);
	if (err != 0)
		return -err;
	bzero(&r, sizeof(r));
	bcopy(name, r.ifr_name, IPW_NAMELEN);
	in = (struct sockaddr_in *)(void *)&r.ifr_addr;
	if (len == 4 && gw->len == 4) {
		in->sin_family = AF_INET;
		bcopy(gw->b, &in->sin_addr, 4);
		err = ksock_ioctl(ks, SIOCSIFADDR, (int *)(void *)&r);
		in->sin_addr.s_addr = htonl(gw->bits == 0 ? 0 :
			0xffffffffu << (32 - gw->bits));
		if (err == 0)
			err = ksock_ioctl(ks, SIOCSIFNETMASK,
				(int *)(void *)&r);
	}
	if (err == 0 && len == 4) {
		r.ifr_mtu = (int)w->mtu;
		err = ksock_ioctl(ks, SIOCSIFMTU, (int *)(void *)&r);
	}
	if (err == 0 && len == 4) {
		r.ifr_qlen = BUFFER / 4096; /* packets for us */
		(void)ksock_ioctl(ks, SIOCSIFTXQLEN, (int *)(void *)&r);
		err = ksock_ioctl(ks, SIOCGIFFLAGS, (int *)(void *)&r);
	}
	if (err == 0 && len == 4) {
		r.ifr_flags |= IFF_UP;
		err = ksock_ioctl(ks, SIOCSIFFLAGS, (int *)(void *)&r);
	}
	if (len == 16) {
		err = ksock_ioctl(ks, SIOCGIFINDEX, (int *)(void *)&r);
		bcopy(gw->b, &six.addr, 16);
		six.bits = gw->bits;
		six.index = r.ifr_ifindex;
		if (err == 0)
			err = ksock_ioctl(ks, SIOCSIFADDR, (int *)(void *)&six);
		if (err == -EEXIST)
			err = 0;
	}
	ksock_close(ks, 0);
	return -err;
}

/*
 * Delete our device.  Otherwise it would exist as long as any process has a
 * descriptor of it, and no new one of its name could be made.
 */
static void
tun_delete(struct ip_wire *w)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg i;
		struct rtattr a;
		char name[IPW_NAMELEN];
	} msg;
	struct iovec iov = {&msg, sizeof(msg)};
	ksock_t *ks;

	if (ksock_create(w->rq, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &ks) != 0)
		return;
	bzero(&msg, sizeof(msg));
	msg.h.nlmsg_len = sizeof(msg);
	msg.h.nlmsg_type = RTM_DELLINK;
	msg.h.nlmsg_flags = NLM_F_REQUEST;
	msg.i.ifi_family = AF_UNSPEC;
	msg.a.rta_type = IFLA_IFNAME;
	msg.a.rta_len = RTA_LENGTH(IPW_NAMELEN);
	bcopy(w->conf.ifname, msg.name, IPW_NAMELEN);
	(void)ksock_send(ks, &iov, 1, 0);
	ksock_close(ks, 0);
}

static int
tun_make(struct ip_wire *w)
{
	ksock_t *ks = w->ks[0];
	char name[IPW_NAMELEN];
	int err;

	bcopy(w->conf.ifname, name, sizeof(name));
	if (ks == NULL) {
		err = ksock_tun(w->rq, name, &ks);
	} else {
		err = ksock_again(ks, 0, 0, 0, name);
		if (err == -EBUSY) {
			/* another process has it and does not use it */
			tun_delete(w);
			err = ksock_again(ks, 0, 0, 0, name);
		}
	}
	if (err != 0)
		return -err;
	w->ks[0] = ks;
	/* the next one shall have the same name */
	if (bcmp(name, w->conf.ifname, sizeof(name)) != 0)
		bcopy(name, w->conf.ifname, sizeof(name));
	err = tun_set(w, name, 4);
	if (err == 0 && w->conf.gateway[1].len == 16)
		err = tun_set(w, name, 16);
	ksock_attach(ks, w->rq); /* the ids of the sockets have changed */
	return err;
}

static int
tun_recv(struct ip_wire *w)
{
	uint32_t most = w->mtu;
	mblk_t *mp = ip_block(w, most);
	struct iovec iov;
	long n;

	if (mp == NULL)
		return 0;
	iov.iov_base = mp->b_rptr;
	iov.iov_len = most;
	n = ksock_recv(w->ks[0], &iov, 1, NULL);
	if (n <= 0) {
		ip_block_keep(w, mp);
		return 0;
	}
	mp->b_wptr = mp->b_rptr + n;
	wire_input(&w->pub, mp, IP_LENT);
	ip_block_keep(w, mp);
	return 1;
}

/* Has any process descriptors of the sockets from number @k on? */
static int
raw_is_alive(struct ip_wire *w, uint32_t k)
{
	struct sockaddr_in6 a;
	uint32_t len;

	for (; k < IP_KSOCKS; k++) {
		len = sizeof(a);
		if (w->ks[k] != NULL && ksock_name(w->ks[k], 0, &a, &len) != 0)
			return 0;
	}
	return 1;
}

static int
tun_is_alive(struct ip_wire *w)
{
	struct ifreq r;

	return ksock_ioctl(w->ks[0], TUNGETIFF, (int *)(void *)&r) == 0 &&
		raw_is_alive(w, 1);
}

/* -------------------------------------------------------------------- common */

int
ip_lower_make(struct ip_wire *w)
{
	int err;

	switch (w->kind) {
	case IPW_RAW:
		return raw_make(w);
	case IPW_ENCAP:
		return ip_encap_make(w);
	case IPW_TUN:
		err = tun_make(w);
		return err != 0 ? err : ip_link_make(w);
	case IPW_PACKET:
		/* protocol 0: they receive nothing before they are bound */
		err = ip_lower_get(w, IP_FRAMES_IN, AF_PACKET, SOCK_DGRAM, 0);
		if (err == 0)
			err = ip_lower_get(w, IP_UDP_IN, AF_PACKET, SOCK_RAW,
				0);
		if (err != 0)
			return err;
		set_input(w->ks[IP_FRAMES_IN]);
		set_input(w->ks[IP_UDP_IN]);
		err = ip_packet_set(w);
		return err != 0 ? err : ip_link_make(w);
	default:
		return EINVAL;
	}
}

void
ip_lower_close(struct ip_wire *w)
{
	uint32_t k;

	if (w->kind == IPW_TUN && w->ks[0] != NULL)
		tun_delete(w);
	for (k = 0; k < IP_KSOCKS; k++) {
		ksock_t *ks = w->ks[k];

		w->ks[k] = NULL;
		ksock_close(ks, 0);
	}
}

/*
 * ip_lower_group - join or leave @group A TUN device receives all groups.
 * Return: 0: done, or impossible; EIO: we have no descriptor now.
 */
int
ip_lower_group(struct ip_wire *w, const struct ip_addr *group, int joins)
{
	struct ip_addr own;
	struct ipv6_mreq m6;
	struct ip_mreq m4;
	int err, ret = 0;
	uint32_t k;

	if (w->kind == IPW_PACKET)
		return ip_packet_group(w, group, joins) == EIO ? EIO : 0;
	if (w->kind != IPW_RAW || !ip_own_for(w, group, &own))
		return 0;
	bzero(&m6, sizeof(m6));
	bcopy(group->b, &m4.imr_multiaddr, 4);
	bcopy(own.b, &m4.imr_interface, 4);
	bcopy(group->b, &m6.ipv6mr_multiaddr, sizeof(m6.ipv6mr_multiaddr));
	for (k = 2; k < IP_KSOCKS; k++) {
		if (w->ks[k] == NULL ||
			family_of(k) != (group->len == 4 ? AF_INET : AF_INET6))
			continue;
		if (group->len == 4)
			err = ksock_setopt(w->ks[k], IPPROTO_IP, joins ?
				IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &m4,
				sizeof(m4));
		else
			err = ksock_setopt(w->ks[k], IPPROTO_IPV6, joins ?
				IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, &m6,
				sizeof(m6));
		if (err == -EIO)
			ret = EIO;
	}
	return ret;
}

int
ip_lower_is_alive(struct ip_wire *w)
{
	return w->kind == IPW_TUN ? tun_is_alive(w) : raw_is_alive(w, 0);
}

/* Return: 1: there may be more. */
int
ip_lower_input(struct ip_wire *w)
{
	uint32_t k, n = 0, most = 64;

	if (w->kind != IPW_RAW) {
		if (w->ks[0] == NULL)
			return 0; /* it could not be made yet */
		ip_link_input(w);
		if (w->kind == IPW_PACKET)
			return ip_packet_recv(w, most);
		(void)ksock_events(w->ks[0]);
		while (n < most && (w->kind == IPW_TUN ? tun_recv(w) :
			ip_encap_recv(w)))
			n++;
		return n == most;
	}
	for (k = 2; k < IP_KSOCKS; k++) {
		if (w->ks[k] == NULL)
			continue;
		(void)ksock_events(w->ks[k]);
		while (n < most && raw_recv(w, k))
			n++;
	}
	return n == most;
}

static int
send_to(struct ip_wire *w, struct iovec *iov, uint32_t n, const mblk_t *pkt,
	const struct ip_hdr *h)
{
	long r;

	if (w->kind == IPW_RAW)
		return raw_send(w, iov, n, h);
	if (w->kind == IPW_PACKET)
		return ip_packet_send(w, iov, n, pkt, h);
	if (w->ks[0] == NULL)
		return ENETDOWN;
	r = ksock_send(w->ks[0], iov, n, 0);
	return r < 0 ? (int)-r : 0;
}

/* Complete the checksum of the packet at @p, as wire_send_bytes(). */
static void
complete(unsigned char *p, uint32_t sum_at, const struct ip_hdr *h)
{
	uint16_t v = ip_fold(ip_sum(p + h->hlen, h->len, 0, 0));

	if (v == 0)
		v = 0xffff;
	put16(p + h->hlen + sum_at, v);
}

/* ip_lower_bytes - send @n bytes at @p, as wire_send_bytes(); EBUSY: not now,
 * because there is no message block that could wait for a station */
int
ip_lower_bytes(struct ip_wire *w, void *p, uint32_t n, uint32_t sum_at,
	const struct ip_hdr *h)
{
	struct iovec iov = {p, n};

	if (w->kind == IPW_PACKET)
		return ip_frames_send(w, p, n, sum_at, h);
	if (sum_at != 0)
		complete(p, sum_at, h);
	return send_to(w, &iov, 1, NULL, h);
}

#define PIECES 16u

int
ip_lower_send(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	struct iovec iov[PIECES];
	const mblk_t *bp;
	uint32_t n = 0;

	for (bp = pkt; bp != NULL; bp = bp->b_cont) {
		if (MBLKL(bp) == 0)
			continue;
		if (n == PIECES)
			return EMSGSIZE; /* send_held() has pulled them up */
		iov[n].iov_base = bp->b_rptr;
		iov[n++].iov_len = (size_t)MBLKL(bp);
	}
	return send_to(w, iov, n, pkt, h);
}
