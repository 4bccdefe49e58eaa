/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Perimeters limit the number of threads in a module's procedures.
 *
 * Kinds.  A module registered D_MP has no perimeter and is called directly.  A
 * module with D_MTQPAIR, D_MTPERQ or D_MTOUTPERIM has a perimeter for each
 * queue pair (D_MTOUTPERIM: see outer.c).  A module with D_MTPERMOD has one
 * perimeter for all its instances, so that its static tables need no lock.  The
 * same holds for a module without any of these flags: it was written for one
 * processor.
 *
 * Entering.  Put and service procedures never wait: if any thread is inside,
 * even the caller itself, the message is left on the backlog, and the thread
 * inside takes it from there before it leaves.  So the order is kept and no put
 * procedure is entered recursively.  A service procedure that finds the
 * perimeter occupied is enabled again by the thread that leaves.  Open and
 * close procedures wait.  If a thread waits to call such a procedure, the
 * thread that leaves does not process the backlog: the waiting thread does so
 * when it leaves.  The thread that has left looks at the backlog again when its
 * own call ends (let_in()).  Callbacks (core/sched/timeout.c) are retried
 * later.
 *
 * Flow control.  For canput(), messages that wait for a queue count like
 * messages on it: a sender is refused above the queue's high water mark.  It is
 * back-enabled when the thread inside has taken so many messages from the
 * backlog that the count is not above the low water mark.
 *
 * Other streams.  The backlog of a module-wide perimeter has messages for
 * queues of several streams.  A thread that takes a message claims its stream
 * first, under the backlog's lock, so that the queue exists when its procedure
 * is called: str_perim_fini() removes the messages for a queue that is about to
 * be freed, and then waits for claims.
 *
 * Failure. `inside' names the thread.  A thread that finds it dead takes the
 * perimeter over; messages on the backlog are kept.
 */
#include <str/builtin.h>
#include "perim.h"
#include "msg/origin.h"

#define POLL_NS 1000000u
#define QWAIT_NS 10000000u /* longest sleep in qwait() until it looks again */

/* The backlog's lock; its last owner may have died between two stores. */
static void
lock_backlog(struct str_perim *pm)
{
	mblk_t *mp;

	if (str_likely(!str_lock(&pm->block)))
		return;
	for (mp = pm->bl_first; mp != NULL && mp->b_next != NULL;
		mp = mp->b_next)
		;
	pm->bl_last = mp;
}

static queue_t *
queue_of(const mblk_t *mp)
{
	return (queue_t *)((uintptr_t)mp->b_prev & ~(uintptr_t)STR_MP_BITS);
}

/* str_perim_backlog - call @fn for every message and job that waits at @qp's
 * perimeters; these may be for other pairs, too. */
void
str_perim_backlog(struct str_qpair *qp, void (*fn)(mblk_t *mp, uintptr_t arg),
	uintptr_t arg)
{
	struct str_perim *pm = qp->pm;
	mblk_t *mp;

	if (pm == NULL)
		return;
	lock_backlog(pm);
	for (mp = pm->bl_first; mp != NULL; mp = mp->b_next)
		fn(mp, arg);
	str_unlock(&pm->block);
	if (qp->outer == NULL)
		return;
	str_outer_lock(qp->outer);
	for (mp = qp->outer->job_first; mp != NULL; mp = mp->b_next)
		fn(mp, arg);
	str_unlock(&qp->outer->lock);
}

/* str_perim_holds - does a message, or a job, wait for one of @qp's queues? */
bool
str_perim_holds(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;
	bool yes = false;
	mblk_t *mp;

	if (pm != NULL && str_load(&pm->bl_first) != NULL) {
		lock_backlog(pm);
		for (mp = pm->bl_first; mp != NULL && !yes; mp = mp->b_next)
			yes = queue_of(mp)->q_pair == qp;
		str_unlock(&pm->block);
	}
	return yes || (qp->outer != NULL && str_outer_holds(qp));
}

/*
 * str_perim_idle - are the locks of @qp's backlog and jobs free within @ms
 * milliseconds?
 * @wait: tests this for the lock that is its argument
 */
bool
str_perim_idle(struct str_qpair *qp, unsigned ms,
	bool (*wait)(struct str_lock *l, unsigned ms))
{
	return (qp->pm == NULL || wait(&qp->pm->block, ms)) &&
		(qp->outer == NULL || wait(&qp->outer->lock, ms));
}

/* What @mp counts for canput(): its bytes and 1, so that a message without data
 * counts, too. */
static uint64_t
weight(mblk_t *mp)
{
	return msgsize(mp) + 1;
}

/* The number of bytes that wait for @q.  Locks: backlog's. */
static str_a64 *
waiting(queue_t *q)
{
	return &q->q_pair->blbytes[(str_load(&q->q_flag) & QREADR) ? 0 : 1];
}

static uint32_t
side(queue_t *q)
{
	return (str_load(&q->q_flag) & QREADR) ? 1 : 2;
}

/*
 * str_perim_full - do more bytes wait for @q at its perimeter than it may have?
 * If so, blwant records that canput() refuses.  The queue behind @q is
 * back-enabled when the bytes that wait are not above the low water mark
 * (lighter()).
 * Context: a claim on @q's stream is held.
 */
bool
str_perim_full(queue_t *q)
{
	struct str_perim *pm = q->q_pair->pm;
	bool full;

	lock_backlog(pm);
	full = pm->bl_first != NULL && str_load(waiting(q)) > str_queue_most(q);
	if (full)
		(void)str_or(&q->q_pair->blwant, side(q));
	str_unlock(&pm->block);
	return full;
}

/*
 * @mp, for @q, has been removed: subtract it.  Return: true if the queue behind
 * @q must be back-enabled.  If a thread was killed between the two steps, the
 * count is wrong until a message for @q leaves the backlog empty.  Locks:
 * backlog's.
 */
static bool
lighter(struct str_perim *pm, queue_t *q, mblk_t *mp)
{
	str_a64 *n = waiting(q);
	uint64_t w = weight(mp);

	*n = str_load(n) > w && pm->bl_first != NULL ? str_load(n) - w : 0;
	return str_load(n) <= q->q_lowat &&
		(str_load(&q->q_pair->blwant) & side(q)) != 0 &&
		(str_and(&q->q_pair->blwant, ~side(q)) & side(q)) != 0;
}

static void
backlog_link(struct str_perim *pm, queue_t *q, mblk_t *mp, unsigned bits,
	bool first)
{
	lock_backlog(pm);
	str_msg_hold(mp); /* as on a queue */
	mp->b_next = first ? pm->bl_first : NULL;
	mp->b_prev = (mblk_t *)((uintptr_t)q | bits);
	str_barrier();
	if (first || pm->bl_last == NULL)
		str_store(&pm->bl_first, mp);
	else
		pm->bl_last->b_next = mp;
	if (mp->b_next == NULL)
		pm->bl_last = mp;
	(void)str_add(waiting(q), weight(mp));
	STR_CRASH_POINT("perim:backlog");
	str_msg_disown(mp);
	str_unlock(&pm->block);
}

static void
backlog_append(struct str_perim *pm, queue_t *q, mblk_t *mp, unsigned bits)
{
	backlog_link(pm, q, mp, bits, false);
}

/* str_perim_return - put back a message that a dead thread had taken */
void
str_perim_return(queue_t *q, mblk_t *mp)
{
	backlog_link(q->q_pair->pm, q, mp, 0, true);
	str_sched_late_flag(q->q_pair->plumb, STR_LATE_DRAIN);
}

/* A message taken from the backlog, and the claim on its stream. */
struct taken {
	mblk_t *mp;
	queue_t *q;
	struct str_plumb *pl, *was;
	int how;
	unsigned bits;
	bool back; /* the queue behind q must be back-enabled */
};

/* Streams whose messages must stay, because they have a plumber. */
#define NSKIP 4
struct skip {
	struct str_plumb *pl[NSKIP];
	unsigned n;
};

static bool
skipped(const struct skip *s, const struct str_plumb *pl)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		if (s->pl[i] == pl)
			return true;
	return s->n == NSKIP;
}

/*
 * Take the first message whose stream can be claimed.  If a stream cannot be
 * claimed, all its messages stay on the backlog, in their order.  They are
 * taken later: by the stream's plumber, or by this thread at the end of its
 * call.
 */
static bool
backlog_take(struct str_perim *pm, struct skip *s, struct taken *t)
{
	mblk_t *mp, *prev = NULL;

	lock_backlog(pm);
	for (mp = pm->bl_first; mp != NULL; prev = mp, mp = mp->b_next) {
		t->q = queue_of(mp);
		t->pl = t->q->q_pair->plumb;
		t->was = host_tls.at;
		if (s->n != 0 && skipped(s, t->pl))
			continue;
		t->how = t->pl == t->was ? STR_FAR_HELD :
			str_far_enter(t->pl, &t->was);
		if (t->how != STR_FAR_NO)
			break;
		s->pl[s->n++] = t->pl;
		str_sched_late_flag(t->pl, STR_LATE_DRAIN);
	}
	if (mp != NULL) {
		t->bits = (unsigned)((uintptr_t)mp->b_prev & STR_MP_BITS);
		/* a job is not put back by the reaper */
		str_msg_take(mp, t->bits != 0 ? 0 :
			str_origin_word(t->q, STR_ORIGIN_BACKLOG));
		str_barrier();
		if (prev != NULL)
			prev->b_next = mp->b_next;
		else
			str_store(&pm->bl_first, mp->b_next);
		if (mp->b_next == NULL)
			pm->bl_last = prev;
		mp->b_next = NULL;
		t->back = lighter(pm, t->q, mp);
	}
	str_unlock(&pm->block);
	t->mp = mp;
	return mp != NULL;
}

/* A procedure of @qp has run: wake the threads in qwait(9F). */
static void
said(struct str_qpair *qp)
{
	if (str_unlikely(str_load(&qp->qwaits) != 0)) {
		(void)str_add(&qp->qword, 1u);
		(void)host_wake(&qp->qword, INT_MAX);
	}
}

/*
 * @q's module is being closed: its procedures were disabled after @mp had been
 * sent to @q.  Pass @mp on to the next queue, which is not freed meanwhile,
 * because the thread that closes the module holds the stream's busy lock.  For
 * a driver's queue @mp is freed.
 */
static void
pass_by(queue_t *q, mblk_t *mp)
{
	if (q->q_pair->role == STR_QP_MODULE && q->q_next != NULL)
		str_put(q->q_next, mp);
	else
		freemsg(mp);
}

/* Inside the perimeter: process @t. */
static void
do_taken(struct taken *t)
{
	t->mp->b_prev = NULL;
	if (str_unlikely(t->back))
		qbackenable(t->q, 0);
	if (t->bits & STR_MP_JOB) {
		str_job_run(t->mp);
	} else if (str_load(&t->q->q_flag) & QPROCS) {
		pass_by(t->q, t->mp);
	} else {
		(void)t->q->q_qinfo->qi_putp(t->q, t->mp);
		said(t->q->q_pair);
	}
	if (t->pl != t->was)
		str_far_leave(t->pl, t->how, t->was);
}

static bool
enter(struct str_perim *pm)
{
	uint32_t me = host_self_tag(), v = str_load(&pm->inside);

	if (v == 0)
		return str_cas(&pm->inside, 0u, me);
	/* the check whether thread @v lives may cost a system call, so only
	 * each eighth refusal makes it; str_perim_drain(), for the reaper, and
	 * wait_in() clear `refused' and make it at once */
	if (v == me || (str_add(&pm->refused, 1u) & 7) != 0 ||
	    !host_owner_dead(v))
		return false;
	/*
	 * The messages that the dead thread had taken are put back first,
	 * unless the reaper gave up (str_sched_reaped()).  This thread
	 * processes the backlog when it leaves.
	 */
	if (!str_sched_reaped(v, host_tls.at) ||
	    !str_cas(&pm->inside, v, me))
		return false;
	pm->nest = 0;
	return true;
}

