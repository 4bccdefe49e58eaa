/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The outer perimeter of a module, and procedures that wait for one.
 *
 * A module with D_MTOUTPERIM is entered through its queue pairs' perimeters;
 * threads in these share the outer perimeter.  There are no
 * counts, which could be wrong after a death: a thread that needs exclusive
 * access closes the outer perimeter and then checks whether all pairs are
 * empty.
 *
 * It is closed while a thread has exclusive access (`owner'), or jobs wait.  A
 * thread that enters a pair stores its tag there, then tests whether the outer
 * perimeter is closed; a thread that needs exclusive access closes it, then
 * examines the pairs.  So at least one of the two sees the other.  A thread
 * that finds it closed leaves the pair again and puts its message on the pair's
 * backlog.
 *
 * Jobs, the procedures given to qwriter(PERIM_OUTER), are run by the thread
 * that finds all pairs empty: the last one to leave, or the one that brings a
 * job when no thread is inside.  This thread then handles
 * the pairs' deferred work.
 *
 * Locks. `lock' covers the two lists; inside it only rlock is taken, and a
 * claim is tried.
 *
 * Failure.  A dead owner is replaced.  The job it was running is lost, like the
 * message of a put procedure.
 */
#include "perim.h"

#define POLL_NS 1000000u
#define TRIES 1000

/* str_outer_lock - lock the list of jobs, and repair it if necessary */
void
str_outer_lock(struct str_outer *o)
{
	mblk_t *mp;

	if (str_likely(!str_lock(&o->lock)))
		return;
	for (mp = o->job_first; mp != NULL && mp->b_next != NULL;
		mp = mp->b_next)
		;
	o->job_last = mp;
}

static bool
has_jobs(const struct str_outer *o)
{
	return *(mblk_t *const volatile *)&o->job_first != NULL;
}

static bool
is_closed(struct str_outer *o)
{
	return str_load(&o->owner) != 0 || has_jobs(o);
}

/* str_outer_closed - must a thread that has entered a pair leave it again? */
bool
str_outer_closed(struct str_outer *o)
{
	uint32_t v = str_load(&o->owner);

	if (v != 0 && v != host_self_tag() && host_owner_dead(v))
		(void)str_cas(&o->owner, v, 0u);
	return is_closed(o);
}

static bool
occupied(struct str_outer *o)
{
	struct str_qpair *qp;
	bool yes = false;

	str_outer_lock(o);
	for (qp = o->pairs; qp != NULL && !yes; qp = qp->sib) {
		uint32_t v = str_load(&qp->pair.inside);

		yes = v != 0 && (v == host_self_tag() || !host_owner_dead(v));
	}
	str_unlock(&o->lock);
	return yes;
}

/* Let the pairs' streams run the work that was deferred while it was closed. */
static void
reopen(struct str_outer *o)
{
	struct str_qpair *qp;

	str_outer_lock(o);
	for (qp = o->pairs; qp != NULL; qp = qp->sib)
		if (str_load(&qp->pair.bl_first) != NULL ||
			str_load(&qp->pair.sv_first) != NULL)
			str_sched_late_flag(qp->plumb, STR_LATE_DRAIN);
	str_unlock(&o->lock);
}

/* str_outer_holds - is there a job for one of @qp's queues? */
bool
str_outer_holds(struct str_qpair *qp)
{
	struct str_outer *o = qp->outer;
	bool yes = false;
	mblk_t *mp;

	if (!has_jobs(o))
		return false;
	str_outer_lock(o);
	for (mp = o->job_first; mp != NULL && !yes; mp = mp->b_next)
		yes = ((const struct str_job *)(const void *)mp->b_rptr)
			      ->q->q_pair == qp;
	str_unlock(&o->lock);
	return yes;
}

/*
 * Run the first job, with a claim on its stream.  If there is a plumber, put
 * the job on that stream's late list instead.  Return: false: there was no job.
 */
static bool
run_job(struct str_outer *o)
{
	struct str_plumb *pl = NULL, *was = host_tls.at;
	const struct str_job *job;
	int how = STR_FAR_HELD;
	mblk_t *mp;

	str_outer_lock(o);
	mp = o->job_first;
	if (mp != NULL) {
		job = (const struct str_job *)(const void *)mp->b_rptr;
		pl = job->q->q_pair->plumb;
		if (pl != was)
			how = str_far_enter(pl, &was);
		str_msg_own(mp);
		o->job_first = mp->b_next;
		if (o->job_first == NULL)
			o->job_last = NULL;
		mp->b_next = NULL;
		if (how == STR_FAR_NO) /* its plumber will run it later */
			str_sched_late(pl, job->q, mp,
				STR_MP_JOB | STR_MP_OUTER);
	}
	str_unlock(&o->lock);
	if (mp == NULL)
		return false;
	if (how == STR_FAR_NO)
		return true;
	mp->b_prev = NULL;
	STR_CRASH_POINT("perim:job");
	str_job_run(mp);
	if (pl != was)
		str_far_leave(pl, how, was);
	return true;
}

/*
 * str_outer_try - run the jobs, if no thread is inside any more, and wake the
 * threads that wait for exclusive access
 * Called by a thread that leaves a pair, or has just queued a job.
 */
void
str_outer_try(struct str_outer *o)
{
	if (str_load(&o->waiters) != 0) {
		str_store(&o->waiters, 0u);
		(void)host_wake(&o->owner, INT_MAX);
	}
	while (has_jobs(o)) {
		uint32_t v = str_load(&o->owner);

		if (v != 0 && (v == host_self_tag() || !host_owner_dead(v)))
			return; /* the owner checks when it leaves */
		if (!str_cas(&o->owner, v, host_self_tag()))
			continue;
		str_fence_full(); /* pairs with the one in enter_both() */
		if (!occupied(o)) {
			while (run_job(o))
				;
			str_outer_leave(o);
			return;
		}
		str_store_rel(&o->owner, 0u);
		str_fence_full();
		if (occupied(o))
			return; /* the last thread to leave calls this
				 * function */
	}
}

/* str_outer_job - queue @mp, a job. */
void
str_outer_job(struct str_outer *o, mblk_t *mp)
{
	mp->b_next = NULL;
	str_msg_own(mp);
	str_outer_lock(o);
	if (o->job_last != NULL)
		o->job_last->b_next = mp;
	else
		o->job_first = mp;
	o->job_last = mp;
	str_msg_disown(mp);
	str_unlock(&o->lock);
	str_fence_full();
	str_outer_try(o);
}

/*
 * str_outer_enter - wait until this thread has exclusive access to all pairs
 * Return: 0; EINTR: a signal of the call @hc came.  @hc NULL: no signal ends
 * the wait.
 */
int
str_outer_enter(struct str_qpair *qp, struct host_call *hc)
{
	struct str_outer *o = qp->outer;
	uint32_t me = host_self_tag(), v;

	if (str_load(&o->owner) == me)
		return 0;
	while (!(v = str_load(&o->owner), v == 0 || host_owner_dead(v)) ||
		!str_cas(&o->owner, v, me)) {
		str_store(&o->waiters, 1u);
		str_fence_full();
		if ((v = str_load(&o->owner)) != 0)
			str_owner_wait(hc, &o->owner, v, POLL_NS);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* otherwise the next wait returns at once */
	}
	str_fence_full(); /* pairs with the one in enter_both() */
	while (occupied(o)) {
		str_store(&o->waiters, 1u);
		str_fence_full();
		if (occupied(o))
			str_owner_wait(hc, &o->owner, me, POLL_NS);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR) {
			str_outer_leave(o);
			return EINTR;
		}
		host_resample(hc);
	}
	qp->excl = 1;
	return 0;
}

