/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The measure of yields: is it worth while to yield the CPU now?
 *
 * A thread that has to wait for another one would have to be woken.  If the other
 * one runs on the same CPU, a yield in time saves the sleep and the wake.  But the
 * kernel gives the CPU to whichever thread has waited longest, and a busy program
 * of another kind keeps it for milliseconds.  So the thread measures what each
 * yield costs, and does not yield for some time after one that has cost too much.
 *
 * A caller has one struct host_way for each thread, a clock, and a limit in units
 * of this clock: about 250 us.  Nothing here is shared, and only the clock and
 * the yield are called, so that a library without the host has it, too.
 */
#ifndef HOST_USER_WAY_H
#define HOST_USER_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include <str/annot.h>

/* A yield that has cost the limit, and that the caller has not found used, went to a
 * thread that has nothing to do with the stream.  The rest after it is 128 to 1,024
 * times as long as it was: a busy program stays, and a wake-up costs much less than
 * the slice of the CPU that each further yield gives to the program. */
#define HOST_WAY_REST 7u
#define HOST_WAY_LOST_MAX 3u
#define HOST_WAY_DEAF 15u /* calls in the rest that do not read the clock */
#define HOST_WAY_GOOD 1024u /* yields that cost less, until one is forgotten */

struct host_way {
	uint64_t rest; /* no yield before, in units of the clock */
	uint64_t since, cost; /* of the last yield, if it took long */
	uint32_t lost; /* yields that cost too much, of late; at most
			* HOST_WAY_LOST_MAX */
	uint32_t good; /* yields since the last of them */
	uint32_t deaf; /* calls left that do not read the clock */
};

/* The last yield went to a thread that has nothing to do with the stream. */
STR_INLINE void
host_way_lost(struct host_way *w)
{
	w->rest = w->since + (w->cost << (HOST_WAY_REST + w->lost));
	w->cost = 0;
	w->good = 0;
	if (w->lost < HOST_WAY_LOST_MAX)
		w->lost++;
}

/*
 * host_way_give - yield the CPU, unless this thread rests
 * @w: of this thread; at first all zero
 * @clock: a monotonic counter
 * @yield: sched_yield(2)
 * @limit: a yield that takes as long is lost, in units of @clock
 * Return: false: it rests, there was no yield; sleep.
 */
STR_INLINE bool
host_way_give(struct host_way *w, uint64_t (*clock)(void),
	void (*yield)(void), uint64_t limit)
{
	uint64_t start, cost;

	if (str_unlikely(w->deaf != 0)) {
		w->deaf--;
		return false;
	}
	if (str_unlikely(w->cost != 0))
		host_way_lost(w);
	start = clock();
	if (str_unlikely(start < w->rest)) {
		w->deaf = HOST_WAY_DEAF;
		return false;
	}
	yield();
	cost = clock() - start;
	if (str_likely(cost < limit)) {
		if (w->lost != 0 && ++w->good >= HOST_WAY_GOOD) {
			w->lost--;
			w->good = 0;
		}
		return true;
	}
	w->since = start;
	w->cost = cost;
	return true;
}

/* host_way_keep - the last yield was long because the thread at the other end
 * worked: it is not lost. */
STR_INLINE void
host_way_keep(struct host_way *w)
{
	w->cost = 0;
}

#endif