static bool
waits(const struct str_perim *pm)
{
	return str_load(&pm->bl_first) != NULL ||
		str_load(&pm->sv_first) != NULL;
}

/* Enter @pm while the outer perimeter @o, if any, is open. */
static STR_HOT bool
enter_both(struct str_perim *pm, struct str_outer *o)
{
	while (enter(pm)) {
		if (str_likely(o == NULL))
			return true;
		str_fence_full(); /* pairs with the one in str_outer_try() */
		if (!str_outer_closed(o))
			return true;
		str_store_rel(&pm->inside, 0u);
		str_fence_full();
		str_outer_try(o); /* this thread may have delayed a job */
		if (!waits(pm) || str_outer_closed(o))
			break; /* the exclusive thread checks when it leaves */
	}
	return false;
}

/*
 * Enable the queues whose service was deferred.  The order matters if this
 * thread is killed.  A pair is taken off the list after its queues have been
 * enabled, so no service is lost.  The mark, srvwant, is cleared last: a pair
 * may be marked and not be on the list, and the next put_off() lists it again.
 */
static void
enable_put_off(struct str_perim *pm)
{
	struct str_qpair *qp;

	lock_backlog(pm);
	while ((qp = pm->sv_first) != NULL) {
		uint32_t want = str_load(&qp->srvwant);

		if (want & 1)
			str_sched_enable(&qp->rq);
		if (want & 2)
			str_sched_enable(&qp->wq);
		STR_CRASH_POINT("perim:enabled");
		str_store(&pm->sv_first, qp->sv_next);
		STR_CRASH_POINT("perim:unlisted");
		str_store(&qp->srvwant, 0u);
	}
	str_unlock(&pm->block);
}

