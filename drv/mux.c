/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * mux - a multiplexor with connections that its commands make.
 *
 * All of it is in mux_impl.h.
 */
#include <sys/mux.h>
#include "mux_impl.h"

static const struct mux_kind muxd_kind = {
	.name = "mux",
	.cmd_up = MUX_UP,
	.cmd_down = MUX_DOWN,
	.minors = 65536,
	.zero = 1,
};

static int
muxd_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return mux_open(&muxd_kind, q, devp, sflag);
}

static int
muxd_close(queue_t *q, int flag, cred_t *crp)
{
	return mux_close(&muxd_kind, q);
}

static int
muxd_uwput(queue_t *q, mblk_t *mp)
{
	return mux_uwput(&muxd_kind, q, mp);
}

static int
muxd_service(queue_t *q)
{
	return mux_service(q);
}

static int
muxd_ursrv(queue_t *q)
{
	return mux_ursrv(&muxd_kind, q);
}

static int
muxd_lrput(queue_t *q, mblk_t *mp)
{
	return mux_lrput(&muxd_kind, q, mp);
}

static int
muxd_lwsrv(queue_t *q)
{
	return mux_lwsrv(&muxd_kind, q);
}

static const struct module_info muxd_info = {
	.mi_idnum = 0x6d78,
	.mi_idname = "mux",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

/* The upper side: streams that are open. */
static const struct qinit muxd_urinit = {
	.qi_srvp = muxd_ursrv,
	.qi_qopen = muxd_open,
	.qi_qclose = muxd_close,
	.qi_minfo = (struct module_info *)&muxd_info,
};

static const struct qinit muxd_uwinit = {
	.qi_putp = muxd_uwput,
	.qi_srvp = muxd_service,
	.qi_minfo = (struct module_info *)&muxd_info,
};

/* The lower side: streams that are linked. */
static const struct qinit muxd_lrinit = {
	.qi_putp = muxd_lrput,
	.qi_srvp = muxd_service,
	.qi_minfo = (struct module_info *)&muxd_info,
};

static const struct qinit muxd_lwinit = {
	.qi_srvp = muxd_lwsrv,
	.qi_minfo = (struct module_info *)&muxd_info,
};

STR_DRIVER(mux, muxd_urinit, muxd_uwinit, muxd_lrinit, muxd_lwinit,
	D_MTPERMOD | STR_D_LOCAL | STR_D_RECLOSE, STR_MAJOR_MUX, NULL);
