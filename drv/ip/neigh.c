/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses of the stations on an Ethernet: messages of ARP (RFC 826) and of
 * IPv6's Neighbor Discovery (RFC 4861 s4.3, s4.4).
 */
#include "bytes.h"
#include "pkt.h"

#define ARP_LEN 28u
#define NDP_LEN 24u /* without options */
#define OPT_SOURCE 1u
#define OPT_TARGET 2u
#define NS 135u
#define NA 136u

static void
addr4(struct ip_addr *a, const unsigned char *p)
{
	__builtin_memset(a, 0, sizeof(*a));
	a->len = 4;
	__builtin_memcpy(a->b, p, 4);
}

int
arp_parse(const unsigned char *p, uint32_t n, struct neigh_msg *ret)
{
	static const unsigned char head[7] = {0, 1, 8, 0, 6, 4, 0};

	if (n < ARP_LEN || __builtin_memcmp(p, head, 7) != 0 ||
		(p[7] != 1 && p[7] != 2))
		return 0;
	ret->ask = p[7] == 1;
	__builtin_memcpy(ret->mac, p + 8, 6);
	addr4(&ret->who, p + 14);
	addr4(&ret->target, p + 24);
	ret->probe = (p[14] | p[15] | p[16] | p[17]) == 0;
	if (ret->probe && !ret->ask)
		return 0;
	ret->known = 1;
	ret->override = 1;
	/* RFC 5227 s3: an announcement may be an answer, too */
	ret->solicited = !ret->ask &&
		__builtin_memcmp(p + 14, p + 24, 4) != 0;
	if (!ret->ask)
		ret->target = ret->who;
	return 1;
}

uint32_t
arp_build(unsigned char *p, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *to,
	const unsigned char *tomac)
{
	__builtin_memcpy(p, "\0\1\10\0\6\4\0\2", 8);
	p[7] = ask ? 1 : 2;
	__builtin_memcpy(p + 8, mac, 6);
	__builtin_memcpy(p + 14, from->b, 4);
	__builtin_memset(p + 18, 0, 6);
	if (!ask)
		__builtin_memcpy(p + 18, tomac, 6);
	__builtin_memcpy(p + 24, to->b, 4);
	return ARP_LEN;
}

void
ndp_group(const struct ip_addr *target, struct ip_addr *ret)
{
	static const unsigned char head[13] = {
		0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

	ret->len = 16;
	__builtin_memcpy(ret->b, head, 13);
	__builtin_memcpy(ret->b + 13, target->b + 13, 3);
}

static int
is_zero(const unsigned char *p, uint32_t n)
{
	while (n-- != 0)
		if (*p++ != 0)
			return 0;
	return 1;
}

int
ndp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct neigh_msg *ret)
{
	struct ip_addr group;
	uint32_t at, want;

	if (h->proto != P_ICMP6 || n < NDP_LEN || (p[0] != NS && p[0] != NA) ||
		h->ttl != 255 || p[1] != 0 || p[8] == 0xff)
		return 0;
	if (ip_fold(ip_sum(p, n, ip_pseudo(&h->src, &h->dst, P_ICMP6, n),
		0)) != 0)
		return 0;
	ret->ask = p[0] == NS;
	ret->target.len = 16;
	__builtin_memcpy(ret->target.b, p + 8, 16);
	ret->who = ret->ask ? h->src : ret->target;
	ret->probe = ret->ask && is_zero(h->src.b, 16);
	ret->known = 0;
	ret->solicited = !ret->ask && (p[4] & 0x40) != 0;
	ret->override = ret->ask || (p[4] & 0x20) != 0;
	if (ret->solicited && h->dst.b[0] == 0xff)
		return 0; /* RFC 4861 s7.1.2 */
	want = ret->ask ? OPT_SOURCE : OPT_TARGET;
	for (at = NDP_LEN; at + 8 <= n; at += p[at + 1] * 8u) {
		if (p[at + 1] == 0)
			return 0; /* RFC 4861 s4.6 */
		if (p[at] != want || p[at + 1] != 1)
			continue;
		__builtin_memcpy(ret->mac, p + at + 2, 6);
		ret->known = 1;
	}
	if (!ret->probe)
		return ret->ask || ret->known || ret->solicited;
	/* RFC 4861 s7.1.1 */
	ndp_group(&ret->target, &group);
	return !ret->known && __builtin_memcmp(h->dst.b, group.b, 16) == 0;
}

uint32_t
ndp_build(unsigned char *to, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *dst,
	const struct ip_addr *target)
{
	unsigned char *p = to + 40;
	struct ip_hdr h;

	__builtin_memset(&h, 0, sizeof(h));
	h.src = *from;
	h.dst = *dst;
	h.proto = P_ICMP6;
	h.ttl = 255;
	h.len = is_zero(from->b, 16) ? NDP_LEN : NDP_LEN + 8;
	__builtin_memset(p, 0, NDP_LEN + 8);
	p[0] = ask ? NS : NA;
	if (!ask) /* solicited, unless sent to all; override older entries */
		p[4] = dst->b[0] == 0xff ? 0x20 : 0x60;
	__builtin_memcpy(p + 8, target->b, 16);
	if (h.len > NDP_LEN) {
		p[NDP_LEN] = ask ? OPT_SOURCE : OPT_TARGET;
		p[NDP_LEN + 1] = 1;
		__builtin_memcpy(p + NDP_LEN + 2, mac, 6);
	}
	put16(p + 2, ip_fold(ip_sum(p, h.len,
		ip_pseudo(from, dst, P_ICMP6, h.len), 0)));
	(void)ip_build(p, &h, NULL, 0);
	return 40 + h.len;
}

int
neigh_many(const struct ip_addr *dst, unsigned char *mac)
{
	if (dst->len == 16) {
		mac[0] = mac[1] = 0x33;
		__builtin_memcpy(mac + 2, dst->b + 12, 4);
		return dst->b[0] == 0xff;
	}
	if (dst->b[0] >= 240) {
		__builtin_memset(mac, 0xff, 6);
		return 1;
	}
	mac[0] = 1;
	mac[1] = 0;
	mac[2] = 0x5e;
	mac[3] = dst->b[1] & 0x7f;
	mac[4] = dst->b[2];
	mac[5] = dst->b[3];
	return dst->b[0] >= 224;
}
