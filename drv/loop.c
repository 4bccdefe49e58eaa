/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * loop - connects two of its minors: data written to one is read from the
 * other.  For tests it can delay, mark, join and repeat messages.
 *
 * Objects. struct loop, one for each open minor, in memory that all processes
 * share; `other' is the minor that it is connected with.
 *
 * Life of a message.  It waits on its writer's write queue. loop_wsrv() sends
 * it to the other's read side as soon as there is room above and no option
 * below delays it.  LOOP_PUTNXT makes the put procedure send it at once.  When
 * there is room again, the read side's service procedure is back-enabled and
 * enables the other's write side.
 *
 * Options that delay messages on a write queue, and what ends the delay:
 *
 *	msglvl	more than so many messages are queued, or the timer
 *	timr	the timer, which the first message starts
 *	bufcall	the callback, which the first message requests
 *	catlvl	so many messages are queued; they are sent as one
 *
 * A connection always has both directions: LOOP_SET stores `other' on both
 * sides, and a close hangs up the other side and clears both.
 *
 * None of these delays a message of high priority.
 *
 * Locks.  None: the driver is one perimeter.  Timer and bufcall callbacks set a
 * bit and enable a queue.
 *
 * Crash.  One store puts a minor in the table.  A connection that was stored on
 * one side only does not count, see loop_peer().  If a thread is killed in the
 * close procedure, the procedure is called again (STR_D_RECLOSE).  A thread
 * that is killed at the end of an open leaves a minor whose stream is freed
 * without a close: the next search for a minor removes it.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/loop.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <str/driver.h>
#include "canon.h"

/* <sys/LiS/loop.h> and <sys/loop.h> both define LOOP_SET. */
#define LIS(n) (('l' << 8) | (n))
#define LIS_SET LIS(1)
#define LIS_PUTNXT LIS(2)
#define LIS_MSGLVL LIS(3)
#define LIS_TIMR LIS(4)
#define LIS_MARK LIS(5)
#define LIS_GET_DEV LIS(6)
#define LIS_BUFCALL LIS(7)
#define LIS_CONCAT LIS(8)
#define LIS_COPY LIS(9)
#define LIS_DENY_OPEN LIS(10)
#define LIS_BURST LIS(11)
#define LIS_FLUSH LIS(12)
#define LIS_XCOPYIN 101
#define LIS_XCOPYOUT 102

#define LOOP_MINORS 255 /* 0 to 254 */
#define LOOP_HIWAT 10240
#define LOOP_LOWAT 4096
#define LOOP_SAVE 4096 /* bytes that LIS_XCOPYIN keeps */

struct loop_xparent {
	int cmnd;
	int i_arg;
	void *p_arg;
};

struct loop {
	queue_t *rq;
	struct str_ref ref; /* its stream */
	struct loop *other; /* the connected minor, if it points back */
	int minor;
	int msglvl;
	int timr;
	int catlvl;
	int mark;	    /* messages still to be marked */
	int burst;	    /* copies of the next message */
	int putnxt, copy, bufcall;
	volatile int let;   /* all waiting messages may be sent */
	volatile int timing, calling; /* a timer, a callback is pending */
	int deny;	    /* further opens are refused */
	int nsave;	    /* bytes at save */
	char save[LOOP_SAVE];
};

struct loop_state {
	struct loop *tab[LOOP_MINORS]; /* the open minors */
};

static struct loop *
loop_peer(struct loop *lp)
{
	struct loop *to = lp->other;

	return to != NULL && to->other == lp ? to : NULL;
}

static struct loop *
loop_of(queue_t *q)
{
	return q->q_ptr;
}

/* ----------------------------------------------------------- open and close */

static void
loop_forget(struct loop_state *st, struct loop *lp)
{
	unsigned int m;

	/* a closer that was killed may have done it: the minor is another's */
	if (st->tab[lp->minor] == lp)
		st->tab[lp->minor] = NULL;
	for (m = 0; m < LOOP_MINORS; m++)
		if (st->tab[m] != NULL && st->tab[m]->other == lp)
			st->tab[m]->other = NULL;
}

static int
loop_is_open(struct loop_state *st, unsigned int m)
{
	struct loop *lp = st->tab[m];

	if (lp == NULL || !str_ref_gone(&lp->ref))
		return lp != NULL;
	loop_forget(st, lp);
	kmem_free(lp, sizeof(*lp));
	return 0;
}

/* Find a minor that may be opened, by @sflag; 0, or an errno. */
static int
loop_minor(struct loop_state *st, int sflag, unsigned int m, unsigned int *ret)
{
	if (sflag == CLONEOPEN)
		for (m = 1; m < LOOP_MINORS && loop_is_open(st, m); m++)
			;
	if (m >= LOOP_MINORS)
		return ENODEV;
	*ret = m;
	return loop_is_open(st, m) ? EBUSY : 0;
}

