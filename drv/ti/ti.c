/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ticlts, ticots, ticotsord - transports between processes of one domain.
 *
 * Objects. struct ti, one for each stream, which begins with struct tpi; struct
 * ti_name, an address that is or was bound, in a table that all processes
 * share; struct ti_shared, that table and the provider's list.
 *
 * Connections.  Two endpoints are each other's `peer'.  A message is sent
 * unchanged from the write side of one to the stream above the other, without a
 * queue, a copy, or a lock that others take.  If there is no room above the
 * other one, it waits on the writer's queue.  The other's read service
 * procedure is back-enabled later and enables that queue.
 *
 * Calls.  A caller's `callee' names the listener that has its indication, whose
 * cookie names the caller.  Either is used only if the other one agrees: a
 * caller withdraws its call before it makes another one or is freed.
 *
 * Shortcut.  While both are connected and nothing waits on the writer's queue,
 * data written at its head is put directly at the other's head (<str/short.h>),
 * and does not come here.  The first message that comes here makes the
 * shortcut.  The first message that is queued ends it; so does, under the
 * provider's lock, any indication that must follow the data.
 *
 * Existence of the peer.  Links are made and cut under the provider's lock; a
 * sender takes no lock.  It has the gate of its own endpoint, reads `peer',
 * holds that endpoint's stream (<str/hold.h>) and reads `peer' again: before
 * queues and struct ti are freed, the closer of the stream has cut the link or
 * waits for the end of the hold.  After a disconnect an endpoint is not
 * connected again before its old peer's gate has been free once, which is
 * checked every tick.  Then no data of the old connection is in transit, and
 * the data that has arrived is flushed.
 *
 * Names.  A name stays in its chain for ever, and is reused for other addresses
 * of the chain; `gen' is odd while it is bound.  So a sender walks a chain
 * without a lock, and checks gen again when it holds the stream.
 *
 * Datagrams.  dgram.c
 *
 * Crash.  A closer informs the peer before it cuts the link; if a thread is
 * killed in the close procedure, the procedure is called again (STR_D_RECLOSE).
 * Until then the stream cannot be held any more, and a peer that notices that
 * informs its own user.  One store binds or frees a name.  An endpoint whose
 * closer died may stay in the list; `closing' and str_hold() prevent any use of
 * it.
 */
#include "ti_impl.h"

/*
 * May a message be sent to @ep, which was found under the provider's lock?
 * Holds its stream if possible.  While its plumbing is being changed that is
 * impossible, but then it cannot be freed, because its close procedure waits
 * for our lock.
 */
static int
reach(struct ti *ep, struct str_hold *h)
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

static void
leave(struct str_hold *h)
{
	if (h->pl != NULL)
		str_unhold(h);
}

/* ----------------------------------------------------------------------- names */

static unsigned int
hash(const unsigned char *buf, unsigned int len)
{
	unsigned int h = 2166136261u, i;

	for (i = 0; i < len; i++)
		h = (h ^ buf[i]) * 16777619u;
	return (h ^ h >> 15) % TI_HASH;
}

/*
 * The endpoint bound to an address; NULL: none.  Without a lock: the result is
 * valid if gen is still *@ret_gen once its stream is held.
 */
struct ti_name *
ti_lookup(struct ti_shared *st, const unsigned char *buf, unsigned int len,
	unsigned int *ret_gen)
{
	struct ti_name *nm;

	nm = __atomic_load_n(&st->chain[hash(buf, len)], __ATOMIC_ACQUIRE);
	for (; nm != NULL; nm = nm->next) {
		unsigned int gen = gen_of(nm);

		if ((gen & 1) != 0 && nm->len == len &&
			bcmp(nm->addr, buf, len) == 0) {
			*ret_gen = gen;
			return nm;
		}
	}
	return NULL;
}

