/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Locks: one at a time, several readers, dead owners.
 */
#include "d.h"

static LKINFO_DECL(info, "ddi:test", 0);

/* What tasks share in the cases below. */
struct shared {
	kmutex_t mutex;
	krwlock_t rw;
	lock_t *lock;
	rwlock_t *rwlock;
	sleep_t *sleep;
	str_a32 step;	 /* what has happened */
	str_a32 inside;	 /* tasks in the section */
	str_a32 worst;
	str_a32 result;
	unsigned plain;	 /* changed under the lock */
};

static struct shared *
shared(void)
{
	return d_shared(sizeof(struct shared));
}

/* In a section that only one may be in: change what cannot take two. */
static void
section(struct shared *s)
{
	unsigned n = str_add(&s->inside, 1u) + 1, v;

	if (n > str_load(&s->worst))
		str_store(&s->worst, n);
	v = *(volatile unsigned *)&s->plain;
	sim_point();
	*(volatile unsigned *)&s->plain = v + 1;
	(void)str_sub(&s->inside, 1u);
}

#define TASKS 4
#define ROUNDS 200

static void
contend(void (*fn)(void *arg), struct shared *s)
{
	unsigned i;

	for (i = 0; i < TASKS; i++)
		(void)d_spawn("contender", fn, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->worst), 1);
	T_EQ(s->plain, TASKS * ROUNDS);
}

/* ------------------------------------------------------------ basic locks */

/* LOCK_ALLOC(D3): the lock is not taken. */
D_CASE(301, lock_alloc_gives_a_free_lock)
{
	lock_t *l;

	fx_begin(t);
	l = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	T_NOTNULL(l);
	T_EQ(TRYLOCK(l, plstr), plbase);
	UNLOCK(l, plbase);
	LOCK_DEALLOC(l);
}

/* LOCK_ALLOC(D3): NULL without memory when KM_NOSLEEP is given. */
D_CASE(302, lock_alloc_without_memory_is_null)
{
	fx_begin(t);
	fx_use_up();
	T_NULL(LOCK_ALLOC(1, plstr, &info, KM_NOSLEEP));
	T_NULL(RW_ALLOC(1, plstr, &info, KM_NOSLEEP));
	T_NULL(SLEEP_ALLOC(0, &info, KM_NOSLEEP));
	T_NULL(SV_ALLOC(KM_NOSLEEP));
}

/* LOCK(D3): returns the previous level; UNLOCK(D3) sets the one it is given. */
D_CASE(303, lock_returns_the_level_before)
{
	lock_t *l;
	pl_t old;

	fx_begin(t);
	l = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	T_EQ(spltimeout(), plbase);
	old = LOCK(l, plstr);
	T_EQ(old, pltimeout);
	T_EQ(splx(plstr), plstr);
	UNLOCK(l, old);
	T_EQ(splbase(), pltimeout);
	LOCK_DEALLOC(l);
}

/* TRYLOCK(D3): invpl when the lock cannot be had at once. */
static void
try_lock(void *arg)
{
	struct shared *s = arg;

	str_store(&s->result, TRYLOCK(s->lock, plstr) == invpl ? 1u : 2u);
}

D_CASE(304, trylock_of_a_taken_lock_is_invpl)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	s->lock = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	(void)LOCK(s->lock, plstr);
	(void)d_spawn("other", try_lock, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	UNLOCK(s->lock, plbase);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

/* LOCK(D3): the caller waits until the lock is free: one at a time. */
static void
lock_rounds(void *arg)
{
	struct shared *s = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		pl_t pl = LOCK(s->lock, plstr);

		section(s);
		UNLOCK(s->lock, pl);
	}
}

D_CASE(305, lock_lets_one_in_at_a_time)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	s->lock = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	contend(lock_rounds, s);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

/* ksynch(9): the lock of a killed owner goes to the next who wants it. */
static void
lock_and_die(void *arg)
{
	struct shared *s = arg;

	(void)LOCK(s->lock, plstr);
	str_store(&s->step, 1u);
	sim_kill(sim_current());
}

