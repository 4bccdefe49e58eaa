/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of neighbours: its states, its bounds, its rate of requests.
 */
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "neightab.h"

#define S 1000000000ull

static struct ip_neightab tab;
static uint64_t now;
static const unsigned char one[6] = {2, 0, 0, 0, 0, 1};
static const unsigned char two[6] = {2, 0, 0, 0, 0, 2};

static struct ip_addr
addr(uint32_t n)
{
	return (struct ip_addr){4, {10, (unsigned char)(n >> 16),
		(unsigned char)(n >> 8), (unsigned char)n}};
}

static void
begin(void)
{
	uint32_t i;

	for (i = 0; i < tab.nchunks; i++)
		free(tab.chunk[i]);
	memset(&tab, 0, sizeof(tab));
	tab.key = 77;
	now = 1000 * S;
}

static struct ip_neigh *
get(uint32_t n)
{
	struct ip_addr a = addr(n);

	if (ip_neigh_wants(&tab))
		ip_neigh_give(&tab, calloc(IP_NEIGH_CHUNK,
			sizeof(struct ip_neigh)));
	return ip_neigh_get(&tab, &a, now);
}

T_CASE(an_address_has_one_entry)
{
	struct ip_addr a = addr(5), six = addr(5);
	struct ip_neigh *e;

	six.len = 16;
	begin();
	T_NULL(ip_neigh_find(&tab, &a));
	e = get(5);
	T_NOTNULL(e);
	T_TRUE(get(5) == e);
	T_TRUE(ip_neigh_find(&tab, &a) == e);
	T_NULL(ip_neigh_find(&tab, &six));
	ip_neigh_drop(&tab, e);
	T_NULL(ip_neigh_find(&tab, &a));
	T_EQ(tab.nused, 0);
}

T_CASE(it_grows_to_its_bound)
{
	struct ip_neigh *e;
	struct ip_addr a;
	uint32_t i;

	begin();
	for (i = 0; i < IP_NEIGH_MOST; i++) {
		T_LE(tab.nchunks, i / IP_NEIGH_CHUNK + 1);
		e = get(i);
		T_NOTNULL(e);
		T_EQ(ip_neigh_use(e, now), NEIGH_ASK_ALL);
	}
	T_EQ(tab.nused, IP_NEIGH_MOST);
	/* all have been asked for just now */
	T_NULL(get(i));
	now += S;
	T_NOTNULL(get(i));
	T_EQ(tab.nused, IP_NEIGH_MOST);
	/* what packets wait for is not replaced */
	for (i = 0; i < IP_NEIGH_MOST; i++)
		ip_neigh_at(&tab, i)->first = &tab;
	T_NULL(get(IP_NEIGH_MOST + 1));
	a = addr(IP_NEIGH_MOST);
	T_NOTNULL(ip_neigh_find(&tab, &a));
}

/* RFC 4861 s7.3.3, appendix C */
T_CASE(a_neighbour_has_the_states_of_the_standard)
{
	struct ip_neigh *e;

	begin();
	e = get(1);
	T_FALSE(ip_neigh_known(e));
	T_EQ(ip_neigh_use(e, now), NEIGH_ASK_ALL);
	T_EQ(e->state, NEIGH_INCOMPLETE);
	T_EQ(ip_neigh_use(e, now), NEIGH_NOTHING);
	ip_neigh_heard(e, NULL, 1, 1, now); /* it does not say where */
	T_FALSE(ip_neigh_known(e));
	ip_neigh_heard(e, one, 1, 0, now);
	T_EQ(e->state, NEIGH_REACHABLE);
	T_MEM(e->mac, one, 6);
	now += 46 * S;
	T_EQ(ip_neigh_tick(e, now), NEIGH_NOTHING);
	T_EQ(e->state, NEIGH_STALE);
	T_EQ(ip_neigh_tick(e, now + 50 * S), NEIGH_NOTHING);
	T_EQ(ip_neigh_use(e, now), NEIGH_NOTHING);
	T_EQ(e->state, NEIGH_DELAY);
	T_EQ(ip_neigh_tick(e, now + 4 * S), NEIGH_NOTHING);
	now += 5 * S;
	T_EQ(ip_neigh_tick(e, now), NEIGH_ASK_ONE);
	T_EQ(e->state, NEIGH_PROBE);
	T_TRUE(ip_neigh_known(e));
	/* the same station, without its address */
	ip_neigh_heard(e, NULL, 1, 0, now);
	T_EQ(e->state, NEIGH_REACHABLE);
	/* another one, which does not override */
	ip_neigh_heard(e, two, 0, 0, now);
	T_EQ(e->state, NEIGH_STALE);
	T_MEM(e->mac, one, 6);
	ip_neigh_heard(e, two, 1, 0, now);
	T_EQ(e->state, NEIGH_STALE);
	T_MEM(e->mac, one, 6);
	/* one that does */
	ip_neigh_heard(e, two, 0, 1, now);
	T_EQ(e->state, NEIGH_STALE);
	T_MEM(e->mac, two, 6);
	ip_neigh_heard(e, one, 1, 1, now);
	T_EQ(e->state, NEIGH_REACHABLE);
	/* an unsolicited one that says the same changes nothing */
	ip_neigh_heard(e, one, 0, 1, now);
	T_EQ(e->state, NEIGH_REACHABLE);
}

