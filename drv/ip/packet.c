/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires of frames: a packet socket on an interface, with addresses that this
 * host does not have, so that all requests about them are answered here.
 * resolve.c finds the stations of other addresses.
 *
 * Two sockets.  The first receives all packets but those of UDP, and sends all
 * but short datagrams.  frames.c receives and sends these by the other one.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/ioctl.h>
#include <netinet/in.h>
#include <net/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "ip_impl.h"

#define CTL 8u /* words of control data of each frame */

static void
frame_to(const struct ip_wire *w, uint32_t proto, const unsigned char *mac,
	struct sockaddr_ll *ret)
{
	bzero(ret, sizeof(*ret));
	ret->sll_family = AF_PACKET;
	ret->sll_protocol = htons((uint16_t)proto);
	ret->sll_ifindex = w->ifindex;
	ret->sll_halen = 6;
	bcopy(mac, ret->sll_addr, 6);
}

static int
send_frame(struct ip_wire *w, struct iovec *iov, uint32_t n,
	struct sockaddr_ll *to)
{
	struct ksock_msg m;
	long r;

	bzero(&m, sizeof(m));
	m.km_iov = iov;
	m.km_iovlen = n;
	m.km_addr = to;
	m.km_addrlen = sizeof(*to);
	r = ksock_sendmm(w->ks[0], &m, 1, 0);
	return r < 0 ? (int)-r : 0;
}

/* ip_frame - send a frame of the @n pieces at @iov to @mac.  0, or an errno. */
int
ip_frame(struct ip_wire *w, struct iovec *iov, uint32_t n, uint32_t proto,
	const unsigned char *mac)
{
	struct sockaddr_ll ll;

	frame_to(w, proto, mac, &ll);
	return send_frame(w, iov, n, &ll);
}

/* ------------------------------------------------------------------ sending */

static uint32_t
proto_to(const struct ip_addr *dst)
{
	return dst->len == 4 ? ETH_P_IP : ETH_P_IPV6;
}

/*
 * ip_packet_to - where the frame of @pkt goes
 * @pkt: or NULL: there is nothing that could wait
 * Return: 1; 0: a copy of the packet waits for its neighbour; or minus an errno;
 * -EBUSY: @pkt is NULL, and the neighbour is not known
 */
int
ip_packet_to(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	struct sockaddr_ll *ret)
{
	unsigned char mac[6];
	struct ip_addr next;
	int r = 1;

	if (w->ks[0] == NULL)
		return -ENETDOWN;
	if (ip_is_broadcast(w, &h->dst))
		__builtin_memset(mac, 0xff, 6);
	else if (!neigh_many(&h->dst, mac))
		r = ip_next_hop(w, &h->dst, &next) ?
			ip_resolve(w, pkt, &next, mac) : -ENETUNREACH;
	if (r == 1)
		frame_to(w, proto_to(&h->dst), mac, ret);
	return r;
}

int
ip_packet_send(struct ip_wire *w, struct iovec *iov, uint32_t n,
	const mblk_t *pkt, const struct ip_hdr *h)
{
	struct sockaddr_ll to;
	int r = ip_packet_to(w, pkt, h, &to);

	return r <= 0 ? -r : send_frame(w, iov, n, &to);
}

/* ---------------------------------------------------------------- receiving */

/* What the system says of the frame; zeros: nothing. */
static void
aux_of(const struct ksock_msg *m, struct tpacket_auxdata *ret)
{
	struct cmsghdr *c;
	struct msghdr mh;

	bzero(&mh, sizeof(mh));
	mh.msg_control = m->km_ctl;
	mh.msg_controllen = m->km_ctllen;
	for (c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type !=
			PACKET_AUXDATA)
			continue;
		bcopy(CMSG_DATA(c), ret, sizeof(*ret));
		return;
	}
	bzero(ret, sizeof(*ret));
}

