/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams in frames: trains, which the sender has left to the device to cut,
 * and checksums that the device would have made.  A tap shows what the wire
 * takes for the received packets.
 */
#include "packetfix.h"

#define DATA 60u /* bytes of the longest train */

static struct dv tap;
static uint64_t was[WIRE_NCOUNTS]; /* counters before */

static uint64_t
since(unsigned what)
{
	return counted(what) - was[what];
}

static void
begin_frames(struct t *t, int taps)
{
	struct ipw_tap want = {.name = "p0"};
	unsigned i;

	begin(t);
	for (i = 0; i < 20; i++) { /* all requests and reports have been sent */
		sim_advance(500000000u);
		ip_resolve_tick(w);
		ip_listen_tick(w);
	}
	if (taps) {
		T_EQ(dv_open(&tap, "ip", 0, CLONEOPEN), 0);
		T_EQ(dv_str(&tap, IPW_TAP, &want, sizeof(want)), 0);
		freemsg(dv_up_type(&tap, M_SETOPTS));
		(void)strqset(tap.above, QHIWAT, 0, 65536);
	}
	for (i = 0; i < WIRE_NCOUNTS; i++)
		was[i] = counted(i);
}

/* The next frame: @n bytes of data from station 2, or its IPv6 address. */
static void
comes(int v6, uint32_t n)
{
	struct ip_hdr h = {.src = host(2), .dst = host(1), .proto = IPPROTO_UDP,
		.ttl = 64, .len = UDP_HDRLEN + n, .id = 0xfffe};
	struct udp_hdr u = {1024, 53, (uint16_t)h.len, 0x1234};
	unsigned char *b = in[nin].b;
	uint32_t hlen, i;

	if (v6) {
		h.src = (struct ip_addr){16, {0xfd, [15] = 2}};
		h.dst = (struct ip_addr){16, {0xfd, [15] = 1}};
	}
	hlen = (uint32_t)ip_size(&h);
	T_LE(hlen + h.len, sizeof(in[0].b));
	(void)ip_build(b + hlen, &h, NULL, 0);
	udp_build(b + hlen, &u);
	for (i = 0; i < n; i++)
		b[hlen + UDP_HDRLEN + i] = (unsigned char)('a' + i);
	in[nin].n = hlen + h.len;
	in[nin++].proto = v6 ? ETH_P_IPV6 : ETH_P_IP;
}

static void
train_comes(int v6, uint32_t n, uint16_t size)
{
	comes(v6, n);
	in[nin - 1].nosum = 1;
	in[nin - 1].kind = VIRTIO_NET_HDR_GSO_UDP_L4;
	in[nin - 1].gso = size;
}

static void
is_received(void)
{
	while (ip_lower_input(w))
		;
	T_EQ(nreceived, nin);
}

/* The tap shows a good datagram with the data from @at on. */
static void
shows(uint32_t at, uint32_t n, uint32_t id)
{
	struct ipw_pkt rec;
	struct udp_hdr u;
	struct ip_hdr h;
	unsigned char *p;
	uint32_t i, sum;
	mblk_t *mp;

	dv_run(&tap);
	do { /* no report that it is for no port */
		mp = dv_up_type(&tap, M_DATA);
		T_NOTNULL(mp);
		memcpy(&rec, mp->b_rptr, sizeof(rec));
		if (rec.out)
			freemsg(mp);
	} while (rec.out);
	p = mp->b_rptr + sizeof(rec);
	T_EQ(ip_parse(p, rec.len, rec.len, 0, &h), 0);
	T_EQ(h.hlen + h.len, rec.len);
	if (h.src.len == 4)
		T_EQ(h.id, id);
	T_EQ(h.len, UDP_HDRLEN + n);
	T_EQ(udp_parse(p + h.hlen, h.len, h.len, &u), 0);
	T_EQ(u.len, h.len);
	sum = ip_pseudo(&h.src, &h.dst, IPPROTO_UDP, h.len);
	T_EQ(ip_fold(ip_sum(p + h.hlen, h.len, sum, 0)), 0);
	for (i = 0; i < n; i++)
		T_EQ(p[h.hlen + UDP_HDRLEN + i], 'a' + at + i);
	freemsg(mp);
}

