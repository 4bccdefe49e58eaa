/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reports of groups, and queries of routers: mcast.h.
 */
#include "bytes.h"
#include "mcast.h"
#include "pkt.h"

#define P_IGMP 2u
#define P_HOPOPTS 0u
#define MS 1000000ull

#define IGMP_QUERY 0x11u
#define IGMP_REPORT1 0x12u
#define IGMP_REPORT2 0x16u
#define IGMP_LEAVE2 0x17u
#define IGMP_REPORT3 0x22u
#define MLD_QUERY 130u
#define MLD_REPORT1 131u
#define MLD_DONE1 132u
#define MLD_REPORT2 143u

static const unsigned char alert4[4] = {0x94, 4, 0, 0};
static const unsigned char alert6[8] = {P_ICMP6, 0, 5, 2, 0, 0, 1, 0};

/* RFC 3376 s6, RFC 3810 s6: all hosts' group, and groups within a host. */
static int
is_silent(const struct ip_addr *a)
{
	static const unsigned char all4[4] = {224, 0, 0, 1};
	static const unsigned char all6[16] = {0xff, 2, [15] = 1};

	if (a->len == 4)
		return __builtin_memcmp(a->b, all4, 4) == 0;
	return (a->b[1] & 15) < 2 || __builtin_memcmp(a->b, all6, 16) == 0;
}

static uint32_t
message(unsigned char *p, enum mcast_record what, const struct ip_addr *g,
	enum mcast_version version)
{
	int six = g->len == 16, leaves = what == MCAST_LEAVES;

	__builtin_memset(p, 0, 28);
	if (version != MCAST_NEW && six) {
		p[0] = leaves ? MLD_DONE1 : MLD_REPORT1;
		__builtin_memcpy(p + 8, g->b, 16);
		return 24;
	}
	if (version != MCAST_NEW) {
		p[0] = leaves ? IGMP_LEAVE2 :
			version == MCAST_OLD ? IGMP_REPORT2 : IGMP_REPORT1;
		__builtin_memcpy(p + 4, g->b, 4);
		return 8;
	}
	p[0] = six ? MLD_REPORT2 : IGMP_REPORT3;
	p[7] = 1; /* one record */
	p[8] = (unsigned char)what;
	__builtin_memcpy(p + 12, g->b, g->len);
	return 12 + g->len;
}

/* Where a report is sent. */
static void
destination(enum mcast_record what, const struct ip_addr *g, int old,
	struct ip_addr *ret)
{
	uint32_t last = g->len - 1;

	if (old && what != MCAST_LEAVES) {
		*ret = *g;
		return;
	}
	__builtin_memset(ret, 0, sizeof(*ret));
	ret->len = g->len;
	ret->b[0] = g->len == 4 ? 224 : 0xff;
	ret->b[1] = g->len == 4 ? 0 : 2;
	ret->b[last] = old ? 2 : g->len == 4 ? 22 : 0x16;
}

uint32_t
mcast_report(unsigned char *to, enum mcast_record what,
	const struct ip_addr *group, const struct ip_addr *from,
	enum mcast_version version)
{
	unsigned char msg[28];
	uint32_t n, size, sum = 0;
	struct ip_hdr h;

	if (is_silent(group) || from->len != group->len ||
		(version == MCAST_OLDEST && what == MCAST_LEAVES))
		return 0;
	__builtin_memset(&h, 0, sizeof(h));
	h.src = *from;
	destination(what, group, version != MCAST_NEW, &h.dst);
	h.ttl = 1;
	n = message(msg, what, group, version);
	if (from->len == 16)
		sum = ip_pseudo(&h.src, &h.dst, P_ICMP6, n);
	put16(msg + 2, ip_fold(ip_sum(msg, n, sum, 0)));
	if (from->len == 4) {
		h.proto = P_IGMP;
		h.tos = 0xc0; /* RFC 3376 s4 */
		h.optlen = sizeof(alert4);
		h.len = n;
		size = (uint32_t)ip_size(&h);
	} else {
		h.proto = P_HOPOPTS;
		h.len = n + sizeof(alert6);
		size = (uint32_t)ip_size(&h) + sizeof(alert6);
		__builtin_memcpy(to + size - sizeof(alert6), alert6,
			sizeof(alert6));
	}
	(void)ip_build(to + ip_size(&h), &h, alert4, 0);
	__builtin_memcpy(to + size, msg, n);
	return size + n;
}

/* RFC 3376 s4.1.1, RFC 3810 s5.1.3: a number with @bits of mantissa. */
static uint32_t
code(uint32_t v, uint32_t bits)
{
	uint32_t top = 1u << (bits + 3);

	if (v < top)
		return v;
	return ((v & ((1u << bits) - 1)) | 1u << bits)
		<< ((v >> bits & 7) + 3);
}

static int
is_zero(const unsigned char *p, uint32_t n)
{
	while (n-- != 0)
		if (*p++ != 0)
			return 0;
	return 1;
}

static int
igmp_query(const unsigned char *p, uint32_t n, struct mcast_query *ret)
{
	if (n < 8 || p[0] != IGMP_QUERY || (n > 8 && n < 12) ||
		ip_fold(ip_sum(p, n, 0, 0)) != 0)
		return 0;
	/* RFC 3376 s7.1; IGMPv1 has no time: 10 s */
	ret->version = n > 8 ? MCAST_NEW : p[1] != 0 ? MCAST_OLD : MCAST_OLDEST;
	ret->delay = ret->version == MCAST_OLDEST ? 10000 * MS :
		(ret->version == MCAST_OLD ? p[1] : code(p[1], 4)) * 100 * MS;
	ret->group.len = is_zero(p + 4, 4) ? 0 : 4;
	__builtin_memcpy(ret->group.b, p + 4, 4);
	return 1;
}

static int
mld_query(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct mcast_query *ret)
{
	if (n < 24 || p[0] != MLD_QUERY || (n > 24 && n < 28) || h->ttl != 1 ||
		h->src.b[0] != 0xfe || (h->src.b[1] & 0xc0) != 0x80 ||
		ip_fold(ip_sum(p, n, ip_pseudo(&h->src, &h->dst, P_ICMP6, n),
			0)) != 0)
		return 0; /* RFC 3810 s5.1.14, s6.2 */
	ret->version = n == 24 ? MCAST_OLD : MCAST_NEW;
	ret->delay = (n == 24 ? get16(p + 4) : code(get16(p + 4), 12)) * MS;
	ret->group.len = is_zero(p + 8, 16) ? 0 : 16;
	__builtin_memcpy(ret->group.b, p + 8, 16);
	return 1;
}

int
mcast_query(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct mcast_query *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	if (h->src.len == 4)
		return h->proto == P_IGMP && igmp_query(p, n, ret);
	return h->proto == P_ICMP6 && mld_query(p, n, h, ret);
}
