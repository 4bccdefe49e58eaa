/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * frame, first half: the procedures that the executive calls.
 *
 * Both sides queue everything that is not urgent, so that order is kept, and
 * work in their service procedures.  There is no framedevflag: the module is
 * for one processor, one of these procedures runs at a time, and the table
 * needs no lock.  Callbacks (timeout, bufcall) are interrupts: they set a
 * flag at most, and enable a queue.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strlog.h>
#include <sys/ddi.h>

#include "frame.h"

static int fropen(queue_t *, dev_t *, int, int, cred_t *);
static int frclose(queue_t *, int, cred_t *);
static int frrput(queue_t *, mblk_t *);
static int frrsrv(queue_t *);
static int frwput(queue_t *, mblk_t *);
static int frwsrv(queue_t *);

static struct module_info fr_minfo = { FRID, "frame", 0, FRMAX, 4096, 1024 };
static struct qinit fr_rinit = {
	frrput, frrsrv, fropen, frclose, NULL, &fr_minfo, NULL
};
static struct qinit fr_winit = {
	frwput, frwsrv, NULL, NULL, NULL, &fr_minfo, NULL
};
struct streamtab frameinfo = { &fr_rinit, &fr_winit, NULL, NULL };

static struct fr fr_tab[NFR];

static int
fropen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct fr *fr;

	if (q->q_ptr != NULL)
		return 0; /* opened once more */
	if (sflag != MODOPEN)
		return EINVAL;
	for (fr = fr_tab; fr < &fr_tab[NFR]; fr++)
		if (fr->fr_q == NULL)
			break;
	if (fr == &fr_tab[NFR])
		return ENOSR;
	bzero(fr, sizeof(*fr));
	fr->fr_ticks = FRTICKS;
	q->q_ptr = WR(q)->q_ptr = fr;
	fr->fr_q = q;
	qprocson(q);
	return 0;
}

/* Nothing may call us, or be called for us, when the entry is free. */
static int
frclose(queue_t *q, int flag, cred_t *crp)
{
	struct fr *fr = q->q_ptr;

	qprocsoff(q);
	if (fr->fr_armed)
		(void)untimeout(fr->fr_timer);
	frrecovered(fr, q);
	frrecovered(fr, WR(q));
	frdrop(fr);
	q->q_ptr = WR(q)->q_ptr = NULL;
	fr->fr_q = NULL;
	return 0;
}

/* Canonical flushing of a module, for one queue. */
static void
frflush(queue_t *q, mblk_t *mp)
{
	if (*mp->b_rptr & FLUSHBAND)
		flushband(q, mp->b_rptr[1], FLUSHDATA);
	else
		flushq(q, FLUSHDATA);
}

/* ------------------------------------------------------------- write side */

static void
frnak(queue_t *q, mblk_t *mp, int error)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCNAK;
	ioc->ioc_error = error;
	ioc->ioc_count = 0;
	qreply(q, mp);
}

static void
frack(queue_t *q, mblk_t *mp, int count)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCACK;
	ioc->ioc_error = 0;
	ioc->ioc_rval = 0;
	ioc->ioc_count = count;
	qreply(q, mp);
}

/*
 * FR_STAT: counts go back with the answer to I_STR, and to the address that a
 * plain ioctl has in its message by M_COPYOUT.
 */
static void
frstat(queue_t *q, mblk_t *mp)
{
	struct fr *fr = q->q_ptr;
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	struct copyreq *cq = (struct copyreq *)mp->b_rptr;
	caddr_t to = NULL;
	mblk_t *bp;

	if ((bp = allocb(sizeof(struct frstat), BPRI_MED)) == NULL) {
		frnak(q, mp, ENOSR);
		return;
	}
	bcopy(&fr->fr_stat, bp->b_wptr, sizeof(struct frstat));
	bp->b_wptr += sizeof(struct frstat);
	if (ioc->ioc_count == TRANSPARENT)
		to = *(caddr_t *)mp->b_cont->b_rptr;
	if (mp->b_cont != NULL)
		freemsg(mp->b_cont);
	mp->b_cont = bp;
	if (ioc->ioc_count != TRANSPARENT) {
		frack(q, mp, sizeof(struct frstat));
		return;
	}
	mp->b_datap->db_type = M_COPYOUT;
	cq->cq_addr = to;
	cq->cq_size = sizeof(struct frstat);
	cq->cq_flag = 0;
	cq->cq_private = NULL;
	qreply(q, mp);
}