T_CASE(a_train_is_cut_into_its_datagrams)
{
	begin_frames(t, 1);
	train_comes(0, 50, 20);
	is_received();
	T_EQ(since(WIRE_IN), 3);
	T_EQ(since(WIRE_INBYTES), 3 * 28 + 50);
	T_EQ(since(WIRE_NOPORT), 3);
	shows(0, 20, 0xfffe);
	shows(20, 20, 0xffff);
	shows(40, 10, 0);
}

T_CASE(a_train_of_ipv6_is_cut_into_its_datagrams)
{
	begin_frames(t, 1);
	train_comes(1, 40, 20);
	is_received();
	T_EQ(since(WIRE_IN), 2);
	T_EQ(since(WIRE_NOPORT), 2);
	shows(0, 20, 0);
	shows(20, 20, 0);
}

T_CASE(frames_around_a_train_are_received_too)
{
	begin_frames(t, 0);
	answers(2);
	train_comes(0, 21, 20);
	is_received();
	answers(3);
	train_comes(0, DATA, 1);
	is_received();
	T_EQ(since(WIRE_IN), 2 + DATA);
	T_EQ(since(WIRE_NOPORT), 2 + DATA);
}

T_CASE(what_is_no_train_stays_whole)
{
	begin_frames(t, 0);
	train_comes(0, 20, 20); /* one datagram */
	train_comes(0, 50, 0);
	train_comes(0, 50, 20); /* to be cut by IP (UFO) */
	in[nin - 1].kind = VIRTIO_NET_HDR_GSO_UDP;
	is_received();
	T_EQ(since(WIRE_IN), 3);
	T_EQ(since(WIRE_INBYTES), 3 * 28 + 120);
	T_EQ(since(WIRE_NOPORT), 3);
}

T_CASE(only_a_checksum_that_the_device_makes_may_be_wrong)
{
	begin_frames(t, 1);
	comes(0, 20);
	in[nin - 1].nosum = 1;
	is_received();
	T_EQ(since(WIRE_NOPORT), 1);
	T_EQ(since(WIRE_BAD + IP_CKSUM), 0);
	shows(0, 20, 0xfffe);
	comes(0, 20);
	in[nin - 1].b[10] ^= 1; /* of the IP header */
	is_received();
	T_EQ(since(WIRE_NOPORT), 1);
	T_EQ(since(WIRE_BAD + IP_CKSUM), 1);
}

T_CASE(a_damaged_train_is_dropped)
{
	begin_frames(t, 0);
	train_comes(0, 50, 20);
	in[nin - 1].n -= 10; /* shorter than it says */
	train_comes(0, 50, 20);
	in[nin - 1].b[0] = 0x75; /* of another version */
	train_comes(0, 50, 20);
	in[nin - 1].b[6] |= 0x20; /* a fragment */
	is_received();
	T_EQ(since(WIRE_IN), 3);
	T_EQ(since(WIRE_NOPORT), 0);
	T_EQ(since(WIRE_BAD + IP_SHORT), 1);
	T_EQ(since(WIRE_BAD + IP_VERSION), 1);
	T_EQ(since(WIRE_BAD + IP_CKSUM), 1);
}

T_CASE(a_broadcast_of_the_link_for_one_address_is_dropped)
{
	begin_frames(t, 0);
	comes(0, 20);
	in[nin - 1].type = PACKET_BROADCAST;
	is_received();
	T_EQ(since(WIRE_BAD + IP_ADDR), 1);
	T_EQ(since(WIRE_NOPORT), 0);
}
