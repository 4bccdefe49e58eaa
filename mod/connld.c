/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * connld - makes every open of an attached name a new connection.
 *
 * Pushed on an end of a pipe that is then attached to a name (fattach(3)), it
 * makes the executive create a new pipe at each open of that name and send one
 * end to the reader of the attached pipe (docs/devices.md, "Names and
 * passing").  The executive does all the work, because an open procedure cannot
 * make streams.  The module is only a mark; messages pass it unchanged.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

static int
connld_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	qprocson(q);
	return 0;
}

static int
connld_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static int
connld_put(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static const struct module_info connld_info = {
	.mi_idnum = 0x636e,
	.mi_idname = "connld",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit connld_rinit = {
	.qi_putp = connld_put,
	.qi_qopen = connld_open,
	.qi_qclose = connld_close,
	.qi_minfo = (struct module_info *)&connld_info,
};

static const struct qinit connld_winit = {
	.qi_putp = connld_put,
	.qi_minfo = (struct module_info *)&connld_info,
};

STR_MODULE(connld, connld_rinit, connld_winit, D_MP);
