/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of fragments: reasm.h.
 *
 * Contradictions.  RFC 5722: a fragment that overlaps others invalidates the
 * packet and all its later fragments; so the slot stays, as SPOILT and without
 * data, until it expires.  A fragment that equals received data, byte for byte,
 * is a duplicate.
 */
#include <stddef.h>
#include <str/builtin.h>
#include "bytes.h"
#include "reasm_impl.h"

#define TRIES 64u /* packets that are dropped for memory, in one call */

/*
 * The headers of the first fragment at @p.  RFC 8200 s4.5: the fragment header
 * is left out, and the type in its predecessor corrected. 0: too long.
 */
static uint32_t
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
			return 0; /* an authentication header, which would
				   * become invalid */
	}
	return hlen > IP_REASM_HDR ? 0 : hlen;
}

/*
 * How many bytes of the fragment have been received?  *@differ: and they are
 * others.
 */
static uint32_t
overlap(const struct ip_slot *s, uint32_t off, uint32_t end,
	const unsigned char *data, int *differ)
{
	const struct ip_part *p = s->first;
	uint32_t from, to, n = 0;

	if (s->last != NULL && s->last->off + s->last->len <= off)
		return 0; /* behind all others, as most are */
	for (; p != NULL && p->off < end; p = p->next) {
		from = p->off > off ? p->off : off;
		to = p->off + p->len < end ? p->off + p->len : end;
		if (from >= to)
			continue;
		n += to - from;
		*differ |= __builtin_memcmp(p->data + p->hlen + from - p->off,
			data + from - off, to - from) != 0;
	}
	return n;
}

/* Is the fragment consistent with the others?  IP_HELD: yes. */
static int
check(const struct ip_slot *s, const unsigned char *data,
	const struct ip_hdr *h)
{
	uint32_t end = h->frag + h->len, n;
	int differ = 0;

	if (s->state == SPOILT)
		return IP_REFUSED;
	n = overlap(s, h->frag, end, data, &differ);
	if (n != 0 && n == h->len && !differ && (h->more ?
		s->total == 0 || end <= s->total : end == s->total))
		return IP_AGAIN;
	if (n != 0)
		return IP_REFUSED;
	if (s->total != 0 && (!h->more || end > s->total))
		return IP_REFUSED; /* a second end, or data behind the end */
	if (!h->more && s->high > end)
		return IP_REFUSED; /* an end before received data */
	return IP_HELD;
}

static int
spoil(struct ip_reasm *r, const struct ip_mem *mem, struct ip_slot *s)
{
	__atomic_store_n(&s->state, SPOILT, __ATOMIC_RELEASE);
	reasm_free_parts(mem, s);
	reasm_charge(r, s, s->bytes - (uint32_t)sizeof(*s), 0);
	return IP_REFUSED;
}

/* Put @p in its place in @s's list. */
static void
insert(struct ip_slot *s, struct ip_part *p)
{
	struct ip_part **at = &s->first;

	if (s->last != NULL && s->last->off < p->off)
		at = &s->last->next;
	while (*at != NULL && (*at)->off < p->off)
		at = &(*at)->next;
	p->next = *at;
	if (p->next == NULL)
		s->last = p;
	__atomic_store_n(at, p, __ATOMIC_RELEASE);
	s->nparts++;
}

/* Add the fragment, whose memory is @part. */
static int
add(struct ip_reasm *r, const struct ip_mem *mem, struct ip_slot *s,
	const unsigned char *p, const struct ip_hdr *h, struct ip_part *part)
{
	part->off = h->frag;
	part->len = h->len;
	part->hlen = h->frag == 0 ? s->hlen : 0;
	__builtin_memcpy(part->data, p, part->hlen);
	__builtin_memcpy(part->data + part->hlen, p + h->hlen, h->len);
	insert(s, part);
	STR_POINT("ip:fragment");
	reasm_charge(r, s, (uint32_t)reasm_part_size(part), 1);
	s->got += h->len;
	if (s->high < h->frag + h->len)
		s->high = h->frag + h->len;
	if (!h->more)
		s->total = h->frag + h->len;
	if (s->total == 0 || s->got != s->total || s->hlen == 0)
		return IP_HELD;
	/*
	 * RFC 8200 s4.5: the packet must not be longer than an unfragmented one
	 */
	if (s->total + (s->src.len == 4 ? s->hlen : s->hlen - 40u) > IP_MOST)
		return spoil(r, mem, s);
	__atomic_store_n(&s->state, WHOLE, __ATOMIC_RELEASE);
	STR_POINT("ip:whole");
	return IP_WHOLE;
}

