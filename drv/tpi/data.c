/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data on its way down: on a connection, and datagrams.
 *
 * The fast path checks the state and calls the operation: it frees the block of
 * a T_DATA_REQ and passes its data, or a message without one, on unchanged.
 *
 * The direct path of datagrams takes no lock.  It checks first that the queue
 * is empty, and then that the gate is free.  A message that was taken from the
 * queue before is sent while the gate is taken, so with a free gate it has been
 * sent already, and is not overtaken.  The address is copied between two checks
 * of the state and of tpi.binds.
 */
#include "tpi_impl.h"

static int
more_of(const mblk_t *mp)
{
	return ((const struct T_data_req *)(const void *)mp->b_rptr)->MORE_flag;
}

static size_t
size_of(mblk_t *bp)
{
	if (__builtin_expect(bp->b_cont == NULL, 1))
		return (size_t)MBLKL(bp);
	return msgdsize(bp);
}

int
tpi_optdata_read(const mblk_t *mp, struct T_optdata_req *od,
	struct tpi_buf *opts)
{
	size_t len = (size_t)MBLKL(mp);

	opts->buf = NULL;
	opts->len = 0;
	if (len < sizeof(*od))
		return EINVAL;
	bcopy(mp->b_rptr, od, sizeof(*od));
	if (od->OPT_length == 0)
		return 0;
	if (od->OPT_length < 0 || od->OPT_offset < (t_scalar_t)sizeof(*od) ||
		(size_t)od->OPT_offset > len ||
		(size_t)od->OPT_length > len - (size_t)od->OPT_offset)
		return EINVAL;
	opts->buf = mp->b_rptr + od->OPT_offset;
	opts->len = (unsigned int)od->OPT_length;
	return tpi_opt_check(opts) == 0 ? 0 : EINVAL;
}

/* Turn it into the equivalent request without options.  Return: which. */
static t_scalar_t
plain(mblk_t *mp, const struct T_optdata_req *od)
{
	struct T_data_req *dr = (struct T_data_req *)(void *)mp->b_rptr;

	dr->PRIM_type = (od->DATA_flag & T_ODF_EX) != 0 ? T_EXDATA_REQ :
							 T_DATA_REQ;
	dr->MORE_flag = (od->DATA_flag & T_ODF_MORE) != 0;
	mp->b_wptr = mp->b_rptr + sizeof(*dr);
	return dr->PRIM_type;
}

/* The state does not allow sending data. */
static int
refuse(mblk_t *mp, struct tpi *tp, t_scalar_t prim)
{
	unsigned int next = tpi_next(prim, tpi_state(tp));

	freemsg(mp);
	if (next == TPI_EPROTO && !tp->calm)
		tpi_fatal(tp, EPROTO);
	return 0;
}

/* Is the amount of expedited data allowed?  If not, @mp is freed. */
static int
ex_size_is_good(mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops)
{
	size_t n = mp->b_cont != NULL ? msgdsize(mp->b_cont) : 0;
	t_scalar_t most = ops->info.ETSDU_size;
	int zero = (ops->info.PROVIDER_flag & T_SNDZERO) != 0;

	if ((n != 0 || zero) && (most < 0 || n <= (size_t)most) &&
		most != T_INVALID)
		return 1;
	freemsg(mp);
	if (n != 0)
		tpi_fatal(tp, EPROTO);
	return 0;
}

static int
exdata(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops)
{
	if (!ex_size_is_good(mp, tp, ops))
		return 0;
	return ops->exdata(tp, mp,
		(more_of(mp) != 0 ? TPI_MORE : 0) |
			(q->q_first != NULL ? TPI_WAITING : 0));
}

/* Data with options, for a provider that has use for them. */
static int
optdata(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops,
	const struct T_optdata_req *od, const struct tpi_buf *opts)
{
	int flags = str_load(&q->q_first) != NULL ? TPI_WAITING : 0, err;

	if ((od->DATA_flag & T_ODF_MORE) != 0)
		flags |= TPI_MORE;
	if ((od->DATA_flag & T_ODF_EX) != 0) {
		if (!ex_size_is_good(mp, tp, ops))
			return 0;
		flags |= TPI_EXPEDITED;
	} else if ((ops->info.PROVIDER_flag & T_SNDZERO) == 0 &&
		(mp->b_cont == NULL || size_of(mp->b_cont) == 0)) {
		freemsg(mp);
		return 0;
	}
	err = ops->optdata(tp, opts, mp, flags);
	if (err == 0 || err == EAGAIN)
		return err;
	freemsg(mp);
	tpi_fatal(tp, EPROTO);
	return 0;
}

