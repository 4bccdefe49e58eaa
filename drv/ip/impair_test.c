/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Impaired wires: which packets come out, when, and as what. */
#include <sys/strsun.h>
#include "../drvfix.h"
#include "impair.h"

#define MS 1000000ull
#define NONE UINT64_MAX

static struct ip_impair im;
static const struct ip_hdr head = {.hlen = 20, .len = 80};

static void
begin(struct t *t, const struct ipw_impair *conf)
{
	fx_begin(t);
	memset(&im, 0, sizeof(im));
	T_EQ(ip_impair_is_good(conf), 1);
	ip_impair_set(&im, conf);
}

static uint64_t
take(unsigned char n, uint64_t now)
{
	mblk_t *mp = allocb(100, BPRI_MED);
	uint64_t next;

	T_NOTNULL(mp);
	memset(mp->b_wptr, n, 100);
	mp->b_wptr += 100;
	next = ip_impair_take(&im, mp, &head, now);
	freemsg(mp);
	return next;
}

/* The number of the packet that is due at @now; -1: none is. */
static int
due(uint64_t now, uint64_t *ret_next)
{
	struct ip_hdr h;
	mblk_t *mp = ip_impair_due(&im, now, &h, ret_next);
	int n;

	if (mp == NULL)
		return -1;
	T_EQ(h.len, 80);
	T_EQ(MBLKL(mp), 100);
	n = mp->b_rptr[0];
	freemsg(mp);
	return n;
}

T_CASE(without_parameters_packets_are_due_at_once)
{
	struct ipw_impair c = {.loss = 0};
	uint64_t next;

	begin(t, &c);
	T_EQ(ip_impair_is_any(&c), 0);
	T_EQ(take(1, 5), 5);
	T_EQ(take(2, 6), 5);
	T_EQ(due(6, &next), 1);
	T_EQ(next, 6);
	T_EQ(due(6, &next), 2);
	T_EQ(next, NONE);
	T_EQ(due(6, &next), -1);
}

T_CASE(a_delay_holds_them)
{
	struct ipw_impair c = {.delay = 3000};
	uint64_t next;

	begin(t, &c);
	T_EQ(take(1, MS), 4 * MS);
	T_EQ(take(2, 2 * MS), 4 * MS);
	T_EQ(due(3 * MS, &next), -1);
	T_EQ(next, 4 * MS);
	T_EQ(due(4 * MS, &next), 1);
	T_EQ(due(4 * MS, &next), -1);
	T_EQ(due(5 * MS, &next), 2);
}

T_CASE(a_jitter_keeps_the_order_of_the_times)
{
	struct ipw_impair c = {.jitter = 1000, .seed = 7};
	uint64_t now, next, n = 0, swapped = 0;
	int last = -1, k;

	begin(t, &c);
	for (k = 0; k < 200; k++)
		(void)take((unsigned char)k, 0);
	for (now = 0; n < 200; now += 1000) {
		T_TRUE(now <= MS);
		while ((k = due(now, &next)) >= 0) {
			swapped += k < last;
			last = k;
			n++;
		}
		T_TRUE(next > now);
	}
	T_TRUE(swapped > 50);
}

T_CASE(as_many_are_lost_as_the_chance_says)
{
	struct ipw_impair c = {.loss = 100000, .seed = 3}, got;
	int k;

	begin(t, &c);
	for (k = 0; k < 5000; k++) {
		(void)take(1, 0);
		ip_impair_clear(&im);
	}
	ip_impair_get(&im, &got);
	T_EQ(got.seen, 5000);
	T_TRUE(got.lost > 400);
	T_TRUE(got.lost < 600);
	T_EQ(got.held, 0);
}

/* Which of 64 packets are lost. */
static uint64_t
pattern(uint64_t seed, unsigned corrupt)
{
	struct ipw_impair c = {.loss = 500000, .seed = seed,
		.corrupt = corrupt};
	uint64_t bits = 0, next;
	int k;

	ip_impair_set(&im, &c);
	for (k = 0; k < 64; k++) {
		(void)take((unsigned char)k, 0);
		if (due(0, &next) >= 0)
			bits |= 1ull << k;
	}
	return bits;
}

