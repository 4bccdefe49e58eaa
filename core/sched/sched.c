/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The run queue: who runs service procedures, and when.
 *
 * Every pipe has its own run list, so that a stopped process stalls only the
 * streams it is inside.  One thread at a time runs it, the *runner*; others
 * do not wait for it but leave their queues on the list, and the runner looks
 * at the list once more after it has resigned.
 *
 * When.  Service procedures do not run when they are enabled.  A thread that
 * is about to block runs them first.  A thread that leaves the executive with
 * queues still enabled (str_sched_leave) leaves them to a runner that is
 * awake and committed; else wakes a sleeper of that stream and commits it;
 * else runs them itself.  A commitment is void after 10 ms.
 *
 * Failure.  A runner that dies leaves its tag behind.  After 10 ms whoever
 * passes asks whether it lives, takes its place, and enables every queue of
 * the stream: the one it was serving is among them.
 */
#include "core.h"

#define PASSES 64 /* before the runner lets others have a turn */

static void
lockr(struct str_plumb *pl)
{
	if (str_unlikely(str_lock(&pl->rlock)))
		str_sched_repair(pl);
}

static void
append(struct str_plumb *pl, queue_t *q)
{
	q->q_link = NULL;
	str_qset(q, QENAB);
	STR_CRASH_POINT("sched:marked");
	if (pl->run_last != NULL)
		pl->run_last->q_link = q;
	else
		pl->run_first = q;
	pl->run_last = q;
	str_store(&pl->nrun, str_load(&pl->nrun) + 1);
}

/* Every queue between the two heads, for @fn. */
static void
each_queue(struct str_plumb *pl, void (*fn)(struct str_plumb *, queue_t *))
{
	int end;

	for (end = 0; end < 2; end++) {
		queue_t *q = &pl->head[end].qp->wq;

		for (; q != NULL && q->q_head == NULL; q = q->q_next)
			fn(pl, q);
		for (q = q->q_next; q != NULL && q->q_head == NULL;
			q = q->q_next)
			fn(pl, q);
	}
}

static void
relist(struct str_plumb *pl, queue_t *q)
{
	if (q->q_flag & QENAB)
		append(pl, q);
}

/* The list's owner died: what is marked is what is enabled. */
void
str_sched_repair(struct str_plumb *pl)
{
	pl->run_first = pl->run_last = NULL;
	str_store(&pl->nrun, 0u);
	each_queue(pl, relist);
}

/* str_sched_enable - put @q on its stream's run list. */
void
str_sched_enable(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;

	if (q->q_qinfo == NULL || q->q_qinfo->qi_srvp == NULL ||
	    (q->q_flag & (QENAB | QPROCS)) != 0)
		return;
	lockr(pl);
	if ((q->q_flag & QENAB) == 0)
		append(pl, q);
	str_unlock(&pl->rlock);
}

static queue_t *
take(struct str_plumb *pl)
{
	queue_t *q;

	lockr(pl);
	q = pl->run_first;
	if (q != NULL) {
		pl->run_first = q->q_link;
		if (pl->run_first == NULL)
			pl->run_last = NULL;
		q->q_link = NULL;
		str_store(&pl->nrun, str_load(&pl->nrun) - 1);
		str_qclr(q, QENAB);
	}
	str_unlock(&pl->rlock);
	return q;
}

/* str_sched_remove - @q is about to be freed: off the list with it. */
void
str_sched_remove(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	queue_t *p, *prev = NULL;

	lockr(pl);
	for (p = pl->run_first; p != NULL; prev = p, p = p->q_link) {
		if (p != q)
			continue;
		if (prev != NULL)
			prev->q_link = q->q_link;
		else
			pl->run_first = q->q_link;
		if (pl->run_last == q)
			pl->run_last = prev;
		str_store(&pl->nrun, str_load(&pl->nrun) - 1);
		break;
	}
	str_qclr(q, QENAB);
	str_unlock(&pl->rlock);
}

