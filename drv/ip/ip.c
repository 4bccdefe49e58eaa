/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ip - the driver whose streams are wires and taps: ip(7).
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include "../canon.h"
#include "ip_impl.h"

static int
ip_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	if (wire_lo() == NULL)
		return ENOSR;
	return EINVAL;
}

static int
ip_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	return 0;
}

static int
ip_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	case M_IOCTL:
		canon_nak(q, mp, EINVAL);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static const struct module_info ip_info = {
	.mi_idnum = IP_ID,
	.mi_idname = "ip",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit ip_rinit = {
	.qi_qopen = ip_open,
	.qi_qclose = ip_close,
	.qi_minfo = (struct module_info *)&ip_info,
};

static const struct qinit ip_winit = {
	.qi_putp = ip_wput,
	.qi_minfo = (struct module_info *)&ip_info,
};

STR_DRIVER(ip, ip_rinit, ip_winit, STR_NOMUX, STR_NOMUX, D_MTQPAIR,
	STR_MAJOR_IP, NULL);
