/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Queues: putq, getq and related functions; SVR4 DDI/DKI section D3.
 *
 * Order.  A queue holds high-priority messages first, then bands from high
 * to low, each first in first out; band 0 last.
 *
 * The last message of each band, and of high priority (q_high), is known, so
 * that an insertion does not search.
 *
 * Counts.  Band 0 and high priority count in q_count, other bands in their
 * own qb_count.  QFULL is set when the count exceeds hiwat and cleared when
 * it is zero or below lowat; a queue that had been found full (QWANTW) is
 * then back-enabled, once.  getq() on an empty queue sets QWANTR and does
 * nothing else: a false back-enable there costs a service procedure per
 * message.
 *
 * Locks.  All under q_klock; enabling and back-enabling happen after it has
 * been dropped.
 *
 * Failure.  A message is linked by the store of its predecessor's b_next (or
 * q_first); b_prev, q_last and the counts can be rebuilt from there, which
 * str_queue_repair() does for the thread that takes over a dead owner's lock.
 */
#include "core.h"
#include "msg/origin.h"

#include <str/builtin.h>

static void
lockq(queue_t *q)
{
	bool waited = false;

	for (;;) {
		if (str_unlikely(str_lock(&q->q_klock)))
			(void)str_queue_repair(q);
		if (str_likely((str_load(&q->q_flag) & QFROZEN) == 0) || waited ||
		    str_queue_thawed(q))
			return;
		str_unlock(&q->q_klock);
		str_queue_frozen(q);
		waited = true;
	}
}

static void
unlockq(queue_t *q)
{
	str_unlock(&q->q_klock);
}

static bool
is_pri(const mblk_t *mp)
{
	return mp->b_datap->db_type >= QPCTL;
}

/* Bands order messages: high priority above all. */
static int
rank(const mblk_t *mp)
{
	return is_pri(mp) ? 256 : mp->b_band;
}

/*
 * str_queue_band - band @band of @q, made when @create
 * Locks: q_klock.  Return: NULL for band 0, no memory, or if it does not exist.
 */
qband_t *
str_queue_band(queue_t *q, unsigned band, bool create)
{
	qband_t **link = &q->q_bandp, *qb;
	struct str_blk *b;

	if (band == 0)
		return NULL;
	for (; (qb = *link) != NULL && qb->qb_band < band; link = &qb->qb_next)
		;
	if (qb != NULL && qb->qb_band == band)
		return qb;
	if (!create)
		return NULL;
	b = str_mem_zalloc(sizeof(*b) + sizeof(*qb), STR_BLK_KMEM);
	if (b == NULL)
		return NULL;
	qb = (qband_t *)(void *)(b + 1);
	qb->qb_band = (unsigned char)band;
	qb->qb_hiwat = q->q_hiwat;
	qb->qb_lowat = q->q_lowat;
	qb->qb_next = *link;
	*link = qb;
	str_mem_disown(b);
	if (q->q_nband < band)
		q->q_nband = (unsigned char)band;
	return qb;
}

static void
count_in(queue_t *q, mblk_t *mp, qband_t *qb)
{
	size_t n = msgsize(mp);

	if (qb == NULL && !is_pri(mp) && mp->b_band != 0)
		return; /* a head's, see putq() */
	if (qb != NULL) {
		qb->qb_count += n;
		if (qb->qb_count > qb->qb_hiwat &&
		    (qb->qb_flag & QB_FULL) == 0) {
			qb->qb_flag |= QB_FULL;
			q->q_blocked++;
		}
		return;
	}
	q->q_count += n;
	if (q->q_count > q->q_hiwat)
		str_qset(q, QFULL);
}

/* A Stream head's readers test one word, not its queue. */
static void
head_count(queue_t *q, uint32_t n)
{
	if (q->q_head != NULL && (str_load(&q->q_flag) & QREADR))
		(void)str_add(&q->q_head->hq.npri, n);
}

/* Link @mp before @emp (NULL: at the end).  Locks: q_klock. */
static void
link_before(queue_t *q, mblk_t *emp, mblk_t *mp)
{
	mblk_t *prev = emp != NULL ? emp->b_prev : q->q_last;

	/*
	 * stamped with this thread, whichever had it before: if this thread is
	 * killed, the reaper examines the streams of this thread
	 */
	str_msg_hold(mp);
	mp->b_next = emp;
	mp->b_prev = prev;
	head_count(q, 1u); /* a reader that sees it takes the lock */
	str_barrier();
	if (prev != NULL)
		prev->b_next = mp;
	else
		str_store_rel(&q->q_first, mp); /* drv/tpi reads it without the
						 * lock */
	STR_CRASH_POINT("queue:linked");
	str_msg_disown(mp);
	if (emp != NULL)
		emp->b_prev = mp;
	else
		q->q_last = mp;
}

