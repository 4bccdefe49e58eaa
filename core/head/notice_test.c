/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleepers that are told of deaths: they sleep once, on words, and neither look
 * at their carriers in between nor miss an event.
 */
#include "fixture.h"

#define MS 1000000ull
#define SEEDS 400u

static struct fx_pipe p_;
static char buf[64], big[32768];
static long got;
static uint64_t at; /* when the reader saw the end */

static void
begin(uint64_t seed)
{
	fx_begin_seed(seed);
	fx_pipe(&p_);
	sim_notices(4);
	got = 0;
	at = 0;
}

static int
go(void)
{
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	return sim_run();
}

static void
reads_all(void *arg)
{
	long n;

	(void)arg;
	fx_close(&p_, 0);
	while ((n = fx_read(&p_, 1, buf, sizeof(buf))) > 0)
		got += n;
	at = host_now();
}

static void
writes_late(void *arg)
{
	int i;

	fx_close(&p_, 1);
	for (i = 0; i < 3; i++) {
		sim_sleep(10000 * MS);
		(void)fx_write(&p_, 0, "late", 4);
	}
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
}

/* No sleeper has used its carrier. */
static void
on_words_only(void)
{
	T_EQ(sim_crash_count("sleep:carrier"), 0u);
	T_EQ(sim_crash_count("sleep:armed"), 0u);
	T_GT(sim_crash_count("sleep:notice"), 0u);
}

T_CASE(a_reader_sleeps_once_for_each_message)
{
	(void)t;
	begin(1);
	(void)sim_spawn("reader", reads_all, NULL);
	(void)sim_spawn("writer", writes_late, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 12);
	on_words_only();
	/* three messages, the end */
	T_LE(sim_crash_count("sleep:notice"), 6u);
}

static void
dies_late(void *arg)
{
	writes_late(arg);
	at = 0;
	sim_kill(sim_current());
}

T_CASE(a_reader_is_told_that_the_writer_was_killed)
{
	uint64_t s;

	(void)t;
	for (s = 1; s <= SEEDS / 10; s++) {
		begin(s);
		(void)sim_spawn("reader", reads_all, NULL);
		(void)sim_spawn("writer", dies_late, (void *)5000);
		T_EQ(go(), 0);
		T_EQ(got, 12);
		T_NE(at, 0u);
		on_words_only();
		fx_end();
	}
}

static void
fills(void *arg)
{
	int i;

	(void)arg;
	fx_close(&p_, 1);
	for (i = 0; fx_write(&p_, 0, big, sizeof(big)) > 0 && i < 100; i++)
		;
	at = host_now();
}

static void
sleeps_and_dies(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	sim_sleep(10000 * MS);
	sim_kill(sim_current());
}

T_CASE(a_writer_without_room_is_told_that_the_reader_was_killed)
{
	(void)t;
	begin(1);
	(void)sim_spawn("writer", fills, NULL);
	(void)sim_spawn("reader", sleeps_and_dies, NULL);
	T_EQ(go(), 0);
	T_NE(at, 0u);
	on_words_only();
}

/* A writer that is killed at any point: another one keeps the end open. */
static uint64_t fuse_;

static void
writes_and_is_killed(void *arg)
{
	(void)arg;
	fx_close(&p_, 1);
	sim_sleep(100 * MS);
	sim_fuse(fuse_);
	(void)fx_write(&p_, 0, "x", 1);
	sim_fuse(0);
}

static void
waits_for_it(void *arg)
{
	unsigned i;

	(void)arg;
	fx_close(&p_, 1);
	/* what was published is read before the end of this task */
	for (i = 0; i < 1000 && str_load(&p_.sd[1]->hq.pos) !=
		str_load(&p_.sd[1]->hq.cpos); i++)
		sim_sleep(10 * MS);
	sim_sleep(1000 * MS);
	for (i = 0; i < 1000 && str_load(&p_.sd[1]->hq.pos) !=
		str_load(&p_.sd[1]->hq.cpos); i++)
		sim_sleep(10 * MS);
	T_LT(i, 1000u);
}

T_CASE(a_waker_killed_at_any_point_leaves_no_sleeper_beside_a_message)
{
	(void)t;
	for (fuse_ = 1; fuse_ <= SEEDS; fuse_++) {
		begin(fuse_);
		(void)sim_spawn("reader", reads_all, NULL);
		(void)sim_spawn("doomed", writes_and_is_killed, NULL);
		(void)sim_spawn("other", waits_for_it, NULL);
		T_EQ(go(), 0);
		fx_end();
	}
}

/* One of two readers is killed at any point. */
static void
reads_and_is_killed(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	sim_sleep(50 * MS);
	sim_fuse(fuse_);
	(void)fx_read(&p_, 1, buf, 1);
	sim_fuse(0);
}

static void
writes_some(void *arg)
{
	int i;

	(void)arg;
	fx_close(&p_, 1);
	for (i = 0; i < 4; i++) {
		sim_sleep(100 * MS);
		T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
	}
	waits_for_it(NULL);
}

T_CASE(a_sleeper_killed_at_any_point_leaves_its_message_to_another)
{
	(void)t;
	for (fuse_ = 1; fuse_ <= SEEDS; fuse_++) {
		begin(fuse_);
		(void)sim_spawn("reader", reads_all, NULL);
		(void)sim_spawn("doomed", reads_and_is_killed, NULL);
		(void)sim_spawn("writer", writes_some, NULL);
		T_EQ(go(), 0);
		T_GE(got, 12);
		fx_end();
	}
}

/* Another thread may have requested a wake meanwhile, by the same bit. */
T_CASE(a_thread_whose_time_is_over_leaves_the_request)
{
	struct str_head *sd;
	struct host_call hc;

	(void)t;
	begin(1);
	sd = p_.sd[1];
	hc = p_.hc[1];
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	T_EQ(str_sleep(sd, &hc, STR_SLEEP_READ, host_now() + MS), ETIMEDOUT);
	host_leave();
	T_GT(sim_crash_count("sleep:notice"), 0u);
	T_NE(str_load(&sd->hq.rwant) & STR_WANT_FUTEX, 0u);
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_EQ(str_load(&sd->hq.rwant) & STR_WANT_FUTEX, 0u);
}

T_CASE(an_end_that_was_passed_on_is_waited_for_on_the_carrier)
{
	(void)t;
	begin(1);
	(void)str_or(&p_.sd[1]->flags, STR_H_LEFT);
	(void)sim_spawn("reader", reads_all, NULL);
	(void)sim_spawn("writer", dies_late, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 12);
	T_EQ(sim_crash_count("sleep:notice"), 0u);
	T_GT(sim_crash_count("sleep:carrier"), 0u);
}
