/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tirdwr - makes a connection a Stream of bytes for read(2) and write(2).
 *
 * Pushed on an endpoint in data transfer, so that programs without support for
 * transports can use it.  Upstream it removes the control part of data; an
 * orderly release becomes end of file, a disconnection a hang-up.  Downstream
 * it passes only data.
 *
 * A message of zero bytes is the end of file for a reader that waits;
 * str_head_end() makes all later reads return the end, too.
 *
 * Messages that came before the push wait at the Stream head as the provider
 * sent them, with control parts. str_head_again() lets this module change them
 * in place.
 *
 * The end.  When it is popped, or the stream closed, the connection is ended
 * unless it has ended already: by T_ORDREL_REQ if the provider supports that,
 * so that all written data arrives; else by T_DISCON_REQ.  T_INFO_ACK tells the
 * kind of the provider; it is requested at the push.
 *
 * State.  Bits of the private word, set by the read side.
 *
 * Locks.  None: the word is changed by one instruction.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/stropts.h>
#include <sys/kmem.h>
#include <sys/tihdr.h>
#include <sys/ddi.h>
#include <str/driver.h>
#include "../drv/canon.h"

#define TR_ORDREL 1u /* the peer has released: nothing more to read */
#define TR_GONE 2u   /* disconnected, or in error: send nothing */
#define TR_ORD 4u    /* the provider has orderly release */

struct tirdwr {
	volatile unsigned int bits;
};

static void
set(queue_t *q, unsigned int bits)
{
	(void)__atomic_fetch_or(&((struct tirdwr *)q->q_ptr)->bits, bits,
		__ATOMIC_ACQ_REL);
}

static unsigned int
bits(queue_t *q)
{
	return __atomic_load_n(&((struct tirdwr *)q->q_ptr)->bits,
		__ATOMIC_ACQUIRE);
}

/* A request of @n numbers. */
static mblk_t *
request(t_scalar_t prim, t_scalar_t arg, size_t n)
{
	t_scalar_t v[2] = {prim, arg};
	mblk_t *mp = canon_block(v, n * sizeof(v[0]));

	if (mp != NULL)
		DB_TYPE(mp) = M_PROTO;
	return mp;
}

/*
 * The message for the Stream head in place of the M_PROTO message @mp; NULL:
 * none.
 */
static mblk_t *
translate(queue_t *q, mblk_t *mp)
{
	t_scalar_t prim = -1;
	mblk_t *dp;

	if (MBLKL(mp) >= (long)sizeof(prim))
		bcopy(mp->b_rptr, &prim, sizeof(prim));
	switch (prim) {
	case T_DATA_IND:
	case T_OPTDATA_IND:
		dp = unlinkb(mp);
		freeb(mp);
		if (dp == NULL || msgdsize(dp) != 0)
			return dp;
		mp = dp;
		break;
	case T_ORDREL_IND:
		set(q, TR_ORDREL);
		DB_TYPE(mp) = M_DATA; /* no bytes: end of file */
		mp->b_wptr = mp->b_rptr;
		if (mp->b_cont != NULL)
			freemsg(unlinkb(mp));
		return mp;
	case T_DISCON_IND:
		set(q, TR_GONE);
		freemsg(mp);
		mp = allocb(1, BPRI_HI);
		if (mp != NULL)
			DB_TYPE(mp) = M_HANGUP;
		return mp;
	default:
		set(q, TR_GONE);
		freemsg(mp);
		mp = allocb(1, BPRI_HI);
		if (mp == NULL)
			return NULL;
		DB_TYPE(mp) = M_ERROR;
		*mp->b_wptr++ = EPROTO;
		return mp;
	}
	freemsg(mp);
	return NULL;
}

/* A message that is at the Stream head already; NULL: it has no bytes. */
static mblk_t *
again(queue_t *q, mblk_t *mp)
{
	if (DB_TYPE(mp) == M_PROTO)
		return translate(q, mp);
	if (DB_TYPE(mp) != M_DATA || mp->b_cont != NULL || MBLKL(mp) != 0)
		return mp;
	freemsg(mp);
	return NULL;
}

static int
tirdwr_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct tirdwr *tr;
	mblk_t *mp;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	mp = request(T_INFO_REQ, 0, 1);
	tr = kmem_zalloc(sizeof(*tr), KM_SLEEP);
	if (mp == NULL || tr == NULL) {
		freemsg(mp);
		if (tr != NULL)
			kmem_free(tr, sizeof(*tr));
		return ENOSR;
	}
	q->q_ptr = WR(q)->q_ptr = tr;
	qprocson(q);
	if (str_head_again(q, again) != 0) {
		freemsg(mp);
		qprocsoff(q);
		kmem_free(tr, sizeof(*tr));
		q->q_ptr = WR(q)->q_ptr = NULL;
		return ENOSR;
	}
	if ((bits(q) & TR_ORDREL) != 0)
		str_head_end(q, 1);
	putnext(WR(q), mp);
	return 0;
}

static int
tirdwr_close(queue_t *q, int flag, cred_t *crp)
{
	unsigned int b = bits(q);
	mblk_t *mp = NULL;

	if ((b & TR_GONE) == 0)
		mp = (b & (TR_ORD | TR_ORDREL)) != 0 ?
			request(T_ORDREL_REQ, 0, 1) :
			request(T_DISCON_REQ, -1, 2);
	if (mp != NULL)
		putnext(WR(q), mp);
	str_head_end(q, 0);
	qprocsoff(q);
	kmem_free(q->q_ptr, sizeof(struct tirdwr));
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static void
fatal(queue_t *q, mblk_t *mp)
{
	set(q, TR_GONE);
	freemsg(mp);
	(void)putnextctl1(RD(q), M_ERROR, EPROTO);
}

static int
tirdwr_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		if (mp->b_cont == NULL && MBLKL(mp) == 0)
			freemsg(mp);
		else
			putnext(q, mp);
		break;
	case M_PROTO:
	case M_PCPROTO:
		fatal(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static void
rinfo(queue_t *q, mblk_t *mp)
{
	const struct T_info_ack *ia =
		(const struct T_info_ack *)(const void *)mp->b_rptr;

	if (MBLKL(mp) >= (long)sizeof(*ia) && ia->PRIM_type == T_INFO_ACK &&
	    ia->SERV_type == T_COTS_ORD)
		set(q, TR_ORD);
	freemsg(mp);
}

static int
tirdwr_rput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		if (mp->b_cont == NULL && MBLKL(mp) == 0)
			freemsg(mp);
		else
			putnext(q, mp);
		break;
	case M_PROTO:
		mp = translate(q, mp);
		if (mp != NULL && (bits(q) & TR_ORDREL) != 0)
			str_head_end(q, 1);
		if (mp != NULL)
			putnext(q, mp);
		break;
	case M_PCPROTO:
		rinfo(q, mp); /* acknowledgements of our requests */
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static const struct module_info tirdwr_info = {
	.mi_idnum = 0x7472,
	.mi_idname = "tirdwr",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit tirdwr_rinit = {
	.qi_putp = tirdwr_rput,
	.qi_qopen = tirdwr_open,
	.qi_qclose = tirdwr_close,
	.qi_minfo = (struct module_info *)&tirdwr_info,
};

static const struct qinit tirdwr_winit = {
	.qi_putp = tirdwr_wput,
	.qi_minfo = (struct module_info *)&tirdwr_info,
};

STR_MODULE(tirdwr, tirdwr_rinit, tirdwr_winit, D_MP);