static int
loop_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct loop_state *st;
	struct loop *lp;
	unsigned int m;
	int err;

	if (q->q_ptr != NULL)
		return loop_of(q)->deny ? EBUSY : 0;
	if (sflag == MODOPEN)
		return EINVAL;
	st = str_drv_state("loop", sizeof(*st));
	if (st == NULL)
		return ENOSR;
	err = loop_minor(st, sflag, getminor(*devp), &m);
	if (err != 0)
		return err;
	lp = kmem_zalloc(sizeof(*lp), KM_SLEEP);
	if (lp == NULL)
		return ENOSR;
	lp->minor = (int)m;
	lp->rq = q;
	str_ref(q, &lp->ref);
	*devp = makedevice(getmajor(*devp), m);
	q->q_ptr = WR(q)->q_ptr = lp;
	qprocson(q);
	st->tab[m] = lp; /* last: a thread killed before leaves nothing */
	return 0;
}

static int
loop_close(queue_t *q, int flag, cred_t *crp)
{
	struct loop_state *st = str_drv_state("loop", sizeof(*st));
	struct loop *lp = loop_of(q), *to;

	if (lp == NULL)
		return 0;
	/* before the connection is cut, so that the next closer hangs it up
	 * again if this thread is killed */
	to = loop_peer(lp);
	if (to != NULL && to != lp)
		(void)putnextctl(to->rq, M_HANGUP);
	/* no thread finds it any more if the closer dies below */
	loop_forget(st, lp);
	qprocsoff(q); /* this cancels the queue's timers and callbacks */
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(lp, sizeof(*lp));
	return 0;
}

/* ------------------------------------------------------------------ messages */

/* The delay of a queue is over, until the queue is empty. */
static void
loop_let(void *arg)
{
	queue_t *q = arg;
	struct loop *lp = loop_of(q);

	lp->let = 1;
	lp->timing = lp->calling = 0;
	enableok(q);
	qenable(q);
}

/*
 * Start the timer or callback that ends the delay; 1: it has been started, or
 * is pending already.
 */
static int
loop_hold(queue_t *q, struct loop *lp)
{
	if (lp->timr > 0 && !lp->timing)
		lp->timing = qtimeout(q, loop_let, q, lp->timr) != 0;
	if (lp->bufcall && !lp->calling)
		lp->calling = qbufcall(q, 64, BPRI_MED, loop_let, q) != 0;
	return lp->timing || lp->calling;
}

/* May @q's messages be sent now? */
static int
loop_ready(queue_t *q, struct loop *lp)
{
	if (lp->let)
		return 1;
	if (lp->timing || lp->calling)
		return 0;
	if (lp->msglvl > 0)
		lp->let = qsize(q) > lp->msglvl;
	return lp->msglvl <= 0 || lp->let;
}

/* Send @mp to @to according to the options; it may become several messages. */
static void
loop_send(struct loop *lp, struct loop *to, mblk_t *mp)
{
	mblk_t *bp;

	if (lp->copy && (bp = copymsg(mp)) != NULL) {
		freemsg(mp);
		mp = bp;
	}
	if (lp->mark > 0) {
		lp->mark--;
		mp->b_flag |= MSGMARK;
	}
	for (; lp->burst > 1; lp->burst--) {
		bp = dupmsg(mp);
		if (bp == NULL)
			break;
		putnext(to->rq, bp);
	}
	lp->burst = 0;
	putnext(to->rq, mp);
}

/* Join the first catlvl messages of @q; NULL: there are fewer. */
static mblk_t *
loop_concat(queue_t *q, struct loop *lp)
{
	mblk_t *mp, *bp;

	if (qsize(q) < lp->catlvl)
		return NULL;
	mp = getq(q);
	while (--lp->catlvl > 0 && (bp = getq(q)) != NULL)
		linkb(mp, bp);
	lp->catlvl = 0;
	return mp;
}

/* SVR4 M_ERROR(D7): there is no stream to send to. */
static void
loop_unconnected(queue_t *q, mblk_t *mp)
{
	freemsg(mp);
	(void)putnextctl1(RD(q), M_ERROR, ENXIO);
}

/* A message of high priority is not delayed, not even by flow control. */
static void
loop_urgent(queue_t *q, struct loop *lp, struct loop *to)
{
	while (q->q_first != NULL && DB_TYPE(q->q_first) >= QPCTL)
		if (to != NULL)
			loop_send(lp, to, getq(q));
		else
			loop_unconnected(q, getq(q));
}

