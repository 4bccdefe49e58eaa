/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * gauge - a driver that throws data away and counts the bytes.
 *
 * Objects.  struct gauge, one for each stream, at q_ptr.  The minors in use
 * are in memory that all processes of the domain share (str_drv_state()).
 *
 * Life.  A first open takes a minor and memory; the last close gives both
 * back.  Nothing is queued, so a writer never waits.
 *
 * Locks.  D_MTQPAIR: one thread at a time is in a stream's driver.
 *
 * Crash.  A minor whose opener is killed before the stream exists stays taken.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/kmem.h>
#include <sys/gauge.h>
#include <str/builtin.h>
#include <sys/ddi.h>
#include "canon.h"

struct gauge {
	unsigned int minor;
	long bytes;
};

static int
gauge_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct canon_minors *cm = str_drv_state("gauge", sizeof(*cm));
	struct gauge *g;
	int err;

	if (q->q_ptr != NULL)
		return 0; /* one more open of the same minor */
	if (sflag == MODOPEN)
		return EINVAL;
	if (cm == NULL)
		return ENOSR;
	g = kmem_zalloc(sizeof(*g), KM_NOSLEEP);
	if (g == NULL)
		return ENOSR;
	err = canon_minor_take(cm, sflag,
		sflag == CLONEOPEN ? 1 : getminor(*devp), &g->minor);
	if (err != 0) {
		kmem_free(g, sizeof(*g));
		return err;
	}
	*devp = makedevice(getmajor(*devp), g->minor);
	q->q_ptr = WR(q)->q_ptr = g;
	qprocson(q);
	return 0;
}

static int
gauge_close(queue_t *q, int flag, cred_t *crp)
{
	struct canon_minors *cm = str_drv_state("gauge", sizeof(*cm));
	struct gauge *g = q->q_ptr;

	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	canon_minor_give(cm, g->minor);
	kmem_free(g, sizeof(*g));
	return 0;
}

static void
gauge_command(queue_t *q, mblk_t *mp)
{
	struct gauge *g = q->q_ptr;

	canon_ack_data(q, mp, canon_block(&g->bytes, sizeof(g->bytes)), 0);
}

/* A driver is the end of the stream: it refuses what it does not know. */
static void
gauge_ioctl(queue_t *q, mblk_t *mp)
{
	if (canon_cmd(mp) != GAUGE_GET)
		canon_nak(q, mp, EINVAL);
	else if (canon_args(q, mp, 0))
		gauge_command(q, mp);
}

static void
gauge_iocdata(queue_t *q, mblk_t *mp)
{
	if (canon_cmd(mp) != GAUGE_GET)
		canon_stray(q, mp);
	else if (canon_iocdata(q, mp))
		gauge_command(q, mp);
}

static void
gauge_data(queue_t *q, mblk_t *mp)
{
	struct gauge *g = q->q_ptr;

	g->bytes += (long)msgdsize(mp);
	freemsg(mp);
}

static int
gauge_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		gauge_data(q, mp);
		break;
	case M_IOCTL:
		gauge_ioctl(q, mp);
		break;
	case M_IOCDATA:
		gauge_iocdata(q, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static const struct module_info gauge_info = {
	.mi_idnum = 0x6761,
	.mi_idname = "gauge",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit gauge_rinit = {
	.qi_qopen = gauge_open,
	.qi_qclose = gauge_close,
	.qi_minfo = (struct module_info *)&gauge_info,
};

static const struct qinit gauge_winit = {
	.qi_putp = gauge_wput,
	.qi_minfo = (struct module_info *)&gauge_info,
};

STR_DRIVER(gauge, gauge_rinit, gauge_winit, STR_NOMUX, STR_NOMUX,
	D_MTQPAIR | STR_D_LOCAL, STR_MAJOR_GAUGE, NULL);
