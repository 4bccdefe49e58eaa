/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * xover - a driver in the uniprocessor SVR4 style: what is written to minor
 * 2n is read from minor 2n+1, and the reverse.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/ddi.h>

#include "plain.h"

static struct xover {
	queue_t *rq;	     /* NULL: not open */
	struct xover *other; /* static, too */
} xovers[NXOVER] = {
#define PAIR(n) {NULL, &xovers[n + 1]}, {NULL, &xovers[n]}
	PAIR(0), PAIR(2), PAIR(4), PAIR(6), PAIR(8), PAIR(10), PAIR(12),
	PAIR(14)
};

static volatile int xover_held;

static int
xopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	unsigned i = getminor(*devp);

	if (q->q_ptr)
		return 0;
	if (sflag != DRVOPEN || i >= NXOVER)
		return ENXIO;
	xovers[i].rq = q;
	q->q_ptr = WR(q)->q_ptr = &xovers[i];
	if (xovers[i].other->rq) /* what it has written waits */
		qenable(WR(xovers[i].other->rq));
	return 0;
}

static int
xclose(queue_t *q, int flag, cred_t *crp)
{
	struct xover *x = q->q_ptr;

	x->rq = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	if (x->other->rq)
		putctl(x->other->rq->q_next, M_HANGUP);
	return 0;
}

static void
xioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	int ms;

	mp->b_datap->db_type = M_IOCACK;
	if (ioc->ioc_cmd == XOVER_HOLD && ioc->ioc_count == sizeof(int)) {
		xover_held++;
		for (ms = *(int *)mp->b_cont->b_rptr; ms > 0; ms--)
			drv_usecwait(1000);
		ioc->ioc_count = 0;
	} else if (ioc->ioc_cmd == XOVER_HELD &&
		   ioc->ioc_count == sizeof(void *)) {
		*(volatile int **)mp->b_cont->b_rptr = &xover_held;
	} else {
		mp->b_datap->db_type = M_IOCNAK;
	}
	qreply(q, mp);
}

static int
xwput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_DATA:
	case M_PROTO:
		putq(q, mp);
		break;
	case M_IOCTL:
		xioctl(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHALL);
		if (*mp->b_rptr & FLUSHR) {
			flushq(RD(q), FLUSHALL);
			*mp->b_rptr &= ~FLUSHW;
			qreply(q, mp);
		} else {
			freemsg(mp);
		}
		break;
	default:
		freemsg(mp);
	}
	return 0;
}

static int
xwsrv(queue_t *q)
{
	struct xover *x = q->q_ptr;
	mblk_t *mp;

	if (!x || !x->other->rq)
		return 0; /* until the other end is there */
	while ((mp = getq(q))) {
		if (!canput(x->other->rq->q_next)) {
			putbq(q, mp);
			break;
		}
		putnext(x->other->rq, mp);
	}
	return 0;
}

/* Room above: the other side's writer may go on. */
static int
xrsrv(queue_t *q)
{
	struct xover *x = q->q_ptr;

	if (x && x->other->rq)
		qenable(WR(x->other->rq));
	return 0;
}

static struct module_info x_minfo = { 80, "xover", 0, INFPSZ, 1024, 256 };
static struct qinit x_rinit = { NULL, xrsrv, xopen, xclose, NULL, &x_minfo };
static struct qinit x_winit = { xwput, xwsrv, NULL, NULL, NULL, &x_minfo };
struct streamtab xoverinfo = { &x_rinit, &x_winit };
