/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * cooked: a canonical line discipline.  What is typed becomes a line in a
 * message that hangs on the module's own structure, one block for each piece
 * that came; lines that were not asked for wait on a list of the module's,
 * linked by b_next, until CK_GIVE.  Erase is #, kill is @, \ before either
 * takes its meaning, ^D ends the file.  TCSETAW waits for CK_GIVE, too.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/termio.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#define CK_HOLD	(('k' << 8) | 1)	/* lines wait */
#define CK_GIVE	(('k' << 8) | 2)	/* and go up */

#define NCOOKED	16

struct cooked {
	short	 ck_used;
	short	 ck_hold;
	short	 ck_quote;
	mblk_t	*ck_line;		/* as far as it has been typed */
	mblk_t	*ck_first, *ck_last;	/* lines that wait */
	mblk_t	*ck_ioc;		/* TCSETAW */
	struct termio ck_tio;
} cooked[NCOOKED];

static int ckopen(), ckclose(), ckrput(), ckwput(), cksrv();

static struct module_info ckminfo = { 0x636b, "cooked", 0, INFPSZ, 512, 128 };
static struct qinit ckrinit = {
	ckrput, cksrv, ckopen, ckclose, NULL, &ckminfo, NULL
};
static struct qinit ckwinit = {
	ckwput, NULL, NULL, NULL, NULL, &ckminfo, NULL
};
struct streamtab cookedinfo = { &ckrinit, &ckwinit, NULL, NULL };

static int
ckopen(q, devp, flag, sflag, crp)
	queue_t *q;
	dev_t *devp;
	int flag, sflag;
	cred_t *crp;
{
	register struct cooked *ck;

	if (q->q_ptr != NULL)
		return (0);
	if (sflag != MODOPEN)
		return (EINVAL);
	for (ck = cooked; ck->ck_used; ck++)
		if (ck == &cooked[NCOOKED - 1])
			return (EAGAIN);
	bzero((caddr_t)ck, sizeof (*ck));
	ck->ck_used = 1;
	ck->ck_tio.c_cflag = B9600 | CS8;
	q->q_ptr = WR(q)->q_ptr = (caddr_t)ck;
	qprocson(q);
	return (0);
}

static int
ckclose(q, flag, crp)
	queue_t *q;
	int flag;
	cred_t *crp;
{
	struct cooked *ck = (struct cooked *)q->q_ptr;
	mblk_t *mp;

	qprocsoff(q);
	while ((mp = ck->ck_first) != NULL) {
		ck->ck_first = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
	if (ck->ck_line != NULL)
		freemsg(ck->ck_line);
	if (ck->ck_ioc != NULL)
		freemsg(ck->ck_ioc);
	ck->ck_used = 0;
	return (0);
}

/* A line is complete. */
static void
ckend(q, ck)
	queue_t *q;
	struct cooked *ck;
{
	mblk_t *mp = ck->ck_line;

	ck->ck_line = NULL;
	if (mp == NULL && (mp = allocb(0, BPRI_MED)) == NULL)
		return;
	if (ck->ck_hold) {
		if (ck->ck_first == NULL)
			ck->ck_first = mp;
		else
			ck->ck_last->b_next = mp;
		ck->ck_last = mp;
	} else
		putq(q, mp);
}

static void
ckchar(q, ck, c)
	queue_t *q;
	struct cooked *ck;
	int c;
{
	mblk_t *bp, *last;

	if (ck->ck_quote)
		ck->ck_quote = 0;
	else switch (c) {
	case '\\':
		ck->ck_quote = 1;
		return;
	case '@':
		if (ck->ck_line != NULL)
			freemsg(ck->ck_line);
		ck->ck_line = NULL;
		return;
	case '#':
		if (ck->ck_line == NULL)
			return;
		(void) adjmsg(ck->ck_line, -1);
		if (msgdsize(ck->ck_line) == 0) {
			freemsg(ck->ck_line);
			ck->ck_line = NULL;
		}
		return;
	case 'D' & 037:
		ckend(q, ck);
		return;
	}
	for (last = ck->ck_line; last && last->b_cont; last = last->b_cont)
		;
	if (last == NULL || last->b_wptr == last->b_datap->db_lim ||
	    last->b_wptr - last->b_rptr == 4) {
		if ((bp = allocb(4, BPRI_HI)) == NULL)
			return;
		if (last == NULL)
			ck->ck_line = bp;
		else
			linkb(last, bp);
		last = bp;
	}
	*last->b_wptr++ = c;
	if (c == '\n')
		ckend(q, ck);
}

static int
ckrput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct cooked *ck = (struct cooked *)q->q_ptr;
	mblk_t *bp;

	switch (mp->b_datap->db_type) {
	case M_DATA:
		for (bp = mp; bp != NULL; bp = bp->b_cont)
			while (bp->b_rptr < bp->b_wptr)
				ckchar(q, ck, *bp->b_rptr++);
		freemsg(mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHR)
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
	return (0);
}

static int
cksrv(q)
	queue_t *q;
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!canput(q->q_next)) {
			putbq(q, mp);
			return (0);
		}
		putnext(q, mp);
	}
	return (0);
}

