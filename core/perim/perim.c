/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Perimeters: how many threads run a module's procedures at once.
 *
 * Kinds.  A module registered D_MP has none and is called directly.  One with
 * D_MTQPAIR or D_MTPERQ has one for each queue pair; one with D_MTPERMOD, or
 * with no flag at all, because it was written for one processor, has one for
 * all its instances, so that its static tables need no lock.
 *
 * Entering.  Put and service procedures never wait: a thread that finds
 * one inside, itself included, leaves the message on the backlog, and
 * the thread inside takes it from there before it leaves.  So order is kept
 * and no put procedure is ever entered again.  A service procedure that finds
 * it taken is enabled again by who leaves.  Open and close procedures wait;
 * a thread that leaves while one waits leaves its backlog as well, to be looked at
 * when its call ends.  Callbacks (core/sched/timeout.c) come again later.
 *
 * Flow control.  What waits for a queue counts for canput() as what is on it
 * would: who asks in front of it is refused above its high water mark, and
 * back-enabled below its low one, when who is inside takes it out.
 *
 * Other streams.  The backlog of a module-wide perimeter has messages for
 * queues of several streams.  A thread that takes one claims its stream first, under
 * the backlog's lock, so that the queue is there when its procedure is called:
 * str_perim_fini() takes out what is for a queue that is about to be freed,
 * and then waits for claims.
 *
 * Failure.  `inside' names the thread.  Who finds a dead one takes the
 * perimeter over; messages on the backlog are still there.
 */
#include "perim.h"
#include "msg/origin.h"

#define POLL_NS 1000000u
#define QWAIT_NS 10000000u /* where no wake tells us */

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

/* str_perim_backlog - call @fn for every message that waits at @qp. */
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

/* str_perim_idle - can @qp's backlog be looked at?  @wait tells of a lock. */
bool
str_perim_idle(struct str_qpair *qp, unsigned ms,
	bool (*wait)(struct str_lock *l, unsigned ms))
{
	return (qp->pm == NULL || wait(&qp->pm->block, ms)) &&
		(qp->outer == NULL || wait(&qp->outer->lock, ms));
}

/* What @mp counts for canput(); a message without data is something, too. */
static uint64_t
weight(mblk_t *mp)
{
	return msgsize(mp) + 1;
}

/* Of @q.  Locks: backlog's. */
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
 * str_perim_full - does more wait for @q at its perimeter than it may have?
 * The refused queue is back-enabled when it does not any more.
 * Context: a claim on its stream is held.
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
 * @mp, for @q, has been taken out.  Return: true when a queue is to be told.
 * A count that a death left wrong is put right when nothing waits at all.
 * Locks: backlog's.
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

/* str_perim_return - put back what a thread had taken that died */
void
str_perim_return(queue_t *q, mblk_t *mp)
{
	backlog_link(q->q_pair->pm, q, mp, 0, true);
	str_sched_late_flag(q->q_pair->plumb, STR_LATE_DRAIN);
}

/* What waits, and the claim on the stream it is for. */
struct taken {
	mblk_t *mp;
	queue_t *q;
	struct str_plumb *pl, *was;
	int how;
	unsigned bits;
	bool back; /* a queue was refused that need not be any more */
};

/* Streams whose messages have to stay, for a plumber is at work there. */
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
 * The first message of a stream that can be claimed.  Those of others stay
 * where they are, so that later ones stay behind them; their plumber, or this
 * thread when it is done, comes here again.
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
		/* a job is the thread's own affair */
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

/* A procedure of @qp has run: qwait(D3) ends. */
static void
said(struct str_qpair *qp)
{
	if (str_unlikely(str_load(&qp->qwaits) != 0)) {
		(void)str_add(&qp->qword, 1u);
		(void)host_wake(&qp->qword, INT_MAX);
	}
}

/*
 * @q's procedures have been switched off since: it is being closed.  Its
 * stream is busy with that, so what is after it stays there.
 */
static void
pass_by(queue_t *q, mblk_t *mp)
{
	if (q->q_pair->role == STR_QP_MODULE && q->q_next != NULL)
		str_put(q->q_next, mp);
	else
		freemsg(mp);
}

/* Inside the perimeter: do what @t says. */
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
	/* a question that may cost a system call, so not each time; the reaper
	 * comes here too */
	if (v == me || (str_add(&pm->refused, 1u) & 7) != 0 ||
	    !host_owner_dead(v))
		return false;
	/* what it had in hand comes first: the thread that leaves does what waits */
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
		str_outer_try(o); /* we may have been in the way */
		if (!waits(pm) || str_outer_closed(o))
			break; /* the lone thread looks when it leaves */
	}
	return false;
}

/*
 * Enable what put its service procedure off.  In this order: a thread killed in
 * it has enabled what it says is enabled; what is not on the list any more,
 * but marked, is put there again by the next enable.
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

/* A thread wants to enter, to which we leave our backlog, for the moment. */
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

/* Out, and what was put off meanwhile.  Return: look at the backlog again. */
STR_INLINE bool
let_go(struct str_perim *pm, struct str_outer *o)
{
	STR_CRASH_POINT("perim:leave");
	str_store_rel(&pm->inside, 0u);
	str_fence_full(); /* pairs with those of who appends */
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

/* Leave @pm, unless something came meanwhile: then do it first. */
STR_INLINE void
leave(struct str_perim *pm, struct str_outer *o)
{
	if (str_unlikely(str_load(&pm->bl_first) != NULL) ||
	    (str_unlikely(let_go(pm, o)) && enter_both(pm, o)))
		leave_slow(pm, o);
}

/* The module whose static data are this thread's, for its callbacks. */
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

/* str_perim_left - what str_perim_out_quick() has found when it was out. */
void
str_perim_left(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (enter_both(pm, qp->outer))
		leave(pm, qp->outer);
}

/* str_perim_try_idle - enter when nothing waits to be done inside first. */
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

/* str_perim_run - call @fn inside @fm's perimeter; false: that is taken. */
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

/* str_perim_put - @q's put procedure, inside its perimeter, now or later. */
STR_HOT void
str_perim_put(struct str_qpair *qp, queue_t *q, mblk_t *mp)
{
	struct str_perim *pm = qp->pm;
	struct str_fmod *was = mark(qp);

	if (str_load(&pm->bl_first) == NULL && enter_both(pm, qp->outer)) {
		(void)q->q_qinfo->qi_putp(q, mp);
		said(qp);
		leave(pm, qp->outer);
	} else {
		backlog_append(pm, q, mp, 0);
		str_fence_full(); /* pairs with the one in leave() */
		if (str_load(&pm->inside) == 0 && enter_both(pm, qp->outer))
			leave(pm, qp->outer);
	}
	host_tls.perim = was;
}

/* str_perim_job - the same for a procedure of the module's choice. */
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

/* str_perim_drain - run what waits for @qp's perimeter. */
void
str_perim_drain(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;
	struct str_fmod *was;
	uint32_t v;

	if (qp->outer != NULL)
		str_outer_try(qp->outer); /* who was alone may be dead */
	if (pm == NULL)
		return;
	v = str_load(&pm->inside);
	/* a dead one goes even if nothing waits: what comes next would */
	if (!waits(pm) && (v == 0 || v == host_self_tag() ||
		!host_owner_dead(v)))
		return;
	was = mark(qp);
	str_store(&pm->refused, 0u); /* who is inside may be dead */
	if (enter_both(pm, qp->outer))
		leave(pm, qp->outer);
	host_tls.perim = was;
}

/* Is @qp's service put off?  Who marked it may have died before it was. */
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
	str_fence_full(); /* pairs with the one in leave() */
	if (str_load(&pm->inside) == 0 && enter_both(pm, qp->outer))
		leave(pm, qp->outer);
}

/* str_perim_service - @q's service procedure, inside its perimeter. */
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

/* Wait until this thread is alone in @pm.  @o: open as well. */
static int
wait_in(struct str_perim *pm, struct str_outer *o, struct host_call *hc)
{
	for (;;) {
		uint32_t v;

		str_store(&pm->refused, 0u); /* ask whether the owner lives */
		if (enter_both(pm, o))
			return 0;
		str_store(&pm->waiters, 1u);
		str_fence_full(); /* pairs with the one in leave() */
		v = str_load(&pm->inside);
		if (v != 0)
			str_owner_wait(hc, &pm->inside, v, POLL_NS);
		else if (o != NULL && (v = str_load(&o->owner)) != 0)
			str_owner_wait(hc, &o->owner, v, POLL_NS);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* else the next wait is none */
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
		/* the outer one first: no thread enters the inner ones then */
		err = str_outer_enter(qp, hc);
		if (err == 0)
			(void)wait_in(pm, NULL, NULL);
	}
	if (err == 0)
		(void)mark(qp);
	return err;
}

/*
 * str_perim_catch_up - inside @qp's perimeter, run what waits for it
 * Before a close procedure does: what was sent first is put first.
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
 * str_perim_suspend - leave @qp's perimeter, in order to sleep, and run what is
 * for us to run: what we wait for may be among it
 * Return: false: we were not in it.  Else str_perim_resume() is due.
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
 * Let messages in until one of @qp's procedures has run.  A module without a
 * perimeter does not tell us: it looks again after a while.
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

/* Solaris qwait_sig(9F): 0 when a signal came. */
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
 * str_perim_pass - what waits for @qp goes on to the queues after it: its
 * procedures are off.  With the plumber, so that nothing comes in between.
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
	/* as from this stream itself: before what comes late from others */
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
	/* who took a message or a callback for it in hand has a claim */
	if (qp->perim == STR_PERIM_MODULE || qp->outer != NULL ||
	    str_load(&qp->evused) != 0)
		str_plumb_barrier(qp->plumb);
}