/*
 * @origin: the record, if the caller will hand it on, else 0.  Locks: q_klock.
 */
static void
unlink_msg(queue_t *q, mblk_t *mp, uint64_t origin)
{
	/*
	 * stamped first: the reaper distinguishes linked messages from others
	 */
	str_msg_take(mp, origin);
	str_barrier();
	if (mp->b_prev != NULL)
		mp->b_prev->b_next = mp->b_next;
	else
		str_store_rel(&q->q_first, mp->b_next);
	STR_CRASH_POINT("queue:unlinked");
	if (mp->b_next != NULL)
		mp->b_next->b_prev = mp->b_prev;
	else
		q->q_last = mp->b_prev;
	if (str_unlikely(q->q_high == mp))
		q->q_high = mp->b_prev;
	mp->b_next = mp->b_prev = NULL;
	head_count(q, ~0u);
}

/* @mp has just been linked: update the ends of its band @qb, or q_high. */
static void
band_ends(queue_t *q, qband_t *qb, mblk_t *mp)
{
	if (qb == NULL) {
		if (is_pri(mp) && q->q_high == mp->b_prev)
			q->q_high = mp;
		return;
	}
	if (qb->qb_first == NULL || mp->b_next == qb->qb_first)
		qb->qb_first = mp;
	if (qb->qb_last == NULL || mp->b_prev == qb->qb_last)
		qb->qb_last = mp;
}

/*
 * Subtract @mp's bytes from the counts.  Locks: q_klock.
 * Return: the band to back-enable once the lock is dropped, or -1.
 */
static int
count_out(queue_t *q, mblk_t *mp, mblk_t *next, mblk_t *prev)
{
	size_t n = msgsize(mp);
	int back = -1;

	if (!is_pri(mp) && mp->b_band != 0) {
		qband_t *qb = str_queue_band(q, mp->b_band, false);

		if (qb == NULL)
			return -1;
		qb->qb_count -= STR_MIN(n, qb->qb_count);
		if (qb->qb_first == mp)
			qb->qb_first = qb->qb_last == mp ? NULL : next;
		if (qb->qb_last == mp)
			qb->qb_last = qb->qb_first == NULL ? NULL : prev;
		if (qb->qb_count != 0 && qb->qb_count >= qb->qb_lowat)
			return -1;
		if (qb->qb_flag & QB_FULL) {
			qb->qb_flag &= ~(unsigned long)QB_FULL;
			q->q_blocked--;
			if (qb->qb_flag & QB_WANTW)
				back = qb->qb_band;
			qb->qb_flag &= ~(unsigned long)QB_WANTW;
		}
		return back;
	}
	str_store(&q->q_count, q->q_count - STR_MIN(n, q->q_count));
	if (q->q_count != 0 && q->q_count >= q->q_lowat)
		return -1;
	if (str_load(&q->q_flag) & QFULL) {
		if (str_load(&q->q_flag) & QWANTW)
			back = 0;
		str_qclr(q, QFULL | QWANTW);
	}
	return back;
}

/*
 * str_queue_repair - rebuild everything from the b_next chain
 * Locks: q_klock, just taken over.
 */
int
str_queue_repair(queue_t *q)
{
	mblk_t *mp, *prev = NULL;
	qband_t *qb;

	q->q_count = 0;
	q->q_high = NULL;
	str_qclr(q, QFULL);
	q->q_blocked = 0;
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next) {
		qb->qb_count = 0;
		qb->qb_first = qb->qb_last = NULL;
		qb->qb_flag &= ~(unsigned long)QB_FULL;
	}
	for (mp = q->q_first; mp != NULL; prev = mp, mp = mp->b_next) {
		qb = is_pri(mp) ? NULL : str_queue_band(q, mp->b_band, false);
		mp->b_prev = prev;
		str_msg_disown(mp);
		count_in(q, mp, qb);
		if (is_pri(mp))
			q->q_high = mp;
		if (qb != NULL) {
			if (qb->qb_first == NULL)
				qb->qb_first = mp;
			qb->qb_last = mp;
		}
	}
	q->q_last = prev;
	if (q->q_head != NULL && (str_load(&q->q_flag) & QREADR)) {
		uint32_t n = 0;

		for (mp = q->q_first; mp != NULL; mp = mp->b_next)
			n++;
		str_store(&q->q_head->hq.npri, n);
	}
	return 0;
}