/* The structure of TCSETA goes in; the answer of TCGETA goes out. */
static void
ckioctl(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct cooked *ck = (struct cooked *)q->q_ptr;
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	struct copyreq *cq;
	mblk_t *bp;

	switch (ioc->ioc_cmd) {
	case CK_HOLD:
		ck->ck_hold = 1;
		break;
	case CK_GIVE:
		ck->ck_hold = 0;
		while ((bp = ck->ck_first) != NULL) {
			ck->ck_first = bp->b_next;
			bp->b_next = NULL;
			putq(RD(q), bp);
		}
		if ((bp = ck->ck_ioc) != NULL) {
			ck->ck_ioc = NULL;
			bp->b_datap->db_type = M_IOCACK;
			((struct iocblk *)bp->b_rptr)->ioc_count = 0;
			qreply(q, bp);
		}
		break;
	case TCSETAW:
		if (ck->ck_hold) {
			if (ck->ck_ioc != NULL)
				freemsg(ck->ck_ioc);
			ck->ck_ioc = mp;
			return;
		}
		break;
	case TCGETA:
		if ((bp = allocb(sizeof (struct termio), BPRI_MED)) == NULL) {
			ioc->ioc_error = EAGAIN;
			goto nak;
		}
		bcopy((caddr_t)&ck->ck_tio, (caddr_t)bp->b_wptr,
		    sizeof (struct termio));
		bp->b_wptr += sizeof (struct termio);
		if (ioc->ioc_count == TRANSPARENT) {
			cq = (struct copyreq *)mp->b_rptr;
			cq->cq_addr = *(char **)mp->b_cont->b_rptr;
			freemsg(unlinkb(mp));
			cq->cq_size = sizeof (struct termio);
			cq->cq_flag = 0;
			cq->cq_private = NULL;
			mp->b_wptr = mp->b_rptr + sizeof (struct copyreq);
			mp->b_datap->db_type = M_COPYOUT;
			linkb(mp, bp);
			qreply(q, mp);
			return;
		}
		if (mp->b_cont != NULL)
			freemsg(unlinkb(mp));
		linkb(mp, bp);
		ioc->ioc_count = sizeof (struct termio);
		mp->b_datap->db_type = M_IOCACK;
		qreply(q, mp);
		return;
	case TCSETA:
		if (ioc->ioc_count == TRANSPARENT) {
			if ((bp = allocb(4, BPRI_MED)) == NULL) {
				ioc->ioc_error = EAGAIN;
				goto nak;
			}
			bcopy("set", (caddr_t)bp->b_wptr, 4);
			bp->b_wptr += 4;
			cq = (struct copyreq *)mp->b_rptr;
			cq->cq_addr = *(char **)mp->b_cont->b_rptr;
			freemsg(unlinkb(mp));
			cq->cq_size = sizeof (struct termio);
			cq->cq_flag = 0;
			cq->cq_private = bp;
			mp->b_wptr = mp->b_rptr + sizeof (struct copyreq);
			mp->b_datap->db_type = M_COPYIN;
			qreply(q, mp);
			return;
		}
		if (ioc->ioc_count != sizeof (struct termio) ||
		    !pullupmsg(mp->b_cont, sizeof (struct termio))) {
			ioc->ioc_error = EINVAL;
			goto nak;
		}
		bcopy((caddr_t)mp->b_cont->b_rptr, (caddr_t)&ck->ck_tio,
		    sizeof (struct termio));
		break;
	default:
		putnext(q, mp);
		return;
	}
	mp->b_datap->db_type = M_IOCACK;
	ioc->ioc_count = 0;
	qreply(q, mp);
	return;
nak:
	mp->b_datap->db_type = M_IOCNAK;
	qreply(q, mp);
}

static int
ckwput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct cooked *ck = (struct cooked *)q->q_ptr;
	struct copyresp *cp;
	struct iocblk *ioc;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		ckioctl(q, mp);
		break;
	case M_IOCDATA:
		cp = (struct copyresp *)mp->b_rptr;
		if (cp->cp_cmd != TCGETA && cp->cp_cmd != TCSETA) {
			putnext(q, mp);
			break;
		}
		if (cp->cp_rval) {
			if (cp->cp_private != NULL)
				freemsg(cp->cp_private);
			freemsg(mp);
			break;
		}
		if (cp->cp_private != NULL) {
			if (bcmp((caddr_t)cp->cp_private->b_rptr, "set", 4))
				cmn_err(CE_WARN, "cooked: cp_private");
			freemsg(cp->cp_private);
			bcopy((caddr_t)mp->b_cont->b_rptr,
			    (caddr_t)&ck->ck_tio, sizeof (struct termio));
		}
		if (mp->b_cont != NULL)
			freemsg(unlinkb(mp));
		mp->b_datap->db_type = M_IOCACK;
		mp->b_wptr = mp->b_rptr + sizeof (struct iocblk);
		ioc = (struct iocblk *)mp->b_rptr;
		ioc->ioc_error = ioc->ioc_rval = 0;
		ioc->ioc_count = 0;
		qreply(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return (0);
}
