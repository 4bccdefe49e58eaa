/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of synchronisation variables, delays and callbacks. */
#include "ddi_st.h"

static void
wait_plain(void *arg)
{
	struct d_vars *s = arg;

	(void)LOCK(s->lock, plhi);
	(void)str_add(&s->ready, 1u);
	SV_WAIT(s->sv, primed, s->lock);
	str_store(&s->level, (uint32_t)splbase());
	str_store(&s->result, TRYLOCK(s->lock, plstr) != invpl ? 1u : 2u);
	UNLOCK(s->lock, plbase);
	(void)str_add(&s->woken, 1u);
}

static void
wait_sig(void *arg)
{
	struct d_vars *s = arg;
	int r;

	(void)LOCK(s->lock, plhi);
	(void)str_add(&s->ready, 1u);
	r = SV_WAIT_SIG(s->sv, primed, s->lock);
	str_store(&s->level, TRYLOCK(s->lock, plstr) != invpl ? 1u : 2u);
	UNLOCK(s->lock, plbase);
	str_store(&s->result, r == TRUE ? 1u : 2u);
	(void)str_add(&s->woken, 1u);
}

/* One more task sleeps on the variable: its lock can be had. */
static struct sim_task *
sleeper(struct d_vars *s, void (*fn)(void *arg))
{
	uint32_t have = str_load(&s->ready);
	struct sim_task *w = d_spawn("sleeper", fn, s);

	D_UNTIL(str_load(&s->ready) == have + 1);
	d_vars_asleep(s);
	return w;
}

static void
stays(struct d_vars *s, uint32_t woken)
{
	sim_sleep(20000000u);
	D_HOLDS(str_load(&s->woken) == woken);
}

CASE(sv_alloc_null)
{
	fx_use_up();
	D_HOLDS(SV_ALLOC(KM_NOSLEEP) == NULL);
	fx_give_back();
}

CASE(sv_wait_releases)
{
	struct d_vars *s = d_vars();

	(void)sleeper(s, wait_plain);
	D_HOLDS(TRYLOCK(s->lock, plstr) != invpl);
	UNLOCK(s->lock, plbase);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	d_vars_gone(s);
}

CASE(sv_wait_without)
{
	struct d_vars *s = d_vars();

	(void)sleeper(s, wait_plain);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1 && str_load(&s->level) == plbase);
	d_vars_gone(s);
}

CASE(sv_wait_no_signal)
{
	struct d_vars *s = d_vars();

	sim_signal(sleeper(s, wait_plain), false);
	stays(s, 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	d_vars_gone(s);
}

CASE(sv_sig_true)
{
	struct d_vars *s = d_vars();

	(void)sleeper(s, wait_sig);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1);
	(void)sleeper(s, wait_sig);
	SV_BROADCAST(s->sv, 0);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1);
	d_vars_gone(s);
}

CASE(sv_sig_false)
{
	struct d_vars *s = d_vars();

	sim_signal(sleeper(s, wait_sig), false);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 2);
	d_vars_gone(s);
}

CASE(sv_sig_without)
{
	struct d_vars *s = d_vars();

	sim_signal(sleeper(s, wait_sig), false);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->level) == 1);
	d_vars_gone(s);
}

CASE(sv_signal_one)
{
	struct d_vars *s = d_vars();

	(void)sleeper(s, wait_plain);
	(void)sleeper(s, wait_plain);
	SV_SIGNAL(s->sv, 0);
	D_UNTIL(str_load(&s->woken) == 1);
	stays(s, 1);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	d_vars_gone(s);
}

CASE(sv_signal_none)
{
	struct d_vars *s = d_vars();

	SV_SIGNAL(s->sv, 0);
	(void)sleeper(s, wait_plain);
	stays(s, 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	d_vars_gone(s);
}

CASE(sv_broadcast_all)
{
	struct d_vars *s = d_vars();

	(void)sleeper(s, wait_plain);
	(void)sleeper(s, wait_plain);
	(void)sleeper(s, wait_plain);
	SV_BROADCAST(s->sv, 0);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->woken) == 3);
	d_vars_gone(s);
}

CASE(sv_broadcast_none)
{
	struct d_vars *s = d_vars();

	SV_BROADCAST(s->sv, 0);
	(void)sleeper(s, wait_plain);
	stays(s, 0);
	SV_SIGNAL(s->sv, 0);
	T_EQ(sim_run(), 0);
	d_vars_gone(s);
}

/* ------------------------------------------------------ delay and timeouts */

CASE(delay_ticks)
{
	uint64_t since = host_now();

	delay(3);
	D_HOLDS(host_now() - since >= 3 * TICK_NS);
}

