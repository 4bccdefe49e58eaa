/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A driver that does nothing but ioctls: with their data (I_STR), and
 * fetching and storing it itself, in as many steps as it takes.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strconf.h>
#include <sys/kmem.h>
#include <sys/cred.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#include "vend.h"

#define NVEND	8

/* What an ioctl that takes several steps remembers: cq_private. */
struct vstate {
	int	step;
	char	*uarg;		/* where the user's struct is */
	struct vcaps caps;
	mblk_t	*text;
};
#define IN_STRUCT	1
#define IN_TEXT		2
#define OUT_TEXT	3
#define OUT_STRUCT	4

static struct vend {
	queue_t	*rq;
	mblk_t	*silent;	/* an ioctl that was never answered */
} vend[NVEND];
static int vendbusy;

static int vendopen(queue_t *, dev_t *, int, int, cred_t *);
static int vendclose(queue_t *, int, cred_t *);
static int vendwput(queue_t *, mblk_t *);

static struct module_info minfo = { 1234, "vend", 0, INFPSZ, 1024, 256 };
static struct qinit rinit = {
	NULL, NULL, vendopen, vendclose, NULL, &minfo, NULL
};
static struct qinit winit = {
	vendwput, NULL, NULL, NULL, NULL, &minfo, NULL
};
struct streamtab vendinfo = { &rinit, &winit, NULL, NULL };
int venddevflag = D_NEW;

static int
vendopen(queue_t *q, dev_t *devp, int oflag, int sflag, cred_t *credp)
{
	minor_t m = getminor(*devp);

	if (q->q_ptr)
		return (0);
	if (sflag == CLONEOPEN) {
		for (m = 0; m < NVEND; m++)
			if (vend[m].rq == NULL)
				break;
	}
	if (m >= NVEND)
		return (ENXIO);
	*devp = makedevice(getmajor(*devp), m);
	vend[m].rq = q;
	q->q_ptr = (caddr_t)&vend[m];
	WR(q)->q_ptr = (caddr_t)&vend[m];
	qprocson(q);
	return (0);
}

static int
vendclose(queue_t *q, int flag, cred_t *credp)
{
	struct vend *v = (struct vend *)q->q_ptr;

	qprocsoff(q);
	if (v->silent) {
		freemsg(v->silent);
		v->silent = NULL;
	}
	v->rq = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	return (0);
}

static void
nak(queue_t *q, mblk_t *mp, int error)
{
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCNAK;
	iocp->ioc_error = error;
	iocp->ioc_count = 0;
	iocp->ioc_rval = 0;
	if (mp->b_cont) {
		freemsg(mp->b_cont);
		mp->b_cont = NULL;
	}
	qreply(q, mp);
}

static void
ack(queue_t *q, mblk_t *mp, int count, int rval)
{
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCACK;
	iocp->ioc_error = 0;
	iocp->ioc_count = count;
	iocp->ioc_rval = rval;
	qreply(q, mp);
}

/* make the message in mp a request to copy in */
static void
fetch(queue_t *q, mblk_t *mp, char *addr, size_t len, mblk_t *priv)
{
	struct copyreq *cq = (struct copyreq *)mp->b_rptr;

	if (mp->b_cont) {
		freemsg(mp->b_cont);
		mp->b_cont = NULL;
	}
	mp->b_datap->db_type = M_COPYIN;
	mp->b_wptr = mp->b_rptr + sizeof (struct copyreq);
	cq->cq_addr = addr;
	cq->cq_size = len;
	cq->cq_flag = 0;
	cq->cq_private = priv;
	qreply(q, mp);
}

static void
store(queue_t *q, mblk_t *mp, char *addr, mblk_t *data, mblk_t *priv)
{
	struct copyreq *cq = (struct copyreq *)mp->b_rptr;

	if (mp->b_cont)
		freemsg(mp->b_cont);
	mp->b_cont = data;
	mp->b_datap->db_type = M_COPYOUT;
	mp->b_wptr = mp->b_rptr + sizeof (struct copyreq);
	cq->cq_addr = addr;
	cq->cq_size = msgdsize(data);
	cq->cq_flag = 0;
	cq->cq_private = priv;
	qreply(q, mp);
}

