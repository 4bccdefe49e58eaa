/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of fragments: the slots of packets, and their memory.
 *
 * Sources.  The packets of a source form a list from the oldest to the newest.
 * The oldest has the source's sum of bytes, and stands in the hash table of
 * sources; when it leaves, the next one takes its place.
 */
#include <stddef.h>
#include <str/builtin.h>
#include "reasm_impl.h"

static int
same_addr(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, 16) == 0;
}

struct ip_slot *
reasm_slot(const struct ip_reasm *r, uint32_t i)
{
	return &r->chunk[i / IP_REASM_CHUNK][i % IP_REASM_CHUNK];
}

/* ------------------------------------------------------------------- hashes */

static uint64_t
mix(uint64_t h, const struct ip_addr *a)
{
	uint64_t v[2];

	__builtin_memcpy(v, a->b, 16);
	h = (h ^ v[0]) * 0xbf58476d1ce4e5b9ull;
	return (h ^ h >> 31 ^ v[1]) * 0x94d049bb133111ebull;
}

static uint32_t
fold(uint64_t h)
{
	return (uint32_t)((h ^ h >> 29) % IP_REASM_HASH);
}

static uint32_t
source_hash(const struct ip_reasm *r, const struct ip_addr *src)
{
	return fold(mix(r->key, src));
}

static uint32_t
packet_hash(const struct ip_reasm *r, const struct ip_addr *src, uint32_t id)
{
	return fold((mix(r->key, src) ^ id) * 0x9e3779b97f4a7c15ull);
}

/* Take slot number @i out of the chain that begins at @head. */
static void
unchain(struct ip_reasm *r, uint16_t *head, uint32_t i)
{
	while (*head != 0 && *head != i + 1)
		head = &reasm_slot(r, *head - 1u)->chain;
	if (*head != 0)
		*head = reasm_slot(r, i)->chain;
}

/* ------------------------------------------------------------------ sources */

/* Where the link to the oldest packet of @s's source stands, or would. */
static uint16_t *
source_link(struct ip_reasm *r, const struct ip_slot *s)
{
	uint16_t *l = &r->head[source_hash(r, &s->src)];
	const struct ip_slot *o;

	for (; *l != 0; l = &reasm_slot(r, *l - 1u)->head) {
		o = reasm_slot(r, *l - 1u);
		if (o->tag == s->tag && same_addr(&o->src, &s->src))
			break;
	}
	return l;
}

/* @s, number @i, is the newest of its source. */
static void
source_add(struct ip_reasm *r, struct ip_slot *s, uint32_t i)
{
	uint16_t *l = source_link(r, s);
	struct ip_slot *o;

	s->newer = s->older = s->head = 0;
	s->held = 0;
	s->newest = (uint16_t)(i + 1);
	if (*l == 0) {
		*l = (uint16_t)(i + 1);
		return;
	}
	o = reasm_slot(r, *l - 1u);
	s->older = o->newest;
	reasm_slot(r, o->newest - 1u)->newer = (uint16_t)(i + 1);
	o->newest = (uint16_t)(i + 1);
}

static void
source_remove(struct ip_reasm *r, struct ip_slot *s)
{
	uint16_t *l = source_link(r, s);
	struct ip_slot *o = reasm_slot(r, *l - 1u), *n;

	if (s->newer != 0)
		reasm_slot(r, s->newer - 1u)->older = s->older;
	else
		o->newest = s->older;
	if (s->older != 0) {
		reasm_slot(r, s->older - 1u)->newer = s->newer;
		return;
	}
	if (s->newer == 0) {
		*l = s->head;
		return;
	}
	n = reasm_slot(r, s->newer - 1u);
	n->head = s->head;
	n->newest = s->newest;
	n->held = s->held;
	*l = s->newer;
}

/* @s holds @n bytes more, or less. */
void
reasm_charge(struct ip_reasm *r, struct ip_slot *s, uint32_t n, int more)
{
	struct ip_slot *o = reasm_slot(r, *source_link(r, s) - 1u);

	s->bytes = more ? s->bytes + n : s->bytes - n;
	o->held = more ? o->held + n : o->held - n;
	r->bytes = more ? r->bytes + n : r->bytes - n;
}

/* The oldest packet of the source that holds the most; NULL: there is none. */
static struct ip_slot *
greediest(const struct ip_reasm *r)
{
	struct ip_slot *s, *found = NULL;
	uint32_t k, i;

	for (k = 0; k < IP_REASM_HASH; k++)
		for (i = r->head[k]; i != 0; i = s->head) {
			s = reasm_slot(r, i - 1);
			if (found == NULL || s->held > found->held)
				found = s;
		}
	return found;
}

/* ------------------------------------------------------------------- memory */

size_t
reasm_part_size(const struct ip_part *p)
{
	return sizeof(*p) + p->hlen + p->len;
}

void
reasm_free_parts(const struct ip_mem *mem, struct ip_slot *s)
{
	struct ip_part *p;

	while ((p = s->first) != NULL) {
		__atomic_store_n(&s->first, p->next, __ATOMIC_RELEASE);
		mem->put(p, reasm_part_size(p));
	}
	s->last = NULL;
	s->nparts = 0;
}

static void
set_free(struct ip_reasm *r, struct ip_slot *s, uint32_t i)
{
	__atomic_store_n(&s->state, FREE, __ATOMIC_RELEASE);
	s->chain = r->free;
	r->free = (uint16_t)(i + 1);
}

