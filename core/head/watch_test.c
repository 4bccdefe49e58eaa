/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Watchers: what wakers report, to which watchers, and how often; and that no
 * event is slept through, in any order, and when a waker is killed.
 */
#include "fixture.h"
#include "head/want.h"
#include "head/watch.h"

#define MS 1000000ull
#define ITEM 77u
#define RECORDS 20

static struct fx_pipe p_;
static struct str_watch *w_;
static uint32_t slot_;
static char buf[4096];
static unsigned woken, taken;
static uint64_t began;

static struct str_watch *
make(void)
{
	struct host_call hc = { .fd = -1 };
	struct str_watch *w;

	T_EQ(host_enter(&hc), 0);
	w = str_watch_make();
	host_leave();
	T_NE(w, NULL);
	return w;
}

/* The watchers of the case, whose memory the domain keeps. */
static void
prepare(void)
{
	struct str_watch *w[4];
	int i;

	w_ = make();
	for (i = 0; i < 4; i++)
		w[i] = make();
	for (i = 0; i < 4; i++)
		str_watch_free(w[i]);
	fx_keep();
}

static void
begin(struct t *t)
{
	fx_begin(t);
	prepare();
	fx_pipe(&p_);
	T_TRUE(str_watch_join(w_, p_.sd[1], ITEM, false, &slot_));
	woken = taken = 0;
	began = host_now();
}

static void
arm(uint32_t ways)
{
	struct str_armed a;

	T_TRUE(str_watch_arm(w_, p_.sd[1], slot_, ITEM, ways, &a));
}

/* Was the item's bit set?  It is not any more. */
static bool
take(struct str_watch *w)
{
	uint32_t bit = str_watch_bit(ITEM, STR_WATCH_READ);

	/* both of them: they are in one word */
	return str_watch_some(w) != 0 &&
		(str_watch_bits(w, bit / 64) & 3ull << bit % 64) != 0;
}

static uint32_t
armed(void)
{
	return str_watch_armed(w_, p_.sd[1], slot_, ITEM);
}

/* A waker that has found no slot armed compares the count. */
T_CASE(the_count_stays_while_a_watcher_is_requested)
{
	str_a32 word = 0;
	uint32_t n;

	(void)want_request(&word, STR_WANT_WATCH, &n);
	T_NE(n & ~STR_WANT_BITS, 0u);
	T_EQ(want_without(n | STR_WANT_TOKEN, STR_WANT_TOKEN), n);
	T_EQ(want_without(n, STR_WANT_WATCH), 0u);
}

T_CASE(a_write_reports_an_armed_item_once)
{
	begin(t);
	arm(STR_WATCH_READ);
	T_NE(str_load(&p_.sd[1]->hq.rwant) & STR_WANT_WATCH, 0u);
	T_FALSE(take(w_));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_EQ(armed(), 0u);
	T_EQ(str_load(&p_.sd[1]->hq.rwant) & STR_WANT_WATCH, 0u);
	T_TRUE(take(w_));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_FALSE(take(w_));
	arm(STR_WATCH_READ);
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_TRUE(take(w_));
}

T_CASE(room_is_reported_to_an_item_armed_for_room)
{
	begin(t);
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	while (fx_write(&p_, 1, buf, sizeof(buf)) > 0)
		;
	arm(STR_WATCH_READ | STR_WATCH_WRITE);
	T_EQ(fx_read(&p_, 0, buf, 1), 1);
	T_FALSE(take(w_));
	while (!str_head_writable(p_.sd[1]))
		T_GT(fx_read(&p_, 0, buf, sizeof(buf)), 0);
	T_TRUE(take(w_));
	T_EQ(armed(), STR_WATCH_READ);
}

T_CASE(a_hang_up_is_reported)
{
	begin(t);
	arm(STR_WATCH_READ);
	fx_close(&p_, 0);
	T_TRUE(take(w_));
}

T_CASE(an_item_that_left_is_not_reported)
{
	begin(t);
	arm(STR_WATCH_READ);
	str_watch_leave(w_, p_.sd[1], slot_, ITEM);
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_FALSE(take(w_));
	T_EQ(str_load(&p_.sd[1]->hq.rwant) & STR_WANT_WATCH, 0u);
}

