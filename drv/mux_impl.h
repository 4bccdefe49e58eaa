/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The implementation of the drivers mux and minimux, which differ only in their
 * names, command numbers and minors.
 *
 * Objects.  struct mux_up for each open stream (upper), struct mux_low for
 * each stream that is linked below (lower).  An upper sends to one lower,
 * `down'; a lower sends to one upper, `up'.  The two need not agree.
 *
 *	   upper streams	U1     U2
 *				| \    ^
 *			   down |  \   | up
 *				v   ...|
 *	   lower streams	L1     L2
 *
 * Life.  I_LINK and I_PLINK make a lower, and pair it with the stream of the
 * ioctl in each direction in which that has no partner yet.  The commands UP
 * and DOWN change one direction each.  After I_UNLINK, I_PUNLINK or a close the
 * other streams have no partner; messages that come to a stream without a
 * partner are sent back.
 *
 * Flow control.  A message for which there is no room waits on the queue to
 * which it came.  When there is room, that stream back-enables us.  The stream
 * below back-enables a lower's write side, which starts all uppers that send
 * there; the head back-enables an upper's read side, which starts all lowers
 * that send there.
 *
 * Other ioctls are sent down to the lower, if that sends to this upper; else
 * they are refused, even after they have waited.
 *
 * Locks.  None: D_MTPERMOD, the driver with its lower sides is one perimeter.
 *
 * Crash.  A struct enters and leaves its list by one store; pointers to a
 * struct are cleared before it leaves.  A close procedure in which a thread was
 * killed is called again (STR_D_RECLOSE).
 */
#ifndef DRV_MUX_IMPL_H
#define DRV_MUX_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/stropts.h>
#include "canon.h"

struct mux_low {
	struct mux_low *next;
	queue_t *wq;	   /* lower write queue, linkblk's l_qbot */
	struct mux_up *up; /* receives the messages from below, or NULL */
	int id;		   /* l_index */
};

struct mux_up {
	struct mux_up *next;
	queue_t *rq;
	struct mux_low *down; /* receives the messages written here, or NULL */
	unsigned int minor;
};

/* Shared by all streams of one of the drivers. */
struct mux_state {
	struct mux_up *ups;
	struct mux_low *lows;
};

/* The differences of the drivers. */
struct mux_kind {
	const char *name;
	int cmd_up, cmd_down;
	unsigned int minors; /* 1 to minors - 1; also 0 when zero is set */
	int zero;
};

static inline struct mux_state *
mux_state(const struct mux_kind *k)
{
	return str_drv_state(k->name, sizeof(struct mux_state));
}

static inline struct mux_low *
mux_low_find(struct mux_state *st, int id)
{
	struct mux_low *lo;

	for (lo = st->lows; lo != NULL && lo->id != id; lo = lo->next)
		;
	return lo;
}

static inline struct mux_up *
mux_up_find(struct mux_state *st, unsigned int minor)
{
	struct mux_up *up;

	for (up = st->ups; up != NULL && up->minor != minor; up = up->next)
		;
	return up;
}

/* ----------------------------------------------------------- open and close */

static inline int
mux_open(const struct mux_kind *k, queue_t *q, dev_t *devp, int sflag)
{
	unsigned int m = getminor(*devp);
	struct mux_state *st;
	struct mux_up *up;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	st = mux_state(k);
	if (st == NULL)
		return ENOSR;
	if (sflag == CLONEOPEN)
		for (m = 1; mux_up_find(st, m) != NULL; m++)
			;
	if (m >= k->minors || (m == 0 && !k->zero))
		return ENXIO;
	up = kmem_zalloc(sizeof(*up), KM_SLEEP);
	if (up == NULL)
		return ENOSR;
	up->rq = q;
	up->minor = m;
	up->next = st->ups;
	*devp = makedevice(getmajor(*devp), m);
	q->q_ptr = WR(q)->q_ptr = up;
	qprocson(q);
	st->ups = up; /* last: a thread killed before leaves an open without a
		       * close */
	return 0;
}

