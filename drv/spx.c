/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * spx - a driver that makes a pipe of two of its streams.
 *
 * A stream of this driver sends its messages back, until it is paired.  A
 * message pairs it if the control part begins with the token of another stream
 * of the driver; I_FDINSERT makes such a message.  From then on data written to
 * one is read from the other.  When one is closed the other is hung up.
 *
 *	token the low 32 bits of the address of the stream's read queue at the
 *		driver
 *
 * Life.  A struct spx is made at open and freed at close; all of them are in
 * one list, where tokens are looked up.
 *
 * Locks.  None: the whole driver is one perimeter, as D_MP is not given, so
 * the list and `other' are changed and read by one thread at a time.
 *
 * Crash.  A struct enters and leaves the list by one store.  A pairing is two
 * stores; spx_peer() detects a stream that is paired in one direction only, and
 * treats it as not paired.  If a thread is killed in the close procedure, the
 * procedure is called again (STR_D_RECLOSE).
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include "canon.h"

#define SPX_MINORS 65536u

struct spx {
	struct spx *next;
	queue_t *rq;
	struct spx *other; /* the partner, if its `other' points back */
	unsigned int minor;
};

struct spx_state {
	struct spx *first;
};

static struct spx *
spx_peer(struct spx *sp)
{
	return sp->other != NULL && sp->other->other == sp ? sp->other : NULL;
}

static struct spx *
spx_of_minor(struct spx_state *st, unsigned int m)
{
	struct spx *sp;

	for (sp = st->first; sp != NULL && sp->minor != m; sp = sp->next)
		;
	return sp;
}

static int
spx_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct spx_state *st;
	struct spx *sp;
	unsigned int m = getminor(*devp);

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	st = str_drv_state("spx", sizeof(*st));
	if (st == NULL)
		return ENOSR;
	if (sflag == CLONEOPEN)
		for (m = 1; spx_of_minor(st, m) != NULL; m++)
			;
	if (m >= SPX_MINORS)
		return ENXIO;
	sp = kmem_zalloc(sizeof(*sp), KM_SLEEP);
	if (sp == NULL)
		return ENOSR;
	sp->rq = q;
	sp->minor = m;
	sp->next = st->first;
	*devp = makedevice(getmajor(*devp), m);
	q->q_ptr = WR(q)->q_ptr = sp;
	qprocson(q);
	st->first = sp; /* last: a thread killed before leaves an open without a
			 * close */
	return 0;
}

static int
spx_close(queue_t *q, int flag, cred_t *crp)
{
	struct spx_state *st = str_drv_state("spx", sizeof(*st));
	struct spx *sp = q->q_ptr, *to, **pp;
	struct spx *other;

	if (sp == NULL)
		return 0;
	/* before the pairing is cut, so that the next closer hangs it up again
	 * if this thread is killed */
	other = spx_peer(sp);
	if (other != NULL)
		(void)putnextctl(other->rq, M_HANGUP);
	/* no thread finds it any more if the closer dies below */
	for (pp = &st->first; *pp != NULL; pp = &(*pp)->next)
		if (*pp == sp) {
			*pp = sp->next;
			break;
		}
	for (to = st->first; to != NULL; to = to->next)
		if (to->other == sp)
			to->other = NULL;
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(sp, sizeof(*sp));
	return 0;
}

/* If @mp contains the token of another stream, pair that with @sp's. */
static int
spx_pair(struct spx *sp, mblk_t *mp)
{
	struct spx_state *st = str_drv_state("spx", sizeof(*st));
	struct spx *to;
	uint32_t token;

	if (MBLKL(mp) < (long)sizeof(token) || spx_peer(sp) != NULL)
		return 0;
	bcopy(mp->b_rptr, &token, sizeof(token));
	for (to = st->first; to != NULL; to = to->next)
		if (to != sp && (uint32_t)(uintptr_t)to->rq == token)
			break;
	if (to == NULL || spx_peer(to) != NULL)
		return 0;
	sp->other = to;
	to->other = sp;
	return 1;
}

/* The read queue to which @sp's messages are sent. */
static queue_t *
spx_dest(struct spx *sp)
{
	struct spx *other = spx_peer(sp);

	return other != NULL ? other->rq : sp->rq;
}

static void
spx_send(queue_t *q, mblk_t *mp)
{
	queue_t *to = spx_dest(q->q_ptr);

	if (q->q_first == NULL && bcanputnext(to, mp->b_band))
		putnext(to, mp);
	else if (putq(q, mp) == 0)
		freemsg(mp);
}

/* Flush the messages above @rq that came from here. */
static void
spx_flush_up(queue_t *rq, mblk_t *mp)
{
	mblk_t *fp = copyb(mp);

	if (fp == NULL)
		return;
	DB_TYPE(fp) = M_FLUSH;
	*fp->b_rptr = (unsigned char)(FLUSHR | (*mp->b_rptr & FLUSHBAND));
	putnext(rq, fp);
}

/* One side reads what the other writes, so FLUSHW becomes FLUSHR there. */
static void
spx_flush(queue_t *q, mblk_t *mp)
{
	struct spx *other = spx_peer(q->q_ptr);

	if (other != NULL && MBLKL(mp) > 0) {
		if ((*mp->b_rptr & FLUSHR) != 0)
			canon_flush_side(WR(other->rq), mp);
		if ((*mp->b_rptr & FLUSHW) != 0)
			spx_flush_up(other->rq, mp);
	}
	canon_flush(q, mp);
}

static int
spx_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_PROTO:
	case M_PCPROTO:
		if (spx_pair(q->q_ptr, mp)) {
			freemsg(mp);
			break;
		}
		if (DB_TYPE(mp) == M_PCPROTO)
			putnext(spx_dest(q->q_ptr), mp);
		else
			spx_send(q, mp);
		break;
	case M_DATA:
	case M_CTL:
	case M_PASSFP:
		spx_send(q, mp);
		break;
	case M_FLUSH:
		spx_flush(q, mp);
		break;
	case M_IOCTL:
		canon_nak(q, mp, EINVAL);
		break;
	case M_IOCDATA:
		canon_stray(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static int
spx_wsrv(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		queue_t *to = spx_dest(q->q_ptr);

		if (!bcanputnext(to, mp->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			break;
		}
		putnext(to, mp);
	}
	return 0;
}

/* Back-enabled: the sender may go on. */
static int
spx_rsrv(queue_t *q)
{
	struct spx *other = spx_peer(q->q_ptr);

	qenable(other != NULL ? WR(other->rq) : WR(q));
	return 0;
}

static const struct module_info spx_info = {
	.mi_idnum = 0x7378,
	.mi_idname = "spx",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit spx_rinit = {
	.qi_srvp = spx_rsrv,
	.qi_qopen = spx_open,
	.qi_qclose = spx_close,
	.qi_minfo = (struct module_info *)&spx_info,
};

static const struct qinit spx_winit = {
	.qi_putp = spx_wput,
	.qi_srvp = spx_wsrv,
	.qi_minfo = (struct module_info *)&spx_info,
};

STR_DRIVER(spx, spx_rinit, spx_winit, STR_NOMUX, STR_NOMUX,
	D_MTPERMOD | STR_D_RECLOSE, STR_MAJOR_SPX, NULL);
