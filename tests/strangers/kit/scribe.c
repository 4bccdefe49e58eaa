/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * scribe: a module that hears what others log, and has one set of procedures
 * for the first stream it is on and another for the rest.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strlog.h>
#include <sys/ddi.h>

#define SC_HEARD (('h' << 8) | 1)	/* int: what was logged, so far */
#define SC_SAY	 (('h' << 8) | 2)	/* logs something */
#define SC_DEAF	 (('h' << 8) | 3)	/* listens no longer */
#define SC_WHICH (('h' << 8) | 4)	/* int: which procedures these are */

static int scribes, heard, lastlevel;

static int
scribelog(short mid, short sid, char level, unsigned short flags,
    const char *fmt, va_list ap)
{
	heard++;
	lastlevel = level + va_arg(ap, int);
	return 1;
}

static void
answer(queue_t *q, mblk_t *mp, int which)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCACK;
	switch (ioc->ioc_cmd) {
	case SC_SAY:
		ioc->ioc_rval = strlog(7, 0, 30, SL_TRACE, "%d", 12);
		break;
	case SC_DEAF:
		ioc->ioc_rval = register_strlog((vstrlog_t)0) == scribelog;
		break;
	case SC_HEARD:
		ioc->ioc_rval = heard == 0 ? 0 : heard * 100 + lastlevel;
		break;
	case SC_WHICH:
		ioc->ioc_rval = which;
		break;
	default:
		mp->b_datap->db_type = M_IOCNAK;
		break;
	}
	ioc->ioc_count = 0;
	qreply(q, mp);
}

static int
scriberput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static int
scribewput(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_IOCTL)
		answer(q, mp, 1);
	else
		putnext(q, mp);
	return 0;
}

static int
otherwput(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_IOCTL)
		answer(q, mp, 2);
	else
		putnext(q, mp);
	return 0;
}

static int scribeopen(queue_t *, dev_t *, int, int, cred_t *);
static int scribeclose(queue_t *, int, cred_t *);

static struct module_info minfo = { 808, "scribe", 0, INFPSZ, 5120, 1024 };
static struct module_info omninfo = { 808, "scribe", 0, 100, 5120, 1024 };
static struct qinit rinit = {
	scriberput, NULL, scribeopen, scribeclose, NULL, &minfo, NULL
};
static struct qinit winit = {
	scribewput, NULL, NULL, NULL, NULL, &minfo, NULL
};
static struct qinit orinit = {
	scriberput, NULL, scribeopen, scribeclose, NULL, &minfo, NULL
};
static struct qinit owinit = {
	otherwput, NULL, NULL, NULL, NULL, &omninfo, NULL
};
struct streamtab scribeinfo = { &rinit, &winit, NULL, NULL };

static int
scribeopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *cr)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = (caddr_t)&scribes;
	if (scribes++ == 0)
		register_strlog(scribelog);
	else
		setq(q, &orinit, &owinit);
	qprocson(q);
	return 0;
}

static int
scribeclose(queue_t *q, int flag, cred_t *cr)
{
	qprocsoff(q);
	if (--scribes == 0)
		register_strlog((vstrlog_t)0);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}
