/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages to the user: acknowledgements, indications.
 *
 * Order.  A message that reports a change of the state is put on the read queue
 * under the endpoint's lock, in the order of the changes, and `up' is set; the
 * read service procedure sends it.  Data is sent up at once, unless `up' is
 * set.  All messages on the queue have band 0, because a queue sorts by bands,
 * and no message may overtake a T_CONN_CON.  Answers do not have high priority
 * there either: an answer overtakes data, which may have to wait, but no event,
 * because a refused user looks for the event with the reason.
 *
 * Memory.  A user may sleep until a message comes, so none may be lost for lack
 * of memory: the state stays unchanged, `owes' says which messages are still to
 * be sent, and the read service procedure tries again every tick.  (A spare
 * block would not survive the process that allocated it.)
 */
#include "tpi_impl.h"

#define PRIM(mp, type) ((struct type *)(void *)(mp)->b_rptr)

/* A primitive, zeros except for its number, with room for @more bytes. */
mblk_t *
tpi_block(int type, t_scalar_t prim, size_t size, size_t more)
{
	mblk_t *mp = allocb(size + more, BPRI_HI);

	if (mp == NULL)
		return NULL;
	DB_TYPE(mp) = (unsigned char)type;
	bzero(mp->b_wptr, size);
	*(t_scalar_t *)(void *)mp->b_wptr = prim;
	mp->b_wptr += size;
	return mp;
}

/* Note a message for later.  Locks: the endpoint's. */
void
tpi_owe_later(struct tpi *tp, unsigned int what)
{
	tpi_owe(tp, what);
	tpi_retry(tp);
}

/* Append an address; returns its offset. */
size_t
tpi_put_addr(mblk_t *mp, const unsigned char *buf, size_t len)
{
	size_t off = (size_t)MBLKL(mp), pad = (0 - off) & 3;

	if (len == 0)
		return 0;
	bzero(mp->b_wptr, pad);
	mp->b_wptr += pad;
	bcopy(buf, mp->b_wptr, len);
	mp->b_wptr += len;
	return off + pad;
}

/* Put an answer before all data. tpi_rsrv() makes it M_PCPROTO. */
static int
lay_answer(queue_t *q, mblk_t *mp)
{
	mblk_t *at;
	int ok;

	DB_TYPE(mp) = M_PROTO;
	(void)freezestr(q);
	for (at = q->q_first; at != NULL && !tpi_is_data(at);)
		at = at->b_next;
	ok = insq(q, at, mp);
	unfreezestr(q, 0);
	qenable(q); /* even if it waits for room for data */
	return ok;
}

/* Locks: the endpoint's. */
void
tpi_up_locked(struct tpi *tp, mblk_t *mp)
{
	int ack;

	__atomic_store_n(&tp->up, 1u, __ATOMIC_RELEASE);
	mp->b_band = 0;
	ack = DB_TYPE(mp) == M_PCPROTO;
	if ((ack ? lay_answer(tp->rq, mp) : putq(tp->rq, mp)) == 0)
		freemsg(mp);
	STR_POINT("tpi:up");
	if (ack)
		tp->acked = 1;
}

void
tpi_up(struct tpi *tp, mblk_t *mp)
{
	tpi_lock(tp);
	tpi_up_locked(tp, mp);
	tpi_unlock(tp);
}

void
tpi_fatal(struct tpi *tp, int error)
{
	mblk_t *mp = tpi_block(M_ERROR, 0, sizeof(t_scalar_t), 0);

	tp->dead = 1;
	tpi_lock(tp);
	if (mp == NULL) {
		tp->owes_error = error;
		tpi_owe_later(tp, TPI_OWES_ERROR);
	} else {
		tpi_paid(tp, TPI_OWES_ERROR);
		mp->b_wptr = mp->b_rptr;
		*mp->b_wptr++ = (unsigned char)error;
		*mp->b_wptr++ = (unsigned char)error;
		tpi_up_locked(tp, mp);
	}
	tpi_unlock(tp);
}

void
tpi_ok_locked(struct tpi *tp, t_scalar_t prim)
{
	mblk_t *mp;

	if (tp->acked)
		return; /* by a thread that died then */
	mp = tpi_block(M_PCPROTO, T_OK_ACK, sizeof(struct T_ok_ack), 0);
	if (mp == NULL) {
		tp->owes_prim = prim;
		tpi_owe_later(tp, TPI_OWES_OK);
		return;
	}
	tpi_paid(tp, TPI_OWES_OK);
	PRIM(mp, T_ok_ack)->CORRECT_prim = prim;
	tpi_up_locked(tp, mp);
}

void
tpi_ok(struct tpi *tp, t_scalar_t prim)
{
	tpi_lock(tp);
	tpi_ok_locked(tp, prim);
	tpi_unlock(tp);
}

