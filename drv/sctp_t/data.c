/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data on its way down, and the orderly release.
 *
 * A message belongs to the association as soon as the engine has copied it, in
 * the turn.  When the engine's buffer is full the message waits on the write
 * queue, which fills, and the writer waits at its Stream head.  The engine says
 * when there is room (SCTP_EV_ROOM), and the write queue is enabled.
 *
 * A message that needs no packets does not come to the engine: near.c.
 */
#include "sctp_t.h"

/* What a message of @u has that has no options of its own. */
static void
plain(const struct sctpt *u, uint32_t flags, struct sctp_info *ret)
{
	bzero(ret, sizeof(*ret));
	ret->sid = (uint16_t)u->sid;
	ret->ppid = u->ppid;
	ret->flags = flags;
}

/* sctpt_give - send @bp, M_DATA blocks, in the turn.  0, or the engine's errno */
int
sctpt_give(struct sctpt_conn *c, const struct sctp_env *env, mblk_t *bp,
	const struct sctp_info *info)
{
	mblk_t *mp = NULL;
	int err;

	if (bp->b_cont != NULL) {
		mp = msgpullup(bp, -1);
		if (mp == NULL)
			return ENOMEM;
		bp = mp;
	}
	err = sctp_send(env, c->as, info, bp->b_rptr, (size_t)MBLKL(bp));
	if (mp != NULL)
		freemsg(mp);
	c->active_at = env->now;
	return err;
}

static int
accept_one(struct tpi *tp, mblk_t *mp, mblk_t *bp,
	const struct sctp_info *info)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctp_env env;
	struct sctpt_conn *c;
	int err;

	str_short_break(WR(tp->rq)); /* later data may not overtake it */
	err = sctpt_enter(u, 0, &c);
	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0 || bp == NULL || msgdsize(bp) == 0) {
		if (err == 0)
			sctpt_serve_owned(c->slot, 1);
		freemsg(mp); /* the user is told that it has ended */
		return 0;
	}
	sctpt_env(&env, c);
	err = sctpt_give(c, &env, bp, info);
	if (err == 0) {
		str_store_rel(&c->slot->idle, 0u);
		str_store(&c->slot->bare, 0u);
		c->wet = 1;
	}
	if (err == ENOMEM)
		tpi_retry(tp);
	if (err != EAGAIN && err != ENOMEM && err != EINVAL) {
		tpi_went(tp);
		str_msg_settle(mp);
		freemsg(mp);
		err = 0;
	}
	sctpt_serve_owned(c->slot, 1);
	return err == ENOMEM ? EAGAIN : err;
}

/*
 * T_DATA_REQ has no answer: data that the association cannot send, because it
 * has no such stream, is a protocol error of the user.  T_NEGOTIATE refuses
 * such a stream, so this is a T_SCTP_SID that was set before the connection.
 */
static int
or_fail(struct tpi *tp, mblk_t *mp, int err)
{
	if (err == 0 || err == EAGAIN)
		return err;
	freemsg(mp);
	if (!tp->calm)
		tpi_fatal(tp, EPROTO);
	return 0;
}

int
sctpt_data(struct tpi *tp, mblk_t *mp, int flags)
{
	int more = (flags & TPI_MORE) != 0, err;
	struct sctp_info info;

	err = more ? SCTPT_FAR : sctpt_near_data(sctpt_of(tp), mp);
	if (err != SCTPT_FAR)
		return err;
	plain(sctpt_of(tp), more ? SCTP_SEND_MORE : 0, &info);
	return or_fail(tp, mp,
		accept_one(tp, mp, more ? mp->b_cont : mp, &info));
}

/* Expedited data is unordered: drv/sctp sends it as soon as it can. */
int
sctpt_exdata(struct tpi *tp, mblk_t *mp, int flags)
{
	struct sctp_info info;

	plain(sctpt_of(tp), SCTP_SEND_UNORDERED |
		((flags & TPI_MORE) != 0 ? SCTP_SEND_MORE : 0), &info);
	return or_fail(tp, mp, accept_one(tp, mp, mp->b_cont, &info));
}

/* sctpt_sndinfo - what a socket says about a message.  0, or EINVAL. */
int
sctpt_sndinfo(const struct sctpio_sndinfo *s, struct sctp_info *info)
{
	if (s->pr > SCTPIO_PR_RTX)
		return EINVAL;
	info->sid = s->sid;
	info->ppid = s->ppid;
	info->context = s->context;
	info->flags = (s->now ? SCTP_SEND_NOW : 0) |
		(s->unordered ? SCTP_SEND_UNORDERED : 0) |
		(s->pr == SCTPIO_PR_TTL ? SCTP_SEND_TTL : 0) |
		(s->pr == SCTPIO_PR_RTX ? SCTP_SEND_RTX : 0);
	info->life = s->life;
	if (s->pr == SCTPIO_PR_TTL)
		info->life *= SCTP_MS;
	return 0;
}

/* T_SCTP_SNDINFO: all of them in one, of a socket.  0, or EINVAL. */
static int
set_sndinfo(struct sctp_info *info, const struct t_opthdr *h,
	const unsigned char *val)
{
	uint32_t flags = info->flags;
	struct sctpio_sndinfo s;
	int err;

	if (h->len != sizeof(*h) + sizeof(s))
		return EINVAL;
	bcopy(val, &s, sizeof(s));
	err = sctpt_sndinfo(&s, info);
	info->flags |= flags;
	return err;
}

