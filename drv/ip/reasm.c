/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Putting fragments together (RFC 791 s3.2, RFC 815, RFC 8200 s4.5).
 *
 * Objects.  A slot is a packet: its headers, 64 KiB for its data, and a bit
 * for each 8 bytes of that.  The number of slots is bounded, and so is memory;
 * the oldest goes when one is needed.
 *
 * What contradicts itself.  RFC 5722: a fragment that overlaps others ends
 * the packet, and what comes of it later; so the slot stays, as SPOILT, until
 * its time is over.  One that is all there already, byte for byte, was only
 * sent twice.
 *
 * Crash.  Who dies inside leaves `busy' set; the next throws everything away,
 * as a network may.
 */
#include <str/builtin.h>
#include "pkt.h"

#define FREE 0u
#define OPEN 1u
#define SPOILT 2u
#define WHOLE 3u

static void
put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static int
same_addr(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, 16) == 0;
}

static int
is_of(const struct ip_slot *s, uint32_t tag, const struct ip_hdr *h)
{
	return (s->state == OPEN || s->state == SPOILT) && s->tag == tag &&
		s->id == h->id && (h->src.len == 16 || s->proto == h->proto) &&
		same_addr(&s->src, &h->src) && same_addr(&s->dst, &h->dst);
}

/* A slot for @h's packet: its own, a free one, or the oldest one's. */
static struct ip_slot *
find(struct ip_reasm *r, uint32_t tag, const struct ip_hdr *h, uint64_t now,
	uint32_t *ret, uint32_t *lost)
{
	struct ip_slot *s = NULL, *t;
	uint32_t i;

	for (i = 0; i < r->nslots; i++) {
		t = r->slot[i];
		if (t->state != FREE && t->end <= now) {
			*lost += t->state != SPOILT;
			t->state = FREE;
		}
		if (is_of(t, tag, h)) {
			*ret = i;
			return t;
		}
		if (s == NULL || (s->state != FREE &&
			(t->state == FREE || t->end < s->end))) {
			s = t;
			*ret = i;
		}
	}
	*lost += s->state == OPEN || s->state == WHOLE;
	s->tag = tag;
	s->src = h->src;
	s->dst = h->dst;
	s->id = h->id;
	s->proto = h->proto;
	s->hlen = s->link = 0;
	s->total = s->got = s->high = 0;
	s->end = now + IP_REASM_LIFE;
	__builtin_memset(s->there, 0, sizeof(s->there));
	s->state = OPEN;
	return s;
}

/*
 * The 8 byte units of a range, as far as one byte of `there' has them.
 * Return: their bits there; *@u is the next byte's first.
 */
static uint32_t
bits(uint32_t *u, uint32_t end)
{
	uint32_t at = *u % 8, n = end - *u;

	if (n > 8 - at)
		n = 8 - at;
	*u += n;
	return ((1u << n) - 1u) << at;
}

/* How many of the 8 byte units of a range are there. */
static uint32_t
units(const struct ip_slot *s, uint32_t from, uint32_t to)
{
	uint32_t u = from / 8, end = (to + 7) / 8, at, b, n = 0;

	while (u < end) {
		at = u / 8;
		for (b = s->there[at] & bits(&u, end); b != 0; b &= b - 1)
			n++;
	}
	return n;
}

static void
mark(struct ip_slot *s, uint32_t from, uint32_t to)
{
	uint32_t u = from / 8, end = (to + 7) / 8, at;

	while (u < end) {
		at = u / 8;
		s->there[at] |= (unsigned char)bits(&u, end);
	}
}

/*
 * The header of the first fragment.  RFC 8200 s4.5: the fragment header is
 * taken out, and its predecessor names what comes behind.  0: too long.
 */
static int
keep_header(struct ip_slot *s, const unsigned char *p, const struct ip_hdr *h)
{
	uint32_t hlen = h->hlen, at = 40;

	if (h->src.len == 16) {
		hlen -= 8;
		s->next = h->proto;
		s->link = 6;
		while (at < hlen) {
			/* headers before it, which ip_parse() has read */
			s->link = (uint16_t)at;
			at += (p[at + 1] + 1u) * 8u;
		}
		if (at != hlen)
			return 0; /* an authentication header, of all things */
	}
	if (hlen > IP_REASM_HDR)
		return 0;
	__builtin_memcpy(s->hdr, p, hlen);
	s->hlen = (uint16_t)hlen;
	return 1;
}

/* Does it go together with what is there?  IP_HELD: yes. */
static int
check(const struct ip_slot *s, const unsigned char *data,
	const struct ip_hdr *h)
{
	uint32_t end = h->frag + h->len;
	uint32_t n = units(s, h->frag, end);

	if (s->state == SPOILT)
		return IP_REFUSED;
	if (n != 0 && n == (h->len + 7) / 8 &&
		__builtin_memcmp(s->data + h->frag, data, h->len) == 0 &&
		(h->more ? s->total == 0 || end <= s->total :
			   end == s->total))
		return IP_AGAIN;
	if (n != 0)
		return IP_REFUSED;
	if (s->total != 0 && (!h->more || end > s->total))
		return IP_REFUSED; /* a second end, or behind the end */
	if (!h->more && s->high > end)
		return IP_REFUSED; /* an end, and others behind it */
	return IP_HELD;
}

