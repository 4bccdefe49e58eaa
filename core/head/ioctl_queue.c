/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl commands that look at the messages of a Stream head: streamio(7).  ioctl.c has the table.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

#define RS_HIPRI 1
#define MSG_ANY 2
#define ANYMARK 1
#define LASTMARK 2

/* Equal in layout to the structure of <stropts.h>. */
struct u_strpeek {
	struct str_strbuf ctl, data;
	long flags;
};

/*
 * The contents of the first message, which stays.  Locks: clock.
 * Return: false when there is none.
 */
static bool
front(struct str_head *sd, struct str_rec *rec, int *band, bool *hipri,
	unsigned *flags)
{
	queue_t *q = &sd->qp->rq;
	mblk_t *mp = NULL, *bp;

	*band = 0;
	*hipri = false;
	*flags = 0;
	if (str_load(&sd->hq.npri) != 0) {
		if (str_lock(&q->q_klock))
			(void)str_queue_repair(q);
		mp = q->q_first;
		str_unlock(&q->q_klock);
	}
	if (mp == NULL) {
		if (!str_headq_first(&sd->hq, rec))
			return false;
		*flags = (rec->hdr & STR_REC_MARK) ? MSGMARK : 0;
		return true;
	}
	rec->ctl = rec->data = ~0u;
	rec->mp = mp;
	rec->hdr = 0;
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		uint32_t *n = bp->b_datap->db_type != M_DATA ? &rec->ctl :
							       &rec->data;

		*n = (*n == ~0u ? 0 : *n) + (uint32_t)str_blen(bp);
	}
	*band = mp->b_band;
	*hipri = mp->b_datap->db_type >= QPCTL;
	*flags = mp->b_flag;
	return true;
}

static void
lock_c(struct str_head *sd)
{
	if (str_hlock(&sd->hq.clock, STR_HOLD_C))
		str_headq_repair_c(&sd->hq);
}

long
str_ioctl_nread(struct ioc *c)
{
	struct str_head *sd = c->sd;
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band, err;
	long n;

	if (!str_head_pending(sd))
		(void)str_sock_try(sd, c->hc, KS_IN);
	lock_c(sd);
	any = front(sd, &rec, &band, &hipri, &flags);
	if (!any || rec.data == ~0u || (rec.mp != NULL &&
		rec.mp->b_datap->db_type == M_PASSFP))
		rec.data = 0; /* a descriptor is not data */
	err = (int)str_ioctl_int(c, (int)rec.data);
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	if (err != 0)
		return err;
	n = (long)str_headq_records(&sd->hq, 0);
	{
		mblk_t *mp;
		queue_t *q = &sd->qp->rq;

		if (str_lock(&q->q_klock))
			(void)str_queue_repair(q);
		for (mp = q->q_first; mp != NULL; mp = mp->b_next)
			n++;
		str_unlock(&q->q_klock);
	}
	return n;
}

long
str_ioctl_fionread(struct ioc *c)
{
	uint64_t n = str_head_nbytes(c->sd);

	if (n == 0) {
		(void)str_sock_try(c->sd, c->hc, KS_IN);
		n = str_head_nbytes(c->sd);
	}
	if (str_plain_reads(c->sd, c->hc))
		n += host_outside_waiting(c->hc->fd);
	return str_ioctl_int(c, n > INT_MAX ? INT_MAX : (int)n);
}

static int
peek_part(const struct str_rec *rec, bool ctl, struct str_strbuf *sb)
{
	uint32_t have = ctl ? rec->ctl : rec->data, n, off = 0;
	mblk_t *bp;

	if (sb->maxlen < 0 || have == ~0u) {
		sb->len = -1;
		return 0;
	}
	n = STR_MIN(have, (uint32_t)sb->maxlen);
	sb->len = (int)n;
	if (rec->mp == NULL)
		return n == 0 ? 0 : host_copyout(ctl ? rec->cptr : rec->dptr,
					    sb->buf, n);
	for (bp = rec->mp; bp != NULL && off < n; bp = bp->b_cont) {
		uint32_t len = (uint32_t)str_blen(bp);

		if ((bp->b_datap->db_type != M_DATA) != ctl || len == 0)
			continue;
		len = STR_MIN(len, n - off);
		if (host_copyout(bp->b_rptr, (char *)sb->buf + off, len) != 0)
			return EFAULT;
		off += len;
	}
	return 0;
}