static int
loop_wsrv(queue_t *q)
{
	struct loop *lp = loop_of(q), *to = loop_peer(lp);
	mblk_t *mp;

	loop_urgent(q, lp, to);
	if (lp->catlvl <= 1 && !loop_ready(q, lp))
		return 0;
	while ((mp = lp->catlvl > 1 ? loop_concat(q, lp) : getq(q)) != NULL) {
		if (to == NULL) {
			loop_unconnected(q, mp);
			continue;
		}
		if (!bcanputnext(to->rq, mp->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			break;
		}
		loop_send(lp, to, mp);
	}
	if (q->q_first == NULL)
		lp->let = 0;
	return 0;
}

/* Back-enabled: the sender has room again. */
static int
loop_rsrv(queue_t *q)
{
	struct loop *to = loop_peer(loop_of(q));

	if (to != NULL)
		qenable(WR(to->rq));
	return 0;
}

static void
loop_data(queue_t *q, mblk_t *mp)
{
	struct loop *lp = loop_of(q), *to = loop_peer(lp);

	if (to == NULL) {
		loop_unconnected(q, mp);
		return;
	}
	if (lp->putnxt && lp->catlvl <= 1 && q->q_first == NULL &&
		bcanputnext(to->rq, mp->b_band)) {
		loop_send(lp, to, mp);
		return;
	}
	if (DB_TYPE(mp) < QPCTL) {
		if (loop_hold(q, lp))
			noenable(q);
		else
			enableok(q);
	}
	if (putq(q, mp) == 0) {
		freemsg(mp);
		return;
	}
	/* several must come together: putq enables for the first only */
	if (lp->catlvl > 1 || lp->msglvl > 0)
		qenable(q);
}

/* ------------------------------------------------------------------- ioctls */

static int
loop_connect(queue_t *q, int minor)
{
	struct loop_state *st = str_drv_state("loop", sizeof(*st));
	struct loop *lp = loop_of(q), *to;

	if (minor < 0 || minor >= LOOP_MINORS)
		return ENXIO;
	to = st->tab[minor];
	if (to == NULL)
		return ENXIO;
	if (loop_peer(lp) != NULL || loop_peer(to) != NULL)
		return EBUSY;
	to->other = lp;
	lp->other = to;
	return 0;
}

/* LOOP_SET of <sys/loop.h>. */
static int
loop_set_dev(queue_t *q, mblk_t *mp)
{
	dev_t dev;

	bcopy(mp->b_cont->b_rptr, &dev, sizeof(dev));
	if (getmajor(dev) != STR_MAJOR_LOOP)
		return ENXIO;
	return loop_connect(q, (int)getminor(dev));
}

/* Send M_FLUSH to the reader of the other side, then the data. */
static int
loop_flush(queue_t *q, mblk_t *mp)
{
	struct loop *to = loop_peer(loop_of(q));
	mblk_t *bp;

	if (to == NULL)
		return ENXIO;
	if (!putnextctl1(to->rq, M_FLUSH, FLUSHR))
		return ENOSR;
	bp = mp->b_cont != NULL ? unlinkb(mp) : NULL;
	if (bp != NULL && msgdsize(bp) > 0)
		putnext(to->rq, bp);
	else if (bp != NULL)
		freemsg(bp);
	return 0;
}

/* The commands with an int argument. */
static int
loop_set_int(queue_t *q, int cmd, int val)
{
	struct loop *lp = loop_of(q);

	switch (cmd) {
	case LIS_SET:
		return loop_connect(q, val);
	case LIS_MSGLVL:
		lp->msglvl = val;
		break;
	case LIS_TIMR:
		lp->timr = val;
		break;
	case LIS_CONCAT:
		lp->catlvl = val;
		break;
	default: /* LIS_BURST */
		lp->burst = val;
		break;
	}
	enableok(WR(lp->rq));
	qenable(WR(lp->rq)); /* waiting messages may be sent now */
	return 0;
}

/* The commands without an argument. */
static int
loop_set_bit(queue_t *q, int cmd)
{
	struct loop *lp = loop_of(q);

	switch (cmd) {
	case LIS_PUTNXT:
		lp->putnxt = 1;
		break;
	case LIS_MARK:
		lp->mark++;
		break;
	case LIS_BUFCALL:
		lp->bufcall = 1;
		break;
	case LIS_COPY:
		lp->copy = 1;
		break;
	default: /* LIS_DENY_OPEN */
		lp->deny = !lp->deny;
		break;
	}
	return 0;
}

/*
 * The transparent ones, in three stages: the command, its struct, and for
 * XCOPYIN the bytes that the struct describes.
 */
static void
loop_xparent(queue_t *q, mblk_t *mp)
{
	struct loop *lp = loop_of(q);
	struct loop_xparent xp;
	size_t n;

	if (DB_TYPE(mp) == M_IOCTL) {
		if (!canon_is_transparent(mp))
			canon_nak(q, mp, EINVAL);
		else
			(void)canon_args(q, mp, sizeof(xp));
		return;
	}
	if (canon_stage(mp) > 0) {
		n = msgdsize(mp->b_cont);
		bcopy(mp->b_cont->b_rptr, lp->save, n);
		lp->nsave = (int)n;
		canon_ack(q, mp, 0);
		return;
	}
	bcopy(mp->b_cont->b_rptr, &xp, sizeof(xp));
	if (xp.i_arg <= 0 || (canon_cmd(mp) == LIS_XCOPYIN ?
		xp.i_arg > LOOP_SAVE : lp->nsave == 0)) {
		canon_nak(q, mp, EINVAL);
	} else if (canon_cmd(mp) == LIS_XCOPYIN) {
		canon_more(q, mp, xp.p_arg, (size_t)xp.i_arg, 0);
	} else {
		n = (size_t)min(xp.i_arg, lp->nsave);
		canon_ack_at(q, mp, xp.p_arg, canon_block(lp->save, n), 0);
	}
}

static void
loop_answer(queue_t *q, mblk_t *mp, int err)
{
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

/* @mp is an M_IOCTL, or the M_IOCDATA of one that was transparent. */
static void
loop_ioctl(queue_t *q, mblk_t *mp)
{
	int came = DB_TYPE(mp) == M_IOCDATA, cmd = canon_cmd(mp);
	struct loop *lp = loop_of(q);

	switch (cmd) {
	case LOOP_SET:
		if (came || canon_args(q, mp, sizeof(dev_t)))
			loop_answer(q, mp, loop_set_dev(q, mp));
		break;
	case LIS_SET:
	case LIS_MSGLVL:
	case LIS_TIMR:
	case LIS_CONCAT:
	case LIS_BURST:
		if (came || canon_args(q, mp, sizeof(int)))
			loop_answer(q, mp,
				loop_set_int(q, cmd, canon_int(mp)));
		break;
	case LIS_PUTNXT:
	case LIS_MARK:
	case LIS_BUFCALL:
	case LIS_COPY:
	case LIS_DENY_OPEN:
		loop_answer(q, mp, loop_set_bit(q, cmd));
		break;
	case LIS_GET_DEV:
		if (!canon_is_transparent(mp) &&
			IOCP(mp)->ioc_count != sizeof(int))
			canon_nak(q, mp, EINVAL);
		else
			canon_ack_data(q, mp,
				canon_block(&lp->minor, sizeof(int)), 0);
		break;
	case LIS_FLUSH:
		loop_answer(q, mp, canon_is_transparent(mp) ? EINVAL :
			loop_flush(q, mp));
		break;
	case LIS_XCOPYIN:
	case LIS_XCOPYOUT:
		loop_xparent(q, mp);
		break;
	default:
		canon_nak(q, mp, EINVAL);
		break;
	}
}

/* An M_IOCDATA: of a command that has an argument. */
static void
loop_iocdata(queue_t *q, mblk_t *mp)
{
	switch (canon_cmd(mp)) {
	case LOOP_SET:
	case LIS_SET:
	case LIS_MSGLVL:
	case LIS_TIMR:
	case LIS_CONCAT:
	case LIS_BURST:
	case LIS_GET_DEV:
	case LIS_XCOPYIN:
	case LIS_XCOPYOUT:
		if (canon_iocdata(q, mp))
			loop_ioctl(q, mp);
		break;
	default:
		canon_stray(q, mp);
		break;
	}
}

static int
loop_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
	case M_CTL:
	case M_PCPROTO:
		loop_data(q, mp);
		break;
	case M_IOCTL:
		loop_ioctl(q, mp);
		break;
	case M_IOCDATA:
		loop_iocdata(q, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static const struct module_info loop_info = {
	.mi_idnum = 0x6c70,
	.mi_idname = "loop",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = LOOP_HIWAT,
	.mi_lowat = LOOP_LOWAT,
};

static const struct qinit loop_rinit = {
	.qi_srvp = loop_rsrv,
	.qi_qopen = loop_open,
	.qi_qclose = loop_close,
	.qi_minfo = (struct module_info *)&loop_info,
};

static const struct qinit loop_winit = {
	.qi_putp = loop_wput,
	.qi_srvp = loop_wsrv,
	.qi_minfo = (struct module_info *)&loop_info,
};

static void (*const loop_calls[])(void) = {
	(void (*)(void))loop_let,
	NULL,
};

STR_DRIVER(loop, loop_rinit, loop_winit, STR_NOMUX, STR_NOMUX,
	D_MTPERMOD | STR_D_RECLOSE, STR_MAJOR_LOOP, loop_calls);