/* Locks: the provider's. */
static struct ti_name *
name_make(struct ti_shared *st, struct ti *ep, const unsigned char *buf,
	unsigned int len)
{
	struct ti_name **chain = &st->chain[hash(buf, len)], *nm;

	for (nm = *chain; nm != NULL && (nm->gen & 1) != 0; nm = nm->next)
		;
	if (nm == NULL) {
		nm = kmem_zalloc(sizeof(*nm), KM_NOSLEEP);
		if (nm == NULL)
			return NULL;
		nm->next = *chain;
		__atomic_store_n(chain, nm, __ATOMIC_RELEASE);
	}
	nm->ep = ep;
	nm->ref = ep->tpi.ref;
	nm->len = len;
	bcopy(buf, nm->addr, len);
	/* noted before it is bound, so that a killed maker leaks no name */
	ep->name = nm;
	__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
	return nm;
}

static void
name_free(struct ti *me)
{
	struct ti_name *nm = me->name;

	/* an earlier binder may have died: is the name still ours? */
	if (nm != NULL && nm->ep == me && (nm->gen & 1) != 0)
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
	me->name = NULL;
}

/* Choose a free address.  Locks: the provider's. */
static void
choose(struct ti_shared *st, struct tpi_addr *ret)
{
	unsigned int gen, n;

	do {
		n = ++st->auto_addr;
		ret->len = TI_ADDRSZ;
		ret->buf[0] = (unsigned char)(n >> 24);
		ret->buf[1] = (unsigned char)(n >> 16);
		ret->buf[2] = (unsigned char)(n >> 8);
		ret->buf[3] = (unsigned char)n;
	} while (ti_lookup(st, ret->buf, ret->len, &gen) != NULL);
}

/*
 * Is a name's owner alive?  An endpoint whose closer died does not keep a name.
 */
static int
is_owned(struct ti_name *nm)
{
	struct str_hold h;
	int err = str_hold(&h, &nm->ref);

	if (err == 0)
		str_unhold(&h);
	return err != ESRCH;
}

static int
ti_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct ti_shared *st = shared_of(tp);
	struct ti *me = ti_of(tp);
	struct ti_name *nm = NULL;
	unsigned int gen;
	int err = 0;

	(void)qlen;
	mutex_enter(&tp->prov->lock);
	got->len = want->len;
	if (want->len != 0) {
		bcopy(want->buf, got->buf, want->len);
		nm = ti_lookup(st, want->buf, want->len, &gen);
		if (nm != NULL && !is_owned(nm)) {
			__atomic_store_n(&nm->gen, gen + 1, __ATOMIC_RELEASE);
			nm = NULL;
		}
	}
	if (nm != NULL && !any)
		err = -TADDRBUSY;
	else if (nm != NULL || want->len == 0)
		choose(st, got);
	if (err == 0 && name_make(st, me, got->buf, got->len) == NULL)
		err = -TNOADDR;
	mutex_exit(&tp->prov->lock);
	return err;
}

/* Wake the senders that wait for room above us, or for our end. */
static void
wake_waiters(struct ti *me)
{
	struct str_hold h;
	struct tpi *tp;

	if (!me->waiters)
		return;
	me->waiters = 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	mutex_enter(&me->tpi.prov->lock);
	for (tp = me->tpi.prov->first; tp != NULL; tp = tp->next) {
		if (ti_of(tp)->wait == NULL || ti_of(tp)->wait != me->name ||
			!reach(ti_of(tp), &h))
			continue;
		qenable(WR(tp->rq));
		leave(&h);
	}
	mutex_exit(&me->tpi.prov->lock);
}

static int
ti_unbind(struct tpi *tp)
{
	struct ti *me = ti_of(tp);

	wake_waiters(me);
	mutex_enter(&tp->prov->lock);
	name_free(me);
	mutex_exit(&tp->prov->lock);
	return 0;
}

