/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data on its way down, and the orderly release.
 *
 * A message belongs to the association as soon as the engine has copied it, in
 * the turn.  When the engine's buffer is full the message waits on the write
 * queue, which fills, and the writer waits at its Stream head.  The engine says
 * when there is room (SCTP_EV_ROOM), and the write queue is enabled.
 */
#include "sctp_t.h"

/* Send @bp, M_DATA blocks, in the turn.  0, or the engine's errno. */
static int
give(struct sctpt *u, struct sctpt_conn *c, const struct sctp_env *env,
	mblk_t *bp, uint32_t flags)
{
	struct sctp_info info = {.sid = (uint16_t)u->sid, .ppid = u->ppid,
		.flags = flags};
	mblk_t *mp = NULL;
	int err;

	if (bp->b_cont != NULL) {
		mp = msgpullup(bp, -1);
		if (mp == NULL)
			return ENOMEM;
		bp = mp;
	}
	err = sctp_send(env, c->as, &info, bp->b_rptr, (size_t)MBLKL(bp));
	if (mp != NULL)
		freemsg(mp);
	return err;
}

static int
accept_one(struct tpi *tp, mblk_t *mp, mblk_t *bp, uint32_t flags)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctp_env env;
	struct sctpt_conn *c;
	int err = sctpt_enter(u, &c);

	if (err == EAGAIN)
		return EAGAIN;
	if (err != 0 || bp == NULL || msgdsize(bp) == 0) {
		if (err == 0)
			sctpt_serve_owned(c->slot, 1);
		freemsg(mp); /* the user is told that it has ended */
		return 0;
	}
	sctpt_env(&env, c);
	err = give(u, c, &env, bp, flags);
	if (err == ENOMEM)
		tpi_retry(tp);
	if (err != EAGAIN && err != ENOMEM) {
		str_msg_settle(mp);
		freemsg(mp);
		err = 0;
	}
	sctpt_serve_owned(c->slot, 1);
	return err != 0 ? EAGAIN : 0;
}

int
sctpt_data(struct tpi *tp, mblk_t *mp, int flags)
{
	if ((flags & TPI_MORE) != 0)
		return accept_one(tp, mp, mp->b_cont, SCTP_SEND_MORE);
	return accept_one(tp, mp, mp, 0);
}

/* Expedited data is unordered: drv/sctp sends it as soon as it can. */
int
sctpt_exdata(struct tpi *tp, mblk_t *mp, int flags)
{
	return accept_one(tp, mp, mp->b_cont, SCTP_SEND_UNORDERED |
		((flags & TPI_MORE) != 0 ? SCTP_SEND_MORE : 0));
}

int
sctpt_ordrel(struct tpi *tp, mblk_t *data)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctp_env env;
	struct sctpt_conn *c;
	int err = sctpt_enter(u, &c);

	(void)data;
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

/* One message that waited on the write queue of a stream that is closed. */
static void
rest(struct sctpt *u, struct sctpt_conn *c, const struct sctp_env *env,
	mblk_t *mp)
{
	uint32_t flags = SCTP_SEND_FORCE;
	struct T_data_req dr;
	mblk_t *bp = mp;

	if (DB_TYPE(mp) != M_DATA) {
		bp = mp->b_cont;
		if (MBLKL(mp) < (ssize_t)sizeof(dr) || bp == NULL)
			return;
		bcopy(mp->b_rptr, &dr, sizeof(dr));
		if (dr.PRIM_type != T_DATA_REQ && dr.PRIM_type != T_EXDATA_REQ)
			return;
		if (dr.MORE_flag != 0)
			flags |= SCTP_SEND_MORE;
		if (dr.PRIM_type == T_EXDATA_REQ)
			flags |= SCTP_SEND_UNORDERED;
	}
	if (msgdsize(bp) != 0 && give(u, c, env, bp, flags) != 0)
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
