/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of LOCK, RW and SLEEP locks. */
#include "ddi_st.h"

/* What the tasks of a case share. */
struct shared {
	lock_t *lock;
	rwlock_t *rw;
	sleep_t *sleep;
	str_a32 step, result, level;
};

static struct shared *
shared(void)
{
	struct shared *s = d_shared(sizeof(*s));

	s->lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	s->rw = RW_ALLOC(2, plstr, NULL, KM_SLEEP);
	s->sleep = SLEEP_ALLOC(0, NULL, KM_SLEEP);
	T_NOTNULL(s->lock);
	T_NOTNULL(s->rw);
	T_NOTNULL(s->sleep);
	return s;
}

static void
gone(struct shared *s)
{
	LOCK_DEALLOC(s->lock);
	RW_DEALLOC(s->rw);
	SLEEP_DEALLOC(s->sleep);
	d_gone(s);
}

/* Run @fn in a task of its own, to its end; what it left in result. */
static uint32_t
elsewhere(void (*fn)(void *arg), struct shared *s)
{
	(void)d_spawn("other", fn, s);
	T_EQ(sim_run(), 0);
	return str_load(&s->result);
}

/* @fn waits for what the caller has: it has begun, and does not end. */
static struct sim_task *
waiting(void (*fn)(void *arg), struct shared *s)
{
	struct sim_task *w = d_spawn("waiter", fn, s);

	D_UNTIL(str_load(&s->step) == 1);
	sim_sleep(20000000u);
	D_HOLDS(str_load(&s->result) == 0);
	return w;
}

static void
ended(struct shared *s)
{
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1);
}

CASE(lock_alloc_free)
{
	struct shared *s = shared();

	D_HOLDS(TRYLOCK(s->lock, plstr) != invpl);
	UNLOCK(s->lock, plbase);
	gone(s);
}

CASE(lock_alloc_null)
{
	fx_use_up();
	D_HOLDS(LOCK_ALLOC(1, plstr, NULL, KM_NOSLEEP) == NULL);
	fx_give_back();
}

CASE(lock_returns)
{
	struct shared *s = shared();

	D_HOLDS(LOCK(s->lock, plstr) == plbase);
	UNLOCK(s->lock, plbase);
	(void)spltimeout();
	D_HOLDS(LOCK(s->lock, plstr) == pltimeout);
	UNLOCK(s->lock, plbase);
	gone(s);
}

CASE(lock_raises)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plstr);
	D_HOLDS(splhi() == plstr);
	UNLOCK(s->lock, plbase);
	gone(s);
}

static void
take(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	(void)LOCK(s->lock, plstr);
	str_store(&s->result, 1u);
	UNLOCK(s->lock, plbase);
}

CASE(lock_waits)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plstr);
	(void)waiting(take, s);
	UNLOCK(s->lock, plbase);
	ended(s);
	gone(s);
}

CASE(trylock_returns)
{
	struct shared *s = shared();

	D_HOLDS(TRYLOCK(s->lock, plstr) == plbase);
	UNLOCK(s->lock, plbase);
	gone(s);
}

static void
try_lock(void *arg)
{
	struct shared *s = arg;
	pl_t pl = TRYLOCK(s->lock, plhi);

	str_store(&s->result, pl == invpl ? 1u : 2u);
	str_store(&s->level, (uint32_t)splhi());
	if (pl != invpl)
		UNLOCK(s->lock, plbase);
}

CASE(trylock_invpl)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plstr);
	D_HOLDS(elsewhere(try_lock, s) == 1);
	UNLOCK(s->lock, plbase);
	gone(s);
}

CASE(trylock_level_stays)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plstr);
	T_EQ(elsewhere(try_lock, s), 1u);
	D_HOLDS(str_load(&s->level) == plbase);
	UNLOCK(s->lock, plbase);
	gone(s);
}

CASE(unlock_level)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plhi);
	UNLOCK(s->lock, pltimeout);
	D_HOLDS(splbase() == pltimeout);
	gone(s);
}

CASE(unlock_frees)
{
	struct shared *s = shared();

	(void)LOCK(s->lock, plstr);
	UNLOCK(s->lock, plbase);
	D_HOLDS(elsewhere(try_lock, s) == 2);
	gone(s);
}

/* ------------------------------------------------ readers' and writers' */

CASE(rw_alloc_free)
{
	struct shared *s = shared();

	D_HOLDS(RW_TRYWRLOCK(s->rw, plstr) != invpl);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_alloc_null)
{
	fx_use_up();
	D_HOLDS(RW_ALLOC(1, plstr, NULL, KM_NOSLEEP) == NULL);
	fx_give_back();
}

static void
rd_lock(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	(void)RW_RDLOCK(s->rw, plstr);
	str_store(&s->result, 1u);
	RW_UNLOCK(s->rw, plbase);
}

static void
wr_lock(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	(void)RW_WRLOCK(s->rw, plstr);
	str_store(&s->result, 1u);
	RW_UNLOCK(s->rw, plbase);
}

static void
try_rd(void *arg)
{
	struct shared *s = arg;
	pl_t pl = RW_TRYRDLOCK(s->rw, plhi);

	str_store(&s->result, pl == invpl ? 1u : 2u + (uint32_t)pl);
	if (pl != invpl)
		RW_UNLOCK(s->rw, plbase);
}

static void
try_wr(void *arg)
{
	struct shared *s = arg;
	pl_t pl = RW_TRYWRLOCK(s->rw, plhi);

	str_store(&s->result, pl == invpl ? 1u : 2u);
	str_store(&s->level, (uint32_t)splhi());
	if (pl != invpl)
		RW_UNLOCK(s->rw, plbase);
}

