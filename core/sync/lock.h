/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Locks that name their owner.
 *
 * Life.  A free lock is zero; a taken one holds its owner's tag.  It is
 * released by a plain store: the holder then reads `waiters' behind a light
 * fence, the waiter has set `waiters' before its heavy one, so one of the
 * two sees the other (models/lock.pml).
 *
 * Failure.  A waiter sleeps at most 10 ms before it asks whether the owner
 * still lives.  If not, it takes the lock over and str_lock() returns true:
 * the structure may be half-changed and must be repaired first.
 */
#ifndef STR_LOCK_H
#define STR_LOCK_H

bool str_lock_slow(struct str_lock *l) STR_COLD;
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

#endif
