/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The driver: its procedures and tables.  sctp_t.h describes the design.
 */
#include "sctp_t.h"

struct sctpt_state *
sctpt_state(void)
{
	return str_drv_state("sctp", sizeof(struct sctpt_state));
}

static struct tpi_prov *
prov(void)
{
	struct sctpt_state *st = sctpt_state();

	return st != NULL ? &st->prov : NULL;
}

static int
create(struct tpi *tp, cred_t *crp)
{
	struct sctpt *u = sctpt_of(tp);

	(void)crp;
	u->st = sctpt_state();
	tp->backlog = SCTPT_BACKLOG;
	u->family = AF_INET;
	sctpt_conf(&u->conf);
	return 0;
}

/*
 * The queue above is shorter again, or a thread was killed that was working
 * for this stream.
 */
static void
up(struct tpi *tp)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpt_slot *sl[2] = {str_load(&u->as), str_load(&u->home)};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (sl[i] == NULL)
			continue;
		if (str_load(&sl[i]->full) != 0)
			sctpt_serve(sl[i], 0);
		if (str_load(&sl[i]->busy) == 0)
			continue;
		if (sctpt_is_doubtful(sl[i]))
			sctpt_serve(sl[i], 1);
		else
			tpi_retry(tp); /* is its owner still there then? */
	}
	if (str_load(&u->many) != NULL)
		sctpt_many_serve(u);
	else
		sctpt_near_room(u);
}

/* Profile: the most addresses are those of a peer, of IPv6. */
const struct tpi_ops sctpt_ops = {
	.name = "sctp",
	.size = sizeof(struct sctpt),
	.keeps = 1,
	.info = {
		.TSDU_size = T_INFINITE, .ETSDU_size = T_INFINITE,
		.CDATA_size = T_INVALID, .DDATA_size = SCTPT_DDATA,
		.ADDR_size = SCTP_PATHS * sizeof(struct sockaddr_in6),
		.OPT_size = TPI_OPTMAX, .TIDU_size = 65535,
		.SERV_type = T_COTS_ORD, .PROVIDER_flag = XPG4_1,
	},
	.opt = sctpt_opts,
	.nopt = SCTPT_NOPT,
	.prov = prov,
	.open = create,
	.close = sctpt_close,
	.bind = sctpt_bind,
	.unbind = sctpt_unbind,
	.clash = tpi_port_clash,
	.connect = sctpt_connect,
	.accept = sctpt_accept,
	.disconnect = sctpt_disconnect,
	.connected = sctpt_connected,
	.waits = sctpt_waits,
	.data = sctpt_data,
	.exdata = sctpt_exdata,
	.optdata = sctpt_optdata,
	.ordrel = sctpt_ordrel,
	.addrs = sctpt_addrs,
	.getopt = sctpt_getopt,
	.setopt = sctpt_setopt,
	.ctl = sctpt_ctl,
	.rsrv = up,
};

/* The same for an endpoint with many associations: many.c */
static const struct tpi_ops many_ops = {
	.name = "sctp",
	.size = sizeof(struct sctpt),
	.keeps = 1,
	.info = {
		.TSDU_size = T_INFINITE, .ETSDU_size = T_INVALID,
		.CDATA_size = T_INVALID, .DDATA_size = T_INVALID,
		.ADDR_size = SCTP_PATHS * sizeof(struct sockaddr_in6),
		.OPT_size = TPI_OPTMAX, .TIDU_size = 65535,
		.SERV_type = T_CLTS, .PROVIDER_flag = XPG4_1 | T_SNDZERO,
	},
	.opt = sctpt_opts,
	.nopt = SCTPT_NOPT,
	.prov = prov,
	.open = create,
	.close = sctpt_close,
	.bind = sctpt_bind,
	.unbind = sctpt_unbind,
	.clash = tpi_port_clash,
	.unitdata = sctpt_many_unitdata,
	.udbad = {0, EINVAL, EINVAL},
	.getopt = sctpt_getopt,
	.setopt = sctpt_setopt,
	.ctl = sctpt_ctl,
	.rsrv = up,
};

