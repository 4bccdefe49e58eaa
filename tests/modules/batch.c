/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * batch - a module in the uniprocessor SVR4 style: collects what is written
 * and sends it when a timeout comes, all in one message.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/ddi.h>

#include "plain.h"

#define NBATCH 64

static struct batch {
	queue_t *q;
	int timer; /* pending */
	int due;   /* it has come */
	toid_t id;
} batch_tab[NBATCH];
static struct batch *batch_end = &batch_tab[NBATCH];

static void
batchtick(void *arg)
{
	struct batch *b = arg;

	b->timer = 0;
	b->due = 1;
	qenable(b->q);
}

static int
batchopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct batch *b;

	if (q->q_ptr)
		return 0;
	if (sflag != MODOPEN)
		return OPENFAIL;
	for (b = batch_tab; b < batch_end && b->q; b++)
		;
	if (b == batch_end)
		return ENOSPC;
	b->q = WR(q);
	b->timer = b->due = 0;
	q->q_ptr = WR(q)->q_ptr = b;
	return 0;
}

static int
batchclose(queue_t *q, int flag, cred_t *crp)
{
	struct batch *b = q->q_ptr;

	if (b->timer)
		untimeout(b->id);
	b->timer = 0;
	b->q = 0;
	return 0;
}

static int
batchrput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static int
batchwput(queue_t *q, mblk_t *mp)
{
	struct batch *b = q->q_ptr;

	if (mp->b_datap->db_type != M_DATA) {
		putnext(q, mp);
		return 0;
	}
	noenable(q);
	putq(q, mp);
	if (!b->timer) {
		b->timer = 1;
		b->id = timeout(batchtick, b, BATCH_TICKS);
	}
	return 0;
}

static int
batchwsrv(queue_t *q)
{
	struct batch *b = q->q_ptr;
	mblk_t *all = 0, *mp;

	if (!b->due)
		return 0;
	if (!canput(q->q_next))
		return 0;
	b->due = 0;
	while ((mp = getq(q)) != 0) {
		if (all)
			linkb(all, mp);
		else
			all = mp;
	}
	if (all)
		putnext(q, all);
	return 0;
}

static struct module_info batch_minfo = { 78, "batch", 0, INFPSZ, 65536, 1024 };
static struct qinit batch_rinit = {
	batchrput, 0, batchopen, batchclose, 0, &batch_minfo, 0
};
static struct qinit batch_winit = {
	batchwput, batchwsrv, 0, 0, 0, &batch_minfo, 0
};
struct streamtab batchinfo = { &batch_rinit, &batch_winit, 0, 0 };
int batchdevflag = 0;
