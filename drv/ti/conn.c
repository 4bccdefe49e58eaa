/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections of ticots and ticotsord: connect, accept, disconnect, release,
 * and the end of a connection when an endpoint is closed.
 *
 * ti.c describes the design.
 */
#include "ti_impl.h"

/*
 * May a message be sent to @ep, which was found under the provider's lock?
 * Holds its stream if possible.  While its plumbing is being changed that is
 * impossible, but then it cannot be freed, because its close procedure waits
 * for our lock.
 */
int
ti_reach(struct ti *ep, struct str_hold *h)
{
	int err;

	h->pl = NULL;
	if (ep == NULL || ep->tpi.closing || ep->tpi.ref.stream == NULL)
		return 0;
	err = str_hold(h, &ep->tpi.ref);
	if (err == EBUSY)
		str_hold_note(h, &ep->tpi.ref);
	else if (err != 0)
		h->pl = NULL;
	return err != ESRCH;
}

void
ti_leave(struct str_hold *h)
{
	if (h->pl != NULL)
		str_unhold(h);
}

/*
 * Enable @ep's write queue if a message waits there.  Not otherwise, because
 * the caller may have to run the service procedure, and to wait for a lock of
 * the queue's owner.
 */
static void
enable_writer(struct ti *ep)
{
	queue_t *q = WR(ep->tpi.rq);

	if (q->q_first != NULL ||
	    __atomic_load_n(&ep->tpi.missed, __ATOMIC_RELAXED) != 0)
		qenable(q);
}

/*
 * Withdraw our T_CONN_IND; consumes @data, or NULL.  No indication names a
 * caller afterwards: a listener that is being closed, whose stream cannot be
 * held any more, exists until it has cleared our `callee' (forget()).
 * Locks: the provider's.
 */
static void
withdraw(struct ti *me, mblk_t *data)
{
	struct ti *to = me->callee;
	struct str_hold h;

	if (to != NULL && ti_reach(to, &h)) {
		(void)tpi_conn_gone(&to->tpi, me, ECONNRESET, data);
		ti_leave(&h);
		data = NULL;
	} else if (to != NULL) {
		tpi_conn_forget(&to->tpi, me);
	}
	if (data != NULL)
		freemsg(data);
	me->callee = NULL;
}

/* Cut the link on both sides.  Locks: the provider's. */
static void
cut(struct ti *me, struct ti *to)
{
	str_short_end(to->tpi.rq);
	str_short_end(me->tpi.rq);
	set_peer(to, NULL);
	set_peer(me, NULL);
}

/*
 * Have all threads finished that were sending from @me->old at the cut?
 * Locks: the provider's.
 */
static int
is_quiet(struct ti *me)
{
	struct ti *old = me->old;
	struct str_hold h;

	if (ti_reach(old, &h)) {
		if (!mutex_tryenter(&old->tpi.gate)) {
			ti_leave(&h);
			return 0;
		}
		mutex_exit(&old->tpi.gate);
		enable_writer(old); /* for requests that found the gate taken */
		ti_leave(&h);
	}
	me->old = NULL;
	return 1;
}

/* May @me be connected?  Locks: the provider's. */
static int
is_ready(struct ti *me)
{
	if (me->old == NULL)
		return 1;
	if (!is_quiet(me))
		return 0;
	tpi_flush_up(&me->tpi);
	return 1;
}

