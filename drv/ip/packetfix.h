/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fixture of tests of wires of frames: the interface, and the stations behind
 * it, are the test.
 */
#ifndef DRV_IP_PACKETFIX_H
#define DRV_IP_PACKETFIX_H

#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include "../drvfix.h"
#include "ip_impl.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

extern const struct str_builtin str_drv_ip;

#define MOST 16384u

static STR_UNUSED struct dv a_stream, once;
static STR_UNUSED struct ip_wire *w;

/* What was sent: ids of packets, and who was asked for. */
static STR_UNUSED unsigned ids[MOST], nids;
static STR_UNUSED unsigned asked[MOST], nasked;
static STR_UNUSED unsigned nprobes, nannounced; /* of the wire's own address */
static STR_UNUSED unsigned char last6[128]; /* of Neighbor Discovery */
static STR_UNUSED unsigned nprobes6, nannounced6, nreports, nreports6;
static STR_UNUSED int full; /* the interface takes nothing */
static STR_UNUSED unsigned char last[1300], to_mac[6]; /* the last packet, its station */
/* What comes: frames that the wire has not received yet. */
static struct {
	unsigned char b[100], from[6], type; /* PACKET_* */
	size_t n;
	uint16_t proto;
	uint16_t gso;	/* not 0: a train of datagrams with so many bytes */
	uint16_t kind;	/* ... VIRTIO_NET_HDR_GSO_* */
	uint8_t nosum;	/* the device would have made the checksum */
} in[MOST];
static STR_UNUSED unsigned nin, nreceived;

static STR_UNUSED long
sent(const struct ksock_msg *m)
{
	const struct sockaddr_ll *ll = m->km_addr;
	const unsigned char *p = m->km_iov->iov_base;

	if (full)
		return -1;
	if (ll->sll_protocol == htons(ETH_P_ARP)) {
		if (p[7] == 1 && memcmp(p + 14, "\0\0\0\0", 4) == 0)
			nprobes++;
		else if (memcmp(p + 14, p + 24, 4) == 0)
			nannounced++;
		else
			asked[nasked++ % MOST] = (unsigned)p[26] << 8 | p[27];
	} else if (ll->sll_protocol == htons(ETH_P_IPV6) && p[6] == P_ICMP6 &&
		p[40] >= 133) {
		/* about its IPv6 address */
		memcpy(last6, p, m->km_iov->iov_len);
		nprobes6 += p[40] == 135 && p[8] == 0;
		nannounced6 += p[40] == 136;
	} else if (ll->sll_protocol == htons(ETH_P_IPV6) && p[6] == 0) {
		nreports6++;
	} else if (p[0] == 0x46) {
		nreports++;
		memcpy(to_mac, ll->sll_addr, 6);
		memcpy(last, p, m->km_iov->iov_len);
	} else {
		memcpy(to_mac, ll->sll_addr, 6);
		memcpy(last, p, m->km_iov->iov_len);
		ids[nids++ % MOST] = (unsigned)p[4] << 8 | p[5];
	}
	return 0;
}

/* The socket of UDP gets the next frame behind the header of virtio and that of
 * the link. */
static STR_UNUSED void
received_udp(struct ksock_msg *m)
{
	struct virtio_net_hdr h = {
		.flags = in[nreceived].nosum ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0,
		.gso_type = (uint8_t)in[nreceived].kind,
		.gso_size = in[nreceived].gso};
	unsigned char *to = m->km_iov[0].iov_base;

	memcpy(to, &h, sizeof(h));
	memset(to + sizeof(h), in[nreceived].type == PACKET_HOST ? 2 : 0xff,
		ETH_HLEN);
	memcpy(to + sizeof(h) + ETH_HLEN, in[nreceived].b, in[nreceived].n);
	m->km_len = (uint32_t)(sizeof(h) + ETH_HLEN + in[nreceived].n);
}

