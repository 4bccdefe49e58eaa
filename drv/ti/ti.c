/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ticlts, ticots, ticotsord - transports between processes of one domain.
 *
 * Objects. struct ti, one for each stream, which begins with struct tpi; struct
 * ti_name, an address that is or was bound, in a table that all processes
 * share; struct ti_shared, that table and the provider's list.
 *
 * Connections.  Two endpoints are each other's `peer'.  A message is sent
 * unchanged from the write side of one to the stream above the other, without a
 * queue, a copy, or a lock that others take.  If there is no room above the
 * other one, it waits on the writer's queue.  The other's read service
 * procedure is back-enabled later and enables that queue.
 *
 * Calls.  A caller's `callee' names the listener that has its indication, whose
 * cookie names the caller.  Either is used only if the other one agrees: a
 * caller withdraws its call before it makes another one or is freed.
 *
 * Shortcut.  While both are connected and nothing waits on the writer's queue,
 * data written at its head is put directly at the other's head (<str/short.h>),
 * and does not come here.  The first message that comes here makes the
 * shortcut.  The first message that is queued ends it; so does, under the
 * provider's lock, any indication that must follow the data.
 *
 * Existence of the peer.  Links are made and cut under the provider's lock; a
 * sender takes no lock.  It has the gate of its own endpoint, reads `peer',
 * holds that endpoint's stream (<str/hold.h>) and reads `peer' again: before
 * queues and struct ti are freed, the closer of the stream has cut the link or
 * waits for the end of the hold.  After a disconnect an endpoint is not
 * connected again before its old peer's gate has been free once, which is
 * checked every tick.  Then no data of the old connection is in transit, and
 * the data that has arrived is flushed.
 *
 * Names.  A name stays in its chain for ever, and is reused for other addresses
 * of the chain; `gen' is odd while it is bound.  So a sender walks a chain
 * without a lock, and checks gen again when it holds the stream.
 *
 * Datagrams.  dgram.c
 *
 * Crash.  A closer informs the peer before it cuts the link; if a thread is
 * killed in the close procedure, the procedure is called again (STR_D_RECLOSE).
 * Until then the stream cannot be held any more, and a peer that notices that
 * informs its own user.  One store binds or frees a name.  An endpoint whose
 * closer died may stay in the list; `closing' and str_hold() prevent any use of
 * it.
 */
#include "ti_impl.h"

/* --------------------------------------------------------------------- options */

enum { V_DEBUG, V_LINGER, V_LINGER2, V_SNDBUF, V_RCVBUF, V_SNDLOWAT,
	V_RCVLOWAT };

/* @sndbuf_: limit of bytes that wait to be sent, unless the user sets it */
#define TI_OPTS(sndbuf_) { \
	{ XTI_GENERIC, XTI_DEBUG, TPI_OPT_INT, 0, 0, 0, 0x7fffffff, V_DEBUG }, \
	{ XTI_GENERIC, XTI_LINGER, TPI_OPT_LINGER, TPI_OPT_ABS, 0, 0, 0, \
		V_LINGER }, \
	{ XTI_GENERIC, XTI_RCVBUF, TPI_OPT_INT, 0, TI_RCVBUF, TI_BUFMIN, \
		TI_BUFMAX, V_RCVBUF }, \
	{ XTI_GENERIC, XTI_RCVLOWAT, TPI_OPT_INT, 0, 1, 1, TI_BUFMAX, \
		V_RCVLOWAT }, \
	{ XTI_GENERIC, XTI_SNDBUF, TPI_OPT_INT, 0, sndbuf_, TI_BUFMIN, \
		TI_BUFMAX, V_SNDBUF }, \
	{ XTI_GENERIC, XTI_SNDLOWAT, TPI_OPT_INT, 0, 1, 1, TI_BUFMAX, \
		V_SNDLOWAT }, \
}
static const struct tpi_opt ti_opts[] = TI_OPTS(TI_SNDBUF);
static const struct tpi_opt ticlts_opts[] = TI_OPTS(TI_DGRAMS);
#define TI_NOPT (sizeof(ti_opts) / sizeof(ti_opts[0]))

