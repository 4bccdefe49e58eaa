/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The slow sides of owner-named locks; lock.h has the theory.
 */
#include "core.h"

#define SPINS 200
#define WAIT_NS 1000000u	/* then check whether the owner lives */
#define SHORT_WAITS 8	/* later waits are ten times as long */
#define OTHERS_MS 10	/* time after which the other waiters check */

/*
 * Only the first of the waiters checks whether the owner lives: with many
 * waiters the checks, of several system calls each, would take the CPU from the
 * owner.  The others check later, because the first one may be stopped or dead.
 * Time decides, because wakes and signals may end each wait early.
 */
bool
str_lock_slow(struct str_lock *l)
{
	uint32_t me = host_self_tag(), owner = 0, first = 0;
	uint64_t since = 0;
	unsigned round;

	for (round = 0; round < SPINS; round++) {
		if (str_load(&l->owner) == 0 && str_cas(&l->owner, 0u, me))
			return false;
		str_cpu_relax();
	}
	for (round = 0;; round++) {
		uint32_t v = str_load(&l->owner);

		if (v == 0) {
			if (str_cas(&l->owner, 0u, me))
				return false;
			continue;
		}
		if (v != owner) {
			owner = v;
			since = host_ticks();
		}
		if (str_xchg(&l->waiters, 1u) == 0)
			first = v; /* of the waiters for this owner */
		host_fence_heavy();
		if (str_load(&l->owner) != v)
			continue;
		(void)host_wait(NULL, (str_a32 *)&l->owner, v,
			round < SHORT_WAITS ? WAIT_NS : 10 * WAIT_NS);
		if (str_load(&l->owner) != v || host_ticks() - since <
			(first == v ? 1 : OTHERS_MS) * host_ticks_per_ms)
			continue;
		since = host_ticks();
		if (host_owner_dead(v) && str_cas(&l->owner, v, me))
			return true;
	}
}

/*
 * str_owner_wait - sleep while *@owner, which names a thread, is @v
 * @hc: the call, whose signals are handled; NULL: none are
 * @ns: limit; a signal may be delayed as long
 * host_wait() increments the word it sleeps on when a handler ends the wait;
 * this must not be a word that names a thread, because it would then name
 * another one.
 */
void
str_owner_wait(struct host_call *hc, str_a32 *owner, uint32_t v, uint64_t ns)
{
	str_a32 nothing = 0;

	(void)host_wait(NULL, owner, v, ns);
	if (hc != NULL)
		(void)host_wait(hc, &nothing, 1u, 0);
}

/*
 * The flag is cleared before the wake.  A waiter that sets it again afterwards
 * does not sleep, because the owner word has changed; if the same owner has
 * taken the lock again, the waiter loses at most one wait, of WAIT_NS or ten
 * times as long.
 */
void
str_unlock_slow(struct str_lock *l)
{
	str_store(&l->waiters, 0u);
	host_wake((str_a32 *)&l->owner, INT_MAX);
}

/* ------------------------------------------------------------ biased ones */

#define BIAS_FIRST 1u	 /* limit of a lock whose bias was never revoked */
#define BIAS_LEAST 16u	 /* least limit after a revocation */
#define BIAS_WORTH 4u	 /* times as long as the fence */
#define BIAS_MOST 65536u /* greatest limit: after so many no other uses it */

void
str_hunlock_slow(struct str_hlock *l)
{
	str_store(&l->lk.waiters, 0u);
	host_wake((str_a32 *)&l->lk.waiters, INT_MAX);
	host_wake((str_a32 *)&l->lk.owner, INT_MAX);
}

/* Does @t hold the lock by the bias? */
static bool
is_in(const struct str_hlock *l, const struct str_thread *t)
{
	uint64_t a = (uint64_t)(uintptr_t)l;

	return str_load_acq(&t->hold[STR_HOLD_P]) == a ||
		str_load_acq(&t->hold[STR_HOLD_C]) == a;
}

/*
 * Wait until thread @b, which had the bias, has released the lock.
 * Locks: lk, after a heavy fence.  Return: true: it has ended, perhaps inside.
 */