static void
delayed(void *arg)
{
	struct d_vars *s = arg;
	uint64_t since = host_now();

	str_store(&s->ready, 1u);
	delay(5);
	str_store(&s->result, host_now() - since >= 5 * TICK_NS ? 1u : 2u);
}

CASE(delay_no_signal)
{
	struct d_vars *s = d_vars();
	struct sim_task *w = d_spawn("delayed", delayed, s);

	D_UNTIL(str_load(&s->ready) == 1);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1);
	d_vars_gone(s);
}

static str_a32 calls, last;
static uint64_t when;

static void
call(void *arg)
{
	when = host_now();
	str_store(&last, (uint32_t)(uintptr_t)arg);
	(void)str_add(&calls, 1u);
}

static void
call_long(long arg)
{
	call((void *)arg);
}

static void
called_once(uint32_t arg)
{
	D_UNTIL(str_load(&calls) == 1);
	sim_sleep(30000000u);
	D_HOLDS(str_load(&calls) == 1);
	D_HOLDS(str_load(&last) == arg);
}

CASE(itimeout_id)
{
	toid_t id = itimeout(D_CALLED(call), NULL, 1000, plstr);

	D_HOLDS(id != 0);
	(void)untimeout(id);
}

CASE(itimeout_calls)
{
	T_NE(itimeout(D_CALLED(call), (void *)5, 1, plstr), 0);
	called_once(5);
}

CASE(itimeout_not_early)
{
	uint64_t since = host_now();

	T_NE(itimeout(D_CALLED(call), (void *)5, 4, plstr), 0);
	D_UNTIL(str_load(&calls) == 1);
	D_HOLDS(when - since >= 4 * TICK_NS);
}

CASE(timeout_calls)
{
	T_NE(timeout(D_CALLED(call), (void *)6, 1), 0);
	called_once(6);
}

CASE(timeout_order)
{
	T_NE(timeout(D_CALLED(call), (void *)9, 8), 0);
	T_NE(timeout(D_CALLED(call), (void *)3, 2), 0);
	D_UNTIL(str_load(&calls) == 1);
	D_HOLDS(str_load(&last) == 3);
	D_UNTIL(str_load(&calls) == 2);
	D_HOLDS(str_load(&last) == 9);
}

CASE(untimeout_cancels)
{
	toid_t id = timeout(D_CALLED(call), NULL, 3);

	(void)untimeout(id);
	sim_sleep(10 * TICK_NS);
	D_HOLDS(str_load(&calls) == 0);
}

CASE(untimeout_expired)
{
	toid_t id = timeout(D_CALLED(call), (void *)7, 1);

	D_UNTIL(str_load(&calls) == 1);
	(void)untimeout(id);
	(void)untimeout(id);
	T_NE(timeout(D_CALLED(call), (void *)8, 1), 0);
	D_UNTIL(str_load(&calls) == 2);
	D_HOLDS(str_load(&last) == 8);
}

/* ---------------------------------------------------------------- bufcalls */

CASE(bufcall_id)
{
	bcid_t id = bufcall(100, BPRI_MED, D_CALLED(call_long), 1);

	D_HOLDS(id != 0);
	unbufcall(id);
}

CASE(bufcall_calls)
{
	T_NE(bufcall(100, BPRI_MED, D_CALLED(call_long), 11), 0);
	called_once(11);
}

/*
 * Messages until there is no memory for one more.  Small blocks stay, for the
 * record of a bufcall.
 */
static mblk_t *held;

static void
hold_all(void)
{
	void *keep[4];
	mblk_t *mp;

	for (unsigned i = 0; i < 4; i++)
		keep[i] = kmem_alloc(16u << i, KM_NOSLEEP);
	sim_fail_commit(1, true);
	while ((mp = allocb(4000, BPRI_MED)) != NULL) {
		mp->b_next = held;
		held = mp;
	}
	for (unsigned i = 0; i < 4; i++)
		kmem_free(keep[i], 16u << i);
}

static void
release_all(void)
{
	mblk_t *mp;

	while ((mp = held) != NULL) {
		held = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
	sim_fail_commit(0, false);
}

CASE(bufcall_waits)
{
	hold_all();
	T_NE(bufcall(4000, BPRI_MED, D_CALLED(call_long), 12), 0);
	sim_sleep(50000000u);
	D_HOLDS(str_load(&calls) == 0);
	release_all();
	called_once(12);
}

CASE(esbbcall_calls)
{
	T_NE(esbbcall(BPRI_MED, D_CALLED(call_long), 13), 0);
	called_once(13);
}

CASE(unbufcall_cancels)
{
	bcid_t id;

	hold_all();
	id = bufcall(4000, BPRI_MED, D_CALLED(call_long), 14);
	T_NE(id, 0);
	unbufcall(id);
	release_all();
	sim_sleep(50000000u);
	D_HOLDS(str_load(&calls) == 0);
}
