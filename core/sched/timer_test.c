/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of timers: against a model, and with a hundred thousand timers.
 */
#include "fixture.h"
#include "sched/timer.h"
#include "timerfix.h"

/* --------------------------------------------------- timers of drivers */

T_CASE(a_timer_is_stopped_until_it_is_set)
{
	struct str_timer *tm;

	fx_begin(t);
	fired = 0;
	tm = str_timer_make(NULL, fire, NULL);
	T_NOTNULL(tm);
	sim_sleep(1000 * MS);
	T_EQ(fired, 0);
	str_timer_set(tm, host_now() + 50 * MS);
	sim_sleep(49 * MS);
	T_EQ(fired, 0);
	sim_sleep(3 * MS);
	T_EQ(fired, 1);
	sim_sleep(1000 * MS);
	T_EQ(fired, 1);
	str_timer_set(tm, host_now() + 50 * MS);
	T_EQ(str_timer_stop(tm), 1);
	T_EQ(str_timer_stop(tm), 0);
	sim_sleep(1000 * MS);
	T_EQ(fired, 1);
	str_timer_free(tm);
	T_EQ(records(), 0);
}

T_CASE(a_timer_is_set_later_and_earlier)
{
	struct str_timer *tm;

	fx_begin(t);
	fired = 0;
	tm = str_timer_make(NULL, fire, NULL);
	str_timer_set(tm, host_now() + 50 * MS);
	str_timer_set(tm, host_now() + 500 * MS);
	sim_sleep(490 * MS);
	T_EQ(fired, 0);
	sim_sleep(20 * MS);
	T_EQ(fired, 1);
	str_timer_set(tm, host_now() + 500 * MS);
	str_timer_set(tm, host_now() + 10 * MS);
	sim_sleep(15 * MS);
	T_EQ(fired, 2);
	str_timer_set(tm, 1); /* has passed long ago */
	sim_sleep(2 * MS);
	T_EQ(fired, 3);
	str_timer_free(tm);
}

/* One store: the bounds, and so the thread that waits for them, stay. */
T_CASE(a_later_deadline_changes_no_bound)
{
	struct str_timer *tm;
	uint64_t next;

	fx_begin(t);
	tm = str_timer_make(NULL, fire, NULL);
	str_timer_set(tm, host_now() + 50 * MS);
	next = str_timer_next();
	str_timer_set(tm, host_now() + 5000 * MS);
	T_EQ(str_timer_next(), next);
	str_timer_free(tm);
}

static void
fire_again(void *arg)
{
	(void)arg;
	if (++fired < 5)
		str_timer_set(own, host_now() + 10 * MS);
	else
		str_timer_free(own);
}

T_CASE(its_function_may_set_it_and_free_it)
{
	fx_begin(t);
	fired = 0;
	own = str_timer_make(NULL, fire_again, NULL);
	str_timer_set(own, host_now() + 10 * MS);
	sim_sleep(1000 * MS);
	T_EQ(fired, 5);
	T_EQ(records(), 0);
}

static struct fx_pipe pipe_;

T_CASE(a_timer_of_a_queue_is_freed_with_it)
{
	queue_t *q;

	fx_begin(t);
	fired = 0;
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pairsrv");
	own = str_timer_make(q, fire, NULL);
	str_timer_set(own, host_now() + 10 * MS);
	sim_sleep(100 * MS);
	T_EQ(fired, 1);
	str_timer_set(own, host_now() + 10 * MS);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(records(), 0);
	sim_sleep(100 * MS);
	T_EQ(fired, 1);
}

/*
 * While a pair is being closed its timer is not called, and stays: the close
 * procedure may stop and free it, and meets no other timer in its place.
 */
T_CASE(a_timer_stays_while_its_queue_is_being_closed)
{
	struct str_timer *other;
	queue_t *q;

	fx_begin(t);
	fired = 0;
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pairsrv");
	own = str_timer_make(q, fire, NULL);
	str_timer_set(own, host_now() + 10 * MS);
	str_store(&q->q_pair->closing, 1u);
	str_qset(q, QPROCS);
	sim_sleep(100 * MS);
	T_EQ(fired, 0);
	other = str_timer_make(NULL, fire, NULL);
	str_timer_set(other, host_now() + 50 * MS);
	T_EQ(str_timer_stop(own), 0);
	str_timer_free(own);
	sim_sleep(100 * MS);
	T_EQ(fired, 1);
	T_EQ(records(), 1);
	str_timer_free(other);
	str_qclr(q, QPROCS);
	str_store(&q->q_pair->closing, 0u);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(records(), 0);
}

