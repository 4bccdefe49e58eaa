/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Requests: identification, check of the state, check of the format, in this
 * order:
 *
 *	no number			M_ERROR EPROTO
 *	unknown, or not of this service	T_ERROR_ACK TNOTSUPPORT
 *	shorter than its structure	T_ERROR_ACK TSYSERR EINVAL; M_ERROR
 *					EPROTO for requests without an answer
 *	not in this state		see the state table
 *	a range outside of the block	the error of that range
 */
#include "tpi_impl.h"

#define HOLDERS 16u /* of one address, that are found by one search */

/* Is it a message that must keep its place among data? */
int
tpi_is_data(const mblk_t *mp)
{
	if (DB_TYPE(mp) == M_DATA)
		return 1;
	if ((DB_TYPE(mp) != M_PROTO && DB_TYPE(mp) != M_PCPROTO) ||
		MBLKL(mp) < (ssize_t)sizeof(t_scalar_t))
		return 0;
	switch (*(const t_scalar_t *)(const void *)mp->b_rptr) {
	case T_DATA_REQ:
	case T_EXDATA_REQ:
	case T_OPTDATA_REQ:
	case T_UNITDATA_REQ:
	case T_ORDREL_REQ:
	case T_DATA_IND:
	case T_EXDATA_IND:
	case T_OPTDATA_IND:
	case T_UNITDATA_IND:
		return 1;
	default:
		return 0;
	}
}

int
tpi_range(const struct tpi_req *r, t_scalar_t len, t_scalar_t off,
	struct tpi_buf *ret)
{
	ret->buf = NULL;
	ret->len = 0;
	if (len == 0)
		return 1;
	if (len < 0 || off < (t_scalar_t)tpi_row(r->prim)->size ||
		(size_t)off > r->len || (size_t)len > r->len - (size_t)off)
		return 0;
	ret->buf = r->mp->b_rptr + off;
	ret->len = (unsigned int)len;
	return 1;
}

/* -------------------------------------------------- requests of information */

static void
fill_info(struct tpi_req *r, struct T_info_ack *ia)
{
	*ia = r->ops->info;
	ia->PRIM_type = T_INFO_ACK;
	ia->CURRENT_state = (t_scalar_t)tpi_state(r->tp);
}

/*
 * An acknowledgement of @size bytes; without memory the request becomes an
 * M_ERROR.
 */
static mblk_t *
answer(struct tpi_req *r, t_scalar_t prim, size_t size, size_t more)
{
	mblk_t *mp = tpi_block(M_PCPROTO, prim, size, more);

	if (mp == NULL)
		tpi_fatal(r->tp, ENOSR);
	return mp;
}

static int
info_req(struct tpi_req *r)
{
	mblk_t *mp = answer(r, T_INFO_ACK, sizeof(struct T_info_ack), 0);

	if (mp != NULL) {
		fill_info(r, (struct T_info_ack *)(void *)mp->b_rptr);
		tpi_up(r->tp, mp);
	}
	return 0;
}

static int
capability_req(struct tpi_req *r)
{
	mblk_t *mp = answer(r, T_CAPABILITY_ACK,
		sizeof(struct T_capability_ack), 0);
	struct T_capability_ack *ca;

	if (mp == NULL)
		return 0;
	ca = (struct T_capability_ack *)(void *)mp->b_rptr;
	ca->CAP_bits1 = r->p->capability_req.CAP_bits1 &
		(TC1_INFO | TC1_ACCEPTOR_ID);
	if ((ca->CAP_bits1 & TC1_INFO) != 0)
		fill_info(r, &ca->INFO_ack);
	if ((ca->CAP_bits1 & TC1_ACCEPTOR_ID) != 0)
		ca->ACCEPTOR_id = r->tp->id;
	tpi_up(r->tp, mp);
	return 0;
}