/* Set the limit of data that waits to be read. */
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

static void
set_sndbuf(queue_t *rq, t_scalar_t n)
{
	(void)strqset(WR(rq), QHIWAT, 0, n);
	(void)strqset(WR(rq), QLOWAT, 0, n / 4);
}

static int
ti_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	t_scalar_t n;

	(void)len;
	bcopy(val, &n, sizeof(n));
	if (o->name == XTI_RCVBUF) {
		set_rcvbuf(tp->rq, n);
	} else if (o->name == XTI_SNDBUF) {
		set_sndbuf(tp->rq, n);
	}
	return 0;
}

/* ------------------------------------------------------------------- transports */

static struct tpi_prov *
ticlts_prov(void)
{
	return str_drv_state("ticlts", sizeof(struct ti_shared));
}

static struct tpi_prov *
ticots_prov(void)
{
	return str_drv_state("ticots", sizeof(struct ti_shared));
}

static struct tpi_prov *
ticotsord_prov(void)
{
	return str_drv_state("ticotsor", sizeof(struct ti_shared));
}

static int
ti_create(struct tpi *tp, cred_t *crp)
{
	(void)crp;
	tp->backlog = TI_BACKLOG;
	return 0;
}

#define TI_COTS \
	.keeps = 1, .open = ti_create, .close = ti_close, .bind = ti_bind, \
	.unbind = ti_unbind, .connect = ti_connect, .accept = ti_accept, \
	.disconnect = ti_disconnect, .connected = ti_connected, \
	.waits = ti_waits, .data = ti_data, .exdata = ti_exdata, \
	.setopt = ti_setopt, .rsrv = ti_rsrv, .opt = ti_opts, \
	.nopt = TI_NOPT, .size = sizeof(struct ti)

/* As System V's tl: preserves units of any size, also of zero bytes. */
#define TI_INFO(service_) { \
	.TSDU_size = T_INFINITE, .ETSDU_size = T_INFINITE, \
	.CDATA_size = T_INFINITE, .DDATA_size = T_INFINITE, \
	.ADDR_size = TPI_ADDRMAX, .OPT_size = TPI_OPTMAX, \
	.TIDU_size = 65535, .SERV_type = (service_), \
	.PROVIDER_flag = XPG4_1 | T_SNDZERO, \
}

static const struct tpi_ops ticots_ops = {
	TI_COTS,
	.name = "ticots",
	.prov = ticots_prov,
	.info = TI_INFO(T_COTS),
};

static const struct tpi_ops ticotsord_ops = {
	TI_COTS,
	.ordrel = ti_ordrel,
	.name = "ticotsord",
	.prov = ticotsord_prov,
	.info = TI_INFO(T_COTS_ORD),
};

static const struct tpi_ops ticlts_ops = {
	.keeps = 1, .open = ti_create, .close = ti_close, .bind = ti_bind,
	.unbind = ti_unbind, .unitdata = ti_unitdata, .direct = ti_direct,
	.setopt = ti_setopt,
	.rsrv = ti_rsrv, .opt = ticlts_opts, .nopt = TI_NOPT,
	.size = sizeof(struct ti),
	.name = "ticlts",
	.prov = ticlts_prov,
	.udbad = { 0, TCL_BADADDR, TCL_BADOPT },
	.info = {
		.TSDU_size = 65507, .ETSDU_size = T_INVALID,
		.CDATA_size = T_INVALID, .DDATA_size = T_INVALID,
		.ADDR_size = TPI_ADDRMAX, .OPT_size = TPI_OPTMAX,
		.TIDU_size = 65507, .SERV_type = T_CLTS,
		.PROVIDER_flag = XPG4_1 | T_SNDZERO,
	},
};

