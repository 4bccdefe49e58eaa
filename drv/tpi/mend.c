/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What becomes of a request whose server died over it.
 *
 * tpi.busy says, from before anything of a request is done until all of it
 * is, which one it is; tpi.acked, that its answer is on the read queue.  So
 * a thread that gets the gate and finds `busy' knows that its last owner died, and
 * in what; the state tells how far it came:
 *
 *	TS_WACK_BREQ		undone, T_ERROR_ACK
 *	TS_WACK_UREQ		finished
 *	TS_WACK_CREQ		undone, T_ERROR_ACK
 *	a T_CONN_REQ after that	the call is given up: T_DISCON_IND
 *	TS_WACK_CRES		accepted: finished; the caller still waits:
 *				undone, T_ERROR_ACK; else the indication is
 *				void
 *	TS_WACK_DREQ*		finished
 *	a T_ORDREL_REQ		served again, unless the state has changed
 *	all others		T_ERROR_ACK
 *
 * An answer that was not given is given, for who asked may be another process
 * than who served; T_ERROR_ACK says TSYSERR, EINTR.  It is laid on the queue
 * before the state says that all is done, but for that of a bind, which tells
 * what can be told again.  All that is done here may
 * be done twice: its doer may die too, and `busy' is cleared last.
 */
#include "tpi_impl.h"

/* Is @bp what was put back, when its server was busy with @busy? */
static int
is_put_back(const mblk_t *bp, unsigned int busy)
{
	t_scalar_t prim;

	if ((bp->b_flag & TPI_AGAIN) == 0)
		return 0;
	bcopy(bp->b_rptr, &prim, sizeof(prim));
	return busy == TPI_PUT_BACK || (unsigned int)prim + 1 == busy;
}

static int
is_queued(queue_t *q, unsigned int busy)
{
	const mblk_t *bp;

	(void)freezestr(q);
	for (bp = q->q_first; bp != NULL && !is_put_back(bp, busy);
		bp = bp->b_next)
		;
	unfreezestr(q, 0);
	return bp != NULL;
}

static struct tpi_ind *
taken(struct tpi *tp)
{
	struct tpi_ind *in;

	for (in = tp->ind; in != NULL && !in->taken; in = in->next)
		;
	return in;
}

static int
waits(struct tpi *tp, struct tpi_ind *in, const struct tpi_ops *ops)
{
	if (in->gone != 0)
		return 0;
	return ops->waits != NULL ? ops->waits(tp, in) : in->cookie != NULL;
}

static int
is_connected(struct tpi *tp, const struct tpi_ops *ops)
{
	return ops->connected != NULL && ops->connected(tp);
}

static void
error(struct tpi *tp, t_scalar_t prim, unsigned int state)
{
	tpi_error(tp, prim, EINTR, state);
}

/* T_CONN_RES or T_DISCON_REQ of an indication, in TS_WACK_CRES or _DREQ7. */
static void
mend_ind(struct tpi *tp, const struct tpi_ops *ops, t_scalar_t prim)
{
	struct tpi_ind *in = taken(tp);
	int there = in != NULL && !in->accepted && waits(tp, in, ops);
	int done = in == NULL || in->accepted;

	if (there && prim == T_DISCON_REQ)
		done = ops->disconnect(tp, in, NULL) == 0;
	done |= prim == T_DISCON_REQ && !there;
	tpi_lock(tp);
	if (done) {
		if (in != NULL)
			tpi_ind_remove(tp, in);
		tpi_ok_locked(tp, prim);
	} else if (there) {
		in->taken = 0;
	} else {
		tpi_ind_void(tp, in, in->gone != 0 ? in->gone : ECONNABORTED,
			NULL);
	}
	tpi_set(tp, tp->nind > 0 ? TS_WRES_CIND : TS_IDLE);
	tpi_unlock(tp);
}

