/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pigeon - a transport provider for datagrams between the streams of a domain.
 *
 * Objects.  struct pigeon, one for each endpoint, on top of struct tpi;
 * struct pigeon_shared, the provider's part in memory that all processes
 * share.  drv/tpi speaks TPI with the user above; this file has the operations.
 *
 * Life.  A datagram goes from the write side of its sender to the stream of
 * the endpoint that is bound to the address.  When that stream has no room,
 * the datagram goes back to the sender's queue.  It is tried again when there
 * is room, and each tick.
 * When its receiver has read nothing for PIGEON_HOLD, the datagram is dropped
 * and counted, and so are those after it, until the receiver reads.
 *
 * Locks.  D_MTPERMOD: one thread at a time is in the driver.  The provider's
 * lock covers the bound addresses.
 *
 * Crash.  An address is bound, or free, by one store of its length.  op close
 * may run again (STR_D_RECLOSE): all that it does may be done twice.
 * A datagram that waits stays on its sender's queue until it has arrived, so
 * it is neither lost nor sent twice if the thread that sends it is killed.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/ticlts.h>
#include <str/builtin.h>
#include <str/tpi.h>
#include <sys/ddi.h>

#define PIGEON_HOLD (5ul * HZ)
#define PIGEON_SNDBUF 1024 /* little: a sender had better wait at its head */
#define PIGEON_RCVBUF 65536
#define PIGEON_BUFMAX (64 << 20)

struct pigeon {
	struct tpi tpi;
	struct tpi_addr addr; /* the provider's lock; len 0: not bound */
	/* a sender: its first datagram waits, see full() */
	unsigned long since, waited;
	uint64_t mark; /* str_read_mark() of the receiver then */
	/* a receiver */
	int stuck;     /* it has not read for PIGEON_HOLD ... */
	uint64_t stop; /* ... and was here then */
};

struct pigeon_shared {
	struct tpi_prov prov;
	unsigned int minor, chosen; /* the last ones given */
};

static struct pigeon *
pigeon_of(struct tpi *tp)
{
	return (struct pigeon *)(void *)tp;
}

static struct tpi_prov *
pigeon_prov(void)
{
	return str_drv_state("pigeon", sizeof(struct pigeon_shared));
}

/* The endpoint bound to an address, or NULL.  Locks: the provider's. */
static struct pigeon *
lookup(struct tpi_prov *prov, const unsigned char *buf, unsigned int len)
{
	struct tpi *tp;

	for (tp = prov->first; tp != NULL; tp = tp->next)
		if (!tp->closing && pigeon_of(tp)->addr.len == len &&
			bcmp(pigeon_of(tp)->addr.buf, buf, len) == 0)
			return pigeon_of(tp);
	return NULL;
}

/* An address of four bytes that is free.  Locks: the provider's. */
static void
choose(struct tpi_prov *prov, struct tpi_addr *ret)
{
	struct pigeon_shared *ps = (struct pigeon_shared *)(void *)prov;

	ret->len = sizeof(ps->chosen);
	do {
		ps->chosen++;
		bcopy(&ps->chosen, ret->buf, ret->len);
	} while (lookup(prov, ret->buf, ret->len) != NULL);
}

static int
pigeon_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct pigeon *me = pigeon_of(tp);
	int err = 0;

	mutex_enter(&tp->prov->lock);
	got->len = want->len;
	if (want->len != 0)
		bcopy(want->buf, got->buf, want->len);
	if (want->len == 0 || lookup(tp->prov, want->buf, want->len) != NULL) {
		if (want->len != 0 && !any)
			err = -TADDRBUSY;
		else
			choose(tp->prov, got);
	}
	if (err == 0) {
		bcopy(got->buf, me->addr.buf, got->len);
		me->addr.len = got->len;
	}
	mutex_exit(&tp->prov->lock);
	return err;
}

static int
pigeon_unbind(struct tpi *tp)
{
	mutex_enter(&tp->prov->lock);
	pigeon_of(tp)->addr.len = 0;
	mutex_exit(&tp->prov->lock);
	return 0;
}

static int
pigeon_create(struct tpi *tp, cred_t *crp)
{
	return 0;
}

static void
pigeon_gone(struct tpi *tp)
{
	(void)pigeon_unbind(tp);
}

/* Hold the stream of the endpoint bound to @to: 0, EBUSY, ESRCH. */
static int
reach(struct tpi *tp, const struct tpi_buf *to, struct str_hold *h,
	struct pigeon **ret)
{
	int err = ESRCH;

