/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * log - the driver from which loggers read the messages of strlog(9), and to
 * which programs write messages.
 *
 * Objects.  The messages are in the executive's ring (<str/log.h>).  A stream
 * becomes a logger by I_ERRLOG, I_TRCLOG or I_CONSLOG: its read queue is
 * registered and is enabled for every matching message; its service procedure
 * takes the messages from the ring as long as there is room above.  A reader
 * that is slow loses the oldest messages; a program that logs never waits.
 *
 * Life.  Every open makes a new stream.  Close removes the registration before
 * the queue is freed.
 *
 * A program logs by putmsg(2): a struct log_ctl and a text.  A text without a
 * log_ctl, as from write(2), is a console message.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strlog.h>
#include <str/log.h>
#include "canon.h"

#define LOG_IDS 256	  /* trace_ids in one I_TRCLOG */
#define LOG_USER (1 << 3) /* facility of programs, syslog(3) */
#define LOG_PRIO 7	  /* mask of the priority in a pri */

static int
log_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	return canon_open("log", q, devp, sflag);
}

static int
log_close(queue_t *q, int flag, cred_t *crp)
{
	str_log_close(q);
	return canon_close("log", q);
}

/* log(4): the priority for the flags, with the numbers of syslog(3). */
static int
log_priority(int flags)
{
	if ((flags & SL_WARN) != 0)
		return 4;
	if ((flags & SL_FATAL) != 0)
		return 2;
	if ((flags & SL_ERROR) != 0)
		return 3;
	if ((flags & SL_NOTE) != 0)
		return 5;
	if ((flags & SL_TRACE) != 0)
		return 7;
	return 6;
}

/* Log a program's message: @lc, or NULL, and its text behind @bp. */
static void
log_submit(struct log_ctl *lc, mblk_t *bp)
{
	struct log_ctl con;
	mblk_t *text = NULL;

	if (lc == NULL) {
		bzero(&con, sizeof(con));
		con.flags = SL_CONSOLE;
		lc = &con;
	}
	/* facility 0 is the kernel's, not for programs */
	if ((lc->pri & ~LOG_PRIO) == 0)
		lc->pri = LOG_USER | (lc->pri != 0 ? lc->pri :
					log_priority(lc->flags));
	if (bp != NULL && bp->b_cont != NULL)
		bp = text = msgpullup(bp, -1);
	if (bp != NULL)
		(void)str_log_put(lc, (const char *)bp->b_rptr,
			(size_t)MBLKL(bp));
	else
		(void)str_log_put(lc, "", 0);
	if (text != NULL)
		freemsg(text);
}

static void
log_message(queue_t *q, mblk_t *mp)
{
	struct log_ctl lc;

	if (DB_TYPE(mp) == M_DATA) {
		log_submit(NULL, mp);
	} else if (MBLKL(mp) >= (long)sizeof(lc)) {
		bcopy(mp->b_rptr, &lc, sizeof(lc));
		log_submit(&lc, mp->b_cont);
	}
	freemsg(mp);
}

/*
 * I_TRCLOG: an array of trace_ids, I_STR only; the length gives their number.
 */
static int
log_trace(queue_t *q, mblk_t *mp)
{
	size_t len = IOCP(mp)->ioc_count;
	struct trace_ids *ids;
	int err;

	if (canon_is_transparent(mp) || len < sizeof(*ids) ||
		len % sizeof(*ids) != 0 || len > LOG_IDS * sizeof(*ids) ||
		msgdsize(mp) < len)
		return EINVAL;
	err = canon_pull(mp);
	if (err != 0)
		return err;
	ids = (struct trace_ids *)(void *)mp->b_cont->b_rptr;
	return str_log_open(RD(q), SL_TRACE, ids,
		(unsigned int)(len / sizeof(*ids)));
}

static void
log_ioctl(queue_t *q, mblk_t *mp)
{
	int err;

	switch (canon_cmd(mp)) {
	case I_ERRLOG:
		err = str_log_open(RD(q), SL_ERROR, NULL, 0);
		break;
	case I_CONSLOG:
		err = str_log_open(RD(q), SL_CONSOLE, NULL, 0);
		break;
	case I_TRCLOG:
		err = log_trace(q, mp);
		break;
	default:
		err = EINVAL;
		break;
	}
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

static int
log_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
		log_message(q, mp);
		break;
	case M_IOCTL:
		log_ioctl(q, mp);
		break;
	case M_IOCDATA:
		canon_stray(q, mp);
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

static int
log_rsrv(queue_t *q)
{
	mblk_t *mp;

	while (canputnext(q) && (mp = str_log_get(q)) != NULL)
		putnext(q, mp);
	return 0;
}

static const struct module_info log_info = {
	.mi_idnum = 0x6c6f,
	.mi_idname = "log",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit log_rinit = {
	.qi_srvp = log_rsrv,
	.qi_qopen = log_open,
	.qi_qclose = log_close,
	.qi_minfo = (struct module_info *)&log_info,
};

static const struct qinit log_winit = {
	.qi_putp = log_wput,
	.qi_minfo = (struct module_info *)&log_info,
};

STR_DRIVER(log, log_rinit, log_winit, STR_NOMUX, STR_NOMUX,
	D_MTQPAIR | STR_D_LOCAL, STR_MAJOR_LOG, NULL);