/* A thread waits to enter: leave the backlog to it for now. */
static void
let_in(struct str_perim *pm)
{
	str_store(&pm->waiters, 0u);
	(void)host_wake(&pm->inside, INT_MAX);
	lock_backlog(pm);
	if (pm->bl_first != NULL)
		str_sched_late_flag(queue_of(pm->bl_first)->q_pair->plumb,
			STR_LATE_DRAIN);
	str_unlock(&pm->block);
}

/*
 * Leave, and enable the deferred services.  Return: true: look at the backlog
 * again.
 */
STR_INLINE bool
let_go(struct str_perim *pm, struct str_outer *o)
{
	STR_CRASH_POINT("perim:leave");
	str_store_rel(&pm->inside, 0u);
	str_fence_full(); /* pairs with the fences of threads that append */
	if (str_unlikely(str_load(&pm->sv_first) != NULL))
		enable_put_off(pm);
	if (str_unlikely(o != NULL))
		str_outer_try(o);
	if (str_unlikely(str_load(&pm->waiters) != 0)) {
		let_in(pm);
		return false;
	}
	return str_unlikely(waits(pm));
}

static STR_NOINLINE void
leave_slow(struct str_perim *pm, struct str_outer *o)
{
	struct skip skip = {.n = 0};
	struct taken t;

	do {
		while (str_load(&pm->bl_first) != NULL &&
			str_load(&pm->waiters) == 0 &&
			backlog_take(pm, &skip, &t))
			do_taken(&t);
	} while (let_go(pm, o) && skip.n == 0 && enter_both(pm, o));
}

