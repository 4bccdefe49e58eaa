/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages of ARP and Neighbor Discovery: RFC 826, 5227, 4861.
 */
#include <errno.h>
#include <string.h>
#include "t.h"
#include "pkt.h"

static unsigned char data[100];
static struct ip_hdr h;

static void
begin(unsigned len)
{
	unsigned i;

	memset(&h, 0, sizeof(h));
	h.src.len = h.dst.len = len;
	h.src.b[0] = 10;
	h.dst.b[0] = 10;
	h.src.b[len - 1] = 1;
	h.dst.b[len - 1] = 2;
	h.proto = 253;
	h.ttl = 64;
	h.id = 77;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
}

T_CASE(arp_is_written_and_read)
{
	static const unsigned char mac[6] = {2, 1, 2, 3, 4, 5};
	unsigned char buf[128];
	struct neigh_msg m;
	uint32_t n, i;

	begin(4);
	n = arp_build(buf, 1, &h.src, mac, &h.dst, mac);
	T_EQ(n, 28);
	T_MEM(buf, "\0\1\10\0\6\4\0\1\2\1\2\3\4\5\12\0\0\1\0\0\0\0\0\0"
		"\12\0\0\2", 28);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.ask, 1);
	T_EQ(m.known, 1);
	T_MEM(m.mac, mac, 6);
	T_MEM(m.who.b, h.src.b, 4);
	T_MEM(m.target.b, h.dst.b, 4);
	for (i = 0; i < n; i++)
		T_EQ(arp_parse(buf, i, &m), 0);
	for (i = 0; i < 7; i++) {
		buf[i] ^= 1;
		T_EQ(arp_parse(buf, n, &m), 0);
		buf[i] ^= 1;
	}
	T_EQ(m.probe, 0);
	T_EQ(m.solicited, 0);
	/* RFC 5227 s1.1: a probe */
	memset(buf + 14, 0, 4);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.probe, 1);
	buf[7] = 2; /* an answer of no address */
	T_EQ(arp_parse(buf, n, &m), 0);
	n = arp_build(buf, 0, &h.dst, mac, &h.src, mac);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.ask, 0);
	T_EQ(m.solicited, 1);
	T_MEM(m.who.b, h.dst.b, 4);
	/* an announcement */
	n = arp_build(buf, 0, &h.dst, mac, &h.dst, mac);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.solicited, 0);
}

T_CASE(neighbour_discovery_is_written_and_read)
{
	static const unsigned char mac[6] = {2, 1, 2, 3, 4, 5};
	unsigned char buf[128], to[6];
	struct ip_addr group, from, target;
	struct neigh_msg m;
	struct ip_hdr f;
	uint32_t n, i;

	begin(16);
	from = h.src;
	target = h.dst;
	ndp_group(&target, &group);
	T_MEM(group.b, "\377\2\0\0\0\0\0\0\0\0\0\1\377\0\0\2", 16);
	T_EQ(neigh_many(&group, to), 1);
	T_MEM(to, "\63\63\377\0\0\2", 6);
	n = ndp_build(buf, 1, &from, mac, &group, &target);
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(f.ttl, 255);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 1);
	T_EQ(m.ask, 1);
	T_EQ(m.known, 1);
	T_MEM(m.mac, mac, 6);
	T_MEM(m.who.b, from.b, 16);
	T_MEM(m.target.b, target.b, 16);
	for (i = 0; i < f.len; i++) {
		T_EQ(ndp_parse(buf + 40, i, &f, &m), 0);
		buf[40 + i] ^= 4;
		T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
		buf[40 + i] ^= 4;
	}
	/* RFC 4861 s7.1: it must not have come from elsewhere */
	f.ttl = 254;
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
	n = ndp_build(buf, 0, &target, mac, &from, &target);
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 1);
	T_EQ(m.ask, 0);
	T_MEM(m.who.b, target.b, 16);
	T_EQ(buf[44], 0x60);
	T_EQ(m.solicited, 1);
	T_EQ(m.override, 1);
}

/* RFC 4861 s7.1.1, s7.1.2, s7.2.4 */
T_CASE(some_neighbour_discovery_is_refused)
{
	static const unsigned char mac[6] = {2, 1, 2, 3, 4, 5};
	struct ip_addr group, none = {16, {0}};
	unsigned char buf[128];
	struct neigh_msg m;
	struct ip_hdr f;
	uint32_t n;

	begin(16);
	ndp_group(&h.dst, &group);
	n = ndp_build(buf, 1, &none, mac, &group, &h.dst);
	T_EQ(n, 64); /* no option says where it is */
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 1);
	T_EQ(m.probe, 1);
	T_EQ(m.known, 0);
	/* an unspecified source asks only the group of the target */
	n = ndp_build(buf, 1, &none, mac, &h.dst, &h.dst);
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
	/* ... and does not say where it is */
	n = ndp_build(buf, 1, &h.src, mac, &group, &h.dst);
	memset(buf + 8, 0, 16);
	buf[42] = buf[43] = 0;
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	n = ip_fold(ip_sum(buf + 40, f.len,
		ip_pseudo(&f.src, &f.dst, P_ICMP6, f.len), 0));
	buf[42] = (unsigned char)(n >> 8);
	buf[43] = (unsigned char)n;
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
	/* an answer to all is not solicited */
	ndp_group(&h.src, &group);
	group.b[0] = 0xff;
	n = ndp_build(buf, 0, &h.dst, mac, &h.src, &h.dst);
	memcpy(buf + 24, group.b, 16);
	buf[42] = buf[43] = 0;
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	n = ip_fold(ip_sum(buf + 40, f.len,
		ip_pseudo(&f.src, &f.dst, P_ICMP6, f.len), 0));
	buf[42] = (unsigned char)(n >> 8);
	buf[43] = (unsigned char)n;
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
}

T_CASE(many_hear_at_one_place)
{
	unsigned char mac[6];

	begin(4);
	T_EQ(neigh_many(&h.dst, mac), 0);
	memcpy(h.dst.b, "\340\200\1\2", 4);
	T_EQ(neigh_many(&h.dst, mac), 1);
	T_MEM(mac, "\1\0\136\0\1\2", 6);
	memset(h.dst.b, 255, 4);
	T_EQ(neigh_many(&h.dst, mac), 1);
	T_MEM(mac, "\377\377\377\377\377\377", 6);
	begin(16);
	T_EQ(neigh_many(&h.dst, mac), 0);
}