static bool
wait_out(struct str_hlock *l, uint32_t b)
{
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(b)];
	unsigned round;

	for (round = 0;; round++) {
		bool in = is_in(l, t);

		if (str_load(&t->tag) != b)
			return true; /* its slot has another owner now */
		if (!in)
			return false;
		if (round < SPINS) {
			str_cpu_relax();
			continue;
		}
		if (host_owner_dead(b))
			return true;
		str_store(&l->lk.waiters, 1u);
		host_fence_heavy();
		if (!is_in(l, t))
			continue;
		(void)host_wait(NULL, (str_a32 *)&l->lk.waiters, 1u, WAIT_NS);
	}
}

/* A clock for `run': some ten million ticks a second. */
static uint32_t
bias_clock(void)
{
	return (uint32_t)(host_ticks() >> 8);
}

/*
 * Clear the bias.  It was worth the fence, which costs a microsecond or twenty,
 * if it lasted BIAS_WORTH times as long, and at least 1/64 ms.
 */
static void
unbias(struct str_hlock *l)
{
	uint32_t limit = l->limit != 0 ? l->limit : BIAS_FIRST;
	uint32_t end = bias_clock(), least;

	str_store(&l->bias, 0u);
	host_fence_heavy();
	least = BIAS_WORTH * (bias_clock() - end);
	least = STR_MAX(least, (uint32_t)(host_ticks_per_ms >> 8) / 64);
	if (end - l->run < least)
		l->limit = STR_MIN(2 * limit, BIAS_MOST);
	else
		l->limit = limit / 2;
	l->limit = STR_MAX(l->limit, BIAS_LEAST);
	l->run = 0;
}

/*
 * Revoke the bias of thread @b and wait until it has released the lock.
 * Locks: lk.  Return: true: it has ended, perhaps inside.
 */
static bool
revoke(struct str_hlock *l, uint32_t b)
{
	unbias(l);
	return wait_out(l, b);
}

/*
 * The last owner of lk died, and may have revoked a bias without waiting for
 * the biased thread.  Locks: lk.  Return: false: a thread holds the lock by its
 * bias, and @wait is false.
 */
static bool
expel(struct str_hlock *l, bool wait)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	str_store(&l->bias, 0u);
	host_fence_heavy();
	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t b = str_load(&t->tag);

		if (b == 0 || t == host_self() || !is_in(l, t))
			continue;
		if (wait)
			(void)wait_out(l, b);
		else if (!host_owner_dead(b))
			return false;
	}
	return true;
}

bool
str_htrylock_hard(struct str_hlock *l, bool *ret_died)
{
	uint32_t me = host_self_tag(), v = str_load(&l->lk.owner), b;
	struct str_thread *t;

	*ret_died = v != 0;
	if ((v != 0 && (v == me || !host_owner_dead(v))) ||
	    !str_cas(&l->lk.owner, v, me))
		return false;
	if (v != 0 && !expel(l, false)) {
		str_store_rel(&l->lk.owner, v); /* as it was */
		return false;
	}
	b = str_load(&l->bias);
	if (b == 0)
		return true;
	t = &host_domain->thread[STR_TAG_IDX(b)];
	unbias(l);
	*ret_died = *ret_died || str_load(&t->tag) != b ||
		(is_in(l, t) && host_owner_dead(b));
	if (*ret_died || !is_in(l, t))
		return true;
	l->run = bias_clock();
	str_store_rel(&l->bias, b); /* that thread holds the lock */
	str_unlock(&l->lk);
	return false;
}

bool
str_hlock_slow(struct str_hlock *l)
{
	uint32_t me = host_self_tag(), b;
	bool died = str_lock(&l->lk);

	if (str_unlikely(died))
		(void)expel(l, true);
	b = str_load(&l->bias);
	if (b != 0) {
		if (b == me) {
			str_store(&l->bias, 0u); /* this thread has lk */
			l->run = 0;
		} else {
			died = revoke(l, b) || died;
		}
	}
	if (l->last != me) {
		l->last = me;
		l->run = 0;
		return died;
	}
	if (++l->run >= (l->limit != 0 ? l->limit : BIAS_FIRST)) {
		l->run = bias_clock();
		str_store_rel(&l->bias, me);
	}
	return died;
}
