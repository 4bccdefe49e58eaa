/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * bufmod - collects the messages that come from below into chunks, so that a
 * reader makes fewer calls.
 *
 * Life of a message. sb_rput() turns M_PROTO into M_DATA, cuts the message to
 * the snapshot length, adds a struct sb_hdr in front and padding behind, and
 * queues it.  Messages wait on the read queue without enabling it. sb_rsrv() is
 * enabled when there are more bytes than a chunk holds, or when the chunk ends
 * early; then it joins as many messages as fit and sends them as one message.
 *
 *	end	set by the timer, a write (SB_SEND_ON_WRITE), a message that
 *		is not data, a change of parameters: all waiting messages are
 *		sent, full or not
 *
 * Messages wait only on a queue, so that they belong to the domain and not to
 * the thread that put them there.
 *
 * Flow control.  With SB_NO_DROPS a full read queue stops the sender, as in any
 * module.  Without it senders are never stopped (the high water mark cannot be
 * reached): messages that come while there is no room above are dropped, and
 * counted in the next header.
 *
 * D_MTQPAIR keeps chunks in order.  The timer's callback only sets `end'.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/bufmod.h>
#include "../drv/canon.h"

#define SB_ALL_FLAGS \
	(SB_SEND_ON_WRITE | SB_NO_HEADER | SB_NO_PROTO_CVT | \
		SB_DEFER_CHUNK | SB_NO_DROPS)
#define SB_FOREVER (-1L)     /* ticks: no timeout */
#define SB_NEVER_FULL (1ul << 40)
#define SB_MAXCHUNK 262144u  /* more does not fit into one read */

/* struct timeval of programs. */
struct sb_time {
	long sec;
	long usec;
};

struct sb {
	unsigned int chunk; /* bytes; 0: no chunks */
	unsigned int snap;  /* bytes; 0: all */
	unsigned int flags; /* SB_* */
	unsigned int drops;
	long ticks;	    /* of the timeout, or SB_FOREVER */
	struct sb_time tmo; /* as it was set */
	volatile int end;   /* send all that waits */
	volatile int timing; /* the timer runs */
	volatile int first; /* SB_DEFER_CHUNK: the interval's first was sent */
	long epoch;	    /* seconds since 1970 when LBOLT was 0 */
};

/* Without SB_NO_DROPS the queue must never be full for the queues below. */
static void
sb_marks(queue_t *q)
{
	struct sb *sb = q->q_ptr;
	unsigned long hi = 4ul * sb->chunk + 512, lo = 2ul * sb->chunk + 256;

	if ((sb->flags & SB_NO_DROPS) == 0)
		hi = SB_NEVER_FULL;
	/*
	 * the order depends on the direction: the low mark must stay below the
	 * high one
	 */
	(void)strqset(q, QLOWAT, 0, 0);
	(void)strqset(q, QHIWAT, 0, (long)hi);
	(void)strqset(q, QLOWAT, 0, (long)lo);
}

static int
sb_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	unsigned long lbolt = 0, now = 0;
	struct sb *sb;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	sb = kmem_zalloc(sizeof(*sb), KM_SLEEP);
	if (sb == NULL)
		return ENOSR;
	sb->chunk = SB_DFLT_CHUNK;
	sb->ticks = SB_FOREVER;
	(void)drv_getparm(LBOLT, &lbolt);
	(void)drv_getparm(TIME, &now);
	sb->epoch = (long)now - (long)(lbolt / HZ);
	q->q_ptr = WR(q)->q_ptr = sb;
	sb_marks(q);
	noenable(q);
	qprocson(q);
	return 0;
}

static int
sb_close(queue_t *q, int flag, cred_t *crp)
{
	struct sb *sb = q->q_ptr;

	qprocsoff(q); /* this cancels the timer */
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(sb, sizeof(*sb));
	return 0;
}

/* ------------------------------------------------------------- upstream */

/* End the chunk: send the waiting messages. */
static void
sb_end(queue_t *q)
{
	struct sb *sb = q->q_ptr;

	if (q->q_first == NULL)
		return;
	sb->end = 1;
	qenable(q);
}

