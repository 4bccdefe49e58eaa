/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Claims exclude put and service procedures from changes of plumbing.
 *
 * Protocol.  A thread that is about to follow q_next publishes the stream in
 * its own slot (a plain store and a light fence) and then checks whether there
 * is a plumber; if so it withdraws and waits.  The plumber takes the stream by
 * compare-and-swap, executes the heavy fence, and waits until no live thread's
 * slot names the stream (models/claim.pml).  So claiming costs two stores, and
 * a dead thread's claim is void by its generation.
 *
 * Nesting.  Claims form a stack, because a put procedure may pass a message to
 * another stream; host_tls.nclaim is its height.  Only a call's claim on its
 * own stream waits.  A claim made by put() and similar functions does not wait,
 * because that could deadlock: this thread's first claim delays the plumber of
 * its own stream, and another thread, for whose claim the plumber of the second
 * stream waits, may wait for that plumber; or this thread has no claim (in an
 * open procedure or a callback), but is inside a perimeter, which others need.
 * If there is a plumber, the claim is given up, and the message or back-enable
 * is left on the stream's late list (core/sched/sched.c).  A stream that this
 * thread has already claimed is not checked again. host_tls.at is the stream
 * whose queues are being processed.  It is always claimed; put() and similar
 * functions compare only this word.
 *
 * A claimed stream is not freed (str_stream_free() examines claims), so
 * str_claim_stream() may examine an address that was a stream once.
 *
 * A write to a pipe without modules needs no claim: the writer holds the
 * producer lock of the peer's head queue, which the plumber also takes to
 * change `direct'.
 */
#include "core.h"

#define POLL_NS 1000000u

static void
publish(struct str_plumb *pl, uint32_t n)
{
	str_store(&host_self()->claim[n], (uint64_t)(uintptr_t)pl);
	host_fence_light(); /* pairs with the plumber's heavy one */
}

STR_INLINE void
granted(struct str_plumb *pl, uint32_t n)
{
	host_tls.nclaim = n + 1;
	host_tls.at = pl;
}

static bool
is_held(struct str_plumb *pl)
{
	struct str_thread *t = host_self();
	uint32_t n = host_tls.nclaim;

	while (n-- > 0)
		if (str_load(&t->claim[n]) == (uint64_t)(uintptr_t)pl)
			return true;
	return false;
}

/*
 * str_plumber_wake - this thread has released a claim on @pl: wake the plumber,
 * which may sleep, or be about to sleep, because of that claim
 * If this thread's call is not on @pl, the stream may have been freed since.
 * Then the word is not changed, and only a futex wake is sent, which does no
 * harm.  A plumber that misses it looks again after POLL_NS.
 */
STR_NOINLINE void
str_plumber_wake(struct str_plumb *pl)
{
	uint64_t in = str_load(&host_self()->inside);

	if (in == (uint64_t)(uintptr_t)&pl->head[0] ||
	    in == (uint64_t)(uintptr_t)&pl->head[1])
		(void)str_add(&pl->pword, 1u);
	(void)host_wake(&pl->pword, INT_MAX);
}

static void
withdraw(struct str_plumb *pl, uint32_t n)
{
	str_store_rel(&host_self()->claim[n], (uint64_t)0);
	str_plumber_wake(pl);
}

static STR_NOINLINE int
claim_slow(struct str_plumb *pl)
{
	uint32_t n = host_tls.nclaim, v;

	STR_VERIFY(n < STR_NCLAIM);
	if (n > 0 && is_held(pl)) {
		publish(pl, n);
		granted(pl, n);
		return 0;
	}
	STR_ASSERT(n == 0);
	for (;;) {
		publish(pl, n);
		v = str_load_acq(&pl->plumber.owner);
		if (v == 0 || v == host_self_tag()) {
			granted(pl, n);
			return 0;
		}
		withdraw(pl, n);
		str_store(&pl->plumber.waiters, 1u);
		host_fence_heavy();
		if (str_load(&pl->plumber.owner) != v)
			continue;
		(void)host_wait(NULL, (str_a32 *)&pl->plumber.owner, v,
			10 * POLL_NS);
		if (str_load(&pl->plumber.owner) == v && host_owner_dead(v)) {
			str_plumb_lock(pl);
			str_plumb_unlock(pl);
		}
	}
}

/*
 * str_claim - exclude the plumber from @pl; waits for a present one
 * @pl: a stream that cannot be freed meanwhile; the caller holds no claim
 * except on @pl itself, and no lock that the plumber may need
 * Return: 0.
 */
STR_HOT int
str_claim(struct str_plumb *pl)
{
	if (str_likely(host_tls.nclaim == 0)) {
		uint32_t v;

		publish(pl, 0);
		v = str_load_acq(&pl->plumber.owner);
		if (str_likely(v == 0)) {
			granted(pl, 0);
			return 0;
		}
	}
	return claim_slow(pl);
}

bool
str_claim_try(struct str_plumb *pl)
{
	uint32_t n = host_tls.nclaim, v;

	if (n >= STR_NCLAIM)
		return false;
	publish(pl, n);
	v = str_load_acq(&pl->plumber.owner);
	if (str_unlikely(v != 0 && v != host_self_tag()) && !is_held(pl)) {
		withdraw(pl, n);
		return false;
	}
	granted(pl, n);
	return true;
}

bool
str_claim_stream(struct str_plumb *pl)
{
	uint32_t n = host_tls.nclaim, v;

	if (n >= STR_NCLAIM)
		return false;
	publish(pl, n); /* pairs with the heavy fence of is_inside() */
	if (!str_stream_lives(pl)) {
		str_store_rel(&host_self()->claim[n], (uint64_t)0);
		return false;
	}
	v = str_load_acq(&pl->plumber.owner);
	if (v != 0 && v != host_self_tag() && !is_held(pl)) {
		withdraw(pl, n);
		return false;
	}
	granted(pl, n);
	return true;
}

/*
 * Not the topmost claim: leave a hole, which is removed with the claim above.
 */
static STR_NOINLINE void
unclaim_below(struct str_plumb *pl, uint32_t n)
{
	struct str_thread *t = host_self();

	while (n-- > 0) {
		if (str_load(&t->claim[n]) != (uint64_t)(uintptr_t)pl)
			continue;
		str_store_rel(&t->claim[n], (uint64_t)0);
		return;
	}
	STR_VERIFY(false && "a claim that is not held");
}

STR_HOT void
str_unclaim(struct str_plumb *pl)
{
	struct str_thread *t = host_self();
	uint32_t n = host_tls.nclaim - 1;

	STR_ASSERT(n < STR_NCLAIM);
	if (str_unlikely(str_load(&t->claim[n]) != (uint64_t)(uintptr_t)pl)) {
		unclaim_below(pl, n);
		return;
	}
	str_store_rel(&t->claim[n], (uint64_t)0);
	while (str_unlikely(n > 0) && str_load(&t->claim[n - 1]) == 0)
		n--;
	host_tls.nclaim = n;
	host_tls.at = n == 0 ? NULL :
		(struct str_plumb *)(uintptr_t)str_load(&t->claim[n - 1]);
	host_fence_light();
	if (str_unlikely(str_load(&pl->plumber.owner) != 0))
		str_plumber_wake(pl);
	if (str_unlikely(host_tls.ntouch != 0) && n == 0)
		str_sched_touched();
}

/* str_unclaimed - the slow side of str_unclaim_first() */
void
str_unclaimed(struct str_plumb *pl)
{
	if (str_load(&pl->plumber.owner) != 0)
		str_plumber_wake(pl);
	str_sched_touched();
}

/*
 * str_far_enter - claim @pl, if this thread has not yet, to process one of its
 * queues
 * Return: STR_FAR_NO if there is a plumber, or no free entry; otherwise
 * str_far_leave() must follow, with the result and *@ret_was.
 */
int
str_far_enter(struct str_plumb *pl, struct str_plumb **ret_was)
{
	*ret_was = host_tls.at;
	if (is_held(pl)) {
		host_tls.at = pl;
		return STR_FAR_HELD;
	}
	return str_claim_try(pl) ? STR_FAR_CLAIMED : STR_FAR_NO;
}

void
str_far_leave(struct str_plumb *pl, int how, struct str_plumb *was)
{
	uint32_t busy = host_tls.busy;

	if (how == STR_FAR_CLAIMED) {
		/* this is the last claim: no other thread will run the list.
		 * Locks may be held here, so only note the stream; its list is
		 * run later */
		if (host_tls.nclaim == 1 && str_load(&pl->nrun) != 0)
			str_sched_touch(pl);
		host_tls.busy = 1;
		str_unclaim(pl);
		host_tls.busy = busy;
	}
	host_tls.at = was;
}

/* Has a thread other than this one claimed @pl? @whose: STR_CLAIM_*. */
static bool
claimed(struct str_domain *d, struct str_plumb *pl, uint32_t whose)
{
	uint32_t n = str_load(&d->thread_high), i, k;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t tag = str_load_acq(&t->tag); /* 0: it has ended */

		if (tag == 0 || t == host_self())
			continue;
		for (k = 0; k < STR_NCLAIM; k++)
			if (str_load_acq(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl &&
			    ((host_owner_dead(tag) ? STR_CLAIM_DEAD :
						     STR_CLAIM_LIVING) &
				    whose) != 0)
				return true;
	}
	return false;
}

/* str_plumb_claimed - has a thread other than this one claimed @pl?
 * @whose: STR_CLAIM_* */
bool
str_plumb_claimed(struct str_plumb *pl, uint32_t whose)
{
	host_fence_heavy(); /* pairs with publish() */
	return claimed(host_domain, pl, whose);
}

/* str_plumb_claimed_dead - has a thread that was killed, and is not reaped yet,
 * claimed @pl? */
bool
str_plumb_claimed_dead(struct str_plumb *pl)
{
	return claimed(host_domain, pl, STR_CLAIM_DEAD);
}

/*
 * str_plumb_claimed_since - the same, mostly without the heavy fence
 * For a caller that has executed a heavy fence, and found later that a message
 * is no longer in its place.  The caller asks whether the thread that took the
 * message has a claim.  That thread stored its claim before it took the
 * message.  On a processor that keeps the order of stores, a thread that sees
 * the second store sees the first one.
 */
bool
str_plumb_claimed_since(struct str_plumb *pl, uint32_t whose)
{
	if (STR_STORES_IN_ORDER)
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	else
		host_fence_heavy();
	return claimed(host_domain, pl, whose);
}

/* Return @q if it is between the heads of @pl and, with @down, a write queue;
 * else NULL. */
static queue_t *
between(struct str_plumb *pl, queue_t *q, bool down)
{
	return q == NULL || q->q_head != NULL || q->q_pair->plumb != pl ||
		(down && (str_load(&q->q_flag) & QREADR) != 0) ? NULL : q;
}

/*
 * str_plumb_holds - are messages in the pairs of @pl that are reached from @q?
 * @whose: 0: on backlogs of perimeters, as far as the next head.  Locks: the
 * plumber's.  Otherwise, for a close: on backlogs, which are processed first, on
 * queues, or held by threads with a claim, STR_CLAIM_*; as far as the driver.
 * Locks: a claim.
 * A message is held by a thread, which has a claim, then is on a pair's backlog,
 * is held by a thread again, then is on its queue, and so on downward.  They are
 * examined in this order, so that a message cannot move from a place not yet
 * examined to one already examined.
 */
bool
str_plumb_holds(struct str_plumb *pl, queue_t *q, uint32_t whose)
{
	bool yes;

	q = between(pl, q, whose != 0);
	yes = q != NULL && whose != 0 && str_plumb_claimed(pl, whose);
	for (; q != NULL && !yes; q = between(pl, q->q_next, whose != 0)) {
		yes = str_perim_holds(q->q_pair);
		if (whose == 0)
			continue;
		if (yes) {
			str_perim_drain(q->q_pair);
			yes = str_perim_holds(q->q_pair);
		}
		yes = yes || str_plumb_claimed_since(pl, whose) ||
			(str_load(&q->q_count) != 0 &&
				str_load(&q->q_first) != NULL) ||
			str_plumb_claimed_since(pl, whose);
	}
	return yes;
}

/*
 * str_plumb_lock - exclude all other threads from the stream's plumbing
 * @pl: the stream; the caller holds no claim, and no lock except those that
 * docs/locking.md ranks before the plumber, and in an open or close procedure
 * its perimeter
 */
void
str_plumb_lock(struct str_plumb *pl)
{
	bool died = str_lock(&pl->plumber);

	host_fence_heavy();
	for (;;) {
		uint32_t w = str_load_acq(&pl->pword);

		if (!claimed(host_domain, pl, STR_CLAIM_LIVING)) {
			/*
			 * this thread is the plumber, possibly in place of a
			 * dead one
			 */
			if (died)
				str_plumb_repair(pl);
			return;
		}
		(void)host_wait(NULL, &pl->pword, w, POLL_NS);
	}
}

/*
 * str_plumb_lock_soon - the same, but wait for @ms at most, because a process
 * may be stopped
 * Return: false: there is still another plumber, or a living thread with a
 * claim.  If the plumber had died, the lock still names it, so that the next
 * owner repairs the stream.
 */
bool
str_plumb_lock_soon(struct str_plumb *pl, unsigned ms)
{
	uint32_t v;

	for (;; ms--) {
		v = str_load(&pl->plumber.owner);
		if ((v == 0 || host_owner_dead(v)) &&
		    str_cas(&pl->plumber.owner, v, host_self_tag()))
			break;
		if (ms == 0)
			return false;
		(void)host_wait(NULL, (str_a32 *)&pl->plumber.owner, v,
			POLL_NS);
	}
	host_fence_heavy();
	for (;; ms--) {
		uint32_t w = str_load_acq(&pl->pword);

		if (!claimed(host_domain, pl, STR_CLAIM_LIVING))
			break;
		if (ms == 0) {
			if (v != 0)
				str_store_rel(&pl->plumber.owner, v);
			else
				str_plumb_unlock(pl);
			return false;
		}
		(void)host_wait(NULL, &pl->pword, w, POLL_NS);
	}
	if (v != 0)
		str_plumb_repair(pl);
	return true;
}

/*
 * str_plumb_unlock - release the plumber's lock, and run the late list, or
 * leave it to the release of this thread's last claim
 * A thread that gets no claim puts its message on the late list first, and
 * tests `plumber' afterwards.  This thread releases `plumber' first, and tests
 * the list afterwards.  So one of the two finds the message.
 */
void
str_plumb_unlock(struct str_plumb *pl)
{
	str_unlock(&pl->plumber);
	str_fence_full(); /* pairs with the one in str_sched_late() */
	if (str_likely(str_load(&pl->late) == 0))
		return;
	STR_CRASH_POINT("plumb:late");
	if (host_tls.nclaim != 0) {
		str_sched_touch(pl);
		return;
	}
	(void)str_claim(pl);
	(void)str_sched_run(pl);
	str_unclaim(pl);
}

/*
 * str_plumb_barrier - wait until no thread uses a q_next that it loaded before
 * this call
 * Returns at once if this thread is the plumber, because no other thread is
 * inside.  It also does so, without this result, if this thread has a claim on
 * @pl, because then it must not wait.
 */
void
str_plumb_barrier(struct str_plumb *pl)
{
	if (str_load(&pl->plumber.owner) == host_self_tag() || is_held(pl))
		return;
	str_plumb_lock(pl);
	str_plumb_unlock(pl);
}
