/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * minimux - the multiplexor for LiS programs: minors 1 to 99, and its own
 * command numbers.
 *
 * All of it is in mux_impl.h.
 */
#include <sys/LiS/minimux.h>
#include "mux_impl.h"

static const struct mux_kind mini_kind = {
	.name = "minimux",
	.cmd_up = MINIMUX_UP,
	.cmd_down = MINIMUX_DOWN,
	.minors = 100,
	.zero = 0,
};

static int
mini_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return mux_open(&mini_kind, q, devp, sflag);
}

static int
mini_close(queue_t *q, int flag, cred_t *crp)
{
	return mux_close(&mini_kind, q);
}

static int
mini_uwput(queue_t *q, mblk_t *mp)
{
	return mux_uwput(&mini_kind, q, mp);
}

static int
mini_service(queue_t *q)
{
	return mux_service(q);
}

static int
mini_ursrv(queue_t *q)
{
	return mux_ursrv(&mini_kind, q);
}

static int
mini_lrput(queue_t *q, mblk_t *mp)
{
	return mux_lrput(&mini_kind, q, mp);
}

static int
mini_lwsrv(queue_t *q)
{
	return mux_lwsrv(&mini_kind, q);
}

static const struct module_info mini_info = {
	.mi_idnum = 0x6d6d,
	.mi_idname = "minimux",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

/* The upper side: streams that are open. */
static const struct qinit mini_urinit = {
	.qi_srvp = mini_ursrv,
	.qi_qopen = mini_open,
	.qi_qclose = mini_close,
	.qi_minfo = (struct module_info *)&mini_info,
};

static const struct qinit mini_uwinit = {
	.qi_putp = mini_uwput,
	.qi_srvp = mini_service,
	.qi_minfo = (struct module_info *)&mini_info,
};

/* The lower side: streams that are linked. */
static const struct qinit mini_lrinit = {
	.qi_putp = mini_lrput,
	.qi_srvp = mini_service,
	.qi_minfo = (struct module_info *)&mini_info,
};

static const struct qinit mini_lwinit = {
	.qi_srvp = mini_lwsrv,
	.qi_minfo = (struct module_info *)&mini_info,
};

STR_DRIVER(minimux, mini_urinit, mini_uwinit, mini_lrinit, mini_lwinit,
	D_MTPERMOD | STR_D_LOCAL | STR_D_RECLOSE, STR_MAJOR_MINIMUX, NULL);
