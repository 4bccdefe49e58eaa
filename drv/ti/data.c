/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data of a connection between two endpoints of ticots or ticotsord.
 *
 * ti.c describes the design.
 */
#include "ti_impl.h"

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
	ti_lost(me);
	return 0;
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

int
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
		bp = ti_own(mp);
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

int
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
		bp = ti_own(mp);
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
void
ti_rsrv(struct tpi *tp)
{
	struct ti *me = ti_of(tp), *to;
	struct str_hold h;
	int err;

	if (me->stuck)
		me->stuck = 0;
	ti_wake(me);
	err = cross(me, &h, &to);
	if (err == 0) {
		qenable(WR(to->tpi.rq));
		str_unhold(&h);
	} else if (err == EBUSY) {
		tpi_retry(tp); /* a tick enables this side as well */
	}
}
