/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * srvmod - sends every ordinary message through its service procedures.
 *
 * It is an example of a module that queues, and a means to measure the cost of
 * queueing, scheduling and flow control.
 *
 *	put		priority messages go on at once, M_FLUSH flushes,
 *			the rest is queued
 *	service		takes messages while the next queue has room for their
 *			band, puts back the first without room, and returns;
 *			back-enabling calls it again
 *
 * Both sides are alike, so one pair of procedures serves both.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

static int
srv_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	qprocson(q);
	return 0;
}

static int
srv_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static void
srv_flush_side(queue_t *q, mblk_t *mp)
{
	if ((*mp->b_rptr & FLUSHBAND) != 0 && mp->b_wptr - mp->b_rptr > 1)
		flushband(q, mp->b_rptr[1], FLUSHDATA);
	else
		flushq(q, FLUSHDATA);
}

/* SVR4 M_FLUSH(D7): flush the sides it names, then pass it on. */
static void
srv_flush(queue_t *q, mblk_t *mp)
{
	if (mp->b_rptr < mp->b_wptr) {
		if ((*mp->b_rptr & FLUSHR) != 0)
			srv_flush_side(RD(q), mp);
		if ((*mp->b_rptr & FLUSHW) != 0)
			srv_flush_side(WR(q), mp);
	}
	putnext(q, mp);
}

static int
srv_put(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_FLUSH) {
		srv_flush(q, mp);
		return 0;
	}
	if (mp->b_datap->db_type >= QPCTL) {
		putnext(q, mp);
		return 0;
	}
	if (putq(q, mp) == 0)
		freemsg(mp);
	return 0;
}

static int
srv_service(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!bcanputnext(q, mp->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			break;
		}
		putnext(q, mp);
	}
	return 0;
}

static const struct module_info srv_info = {
	.mi_idnum = 0x7372,
	.mi_idname = "srvmod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit srv_rinit = {
	.qi_putp = srv_put,
	.qi_srvp = srv_service,
	.qi_qopen = srv_open,
	.qi_qclose = srv_close,
	.qi_minfo = (struct module_info *)&srv_info,
};

static const struct qinit srv_winit = {
	.qi_putp = srv_put,
	.qi_srvp = srv_service,
	.qi_minfo = (struct module_info *)&srv_info,
};

STR_MODULE(srvmod, srv_rinit, srv_winit, D_MP);
