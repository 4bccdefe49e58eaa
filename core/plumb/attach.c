/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pushing and popping modules in a running stream.
 *
 * Life.  Push, with the stream `busy': make the queue pair with its procedures
 * disabled, point its q_next at both neighbours, call the module's open
 * procedure. qprocson() makes the neighbours point at it, under the plumber,
 * for which claims wait; messages reach it from then on.  Pop is the reverse:
 * qprocsoff() (called by the module's close, or for it) unlinks the pair, then
 * it is freed.  Open and close procedures may sleep: only their qprocson() and
 * qprocsoff() delay messages.
 *
 * A module that does not call qprocson(D3) is linked when its open has
 * returned, and unlinked before its close is called.
 *
 * Data waiting at the Stream heads is not affected; data waiting in the
 * module's own queues is freed with the pair, as in SVR4.
 *
 * Failure.  A death in between leaves a pair to which one neighbour, both or
 * none point.  str_plumb_repair() follows the downward chain of end 0: a pair
 * in it becomes linked in both directions; any other becomes unlinked, and is
 * left to the reaper.
 */
#include "core.h"
#include <sys/ddi.h>
#include <str/builtin.h>

/*
 * str_busy_grab - take `busy' if no thread has it
 * @ret_died: its owner is dead: call str_busy_mend() before anything else
 */
bool
str_busy_grab(struct str_plumb *pl, bool *ret_died)
{
	uint32_t v = str_load(&pl->busy.owner);

	*ret_died = v != 0 && v != host_self_tag() && host_owner_dead(v);
	return (v == 0 || *ret_died) &&
		str_cas(&pl->busy.owner, v, host_self_tag());
}

/*
 * str_busy_mend - complete or reverse the change of @pl that the dead owner had
 * begun
 * Locks: busy.  Return: number of links that were removed: str_link_mend().
 */
unsigned
str_busy_mend(struct str_plumb *pl)
{
	str_plumb_lock(pl);
	str_plumb_repair(pl);
	str_plumb_recount(pl);
	str_plumb_unlock(pl);
	return str_link_mend(pl);
}

/*
 * str_busy_lock - one push, pop, link or close of the stream at a time
 * Takes `busy' over from a dead owner and repairs.
 * Return: 0; EINTR; EDEADLK: this thread has it already.
 */
int
str_busy_lock(struct str_plumb *pl, struct host_call *hc)
{
	uint32_t me = host_self_tag();
	bool died;

	for (;;) {
		uint32_t v = str_load(&pl->busy.owner);

		if (v == me)
			return EDEADLK;
		if (str_busy_grab(pl, &died)) {
			if (died)
				(void)str_busy_mend(pl);
			return 0;
		}
		if (v == 0)
			continue;
		str_store(&pl->busy.waiters, 1u);
		str_fence_full();
		if (str_load(&pl->busy.owner) == v)
			str_owner_wait(hc, (str_a32 *)&pl->busy.owner, v,
				10000000u);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* otherwise the next wait returns at once */
	}
}

void
str_busy_unlock(struct str_plumb *pl)
{
	STR_VERIFY(str_load(&pl->busy.owner) == host_self_tag());
	str_unlock(&pl->busy);
}

static struct str_qpair *
pair_init(struct str_qpair *qp, struct str_plumb *pl, struct str_fmod *fm,
	struct qinit *ri, struct qinit *wi, uint32_t role)
{
	__builtin_memset((char *)qp + sizeof(qp->blk), 0,
		sizeof(*qp) - sizeof(qp->blk));
	str_queue_init(&qp->rq, ri, qp, QREADR);
	str_queue_init(&qp->wq, wi, qp, 0);
	qp->plumb = pl;
	qp->fmod = fm;
	qp->role = role;
	if (fm != NULL) {
		str_perim_init(qp);
		str_qset(&qp->rq, QPROCS);
		str_qset(&qp->wq, QPROCS);
		(void)str_add(&fm->count, 1u);
	} else {
		str_store(&qp->serial,
			str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1);
	}
	/* only now, because the reaper then treats it as a pair */
	str_store_rel(&qp->blk.state, STR_BLK_QPAIR);
	return qp;
}

