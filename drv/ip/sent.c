/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What was sent lately, and identifications of packets: sent.h.
 */
#include <str/builtin.h>
#include "sent.h"

#define UNIT 26 /* the unit of time is 2^26 ns, about 67 ms */
#define LIFE ((uint32_t)(IP_SENT_LIFE >> UNIT) + 1)

/* Protocols whose data begins with two ports. */
#define P_TCP 6u
#define P_UDP 17u
#define P_DCCP 33u
#define P_SCTP 132u

#define ROTL(x, b) ((x) << (b) | (x) >> (64 - (b)))

static void
rounds(uint64_t v[4], unsigned int n)
{
	while (n-- != 0) {
		v[0] += v[1];
		v[1] = ROTL(v[1], 13) ^ v[0];
		v[0] = ROTL(v[0], 32);
		v[2] += v[3];
		v[3] = ROTL(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = ROTL(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = ROTL(v[1], 17) ^ v[2];
		v[2] = ROTL(v[2], 32);
	}
}

static uint64_t
get64(const unsigned char *p, size_t n)
{
	uint64_t w = 0;
	size_t i;

	for (i = 0; i < n; i++)
		w |= (uint64_t)p[i] << 8 * i;
	return w;
}

uint64_t
ip_sip(const struct ip_secret *s, const unsigned char *p, size_t n)
{
	uint64_t v[4] = {
		s->k[0] ^ 0x736f6d6570736575ull, s->k[1] ^ 0x646f72616e646f6dull,
		s->k[0] ^ 0x6c7967656e657261ull, s->k[1] ^ 0x7465646279746573ull,
	};
	uint64_t m;
	size_t i = 0;

	for (;; i += 8) {
		m = n - i >= 8 ? get64(p + i, 8) :
			get64(p + i, n - i) | (uint64_t)n << 56;
		v[3] ^= m;
		rounds(v, 2);
		v[0] ^= m;
		if (n - i < 8)
			break;
	}
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The bytes that name a flow, at @to, 40 bytes of room.  Return: how many. */
static size_t
name(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	unsigned char *to)
{
	__builtin_memcpy(to, src->b, 16);
	__builtin_memcpy(to + 16, dst->b, 16);
	to[32] = proto;
	to[33] = (unsigned char)src->len;
	return 34;
}

static uint64_t
flow(const struct ip_secret *s, const struct ip_hdr *h,
	const unsigned char *begin, size_t n)
{
	unsigned char b[40];
	size_t k = name(&h->src, &h->dst, h->proto, b);

	if (n >= 4 && (h->proto == P_UDP || h->proto == P_TCP ||
		h->proto == P_SCTP || h->proto == P_DCCP)) {
		__builtin_memcpy(b + k, begin, 4);
		k += 4;
	}
	return ip_sip(s, b, k);
}

static uint64_t
load(const uint64_t *w)
{
	return __atomic_load_n(w, __ATOMIC_RELAXED);
}

static uint32_t
age(uint64_t w, uint64_t now)
{
	return ((uint32_t)(now >> UNIT) - (uint32_t)(w >> 16)) & 0xffff;
}

static int
is_of(uint64_t w, uint64_t hash, uint64_t now)
{
	return w != 0 && w >> 32 == hash >> 32 && age(w, now) <= LIFE;
}

void
ip_sent_note(struct ip_sent *t, const struct ip_secret *s,
	const struct ip_hdr *h, const unsigned char *begin, size_t n,
	uint64_t now)
{
	uint64_t hash = flow(s, h, begin, n);
	uint64_t *w = &t->word[hash % IP_SENT], *x = &t->word[hash % IP_SENT ^ 1];
	uint32_t len = h->hlen + h->len, was;

	if (!is_of(load(w), hash, now) && (is_of(load(x), hash, now) ||
		load(x) == 0 || (load(w) != 0 &&
		age(load(x), now) > age(load(w), now))))
		w = x;
	was = (uint32_t)(load(w) & 0xffff);
	if (len > IP_MOST)
		len = IP_MOST;
	if (is_of(load(w), hash, now) && was > len)
		len = was;
	__atomic_store_n(w, hash >> 32 << 32 |
		(uint64_t)((uint32_t)(now >> UNIT) & 0xffff) << 16 | len,
		__ATOMIC_RELAXED);
}

uint32_t
ip_sent_most(const struct ip_sent *t, const struct ip_secret *s,
	const struct ip_hdr *h, const unsigned char *begin, size_t n,
	uint64_t now)
{
	uint64_t hash = flow(s, h, begin, n), w;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		w = load(&t->word[hash % IP_SENT ^ i]);
		if (is_of(w, hash, now))
			return (uint32_t)(w & 0xffff);
	}
	return 0;
}

uint32_t
ip_new_id(uint32_t count[IP_IDS], const struct ip_secret *s,
	const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto)
{
	unsigned char b[40];
	uint64_t hash = ip_sip(s, b, name(src, dst, proto, b));
	uint32_t id;

	do
		id = (uint32_t)(hash >> 32) + __atomic_add_fetch(
			&count[hash % IP_IDS], 1, __ATOMIC_RELAXED);
	while ((src->len == 4 ? id & 0xffff : id) == 0);
	return src->len == 4 ? id & 0xffff : id;
}
