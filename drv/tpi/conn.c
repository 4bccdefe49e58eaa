/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: T_CONN_REQ, T_CONN_RES, T_DISCON_REQ.
 *
 * Accepting involves two endpoints.  The acceptor is found in the provider's
 * list by its id, its stream is held, and its gate is taken (only tried: if
 * that fails the request waits a tick).  So no request of its users comes
 * between, and their data for a former connection has been sent or dropped.
 */
#include "tpi_impl.h"

/* Data with a connection or disconnection: 0, or -TBADDATA. */
static int
check_data(const mblk_t *data, t_scalar_t most)
{
	size_t n = data != NULL ? msgdsize((mblk_t *)(uintptr_t)data) : 0;

	if (n == 0 || most == T_INFINITE)
		return 0;
	return most < 0 || n > (size_t)most ? -TBADDATA : 0;
}

/* The data of a request; NULL: none. */
static mblk_t *
data_of(struct tpi_req *r)
{
	mblk_t *data = r->mp->b_cont;

	return data != NULL && msgdsize(data) > 0 ? data : NULL;
}

/*
 * Detach @data from the request before an operation: the other user may read
 * and free it before the operation returns.
 */
static mblk_t *
detach(struct tpi_req *r, mblk_t *data)
{
	if (data != NULL)
		r->mp->b_cont = NULL;
	return data;
}

/*
 * An operation has returned @err: if that is not 0, attach @data to the request
 * again.
 */
static int
settle(struct tpi_req *r, int err, mblk_t *data)
{
	if (err != 0 && data != NULL)
		r->mp->b_cont = data;
	return err;
}

/* Change the state from @from to @to, if it is still @from. */
static int
move(struct tpi *tp, unsigned int from, unsigned int to)
{
	int ok;

	tpi_lock(tp);
	ok = tpi_state(tp) == from;
	if (ok) {
		tpi_paid(tp, TPI_OWES_CONN); /* of a former connection */
		tpi_set(tp, to);
	}
	tpi_unlock(tp);
	return ok;
}

int
tpi_conn_req(struct tpi_req *r)
{
	struct tpi_buf to, opts;
	struct tpi *tp = r->tp;
	mblk_t *data = data_of(r);
	int err = 0;

	if (!tpi_range(r, r->p->conn_req.DEST_length,
		r->p->conn_req.DEST_offset, &to) || to.len == 0 ||
		to.len > TPI_ADDRMAX)
		err = -TBADADDR;
	else if (!tpi_range(r, r->p->conn_req.OPT_length,
		r->p->conn_req.OPT_offset, &opts))
		err = -TBADOPT;
	if (err == 0)
		err = check_data(data, r->ops->info.CDATA_size);
	if (err == 0)
		err = tpi_opt_conn(tp, r->ops, &opts);
	if (err == 0 && !r->again && !move(tp, TS_IDLE, TS_WACK_CREQ))
		err = -TOUTSTATE;
	if (err != 0) {
		tpi_error(tp, r->prim, err, TPI_SAME);
		return 0;
	}
	STR_POINT("tpi:called");
	if (!r->again)
		tpi_flush(r->q, -1, 1); /* of a former connection */
	err = settle(r, r->ops->connect(tp, &to, detach(r, data)), data);
	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0)
		tpi_error(tp, r->prim, err, TS_IDLE);
	else
		tpi_conn_ok(tp);
	return 0;
}

void
tpi_conn_forget(struct tpi *tp, void *cookie)
{
	struct tpi_ind *in;

	tpi_lock(tp);
	for (in = tp->ind; in != NULL; in = in->next)
		if (in->cookie == cookie) {
			in->gone = ECONNRESET;
			in->cookie = NULL;
		}
	tpi_unlock(tp);
}

/* ------------------------------------------------------------------- accepting */

static struct tpi_ind *
find_ind(struct tpi *tp, t_uscalar_t seq)
{
	struct tpi_ind *in;

	for (in = tp->ind; in != NULL && (in->held || in->seq != seq);
		in = in->next)
		;
	return in;
}

/* Find the endpoint @id, hold its stream and take its gate. */
static int
get_acceptor(struct tpi *tp, t_uscalar_t id, struct str_hold *h,
	struct tpi **ret)
{
	struct tpi *to;
	int err = -TBADF;

	*ret = tp;
	if (id == tp->id)
		return 0;
	mutex_enter(&tp->prov->lock);
	for (to = tp->prov->first; to != NULL; to = to->next)
		if (to->id == id && !to->closing)
			break;
	if (to != NULL) {
		/* the stream is unknown before its first request */
		if (to->ref.stream == NULL)
			str_ref(to->rq, &to->ref);
		err = str_hold(h, &to->ref);
		err = err == EBUSY ? EAGAIN : err != 0 ? -TBADF : 0;
	}
	mutex_exit(&tp->prov->lock);
	if (err == 0 && !mutex_tryenter(&to->gate)) {
		str_unhold(h);
		err = EAGAIN;
	}
	if (err == 0 && to->busy != 0) {
		/* its last owner died: its own procedures repair that first */
		mutex_exit(&to->gate);
		qenable(WR(to->rq));
		str_unhold(h);
		err = EAGAIN;
	}
	*ret = to;
	return err;
}

