/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * lpx: a line printer.  Minor n is printer n; SPEED characters take a
 * hundredth of a second.  What was printed stands in the driver's memory
 * until minor n + 8 reads it, with I_STR.  SVR4 style, spl and timeouts.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/signal.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/termio.h>
#include <sys/systm.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#define LP_SPEED (('l' << 8) | 1)	/* int: characters a tick */
#define LP_PAPER (('l' << 8) | 2)	/* int: bytes printed; text is data */
#define LP_JAM	 (('l' << 8) | 3)	/* printer n jams: M_ERROR; n + 8 only */
#define LP_CLEAR (('l' << 8) | 4)
#define LP_OFF	 (('l' << 8) | 5)	/* M_HANGUP */
#define LP_ON	 (('l' << 8) | 6)	/* M_UNHANGUP */

#define NLP	8
#define PAPER	8192
#define BUSY	1
#define STOPPED	2
#define BREAK	4


struct lpx {
	short	lp_state;
	short	lp_flushes;
	queue_t	*lp_qptr;
	mblk_t	*lp_msg;		/* being printed: not on the queue */
	int	lp_tid;
	int	lp_speed;
	int	lp_n;
	int	lp_breaks;
	char	lp_paper[PAPER];
} lpx_lp[NLP];

int	lpxopen(), lpxclose(), lpxwput(), lpxsrv();
void	lpxout(), lpxint();

static struct module_info lpxminfo = { 0xaabb, "lpx", 0, INFPSZ, 150, 50 };
static struct qinit lpxrinit = { NULL, NULL, lpxopen, lpxclose, NULL, &lpxminfo, NULL };
static struct qinit lpxwinit = { lpxwput, lpxsrv, NULL, NULL, NULL, &lpxminfo, NULL };
struct streamtab lpxinfo = { &lpxrinit, &lpxwinit, NULL, NULL };
int lpxdevflag = 0;

int
lpxopen(q, devp, flag, sflag, credp)
	queue_t *q; dev_t *devp; int flag, sflag; cred_t *credp;
{
	struct lpx *lp;
	minor_t dev = getminor(*devp);

	if (sflag)
		return (ENXIO);
	if (dev >= 2 * NLP)
		return (ENODEV);
	lp = &lpx_lp[dev % NLP];
	if (q->q_ptr)
		return ((flag & FEXCL) ? EBUSY : 0);
	if (dev < NLP) {
		if (flag & FREAD)
			return (EACCES);
		lp->lp_qptr = WR(q);
		if (lp->lp_speed == 0)
			lp->lp_speed = 10;
	}
	q->q_ptr = WR(q)->q_ptr = (char *)lp;
	return (0);
}

int
lpxclose(q, flag, credp)
	queue_t *q; int flag; cred_t *credp;
{
	struct lpx *lp = (struct lpx *)q->q_ptr;
	int s;

	s = spl5();
	if (lp->lp_qptr == WR(q)) {
		if (lp->lp_tid) {
			untimeout(lp->lp_tid);
			lp->lp_tid = 0;
		}
		if (lp->lp_msg) {
			freemsg(lp->lp_msg);
			lp->lp_msg = NULL;
		}
		lp->lp_state &= ~(BUSY|STOPPED);
		lp->lp_qptr = NULL;
	}
	splx(s);
	return (0);
}

static void
lpxioctl(q, mp)
	queue_t *q; mblk_t *mp;
{
	struct lpx *lp = (struct lpx *)q->q_ptr;
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;
	mblk_t *bp;

	iocp->ioc_error = 0;
	switch (iocp->ioc_cmd) {
	case LP_SPEED:
		if (iocp->ioc_count != sizeof (int)) {
			iocp->ioc_error = EINVAL;
			break;
		}
		lp->lp_speed = *(int *)mp->b_cont->b_rptr;
		iocp->ioc_count = 0;
		break;
	case LP_PAPER:
		if ((bp = allocb(lp->lp_n + 1, BPRI_MED)) == NULL) {
			iocp->ioc_error = ENOSR;
			break;
		}
		bcopy(lp->lp_paper, (caddr_t)bp->b_wptr, lp->lp_n);
		bp->b_wptr += lp->lp_n;
		if (mp->b_cont)
			freemsg(unlinkb(mp));
		mp->b_cont = bp;
		iocp->ioc_rval = lp->lp_breaks * 1000 + lp->lp_flushes;
		iocp->ioc_count = lp->lp_n;
		lp->lp_n = 0;
		break;
	case LP_JAM:
		if (lp->lp_qptr)
			putctl1(RD(lp->lp_qptr)->q_next, M_ERROR, ENOSPC);
		iocp->ioc_count = 0;
		break;
	case LP_CLEAR:
		if (lp->lp_qptr)
			putctl1(RD(lp->lp_qptr)->q_next, M_ERROR, 0);
		iocp->ioc_count = 0;
		break;
	case LP_OFF:
	case LP_ON:
		if (lp->lp_qptr)
			putctl(RD(lp->lp_qptr)->q_next,
			    iocp->ioc_cmd == LP_OFF ? M_HANGUP : M_UNHANGUP);
		iocp->ioc_count = 0;
		break;
	default:
		iocp->ioc_error = EINVAL;
		break;
	}
	mp->b_datap->db_type = iocp->ioc_error ? M_IOCNAK : M_IOCACK;
	qreply(q, mp);
}

