/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires of frames: a packet socket on an interface, with addresses that this
 * host does not have, so that everything is answered for here.
 *
 * Neighbours.  A table for each wire says which station has an address.  Who
 * sends to one that is not there asks for it, and the packet waits on the
 * write queue of the wire's stream until the answer has come or WAIT has
 * passed; few may wait.  Entries are asked for again when they are old, and
 * forgotten when there is no answer.
 *
 * Order.  What is for a station that others wait for waits behind them (`held'),
 * though it may be known by now where that is, until they have been sent.  They
 * are, by one at a time, under the table's lock: so none comes between, and
 * it ends.
 *
 * Locks.  The table's of neighbours, which is one for all wires; it is held
 * for a look, a store, or to queue, and by who sends what has waited.
 *
 * Crash.  An entry says KNOWN when all of it is there, and nothing of one that
 * is changed is believed.  A packet that waits for an answer that does not come is
 * enabled by the wire's clock, and by the next packet for that station.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/ioctl.h>
#include <netinet/in.h>
#include <net/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "ip_impl.h"

#define SECOND 1000000000ull
#define WAIT (3 * SECOND)
#define OLD (30 * SECOND)   /* is asked for again, and used meanwhile */
#define GONE (60 * SECOND)
#define MOST_WAITING 65536u /* bytes */

#define FREE 0u
#define ASKING 1u
#define KNOWN 2u

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

/* A frame of @n bytes goes to @mac. */
static int
frame(struct ip_wire *w, struct iovec *iov, uint32_t n, uint32_t proto,
	const unsigned char *mac)
{
	struct sockaddr_ll ll;
	struct ksock_msg m;
	long r;

	bzero(&ll, sizeof(ll));
	ll.sll_family = AF_PACKET;
	ll.sll_protocol = htons((uint16_t)proto);
	ll.sll_ifindex = w->ifindex;
	ll.sll_halen = 6;
	bcopy(mac, ll.sll_addr, 6);
	bzero(&m, sizeof(m));
	m.km_iov = iov;
	m.km_iovlen = n;
	m.km_addr = &ll;
	m.km_addrlen = sizeof(ll);
	r = ksock_sendmm(w->ks[0], &m, 1, 0);
	return r < 0 ? (int)-r : 0;
}

static void
small_frame(struct ip_wire *w, void *p, uint32_t n, uint32_t proto,
	const unsigned char *mac)
{
	struct iovec iov = {p, n};

	(void)frame(w, &iov, 1, proto, mac);
}

/* -------------------------------------------------------------- neighbours */

/* Ask who has @a. */
static void
ask(struct ip_wire *w, const struct ip_addr *a)
{
	static const unsigned char all[6] = {255, 255, 255, 255, 255, 255};
	unsigned char buf[128], mac[6];
	struct ip_addr from, group;
	uint32_t n;

	if (!ip_own_for(w, a, &from))
		return;
	if (a->len == 4) {
		n = arp_build(buf, 1, &from, w->mac, a, all);
		small_frame(w, buf, n, ETH_P_ARP, all);
		return;
	}
	ndp_group(a, &group);
	(void)neigh_many(&group, mac);
	n = ndp_build(buf, 1, &from, w->mac, &group, a);
	small_frame(w, buf, n, ETH_P_IPV6, mac);
}

/* The entry of @a, or NULL.  Locks: the table's, here and below. */
static struct ip_neigh *
find(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_neigh *e;

	for (e = w->neigh; e < w->neigh + IP_NEIGHS; e++)
		if (e->state != FREE && same(&e->addr, a))
			return e;
	return NULL;
}

/* The entry of @a, or the one to be used for it: free, or not used lately. */
static struct ip_neigh *
entry(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_neigh *e, *found = find(w, a);

	if (found != NULL)
		return found;
	for (e = w->neigh; e < w->neigh + IP_NEIGHS; e++) {
		if (found == NULL || (found->state != FREE &&
			(e->state == FREE || e->used < found->used)))
			found = e;
	}
	ip_set(&found->state, FREE);
	STR_POINT("ip:neighbour");
	found->addr = *a;
	found->since = found->asked = 0;
	found->held = 0;
	return found;
}

/*
 * The entry of @a, where a member wants to send something, and whether it is
 * to be asked for.  Locks: the table's.
 */
static struct ip_neigh *
wanted(struct ip_wire *w, const struct ip_addr *a, int *ret_asks)
{
	struct ip_neigh *e = entry(w, a);
	uint64_t now = str_now();

	e->used = now;
	if (e->state == KNOWN && now - e->since > GONE)
		e->state = ASKING;
	if (e->state == FREE)
		ip_set(&e->state, ASKING);
	*ret_asks = (e->state != KNOWN || now - e->since > OLD) &&
		now - e->asked > SECOND;
	if (*ret_asks) {
		e->asked = now;
		STR_POINT("ip:asking");
	}
	return e;
}

/* @a is at @mac; only what a member wants to know is kept, unless @make. */
static void
learn(struct ip_wire *w, const struct ip_addr *a, const unsigned char *mac,
	int make)
{
	struct ip_shared *sh = ip_shared();
	struct ip_neigh *e;
	int waits = 0;

	mutex_enter(&sh->nlock);
	e = make ? entry(w, a) : find(w, a);
	if (e != NULL) {
		waits = e->state == ASKING;
		ip_set(&e->state, ASKING);
		bcopy(mac, e->mac, 6);
		STR_POINT("ip:learning");
		e->since = e->used = str_now();
		ip_set(&e->state, KNOWN);
	}
	mutex_exit(&sh->nlock);
	STR_POINT("ip:learnt");
	if (waits)
		qenable(WR(w->rq));
}

/* A station asks, or tells. */
static void
heard(struct ip_wire *w, const struct neigh_msg *m, const unsigned char *from)
{
	static const struct ip_addr all = {
		16, {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
	const unsigned char *mac = m->known ? m->mac : from;
	unsigned char buf[128], to[6];
	const struct ip_addr *dst = &m->who;
	uint32_t n;
	int mine = m->ask && ip_is_own(w, &m->target);

	if (m->known && !ip_is_own(w, &m->who))
		learn(w, &m->who, m->mac, mine);
	if (!mine)
		return;
	bcopy(mac, to, 6);
	if (m->target.len == 4) {
		n = arp_build(buf, 0, &m->target, w->mac, &m->who, to);
		small_frame(w, buf, n, ETH_P_ARP, to);
		return;
	}
	if (!m->known) { /* RFC 4861 s7.2.4: who asks has no address yet */
		dst = &all;
		(void)neigh_many(dst, to);
	}
	n = ndp_build(buf, 0, &m->target, w->mac, dst, &m->target);
	small_frame(w, buf, n, ETH_P_IPV6, to);
}

/* ------------------------------------------------------------------ sending */

/* To whom a packet for @dst is given. */
static int
next_hop(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret)
{
	const struct ipw_addr *gw = &w->conf.gateway[dst->len == 16];

	*ret = *dst;
	if (ip_is_near(w, dst))
		return 1;
	if (gw->len == 0)
		return 0;
	bcopy(gw->b, ret->b, gw->len);
	return 1;
}

static uint32_t
proto_to(const struct ip_addr *dst)
{
	return dst->len == 4 ? ETH_P_IP : ETH_P_IPV6;
}

/* A copy of @pkt waits.  0, or an errno.  Locks: the table's. */
static int
wait_for(struct ip_wire *w, struct ip_neigh *e, const mblk_t *pkt)
{
	queue_t *q = WR(w->rq);
	mblk_t *mp;

	/* RFC 1122 s2.3.2.2: at least the last one is kept */
	if (q->q_count > MOST_WAITING) {
		wire_count(&w->pub, WIRE_FULL, 1);
		return 0;
	}
	mp = msgpullup((mblk_t *)(uintptr_t)pkt, -1);
	if (mp == NULL)
		return ENOSR;
	e->held = 1;
	if (putq(q, mp) == 0)
		freemsg(mp);
	if (e->state == KNOWN) /* who was to send them may have died */
		qenable(q);
	return 0;
}

int
ip_packet_send(struct ip_wire *w, struct iovec *iov, uint32_t n,
	const mblk_t *pkt, const struct ip_hdr *h)
{
	struct ip_shared *sh = ip_shared();
	int err = 0, asks, waits;
	unsigned char mac[6];
	struct ip_addr next;
	struct ip_neigh *e;

	if (w->ks[0] == NULL)
		return ENETDOWN;
	if (neigh_many(&h->dst, mac))
		return frame(w, iov, n, proto_to(&h->dst), mac);
	if (!next_hop(w, &h->dst, &next))
		return ENETUNREACH;
	mutex_enter(&sh->nlock);
	e = wanted(w, &next, &asks);
	waits = e->state != KNOWN || e->held;
	if (waits)
		err = wait_for(w, e, pkt);
	else
		bcopy(e->mac, mac, 6);
	mutex_exit(&sh->nlock);
	if (asks)
		ask(w, &next);
	return waits ? err : frame(w, iov, n, proto_to(&h->dst), mac);
}

/* What has waited.  0; EAGAIN: it goes on; else an errno.  Locks: the table's */
static int
again(struct ip_wire *w, mblk_t *mp)
{
	struct iovec iov = {mp->b_rptr, (size_t)MBLKL(mp)};
	struct ip_addr next;
	struct ip_neigh *e;
	struct ip_hdr h;
	int err, asks;

	if (ip_parse(mp->b_rptr, iov.iov_len, iov.iov_len, IP_TRUST, &h) != 0)
		return EINVAL;
	if (!next_hop(w, &h.dst, &next))
		return ENETUNREACH;
	e = wanted(w, &next, &asks);
	if (asks)
		ask(w, &next);
	if (e->state != KNOWN) {
		e->held = 1; /* it may be another's entry now */
		return EAGAIN;
	}
	err = frame(w, &iov, 1, proto_to(&h.dst), e->mac);
	return err == EAGAIN ? ENOBUFS : err;
}

/* What waits, when a station has answered, or to give it up. */
void
ip_packet_again(struct ip_wire *w)
{
	struct ip_shared *sh = ip_shared();
	queue_t *q = WR(w->rq);
	struct ip_neigh *e;
	size_t left;
	mblk_t *mp;
	int err;

	mutex_enter(&sh->nlock);
	left = (size_t)qsize(q);
	while (left-- != 0 && (mp = getq(q)) != NULL) {
		err = again(w, mp);
		/* all go round once, and none comes between them */
		if (err == EAGAIN && w->waited < WAIT && putq(q, mp) != 0)
			continue;
		if (err != 0)
			wire_count(&w->pub, WIRE_FULL, 1);
		freemsg(mp);
	}
	for (e = w->neigh; e < w->neigh + IP_NEIGHS; e++)
		if (e->state == KNOWN)
			e->held = 0;
	mutex_exit(&sh->nlock);
}

/* ---------------------------------------------------------------- receiving */

/* Is the checksum one that a device shall fill in? */
static int
is_unfinished(const struct ksock_msg *m)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;
	struct msghdr mh;

	bzero(&mh, sizeof(mh));
	mh.msg_control = m->km_ctl;
	mh.msg_controllen = m->km_ctllen;
	for (c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type !=
			PACKET_AUXDATA)
			continue;
		bcopy(CMSG_DATA(c), &aux, sizeof(aux));
		return (aux.tp_status & TP_STATUS_CSUMNOTREADY) != 0;
	}
	return 0;
}

static void
input(struct ip_wire *w, mblk_t *mp, const struct sockaddr_ll *ll,
	unsigned int flags)
{
	uint32_t n = (uint32_t)MBLKL(mp);
	struct neigh_msg m;
	struct ip_hdr h;

	switch (ntohs(ll->sll_protocol)) {
	case ETH_P_ARP:
		if (arp_parse(mp->b_rptr, n, &m))
			heard(w, &m, ll->sll_addr);
		break;
	case ETH_P_IPV6:
		if (ip_parse(mp->b_rptr, n, n, 0, &h) == 0 &&
			ndp_parse(mp->b_rptr + h.hlen, h.len, &h, &m))
			heard(w, &m, ll->sll_addr);
		/* FALLTHROUGH */
	case ETH_P_IP:
		wire_input(&w->pub, mp, flags);
		return;
	default:
		break;
	}
	freemsg(mp);
}

/* 1: there was one. */
int
ip_packet_recv(struct ip_wire *w)
{
	unsigned long ctl[16];
	struct sockaddr_ll ll;
	struct ksock_msg m;
	struct iovec iov;
	mblk_t *mp = ip_block(w, IP_MOST);

	if (mp == NULL)
		return 0;
	iov.iov_base = mp->b_rptr;
	iov.iov_len = IP_MOST;
	bzero(&m, sizeof(m));
	m.km_iov = &iov;
	m.km_iovlen = 1;
	m.km_addr = &ll;
	m.km_addrlen = sizeof(ll);
	m.km_ctl = ctl;
	m.km_ctllen = sizeof(ctl);
	if (ksock_recvmm(w->ks[0], &m, 1, 0) != 1) {
		ip_block_keep(w, mp);
		return 0;
	}
	if (ll.sll_pkttype == PACKET_OUTGOING ||
		ll.sll_pkttype == PACKET_OTHERHOST) {
		ip_block_keep(w, mp);
		return 1;
	}
	mp->b_wptr = mp->b_rptr + m.km_len;
	mp = ip_block_fit(w, mp, IP_MOST);
	if (mp != NULL)
		input(w, mp, &ll, is_unfinished(&m) ? IP_TRUST : 0);
	return 1;
}

/*
 * ip_packet_group - the interface listens to what is sent to @group, or not
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

/* RFC 1112 s4, RFC 4291 s2.8: the groups that every station is in. */
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
	}
}

/* The socket, which has just been made, is one of the interface's. */
int
ip_packet_set(struct ip_wire *w)
{
	struct sockaddr_ll ll;
	struct ifreq r;
	ksock_t *ks = w->ks[0];
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
	bzero(&ll, sizeof(ll));
	ll.sll_family = AF_PACKET;
	ll.sll_protocol = htons(ETH_P_ALL);
	ll.sll_ifindex = w->ifindex;
	return -ksock_bind(ks, &ll, sizeof(ll));
}