/* A T_CONN_RES has made it TS_DATA_XFER: is it so? */
static void
mend_acceptor(struct tpi *tp, const struct tpi_ops *ops)
{
	struct tpi_ind *in;

	if (!is_connected(tp, ops)) {
		(void)ops->disconnect(tp, NULL, NULL);
		tpi_accept_undo(tp); /* a listener: to TS_WACK_CRES */
		return;
	}
	in = taken(tp);
	if (in == NULL)
		return;
	tpi_lock(tp);
	tpi_ind_remove(tp, in);
	tpi_ok_locked(tp, T_CONN_RES);
	tpi_unlock(tp);
}

/* The request was sent on its way; TPI has no state for what was not done. */
static void
mend_call(struct tpi *tp, const struct tpi_ops *ops)
{
	(void)ops->disconnect(tp, NULL, NULL);
	(void)tpi_discon_ind(tp, ECONNABORTED, NULL);
}

static void
mend_ordrel(struct tpi *tp)
{
	mblk_t *mp;

	if (tpi_state(tp) != TS_DATA_XFER && tpi_state(tp) != TS_WREQ_ORDREL)
		return;
	mp = tpi_block(M_PROTO, T_ORDREL_REQ, sizeof(struct T_ordrel_req), 0);
	if (mp == NULL)
		tpi_fatal(tp, ENOSR);
	else if (putbq(WR(tp->rq), mp) == 0)
		freemsg(mp);
}

/* In a state that a request does not leave things in. */
static void
mend_state(struct tpi *tp, const struct tpi_ops *ops)
{
	switch (tpi_state(tp)) {
	case TS_WACK_BREQ:
		(void)ops->unbind(tp);
		error(tp, T_BIND_REQ, TS_UNBND);
		break;
	case TS_WACK_UREQ:
		(void)ops->unbind(tp);
		tpi_unbound(tp);
		break;
	case TS_WACK_CREQ:
		(void)ops->disconnect(tp, NULL, NULL);
		error(tp, T_CONN_REQ, TS_IDLE);
		break;
	case TS_WACK_CRES:
		mend_ind(tp, ops, T_CONN_RES);
		break;
	case TS_WACK_DREQ7:
		mend_ind(tp, ops, T_DISCON_REQ);
		break;
	case TS_WACK_DREQ6:
	case TS_WACK_DREQ9:
	case TS_WACK_DREQ10:
	case TS_WACK_DREQ11:
		(void)ops->disconnect(tp, NULL, NULL);
		tpi_disconnected(tp);
		break;
	default:
		break;
	}
}

/* It was not answered: it was not done, but for a bind, or has been undone. */
static void
answer(struct tpi *tp, t_scalar_t prim)
{
	if (prim == T_ORDREL_REQ)
		return;
	if ((prim == T_BIND_REQ || prim == O_T_BIND_REQ) &&
		tpi_state(tp) == TS_IDLE && tp->local.len != 0)
		tpi_bind_ack(tp);
	else
		error(tp, prim, TPI_SAME);
}

void
tpi_mend(struct tpi *tp, const struct tpi_ops *ops)
{
	unsigned int busy = tp->busy;
	t_scalar_t prim = (t_scalar_t)busy - 1;

	if (tp->dead || is_queued(WR(tp->rq), busy)) {
		tp->busy = 0; /* nothing had been begun */
		return;
	}
	if (is_queued(WR(tp->rq), TPI_PUT_BACK)) {
		/* the state is that one's; meanwhile questions are answered */
		if (!tp->acked)
			answer(tp, prim);
		tp->busy = 0;
		return;
	}
	tp->again = NULL;
	if (busy == TPI_PUT_BACK)
		tp->acked = 0;
	if (busy == TPI_ACCEPTOR && tpi_state(tp) == TS_UNBND)
		tp->local.len = 0;
	if ((busy == TPI_ACCEPTOR || (prim == T_CONN_RES && !tp->acked)) &&
		tpi_state(tp) == TS_DATA_XFER)
		mend_acceptor(tp, ops);
	else if (prim == T_CONN_REQ && tpi_state(tp) != TS_WACK_CREQ &&
		tpi_state(tp) != TS_IDLE)
		mend_call(tp, ops);
	else if (prim == T_ORDREL_REQ)
		mend_ordrel(tp);
	mend_state(tp, ops);
	if (busy < TPI_ACCEPTOR && !tp->acked)
		answer(tp, prim);
	tp->busy = 0;
}