static int
addr_req(struct tpi_req *r)
{
	struct tpi_addr local, remote;
	struct T_addr_ack *aa;
	mblk_t *mp;

	tpi_lock(r->tp);
	local = r->tp->local;
	remote = r->tp->remote;
	tpi_unlock(r->tp);
	if (r->ops->addrs != NULL)
		r->ops->addrs(r->tp, &local, &remote);
	mp = answer(r, T_ADDR_ACK, sizeof(*aa), local.len + remote.len + 8);
	if (mp == NULL)
		return 0;
	aa = (struct T_addr_ack *)(void *)mp->b_rptr;
	aa->LOCADDR_length = (t_scalar_t)local.len;
	aa->LOCADDR_offset = (t_scalar_t)tpi_put_addr(mp, local.buf, local.len);
	aa->REMADDR_length = (t_scalar_t)remote.len;
	aa->REMADDR_offset = (t_scalar_t)tpi_put_addr(mp, remote.buf,
		remote.len);
	tpi_up(r->tp, mp);
	return 0;
}

/* ----------------------------------------------------------- bind and unbind */

static mblk_t *
bind_ack(struct tpi *tp, unsigned int qlen, const struct tpi_addr *got)
{
	mblk_t *mp = tpi_block(M_PCPROTO, T_BIND_ACK,
		sizeof(struct T_bind_ack), got->len);
	struct T_bind_ack *ba;

	if (mp == NULL) {
		tpi_fatal(tp, ENOSR);
		return NULL;
	}
	ba = (struct T_bind_ack *)(void *)mp->b_rptr;
	ba->ADDR_length = (t_scalar_t)got->len;
	ba->ADDR_offset = (t_scalar_t)tpi_put_addr(mp, got->buf, got->len);
	ba->CONIND_number = qlen;
	return mp;
}

/* The T_BIND_ACK for an address that is bound already. */
void
tpi_bind_ack(struct tpi *tp)
{
	mblk_t *mp = bind_ack(tp, tp->qlen, &tp->local);

	if (mp != NULL)
		tpi_up(tp, mp);
}

/* Send T_BIND_ACK, and set the address and the state. */
static void
bound(struct tpi *tp, unsigned int qlen, const struct tpi_addr *got)
{
	mblk_t *mp = bind_ack(tp, qlen, got);

	if (mp == NULL)
		return;
	tpi_lock(tp);
	tp->binds++;
	/* no bytes behind it: an old word of the stack that looks like the
	 * address of a message would keep that message (the reaper) */
	tp->local.len = got->len;
	bcopy(got->buf, tp->local.buf, got->len);
	tp->qlen = qlen;
	tpi_set(tp, TS_IDLE);
	tpi_up_locked(tp, mp);
	tpi_unlock(tp);
}

int
tpi_port_clash(const struct tpi_buf *want, const struct tpi_addr *has)
{
	return want->len >= 4 && has->len >= 4 &&
		bcmp(want->buf + 2, has->buf + 2, 2) == 0;
}

/* Is @e bound to @want, or to an address that excludes it? */
static int
has_address(const struct tpi_req *r, const struct tpi *e,
	const struct tpi_buf *want)
{
	if (e == r->tp || e->local.len == 0 || want->len == 0)
		return 0;
	if (r->ops->clash != NULL)
		return r->ops->clash(want, &e->local);
	return e->local.len == want->len &&
		bcmp(e->local.buf, want->buf, want->len) == 0;
}

/*
 * The endpoints that have @want, in order of their streams' numbers: at most @n,
 * those with numbers above @after.  Return: how many.
 */
static unsigned int
holders(const struct tpi_req *r, const struct tpi_buf *want, uint64_t after,
	struct str_ref *ret, unsigned int n)
{
	struct tpi_prov *prov = r->tp->prov;
	unsigned int got = 0, i;
	struct str_ref ref;
	struct tpi *e;

	mutex_enter(&prov->lock);
	for (e = prov->first; e != NULL; e = e->next) {
		ref = e->ref;
		if (ref.stream == NULL || ref.sid <= after ||
			!has_address(r, e, want))
			continue;
		for (i = got < n ? got++ : n; i > 0; i--) {
			if (ret[i - 1].sid < ref.sid)
				break;
			if (i < n)
				ret[i] = ret[i - 1];
		}
		if (i < n)
			ret[i] = ref;
	}
	mutex_exit(&prov->lock);
	return got;
}