/*
 * The first message of lower rank than @r: it follows the last one of the
 * lowest band that is not below @r.  On a head there may also be messages for
 * whose band there was no memory; no band structure has them.
 */
static mblk_t *
place(queue_t *q, int r)
{
	const qband_t *qb;
	mblk_t *mp;

	if (q->q_last == NULL || rank(q->q_last) >= r)
		return NULL;
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next)
		if (qb->qb_band >= r && qb->qb_last != NULL)
			break;
	mp = qb != NULL ? qb->qb_last : r <= 256 ? q->q_high : NULL;
	mp = mp != NULL ? mp->b_next : q->q_first;
	while (mp != NULL && rank(mp) >= r)
		mp = mp->b_next;
	return mp;
}

static bool
wants_service(queue_t *q, mblk_t *mp, bool first)
{
	if (q->q_qinfo == NULL || q->q_qinfo->qi_srvp == NULL)
		return false;
	if (is_pri(mp))
		return true;
	if ((str_load(&q->q_flag) & QNOENB) || !first)
		return false;
	return mp->b_band != 0 || (str_load(&q->q_flag) & QWANTR);
}

/*
 * The message in a form that may be queued; NULL: no memory.  A caller whose
 * message is refused keeps it unchanged: making the band, which could fail
 * later, is done before any buffer is replaced.
 */
static mblk_t *
unpin(queue_t *q, mblk_t *mp)
{
	bool ok = true;

	if (str_unlikely(mp->b_band != 0) && !is_pri(mp)) {
		lockq(q);
		ok = str_queue_band(q, mp->b_band, true) != NULL ||
			q->q_head != NULL;
		unlockq(q);
	}
	return ok ? str_msg_unpin(mp) : NULL;
}

/* SVR4 putq(D3) */
int
putq(queue_t *q, mblk_t *mp)
{
	qband_t *qb = NULL;
	mblk_t *pinned;
	bool enable;

	pinned = unpin(q, mp);
	if (pinned == NULL)
		return 0;
	mp = pinned;
	lockq(q);
	if (!is_pri(mp) && mp->b_band != 0) {
		qb = str_queue_band(q, mp->b_band, true);
		/* a head must not refuse: there a message for whose band there
		 * is no memory is not counted */
		if (qb == NULL && q->q_head == NULL) {
			unlockq(q);
			return 0;
		}
	}
	if (is_pri(mp))
		mp->b_band = 0;
	link_before(q, place(q, rank(mp)), mp);
	band_ends(q, qb, mp);
	count_in(q, mp, qb);
	enable = wants_service(q, mp, q->q_first == mp);
	unlockq(q);
	if (enable)
		str_sched_enable(q);
	return 1;
}

/* Link @mp in front of the other messages of its rank.  Locks: q_klock. */
static void
link_first(queue_t *q, mblk_t *mp, qband_t *qb)
{
	link_before(q, place(q, rank(mp) + 1), mp);
	band_ends(q, qb, mp);
	count_in(q, mp, qb);
}

/*
 * str_queue_return - put back a message that a dead thread had taken
 * Its band exists, because it was on this queue; if a module has changed its
 * band since, and there is no memory for the new one, it is not counted.
 */
void
str_queue_return(queue_t *q, mblk_t *mp)
{
	lockq(q);
	link_first(q, mp, is_pri(mp) ? NULL :
		str_queue_band(q, mp->b_band, true));
	unlockq(q);
	str_sched_enable(q);
}

/*
 * SVR4 putbq(D3): in front of its rank.  Ordinary messages never enable the
 * queue here; high-priority ones do, as SVR4's page says.
 */
int
putbq(queue_t *q, mblk_t *mp)
{
	qband_t *qb = NULL;
	mblk_t *pinned;
	bool enable;

	pinned = unpin(q, mp);
	if (pinned == NULL)
		return 0;
	mp = pinned;
	lockq(q);
	if (!is_pri(mp) && mp->b_band != 0) {
		qb = str_queue_band(q, mp->b_band, true);
		if (qb == NULL && q->q_head == NULL) {
			unlockq(q);
			return 0;
		}
	}
	if (is_pri(mp))
		mp->b_band = 0;
	link_first(q, mp, qb);
	enable = is_pri(mp) && q->q_qinfo != NULL &&
		q->q_qinfo->qi_srvp != NULL;
	unlockq(q);
	if (enable)
		str_sched_enable(q);
	return 1;
}