D_CASE(306, lock_of_a_killed_owner_goes_on)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	s->lock = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	(void)d_spawn("victim", lock_and_die, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->step), 1);
	T_EQ(LOCK(s->lock, plstr), plbase);
	UNLOCK(s->lock, plbase);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

/* ksynch(9): so does TRYLOCK. */
D_CASE(307, trylock_of_a_killed_owners_lock_succeeds)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	s->lock = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	(void)d_spawn("victim", lock_and_die, s);
	T_EQ(sim_run(), 0);
	T_EQ(TRYLOCK(s->lock, plstr), plbase);
	UNLOCK(s->lock, plbase);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

/* LOCK_DEALLOC(D3): a lock that is in a dead owner's hands may be freed. */
D_CASE(308, lock_of_the_dead_can_be_freed)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	s->lock = LOCK_ALLOC(1, plstr, &info, KM_SLEEP);
	(void)d_spawn("victim", lock_and_die, s);
	T_EQ(sim_run(), 0);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

/* ----------------------------------------------------------------- levels */

/* spl(D3): each returns the level before; splx restores it. */
D_CASE(309, spl_functions_nest)
{
	pl_t a, b;

	fx_begin(t);
	a = splstr();
	T_EQ(a, plbase);
	b = splhi();
	T_EQ(b, plstr);
	T_EQ(splx(b), plhi);
	T_EQ(splx(a), plstr);
	T_EQ(splbase(), plbase);
}

/* spl(D3): raising never lowers. */
D_CASE(310, spl_never_lowers_but_by_splx)
{
	fx_begin(t);
	(void)splhi();
	T_EQ(spltimeout(), plhi);
	T_EQ(spldisk(), plhi);
	T_EQ(splx(plbase), plhi);
	T_EQ(splbase(), plbase);
}

/* spl(9): the level is each thread's own. */
static void
look_level(void *arg)
{
	struct shared *s = arg;

	str_store(&s->result, (uint32_t)splstr() + 1);
}

D_CASE(311, level_is_each_threads_own)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	(void)splhi();
	(void)d_spawn("other", look_level, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), plbase + 1);
	T_EQ(splbase(), plhi);
	d_gone(s);
}

/* -------------------------------------------------- readers' and writers' */

static void
try_read(void *arg)
{
	struct shared *s = arg;
	pl_t pl = RW_TRYRDLOCK(s->rwlock, plstr);

	str_store(&s->result, pl == invpl ? 1u : 2u);
	if (pl != invpl)
		RW_UNLOCK(s->rwlock, pl);
}

static void
try_write(void *arg)
{
	struct shared *s = arg;
	pl_t pl = RW_TRYWRLOCK(s->rwlock, plstr);

	str_store(&s->result, pl == invpl ? 1u : 2u);
	if (pl != invpl)
		RW_UNLOCK(s->rwlock, pl);
}

static struct shared *
rw_shared(void)
{
	struct shared *s = shared();

	s->rwlock = RW_ALLOC(1, plstr, &info, KM_SLEEP);
	T_NOTNULL(s->rwlock);
	return s;
}

static void
rw_gone(struct shared *s)
{
	RW_DEALLOC(s->rwlock);
	d_gone(s);
}

/* RW_RDLOCK(D3): several readers have it at once. */
D_CASE(312, readers_share)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	T_EQ(RW_RDLOCK(s->rwlock, plstr), plbase);
	(void)d_spawn("other", try_read, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	RW_UNLOCK(s->rwlock, plbase);
	rw_gone(s);
}

/* RW_TRYWRLOCK(D3): invpl while a thread reads. */
D_CASE(313, a_reader_keeps_writers_out)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	(void)RW_RDLOCK(s->rwlock, plstr);
	(void)d_spawn("other", try_write, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	RW_UNLOCK(s->rwlock, plbase);
	T_EQ(RW_TRYWRLOCK(s->rwlock, plstr), plbase);
	RW_UNLOCK(s->rwlock, plbase);
	rw_gone(s);
}