void
tpi_error(struct tpi *tp, t_scalar_t prim, int err, unsigned int state)
{
	mblk_t *mp = tpi_block(M_PCPROTO, T_ERROR_ACK,
		sizeof(struct T_error_ack), 0);
	struct T_error_ack *ea;

	if (mp == NULL) {
		tpi_fatal(tp, ENOSR);
		return;
	}
	ea = PRIM(mp, T_error_ack);
	ea->ERROR_prim = prim;
	ea->TLI_error = err < 0 ? -err : TSYSERR;
	ea->UNIX_error = err < 0 ? 0 : err;
	tpi_lock(tp);
	if (state != TPI_SAME)
		tpi_set(tp, state);
	tpi_up_locked(tp, mp);
	tpi_unlock(tp);
}

/* Is it an answer, which becomes M_PCPROTO above this queue? */
int
tpi_is_answer(const mblk_t *mp)
{
	if (DB_TYPE(mp) != M_PROTO)
		return 0;
	switch (*(const t_scalar_t *)(const void *)mp->b_rptr) {
	case T_OK_ACK:
	case T_ERROR_ACK:
	case T_BIND_ACK:
	case T_INFO_ACK:
	case T_OPTMGMT_ACK:
	case T_ADDR_ACK:
	case T_CAPABILITY_ACK:
		return 1;
	default:
		return 0;
	}
}

/*
 * Drop all data and events that wait to be sent up; answers stay.
 * Locks: the endpoint's.
 */
static void
flush_events(queue_t *q)
{
	mblk_t *mp, *next, *gone = NULL;

	(void)freezestr(q);
	for (mp = q->q_first; mp != NULL; mp = next) {
		next = mp->b_next;
		if (tpi_is_answer(mp) ||
			(DB_TYPE(mp) != M_DATA && DB_TYPE(mp) != M_PROTO))
			continue;
		tpi_not_kept(tpi_of(q), mp);
		rmvq(q, mp);
		mp->b_next = gone;
		gone = mp;
	}
	unfreezestr(q, 0);
	tpi_free_taken(gone);
}

/* Discard the data that the user has not read, also in its modules. */
void
tpi_flush_up(struct tpi *tp)
{
	mblk_t *mp = allocb(1, BPRI_HI);

	tpi_lock(tp);
	flush_events(tp->rq);
	if (mp != NULL) {
		DB_TYPE(mp) = M_FLUSH;
		*mp->b_wptr++ = FLUSHRW;
		tpi_up_locked(tp, mp);
	}
	tpi_unlock(tp);
}

/* ---------------------------------------------------------------- connections */

/* A T_DISCON_IND; @seq: of the indication that it ends, or TPI_NOSEQ. */
mblk_t *
tpi_discon_block(int reason, t_uscalar_t seq)
{
	mblk_t *mp = tpi_block(M_PROTO, T_DISCON_IND,
		sizeof(struct T_discon_ind), 0);

	if (mp != NULL) {
		PRIM(mp, T_discon_ind)->DISCON_reason = reason;
		PRIM(mp, T_discon_ind)->SEQ_number = (t_scalar_t)seq;
	}
	return mp;
}

void
tpi_conn_ok(struct tpi *tp)
{
	tpi_lock(tp);
	if (tpi_state(tp) == TS_WACK_CREQ) {
		tpi_set(tp, TS_WCON_CREQ);
		tpi_ok_locked(tp, T_CONN_REQ);
	}
	tpi_unlock(tp);
}

int
tpi_conn_con(struct tpi *tp, const struct tpi_buf *res, mblk_t *data)
{
	mblk_t *mp = tpi_block(M_PROTO, T_CONN_CON, sizeof(struct T_conn_con),
		res->len + TPI_CONOPT + 8);
	int err = 0;

	if (mp == NULL)
		return ENOSR;
	tpi_lock(tp);
	if (tpi_next(T_CONN_CON, tpi_state(tp)) == TPI_OUT) {
		err = EINVAL;
	} else {
		PRIM(mp, T_conn_con)->RES_length = (t_scalar_t)res->len;
		PRIM(mp, T_conn_con)->RES_offset = (t_scalar_t)tpi_put_addr(mp,
			res->buf, res->len);
		if (tp->nconopt != 0) {
			PRIM(mp, T_conn_con)->OPT_length =
				(t_scalar_t)tp->nconopt;
			PRIM(mp, T_conn_con)->OPT_offset =
				(t_scalar_t)tpi_put_addr(mp, tp->conopt,
					tp->nconopt);
		}
		mp->b_cont = data;
		tp->remote.len = res->len;
		bcopy(res->buf, tp->remote.buf, res->len);
		tpi_up_locked(tp, mp);
		tpi_set(tp, TS_DATA_XFER);
	}
	tpi_unlock(tp);
	if (err != 0)
		freeb(mp);
	return err;
}

