/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A line discipline for a terminal of glass: it tells the Stream head that this
 * is a terminal, and turns control characters into signals.
 *	^C	SIGINT to the foreground group, at once, with a flush
 *	^Z	SIGTSTP likewise
 *	^D	end of file
 * TCSETAW is answered, TIOCNXCL makes background writes free again.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/signal.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/ioctl.h>
#include <sys/conf.h>
#include <sys/ddi.h>

static int glopen(queue_t *, dev_t *, int, int, cred_t *);
static int glclose(queue_t *, int, cred_t *);
static int glrput(queue_t *, mblk_t *);
static int glwput(queue_t *, mblk_t *);

static struct module_info glminfo = { 0x91a5, "glass", 0, 256, 512, 128 };
static struct qinit glrinit = {
	glrput, NULL, glopen, glclose, NULL, &glminfo, NULL
};
static struct qinit glwinit = {
	glwput, NULL, NULL, NULL, NULL, &glminfo, NULL
};
struct streamtab glassinfo = { &glrinit, &glwinit, NULL, NULL };
int glassdevflag = 0;

static int
options(queue_t *q, ulong_t flags)
{
	struct stroptions *so;
	mblk_t *mp;

	if ((mp = allocb(sizeof(struct stroptions), BPRI_MED)) == NULL)
		return (0);
	mp->b_datap->db_type = M_SETOPTS;
	mp->b_wptr += sizeof(struct stroptions);
	so = (struct stroptions *)mp->b_rptr;
	so->so_flags = flags;
	so->so_readopt = RNORM;
	so->so_hiwat = 512;
	so->so_lowat = 128;
	putnext(q, mp);
	return (1);
}

static int
glopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return (0);
	if (sflag != MODOPEN)
		return (EINVAL);
	q->q_ptr = WR(q)->q_ptr = (caddr_t)1;
	qprocson(q);
	if (!options(q, SO_READOPT|SO_HIWAT|SO_LOWAT|SO_ISTTY|SO_TOSTOP|
	    SO_NDELON)) {
		qprocsoff(q);
		q->q_ptr = WR(q)->q_ptr = NULL;
		return (EAGAIN);
	}
	return (0);
}

static int
glclose(queue_t *q, int flag, cred_t *crp)
{
	(void) options(q, SO_ISNTTY|SO_TONSTOP|SO_NDELOFF);
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return (0);
}

static int
glrput(queue_t *q, mblk_t *mp)
{
	mblk_t *bp;

	if (mp->b_datap->db_type != M_DATA ||
	    mp->b_wptr - mp->b_rptr != 1) {
		putnext(q, mp);
		return (0);
	}
	switch (*mp->b_rptr) {
	case 'C' & 037:
		(void) putnextctl1(q, M_FLUSH, FLUSHRW);
		(void) putnextctl1(q, M_PCSIG, SIGINT);
		freemsg(mp);
		break;
	case 'Z' & 037:
		(void) putnextctl1(q, M_PCSIG, SIGTSTP);
		freemsg(mp);
		break;
	case 'D' & 037:
		mp->b_wptr = mp->b_rptr;
		putnext(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return (0);
}

static int
glwput(queue_t *q, mblk_t *mp)
{
	struct iocblk *iocp;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		iocp = (struct iocblk *)mp->b_rptr;
		switch (iocp->ioc_cmd) {
		case TCSETAW:
			mp->b_datap->db_type = M_IOCACK;
			iocp->ioc_count = 0;
			qreply(q, mp);
			return (0);
		case TIOCNXCL:
			(void) options(RD(q), SO_TONSTOP);
			mp->b_datap->db_type = M_IOCACK;
			iocp->ioc_count = 0;
			qreply(q, mp);
			return (0);
		}
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHDATA);
		break;
	}
	putnext(q, mp);
	return (0);
}
