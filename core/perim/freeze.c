/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * freezestr: no other thread changes the queues of a stream.
 *
 * The thread that freezes a stream claims it, names itself in `frozen' and
 * marks every queue, each under its lock.  From then on putq(), getq() and
 * their family wait in str_queue_frozen() unless they are called by that
 * thread.  It may look at q_first and the like, and use insq(), rmvq(),
 * strqget() and strqset(); it must not put messages.
 *
 * A thread waits for a while only: a module that never thaws its stream
 * stops no thread for good.  The head's log (struct str_headq) is no queue and
 * is not frozen.
 *
 * Failure.  A thread that waits for a dead one thaws the stream for it.
 */
#include "core.h"
#include <sys/ddi.h>

#define POLL_NS 1000000u
#define PATIENCE_NS 1000000000u

static void
mark(queue_t *q, bool on)
{
	(void)(str_lock(&q->q_klock) && str_queue_repair(q));
	if (on)
		str_qset(q, QFROZEN);
	else
		str_qclr(q, QFROZEN);
	str_unlock(&q->q_klock);
}

static void
mark_pair(struct str_qpair *qp, bool on)
{
	mark(&qp->rq, on);
	mark(&qp->wq, on);
}

/* Every queue of the stream, its heads' as well. */
static void
mark_all(struct str_plumb *pl, bool on)
{
	queue_t *q;
	unsigned e;

	for (e = 0; e < pl->nheads; e++)
		if (pl->head[e].qp != NULL)
			mark_pair(pl->head[e].qp, on);
	q = &pl->head[0].qp->wq;
	if (pl->under != NULL) {
		mark_pair(pl->under->qp, on);
		q = &pl->under->qp->wq;
	}
	for (q = q->q_next; q != NULL && q->q_head == NULL &&
		q->q_pair->plumb == pl; q = q->q_next)
		mark_pair(q->q_pair, on);
}

static void
thaw(struct str_plumb *pl)
{
	mark_all(pl, false);
	str_store_rel(&pl->frozen, 0u);
	(void)host_wake(&pl->frozen, INT_MAX);
}

/* str_freeze - what freezestr(D3) does, but for the priority level */
void
str_freeze(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	uint32_t me = host_self_tag(), v;

	while (!str_claim_try(pl))
		host_yield(); /* its links are being changed: a moment */
	while (!((v = str_load(&pl->frozen)) == 0 || v == me ||
			host_owner_dead(v)) || !str_cas(&pl->frozen, v, me))
		(void)host_wait(NULL, &pl->frozen, v, POLL_NS);
	mark_all(pl, true);
	STR_CRASH_POINT("freeze:frozen");
}

/* str_thaw - the end of it, by the thread that froze the stream */
void
str_thaw(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;

	if (str_load(&pl->frozen) != host_self_tag())
		return;
	thaw(pl);
	str_unclaim(pl);
}

/* str_queue_frozen - wait until @q's stream is thawed; no lock is held. */
void
str_queue_frozen(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	uint64_t end = host_now() + PATIENCE_NS;
	uint32_t me = host_self_tag(), v;

	while ((v = str_load(&pl->frozen)) != 0 && v != me) {
		if (host_owner_dead(v)) {
			if (str_cas(&pl->frozen, v, me))
				thaw(pl);
			return;
		}
		if (host_now() >= end)
			return;
		(void)host_wait(NULL, &pl->frozen, v, POLL_NS);
	}
}

/* str_queue_thawed - may this thread go on?  Locks: q_klock. */
bool
str_queue_thawed(queue_t *q)
{
	uint32_t v = str_load(&q->q_pair->plumb->frozen);

	return v == 0 || v == host_self_tag();
}
