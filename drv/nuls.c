/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * nuls - a driver that discards all messages.
 *
 * It queues and sends nothing, so writers never block and readers always do.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include "canon.h"

static int
nuls_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return canon_open("nuls", q, devp, sflag);
}

static int
nuls_close(queue_t *q, int flag, cred_t *crp)
{
	return canon_close("nuls", q);
}

static int
nuls_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_FLUSH:
		canon_flush(q, mp);
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

static const struct module_info nuls_info = {
	.mi_idnum = 0x6e6c,
	.mi_idname = "nuls",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit nuls_rinit = {
	.qi_qopen = nuls_open,
	.qi_qclose = nuls_close,
	.qi_minfo = (struct module_info *)&nuls_info,
};

static const struct qinit nuls_winit = {
	.qi_putp = nuls_wput,
	.qi_minfo = (struct module_info *)&nuls_info,
};

STR_DRIVER(nuls, nuls_rinit, nuls_winit, STR_NOMUX, STR_NOMUX,
	D_MP | STR_D_LOCAL, STR_MAJOR_NULS, NULL);