static inline int
mux_close(const struct mux_kind *k, queue_t *q)
{
	struct mux_state *st = mux_state(k);
	struct mux_up *up = q->q_ptr, **pp;
	struct mux_low *lo;

	if (up == NULL)
		return 0;
	/* waiting messages are sent back; the queue is enabled first, so that
	 * the next closer enables it again if this thread is killed between */
	for (lo = st->lows; lo != NULL; lo = lo->next)
		if (lo->up == up) {
			qenable(RD(lo->wq));
			lo->up = NULL;
		}
	for (pp = &st->ups; *pp != NULL; pp = &(*pp)->next)
		if (*pp == up) {
			*pp = up->next;
			break;
		}
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(up, sizeof(*up));
	return 0;
}

/* ------------------------------------------------------------ link, unlink */

static inline int
mux_link(struct mux_state *st, struct mux_up *up, mblk_t *mp)
{
	struct linkblk lb;
	struct mux_low *lo;

	if (mp->b_cont == NULL || MBLKL(mp->b_cont) < (long)sizeof(lb))
		return EINVAL;
	bcopy(mp->b_cont->b_rptr, &lb, sizeof(lb));
	lo = kmem_zalloc(sizeof(*lo), KM_NOSLEEP);
	if (lo == NULL)
		return ENOSR;
	lo->id = lb.l_index;
	lo->wq = lb.l_qbot;
	lo->up = up;
	lo->next = st->lows;
	lb.l_qbot->q_ptr = RD(lb.l_qbot)->q_ptr = lo;
	st->lows = lo;
	if (up->down == NULL) {
		up->down = lo;
		qenable(WR(up->rq)); /* messages that wait to be sent back */
	}
	return 0;
}

/* Does the lower of @up send to @up? */
static inline int
mux_answers(const struct mux_up *up)
{
	return up->down != NULL && up->down->up == up;
}

/* The lower of @up has changed: refuse waiting ioctls, which may get no answer
 * now.  Messages in front of them may otherwise wait for the caller of the
 * ioctl, which waits for its answer. */
static inline void
mux_changed(struct mux_up *up)
{
	queue_t *q = WR(up->rq);
	mblk_t *mp, *next;

	for (mp = q->q_first; mp != NULL && !mux_answers(up); mp = next) {
		next = mp->b_next;
		if (DB_TYPE(mp) != M_IOCTL)
			continue;
		rmvq(q, mp);
		canon_nak(q, mp, EINVAL);
	}
	qenable(q);
}

/* Change the lower of @up.  The queue is enabled first, so that messages that wait
 * there are served even if this thread is killed between the steps. */
static inline void
mux_set_down(struct mux_up *up, struct mux_low *lo)
{
	qenable(WR(up->rq));
	up->down = lo;
	mux_changed(up);
}

static inline int
mux_unlink(struct mux_state *st, mblk_t *mp)
{
	struct mux_low *lo, **pp;
	struct linkblk lb;
	struct mux_up *up;

	if (mp->b_cont == NULL || MBLKL(mp->b_cont) < (long)sizeof(lb))
		return EINVAL;
	bcopy(mp->b_cont->b_rptr, &lb, sizeof(lb));
	lo = mux_low_find(st, lb.l_index);
	if (lo == NULL)
		return EINVAL;
	for (up = st->ups; up != NULL; up = up->next)
		if (up->down == lo)
			mux_set_down(up, NULL);
	for (pp = &st->lows; *pp != lo; pp = &(*pp)->next)
		;
	*pp = lo->next;
	lo->wq->q_ptr = RD(lo->wq)->q_ptr = NULL;
	kmem_free(lo, sizeof(*lo));
	return 0;
}

/* ---------------------------------------------------------------- messages */

static inline int
mux_is_priority(mblk_t *mp)
{
	return DB_TYPE(mp) >= QPCTL;
}