	mutex_enter(&tp->prov->lock);
	*ret = lookup(tp->prov, to->buf, to->len);
	if (*ret != NULL)
		err = str_hold(h, &(*ret)->tpi.ref);
	mutex_exit(&tp->prov->lock);
	return err;
}

/*
 * There is no room at @ep, whose stream is held: EAGAIN, or 0: @mp has been
 * dropped, because @ep has read nothing for too long.
 */
static int
full(struct pigeon *me, struct pigeon *ep, mblk_t *mp)
{
	uint64_t mark = str_read_mark(ep->tpi.rq);
	unsigned long now = 0;

	(void)drv_getparm(LBOLT, &now);
	if (me->mark != mark) {
		me->mark = mark;
		me->since = 0;
	}
	if ((!ep->stuck || ep->stop != mark) &&
		tpi_waited(&me->tpi, &me->since, &me->waited, now | 1) <=
			PIGEON_HOLD)
		return EAGAIN;
	ep->stuck = 1;
	ep->stop = mark;
	me->since = 0;
	(void)tpi_dropped(&me->tpi);
	freemsg(mp);
	return 0;
}

/* Put @mp at the head of @ep, whose stream is held: 0, EAGAIN: no memory. */
static int
hand_over(struct tpi *tp, struct pigeon *ep, mblk_t *mp)
{
	size_t size = sizeof(struct T_unitdata_ind), n = tp->local.len;
	mblk_t *bp = allocb(size + n, BPRI_MED);
	struct T_unitdata_ind *ui;

	if (bp == NULL)
		return EAGAIN;
	DB_TYPE(bp) = M_PROTO;
	ui = (struct T_unitdata_ind *)(void *)bp->b_rptr;
	ui->PRIM_type = T_UNITDATA_IND;
	ui->SRC_length = (t_scalar_t)n;
	ui->SRC_offset = (t_scalar_t)size;
	ui->OPT_length = ui->OPT_offset = 0;
	bcopy(tp->local.buf, bp->b_rptr + size, n);
	bp->b_wptr = bp->b_rptr + size + n;
	bp->b_cont = mp->b_cont;
	freeb(mp);
	pigeon_of(tp)->since = 0;
	tpi_goes(tp, bp);
	putnext(ep->tpi.rq, bp);
	return 0;
}

/* @mp is consumed when this returns 0, and only then. */
static int
pigeon_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct str_hold h;
	struct pigeon *ep;
	int err = reach(tp, to, &h, &ep);

	if (err == ESRCH)
		return ECONNREFUSED;
	if (err == 0) {
		if (!tpi_canput(&ep->tpi))
			err = full(pigeon_of(tp), ep, mp);
		else
			err = hand_over(tp, ep, mp);
		str_unhold(&h);
	}
	if (err == EBUSY || err == EAGAIN) {
		tpi_retry(tp);
		err = EAGAIN;
	}
	return err;
}

/* There is room above @tp again: the senders that wait are served. */
static void
pigeon_room(struct tpi *tp)
{
	struct str_hold h;
	struct tpi *from;

	mutex_enter(&tp->prov->lock);
	for (from = tp->prov->first; from != NULL; from = from->next) {
		if (pigeon_of(from)->since == 0 ||
			str_hold(&h, &from->ref) != 0)
			continue;
		qenable(WR(from->rq));
		str_unhold(&h);
	}
	mutex_exit(&tp->prov->lock);
}

/* ------------------------------------------------------------------ options */

/* The last column is the place of the value in tpi.val; LINGER has two. */
static const struct tpi_opt pigeon_opts[] = {
	{ XTI_GENERIC, XTI_DEBUG, TPI_OPT_INT, 0, 0, 0, 0x7fffffff, 0 },
	{ XTI_GENERIC, XTI_LINGER, TPI_OPT_LINGER, TPI_OPT_ABS, 0, 0, 0, 1 },
	{ XTI_GENERIC, XTI_RCVBUF, TPI_OPT_INT, 0, PIGEON_RCVBUF, 1024,
		PIGEON_BUFMAX, 3 },
	{ XTI_GENERIC, XTI_RCVLOWAT, TPI_OPT_INT, 0, 1, 1, PIGEON_BUFMAX, 4 },
	{ XTI_GENERIC, XTI_SNDBUF, TPI_OPT_INT, 0, PIGEON_SNDBUF, 1024,
		PIGEON_BUFMAX, 5 },
	{ XTI_GENERIC, XTI_SNDLOWAT, TPI_OPT_INT, 0, 1, 1, PIGEON_BUFMAX, 6 },
};

