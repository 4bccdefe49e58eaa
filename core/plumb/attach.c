/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pushing and popping modules in a running stream.
 *
 * Life.  Push, under the plumber: make the queue pair with its procedures
 * off, point its q_next at both neighbours, call the module's open
 * procedure.  qprocson() makes the neighbours point at it; messages reach it
 * from then on.  Pop is the reverse: qprocsoff() (called by the module's
 * close, or after it) takes it out of the way, then it is freed.
 *
 * Data waiting at the Stream heads stays where it is; data waiting in the
 * module's own queues is freed when it goes, as SVR4 has it.
 *
 * Failure.  Dying in between leaves a pair that one neighbour, both or none
 * point at; str_plumb_repair() walks both directions and takes out what only
 * one of them knows.
 */
#include "core.h"

struct str_qpair *
str_qpair_alloc(struct str_plumb *pl, struct str_fmod *fm)
{
	struct str_qpair *qp = str_mem_alloc(sizeof(*qp), STR_BLK_KMEM);
	struct qinit *ri, *wi;

	if (qp == NULL)
		return NULL;
	__builtin_memset((char *)qp + sizeof(qp->blk), 0,
		sizeof(*qp) - sizeof(qp->blk));
	ri = fm != NULL ? fm->tab.st_rdinit :
		(struct qinit *)(uintptr_t)str_load(str_root(STR_ROOT_HEADINIT));
	wi = fm != NULL ? fm->tab.st_wrinit : ri + 1;
	str_queue_init(&qp->rq, ri, qp, QREADR);
	str_queue_init(&qp->wq, wi, qp, 0);
	qp->plumb = pl;
	qp->fmod = fm;
	if (fm != NULL) {
		qp->perim = (fm->flag & D_MP) ? STR_PERIM_NONE :
						STR_PERIM_PAIR;
		str_qset(&qp->rq, QPROCS);
		str_qset(&qp->wq, QPROCS);
	}
	/* only now: the reaper takes it for one */
	str_store_rel(&qp->blk.state, STR_BLK_QPAIR);
	return qp;
}

void
str_qpair_free(struct str_qpair *qp)
{
	mblk_t *mp;

	str_timer_cancel_pair(qp);
	str_sched_remove(&qp->rq);
	str_sched_remove(&qp->wq);
	while ((mp = qp->bl_first) != NULL) {
		qp->bl_first = mp->b_next;
		mp->b_next = mp->b_prev = NULL;
		freemsg(mp);
	}
	str_queue_flush_all(&qp->rq);
	str_queue_flush_all(&qp->wq);
	str_mem_free(qp);
}

/* Make the neighbours point at @qp, which points at them already. */
static void
insert(struct str_qpair *qp)
{
	queue_t *above = str_otherq(qp->rq.q_next); /* their write queue */
	queue_t *below = str_otherq(qp->wq.q_next);

	if (qp->rq.q_flag & QMOUNTED)
		return;
	str_qset(&qp->rq, QMOUNTED);
	below->q_next = &qp->rq;
	STR_CRASH_POINT("plumb:half");
	above->q_next = &qp->wq;
}

static void
remove_pair(struct str_qpair *qp)
{
	queue_t *above = str_otherq(qp->rq.q_next);
	queue_t *below = str_otherq(qp->wq.q_next);

	if ((qp->rq.q_flag & QMOUNTED) == 0)
		return;
	above->q_next = qp->wq.q_next;
	STR_CRASH_POINT("plumb:halfout");
	below->q_next = qp->rq.q_next;
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

	if (qp->fmod == NULL)
		return;
	str_qclr(&qp->rq, QPROCS);
	str_qclr(&qp->wq, QPROCS);
	insert(qp);
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

	if (qp->fmod == NULL)
		return;
	str_qset(&qp->rq, QPROCS);
	str_qset(&qp->wq, QPROCS);
	str_sched_remove(&qp->rq);
	str_sched_remove(&qp->wq);
	remove_pair(qp);
}

/* Under the plumber: does a direct path exist between the heads? */
void
str_plumb_update(struct str_plumb *pl)
{
	int e;

	for (e = 0; e < 2; e++) {
		if (str_hlock(&pl->head[e].hq.plock, STR_HOLD_P))
			str_headq_repair_p(&pl->head[e].hq);
	}
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];
		bool straight = sd->qp->wq.q_next == &sd->peer->qp->rq;

		sd->direct = straight ? &sd->peer->hq : NULL;
		if (straight)
			(void)str_and(&sd->flags, ~STR_H_MODS);
		else
			(void)str_or(&sd->flags, STR_H_MODS);
	}
	for (e = 2; e-- > 0;)
		str_hunlock(&pl->head[e].hq.plock, STR_HOLD_P);
}