static void
put_acceptor(struct tpi *tp, struct tpi *to, struct str_hold *h)
{
	if (to == tp)
		return;
	tpi_gate_leave(to, WR(to->rq));
	str_unhold(h);
}

/* Has the user of @tp another indication than @in? */
static int
has_other(const struct tpi *tp, const struct tpi_ind *in)
{
	const struct tpi_ind *i;

	for (i = tp->ind; i != NULL && (i == in || i->held); i = i->next)
		;
	return i != NULL;
}

/* Set @to connected, before the transport has made the connection. */
static int
prepare(struct tpi *tp, struct tpi *to, const struct tpi_addr *local,
	struct tpi_ind *in)
{
	unsigned int state;
	int err = 0;

	tpi_lock(to);
	state = tpi_state(to);
	if (to == tp)
		err = has_other(to, in) ? -TINDOUT : 0;
	else if (to->dead || (state != TS_UNBND && state != TS_IDLE))
		err = -TOUTSTATE;
	else if (to->qlen != 0)
		err = -TRESQLEN;
	if (err == 0) {
		to->back = state;
		tpi_paid(to, TPI_OWES_CONN);
		if (to != tp)
			to->busy = TPI_ACCEPTOR;
		to->remote = in->from;
		if (state == TS_UNBND)
			to->local = *local;
		tpi_set(to, TS_DATA_XFER);
	}
	tpi_unlock(to);
	if (err == 0)
		tpi_flush(WR(to->rq), -1, 1);
	return err;
}

void
tpi_accept_undo(struct tpi *to)
{
	tpi_lock(to);
	to->remote.len = 0;
	if (to->back == TS_UNBND)
		to->local.len = 0;
	tpi_set(to, to->back);
	tpi_unlock(to);
}

/*
 * @in waits again; if the caller has gone meanwhile, the T_DISCON_IND comes
 * before the T_ERROR_ACK, whose reason it is.
 */
static void
not_answered(struct tpi *tp, struct tpi_ind *in)
{
	tpi_lock(tp);
	in->taken = 0;
	tpi_set(tp, TS_IDLE);
	if (in->gone != 0)
		tpi_ind_void(tp, in, in->gone, NULL);
	tpi_unlock(tp);
}

/* The listener's part, at the end. */
static void
answer(struct tpi_req *r, struct tpi *to, struct tpi_ind *in, int err)
{
	struct tpi *tp = r->tp;

	if (err != 0) {
		not_answered(tp, in);
		tpi_error(tp, r->prim, err, TPI_SAME);
		return;
	}
	tpi_lock(tp);
	in->taken = 0;
	tpi_ind_remove(tp, in);
	STR_POINT("tpi:removed");
	tpi_ok_locked(tp, r->prim);
	if (to != tp)
		tpi_set(tp, TS_IDLE);
	tpi_unlock(tp);
}

/* Find the indication @seq, mark it as taken, and set @state; NULL: there is
 * none. */
static struct tpi_ind *
take_ind(struct tpi *tp, t_scalar_t seq, unsigned int state)
{
	struct tpi_ind *in;

	tpi_lock(tp);
	in = find_ind(tp, (t_uscalar_t)seq);
	if (in != NULL) {
		in->taken = 1;
		tpi_set(tp, state);
	}
	tpi_unlock(tp);
	return in;
}

int
tpi_hand_over(struct tpi *tp, t_uscalar_t id, const struct tpi_addr *from,
	int (*give)(struct tpi *to, void *arg), void *arg)
{
	struct tpi_ind in = {.from = *from};
	struct tpi_addr local = tp->local;
	struct str_hold h;
	struct tpi *to;
	int err = get_acceptor(tp, id, &h, &to);

	if (err != 0)
		return err;
	err = to == tp ? EINVAL : prepare(tp, to, &local, &in);
	if (err == 0) {
		err = give(to, arg);
		if (err != 0)
			tpi_accept_undo(to);
	}
	put_acceptor(tp, to, &h);
	return err;
}

