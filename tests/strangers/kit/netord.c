/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * netord - 32-bit words of the machine above, of the network below.  Written
 * for Solaris, but without <sys/sunddi.h>: the locks come with <sys/stream.h>,
 * freezestr() has one argument and so has its opposite.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/mkdev.h>
#include <sys/byteorder.h>
#include <sys/isa_defs.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/tirdwr.h>
#include <sys/errno.h>
#include <sys/conf.h>
#include <sys/kmem.h>
#include <sys/strsun.h>
#include <sys/modctl.h>
#include <sys/ddi.h>

#include "netord.h"

#if defined(_LITTLE_ENDIAN) == defined(_BIG_ENDIAN)
#error which is it?
#endif

typedef struct netord {
	kmutex_t	no_lock;
	unsigned int	no_words;
	int		no_hold;
} netord_t;

static kmutex_t	netord_lock;
static int	netord_n;

static int
netord_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	netord_t	*no;

	if (sflag != MODOPEN)
		return (EINVAL);
	if (q->q_ptr != NULL)
		return (0);
	if ((no = kmem_zalloc(sizeof (*no), KM_SLEEP)) == NULL)
		return (ENOMEM);
	mutex_init(&no->no_lock, NULL, MUTEX_DRIVER, NULL);
	q->q_ptr = WR(q)->q_ptr = no;
	mutex_enter(&netord_lock);
	netord_n++;
	mutex_exit(&netord_lock);
	qprocson(q);
	return (0);
}

static int
netord_close(queue_t *q, int flag, cred_t *crp)
{
	netord_t	*no = q->q_ptr;

	qprocsoff(q);
	mutex_enter(&netord_lock);
	netord_n--;
	mutex_exit(&netord_lock);
	mutex_destroy(&no->no_lock);
	kmem_free(no, sizeof (*no));
	return (0);
}

static void
turn(netord_t *no, mblk_t *mp)
{
	unsigned int	*p, n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		for (p = (unsigned int *)mp->b_rptr;
		    p + 1 <= (unsigned int *)mp->b_wptr; p++, n++)
			*p = BE_32(*p);
	mutex_enter(&no->no_lock);
	no->no_words += n;
	mutex_exit(&no->no_lock);
}

static unsigned int
waiting(queue_t *q)
{
	unsigned int	n = 0;
	mblk_t		*mp;

	freezestr(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		n++;
	unfreezestr(q);
	return (n);
}

static int
netord_wput(queue_t *q, mblk_t *mp)
{
	netord_t		*no = q->q_ptr;
	struct iocblk		*iocp;
	struct copyresp		*cp;
	struct netord_stat	*ns;
	mblk_t			*dp;

	switch (DB_TYPE(mp)) {
	case M_DATA:
		turn(no, mp);
		putnext(q, mp);
		break;
	case M_IOCTL:
		iocp = (struct iocblk *)mp->b_rptr;
		if (iocp->ioc_cmd == NO_HOLD) {
			mcopyin(mp, NULL, sizeof (int), NULL);
			qreply(q, mp);
		} else if (iocp->ioc_cmd == NO_STAT) {
			if ((dp = allocb(sizeof (*ns), BPRI_MED)) == NULL) {
				miocnak(q, mp, 0, ENOSR);
				break;
			}
			ns = (struct netord_stat *)dp->b_rptr;
			ns->ns_words = no->no_words;
			ns->ns_queued = waiting(q) + waiting(RD(q));
			mcopyout(mp, NULL, sizeof (*ns), NULL, dp);
			qreply(q, mp);
		} else
			putnext(q, mp);
		break;
	case M_IOCDATA:
		cp = (struct copyresp *)mp->b_rptr;
		if (cp->cp_cmd != NO_HOLD && cp->cp_cmd != NO_STAT) {
			putnext(q, mp);
			break;
		}
		if (cp->cp_rval != NULL) {
			freemsg(mp);
			break;
		}
		if (cp->cp_cmd == NO_HOLD) {
			no->no_hold = *(int *)mp->b_cont->b_rptr;
			if (!no->no_hold)
				qenable(RD(q));
		}
		miocack(q, mp, 0, 0);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return (0);
}

static int
netord_rput(queue_t *q, mblk_t *mp)
{
	if (DB_TYPE(mp) >= QPCTL)
		putnext(q, mp);
	else
		putq(q, mp);
	return (0);
}

static int
netord_rsrv(queue_t *q)
{
	netord_t	*no = q->q_ptr;
	mblk_t		*mp;

	while (!no->no_hold && (mp = getq(q)) != NULL) {
		if (!canputnext(q)) {
			putbq(q, mp);
			break;
		}
		if (DB_TYPE(mp) == M_DATA)
			turn(no, mp);
		putnext(q, mp);
	}
	return (0);
}

static struct module_info netord_minfo = { 0x4e4f, "netord", 0, INFPSZ, 2048, 128 };
static struct qinit netord_rinit = {
	netord_rput, netord_rsrv, netord_open, netord_close, nulldev, &netord_minfo, NULL
};
static struct qinit netord_winit = {
	netord_wput, NULL, NULL, NULL, nulldev, &netord_minfo, NULL
};
static struct streamtab netord_info = { &netord_rinit, &netord_winit, NULL, NULL };
static struct fmodsw fsw = { "netord", &netord_info, D_NEW | D_MTQPAIR | D_MP };
static struct modlstrmod modlstrmod = { &mod_strmodops, "words", &fsw };
static struct modlinkage modlinkage = { MODREV_1, (void *)&modlstrmod, NULL };

int
_init(void)
{
	mutex_init(&netord_lock, NULL, MUTEX_DRIVER, NULL);
	return (mod_install(&modlinkage));
}

int
_fini(void)
{
	return (netord_n != 0 ? EBUSY : mod_remove(&modlinkage));
}

int
_info(struct modinfo *mip)
{
	return (mod_info(&modlinkage, mip));
}