/* The next queue after @q, an upper's write or a lower's read queue. */
static inline queue_t *
mux_dest(queue_t *q)
{
	struct mux_low *lo;
	struct mux_up *up;

	if (q->q_ptr == NULL)
		return NULL; /* unlinked just now */
	if (q == RD(q)) {
		lo = q->q_ptr;
		return lo->up != NULL ? lo->up->rq : lo->wq;
	}
	up = q->q_ptr;
	return up->down != NULL ? up->down->wq : up->rq;
}

/* Is a message from @q to @to sent back? @to: mux_dest(). */
static inline int
mux_turns(queue_t *q, queue_t *to)
{
	return (to == RD(to)) != (q == RD(q));
}

/*
 * Must @mp be dropped?  A message that would be sent back a second time would
 * circulate for ever, between us and another multiplexor or an echo driver.
 */
static inline int
mux_lost(queue_t *q, queue_t *to, mblk_t *mp)
{
	return to == NULL ||
		(mux_turns(q, to) && (mp->b_flag & MSGNOLOOP) != 0);
}

/*
 * An ioctl that waited on an upper's write queue while its lower was unlinked.
 */
static inline int
mux_refused(queue_t *q, mblk_t *mp)
{
	return DB_TYPE(mp) == M_IOCTL && q != RD(q) && !mux_answers(q->q_ptr);
}

/* Can @mp on @q be sent, freed or refused now? */
static inline int
mux_room(queue_t *q, mblk_t *mp)
{
	queue_t *to = mux_dest(q);

	return mux_refused(q, mp) || mux_lost(q, to, mp) ||
		mux_is_priority(mp) || bcanputnext(to, mp->b_band);
}

/* Send @mp on, which mux_room() allowed. */
static inline void
mux_pass(queue_t *q, mblk_t *mp)
{
	queue_t *to = mux_dest(q);

	if (mux_refused(q, mp)) {
		canon_nak(q, mp, EINVAL);
		return;
	}
	if (mux_lost(q, to, mp)) {
		freemsg(mp);
		return;
	}
	if (mux_turns(q, to))
		mp->b_flag |= MSGNOLOOP;
	putnext(to, mp);
}

static inline void
mux_send(queue_t *q, mblk_t *mp)
{
	if ((mux_is_priority(mp) || q->q_first == NULL) && mux_room(q, mp))
		mux_pass(q, mp);
	else if (putq(q, mp) == 0)
		freemsg(mp);
}

/*
 * Service procedure of uppers' write and lowers' read queues.  A message
 * without room stays on the queue: if it were taken and put back, a queue that
 * waits for room here would be enabled, although there is none.
 */
static inline int
mux_service(queue_t *q)
{
	mblk_t *mp;

	while (q->q_first == NULL || mux_room(q, q->q_first)) {
		mp = getq(q);
		if (mp == NULL)
			break;
		mux_pass(q, mp);
	}
	return 0;
}

/*
 * An upper's read side is back-enabled: start the senders there, and its own
 * write side too, as its partner may have changed.
 */
static inline int
mux_ursrv(const struct mux_kind *k, queue_t *q)
{
	struct mux_state *st = mux_state(k);
	struct mux_up *up = q->q_ptr;
	struct mux_low *lo;

	for (lo = st->lows; lo != NULL; lo = lo->next)
		if (lo->up == up)
			qenable(RD(lo->wq));
	qenable(WR(q));
	return 0;
}

/* The same for a lower's write side. */
static inline int
mux_lwsrv(const struct mux_kind *k, queue_t *q)
{
	struct mux_state *st = mux_state(k);
	struct mux_low *lo = q->q_ptr;
	struct mux_up *up;

	if (lo == NULL)
		return 0;
	for (up = st->ups; up != NULL; up = up->next)
		if (up->down == lo)
			qenable(WR(up->rq));
	qenable(RD(q));
	return 0;
}

/* ------------------------------------------------------------------ ioctls */