void
str_outer_leave(struct str_outer *o)
{
	str_store_rel(&o->owner, 0u);
	str_fence_full();
	if (str_load(&o->waiters) != 0 || has_jobs(o))
		str_outer_try(o);
	reopen(o);
}

void
str_outer_join(struct str_qpair *qp)
{
	struct str_outer *o = qp->outer;

	str_outer_lock(o);
	qp->sib = o->pairs;
	o->pairs = qp;
	str_unlock(&o->lock);
}

/* str_outer_part - @qp is about to be freed: remove it, and free its jobs. */
void
str_outer_part(struct str_qpair *qp)
{
	struct str_outer *o = qp->outer;
	mblk_t *mp, *prev = NULL, *gone = NULL;
	struct str_qpair **pp;

	str_outer_lock(o);
	for (pp = &o->pairs; *pp != NULL; pp = &(*pp)->sib)
		if (*pp == qp) {
			*pp = qp->sib;
			break;
		}
	for (mp = o->job_first; mp != NULL;) {
		const struct str_job *job =
			(const struct str_job *)(const void *)mp->b_rptr;
		mblk_t *next = mp->b_next;

		if (job->q->q_pair != qp) {
			prev = mp;
			mp = next;
			continue;
		}
		str_msg_own(mp);
		if (prev != NULL)
			prev->b_next = next;
		else
			o->job_first = next;
		if (next == NULL)
			o->job_last = prev;
		mp->b_next = gone;
		gone = mp;
		mp = next;
	}
	str_unlock(&o->lock);
	while ((mp = gone) != NULL) {
		gone = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
}

/* ------------------------------------------------------------------ jobs */

static mblk_t *
job_make(queue_t *q, void (*func)(void), bool plain, void *arg, mblk_t *mp)
{
	mblk_t *bp = NULL;
	struct str_job *job;
	unsigned n;
	void *code;

	for (n = 0; n < TRIES && (bp = allocb(sizeof(*job), BPRI_HI)) == NULL;
		n++)
		host_yield();
	if (bp == NULL)
		return NULL;
	if (mp != NULL && (mp = str_msg_unpin(mp)) == NULL) {
		freeb(bp);
		return NULL;
	}
	code = str_code_of(func);
	job = (struct str_job *)(void *)bp->b_rptr;
	job->q = q;
	job->func = code != NULL ? (void (*)(void))code : func;
	job->plain = plain;
	job->arg = arg;
	bp->b_wptr += sizeof(*job);
	bp->b_cont = mp;
	return bp;
}

/* str_job_run - call the procedure of job @bp, and free @bp.  The caller is
 * inside the perimeter, exclusively. */
void
str_job_run(mblk_t *bp)
{
	struct str_job job = *(const struct str_job *)(const void *)bp->b_rptr;
	mblk_t *mp = bp->b_cont;

	bp->b_cont = NULL;
	freeb(bp);
	if (!job.plain)
		((void (*)(queue_t *, mblk_t *))job.func)(job.q, mp);
	else
		((void (*)(void *, mblk_t *))job.func)(job.arg, mp);
}

/* str_perim_alone - is this thread inside @qp's perimeter, or does it have
 * exclusive access to the outer one? */
bool
str_perim_alone(struct str_qpair *qp)
{
	uint32_t me = host_self_tag();

	return (qp->pm != NULL && str_load(&qp->pm->inside) == me) ||
		(qp->outer != NULL && str_load(&qp->outer->owner) == me);
}

/* str_job_late - queue job @bp, from its stream's late list, again. */
void
str_job_late(mblk_t *bp, bool outer)
{
	const struct str_job *job =
		(const struct str_job *)(const void *)bp->b_rptr;
	struct str_qpair *qp = job->q->q_pair;

	if (outer && qp->outer != NULL)
		str_outer_job(qp->outer, bp);
	else
		str_perim_job(qp, bp);
}

/*
 * Solaris qwriter(9F): @func(@q, @mp) is called when this thread, or another
 * one, has exclusive access to the perimeter, perhaps before this function
 * returns.  Without an outer perimeter the inner one is meant; without that one
 * @func is called at once.
 */
void
qwriter(queue_t *q, mblk_t *mp, void (*func)(queue_t *q, mblk_t *mp),
	int perimeter)
{
	struct str_qpair *qp = q->q_pair;
	struct str_outer *o = perimeter == PERIM_OUTER ? qp->outer : NULL;
	mblk_t *bp;

	if (o != NULL ? str_load(&o->owner) == host_self_tag() :
			qp->pm == NULL || str_perim_alone(qp)) {
		func(q, mp);
		return;
	}
	bp = job_make(q, (void (*)(void))func, false, NULL, mp);
	if (bp == NULL) {
		freemsg(mp); /* no memory at all: the message is lost */
		return;
	}
	if (o != NULL)
		str_outer_job(o, bp);
	else
		str_perim_job(qp, bp);
}

/* HP-UX mps_become_writer(9): qwriter() for all instances of the module, if it
 * has an outer perimeter. */
void
mps_become_writer(queue_t *q, mblk_t *mp, void (*func)(queue_t *q, mblk_t *mp))
{
	qwriter(q, mp, func, PERIM_OUTER);
}

/* HP-UX streams_put(9): @func(@arg, @mp) inside @q's perimeter. */
void
streams_put(streams_put_t func, queue_t *q, mblk_t *mp, void *arg)
{
	struct str_qpair *qp = q->q_pair;
	mblk_t *bp;

	if (qp->pm == NULL || str_perim_alone(qp)) {
		func(arg, mp);
		return;
	}
	bp = job_make(q, (void (*)(void))func, true, arg, mp);
	if (bp == NULL)
		freemsg(mp);
	else
		str_perim_job(qp, bp);
}
