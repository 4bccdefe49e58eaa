/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * perim - a module in the Solaris manner.  Each instance has a count, kept in
 * its inner perimeter without locks; a table of all is changed in the outer
 * one.  Timers and bufcalls are the queue's.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/conf.h>
#include <sys/cmn_err.h>
#include <sys/modctl.h>
#include <sys/ddi.h>
#include <sys/sunddi.h>

#define	PM_GATE		(('Q' << 8) | 1)	/* int: opens sleep while set */
#define	PM_COUNT	(('Q' << 8) | 2)	/* int[5] */
#define	PM_TIMER	(('Q' << 8) | 3)	/* int ticks; M_DATA "tick" comes */
#define	PM_RENAME	(('Q' << 8) | 4)	/* in the outer perimeter */
#define	PM_CANCEL	(('Q' << 8) | 5)

typedef struct perim {
	struct perim	*p_next;
	queue_t		*p_rq;
	timeout_id_t	p_tid;
	bufcall_id_t	p_bid;
	int		p_msgs;
	int		p_inside;
	int		p_bad;
	int		p_left;
	int		p_name;
	mblk_t		*p_ioc;
} perim_t;

static perim_t	*perim_list;
static int	perim_gate, perim_n, perim_outer, perim_renames;
static void	*perim_cookie;

static int perim_open(queue_t *, dev_t *, int, int, cred_t *);
static int perim_close(queue_t *, int, cred_t *);
static int perim_rput(queue_t *, mblk_t *);
static int perim_wput(queue_t *, mblk_t *);
static int perim_wsrv(queue_t *);

static struct module_info perim_minfo = { 0x5150, "perim", 0, INFPSZ, 2048, 128 };
static struct qinit perim_rinit = {
	(int (*)())perim_rput, NULL, perim_open, perim_close, NULL, &perim_minfo, NULL
};
static struct qinit perim_winit = {
	(int (*)())perim_wput, (int (*)())perim_wsrv, NULL, NULL, NULL, &perim_minfo, NULL
};
static struct streamtab perim_info = { &perim_rinit, &perim_winit, NULL, NULL };
static struct fmodsw fsw = {
	"perim", &perim_info,
	D_NEW | D_MP | D_MTQPAIR | D_MTOUTPERIM | D_MTOCEXCL
};
extern struct mod_ops mod_strmodops;
static struct modlstrmod modlstrmod = { &mod_strmodops, "perimeters %I%", &fsw };
static struct modlinkage modlinkage = { MODREV_1, { (void *)&modlstrmod, NULL } };

int
_init(void)
{
	int err;

	perim_cookie = kmem_zalloc(64, KM_SLEEP);
	if ((err = mod_install(&modlinkage)) != 0)
		kmem_free(perim_cookie, 64);
	return (err);
}
int
_fini(void)
{
	return (mod_remove(&modlinkage));
}
int
_info(struct modinfo *modinfop)
{
	return (mod_info(&modlinkage, modinfop));
}

static int
perim_open(queue_t *q, dev_t *devp, int oflag, int sflag, cred_t *credp)
{
	perim_t *p;

	if (sflag != MODOPEN)
		return (ENXIO);
	if (q->q_ptr != NULL)
		return (0);
	p = kmem_zalloc(sizeof (perim_t), KM_SLEEP);
	p->p_rq = q;
	q->q_ptr = WR(q)->q_ptr = p;
	p->p_next = perim_list;
	perim_list = p;
	perim_n++;
	qprocson(q);
	while (perim_gate) {
		if (!qwait_sig(q)) {
			perim_t **pp;

			for (pp = &perim_list; *pp != p; pp = &(*pp)->p_next)
				;
			*pp = p->p_next;
			perim_n--;
			qprocsoff(q);
			kmem_free(p, sizeof (*p));
			q->q_ptr = WR(q)->q_ptr = NULL;
			return (EINTR);
		}
	}
	return (0);
}

static int
perim_close(queue_t *q, int flag, cred_t *credp)
{
	perim_t *p = q->q_ptr, **pp;

	qprocsoff(q);
	if (p->p_tid != 0)
		(void) quntimeout(q, p->p_tid);
	if (p->p_bid != 0)
		qunbufcall(q, p->p_bid);
	if (p->p_ioc != NULL)
		freemsg(p->p_ioc);
	for (pp = &perim_list; *pp != p; pp = &(*pp)->p_next)
		;
	*pp = p->p_next;
	perim_n--;
	kmem_free(p, sizeof (*p));
	q->q_ptr = WR(q)->q_ptr = NULL;
	return (0);
}

static void
perim_tick(void *arg)
{
	queue_t *q = arg;
	perim_t *p = q->q_ptr;
	mblk_t *mp;

	if (p->p_inside++)
		p->p_bad++;
	p->p_tid = 0;
	if ((mp = allocb(4, BPRI_HI)) != NULL) {
		bcopy("tick", mp->b_wptr, 4);
		mp->b_wptr += 4;
		putnext(q, mp);
	}
	p->p_inside--;
}