/* So much may wait to be read: the Stream head's water marks. */
static void
set_rcvbuf(queue_t *rq, t_scalar_t n)
{
	mblk_t *mp = allocb(sizeof(struct stroptions), BPRI_MED);
	struct stroptions *so;

	if (mp == NULL)
		return;
	DB_TYPE(mp) = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	mp->b_wptr += sizeof(*so);
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT;
	so->so_hiwat = (size_t)n;
	so->so_lowat = (size_t)n / 4;
	putnext(rq, mp);
}

/* A value has been set; drv/tpi has checked it and keeps it. */
static int
pigeon_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	t_scalar_t n;

	bcopy(val, &n, sizeof(n));
	if (o->name == XTI_RCVBUF) {
		set_rcvbuf(tp->rq, n);
	} else if (o->name == XTI_SNDBUF) {
		(void)strqset(WR(tp->rq), QHIWAT, 0, n);
		(void)strqset(WR(tp->rq), QLOWAT, 0, n / 4);
	}
	return 0;
}

/* --------------------------------------------------------------- operations */

static const struct tpi_ops pigeon_ops = {
	.name = "pigeon",
	.size = sizeof(struct pigeon),
	.keeps = 1,
	.info = {
		.TSDU_size = 65507, .ETSDU_size = T_INVALID,
		.CDATA_size = T_INVALID, .DDATA_size = T_INVALID,
		.ADDR_size = TPI_ADDRMAX, .OPT_size = TPI_OPTMAX,
		.TIDU_size = 65507, .SERV_type = T_CLTS,
		.PROVIDER_flag = XPG4_1 | T_SNDZERO,
	},
	.opt = pigeon_opts,
	.nopt = sizeof(pigeon_opts) / sizeof(pigeon_opts[0]),
	.prov = pigeon_prov,
	.open = pigeon_create,
	.close = pigeon_gone,
	.bind = pigeon_bind,
	.unbind = pigeon_unbind,
	.unitdata = pigeon_unitdata,
	.rsrv = pigeon_room,
	.setopt = pigeon_setopt,
	.udbad = { 0, TCL_BADADDR, TCL_BADOPT },
};

/* ------------------------------------------------------------------- driver */

static int
pigeon_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct pigeon_shared *ps = (struct pigeon_shared *)(void *)pigeon_prov();
	unsigned int m = getminor(*devp);
	int err;

	if (ps == NULL)
		return ENOSR;
	if (q->q_ptr != NULL)
		return 0;
	if (sflag == CLONEOPEN)
		m = __atomic_add_fetch(&ps->minor, 1u, __ATOMIC_RELAXED);
	err = tpi_open(q, devp, sflag, crp, m, &pigeon_ops);
	if (err == 0)
		set_rcvbuf(q, PIGEON_RCVBUF);
	return err;
}

static int
pigeon_close(queue_t *q, int flag, cred_t *crp)
{
	return tpi_close(q, &pigeon_ops);
}

static int
pigeon_wput(queue_t *q, mblk_t *mp)
{
	return tpi_wput(q, mp, &pigeon_ops);
}

static int
pigeon_wsrv(queue_t *q)
{
	return tpi_wsrv(q, &pigeon_ops);
}

static int
pigeon_rsrv(queue_t *q)
{
	return tpi_rsrv(q, &pigeon_ops);
}

static const struct module_info pigeon_info = {
	.mi_idnum = 0x7069,
	.mi_idname = "pigeon",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = PIGEON_SNDBUF,
	.mi_lowat = PIGEON_SNDBUF / 4,
};

static const struct qinit pigeon_rinit = {
	.qi_srvp = pigeon_rsrv,
	.qi_qopen = pigeon_open,
	.qi_qclose = pigeon_close,
	.qi_minfo = (struct module_info *)&pigeon_info,
};

static const struct qinit pigeon_winit = {
	.qi_putp = pigeon_wput,
	.qi_srvp = pigeon_wsrv,
	.qi_minfo = (struct module_info *)&pigeon_info,
};

/* The procedure whose address tpi_retry() hands out. */
static void (*const pigeon_calls[])(void) = {
	(void (*)(void))tpi_tick,
	NULL,
};

STR_DRIVER(pigeon, pigeon_rinit, pigeon_winit, STR_NOMUX, STR_NOMUX,
	D_MTPERMOD | STR_D_RECLOSE, STR_MAJOR_PIGEON, pigeon_calls);