static void
sb_timer(void *arg)
{
	queue_t *q = arg;
	struct sb *sb = q->q_ptr;

	sb->timing = sb->first = 0;
	sb_end(q);
}

/* An M_PROTO's leading blocks become data; their bytes stay. */
static mblk_t *
sb_convert(mblk_t *mp)
{
	mblk_t *bp;

	for (bp = mp; bp != NULL && DB_TYPE(bp) == M_PROTO; bp = bp->b_cont)
		if (DB_REF(bp) > 1)
			break;
	if (bp != NULL && DB_TYPE(bp) == M_PROTO) {
		bp = copymsg(mp); /* the blocks are shared */
		freemsg(mp);
		mp = bp;
	}
	for (bp = mp; bp != NULL && DB_TYPE(bp) == M_PROTO; bp = bp->b_cont)
		DB_TYPE(bp) = M_DATA;
	return mp;
}

/* Put a header before @mp and padding behind it.  NULL: no memory. */
static mblk_t *
sb_header(struct sb *sb, mblk_t *mp, unsigned int orig, unsigned int len)
{
	static const unsigned char zero[sizeof(long)];
	unsigned int pad = (unsigned int)-len % sizeof(long);
	unsigned long lbolt = 0;
	struct sb_hdr h;
	mblk_t *hp, *pp = NULL;

	(void)drv_getparm(LBOLT, &lbolt);
	h.sbh_origlen = orig;
	h.sbh_msglen = len;
	h.sbh_totlen = (unsigned int)sizeof(h) + len + pad;
	h.sbh_drops = sb->drops;
	h.sbh_timestamp.tv_sec = (int)(sb->epoch + (long)(lbolt / HZ));
	h.sbh_timestamp.tv_usec = (int)(lbolt % HZ * (1000000 / HZ));
	hp = canon_block(&h, sizeof(h));
	if (pad != 0)
		pp = canon_block(zero, pad);
	if (hp == NULL || (pad != 0 && pp == NULL)) {
		if (hp != NULL)
			freeb(hp);
		if (pp != NULL)
			freeb(pp);
		freemsg(mp);
		return NULL;
	}
	if (pp != NULL)
		linkb(mp, pp);
	linkb(hp, mp);
	return hp;
}

/* Prepare a data message for a chunk; NULL: it was dropped. */
static mblk_t *
sb_prepare(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;
	size_t orig;

	if ((sb->flags & SB_NO_DROPS) == 0 && !canputnext(q)) {
		sb->drops++;
		freemsg(mp);
		return NULL;
	}
	mp = sb_convert(mp);
	if (mp == NULL) {
		sb->drops++;
		return NULL;
	}
	orig = msgdsize(mp);
	if (sb->snap != 0 && orig > sb->snap)
		(void)adjmsg(mp, -(ssize_t)(orig - sb->snap));
	if ((sb->flags & SB_NO_HEADER) == 0) {
		mp = sb_header(sb, mp, (unsigned int)orig,
			(unsigned int)msgdsize(mp));
		if (mp == NULL)
			sb->drops++;
	}
	return mp;
}

static void
sb_data(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;
	int alone;

	mp = sb_prepare(q, mp);
	if (mp == NULL)
		return;
	mp->b_band = 0;
	if (putq(q, mp) == 0) {
		freemsg(mp);
		sb->drops++;
		return;
	}
	alone = (sb->flags & SB_DEFER_CHUNK) != 0 && !sb->first;
	sb->first = 1;
	if (sb->ticks > 0 && !sb->timing)
		sb->timing = qtimeout(q, sb_timer, q, sb->ticks) != 0;
	if (sb->chunk == 0 || sb->ticks == 0 || alone ||
		(sb->ticks > 0 && !sb->timing))
		sb_end(q);
	else if (q->q_count > sb->chunk)
		qenable(q);
}

