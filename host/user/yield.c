/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Giving the CPU to the thread at the other end of a stream.
 *
 * A thread that has nothing to read would have to be woken.  If the writer runs on
 * the same CPU, a yield in time saves the sleep and the wake.  But the kernel gives
 * the CPU to whichever thread has waited longest, and a busy program of another
 * kind keeps it for milliseconds.  So the thread measures what each yield costs.
 */
#include "user_impl.h"

/* A yield that has cost LOST_NS, and after which the other side has not done much,
 * went to a thread that has nothing to do with the stream.  The rest after it is 128
 * to 1,024 times as long as it was: a busy program stays, and a wake-up costs much
 * less than the slice of the CPU that each further yield gives to the program. */
#define LOST_NS 250000ull
#define REST 7u
#define LOST_MAX 3u
#define DEAF 15u /* calls in the rest that do not read the clock */
#define GOOD 1024u /* yields that cost less, until one is forgotten */

STR_HOT void
host_yield(void)
{
	(void)sys_call1(SYS_sched_yield, 0);
}

static STR_TLS struct {
	uint64_t rest; /* no yield before, host_ticks() */
	uint64_t since, cost; /* of the last yield, if it took long */
	uint32_t lost; /* yields that cost too much, of late; at most LOST_MAX */
	uint32_t good; /* yields since the last of them */
	uint32_t deaf; /* calls left that do not read the clock */
} way;

/* The last yield went to a thread that has nothing to do with the stream. */
static void
way_lost(void)
{
	way.rest = way.since + (way.cost << (REST + way.lost));
	way.cost = 0;
	way.good = 0;
	if (way.lost < LOST_MAX)
		way.lost++;
}

STR_WAKE_TEXT bool
host_give_way(void)
{
	uint64_t start, cost;

	if (str_unlikely(way.deaf != 0)) {
		way.deaf--;
		return false;
	}
	if (str_unlikely(way.cost != 0))
		way_lost();
	start = host_ticks();
	if (str_unlikely(start < way.rest)) {
		way.deaf = DEAF;
		return false;
	}
	host_yield();
	cost = host_ticks() - start;
	if (str_likely(cost * 1000000 < LOST_NS * host_ticks_per_ms)) {
		if (way.lost != 0 && ++way.good >= GOOD) {
			way.lost--;
			way.good = 0;
		}
		return true;
	}
	way.since = start;
	way.cost = cost;
	return true;
}

STR_HOT void
host_way_used(void)
{
	way.cost = 0;
}
