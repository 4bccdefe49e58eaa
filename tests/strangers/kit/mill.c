/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * mill: a pseudo device.  What is written to it is ground for a tick or two
 * and comes back.  A table of minors, clone opens, one timeout for all.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/signal.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strlog.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#define	NMILL	6

struct mill {
	queue_t	*mi_rq;
	int	mi_open;
	int	mi_ground;
};

static struct mill mills[NMILL];
static int	mill_running;	/* id of the timeout, or 0 */
static int	mill_users;

static int	millopen(), millclose(), millwput(), millwsrv(), millrsrv();
static void	milltick();

static struct module_info millrminfo = { 5005, "mill", 0, INFPSZ, 4096, 1024 };
static struct module_info millwminfo = { 5005, "mill", 0, 1024, 2048, 512 };
static struct qinit millrinit = {
	NULL, millrsrv, millopen, millclose, NULL, &millrminfo, NULL
};
static struct qinit millwinit = {
	millwput, NULL, NULL, NULL, NULL, &millwminfo, NULL
};
struct streamtab millinfo = { &millrinit, &millwinit, NULL, NULL };

static int
millopen(q, dev, flag, sflag, cr)
	register queue_t *q;
	dev_t *dev;
	int flag, sflag;
	cred_t *cr;
{
	register int i;
	register int s;

	if (sflag == MODOPEN)
		return ENXIO;
	s = splstr();
	if (sflag == CLONEOPEN) {
		for (i = 0; i < NMILL; i++)
			if (!mills[i].mi_open)
				break;
	} else
		i = getminor(*dev);
	if (i < 0 || i >= NMILL) {
		splx(s);
		return ENXIO;
	}
	if (!mills[i].mi_open) {
		mills[i].mi_open = 1;
		mills[i].mi_ground = 0;
		mills[i].mi_rq = q;
		mill_users++;
		q->q_ptr = (char *)&mills[i];
		WR(q)->q_ptr = (char *)&mills[i];
	}
	splx(s);
	*dev = makedevice(getmajor(*dev), i);
	return 0;
}

static int
millclose(q, flag, cr)
	register queue_t *q;
	int flag;
	cred_t *cr;
{
	register struct mill *m = (struct mill *)q->q_ptr;
	register int s = splstr();

	flushq(WR(q), FLUSHALL);
	m->mi_open = 0;
	m->mi_rq = NULL;
	if (--mill_users == 0 && mill_running) {
		(void)untimeout(mill_running);
		mill_running = 0;
	}
	splx(s);
	return 0;
}

static int
millwput(q, mp)
	register queue_t *q;
	register mblk_t *mp;
{
	switch (mp->b_datap->db_type) {
	case M_DATA:
	case M_PROTO:
		/* there is no service procedure: milltick empties it */
		putq(q, mp);
		if (!mill_running)
			mill_running = timeout(milltick, (caddr_t)0, 1);
		break;
	case M_PCPROTO:
		qreply(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHDATA);
		if (*mp->b_rptr & FLUSHR) {
			flushq(RD(q), FLUSHDATA);
			*mp->b_rptr &= ~FLUSHW;
			qreply(q, mp);
		} else
			freemsg(mp);
		break;
	case M_IOCTL:
		mp->b_datap->db_type = M_IOCNAK;
		qreply(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

/* Grind: everything that was written goes to the read side, as it has room. */
static void
milltick(arg)
	caddr_t arg;
{
	register struct mill *m;
	register mblk_t *mp;
	register queue_t *wq;
	int again = 0;

	mill_running = 0;
	for (m = mills; m < &mills[NMILL]; m++) {
		if (!m->mi_open)
			continue;
		wq = WR(m->mi_rq);
		while (canput(m->mi_rq) && (mp = getq(wq)) != NULL) {
			m->mi_ground++;
			putq(m->mi_rq, mp);
		}
		if (qsize(wq) > 0)
			again = 1;
	}
	if (again && !mill_running)
		mill_running = timeout(milltick, (caddr_t)0, 1);
}

static int
millrsrv(q)
	register queue_t *q;
{
	register mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (mp->b_datap->db_type < QPCTL && !bcanput(q->q_next,
		    mp->b_band)) {
			putbq(q, mp);
			return 0;
		}
		putnext(q, mp);
	}
	return 0;
}
