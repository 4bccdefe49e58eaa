/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Biased locks: one at a time, whichever task dies as it revokes the bias, and
 * none is refused for the sake of one that is not there.
 */
#include "../../host/sim/fixture.h"

#define MS 1000000ull

static struct fx_pipe p_;
static struct str_hlock *l_;
static int inside_;
static unsigned had_;

static void
take(void)
{
	if (str_hlock(l_, STR_HOLD_P))
		had_ |= 0x100; /* a task died over it */
	T_EQ(inside_, 0);
	inside_++;
}

static void
leave(void)
{
	inside_--;
	str_hunlock(l_, STR_HOLD_P);
}

/* The lock is this thread's, until another one wants it. */
static void
is_biased(void)
{
	unsigned i;

	for (i = 0; i < 100 && str_load(&l_->bias) != host_self_tag(); i++) {
		take();
		leave();
	}
	T_EQ(str_load(&l_->bias), host_self_tag());
}

static void
stays_inside(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	is_biased();
	take();
	sim_sleep(1000 * MS);
	leave();
	had_++;
	host_leave();
	sim_sleep(5000 * MS);
}

static void
wants_it(void *arg)
{
	struct host_call hc = {.fd = -1};

	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	T_EQ(host_enter(&hc), 0);
	take();
	had_++;
	leave();
	host_leave();
}

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
	l_ = &p_.sd[0]->hq.plock;
	inside_ = 0;
	had_ = 0;
}

/* The others end as well, and the pipe with them. */
static void
finish(void)
{
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(sim_run(), 0);
	(void)str_region_sweep();
}

/* The lock's next owner waits for the thread its last one waited for. */
T_CASE(who_dies_taking_a_bias_away_has_not_let_two_in)
{
	struct sim_task *doomed;

	begin(t);
	(void)sim_spawn("inside", stays_inside, NULL);
	doomed = sim_spawn("doomed", wants_it, (void *)(uintptr_t)100);
	(void)sim_spawn("next", wants_it, (void *)(uintptr_t)300);
	sim_sleep(200 * MS);
	T_EQ(inside_, 1);
	sim_kill(doomed);
	sim_sleep(3000 * MS);
	T_EQ(had_ & 0xff, 2u);
	T_TRUE(had_ & 0x100);
	finish();
}

static void
is_idle(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	is_biased();
	host_leave();
	sim_sleep(1000 * MS);
}

/* A try revokes the bias of a thread that does not hold the lock.  It fails
 * while a biased thread holds the lock. */
T_CASE(a_biased_lock_can_be_tried)
{
	struct host_call hc = {.fd = -1};
	bool died = true;

	begin(t);
	(void)sim_spawn("idle", is_idle, NULL);
	sim_sleep(100 * MS);
	T_EQ(host_enter(&hc), 0);
	T_NE(str_load(&l_->bias), 0);
	T_TRUE(str_htrylock_hard(l_, &died));
	T_FALSE(died);
	T_FALSE(str_htrylock_hard(l_, &died));
	str_hunlock(l_, STR_HOLD_P);
	host_leave();
	sim_sleep(2000 * MS);
	(void)sim_spawn("inside", stays_inside, NULL);
	sim_sleep(100 * MS);
	T_EQ(host_enter(&hc), 0);
	T_EQ(inside_, 1);
	T_FALSE(str_htrylock_hard(l_, &died));
	host_leave();
	sim_sleep(2000 * MS);
	T_EQ(had_, 1u);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_htrylock_hard(l_, &died));
	T_FALSE(died);
	str_hunlock(l_, STR_HOLD_P);
	host_leave();
	finish();
}

static unsigned biases_;

/* Take the lock @arg times in a row, then let the other one have it. */
static void
takes_turns(void *arg)
{
	struct host_call hc = {.fd = -1};
	uintptr_t k;
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	for (i = 0; i < 100; i++) {
		bool had = str_load(&l_->bias) == host_self_tag();

		for (k = 0; k < (uintptr_t)arg; k++) {
			take();
			leave();
		}
		biases_ += !had && str_load(&l_->bias) == host_self_tag();
		host_yield();
	}
	host_leave();
}

/*
 * Two that take turns are biased a few times, not at each turn.  A thread that
 * is alone again is biased after a while.
 */
T_CASE(who_takes_turns_is_not_biased)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	begin(t);
	biases_ = 0;
	(void)sim_spawn("one", takes_turns, (void *)100);
	(void)sim_spawn("two", takes_turns, (void *)100);
	sim_sleep(1000 * MS);
	T_GT(biases_, 0u);
	T_LE(biases_, 12u);
	T_EQ(host_enter(&hc), 0);
	for (i = 0; i <= 65536; i++) {
		take();
		leave();
	}
	T_EQ(str_load(&l_->bias), host_self_tag());
	host_leave();
	finish();
}