/* RW_TRYRDLOCK(D3): invpl while a thread writes. */
D_CASE(314, a_writer_keeps_readers_out)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	T_EQ(RW_WRLOCK(s->rwlock, plstr), plbase);
	(void)d_spawn("other", try_read, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	RW_UNLOCK(s->rwlock, plbase);
	rw_gone(s);
}

/* RW_WRLOCK(D3): the writer waits for readers and writers: it is alone. */
static void
rw_rounds(void *arg)
{
	struct shared *s = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		pl_t pl = RW_WRLOCK(s->rwlock, plstr);

		section(s);
		RW_UNLOCK(s->rwlock, pl);
		pl = RW_RDLOCK(s->rwlock, plstr);
		T_EQ(str_load(&s->inside), 0);
		sim_point();
		RW_UNLOCK(s->rwlock, pl);
	}
}

D_CASE(315, a_writer_is_alone)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	contend(rw_rounds, s);
	rw_gone(s);
}

/* ksynch(9): a killed reader does not keep writers out. */
static void
read_and_die(void *arg)
{
	struct shared *s = arg;

	(void)RW_RDLOCK(s->rwlock, plstr);
	str_store(&s->step, 1u);
	sim_kill(sim_current());
}

D_CASE(316, a_killed_reader_is_no_reader)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	(void)d_spawn("victim", read_and_die, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->step), 1);
	T_EQ(RW_WRLOCK(s->rwlock, plstr), plbase);
	RW_UNLOCK(s->rwlock, plbase);
	rw_gone(s);
}

/* ksynch(9): a killed writer keeps no thread out. */
static void
write_and_die(void *arg)
{
	struct shared *s = arg;

	(void)RW_WRLOCK(s->rwlock, plstr);
	str_store(&s->step, 1u);
	sim_kill(sim_current());
}

D_CASE(317, a_killed_writer_is_no_writer)
{
	struct shared *s;

	fx_begin(t);
	s = rw_shared();
	(void)d_spawn("victim", write_and_die, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->step), 1);
	T_EQ(RW_RDLOCK(s->rwlock, plstr), plbase);
	RW_UNLOCK(s->rwlock, plbase);
	T_EQ(RW_WRLOCK(s->rwlock, plstr), plbase);
	RW_UNLOCK(s->rwlock, plbase);
	rw_gone(s);
}

/* rw_enter(9F), rw_exit(9F), rw_tryenter(9F). */
D_CASE(318, rw_enter_and_rw_exit)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	rw_init(&s->rw, NULL, RW_DRIVER, NULL);
	rw_enter(&s->rw, RW_READER);
	T_EQ(rw_read_locked(&s->rw), 1);
	rw_exit(&s->rw);
	rw_enter(&s->rw, RW_WRITER);
	T_EQ(rw_read_locked(&s->rw), 0);
	T_EQ(rw_tryenter(&s->rw, RW_READER), 0);
	rw_exit(&s->rw);
	T_EQ(rw_tryenter(&s->rw, RW_WRITER), 1);
	rw_exit(&s->rw);
	rw_destroy(&s->rw);
	d_gone(s);
}

static void
try_reader(void *arg)
{
	struct shared *s = arg;
	int got = rw_tryenter(&s->rw, RW_READER);

	str_store(&s->result, got ? 2u : 1u);
	if (got)
		rw_exit(&s->rw);
}

/* rw_downgrade(9F): the writer becomes a reader; others may read. */
D_CASE(319, rw_downgrade_lets_readers_in)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	rw_enter(&s->rw, RW_WRITER);
	rw_downgrade(&s->rw);
	(void)d_spawn("other", try_reader, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	T_EQ(rw_tryenter(&s->rw, RW_WRITER), 0);
	rw_exit(&s->rw);
	T_EQ(rw_tryenter(&s->rw, RW_WRITER), 1);
	rw_exit(&s->rw);
	d_gone(s);
}