int
ti_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data)
{
	struct tpi_buf from = { tp->local.buf, tp->local.len };
	struct ti *me = ti_of(tp);
	struct str_hold h;
	struct ti_name *nm;
	unsigned int gen;
	int err = ECONNREFUSED;

	mutex_enter(&tp->prov->lock);
	if (!is_ready(me)) {
		mutex_exit(&tp->prov->lock);
		tpi_retry(tp);
		return EAGAIN;
	}
	/* the server of a former call may have been killed before it was over */
	if (me->callee != NULL)
		withdraw(me, NULL);
	tpi_conn_ok(tp);
	nm = ti_lookup(shared_of(tp), to->buf, to->len, &gen);
	if (nm != NULL && ti_reach(nm->ep, &h)) {
		me->callee = nm->ep;
		STR_POINT("ti:calling");
		err = tpi_conn_ind(&nm->ep->tpi, &from, data, me);
		STR_POINT("ti:called");
		ti_leave(&h);
	}
	if (err != 0) {
		me->callee = NULL;
		if (data != NULL)
			freemsg(data);
		(void)tpi_discon_ind(tp, err, NULL);
	}
	mutex_exit(&tp->prov->lock);
	return 0;
}

/* The endpoint that waits for @me to answer @in; NULL: none.  Provider's lock. */
static struct ti *
caller_of(struct ti *me, struct tpi_ind *in)
{
	struct ti *caller = in->gone == 0 ? in->cookie : NULL;

	return caller != NULL && caller->callee == me ? caller : NULL;
}

int
ti_accept(struct tpi *tp, struct tpi *to, struct tpi_ind *in, mblk_t *data)
{
	struct tpi_buf res = { to->local.buf, to->local.len };
	struct ti *caller, *me = ti_of(to);
	struct str_hold h = { NULL, NULL, 0 };
	int err = 0;

	mutex_enter(&tp->prov->lock);
	caller = caller_of(ti_of(tp), in);
	if (to->closing)
		err = -TBADF;
	else if (!is_ready(me))
		err = EAGAIN;
	else if (in->gone == 0 && !ti_reach(caller, &h))
		in->gone = ECONNRESET; /* also if there is none any more */
	if (err == 0 && in->gone != 0)
		err = -TBADSEQ;
	if (err == 0) {
		/* ours first: ti_disconnect() finds the caller through it */
		me->pref = caller->tpi.ref;
		set_peer(me, caller);
		STR_POINT("ti:half");
		caller->pref = to->ref;
		set_peer(caller, me);
		STR_POINT("ti:joined");
		caller->callee = NULL;
		if (tpi_conn_con(&caller->tpi, &res, data) != 0) {
			set_peer(me, NULL);
			set_peer(caller, NULL);
			(void)tpi_discon_ind(&caller->tpi, ECONNABORTED, NULL);
			in->gone = ECONNABORTED;
			err = -TBADSEQ;
		}
	}
	ti_leave(&h);
	mutex_exit(&tp->prov->lock);
	return err;
}

/* Op connected: is @tp linked, and has the caller been informed? */
int
ti_connected(struct tpi *tp)
{
	struct ti *to;
	int ok;

	mutex_enter(&tp->prov->lock);
	to = peer_of(ti_of(tp));
	ok = to != NULL && peer_of(to) == ti_of(tp) &&
		to->tpi.state != TS_WCON_CREQ;
	mutex_exit(&tp->prov->lock);
	return ok;
}

/* Op waits.  Searches for the caller, which may no longer exist. */
int
ti_waits(struct tpi *tp, struct tpi_ind *in)
{
	struct tpi *caller;
	int ok;

	mutex_enter(&tp->prov->lock);
	caller = tp->prov->first;
	while (caller != NULL && ti_of(caller) != in->cookie)
		caller = caller->next;
	ok = caller != NULL && ti_of(caller)->callee == ti_of(tp);
	mutex_exit(&tp->prov->lock);
	return ok;
}

/*
 * Send a T_DISCON_IND to @ep, with @data, or NULL, which is consumed.
 * Locks: the provider's.
 */
static void
tell(struct ti *ep, int reason, mblk_t *data)
{
	if (tpi_discon_ind(&ep->tpi, reason, data) != 0 && data != NULL)
		freemsg(data);
}

/*
 * Refuse @caller, whose call waits for an answer, or NULL; consumes @data, or
 * NULL.  @in: its indication, or NULL.  Locks: the provider's.
 */
