/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A driver in the manner of LiS: the open procedure answers with a negative
 * number, FREE need not be told a size, minors come from a list that goes
 * round.  Two streams that name the same number meet, as on a party line: all
 * hear what one says.
 */
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/LiS/module.h>

#define MOD_ID		0x4c4b
#define N_LINES		8

#define LINKY_JOIN	(('k' << 8) | 1)	/* int: which party */
#define LINKY_COUNT	(('k' << 8) | 2)	/* how many are in it */

struct line {
	struct line	*next;
	queue_t		*rq;
	int		 minor;
	int		 party;
	mblk_t		*hup;
};

static struct line *lines;
static int turn;

static int linky_open(queue_t *q, dev_t *devp, int flag, int sflag,
		      cred_t *credp);
static int linky_close(queue_t *q, int flag, cred_t *credp);
static int linky_wput(queue_t *q, mblk_t *mp);
static int linky_wsrv(queue_t *q);
static int linky_rsrv(queue_t *q);

static struct module_info linky_info =
{
	MOD_ID, "linky", 0, INFPSZ, 2000, 1000
};
static struct qinit linky_rinit =
{
	NULL, linky_rsrv, linky_open, linky_close, NULL, &linky_info, NULL
};
static struct qinit linky_winit =
{
	linky_wput, linky_wsrv, NULL, NULL, NULL, &linky_info, NULL
};
struct streamtab linkyinfo =
{
	&linky_rinit, &linky_winit, NULL, NULL
};

static struct line *find(int minor)
{
	struct line *l;

	for (l = lines; l != NULL; l = l->next)
		if (l->minor == minor)
			return l;
	return NULL;
}

static int linky_open(queue_t *q, dev_t *devp, int flag, int sflag,
		      cred_t *credp)
{
	struct line *l;
	int i, minor = MINOR(*devp);

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == CLONEOPEN) {
		for (i = 0; i < N_LINES; i++) {
			turn = turn % N_LINES + 1;
			if (find(turn) == NULL)
				break;
		}
		if (i == N_LINES)
			return -EBUSY;
		minor = turn;
	}
	if (minor < 1 || minor > N_LINES)
		return -ENODEV;
	if ((l = (struct line *)ALLOC(sizeof(*l))) == NULL)
		return -ENOMEM;
	if ((l->hup = allocb(1, BPRI_HI)) == NULL) {
		FREE(l);
		return OPENFAIL;
	}
	l->hup->b_datap->db_type = M_HANGUP;
	l->rq = q;
	l->minor = minor;
	l->party = -1;
	l->next = lines;
	lines = l;
	q->q_ptr = WR(q)->q_ptr = l;
	*devp = UMKDEV(MAJOR(*devp), minor);
	MODGET();
	return 0;
}

static int count(int party)
{
	struct line *l;
	int n = 0;

	for (l = lines; l != NULL; l = l->next)
		n += l->party == party;
	return n;
}

static int linky_close(queue_t *q, int flag, cred_t *credp)
{
	struct line *l = (struct line *)q->q_ptr, **lp;

	for (lp = &lines; *lp != l; lp = &(*lp)->next)
		;
	*lp = l->next;
	/* the last one but one: the one left has none to talk to */
	if (l->party >= 0 && count(l->party) == 1)
		for (lp = &lines; *lp != NULL; lp = &(*lp)->next)
			if ((*lp)->party == l->party && (*lp)->hup != NULL) {
				mblk_t *mp = (*lp)->hup;

				(*lp)->hup = NULL;
				putnext((*lp)->rq, mp);
			}
	if (l->hup != NULL)
		freemsg(l->hup);
	FREE(l);
	q->q_ptr = WR(q)->q_ptr = NULL;
	MODPUT();
	return 0;
}

static void linky_ioctl(queue_t *q, mblk_t *mp)
{
	struct line *l = (struct line *)q->q_ptr;
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCACK;
	iocp->ioc_error = 0;
	switch (iocp->ioc_cmd) {
	case LINKY_JOIN:
		if (iocp->ioc_count != sizeof(int) || mp->b_cont == NULL) {
			iocp->ioc_error = EINVAL;
			break;
		}
		l->party = *(int *)mp->b_cont->b_rptr;
		iocp->ioc_rval = count(l->party);
		iocp->ioc_count = 0;
		break;
	case LINKY_COUNT:
		iocp->ioc_rval = l->party < 0 ? 0 : count(l->party);
		iocp->ioc_count = 0;
		break;
	default:
		iocp->ioc_error = EINVAL;
		break;
	}
	if (iocp->ioc_error != 0)
		mp->b_datap->db_type = M_IOCNAK;
	qreply(q, mp);
}

static int linky_wput(queue_t *q, mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW) {
			flushq(q, FLUSHALL);
			*mp->b_rptr &= ~FLUSHW;
		}
		if (*mp->b_rptr & FLUSHR) {
			flushq(RD(q), FLUSHALL);
			qreply(q, mp);
		} else
			freemsg(mp);
		break;
	case M_IOCTL:
		linky_ioctl(q, mp);
		break;
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
		putqf(q, mp);
		break;
	default:
		printk("linky: type %d\n", mp->b_datap->db_type);
		freemsg(mp);
		break;
	}
	return 0;
}

/* To all who can take it, or to none yet. */
static int linky_wsrv(queue_t *q)
{
	struct line *l = (struct line *)q->q_ptr, *to;
	mblk_t *mp, *bp;

	while ((mp = getq(q)) != NULL) {
		for (to = lines; to != NULL; to = to->next)
			if (to != l && to->party == l->party &&
			    !canput(to->rq->q_next)) {
				putbqf(q, mp);
				noenable(to->rq);
				return 0;
			}
		for (to = lines; to != NULL; to = to->next) {
			if (to == l || to->party != l->party)
				continue;
			if ((bp = dupmsg(mp)) != NULL)
				putnext(to->rq, bp);
		}
		freemsg(mp);
	}
	return 0;
}

/* A reader has read: those who wait for it go on. */
static int linky_rsrv(queue_t *q)
{
	struct line *l = (struct line *)q->q_ptr, *from;

	enableok(q);
	for (from = lines; from != NULL; from = from->next)
		if (from->party == l->party)
			qenable(WR(from->rq));
	return 0;
}