static STR_UNUSED long
received(struct ksock_msg *m)
{
	struct sockaddr_ll *ll = m->km_addr;
	const unsigned char *p = in[nreceived].b;
	int udp;

	if (nreceived == nin)
		return -1;
	udp = in[nreceived].proto == ETH_P_IP ? p[9] == IPPROTO_UDP :
		in[nreceived].proto == ETH_P_IPV6 && p[6] == IPPROTO_UDP;
	/* its socket asks for no addresses */
	if (udp != (ll == NULL))
		return -1;
	m->km_flags = 0;
	m->km_ctllen = 0;
	if (udp) {
		received_udp(m);
	} else {
		memset(ll, 0, sizeof(*ll));
		ll->sll_protocol = htons(in[nreceived].proto);
		ll->sll_pkttype = in[nreceived].type;
		memcpy(ll->sll_addr, in[nreceived].from, 6);
		memcpy(m->km_iov[0].iov_base, p, in[nreceived].n);
		m->km_len = (uint32_t)in[nreceived].n;
	}
	nreceived++;
	return 0;
}

static STR_UNUSED struct ip_addr
host(unsigned n)
{
	return (struct ip_addr){4, {10, 1, (unsigned char)(n >> 8),
		(unsigned char)n}};
}

/* Receivers may make what all their streams share. */
static STR_UNUSED void
receivers_begin(void)
{
	struct ip_hdr h = {.src = host(1), .dst = host(1), .ttl = 64,
		.proto = 17, .len = UDP_HDRLEN};
	struct udp_hdr u = {1024, 53, UDP_HDRLEN, 0};
	mblk_t *mp = allocb(64, BPRI_MED);

	mp->b_rptr += 20;
	mp->b_wptr = mp->b_rptr + UDP_HDRLEN;
	udp_build(mp->b_rptr, &u);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	wire_input(wire_lo(), mp, 0);
}

/* Further configuration of the wire, or NULL. */
static STR_UNUSED void (*configure)(struct ipw_conf *c);

/* The wire has 10.1.0.1; its stations are all 10.1.0.0/16. */
static STR_UNUSED void
begin(struct t *t)
{
	struct ipw_conf conf = {.name = "p0", .ifname = "x", .mtu = 1500,
		.kind = IPW_PACKET, .own = {{4, 16, {0, 0}, {10, 1, 0, 1}},
			{16, 64, {0, 0}, {0xfd, [15] = 1}}}};

	if (configure != NULL)
		configure(&conf);
	fx_begin(t);
	dv_driver(&str_drv_ip);
	nids = nasked = nin = nreceived = nprobes = nannounced = 0;
	nprobes6 = nannounced6 = nreports = nreports6 = 0;
	memset(in, 0, sizeof(in));
	full = 0;
	sim_sock(sent, received);
	T_NOTNULL(wire_lo());
	receivers_begin();
	/* the table of sockets comes, and stays */
	T_EQ(dv_open(&once, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&once, IPW_ADD, &conf, sizeof(conf)), 0);
	dv_close(&once);
	fx_close(&once.pipe, 0);
	fx_close(&once.pipe, 1);
	(void)str_region_sweep();
	fx_keep();
	T_EQ(dv_open(&a_stream, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&a_stream, IPW_ADD, &conf, sizeof(conf)), 0);
	w = &ip_shared()->wire[1];
	T_STR(w->name, "p0");
}

/* Send packet @id to station @n. */
static STR_UNUSED void
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

/* Half seconds pass, and the wire's clock ticks. */
static STR_UNUSED void
ticks(unsigned n)
{
	while (n-- != 0) {
		sim_advance(500000000u);
		ip_resolve_tick(w);
	}
}

static STR_UNUSED uint64_t
counted(unsigned what)
{
	return ip_counted(w, what);
}

/* Station @n says where it is; the wire has heard it, and that is all. */
static STR_UNUSED void
answers(unsigned n)
{
	unsigned char mac[6] = {2, 0, 0, 0, (unsigned char)(n >> 8),
		(unsigned char)n};
	unsigned char ours[6] = {2, 0, 0, 0, 0, 1};
	struct ip_addr from = host(n), to = host(1);

	in[nin].n = arp_build(in[nin].b, 0, &from, mac, &to, ours);
	in[nin++].proto = ETH_P_ARP;
	while (ip_lower_input(w))
		;
	T_EQ(nreceived, nin);
}

#define OURS "\12\1\0\1" /* the wire's address */

#endif