/* The number of @s. */
uint32_t
reasm_number(const struct ip_reasm *r, const struct ip_slot *s)
{
	uint32_t k;

	for (k = 0; s < r->chunk[k] || s >= r->chunk[k] + IP_REASM_CHUNK; k++)
		;
	return k * IP_REASM_CHUNK + (uint32_t)(s - r->chunk[k]);
}

void
reasm_drop(struct ip_reasm *r, const struct ip_mem *mem, struct ip_slot *s)
{
	uint32_t i = reasm_number(r, s);

	reasm_charge(r, s, s->bytes, 0);
	unchain(r, &r->chain[packet_hash(r, &s->src, s->id)], i);
	source_remove(r, s);
	reasm_free_parts(mem, s);
	set_free(r, s, i);
}

static int
is_counted(const struct ip_slot *s)
{
	return s->state == OPEN || s->state == WHOLE;
}

/* Drop the packet @s to make room, if there is one. */
static void
give_up(struct ip_reasm *r, const struct ip_mem *mem, struct ip_slot *s,
	uint32_t *lost)
{
	if (s == NULL)
		return;
	*lost += is_counted(s) ? 1u : 0u;
	reasm_drop(r, mem, s);
}

/*
 * Make room for @n bytes more of the source of @h.  A sixteenth more than is
 * needed becomes free, so that the greediest is not searched for each time.
 */
void
reasm_make_room(struct ip_reasm *r, const struct ip_mem *mem, uint32_t tag,
	const struct ip_hdr *h, uint32_t n, uint32_t *lost)
{
	struct ip_slot key;
	uint16_t *l;

	key.tag = tag;
	key.src = h->src;
	for (;;) {
		l = source_link(r, &key);
		if (*l == 0 || reasm_slot(r, *l - 1u)->held + n <= IP_REASM_EACH)
			break;
		give_up(r, mem, reasm_slot(r, *l - 1u), lost);
	}
	if (r->bytes + n <= IP_REASM_BYTES)
		return;
	while (r->bytes > IP_REASM_BYTES - IP_REASM_BYTES / 16)
		give_up(r, mem, greediest(r), lost);
}

/* Enter; if a thread was killed inside, drop everything. */
void
reasm_enter(struct ip_reasm *r, const struct ip_mem *mem)
{
	uint32_t i, n = r->nchunks * IP_REASM_CHUNK;

	if (r->busy) {
		__builtin_memset(r->chain, 0, sizeof(r->chain));
		__builtin_memset(r->head, 0, sizeof(r->head));
		r->bytes = r->free = 0;
		for (i = 0; i < n; i++) {
			reasm_free_parts(mem, reasm_slot(r, i));
			set_free(r, reasm_slot(r, i), i);
		}
		r->resets++;
	}
	__atomic_store_n(&r->busy, 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (r->key == 0)
		r->key = mem->random() | 1;
}

void
reasm_leave(struct ip_reasm *r)
{
	__atomic_store_n(&r->busy, 0u, __ATOMIC_RELEASE);
}

/* Get a chunk of slots, if none is free and there may be more. */
static void
more_slots(struct ip_reasm *r, const struct ip_mem *mem, uint32_t *lost)
{
	uint32_t i = r->nchunks * IP_REASM_CHUNK, end = i + IP_REASM_CHUNK;
	struct ip_slot *c;

	if (r->free != 0)
		return;
	c = r->nchunks == IP_REASM_CHUNKS ? NULL :
		mem->get(IP_REASM_CHUNK * sizeof(*c));
	if (c == NULL) {
		give_up(r, mem, greediest(r), lost);
		return;
	}
	r->chunk[r->nchunks] = c;
	STR_POINT("ip:slot");
	__atomic_store_n(&r->nchunks, r->nchunks + 1, __ATOMIC_RELEASE);
	for (; i < end; i++)
		set_free(r, reasm_slot(r, i), i);
}

static int
is_of(const struct ip_slot *s, uint32_t tag, const struct ip_hdr *h)
{
	return s->tag == tag && s->id == h->id &&
		(h->src.len == 16 || s->proto == h->proto) &&
		same_addr(&s->src, &h->src) && same_addr(&s->dst, &h->dst);
}

/* The slot of @h's packet, a new one if there is none; NULL: no memory. */
struct ip_slot *
reasm_find(struct ip_reasm *r, const struct ip_mem *mem, uint32_t tag,
	const struct ip_hdr *h, uint64_t now, uint32_t *lost)
{
	uint16_t *head = &r->chain[packet_hash(r, &h->src, h->id)];
	struct ip_slot *s;
	uint32_t i;

	for (i = *head; i != 0; i = s->chain) {
		s = reasm_slot(r, i - 1);
		if (!is_of(s, tag, h) || s->state == WHOLE)
			continue;
		if (s->end > now)
			return s;
		give_up(r, mem, s, lost);
		break;
	}
	more_slots(r, mem, lost);
	i = r->free;
	if (i == 0)
		return NULL;
	s = reasm_slot(r, i - 1);
	r->free = s->chain;
	__builtin_memset(s, 0, sizeof(*s));
	s->tag = tag;
	s->src = h->src;
	s->dst = h->dst;
	s->id = h->id;
	s->proto = h->proto;
	s->end = now + IP_REASM_LIFE;
	s->chain = *head;
	*head = (uint16_t)i;
	source_add(r, s, i - 1);
	reasm_charge(r, s, sizeof(*s), 1);
	__atomic_store_n(&s->state, OPEN, __ATOMIC_RELEASE);
	return s;
}

void
reasm_give_up(struct ip_reasm *r, const struct ip_mem *mem, uint32_t *lost)
{
	give_up(r, mem, greediest(r), lost);
}
