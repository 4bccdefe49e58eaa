/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Flow control between queues: canput and related functions, back-enabling, and
 * walks along a stream.
 *
 * The queue that is tested is the next one with a service procedure, or the
 * Stream head at the end, where messages would be queued.  A refusal leaves a
 * mark there (QWANTW, QB_WANTW, or STR_WANT_BACK at a head), and the queue's
 * consumer back-enables the nearest previous service procedure when the queue
 * is below its low water mark.
 *
 * Messages that wait at the perimeter of that queue, or of a queue on the way,
 * are limited in the same manner: core/perim/perim.c.
 *
 * A queue of a stream other than the current one is *far*, as in
 * core/perim/putnext.c: its stream is claimed for the walk.  While there is a
 * plumber, links cannot be followed. canput() then counts the late messages for
 * the given queue against that queue's high water mark.  A back-enable waits
 * until the plumber has finished.
 */
#include "core.h"

queue_t *
OTHERQ(queue_t *q)
{
	return str_otherq(q);
}

queue_t *
RD(queue_t *q)
{
	return (str_load(&q->q_flag) & QREADR) ? q : q - 1;
}

queue_t *
WR(queue_t *q)
{
	return (str_load(&q->q_flag) & QREADR) ? q + 1 : q;
}

/* SVR4 backq(D3): the queue whose q_next is @q. */
queue_t *
backq(queue_t *q)
{
	queue_t *n = str_otherq(q)->q_next;

	return n != NULL ? str_otherq(n) : NULL;
}

/* SVR4 samestr(D3): is the next queue of the same kind (read, write)? */
int
SAMESTR(queue_t *q)
{
	return q->q_next != NULL &&
		((str_load(&q->q_next->q_flag) ^ str_load(&q->q_flag)) &
			QREADR) == 0;
}

/* The queue from @q on where a message would be queued. */
queue_t *
str_queue_nfsrv(queue_t *q)
{
	while (q->q_next != NULL && q->q_head == NULL &&
		(q->q_qinfo == NULL || q->q_qinfo->qi_srvp == NULL))
		q = q->q_next;
	return q;
}

/* A module tests the head queue at the stream's end. */
static int
head_canput(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;

	if (!str_headq_is_full(hq))
		return 1;
	(void)str_or(&hq->wwant, STR_WANT_BACK);
	host_fence_heavy(); /* pairs with the light fence of the reader */
	return !str_headq_is_full(hq);
}

static int
queue_canput(queue_t *q, int band)
{
	qband_t *qb;
	int ok = 1;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	if (band == 0) {
		if (str_load(&q->q_flag) & QFULL) {
			str_qset(q, QWANTW);
			ok = 0;
		}
	} else {
		qb = str_queue_band(q, (unsigned)band, false);
		if (qb != NULL && (qb->qb_flag & QB_FULL)) {
			qb->qb_flag |= QB_WANTW;
			ok = 0;
		}
	}
	str_unlock(&q->q_klock);
	return ok;
}

/* Is there a band above 0 with room? */
static int
any_canput(queue_t *q)
{
	qband_t *qb;
	int ok = 0;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next) {
		if ((qb->qb_flag & QB_FULL) == 0)
			ok = 1;
		else
			qb->qb_flag |= QB_WANTW;
	}
	str_unlock(&q->q_klock);
	return ok;
}

static int
near_canput(queue_t *q, int band)
{
	queue_t *to;

	if (q == NULL || band > 255)
		return 0;
	to = str_queue_nfsrv(q);
	for (;; q = q->q_next) {
		if (str_unlikely(str_perim_waits(q)) && str_perim_full(q))
			return 0;
		if (q == to)
			break;
	}
	if (band == ANYBAND)
		return any_canput(q);
	if (band == 0 && q->q_head != NULL && (str_load(&q->q_flag) & QREADR))
		return head_canput(q->q_head);
	return queue_canput(q, band);
}

/* near_canput() for @q, or for the queue after it (@next), in a stream other
 * than the one that this thread is in. */
static STR_NOINLINE int
far_canput(queue_t *q, int band, bool next)
{
	struct str_plumb *pl = q->q_pair->plumb, *was;
	int how = str_far_enter(pl, &was), ok;

	if (how == STR_FAR_NO)
		return band <= 255 && !str_sched_late_full(q,
			!next && band == 0 ? QFULL : 0);
	ok = near_canput(next ? q->q_next : q, band);
	/* a message that is put now is queued after the late messages */
	if (ok && str_unlikely((str_load(&pl->late) & STR_LATE_MSG) != 0))
		ok = !str_sched_late_full(q, 0);
	str_far_leave(pl, how, was);
	return ok;
}