int
tpi_data_req(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops,
	t_scalar_t prim)
{
	unsigned int state = tpi_state(tp);
	struct T_optdata_req od;
	struct tpi_buf opts;
	mblk_t *bp = mp;
	int ret, flags = str_load(&q->q_first) != NULL ? TPI_WAITING : 0;

	if (__builtin_expect(state != TS_DATA_XFER && state != TS_WREQ_ORDREL,
		0))
		return refuse(mp, tp, prim);
	if (prim == T_OPTDATA_REQ) {
		if (tpi_optdata_read(mp, &od, &opts) != 0) {
			freemsg(mp);
			tpi_fatal(tp, EPROTO);
			return 0;
		}
		if (opts.len != 0 && ops->optdata != NULL)
			return optdata(q, mp, tp, ops, &od, &opts);
		prim = plain(mp, &od);
	}
	if (prim == T_EXDATA_REQ)
		return exdata(q, mp, tp, ops);
	if (DB_TYPE(mp) != M_DATA) {
		bp = mp->b_cont;
		if (more_of(mp) != 0 ? ops->info.TSDU_size != 0 : bp == NULL)
			flags |= TPI_MORE;
	}
	/* SVR4: a unit of zero bytes is sent only with T_SNDZERO */
	if ((ops->info.PROVIDER_flag & T_SNDZERO) == 0 &&
		(bp == NULL || size_of(bp) == 0)) {
		freemsg(mp);
		return 0;
	}
	if (bp == mp || (flags & TPI_MORE) != 0)
		return ops->data(tp, mp, flags);
	bp = unlinkb(mp);
	ret = ops->data(tp, bp, flags);
	if (__builtin_expect(ret == EAGAIN, 0)) {
		mp->b_cont = bp;
		return EAGAIN;
	}
	freeb(mp);
	return 0;
}

int
tpi_ordrel_req(struct tpi_req *r)
{
	struct tpi *tp = r->tp;
	mblk_t *data = r->mp->b_cont;
	unsigned int next;
	int err;

	if (data != NULL && (r->ops->info.PROVIDER_flag & T_ORDRELDATA) == 0)
		data = NULL;
	err = r->ops->ordrel(tp, data);
	if (err == EAGAIN)
		return EAGAIN;
	if (data != NULL)
		r->mp->b_cont = NULL;
	tpi_lock(tp);
	next = tpi_next(T_ORDREL_REQ, tpi_state(tp));
	if (next < TS_NOSTATES) {
		if (next == TS_IDLE)
			tp->remote.len = 0;
		tpi_set(tp, next);
	}
	tpi_unlock(tp);
	return 0;
}

/* -------------------------------------------------------------------- datagrams */

static void
uderror(mblk_t *mp, struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, const struct tpi_ops *ops, int err)
{
	t_scalar_t what = err;

	if (err == -TBADADDR || err == -TBADOPT)
		what = ops->udbad[-err];
	else if (err < 0)
		what = EINVAL;
	tpi_uderror_ind(tp, to, opts, what);
	freemsg(mp);
}

/* Set *@ret to the @len bytes at @off of @mp's first block; 0: they are not all
 * in the block, behind its struct T_unitdata_req. */
static int
range(mblk_t *mp, t_scalar_t len, t_scalar_t off, struct tpi_buf *ret)
{
	size_t all = (size_t)MBLKL(mp);

	if (len < 0 || (len != 0 &&
		(off < (t_scalar_t)sizeof(struct T_unitdata_req) ||
			(size_t)off > all || (size_t)len > all - (size_t)off)))
		return 0;
	ret->buf = len != 0 ? mp->b_rptr + off : NULL;
	ret->len = (unsigned int)len;
	return 1;
}

