/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of a wire's neighbours: neightab.h.
 */
#include <stddef.h>
#include <str/builtin.h>
#include "neightab.h"

#define SECOND 1000000000ull
#define REACHABLE (30 * SECOND) /* RFC 4861 s10, as are these */
#define DELAY (5 * SECOND)
#define GONE (60 * SECOND) /* unused for so long: the entry is dropped */
#define LOOKS 256u	   /* entries of a full table that are looked at */

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, 16) == 0;
}

/* Stations choose addresses: without a key they could make one long chain. */
static uint32_t
hash(const struct ip_neightab *t, const struct ip_addr *a)
{
	uint64_t h = t->key, v[2];

	__builtin_memcpy(v, a->b, 16);
	h = (h ^ v[0]) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 31 ^ v[1]) * 0x94d049bb133111ebull;
	return (uint32_t)((h ^ h >> 29) % IP_NEIGH_HASH);
}

struct ip_neigh *
ip_neigh_at(const struct ip_neightab *t, uint32_t i)
{
	return &t->chunk[i / IP_NEIGH_CHUNK][i % IP_NEIGH_CHUNK];
}

static uint32_t
total(const struct ip_neightab *t)
{
	return t->nchunks * IP_NEIGH_CHUNK;
}

static void
link_in(struct ip_neightab *t, struct ip_neigh *e, uint32_t i)
{
	uint16_t *head = &t->head[hash(t, &e->addr)];

	e->next = *head;
	*head = (uint16_t)(i + 1);
	t->nused++;
}

static void
set_free(struct ip_neightab *t, struct ip_neigh *e, uint32_t i)
{
	e->next = t->free;
	t->free = i + 1;
}

/* Make the chains from the states of the entries. */
static void
mend(struct ip_neightab *t)
{
	struct ip_neigh *e;
	uint32_t i;

	__builtin_memset(t->head, 0, sizeof(t->head));
	t->free = t->nused = 0;
	for (i = 0; i < total(t); i++) {
		e = ip_neigh_at(t, i);
		if (e->state == NEIGH_FREE)
			set_free(t, e, i);
		else
			link_in(t, e, i);
	}
	t->resets++;
}