long
str_ioctl_peek(struct ioc *c)
{
	struct str_head *sd = c->sd;
	struct u_strpeek pk;
	struct str_rec rec;
	unsigned flags;
	bool hipri;
	int band, err = 0;
	int pkflags;

	if (host_copyin((const void *)c->arg, &pk, sizeof(pk)) != 0)
		return -EFAULT;
	pkflags = (int)pk.flags;
	/* LiS: MSG_ANY means the first message, whatever it is */
	if (pkflags != 0 && pkflags != RS_HIPRI && pkflags != MSG_ANY)
		return -EINVAL;
	if (!str_head_pending(sd))
		(void)str_sock_try(sd, c->hc, KS_IN);
	lock_c(sd);
	if (!front(sd, &rec, &band, &hipri, &flags) ||
	    (pkflags == RS_HIPRI && !hipri)) {
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		return 0;
	}
	if (rec.mp != NULL && rec.mp->b_datap->db_type == M_PASSFP) {
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		return -EBADMSG; /* getmsg(2) cannot return it */
	}
	err = peek_part(&rec, true, &pk.ctl);
	if (err == 0)
		err = peek_part(&rec, false, &pk.data);
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	if (err != 0)
		return -EFAULT;
	pk.flags = hipri ? RS_HIPRI : 0;
	return host_copyout(&pk, (void *)c->arg, sizeof(pk)) != 0 ? -EFAULT : 1;
}

long
str_ioctl_ckband(struct ioc *c)
{
	struct str_head *sd = c->sd;
	queue_t *q = &sd->qp->rq;
	int band = (int)c->arg;
	mblk_t *mp;
	int yes = 0;

	if (band < -1 || band > 255)
		return -EINVAL;
	if (band <= 0 && str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos))
		return 1;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL && !yes; mp = mp->b_next)
		yes = mp->b_datap->db_type < QPCTL &&
			(band == -1 || mp->b_band == band);
	str_unlock(&q->q_klock);
	return yes;
}

long
str_ioctl_getband(struct ioc *c)
{
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band;

	lock_c(c->sd);
	any = front(c->sd, &rec, &band, &hipri, &flags);
	str_hunlock(&c->sd->hq.clock, STR_HOLD_C);
	if (!any)
		return -ENODATA;
	return str_ioctl_int(c, band);
}

/* Number of marked messages that wait. */
static unsigned
marks(struct str_head *sd)
{
	queue_t *q = &sd->qp->rq;
	unsigned n = str_headq_records(&sd->hq, STR_REC_MARK);
	mblk_t *mp;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		n += (mp->b_flag & MSGMARK) != 0;
	str_unlock(&q->q_klock);
	return n;
}

long
str_ioctl_atmark(struct ioc *c)
{
	int how = (int)c->arg;
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band;

	if (how == 0 || (how & ~(ANYMARK | LASTMARK)) != 0)
		return -EINVAL;
	lock_c(c->sd);
	any = front(c->sd, &rec, &band, &hipri, &flags);
	str_hunlock(&c->sd->hq.clock, STR_HOLD_C);
	if (!any || (flags & MSGMARK) == 0)
		return 0;
	if (how & ANYMARK)
		return 1;
	/* LASTMARK: there is no other marked message */
	return marks(c->sd) == 1;
}

/* As I_ATMARK with ANYMARK, for programs written for sockets. */
long
str_ioctl_siocatmark(struct ioc *c)
{
	struct ioc any = {.sd = c->sd, .hc = c->hc, .cmd = c->cmd, .arg = ANYMARK};

	return str_ioctl_int(c, (int)str_ioctl_atmark(&any));
}

long
str_ioctl_canput(struct ioc *c)
{
	int band = (int)c->arg;
	long ok;

	if (band < -1 || band > 255)
		return -EINVAL;
	(void)str_claim(c->sd->plumb);
	ok = c->sd->qp->wq.q_next != NULL &&
		bcanput(c->sd->qp->wq.q_next, band);
	str_unclaim(c->sd->plumb);
	if (!ok)
		str_sig_refused(c->sd, band > 0 ? band : 0);
	return ok;
}