/*
 * @want is in use.  Is a process that was killed the only holder of an endpoint
 * that has it?  Then streamsd closes that endpoint soon.
 */
static int
is_left(const struct tpi_req *r, const struct tpi_buf *want)
{
	struct str_ref ref[HOLDERS];
	unsigned int n, i;
	uint64_t after = 0;

	do {
		n = holders(r, want, after, ref, HOLDERS);
		for (i = 0; i < n; i++)
			if (str_ref_unheld(&ref[i], !r->again))
				return 1;
		if (n != 0)
			after = ref[n - 1].sid;
	} while (n == HOLDERS);
	return 0;
}

/*
 * Bind @want.  If only an endpoint of a killed process has that address, the
 * request waits until the endpoint is closed: EAGAIN.  A living holder is
 * reported at once.  The second attempt is for the case that the endpoint has
 * been closed between the first one and the search.
 */
static int
bind_to(struct tpi_req *r, const struct tpi_buf *want, unsigned int *qlen,
	struct tpi_addr *got)
{
	const struct tpi_ops *ops = r->ops;
	unsigned int n = *qlen;
	int err = ops->bind(r->tp, want, 0, qlen, got);

	if (err != -TADDRBUSY)
		return err;
	if (is_left(r, want)) {
		tpi_retry(r->tp);
		return EAGAIN;
	}
	*qlen = n;
	return ops->bind(r->tp, want, r->prim == O_T_BIND_REQ, qlen, got);
}

static int
bind_req(struct tpi_req *r)
{
	unsigned int qlen = r->p->bind_req.CONIND_number;
	struct tpi_addr got;
	struct tpi_buf want;
	int err;

	if (!tpi_range(r, r->p->bind_req.ADDR_length,
		r->p->bind_req.ADDR_offset, &want) || want.len > TPI_ADDRMAX) {
		tpi_error(r->tp, r->prim, -TBADADDR, TPI_SAME);
		return 0;
	}
	if (r->ops->info.SERV_type == T_CLTS)
		qlen = 0;
	tpi_set(r->tp, TS_WACK_BREQ);
	got.len = 0;
	err = bind_to(r, &want, &qlen, &got);
	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0)
		tpi_error(r->tp, r->prim, err, TS_UNBND);
	else
		bound(r->tp, qlen, &got);
	return 0;
}

/* Discard the unsent and the unread data along with the address. */
void
tpi_unbound(struct tpi *tp)
{
	tpi_flush(WR(tp->rq), -1, 1);
	tpi_flush_up(tp);
	tpi_lock(tp);
	tp->local.len = 0;
	tp->qlen = 0;
	tpi_ok_locked(tp, T_UNBIND_REQ);
	tpi_set(tp, TS_UNBND);
	tpi_unlock(tp);
}

static int
unbind_req(struct tpi_req *r)
{
	struct tpi *tp = r->tp;
	int err;

	/* a connection indication may arrive at this moment */
	tpi_lock(tp);
	if (tpi_state(tp) != TS_IDLE) {
		tpi_unlock(tp);
		tpi_error(tp, r->prim, -TOUTSTATE, TPI_SAME);
		return 0;
	}
	tpi_set(tp, TS_WACK_UREQ);
	tpi_unlock(tp);
	err = r->ops->unbind(tp);
	if (err != 0) {
		tpi_error(tp, r->prim, err, TS_IDLE);
		return 0;
	}
	tpi_unbound(tp);
	return 0;
}

/* ------------------------------------------------------------------- requests */

static int
dispatch(struct tpi_req *r)
{
	switch (r->prim) {
	case T_CONN_REQ:
		return tpi_conn_req(r);
	case T_CONN_RES:
		return tpi_conn_res(r);
	case T_DISCON_REQ:
		return tpi_discon_req(r);
	case T_INFO_REQ:
		return info_req(r);
	case O_T_BIND_REQ:
	case T_BIND_REQ:
		return bind_req(r);
	case T_UNBIND_REQ:
		return unbind_req(r);
	case T_OPTMGMT_REQ:
		return tpi_optmgmt_req(r);
	case T_ORDREL_REQ:
		return tpi_ordrel_req(r);
	case T_ADDR_REQ:
		return addr_req(r);
	default: /* T_CAPABILITY_REQ: the only other one in the table */
		return capability_req(r);
	}
}