static int
ti_open(queue_t *q, dev_t *devp, int sflag, cred_t *crp,
	const struct tpi_ops *ops)
{
	struct ti_shared *st = (struct ti_shared *)(void *)ops->prov();
	unsigned int m = getminor(*devp);
	int err;

	if (st == NULL)
		return ENOSR;
	if (q->q_ptr != NULL)
		return 0;
	err = canon_minor_take(&st->minors, sflag,
		sflag == CLONEOPEN ? TI_FIRST : m, &m);
	if (err != 0)
		return err;
	err = tpi_open(q, devp, sflag, crp, m, ops);
	if (err != 0) {
		canon_minor_give(&st->minors, m);
		return err;
	}
	set_rcvbuf(q, TI_RCVBUF);
	if (ops->info.SERV_type == T_CLTS)
		set_sndbuf(q, TI_DGRAMS);
	return err;
}

/* Crash: if the closer dies before it gives the minor back, it stays in use. */
static int
ti_qclose(queue_t *q, const struct tpi_ops *ops)
{
	struct ti_shared *st = (struct ti_shared *)(void *)ops->prov();
	struct tpi *tp = q->q_ptr;
	unsigned int m = tp != NULL ? tp->minor : 0;
	int err = tpi_close(q, ops);

	if (st != NULL && m != 0)
		canon_minor_give(&st->minors, m);
	return err;
}

#define TI_DRIVER(stem_, drv_, major_, direct_) \
	static int stem_##_open(queue_t *q, dev_t *devp, int flag, \
		int sflag, cred_t *crp) \
	{ \
		(void)flag; \
		return ti_open(q, devp, sflag, crp, &stem_##_ops); \
	} \
	static int stem_##_close(queue_t *q, int flag, cred_t *crp) \
	{ \
		(void)flag, (void)crp; \
		return ti_qclose(q, &stem_##_ops); \
	} \
	static int stem_##_wput(queue_t *q, mblk_t *mp) \
	{ \
		return tpi_wput(q, mp, &stem_##_ops); \
	} \
	static int stem_##_wsrv(queue_t *q) \
	{ \
		return tpi_wsrv(q, &stem_##_ops); \
	} \
	static int stem_##_rsrv(queue_t *q) \
	{ \
		return tpi_rsrv(q, &stem_##_ops); \
	} \
	static const struct qinit stem_##_rinit = { \
		.qi_srvp = stem_##_rsrv, \
		.qi_qopen = stem_##_open, \
		.qi_qclose = stem_##_close, \
		.qi_minfo = (struct module_info *)&ti_info, \
	}; \
	static const struct qinit stem_##_winit = { \
		.qi_putp = stem_##_wput, \
		.qi_srvp = stem_##_wsrv, \
		.qi_minfo = (struct module_info *)&ti_info, \
	}; \
	STR_DRIVER_DIRECT(drv_, stem_##_rinit, stem_##_winit, STR_NOMUX, \
		STR_NOMUX, D_MP | STR_D_RECLOSE, major_, \
		ti_calls, direct_)

static const struct module_info ti_info = {
	.mi_idnum = TI_ID,
	.mi_idname = "ti",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = TI_SNDBUF,
	.mi_lowat = TI_SNDBUF / 4,
};

static void (*const ti_calls[])(void) = {
	(void (*)(void))tpi_tick,
	NULL,
};

static int
ticlts_direct(queue_t *q, const struct str_direct *d)
{
	return tpi_direct(q, d, &ticlts_ops);
}

/* A driver's name has at most eight letters. */
TI_DRIVER(ticlts, ticlts, STR_MAJOR_TICLTS, ticlts_direct);
TI_DRIVER(ticots, ticots, STR_MAJOR_TICOTS, NULL);
TI_DRIVER(ticotsord, ticotsor, STR_MAJOR_TICOTSORD, NULL);