/* Take the next chunk, or a message that is not data; NULL: not yet. */
static mblk_t *
sb_chunk(queue_t *q)
{
	struct sb *sb = q->q_ptr;
	mblk_t *mp, *bp, *tail;
	size_t len, more;

	if (!sb->end && q->q_count <= sb->chunk)
		return NULL;
	mp = getq(q);
	if (mp == NULL || DB_TYPE(mp) != M_DATA || sb->chunk == 0)
		return mp;
	len = msgdsize(mp);
	for (tail = mp; tail->b_cont != NULL; tail = tail->b_cont)
		;
	while ((bp = getq(q)) != NULL) {
		more = msgdsize(bp);
		if (DB_TYPE(bp) != M_DATA || len + more > sb->chunk) {
			if (putbq(q, bp) == 0)
				freemsg(bp);
			break;
		}
		len += more;
		for (tail->b_cont = bp; tail->b_cont != NULL;
			tail = tail->b_cont)
			;
	}
	return mp;
}

static int
sb_rsrv(queue_t *q)
{
	struct sb *sb = q->q_ptr;
	mblk_t *mp;

	while ((mp = sb_chunk(q)) != NULL) {
		if (DB_TYPE(mp) < QPCTL && !bcanputnext(q, mp->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			return 0; /* back-enabling calls again */
		}
		putnext(q, mp);
	}
	if (q->q_first == NULL)
		sb->end = 0;
	return 0;
}

/* Not data: queue it behind the waiting messages, and send all of them now. */
static void
sb_other(queue_t *q, mblk_t *mp)
{
	if (q->q_first == NULL && bcanputnext(q, mp->b_band)) {
		putnext(q, mp);
		return;
	}
	if (putq(q, mp) == 0)
		freemsg(mp);
	sb_end(q);
}

static int
sb_rput(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;

	switch (DB_TYPE(mp)) {
	case M_PROTO:
		if ((sb->flags & SB_NO_PROTO_CVT) != 0) {
			sb_other(q, mp);
			break;
		}
		/* FALLTHROUGH */
	case M_DATA:
		sb_data(q, mp);
		break;
	case M_FLUSH:
		canon_flush_pass(q, mp);
		break;
	case M_HANGUP:
	case M_ERROR:
		/* the waiting data must precede the end */
		sb->end = 1;
		(void)sb_rsrv(q);
		putnext(q, mp);
		break;
	default:
		if (DB_TYPE(mp) >= QPCTL)
			putnext(q, mp);
		else
			sb_other(q, mp);
		break;
	}
	return 0;
}

/* ------------------------------------------------------------------ ioctls */

/*
 * SVR4 M_SETOPTS(D7): make the head accept chunks of this size; a greater limit
 * that the reader has set remains.
 */
static int
sb_head(queue_t *q)
{
	struct sb *sb = q->q_ptr;
	struct stroptions *so;
	mblk_t *mp;

	if (sb->chunk <= STRHIGH)
		return 0;
	mp = allocb(sizeof(*so), BPRI_MED);
	if (mp == NULL)
		return ENOSR;
	DB_TYPE(mp) = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT;
	so->so_hiwat = 4ul * sb->chunk + 512;
	so->so_lowat = 2ul * sb->chunk + 256;
	mp->b_wptr += sizeof(*so);
	putnext(RD(q), mp);
	return 0;
}

static int
sb_set_time(struct sb *sb, mblk_t *mp)
{
	struct sb_time t;

	bcopy(mp->b_cont->b_rptr, &t, sizeof(t));
	if (t.sec < 0 || t.usec < 0 || t.usec >= 1000000 ||
		t.sec > 100000000)
		return EINVAL;
	sb->tmo = t;
	sb->ticks = t.sec * HZ + drv_usectohz(t.usec);
	if (sb->ticks == 0)
		sb->chunk = 0; /* bufmod(7): no waiting, no chunks */
	return 0;
}

/* One of the unsigned parameters, an int or a long of the caller's. */
static int
sb_set_number(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;
	unsigned long v;
	unsigned int u;

	if (MBLKL(mp->b_cont) == (long)sizeof(v)) {
		bcopy(mp->b_cont->b_rptr, &v, sizeof(v));
		/* an int in a long, as old programs pass it */
		u = (unsigned int)v;
		if (v != u)
			return EINVAL;
	} else {
		bcopy(mp->b_cont->b_rptr, &u, sizeof(u));
	}
	switch (canon_cmd(mp)) {
	case SBIOCSCHUNK:
		if (u > SB_MAXCHUNK)
			return EINVAL;
		sb->chunk = u;
		return sb_head(q);
	case SBIOCSSNAP:
		sb->snap = u;
		return 0;
	default:
		if ((u & ~(unsigned int)SB_ALL_FLAGS) != 0)
			return EINVAL;
		sb->flags = u;
		return 0;
	}
}

/* The argument is here. */
static void
sb_set(queue_t *q, mblk_t *mp)
{
	int err;

	sb_end(RD(q)); /* the waiting messages belong to the old parameters */
	if (canon_cmd(mp) == SBIOCSTIME)
		err = sb_set_time(q->q_ptr, mp);
	else
		err = sb_set_number(q, mp);
	sb_marks(RD(q));
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

static void
sb_get(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;
	unsigned long v = canon_cmd(mp) == SBIOCGCHUNK ? sb->chunk :
		canon_cmd(mp) == SBIOCGSNAP ? sb->snap : sb->flags;
	unsigned int u = (unsigned int)v;

	if (canon_cmd(mp) == SBIOCGTIME && sb->ticks == SB_FOREVER)
		canon_nak(q, mp, ERANGE);
	else if (canon_cmd(mp) == SBIOCGTIME)
		canon_ack_data(q, mp,
			canon_block(&sb->tmo, sizeof(sb->tmo)), 0);
	else if (IOCP(mp)->ioc_count == sizeof(v))
		canon_ack_data(q, mp, canon_block(&v, sizeof(v)), 0);
	else
		canon_ack_data(q, mp, canon_block(&u, sizeof(u)), 0);
}

static int
sb_is_ours(int cmd)
{
	return cmd >= SBIOCSTIME && cmd <= SBIOCGFLAGS;
}

static void
sb_ioctl(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;
	size_t size = sizeof(unsigned int);

	switch (canon_cmd(mp)) {
	case SBIOCCTIME:
		sb->ticks = SB_FOREVER;
		canon_ack(q, mp, 0);
		break;
	case SBIOCGTIME:
	case SBIOCGCHUNK:
	case SBIOCGSNAP:
	case SBIOCGFLAGS:
		sb_get(q, mp);
		break;
	case SBIOCSTIME:
		if (canon_args(q, mp, sizeof(struct sb_time)))
			sb_set(q, mp);
		break;
	default:
		if (IOCP(mp)->ioc_count == sizeof(unsigned long))
			size = sizeof(unsigned long);
		if (canon_args(q, mp, size))
			sb_set(q, mp);
		break;
	}
}

static int
sb_wput(queue_t *q, mblk_t *mp)
{
	struct sb *sb = q->q_ptr;

	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		if (!sb_is_ours(canon_cmd(mp)))
			putnext(q, mp);
		else
			sb_ioctl(q, mp);
		break;
	case M_IOCDATA:
		if (!sb_is_ours(canon_cmd(mp)))
			putnext(q, mp);
		else if (canon_iocdata(q, mp))
			sb_set(q, mp);
		break;
	case M_FLUSH:
		canon_flush_pass(q, mp);
		break;
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
		if ((sb->flags & SB_SEND_ON_WRITE) != 0) {
			sb->first = 0; /* a request: send its answer at once */
			sb_end(RD(q));
		}
		putnext(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static const struct module_info sb_info = {
	.mi_idnum = 0x7362,
	.mi_idname = "bufmod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit sb_rinit = {
	.qi_putp = sb_rput,
	.qi_srvp = sb_rsrv,
	.qi_qopen = sb_open,
	.qi_qclose = sb_close,
	.qi_minfo = (struct module_info *)&sb_info,
};

static const struct qinit sb_winit = {
	.qi_putp = sb_wput,
	.qi_minfo = (struct module_info *)&sb_info,
};

static void (*const sb_calls[])(void) = {
	(void (*)(void))sb_timer,
	NULL,
};

STR_MODULE_CALLS(bufmod, sb_rinit, sb_winit, D_MTQPAIR, sb_calls);
