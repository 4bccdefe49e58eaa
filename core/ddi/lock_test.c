/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The modules' locks and variables under many orders, and deaths at their
 * labelled points. What each function promises is in tests/conformance/ddi.
 */
#include "fixture.h"
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/ddi.h>
#include <str/log.h>

#define SEEDS 60
#define TASKS 4
#define ROUNDS 25

struct shared {
	kmutex_t mutex;
	krwlock_t rw;
	kcondvar_t cv;
	sleep_t *sleep;
	unsigned inside, asleep, writers, readers, worst;
	unsigned done, items, taken, waiting, woken;
};

static struct shared *s;

static void
begin(uint64_t seed)
{
	fx_begin_seed(seed);
	sim_grain(3);
	s = kmem_zalloc(sizeof(*s), KM_SLEEP);
	T_NOTNULL(s);
	s->sleep = SLEEP_ALLOC(0, NULL, KM_SLEEP);
}

static void
end(void)
{
	SLEEP_DEALLOC(s->sleep);
	kmem_free(s, sizeof(*s));
	fx_end();
}

/* Only one task may be here; sometimes it is killed where it stands. */
static void
section(unsigned *inside)
{
	++*inside;
	if (*inside > s->worst)
		s->worst = *inside;
	sim_point();
	--*inside;
	if (sim_rand(60) == 0)
		sim_kill(sim_current());
	s->done++;
}

static void
mutex_task(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		mutex_enter(&s->mutex);
		section(&s->inside);
		mutex_exit(&s->mutex);
		SLEEP_LOCK(s->sleep, 0);
		section(&s->asleep);
		SLEEP_UNLOCK(s->sleep);
	}
}

T_CASE(mutexes_exclude_in_any_order_and_outlive_their_owners)
{
	uint64_t seed;
	unsigned i, kills = 0;
	struct sim_stats st;

	for (seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		for (i = 0; i < TASKS; i++)
			(void)sim_spawn("mutex", mutex_task, NULL);
		T_EQ(sim_run(), 0);
		sim_stats(&st);
		kills += st.kills;
		T_EQ(s->worst, 1);
		if (st.kills == 0)
			T_EQ(s->done, 2 * TASKS * ROUNDS);
		mutex_enter(&s->mutex);
		mutex_exit(&s->mutex);
		end();
	}
	T_GT(kills, 10); /* or nothing was shown */
}

static void
rw_task(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		if (sim_rand(3) == 0) {
			rw_enter(&s->rw, RW_WRITER);
			T_EQ(s->readers, 0);
			T_EQ(s->writers, 0);
			s->writers++;
			sim_point();
			s->writers--;
			if (sim_rand(4) == 0)
				rw_downgrade(&s->rw);
			rw_exit(&s->rw);
		} else {
			rw_enter(&s->rw, RW_READER);
			s->readers++;
			T_EQ(s->writers, 0);
			sim_point();
			s->readers--;
			if (sim_rand(4) == 0 && rw_tryupgrade(&s->rw)) {
				T_EQ(s->readers, 0);
				s->writers++;
				sim_point();
				s->writers--;
			}
			rw_exit(&s->rw);
		}
		s->done++;
	}
}

T_CASE(readers_and_writers_exclude_in_any_order)
{
	uint64_t seed;
	unsigned i;

	for (seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		for (i = 0; i < TASKS; i++)
			(void)sim_spawn("rw", rw_task, NULL);
		T_EQ(sim_run(), 0);
		T_EQ(s->done, TASKS * ROUNDS);
		end();
	}
}

static void
rw_killed(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		rw_enter(&s->rw, sim_rand(3) == 0 ? RW_WRITER : RW_READER);
		sim_point();
		if (sim_rand(50) == 0)
			sim_kill(sim_current());
		rw_exit(&s->rw);
	}
}

T_CASE(readers_and_writers_outlive_the_killed)
{
	uint64_t seed;
	unsigned i;

	for (seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		for (i = 0; i < TASKS; i++)
			(void)sim_spawn("rw", rw_killed, NULL);
		T_EQ(sim_run(), 0);
		rw_enter(&s->rw, RW_WRITER);
		rw_exit(&s->rw);
		end();
	}
}

static void
taker(void *arg)
{
	(void)arg;
	for (;;) {
		mutex_enter(&s->mutex);
		while (s->items == 0)
			cv_wait(&s->cv, &s->mutex);
		s->items--;
		s->taken++;
		if (s->taken >= TASKS * ROUNDS) {
			s->items += TASKS; /* the others leave as well */
			cv_broadcast(&s->cv);
			mutex_exit(&s->mutex);
			return;
		}
		mutex_exit(&s->mutex);
	}
}