static int
has_no_answer(t_scalar_t prim)
{
	return prim == T_DATA_REQ || prim == T_EXDATA_REQ ||
		prim == T_OPTDATA_REQ || prim == T_ORDREL_REQ ||
		prim == T_UNITDATA_REQ;
}

/* Is the request allowed now?  If not, it has been answered. */
static int
admit(struct tpi_req *r)
{
	if (r->again)
		return 1; /* it was admitted before */
	switch (tpi_next(r->prim == O_T_BIND_REQ ? T_BIND_REQ : r->prim,
		tpi_state(r->tp))) {
	case TPI_OUT:
		tpi_error(r->tp, r->prim, -TOUTSTATE, TPI_SAME);
		return 0;
	case TPI_EPROTO:
		if (!r->tp->calm)
			tpi_fatal(r->tp, EPROTO);
		return 0;
	case TPI_DROP:
		return 0;
	default:
		return 1;
	}
}

/* A request that is not data. */
static int
control(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops,
	t_scalar_t prim, const struct tpi_row *row)
{
	union T_primitives p;
	struct tpi_req r = {
		.q = q, .tp = tp, .ops = ops, .mp = mp, .prim = prim, .p = &p,
		.len = (size_t)MBLKL(mp),
		.again = (mp->b_flag & TPI_AGAIN) != 0,
	};
	int ret = 0;

	tp->acked = 0;
	tp->busy = (unsigned int)prim + 1;
	str_msg_settle(mp); /* if we are killed, mend.c finds it by `busy' */
	if (r.again)
		tp->again = NULL;
	bcopy(mp->b_rptr, &p, row->size);
	if (tp->ref.stream == NULL)
		str_ref(q, &tp->ref);
	if (admit(&r))
		ret = dispatch(&r);
	if (ret == EAGAIN) {
		mp->b_flag |= TPI_AGAIN;
		tp->again = mp; /* busy remains set until it is on the queue
				 * again */
	} else {
		tp->busy = 0;
		freemsg(r.mp);
	}
	return ret;
}

int
tpi_request(queue_t *q, mblk_t *mp, struct tpi *tp, const struct tpi_ops *ops)
{
	const struct tpi_row *row;
	t_scalar_t prim;

	if (DB_TYPE(mp) == M_IOCTL)
		return tpi_ctl_req(q, mp, tp, ops);
	if (tp->dead) {
		freemsg(mp);
		return 0;
	}
	if (DB_TYPE(mp) == M_DATA && ops->info.SERV_type != T_CLTS)
		return tpi_data_req(q, mp, tp, ops, T_DATA_REQ);
	if (DB_TYPE(mp) == M_DATA || MBLKL(mp) < (ssize_t)sizeof(prim)) {
		freemsg(mp);
		tpi_fatal(tp, EPROTO);
		return 0;
	}
	prim = *(t_scalar_t *)(void *)mp->b_rptr;
	if (prim == T_UNITDATA_REQ && ops->info.SERV_type == T_CLTS &&
		MBLKL(mp) >= (ssize_t)sizeof(struct T_unitdata_req))
		return tpi_unitdata_req(q, mp, tp, ops);
	row = prim > T_ORDREL_REQ && prim < T_OPTDATA_REQ ? NULL :
		tpi_row(prim);
	if (row == NULL || !tpi_serves(row, ops->info.SERV_type)) {
		freemsg(mp);
		tpi_error(tp, prim, -TNOTSUPPORT, TPI_SAME);
		return 0;
	}
	if (MBLKL(mp) < (ssize_t)row->size) {
		freemsg(mp);
		if (has_no_answer(prim))
			tpi_fatal(tp, EPROTO);
		else
			tpi_error(tp, prim, EINVAL, TPI_SAME);
		return 0;
	}
	if (prim == T_DATA_REQ || prim == T_EXDATA_REQ || prim == T_OPTDATA_REQ)
		return tpi_data_req(q, mp, tp, ops, prim);
	return control(q, mp, tp, ops, prim, row);
}