/* Leave @pm; process work that has arrived meanwhile first. */
STR_INLINE void
leave(struct str_perim *pm, struct str_outer *o)
{
	if (str_unlikely(str_load(&pm->bl_first) != NULL) ||
	    (str_unlikely(let_go(pm, o)) && enter_both(pm, o)))
		leave_slow(pm, o);
}

/*
 * Record the module whose code this thread runs, for callbacks that it
 * requests; NULL if the module's perimeter is not module-wide.  Return: the
 * previous one.
 */
static struct str_fmod *
mark(struct str_qpair *qp)
{
	struct str_fmod *was = host_tls.perim;

	host_tls.perim = qp->perim == STR_PERIM_MODULE ? qp->fmod : NULL;
	return was;
}

/* str_perim_try, str_perim_out - enter and leave without waiting. */
bool
str_perim_try(struct str_qpair *qp)
{
	return qp->pm == NULL || enter_both(qp->pm, qp->outer);
}

STR_HOT void
str_perim_out(struct str_qpair *qp)
{
	if (qp->pm != NULL)
		leave(qp->pm, qp->outer);
}

/* str_perim_left - work that str_perim_out_quick() found after it had left. */
void
str_perim_left(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (enter_both(pm, qp->outer))
		leave(pm, qp->outer);
}