T_CASE(a_head_has_slots_for_so_many_watchers)
{
	uint32_t i, slot;

	begin(t);
	for (i = 1; i < STR_NWATCHED; i++)
		T_TRUE(str_watch_join(w_, p_.sd[1], ITEM + i, false, &slot));
	T_FALSE(str_watch_join(w_, p_.sd[1], ITEM + i, false, &slot));
	str_watch_leave(w_, p_.sd[1], slot, ITEM + i - 1);
	T_TRUE(str_watch_join(w_, p_.sd[1], ITEM + i, false, &slot));
	/* the slots of a watcher that was freed are free */
	str_watch_free(w_);
	w_ = make();
	for (i = 0; i < STR_NWATCHED; i++)
		T_TRUE(str_watch_join(w_, p_.sd[1], i, false, &slot));
	T_FALSE(str_watch_join(w_, p_.sd[1], i, false, &slot));
}

static void
makes_and_dies(void *arg)
{
	struct str_watch *w = make();
	struct str_armed a;
	uint32_t slot;

	(void)arg;
	T_TRUE(str_watch_join(w, p_.sd[1], 1, false, &slot));
	T_TRUE(str_watch_arm(w, p_.sd[1], slot, 1, STR_WATCH_READ, &a));
	T_EQ(w->number, 1u);
	sim_kill(sim_current());
}

T_CASE(the_watcher_of_a_dead_process_is_used_again)
{
	struct str_watch *w;
	uint32_t gen, i, slot;

	begin(t);
	(void)sim_spawn("dies", makes_and_dies, NULL);
	T_EQ(sim_run(), 0);
	/* its slot is armed still, and harms no writer */
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	gen = str_load(&w_->gen);
	w = make();
	T_EQ(w->number, 1u);
	T_FALSE(take(w));
	T_EQ(str_load(&w_->gen), gen);
	for (i = 1; i < STR_NWATCHED; i++)
		T_TRUE(str_watch_join(w, p_.sd[1], i, false, &slot));
}

/* ------------------------------------------------------------- sleeping */

/* A process with a watcher of its own waits for its item once. */
static void
waits_once(void *arg)
{
	struct host_call hc = { .fd = -1 };
	struct str_watch *w = make();
	struct str_armed a;
	uint32_t slot, word;

	fx_close(&p_, 0);
	T_TRUE(str_watch_join(w, p_.sd[1], ITEM, arg != NULL, &slot));
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_watch_arm(w, p_.sd[1], slot, ITEM, STR_WATCH_READ, &a));
	word = str_load(&w->word);
	if (str_watch_sleep(w))
		(void)host_wait(NULL, &w->word, word, 2000 * MS);
	host_leave();
	woken += take(w);
	sim_sleep(4000 * MS);
}

static void
writes_once(void *arg)
{
	(void)arg;
	fx_close(&p_, 1);
	sim_sleep(100 * MS);
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	sim_sleep(4000 * MS);
}

static void
three_wait(struct t *t, void *exclusive)
{
	begin(t);
	str_watch_leave(w_, p_.sd[1], slot_, ITEM);
	for (int i = 0; i < 3; i++)
		(void)sim_spawn("waiter", waits_once, exclusive);
	(void)sim_spawn("writer", writes_once, NULL);
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(sim_run(), 0);
}

T_CASE(an_event_wakes_all_watchers)
{
	three_wait(t, NULL);
	T_EQ(woken, 3u);
}

T_CASE(an_event_wakes_one_of_the_exclusive_watchers)
{
	three_wait(t, t);
	T_EQ(woken, 1u);
}

/* Arms the first slot, and announces that it waits for the bell. */
static void
sleeps_on(void *arg)
{
	struct host_call hc = { .fd = -1 };
	struct str_watch *w = make();
	struct str_armed a;
	uint32_t slot;

	(void)arg;
	T_TRUE(str_watch_join(w, p_.sd[1], ITEM, true, &slot));
	T_EQ(slot, 0u);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_watch_arm(w, p_.sd[1], slot, ITEM, STR_WATCH_READ, &a));
	str_watch_bell_on(w);
	sim_sleep(4000 * MS);
}

