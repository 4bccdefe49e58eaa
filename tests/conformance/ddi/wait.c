/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting for events: synchronisation and condition variables, semaphores,
 * atomic integers.
 */
#include "d.h"

/* Tasks that wait, until all @n of them do. */
static void
waiters(void (*fn)(void *arg), struct d_vars *s, unsigned n)
{
	unsigned i, have = str_load(&s->ready);

	for (i = 0; i < n; i++) {
		(void)d_spawn("waiter", fn, s);
		/* one after the other, so that their order is known */
		D_UNTIL(str_load(&s->ready) == have + i + 1);
	}
}

static void
back(struct d_vars *s, uint32_t me)
{
	uint32_t n = str_add(&s->woken, 1u);

	if (n < D_ORDER)
		s->order[n] = me;
}

/* ----------------------------------------------------- SVR4's SV functions */

static void
sv_waiter(void *arg)
{
	struct d_vars *s = arg;
	uint32_t me;

	(void)LOCK(s->lock, plstr);
	me = ++s->who;
	(void)str_add(&s->ready, 1u);
	SV_WAIT(s->sv, primed, s->lock);
	back(s, me);
}

/* SV_SIGNAL(D3): one of those who wait is awakened. */
D_CASE(401, sv_signal_wakes_one)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(sv_waiter, s, 3);
	d_vars_asleep(s);
	SV_SIGNAL(s->sv, 0);
	D_UNTIL(str_load(&s->woken) == 1);
	sim_sleep(20000000u);
	T_EQ(str_load(&s->woken), 1);
	SV_SIGNAL(s->sv, 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 3);
	d_vars_gone(s);
}

/* ksynch(9): the one who has waited longest comes first. */
D_CASE(402, sv_signal_wakes_the_one_who_waited_longest)
{
	struct d_vars *s;
	unsigned i;

	fx_begin(t);
	s = d_vars();
	waiters(sv_waiter, s, 4);
	d_vars_asleep(s);
	for (i = 0; i < 4; i++) {
		SV_SIGNAL(s->sv, 0);
		D_UNTIL(str_load(&s->woken) == i + 1);
	}
	T_EQ(sim_run(), 0);
	for (i = 0; i < 4; i++)
		T_EQ(s->order[i], i + 1);
	d_vars_gone(s);
}

/* SV_BROADCAST(D3): all of them are. */
D_CASE(403, sv_broadcast_wakes_all)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(sv_waiter, s, 5);
	d_vars_asleep(s);
	SV_BROADCAST(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 5);
	d_vars_gone(s);
}

/* SV_SIGNAL(D3): nothing happens when no thread waits; it is not remembered. */
D_CASE(404, sv_signal_is_not_remembered)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	SV_SIGNAL(s->sv, 0);
	SV_BROADCAST(s->sv, 0);
	waiters(sv_waiter, s, 1);
	d_vars_asleep(s);
	sim_sleep(20000000u);
	T_EQ(str_load(&s->woken), 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 1);
	d_vars_gone(s);
}

/* SV_WAIT(D3): the lock is released while it sleeps, and not taken again. */
static void
sv_lock_after(void *arg)
{
	struct d_vars *s = arg;

	(void)LOCK(s->lock, plhi);
	(void)str_add(&s->ready, 1u);
	SV_WAIT(s->sv, primed, s->lock);
	/* the level is plbase, the lock can be had */
	str_store(&s->result, splbase() == plbase &&
		TRYLOCK(s->lock, plstr) != invpl ? 1u : 2u);
	UNLOCK(s->lock, plbase);
}

D_CASE(405, sv_wait_returns_without_the_lock)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(sv_lock_after, s, 1);
	d_vars_asleep(s); /* would not come back if the sleeper had it */
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_vars_gone(s);
}

static void
sv_sig_waiter(void *arg)
{
	struct d_vars *s = arg;

	(void)LOCK(s->lock, plstr);
	(void)str_add(&s->ready, 1u);
	str_store(&s->result, SV_WAIT_SIG(s->sv, primed, s->lock) == TRUE ?
		2u : 1u);
}

/* SV_WAIT_SIG(D3): FALSE when it was a signal that ended it. */
D_CASE(406, sv_wait_sig_ends_with_a_signal)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("waiter", sv_sig_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	d_vars_asleep(s);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_vars_gone(s);
}

/* SV_WAIT_SIG(D3): TRUE when it was SV_SIGNAL or SV_BROADCAST. */
D_CASE(407, sv_wait_sig_is_true_when_signalled)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(sv_sig_waiter, s, 1);
	d_vars_asleep(s);
	SV_BROADCAST(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	d_vars_gone(s);
}

