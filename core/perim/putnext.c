/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * put and putnext: the fast path between modules, and the perimeters.
 *
 * A module registered D_MP is entered by any number of threads at once; its
 * put procedure is called directly.  A module with a perimeter (D_MTQPAIR
 * and the coarser kinds, which this executive treats as D_MTQPAIR where the
 * module keeps no state outside its queue pair) is entered by one thread at
 * a time.  Entering never blocks: a thread that finds somebody inside, itself
 * included, leaves the message on the pair's backlog, and the thread inside
 * takes it from there before it leaves.  So order is kept and no put
 * procedure is ever re-entered.
 *
 * Failure.  `inside' names the thread.  Who finds a dead one takes the
 * perimeter over; messages on the backlog are still there.
 */
#include "core.h"

/* The backlog's lock; its last owner may have died between two stores. */
static void
lock_backlog(struct str_qpair *qp)
{
	mblk_t *mp;

	if (str_likely(!str_lock(&qp->block)))
		return;
	for (mp = qp->bl_first; mp != NULL && mp->b_next != NULL;
		mp = mp->b_next)
		;
	qp->bl_last = mp;
}

/* str_perim_backlog - call @fn for every message that waits at @qp. */
void
str_perim_backlog(struct str_qpair *qp, void (*fn)(mblk_t *mp, uintptr_t arg),
	uintptr_t arg)
{
	mblk_t *mp;

	lock_backlog(qp);
	for (mp = qp->bl_first; mp != NULL; mp = mp->b_next)
		fn(mp, arg);
	str_unlock(&qp->block);
}

static void
backlog_append(struct str_qpair *qp, queue_t *q, mblk_t *mp)
{
	/* b_queue: remembered in b_prev while the message waits */
	mp->b_next = NULL;
	mp->b_prev = (mblk_t *)(void *)q;
	lock_backlog(qp);
	if (qp->bl_last != NULL)
		qp->bl_last->b_next = mp;
	else
		qp->bl_first = mp;
	qp->bl_last = mp;
	str_msg_disown(mp);
	str_unlock(&qp->block);
}

static mblk_t *
backlog_take(struct str_qpair *qp)
{
	mblk_t *mp;

	lock_backlog(qp);
	mp = qp->bl_first;
	if (mp != NULL) {
		str_msg_own(mp);
		qp->bl_first = mp->b_next;
		if (qp->bl_first == NULL)
			qp->bl_last = NULL;
		mp->b_next = NULL;
	}
	str_unlock(&qp->block);
	return mp;
}

static bool
enter(struct str_qpair *qp)
{
	uint32_t v = str_load(&qp->inside);

	if (v == 0)
		return str_cas(&qp->inside, 0u, host_self_tag());
	if (v != host_self_tag() && host_owner_dead(v))
		return str_cas(&qp->inside, v, host_self_tag());
	return false;
}

/* Leave, unless something came meanwhile: then do it first. */
static void
leave(struct str_qpair *qp)
{
	for (;;) {
		mblk_t *mp;
		uint32_t want;

		while ((mp = backlog_take(qp)) != NULL) {
			queue_t *q = (queue_t *)(void *)mp->b_prev;

			mp->b_prev = NULL;
			(void)q->q_qinfo->qi_putp(q, mp);
		}
		str_store_rel(&qp->inside, 0u);
		str_fence_full(); /* pairs with the one in str_put_slow() */
		want = str_xchg(&qp->srvwant, 0u);
		if (want & 1)
			str_sched_enable(&qp->rq);
		if (want & 2)
			str_sched_enable(&qp->wq);
		if (qp->bl_first == NULL || !enter(qp))
			return;
	}
}

static STR_NOINLINE void
put_perim(struct str_qpair *qp, queue_t *q, mblk_t *mp)
{
	if (qp->bl_first == NULL && enter(qp)) {
		(void)q->q_qinfo->qi_putp(q, mp);
		leave(qp);
		return;
	}
	backlog_append(qp, q, mp);
	str_fence_full(); /* pairs with the one in leave() */
	if (str_load(&qp->inside) == 0 && enter(qp))
		leave(qp);
}

/* str_perim_drain - run what waits for @qp's perimeter. */
void
str_perim_drain(struct str_qpair *qp)
{
	if (qp->bl_first != NULL && enter(qp))
		leave(qp);
}

/* str_perim_service - @q's service procedure, inside its perimeter. */
void
str_perim_service(queue_t *q)
{
	struct str_qpair *qp = q->q_pair;

	if (qp->perim != STR_PERIM_NONE && !enter(qp)) {
		(void)str_or(&qp->srvwant, (q->q_flag & QREADR) ? 1u : 2u);
		str_fence_full();
		if (str_load(&qp->inside) != 0 || !enter(qp))
			return;
		(void)str_and(&qp->srvwant,
			(q->q_flag & QREADR) ? ~1u : ~2u);
	}
	str_qset(q, QSVCBUSY);
	(void)q->q_qinfo->qi_srvp(q);
	str_qclr(q, QSVCBUSY | QBACK);
	if (qp->perim != STR_PERIM_NONE)
		leave(qp);
}

/* str_put - hand @mp to @q's put procedure, perimeter included. */
STR_HOT void
str_put(queue_t *q, mblk_t *mp)
{
	struct str_qpair *qp = q->q_pair;

	if (q->q_head != NULL) {
		str_head_rput(q->q_head, q, mp);
		return;
	}
	if (str_likely(qp->perim == STR_PERIM_NONE)) {
		(void)q->q_qinfo->qi_putp(q, mp);
		return;
	}
	put_perim(qp, q, mp);
}

/* SVR4 put(D3) */
void
put(queue_t *q, mblk_t *mp)
{
	str_put(q, mp);
}

/* SVR4 putnext(D3) */
STR_HOT void
putnext(queue_t *q, mblk_t *mp)
{
	queue_t *n = q->q_next;

	if (str_unlikely(n == NULL)) {
		freemsg(mp); /* the other end has been taken apart */
		return;
	}
	str_put(n, mp);
}

/* SVR4 qreply(D3) */
void
qreply(queue_t *q, mblk_t *mp)
{
	putnext(str_otherq(q), mp);
}

static mblk_t *
make_ctl(int type, int n, int p1, int p2)
{
	mblk_t *mp;

	/* SVR4 putctl(D3): data types are refused, M_DELAY is not */
	if (datamsg((unsigned char)type) && type != M_DELAY)
		return NULL;
	mp = allocb(2, BPRI_HI);
	if (mp == NULL)
		return NULL;
	mp->b_datap->db_type = (unsigned char)type;
	if (n > 0)
		*mp->b_wptr++ = (unsigned char)p1;
	if (n > 1)
		*mp->b_wptr++ = (unsigned char)p2;
	return mp;
}

static int
send_ctl(queue_t *q, mblk_t *mp)
{
	if (mp == NULL)
		return 0;
	if (q == NULL) {
		freemsg(mp);
		return 0;
	}
	str_put(q, mp);
	return 1;
}

int
putctl(queue_t *q, int type)
{
	return send_ctl(q, make_ctl(type, 0, 0, 0));
}

int
putctl1(queue_t *q, int type, int param)
{
	return send_ctl(q, make_ctl(type, 1, param, 0));
}

int
putctl2(queue_t *q, int type, int p1, int p2)
{
	return send_ctl(q, make_ctl(type, 2, p1, p2));
}

int
putnextctl(queue_t *q, int type)
{
	return putctl(q->q_next, type);
}

int
putnextctl1(queue_t *q, int type, int param)
{
	return putctl1(q->q_next, type, param);
}

int
putnextctl2(queue_t *q, int type, int p1, int p2)
{
	return putctl2(q->q_next, type, p1, p2);
}