static void
vendioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;
	struct vend *v = (struct vend *)q->q_ptr;
	int transparent = iocp->ioc_count == TRANSPARENT;
	mblk_t *priv, *data;
	struct vstate *s;
	struct vsum *sum;

	switch (iocp->ioc_cmd) {
	case V_SUM:
	case V_CAPS:
		if (!transparent) {
			if (iocp->ioc_cmd == V_CAPS ||
			    iocp->ioc_count != sizeof (struct vsum) ||
			    !pullupmsg(mp->b_cont, -1)) {
				nak(q, mp, EINVAL);
				return;
			}
			sum = (struct vsum *)mp->b_cont->b_rptr;
			sum->sum = sum->a + sum->b;
			ack(q, mp, sizeof (struct vsum), 0);
			return;
		}
		if ((priv = allocb(sizeof (struct vstate), BPRI_MED)) == NULL) {
			nak(q, mp, EAGAIN);
			return;
		}
		vendbusy++;
		s = (struct vstate *)priv->b_rptr;
		priv->b_wptr += sizeof (struct vstate);
		s->step = IN_STRUCT;
		s->uarg = *(char **)mp->b_cont->b_rptr;
		s->text = NULL;
		fetch(q, mp, s->uarg, iocp->ioc_cmd == V_SUM ?
		    sizeof (struct vsum) : sizeof (struct vcaps), priv);
		return;
	case V_FAIL:
		if (transparent || iocp->ioc_count != sizeof (int))
			nak(q, mp, EINVAL);
		else
			nak(q, mp, *(int *)mp->b_cont->b_rptr);
		return;
	case V_RVAL:
		if (transparent || iocp->ioc_count != sizeof (int))
			nak(q, mp, EINVAL);
		else
			ack(q, mp, 0, *(int *)mp->b_cont->b_rptr);
		return;
	case V_ONE:
		if (!transparent)
			nak(q, mp, EINVAL);
		else
			ack(q, mp, 0, (int)*(long *)mp->b_cont->b_rptr + 1);
		return;
	case V_SILENT:
		if (v->silent)
			freemsg(v->silent);
		v->silent = mp;
		return;
	case V_BUSY:
		if (iocp->ioc_count != sizeof (int)) {
			nak(q, mp, EINVAL);
			return;
		}
		*(int *)mp->b_cont->b_rptr = vendbusy;
		ack(q, mp, sizeof (int), 0);
		return;
	case V_TWICE:
		if (transparent || (data = copymsg(mp->b_cont)) == NULL) {
			nak(q, mp, EINVAL);
			return;
		}
		linkb(mp->b_cont, data);
		ack(q, mp, 2 * iocp->ioc_count, 2);
		return;
	default:
		nak(q, mp, EINVAL);
		return;
	}
}

/* forget the ioctl, and what was fetched for it */
static void
done(mblk_t *priv)
{
	struct vstate *s = (struct vstate *)priv->b_rptr;

	if (s->text)
		freemsg(s->text);
	freemsg(priv);
	vendbusy--;
}

static void
vendiocdata(queue_t *q, mblk_t *mp)
{
	struct copyresp *cp = (struct copyresp *)mp->b_rptr;
	mblk_t *priv = cp->cp_private, *bp;
	struct vstate *s;
	struct vsum *sum;
	unsigned char *p;
	int n;

	if (cp->cp_cmd != V_SUM && cp->cp_cmd != V_CAPS) {
		freemsg(mp);
		return;
	}
	if (cp->cp_rval) {
		/* the head has told the user already */
		done(priv);
		freemsg(mp);
		return;
	}
	s = (struct vstate *)priv->b_rptr;
	switch (s->step) {
	case IN_STRUCT:
		if (!pullupmsg(mp->b_cont, -1)) {
			done(priv);
			nak(q, mp, ENOSR);
			return;
		}
		if (cp->cp_cmd == V_SUM) {
			bp = mp->b_cont;
			mp->b_cont = NULL;
			sum = (struct vsum *)bp->b_rptr;
			sum->sum = sum->a + sum->b;
			s->step = OUT_STRUCT;
			store(q, mp, s->uarg, bp, priv);
			return;
		}
		s->caps = *(struct vcaps *)mp->b_cont->b_rptr;
		if (s->caps.len < 0 || s->caps.len > 16384) {
			done(priv);
			nak(q, mp, ERANGE);
			return;
		}
		s->step = IN_TEXT;
		fetch(q, mp, s->caps.text, s->caps.len, priv);
		return;
	case IN_TEXT:
		bp = mp->b_cont;
		mp->b_cont = NULL;
		s->caps.changed = 0;
		for (s->text = bp; bp; bp = bp->b_cont)
			for (p = bp->b_rptr; p < bp->b_wptr; p++)
				if (*p >= 'a' && *p <= 'z') {
					*p -= 'a' - 'A';
					s->caps.changed++;
				}
		s->step = OUT_TEXT;
		bp = s->text;
		s->text = NULL;
		store(q, mp, s->caps.text, bp, priv);
		return;
	case OUT_TEXT:
		if ((bp = allocb(sizeof (struct vcaps), BPRI_MED)) == NULL) {
			done(priv);
			nak(q, mp, ENOSR);
			return;
		}
		*(struct vcaps *)bp->b_wptr = s->caps;
		bp->b_wptr += sizeof (struct vcaps);
		s->step = OUT_STRUCT;
		store(q, mp, s->uarg, bp, priv);
		return;
	case OUT_STRUCT:
		n = cp->cp_cmd == V_CAPS ? s->caps.changed : 0;
		done(priv);
		if (mp->b_cont) {
			freemsg(mp->b_cont);
			mp->b_cont = NULL;
		}
		mp->b_wptr = mp->b_rptr + sizeof (struct iocblk);
		ack(q, mp, 0, n);
		return;
	default:
		cmn_err(CE_WARN, "vend: step %d", s->step);
		done(priv);
		nak(q, mp, EPROTO);
		return;
	}
}

static int
vendwput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		vendioctl(q, mp);
		break;
	case M_IOCDATA:
		vendiocdata(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW) {
			flushq(q, FLUSHDATA);
			*mp->b_rptr &= ~FLUSHW;
		}
		if (*mp->b_rptr & FLUSHR) {
			flushq(RD(q), FLUSHDATA);
			qreply(q, mp);
		} else
			freemsg(mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return (0);
}