/* SVR4 bcanput(D3) */
int
bcanput(queue_t *q, int band)
{
	if (q == NULL)
		return 0;
	if (str_unlikely(q->q_pair->plumb != host_tls.at))
		return far_canput(q, band, false);
	return near_canput(q, band);
}

int
canput(queue_t *q)
{
	return bcanput(q, 0);
}

int
bcanputnext(queue_t *q, int band)
{
	queue_t *n;

	if (str_unlikely(q->q_pair->plumb != host_tls.at))
		return far_canput(q, band, true);
	n = q->q_next;
	/* weldq(9): the next queue belongs to another stream */
	if (n != NULL && str_unlikely(n->q_pair->plumb != q->q_pair->plumb))
		return far_canput(n, band, false);
	return near_canput(n, band);
}

int
canputnext(queue_t *q)
{
	return bcanputnext(q, 0);
}

int
bcanputany(queue_t *q)
{
	return bcanput(q, ANYBAND);
}

int
bcanputnextany(queue_t *q)
{
	return bcanputnext(q, ANYBAND);
}

/* Has the nearest previous queue with a service procedure, or else the head,
 * messages of @band?  The counterpart of canput(). */
static int
near_canget(queue_t *q, int band)
{
	queue_t *b;
	mblk_t *mp;
	int yes = 0;

	for (b = backq(q); b != NULL; b = backq(b)) {
		if (b->q_qinfo != NULL && b->q_qinfo->qi_srvp != NULL)
			break;
		if (b->q_head != NULL)
			break;
	}
	if (b == NULL)
		return 0;
	if (str_lock(&b->q_klock))
		(void)str_queue_repair(b);
	for (mp = b->q_first; mp != NULL && !yes; mp = mp->b_next)
		yes = band == ANYBAND ? mp->b_band != 0 : mp->b_band == band;
	str_unlock(&b->q_klock);
	return yes;
}

int
bcanget(queue_t *q, int band)
{
	struct str_plumb *pl = q->q_pair->plumb, *was;
	int how, yes;

	if (str_likely(pl == host_tls.at))
		return near_canget(q, band);
	how = str_far_enter(pl, &was);
	if (how == STR_FAR_NO)
		return 0;
	yes = near_canget(q, band);
	str_far_leave(pl, how, was);
	return yes;
}

int
canget(queue_t *q)
{
	return bcanget(q, 0);
}

int
bcangetany(queue_t *q)
{
	return bcanget(q, ANYBAND);
}

/* Wake a head's writers, which wait until its modules have room. */
static void
head_backenable(struct str_head *sd)
{
	(void)str_wake_writers_behind(sd);
}

static void
near_backenable(queue_t *q, unsigned char band)
{
	queue_t *b;

	for (b = backq(q); b != NULL; b = backq(b)) {
		if (b->q_head != NULL) {
			head_backenable(b->q_head);
			return;
		}
		if (b->q_qinfo != NULL && b->q_qinfo->qi_srvp != NULL) {
			if (str_lock(&b->q_klock))
				(void)str_queue_repair(b);
			str_qset(b, QBACK);
			if (band != 0) {
				qband_t *qb = str_queue_band(b, band, false);

				if (qb != NULL)
					qb->qb_flag |= QB_BACK;
			}
			str_unlock(&b->q_klock);
			str_sched_enable(b); /* noenable() or not */
			return;
		}
	}
}

/*
 * Back-enable from @q: the nearest previous queue with a service procedure, or
 * the Stream head's writers.
 */
void
qbackenable(queue_t *q, unsigned char band)
{
	struct str_plumb *pl = q->q_pair->plumb, *was;
	int how;

	if (str_likely(pl == host_tls.at)) {
		near_backenable(q, band);
		return;
	}
	how = str_far_enter(pl, &was);
	if (how == STR_FAR_NO) {
		str_sched_late_flag(pl, STR_LATE_BACK);
		return;
	}
	near_backenable(q, band);
	str_far_leave(pl, how, was);
}

void
enableok(queue_t *q)
{
	(void)__atomic_fetch_and(&q->q_flag, ~QNOENB, __ATOMIC_ACQ_REL);
}

void
noenable(queue_t *q)
{
	(void)__atomic_fetch_or(&q->q_flag, QNOENB, __ATOMIC_ACQ_REL);
}

int
canenable(queue_t *q)
{
	return (str_load(&q->q_flag) & QNOENB) == 0;
}

/* SVR4 qcountstrm(D3): bytes queued from @q on in its direction; q_count only,
 * so without bands above 0. */
int
qcountstrm(queue_t *q)
{
	size_t n = 0;

	for (; q != NULL && SAMESTR(q); q = q->q_next)
		n += q->q_count;
	if (q != NULL)
		n += q->q_count;
	return (int)n;
}