static int
spoil(struct ip_slot *s)
{
	s->state = SPOILT;
	return IP_REFUSED;
}

static int
add(struct ip_slot *s, const unsigned char *p, const struct ip_hdr *h)
{
	const unsigned char *data = p + h->hlen;
	int r = check(s, data, h);

	if (r == IP_AGAIN)
		return r;
	if (r == IP_REFUSED)
		return spoil(s);
	if (h->frag == 0 && !keep_header(s, p, h))
		return spoil(s);
	__builtin_memcpy(s->data + h->frag, data, h->len);
	STR_POINT("ip:fragment");
	mark(s, h->frag, h->frag + h->len);
	s->got += h->len;
	if (s->high < h->frag + h->len)
		s->high = h->frag + h->len;
	if (!h->more)
		s->total = h->frag + h->len;
	if (s->total == 0 || s->got != s->total || s->hlen == 0)
		return IP_HELD;
	/* RFC 8200 s4.5: it has to be one that could have been sent whole */
	if (s->total + (s->src.len == 4 ? s->hlen : s->hlen - 40u) > IP_MOST)
		return spoil(s);
	s->state = WHOLE;
	STR_POINT("ip:whole");
	return IP_WHOLE;
}

/* Come in; a thread killed inside has left nothing that is good. */
static void
enter(struct ip_reasm *r)
{
	uint32_t i;

	if (r->busy) {
		for (i = 0; i < r->nslots; i++)
			r->slot[i]->state = FREE;
		r->resets++;
	}
	__atomic_store_n(&r->busy, 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void
leave(struct ip_reasm *r)
{
	__atomic_store_n(&r->busy, 0u, __ATOMIC_RELEASE);
}

int
ip_reasm_wants(const struct ip_reasm *r)
{
	uint32_t i;

	for (i = 0; i < r->nslots; i++)
		if (r->slot[i]->state == FREE)
			return 0;
	return r->nslots < IP_REASM_SLOTS;
}

void
ip_reasm_give(struct ip_reasm *r, struct ip_slot *s)
{
	r->slot[r->nslots] = s;
	STR_POINT("ip:slot");
	__atomic_store_n(&r->nslots, r->nslots + 1, __ATOMIC_RELEASE);
}

int
ip_reasm_add(struct ip_reasm *r, uint32_t tag, const unsigned char *p,
	const struct ip_hdr *h, uint64_t now, uint32_t *ret, uint32_t *lost)
{
	struct ip_slot *s;
	int what;

	*lost = 0;
	enter(r);
	s = find(r, tag, h, now, ret, lost);
	what = add(s, p, h);
	leave(r);
	return what;
}

uint32_t
ip_reasm_len(const struct ip_reasm *r, uint32_t slot)
{
	return r->slot[slot]->hlen + r->slot[slot]->total;
}

static uint32_t
sum_of(const unsigned char *p, uint32_t n)
{
	return ip_fold(ip_sum(p, n, 0, 0));
}

void
ip_reasm_take(struct ip_reasm *r, uint32_t slot, unsigned char *to)
{
	struct ip_slot *s = r->slot[slot];

	enter(r);
	__builtin_memcpy(to, s->hdr, s->hlen);
	__builtin_memcpy(to + s->hlen, s->data, s->total);
	if (s->src.len == 4) {
		put16(to + 2, s->hlen + s->total);
		to[6] &= 0xc0; /* neither more nor an offset */
		to[7] = 0;
		put16(to + 10, 0);
		put16(to + 10, sum_of(to, s->hlen));
	} else {
		put16(to + 4, s->hlen - 40u + s->total);
		to[s->link] = s->next;
	}
	STR_POINT("ip:taking");
	s->state = FREE;
	leave(r);
}

/* The header at @p, of a first fragment, is without a fragment header. */
static void
no_fragment(unsigned char *p, const struct ip_slot *s)
{
	put16(p + 4, ((uint32_t)p[4] << 8 | p[5]) - 8u);
	p[s->link] = s->next;
}

int
ip_reasm_expire(struct ip_reasm *r, uint64_t now, uint32_t *tag,
	unsigned char *ret, uint32_t *ret_n)
{
	struct ip_slot *s;
	uint32_t i;

	for (i = 0; i < r->nslots; i++) {
		s = r->slot[i];
		if (s->state == FREE || s->end > now)
			continue;
		enter(r);
		*tag = s->tag;
		*ret_n = 0;
		if (s->state == OPEN && s->hlen != 0) {
			*ret_n = s->hlen + 8u;
			__builtin_memcpy(ret, s->hdr, s->hlen);
			__builtin_memcpy(ret + s->hlen, s->data, 8);
			if (s->src.len == 16)
				no_fragment(ret, s);
		}
		STR_POINT("ip:expiring");
		s->state = FREE;
		leave(r);
		return 1;
	}
	return 0;
}