/* ------------------------------------------------------------------ connections */

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

	if (to != NULL && reach(to, &h)) {
		(void)tpi_conn_gone(&to->tpi, me, ECONNRESET, data);
		leave(&h);
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

	if (reach(old, &h)) {
		if (!mutex_tryenter(&old->tpi.gate)) {
			leave(&h);
			return 0;
		}
		mutex_exit(&old->tpi.gate);
		enable_writer(old); /* for requests that found the gate taken */
		leave(&h);
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

static int
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
	if (nm != NULL && reach(nm->ep, &h)) {
		me->callee = nm->ep;
		STR_POINT("ti:calling");
		err = tpi_conn_ind(&nm->ep->tpi, &from, data, me);
		STR_POINT("ti:called");
		leave(&h);
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

static int
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
	else if (in->gone == 0 && !reach(caller, &h))
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
	leave(&h);
	mutex_exit(&tp->prov->lock);
	return err;
}

/* Op connected: is @tp linked, and has the caller been informed? */
static int
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
static int
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

	if (!reach(caller, &h)) {
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
	leave(&h);
}

static int
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
		if (to != NULL && peer_of(to) == me && reach(to, &h)) {
			str_short_end(to->tpi.rq);
			tell(to, ECONNRESET, data);
			data = NULL;
			STR_POINT("ti:told");
			cut(me, to);
			STR_POINT("ti:cut");
			me->old = to;
			(void)is_quiet(me);
			enable_writer(to); /* drops the data that it has */
			leave(&h);
		}
		if (to != NULL && data != NULL)
			freemsg(data);
		set_peer(me, NULL);
	}
	mutex_exit(&tp->prov->lock);
	return 0;
}

/* The peer has gone without informing us. */
static void
lost(struct ti *me)
{
	mutex_enter(&me->tpi.prov->lock);
	str_short_end(me->tpi.rq);
	(void)tpi_discon_ind(&me->tpi, ECONNRESET, NULL);
	set_peer(me, NULL);
	mutex_exit(&me->tpi.prov->lock);
}

static int
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
	if (to != NULL && peer_of(to) == me && reach(to, &h)) {
		str_short_end(to->tpi.rq);
		(void)tpi_ordrel_ind(&to->tpi, NULL);
		STR_POINT("ti:released");
		if (second)
			cut(me, to);
		leave(&h);
	} else {
		set_peer(me, NULL);
		gone = !second; /* else both have released: no error */
	}
	mutex_exit(&tp->prov->lock);
	if (gone)
		lost(me);
	return 0;
}

/* ------------------------------------------------------------------------- data */

/* Hold the peer's stream.  0, EBUSY, or ESRCH: there is no peer. */
static inline int
cross(struct ti *me, struct str_hold *h, struct ti **ret)
{
	for (;;) {
		struct ti *to = peer_of(me);
		struct str_ref ref = me->pref;
		int err;

		if (__builtin_expect(to == NULL, 0))
			return ESRCH;
		err = str_hold(h, &ref);
		if (__builtin_expect(err != 0, 0))
			return err;
		*ret = to;
		if (__builtin_expect(peer_of(me) == to &&
			me->pref.sid == ref.sid, 1))
			return 0;
		str_unhold(h);
	}
}

/* cross() failed: wait, or inform the user; consumes @mp if it returns 0. */
static int
no_cross(struct ti *me, mblk_t *mp, int err)
{
	if (err == EBUSY) {
		tpi_retry(&me->tpi);
		return EAGAIN;
	}
	freemsg(mp);
	lost(me);
	return 0;
}

/* A block that we may write, not shared; NULL: no memory. */
static mblk_t *
own(mblk_t *mp)
{
	mblk_t *bp;

	if (__builtin_expect(mp->b_datap->db_ref == 1, 1))
		return mp;
	bp = copyb(mp);
	if (bp == NULL)
		return NULL;
	bp->b_cont = mp->b_cont;
	freeb(mp);
	return bp;
}

/* May @me, which is connected with @to, send data?  Provider's lock. */
static int
is_flowing(struct ti *me, struct ti *to)
{
	unsigned int from = me->tpi.state, at = to->tpi.state;

	return peer_of(me) == to && peer_of(to) == me &&
		!me->tpi.closing && !to->tpi.closing && !is_up(to) &&
		(from == TS_DATA_XFER || from == TS_WREQ_ORDREL) &&
		(at == TS_DATA_XFER || at == TS_WIND_ORDREL);
}

/*
 * Make the shortcut for the following data.  If that fails, perhaps because of
 * a pushed module, try again after many messages.
 */
static void
shorten(struct ti *me, struct ti *to)
{
	int made = 0;

	if (me->longer != 0) {
		me->longer--;
		return;
	}
	if (!mutex_tryenter(&me->tpi.prov->lock))
		return;
	if (is_flowing(me, to))
		made = str_short_make(WR(me->tpi.rq), to->tpi.rq);
	mutex_exit(&me->tpi.prov->lock);
	if (!made)
		me->longer = TI_LONGER;
}

