/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stamp: a module that puts a number in front of each message on its way
 * down, and takes it off on the way up; a message whose number is not the
 * one expected ends the stream with M_ERROR.  bufcall() where there is no
 * memory; no more than a few messages down in a tick.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/ddi.h>

#define NSTAMP	16
#define PERTICK	40		/* messages let down in a tick */

#define ST_STARVE (('t' << 8) | 1)	/* int: allocations to fail */
#define ST_STATS  (('t' << 8) | 2)	/* int[3]: stamped, bufcalls, waits */

struct stamp {
	int	st_used;
	queue_t	*st_wq;
	long	st_down, st_up;
	int	st_left;		/* of this tick */
	int	st_starve;
	int	st_timeid, st_bufid;
	int	st_nbuf, st_nwait;
} stamps[NSTAMP];

extern void qprocson(), qprocsoff();
int stampopen(), stampclose(), stamprput(), stampwput(), stampwsrv();
int stamprsrv();

static struct module_info stampminfo = { 611, "stamp", 0, INFPSZ, 3000, 600 };
static struct qinit stamprinit = {
	stamprput, stamprsrv, stampopen, stampclose, NULL, &stampminfo, NULL
};
static struct qinit stampwinit = {
	stampwput, stampwsrv, NULL, NULL, NULL, &stampminfo, NULL
};
struct streamtab stampinfo = { &stamprinit, &stampwinit, NULL, NULL };
int stampdevflag = D_NEW;

int
stampopen(q, dev, flag, sflag, cr)
queue_t *q;
dev_t *dev;
int flag, sflag;
cred_t *cr;
{
	struct stamp *st;

	if (sflag != MODOPEN)
		return EINVAL;
	if (q->q_ptr)
		return 0;
	for (st = stamps; st < &stamps[NSTAMP]; st++)
		if (!st->st_used) {
			bzero((caddr_t)st, sizeof(*st));
			st->st_used = 1;
			st->st_wq = WR(q);
			st->st_left = PERTICK;
			q->q_ptr = WR(q)->q_ptr = (caddr_t)st;
			qprocson(q);
			return 0;
		}
	return ENOSPC;
}

int
stampclose(q, flag, cr)
queue_t *q;
int flag;
cred_t *cr;
{
	struct stamp *st = (struct stamp *)q->q_ptr;

	qprocsoff(q);
	if (st->st_timeid)
		untimeout(st->st_timeid);
	if (st->st_bufid)
		unbufcall(st->st_bufid);
	st->st_used = 0;
	return 0;
}

static void
stampioctl(q, mp)
queue_t *q;
mblk_t *mp;
{
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;
	struct stamp *st = (struct stamp *)q->q_ptr;
	int *p;

	switch (iocp->ioc_cmd) {
	case ST_STARVE:
		if (iocp->ioc_count != sizeof(int))
			goto bad;
		st->st_starve = *(int *)mp->b_cont->b_rptr;
		iocp->ioc_count = 0;
		break;
	case ST_STATS:
		if (iocp->ioc_count != 3 * sizeof(int))
			goto bad;
		p = (int *)mp->b_cont->b_rptr;
		p[0] = st->st_down;
		p[1] = st->st_nbuf;
		p[2] = st->st_nwait;
		break;
	default:
		putnext(q, mp);
		return;
	bad:
		iocp->ioc_error = EINVAL;
		mp->b_datap->db_type = M_IOCNAK;
		qreply(q, mp);
		return;
	}
	iocp->ioc_error = iocp->ioc_rval = 0;
	mp->b_datap->db_type = M_IOCACK;
	qreply(q, mp);
}

int
stampwput(q, mp)
queue_t *q;
mblk_t *mp;
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		stampioctl(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHDATA);
		putnext(q, mp);
		break;
	default:
		if (mp->b_datap->db_type >= QPCTL)
			putnext(q, mp);
		else
			putq(q, mp);
		break;
	}
	return 0;
}

static void
stamptick(arg)
caddr_t arg;
{
	struct stamp *st = (struct stamp *)arg;

	st->st_timeid = 0;
	st->st_left = PERTICK;
	enableok(st->st_wq);
	qenable(st->st_wq);
}

static void
stampmem(arg)
long arg;
{
	struct stamp *st = (struct stamp *)arg;

	st->st_bufid = 0;
	qenable(st->st_wq);
}

int
stampwsrv(q)
queue_t *q;
{
	struct stamp *st = (struct stamp *)q->q_ptr;
	mblk_t *mp, *hp;

	while ((mp = getq(q)) != NULL) {
		if (mp->b_datap->db_type != M_DATA) {
			if (mp->b_datap->db_type < QPCTL &&
			    !canput(q->q_next)) {
				putbq(q, mp);
				return 0;
			}
			putnext(q, mp);
			continue;
		}
		if (!canput(q->q_next)) {
			putbq(q, mp);
			return 0;
		}
		if (st->st_left == 0) {
			st->st_nwait++;
			noenable(q);
			putbq(q, mp);
			if (!st->st_timeid)
				st->st_timeid = timeout(stamptick,
				    (caddr_t)st, drv_usectohz(10000L));
			return 0;
		}
		hp = NULL;
		if (st->st_starve == 0)
			hp = allocb(sizeof(long), BPRI_HI);
		else
			st->st_starve--;
		if (hp == NULL) {
			putbq(q, mp);
			if (!st->st_bufid)
				st->st_bufid = bufcall(sizeof(long), BPRI_HI,
				    stampmem, (long)st);
			st->st_nbuf++;
			return 0;
		}
		*(long *)hp->b_wptr = st->st_down++;
		hp->b_wptr += sizeof(long);
		hp->b_cont = mp;
		st->st_left--;
		putnext(q, hp);
	}
	return 0;
}

int
stamprput(q, mp)
queue_t *q;
mblk_t *mp;
{
	if (mp->b_datap->db_type == M_FLUSH && (*mp->b_rptr & FLUSHR))
		flushq(q, FLUSHDATA);
	if (mp->b_datap->db_type >= QPCTL)
		putnext(q, mp);
	else
		putq(q, mp);
	return 0;
}

int
stamprsrv(q)
queue_t *q;
{
	struct stamp *st = (struct stamp *)q->q_ptr;
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!canput(q->q_next)) {
			putbq(q, mp);
			break;
		}
		if (mp->b_datap->db_type == M_DATA) {
			if (!pullupmsg(mp, sizeof(long)) ||
			    *(long *)mp->b_rptr != st->st_up) {
				freemsg(mp);
				putctl1(q->q_next, M_ERROR, EILSEQ);
				continue;
			}
			st->st_up++;
			adjmsg(mp, sizeof(long));
		}
		putnext(q, mp);
	}
	return 0;
}
