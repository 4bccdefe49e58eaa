/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reports of groups, and queries: RFC 2236, 2710, 3376, 3810.
 */
#include <string.h>
#include "t.h"
#include "mcast.h"
#include "pkt.h"

#define MS 1000000ull

static unsigned char out[MCAST_MOST + 8];
static const struct ip_addr us = {4, {10, 0, 0, 9}};
static const struct ip_addr group = {4, {239, 1, 2, 3}};
static const struct ip_addr us6 = {16, {0xfe, 0x80, [15] = 9}};
static const struct ip_addr group6 = {16, {0xff, 0x15, [15] = 3}};

T_CASE(reports_have_the_form_of_the_standard)
{
	struct ip_hdr h;
	uint32_t n;

	n = mcast_report(out, MCAST_JOINS, &group, &us, MCAST_NEW);
	T_EQ(n, 24 + 16);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_EQ(h.ttl, 1);
	T_EQ(h.tos, 0xc0);
	T_EQ(h.proto, 2);
	T_MEM(h.dst.b, "\340\0\0\26", 4);
	T_MEM(out + 20, "\224\4\0\0", 4); /* Router Alert */
	T_EQ(out[24], 0x22);
	T_MEM(out + 28, "\0\0\0\1\4\0\0\0\357\1\2\3", 12);
	T_EQ(ip_fold(ip_sum(out + 24, 16, 0, 0)), 0);
	n = mcast_report(out, MCAST_LEAVES, &group6, &us6, MCAST_NEW);
	T_EQ(n, 40 + 8 + 28);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_EQ(h.ttl, 1);
	T_EQ(h.proto, P_ICMP6);
	T_EQ(h.hlen, 48);
	T_MEM(h.dst.b, "\377\2\0\0\0\0\0\0\0\0\0\0\0\0\0\26", 16);
	T_MEM(out + 40, "\72\0\5\2\0\0\1\0", 8);
	T_EQ(out[48], 143);
	T_MEM(out + 54, "\0\1\3\0\0\0", 6);
	T_MEM(out + 60, group6.b, 16);
	T_EQ(ip_fold(ip_sum(out + 48, 28, ip_pseudo(&us6, &h.dst, P_ICMP6, 28),
		0)), 0);
}

T_CASE(older_reports_have_theirs)
{
	struct ip_hdr h;
	uint32_t n;

	n = mcast_report(out, MCAST_IS_MEMBER, &group, &us, MCAST_OLD);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_EQ(h.len, 8);
	T_MEM(h.dst.b, group.b, 4);
	T_EQ(out[24], 0x16);
	n = mcast_report(out, MCAST_LEAVES, &group, &us, MCAST_OLD);
	T_EQ(out[24], 0x17);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_MEM(h.dst.b, "\340\0\0\2", 4);
	n = mcast_report(out, MCAST_JOINS, &group6, &us6, MCAST_OLD);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_EQ(h.len, 24);
	T_EQ(out[48], 131);
	T_MEM(h.dst.b, group6.b, 16);
	/* RFC 1112: IGMPv1 has no message of a host that leaves */
	n = mcast_report(out, MCAST_IS_MEMBER, &group, &us, MCAST_OLDEST);
	T_EQ(ip_parse(out, n, n, 0, &h), 0);
	T_EQ(h.len, 8);
	T_MEM(h.dst.b, group.b, 4);
	T_EQ(out[24], 0x12);
	T_EQ(mcast_report(out, MCAST_LEAVES, &group, &us, MCAST_OLDEST), 0);
}

/* RFC 3376 s6, RFC 3810 s6 */
T_CASE(some_groups_are_not_reported)
{
	struct ip_addr a = {4, {224, 0, 0, 1}};
	struct ip_addr b = {16, {0xff, 2, [15] = 1}};
	struct ip_addr c = {16, {0xff, 1, [15] = 7}};

	T_EQ(mcast_report(out, MCAST_JOINS, &a, &us, MCAST_NEW), 0);
	T_EQ(mcast_report(out, MCAST_JOINS, &b, &us6, MCAST_NEW), 0);
	T_EQ(mcast_report(out, MCAST_JOINS, &c, &us6, MCAST_NEW), 0);
	a.b[3] = 2;
	T_GT(mcast_report(out, MCAST_JOINS, &a, &us, MCAST_NEW), 0u);
}

/* A query of @n bytes of @code for @g: what is read of it. */
static int
query(unsigned n, unsigned code, const struct ip_addr *g, struct mcast_query *q)
{
	struct ip_hdr h = {.src = us, .dst = {4, {224, 0, 0, 1}}, .proto = 2,
		.ttl = 1};
	unsigned char p[32] = {0x11, (unsigned char)code};
	uint32_t sum = 0;

	if (g->len == 16) {
		h.src = us6;
		h.dst = (struct ip_addr){16, {0xff, 2, [15] = 1}};
		h.proto = P_ICMP6;
		p[0] = 130;
		p[1] = 0;
		p[4] = (unsigned char)(code >> 8);
		p[5] = (unsigned char)code;
		memcpy(p + 8, g->b, 16);
		sum = ip_pseudo(&h.src, &h.dst, P_ICMP6, n);
	} else {
		memcpy(p + 4, g->b, 4);
	}
	sum = ip_fold(ip_sum(p, n, sum, 0));
	p[2] = (unsigned char)(sum >> 8);
	p[3] = (unsigned char)sum;
	return mcast_query(p, n, &h, q);
}

T_CASE(queries_are_read)
{
	static const struct ip_addr any = {4, {0}}, any6 = {16, {0}};
	struct mcast_query q;

	T_EQ(query(12, 100, &any, &q), 1);
	T_EQ(q.version, MCAST_NEW);
	T_EQ(q.group.len, 0);
	T_TRUE(q.delay == 10000 * MS);
	T_EQ(query(12, 0x8f, &group, &q), 1); /* (15 | 16) << 3 */
	T_TRUE(q.delay == 31 * 8 * 100 * MS);
	T_MEM(q.group.b, group.b, 4);
	T_EQ(query(8, 50, &any, &q), 1);
	T_EQ(q.version, MCAST_OLD);
	T_TRUE(q.delay == 5000 * MS);
	T_EQ(query(8, 0, &any, &q), 1);
	T_EQ(q.version, MCAST_OLDEST);
	T_TRUE(q.delay == 10000 * MS);
	T_EQ(query(9, 50, &any, &q), 0);
	T_EQ(query(7, 50, &any, &q), 0);
	T_EQ(query(28, 1000, &any6, &q), 1);
	T_EQ(q.version, MCAST_NEW);
	T_TRUE(q.delay == 1000 * MS);
	T_EQ(query(24, 1000, &group6, &q), 1);
	T_EQ(q.version, MCAST_OLD);
	T_EQ(q.group.len, 16);
	T_EQ(query(25, 1000, &any6, &q), 0);
}