/* rw_tryupgrade(9F): the only reader becomes the writer. */
D_CASE(320, rw_tryupgrade_of_the_only_reader)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	rw_enter(&s->rw, RW_READER);
	T_EQ(rw_tryupgrade(&s->rw), 1);
	(void)d_spawn("other", try_reader, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	rw_exit(&s->rw);
	T_EQ(rw_tryenter(&s->rw, RW_WRITER), 1);
	rw_exit(&s->rw);
	d_gone(s);
}

/* rw_tryupgrade(9F): 0 while there are other readers. */
static void
read_and_hold(void *arg)
{
	struct shared *s = arg;

	rw_enter(&s->rw, RW_READER);
	str_store(&s->step, 1u);
	D_UNTIL(str_load(&s->step) == 2);
	rw_exit(&s->rw);
}

D_CASE(321, rw_tryupgrade_beside_another_reader)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	rw_enter(&s->rw, RW_READER);
	(void)d_spawn("other", read_and_hold, s);
	D_UNTIL(str_load(&s->step) == 1);
	T_EQ(rw_tryupgrade(&s->rw), 0);
	T_EQ(rw_read_locked(&s->rw), 1);
	rw_exit(&s->rw);
	str_store(&s->step, 2u);
	T_EQ(sim_run(), 0);
	d_gone(s);
}

/* rwlock(9F): a writer that waits keeps new readers out: it is not starved. */
static void
write_when_possible(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	rw_enter(&s->rw, RW_WRITER);
	str_store(&s->step, 3u);
	rw_exit(&s->rw);
}

D_CASE(322, a_waiting_writer_comes_before_new_readers)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	rw_enter(&s->rw, RW_READER);
	(void)d_spawn("writer", write_when_possible, s);
	D_UNTIL(str_load(&s->step) == 1 && str_load(&s->rw.rw.rw_writer) != 0);
	T_EQ(rw_tryenter(&s->rw, RW_READER), 0);
	T_EQ(str_load(&s->step), 1);
	rw_exit(&s->rw);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->step), 3);
	d_gone(s);
}

/* <sys/ksynch.h>: more readers than slots wait, and come in one by one. */
static void
many_readers(void *arg)
{
	struct shared *s = arg;
	unsigned i;

	for (i = 0; i < 20; i++) {
		rw_enter(&s->rw, RW_READER);
		(void)str_add(&s->result, 1u);
		sim_point();
		rw_exit(&s->rw);
	}
}

D_CASE(323, more_readers_than_slots)
{
	struct shared *s;
	unsigned i;

	fx_begin(t);
	s = shared();
	for (i = 0; i < STR_RW_SLOTS + 4; i++)
		(void)d_spawn("reader", many_readers, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 20 * (STR_RW_SLOTS + 4));
	T_EQ(rw_tryenter(&s->rw, RW_WRITER), 1);
	rw_exit(&s->rw);
	d_gone(s);
}

/* ------------------------------------------------------------ sleep locks */

static struct shared *
sleep_shared(void)
{
	struct shared *s = shared();

	s->sleep = SLEEP_ALLOC(0, &info, KM_SLEEP);
	T_NOTNULL(s->sleep);
	return s;
}

static void
sleep_gone(struct shared *s)
{
	SLEEP_DEALLOC(s->sleep);
	d_gone(s);
}

/* SLEEP_LOCKAVAIL(D3), SLEEP_LOCKOWNED(D3). */
D_CASE(324, sleep_lock_tells_who_has_it)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	T_EQ(SLEEP_LOCKAVAIL(s->sleep), TRUE);
	T_EQ(SLEEP_LOCKOWNED(s->sleep), FALSE);
	SLEEP_LOCK(s->sleep, primed);
	T_EQ(SLEEP_LOCKAVAIL(s->sleep), FALSE);
	T_EQ(SLEEP_LOCKOWNED(s->sleep), TRUE);
	SLEEP_UNLOCK(s->sleep);
	T_EQ(SLEEP_LOCKAVAIL(s->sleep), TRUE);
	sleep_gone(s);
}

