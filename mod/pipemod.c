/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pipemod - reverses the sense of M_FLUSH in the middle of a pipe.
 *
 * Why.  One end of a pipe reads what the other end writes: somewhere between
 * the two Stream heads a write side becomes a read side.  For most messages
 * this makes no difference, but the first byte of an M_FLUSH names a side, and
 * beyond that place it would mean the wrong one.  Pushed first on one end, this
 * module is at that place and exchanges FLUSHR and FLUSHW.
 *
 * MSGNOLOOP.  A Stream head sends an M_FLUSH that asks for its write side
 * back down, once, and marks it MSGNOLOOP so that the other head ends it.
 * The mark determines where the message stops, not its meaning: a marked
 * message that crosses the pipe is reversed like any other, and keeps its mark.
 * (Without the exchange it would flush the wrong direction.)
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

static int
pipe_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
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
pipe_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/* Both bits or none: nothing to exchange.  FLUSHBAND and the band stay. */
static void
pipe_reverse(mblk_t *mp)
{
	unsigned char side = *mp->b_rptr & FLUSHRW;

	if (side == FLUSHR || side == FLUSHW)
		*mp->b_rptr ^= FLUSHRW;
}

static int
pipe_put(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_FLUSH && mp->b_rptr < mp->b_wptr)
		pipe_reverse(mp);
	putnext(q, mp);
	return 0;
}

static const struct module_info pipe_info = {
	.mi_idnum = 0x7069,
	.mi_idname = "pipemod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit pipe_rinit = {
	.qi_putp = pipe_put,
	.qi_qopen = pipe_open,
	.qi_qclose = pipe_close,
	.qi_minfo = (struct module_info *)&pipe_info,
};

static const struct qinit pipe_winit = {
	.qi_putp = pipe_put,
	.qi_minfo = (struct module_info *)&pipe_info,
};

STR_MODULE(pipemod, pipe_rinit, pipe_winit, D_MP);