T_CASE(the_seed_decides_and_other_parameters_do_not)
{
	struct ipw_impair c = {.loss = 0};
	uint64_t was;

	begin(t, &c);
	was = pattern(1, 0);
	T_EQ(pattern(1, 0), was);
	T_EQ(pattern(1, 1), was);
	T_TRUE(pattern(2, 0) != was);
}

T_CASE(some_are_sent_twice)
{
	struct ipw_impair c = {.dup = IPW_ALWAYS};
	uint64_t next;

	begin(t, &c);
	(void)take(1, 0);
	T_EQ(due(0, &next), 1);
	T_EQ(due(0, &next), 1);
	T_EQ(due(0, &next), -1);
}

T_CASE(the_next_one_overtakes_or_a_second_passes)
{
	struct ipw_impair c = {.reorder = IPW_ALWAYS}, no = {.loss = 0};
	uint64_t next;

	begin(t, &c);
	T_EQ(take(1, 0), 1000 * MS);
	T_EQ(due(999 * MS, &next), -1);
	ip_impair_set(&im, &no);
	T_EQ(take(2, MS), MS);
	T_EQ(due(MS, &next), 2);
	T_EQ(due(MS, &next), 1);
	ip_impair_set(&im, &c);
	(void)take(3, 0);
	(void)take(4, 0);
	T_EQ(due(1000 * MS, &next), 3);
	T_EQ(due(1000 * MS, &next), 4);
	T_EQ(next, NONE);
}

T_CASE(one_bit_is_inverted_behind_the_header)
{
	struct ipw_impair c = {.corrupt = IPW_ALWAYS};
	struct ip_hdr h;
	uint64_t next;
	int k, i, bits;
	mblk_t *mp;

	begin(t, &c);
	for (k = 0; k < 100; k++) {
		(void)take(0, 0);
		mp = ip_impair_due(&im, 0, &h, &next);
		T_NOTNULL(mp);
		for (bits = 0, i = 0; i < 100; i++)
			bits += __builtin_popcount(mp->b_rptr[i]);
		T_EQ(bits, 1);
		for (i = 0; i < 20; i++)
			T_EQ(mp->b_rptr[i], 0);
		freemsg(mp);
	}
}

T_CASE(a_rate_spaces_them_and_the_limit_drops)
{
	struct ipw_impair c = {.rate = 100000, .limit = 4}, got;
	uint64_t next;
	int k;

	begin(t, &c);
	for (k = 0; k < 10; k++)
		(void)take((unsigned char)k, 0); /* 100 bytes: 1 ms each */
	ip_impair_get(&im, &got);
	T_EQ(got.held, 4);
	T_EQ(got.full, 6);
	for (k = 0; k < 4; k++) {
		T_EQ(due((uint64_t)(k + 1) * MS - 1, &next), -1);
		T_EQ(due((uint64_t)(k + 1) * MS, &next), k);
	}
}

T_CASE(a_killed_thread_leaves_an_order)
{
	struct ipw_impair c = {.delay = 1000}, got;
	uint64_t next;

	begin(t, &c);
	(void)take(1, 0);
	(void)take(2, 0);
	im.busy = 1;
	im.conf.held = 17;
	im.last = NULL;
	(void)take(3, 0);
	ip_impair_get(&im, &got);
	T_EQ(got.held, 3);
	T_EQ(due(MS, &next), 1);
	T_EQ(due(MS, &next), 2);
	T_EQ(due(MS, &next), 3);
}

T_CASE(impossible_parameters_are_refused)
{
	struct ipw_impair c = {.loss = IPW_ALWAYS + 1};

	fx_begin(t);
	T_EQ(ip_impair_is_good(&c), 0);
	c.loss = 0;
	c.delay = IPW_LONGEST + 1;
	T_EQ(ip_impair_is_good(&c), 0);
	c.delay = 0;
	c.zero = 1;
	T_EQ(ip_impair_is_good(&c), 0);
}