/* str_perim_try_idle - enter if no message waits at the perimeter; false: one
 * does, a thread is inside, or @qp has no perimeter. */
STR_HOT bool
str_perim_try_idle(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (str_unlikely(pm == NULL || str_load(&pm->bl_first) != NULL ||
		!enter_both(pm, qp->outer)))
		return false;
	if (str_likely(str_load(&pm->bl_first) == NULL))
		return true;
	leave(pm, qp->outer);
	return false;
}

/* str_perim_run - call @fn inside @fm's perimeter; false: it is occupied. */
bool
str_perim_run(struct str_fmod *fm, void (*fn)(void *arg), void *arg)
{
	struct str_fmod *was = host_tls.perim;

	if (!enter(str_fmod_perim(fm)))
		return false;
	host_tls.perim = fm;
	fn(arg);
	leave(str_fmod_perim(fm), NULL);
	host_tls.perim = was;
	return true;
}

/* str_perim_put - call @q's put procedure inside its perimeter, now or
 * later. */
STR_HOT void
str_perim_put(struct str_qpair *qp, queue_t *q, mblk_t *mp)
{
	struct str_perim *pm = qp->pm;
	struct str_fmod *was = mark(qp);

	if (str_load(&pm->bl_first) == NULL && enter_both(pm, qp->outer)) {
		(void)q->q_qinfo->qi_putp(q, mp);
		said(qp);
		leave(pm, qp->outer);
	} else if ((mp = str_msg_unpin_or_free(mp)) != NULL) {
		backlog_append(pm, q, mp, 0);
		str_fence_full(); /* pairs with the one in let_go() */
		if (str_load(&pm->inside) == 0 && enter_both(pm, qp->outer))
			leave(pm, qp->outer);
	}
	host_tls.perim = was;
}

/*
 * str_perim_job - run a job, of qwriter(9F) or streams_put(9), inside @qp's
 * perimeter, now or later
 * @mp: contains the struct str_job; consumed
 */
void
str_perim_job(struct str_qpair *qp, mblk_t *mp)
{
	struct str_perim *pm = qp->pm;
	struct str_fmod *was = mark(qp);
	const struct str_job *job =
		(const struct str_job *)(const void *)mp->b_rptr;

	if (pm == NULL || str_perim_alone(qp)) {
		str_job_run(mp);
	} else if (str_load(&pm->bl_first) == NULL &&
		enter_both(pm, qp->outer)) {
		str_job_run(mp);
		leave(pm, qp->outer);
	} else {
		backlog_append(pm, job->q, mp, STR_MP_JOB);
		str_fence_full();
		if (str_load(&pm->inside) == 0 && enter_both(pm, qp->outer))
			leave(pm, qp->outer);
	}
	host_tls.perim = was;
}