/* The packet of a frame, in a block that is not consumed: @flags has IP_LENT. */
static void
input(struct ip_wire *w, mblk_t *mp, const struct sockaddr_ll *ll,
	unsigned int flags)
{
	uint32_t n = (uint32_t)MBLKL(mp);
	struct neigh_msg m;
	struct ip_hdr h;
	int heard;

	switch (ntohs(ll->sll_protocol)) {
	case ETH_P_ARP:
		if (wire_tapped(&w->pub))
			ip_tap(w, mp, n, IPW_IS_ARP, 0);
		if (arp_parse(mp->b_rptr, n, &m))
			ip_resolve_heard(w, &m, ll->sll_addr);
		break;
	case ETH_P_IPV6:
		heard = ip_parse(mp->b_rptr, n, n, 0, &h) == 0 &&
			ndp_parse(mp->b_rptr + h.hlen, h.len, &h, &m);
		/* taps see the message before its answer */
		wire_input(&w->pub, mp, flags);
		if (heard)
			ip_resolve_heard(w, &m, ll->sll_addr);
		break;
	case ETH_P_IP:
		wire_input(&w->pub, mp, flags);
		break;
	default:
		break;
	}
}

/* Received frames: what the system says of them. */
struct frames {
	mblk_t *mp[IP_FRAMES];
	struct ksock_msg m[IP_FRAMES];
	struct iovec iov[IP_FRAMES];
	struct sockaddr_ll ll[IP_FRAMES];
	unsigned long ctl[IP_FRAMES][CTL];
};

/* A frame has been received into @mp. */
static void
one(struct ip_wire *w, mblk_t *mp, const struct ksock_msg *m)
{
	const struct sockaddr_ll *ll = m->km_addr;
	struct tpacket_auxdata aux;

	aux_of(m, &aux);
	mp->b_wptr = mp->b_rptr + m->km_len;
	/* the checksum may be left for the device to fill in */
	input(w, mp, ll, ((aux.tp_status & TP_STATUS_CSUMNOTREADY) != 0 ?
		IP_TRUST : 0) |
		(ll->sll_pkttype == PACKET_HOST ? 0 : IP_MANY) | IP_LENT);
	ip_block_keep(w, mp);
}

/* As ip_frames_some(), of the other frames. */
static uint32_t
some(struct ip_wire *w, uint32_t most)
{
	struct frames f;
	uint32_t n, i;
	long r;

	for (n = 0; n < most; n++) {
		f.mp[n] = ip_block(w, IP_MOST);
		if (f.mp[n] == NULL)
			break;
		f.iov[n].iov_base = f.mp[n]->b_rptr;
		f.iov[n].iov_len = IP_MOST;
		bzero(&f.m[n], sizeof(f.m[n]));
		f.m[n].km_iov = &f.iov[n];
		f.m[n].km_iovlen = 1;
		f.m[n].km_addr = &f.ll[n];
		f.m[n].km_addrlen = sizeof(f.ll[n]);
		f.m[n].km_ctl = f.ctl[n];
		f.m[n].km_ctllen = sizeof(f.ctl[n]);
	}
	r = n == 0 ? 0 : ksock_recvmm(w->ks[IP_FRAMES_IN], f.m, n, 0);
	str_wake_begin();
	for (i = 0; i < n; i++)
		if ((long)i < r)
			one(w, f.mp[i], &f.m[i]);
		else
			ip_block_keep(w, f.mp[i]);
	str_wake_end();
	return r < 0 ? 0 : (uint32_t)r;
}

/*
 * Receive at most @most frames, or some more, from socket @k, by @some
 * If a system call has returned fewer than were asked for, there are no more.
 * The next call asks for twice as many as were there, so that an idle wire
 * keeps few blocks.  Return: how many there were.
 */
static uint32_t
receive(struct ip_wire *w, uint32_t k, uint32_t most,
	uint32_t (*some_of)(struct ip_wire *, uint32_t))
{
	uint32_t *burst = &w->burst[k == IP_UDP_IN], n = 0, r, want;

	do {
		want = *burst < 2 ? 2 : *burst > IP_FRAMES ? IP_FRAMES : *burst;
		r = some_of(w, want);
		*burst = 2 * r;
		n += r;
	} while (r == want && n < most);
	return n;
}