/* In the first round the killed task is not reaped yet, in the second it is. */
T_CASE(an_exclusive_watcher_that_was_killed_takes_no_event)
{
	for (unsigned ms = 0; ms < 60; ms += 30) {
		struct sim_task *d;

		begin(t);
		str_watch_leave(w_, p_.sd[1], slot_, ITEM);
		d = sim_spawn("dies", sleeps_on, NULL);
		sim_sleep(50 * MS);
		T_TRUE(str_watch_join(w_, p_.sd[1], ITEM, true, &slot_));
		T_EQ(slot_, 1u);
		arm(STR_WATCH_READ);
		sim_kill(d);
		if (ms != 0)
			sim_sleep(ms * MS);
		T_EQ(fx_write(&p_, 0, "x", 1), 1);
		T_TRUE(take(w_));
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

#define EDGE 1u /* it reads until there is no more */
#define BELL 2u /* it sleeps until the bell rings */

/* Sleep on @w, whose word had the value @word, or until the bell rings. */
static void
sleeps(struct str_watch *w, uint32_t word, bool bell)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;

	T_EQ(host_enter(&hc), 0);
	if (bell) {
		str_watch_bell_on(w);
		if (str_load(&w->some) == 0)
			T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
		str_watch_bell_off(w);
	} else if (str_watch_sleep(w)) {
		(void)host_wait(NULL, &w->word, word, UINT64_MAX);
	}
	host_leave();
}

/*
 * A process reads all records; it looks at the stream only when its item is
 * reported, and sleeps without limit.  @arg: EDGE, BELL.
 */
static void
serves(void *arg)
{
	struct host_call hc = { .fd = -1 };
	struct str_watch *w = make();
	struct str_armed a;
	uint32_t slot, word, how = (uint32_t)(uintptr_t)arg;
	bool queued = true, edge = (how & EDGE) != 0;

	fx_close(&p_, 0);
	T_TRUE(str_watch_join(w, p_.sd[1], ITEM, false, &slot));
	while (taken < RECORDS) {
		word = str_load(&w->word);
		T_EQ(host_enter(&hc), 0);
		queued |= take(w);
		if (queued) {
			T_TRUE(str_watch_arm(w, p_.sd[1], slot, ITEM,
				STR_WATCH_READ, &a));
			host_fence_heavy();
			sim_point();
		}
		host_leave();
		if (queued && str_head_readable(p_.sd[1])) {
			do
				taken += fx_read(&p_, 1, buf, 1) == 1;
			while (edge && str_head_readable(p_.sd[1]));
			queued = !edge;
			continue;
		}
		queued = false;
		sleeps(w, word, (how & BELL) != 0);
	}
	/* not only by the hang-up at the end */
	T_LT(host_now() - began, 2000 * MS);
}

static void
writes(void *arg)
{
	fx_close(&p_, 1);
	for (unsigned i = 0; i < (unsigned)(uintptr_t)arg; i++) {
		sim_sleep(sim_rand(3) * MS);
		T_EQ(fx_write(&p_, 0, "x", 1), 1);
	}
	sim_sleep(4000 * MS);
}

static void
run_seed(struct t *t, uint64_t seed, unsigned how)
{
	fx_begin_seed(seed);
	prepare();
	fx_pipe(&p_);
	taken = 0;
	began = host_now();
	sim_grain(3);
	(void)sim_spawn("server", serves, (void *)(uintptr_t)how);
	(void)sim_spawn("writer", writes, (void *)(RECORDS / 2));
	(void)sim_spawn("writer", writes, (void *)(RECORDS / 2));
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(sim_run(), 0);
	T_EQ(taken, RECORDS);
	fx_end();
	(void)t;
}

T_CASE(no_event_is_slept_through_in_any_order)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_seed(t, seed, 0);
}

T_CASE(no_edge_is_slept_through_in_any_order)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_seed(t, seed, EDGE);
}

T_CASE(no_event_is_slept_through_that_the_bell_reports)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		run_seed(t, seed, BELL);
		run_seed(t, seed, BELL | EDGE);
	}
}

/* ... when the server has armed its item and sleeps. */
static void
writes_later(void *arg)
{
	sim_sleep(50 * MS);
	writes(arg);
}

/* A writer is killed at @label; the next one reports its event as well. */
static void
killed_at(struct t *t, const char *label)
{
	begin(t);
	str_watch_leave(w_, p_.sd[1], slot_, ITEM);
	taken = RECORDS - 2;
	(void)sim_spawn("server", serves, NULL);
	(void)sim_spawn("doomed", writes_once, NULL);
	(void)sim_spawn("writer", writes_later, (void *)2);
	sim_crash_at(label, 1);
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(sim_run(), 0);
	T_GE(sim_crash_count(label), 1u);
	T_GE(taken, (unsigned)RECORDS);
}

T_CASE(a_waker_killed_after_the_bit_is_replaced)
{
	killed_at(t, "watch:bit");
}

T_CASE(a_waker_killed_after_the_line_is_replaced)
{
	killed_at(t, "watch:line");
}

T_CASE(a_waker_killed_after_the_disarming_is_replaced)
{
	killed_at(t, "watch:disarmed");
}
