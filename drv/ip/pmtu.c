/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The path MTU of a destination (RFC 1191, RFC 8201).
 *
 * Purpose.  A router that cannot forward a packet that must not be fragmented
 * reports its MTU.  The table keeps that MTU for the destination, for the time
 * in RFC 1191 s6.3, so that later packets are fragmented or refused here.
 *
 * Objects.  A table of sets of WAYS entries.  A destination belongs to one set;
 * in a full set the entry that expires first is replaced.
 *
 * Locks.  The caller of ip_pmtu_learn() has a lock.  Lookups have none: an
 * entry is being written while `gen' is odd, and a copy of it is consistent if
 * gen is the same afterwards.
 *
 * Crash.  A thread killed while it writes leaves an odd gen: lookups ignore
 * that entry, and the lock's next owner overwrites it first.
 */
#include <str/builtin.h>
#include "pkt.h"

static uint32_t
hash(const struct ip_addr *a)
{
	uint32_t h = 0, i;

	for (i = 0; i < a->len; i++)
		h = h * 31 + a->b[i];
	return (h ^ h >> 8) % (IP_PMTUS / IP_PMTU_WAYS) * IP_PMTU_WAYS;
}

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, a->len) == 0;
}

/* The MTU of @dst in @e at @now; 0: none. */
static uint32_t
says(const struct ip_pmtu_entry *e, const struct ip_addr *dst, uint64_t now)
{
	uint32_t gen = __atomic_load_n(&e->gen, __ATOMIC_ACQUIRE), mtu;
	struct ip_addr a;
	uint64_t until;

	if ((gen & 1) != 0 || gen == 0)
		return 0;
	a = e->dst;
	mtu = e->mtu;
	until = e->until;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&e->gen, __ATOMIC_RELAXED) != gen)
		return 0;
	return a.len <= 16 && now < until && same(&a, dst) ? mtu : 0;
}

uint32_t
ip_pmtu_of(const struct ip_pmtu *t, const struct ip_addr *dst, uint32_t link,
	uint64_t now)
{
	const struct ip_pmtu_entry *e = t->entry + hash(dst);
	uint32_t i, mtu;

	for (i = 0; i < IP_PMTU_WAYS; i++) {
		mtu = says(&e[i], dst, now);
		if (mtu != 0)
			return mtu < link ? mtu : link;
	}
	return link;
}

/*
 * RFC 1191 s5, s7.1: a router that reports no MTU has one of these, the next
 * one below the packet's length.
 */
static uint32_t
plateau(uint32_t len)
{
	static const uint16_t all[] = {
		32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296};
	uint32_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] < len)
			return all[i];
	return IP4_MTU;
}

/* The MTU to accept from a report; 0: ignore it. */
static uint32_t
believed(const struct ip_addr *dst, uint32_t mtu, uint32_t len)
{
	if (dst->len == 16) /* RFC 8201 s4: ignore smaller ones */
		return mtu >= IP6_MTU && mtu < len ? mtu : 0;
	if (mtu == 0)
		mtu = plateau(len);
	if (mtu >= len)
		return 0; /* it would have been forwarded */
	return mtu < IP4_LEAST ? IP4_LEAST : mtu;
}

int
ip_pmtu_learn(struct ip_pmtu *t, const struct ip_addr *dst, uint32_t mtu,
	uint32_t len, uint32_t link, uint64_t now)
{
	struct ip_pmtu_entry *e = t->entry + hash(dst), *to = NULL;
	uint32_t i, gen;

	mtu = believed(dst, mtu, len);
	/* RFC 1191 s3: a report never raises the MTU */
	if (mtu == 0 || mtu >= ip_pmtu_of(t, dst, link, now))
		return 0;
	for (i = 0; i < IP_PMTU_WAYS; i++) {
		if ((e[i].gen & 1) != 0)
			e[i].until = 0; /* the writer of this entry died */
		if (to == NULL || (!same(&to->dst, dst) &&
			(same(&e[i].dst, dst) || e[i].until < to->until)))
			to = &e[i];
	}
	gen = to->gen | 1u;
	__atomic_store_n(&to->gen, gen, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->dst = *dst;
	STR_POINT("ip:pmtu");
	to->mtu = mtu;
	to->until = now + IP_PMTU_LIFE;
	__atomic_store_n(&to->gen, gen + 1 != 0 ? gen + 1 : 2u,
		__ATOMIC_RELEASE);
	__atomic_store_n(&t->used, 1u, __ATOMIC_RELEASE);
	return 1;
}
