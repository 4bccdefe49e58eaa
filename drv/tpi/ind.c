/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data on its way up: indications of data, of expedited data, of data with
 * options, and of datagrams.
 *
 * Data is sent up at once, unless the message of a change of state waits on the
 * read queue (`up'; see up.c), which data must not overtake.  Expedited data has
 * band 1, with its own flow control.
 */
#include "tpi_impl.h"

#define PRIM(mp, type) ((struct type *)(void *)(mp)->b_rptr)

int
tpi_canput(struct tpi *tp)
{
	return __atomic_load_n(&tp->up, __ATOMIC_ACQUIRE) == 0 &&
		canputnext(tp->rq);
}

/* --------------------------------------------------------------- connections */

/* @data, or NULL, behind a T_DATA_IND or T_EXDATA_IND; NULL: no memory. */
static mblk_t *
data_block(mblk_t *data, t_scalar_t prim, int more)
{
	mblk_t *mp = tpi_block(M_PROTO, prim, sizeof(struct T_data_ind), 0);

	if (mp != NULL) {
		PRIM(mp, T_data_ind)->MORE_flag = more;
		mp->b_cont = data;
	}
	return mp;
}

int
tpi_data_ind(struct tpi *tp, mblk_t *data, int more)
{
	mblk_t *mp = data;

	if (tpi_next(T_DATA_IND, tpi_state(tp)) == TPI_OUT)
		return EINVAL;
	if (!tpi_canput(tp))
		return EAGAIN;
	if (more) {
		mp = data_block(data, T_DATA_IND, more);
		if (mp == NULL)
			return EAGAIN;
	}
	putnext(tp->rq, mp);
	return 0;
}

/* Is there room for expedited data, which has a band of its own? */
static int
can_expedite(struct tpi *tp)
{
	return __atomic_load_n(&tp->up, __ATOMIC_ACQUIRE) == 0 &&
		bcanputnext(tp->rq, 1);
}

int
tpi_exdata_ind(struct tpi *tp, mblk_t *data, int more)
{
	mblk_t *mp;

	if (tpi_next(T_EXDATA_IND, tpi_state(tp)) == TPI_OUT)
		return EINVAL;
	if (!can_expedite(tp))
		return EAGAIN;
	mp = data_block(data, T_EXDATA_IND, more);
	if (mp == NULL)
		return EAGAIN;
	mp->b_band = 1;
	putnext(tp->rq, mp);
	return 0;
}

int
tpi_optdata_ind(struct tpi *tp, const struct tpi_buf *opts, mblk_t *data,
	int flags)
{
	int ex = (flags & TPI_EXPEDITED) != 0;
	struct T_optdata_ind *oi;
	mblk_t *mp;

	if (tpi_next(ex ? T_EXDATA_IND : T_DATA_IND, tpi_state(tp)) == TPI_OUT)
		return EINVAL;
	if (ex ? !can_expedite(tp) : !tpi_canput(tp))
		return EAGAIN;
	mp = tpi_block(M_PROTO, T_OPTDATA_IND, sizeof(*oi), opts->len + 8);
	if (mp == NULL)
		return EAGAIN;
	oi = PRIM(mp, T_optdata_ind);
	oi->DATA_flag = (ex ? T_ODF_EX : 0) |
		((flags & TPI_MORE) != 0 ? T_ODF_MORE : 0);
	oi->OPT_length = (t_scalar_t)opts->len;
	oi->OPT_offset = (t_scalar_t)tpi_put_addr(mp, opts->buf, opts->len);
	mp->b_cont = data;
	mp->b_band = (unsigned char)ex;
	putnext(tp->rq, mp);
	return 0;
}

int
tpi_data_force(struct tpi *tp, mblk_t *data, int more, int expedited)
{
	t_scalar_t prim = expedited ? T_EXDATA_IND : T_DATA_IND;
	mblk_t *mp = data;
	int err = 0;

	if (more || expedited || data == NULL)
		mp = data_block(data, prim, more);
	if (mp == NULL)
		return ENOSR;
	tpi_lock(tp);
	if (tpi_next(prim, tpi_state(tp)) == TPI_OUT)
		err = EINVAL;
	else
		tpi_up_locked(tp, mp);
	tpi_unlock(tp);
	if (err != 0 && mp != data)
		freeb(mp);
	return err;
}

/* ----------------------------------------------------------------- datagrams */

int
tpi_unitdata_ind(struct tpi *tp, const struct tpi_buf *src,
	const struct tpi_buf *opts, mblk_t *data)
{
	struct T_unitdata_ind *ui;
	mblk_t *mp;

	if (tpi_next(T_UNITDATA_IND, tpi_state(tp)) == TPI_OUT)
		return EINVAL;
	if (!tpi_canput(tp))
		return EAGAIN;
	mp = tpi_block(M_PROTO, T_UNITDATA_IND, sizeof(*ui),
		src->len + (opts != NULL ? opts->len : 0) + 8);
	if (mp == NULL)
		return EAGAIN;
	ui = PRIM(mp, T_unitdata_ind);
	ui->SRC_length = (t_scalar_t)src->len;
	ui->SRC_offset = (t_scalar_t)tpi_put_addr(mp, src->buf, src->len);
	if (opts != NULL) {
		ui->OPT_length = (t_scalar_t)opts->len;
		ui->OPT_offset = (t_scalar_t)tpi_put_addr(mp, opts->buf,
			opts->len);
	}
	mp->b_cont = data;
	putnext(tp->rq, mp);
	return 0;
}

int
tpi_unitdata_force(struct tpi *tp, mblk_t *mp)
{
	int err = 0;

	tpi_lock(tp);
	if (tpi_next(T_UNITDATA_IND, tpi_state(tp)) == TPI_OUT)
		err = EINVAL;
	else
		tpi_up_locked(tp, mp);
	tpi_unlock(tp);
	return err;
}

void
tpi_uderror_ind(struct tpi *tp, const struct tpi_buf *dest,
	const struct tpi_buf *opts, t_scalar_t error)
{
	struct T_uderror_ind *ue;
	mblk_t *mp = tpi_block(M_PROTO, T_UDERROR_IND, sizeof(*ue),
		dest->len + (opts != NULL ? opts->len : 0) + 8);

	if (mp == NULL)
		return;
	ue = PRIM(mp, T_uderror_ind);
	ue->DEST_length = (t_scalar_t)dest->len;
	ue->DEST_offset = (t_scalar_t)tpi_put_addr(mp, dest->buf, dest->len);
	if (opts != NULL) {
		ue->OPT_length = (t_scalar_t)opts->len;
		ue->OPT_offset = (t_scalar_t)tpi_put_addr(mp, opts->buf,
			opts->len);
	}
	ue->ERROR_type = error;
	tpi_lock(tp);
	if (tpi_next(T_UDERROR_IND, tpi_state(tp)) != TPI_OUT)
		tpi_up_locked(tp, mp);
	else
		freeb(mp);
	tpi_unlock(tp);
}