void
ip_neigh_enter(struct ip_neightab *t)
{
	if (t->busy)
		mend(t);
	__atomic_store_n(&t->busy, 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

void
ip_neigh_leave(struct ip_neightab *t)
{
	__atomic_store_n(&t->busy, 0u, __ATOMIC_RELEASE);
}

int
ip_neigh_wants(const struct ip_neightab *t)
{
	return t->free == 0 && t->nchunks < IP_NEIGH_CHUNKS;
}

void
ip_neigh_give(struct ip_neightab *t, struct ip_neigh *chunk)
{
	uint32_t i = total(t), end = i + IP_NEIGH_CHUNK;

	t->chunk[t->nchunks] = chunk;
	STR_POINT("ip:chunk");
	__atomic_store_n(&t->nchunks, t->nchunks + 1, __ATOMIC_RELEASE);
	for (; i < end; i++)
		set_free(t, ip_neigh_at(t, i), i);
}

struct ip_neigh *
ip_neigh_find(const struct ip_neightab *t, const struct ip_addr *a)
{
	uint32_t i = t->head[hash(t, a)];
	struct ip_neigh *e;

	for (; i != 0; i = e->next) {
		e = ip_neigh_at(t, i - 1);
		if (same(&e->addr, a))
			return e;
	}
	return NULL;
}

/* Take @e out of its chain. Return: its index. */
static uint32_t
unlink(struct ip_neightab *t, struct ip_neigh *e)
{
	uint16_t *head = &t->head[hash(t, &e->addr)];
	uint32_t i = *head, was = 0;
	struct ip_neigh *p = NULL;

	for (; i != 0 && ip_neigh_at(t, i - 1) != e; i = p->next) {
		was = i;
		p = ip_neigh_at(t, i - 1);
	}
	if (was == 0)
		*head = (uint16_t)e->next;
	else
		ip_neigh_at(t, was - 1)->next = e->next;
	t->nused--;
	return i - 1;
}

void
ip_neigh_drop(struct ip_neightab *t, struct ip_neigh *e)
{
	uint32_t i = unlink(t, e);

	__atomic_store_n(&e->state, (uint32_t)NEIGH_FREE, __ATOMIC_RELEASE);
	set_free(t, e, i);
}

static int
may_be_asked(const struct ip_neigh *e, uint64_t now)
{
	return e->asked == 0 || now - e->asked >= SECOND;
}

/* Drop the entry that was used least lately, of those at the hand. */
static void
make_room(struct ip_neightab *t, uint64_t now)
{
	struct ip_neigh *e, *old = NULL;
	uint32_t n;

	for (n = 0; n < LOOKS && n < total(t); n++) {
		t->hand = (t->hand + 1) % total(t);
		e = ip_neigh_at(t, t->hand);
		if (e->first == NULL && may_be_asked(e, now) &&
			(old == NULL || e->used < old->used))
			old = e;
	}
	if (old != NULL)
		ip_neigh_drop(t, old);
}

struct ip_neigh *
ip_neigh_get(struct ip_neightab *t, const struct ip_addr *a, uint64_t now)
{
	struct ip_neigh *e = ip_neigh_find(t, a);
	uint32_t i;

	if (e != NULL)
		return e;
	if (t->free == 0)
		make_room(t, now);
	if (t->free == 0)
		return NULL;
	i = t->free - 1;
	e = ip_neigh_at(t, i);
	t->free = e->next;
	__builtin_memset(&e->addr, 0, sizeof(e->addr));
	e->addr.len = a->len;
	__builtin_memcpy(e->addr.b, a->b, a->len);
	e->tries = 0;
	e->asked = 0;
	e->since = e->used = now;
	e->bytes = 0;
	e->first = e->last = NULL;
	STR_POINT("ip:neighbour");
	/* FAILED: its next use begins a search */
	__atomic_store_n(&e->state, (uint32_t)NEIGH_FAILED, __ATOMIC_RELEASE);
	link_in(t, e, i);
	return e;
}

int
ip_neigh_known(const struct ip_neigh *e)
{
	return e->state >= NEIGH_REACHABLE && e->state <= NEIGH_PROBE;
}

static void
become(struct ip_neigh *e, enum ip_neigh_state state, uint64_t now)
{
	e->tries = 0;
	e->since = now;
	__atomic_store_n(&e->state, (uint32_t)state, __ATOMIC_RELEASE);
}

/*
 * RFC 4861 s6.3.2: a random time around 30 s, so that the stations of a network
 * do not ask at the same time.
 */
static uint64_t
reachable_time(const struct ip_neigh *e)
{
	return REACHABLE / 2 + (e->since / 1000 * 2654435761u >> 7) % REACHABLE;
}

/* Send the next request of INCOMPLETE or PROBE, if it is time. */
static enum ip_neigh_do
ask(struct ip_neigh *e, uint64_t now)
{
	int all = e->state == NEIGH_INCOMPLETE;

	if (!may_be_asked(e, now) || e->tries >= IP_NEIGH_TRIES)
		return NEIGH_NOTHING;
	e->tries++;
	e->asked = now;
	STR_POINT("ip:asking");
	return all ? NEIGH_ASK_ALL : NEIGH_ASK_ONE;
}

enum ip_neigh_do
ip_neigh_tick(struct ip_neigh *e, uint64_t now)
{
	switch (e->state) {
	case NEIGH_REACHABLE:
		if (now - e->since >= reachable_time(e))
			become(e, NEIGH_STALE, now);
		return NEIGH_NOTHING;
	case NEIGH_DELAY:
		if (now - e->since < DELAY)
			return NEIGH_NOTHING;
		become(e, NEIGH_PROBE, now);
		return ask(e, now);
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (!may_be_asked(e, now) || e->tries < IP_NEIGH_TRIES)
			return ask(e, now);
		become(e, NEIGH_FAILED, now);
		return NEIGH_UNREACHABLE;
	default:
		return NEIGH_NOTHING;
	}
}

enum ip_neigh_do
ip_neigh_use(struct ip_neigh *e, uint64_t now)
{
	e->used = now;
	switch (e->state) {
	case NEIGH_STALE:
		become(e, NEIGH_DELAY, now);
		return NEIGH_NOTHING;
	case NEIGH_FAILED:
		become(e, NEIGH_INCOMPLETE, now);
		return ask(e, now);
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		return ask(e, now);
	default:
		return NEIGH_NOTHING;
	}
}

int
ip_neigh_is_old(const struct ip_neigh *e, uint64_t now)
{
	if (e->state == NEIGH_FREE || e->first != NULL || !may_be_asked(e, now))
		return 0;
	return e->state == NEIGH_FAILED || (e->state == NEIGH_STALE &&
		now - e->used >= GONE);
}

void
ip_neigh_heard(struct ip_neigh *e, const unsigned char *mac, int solicited,
	int override, uint64_t now)
{
	int known = ip_neigh_known(e);
	int differs = mac != NULL &&
		(!known || __builtin_memcmp(mac, e->mac, 6) != 0);

	if (!known && mac == NULL)
		return;
	if (known && differs && !override) {
		/* RFC 4861 s7.2.5: it is asked again, at its next use */
		if (e->state == NEIGH_REACHABLE)
			become(e, NEIGH_STALE, now);
		return;
	}
	if (differs) {
		/* not used while it is changed */
		if (known)
			become(e, NEIGH_INCOMPLETE, now);
		__builtin_memcpy(e->mac, mac, 6);
	}
	STR_POINT("ip:learning");
	if (solicited)
		become(e, NEIGH_REACHABLE, now);
	else if (differs)
		become(e, NEIGH_STALE, now);
}
