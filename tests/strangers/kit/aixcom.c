/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * aixcom - a driver as for AIX, with SVR3's open: four lines, each of which is
 * one user's at a time, and come back what is written to them.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/user.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/device.h>
#include <sys/strconf.h>

#define	NLINE	4
#define	OPERATOR 3		/* only root opens that one */

static struct line {
	queue_t	*l_q;
	int	l_uid;
} line[NLINE];
static major_t	comajor;

static int	comopen(), comwput(), comwsrv();
static void	comclose();

static struct module_info com_minfo = { 5418, "aixcom", 0, INFPSZ, 1024, 256 };
static struct qinit comrinit = {
	NULL, NULL, comopen, (int (*)())comclose, NULL, &com_minfo, NULL
};
static struct qinit comwinit = {
	comwput, comwsrv, NULL, NULL, NULL, &com_minfo, NULL
};
static struct streamtab cominfo = { &comrinit, &comwinit, NULL, NULL };

static int
comopen(q, dev, flag, sflag)
	queue_t *q;
	dev_t dev;
	int flag, sflag;
{
	int i;

	if (sflag == CLONEOPEN) {
		for (i = 0; i < OPERATOR; i++)
			if (line[i].l_q == NULL)
				break;
		if (i == OPERATOR) {
			u.u_error = EAGAIN;
			return OPENFAIL;
		}
	} else
		i = minor(dev);
	if (i < 0 || i >= NLINE)
		return OPENFAIL;
	if (i == OPERATOR && flag & FNDELAY) {
		setuerror(EACCES);
		return OPENFAIL;
	}
	if (line[i].l_q != NULL && sflag != CLONEOPEN) {
		u.u_error = EBUSY;
		return OPENFAIL;
	}
	line[i].l_q = q;
	line[i].l_uid = u.u_uid;
	q->q_ptr = WR(q)->q_ptr = (caddr_t)&line[i];
	return i;
}

static void
comclose(q)
	queue_t *q;
{
	((struct line *)q->q_ptr)->l_q = NULL;
}

static int
comwput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct iocblk *ioc;

	switch (mp->b_datap->db_type) {
	case M_DATA:
		putq(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW) {
			flushq(q, FLUSHDATA);
			*mp->b_rptr &= ~FLUSHW;
		}
		if (*mp->b_rptr & FLUSHR)
			qreply(q, mp);
		else
			freemsg(mp);
		break;
	case M_IOCTL:
		ioc = (struct iocblk *)mp->b_rptr;
		mp->b_datap->db_type = M_IOCNAK;
		if (ioc->ioc_cmd == (('A' << 8) | 2) &&
		    ioc->ioc_count == 2 * sizeof (int)) {
			((int *)mp->b_cont->b_rptr)[0] = comajor;
			((int *)mp->b_cont->b_rptr)[1] =
				((struct line *)q->q_ptr)->l_uid;
			mp->b_datap->db_type = M_IOCACK;
		}
		qreply(q, mp);
		break;
	default:
		freemsg(mp);
	}
	return 0;
}

static int
comwsrv(q)
	queue_t *q;
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!canput(RD(q)->q_next)) {
			putbq(q, mp);
			return 0;
		}
		qreply(q, mp);
	}
	return 0;
}

int
aixcom_config(dev, cmd, uiop)
	dev_t dev;
	int cmd;
	struct uio *uiop;
{
	static strconf_t conf = {
		"aixcom", &cominfo, STR_OLD_OPEN, 0, SQLVL_DEFAULT, 0
	};

	conf.sc_major = comajor = major(dev);
	switch (cmd) {
	case CFG_INIT:
		return str_install(STR_LOAD_DEV, &conf);
	case CFG_TERM:
		return str_install(STR_UNLOAD_DEV, &conf);
	case CFG_QVPD:
	default:
		return EINVAL;
	}
}