int
tpi_conn_res(struct tpi_req *r)
{
	struct tpi *tp = r->tp, *to = NULL;
	mblk_t *data = data_of(r);
	struct tpi_ind *in = NULL;
	struct tpi_addr local;
	struct tpi_buf opts;
	struct str_hold h;
	int err = 0;

	if (!tpi_range(r, r->p->conn_res.OPT_length,
		r->p->conn_res.OPT_offset, &opts))
		err = -TBADOPT;
	if (err == 0)
		err = check_data(data, r->ops->info.CDATA_size);
	if (err == 0)
		err = tpi_opt_check(&opts);
	if (err == 0) {
		in = take_ind(tp, r->p->conn_res.SEQ_number, TS_WACK_CRES);
		err = in == NULL ? -TBADSEQ : 0;
	}
	if (err != 0) {
		tpi_error(tp, r->prim, err, TPI_SAME);
		return 0;
	}
	STR_POINT("tpi:taken");
	local = tp->local;
	err = get_acceptor(tp, r->p->conn_res.ACCEPTOR_id, &h, &to);
	if (err == 0) {
		err = prepare(tp, to, &local, in);
		if (err == 0) {
			STR_POINT("tpi:prepared");
			err = tpi_opt_call(to, r->ops, &opts);
			if (err == 0)
				err = settle(r, r->ops->accept(tp, to, in,
					detach(r, data)), data);
			if (err != 0)
				tpi_accept_undo(to);
			else
				in->accepted = 1;
			STR_POINT("tpi:accepted");
		}
		put_acceptor(tp, to, &h);
	}
	if (err == EAGAIN) {
		/* as before the request */
		not_answered(tp, in);
		tpi_retry(tp);
		return EAGAIN;
	}
	answer(r, to, in, err);
	return 0;
}

/* --------------------------------------------------------------- disconnecting */

/* The state TS_WACK_DREQ* for a T_DISCON_REQ that ends a connection. */
static unsigned int
discon_state(unsigned int state)
{
	return tpi_next(T_DISCON_REQ, state);
}

static void
refused(struct tpi_req *r, struct tpi_ind *in, int err)
{
	struct tpi *tp = r->tp;

	if (err != 0) {
		not_answered(tp, in);
		tpi_error(tp, r->prim, err, TPI_SAME);
		return;
	}
	tpi_lock(tp);
	tpi_ind_remove(tp, in);
	tpi_ok_locked(tp, r->prim);
	tpi_set(tp, TS_IDLE);
	tpi_unlock(tp);
}

/* T_DISCON_REQ in TS_WRES_CIND. */
static int
refuse(struct tpi_req *r, mblk_t *data)
{
	struct tpi_ind *in = take_ind(r->tp, r->p->discon_req.SEQ_number,
		TS_WACK_DREQ7);
	int err;

	if (in == NULL) {
		tpi_error(r->tp, r->prim, -TBADSEQ, TPI_SAME);
		return 0;
	}
	err = in->gone != 0 ? 0 : settle(r,
		r->ops->disconnect(r->tp, in, detach(r, data)), data);
	if (err == EAGAIN) {
		tpi_lock(r->tp);
		in->taken = 0;
		tpi_set(r->tp, TS_IDLE);
		tpi_unlock(r->tp);
		return EAGAIN;
	}
	refused(r, in, err);
	return 0;
}

/*
 * The peer may have just ended the connection: then there is none to
 * disconnect.
 */
static int
begin(struct tpi_req *r)
{
	struct tpi *tp = r->tp;
	unsigned int next;

	tpi_lock(tp);
	next = discon_state(tpi_state(tp));
	if (next != TPI_OUT) {
		tp->back = tpi_state(tp);
		tpi_set(tp, next);
	}
	tpi_unlock(tp);
	if (next == TPI_OUT) {
		tpi_error(tp, r->prim, -TOUTSTATE, TPI_SAME);
		return 0;
	}
	tpi_flush(r->q, -1, 1); /* abortive: unsent data is lost */
	return 1;
}

/* The connection has ended: discard its unread data. */
void
tpi_disconnected(struct tpi *tp)
{
	if (tp->back != TS_WCON_CREQ)
		tpi_flush_up(tp);
	STR_POINT("tpi:ended");
	tpi_lock(tp);
	tp->remote.len = 0;
	tpi_ok_locked(tp, T_DISCON_REQ);
	tpi_set(tp, TS_IDLE);
	tpi_unlock(tp);
}

int
tpi_discon_req(struct tpi_req *r)
{
	struct tpi *tp = r->tp;
	mblk_t *data = data_of(r);
	int err = check_data(data, r->ops->info.DDATA_size);

	if (err != 0) {
		tpi_error(tp, r->prim, err, TPI_SAME);
		return 0;
	}
	if (tpi_state(tp) == TS_WRES_CIND)
		return refuse(r, data);
	if (!r->again && !begin(r))
		return 0;
	STR_POINT("tpi:ending");
	err = settle(r, r->ops->disconnect(tp, NULL, detach(r, data)), data);
	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0) {
		tpi_error(tp, r->prim, err, tp->back);
		return 0;
	}
	tpi_disconnected(tp);
	return 0;
}