struct str_qpair *
str_qpair_alloc(struct str_plumb *pl, struct str_fmod *fm)
{
	struct str_qpair *qp = str_mem_alloc(sizeof(*qp), STR_BLK_KMEM);
	struct qinit *ri, *wi;

	if (qp == NULL)
		return NULL;
	ri = fm != NULL ? fm->tab.st_rdinit :
		(struct qinit *)(uintptr_t)str_load(str_root(STR_ROOT_HEADINIT));
	wi = fm != NULL ? fm->tab.st_wrinit : ri + 1;
	if (fm != NULL)
		str_store(&pl->pushed, 1u);
	return pair_init(qp, pl, fm, ri, wi,
		fm != NULL ? STR_QP_MODULE : STR_QP_HEAD);
}

/* str_qpair_alloc_lower - the lower side of multiplexor @fm, in @pl. */
struct str_qpair *
str_qpair_alloc_lower(struct str_plumb *pl, struct str_fmod *fm)
{
	struct str_qpair *qp = str_mem_alloc(sizeof(*qp), STR_BLK_KMEM);

	if (qp == NULL)
		return NULL;
	return pair_init(qp, pl, fm, fm->tab.st_muxrinit, fm->tab.st_muxwinit,
		STR_QP_LOWER);
}

/*
 * str_qpair_free - free @qp, which is not linked any more
 * As long as a message may be on @qp, `leaving' names it: so the reaper of a
 * thread that was killed in a procedure of @qp finds the pair.  The memory is
 * not reused as long as a thread that found the pair there has a claim.
 */
void
str_qpair_free(struct str_qpair *qp)
{
	struct str_plumb *pl = qp->plumb;

	STR_VERIFY((str_load(&qp->rq.q_flag) & QMOUNTED) == 0);
	STR_VERIFY(qp->blk.state == STR_BLK_QPAIR);
	str_timer_cancel_pair(qp);
	str_sched_remove(&qp->rq);
	str_sched_remove(&qp->wq);
	str_perim_fini(qp);
	str_queue_flush_all(&qp->rq);
	str_queue_flush_all(&qp->wq);
	/* pairs with the full fence in str_reap_mark_pipe() */
	if (__sync_bool_compare_and_swap(&pl->leaving, qp, NULL) &&
		(str_load(&pl->plumber.owner) != 0 ||
			str_plumb_claimed_since(pl, STR_CLAIM_LIVING)))
		str_plumb_barrier(pl);
	if (qp->fmod != NULL)
		(void)str_sub(&qp->fmod->count, 1u);
	str_mem_free(qp);
}

/*
 * Make the neighbours point at @qp, which points at them already.  At the
 * bottom of a FIFO a pair points to itself: there messages turn around.  A
 * multiplexor's lower pair has no pair above it, a driver none below it.
 */
static void
insert(struct str_qpair *qp)
{
	queue_t *above, *below;

	if (str_load(&qp->rq.q_flag) & QMOUNTED)
		return;
	str_qset(&qp->rq, QMOUNTED);
	if (qp->wq.q_next != NULL && qp->wq.q_next != &qp->rq) {
		below = str_otherq(qp->wq.q_next);
		below->q_next = &qp->rq;
	}
	STR_CRASH_POINT("plumb:half");
	if (qp->rq.q_next != NULL) {
		above = str_otherq(qp->rq.q_next); /* its write queue */
		above->q_next = &qp->wq;
	}
}