static int
ti_data(struct tpi *tp, mblk_t *mp, int flags)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	mblk_t *bp;
	int err = cross(me, &h, &to);

	if (__builtin_expect(err != 0, 0))
		return no_cross(me, mp, err);
	if (__builtin_expect(is_up(to) || !canputnext(to->tpi.rq), 0)) {
		str_unhold(&h);
		return EAGAIN;
	}
	if ((flags & TPI_MORE) != 0) {
		bp = own(mp);
		if (bp == NULL) {
			str_unhold(&h);
			tpi_retry(tp);
			return EAGAIN;
		}
		mp = bp;
		((struct T_data_ind *)(void *)mp->b_rptr)->PRIM_type =
			T_DATA_IND;
		DB_TYPE(mp) = M_PROTO;
	}
	tpi_goes(tp, mp);
	putnext(to->tpi.rq, mp);
	if (__builtin_expect(!str_short_stands(WR(tp->rq), to->tpi.rq), 0))
		shorten(me, to);
	str_unhold(&h);
	return 0;
}

static int
ti_exdata(struct tpi *tp, mblk_t *mp, int flags)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	mblk_t *bp = NULL;
	int err = cross(me, &h, &to);

	(void)flags;
	if (err != 0)
		return no_cross(me, mp, err);
	if (!is_up(to) && bcanputnext(to->tpi.rq, 1)) {
		bp = own(mp);
		if (bp == NULL)
			tpi_retry(tp);
	}
	if (bp != NULL) {
		((struct T_exdata_ind *)(void *)bp->b_rptr)->PRIM_type =
			T_EXDATA_IND;
		DB_TYPE(bp) = M_PROTO;
		bp->b_band = 1;
		putnext(to->tpi.rq, bp);
	}
	str_unhold(&h);
	return bp != NULL ? 0 : EAGAIN;
}

/* There is room above us: enable the sender. */
static void
ti_rsrv(struct tpi *tp)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	int err;

	if (me->stuck)
		me->stuck = 0;
	wake_waiters(me);
	err = cross(me, &h, &to);
	if (err == 0) {
		qenable(WR(to->tpi.rq));
		str_unhold(&h);
	} else if (err == EBUSY) {
		tpi_retry(tp); /* a tick enables this side as well */
	}
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
	bp = own(mp);
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

static void
ti_close(struct tpi *tp)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	struct tpi *other;

	wake_waiters(me);
	mutex_enter(&tp->prov->lock);
	withdraw(me, NULL);
	STR_POINT("ti:closing");
	to = peer_of(me);
	/* an earlier thread may have died in this close; @to may have noticed
	 * that, and have another peer by now */
	if (to != NULL && peer_of(to) == me && reach(to, &h)) {
		end(me, to);
		leave(&h);
	}
	set_peer(me, NULL);
	name_free(me);
	for (other = tp->prov->first; other != NULL; other = other->next)
		forget(ti_of(other), me);
	mutex_exit(&tp->prov->lock);
}

/* --------------------------------------------------------------------- options */

enum { V_DEBUG, V_LINGER, V_LINGER2, V_SNDBUF, V_RCVBUF, V_SNDLOWAT,
	V_RCVLOWAT };

/* @sndbuf_: limit of bytes that wait to be sent, unless the user sets it */
#define TI_OPTS(sndbuf_) { \
	{ XTI_GENERIC, XTI_DEBUG, TPI_OPT_INT, 0, 0, 0, 0x7fffffff, V_DEBUG }, \
	{ XTI_GENERIC, XTI_LINGER, TPI_OPT_LINGER, TPI_OPT_ABS, 0, 0, 0, \
		V_LINGER }, \
	{ XTI_GENERIC, XTI_RCVBUF, TPI_OPT_INT, 0, TI_RCVBUF, TI_BUFMIN, \
		TI_BUFMAX, V_RCVBUF }, \
	{ XTI_GENERIC, XTI_RCVLOWAT, TPI_OPT_INT, 0, 1, 1, TI_BUFMAX, \
		V_RCVLOWAT }, \
	{ XTI_GENERIC, XTI_SNDBUF, TPI_OPT_INT, 0, sndbuf_, TI_BUFMIN, \
		TI_BUFMAX, V_SNDBUF }, \
	{ XTI_GENERIC, XTI_SNDLOWAT, TPI_OPT_INT, 0, 1, 1, TI_BUFMAX, \
		V_SNDLOWAT }, \
}
static const struct tpi_opt ti_opts[] = TI_OPTS(TI_SNDBUF);
static const struct tpi_opt ticlts_opts[] = TI_OPTS(TI_DGRAMS);
#define TI_NOPT (sizeof(ti_opts) / sizeof(ti_opts[0]))

