/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires of frames: what is sent where, and in which order.  The interface, and
 * the stations behind it, are the test.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "../drvfix.h"
#include "ip_impl.h"

extern const struct str_builtin str_drv_ip;

#define MOST 64u

static struct dv a, once;
static struct ip_wire *w;

/* What was sent: ids of packets, and who was asked for. */
static unsigned ids[MOST], nids;
static unsigned asked[MOST], nasked;
/* What comes: frames that the wire has not received yet. */
static struct { unsigned char b[9000]; size_t n; uint16_t proto; } in[MOST];
static unsigned nin, nreceived;

static long
sent(const struct ksock_msg *m)
{
	const struct sockaddr_ll *ll = m->km_addr;
	const unsigned char *p = m->km_iov->iov_base;

	if (ll->sll_protocol == htons(ETH_P_ARP))
		asked[nasked++ % MOST] = p[27];
	else
		ids[nids++ % MOST] = (unsigned)p[4] << 8 | p[5];
	return 0;
}

static long
received(struct ksock_msg *m)
{
	struct sockaddr_ll *ll = m->km_addr;
	size_t n, at = 0;
	uint32_t i;

	if (nreceived == nin)
		return -1;
	memset(ll, 0, sizeof(*ll));
	ll->sll_protocol = htons(in[nreceived].proto);
	ll->sll_pkttype = PACKET_HOST;
	for (i = 0; i < m->km_iovlen && at < in[nreceived].n; i++) {
		n = in[nreceived].n - at;
		if (n > m->km_iov[i].iov_len)
			n = m->km_iov[i].iov_len;
		memcpy(m->km_iov[i].iov_base, in[nreceived].b + at, n);
		at += n;
	}
	m->km_flags = at < in[nreceived].n ? MSG_TRUNC : 0;
	m->km_len = (uint32_t)at;
	m->km_ctllen = 0;
	nreceived++;
	return 0;
}

static struct ip_addr
host(unsigned n)
{
	return (struct ip_addr){4, {10, 1, 0, (unsigned char)n}};
}

/* The wire has 10.1.0.1; its stations are all 10.1.0.0/16. */
static void
begin(struct t *t)
{
	struct ipw_conf conf = {.name = "p0", .ifname = "x", .mtu = 1500,
		.kind = IPW_PACKET, .own = {{4, 16, {0, 0}, {10, 1, 0, 1}}}};

	fx_begin(t);
	dv_driver(&str_drv_ip);
	nids = nasked = nin = nreceived = 0;
	sim_sock(sent, received);
	T_NOTNULL(wire_lo());
	/* the table of sockets comes, and stays */
	T_EQ(dv_open(&once, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&once, IPW_ADD, &conf, sizeof(conf)), 0);
	dv_close(&once);
	fx_close(&once.pipe, 0);
	fx_close(&once.pipe, 1);
	(void)str_region_sweep();
	fx_keep();
	T_EQ(dv_open(&a, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&a, IPW_ADD, &conf, sizeof(conf)), 0);
	w = &ip_shared()->wire[1];
	T_STR(w->name, "p0");
}

/* Send packet @id to station @n. */
static void
send_to(unsigned n, unsigned id)
{
	struct ip_hdr h = {.src = host(1), .dst = host(n), .proto = 253,
		.ttl = 64, .len = 4, .id = id};
	mblk_t *mp = allocb(64, BPRI_MED);

	mp->b_rptr += 40;
	mp->b_wptr = mp->b_rptr + 4;
	memcpy(mp->b_rptr, "data", 4);
	h.hlen = (uint16_t)ip_build(mp->b_rptr, &h, NULL, 0);
	mp->b_rptr -= h.hlen;
	T_EQ(wire_send(&w->pub, mp, &h), 0);
}

/* Station @n says where it is; the wire has heard it, and that is all. */
static void
answers(unsigned n)
{
	unsigned char mac[6] = {2, 0, 0, 0, 0, (unsigned char)n};
	unsigned char ours[6] = {2, 0, 0, 0, 0, 1};
	struct ip_addr from = host(n), to = host(1);

	in[nin].n = arp_build(in[nin].b, 0, &from, mac, &to, ours);
	in[nin++].proto = ETH_P_ARP;
	(void)ip_lower_input(w);
	T_EQ(nreceived, nin);
}

T_CASE(what_waits_for_a_station_goes_first)
{
	begin(t);
	send_to(2, 1);
	send_to(2, 2);
	T_EQ(nids, 0);
	T_EQ(nasked, 1);
	T_EQ(asked[0], 2);
	answers(2);
	send_to(2, 3); /* before anybody has come to send the others */
	dv_run(&a);
	T_EQ(nids, 3);
	T_EQ(ids[0], 1);
	T_EQ(ids[1], 2);
	T_EQ(ids[2], 3);
	send_to(2, 4); /* and nothing waits any more */
	T_EQ(nids, 4);
	T_EQ(WR(w->rq)->q_count, 0);
}

T_CASE(who_is_not_there_holds_nobody_up)
{
	begin(t);
	send_to(2, 1);
	send_to(3, 2);
	send_to(2, 3);
	send_to(3, 4);
	dv_run(&a);
	T_EQ(nids, 0);
	answers(3);
	send_to(3, 5);
	dv_run(&a);
	T_EQ(nids, 3);
	T_EQ(ids[0], 2);
	T_EQ(ids[1], 4);
	T_EQ(ids[2], 5);
	send_to(3, 6);
	T_EQ(nids, 4); /* though others wait for station 2 */
	send_to(2, 7);
	answers(2);
	dv_run(&a);
	T_EQ(nids, 7);
	T_EQ(ids[4], 1);
	T_EQ(ids[5], 3);
	T_EQ(ids[6], 7);
}