/* Would @mp between @prev and @next keep the order? */
static bool
in_order(mblk_t *prev, mblk_t *mp, mblk_t *next)
{
	return (prev == NULL || rank(prev) >= rank(mp)) &&
		(next == NULL || rank(next) <= rank(mp));
}

static bool
on_queue(queue_t *q, mblk_t *emp)
{
	mblk_t *mp;

	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		if (mp == emp)
			return true;
	return false;
}

/* Insert @mp before @next, if that keeps the order.  Locks: q_klock, which this
 * function releases. */
static int
insert_at(queue_t *q, mblk_t *next, mblk_t *mp)
{
	mblk_t *prev = next != NULL ? next->b_prev : q->q_last;
	qband_t *qb = NULL;
	bool enable;

	if (!in_order(prev, mp, next)) {
		unlockq(q);
		return 0;
	}
	if (!is_pri(mp) && mp->b_band != 0) {
		qb = str_queue_band(q, mp->b_band, true);
		if (qb == NULL && q->q_head == NULL) {
			unlockq(q);
			return 0;
		}
	}
	link_before(q, next, mp);
	band_ends(q, qb, mp);
	count_in(q, mp, qb);
	enable = wants_service(q, mp, q->q_first == mp);
	unlockq(q);
	if (enable)
		str_sched_enable(q);
	return 1;
}

/*
 * May @mp be inserted before @emp, or with @after after it?  Tested before the
 * message is changed, so that a refused message is unchanged.
 */
static bool
fits(queue_t *q, mblk_t *emp, mblk_t *mp, bool after)
{
	mblk_t *next;
	bool yes;

	lockq(q);
	yes = emp == NULL || on_queue(q, emp);
	if (yes) {
		next = !after ? emp : emp != NULL ? emp->b_next : q->q_first;
		yes = in_order(next != NULL ? next->b_prev : q->q_last, mp,
			next);
	}
	unlockq(q);
	return yes;
}

/* SVR4 insq(D3): before @emp, at the end when that is NULL. */
int
insq(queue_t *q, mblk_t *emp, mblk_t *mp)
{
	mblk_t *pinned = fits(q, emp, mp, false) ? unpin(q, mp) : NULL;

	if (pinned == NULL)
		return 0;
	lockq(q);
	if (emp != NULL && !on_queue(q, emp)) {
		unlockq(q);
		return 0;
	}
	return insert_at(q, emp, pinned);
}

/* The mirror of insq(): after @emp, at the front when that is NULL. */
int
appq(queue_t *q, mblk_t *emp, mblk_t *mp)
{
	mblk_t *pinned = fits(q, emp, mp, true) ? unpin(q, mp) : NULL;

	if (pinned == NULL)
		return 0;
	lockq(q);
	if (emp != NULL && !on_queue(q, emp)) {
		unlockq(q);
		return 0;
	}
	return insert_at(q, emp != NULL ? emp->b_next : q->q_first, pinned);
}

/* The record for a message taken from @q; 0 for a head's read queue, whose
 * readers consume what they take. */
STR_INLINE uint64_t
origin(queue_t *q)
{
	return str_unlikely(q->q_head != NULL && q == &q->q_pair->rq) ? 0 :
		str_origin_word(q, STR_ORIGIN_QUEUE);
}

/* Take the first message, if @wanted accepts it.  @done: without a record, the
 * message is not to be put back. */
STR_INLINE mblk_t *
take(queue_t *q, bool (*wanted)(const mblk_t *mp, const void *arg),
	const void *arg, bool done)
{
	mblk_t *mp;
	int back;

	lockq(q);
	mp = q->q_first;
	if (mp == NULL || (wanted != NULL && !wanted(mp, arg))) {
		if (mp == NULL)
			str_qset(q, QWANTR);
		unlockq(q);
		return NULL;
	}
	str_qclr(q, QWANTR);
	back = count_out(q, mp, mp->b_next, NULL);
	unlink_msg(q, mp, done ? 0 : origin(q));
	unlockq(q);
	if (back >= 0)
		qbackenable(q, (unsigned char)back);
	return mp;
}

/* SVR4 getq(D3) */
mblk_t *
getq(queue_t *q)
{
	return take(q, NULL, NULL, false);
}

