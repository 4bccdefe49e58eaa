/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What is discarded, and what is reported to its sender: RFC 1122, 8200.
 */
#include "packetfix.h"

/* ------------------------------------------------------------- broadcasts */

/* A datagram comes, for a port that is not bound, in a frame of @type. */
static void
comes(const char *src, const char *dst, unsigned char type)
{
	struct ip_hdr h = {.src = {4, {0}}, .dst = {4, {0}}, .ttl = 64,
		.proto = 17, .len = UDP_HDRLEN};
	struct udp_hdr u = {1024, 53, UDP_HDRLEN, 0};

	memcpy(h.src.b, src, 4);
	memcpy(h.dst.b, dst, 4);
	udp_build(in[nin].b + 20, &u);
	(void)ip_build(in[nin].b + 20, &h, NULL, 0);
	in[nin].n = 28;
	in[nin].type = type;
	in[nin++].proto = ETH_P_IP;
	(void)ip_lower_input(w);
}

/* Station 9 is known. */
static void
begin_with_nine(struct t *t)
{
	begin(t);
	ticks(20);
	send_to(9, 1);
	answers(9);
	T_EQ(nids, 1);
}

#define NINE "\12\1\0\11"

/* RFC 1122 s3.2.2 */
T_CASE(no_error_is_sent_about_broadcasts)
{
	begin_with_nine(t);
	comes(NINE, OURS, PACKET_HOST);
	T_EQ(nids, 2); /* the port is not bound */
	T_EQ(last[20], 3);
	comes(NINE, OURS, PACKET_BROADCAST);
	comes(NINE, "\377\377\377\377", PACKET_BROADCAST);
	comes(NINE, "\12\1\377\377", PACKET_BROADCAST);
	comes(NINE, "\12\1\377\377", PACKET_HOST);
	comes(NINE, "\340\0\0\1", PACKET_MULTICAST);
	T_EQ(nids, 2);
	T_EQ(counted(WIRE_NOPORT), 5);
	/* RFC 1122 s3.3.6: a frame to all with a packet for one */
	T_EQ(counted(WIRE_BAD + IP_ADDR), 1);
}

/* RFC 1122 s3.2.1.3 */
T_CASE(some_addresses_send_nothing)
{
	static const char *const src[] = {
		"\0\0\0\0", "\0\1\2\3", "\360\0\0\1", "\377\377\377\377",
		"\12\1\377\377", "\12\1\0\0", "\177\0\0\1", "\340\0\0\1",
		OURS};
	unsigned i;

	begin_with_nine(t);
	for (i = 0; i < sizeof(src) / sizeof(src[0]); i++)
		comes(src[i], OURS, PACKET_HOST);
	T_EQ(counted(WIRE_BAD + IP_ADDR), 9);
	T_EQ(counted(WIRE_NOPORT), 0);
	T_EQ(nids, 1);
	comes("\357\0\0\1", OURS, PACKET_HOST);
	comes("\1\0\0\1", OURS, PACKET_HOST);
	T_EQ(counted(WIRE_NOPORT), 1);
}

T_CASE(broadcasts_go_to_all_stations)
{
	static const char *const dst[] = {"\377\377\377\377",
		"\12\1\377\377"};
	struct ip_hdr h = {.src = host(1), .dst = {4, {0}}, .proto = 253,
		.ttl = 64, .len = 4};
	mblk_t *mp;
	unsigned i;

	begin(t);
	ticks(20);
	for (i = 0; i < 2; i++) {
		memcpy(h.dst.b, dst[i], 4);
		T_TRUE(wire_is_broadcast(&w->pub, &h.dst));
		mp = allocb(64, BPRI_MED);
		mp->b_rptr += 40;
		mp->b_wptr = mp->b_rptr + 4;
		h.hlen = (uint16_t)ip_build(mp->b_rptr, &h, NULL, 0);
		mp->b_rptr -= h.hlen;
		T_EQ(wire_send(&w->pub, mp, &h), 0);
		T_EQ(nids, i + 1);
		T_MEM(to_mac, "\377\377\377\377\377\377", 6);
	}
	T_EQ(nasked, 0);
}

/* ------------------------------------------------------------- IPv6 headers */