int
lpxwput(q, mp)
	queue_t *q; mblk_t *mp;
{
	struct lpx *lp = (struct lpx *)q->q_ptr;
	int s;

	switch (mp->b_datap->db_type) {
	default:
		freemsg(mp);
		break;
	case M_FLUSH:
		lp->lp_flushes++;
		if (*mp->b_rptr & FLUSHW) {
			flushq(q, FLUSHDATA);
			s = spl5();
			if (lp->lp_msg) {
				freemsg(lp->lp_msg);
				lp->lp_msg = NULL;
			}
			splx(s);
			*mp->b_rptr &= ~FLUSHW;
		}
		if (*mp->b_rptr & FLUSHR) {
			flushq(RD(q), FLUSHDATA);
			qreply(q, mp);
		} else
			freemsg(mp);
		break;
	case M_IOCTL:
		if (((struct iocblk *)mp->b_rptr)->ioc_cmd == TCSBRK) {
			putq(q, mp);		/* when all is printed */
			break;
		}
		lpxioctl(q, mp);
		break;
	case M_STOP:
		lp->lp_state |= STOPPED;
		freemsg(mp);
		break;
	case M_START:
		lp->lp_state &= ~STOPPED;
		freemsg(mp);
		qenable(q);
		break;
	case M_DATA:
	case M_BREAK:
		putq(q, mp);
		break;
	}
	return (0);
}

int
lpxsrv(q)
	queue_t *q;
{
	struct lpx *lp = (struct lpx *)q->q_ptr;
	int s = spl5();

	lpxout(lp);
	splx(s);
	return (0);
}

void
lpxout(lp)
	struct lpx *lp;
{
	mblk_t *bp;
	int n, m;

	if (lp->lp_state & (BUSY|STOPPED) || lp->lp_qptr == NULL)
		return;
	for (n = lp->lp_speed; n > 0; ) {
		if (lp->lp_msg == NULL) {
			if ((lp->lp_msg = getq(lp->lp_qptr)) == NULL)
				break;
			if (lp->lp_msg->b_datap->db_type == M_BREAK) {
				lp->lp_breaks++;
				freemsg(lp->lp_msg);
				lp->lp_msg = NULL;
				continue;
			}
			if (lp->lp_msg->b_datap->db_type == M_IOCTL) {
				bp = lp->lp_msg;
				lp->lp_msg = NULL;
				bp->b_datap->db_type = M_IOCACK;
				((struct iocblk *)bp->b_rptr)->ioc_count = 0;
				qreply(lp->lp_qptr, bp);
				continue;
			}
		}
		bp = lp->lp_msg;
		m = min(n, bp->b_wptr - bp->b_rptr);
		if (lp->lp_n + m <= PAPER) {
			bcopy((caddr_t)bp->b_rptr, lp->lp_paper + lp->lp_n, m);
			lp->lp_n += m;
		}
		bp->b_rptr += m;
		n -= m;
		if (bp->b_rptr == bp->b_wptr) {
			lp->lp_msg = unlinkb(bp);
			freeb(bp);
		}
	}
	if (n < lp->lp_speed) {
		lp->lp_state |= BUSY;
		lp->lp_tid = timeout(lpxint, (caddr_t)lp, 1);
		if (lp->lp_tid == 0)
			lp->lp_state &= ~BUSY;
	}
}

void
lpxint(lp)
	struct lpx *lp;
{
	lp->lp_tid = 0;
	lp->lp_state &= ~BUSY;
	if (lp->lp_qptr)
		qenable(lp->lp_qptr);
}