int
tpi_unitdata_req(queue_t *q, mblk_t *mp, struct tpi *tp,
	const struct tpi_ops *ops)
{
	struct T_unitdata_req *ur = (struct T_unitdata_req *)(void *)mp->b_rptr;
	struct tpi_buf to = { NULL, 0 }, opts = { NULL, 0 };
	t_scalar_t most = ops->info.TSDU_size;
	size_t n = mp->b_cont != NULL ? size_of(mp->b_cont) : 0;
	int err = 0;

	(void)q;
	if (__builtin_expect(tpi_state(tp) != TS_IDLE, 0))
		return refuse(mp, tp, T_UNITDATA_REQ);
	if (!range(mp, ur->DEST_length, ur->DEST_offset, &to) || to.len == 0 ||
		to.len > TPI_ADDRMAX)
		err = -TBADADDR;
	else if (ur->OPT_length != 0 &&
		(!range(mp, ur->OPT_length, ur->OPT_offset, &opts) ||
			tpi_opt_check(&opts) != 0))
		err = -TBADOPT;
	else if (most > 0 && n > (size_t)most)
		err = EMSGSIZE;
	else if (n == 0 && (ops->info.PROVIDER_flag & T_SNDZERO) == 0)
		err = EINVAL;
	if (err == 0)
		err = ops->unitdata(tp, &to, &opts, mp);
	if (__builtin_expect(err == 0 || err == EAGAIN, 1))
		return err;
	uderror(mp, tp, &to, &opts, ops, err);
	return 0;
}

/* -------------------------------------------------------------- direct path */

/*
 * Is the endpoint idle, so that its address is bound?  *ret_binds: the number
 * of changes of the address.
 */
static inline int
is_plain(struct tpi *tp, unsigned int *ret_binds)
{
	*ret_binds = __atomic_load_n(&tp->binds, __ATOMIC_ACQUIRE);
	return tpi_state(tp) == TS_IDLE;
}

int
tpi_direct(queue_t *q, const struct str_direct *d, const struct tpi_ops *ops)
{
	const struct T_unitdata_req *ur = d->ctl;
	struct tpi *tp = tpi_of(q);
	t_scalar_t most = ops->info.TSDU_size;
	struct tpi_buf to;
	size_t off;

	if (__builtin_expect(tp == NULL || d->clen < sizeof(*ur) ||
		ur->PRIM_type != T_UNITDATA_REQ || ur->OPT_length != 0 ||
		tp->dead, 0))
		return STR_DIRECT_NOT;
	off = (size_t)ur->DEST_offset;
	to.len = (unsigned int)ur->DEST_length;
	if (__builtin_expect(off < sizeof(*ur) || off > d->clen ||
		to.len - 1 >= TPI_ADDRMAX || to.len > d->clen - off ||
		(most > 0 && d->dlen > most) || d->dlen <= 0, 0))
		return STR_DIRECT_NOT;
	to.buf = (const unsigned char *)d->ctl + off;
	if (__builtin_expect(
		__atomic_load_n(&q->q_first, __ATOMIC_ACQUIRE) != NULL ||
		tpi_gate_is_taken(tp), 0))
		return STR_DIRECT_NOT;
	return ops->direct(tp, &to, d);
}

int
tpi_unitdata_direct(struct tpi *tp, struct tpi *from,
	const struct tpi_buf *src, const struct str_direct *d)
{
	struct {
		struct T_unitdata_ind ui;
		unsigned char src[TPI_ADDRMAX];
	} c;
	unsigned int binds, again, len;

	if (__builtin_expect(
		__atomic_load_n(&tp->up, __ATOMIC_ACQUIRE) != 0 ||
		!is_plain(tp, &binds) || !is_plain(from, &binds), 0))
		return STR_DIRECT_NOT;
	len = src != NULL ? src->len : from->local.len;
	if (__builtin_expect(len > TPI_ADDRMAX, 0))
		return STR_DIRECT_NOT;
	if (src != NULL)
		bcopy(src->buf, c.src, len);
	else if (__builtin_expect(len <= 16, 1))
		bcopy(from->local.buf, c.src, 16); /* two moves, no call */
	else
		bcopy(from->local.buf, c.src, len);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__builtin_expect(!is_plain(from, &again) || again != binds, 0))
		return STR_DIRECT_NOT;
	c.ui.PRIM_type = T_UNITDATA_IND;
	c.ui.SRC_length = (t_scalar_t)len;
	c.ui.SRC_offset = (t_scalar_t)sizeof(c.ui);
	c.ui.OPT_length = 0;
	c.ui.OPT_offset = 0;
	return str_direct_up(tp->rq, &c, sizeof(c.ui) + len, d);
}
