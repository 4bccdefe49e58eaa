/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What the tests of timers share. */
#ifndef CORE_TIMERFIX_H
#define CORE_TIMERFIX_H

#define MS 1000000ull
/* A timer may expire so much later than its deadline: the simulator's clock
 * advances while the test runs, and its streamsd runs only when the test
 * sleeps. */
#define LATE (20 * MS)

static void
count_record(struct str_timer *tm, void *arg)
{
	unsigned *n = arg;

	(void)tm;
	++*n;
}

static unsigned
records(void)
{
	unsigned n = 0;

	str_timer_each(count_record, &n);
	return n;
}

static uint64_t
rnd(struct t *t, uint64_t n)
{
	t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
	return (t->seed >> 33) % n;
}

static unsigned fired;
static struct str_timer *own;

static void
fire(void *arg)
{
	(void)arg;
	fired++;
}

#endif
