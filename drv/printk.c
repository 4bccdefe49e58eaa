/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * printk - a driver that writes its input to the log of the operator.
 *
 * Each line of an M_DATA message becomes a cmn_err(9) notice; other than
 * printable characters are shown as full stops.  A line may extend over the
 * blocks of a message, but ends with the message.  All other messages are
 * discarded.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/cmn_err.h>
#include "canon.h"

#define PRINTK_LINE 200 /* longer lines are split into lines of this length */

static int
printk_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return canon_open("printk", q, devp, sflag);
}

static int
printk_close(queue_t *q, int flag, cred_t *crp)
{
	return canon_close("printk", q);
}

static void
printk_line(char *line, size_t *n)
{
	line[*n] = '\0';
	if (*n > 0)
		cmn_err(CE_NOTE, "%s", line);
	*n = 0;
}

static void
printk_data(mblk_t *mp)
{
	char line[PRINTK_LINE + 1];
	unsigned char *c;
	mblk_t *bp;
	size_t n = 0;

	for (bp = mp; bp != NULL; bp = bp->b_cont)
		for (c = bp->b_rptr; c < bp->b_wptr; c++) {
			if (*c == '\n' || *c == '\0' || n == PRINTK_LINE)
				printk_line(line, &n);
			if (*c == '\n' || *c == '\0')
				continue;
			line[n++] = *c < ' ' || *c > '~' ? '.' : (char)*c;
		}
	printk_line(line, &n);
	freemsg(mp);
}

static int
printk_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		printk_data(mp);
		break;
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

static const struct module_info printk_info = {
	.mi_idnum = 0x7072,
	.mi_idname = "printk",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit printk_rinit = {
	.qi_qopen = printk_open,
	.qi_qclose = printk_close,
	.qi_minfo = (struct module_info *)&printk_info,
};

static const struct qinit printk_winit = {
	.qi_putp = printk_wput,
	.qi_minfo = (struct module_info *)&printk_info,
};

STR_DRIVER(printk, printk_rinit, printk_winit, STR_NOMUX, STR_NOMUX,
	D_MP | STR_D_LOCAL, STR_MAJOR_PRINTK, NULL);
