/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * hub - a multiplexing driver with static tables.
 *
 * Down goes each message with one byte in front, its channel; what comes from
 * below goes up to the stream bound to the channel that its first byte says.
 *
 * Each upper stream has an entry in hubup, each lower one in hubline, and
 * q_ptr leads there.  hubdevflag says D_MTPERMOD, so that one procedure runs
 * at a time, whatever stream it is of.
 *
 * Flow control: what cannot go down waits on the upper write queue; what
 * cannot go up waits on the lower read queue, and with it what is behind it
 * for other channels.  The service procedure of the queue that has room again
 * enables those who wait.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/ddi.h>

#include "hub.h"

#define NUP 64
#define NLINE 16

struct hubline {
	queue_t *ln_q; /* lower write queue; NULL: not in use */
	int ln_id;     /* l_index */
};
struct hubup {
	queue_t *up_q;		 /* upper read queue; NULL: not in use */
	struct hubline *up_line; /* NULL: not bound */
	int up_chan;
	bcid_t up_buf; /* memory awaited */
	toid_t up_try; /* or just time */
};

static struct hubup hubup[NUP]; /* by minor */
static struct hubline hubline[NLINE];

static int hubopen(queue_t *, dev_t *, int, int, cred_t *);
static int hubclose(queue_t *, int, cred_t *);
static int hubuwput(queue_t *, mblk_t *);
static int hubuwsrv(queue_t *);
static int hubursrv(queue_t *);
static int hublrput(queue_t *, mblk_t *);
static int hublrsrv(queue_t *);
static int hublwsrv(queue_t *);

static struct module_info hub_minfo = { 0x6875, "hub", 0, 4096, 8192, 2048 };
static struct qinit hub_urinit = {
	NULL, hubursrv, hubopen, hubclose, NULL, &hub_minfo, NULL
};
static struct qinit hub_uwinit = {
	hubuwput, hubuwsrv, NULL, NULL, NULL, &hub_minfo, NULL
};
static struct qinit hub_lrinit = {
	hublrput, hublrsrv, NULL, NULL, NULL, &hub_minfo, NULL
};
static struct qinit hub_lwinit = {
	NULL, hublwsrv, NULL, NULL, NULL, &hub_minfo, NULL
};
struct streamtab hubinfo = {
	&hub_urinit, &hub_uwinit, &hub_lrinit, &hub_lwinit
};
int hubdevflag = D_MTPERMOD;

static int
hubopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	minor_t m = getminor(*devp);

	if (sflag == MODOPEN)
		return EINVAL;
	if (q->q_ptr != NULL)
		return 0; /* the minor is open, and is opened once more */
	if (sflag == CLONEOPEN)
		for (m = 0; m < NUP && hubup[m].up_q != NULL; m++)
			;
	if (m >= NUP)
		return ENXIO;
	bzero(&hubup[m], sizeof(hubup[m]));
	q->q_ptr = WR(q)->q_ptr = &hubup[m];
	hubup[m].up_q = q;
	*devp = makedevice(getmajor(*devp), m);
	qprocson(q);
	return 0;
}

static void
hubunwait(struct hubup *up)
{
	if (up->up_buf != 0)
		unbufcall(up->up_buf);
	if (up->up_try != 0)
		(void)untimeout(up->up_try);
	up->up_buf = 0;
	up->up_try = 0;
}

static int
hubclose(queue_t *q, int flag, cred_t *crp)
{
	struct hubup *up = q->q_ptr;

	qprocsoff(q);
	hubunwait(up);
	if (up->up_line != NULL && up->up_line->ln_q != NULL)
		qenable(RD(up->up_line->ln_q)); /* may have waited for us */
	up->up_line = NULL;
	up->up_q = NULL;
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/* ------------------------------------------------------------ above: write */

static struct hubline *
hubfind(int id)
{
	struct hubline *ln;

	for (ln = hubline; ln < &hubline[NLINE]; ln++)
		if (ln->ln_q != NULL && ln->ln_id == id)
			return ln;
	return NULL;
}

static struct hubup *
hubchan(struct hubline *ln, int chan)
{
	struct hubup *up;

	for (up = hubup; up < &hubup[NUP]; up++)
		if (up->up_q != NULL && up->up_line == ln &&
			up->up_chan == chan)
			return up;
	return NULL;
}

/* A message without data to all who are bound to a line. */
static void
huball(struct hubline *ln, mblk_t *mp)
{
	struct hubup *up;
	mblk_t *copy;

	for (up = hubup; up < &hubup[NUP]; up++)
		if (up->up_q != NULL && up->up_line == ln &&
			(copy = copymsg(mp)) != NULL)
			putnext(up->up_q, copy);
	freemsg(mp);
}

static int
hublink(struct linkblk *l)
{
	struct hubline *ln;

	for (ln = hubline; ln < &hubline[NLINE]; ln++)
		if (ln->ln_q == NULL)
			break;
	if (ln == &hubline[NLINE])
		return ENOSPC;
	ln->ln_id = l->l_index;
	l->l_qbot->q_ptr = RD(l->l_qbot)->q_ptr = ln;
	ln->ln_q = l->l_qbot;
	return 0;
}

/* Those who are bound to it hear of it as of a modem that lost its line. */
static int
hubunlink(struct linkblk *l)
{
	struct hubline *ln = hubfind(l->l_index);
	struct hubup *up;

	if (ln == NULL)
		return EINVAL;
	for (up = hubup; up < &hubup[NUP]; up++)
		if (up->up_q != NULL && up->up_line == ln) {
			up->up_line = NULL;
			(void)putnextctl(up->up_q, M_HANGUP);
		}
	l->l_qbot->q_ptr = RD(l->l_qbot)->q_ptr = NULL;
	ln->ln_q = NULL;
	return 0;
}

static int
hubbind(struct hubup *up, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	struct hubbind *hb;
	struct hubline *ln;

	if (ioc->ioc_count != sizeof(*hb) ||
		!pullupmsg(mp->b_cont, sizeof(*hb)))
		return EINVAL;
	hb = (struct hubbind *)mp->b_cont->b_rptr;
	if (hb->hb_chan < 0 || hb->hb_chan > 255)
		return EINVAL;
	if ((ln = hubfind(hb->hb_line)) == NULL)
		return ENXIO;
	if (hubchan(ln, hb->hb_chan) != NULL)
		return EBUSY;
	up->up_chan = hb->hb_chan;
	up->up_line = ln;
	return 0;
}

static void
hubioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	int error;

	switch (ioc->ioc_cmd) {
	case I_LINK:
	case I_PLINK:
		error = hublink((struct linkblk *)mp->b_cont->b_rptr);
		break;
	case I_UNLINK:
	case I_PUNLINK:
		error = hubunlink((struct linkblk *)mp->b_cont->b_rptr);
		break;
	case HUB_BIND:
		error = hubbind(q->q_ptr, mp);
		break;
	default:
		error = EINVAL; /* a driver answers every one */
		break;
	}
	mp->b_datap->db_type = error != 0 ? M_IOCNAK : M_IOCACK;
	ioc->ioc_error = error;
	ioc->ioc_count = 0;
	ioc->ioc_rval = 0;
	qreply(q, mp);
}