/* SV_WAIT_SIG(D3): one who left with a signal takes no SV_SIGNAL along. */
D_CASE(408, who_left_takes_no_signal_along)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("first", sv_sig_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	waiters(sv_waiter, s, 1);
	d_vars_asleep(s);
	sim_signal(w, false);
	D_UNTIL(str_load(&s->result) == 1);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 1);
	d_vars_gone(s);
}

/* SV_WAIT(D3): no signal ends it. */
D_CASE(409, sv_wait_is_not_ended_by_a_signal)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("waiter", sv_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	d_vars_asleep(s);
	sim_signal(w, false);
	sim_sleep(20000000u);
	T_EQ(str_load(&s->woken), 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 1);
	d_vars_gone(s);
}

/* ksynch(9): a killed waiter is passed over. */
D_CASE(410, a_killed_waiter_takes_no_signal_along)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("victim", sv_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	waiters(sv_waiter, s, 1);
	d_vars_asleep(s);
	sim_kill(w);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 1);
	T_EQ(s->order[0], 2);
	d_vars_gone(s);
}

/* ----------------------------------------------------- Solaris's variables */

static void
cv_waiter(void *arg)
{
	struct d_vars *s = arg;
	uint32_t me;

	mutex_enter(&s->mutex);
	me = ++s->who;
	(void)str_add(&s->ready, 1u);
	cv_wait(&s->cv, &s->mutex);
	if (!mutex_owned(&s->mutex))
		str_store(&s->result, 99u);
	back(s, me);
	mutex_exit(&s->mutex);
}

static void
cv_asleep(struct d_vars *s)
{
	mutex_enter(&s->mutex);
	mutex_exit(&s->mutex);
}

/* cv_wait(9F): the mutex is released, and taken again before it returns. */
D_CASE(411, cv_wait_returns_with_the_mutex)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	cv_init(&s->cv, NULL, CV_DRIVER, NULL);
	waiters(cv_waiter, s, 1);
	cv_asleep(s);
	cv_signal(&s->cv);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 1);
	T_EQ(str_load(&s->result), 0);
	cv_destroy(&s->cv);
	d_vars_gone(s);
}

/* cv_signal(9F): one waiter is awakened. */
D_CASE(412, cv_signal_wakes_one)
{
	struct d_vars *s;
	unsigned i;

	fx_begin(t);
	s = d_vars();
	waiters(cv_waiter, s, 3);
	cv_asleep(s);
	for (i = 0; i < 3; i++) {
		cv_signal(&s->cv);
		D_UNTIL(str_load(&s->woken) == i + 1);
	}
	T_EQ(sim_run(), 0);
	for (i = 0; i < 3; i++)
		T_EQ(s->order[i], i + 1);
	d_vars_gone(s);
}

/* cv_broadcast(9F): all are. */
D_CASE(413, cv_broadcast_wakes_all)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(cv_waiter, s, 5);
	mutex_enter(&s->mutex);
	cv_broadcast(&s->cv);
	T_EQ(str_load(&s->woken), 0); /* they want the mutex first */
	mutex_exit(&s->mutex);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 5);
	d_vars_gone(s);
}

static void
cv_sig_waiter(void *arg)
{
	struct d_vars *s = arg;
	int r;

	mutex_enter(&s->mutex);
	(void)str_add(&s->ready, 1u);
	r = cv_wait_sig(&s->cv, &s->mutex);
	str_store(&s->result, mutex_owned(&s->mutex) == 0 ? 99u :
		r == 0 ? 1u : r > 0 ? 2u : 3u);
	mutex_exit(&s->mutex);
}

/* cv_wait_sig(9F): 0 when it was a signal. */
D_CASE(414, cv_wait_sig_is_0_after_a_signal)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("waiter", cv_sig_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	cv_asleep(s);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_vars_gone(s);
}

static void
cv_late_waiter(void *arg)
{
	struct d_vars *s = arg;

	str_store(&s->go, 1u); /* the call has begun */
	cv_sig_waiter(s);
}

/* cv_wait_sig(9F): a signal that came before it slept counts as well. */
D_CASE(415, cv_wait_sig_sees_a_signal_that_came_before)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	mutex_enter(&s->mutex); /* the waiter stops here */
	w = d_spawn("waiter", cv_late_waiter, s);
	D_UNTIL(str_load(&s->go) == 1);
	sim_signal(w, false);
	mutex_exit(&s->mutex);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_vars_gone(s);
}

/* cv_wait_sig(9F): more than 0 when it was cv_signal. */
D_CASE(416, cv_wait_sig_is_positive_after_cv_signal)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(cv_sig_waiter, s, 1);
	cv_asleep(s);
	cv_signal(&s->cv);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	d_vars_gone(s);
}