static void
try_sleep(void *arg)
{
	struct shared *s = arg;

	str_store(&s->result, SLEEP_TRYLOCK(s->sleep) == FALSE &&
		SLEEP_LOCKOWNED(s->sleep) == FALSE ? 1u : 2u);
}

/* SLEEP_TRYLOCK(D3): FALSE when it is taken. */
D_CASE(325, sleep_trylock_of_a_taken_lock_is_false)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	T_EQ(SLEEP_TRYLOCK(s->sleep), TRUE);
	(void)d_spawn("other", try_sleep, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	SLEEP_UNLOCK(s->sleep);
	sleep_gone(s);
}

/* SLEEP_LOCK(D3): sleeps until the lock is free: one at a time. */
static void
sleep_rounds(void *arg)
{
	struct shared *s = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		SLEEP_LOCK(s->sleep, primed);
		section(s);
		SLEEP_UNLOCK(s->sleep);
	}
}

D_CASE(326, sleep_lock_lets_one_in_at_a_time)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	contend(sleep_rounds, s);
	sleep_gone(s);
}

/* SLEEP_LOCK_SIG(D3): FALSE when a signal came before the lock was free. */
static void
sleep_sig(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	str_store(&s->result, SLEEP_LOCK_SIG(s->sleep, primed) == TRUE ?
		2u : 1u);
}

D_CASE(327, sleep_lock_sig_ends_with_a_signal)
{
	struct sim_task *w;
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	SLEEP_LOCK(s->sleep, primed);
	w = d_spawn("waiter", sleep_sig, s);
	D_UNTIL(str_load(&s->step) == 1);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	T_EQ(SLEEP_LOCKOWNED(s->sleep), TRUE);
	SLEEP_UNLOCK(s->sleep);
	sleep_gone(s);
}

/* SLEEP_LOCK_SIG(D3): TRUE when it got the lock. */
D_CASE(328, sleep_lock_sig_gets_a_lock_that_is_released)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	SLEEP_LOCK(s->sleep, primed);
	(void)d_spawn("waiter", sleep_sig, s);
	D_UNTIL(str_load(&s->step) == 1);
	SLEEP_UNLOCK(s->sleep);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	sleep_gone(s);
}

/* SLEEP_LOCK(D3): no signal ends it. */
static void
sleep_nosig(void *arg)
{
	struct shared *s = arg;

	str_store(&s->step, 1u);
	SLEEP_LOCK(s->sleep, primed);
	str_store(&s->result, (uint32_t)SLEEP_LOCKOWNED(s->sleep));
	SLEEP_UNLOCK(s->sleep);
}

D_CASE(329, sleep_lock_is_not_ended_by_a_signal)
{
	struct sim_task *w;
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	SLEEP_LOCK(s->sleep, primed);
	w = d_spawn("waiter", sleep_nosig, s);
	D_UNTIL(str_load(&s->step) == 1);
	sim_signal(w, false);
	sim_sleep(5000000u);
	T_EQ(str_load(&s->result), 0);
	SLEEP_UNLOCK(s->sleep);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), TRUE);
	sleep_gone(s);
}

/* SLEEP_UNLOCK(9): by another thread than the one that took it. */
static void
unlock_for(void *arg)
{
	struct shared *s = arg;

	SLEEP_UNLOCK(s->sleep);
}

D_CASE(330, sleep_lock_may_be_released_by_another)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	SLEEP_LOCK(s->sleep, primed);
	(void)d_spawn("other", unlock_for, s);
	T_EQ(sim_run(), 0);
	T_EQ(SLEEP_LOCKAVAIL(s->sleep), TRUE);
	T_EQ(SLEEP_TRYLOCK(s->sleep), TRUE);
	SLEEP_UNLOCK(s->sleep);
	sleep_gone(s);
}

