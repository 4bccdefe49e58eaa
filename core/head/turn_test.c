/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Many writers of one queue: they take turns, and no turn is lost by a signal or a
 * kill.
 */
#include "fixture.h"
#include "headq.h"

#define MOST 65536u

static struct fx_pipe p_;
static unsigned char out[MOST], in[MOST];

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
}

static unsigned went_on;

static void
waits_for_room(void *arg)
{
	(void)arg;
	T_EQ(fx_write(&p_, 0, out, 1024), 1024);
	went_on++;
}

static uint64_t
yields(void)
{
	struct sim_stats st;

	sim_stats(&st);
	return st.yields;
}

static void
read_everything(void)
{
	while (str_head_pending(p_.sd[1]))
		T_GT(fx_read(&p_, 1, in, MOST), 0);
}

/*
 * Writers were held back, and the reader has made room.  Until one of them runs,
 * the writer that runs already yields after each share of the queue.  The
 * simulator may choose the same writer again, so its turns are counted and not
 * the bytes of all turns.
 */
T_CASE(a_writer_leaves_those_that_wait_their_share)
{
	struct str_headq *hq;
	uint64_t seen, turn = 0, longest = 0;
	unsigned i;

	begin(t);
	went_on = 0;
	hq = &p_.sd[1]->hq;
	while (!str_headq_is_full(hq))
		T_EQ(fx_write(&p_, 0, out, 4096), 4096);
	for (i = 0; i < 3; i++)
		(void)sim_spawn("waits", waits_for_room, NULL);
	sim_sleep(1000000);
	T_EQ(str_load(&hq->wsleep), 3u);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	read_everything();
	T_EQ(went_on, 0u);
	sim_grain(0); /* only a yield lets another one run */
	seen = yields();
	while (str_load(&hq->wsleep) == 3 && !str_headq_is_full(hq)) {
		T_EQ(fx_write(&p_, 0, out, 1024), 1024);
		turn += 1024;
		longest = STR_MAX(longest, turn);
		if (yields() != seen)
			turn = 0;
		seen = yields();
	}
	T_GT(longest, 0u);
	T_LE(longest, hq->hiwat / 4 + 1024);
	read_everything();
	T_EQ(sim_run(), 0);
	T_EQ(went_on, 3u);
}

#define CROWD 24u
#define ROUNDS 6u

static uint64_t wrote[CROWD];
static bool enough;

static void
writes_until_enough(void *arg)
{
	uint64_t *mine = arg;

	while (!enough) {
		T_EQ(fx_write(&p_, 0, out, 4096), 4096);
		*mine += 4096;
	}
}

/*
 * To yield to many other writers takes so long that host_give_way() takes it
 * for lost.  A crowd writes by turns nevertheless.
 */
T_CASE(a_crowd_of_writers_writes_by_turns)
{
	uint64_t least = UINT64_MAX, most = 0, sum = 0;
	unsigned i;

	begin(t);
	enough = false;
	memset(wrote, 0, sizeof(wrote));
	sim_no_way(true);
	for (i = 0; i < CROWD; i++)
		(void)sim_spawn("crowd", writes_until_enough, &wrote[i]);
	while (sum < (uint64_t)CROWD * ROUNDS * p_.sd[1]->hq.hiwat) {
		long n = fx_read(&p_, 1, in, MOST);

		T_GT(n, 0);
		sum += (uint64_t)n;
	}
	for (i = 0; i < CROWD; i++) {
		least = STR_MIN(least, wrote[i]);
		most = STR_MAX(most, wrote[i]);
	}
	enough = true;
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	while (str_head_pending(p_.sd[1])) {
		T_GT(fx_read(&p_, 1, in, MOST), 0);
		sim_sleep(1000000);
	}
	T_EQ(sim_run(), 0);
	T_LE(most, 2 * least);
}

/* Programs that have nothing to do with the queue keep the CPU for a while. */
static void
keeps_the_cpu(void *arg)
{
	(void)arg;
	while (!enough) {
		sim_advance(3000000);
		sim_sleep(1);
	}
}

/* A queue of many writers, in the turn of one that writes no more; a write then.
 * Return: the ns that it takes. */
static uint64_t
write_in_a_crowd(struct t *t, int fflags)
{
	struct str_headq *hq;
	uint64_t ns;

	begin(t);
	enough = false;
	hq = &p_.sd[1]->hq;
	str_store(&hq->crowd, CROWD << HEADQ_CROWD_SHIFT);
	hq->turn = 16384;
	str_store(&hq->turn_of, 1u);
	p_.hc[0].fflags |= fflags;
	(void)sim_spawn("busy", keeps_the_cpu, NULL);
	ns = host_now();
	T_EQ(fx_write(&p_, 0, out, 64), 64);
	ns = host_now() - ns;
	enough = true;
	T_EQ(sim_run(), 0);
	return ns;
}

T_CASE(a_writer_does_not_wait_for_a_turn_that_is_not_used)
{
	T_LE(write_in_a_crowd(t, 0), 20000000);
}

T_CASE(a_writer_that_must_not_wait_waits_for_no_turn)
{
	T_LE(write_in_a_crowd(t, STR_O_NONBLOCK), 1000000);
}

/*
 * The writer whose turn it is writes no more.  A reader that finds the queue empty
 * lets the next one write, long before that would have waited enough.
 */