/*
 * ip_packet_recv - receive at most @most frames, or some more, from each socket
 * A system call on the socket without UDP is saved while frames of UDP come and
 * there is no event of the other.  Return: 1: there may be more.
 */
int
ip_packet_recv(struct ip_wire *w, uint32_t most)
{
	uint32_t n = 0;

	if (w->ks[IP_UDP_IN] != NULL) {
		(void)ksock_events(w->ks[IP_UDP_IN]);
		n = receive(w, IP_UDP_IN, most, ip_frames_some);
	}
	w->more |= ksock_events(w->ks[IP_FRAMES_IN]) & KS_IN;
	if (n != 0 && w->more == 0)
		return n >= most;
	w->more = receive(w, IP_FRAMES_IN, most, some) >= most;
	return n >= most || w->more;
}

/*
 * ip_packet_group - receive packets for @group on the interface, or stop that
 * Return: 0, or an errno.
 */
int
ip_packet_group(struct ip_wire *w, const struct ip_addr *group, int joins)
{
	struct packet_mreq mr;

	bzero(&mr, sizeof(mr));
	mr.mr_ifindex = w->ifindex;
	mr.mr_type = PACKET_MR_MULTICAST;
	mr.mr_alen = 6;
	if (w->ks[0] == NULL || !neigh_many(group, mr.mr_address))
		return 0;
	return -ksock_setopt(w->ks[0], SOL_PACKET, joins ?
		PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP, &mr,
		sizeof(mr));
}

/*
 * RFC 1112 s4, RFC 4291 s2.8: join the groups of which every station is a
 * member.
 */
static void
own_groups(struct ip_wire *w)
{
	static const struct ip_addr hosts = {4, {224, 0, 0, 1}};
	static const struct ip_addr nodes = {
		16, {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
	struct ip_addr a, group;
	unsigned int i;

	(void)ip_packet_group(w, &hosts, 1);
	(void)ip_packet_group(w, &nodes, 1);
	for (i = 0; i < IPW_NOWN; i++) {
		if (w->conf.own[i].len != 16)
			continue;
		a.len = 16;
		bcopy(w->conf.own[i].b, a.b, 16);
		ndp_group(&a, &group);
		(void)ip_packet_group(w, &group, 1);
		ip_listen_joined(w, &group);
	}
}

/* Bind the new sockets to the interface. */
int
ip_packet_set(struct ip_wire *w)
{
	struct sockaddr_ll ll;
	struct ifreq r;
	ksock_t *ks = w->ks[IP_FRAMES_IN];
	int err, on = 1;

	bzero(&r, sizeof(r));
	bcopy(w->conf.ifname, r.ifr_name, IPW_NAMELEN);
	err = ksock_ioctl(ks, SIOCGIFHWADDR, (int *)(void *)&r);
	if (err != 0)
		return -err;
	bcopy(r.ifr_hwaddr.sa_data, w->mac, 6);
	err = ksock_ioctl(ks, SIOCGIFMTU, (int *)(void *)&r);
	if (err == 0 && w->conf.mtu == 0)
		w->mtu = r.ifr_mtu > (int)IP_MOST ? IP_MOST :
						    (uint32_t)r.ifr_mtu;
	if (err == 0)
		err = ksock_ioctl(ks, SIOCGIFINDEX, (int *)(void *)&r);
	if (err != 0)
		return -err;
	w->ifindex = r.ifr_ifindex;
	(void)ksock_setopt(ks, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on));
	own_groups(w);
	err = ip_frames_set(w);
	if (err == 0)
		err = ip_filter_set(w);
	if (err != 0)
		return err;
	bzero(&ll, sizeof(ll));
	ll.sll_family = AF_PACKET;
	ll.sll_protocol = htons(ETH_P_ALL);
	ll.sll_ifindex = w->ifindex;
	err = ksock_bind(ks, &ll, sizeof(ll));
	return err != 0 ? -err :
		-ksock_bind(w->ks[IP_UDP_IN], &ll, sizeof(ll));
}