static clock_t
lbolt(void)
{
	unsigned long v = 0;

	T_EQ(drv_getparm(LBOLT, &v), 0);
	return (clock_t)v;
}

/* cv_timedwait(9F): -1 when LBOLT has reached the time given. */
D_CASE(417, cv_timedwait_is_minus_1_after_the_time)
{
	struct d_vars *s;
	clock_t before, end;

	fx_begin(t);
	s = d_vars();
	mutex_enter(&s->mutex);
	before = lbolt();
	end = before + 5;
	T_EQ(cv_timedwait(&s->cv, &s->mutex, end), -1);
	T_TRUE(mutex_owned(&s->mutex));
	T_GE(lbolt(), end);
	mutex_exit(&s->mutex);
	d_vars_gone(s);
}

/* cv_timedwait(9F): a time that is past returns at once. */
D_CASE(418, cv_timedwait_of_the_past_does_not_wait)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	mutex_enter(&s->mutex);
	T_EQ(cv_timedwait(&s->cv, &s->mutex, lbolt()), -1);
	T_EQ(cv_timedwait(&s->cv, &s->mutex, 0), -1);
	T_EQ(cv_timedwait(&s->cv, &s->mutex, -7), -1);
	mutex_exit(&s->mutex);
	d_vars_gone(s);
}

static void
cv_timed_waiter(void *arg)
{
	struct d_vars *s = arg;
	clock_t r;

	mutex_enter(&s->mutex);
	(void)str_add(&s->ready, 1u);
	r = cv_timedwait_sig(&s->cv, &s->mutex, lbolt() + 100 * HZ);
	str_store(&s->result, r == 0 ? 1u : r > 0 ? 2u : 3u);
	mutex_exit(&s->mutex);
}

/* cv_timedwait_sig(9F): more than 0 when it was signalled in time. */
D_CASE(419, cv_timedwait_sig_is_positive_when_signalled)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(cv_timed_waiter, s, 1);
	cv_asleep(s);
	cv_signal(&s->cv);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	d_vars_gone(s);
}

/* cv_timedwait_sig(9F): 0 when it was a signal. */
D_CASE(420, cv_timedwait_sig_is_0_after_a_signal)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("waiter", cv_timed_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	cv_asleep(s);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_vars_gone(s);
}

/* cv_reltimedwait(9F): the time counts from now. */
D_CASE(421, cv_reltimedwait_counts_from_now)
{
	struct d_vars *s;
	uint64_t before;

	fx_begin(t);
	s = d_vars();
	mutex_enter(&s->mutex);
	before = host_now();
	T_EQ(cv_reltimedwait(&s->cv, &s->mutex, 3, TR_CLOCK_TICK), -1);
	T_GE(host_now() - before, 3 * (1000000000u / HZ));
	T_EQ(cv_reltimedwait(&s->cv, &s->mutex, 0, TR_CLOCK_TICK), -1);
	T_EQ(cv_reltimedwait_sig(&s->cv, &s->mutex, -1, TR_SEC), -1);
	mutex_exit(&s->mutex);
	d_vars_gone(s);
}

/* condvar(9F): a thread that waits in a loop on a predicate misses no event. */
static void
consumer(void *arg)
{
	struct d_vars *s = arg;
	unsigned i;

	for (i = 0; i < 200; i++) {
		mutex_enter(&s->mutex);
		while (str_load(&s->go) == 0)
			cv_wait(&s->cv, &s->mutex);
		str_store(&s->go, str_load(&s->go) - 1);
		mutex_exit(&s->mutex);
		(void)str_add(&s->woken, 1u);
	}
}

static void
producer(void *arg)
{
	struct d_vars *s = arg;
	unsigned i;

	for (i = 0; i < 400; i++) {
		mutex_enter(&s->mutex);
		str_store(&s->go, str_load(&s->go) + 1);
		cv_signal(&s->cv);
		mutex_exit(&s->mutex);
	}
}

D_CASE(422, no_event_is_missed)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	(void)d_spawn("consumer", consumer, s);
	(void)d_spawn("consumer", consumer, s);
	(void)d_spawn("producer", producer, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 400);
	T_EQ(str_load(&s->go), 0);
	d_vars_gone(s);
}

/* ksynch(9): a killed waiter holds neither the variable nor the mutex. */
D_CASE(423, a_killed_waiter_leaves_the_mutex_free)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("victim", cv_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	cv_asleep(s);
	sim_kill(w);
	T_EQ(sim_run(), 0);
	mutex_enter(&s->mutex);
	cv_broadcast(&s->cv);
	mutex_exit(&s->mutex);
	T_EQ(str_load(&s->woken), 0);
	d_vars_gone(s);
}