T_CASE(a_reader_of_an_empty_queue_ends_the_turn)
{
	struct str_headq *hq;
	uint64_t ns;

	begin(t);
	went_on = 0;
	hq = &p_.sd[1]->hq;
	str_store(&hq->crowd, CROWD << HEADQ_CROWD_SHIFT);
	hq->turn = 65536;
	str_store(&hq->turn_of, 1u);
	(void)sim_spawn("waits", waits_for_room, NULL);
	while (str_load(&hq->wsleep) == 0)
		sim_sleep(1);
	ns = host_now();
	T_EQ(fx_read(&p_, 1, in, MOST), 1024);
	T_LT(host_now() - ns, 1000000);
	T_EQ(sim_run(), 0);
	T_EQ(went_on, 1u);
	T_EQ(str_load(&hq->wsleep), 0u);
}

/* So many writers write no more that the last ones need no turns. */
T_CASE(writers_that_are_no_crowd_any_more_do_not_wait)
{
	struct str_headq *hq;
	uint64_t ns;
	unsigned i;

	begin(t);
	went_on = 0;
	hq = &p_.sd[1]->hq;
	str_store(&hq->crowd, CROWD << HEADQ_CROWD_SHIFT);
	hq->turn = 65536;
	str_store(&hq->turn_of, host_self_tag());
	for (i = 0; i < 3; i++)
		(void)sim_spawn("waits", waits_for_room, NULL);
	while (str_load(&hq->wsleep) != 3)
		sim_sleep(1);
	ns = host_now();
	str_store(&hq->crowd, 0u);
	while (went_on != 3 && host_now() - ns < 1000000) {
		T_EQ(fx_write(&p_, 0, out, 4096), 4096);
		sim_sleep(1000);
	}
	T_EQ(went_on, 3u);
	read_everything();
	T_EQ(sim_run(), 0);
}

static long waited_for;

static void
waits_for_its_turn(void *arg)
{
	(void)arg;
	waited_for = fx_write(&p_, 0, out, 1024);
	went_on++;
}

/* A queue of many writers, in the turn of one that writes no more; a task that
 * waits for the next turn. */
static struct sim_task *
begin_to_wait(struct t *t)
{
	struct sim_task *waits;
	struct str_headq *hq;

	begin(t);
	went_on = 0;
	waited_for = 0;
	hq = &p_.sd[1]->hq;
	str_store(&hq->crowd, CROWD << HEADQ_CROWD_SHIFT);
	hq->turn = 65536;
	str_store(&hq->turn_of, 1u);
	waits = sim_spawn("waits", waits_for_its_turn, NULL);
	while (str_load(&hq->wsleep) == 0)
		sim_sleep(1000);
	return waits;
}

T_CASE(a_signal_ends_the_wait_for_a_turn)
{
	struct sim_task *waits = begin_to_wait(t);
	uint64_t ns = host_now();

	sim_signal(waits, false);
	while (went_on == 0)
		sim_sleep(1000);
	T_LT(host_now() - ns, 1000000);
	T_EQ(waited_for, -4 /* EINTR */);
	T_EQ(str_load(&p_.sd[1]->hq.wsleep), 0u);
	T_FALSE(str_head_pending(p_.sd[1]));
}

/* The handler runs at once, and the writer waits on. */
T_CASE(a_restarting_signal_does_not_end_the_wait_for_a_turn)
{
	struct sim_task *waits = begin_to_wait(t);

	sim_signal(waits, true);
	T_EQ(sim_run(), 0);
	T_EQ(waited_for, 1024);
	T_EQ(str_load(&p_.sd[1]->hq.wsleep), 0u);
	read_everything();
}

/*
 * The turn ends, and the wake finds the writer that a signal interrupts: it wakes
 * the next one.
 */
T_CASE(a_turn_is_not_lost_with_a_signal)
{
	struct sim_task *waits = begin_to_wait(t);
	struct str_headq *hq = &p_.sd[1]->hq;
	uint64_t ns;

	(void)sim_spawn("next", waits_for_room, NULL);
	while (str_load(&hq->wsleep) != 2)
		sim_sleep(1000);
	ns = host_now();
	sim_grain(0);
	sim_signal(waits, false);
	str_store(&hq->turn_of, TURN_NEXT);
	(void)str_add(&hq->turns, 1u);
	while (went_on != 2)
		sim_sleep(1000);
	T_LT(host_now() - ns, 1000000);
	T_EQ(waited_for, -4 /* EINTR */);
	T_EQ(str_load(&hq->wsleep), 0u);
	read_everything();
}

T_CASE(a_writer_that_is_killed_while_it_waits_is_not_counted)
{
	struct sim_task *waits = begin_to_wait(t);
	struct str_headq *hq = &p_.sd[1]->hq;

	sim_kill(waits);
	while (str_load(&hq->wsleep) != 0)
		sim_sleep(1000000);
	T_EQ(went_on, 0u);

	/* the same of one that waits for room */
	str_store(&hq->crowd, 0u);
	str_store(&hq->turn_of, 0u);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	while (fx_write(&p_, 0, out, 4096) > 0)
		;
	p_.hc[0].fflags &= ~STR_O_NONBLOCK;
	waits = sim_spawn("full", waits_for_its_turn, NULL);
	while (str_load(&hq->wsleep) == 0)
		sim_sleep(1000);
	sim_kill(waits);
	while (str_load(&hq->wsleep) != 0)
		sim_sleep(1000000);
	T_EQ(went_on, 0u);
	read_everything();
}