static int
add_to(struct ip_reasm *r, const struct ip_mem *mem, struct ip_slot *s,
	const unsigned char *p, const struct ip_hdr *h)
{
	struct ip_part *part;
	int what = check(s, p + h->hlen, h);
	size_t n = sizeof(*part) + h->len;

	if (what == IP_AGAIN)
		return what;
	if (what == IP_HELD && h->frag == 0) {
		s->hlen = (uint16_t)keep_header(s, p, h);
		n += s->hlen;
		if (s->hlen == 0)
			what = IP_REFUSED;
	}
	if (s->nparts == IP_REASM_PARTS)
		what = IP_REFUSED;
	if (what == IP_REFUSED)
		return s->state == SPOILT ? what : spoil(r, mem, s);
	part = mem->get(n);
	if (part != NULL)
		return add(r, mem, s, p, h, part);
	if (h->frag == 0)
		s->hlen = 0;
	return IP_NOROOM;
}

int
ip_reasm_add(struct ip_reasm *r, const struct ip_mem *mem, uint32_t tag,
	const unsigned char *p, const struct ip_hdr *h, uint64_t now,
	uint32_t *ret, uint32_t *lost)
{
	uint32_t n = (uint32_t)(sizeof(struct ip_slot) +
		sizeof(struct ip_part)) + h->hlen + h->len, i;
	struct ip_slot *s;
	int what = IP_NOROOM;

	*lost = 0;
	reasm_enter(r, mem);
	reasm_make_room(r, mem, tag, h, n, lost);
	for (i = 0; what == IP_NOROOM && i < TRIES; i++) {
		s = reasm_find(r, mem, tag, h, now, lost);
		if (s != NULL)
			what = add_to(r, mem, s, p, h);
		if (what == IP_WHOLE)
			*ret = reasm_number(r, s);
		if (what == IP_NOROOM)
			reasm_give_up(r, mem, lost);
	}
	reasm_leave(r);
	return what;
}

uint32_t
ip_reasm_len(const struct ip_reasm *r, uint32_t slot)
{
	return reasm_slot(r, slot)->hlen + reasm_slot(r, slot)->total;
}

void
ip_reasm_take(struct ip_reasm *r, const struct ip_mem *mem, uint32_t slot,
	unsigned char *to)
{
	struct ip_slot *s = reasm_slot(r, slot);
	const struct ip_part *p;

	reasm_enter(r, mem);
	for (p = s->first; p != NULL; p = p->next)
		__builtin_memcpy(to + (p->hlen != 0 ? 0 : s->hlen + p->off),
			p->data, p->hlen + p->len);
	if (s->src.len == 4) {
		put16(to + 2, s->hlen + s->total);
		to[6] &= 0xc0; /* no MF flag and no offset */
		to[7] = 0;
		put16(to + 10, 0);
		put16(to + 10, ip_fold(ip_sum(to, s->hlen, 0, 0)));
	} else {
		put16(to + 4, s->hlen - 40u + s->total);
		to[s->link] = s->next;
	}
	STR_POINT("ip:taking");
	reasm_drop(r, mem, s);
	reasm_leave(r);
}

/* ----------------------------------------------------------------- too old */

/* The begin of the first fragment, as that of the whole packet. */
static uint32_t
begin_of(const struct ip_slot *s, unsigned char *ret)
{
	const struct ip_part *p = s->first;
	uint32_t n = s->hlen + (p->len < 8 ? p->len : 8u);

	__builtin_memcpy(ret, p->data, n);
	if (s->src.len == 16) {
		put16(ret + 4, ((uint32_t)ret[4] << 8 | ret[5]) - 8u);
		ret[s->link] = s->next;
	}
	return n;
}

int
ip_reasm_expire(struct ip_reasm *r, const struct ip_mem *mem, uint64_t now,
	uint32_t *at, uint32_t *tag, unsigned char *ret, uint32_t *ret_n)
{
	struct ip_slot *s;

	for (; *at < r->nchunks * IP_REASM_CHUNK; ++*at) {
		s = reasm_slot(r, *at);
		if (s->state == FREE || s->end > now)
			continue;
		reasm_enter(r, mem);
		if (s->state == FREE) {
			reasm_leave(r); /* a killed thread's packets are gone */
			continue;
		}
		*tag = s->tag;
		*ret_n = s->state == OPEN && s->hlen != 0 ? begin_of(s, ret) :
			0;
		STR_POINT("ip:expiring");
		reasm_drop(r, mem, s);
		reasm_leave(r);
		return 1;
	}
	return 0;
}