T_CASE(three_requests_have_no_answer)
{
	struct ip_neigh *e;
	unsigned i;

	begin();
	e = get(1);
	T_EQ(ip_neigh_use(e, now), NEIGH_ASK_ALL);
	for (i = 0; i < 2; i++) {
		now += S;
		T_EQ(ip_neigh_tick(e, now - 1), NEIGH_NOTHING);
		T_EQ(ip_neigh_tick(e, now), NEIGH_ASK_ALL);
	}
	now += S;
	T_EQ(ip_neigh_tick(e, now - 1), NEIGH_NOTHING);
	T_EQ(ip_neigh_use(e, now), NEIGH_NOTHING);
	T_EQ(ip_neigh_tick(e, now), NEIGH_UNREACHABLE);
	T_EQ(e->state, NEIGH_FAILED);
	T_TRUE(ip_neigh_is_old(e, now));
	T_EQ(ip_neigh_use(e, now), NEIGH_ASK_ALL);
	T_FALSE(ip_neigh_is_old(e, now));
}

T_CASE(a_killed_thread_leaves_a_table_that_mends)
{
	struct ip_addr a = addr(3);
	struct ip_neigh *e;
	uint32_t i;

	begin();
	for (i = 0; i < 100; i++)
		T_NOTNULL(get(i));
	ip_neigh_enter(&tab);
	memset(tab.head, 0, sizeof(tab.head));
	tab.free = 0;
	ip_neigh_enter(&tab);
	T_EQ(tab.resets, 1);
	T_EQ(tab.nused, 100);
	e = ip_neigh_find(&tab, &a);
	T_NOTNULL(e);
	T_TRUE(get(3) == e);
	ip_neigh_leave(&tab);
	for (i = 0; i < 128; i++)
		T_NOTNULL(get(i));
	T_EQ(tab.nchunks, 2);
}

/* Whatever is done, each address is asked for once a second at most. */
T_CASE(the_rate_holds_for_any_sequence)
{
	enum { ADDRS = 20000, STEPS = 600000 };
	static uint64_t last[ADDRS];
	enum ip_neigh_do what;
	uint32_t seed = 1, i, n, asked = 0;
	struct ip_neigh *e;

	begin();
	memset(last, 0, sizeof(last));
	for (i = 0; i < STEPS; i++) {
		seed = seed * 1664525u + 1013904223u;
		n = (seed >> 8) % ADDRS;
		now += seed % 160000;
		e = get(n);
		if (e == NULL)
			continue;
		switch (seed >> 29) {
		case 0:
			ip_neigh_heard(e, (seed & 1) ? one : two, (seed & 2) != 0,
				(seed & 4) != 0, now);
			what = NEIGH_NOTHING;
			break;
		case 1:
			what = ip_neigh_tick(e, now);
			break;
		case 2:
			what = NEIGH_NOTHING;
			if (ip_neigh_is_old(e, now))
				ip_neigh_drop(&tab, e);
			break;
		default:
			what = ip_neigh_use(e, now);
			break;
		}
		if (what != NEIGH_ASK_ALL && what != NEIGH_ASK_ONE)
			continue;
		asked++;
		T_TRUE(last[n] == 0 || now - last[n] >= S);
		last[n] = now;
	}
	T_GT(asked, 20000u);
	T_EQ(tab.nchunks, IP_NEIGH_CHUNKS);
}