/* str_perim_drain - process the work that waits at @qp's perimeter. */
void
str_perim_drain(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;
	struct str_fmod *was;
	uint32_t v;

	if (qp->outer != NULL)
		str_outer_try(qp->outer); /* the exclusive owner may be dead */
	if (pm == NULL)
		return;
	v = str_load(&pm->inside);
	/*
	 * A dead thread inside is removed even if no work waits.  Otherwise the
	 * next message would find the perimeter occupied and wait on the
	 * backlog.
	 */
	if (!waits(pm) && (v == 0 || v == host_self_tag() ||
		!host_owner_dead(v)))
		return;
	was = mark(qp);
	str_store(&pm->refused, 0u); /* the thread inside may be dead */
	if (enter_both(pm, qp->outer))
		leave(pm, qp->outer);
	host_tls.perim = was;
}

/*
 * Is @qp on the list of deferred services?  Its mark, srvwant, does not show
 * this: a thread that was killed may have set the mark and not listed @qp.
 */
static bool
is_put_off(const struct str_perim *pm, const struct str_qpair *qp)
{
	const struct str_qpair *p;

	for (p = pm->sv_first; p != NULL && p != qp; p = p->sv_next)
		;
	return p != NULL;
}

static void
put_off(struct str_qpair *qp, queue_t *q)
{
	struct str_perim *pm = qp->pm;

	lock_backlog(pm);
	(void)str_or(&qp->srvwant,
		(str_load(&q->q_flag) & QREADR) ? 1u : 2u);
	STR_CRASH_POINT("perim:wanted");
	if (!is_put_off(pm, qp)) {
		qp->sv_next = pm->sv_first;
		str_store(&pm->sv_first, qp);
	}
	str_unlock(&pm->block);
	str_fence_full(); /* pairs with the one in let_go() */
	if (str_load(&pm->inside) == 0 && enter_both(pm, qp->outer))
		leave(pm, qp->outer);
}

/* str_perim_service - run @q's service procedure inside its perimeter, if it
 * has one; if a thread is inside, that thread enables @q again when it
 * leaves. */
void
str_perim_service(queue_t *q)
{
	struct str_qpair *qp = q->q_pair;
	struct str_fmod *was;

	if (str_likely(qp->pm == NULL)) {
		str_qset(q, QSVCBUSY);
		(void)q->q_qinfo->qi_srvp(q);
		str_qclr(q, QSVCBUSY | QBACK);
		return;
	}
	was = mark(qp);
	if (enter_both(qp->pm, qp->outer)) {
		str_qset(q, QSVCBUSY);
		(void)q->q_qinfo->qi_srvp(q);
		str_qclr(q, QSVCBUSY | QBACK);
		said(qp);
		leave(qp->pm, qp->outer);
	} else {
		put_off(qp, q);
	}
	host_tls.perim = was;
}

/* ------------------------------------------------- open, close and waiting */

/* Wait until this thread is alone in @pm, and @o is open. */
static int
wait_in(struct str_perim *pm, struct str_outer *o, struct host_call *hc)
{
	for (;;) {
		uint32_t v;

		str_store(&pm->refused, 0u); /* check whether the owner lives */
		if (enter_both(pm, o))
			return 0;
		str_store(&pm->waiters, 1u);
		str_fence_full(); /* pairs with the one in let_go() */
		v = str_load(&pm->inside);
		if (v != 0)
			str_owner_wait(hc, &pm->inside, v, POLL_NS);
		else if (o != NULL && (v = str_load(&o->owner)) != 0)
			str_owner_wait(hc, &o->owner, v, POLL_NS);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* otherwise the next wait returns at once */
	}
}