static void
remove_pair(struct str_qpair *qp)
{
	queue_t *up = qp->rq.q_next, *down = qp->wq.q_next;

	if ((str_load(&qp->rq.q_flag) & QMOUNTED) == 0)
		return;
	if (qp->role == STR_QP_LOWER)
		up = &qp->plumb->head[0].qp->rq; /* the head is linked again */
	else if (up != NULL)
		str_otherq(up)->q_next = down == &qp->rq ? up : down;
	STR_CRASH_POINT("plumb:halfout");
	if (down != NULL && down != &qp->rq)
		str_otherq(down)->q_next = up;
	str_qclr(&qp->rq, QMOUNTED);
}

/*
 * SVR4 qprocson(D3): from here on put and service procedures may run.
 * Messages queued by the module's own open are served as well.
 */
void
qprocson(queue_t *q)
{
	struct str_qpair *qp = q->q_pair;

	if (qp->fmod == NULL || (str_load(&qp->rq.q_flag) & QPROCS) == 0)
		return;
	str_store(&qp->opened, 1u);
	str_procs_on(qp);
}

void
str_procs_on(struct str_qpair *qp)
{
	str_plumb_lock(qp->plumb);
	str_qclr(&qp->rq, QPROCS);
	str_qclr(&qp->wq, QPROCS);
	insert(qp);
	str_plumb_update(qp->plumb); /* no message bypasses it from here on */
	str_plumb_unlock(qp->plumb);
	if (qp->rq.q_first != NULL)
		str_sched_enable(&qp->rq);
	if (qp->wq.q_first != NULL)
		str_sched_enable(&qp->wq);
}

/* SVR4 qprocsoff(D3) */
void
qprocsoff(queue_t *q)
{
	struct str_qpair *qp = q->q_pair;

	/*
	 * Nothing is left to do if it is disabled and not linked.  It may be
	 * disabled and linked: str_plumb_repair() linked it again after the
	 * death of a thread in this function.
	 */
	if (qp->fmod == NULL ||
	    (str_load(&qp->rq.q_flag) & (QPROCS | QMOUNTED)) == QPROCS)
		return;
	str_plumb_lock(qp->plumb);
	str_qset(&qp->rq, QPROCS);
	str_qset(&qp->wq, QPROCS);
	str_sched_remove(&qp->rq);
	str_sched_remove(&qp->wq);
	remove_pair(qp);
	str_perim_pass(qp);
	if (qp->plumb->kind == STR_PL_DEV)
		str_plumb_update(qp->plumb);
	str_plumb_unlock(qp->plumb);
}

/* The write queue of the driver below @sd, if it has a direct procedure and
 * only plain modules (STR_D_PLAIN) are in between; or NULL. */
static queue_t *
straight_way(struct str_head *sd)
{
	queue_t *q = &sd->qp->wq;

	do {
		q = q->q_next;
		if (q == NULL || q->q_head != NULL ||
		    q->q_pair->plumb != sd->plumb)
			return NULL;
	} while (q->q_pair->role == STR_QP_MODULE && q->q_pair->pm == NULL &&
		(q->q_pair->fmod->flag & STR_D_PLAIN) != 0);
	return q->q_pair->role == STR_QP_DRIVER &&
		q->q_pair->fmod->direct != NULL ? q : NULL;
}

/*
 * The plumbing of @pl has changed: set `direct' of the heads of a pipe or FIFO,
 * or `straight' of a device stream.  Locks: the plumber's.
 */
void
str_plumb_update(struct str_plumb *pl)
{
	unsigned e;

	if (pl->kind == STR_PL_DEV) {
		(void)str_or(&pl->head[0].flags, STR_H_MODS);
		str_short_off(pl);
		if (pl->head[0].qp != NULL)
			pl->head[0].straight = straight_way(&pl->head[0]);
		return;
	}
	for (e = 0; e < pl->nheads; e++) {
		if (str_hlock(&pl->head[e].hq.plock, STR_HOLD_P))
			str_headq_repair_p(&pl->head[e].hq);
	}
	for (e = 0; e < pl->nheads; e++) {
		struct str_head *sd = &pl->head[e];
		bool straight = sd->qp->wq.q_next == &sd->peer->qp->rq;

		str_store(&sd->direct, straight ? &sd->peer->hq : NULL);
		if (straight)
			(void)str_and(&sd->flags, ~STR_H_MODS);
		else
			(void)str_or(&sd->flags, STR_H_MODS);
	}
	for (e = pl->nheads; e-- > 0;)
		str_hunlock(&pl->head[e].hq.plock, STR_HOLD_P);
}

