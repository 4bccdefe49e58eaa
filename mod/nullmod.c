/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * nullmod - the module that changes nothing.  Copy it to start a new one.
 *
 * It forwards at once and never queues, so it has no service procedure, no flow
 * control point and no state; open and close only switch the procedures on and
 * off.
 *
 * A module uses the headers below and nothing else of the system.  It has no
 * variables: its code runs in many processes, and they share only the memory
 * that q_ptr points to, allocated with kmem_alloc().
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

/*
 * The open procedure gets the read queue; the write queue is WR(q).  It is
 * called when the module is pushed, and again at each further open of the
 * stream; q_ptr distinguishes the two.  Messages come only after qprocson(), so
 * allocate everything that the put procedures need before it.
 */
static int
null_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	qprocson(q);
	return 0;
}

/*
 * After qprocsoff() no procedure of the module runs any more, and none will
 * be called: now its state can be freed.
 */
static int
null_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/*
 * The put procedure of both sides: putnext() goes upstream from the read
 * queue and downstream from the write queue.  The message must not be used
 * afterwards.
 *
 * A module that queues nothing need not call canputnext(): the sender of the
 * message has called it, and that checked the next queue with a service
 * procedure beyond this module.
 */
static int
null_put(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static const struct module_info null_info = {
	.mi_idnum = 0x6e75,
	.mi_idname = "nullmod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

/* open and close belong to the read side; the write side omits them. */
static const struct qinit null_rinit = {
	.qi_putp = null_put,
	.qi_qopen = null_open,
	.qi_qclose = null_close,
	.qi_minfo = (struct module_info *)&null_info,
};

static const struct qinit null_winit = {
	.qi_putp = null_put,
	.qi_minfo = (struct module_info *)&null_info,
};

/*
 * D_MP: the procedures may run in any number of threads at once.  A module that
 * changes state in them uses D_MTQPAIR instead, for one thread at a time in
 * each pair of queues.
 */
STR_MODULE(nullmod, null_rinit, null_winit, D_MP);
