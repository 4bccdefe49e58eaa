/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls of a listener: indicated, held while the queue of indications is
 * full, answered or withdrawn.
 */
#include "tpi_impl.h"

#define PRIM(mp, type) ((struct type *)(void *)(mp)->b_rptr)

/*
 * Count the indications of @tp: those the user has, or those that are held.  One
 * that is being answered is none of them: its caller may receive the answer, and
 * call again, before the listener does.  There is no counter, so a killed thread
 * cannot leave a wrong count.  Locks: the endpoint's.
 */
static unsigned int
count(const struct tpi *tp, int held)
{
	const struct tpi_ind *in;
	unsigned int n = 0;

	for (in = tp->ind; in != NULL; in = in->next)
		n += !in->taken && in->held == held;
	return n;
}

int
tpi_can_call(struct tpi *tp)
{
	int yes;

	tpi_lock(tp);
	yes = count(tp, 0) < tp->qlen || count(tp, 1) < tp->backlog;
	tpi_unlock(tp);
	return yes;
}

static mblk_t *
ind_block(const struct tpi_ind *in)
{
	mblk_t *mp = tpi_block(M_PROTO, T_CONN_IND, sizeof(struct T_conn_ind),
		in->from.len);

	if (mp == NULL)
		return NULL;
	PRIM(mp, T_conn_ind)->SRC_length = (t_scalar_t)in->from.len;
	PRIM(mp, T_conn_ind)->SRC_offset = (t_scalar_t)tpi_put_addr(mp,
		in->from.buf, in->from.len);
	PRIM(mp, T_conn_ind)->SEQ_number = (t_scalar_t)in->seq;
	return mp;
}

/* May @tp's user get a T_CONN_IND now?  Locks: the endpoint's. */
static int
has_place(const struct tpi *tp)
{
	return count(tp, 0) < tp->qlen &&
		tpi_next(T_CONN_IND, tpi_state(tp)) != TPI_OUT;
}

/*
 * Send up the held indications that have a place now.  Without memory they are
 * held until the next one comes or is answered.  Locks: the endpoint's.
 */
void
tpi_indicate(struct tpi *tp)
{
	struct tpi_ind *in;
	mblk_t *mp;

	for (in = tp->ind; in != NULL; in = in->next) {
		if (!in->held)
			continue;
		if (!has_place(tp) || (mp = ind_block(in)) == NULL)
			return;
		if (in->data != NULL) {
			str_msg_hold(in->data);
			mp->b_cont = in->data;
			in->data = NULL;
		}
		in->held = 0;
		tpi_up_locked(tp, mp);
	}
}

int
tpi_conn_ind(struct tpi *tp, const struct tpi_buf *from, mblk_t *data,
	void *cookie)
{
	struct tpi_ind *in = kmem_zalloc(sizeof(*in), KM_NOSLEEP), **pp;
	mblk_t *mp = NULL;
	int err = 0;

	if (in == NULL)
		return ENOSR;
	in->cookie = cookie;
	in->from.len = from->len;
	bcopy(from->buf, in->from.buf, from->len);
	tpi_lock(tp);
	tpi_indicate(tp);
	if (tp->dead || tp->closing || tp->qlen == 0 ||
		tpi_next(T_CONN_IND, tpi_state(tp)) == TPI_OUT)
		err = ECONNREFUSED;
	else if (count(tp, 1) != 0 || !has_place(tp))
		in->held = 1;
	if (in->held && count(tp, 1) >= tp->backlog)
		err = ECONNREFUSED;
	if (err == 0) {
		in->seq = __atomic_add_fetch(&tp->prov->seq, 1u,
			__ATOMIC_RELAXED) & 0x7fffffff;
		mp = in->held ? NULL : ind_block(in);
		err = mp == NULL && !in->held ? ENOSR : 0;
	}
	if (err == 0) {
		if (in->held)
			in->data = data;
		for (pp = &tp->ind; *pp != NULL; pp = &(*pp)->next)
			;
		__atomic_store_n(pp, in, __ATOMIC_RELEASE);
	}
	if (mp != NULL) {
		mp->b_cont = data;
		tpi_up_locked(tp, mp);
	}
	tpi_unlock(tp);
	if (err != 0)
		kmem_free(in, sizeof(*in));
	return err;
}

/* Free @in, which is on no list. */
void
tpi_ind_free(struct tpi_ind *in)
{
	if (in->data != NULL)
		freemsg(in->data);
	kmem_free(in, sizeof(*in));
}

/*
 * Remove @tp's indication @in, answered or withdrawn.  Locks: the endpoint's.
 */
void
tpi_ind_remove(struct tpi *tp, struct tpi_ind *in)
{
	struct tpi_ind **pp;

	for (pp = &tp->ind; *pp != NULL; pp = &(*pp)->next)
		if (*pp == in) {
			__atomic_store_n(pp, in->next, __ATOMIC_RELEASE);
			tpi_ind_free(in);
			return;
		}
}

/*
 * Send T_DISCON_IND for @in, if the user has it, and remove it; consumes @data,
 * or NULL.  Locks: the endpoint's.
 */
void
tpi_ind_void(struct tpi *tp, struct tpi_ind *in, int reason, mblk_t *data)
{
	mblk_t *mp;

	if (in->held) {
		tpi_ind_remove(tp, in);
		if (data != NULL)
			freemsg(data);
		return;
	}
	mp = tpi_discon_block(reason, in->seq);
	if (mp == NULL) {
		in->gone = reason;
		tpi_owe_later(tp, TPI_OWES_INDS);
		if (data != NULL)
			freemsg(data);
		return;
	}
	mp->b_cont = data;
	tpi_ind_remove(tp, in);
	tpi_up_locked(tp, mp);
	tpi_indicate(tp);
}

int
tpi_conn_gone(struct tpi *tp, void *cookie, int reason, mblk_t *data)
{
	struct tpi_ind *in;

	tpi_lock(tp);
	for (in = tp->ind; in != NULL && in->cookie != cookie; in = in->next)
		;
	if (in != NULL)
		in->cookie = NULL; /* its object is freed now */
	if (in != NULL && !in->taken) {
		tpi_ind_void(tp, in, reason, data);
		data = NULL;
	} else if (in != NULL) {
		in->gone = reason;
	}
	tpi_unlock(tp);
	if (data != NULL)
		freemsg(data);
	return in != NULL ? 0 : ENOENT;
}

/*
 * Send T_DISCON_IND for all indications whose callers have gone.  Locks: as
 * above.
 */
void
tpi_pay_inds(struct tpi *tp)
{
	struct tpi_ind *in, *next;

	tpi_paid(tp, TPI_OWES_INDS);
	for (in = tp->ind; in != NULL && (tp->owes & TPI_OWES_INDS) == 0;
		in = next) {
		next = in->next;
		if (in->gone != 0 && !in->taken)
			tpi_ind_void(tp, in, in->gone, NULL);
	}
}