/*
 * The plumber died.  The downward chain of end 0 determines which pairs are in
 * the stream; a pair that is not in this chain is left to the reaper.
 */
void
str_plumb_repair(struct str_plumb *pl)
{
	struct str_qpair *last = pl->head[pl->nheads == 2].qp;
	struct str_qpair *qp = pl->leaving;
	queue_t *end, *q;

	/* killed as it made or freed the stream: nothing is linked */
	if (pl->head[0].qp == NULL || last == NULL)
		return;
	end = &last->rq;
	q = &pl->head[0].qp->wq;
	if (pl->under != NULL) {
		q = &pl->under->qp->wq;
		str_qset(RD(q), QMOUNTED); /* the lower pair is linked now */
	}
	for (; q != end && q->q_next != NULL && q->q_next->q_pair->plumb == pl;
		q = q->q_next) {
		/* the link in the other direction */
		str_otherq(q->q_next)->q_next = str_otherq(q);
		if (q->q_head == NULL && q->q_pair->role == STR_QP_MODULE)
			str_qset(RD(q), QMOUNTED);
	}
	/*
	 * pass on the messages that wait for a disabled pair, before later
	 * messages bypass the pair
	 */
	if (qp != NULL && (str_load(&qp->rq.q_flag) & QPROCS) != 0)
		str_perim_pass(qp);
	str_plumb_update(pl);
}

/*
 * str_plumb_recount - count the modules pushed at each end
 * Locks: busy.  Not for a thread that only finds a dead plumber: the owner of
 * busy may be between two steps.
 */
void
str_plumb_recount(struct str_plumb *pl)
{
	uint32_t n[2] = {0, 0};
	queue_t *q = pl->head[0].qp->wq.q_next;

	for (; q != NULL && q->q_head == NULL && q->q_pair->plumb == pl;
		q = q->q_next)
		if (q->q_pair->role == STR_QP_MODULE)
			n[(str_load(&q->q_flag) & QREADR) ? 1 : 0]++;
	str_store(&pl->head[0].npush, n[0]);
	if (pl->nheads == 2)
		str_store(&pl->head[1].npush, n[1]);
}

/*
 * The plumbing has changed: see that the enabled queues run, and wake the
 * threads that wait at both ends.  Writers now wait for a different event: for
 * the module instead of the other head, or the reverse.  Procedures of the
 * module may have enabled queues.
 */
static void
settle(struct str_head *sd, struct host_call *hc)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	(void)str_claim(sd->plumb);
	str_sched_leave(sd);
	str_unclaim(sd->plumb);
	str_wake_all(sd);
	str_wake_all(sd->peer);
	host_tls.call = old;
}

/* Convert open flags to those of DDI open procedures. */
static int
ddi_flags(struct host_call *hc)
{
	int f = FREAD | FWRITE;

	if (hc == NULL)
		return f;
	switch (hc->fflags & 3) {
	case 0:
		f = FREAD;
		break;
	case 1:
		f = FWRITE;
		break;
	default:
		break;
	}
	if (hc->fflags & STR_O_NONBLOCK)
		f |= FNDELAY | FNONBLOCK;
	if (hc->fflags & STR_O_EXCL)
		f |= FEXCL;
	return f;
}

/* Are its open and close procedures SVR3's? */
static bool
is_old(const struct str_qpair *qp)
{
	return qp->fmod->foreign != 0 && (qp->fmod->flag & D_OLD) != 0;
}

/*
 * str_qopen - call @qp's open procedure, inside its perimeter
 * Return: 0 or an errno: OPENFAIL and negative errnos are converted.
 */
