/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which side executes the fence: the thread that sleeps, or, where one sleeps at
 * nearly each message, the thread that may have to wake it.
 */
#include "fixture.h"
#include "head/patience.h"

#define PAUSE_NS 60000ull /* longer than a spin, and short between two sleeps */
#define FEW 20
#define MANY 600

static struct fx_pipe p_;
static uint32_t during, after;

static void
reads(void *arg)
{
	char c;

	fx_close(&p_, !(int)(uintptr_t)arg);
	for (int i = 0; i < FEW; i++)
		T_EQ(fx_read(&p_, (int)(uintptr_t)arg, &c, 1), 1);
	/* asleep no more: what is written from here on wakes no thread */
	sim_sleep(1000000000ull);
}

static void
writes(void *arg)
{
	int end = (int)(uintptr_t)arg;
	str_a32 *want = &p_.sd[!end]->hq.rwant;

	fx_close(&p_, !end);
	for (int i = 0; i < FEW; i++) {
		sim_sleep(PAUSE_NS);
		during = str_load(want);
		T_EQ(fx_write(&p_, end, "x", 1), 1);
	}
	for (int i = 0; i < MANY; i++)
		T_EQ(fx_write(&p_, end, "x", 1), 1);
	after = str_load(want);
}

static void
go(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
	(void)sim_spawn("reader", reads, (void *)1);
	(void)sim_spawn("writer", writes, (void *)0);
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(sim_run(), 0);
}

T_CASE(a_writer_fences_for_a_reader_that_sleeps_at_each_message)
{
	go(t);
	T_EQ(during & STR_WANT_QUIET, STR_WANT_QUIET);
	T_NE(during & STR_WANT_FUTEX, 0u);
}

T_CASE(it_fences_no_more_when_no_reader_sleeps)
{
	go(t);
	T_EQ(after, 0u);
}

T_CASE(after_waits_in_vain_twice_as_many_do_without)
{
	static const uint8_t after_sleep[] = { 15, 31, 63, 127, 127 };
	static const uint8_t after_try[] = { 1, 3, 7, 15, 31, 63, 127, 127 };
	str_a8 skip = 0, rest = 0;

	(void)t;
	for (unsigned i = 0; i < STR_ARRAY_LEN(after_sleep); i++) {
		patience_vain(&skip, &rest, SKIP_SLEEP);
		T_EQ(str_load(&rest), after_sleep[i]);
	}
	patience_paid(&skip, &rest);
	T_FALSE(patience_rests(&rest));
	for (unsigned i = 0; i < STR_ARRAY_LEN(after_try); i++) {
		patience_vain(&skip, &rest, SKIP_TRY);
		T_EQ(str_load(&rest), after_try[i]);
	}
}
