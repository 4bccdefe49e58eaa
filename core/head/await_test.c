/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reads of a slow stream, which sleep at once (await.c): whatever comes while
 * they sleep, the result is that of any other read.
 */
#include "fixture.h"

#define MS 1000000ull
#define SEEDS 300u
#define I_SRDOPT 0x5306
#define RMSGD 1
#define RMSGN 2

static struct fx_pipe p_;
static char buf[64];
static long got, last, most;
static size_t room;
static uint64_t fuse_;

/* The reader's waits omit the try: the stream is slow. */
static void
slow(void)
{
	str_store(&p_.sd[1]->hq.skip[0], (uint8_t)127);
	str_store(&p_.sd[1]->hq.rest[0], (uint8_t)127);
}

static void
begin(uint64_t seed)
{
	fx_begin_seed(seed);
	fx_pipe(&p_);
	sim_notices(4);
	slow();
	got = most = 0;
	room = sizeof(buf);
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
	(void)arg;
	fx_close(&p_, 0);
	while ((last = fx_read(&p_, 1, buf, room)) > 0) {
		got += last;
		most = STR_MAX(most, last);
	}
}

/* What the writer does after each pause, one letter each. */
static void
writes(void *arg)
{
	const char *what;

	fx_close(&p_, 1);
	for (what = arg; *what != '\0'; what++) {
		sim_sleep(1000 * MS);
		switch (*what) {
		case '1':
			T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
			break;
		case '2':
			T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
			T_EQ(fx_write(&p_, 0, "efghijk", 7), 7);
			break;
		case 'd':
			T_EQ(fx_ioctl(&p_, 1, I_SRDOPT, RMSGD), 0);
			T_EQ(fx_write(&p_, 0, "abcdefgh", 8), 8);
			break;
		case 'n':
			T_EQ(fx_ioctl(&p_, 1, I_SRDOPT, RMSGN), 0);
			T_EQ(fx_write(&p_, 0, "ab", 2), 2);
			T_EQ(fx_write(&p_, 0, "cd", 2), 2);
			break;
		case 'm':
			(void)fx_push(&p_, 1, "pass");
			T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
			break;
		case 'l':
			(void)fx_push(&p_, 1, "late");
			T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
			break;
		default:
			T_FAIL("unknown letter");
		}
	}
	sim_sleep(1000 * MS);
}

static void
run(const char *what, long bytes)
{
	(void)sim_spawn("reader", reads_all, NULL);
	(void)sim_spawn("writer", writes, (void *)(uintptr_t)what);
	T_EQ(go(), 0);
	T_EQ(last, 0);
	T_EQ(got, bytes);
	T_GT(sim_crash_count("sleep:awaited"), 0u);
}

T_CASE(each_message_ends_one_sleep)
{
	(void)t;
	begin(1);
	run("1111", 16);
	/* the messages, and the end */
	T_EQ(sim_crash_count("sleep:awaited"), 5u);
	T_EQ(sim_crash_count("sleep:notice"), 0u);
}

T_CASE(what_does_not_fit_is_read_by_the_next_read)
{
	(void)t;
	for (room = 1; room <= 12; room++) {
		size_t n = room;

		begin(n);
		room = n;
		run("12121", 4 + 11 + 4 + 11 + 4);
		fx_end();
	}
}

T_CASE(read_options_set_in_the_sleep_are_kept)
{
	(void)t;
	begin(1);
	room = 3;
	run("1d", 4 + 3); /* the rest of the last message is discarded */
}

T_CASE(a_read_ends_with_the_message_if_the_mode_was_set_in_the_sleep)
{
	uint64_t s;

	(void)t;
	for (s = 1; s <= SEEDS; s++) {
		begin(s);
		run("n", 4);
		T_EQ(most, 2);
		fx_end();
	}
}

static bool feeds_;

/*
 * Called before each sleep.  A writer that sends bytes through the socket has
 * not seen the request of the reader, which has not seen the flag.
 */