int
str_perim_enter_open(struct str_qpair *qp, struct host_call *hc)
{
	struct str_perim *pm = qp->pm;
	int err = 0;

	if (pm == NULL)
		return 0;
	if (str_load(&pm->inside) == host_self_tag()) {
		pm->nest++;
		return 0;
	}
	if (qp->outer == NULL || (qp->fmod->flag & D_MTOCEXCL) == 0) {
		err = wait_in(pm, qp->outer, hc);
	} else {
		/*
		 * the outer perimeter first, so that no thread enters the inner
		 * ones
		 */
		err = str_outer_enter(qp, hc);
		if (err == 0)
			(void)wait_in(pm, NULL, NULL);
	}
	if (err == 0)
		(void)mark(qp);
	return err;
}

/*
 * str_perim_catch_up - inside @qp's perimeter, process its backlog
 * Called before a close procedure, so that the module gets the messages that
 * were sent before the close first.
 */
void
str_perim_catch_up(struct str_qpair *qp)
{
	struct skip skip = {.n = 0};
	struct taken t;

	while (qp->pm != NULL && str_load(&qp->pm->bl_first) != NULL &&
		backlog_take(qp->pm, &skip, &t))
		do_taken(&t);
}

void
str_perim_leave(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (pm == NULL) {
		str_sched_touched();
		return;
	}
	if (pm->nest > 0) {
		pm->nest--;
		return;
	}
	if (qp->outer != NULL && qp->excl) {
		qp->excl = 0;
		str_store_rel(&pm->inside, 0u);
		str_outer_leave(qp->outer);
	} else {
		leave(pm, qp->outer);
	}
	host_tls.perim = NULL;
	str_sched_touched();
}

/*
 * str_perim_suspend - leave @qp's perimeter, in order to sleep, and run the
 * stream's enabled queues, which may produce the awaited event
 * Return: false: this thread was not inside.  Otherwise str_perim_resume() must
 * follow, with *@ret_nest.
 */
bool
str_perim_suspend(struct str_qpair *qp, uint32_t *ret_nest)
{
	struct str_perim *pm = qp->pm;
	bool in = pm != NULL && str_load(&pm->inside) == host_self_tag();

	if (in) {
		*ret_nest = pm->nest;
		pm->nest = 0;
		str_perim_leave(qp);
	}
	(void)str_claim(qp->plumb);
	(void)str_sched_run(qp->plumb);
	str_unclaim(qp->plumb);
	return in;
}

void
str_perim_resume(struct str_qpair *qp, uint32_t nest)
{
	(void)str_perim_enter_open(qp, NULL);
	qp->pm->nest = nest;
}

/*
 * Let messages in until one of @qp's procedures has run.  In a module without a
 * perimeter no thread sends a wake: return after QWAIT_NS.
 * Return: false if a signal ended the wait.
 */
static bool
wait_said(struct str_qpair *qp, struct host_call *hc)
{
	struct str_perim *pm = qp->pm;
	uint32_t nest = 0, w;
	bool in, intr = false;

	if (host_tls.nclaim != 0)
		return true; /* not in an open or close procedure */
	w = str_load(&qp->qword);
	(void)str_add(&qp->qwaits, 1u);
	in = str_perim_suspend(qp, &nest);
	while (str_load(&qp->qword) == w && !intr) {
		(void)host_wait(hc, &qp->qword, w, QWAIT_NS);
		intr = hc != NULL && host_interrupted(hc) != HOST_SIG_NONE;
		if (pm == NULL)
			break;
	}
	(void)str_sub(&qp->qwaits, 1u);
	if (in)
		str_perim_resume(qp, nest);
	return !intr;
}

/* Solaris qwait(9F) */
void
qwait(queue_t *q)
{
	(void)wait_said(q->q_pair, NULL);
}

/* Solaris qwait_sig(9F): 0 if a signal ended the wait, else 1. */
int
qwait_sig(queue_t *q)
{
	return wait_said(q->q_pair, host_tls.call) ? 1 : 0;
}

/* --------------------------------------------------------- beginning, end */

