/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Batches of messages, <str/hold.h>: one wake for each, and none is lost; and
 * waiting for the reader of a full head.
 */
#include "fixture.h"
#include <str/hold.h>

#define MS 1000000ull
#define MANY 8

static struct fx_pipe p_[2];
static long got[2];
static uint64_t at[2]; /* when the first message was read */

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_[0]);
	fx_pipe(&p_[1]);
	sim_notices(4);
	got[0] = got[1] = 0;
	at[0] = at[1] = 0;
}

static void
leave(int k)
{
	fx_close(&p_[k], 0);
	fx_close(&p_[k], 1);
}

static int
go(void)
{
	leave(0);
	leave(1);
	return sim_run();
}

/* Reads pipe @arg until its end. */
static void
reads(void *arg)
{
	int k = (int)(uintptr_t)arg;
	char buf[4];
	long n;

	leave(!k);
	fx_close(&p_[k], 0);
	while ((n = fx_read(&p_[k], 1, buf, sizeof(buf))) > 0) {
		if (got[k] == 0)
			at[k] = host_now();
		got[k] += n;
	}
}

/* Keeps both pipes without a writer's end closed, for 100 s. */
static void
stays(void *arg)
{
	(void)arg;
	sim_sleep(100000 * MS);
}

static uint64_t
wakes(void)
{
	return str_load(&host_self()->wakes);
}

static void
passes_up_one_batch(void *arg)
{
	uint64_t before;
	int i;

	(void)arg;
	sim_sleep(1000 * MS);
	before = wakes();
	str_wake_begin();
	for (i = 0; i < MANY; i++)
		fx_up(&p_[0], 1, fx_msg("abcd", 0));
	T_EQ(wakes(), before);
	sim_sleep(1000 * MS);
	T_EQ(got[0], 0);
	str_wake_end();
	T_EQ(wakes(), before + 1);
}

T_CASE(a_batch_for_one_reader_wakes_it_once)
{
	begin(t);
	(void)sim_spawn("reader", reads, NULL);
	(void)sim_spawn("batch", passes_up_one_batch, NULL);
	T_EQ(go(), 0);
	T_EQ(got[0], MANY * 4);
}

static void
passes_up_by_turns(void *arg)
{
	uint64_t before;
	int i;

	(void)arg;
	sim_sleep(1000 * MS);
	before = wakes();
	str_wake_begin();
	str_wake_begin(); /* nested */
	for (i = 0; i < MANY; i++)
		fx_up(&p_[i / (MANY / 2)], 1, fx_msg("abcd", 0));
	str_wake_end();
	T_EQ(wakes(), before + 1);
	str_wake_end();
	T_EQ(wakes(), before + 2);
}

T_CASE(a_batch_for_two_readers_wakes_each_once)
{
	begin(t);
	(void)sim_spawn("reader", reads, NULL);
	(void)sim_spawn("reader", reads, (void *)1);
	(void)sim_spawn("batch", passes_up_by_turns, NULL);
	T_EQ(go(), 0);
	T_EQ(got[0], MANY * 2);
	T_EQ(got[1], MANY * 2);
}

static void
dies_in_a_batch(void *arg)
{
	(void)arg;
	leave(0); /* the reader's stream is none of its own */
	leave(1);
	sim_sleep(1000 * MS);
	str_wake_begin();
	fx_up(&p_[0], 1, fx_msg("abcd", 0));
	sim_kill(sim_current());
	str_wake_end();
}

T_CASE(a_reader_is_woken_although_its_waker_was_killed)
{
	begin(t);
	(void)sim_spawn("reader", reads, NULL);
	(void)sim_spawn("stays", stays, NULL);
	(void)sim_spawn("doomed", dies_in_a_batch, NULL);
	T_EQ(go(), 0);
	T_EQ(got[0], 4);
	T_LT(at[0], 50000 * MS);
}

/* ------------------------------------------------------------- a full head */

/* Reads the other end of pipe 0 until its end. */
static void
reads_the_other_end(void *arg)
{
	char buf[4];
	long n;

	(void)arg;
	leave(1);
	fx_close(&p_[0], 1);
	while ((n = fx_read(&p_[0], 0, buf, sizeof(buf))) > 0)
		got[0] += n;
}

/* Fills the head of that end, in a batch. */
static queue_t *
fills(void)
{
	queue_t *rq = &p_[0].sd[0]->qp->rq;
	int i;

	T_EQ(strqset(rq, QHIWAT, 0, 16), 0);
	T_EQ(strqset(rq, QLOWAT, 0, 8), 0);
	str_wake_begin();
	for (i = 0; i < MANY; i++)
		fx_up(&p_[0], 0, fx_msg("abcd", 0));
	T_TRUE(str_headq_is_full(&p_[0].sd[0]->hq));
	return rq;
}

static void
waits_for_room(void *arg)
{
	queue_t *rq;
	uint64_t before;

	(void)arg;
	sim_no_way(true); /* no yield helps */
	sim_sleep(1000 * MS);
	before = wakes();
	rq = fills();
	T_EQ(wakes(), before);
	T_EQ(str_read_soon(rq, 1000 * MS), 1);
	T_FALSE(str_headq_is_full(&p_[0].sd[0]->hq));
	str_wake_end();
}

T_CASE(a_reader_that_sleeps_reads_when_its_head_is_full)
{
	begin(t);
	(void)sim_spawn("reader", reads_the_other_end, NULL);
	(void)sim_spawn("batch", waits_for_room, NULL);
	T_EQ(go(), 0);
	T_EQ(got[0], MANY * 4);
}

static void
waits_in_vain(void *arg)
{
	uint64_t start;
	queue_t *rq;

	(void)arg;
	rq = fills();
	start = host_now();
	T_EQ(str_read_soon(rq, 5 * MS), 0);
	T_GE(host_now() - start, 5 * MS);
	T_LT(host_now() - start, 1000 * MS);
	start = host_now();
	T_EQ(str_read_soon(rq, 0), 0);
	T_LT(host_now() - start, 5 * MS);
	str_wake_end();
}

T_CASE(a_wait_for_a_reader_that_does_not_read_ends)
{
	begin(t);
	(void)sim_spawn("stays", stays, NULL);
	(void)sim_spawn("batch", waits_in_vain, NULL);
	T_EQ(go(), 0);
}
