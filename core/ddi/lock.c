/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Exclusive locks of modules: basic locks, sleep locks, mutexes.
 *
 * Life. All three are a lock word as in core/sync/lock.h: zero when free, else
 * its owner's tag.  They need no initialisation beyond zeros, and may be in
 * any memory that has the same address in all processes.
 *
 * Failure.  A waiter checks whether the owner lives, every 1 to 10 ms, for a
 * sleep lock every 10 to 320 ms, and takes the lock over when it does not.  The
 * module's data under the lock is then in the state that the dead owner left;
 * the DDI has no way to report this.
 *
 * Misuse.  A thread that takes a lock twice would wait for itself for ever.  A
 * thread that releases a lock it does not hold would admit two threads.  Both
 * errors end the process.  A sleep lock may be released by any thread: the
 * process ends if its owner takes it again, or if a thread releases a free
 * one.
 */
#include "ddi_impl.h"

/* Time between two checks of the owner by a sleeper: initial, maximum. */
#define SLEEP_NS 10000000ull
#define SLEEP_MAX_NS 320000000ull

struct str_thread *
str_ddi_self(void)
{
	struct str_thread *t = host_self();
	uint32_t me = host_self_tag();

	if (str_unlikely(str_load(&t->ddi_tag) != me)) {
		t->ddi_held = 0;
		t->ipl = 0;
		str_store(&t->cv, (uint64_t)0);
		str_store_rel(&t->ddi_tag, me);
	}
	return t;
}

static void
misuse(const char *what)
{
	host_panic(what, __FILE__, __LINE__);
}

void
str_ddi_lock(struct str_lock *l, const char *what)
{
	if (str_unlikely(str_ddi_owned(l)))
		misuse(what);
	(void)str_lock(l);
	str_ddi_self()->ddi_held++;
}

bool
str_ddi_trylock(struct str_lock *l)
{
	uint32_t v = str_load(&l->owner);

	/* a dead owner does not make it busy for ever */
	if (v != 0 && (v == host_self_tag() || !host_owner_dead(v) ||
		!str_cas(&l->owner, v, host_self_tag())))
		return false;
	if (v == 0 && !str_trylock(l))
		return false;
	str_ddi_self()->ddi_held++;
	return true;
}

void
str_ddi_unlock(struct str_lock *l, const char *what)
{
	if (str_unlikely(!str_ddi_owned(l)))
		misuse(what);
	str_ddi_self()->ddi_held--;
	str_unlock(l);
}

bool
str_ddi_owned(const struct str_lock *l)
{
	return str_load(&l->owner) == host_self_tag();
}

bool
str_ddi_idle(const struct str_lock *l)
{
	uint32_t v = str_load(&l->owner);

	return v == 0 || host_owner_dead(v);
}

/* ------------------------------------------------------------ basic locks */

lock_t *
LOCK_ALLOC(uchar_t hierarchy, pl_t min_pl, lkinfo_t *lkinfop, int km_flag)
{
	lock_t *l = kmem_zalloc(sizeof(*l), km_flag);

	if (l == NULL)
		return NULL;
	l->l_hier = hierarchy;
	l->l_minpl = min_pl;
	l->l_info = lkinfop;
	return l;
}

/* SVR4 LOCK_DEALLOC(D3): not while it is locked. */
void
LOCK_DEALLOC(lock_t *lockp)
{
	if (!str_ddi_idle(&lockp->l_lock))
		misuse("LOCK_DEALLOC of a lock that is taken");
	kmem_free(lockp, sizeof(*lockp));
}

/* SVR4 LOCK(D3) */
pl_t
LOCK(lock_t *lockp, pl_t pl)
{
	pl_t old = (pl_t)str_ddi_self()->ipl;

	str_ddi_ipl(pl, false);
	str_ddi_lock(&lockp->l_lock, "LOCK of a lock that the caller has");
	return old;
}

pl_t
TRYLOCK(lock_t *lockp, pl_t pl)
{
	pl_t old = (pl_t)str_ddi_self()->ipl;

	if (!str_ddi_trylock(&lockp->l_lock))
		return invpl;
	str_ddi_ipl(pl, false);
	return old;
}

void
UNLOCK(lock_t *lockp, pl_t pl)
{
	str_ddi_unlock(&lockp->l_lock, "UNLOCK of a lock that is not held");
	str_ddi_ipl(pl, true);
}

/* ------------------------------------------------------------ sleep locks */

sleep_t *
SLEEP_ALLOC(int arg, lkinfo_t *lkinfop, int km_flag)
{
	sleep_t *l = kmem_zalloc(sizeof(*l), km_flag);

	(void)arg;
	if (l != NULL)
		l->l_info = lkinfop;
	return l;
}

void
SLEEP_DEALLOC(sleep_t *lockp)
{
	if (!SLEEP_LOCKAVAIL(lockp))
		misuse("SLEEP_DEALLOC of a lock that is taken");
	kmem_free(lockp, sizeof(*lockp));
}