/* str_perim_kind - STR_PERIM_*, of a module with flags @f. */
uint32_t
str_perim_kind(uint32_t f)
{
	/* Solaris sets D_MP beside the kind */
	if (f & D_MTPERMOD)
		return STR_PERIM_MODULE;
	if (f & (D_MTQPAIR | D_MTPERQ | D_MTOUTPERIM))
		return STR_PERIM_PAIR;
	return (f & D_MP) ? STR_PERIM_NONE : STR_PERIM_MODULE;
}

void
str_perim_init(struct str_qpair *qp)
{
	struct str_fmod *fm = qp->fmod;
	uint32_t f = fm->flag;

	qp->perim = str_perim_kind(f);
	if (qp->perim == STR_PERIM_MODULE)
		(void)host_daemon(); /* see str_foreign_wanted() */
	qp->pm = qp->perim == STR_PERIM_NONE ? NULL :
		qp->perim == STR_PERIM_PAIR ? &qp->pair : str_fmod_perim(fm);
	if (qp->perim == STR_PERIM_PAIR && (f & D_MTOUTPERIM) != 0) {
		qp->outer = &fm->outer;
		str_outer_join(qp);
	}
	str_store(&qp->serial, str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1);
}

/*
 * str_perim_pass - pass @qp's backlog on to the next queues, because its
 * procedures are disabled
 * The plumber calls this: no other thread follows the stream's queues
 * meanwhile, so no later message overtakes the backlog.  str_perim_fini() calls
 * it again for what may be left when @qp is about to be freed.
 */
void
str_perim_pass(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;
	mblk_t *mp, *prev = NULL, *gone = NULL, **end = &gone;
	struct str_plumb *was;
	struct str_qpair **pp;
	int how;

	if (pm == NULL || !waits(pm))
		return;
	lock_backlog(pm);
	for (pp = &pm->sv_first; *pp != NULL; pp = &(*pp)->sv_next)
		if (*pp == qp) {
			str_store(pp, qp->sv_next);
			break;
		}
	for (mp = pm->bl_first; mp != NULL;) {
		mblk_t *next = mp->b_next;

		if (queue_of(mp)->q_pair != qp) {
			prev = mp;
			mp = next;
			continue;
		}
		str_msg_own(mp);
		if (prev != NULL)
			prev->b_next = next;
		else
			str_store(&pm->bl_first, next);
		if (next == NULL)
			pm->bl_last = prev;
		mp->b_next = NULL;
		(void)lighter(pm, queue_of(mp), mp);
		*end = mp;
		end = &mp->b_next;
		mp = next;
	}
	str_unlock(&pm->block);
	if (gone == NULL)
		return;
	/*
	 * With host_tls.at on this stream pass_by() puts the messages at once.
	 * Otherwise str_put() would queue them after the late messages that
	 * other streams have sent.
	 */
	how = str_far_enter(qp->plumb, &was);
	while ((mp = gone) != NULL) {
		queue_t *q = queue_of(mp);
		bool job = ((uintptr_t)mp->b_prev & STR_MP_JOB) != 0;

		gone = mp->b_next;
		mp->b_next = mp->b_prev = NULL;
		if (job || how == STR_FAR_NO)
			freemsg(mp);
		else
			pass_by(q, mp);
	}
	if (how != STR_FAR_NO)
		str_far_leave(qp->plumb, how, was);
}

void
str_perim_fini(struct str_qpair *qp)
{
	if (qp->fmod == NULL) {
		str_sched_late_purge(&qp->rq);
		str_sched_late_purge(&qp->wq);
		return;
	}
	str_perim_pass(qp);
	if (qp->outer != NULL)
		str_outer_part(qp);
	str_sched_late_purge(&qp->rq);
	str_sched_late_purge(&qp->wq);
	/* a thread that took a message or a callback for it has a claim */
	if (qp->perim == STR_PERIM_MODULE || qp->outer != NULL ||
	    str_load(&qp->evused) != 0)
		str_plumb_barrier(qp->plumb);
}