int
str_qopen(struct str_qpair *qp, struct host_call *hc, dev_t *dev, int sflag)
{
	struct host_call *old = host_tls.call;
	struct str_qpair *was = host_tls.opening;
	cred_t cr;
	int err = 0;

	if (qp->rq.q_qinfo->qi_qopen == NULL)
		return 0;
	str_cred(&cr);
	err = str_perim_enter_open(qp, hc);
	if (err != 0)
		return err;
	host_tls.call = hc; /* for qwait_sig(9F) */
	host_tls.opening = qp;
	err = is_old(qp) ?
		str_foreign_open(qp, dev, ddi_flags(hc), sflag, &cr) :
		qp->rq.q_qinfo->qi_qopen(&qp->rq, dev, ddi_flags(hc), sflag,
			&cr);
	host_tls.call = old;
	host_tls.opening = was;
	if (err == 0)
		str_store_rel(&qp->closing, 0u); /* now it has to be closed */
	str_perim_leave(qp);
	return err == OPENFAIL ? ENXIO : err < 0 ? -err : err;
}

#define CLOSED 1u /* no thread's tag */

/*
 * May this thread call @qp's close procedure?  Once; a second time when the
 * first caller was killed in it and the driver can be closed again.
 */
static bool
is_closer(struct str_qpair *qp)
{
	uint32_t v = str_load(&qp->closing);

	if (v != 0 && (v == CLOSED || v == host_self_tag() ||
		(qp->fmod->flag & STR_D_RECLOSE) == 0 || !host_owner_dead(v)))
		return false;
	return str_cas(&qp->closing, v, host_self_tag());
}

/*
 * str_qclose - call @qp's close procedure, once, and disable its procedures
 * Return: 0, or the error of the close procedure.
 */
int
str_qclose(struct str_qpair *qp, struct host_call *hc)
{
	struct str_qpair *was = host_tls.opening;
	cred_t cr;
	int err = 0;

	if (str_load(&qp->opened) == 0)
		qprocsoff(&qp->rq); /* it does not call qprocsoff() itself */
	if (str_load(&qp->closing) != CLOSED &&
	    qp->rq.q_qinfo->qi_qclose != NULL) {
		str_cred(&cr);
		/*
		 * `closing' is set inside: if this thread is killed while it
		 * waits to enter, another one still calls the procedure
		 */
		(void)str_perim_enter_open(qp, NULL);
		str_perim_catch_up(qp);
		host_tls.opening = qp;
		if (is_closer(qp))
			err = qp->rq.q_qinfo->qi_qclose(&qp->rq,
				ddi_flags(hc), &cr);
		host_tls.opening = was;
		str_perim_leave(qp);
		if (is_old(qp))
			err = 0; /* it has no return value */
	}
	str_store(&qp->closing, CLOSED);
	qprocsoff(&qp->rq);
	return err < 0 ? -err : err;
}

/* Call str_plumb_update() after a pop.  For a device stream qprocsoff() has
 * done so. */
static void
update(struct str_plumb *pl)
{
	if (pl->kind == STR_PL_DEV)
		return;
	str_plumb_lock(pl);
	str_plumb_update(pl);
	str_plumb_unlock(pl);
}

/* Push an instance of @fm.  Locks: busy. */
static int
push_one(struct str_head *sd, struct host_call *hc, struct str_fmod *fm)
{
	struct str_plumb *pl = sd->plumb;
	struct str_qpair *qp = str_qpair_alloc(pl, fm);
	dev_t dev = pl->dev;
	int err;

	if (qp == NULL)
		return ENOSR;
	qp->rq.q_next = &sd->qp->rq;
	qp->wq.q_next = sd->qp->wq.q_next;
	if (qp->wq.q_next == &sd->qp->rq)
		qp->wq.q_next = &qp->rq; /* a FIFO without modules: messages
					  * turn around here now */
	err = str_qopen(qp, hc, &dev, MODOPEN);
	if (err != 0) {
		pl->leaving = qp;
		qprocsoff(&qp->rq);
		str_qpair_free(qp);
		update(pl);
		return err;
	}
	if (str_load(&qp->rq.q_flag) & QPROCS)
		str_procs_on(qp); /* otherwise its open has done this */
	str_mem_disown(qp);
	str_plumb_recount(pl);
	return 0;
}

