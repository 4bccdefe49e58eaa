/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * serial - a module as it was written for a uniprocessor SVR4 kernel: static
 * tables, one counter for all streams, bufcall() when there is no memory.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/ddi.h>

#include "plain.h"

#define NSERIAL 64

struct serial {
	queue_t *wq;
	int starve;	/* pretend so many times that there is no memory */
	bcid_t bufcall; /* pending, or 0 */
};
static struct serial serial_tab[NSERIAL];
static int serial_next = 1;
static volatile int serial_hung;

static int serialopen(), serialclose(), serialrput(), serialwput();
static int serialwsrv();

static struct module_info serial_minfo = { 77, "serial", 0, INFPSZ, 4096, 512 };
static struct qinit serial_rinit = {
	serialrput, NULL, serialopen, serialclose, NULL, &serial_minfo, NULL
};
static struct qinit serial_winit = {
	serialwput, serialwsrv, NULL, NULL, NULL, &serial_minfo, NULL
};
struct streamtab serialinfo = { &serial_rinit, &serial_winit, NULL, NULL };

static int
serialopen(q, devp, flag, sflag, crp)
	queue_t *q;
	dev_t *devp;
	int flag, sflag;
	cred_t *crp;
{
	register struct serial *s;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	for (s = serial_tab; s->wq != NULL; s++)
		if (s == &serial_tab[NSERIAL - 1])
			return EBUSY;
	s->wq = WR(q);
	s->starve = 0;
	s->bufcall = 0;
	q->q_ptr = WR(q)->q_ptr = (char *)s;
	return 0;
}

static int
serialclose(q, flag, crp)
	queue_t *q;
	int flag;
	cred_t *crp;
{
	register struct serial *s = (struct serial *)q->q_ptr;

	if (s->bufcall != 0)
		unbufcall(s->bufcall);
	s->bufcall = 0;
	s->wq = NULL;
	return 0;
}

static int
serialrput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	putnext(q, mp);
	return 0;
}

static void
serialioctl(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	register struct serial *s = (struct serial *)q->q_ptr;
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	ioc->ioc_error = EINVAL;
	if (mp->b_cont == NULL) {
		;
	} else if (ioc->ioc_cmd == SERIAL_STARVE &&
		   ioc->ioc_count == sizeof(int)) {
		s->starve = *(int *)mp->b_cont->b_rptr;
		ioc->ioc_error = 0;
		ioc->ioc_count = 0;
	} else if (ioc->ioc_cmd == SERIAL_HUNG &&
		   ioc->ioc_count == sizeof(void *)) {
		*(volatile int **)mp->b_cont->b_rptr = &serial_hung;
		ioc->ioc_error = 0;
	} else if (ioc->ioc_cmd == SERIAL_WHERE &&
		   ioc->ioc_count == sizeof(void *)) {
		*(void **)mp->b_cont->b_rptr = s;
		ioc->ioc_error = 0;
	}
	mp->b_datap->db_type = ioc->ioc_error ? M_IOCNAK : M_IOCACK;
	qreply(q, mp);
}

static int
serialwput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	int cmd;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		cmd = ((struct iocblk *)mp->b_rptr)->ioc_cmd;
		if (cmd == SERIAL_HANG) {
			serial_hung++;
			for (;;)
				drv_usecwait(1000);
		}
		if (cmd == SERIAL_WHERE || cmd == SERIAL_STARVE ||
		    cmd == SERIAL_HUNG)
			serialioctl(q, mp);
		else
			putnext(q, mp);
		break;
	case M_DATA:
		putq(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static void
serialmem(arg)
	long arg;
{
	register struct serial *s = (struct serial *)arg;

	s->bufcall = 0;
	qenable(s->wq);
}

static int
serialwsrv(q)
	queue_t *q;
{
	register struct serial *s = (struct serial *)q->q_ptr;
	mblk_t *mp, *bp;

	while ((mp = getq(q)) != NULL) {
		if (!canput(q->q_next)) {
			putbq(q, mp);
			return 0;
		}
		bp = s->starve > 0 ? (s->starve--, NULL) :
			allocb(sizeof(int), BPRI_MED);
		if (bp == NULL) {
			putbq(q, mp);
			if (s->bufcall == 0)
				s->bufcall = bufcall(sizeof(int), BPRI_MED,
					serialmem, (long)s);
			return 0;
		}
		*(int *)bp->b_wptr = serial_next++;
		bp->b_wptr += sizeof(int);
		linkb(bp, mp);
		putnext(q, bp);
	}
	return 0;
}
