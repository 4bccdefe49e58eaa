/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The end of file of a pipe or FIFO with modules.
 *
 * The writers are gone and the reader's head queue is empty, but a message that
 * they wrote may still come.  It is on a queue that is enabled, on the backlog
 * of a perimeter, or held by a thread that runs a put or service procedure.
 * Such a thread has a claim.  The reader takes the plumber's lock, under which
 * no other living thread has a claim, and examines the stream.
 *
 * Waiting.  The thread with the claim may be stopped.  So the reader waits
 * without a lock and without a claim, and looks again after at most LOOK_NS: a
 * signal ends the wait, and the other users of the stream are not delayed.
 *
 * Failure.  The message that a killed thread held is put back by its reaper.
 * The reader reaps the thread itself, or waits until another thread has done so;
 * at most REAPED_NS, because a reaper may wait for a process that is stopped.
 */
#include "core.h"
#include "sleep.h"

#define FIRST_NS 16000u	 /* the first wait; each is twice as long as the last, */
#define LOOK_NS 1000000u /* up to this one */

/* Has a killed thread a claim, and is its reaper to be waited for? */
static bool
awaits_reaper(struct str_plumb *pl, struct str_transit *tr)
{
	uint64_t now;

	if (!str_plumb_claimed_dead(pl))
		return false;
	now = host_now();
	if (tr->reaped == 0)
		tr->reaped = now + STR_REAPED_NS;
	return now < tr->reaped;
}

/*
 * Examine the stream; no message moves meanwhile.
 * Return: false: no message is on its way.
 */
static bool
examine(struct str_plumb *pl, struct str_transit *tr, bool *ret_held)
{
	bool yes;
	unsigned e;

	/* a claim that is made after this look is refused, or awaited, below */
	if (str_plumb_claimed_since(pl, STR_CLAIM_LIVING) ||
	    !str_plumb_lock_soon(pl, 1))
		return true;
	/* first: what a reaper puts back is then found below */
	yes = awaits_reaper(pl, tr);
	for (e = 0; e < pl->nheads && !*ret_held; e++)
		*ret_held = str_plumb_holds(pl, pl->head[e].qp->wq.q_next, 0);
	yes = yes || *ret_held || str_load(&pl->nrun) != 0;
	str_plumb_unlock(pl);
	return yes;
}

/* Begin the work that waits in the stream.  Return: did any queue run? */
static bool
begin_work(struct str_plumb *pl, struct host_call *hc, bool held)
{
	struct host_call *old = host_tls.call;
	bool ran;

	if ((!held && str_load(&pl->nrun) == 0) || !str_claim_try(pl))
		return false;
	host_tls.call = hc;
	if (held)
		str_sched_late_flag(pl, STR_LATE_DRAIN);
	ran = str_sched_run(pl);
	host_tls.call = old;
	str_unclaim(pl);
	return ran;
}

int
str_head_transit(struct str_head *sd, struct host_call *hc,
	struct str_transit *tr)
{
	struct str_plumb *pl = sd->plumb;
	uint32_t f = str_load(&sd->flags), w = str_load(&sd->hq.rword);
	uint32_t seq = host_tls.sig_seq;
	uint64_t sid = pl->sid, ns;
	bool held = false;
	int err;

	if (str_likely((f & STR_H_MODS) == 0) || (f & STR_H_DEV) != 0 ||
	    (f & (STR_H_PEER | STR_H_NOWR)) == 0 || host_tls.nclaim != 0)
		return 0;
	if (str_plumb_claimed_dead(pl))
		str_stage_dead(pl);
	if (!examine(pl, tr, &held))
		return 0;
	/* a backlog may wait for a thread that cannot be awaited in a claim */
	if (begin_work(pl, hc, held) && !held)
		return EAGAIN;
	ns = (uint64_t)FIRST_NS << tr->waits;
	if (ns < LOOK_NS)
		tr->waits++;
	(void)host_wait(hc, &sd->hq.rword, w, STR_MIN(ns, (uint64_t)LOOK_NS));
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	err = str_signalled(hc);
	return err != 0 ? err : EAGAIN;
}