/* The command's argument is here: change one direction. */
static inline int
mux_direct(const struct mux_kind *k, queue_t *q, mblk_t *mp)
{
	struct mux_state *st = mux_state(k);
	struct mux_low *lo = mux_low_find(st, canon_int(mp));
	struct mux_up *up = q->q_ptr, *was;

	if (lo == NULL)
		return EINVAL;
	if (canon_cmd(mp) == k->cmd_up) {
		was = lo->up;
		/* first, as in mux_set_down() */
		qenable(RD(lo->wq));
		if (was != NULL)
			qenable(WR(was->rq));
		lo->up = up;
		if (was != NULL)
			mux_changed(was);
	} else {
		mux_set_down(up, lo);
	}
	return 0;
}

static inline void
mux_answer(queue_t *q, mblk_t *mp, int err)
{
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

static inline void
mux_ioctl(const struct mux_kind *k, queue_t *q, mblk_t *mp)
{
	struct mux_state *st = mux_state(k);
	struct mux_up *up = q->q_ptr;

	switch (canon_cmd(mp)) {
	case I_LINK:
	case I_PLINK:
		mux_answer(q, mp, mux_link(st, up, mp));
		return;
	case I_UNLINK:
	case I_PUNLINK:
		mux_answer(q, mp, mux_unlink(st, mp));
		return;
	default:
		break;
	}
	if (canon_cmd(mp) == k->cmd_up || canon_cmd(mp) == k->cmd_down) {
		if (canon_args(q, mp, sizeof(int)))
			mux_answer(q, mp, mux_direct(k, q, mp));
	} else if (mux_answers(up)) {
		mux_send(q, mp);
	} else {
		canon_nak(q, mp, EINVAL);
	}
}

/* An M_IOCDATA of our command, or an answer to a copy request from below. */
static inline void
mux_iocdata(const struct mux_kind *k, queue_t *q, mblk_t *mp)
{
	struct mux_up *up = q->q_ptr;

	if (canon_cmd(mp) == k->cmd_up || canon_cmd(mp) == k->cmd_down) {
		if (canon_iocdata(q, mp))
			mux_answer(q, mp, mux_direct(k, q, mp));
	} else if (up->down != NULL) {
		mux_send(q, mp);
	} else {
		canon_stray(q, mp);
	}
}

/* --------------------------------------------------------- put procedures */

static inline int
mux_uwput(const struct mux_kind *k, queue_t *q, mblk_t *mp)
{
	struct mux_up *up = q->q_ptr;

	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
	case M_CTL:
		mux_send(q, mp);
		break;
	case M_IOCTL:
		mux_ioctl(k, q, mp);
		break;
	case M_IOCDATA:
		mux_iocdata(k, q, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	default:
		if (up->down != NULL)
			mux_send(q, mp);
		else
			freemsg(mp);
		break;
	}
	return 0;
}

/* SVR4 M_FLUSH(D7): a multiplexor's lower side flushes like a head. */
static inline void
mux_lflush(queue_t *q, mblk_t *mp)
{
	if (MBLKL(mp) > 0 && (*mp->b_rptr & FLUSHR) != 0) {
		canon_flush_side(q, mp);
		*mp->b_rptr &= (unsigned char)~FLUSHR;
	}
	if (MBLKL(mp) < 1 || (*mp->b_rptr & FLUSHW) == 0 ||
		(mp->b_flag & MSGNOLOOP) != 0) {
		freemsg(mp);
		return;
	}
	canon_flush_side(WR(q), mp);
	qreply(q, mp);
}

static inline int
mux_lrput(const struct mux_kind *k, queue_t *q, mblk_t *mp)
{
	struct mux_low *lo = q->q_ptr;

	switch (DB_TYPE(mp)) {
	case M_FLUSH:
		mux_lflush(q, mp);
		break;
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
	case M_CTL:
		mux_send(q, mp);
		break;
	default:
		/* not sent back: hang-ups, errors, answers */
		if (lo != NULL && lo->up != NULL)
			mux_send(q, mp);
		else
			freemsg(mp);
		break;
	}
	return 0;
}

#endif