CASE(rw_readers)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plstr);
	D_HOLDS(elsewhere(rd_lock, s) == 1);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_read_returns)
{
	struct shared *s = shared();

	(void)spltimeout();
	D_HOLDS(RW_RDLOCK(s->rw, plstr) == pltimeout);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_read_waits)
{
	struct shared *s = shared();

	(void)RW_WRLOCK(s->rw, plstr);
	(void)waiting(rd_lock, s);
	RW_UNLOCK(s->rw, plbase);
	ended(s);
	gone(s);
}

CASE(rw_write_returns)
{
	struct shared *s = shared();

	(void)spltimeout();
	D_HOLDS(RW_WRLOCK(s->rw, plstr) == pltimeout);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_write_waits)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plstr);
	(void)waiting(wr_lock, s);
	RW_UNLOCK(s->rw, plbase);
	ended(s);
	gone(s);
}

CASE(rw_tryread_invpl)
{
	struct shared *s = shared();

	(void)RW_WRLOCK(s->rw, plstr);
	D_HOLDS(elsewhere(try_rd, s) == 1);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_tryread_shares)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plstr);
	D_HOLDS(elsewhere(try_rd, s) == 2 + plbase);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_trywrite_invpl)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plstr);
	D_HOLDS(elsewhere(try_wr, s) == 1);
	RW_UNLOCK(s->rw, plbase);
	(void)RW_WRLOCK(s->rw, plstr);
	D_HOLDS(elsewhere(try_wr, s) == 1);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_trywrite_level)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plstr);
	T_EQ(elsewhere(try_wr, s), 1u);
	D_HOLDS(str_load(&s->level) == plbase);
	RW_UNLOCK(s->rw, plbase);
	gone(s);
}

CASE(rw_unlock_level)
{
	struct shared *s = shared();

	(void)RW_RDLOCK(s->rw, plhi);
	RW_UNLOCK(s->rw, pltimeout);
	D_HOLDS(splbase() == pltimeout);
	gone(s);
}

/* ------------------------------------------------------------- sleep locks */

CASE(sleep_alloc_free)
{
	struct shared *s = shared();

	D_HOLDS(SLEEP_TRYLOCK(s->sleep) == TRUE);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_alloc_null)
{
	fx_use_up();
	D_HOLDS(SLEEP_ALLOC(0, NULL, KM_NOSLEEP) == NULL);
	fx_give_back();
}

static void
sleep_lock(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	SLEEP_LOCK(s->sleep, primed);
	str_store(&s->result, 1u);
	SLEEP_UNLOCK(s->sleep);
}

static void
sleep_lock_sig(void *arg)
{
	struct shared *s = arg;
	int got;

	str_store(&s->step, 1u);
	got = SLEEP_LOCK_SIG(s->sleep, primed);
	str_store(&s->level, (uint32_t)SLEEP_LOCKOWNED(s->sleep));
	if (got == TRUE)
		SLEEP_UNLOCK(s->sleep);
	str_store(&s->result, got == TRUE ? 1u : 2u);
}

static void
sleep_try(void *arg)
{
	struct shared *s = arg;

	str_store(&s->level, (uint32_t)SLEEP_LOCKOWNED(s->sleep));
	str_store(&s->result, SLEEP_TRYLOCK(s->sleep) == TRUE ? 1u : 2u);
}

CASE(sleep_waits)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	(void)waiting(sleep_lock, s);
	SLEEP_UNLOCK(s->sleep);
	ended(s);
	gone(s);
}

CASE(sleep_no_signal)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	sim_signal(waiting(sleep_lock, s), false);
	sim_sleep(20000000u);
	D_HOLDS(str_load(&s->result) == 0);
	SLEEP_UNLOCK(s->sleep);
	ended(s);
	gone(s);
}

CASE(sleep_sig_false)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	sim_signal(waiting(sleep_lock_sig, s), false);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 2 && str_load(&s->level) == FALSE);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_sig_true)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	(void)waiting(sleep_lock_sig, s);
	SLEEP_UNLOCK(s->sleep);
	ended(s);
	D_HOLDS(str_load(&s->level) == TRUE);
	gone(s);
}

CASE(sleep_try_true)
{
	struct shared *s = shared();

	D_HOLDS(SLEEP_TRYLOCK(s->sleep) == TRUE);
	D_HOLDS(SLEEP_LOCKOWNED(s->sleep) == TRUE);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_try_false)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	D_HOLDS(elsewhere(sleep_try, s) == 2);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_avail)
{
	struct shared *s = shared();

	D_HOLDS(SLEEP_LOCKAVAIL(s->sleep) == TRUE);
	SLEEP_LOCK(s->sleep, primed);
	D_HOLDS(SLEEP_LOCKAVAIL(s->sleep) == FALSE);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_owned)
{
	struct shared *s = shared();

	D_HOLDS(SLEEP_LOCKOWNED(s->sleep) == FALSE);
	SLEEP_LOCK(s->sleep, primed);
	D_HOLDS(SLEEP_LOCKOWNED(s->sleep) == TRUE);
	T_EQ(elsewhere(sleep_try, s), 2u);
	D_HOLDS(str_load(&s->level) == FALSE);
	SLEEP_UNLOCK(s->sleep);
	gone(s);
}

CASE(sleep_unlock_wakes)
{
	struct shared *s = shared();

	SLEEP_LOCK(s->sleep, primed);
	(void)waiting(sleep_lock, s);
	(void)d_spawn("second", sleep_lock, s);
	SLEEP_UNLOCK(s->sleep);
	ended(s);
	D_HOLDS(SLEEP_LOCKAVAIL(s->sleep) == TRUE);
	gone(s);
}
