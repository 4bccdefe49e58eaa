/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams of ticlts.
 *
 * A datagram for a full receiver waits at the front of its sender's queue,
 * until there is room, the receiver closes, or the receiver has read nothing
 * for TI_HOLD (str_read_mark()).  TI_HOLD does not include time in which the
 * sender was stopped (tpi_waited()).  Then the datagram is dropped and counted,
 * and so are the following ones, until the receiver reads.
 * A datagram that waits takes the slow path through the queue, and so do the
 * following ones.  So only few may wait: the sender waits at its Stream head
 * instead, and continues on the direct path.
 *
 * A name is never freed, so the name of the last datagram's receiver is tried
 * first: if it is bound to the address, no other name is.
 */
#include "ti_impl.h"

/*
 * Replace the receiver's address in @mp by the sender's, in place if it fits.
 */
static mblk_t *
turn(struct tpi *tp, mblk_t *mp)
{
	size_t size = sizeof(struct T_unitdata_ind), n = tp->local.len;
	struct T_unitdata_ind *ui;
	mblk_t *bp;

	if (__builtin_expect(mp->b_datap->db_ref != 1 ||
		(size_t)(mp->b_datap->db_lim - mp->b_rptr) < size + n, 0)) {
		bp = allocb(size + n, BPRI_MED);
		if (bp == NULL)
			return NULL;
		bp->b_cont = mp->b_cont;
		freeb(mp);
		mp = bp;
	}
	DB_TYPE(mp) = M_PROTO;
	mp->b_band = 0;
	ui = (struct T_unitdata_ind *)(void *)mp->b_rptr;
	ui->PRIM_type = T_UNITDATA_IND;
	ui->SRC_length = (t_scalar_t)n;
	ui->SRC_offset = (t_scalar_t)size;
	ui->OPT_length = 0;
	ui->OPT_offset = 0;
	bcopy(tp->local.buf, mp->b_rptr + size, n);
	mp->b_wptr = mp->b_rptr + size + n;
	return mp;
}

/* Are the @len bytes at @a and @b equal?  Four bytes, the most frequent length,
 * are compared without a call. */
static inline int
same(const unsigned char *a, const unsigned char *b, unsigned int len)
{
	unsigned int v, w;

	if (__builtin_expect(len != sizeof(v), 0))
		return bcmp(a, b, len) == 0;
	bcopy(a, &v, sizeof(v));
	bcopy(b, &w, sizeof(w));
	return v == w;
}

/* ti_lookup() that tries the last result first. */
static inline struct ti_name *
lookup(struct tpi *tp, const struct tpi_buf *to, unsigned int *ret_gen)
{
	struct ti *me = ti_of(tp);
	struct ti_name *nm = __atomic_load_n(&me->last, __ATOMIC_ACQUIRE);

	if (__builtin_expect(nm != NULL, 1)) {
		*ret_gen = gen_of(nm);
		if (__builtin_expect((*ret_gen & 1) != 0 &&
			nm->len == to->len &&
			same(nm->addr, to->buf, to->len), 1))
			return nm;
	}
	nm = ti_lookup(shared_of(tp), to->buf, to->len, ret_gen);
	if (nm != NULL)
		__atomic_store_n(&me->last, nm, __ATOMIC_RELEASE);
	return nm;
}

/*
 * Hold the endpoint bound to @to: 0, EBUSY, or ESRCH.  The name may be reused
 * at any time: *@ret_ep is the endpoint of the held stream, copied before the
 * generation is checked again.
 */
static inline int
find(struct tpi *tp, const struct tpi_buf *to, struct str_hold *h,
	struct ti_name **ret, struct ti **ret_ep)
{
	for (;;) {
		struct str_ref ref;
		struct ti_name *nm;
		unsigned int gen;
		int err;

		nm = lookup(tp, to, &gen);
		if (nm == NULL)
			return ESRCH;
		ref = nm->ref;
		*ret_ep = __atomic_load_n(&nm->ep, __ATOMIC_RELAXED);
		err = str_hold(h, &ref);
		*ret = nm;
		if (err != 0 && gen_of(nm) == gen)
			return err;
		if (err != 0)
			continue;
		if (gen_of(nm) == gen)
			return 0;
		str_unhold(h);
	}
}

static int
drop(struct ti *me, mblk_t *mp)
{
	if (tpi_dropped(&me->tpi) == 0)
		(void)strlog(TI_ID, (short)me->tpi.minor, 1, SL_TRACE,
			"datagrams are dropped: a receiver does not read");
	me->since = 0;
	me->wait = NULL;
	freemsg(mp);
	return 0;
}

static int
has_room(struct ti *to)
{
	return !is_up(to) && canputnext(to->tpi.rq);
}

/* The receiver is full. 0: it is not any more; EAGAIN: wait; else drop. */
static int
full(struct ti *me, struct ti *to, struct ti_name *nm)
{
	uint64_t mark = str_read_mark(to->tpi.rq);
	unsigned long now = ticks() | 1;

	if (__atomic_load_n(&to->stuck, __ATOMIC_ACQUIRE)) {
		if (to->stop == mark)
			return ENOBUFS;
		to->stuck = 0; /* it reads again */
	}
	if (me->wait != nm || me->mark != mark) {
		me->since = 0;
		me->mark = mark;
	}
	if (tpi_waited(&me->tpi, &me->since, &me->waited, now) > TI_HOLD) {
		to->stop = mark;
		__atomic_store_n(&to->stuck, 1, __ATOMIC_RELEASE);
		/* it may have read meanwhile, and not seen `stuck' */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!has_room(to))
			return ENOBUFS;
		to->stuck = 0;
	}
	me->wait = nm;
	to->waiters = 1;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with ti_rsrv() */
	return has_room(to) ? 0 : EAGAIN;
}

int
ti_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct ti *me = ti_of(tp), *ep;
	struct ti_name *nm;
	struct str_hold h;
	mblk_t *bp;
	int err = find(tp, to, &h, &nm, &ep);

	(void)opts;
	if (__builtin_expect(err != 0, 0)) {
		if (err == EBUSY)
			tpi_retry(tp);
		return err == EBUSY ? EAGAIN : TCL_NOPEER;
	}
	if (__builtin_expect(!has_room(ep), 0)) {
		err = full(me, ep, nm);
		if (err != 0) {
			str_unhold(&h);
			if (err != EAGAIN)
				return drop(me, mp);
			tpi_retry(tp);
			return EAGAIN;
		}
	}
	if (__builtin_expect(me->since != 0, 0)) {
		me->since = 0;
		me->wait = NULL;
	}
	bp = turn(tp, mp);
	if (bp == NULL) {
		tpi_retry(tp);
	} else {
		tpi_goes(tp, bp);
		putnext(ep->tpi.rq, bp);
	}
	str_unhold(&h);
	return bp != NULL ? 0 : EAGAIN;
}

int
ti_direct(struct tpi *tp, const struct tpi_buf *to, const struct str_direct *d)
{
	struct ti_name *nm;
	struct ti *ep;
	struct str_hold h;
	int ret;

	/* a datagram waits (since is not 0): this one must not overtake it */
	if (__builtin_expect(ti_of(tp)->since != 0 ||
		find(tp, to, &h, &nm, &ep) != 0, 0))
		return STR_DIRECT_NOT;
	ret = tpi_unitdata_direct(&ep->tpi, tp, NULL, d);
	str_unhold(&h);
	return ret;
}
