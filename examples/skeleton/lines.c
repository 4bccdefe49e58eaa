/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * lines - a module that counts the lines that pass, in each direction.
 *
 * It changes no message and queues none, so it has no service procedure.  Its
 * two ioctl commands work with I_STR and with the plain call:
 *
 *	ioctl(fd, LINES_GET, &count)	ioctl(fd, LINES_SET, &from)
 *
 * Locks.  D_MTQPAIR: one thread at a time is in a queue pair.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/kmem.h>
#include <sys/lines.h>
#include <str/builtin.h>
#include <sys/ddi.h>
#include "../drv/canon.h"

static int
lines_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = kmem_zalloc(sizeof(struct lines_count), KM_NOSLEEP);
	if (q->q_ptr == NULL)
		return ENOSR;
	WR(q)->q_ptr = q->q_ptr;
	qprocson(q);
	return 0;
}

static int
lines_close(queue_t *q, int flag, cred_t *crp)
{
	struct lines_count *lc = q->q_ptr;

	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(lc, sizeof(*lc));
	return 0;
}

static long
lines_in(mblk_t *mp)
{
	const unsigned char *p;
	long n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		for (p = mp->b_rptr; p < mp->b_wptr; p++)
			n += *p == '\n';
	return n;
}

/* The argument of LINES_SET is at mp->b_cont, whichever way it came. */
static void
lines_command(queue_t *q, mblk_t *mp)
{
	struct lines_count *lc = q->q_ptr;

	if (canon_cmd(mp) == LINES_GET) {
		canon_ack_data(q, mp, canon_block(lc, sizeof(*lc)), 0);
		return;
	}
	if (canon_int(mp) < 0) {
		canon_nak(q, mp, EINVAL);
		return;
	}
	lc->written = lc->read = canon_int(mp);
	canon_ack(q, mp, 0);
}

static int
lines_knows(int cmd)
{
	return cmd == LINES_GET || cmd == LINES_SET;
}

/* An M_IOCTL or M_IOCDATA; one of another module's command is passed on. */
static void
lines_ioctl(queue_t *q, mblk_t *mp)
{
	size_t size = canon_cmd(mp) == LINES_SET ? sizeof(int) : 0;

	if (!lines_knows(canon_cmd(mp)))
		putnext(q, mp);
	else if (DB_TYPE(mp) == M_IOCTL ? canon_args(q, mp, size) :
					  canon_iocdata(q, mp))
		lines_command(q, mp);
}

static int
lines_wput(queue_t *q, mblk_t *mp)
{
	struct lines_count *lc = q->q_ptr;

	switch (DB_TYPE(mp)) {
	case M_IOCTL:
	case M_IOCDATA:
		lines_ioctl(q, mp);
		break;
	case M_DATA:
		lc->written += lines_in(mp);
		putnext(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static int
lines_rput(queue_t *q, mblk_t *mp)
{
	struct lines_count *lc = q->q_ptr;

	if (DB_TYPE(mp) == M_DATA)
		lc->read += lines_in(mp);
	putnext(q, mp);
	return 0;
}

static const struct module_info lines_info = {
	.mi_idnum = 0x6c69,
	.mi_idname = "lines",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit lines_rinit = {
	.qi_putp = lines_rput,
	.qi_qopen = lines_open,
	.qi_qclose = lines_close,
	.qi_minfo = (struct module_info *)&lines_info,
};

static const struct qinit lines_winit = {
	.qi_putp = lines_wput,
	.qi_minfo = (struct module_info *)&lines_info,
};

STR_MODULE(lines, lines_rinit, lines_winit, D_MTQPAIR);
