/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Choice of a source address: source.h.
 */
#include "source.h"

#define LINK 2u /* scopes: RFC 4291 s2.7 */
#define GLOBAL 14u

static int
is_link_local(const struct ip_addr *a)
{
	if (a->len == 4) /* RFC 3927; and loopback */
		return (a->b[0] == 169 && a->b[1] == 254) || a->b[0] == 127;
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

static uint32_t
scope(const struct ip_addr *a)
{
	if (a->len == 16 && a->b[0] == 0xff)
		return a->b[1] & 15u;
	return is_link_local(a) ? LINK : GLOBAL;
}

/* RFC 6724 s2.1: the policy table, as far as a wire has such addresses. */
static uint32_t
label(const struct ip_addr *a)
{
	if (a->len == 4)
		return 4;
	if (a->b[0] == 0x20 && a->b[1] == 2)
		return 2; /* 6to4 */
	if (a->b[0] == 0x20 && a->b[1] == 1 && a->b[2] == 0 && a->b[3] == 0)
		return 5; /* Teredo */
	if ((a->b[0] & 0xfe) == 0xfc)
		return 13; /* unique local */
	return 1;
}

/* Rule 8: the length of the common prefix, of @bits at most. */
static uint32_t
common(const struct ip_addr *a, const struct ip_addr *b, uint32_t bits)
{
	uint32_t n;

	for (n = 0; n < bits; n++)
		if (((a->b[n / 8] ^ b->b[n / 8]) >> (7 - n % 8) & 1) != 0)
			break;
	return n;
}

int
ip_source_better(const struct ip_addr *a, uint32_t abits,
	const struct ip_addr *b, uint32_t bbits, const struct ip_addr *dst)
{
	uint32_t sa = scope(a), sb = scope(b), sd = scope(dst);
	int ea = __builtin_memcmp(a->b, dst->b, dst->len) == 0;
	int eb = __builtin_memcmp(b->b, dst->b, dst->len) == 0;

	if (ea != eb)
		return ea;
	if (sa < sb)
		return sa >= sd;
	if (sb < sa)
		return sb < sd;
	ea = label(a) == label(dst);
	eb = label(b) == label(dst);
	if (ea != eb)
		return ea;
	return common(a, dst, abits) > common(b, dst, bbits);
}