/*
 * str_plumb_push - I_PUSH: put a new instance of module @name below the head
 * The caller has checked for a hang-up.
 * Return: 0; EINVAL: no such module, too many modules, or the stream is linked
 * below a multiplexor; EINTR; ENOSR; or the result of str_qopen().
 */
int
str_plumb_push(struct str_head *sd, struct host_call *hc, const char *name)
{
	struct str_plumb *pl = sd->plumb;
	struct str_fmod *fm = str_fmod_get(hc, name, STR_F_MODULE);
	int err;

	if (fm == NULL)
		return EINVAL;
	err = str_busy_lock(pl, hc);
	if (err != 0)
		return err;
	/* the stream may have been linked while this thread waited for busy */
	if (str_load(&sd->npush) >= STR_NPUSH ||
	    (str_load(&sd->flags) & STR_H_PLEX) != 0)
		err = EINVAL;
	else
		err = push_one(sd, hc, fm);
	str_busy_unlock(pl);
	settle(sd, hc);
	return err;
}

/* Close and free the topmost module of @sd.  Locks: busy. */
static int
pop_one(struct str_head *sd, struct host_call *hc)
{
	queue_t *wq = sd->qp->wq.q_next;
	struct str_qpair *qp;
	int err;

	qp = wq->q_pair;
	STR_VERIFY(qp->role == STR_QP_MODULE &&
		(str_load(&wq->q_flag) & QREADR) == 0);
	str_mem_own(qp); /* from here on this thread owns it, linked or not */
	sd->plumb->leaving = qp;
	err = str_qclose(qp, hc);
	str_plumb_recount(sd->plumb);
	str_qpair_free(qp);
	return err;
}

/*
 * str_plumb_pop - I_POP
 * Return: 0, or the error of the module's close procedure: then it is popped,
 * too; EINVAL: nothing is pushed at this end, or the stream is linked below a
 * multiplexor; EPERM: anchored; EINTR.
 */
int
str_plumb_pop(struct str_head *sd, struct host_call *hc)
{
	struct str_plumb *pl = sd->plumb;
	int err = str_busy_lock(pl, hc);

	if (err != 0)
		return err;
	if (str_load(&sd->npush) == 0 ||
	    (str_load(&sd->flags) & STR_H_PLEX) != 0) {
		err = EINVAL;
	} else if (str_load(&sd->npush) <= str_load(&sd->anchor) &&
		   drv_priv(NULL) != 0) {
		err = EPERM;
	} else {
		err = pop_one(sd, hc);
		if (str_load(&sd->anchor) > str_load(&sd->npush))
			str_store(&sd->anchor, str_load(&sd->npush));
		update(pl);
	}
	str_busy_unlock(pl);
	settle(sd, hc);
	return err;
}

/* str_plumb_clear - pop everything at @sd's end; the end is closed. */
void
str_plumb_clear(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;
	bool mine;

	if (str_load(&sd->npush) == 0 && str_load(&pl->busy.owner) == 0 &&
	    str_load(&pl->plumber.owner) == 0)
		return; /* no modules, no plumber needed */
	mine = str_busy_lock(pl, NULL) == 0; /* else the caller has busy */

	while (str_load(&sd->npush) > 0)
		(void)pop_one(sd, NULL);
	update(pl);
	if (mine)
		str_busy_unlock(pl);
}

/* str_plumb_clear_all - the same at all its ends. */
void
str_plumb_clear_all(struct str_plumb *pl)
{
	unsigned e;

	for (e = 0; e < pl->nheads; e++)
		str_plumb_clear(&pl->head[e]);
}
