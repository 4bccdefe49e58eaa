/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * freezestr: no other thread changes the queues of a stream.
 *
 * The thread that freezes a stream claims it, names itself in `frozen' and
 * marks every queue, each under its lock.  From then on putq(), getq() and
 * related functions wait in str_queue_frozen() unless they are called by that
 * thread.  It may read q_first and similar fields, and use insq(), rmvq(),
 * strqget() and strqset(); it must not put messages.
 *
 * One store to `frozen' thaws the stream; the marks stay.  A mark only means
 * that `frozen' must be checked; after the thaw the next thread that locks the
 * queue clears it.  So a thread that thaws the stream need not walk along the
 * queues, for which it would need a claim.
 *
 * The wait is limited to one second: a module that never thaws its stream does
 * not stop other threads for ever.  The head's log (struct str_headq) is no
 * queue and is not frozen.
 *
 * Failure.  If the thread that froze the stream is dead, a waiting thread thaws
 * it.  The thaw needs no claim, because not every waiting thread has one: a
 * thread that frees the stream has none.
 */
#include "core.h"
#include <sys/ddi.h>

#define POLL_NS 1000000u
#define PATIENCE_NS 1000000000u

static void
mark(queue_t *q)
{
	(void)(str_lock(&q->q_klock) && str_queue_repair(q));
	str_qset(q, QFROZEN);
	str_unlock(&q->q_klock);
}

static void
mark_pair(struct str_qpair *qp)
{
	mark(&qp->rq);
	mark(&qp->wq);
}

/* Mark all queues of @pl, those of its heads included.  A claim is held. */
static void
mark_all(struct str_plumb *pl)
{
	queue_t *q;
	unsigned e;

	for (e = 0; e < pl->nheads; e++)
		if (pl->head[e].qp != NULL)
			mark_pair(pl->head[e].qp);
	q = &pl->head[0].qp->wq;
	if (pl->under != NULL) {
		mark_pair(pl->under->qp);
		q = &pl->under->qp->wq;
	}
	for (q = q->q_next; q != NULL && q->q_head == NULL &&
		q->q_pair->plumb == pl; q = q->q_next)
		mark_pair(q->q_pair);
}

/* Wait until the thread @v thaws @pl, for POLL_NS at most. */
static void
await(struct str_plumb *pl, uint32_t v)
{
	str_store(&pl->chilled, 1u);
	str_fence_full(); /* pairs with the one in thaw() */
	(void)host_wait(NULL, &pl->frozen, v, POLL_NS);
}

static void
thaw(struct str_plumb *pl)
{
	str_fence_full();
	if (str_unlikely(str_load(&pl->chilled) != 0) &&
	    str_xchg(&pl->chilled, 0u) != 0)
		(void)host_wake(&pl->frozen, INT_MAX);
}

/* str_freeze - freezestr(D3) without the priority level */
void
str_freeze(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	uint32_t me = host_self_tag(), v;

	while (!str_claim_try(pl))
		host_yield(); /* its links are being changed: wait a moment */
	while (!((v = str_load(&pl->frozen)) == 0 || v == me ||
			host_owner_dead(v)) || !str_cas(&pl->frozen, v, me))
		await(pl, v);
	mark_all(pl);
	STR_CRASH_POINT("freeze:frozen");
}

/* str_thaw - unfreezestr(D3); no effect unless this thread froze the stream.
 * Releases the claim that str_freeze() made. */
void
str_thaw(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;

	if (str_load(&pl->frozen) != host_self_tag())
		return;
	str_store_rel(&pl->frozen, 0u);
	thaw(pl);
	str_unclaim(pl);
}

/* str_queue_frozen - wait until @q's stream is thawed, for PATIENCE_NS at most;
 * returns at once in the thread that froze it.  No lock is held. */
void
str_queue_frozen(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	uint64_t end = host_now() + PATIENCE_NS;
	uint32_t me = host_self_tag(), v;

	while ((v = str_load(&pl->frozen)) != 0 && v != me) {
		if (host_owner_dead(v)) {
			if (str_cas(&pl->frozen, v, 0u))
				thaw(pl);
			return;
		}
		if (host_now() >= end)
			return;
		await(pl, v);
	}
}

/* str_queue_thawed - may this thread go on?  Locks: q_klock. */
bool
str_queue_thawed(queue_t *q)
{
	uint32_t v = str_load_acq(&q->q_pair->plumb->frozen);

	/* a thread that freezes the stream after this load waits for q_klock
	 * and then marks @q again */
	if (v == 0)
		str_qclr(q, QFROZEN);
	return v == 0 || v == host_self_tag();
}