/* Set the limit of data that waits to be read. */
static void
set_rcvbuf(queue_t *rq, t_scalar_t n)
{
	mblk_t *mp = allocb(sizeof(struct stroptions), BPRI_MED);
	struct stroptions *so;

	if (mp == NULL)
		return;
	DB_TYPE(mp) = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	mp->b_wptr += sizeof(*so);
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT;
	so->so_hiwat = (size_t)n;
	so->so_lowat = (size_t)n / 4;
	putnext(rq, mp);
}

static void
set_sndbuf(queue_t *rq, t_scalar_t n)
{
	(void)strqset(WR(rq), QHIWAT, 0, n);
	(void)strqset(WR(rq), QLOWAT, 0, n / 4);
}

static int
ti_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	t_scalar_t n;

	(void)len;
	bcopy(val, &n, sizeof(n));
	if (o->name == XTI_RCVBUF) {
		set_rcvbuf(tp->rq, n);
	} else if (o->name == XTI_SNDBUF) {
		set_sndbuf(tp->rq, n);
	}
	return 0;
}

/* ------------------------------------------------------------------- transports */

static struct tpi_prov *
ticlts_prov(void)
{
	return str_drv_state("ticlts", sizeof(struct ti_shared));
}

static struct tpi_prov *
ticots_prov(void)
{
	return str_drv_state("ticots", sizeof(struct ti_shared));
}

static struct tpi_prov *
ticotsord_prov(void)
{
	return str_drv_state("ticotsor", sizeof(struct ti_shared));
}

static int
ti_create(struct tpi *tp, cred_t *crp)
{
	(void)tp, (void)crp;
	return 0;
}

#define TI_COTS \
	.keeps = 1, .open = ti_create, .close = ti_close, .bind = ti_bind, \
	.unbind = ti_unbind, .connect = ti_connect, .accept = ti_accept, \
	.disconnect = ti_disconnect, .connected = ti_connected, \
	.waits = ti_waits, .data = ti_data, .exdata = ti_exdata, \
	.setopt = ti_setopt, .rsrv = ti_rsrv, .opt = ti_opts, \
	.nopt = TI_NOPT, .size = sizeof(struct ti)

/* As System V's tl: preserves units of any size, also of zero bytes. */
#define TI_INFO(service_) { \
	.TSDU_size = T_INFINITE, .ETSDU_size = T_INFINITE, \
	.CDATA_size = T_INFINITE, .DDATA_size = T_INFINITE, \
	.ADDR_size = TPI_ADDRMAX, .OPT_size = TPI_OPTMAX, \
	.TIDU_size = 65535, .SERV_type = (service_), \
	.PROVIDER_flag = XPG4_1 | T_SNDZERO, \
}

static const struct tpi_ops ticots_ops = {
	TI_COTS,
	.name = "ticots",
	.prov = ticots_prov,
	.info = TI_INFO(T_COTS),
};

static const struct tpi_ops ticotsord_ops = {
	TI_COTS,
	.ordrel = ti_ordrel,
	.name = "ticotsord",
	.prov = ticotsord_prov,
	.info = TI_INFO(T_COTS_ORD),
};

static const struct tpi_ops ticlts_ops = {
	.keeps = 1, .open = ti_create, .close = ti_close, .bind = ti_bind,
	.unbind = ti_unbind, .unitdata = ti_unitdata, .direct = ti_direct,
	.setopt = ti_setopt,
	.rsrv = ti_rsrv, .opt = ticlts_opts, .nopt = TI_NOPT,
	.size = sizeof(struct ti),
	.name = "ticlts",
	.prov = ticlts_prov,
	.udbad = { 0, TCL_BADADDR, TCL_BADOPT },
	.info = {
		.TSDU_size = 65507, .ETSDU_size = T_INVALID,
		.CDATA_size = T_INVALID, .DDATA_size = T_INVALID,
		.ADDR_size = TPI_ADDRMAX, .OPT_size = TPI_OPTMAX,
		.TIDU_size = 65507, .SERV_type = T_CLTS,
		.PROVIDER_flag = XPG4_1 | T_SNDZERO,
	},
};