/* Canonical flushing of a driver. */
static void
hubflush(queue_t *q, mblk_t *mp)
{
	if (*mp->b_rptr & FLUSHW) {
		flushq(q, FLUSHDATA);
		*mp->b_rptr &= ~FLUSHW;
	}
	if (*mp->b_rptr & FLUSHR) {
		flushq(RD(q), FLUSHDATA);
		qreply(q, mp);
	} else {
		freemsg(mp);
	}
}

static int
hubuwput(queue_t *q, mblk_t *mp)
{
	struct hubup *up = q->q_ptr;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		hubioctl(q, mp);
		break;
	case M_FLUSH:
		hubflush(q, mp);
		break;
	case M_DATA:
		if (up->up_line == NULL) {
			freemsg(mp);
			(void)putnextctl1(RD(q), M_ERROR, ENXIO);
		} else if (!putq(q, mp)) {
			freemsg(mp);
		}
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static void
hubbuf(long arg)
{
	qenable((queue_t *)arg);
}

static void
hubtry(void *arg)
{
	qenable((queue_t *)arg);
}

static int
hubuwsrv(queue_t *q)
{
	struct hubup *up = q->q_ptr;
	struct hubline *ln = up->up_line;
	mblk_t *mp, *hp;

	hubunwait(up);
	while ((mp = getq(q)) != NULL) {
		if (ln == NULL) { /* it was unlinked */
			freemsg(mp);
			continue;
		}
		if (!bcanputnext(ln->ln_q, mp->b_band)) {
			(void)putbq(q, mp); /* hublwsrv() */
			break;
		}
		if ((hp = allocb(1, BPRI_MED)) == NULL) {
			(void)putbq(q, mp);
			up->up_buf = bufcall(1, BPRI_MED, hubbuf, (long)q);
			if (up->up_buf == 0)
				up->up_try = timeout(hubtry, q, HZ / 10 + 1);
			break;
		}
		*hp->b_wptr++ = up->up_chan;
		hp->b_band = mp->b_band;
		hp->b_cont = mp;
		putnext(ln->ln_q, hp);
	}
	return 0;
}

/* There is room below again. */
static int
hublwsrv(queue_t *q)
{
	struct hubup *up;

	for (up = hubup; up < &hubup[NUP]; up++)
		if (up->up_q != NULL && up->up_line == q->q_ptr)
			qenable(WR(up->up_q));
	return 0;
}

/* ------------------------------------------------------------- below: read */

static int
hublrput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_FLUSH: /* as a stream head does */
		if (*mp->b_rptr & FLUSHR) {
			flushq(q, FLUSHDATA);
			*mp->b_rptr &= ~FLUSHR;
		}
		if (*mp->b_rptr & FLUSHW)
			qreply(q, mp);
		else
			freemsg(mp);
		break;
	case M_HANGUP:
	case M_ERROR:
		huball(q->q_ptr, mp);
		break;
	case M_DATA:
		if (!putq(q, mp))
			freemsg(mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static int
hublrsrv(queue_t *q)
{
	struct hubup *up;
	mblk_t *mp, *bp;

	while ((mp = getq(q)) != NULL) {
		/* a first block that is empty has no channel in it */
		while (mp != NULL && mp->b_rptr == mp->b_wptr) {
			bp = unlinkb(mp);
			freeb(mp);
			mp = bp;
		}
		if (mp == NULL)
			continue;
		up = hubchan(q->q_ptr, *mp->b_rptr);
		if (up == NULL) { /* no stream is bound */
			freemsg(mp);
			continue;
		}
		if (!bcanputnext(up->up_q, mp->b_band)) {
			(void)putbq(q, mp); /* hubursrv() */
			break;
		}
		mp->b_rptr++;
		putnext(up->up_q, mp);
	}
	return 0;
}

/* There is room above again. */
static int
hubursrv(queue_t *q)
{
	struct hubup *up = q->q_ptr;

	if (up->up_line != NULL)
		qenable(RD(up->up_line->ln_q));
	return 0;
}