/* See <str/builtin.h>. */
mblk_t *
str_getq_done(queue_t *q)
{
	return take(q, NULL, NULL, true);
}

/*
 * str_queue_take - getq(), but NULL if @wanted does not accept the first
 * message
 * So it need not be put back: if a thread were killed in between, the message
 * would be lost for other readers.
 */
mblk_t *
str_queue_take(queue_t *q, bool (*wanted)(const mblk_t *mp, const void *arg),
	const void *arg)
{
	return take(q, wanted, arg, false);
}

/* SVR4 rmvq(D3); a message that is not on @q is not changed. */
void
rmvq(queue_t *q, mblk_t *mp)
{
	int back = -1;

	lockq(q);
	if (on_queue(q, mp)) {
		back = count_out(q, mp, mp->b_next, mp->b_prev);
		unlink_msg(q, mp, 0);
	}
	unlockq(q);
	if (back >= 0)
		qbackenable(q, (unsigned char)back);
}

/*
 * Flush the selected messages; one back-enable for each band that is no longer
 * full.
 */
static void
flush_some(queue_t *q, int band, int flag)
{
	uint32_t back[8] = {0};
	mblk_t *mp, *next, *gone = NULL;
	unsigned b;

	lockq(q);
	for (mp = q->q_first; mp != NULL; mp = next) {
		int r;

		next = mp->b_next;
		if (flag == FLUSHDATA && !datamsg(mp->b_datap->db_type))
			continue;
		if (band >= 0 && (is_pri(mp) || mp->b_band != band))
			continue;
		r = count_out(q, mp, next, mp->b_prev);
		if (r >= 0)
			back[r / 32] |= 1u << (r % 32);
		unlink_msg(q, mp, 0);
		mp->b_next = gone;
		gone = mp;
	}
	unlockq(q);
	for (; gone != NULL; gone = next) {
		next = gone->b_next;
		gone->b_next = NULL;
		freemsg(gone);
	}
	for (b = 0; b < STR_ARRAY_LEN(back); b++)
		for (; back[b] != 0; back[b] &= back[b] - 1)
			qbackenable(q,
				(unsigned char)(32 * b +
					(unsigned)__builtin_ctz(back[b])));
}

/* SVR4 flushq(D3) */
void
flushq(queue_t *q, int flag)
{
	flush_some(q, -1, flag);
}

/* SVR4 flushband(D3): band 0 means the ordinary messages of band 0. */
void
flushband(queue_t *q, unsigned char band, int flag)
{
	flush_some(q, band, flag);
}

