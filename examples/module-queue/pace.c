/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pace - lets so many messages through in a tick, and no more.
 *
 * The second step: a module that keeps messages, in the style of an SVR4
 * kernel for one processor.  What is written is put on its queue; its service
 * procedure sends on while the next queue has room and the tick's allowance
 * lasts.  When that is used up, a timeout gives a new one.  Writers above feel
 * it: when the queue is above its high-water mark, they wait.
 *
 * All of its state is in a static table, for which it needs no locks: without
 * a devflag, one thread at a time is in the module.  The timeout's procedure
 * is not part of that.  It may run while the service procedure does, so it
 * does nothing but give the allowance and enable the queue; a queue that is
 * enabled while it is served is served again.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/ddi.h>

#define NPACE 32     /* streams it can be in */
#define PACE_BURST 8 /* messages in a tick */

static struct pace {
	queue_t *q;   /* the write queue; NULL: not in use */
	int allow;    /* messages that may still be sent */
	toid_t timer; /* 0: none is pending */
} pace_tab[NPACE];

static int paceopen(queue_t *, dev_t *, int, int, cred_t *);
static int paceclose(queue_t *, int, cred_t *);
static int pacewput(queue_t *, mblk_t *);
static int pacewsrv(queue_t *);
static int pacerput(queue_t *, mblk_t *);

static struct module_info pace_minfo = {
	0x7063, "pace", 0, INFPSZ, 2048, 512
};
static struct qinit pace_rinit = {
	pacerput, NULL, paceopen, paceclose, NULL, &pace_minfo, NULL
};
static struct qinit pace_winit = {
	pacewput, pacewsrv, NULL, NULL, NULL, &pace_minfo, NULL
};
struct streamtab paceinfo = { &pace_rinit, &pace_winit, NULL, NULL };

static int
paceopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct pace *p;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	for (p = pace_tab; p < &pace_tab[NPACE]; p++)
		if (p->q == NULL)
			break;
	if (p == &pace_tab[NPACE])
		return EAGAIN;
	p->q = WR(q);
	p->allow = PACE_BURST;
	p->timer = 0;
	q->q_ptr = WR(q)->q_ptr = p;
	qprocson(q);
	return 0;
}

static int
paceclose(queue_t *q, int flag, cred_t *crp)
{
	struct pace *p = q->q_ptr;

	qprocsoff(q);
	if (p->timer != 0)
		(void)untimeout(p->timer);
	p->timer = 0;
	p->q = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/* What is urgent is not kept, and a flush empties the queue. */
static int
pacewput(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_FLUSH && (*mp->b_rptr & FLUSHW))
		flushq(q, FLUSHDATA);
	if (mp->b_datap->db_type >= QPCTL)
		putnext(q, mp);
	else if (putq(q, mp) == 0)
		freemsg(mp);
	return 0;
}

static void
pacetick(void *arg)
{
	struct pace *p = arg;

	p->timer = 0;
	p->allow = PACE_BURST;
	qenable(p->q);
}

static int
pacewsrv(queue_t *q)
{
	struct pace *p = q->q_ptr;
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!bcanputnext(q, mp->b_band)) {
			(void)putbq(q, mp); /* back-enabled when there is room */
			return 0;
		}
		if (p->allow == 0) {
			(void)putbq(q, mp);
			if (p->timer == 0)
				p->timer = timeout(pacetick, p, 1);
			return 0;
		}
		p->allow--;
		putnext(q, mp);
	}
	return 0;
}

static int
pacerput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}
