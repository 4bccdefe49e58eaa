/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A queue with many messages: what an insertion costs.
 */
#include <time.h>
#include "fixture.h"

static struct fx_pipe pipe_;

#define SOME 200u
#define MANY 20000u

/* CPU time: another process may preempt this one meanwhile. */
static uint64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds of CPU time for SOME insertions of @type and @band into @q. */
static uint64_t
cost(queue_t *q, unsigned type, unsigned band, int (*put_it)(queue_t *,
	mblk_t *))
{
	mblk_t *mp[SOME];
	uint64_t began;
	unsigned i;

	for (i = 0; i < SOME; i++)
		mp[i] = fx_type(type, "x", band);
	began = now_ns();
	for (i = 0; i < SOME; i++)
		T_EQ(put_it(q, mp[i]), 1);
	return now_ns() - began;
}

/* Where a message goes is known without a search: a queue may be long. */
T_CASE(insertion_by_band_costs_no_more_on_a_long_queue)
{
	static const struct {
		const char *label;
		unsigned type, band;
		int (*put_it)(queue_t *, mblk_t *);
		unsigned fill_type, fill_band;
	} row[] = {
		{"a band", M_DATA, 1, putq, M_DATA, 1},
		{"a band below", M_DATA, 1, putq, M_DATA, 2},
		{"high priority", M_PCPROTO, 0, putq, M_PCPROTO, 0},
		{"a band behind high priority", M_DATA, 1, putq, M_PCPROTO, 0},
		{"putbq of band 0", M_DATA, 0, putbq, M_DATA, 1},
		{"putbq of a band", M_DATA, 1, putbq, M_PCPROTO, 0},
	};
	unsigned r, i;

	for (r = 0; r < sizeof(row) / sizeof(row[0]); r++) {
		queue_t *q;
		uint64_t few, lots;

		fx_begin(t);
		fx_pipe(&pipe_);
		q = fx_push(&pipe_, 0, "store");
		T_EQ(putq(q, fx_msg("last", 0)), 1);
		few = cost(q, row[r].type, row[r].band, row[r].put_it);
		for (i = 0; i < MANY; i++) {
			/* built from its end: quick in any queue */
			mblk_t *mp = fx_type(row[r].fill_type, "f",
				row[r].fill_band);

			T_EQ(row[r].fill_type == M_DATA ?
				putbq(q, mp) : insq(q, q->q_first, mp), 1);
		}
		lots = cost(q, row[r].type, row[r].band, row[r].put_it);
		if (lots >= 10 * few + 2000000)
			T_FAIL("%s", row[r].label);
		flushq(q, FLUSHALL);
		fx_end();
	}
}