/* SVR4 qsize(D3): messages on the queue. */
int
qsize(queue_t *q)
{
	mblk_t *mp;
	int n = 0;

	lockq(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		n++;
	unlockq(q);
	if (q->q_head != NULL && (str_load(&q->q_flag) & QREADR))
		n += (int)str_headq_records(&q->q_head->hq, 0);
	return n;
}

void
str_queue_init(queue_t *q, struct qinit *qi, struct str_qpair *qp,
	unsigned long flag)
{
	struct module_info *mi = qi->qi_minfo;

	q->q_qinfo = qi;
	q->q_flag = flag | QUSE | QWANTR;
	q->q_pair = qp;
	if (mi != NULL) {
		q->q_minpsz = mi->mi_minpsz;
		q->q_maxpsz = mi->mi_maxpsz;
		q->q_hiwat = mi->mi_hiwat;
		q->q_lowat = mi->mi_lowat;
	}
}

static void
set_procs(queue_t *q, struct qinit *qi)
{
	struct module_info *mi = qi->qi_minfo;

	if (mi != NULL) {
		q->q_minpsz = mi->mi_minpsz;
		q->q_maxpsz = mi->mi_maxpsz;
		q->q_hiwat = mi->mi_hiwat;
		q->q_lowat = mi->mi_lowat;
	}
	q->q_qinfo = qi;
}

/*
 * A table that exists only in one process is not valid for others: ignore it.
 */
void
setq(queue_t *q, struct qinit *rinit, struct qinit *winit)
{
	if (!host_code_shared(rinit) || !host_code_shared(winit))
		return;
	set_procs(RD(q), rinit);
	set_procs(WR(q), winit);
}

/*
 * Free everything, bands included; no other thread uses the queue any more.  A
 * caller that waits for the answer to an ioctl on this queue gets an error.
 */
void
str_queue_flush_all(queue_t *q)
{
	mblk_t *mp, *lost = NULL;
	qband_t *qb;

	/* a pipe's own queue that was never used */
	if (str_likely(q->q_first == NULL && q->q_bandp == NULL &&
		str_load(&q->q_klock.owner) == 0))
		return;
	lockq(q);
	while ((mp = q->q_first) != NULL) {
		(void)count_out(q, mp, mp->b_next, NULL);
		unlink_msg(q, mp, 0);
		if (str_ioctl_is_part(mp)) {
			mp->b_next = lost;
			lost = mp;
		} else {
			freemsg(mp);
		}
	}
	while ((qb = q->q_bandp) != NULL) {
		/* stamped before it is unlinked, for the reaper */
		str_mem_own((struct str_blk *)(void *)qb - 1);
		str_barrier();
		q->q_bandp = qb->qb_next;
		str_mem_free((struct str_blk *)(void *)qb - 1);
	}
	q->q_nband = 0;
	unlockq(q);
	while ((mp = lost) != NULL) {
		lost = mp->b_next;
		mp->b_next = NULL;
		str_ioctl_lost(mp, q->q_pair->plumb);
	}
}

/* SVR4 strqget(D3): 0 or an errno */
int
strqget(queue_t *q, qfields_t what, unsigned char band, long *val)
{
	qband_t *qb = NULL;
	int err = 0;

	lockq(q);
	if (band != 0) {
		qb = str_queue_band(q, band, true);
		if (qb == NULL) {
			unlockq(q);
			return EAGAIN;
		}
	}
	switch (what) {
	case QHIWAT:
		*val = (long)(qb ? qb->qb_hiwat : q->q_hiwat);
		break;
	case QLOWAT:
		*val = (long)(qb ? qb->qb_lowat : q->q_lowat);
		break;
	case QMAXPSZ:
		if (qb != NULL)
			err = EINVAL;
		else
			*val = q->q_maxpsz;
		break;
	case QMINPSZ:
		if (qb != NULL)
			err = EINVAL;
		else
			*val = q->q_minpsz;
		break;
	case QCOUNT:
		*val = (long)(qb ? qb->qb_count : q->q_count);
		if (qb == NULL && q->q_head != NULL && (str_load(&q->q_flag) & QREADR))
			*val += (long)str_headq_count(&q->q_head->hq);
		break;
	case QFIRST:
		*val = (long)(uintptr_t)(qb ? qb->qb_first : q->q_first);
		break;
	case QLAST:
		*val = (long)(uintptr_t)(qb ? qb->qb_last : q->q_last);
		break;
	case QFLAG:
		*val = (long)(qb ? qb->qb_flag : q->q_flag);
		break;
	case QBAD:
	default:
		err = EINVAL;
		break;
	}
	unlockq(q);
	return err;
}

/* SVR4 strqset(D3): 0 or an errno; EPERM for what may only be read. */
int
strqset(queue_t *q, qfields_t what, unsigned char band, long val)
{
	qband_t *qb = NULL;
	int err = 0;

	lockq(q);
	if (band != 0) {
		qb = str_queue_band(q, band, true);
		if (qb == NULL) {
			unlockq(q);
			return EAGAIN;
		}
	}
	switch (what) {
	case QHIWAT:
		if (qb != NULL)
			qb->qb_hiwat = (size_t)val;
		else
			q->q_hiwat = (size_t)val;
		break;
	case QLOWAT:
		if (qb != NULL)
			qb->qb_lowat = (size_t)val;
		else
			q->q_lowat = (size_t)val;
		break;
	case QMAXPSZ:
		if (qb != NULL)
			err = EINVAL;
		else
			q->q_maxpsz = val;
		break;
	case QMINPSZ:
		if (qb != NULL)
			err = EINVAL;
		else
			q->q_minpsz = val;
		break;
	case QCOUNT:
	case QFIRST:
	case QLAST:
	case QFLAG:
		err = EPERM;
		break;
	case QBAD:
	default:
		err = EINVAL;
		break;
	}
	unlockq(q);
	if (err == 0 && qb == NULL && q->q_head != NULL &&
	    (str_load(&q->q_flag) & QREADR)) {
		struct str_headq *hq = &q->q_head->hq;

		uint32_t mark = (uint32_t)STR_MIN((unsigned long)val,
			(unsigned long)UINT32_MAX);

		if (what == QHIWAT)
			str_headq_limits(hq, mark, hq->lowat);
		else if (what == QLOWAT)
			str_headq_limits(hq, hq->hiwat, mark);
	}
	return err;
}
