/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The interface below a wire of frames or a TUN device: its changes.
 *
 * Purpose.  An interface can be set down and up, get another address or MTU, be
 * renamed, be removed, and be made again with the same name.  A wire whose
 * interface is down or gone is dead: sends on it fail at once.
 *
 * Life.  A socket of rtnetlink(7) has input when any interface has changed.
 * The report itself is not read: the wire asks the system for the present state
 * of its own interface, because reports can be lost.  For the same reason the
 * wire's timer asks, too.
 *
 * Locks.  The perimeter of the wire's stream.  Senders read `dead', `mtu' and
 * `mac' without it; a frame that is sent during a change may have the old
 * address.
 *
 * Crash.  The timer of the next process asks again.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/ioctl.h>
#include <net/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include "ip_impl.h"

#define LINK 1u /* number of the socket */

/* ip_link_make - make the socket.  0, or an errno. */
int
ip_link_make(struct ip_wire *w)
{
	struct sockaddr_nl nl;
	int err = ip_lower_get(w, LINK, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (err != 0)
		return err;
	bzero(&nl, sizeof(nl));
	nl.nl_family = AF_NETLINK;
	nl.nl_groups = RTMGRP_LINK;
	return -ksock_bind(w->ks[LINK], &nl, sizeof(nl));
}

static int
query(struct ip_wire *w, unsigned long cmd, struct ifreq *r)
{
	return -ksock_ioctl(w->ks[LINK], cmd, (int *)(void *)r);
}

static void
set_dead(struct ip_wire *w, int error)
{
	w->state = IPW_DOWN;
	w->error = error;
	str_store(&w->dead, 1u);
}

/*
 * RFC 5227 s2.1, RFC 4862 s5.4: after an interface was down its addresses are
 * probed again.
 */
static void
set_alive(struct ip_wire *w)
{
	if (str_load(&w->dead) == 0)
		return;
	ip_resolve_clear(w);
	bzero(w->claim, sizeof(w->claim));
	ip_listen_again(w);
	w->state = IPW_UP;
	w->error = 0;
	str_store(&w->dead, 0u);
}

/* There is another interface, or there was none: bind to it. */
static int
find(struct ip_wire *w, struct ifreq *r)
{
	int err;

	bcopy(w->conf.ifname, r->ifr_name, IPW_NAMELEN);
	err = query(w, SIOCGIFINDEX, r);
	if (err == 0 && r->ifr_ifindex != w->ifindex &&
		w->kind == IPW_PACKET) {
		err = ip_packet_set(w);
		if (err == 0)
			ip_groups_again(w);
		str_store(&w->dead, 1u); /* it is another network */
	} else if (err == 0) {
		w->ifindex = r->ifr_ifindex;
	}
	bcopy(w->conf.ifname, r->ifr_name, IPW_NAMELEN);
	return err;
}

static void
set_mtu(struct ip_wire *w, uint32_t mtu)
{
	if (mtu > IP_MOST)
		mtu = IP_MOST;
	if (w->conf.mtu != 0 && mtu > w->conf.mtu)
		mtu = w->conf.mtu;
	if (mtu >= IP4_MTU && mtu != w->mtu)
		str_store(&w->mtu, mtu);
}

/* ip_link_look - find out how the interface is now */
void
ip_link_look(struct ip_wire *w)
{
	struct ifreq r;
	int err;

	if ((w->kind != IPW_PACKET && w->kind != IPW_TUN) ||
		w->ks[LINK] == NULL)
		return;
	bzero(&r, sizeof(r));
	r.ifr_ifindex = w->ifindex;
	err = w->ifindex == 0 ? ENODEV : query(w, SIOCGIFNAME, &r);
	if (err == ENODEV || err == ENXIO)
		err = find(w, &r);
	if (err == 0)
		err = query(w, SIOCGIFFLAGS, &r);
	if (err == ENODEV || err == ENXIO) {
		set_dead(w, ENODEV);
		return;
	}
	if (err != 0)
		return; /* this process has no descriptor now */
	if ((r.ifr_flags & (IFF_UP | IFF_RUNNING)) != (IFF_UP | IFF_RUNNING)) {
		set_dead(w, ENETDOWN);
		return;
	}
	if (query(w, SIOCGIFMTU, &r) == 0)
		set_mtu(w, (uint32_t)r.ifr_mtu);
	if (w->kind == IPW_PACKET && query(w, SIOCGIFHWADDR, &r) == 0 &&
		bcmp(r.ifr_hwaddr.sa_data, w->mac, 6) != 0) {
		bcopy(r.ifr_hwaddr.sa_data, w->mac, 6);
		ip_resolve_moved(w);
	}
	set_alive(w);
}

/* ip_link_input - there may be reports */
void
ip_link_input(struct ip_wire *w)
{
	unsigned char buf[256]; /* the rest of a report is cut off */
	struct iovec iov = {buf, sizeof(buf)};
	ksock_t *ks = w->ks[LINK];
	long n;

	if (ks == NULL || (ksock_events(ks) & KS_IN) == 0)
		return;
	do
		n = ksock_recv(ks, &iov, 1, NULL);
	while (n > 0 || n == -ENOBUFS);
	ip_link_look(w);
}