void
host_serve(void)
{
	if (feeds_)
		(void)str_or(&p_.sd[1]->flags, STR_H_FED);
}

static void
is_fed(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	feeds_ = true;
	last = fx_read(&p_, 1, buf, 4);
	feeds_ = false;
}

T_CASE(a_reader_does_not_sleep_on_words_while_bytes_come_by_the_carrier)
{
	(void)t;
	begin(1);
	(void)sim_spawn("reader", is_fed, NULL);
	(void)sim_spawn("writer", writes, (void *)"");
	T_EQ(go(), 0);
	T_EQ(last, 0);
	T_EQ(sim_crash_count("sleep:awaited"), 0u);
	T_EQ(sim_crash_count("sleep:notice"), 0u);
}

T_CASE(a_module_pushed_in_the_sleep_is_used)
{
	(void)t;
	begin(1);
	run("1m11", 16);
	fx_end();
	begin(2);
	run("1l11", 16);
}

static void
dies_late(void *arg)
{
	writes(arg);
	sim_kill(sim_current());
}

static void
dies_early(void *arg)
{
	(void)arg;
	fx_close(&p_, 1);
	sim_sleep(20 * MS);
	sim_kill(sim_current());
}

T_CASE(a_reader_is_told_that_the_writer_was_killed)
{
	uint64_t s;

	(void)t;
	for (s = 1; s <= SEEDS / 10; s++) {
		begin(s);
		(void)sim_spawn("reader", reads_all, NULL);
		(void)sim_spawn("writer", dies_late, (void *)"111");
		T_EQ(go(), 0);
		T_EQ(last, 0);
		T_EQ(got, 12);
		T_GT(sim_crash_count("sleep:awaited"), 0u);
		fx_end();
	}
}

static struct sim_task *reader_;

static void
reads_again(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	do
		last = fx_read(&p_, 1, buf, 4);
	while (last == -4 /* EINTR */);
	reader_ = NULL;
}

static void
signals(void *arg)
{
	unsigned i;

	(void)arg;
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	for (i = 0; i < SEEDS && reader_ != NULL; i++) {
		sim_sleep(MS);
		if (reader_ != NULL)
			sim_signal(reader_, false);
	}
	T_LT(i, SEEDS);
}

T_CASE(signals_do_not_keep_a_reader_from_the_death_of_the_writer)
{
	unsigned n;

	(void)t;
	for (n = 0; n <= 4; n++) {
		begin(n + 1);
		sim_notices(n);
		reader_ = sim_spawn("reader", reads_again, NULL);
		(void)sim_spawn("signals", signals, NULL);
		(void)sim_spawn("writer", dies_early, NULL);
		T_EQ(go(), 0);
		T_EQ(last, 0);
		fx_end();
	}
}

static void
is_killed(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	sim_sleep(50 * MS);
	sim_fuse(fuse_);
	(void)fx_read(&p_, 1, buf, 4);
	sim_fuse(0);
}

static void
writes_some(void *arg)
{
	unsigned i;

	writes(arg);
	/* what was published is read before the end of this task */
	for (i = 0; i < 1000 && str_load(&p_.sd[1]->hq.pos) !=
		str_load(&p_.sd[1]->hq.cpos); i++)
		sim_sleep(10 * MS);
	T_LT(i, 1000u);
}

T_CASE(a_sleeper_killed_at_any_point_leaves_its_message_to_another)
{
	(void)t;
	for (fuse_ = 1; fuse_ <= SEEDS; fuse_++) {
		begin(fuse_);
		(void)sim_spawn("reader", reads_all, NULL);
		(void)sim_spawn("doomed", is_killed, NULL);
		(void)sim_spawn("writer", writes_some, (void *)"1111");
		T_EQ(go(), 0);
		T_EQ(last, 0);
		T_GE(got, 12);
		fx_end();
	}
}