/* ksynch(9): the sleep lock of a killed owner goes to the next. */
static void
sleep_and_die(void *arg)
{
	struct shared *s = arg;

	SLEEP_LOCK(s->sleep, primed);
	str_store(&s->step, 1u);
	sim_kill(sim_current());
}

D_CASE(331, sleep_lock_of_a_killed_owner_goes_on)
{
	struct shared *s;

	fx_begin(t);
	s = sleep_shared();
	(void)d_spawn("victim", sleep_and_die, s);
	T_EQ(sim_run(), 0);
	T_EQ(SLEEP_LOCKAVAIL(s->sleep), TRUE);
	SLEEP_LOCK(s->sleep, primed);
	T_EQ(SLEEP_LOCKOWNED(s->sleep), TRUE);
	SLEEP_UNLOCK(s->sleep);
	sleep_gone(s);
}

/* ---------------------------------------------------------------- mutexes */

/* mutex_owned(9F): does the caller have it? */
D_CASE(332, mutex_knows_its_owner)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	mutex_init(&s->mutex, NULL, MUTEX_DRIVER, NULL);
	T_EQ(mutex_owned(&s->mutex), 0);
	mutex_enter(&s->mutex);
	T_NE(mutex_owned(&s->mutex), 0);
	T_TRUE(MUTEX_HELD(&s->mutex));
	mutex_exit(&s->mutex);
	T_TRUE(MUTEX_NOT_HELD(&s->mutex));
	mutex_destroy(&s->mutex);
	d_gone(s);
}

/* ksynch(9): a mutex of zeros is initialised and free. */
D_CASE(333, mutex_of_zeros_is_free)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	T_NE(mutex_tryenter(&s->mutex), 0);
	mutex_exit(&s->mutex);
	rw_enter(&s->rw, RW_READER);
	rw_exit(&s->rw);
	d_gone(s);
}

static void
try_mutex(void *arg)
{
	struct shared *s = arg;

	str_store(&s->result, mutex_tryenter(&s->mutex) == 0 &&
		mutex_owned(&s->mutex) == 0 ? 1u : 2u);
}

/* mutex_tryenter(9F): 0 when the mutex is held. */
D_CASE(334, mutex_tryenter_of_a_taken_mutex_is_0)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	mutex_enter(&s->mutex);
	(void)d_spawn("other", try_mutex, s);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	mutex_exit(&s->mutex);
	d_gone(s);
}

/* mutex_enter(9F): blocks until the mutex is available. */
static void
mutex_rounds(void *arg)
{
	struct shared *s = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		mutex_enter(&s->mutex);
		section(s);
		mutex_exit(&s->mutex);
	}
}

D_CASE(335, mutex_lets_one_in_at_a_time)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	contend(mutex_rounds, s);
	d_gone(s);
}

/* ksynch(9): a mutex in the middle of whose section its owner was killed. */
static void
mutex_and_die(void *arg)
{
	struct shared *s = arg;

	mutex_enter(&s->mutex);
	s->plain = 7;
	str_store(&s->step, 1u);
	sim_kill(sim_current());
}

D_CASE(336, mutex_of_a_killed_owner_goes_on)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	(void)d_spawn("victim", mutex_and_die, s);
	D_UNTIL(str_load(&s->step) == 1);
	mutex_enter(&s->mutex); /* its owner may be dying still */
	T_EQ(s->plain, 7); /* as its owner left it */
	mutex_exit(&s->mutex);
	T_EQ(sim_run(), 0);
	d_gone(s);
}

/* mutex_destroy(9F): by its owner, too. */
D_CASE(337, mutex_may_be_destroyed_by_its_owner)
{
	struct shared *s;

	fx_begin(t);
	s = shared();
	mutex_enter(&s->mutex);
	mutex_destroy(&s->mutex);
	T_NE(mutex_tryenter(&s->mutex), 0);
	mutex_exit(&s->mutex);
	d_gone(s);
}