/* Is a message with @prim on @q, the read queue? */
static int
is_laid(queue_t *q, t_scalar_t prim)
{
	const mblk_t *mp;

	(void)freezestr(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		if (DB_TYPE(mp) == M_PROTO &&
			*(const t_scalar_t *)(const void *)mp->b_rptr == prim)
			break;
	unfreezestr(q, 0);
	return mp != NULL;
}

/*
 * A killed thread was sending the message of TPI_SAYS_* @says in @owes, and may
 * have put it on the queue.  Return: what is still owed.  Locks: the
 * endpoint's.
 */
static unsigned int
unsaid(struct tpi *tp, unsigned int owes, unsigned int says, t_scalar_t prim)
{
	if ((owes & says) == 0 || !is_laid(tp->rq, prim))
		return owes;
	tpi_paid(tp, says);
	return owes & ~says;
}

/*
 * TPI_SAYS_* is set before the state says that a connection has ended, until
 * the message is on the read queue: if the thread is killed between, the next
 * one puts it there although the state has changed. @owed: only if it is owed.
 */
static int
discon_ind(struct tpi *tp, int reason, mblk_t *data, int owed)
{
	mblk_t *mp = tpi_discon_block(reason, TPI_NOSEQ);
	unsigned int owes;
	int err = 0;

	tpi_lock(tp);
	owes = unsaid(tp, tpi_owes(tp) & (TPI_OWES_DISCON | TPI_SAYS_DISCON),
		TPI_SAYS_DISCON, T_DISCON_IND);
	tpi_paid(tp, TPI_OWES_DISCON);
	if ((owed && owes == 0) || ((owes & TPI_SAYS_DISCON) == 0 &&
		tpi_next(T_DISCON_IND, tpi_state(tp)) != TS_IDLE)) {
		err = EINVAL;
	} else if (mp == NULL) {
		tp->owes_reason = reason;
		tpi_owe_later(tp, TPI_OWES_DISCON);
		if (data != NULL)
			freemsg(data);
	} else {
		tp->owes_reason = reason;
		tpi_owe(tp, TPI_SAYS_DISCON);
		STR_POINT("tpi:saying");
		tpi_set(tp, TS_IDLE);
		tp->remote.len = 0;
		mp->b_cont = data;
		tpi_up_locked(tp, mp);
		tpi_paid(tp, TPI_SAYS_DISCON);
	}
	tpi_unlock(tp);
	if (err != 0 && mp != NULL)
		freeb(mp);
	return err;
}

int
tpi_discon_ind(struct tpi *tp, int reason, mblk_t *data)
{
	return discon_ind(tp, reason, data, 0);
}

static int
ordrel_ind(struct tpi *tp, mblk_t *data, int owed)
{
	mblk_t *mp = tpi_block(M_PROTO, T_ORDREL_IND,
		sizeof(struct T_ordrel_ind), 0);
	unsigned int next, owes;
	int err = 0;

	tpi_lock(tp);
	owes = unsaid(tp, tpi_owes(tp) & (TPI_OWES_ORDREL | TPI_SAYS_ORDREL),
		TPI_SAYS_ORDREL, T_ORDREL_IND);
	tpi_paid(tp, TPI_OWES_ORDREL);
	next = tpi_next(T_ORDREL_IND, tpi_state(tp));
	if ((owed && owes == 0) || ((owes & TPI_SAYS_ORDREL) == 0 &&
		next == TPI_OUT)) {
		err = EINVAL;
	} else if (mp == NULL) {
		tpi_owe_later(tp, TPI_OWES_ORDREL);
		if (data != NULL)
			freemsg(data);
	} else {
		tpi_owe(tp, TPI_SAYS_ORDREL);
		if (next != TPI_OUT)
			tpi_set(tp, next);
		if (next == TS_IDLE)
			tp->remote.len = 0;
		mp->b_cont = data;
		tpi_up_locked(tp, mp);
		tpi_paid(tp, TPI_SAYS_ORDREL);
	}
	tpi_unlock(tp);
	if (err != 0 && mp != NULL)
		freeb(mp);
	return err;
}

int
tpi_ordrel_ind(struct tpi *tp, mblk_t *data)
{
	return ordrel_ind(tp, data, 0);
}

/* Send the messages that are owed, as far as possible. */
void
tpi_pay(struct tpi *tp)
{
	tpi_lock(tp);
	if ((tp->owes & TPI_OWES_OK) != 0)
		tpi_ok_locked(tp, tp->owes_prim);
	if ((tp->owes & TPI_OWES_INDS) != 0)
		tpi_pay_inds(tp);
	tpi_unlock(tp);
	if ((tp->owes & (TPI_OWES_ORDREL | TPI_SAYS_ORDREL)) != 0)
		(void)ordrel_ind(tp, NULL, 1);
	if ((tp->owes & (TPI_OWES_DISCON | TPI_SAYS_DISCON)) != 0)
		(void)discon_ind(tp, tp->owes_reason, NULL, 1);
	if ((tp->owes & TPI_OWES_ERROR) != 0)
		tpi_fatal(tp, tp->owes_error);
}