static int
ti_open(queue_t *q, dev_t *devp, int sflag, cred_t *crp,
	const struct tpi_ops *ops)
{
	struct ti_shared *st = (struct ti_shared *)(void *)ops->prov();
	unsigned int m = getminor(*devp);
	int err;

	if (st == NULL)
		return ENOSR;
	if (q->q_ptr != NULL)
		return 0;
	err = canon_minor_take(&st->minors, sflag,
		sflag == CLONEOPEN ? TI_FIRST : m, &m);
	if (err != 0)
		return err;
	err = tpi_open(q, devp, sflag, crp, m, ops);
	if (err != 0) {
		canon_minor_give(&st->minors, m);
		return err;
	}
	set_rcvbuf(q, TI_RCVBUF);
	if (ops->info.SERV_type == T_CLTS)
		set_sndbuf(q, TI_DGRAMS);
	return err;
}

/* Crash: if the closer dies before it gives the minor back, it stays in use. */
static int
ti_qclose(queue_t *q, const struct tpi_ops *ops)
{
	struct ti_shared *st = (struct ti_shared *)(void *)ops->prov();
	struct tpi *tp = q->q_ptr;
	unsigned int m = tp != NULL ? tp->minor : 0;
	int err = tpi_close(q, ops);

	if (st != NULL && m != 0)
		canon_minor_give(&st->minors, m);
	return err;
}

#define TI_DRIVER(stem_, drv_, major_, direct_) \
	static int stem_##_open(queue_t *q, dev_t *devp, int flag, \
		int sflag, cred_t *crp) \
	{ \
		(void)flag; \
		return ti_open(q, devp, sflag, crp, &stem_##_ops); \
	} \
	static int stem_##_close(queue_t *q, int flag, cred_t *crp) \
	{ \
		(void)flag, (void)crp; \
		return ti_qclose(q, &stem_##_ops); \
	} \
	static int stem_##_wput(queue_t *q, mblk_t *mp) \
	{ \
		return tpi_wput(q, mp, &stem_##_ops); \
	} \
	static int stem_##_wsrv(queue_t *q) \
	{ \
		return tpi_wsrv(q, &stem_##_ops); \
	} \
	static int stem_##_rsrv(queue_t *q) \
	{ \
		return tpi_rsrv(q, &stem_##_ops); \
	} \
	static const struct qinit stem_##_rinit = { \
		.qi_srvp = stem_##_rsrv, \
		.qi_qopen = stem_##_open, \
		.qi_qclose = stem_##_close, \
		.qi_minfo = (struct module_info *)&ti_info, \
	}; \
	static const struct qinit stem_##_winit = { \
		.qi_putp = stem_##_wput, \
		.qi_srvp = stem_##_wsrv, \
		.qi_minfo = (struct module_info *)&ti_info, \
	}; \
	STR_DRIVER_DIRECT(drv_, stem_##_rinit, stem_##_winit, STR_NOMUX, \
		STR_NOMUX, D_MP | STR_D_RECLOSE, major_, \
		ti_calls, direct_)

static const struct module_info ti_info = {
	.mi_idnum = TI_ID,
	.mi_idname = "ti",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = TI_SNDBUF,
	.mi_lowat = TI_SNDBUF / 4,
};

static void (*const ti_calls[])(void) = {
	(void (*)(void))tpi_tick,
	NULL,
};

static int
ticlts_direct(queue_t *q, const struct str_direct *d)
{
	return tpi_direct(q, d, &ticlts_ops);
}

/* A driver's name has at most eight letters. */
TI_DRIVER(ticlts, ticlts, STR_MAJOR_TICLTS, ticlts_direct);
TI_DRIVER(ticots, ticots, STR_MAJOR_TICOTS, NULL);
TI_DRIVER(ticotsord, ticotsor, STR_MAJOR_TICOTSORD, NULL);
