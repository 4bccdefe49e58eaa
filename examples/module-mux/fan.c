/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fan - many streams on one.
 *
 * The third step: a multiplexing driver.  Every open makes an upper stream;
 * one lower stream is linked below.  What is written to an upper stream goes
 * to the lower one; what comes from there goes to all upper streams.
 *
 * Flow control is passed on in both directions by hand, since nothing in the
 * executive knows which of its queues a driver connects: a queue that could not
 * send leaves its message on its queue, and the other side's service
 * procedure, which is called when there is room again, enables it.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/ddi.h>

#define NFAN 16

static queue_t *fan_up[NFAN]; /* read queues of upper streams, by minor */
static queue_t *fan_down;     /* write queue of the lower one, or NULL */
static int fan_id;	      /* its l_index */

static int fanopen(queue_t *, dev_t *, int, int, cred_t *);
static int fanclose(queue_t *, int, cred_t *);
static int fanuwput(queue_t *, mblk_t *);
static int fanuwsrv(queue_t *);
static int fanursrv(queue_t *);
static int fanlrput(queue_t *, mblk_t *);
static int fanlrsrv(queue_t *);
static int fanlwsrv(queue_t *);

static struct module_info fan_minfo = {
	0x666e, "fan", 0, INFPSZ, 5120, 1024
};
static struct qinit fan_urinit = {
	NULL, fanursrv, fanopen, fanclose, NULL, &fan_minfo, NULL
};
static struct qinit fan_uwinit = {
	fanuwput, fanuwsrv, NULL, NULL, NULL, &fan_minfo, NULL
};
static struct qinit fan_lrinit = {
	fanlrput, fanlrsrv, NULL, NULL, NULL, &fan_minfo, NULL
};
static struct qinit fan_lwinit = {
	NULL, fanlwsrv, NULL, NULL, NULL, &fan_minfo, NULL
};
struct streamtab faninfo = {
	&fan_urinit, &fan_uwinit, &fan_lrinit, &fan_lwinit
};

static int
fanopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	minor_t m = getminor(*devp);

	if (sflag == MODOPEN)
		return EINVAL;
	if (q->q_ptr != NULL)
		return 0; /* that minor is open, and is opened once more */
	if (sflag == CLONEOPEN)
		for (m = 0; m < NFAN && fan_up[m] != NULL; m++)
			;
	if (m >= NFAN)
		return ENXIO;
	*devp = makedevice(getmajor(*devp), m);
	fan_up[m] = q;
	q->q_ptr = WR(q)->q_ptr = &fan_up[m];
	qprocson(q);
	return 0;
}

static int
fanclose(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	*(queue_t **)q->q_ptr = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	if (fan_down != NULL)
		qenable(RD(fan_down)); /* it may have waited for this one */
	return 0;
}

/* Below us a stream is linked, or unlinked. */
static void
fanlink(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	struct linkblk *l = (struct linkblk *)mp->b_cont->b_rptr;
	int link = ioc->ioc_cmd == I_LINK || ioc->ioc_cmd == I_PLINK;
	int error = 0;

	if (link && fan_down != NULL) {
		error = EBUSY;
	} else if (link) {
		fan_down = l->l_qbot;
		fan_id = l->l_index;
	} else if (l->l_index == fan_id) {
		fan_down = NULL;
	}
	mp->b_datap->db_type = error != 0 ? M_IOCNAK : M_IOCACK;
	ioc->ioc_count = 0;
	ioc->ioc_rval = 0;
	ioc->ioc_error = error;
	qreply(q, mp);
}

static void
fanioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	switch (ioc->ioc_cmd) {
	case I_LINK:
	case I_PLINK:
	case I_UNLINK:
	case I_PUNLINK:
		fanlink(q, mp);
		break;
	default:
		mp->b_datap->db_type = M_IOCNAK;
		ioc->ioc_error = EINVAL;
		qreply(q, mp);
		break;
	}
}

/* A driver is where a flush turns round. */
static void
fanflush(queue_t *q, mblk_t *mp)
{
	if (*mp->b_rptr & FLUSHW)
		flushq(q, FLUSHDATA);
	if (*mp->b_rptr & FLUSHR) {
		flushq(RD(q), FLUSHDATA);
		*mp->b_rptr &= ~FLUSHW;
		qreply(q, mp);
	} else {
		freemsg(mp);
	}
}

static int
fanuwput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		fanioctl(q, mp);
		break;
	case M_FLUSH:
		fanflush(q, mp);
		break;
	case M_DATA:
	case M_PROTO:
		if (putq(q, mp) == 0)
			freemsg(mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

/* Down, while there is something below and it has room. */
static int
fanuwsrv(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (fan_down == NULL) {
			freemsg(mp);
			continue;
		}
		if (!canputnext(fan_down)) {
			(void)putbq(q, mp);
			break;
		}
		putnext(fan_down, mp);
	}
	return 0;
}

/* There is room below again: for all upper streams. */
static int
fanlwsrv(queue_t *q)
{
	int i;

	for (i = 0; i < NFAN; i++)
		if (fan_up[i] != NULL)
			qenable(WR(fan_up[i]));
	return 0;
}

/* There is room above again. */
static int
fanursrv(queue_t *q)
{
	if (fan_down != NULL)
		qenable(RD(fan_down));
	return 0;
}

static int
fanlrput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHR)
			flushq(q, FLUSHDATA);
		if (*mp->b_rptr & FLUSHW) {
			*mp->b_rptr &= ~FLUSHR;
			qreply(q, mp);
		} else {
			freemsg(mp);
		}
		break;
	case M_DATA:
	case M_PROTO:
		if (putq(q, mp) == 0)
			freemsg(mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

/* A message goes up when all upper streams have room for it. */
static int
fanlrsrv(queue_t *q)
{
	mblk_t *mp, *copy;
	int i;

	while ((mp = getq(q)) != NULL) {
		for (i = 0; i < NFAN; i++)
			if (fan_up[i] != NULL && !canputnext(fan_up[i])) {
				(void)putbq(q, mp);
				return 0;
			}
		for (i = 0; i < NFAN; i++)
			if (fan_up[i] != NULL && (copy = dupmsg(mp)) != NULL)
				putnext(fan_up[i], copy);
		freemsg(mp);
	}
	return 0;
}