/* By what the endpoint on @q is now. */
static const struct tpi_ops *
ops_of(queue_t *q)
{
	const struct sctpt *u = q->q_ptr;

	return u != NULL && str_load(&u->many) != NULL ? &many_ops :
							 &sctpt_ops;
}

static int
qopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct sctpt_state *st = sctpt_state();
	unsigned int m = getminor(*devp);
	int err;

	(void)flag;
	if (q->q_ptr != NULL)
		return 0;
	if (st == NULL)
		return ENOSR;
	err = canon_minor_take(&st->minors, sflag,
		sflag == CLONEOPEN ? SCTPT_FIRST : m, &m);
	if (err != 0)
		return err;
	err = tpi_open(q, devp, sflag, crp, m, &sctpt_ops);
	if (err != 0) {
		canon_minor_give(&st->minors, m);
		return err;
	}
	sctpt_set_rcvbuf(q, SCTPT_RCVBUF);
	return 0;
}

/* Crash: if the closer dies before it gives the minor back, it stays in use. */
static int
qclose(queue_t *q, int flag, cred_t *crp)
{
	struct sctpt_state *st = sctpt_state();
	struct tpi *tp = q->q_ptr;
	unsigned int m = tp != NULL ? tp->minor : 0;
	int err = tpi_close(q, ops_of(q));

	(void)flag, (void)crp;
	if (st != NULL && m != 0)
		canon_minor_give(&st->minors, m);
	return err;
}

static int
wput(queue_t *q, mblk_t *mp)
{
	return tpi_wput(q, mp, ops_of(q));
}

static int
wsrv(queue_t *q)
{
	return tpi_wsrv(q, ops_of(q));
}

static int
rsrv(queue_t *q)
{
	return tpi_rsrv(q, ops_of(q));
}

static const struct module_info sctp_info = {
	.mi_idnum = SCTPT_ID,
	.mi_idname = "sctp",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = 1024, /* messages wait here when the engine is full */
	.mi_lowat = 256,
};

static const struct qinit sctp_rinit = {
	.qi_srvp = rsrv,
	.qi_qopen = qopen,
	.qi_qclose = qclose,
	.qi_minfo = (struct module_info *)&sctp_info,
};

static const struct qinit sctp_winit = {
	.qi_putp = wput,
	.qi_srvp = wsrv,
	.qi_minfo = (struct module_info *)&sctp_info,
};

static void (*const sctp_calls[])(void) = {
	(void (*)(void))tpi_tick,
	(void (*)(void))sctpt_timer,
	NULL,
};

/* The same for users of NPI: an open pushes npi, by autopush.conf. */
static const struct module_info sctpn_info = {
	.mi_idnum = SCTPT_NPI_ID,
	.mi_idname = "sctp_n",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = 1024,
	.mi_lowat = 256,
};

static const struct qinit sctpn_rinit = {
	.qi_srvp = rsrv,
	.qi_qopen = qopen,
	.qi_qclose = qclose,
	.qi_minfo = (struct module_info *)&sctpn_info,
};

static const struct qinit sctpn_winit = {
	.qi_putp = wput,
	.qi_srvp = wsrv,
	.qi_minfo = (struct module_info *)&sctpn_info,
};

STR_DRIVER(sctp, sctp_rinit, sctp_winit, STR_NOMUX, STR_NOMUX,
	D_MP | STR_D_RECLOSE, STR_MAJOR_SCTP, sctp_calls);
STR_DRIVER(sctp_n, sctpn_rinit, sctpn_winit, STR_NOMUX, STR_NOMUX,
	D_MP | STR_D_RECLOSE, STR_MAJOR_SCTP_N, sctp_calls);