/* One option of a message.  0, or EINVAL. */
static int
set_option(struct sctp_info *info, const struct t_opthdr *h,
	const unsigned char *val)
{
	uint32_t v;

	if (h->level != T_INET_SCTP)
		return 0; /* as with other transports: no effect */
	if (h->name == T_SCTP_SNDINFO)
		return set_sndinfo(info, h, val);
	if (h->len != sizeof(*h) + sizeof(v))
		return EINVAL;
	bcopy(val, &v, sizeof(v));
	switch (h->name) {
	case T_SCTP_SID:
		if (v > 0xffff)
			return EINVAL;
		info->sid = (uint16_t)v;
		return 0;
	case T_SCTP_PPI:
		info->ppid = v;
		return 0;
	case T_SCTP_LIFETIME: /* ms; 0: for ever */
		if (v != 0)
			info->flags |= SCTP_SEND_TTL;
		info->life = (uint64_t)v * SCTP_MS;
		return 0;
	default:
		return EINVAL;
	}
}

/* All options of a message, whose form has been checked.  0, or EINVAL. */
static int
set_options(struct sctp_info *info, const struct tpi_buf *opts)
{
	struct t_opthdr h;
	uint32_t at;
	int err;

	for (at = 0; at + sizeof(h) <= opts->len; at += T_ALIGN(h.len)) {
		bcopy(opts->buf + at, &h, sizeof(h));
		err = set_option(info, &h, opts->buf + at + sizeof(h));
		if (err != 0)
			return err;
	}
	return 0;
}

/* Options that are wrong make the request one that TPI does not know. */
int
sctpt_optdata(struct tpi *tp, const struct tpi_buf *opts, mblk_t *mp,
	int flags)
{
	struct sctp_info info;
	int err;

	plain(sctpt_of(tp),
		((flags & TPI_EXPEDITED) != 0 ? SCTP_SEND_UNORDERED : 0) |
		((flags & TPI_MORE) != 0 ? SCTP_SEND_MORE : 0), &info);
	err = set_options(&info, opts);
	if (err == 0)
		err = accept_one(tp, mp, mp->b_cont, &info);
	return tp->calm ? or_fail(tp, mp, err) : err;
}

int
sctpt_ordrel(struct tpi *tp, mblk_t *data)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctp_env env;
	struct sctpt_conn *c;
	int err;

	(void)data;
	str_short_break(WR(tp->rq));
	err = sctpt_enter(u, 0, &c);
	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0)
		return 0;
	sctpt_env(&env, c);
	(void)sctp_shutdown(&env, c->as);
	c->ours = 1;
	if (c->said)
		c->user = NULL; /* the rest goes on without it */
	sctpt_serve_owned(c->slot, 1);
	return 0;
}

/*
 * sctpt_release - SCTPIO_RELEASE: a release behind the data that waits
 * An ioctl is not stopped by flow control, so that the caller does not wait for
 * the peer to read.  0, or ENOSR.
 */
int
sctpt_release(struct sctpt *u)
{
	t_scalar_t prim = T_ORDREL_REQ;
	queue_t *wq = WR(u->tpi.rq);
	mblk_t *mp = canon_block(&prim, sizeof(prim));

	if (mp == NULL)
		return ENOSR;
	DB_TYPE(mp) = M_PROTO;
	if (putq(wq, mp) == 0) {
		freemsg(mp);
		return ENOSR;
	}
	str_short_break(wq);
	qenable(wq);
	return 0;
}

/*
 * What the message @mp has that waits on the write queue.
 * Return: 0; ENOENT: it is no data; EINVAL: it cannot be sent.
 */
static int
describe(const struct sctpt *u, const mblk_t *mp, struct sctp_info *ret)
{
	struct T_optdata_req od;
	struct tpi_buf opts;
	struct T_data_req dr;

	plain(u, SCTP_SEND_FORCE, ret);
	if (DB_TYPE(mp) == M_DATA)
		return 0;
	if (MBLKL(mp) < (ssize_t)sizeof(dr) || mp->b_cont == NULL)
		return ENOENT;
	bcopy(mp->b_rptr, &dr, sizeof(dr));
	if (dr.PRIM_type == T_OPTDATA_REQ) {
		if (tpi_optdata_read(mp, &od, &opts) != 0)
			return EINVAL;
		if ((od.DATA_flag & T_ODF_MORE) != 0)
			ret->flags |= SCTP_SEND_MORE;
		if ((od.DATA_flag & T_ODF_EX) != 0)
			ret->flags |= SCTP_SEND_UNORDERED;
		return set_options(ret, &opts);
	}
	if (dr.MORE_flag != 0)
		ret->flags |= SCTP_SEND_MORE;
	if (dr.PRIM_type == T_EXDATA_REQ)
		ret->flags |= SCTP_SEND_UNORDERED;
	return dr.PRIM_type == T_DATA_REQ || dr.PRIM_type == T_EXDATA_REQ ? 0 :
									    ENOENT;
}

/* One message that waited on the write queue of a stream that is closed. */
static void
rest(struct sctpt *u, struct sctpt_conn *c, const struct sctp_env *env,
	mblk_t *mp)
{
	mblk_t *bp = DB_TYPE(mp) == M_DATA ? mp : mp->b_cont;
	struct sctp_info info;
	int err = describe(u, mp, &info);

	if (err == 0 && msgdsize(bp) != 0)
		err = sctpt_give(c, env, bp, &info);
	if (err != 0 && err != ENOENT)
		sctp_abort(env, c->as, NULL, 0); /* it cannot be delivered */
}

/* sctpt_data_rest - the association accepts all that waits on the write queue */
void
sctpt_data_rest(struct sctpt *u, struct sctpt_conn *c,
	const struct sctp_env *env)
{
	unsigned int state = u->tpi.state;
	mblk_t *mp;

	if (state != TS_DATA_XFER && state != TS_WREQ_ORDREL)
		return;
	while ((mp = getq(WR(u->tpi.rq))) != NULL) {
		str_msg_settle(mp);
		rest(u, c, env, mp);
		freemsg(mp);
	}
}