/* -------------------------------------------------------------- semaphores */

/* sema_init(9F), sema_tryp(9F): as many get through as the value says. */
D_CASE(424, sema_tryp_gets_through_as_often_as_the_value)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	sema_init(&s->sema, 2, NULL, SEMA_DRIVER, NULL);
	T_EQ(sema_tryp(&s->sema), 1);
	T_EQ(sema_tryp(&s->sema), 1);
	T_EQ(sema_tryp(&s->sema), 0);
	sema_v(&s->sema);
	T_EQ(sema_tryp(&s->sema), 1);
	sema_destroy(&s->sema);
	d_vars_gone(s);
}

static void
sema_waiter(void *arg)
{
	struct d_vars *s = arg;

	(void)str_add(&s->ready, 1u);
	sema_p(&s->sema);
	(void)str_add(&s->woken, 1u);
}

/* sema_p(9F), sema_v(9F): sema_v lets one of the waiters through. */
D_CASE(425, sema_v_lets_one_through)
{
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	waiters(sema_waiter, s, 3);
	sema_v(&s->sema);
	D_UNTIL(str_load(&s->woken) == 1);
	sim_sleep(10000000u);
	T_EQ(str_load(&s->woken), 1);
	sema_v(&s->sema);
	sema_v(&s->sema);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->woken), 3);
	d_vars_gone(s);
}

static void
sema_sig_waiter(void *arg)
{
	struct d_vars *s = arg;

	(void)str_add(&s->ready, 1u);
	str_store(&s->result, sema_p_sig(&s->sema) == 0 ? 2u : 1u);
}

/* sema_p_sig(9F): not 0 when it was a signal; the value is as it was. */
D_CASE(426, sema_p_sig_ends_with_a_signal)
{
	struct sim_task *w;
	struct d_vars *s;

	fx_begin(t);
	s = d_vars();
	w = d_spawn("waiter", sema_sig_waiter, s);
	D_UNTIL(str_load(&s->ready) == 1);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	T_EQ(sema_tryp(&s->sema), 0);
	d_vars_gone(s);
}

/* --------------------------------------------------------- atomic integers */

/* ATOMIC_INT_*(D3): as their names say. */
D_CASE(427, atomic_integers_count)
{
	atomic_int_t *a;

	fx_begin(t);
	a = ATOMIC_INT_ALLOC(KM_SLEEP);
	T_NOTNULL(a);
	ATOMIC_INT_INIT(a, 3);
	T_EQ(ATOMIC_INT_READ(a), 3);
	ATOMIC_INT_ADD(a, 5);
	ATOMIC_INT_SUB(a, 2);
	T_EQ(ATOMIC_INT_READ(a), 6);
	ATOMIC_INT_INCR(a);
	T_EQ(ATOMIC_INT_READ(a), 7);
	ATOMIC_INT_WRITE(a, -4);
	T_EQ(ATOMIC_INT_READ(a), -4);
	ATOMIC_INT_DEALLOC(a);
}

/* ATOMIC_INT_DECR(D3): TRUE when the value has become 0. */
D_CASE(428, atomic_decrement_says_when_it_is_0)
{
	atomic_int_t *a;

	fx_begin(t);
	a = ATOMIC_INT_ALLOC(KM_SLEEP);
	ATOMIC_INT_INIT(a, 2);
	T_EQ(ATOMIC_INT_DECR(a), FALSE);
	T_EQ(ATOMIC_INT_DECR(a), TRUE);
	T_EQ(ATOMIC_INT_DECR(a), FALSE);
	T_EQ(ATOMIC_INT_READ(a), -1);
	ATOMIC_INT_DEALLOC(a);
}

static void
count_up(void *arg)
{
	struct d_vars *s = arg;
	unsigned i;

	for (i = 0; i < 1000; i++)
		ATOMIC_INT_INCR(s->atomic);
}

/* ATOMIC_INT_INCR(D3): no increment is lost. */
D_CASE(429, atomic_increments_are_not_lost)
{
	struct d_vars *s;
	unsigned i;

	fx_begin(t);
	s = d_vars();
	s->atomic = ATOMIC_INT_ALLOC(KM_SLEEP);
	for (i = 0; i < 3; i++)
		(void)d_spawn("counter", count_up, s);
	T_EQ(sim_run(), 0);
	T_EQ(ATOMIC_INT_READ(s->atomic), 3000);
	ATOMIC_INT_DEALLOC(s->atomic);
	d_vars_gone(s);
}