static void
frioctl(queue_t *q, mblk_t *mp)
{
	struct fr *fr = q->q_ptr;
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	switch (ioc->ioc_cmd) {
	case FR_STAT:
		frstat(q, mp);
		break;
	case FR_TIMO:
		if (ioc->ioc_count != sizeof(int) ||
			!pullupmsg(mp->b_cont, sizeof(int)) ||
			*(int *)mp->b_cont->b_rptr <= 0) {
			frnak(q, mp, EINVAL);
			break;
		}
		fr->fr_ticks = *(int *)mp->b_cont->b_rptr;
		frack(q, mp, 0);
		break;
	default:
		putnext(q, mp); /* another module's */
		break;
	}
}

/* The head has copied out, or could not; not all answers are to us. */
static void
friocdata(queue_t *q, mblk_t *mp)
{
	struct copyresp *cp = (struct copyresp *)mp->b_rptr;

	if (cp->cp_cmd != FR_STAT)
		putnext(q, mp);
	else if (cp->cp_rval != NULL)
		freemsg(mp); /* the head has told the program */
	else
		frack(q, mp, 0);
}

static int
frwput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		frioctl(q, mp);
		break;
	case M_IOCDATA:
		friocdata(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			frflush(q, mp);
		putnext(q, mp);
		break;
	default:
		if (mp->b_datap->db_type >= QPCTL)
			putnext(q, mp);
		else if (!putq(q, mp))
			freemsg(mp);
		break;
	}
	return 0;
}

static int
frwsrv(queue_t *q)
{
	struct fr *fr = q->q_ptr;
	mblk_t *mp, *fp;

	frrecovered(fr, q);
	while ((mp = getq(q)) != NULL) {
		if (!bcanputnext(q, mp->b_band)) {
			(void)putbq(q, mp); /* back-enabled */
			break;
		}
		if (mp->b_datap->db_type == M_DATA) {
			if ((fp = frwrap(fr, mp)) == NULL) {
				(void)putbq(q, mp);
				frrecover(fr, q, FRHEAD + 1);
				break;
			}
			mp = fp;
		}
		putnext(q, mp);
	}
	return 0;
}

/* -------------------------------------------------------------- read side */

static int
frrput(queue_t *q, mblk_t *mp)
{
	struct fr *fr = q->q_ptr;

	switch (mp->b_datap->db_type) {
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHR) {
			frflush(q, mp);
			frdrop(fr);
		}
		putnext(q, mp);
		break;
	default:
		if (mp->b_datap->db_type >= QPCTL)
			putnext(q, mp);
		else if (!putq(q, mp))
			freemsg(mp);
		break;
	}
	return 0;
}

/* Time is up for the rest of a frame. */
static void
frtick(void *arg)
{
	struct fr *fr = arg;

	fr->fr_late = 1;
	qenable(fr->fr_q);
}

static void
frtime(struct fr *fr)
{
	if (fr->fr_armed)
		(void)untimeout(fr->fr_timer);
	fr->fr_late = 0;
	fr->fr_armed = 0;
	if (fr->fr_part != NULL) {
		fr->fr_timer = timeout(frtick, fr, fr->fr_ticks);
		fr->fr_armed = fr->fr_timer != 0;
	}
}

/* Frames go up while there is room for them. */
static int
frrsrv(queue_t *q)
{
	struct fr *fr = q->q_ptr;
	mblk_t *mp;
	int moved = 0;

	frrecovered(fr, q);
	for (;;) {
		if (!canputnext(q))
			return 0; /* back-enabled */
		switch (frnext(fr, &mp)) {
		case 1: /* a frame */
			putnext(q, mp);
			continue;
		case -1: /* no memory */
			frrecover(fr, q, FRHEAD + 1);
			return 0;
		}
		if ((mp = getq(q)) == NULL)
			break;
		if (mp->b_datap->db_type != M_DATA) {
			putnext(q, mp);
			continue;
		}
		moved = 1;
		fr->fr_size += msgdsize(mp);
		if (fr->fr_part == NULL)
			fr->fr_part = mp;
		else
			linkb(fr->fr_part, mp);
	}
	if (fr->fr_late && !moved && fr->fr_part != NULL) {
		fr->fr_stat.late++;
		(void)strlog(FRID, fr - fr_tab, 1, SL_TRACE,
			"%d bytes of a frame given up", fr->fr_size);
		frdrop(fr);
	}
	frtime(fr);
	return 0;
}
