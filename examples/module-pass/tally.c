/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tally - counts what passes.
 *
 * The first step: a module that forwards at once.  It keeps one structure
 * per stream, answers one ioctl, and is as good a start as any for a module
 * that looks at messages, or changes them, and does not keep them.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/kmem.h>
#include <sys/stropts.h>
#include <sys/ddi.h>

#include "tally.h"

static int tallyopen(queue_t *, dev_t *, int, int, cred_t *);
static int tallyclose(queue_t *, int, cred_t *);
static int tallywput(queue_t *, mblk_t *);
static int tallyrput(queue_t *, mblk_t *);

static struct module_info tally_minfo = {
	0x7461, "tally", 0, INFPSZ, 5120, 1024
};
static struct qinit tally_rinit = {
	tallyrput, NULL, tallyopen, tallyclose, NULL, &tally_minfo, NULL
};
static struct qinit tally_winit = {
	tallywput, NULL, NULL, NULL, NULL, &tally_minfo, NULL
};

/* By these two names it is known. */
struct streamtab tallyinfo = { &tally_rinit, &tally_winit, NULL, NULL };
int tallydevflag = D_MTQPAIR;

static int
tallyopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0; /* the stream was opened once more */
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = kmem_zalloc(sizeof(struct tally), KM_SLEEP);
	if (q->q_ptr == NULL)
		return ENOSR;
	WR(q)->q_ptr = q->q_ptr;
	qprocson(q);
	return 0;
}

static int
tallyclose(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	kmem_free(q->q_ptr, sizeof(struct tally));
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static void
tallycount(queue_t *q, mblk_t *mp, int side)
{
	struct tally *t = q->q_ptr;

	if (mp->b_datap->db_type == M_DATA) {
		t->msgs[side]++;
		t->bytes[side] += (long)msgdsize(mp);
	}
}

/* An ioctl of ours is answered; the others may be for a module below. */
static void
tallyioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	mblk_t *data;

	if (ioc->ioc_cmd != TALLY_GET) {
		putnext(q, mp);
		return;
	}
	data = allocb(sizeof(struct tally), BPRI_MED);
	if (data == NULL) {
		mp->b_datap->db_type = M_IOCNAK;
		ioc->ioc_error = ENOSR;
		qreply(q, mp);
		return;
	}
	bcopy(q->q_ptr, data->b_wptr, sizeof(struct tally));
	data->b_wptr += sizeof(struct tally);
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	mp->b_cont = data;
	mp->b_datap->db_type = M_IOCACK;
	ioc->ioc_count = sizeof(struct tally);
	ioc->ioc_error = ioc->ioc_rval = 0;
	qreply(q, mp);
}

static int
tallywput(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_IOCTL) {
		tallyioctl(q, mp);
		return 0;
	}
	tallycount(q, mp, 0);
	putnext(q, mp);
	return 0;
}

static int
tallyrput(queue_t *q, mblk_t *mp)
{
	tallycount(q, mp, 1);
	putnext(q, mp);
	return 0;
}