/*
 * A lock that only one thread has ever taken is biased when it takes it the
 * second time: a reader that gets one message in a second has the fast path.
 */
T_CASE(the_only_owner_is_biased_at_once)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	begin(t);
	T_EQ(host_enter(&hc), 0);
	take();
	leave();
	T_EQ(str_load(&l_->bias), 0u);
	take();
	leave();
	T_EQ(str_load(&l_->bias), host_self_tag());
	(void)sim_spawn("other", wants_it, (void *)0);
	sim_sleep(1 * MS);
	/* once revoked, it is not so soon biased again */
	for (i = 0; i < 16; i++) {
		T_EQ(str_load(&l_->bias), 0u);
		take();
		leave();
	}
	take();
	leave();
	T_EQ(str_load(&l_->bias), host_self_tag());
	host_leave();
	finish();
}

/* Each of two has the CPU for long: a bias that lasts is given again. */
T_CASE(who_has_it_for_long_is_biased_in_its_time)
{
	struct host_call hc = {.fd = -1};

	begin(t);
	l_->limit = 4096;
	T_EQ(host_enter(&hc), 0);
	biases_ = 0;
	while (l_->limit > 32) {
		uint32_t was = l_->limit, i;

		for (i = 0; i <= was + 1; i++) {
			take();
			leave();
		}
		T_EQ(str_load(&l_->bias), host_self_tag());
		sim_sleep(2 * MS);
		(void)sim_spawn("other", wants_it, (void *)0);
		sim_sleep(1 * MS);
		T_EQ(l_->limit, was / 2);
		biases_++;
	}
	T_EQ(biases_, 7u);
	host_leave();
	finish();
}

static void
dies_inside(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	if (arg != NULL)
		is_biased();
	take();
	inside_--;
	sim_kill(sim_current());
}

T_CASE(who_tries_the_lock_of_the_dead_is_told)
{
	struct host_call hc = {.fd = -1};
	unsigned biased;
	bool died;

	for (biased = 0; biased < 2; biased++) {
		begin(t);
		(void)sim_spawn("doomed", dies_inside, biased ? "" : NULL);
		sim_sleep(100 * MS);
		T_EQ(host_enter(&hc), 0);
		died = false;
		T_TRUE(str_htrylock_hard(l_, &died));
		T_TRUE(died);
		str_hunlock(l_, STR_HOLD_P);
		host_leave();
		fx_end();
	}
}

/* ------------------------------------------------------- many that wait */

#define CROWD 20u

/* Hold the lock for @arg ms. */
static void
holds_it(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	take();
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	leave();
	host_leave();
}

static uint64_t
asks(void)
{
	struct sim_stats st;

	sim_stats(&st);
	return st.asks;
}

/*
 * The check of whether the owner lives makes seven system calls.  If each of
 * many waiters made it each millisecond, the owner would hardly run.
 */
T_CASE(of_many_waiters_one_checks_whether_the_owner_lives)
{
	uint64_t was;
	unsigned i;

	begin(t);
	(void)sim_spawn("holder", holds_it, (void *)7);
	sim_sleep(MS / 2);
	T_EQ(inside_, 1);
	was = asks();
	for (i = 0; i < CROWD; i++)
		(void)sim_spawn("waits", wants_it, NULL);
	sim_sleep(6 * MS);
	T_EQ(inside_, 1);
	T_GT(asks() - was, 0u);
	T_LE(asks() - was, 8u);
	sim_sleep(100 * MS);
	T_EQ(had_, CROWD);
	finish();
}

/* The first waiter would check the owner; it is stopped. */
T_CASE(another_waiter_takes_over_if_the_first_is_stopped)
{
	struct sim_task *first;

	begin(t);
	(void)sim_spawn("doomed", dies_inside, NULL);
	sim_sleep(MS / 2);
	first = sim_spawn("first", wants_it, NULL);
	while (str_load(&l_->lk.waiters) == 0)
		sim_sleep(1000);
	sim_stop(first);
	(void)sim_spawn("second", wants_it, NULL);
	sim_sleep(100 * MS);
	T_EQ(had_ & 0xff, 1u);
	T_TRUE(had_ & 0x100);
	sim_cont(first);
	sim_sleep(100 * MS);
	T_EQ(had_ & 0xff, 2u);
	finish();
}