static void
refuse(struct ti *caller, struct tpi_ind *in, mblk_t *data)
{
	struct str_hold h;

	if (!ti_reach(caller, &h)) {
		if (data != NULL)
			freemsg(data);
		return;
	}
	if (caller->tpi.state == TS_WCON_CREQ)
		tell(caller, ECONNREFUSED, data);
	else if (data != NULL)
		freemsg(data); /* told by a thread that was killed then */
	/* the indication names the caller only while `callee' names us */
	if (in != NULL)
		in->gone = ECONNREFUSED;
	caller->callee = NULL;
	ti_leave(&h);
}

int
ti_disconnect(struct tpi *tp, struct tpi_ind *in, mblk_t *data)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;

	mutex_enter(&tp->prov->lock);
	to = in == NULL ? peer_of(me) : NULL;
	if (in != NULL) {
		refuse(caller_of(me, in), in, data);
	} else {
		/* a caller that waits has no peer */
		withdraw(me, to == NULL ? data : NULL);
		str_short_end(tp->rq);
		if (to != NULL && peer_of(to) == me && ti_reach(to, &h)) {
			str_short_end(to->tpi.rq);
			tell(to, ECONNRESET, data);
			data = NULL;
			STR_POINT("ti:told");
			cut(me, to);
			STR_POINT("ti:cut");
			me->old = to;
			(void)is_quiet(me);
			enable_writer(to); /* drops the data that it has */
			ti_leave(&h);
		}
		if (to != NULL && data != NULL)
			freemsg(data);
		set_peer(me, NULL);
	}
	mutex_exit(&tp->prov->lock);
	return 0;
}

/* The peer has gone without informing us. */
void
ti_lost(struct ti *me)
{
	mutex_enter(&me->tpi.prov->lock);
	str_short_end(me->tpi.rq);
	(void)tpi_discon_ind(&me->tpi, ECONNRESET, NULL);
	set_peer(me, NULL);
	mutex_exit(&me->tpi.prov->lock);
}

int
ti_ordrel(struct tpi *tp, mblk_t *data)
{
	struct ti *me = ti_of(tp), *to;
	int second, gone = 0;
	struct str_hold h;

	(void)data;
	mutex_enter(&tp->prov->lock);
	second = tp->state == TS_WREQ_ORDREL;
	to = peer_of(me);
	/* an earlier server may have been killed after the connection had ended
	 * for @to, which may have another one by now */
	if (to != NULL && peer_of(to) == me && ti_reach(to, &h)) {
		str_short_end(to->tpi.rq);
		(void)tpi_ordrel_ind(&to->tpi, NULL);
		STR_POINT("ti:released");
		if (second)
			cut(me, to);
		ti_leave(&h);
	} else {
		set_peer(me, NULL);
		gone = !second; /* else both have released: no error */
	}
	mutex_exit(&tp->prov->lock);
	if (gone)
		ti_lost(me);
	return 0;
}

/* --------------------------------------------------------------------- closing */

enum { HANDED, RELEASED, LOST };

/*
 * A data request as an indication, which has no block if it needs none.  The
 * block is the request's own, because a close must not need memory.  NULL, and
 * @mp is freed: the block is shared, and there is no memory for a copy.
 */
static mblk_t *
indication(mblk_t *mp, const struct T_data_req *dr)
{
	struct T_data_ind di = { T_DATA_IND, dr->MORE_flag };
	mblk_t *bp;

	if (dr->PRIM_type == T_EXDATA_REQ)
		di.PRIM_type = T_EXDATA_IND;
	if (dr->PRIM_type == T_OPTDATA_REQ) {
		if ((dr->MORE_flag & T_ODF_EX) != 0)
			di.PRIM_type = T_EXDATA_IND;
		di.MORE_flag = (dr->MORE_flag & T_ODF_MORE) != 0;
	}
	if (di.PRIM_type == T_DATA_IND && di.MORE_flag == 0 &&
		mp->b_cont != NULL) {
		bp = unlinkb(mp);
		freeb(mp);
		return bp;
	}
	bp = ti_own(mp);
	if (bp == NULL) {
		freemsg(mp);
		return NULL;
	}
	bcopy(&di, bp->b_rptr, sizeof(di));
	bp->b_wptr = bp->b_rptr + sizeof(di);
	DB_TYPE(bp) = M_PROTO;
	return bp;
}

