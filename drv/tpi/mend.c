/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Repair of a request whose server was killed.
 *
 * While a request is served, tpi.busy says which request it is, and tpi.acked
 * whether its answer is on the read queue.  If a thread gets the gate and
 * `busy' is set, the last owner died during that request.  The state says how
 * far the owner came:
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
 * A missing answer is sent, because the requester may be another process than
 * the server; T_ERROR_ACK contains TSYSERR, EINTR.  The answer is put on the
 * queue before the state is set to the final one, except the answer of a bind,
 * which can be made again.  All steps here can be done twice: this thread may
 * be killed too, and `busy' is cleared last.
 */
#include "tpi_impl.h"

/*
 * Is @bp a request that was put back on the queue, and the one that @busy, the
 * value of tpi.busy, names?
 */
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

/* Complete or undo @prim, a T_CONN_RES in TS_WACK_CRES or a T_DISCON_REQ of an
 * indication in TS_WACK_DREQ7. */
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
	tpi_set(tp, TS_IDLE);
	tpi_unlock(tp);
}

/*
 * A killed thread served a T_CONN_RES, which has set TS_DATA_XFER here.  If the
 * endpoint is connected, complete the T_CONN_RES; if not, undo it.
 */
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

/* A T_CONN_REQ had started its call when the thread died.  No state of TPI says
 * how far the call has come: give it up. */
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

/* If the state is one between a request and its answer, complete or undo that
 * request. */
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

/*
 * Answer @prim, which has no answer yet.  If it is a bind that was completed,
 * acknowledge it; any other request was not done, or was undone: T_ERROR_ACK.
 */
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
		tp->busy = 0; /* nothing had been started */
		return;
	}
	if (is_queued(WR(tp->rq), TPI_PUT_BACK)) {
		/*
		 * the state is that of the request that was put back, not of
		 * @prim, which was served meanwhile and only asks for
		 * information
		 */
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