/* An IPv6 packet with a header of @type of 8 bytes comes, and then @n bytes. */
static void
comes6_with(const char *ext, unsigned char type, int to_group, unsigned char n)
{
	unsigned char *p = in[nin].b;

	memset(p, 0, 100);
	p[0] = 0x60;
	p[5] = 8 + n;
	p[6] = type;
	p[7] = 64;
	p[8] = p[24] = 0xfd;
	p[23] = 9;
	p[39] = 1;
	if (to_group) {
		p[24] = 0xff;
		p[25] = 2;
	}
	memcpy(p + 40, ext, 8);
	in[nin].n = 48u + n;
	in[nin].type = to_group ? PACKET_MULTICAST : PACKET_HOST;
	in[nin++].proto = ETH_P_IPV6;
	(void)ip_lower_input(w);
}

/* ... and then UDP. */
static void
comes6(const char *ext, unsigned char type, int to_group)
{
	comes6_with(ext, type, to_group, 8);
}

/* The sender of comes6(), whose station becomes known. */
static void
meet_nine(const struct ip_addr *us)
{
	unsigned char mac[6] = {2, 0, 0, 0, 0, 9};
	struct ip_addr nine = {16, {0xfd, [15] = 9}};

	in[nin].n = ndp_build(in[nin].b, 1, &nine, mac, us, us);
	in[nin++].proto = ETH_P_IPV6;
	(void)ip_lower_input(w);
}

/* RFC 8200 s4.2, s4.4 */
T_CASE(headers_that_are_not_understood_are_reported)
{
	static const struct {
		unsigned char type;
		int group;
		char ext[9];
		int code, at; /* code -1: nothing is said */
	} row[] = {
		{60, 0, "\21\0\76\4\0\0\0\0", 4, 0}, /* 00: skipped */
		{60, 0, "\21\0\136\4\0\0\0\0", -1, 0},
		{60, 0, "\21\0\236\4\0\0\0\0", 2, 42},
		{60, 0, "\21\0\336\4\0\0\0\0", 2, 42},
		{0, 0, "\21\0\0\236\3\0\0\0", 2, 43},
		{60, 1, "\21\0\236\4\0\0\0\0", 2, 42},
		{60, 1, "\21\0\336\4\0\0\0\0", -1, 0},
		{43, 0, "\21\0\0\1\0\0\0\0", 0, 42},
		{43, 0, "\21\0\7\2\0\0\0\0", 0, 42},
		{60, 0, "\21\0\1\7\0\0\0\0", -1, 0}, /* broken */
	};
	struct ip_addr nine = {16, {0xfd, [15] = 9}};
	struct ip_addr us = {16, {0xfd, [15] = 1}};
	unsigned i, n = 0;

	begin(t);
	ticks(20);
	meet_nine(&us);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		comes6(row[i].ext, row[i].type, row[i].group);
		if (row[i].code == 4)
			continue; /* UDP with a wrong checksum */
		n += row[i].code >= 0;
		T_EQ(nids, n);
		if (row[i].code < 0)
			continue;
		T_EQ(last[6], P_ICMP6);
		T_EQ(last[40], 4);
		T_EQ(last[41], row[i].code);
		T_EQ(last[47], row[i].at);
		T_MEM(last + 8, us.b, 16);
		T_MEM(last + 24, nine.b, 16);
		T_MEM(last + 48 + 40, row[i].ext, 8);
	}
}

/* RFC 8200 s4.5 */
T_CASE(fragments_that_do_not_fit_are_reported)
{
	static const struct {
		char ext[9];
		int group, len, at; /* at -1: nothing is said */
	} row[] = {
		{"\21\0\0\1\0\0\0\7", 0, 13, 4},
		{"\21\0\377\370\0\0\0\7", 0, 8, 42},
		{"\21\0\0\1\0\0\0\7", 1, 13, -1},
	};
	struct ip_addr us = {16, {0xfd, [15] = 1}};
	unsigned i, n = 0;

	begin(t);
	ticks(20);
	meet_nine(&us);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		comes6_with(row[i].ext, 44, row[i].group,
			(unsigned char)row[i].len);
		n += row[i].at >= 0;
		T_EQ(nids, n);
		if (row[i].at < 0)
			continue;
		T_EQ(last[40], 4);
		T_EQ(last[41], 0);
		T_EQ(last[47], row[i].at);
	}
	T_EQ(counted(WIRE_BAD + IP_LENGTH), 3);
}

/* RFC 8200 s4.7 */
T_CASE(a_packet_without_a_next_header_is_not_reported)
{
	struct ip_addr us = {16, {0xfd, [15] = 1}};

	begin(t);
	ticks(20);
	meet_nine(&us);
	comes6("\73\0\1\4\0\0\0\0", 60, 0);
	T_EQ(nids, 0);
	T_EQ(counted(WIRE_NOPROTO), 1);
	comes6("\310\0\1\4\0\0\0\0", 60, 0); /* an unknown protocol */
	T_EQ(nids, 1);
}