static void
slow(void *arg)
{
	(void)arg;
	sim_sleep(300 * MS);
	fired++;
}

T_CASE(str_timer_free_waits_for_the_function)
{
	struct str_timer *tm;

	fx_begin(t);
	fired = 0;
	tm = str_timer_make(NULL, slow, NULL);
	str_timer_set(tm, host_now());
	sim_sleep(100 * MS);
	T_EQ(fired, 0);
	str_timer_free(tm);
	T_EQ(fired, 1);
	sim_sleep(1 * MS);
	T_EQ(records(), 0);
}

/* ------------------------------------------------------------- the model */

#define MODEL 300u

static struct model {
	struct str_timer *tm; /* or a timeout */
	toid_t id;
	uint64_t at;	 /* UINT64_MAX: not set */
	uint64_t slack;
	bool bad;
} model[MODEL];
static unsigned model_fired;

static void
model_fire(void *arg)
{
	struct model *m = arg;
	uint64_t now = host_now();

	m->bad |= m->at > now || m->at + m->slack + LATE < now;
	m->at = UINT64_MAX;
	m->id = 0;
	model_fired++;
}

/* None is overdue. */
static void
model_check(void)
{
	uint64_t now = host_now();
	unsigned i;

	for (i = 0; i < MODEL; i++) {
		struct model *m = &model[i];

		T_FALSE(m->bad);
		T_TRUE(m->at == UINT64_MAX || m->at + m->slack + LATE >= now);
	}
}

static void
model_set(struct t *t, struct model *m)
{
	uint64_t ns = rnd(t, 5) == 0 ? rnd(t, 40000) * MS : rnd(t, 300) * MS;

	if (m->tm != NULL) {
		m->at = host_now() + ns;
		str_timer_set(m->tm, m->at);
	} else if (m->id == 0) {
		long ticks = (long)(ns / (10 * MS));

		m->at = host_now() + (uint64_t)ticks * 10 * MS;
		m->slack = ns / 100;
		m->id = timeout(model_fire, m, ticks);
		T_NE(m->id, 0);
	}
}

static void
model_cancel(struct model *m)
{
	bool set = m->at != UINT64_MAX;

	if (m->tm != NULL) {
		T_EQ(str_timer_stop(m->tm), set);
	} else {
		T_EQ(untimeout(m->id) >= 0, set);
		m->id = 0;
	}
	m->at = UINT64_MAX;
}

T_CASE_TIMEOUT(random_timers_fire_when_the_model_says, 60)
{
	unsigned i, k, pending = 0;

	fx_begin(t);
	model_fired = 0;
	for (i = 0; i < MODEL; i++) {
		model[i] = (struct model){.at = UINT64_MAX};
		if (i % 3 != 0)
			model[i].tm = str_timer_make(NULL, model_fire,
				&model[i]);
	}
	for (k = 0; k < 20000; k++) {
		struct model *m = &model[rnd(t, MODEL)];

		switch (rnd(t, 8)) {
		case 0:
			sim_sleep(rnd(t, 30) * MS);
			break;
		case 1:
			model_cancel(m);
			break;
		default:
			model_set(t, m);
			break;
		}
		if (k % 64 == 0)
			model_check();
	}
	T_GT(model_fired, 100);
	for (i = 0; i < MODEL; i++)
		pending += model[i].at != UINT64_MAX;
	k = model_fired;
	sim_sleep(50000 * MS);
	model_check();
	T_EQ(model_fired - k, pending);
	T_FALSE(str_timer_pending());
	for (i = 0; i < MODEL; i++)
		if (model[i].tm != NULL)
			str_timer_free(model[i].tm);
	T_EQ(records(), 0);
}

/* -------------------------------------------------------------- many */

#define MANY 100000u

static unsigned many_fired[MANY];
static uint64_t many_last;

static void
many_fire(void *arg)
{
	many_fired[(uintptr_t)arg]++;
	many_last = host_now();
}

T_CASE_TIMEOUT(a_hundred_thousand_fire_once_each, 60)
{
	static toid_t id[MANY];
	uintptr_t i;

	fx_begin(t);
	memset(many_fired, 0, sizeof(many_fired));
	for (i = 0; i < MANY; i++) {
		id[i] = timeout(many_fire, (void *)i, 1 + (long)rnd(t, 500));
		T_NE(id[i], 0);
	}
	T_EQ(records(), MANY);
	for (i = 0; i < MANY; i += 2)
		T_GE(untimeout(id[i]), 0);
	T_EQ(records(), MANY / 2);
	sim_sleep(6000 * MS);
	for (i = 0; i < MANY; i++)
		T_EQ(many_fired[i], i % 2);
	T_EQ(records(), 0);
}
