/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Locks that name their owner.
 *
 * Life.  A free lock is zero; a taken one holds its owner's tag.  It is
 * released by a plain store: the holder then reads `waiters' after a light
 * fence, and a waiter sets `waiters' before its heavy fence, so one of the two
 * sees the other (models/lock.pml).
 *
 * Failure.  The first waiter checks each millisecond whether the owner still
 * lives, the others each 10 ms.  If it is dead, the waiter takes the lock over
 * and str_lock() returns true: the structure may be half-changed and must be
 * repaired first.
 */
#ifndef STR_LOCK_H
#define STR_LOCK_H

bool str_lock_slow(struct str_lock *l) STR_COLD;
void str_owner_wait(struct host_call *hc, str_a32 *owner, uint32_t v,
	uint64_t ns);
void str_unlock_slow(struct str_lock *l) STR_COLD;

/* str_lock - take @l.  Return: true when its last owner died holding it. */
STR_INLINE bool
str_lock(struct str_lock *l)
{
	if (str_likely(str_cas(&l->owner, 0u, host_self_tag())))
		return false;
	return str_lock_slow(l);
}

STR_INLINE bool
str_trylock(struct str_lock *l)
{
	return str_load(&l->owner) == 0 &&
		str_cas(&l->owner, 0u, host_self_tag());
}

STR_INLINE void
str_unlock(struct str_lock *l)
{
	str_store_rel(&l->owner, 0u);
	host_fence_light();
	if (str_unlikely(str_load(&l->waiters) != 0))
		str_unlock_slow(l);
}

/*
 * Biased locks: the two ends of a head queue.
 *
 * Purpose.  Nearly always one thread writes and one reads, and each takes its
 * own lock again and again; the locked instruction was most of the cost of a
 * small write.  Such a lock becomes biased toward its thread, which then takes
 * it by a plain store.
 *
 * Protocol.  `bias' names the thread.  That thread enters by publishing the
 * lock in its own slot, hold[kind], and loading `bias' once more after a light
 * fence.  Any other thread takes `lk' first; if there is a bias, it clears it,
 * executes the heavy fence, and waits until that thread's slot does not name
 * the lock.  Only a thread that holds `lk' sets a bias: toward itself, after it
 * has taken `lk' again `limit' times in a row (str_htrylock_hard() restores one
 * toward another thread, if it has cleared it in vain).  As long as no bias was
 * revoked the limit is 1: a thread that gets one message in a second soon has
 * the fast path.  The first revocation makes it at least 16.  A bias that was
 * revoked soon has cost more than it saved, and doubles the limit: threads that
 * take the lock by turns use `lk' alone.  A bias that lasted halves the limit:
 * if several threads use the lock, each for a long time, it soon becomes biased
 * toward the thread that uses it now.
 *
 * Failure.  A biased owner that died is detected by its generation, like any
 * owner; the lock is then taken over.  If a thread is killed after it has
 * revoked the bias and before the other thread has left, no word records this:
 * so the next owner of `lk' waits for the thread whose slot names the lock.
 * The protocol is that of models/claim.pml with one thread instead of all: a
 * published word, a light fence, a second load.
 */
struct str_hlock {
	struct str_lock lk;
	str_a32 bias;	/* [A] tag of the thread it is biased to, or 0 */
	uint32_t last;	/* [lk] last owner of lk */
	uint32_t run;	/* [lk] times in a row that `last' took lk again; while
			 * there is a bias: since when (bias_clock()) */
	uint32_t limit;	/* [lk] value of run at which the bias is set; 0: the
			 * default */
};

/* Kinds: a thread may hold one biased lock of each. */
#define STR_HOLD_P 0 /* plock */
#define STR_HOLD_C 1 /* clock */

bool str_hlock_slow(struct str_hlock *l) STR_COLD;
void str_hunlock_slow(struct str_hlock *l) STR_COLD;

/* str_hlock - take @l.  Return: true when its last owner died holding it. */
STR_INLINE bool
str_hlock(struct str_hlock *l, unsigned kind)
{
	struct str_thread *t = host_self();

	if (str_likely(str_load(&l->bias) == host_self_tag() &&
		str_load(&t->hold[kind]) == 0)) {
		str_store(&t->hold[kind], (uint64_t)(uintptr_t)l);
		host_fence_light(); /* pairs with the revoker's heavy one */
		if (str_likely(str_load_acq(&l->bias) == host_self_tag()))
			return false;
		str_store_rel(&t->hold[kind], (uint64_t)0);
	}
	return str_hlock_slow(l);
}

STR_INLINE void
str_hunlock(struct str_hlock *l, unsigned kind)
{
	struct str_thread *t = host_self();

	if (str_likely(str_load(&t->hold[kind]) == (uint64_t)(uintptr_t)l)) {
		str_store_rel(&t->hold[kind], (uint64_t)0);
		host_fence_light();
		if (str_unlikely(str_load(&l->lk.waiters) != 0))
			str_hunlock_slow(l);
		return;
	}
	str_unlock(&l->lk);
}

/* Take @l if it has no owner; a biased one counts as owned. */
STR_INLINE bool
str_htrylock(struct str_hlock *l)
{
	if (str_load(&l->bias) != 0)
		return false;
	if (!str_trylock(&l->lk))
		return false;
	if (str_load(&l->bias) == 0)
		return true;
	str_unlock(&l->lk);
	return false;
}

/*
 * str_htrylock_hard - the same, but it revokes the bias of a thread that does
 * not hold the lock, and takes the lock over from a dead owner.  Never waits.
 * *ret_died: its last owner died holding it; valid if the lock was taken.
 */
bool str_htrylock_hard(struct str_hlock *l, bool *ret_died) STR_COLD;

#endif