static void
revive(struct str_plumb *pl, queue_t *q)
{
	(void)pl;
	str_perim_drain(q->q_pair);
	/* an empty one too: who died after the last getq() has not asked to be
	 * told of the next message (QWANTR) */
	str_sched_enable(q);
}

/* str_sched_revive - thread @dead died inside this stream. */
void
str_sched_revive(struct str_plumb *pl, uint32_t dead)
{
	if (str_load(&pl->runner) == dead)
		(void)str_cas(&pl->runner, dead, 0u);
	str_store(&pl->committed, 0u);
	(void)str_claim(pl);
	each_queue(pl, revive);
	str_unclaim(pl);
}

static bool
become_runner(struct str_plumb *pl)
{
	uint32_t me = host_self_tag(), v = str_load(&pl->runner);

	if (v == 0) {
		if (!str_cas(&pl->runner, 0u, me))
			return false;
		str_store(&pl->runner_at, host_ticks());
		return true;
	}
	if (v == me)
		return false;
	str_fence_full(); /* nrun before runner; pairs with str_sched_run() */
	v = str_load(&pl->runner);
	if (v == 0)
		return become_runner(pl);
	if (host_ticks() - str_load(&pl->runner_at) <
			10 * host_ticks_per_ms || !host_owner_dead(v) ||
	    !str_cas(&pl->runner, v, me))
		return false;
	str_store(&pl->runner_at, host_ticks());
	each_queue(pl, revive);
	return true;
}

/*
 * str_sched_run - run the stream's enabled queues
 * @pl: the stream; the caller holds a claim on it
 *
 * Return: true when a service procedure ran.
 */
bool
str_sched_run(struct str_plumb *pl)
{
	bool ran = false;
	unsigned n;

	while (str_load(&pl->nrun) != 0) {
		queue_t *q;

		if (!become_runner(pl))
			return ran;
		str_store(&pl->committed, 0u);
		for (n = 0; n < PASSES && (q = take(pl)) != NULL; n++) {
			STR_CRASH_POINT("sched:taken");
			str_perim_service(q);
			ran = true;
		}
		str_store_rel(&pl->runner, 0u);
		str_fence_full(); /* who enabled meanwhile saw us running */
	}
	return ran;
}

/*
 * str_sched_leave - the end of a call that may have enabled queues
 * @sd: the head the call was made on; a claim is held
 */
void
str_sched_leave(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;
	uint32_t c;

	if (str_likely(str_load(&pl->nrun) == 0))
		return;
	if (str_unlikely(str_load(&host_domain->eager) != 0)) {
		(void)str_sched_run(pl);
		return;
	}
	/* (1) a committed runner on its way */
	c = str_load(&pl->committed);
	if (c != 0 && host_ticks() - str_load(&pl->committed_at) <
			10 * host_ticks_per_ms) {
		str_fence_full(); /* pairs with str_sched_run_head() */
		if (str_load(&pl->committed) == c)
			return;
	}
	/* (2) a reader asleep at the other end: it runs them as it wakes */
	if ((str_load(&sd->peer->hq.rwant) & STR_WANT_FUTEX) != 0) {
		str_store(&pl->committed_at, host_ticks());
		str_store(&pl->committed, host_self_tag());
		if (str_wake_readers(sd->peer) > 0)
			return;
		str_store(&pl->committed, 0u); /* the bit of a dead one */
	}
	/* (3) nobody else */
	(void)str_sched_run(pl);
}

/* SVR4 qenable(D3): whatever noenable() said. */
void
qenable(queue_t *q)
{
	str_sched_enable(q);
}

/* enable unless disabled; 1 when enabled */
int
enableq(queue_t *q)
{
	if (q->q_flag & QNOENB)
		return 0;
	str_sched_enable(q);
	return 1;
}

/* Is anything on a run list of a stream this thread is inside? */
int
qready(void)
{
	struct str_thread *t = host_self();
	unsigned i;

	for (i = 0; i < STR_NCLAIM; i++) {
		struct str_plumb *pl = (struct str_plumb *)(uintptr_t)
			str_load(&t->claim[i]);

		if (pl != NULL && str_load(&pl->nrun) != 0)
			return 1;
	}
	return 0;
}