static void
perim_rename(queue_t *q, mblk_t *mp)
{
	perim_t *p;
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;

	if (perim_outer++)
		cmn_err(CE_WARN, "perim: two in the outer perimeter");
	perim_renames++;
	for (p = perim_list; p != NULL; p = p->p_next) {
		if (p->p_inside)
			cmn_err(CE_WARN, "perim: somebody is inside");
		p->p_name = perim_renames;
	}
	drv_usecwait(100);
	perim_outer--;
	mp->b_datap->db_type = M_IOCACK;
	iocp->ioc_rval = perim_renames;
	iocp->ioc_count = 0;
	qreply(q, mp);
}

static int
perim_rput(queue_t *q, mblk_t *mp)
{
	perim_t *p = q->q_ptr;

	if (p->p_inside++)
		p->p_bad++;
	if (DB_TYPE(mp) == M_DATA)
		p->p_msgs++;
	p->p_inside--;
	putnext(q, mp);
	return (0);
}

static void
perim_ioctl(queue_t *q, mblk_t *mp)
{
	perim_t *p = q->q_ptr, *o;
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;
	mblk_t *bp;
	int err;

	switch (iocp->ioc_cmd) {
	case PM_GATE:
		if ((err = miocpullup(mp, sizeof (int))) != 0) {
			miocnak(q, mp, 0, err);
			return;
		}
		perim_gate = *(int *)mp->b_cont->b_rptr;
		for (o = perim_list; o != NULL; o = o->p_next)
			if (o != p)	/* who sleeps there looks again */
				qenable(WR(o->p_rq));
		miocack(q, mp, 0, perim_n);
		return;
	case PM_COUNT:
		if ((bp = allocb(5 * sizeof (int), BPRI_MED)) == NULL) {
			miocnak(q, mp, 0, ENOMEM);
			return;
		}
		((int *)bp->b_wptr)[0] = p->p_msgs;
		((int *)bp->b_wptr)[1] = p->p_bad;
		((int *)bp->b_wptr)[2] = p->p_name;
		((int *)bp->b_wptr)[3] = perim_n;
		((int *)bp->b_wptr)[4] = p->p_left;
		bp->b_wptr += 5 * sizeof (int);
		if (iocp->ioc_count == TRANSPARENT) {
			mcopyout(mp, NULL, 5 * sizeof (int), NULL, bp);
			qreply(q, mp);
			return;
		}
		mioc2ack(mp, bp, 5 * sizeof (int), 0);
		qreply(q, mp);
		return;
	case PM_TIMER:
		if ((err = miocpullup(mp, sizeof (int))) != 0) {
			miocnak(q, mp, 0, err);
			return;
		}
		if (p->p_tid != 0) {
			miocnak(q, mp, 0, EBUSY);
			return;
		}
		p->p_tid = qtimeout(RD(q), perim_tick, RD(q), *(int *)mp->b_cont->b_rptr);
		miocack(q, mp, 0, p->p_tid != 0);
		return;
	case PM_CANCEL:
		if (p->p_tid != 0) {
			p->p_left = quntimeout(RD(q), p->p_tid);
			p->p_tid = 0;
			miocack(q, mp, 0, 1);
		} else
			miocack(q, mp, 0, 0);
		return;
	case PM_RENAME:
		qwriter(q, mp, perim_rename, PERIM_OUTER);
		return;
	}
	putnext(q, mp);
}

static int
perim_wput(queue_t *q, mblk_t *mp)
{
	perim_t *p = q->q_ptr;
	struct copyresp *rp;

	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		perim_ioctl(q, mp);
		break;
	case M_IOCDATA:
		rp = (struct copyresp *)mp->b_rptr;
		if (rp->cp_cmd != PM_COUNT) {
			putnext(q, mp);
			break;
		}
		if (rp->cp_rval) {
			freemsg(mp);
			break;
		}
		miocack(q, mp, 0, 0);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHDATA);
		putnext(q, mp);
		break;
	default:
		if (DB_TYPE(mp) >= QPCTL) {
			putnext(q, mp);
			break;
		}
		if (p->p_inside++)
			p->p_bad++;
		(void) putq(q, mp);
		p->p_inside--;
	}
	return (0);
}

static void
perim_mem(void *arg)
{
	queue_t *q = arg;
	perim_t *p = q->q_ptr;

	p->p_bid = 0;
	enableok(q);
	qenable(q);
}

static int
perim_wsrv(queue_t *q)
{
	perim_t *p = q->q_ptr;
	mblk_t *mp, *nmp;

	ASSERT(p != NULL);
	if (p->p_inside++)
		p->p_bad++;
	while ((mp = getq(q)) != NULL) {
		if (!canputnext(q)) {
			(void) putbq(q, mp);
			break;
		}
		p->p_msgs++;
		if (p->p_msgs % 16 == 0 || (nmp = msgpullup(mp, -1)) == NULL) {
			/* memory is short: or so it looks */
			(void) putbq(q, mp);
			noenable(q);
			p->p_bid = qbufcall(q, msgdsize(mp), BPRI_MED, perim_mem, q);
			if (p->p_bid == 0) {
				enableok(q);
				p->p_bad++;
			}
			break;
		}
		freemsg(mp);
		putnext(q, nmp);
	}
	p->p_inside--;
	return (0);
}
