/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * relay, relay2, relay3 - modules that pass everything on: one module with
 * three names, so that a test can distinguish the modules of a stream.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/ddi.h>

static int
relay_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
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
relay_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static int
relay_put(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

#define RELAY(name_, num_) \
	static const struct module_info name_##_info = { \
		.mi_idnum = (num_), \
		.mi_idname = #name_, \
		.mi_minpsz = 0, \
		.mi_maxpsz = INFPSZ, \
		.mi_hiwat = STRHIGH, \
		.mi_lowat = STRLOW, \
	}; \
	static const struct qinit name_##_rinit = { \
		.qi_putp = relay_put, \
		.qi_qopen = relay_open, \
		.qi_qclose = relay_close, \
		.qi_minfo = (struct module_info *)&name_##_info, \
	}; \
	static const struct qinit name_##_winit = { \
		.qi_putp = relay_put, \
		.qi_minfo = (struct module_info *)&name_##_info, \
	}; \
	STR_MODULE(name_, name_##_rinit, name_##_winit, D_MP)

RELAY(relay, 0x7231);
RELAY(relay2, 0x7232);
RELAY(relay3, 0x7233);