/*
 * Put a message that was not sent yet, if it is normal or expedited data, on
 * @to's read queue.  RELEASED: it was an orderly release.  LOST: no memory.
 */
static int
hand_one(mblk_t *mp, struct ti *to)
{
	struct T_data_req dr = { -1, 0 };
	int how = HANDED;

	if (DB_TYPE(mp) != M_DATA) {
		if (MBLKL(mp) >= (ssize_t)sizeof(dr))
			bcopy(mp->b_rptr, &dr, sizeof(dr));
		else if (MBLKL(mp) >= (ssize_t)sizeof(dr.PRIM_type))
			bcopy(mp->b_rptr, &dr.PRIM_type, sizeof(dr.PRIM_type));
		if (dr.PRIM_type == T_ORDREL_REQ &&
			tpi_ordrel_ind(&to->tpi, NULL) == 0)
			how = RELEASED;
		if ((dr.PRIM_type != T_DATA_REQ &&
			dr.PRIM_type != T_EXDATA_REQ &&
			dr.PRIM_type != T_OPTDATA_REQ) ||
			MBLKL(mp) < (ssize_t)sizeof(dr)) {
			freemsg(mp);
			return how;
		}
		mp = indication(mp, &dr);
		if (mp == NULL)
			return LOST;
	}
	if (tpi_data_force(&to->tpi, mp, 0, 0) != 0)
		freemsg(mp);
	return how;
}

/*
 * Put all data of @me's user on @to's read queue; 1: it ended with an orderly
 * release.  If there is no memory for some of it, the connection is aborted.
 */
static int
hand_over(struct ti *me, struct ti *to)
{
	int how = HANDED;
	mblk_t *mp;

	while (how == HANDED && (mp = getq(WR(me->tpi.rq))) != NULL)
		how = hand_one(mp, to);
	return how == RELEASED;
}

/* Locks: the provider's. */
static void
end(struct ti *me, struct ti *to)
{
	unsigned int state = me->tpi.state;
	int released = state == TS_WIND_ORDREL;

	str_short_end(to->tpi.rq);
	if (state == TS_DATA_XFER || state == TS_WREQ_ORDREL)
		released |= hand_over(me, to);
	/* the side that released may close; the other one reads on */
	if (!released)
		(void)tpi_discon_ind(&to->tpi, ECONNRESET, NULL);
	cut(me, to);
	enable_writer(to);
}

/*
 * @me is being closed: refuse its callers, and remove its links, which a killed
 * thread may have left.
 */
static void
forget(struct ti *ep, struct ti *me)
{
	if (ep->old == me)
		ep->old = NULL;
	if (ep->callee == me) {
		refuse(ep, NULL, NULL);
		ep->callee = NULL;
	}
	if (peer_of(ep) == me)
		set_peer(ep, NULL);
}

void
ti_close(struct tpi *tp)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	struct tpi *other;

	ti_wake(me);
	mutex_enter(&tp->prov->lock);
	withdraw(me, NULL);
	STR_POINT("ti:closing");
	to = peer_of(me);
	/* an earlier thread may have died in this close; @to may have noticed
	 * that, and have another peer by now */
	if (to != NULL && peer_of(to) == me && ti_reach(to, &h)) {
		end(me, to);
		ti_leave(&h);
	}
	set_peer(me, NULL);
	ti_name_free(me);
	for (other = tp->prov->first; other != NULL; other = other->next)
		forget(ti_of(other), me);
	mutex_exit(&tp->prov->lock);
}
