/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ioctls, by I_STR: TI_GETDROPS, and those of the transport.
 *
 * TI_GETDROPS is answered at once.  An ioctl of the transport (op ctl) is a
 * request: it needs the gate, and waits in front of the data for it.
 *
 * Crash.  If the thread that serves the ioctl is killed, the Stream head waits
 * for the ioctl's time limit.
 */
#include <sys/timod.h>
#include "tpi_impl.h"
#include "../canon.h"

/* Acknowledge @mp with the data @bp; NULL: no memory. */
static void
acknowledge(queue_t *q, mblk_t *mp, mblk_t *bp)
{
	size_t n;

	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	linkb(mp, bp);
	n = msgdsize(bp);
	miocack(q, mp, n, 0);
}

/*
 * tpi_ioctl - an M_IOCTL at the put procedure
 * Return: 1: it is a request, for op ctl; 0: it has been answered.
 */
int
tpi_ioctl(queue_t *q, mblk_t *mp, const struct tpi_ops *ops)
{
	unsigned int n = (unsigned int)__atomic_load_n(&tpi_of(q)->drops,
		__ATOMIC_RELAXED);

	if (canon_is_transparent(mp))
		canon_nak(q, mp, EINVAL);
	else if (canon_cmd(mp) == TI_GETDROPS)
		acknowledge(q, mp, canon_block(&n, sizeof(n)));
	else if (ops->ctl == NULL)
		canon_nak(q, mp, EINVAL);
	else
		return 1;
	return 0;
}

/* tpi_ctl_req - serve an ioctl of the transport, with the gate */
int
tpi_ctl_req(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops)
{
	struct tpi_buf arg = {NULL, 0};
	mblk_t *bp = NULL;
	int err = tp->dead ? EPROTO : canon_pull(mp);

	if (tp->ref.stream == NULL)
		str_ref(tp->rq, &tp->ref);
	if (err == 0 && mp->b_cont != NULL) {
		arg.buf = mp->b_cont->b_rptr;
		arg.len = (unsigned int)MBLKL(mp->b_cont);
	}
	if (err == 0)
		err = ops->ctl(tp, canon_cmd(mp), &arg, &bp);
	if (err != 0)
		canon_nak(q, mp, err);
	else if (bp != NULL)
		acknowledge(q, mp, bp);
	else
		canon_ack(q, mp, 0);
	return 0;
}

/*
 * tpi_set_qlen - change the most callers of a bound endpoint
 * Return: 0, or EINVAL: the endpoint is not idle.
 */
int
tpi_set_qlen(struct tpi *tp, unsigned int qlen)
{
	int err = EINVAL;

	tpi_lock(tp);
	if (tpi_state(tp) == TS_IDLE || tpi_state(tp) == TS_WRES_CIND) {
		tp->qlen = qlen;
		tpi_indicate(tp);
		err = 0;
	}
	tpi_unlock(tp);
	return err;
}

/* tpi_set_local - change the addresses of a bound endpoint */
void
tpi_set_local(struct tpi *tp, const struct tpi_addr *a)
{
	tpi_lock(tp);
	tp->binds++;
	tp->local.len = a->len;
	bcopy(a->buf, tp->local.buf, a->len);
	tpi_unlock(tp);
}
