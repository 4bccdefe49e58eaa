/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The measure of yields, by a clock that goes on only during a yield, for as long as
 * the case says.  No yield is a real one, so that other programs delay no case.
 */
#include <string.h>

#include <t.h>

#include "way.h"

#define LIMIT 250u
#define LONG 1000u

static uint64_t now, step; /* a yield takes @step */
static struct host_way way;

static unsigned readings;

static uint64_t
reading(void)
{
	readings++;
	return now;
}

static void
yield(void)
{
	now += step;
}

/* Does this call yield, if the yield takes @cost? */
static bool
yields(uint64_t cost)
{
	step = cost;
	return host_way_give(&way, reading, yield, LIMIT);
}

static void
begin(void)
{
	memset(&way, 0, sizeof way);
	now = 1000000;
}

/* The time from @from to the first yield, if a call reads the clock at each tick. */
static uint64_t
rest_after(uint64_t from)
{
	for (;;) {
		way.deaf = 0;
		step = 0;
		if (host_way_give(&way, reading, yield, LIMIT))
			return now - from;
		now++;
	}
}

T_CASE(short_yields_go_on)
{
	begin();
	for (int i = 0; i < 100000; i++)
		T_TRUE(yields(LIMIT - 1));
}

T_CASE(after_a_long_yield_there_is_none_for_128_times_as_long)
{
	uint64_t from;

	begin();
	from = now;
	T_TRUE(yields(LONG));
	T_FALSE(yields(0));
	T_EQ(rest_after(from), (uint64_t)LONG << 7);
}

T_CASE(each_further_long_yield_doubles_the_rest_up_to_1024_times)
{
	static const unsigned times[] = {128, 256, 512, 1024, 1024};

	begin();
	for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
		uint64_t from = now;

		T_TRUE(yields(LONG));
		T_FALSE(yields(0));
		T_EQ(rest_after(from), (uint64_t)LONG * times[i]);
	}
}

T_CASE(a_long_yield_that_was_used_is_not_lost)
{
	begin();
	for (int i = 0; i < 100; i++) {
		T_TRUE(yields(LONG));
		host_way_keep(&way);
	}
}

T_CASE(many_short_yields_make_the_next_rest_short_again)
{
	uint64_t from;

	begin();
	from = now;
	T_TRUE(yields(LONG));
	T_FALSE(yields(0));
	(void)rest_after(from);
	for (unsigned i = 0; i < HOST_WAY_GOOD; i++)
		T_TRUE(yields(1));
	from = now;
	T_TRUE(yields(LONG));
	T_FALSE(yields(0));
	T_EQ(rest_after(from), (uint64_t)LONG << 7);
}

T_CASE(most_calls_in_the_rest_do_not_read_the_clock)
{
	unsigned seen;

	begin();
	T_TRUE(yields(LONG));
	T_FALSE(yields(1));
	seen = readings;
	for (unsigned i = 0; i < HOST_WAY_DEAF; i++)
		T_FALSE(yields(1));
	T_EQ(readings, seen);
	T_FALSE(yields(1));
	T_EQ(readings, seen + 1);
}