static void
giver(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < TASKS * ROUNDS; i++) {
		mutex_enter(&s->mutex);
		s->items++;
		mutex_exit(&s->mutex);
		cv_signal(&s->cv); /* without the mutex: allowed, too */
	}
}

T_CASE(no_event_is_missed_in_any_order)
{
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		(void)sim_spawn("taker", taker, NULL);
		(void)sim_spawn("taker", taker, NULL);
		(void)sim_spawn("giver", giver, NULL);
		T_EQ(sim_run(), 0);
		T_GE(s->taken, TASKS * ROUNDS);
		end();
	}
}

static void
waiter(void *arg)
{
	(void)arg;
	mutex_enter(&s->mutex);
	s->waiting++;
	cv_wait(&s->cv, &s->mutex);
	s->woken++;
	mutex_exit(&s->mutex);
}

static void
all_task(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		rw_enter(&s->rw, sim_rand(2) == 0 ? RW_WRITER : RW_READER);
		if (rw_read_locked(&s->rw) && sim_rand(2) == 0)
			(void)rw_tryupgrade(&s->rw);
		rw_exit(&s->rw);
		mutex_enter(&s->mutex);
		if (sim_rand(2) == 0)
			(void)cv_reltimedwait(&s->cv, &s->mutex, 2,
				TR_CLOCK_TICK);
		else
			cv_broadcast(&s->cv);
		mutex_exit(&s->mutex);
		SLEEP_LOCK(s->sleep, 0);
		cv_signal(&s->cv);
		SLEEP_UNLOCK(s->sleep);
	}
	s->done++;
}

static struct sim_task *victim[TASKS];

static void
killer(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < TASKS / 2; i++) {
		sim_sleep(sim_rand(3000000u));
		if (!sim_ended(victim[i]))
			sim_kill(victim[i]);
	}
}

/* Wherever they are: in the locks' own code, too. */
T_CASE(anybody_may_be_killed_anywhere)
{
	unsigned i, kills = 0;
	uint64_t seed;
	struct sim_stats st;

	for (seed = 1; seed <= 2 * SEEDS; seed++) {
		begin(seed);
		for (i = 0; i < TASKS; i++)
			victim[i] = sim_spawn("victim", all_task, NULL);
		(void)sim_spawn("killer", killer, NULL);
		T_EQ(sim_run(), 0);
		sim_stats(&st);
		kills += st.kills;
		T_EQ(s->done + st.kills, TASKS);
		rw_enter(&s->rw, RW_WRITER);
		rw_exit(&s->rw);
		mutex_enter(&s->mutex);
		mutex_exit(&s->mutex);
		SLEEP_LOCK(s->sleep, 0);
		SLEEP_UNLOCK(s->sleep);
		end();
	}
	T_GT(kills, SEEDS); /* or nothing was shown */
}

static void
signaller(void *arg)
{
	(void)arg;
	cv_signal(&s->cv);
}

/* A chosen waiter comes back, though it was not woken. */
T_CASE(a_signaller_killed_before_it_wakes)
{
	begin(t->seed);
	(void)sim_spawn("waiter", waiter, NULL);
	while (s->waiting == 0)
		sim_sleep(1000000u);
	mutex_enter(&s->mutex);
	mutex_exit(&s->mutex);
	sim_crash_at("ddi:chosen", 1);
	(void)sim_spawn("signaller", signaller, NULL);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count("ddi:chosen"), 1);
	T_EQ(s->woken, 1);
	end();
}

static void
logger(void *arg)
{
	(void)strlog(1, 1, 0, SL_ERROR, "%s", (const char *)arg);
}

/* A message whose author died over it is not there, the next one is. */
T_CASE(a_logger_killed_over_its_message)
{
	static struct fx_pipe p;
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "store");
	T_EQ(str_log_open(q, SL_ERROR, NULL, 0), 0);
	logger((char *)"one");
	sim_crash_at("strlog:filled", 1);
	(void)sim_spawn("victim", logger, (char *)"two");
	T_EQ(sim_run(), 0);
	logger((char *)"three");
	mp = str_log_get(q);
	T_STR((char *)mp->b_cont->b_rptr, "one");
	freemsg(mp);
	mp = str_log_get(q);
	T_STR((char *)mp->b_cont->b_rptr, "three");
	freemsg(mp);
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}
