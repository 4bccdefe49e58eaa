/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * put and putnext: the fast path between modules.
 *
 * Nearly always the queue belongs to the stream that this thread has claimed
 * last (host_tls.at), and has no perimeter: then the put procedure is called.
 * A queue of another stream is *far*: that stream is claimed first, and if that
 * is not possible the message waits there (core/sched/sched.c, late messages).
 * A queue with a perimeter: core/perim/perim.c.
 */
#include "perim.h"

/* @q is far: put to it, or to the queue after it (@bits STR_MP_NEXT). */
static STR_NOINLINE void
put_far(queue_t *q, mblk_t *mp, unsigned bits)
{
	struct str_plumb *pl = q->q_pair->plumb, *was;
	int how = str_far_enter(pl, &was);

	/* if messages are on the late list, this one follows them, because some
	 * may be of the same sender.  That may be so although this thread has
	 * the claim: it may have it since before the plumber came */
	if (how == STR_FAR_NO || (str_load(&pl->late) & STR_LATE_MSG) != 0) {
		mp = str_msg_unpin_or_free(mp);
		if (mp != NULL)
			str_sched_late(pl, q, mp, bits);
		if (how != STR_FAR_NO)
			str_far_leave(pl, how, was);
		return;
	}
	if (bits & STR_MP_NEXT)
		q = q->q_next;
	if (q == NULL)
		freemsg(mp);
	else
		str_put(q, mp);
	str_far_leave(pl, how, was);
}

/* Pass @mp to @q's put procedure, in its perimeter. */
STR_INLINE void
put_on(queue_t *q, mblk_t *mp)
{
	struct str_qpair *qp = q->q_pair;

	if (str_unlikely(qp->plumb != host_tls.at)) {
		put_far(q, mp, 0);
		return;
	}
	if (q->q_head != NULL) {
		str_head_rput(q->q_head, q, mp);
		return;
	}
	if (str_likely(qp->pm == NULL)) {
		(void)q->q_qinfo->qi_putp(q, mp);
		return;
	}
	str_perim_put(qp, q, mp);
}

STR_HOT void
str_put(queue_t *q, mblk_t *mp)
{
	put_on(q, mp);
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
	queue_t *n;

	if (str_unlikely(q->q_pair->plumb != host_tls.at)) {
		put_far(q, mp, STR_MP_NEXT);
		return;
	}
	n = q->q_next;
	if (str_unlikely(n == NULL)) {
		freemsg(mp); /* the other end has been dismantled */
		return;
	}
	put_on(n, mp);
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

static int
send_next(queue_t *q, mblk_t *mp)
{
	if (mp == NULL)
		return 0;
	if (q->q_next == NULL) {
		freemsg(mp);
		return 0;
	}
	putnext(q, mp);
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
	return send_next(q, make_ctl(type, 0, 0, 0));
}

int
putnextctl1(queue_t *q, int type, int param)
{
	return send_next(q, make_ctl(type, 1, param, 0));
}

int
putnextctl2(queue_t *q, int type, int p1, int p2)
{
	return send_next(q, make_ctl(type, 2, p1, p2));
}
