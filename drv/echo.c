/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * echo - a driver that sends its messages back.
 *
 * It sends ordinary messages (data, protocol, control) back at once as long as
 * there is room above.  Otherwise they wait on the write queue, until the read
 * side is back-enabled and starts the write side's service procedure.  The
 * order within a band is kept: while messages wait, later ones wait behind
 * them.
 *
 * An M_READ is answered with an empty M_DATA that ends a record.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include "canon.h"

static int
echo_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return canon_open("echo", q, devp, sflag);
}

static int
echo_close(queue_t *q, int flag, cred_t *crp)
{
	return canon_close("echo", q);
}

static void
echo_read(queue_t *q, mblk_t *mp)
{
	mblk_t *bp = allocb(1, BPRI_MED);

	freemsg(mp);
	if (bp == NULL)
		return; /* the reader waits, as without an answer */
	bp->b_flag |= MSGDELIM;
	qreply(q, bp);
}

/* Send @mp back, or queue it. */
static void
echo_turn(queue_t *q, mblk_t *mp)
{
	if (q->q_first == NULL && bcanputnext(RD(q), mp->b_band))
		qreply(q, mp);
	else if (putq(q, mp) == 0)
		freemsg(mp);
}

static int
echo_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
	case M_CTL:
		echo_turn(q, mp);
		break;
	case M_PCPROTO:
		qreply(q, mp);
		break;
	case M_READ:
		echo_read(q, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	case M_IOCTL:
		canon_nak(q, mp, EINVAL);
		break;
	case M_IOCDATA:
		canon_stray(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static int
echo_wsrv(queue_t *q)
{
	mblk_t *mp;

	/* A message without room stays on the queue.  If it were taken and put
	 * back, a queue that waits for room here would be enabled, although
	 * there is none.  No other thread takes from the queue. */
	while (q->q_first == NULL || bcanputnext(RD(q), q->q_first->b_band)) {
		mp = getq(q);
		if (mp == NULL)
			break;
		qreply(q, mp);
	}
	return 0;
}

/* Back-enabled: there is room above again. */
static int
echo_rsrv(queue_t *q)
{
	qenable(WR(q));
	return 0;
}

static const struct module_info echo_info = {
	.mi_idnum = 0x6563,
	.mi_idname = "echo",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit echo_rinit = {
	.qi_srvp = echo_rsrv,
	.qi_qopen = echo_open,
	.qi_qclose = echo_close,
	.qi_minfo = (struct module_info *)&echo_info,
};

static const struct qinit echo_winit = {
	.qi_putp = echo_wput,
	.qi_srvp = echo_wsrv,
	.qi_minfo = (struct module_info *)&echo_info,
};

/* One thread in a stream at a time keeps the order of the messages. */
STR_DRIVER(echo, echo_rinit, echo_winit, STR_NOMUX, STR_NOMUX,
	D_MTQPAIR | STR_D_LOCAL, STR_MAJOR_ECHO, NULL);