/*
 * The plumber died.  The downward chain of end 0 decides what is in the
 * stream; what is only half in or half out is left to the reaper.
 */
void
str_plumb_repair(struct str_plumb *pl)
{
	queue_t *end = &pl->head[1].qp->rq;
	unsigned n[2] = {0, 0};
	queue_t *q;

	for (q = &pl->head[0].qp->wq; q != end && q->q_next != NULL;
		q = q->q_next) {
		/* the way back must lead here */
		str_otherq(q->q_next)->q_next = str_otherq(q);
		if (q->q_head != NULL)
			continue;
		str_qset(RD(q), QMOUNTED);
		n[(q->q_flag & QREADR) ? 1 : 0]++;
	}
	str_store(&pl->head[0].npush, n[0]);
	str_store(&pl->head[1].npush, n[1]);
	str_plumb_update(pl);
}

/*
 * After the plumbing has changed.  Writers wait for something else now: for
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

/* Open flags as DDI open procedures want them. */
static int
ddi_flags(struct host_call *hc)
{
	int f = FREAD | FWRITE;

	if (hc != NULL && (hc->fflags & STR_O_NONBLOCK))
		f |= FNDELAY | FNONBLOCK;
	return f;
}

/*
 * str_plumb_push - I_PUSH: put a new instance of module @name below the head
 * Return: 0, EINVAL (no such module), ENXIO (hung up), EINTR, ENOSR, or what
 * the module's open answered.
 */
int
str_plumb_push(struct str_head *sd, struct host_call *hc, const char *name)
{
	struct str_plumb *pl = sd->plumb;
	struct str_fmod *fm = str_fmod_find(name);
	struct str_qpair *qp;
	dev_t dev = 0;
	int err;

	if (fm == NULL)
		return EINVAL;
	err = str_plumb_lock(pl, hc);
	if (err != 0)
		return err;
	if (str_load(&sd->npush) >= STR_NPUSH) {
		str_plumb_unlock(pl);
		return EINVAL;
	}
	qp = str_qpair_alloc(pl, fm);
	if (qp == NULL) {
		str_plumb_unlock(pl);
		return ENOSR;
	}
	qp->rq.q_next = &sd->qp->rq;
	qp->wq.q_next = sd->qp->wq.q_next;
	err = 0;
	if (qp->rq.q_qinfo->qi_qopen != NULL)
		err = qp->rq.q_qinfo->qi_qopen(&qp->rq, &dev, ddi_flags(hc),
			MODOPEN, NULL);
	if (err != 0) {
		/* some say OPENFAIL or minus an errno */
		err = err == OPENFAIL ? ENXIO : err < 0 ? -err : err;
		qprocsoff(&qp->rq);
		str_qpair_free(qp);
		str_plumb_update(pl);
		str_plumb_unlock(pl);
		settle(sd, hc);
		return err;
	}
	qprocson(&qp->rq);
	str_mem_disown(qp);
	str_store(&sd->npush, str_load(&sd->npush) + 1);
	str_plumb_update(pl);
	str_plumb_unlock(pl);
	settle(sd, hc);
	return 0;
}

/* Close and free the topmost module of @sd.  Under the plumber. */
static int
pop_one(struct str_head *sd, struct host_call *hc)
{
	queue_t *wq = sd->qp->wq.q_next;
	struct str_qpair *qp;
	int err = 0;

	qp = wq->q_pair;
	str_mem_own(qp); /* from here on it is ours, linked or not */
	if (qp->rq.q_qinfo->qi_qclose != NULL)
		err = qp->rq.q_qinfo->qi_qclose(&qp->rq, ddi_flags(hc), NULL);
	qprocsoff(&qp->rq);
	str_store(&sd->npush, str_load(&sd->npush) - 1);
	str_qpair_free(qp);
	return err < 0 ? -err : err;
}

/*
 * str_plumb_pop - I_POP
 * Return: 0, EINVAL (nothing pushed at this end), EINTR.
 */
int
str_plumb_pop(struct str_head *sd, struct host_call *hc)
{
	struct str_plumb *pl = sd->plumb;
	int err = str_plumb_lock(pl, hc);

	if (err != 0)
		return err;
	if (str_load(&sd->npush) == 0) {
		str_plumb_unlock(pl);
		return EINVAL;
	}
	err = pop_one(sd, hc);
	str_plumb_update(pl);
	str_plumb_unlock(pl);
	settle(sd, hc);
	return err;
}

/* str_plumb_clear - pop everything at @sd's end; the end is closed. */
void
str_plumb_clear(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;

	(void)str_plumb_lock(pl, NULL);
	while (str_load(&sd->npush) > 0)
		(void)pop_one(sd, NULL);
	str_plumb_update(pl);
	str_plumb_unlock(pl);
}