/* Take the lock if it is free or its owner is dead. */
static bool
sleep_try(sleep_t *l)
{
	uint32_t v = str_load(&l->l_owner), me = host_self_tag();

	if (v != 0 && (v == me || !host_owner_dead(v)))
		return false;
	return str_cas(&l->l_owner, v, me);
}

/*
 * A signal handler changes the word that its thread sleeps on (host.h), so
 * this is not the owner's word.
 * Return: true: it can be taken; false: a signal of @hc ended the wait.
 */
static bool
sleep_for(sleep_t *l, struct host_call *hc)
{
	uint64_t slice = SLEEP_NS;

	for (;;) {
		uint32_t seq = str_load_acq(&l->l_seq);

		str_store(&l->l_waiters, 1u);
		str_fence_full(); /* pairs with the one in SLEEP_UNLOCK() */
		if (SLEEP_LOCKAVAIL(l))
			return true;
		if (host_wait(hc, (str_a32 *)(void *)(uintptr_t)&l->l_seq,
			seq, slice) == EINTR)
			return false;
		if (slice < SLEEP_MAX_NS)
			slice *= 2;
	}
}

/*
 * A thread that leaves the perimeter to sleep enters it again before it takes
 * the lock.  Otherwise it could wait for the perimeter with the lock, while a
 * thread inside waits for the lock and stays inside, because it holds another.
 */
static bool
sleep_lock(sleep_t *l, struct host_call *hc)
{
	struct str_nap nap;
	bool goes_on = true;

	if (SLEEP_LOCKOWNED(l))
		misuse("SLEEP_LOCK of a lock that the caller has");
	while (goes_on && !sleep_try(l)) {
		str_ddi_presleep(&nap);
		goes_on = sleep_for(l, hc);
		str_ddi_postsleep(&nap);
	}
	return goes_on;
}

/* SVR4 SLEEP_LOCK(D3) */
void
SLEEP_LOCK(sleep_t *lockp, int priority)
{
	(void)priority;
	(void)sleep_lock(lockp, NULL);
}

/* SVR4 SLEEP_LOCK_SIG(D3): a free lock is taken even if a signal waits. */
int
SLEEP_LOCK_SIG(sleep_t *lockp, int priority)
{
	(void)priority;
	return sleep_lock(lockp, str_ddi_call()) ? TRUE : FALSE;
}

int
SLEEP_TRYLOCK(sleep_t *lockp)
{
	return sleep_try(lockp) ? TRUE : FALSE;
}

int
SLEEP_LOCKAVAIL(sleep_t *lockp)
{
	uint32_t v = str_load(&lockp->l_owner);

	return v == 0 || host_owner_dead(v) ? TRUE : FALSE;
}

int
SLEEP_LOCKOWNED(sleep_t *lockp)
{
	return str_load(&lockp->l_owner) == host_self_tag() ? TRUE : FALSE;
}

/* SVR4 SLEEP_UNLOCK(D3): by any thread, since the owner may have ended. */
void
SLEEP_UNLOCK(sleep_t *lockp)
{
	if (str_load(&lockp->l_owner) == 0)
		misuse("SLEEP_UNLOCK of a lock that is free");
	str_store_rel(&lockp->l_owner, 0u);
	str_fence_full(); /* pairs with the one in sleep_for() */
	if (str_load(&lockp->l_waiters) == 0)
		return;
	str_store(&lockp->l_waiters, 0u);
	(void)str_add(&lockp->l_seq, 1u);
	(void)host_wake((str_a32 *)(void *)(uintptr_t)&lockp->l_seq, INT_MAX);
}

/* ---------------------------------------------------------------- mutexes */

void
mutex_init(kmutex_t *mp, char *name, kmutex_type_t type, void *arg)
{
	(void)name, (void)type, (void)arg;
	*mp = (kmutex_t){{0, 0}};
}

void
mutex_destroy(kmutex_t *mp)
{
	if (!str_ddi_idle(&mp->m_lock) && !str_ddi_owned(&mp->m_lock))
		misuse("mutex_destroy of a mutex that another has");
	if (str_ddi_owned(&mp->m_lock))
		str_ddi_self()->ddi_held--;
	*mp = (kmutex_t){{0, 0}};
}

void
mutex_enter(kmutex_t *mp)
{
	str_ddi_lock(&mp->m_lock, "mutex_enter of a mutex that the caller has");
}

int
mutex_tryenter(kmutex_t *mp)
{
	return str_ddi_trylock(&mp->m_lock) ? 1 : 0;
}

void
mutex_exit(kmutex_t *mp)
{
	str_ddi_unlock(&mp->m_lock, "mutex_exit of a mutex that is not held");
}

int
mutex_owned(kmutex_t *mp)
{
	return str_ddi_owned(&mp->m_lock) ? 1 : 0;
}
