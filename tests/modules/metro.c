/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * metro - a driver in the uniprocessor SVR4 style: sends a number up each
 * stream every few ticks.  Registers itself, as drivers for Linux do.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

#include "plain.h"

static struct metro {
	queue_t *q;
	int ticks; /* 0: it is quiet */
	int count;
	toid_t timer;
	bcid_t bufcall;
} metros[NMETRO];

static void
metrotick(void *arg)
{
	struct metro *m = arg;

	m->timer = 0;
	qenable(m->q);
}

static void
metromem(long arg)
{
	struct metro *m = (struct metro *)arg;

	m->bufcall = 0;
	qenable(m->q);
}

static int
metrorsrv(queue_t *q)
{
	struct metro *m = q->q_ptr;
	mblk_t *mp;

	if (m == NULL || m->ticks == 0 || m->timer != 0 || m->bufcall != 0)
		return 0;
	mp = allocb(sizeof(int), BPRI_HI);
	if (mp == NULL) {
		m->bufcall = bufcall(sizeof(int), BPRI_HI, metromem, (long)m);
		return 0;
	}
	m->timer = timeout(metrotick, m, m->ticks);
	if (!canput(q->q_next)) {
		freemsg(mp); /* who does not listen misses it */
		return 0;
	}
	*(int *)mp->b_wptr = ++m->count;
	mp->b_wptr += sizeof(int);
	putnext(q, mp);
	return 0;
}

static int
metroopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	unsigned i = getminor(*devp);

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == CLONEOPEN)
		for (i = 0; i < NMETRO && metros[i].q != NULL; i++)
			;
	if (i >= NMETRO)
		return ENXIO;
	*devp = makedevice(getmajor(*devp), i);
	metros[i].q = q;
	metros[i].ticks = metros[i].count = 0;
	metros[i].timer = 0;
	metros[i].bufcall = 0;
	q->q_ptr = WR(q)->q_ptr = &metros[i];
	return 0;
}

static int
metroclose(queue_t *q, int flag, cred_t *crp)
{
	struct metro *m = q->q_ptr;

	m->ticks = 0;
	if (m->timer != 0)
		(void)untimeout(m->timer);
	if (m->bufcall != 0)
		unbufcall(m->bufcall);
	m->timer = 0;
	m->bufcall = 0;
	m->q = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static int
metrowput(queue_t *q, mblk_t *mp)
{
	struct metro *m = q->q_ptr;
	struct iocblk *ioc;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		ioc = (struct iocblk *)mp->b_rptr;
		mp->b_datap->db_type = M_IOCACK;
		if (ioc->ioc_cmd == METRO_START && mp->b_cont != NULL &&
		    ioc->ioc_count == sizeof(int)) {
			m->ticks = *(int *)mp->b_cont->b_rptr;
			ioc->ioc_count = 0;
			qenable(m->q);
		} else if (ioc->ioc_cmd == METRO_STOP) {
			m->ticks = 0;
			ioc->ioc_count = 0;
		} else if (ioc->ioc_cmd == METRO_WHERE && mp->b_cont != NULL &&
			   ioc->ioc_count == sizeof(void *)) {
			*(void **)mp->b_cont->b_rptr = m;
		} else {
			mp->b_datap->db_type = M_IOCNAK;
			ioc->ioc_error = EINVAL;
		}
		qreply(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHR) {
			*mp->b_rptr &= ~FLUSHW;
			qreply(q, mp);
			break;
		}
		/* fall through */
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static struct module_info metro_minfo = { 79, "metro", 0, INFPSZ, 512, 128 };
static struct qinit metro_rinit = {
	NULL, metrorsrv, metroopen, metroclose, NULL, &metro_minfo, NULL
};
static struct qinit metro_winit = {
	metrowput, NULL, NULL, NULL, NULL, &metro_minfo, NULL
};
static struct streamtab metro_tab = { &metro_rinit, &metro_winit, NULL, NULL };
static struct cdevsw metro_cdev = { .d_name = "metro", .d_str = &metro_tab };

int metroinit(void);

int
metroinit(void)
{
	int major = register_strdev(&metro_cdev, 0);

	return major < 0 ? -major : 0;
}
