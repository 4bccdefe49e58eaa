/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * hplo - a driver as for HP-UX: a loop, whose minor 0 stands for any one, and
 * that can be loaded as well as linked with the kernel.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/conf.h>
#include <sys/stream.h>
#include <sys/strenv.h>

#define	NLO	16

static int hplo_open(), hplo_close(), hplo_wput();

static struct module_info hplo_minfo = { 778, "hplo", 0, 256, 4096, 1024 };
static struct qinit hplorinit = {
	NULL, NULL, hplo_open, hplo_close, NULL, &hplo_minfo, NULL
};
static struct qinit hplowinit = {
	hplo_wput, NULL, NULL, NULL, NULL, &hplo_minfo, NULL
};

static drv_info_t hplo_drv_info = {
	"hplo",				/* name */
	"pseudo",			/* class */
	DRV_CHAR | DRV_PSEUDO,		/* flags */
	-1,				/* block major number */
	-1,				/* dynamic character major number */
	NULL, NULL, NULL,
};
static drv_ops_t hplo_drv_ops = {
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL,
	C_CLONESMAJOR,			/* flags */
};
static streams_info_t hplo_str_info = {
	"hplo", -1,
	{ &hplorinit, &hplowinit, NULL, NULL },
	STR_IS_DEVICE | STR_SYSV4_OPEN,
	0,
	"",
};

static lock_t *hplo_lock;
static int hplo_used[NLO];

static int
hplo_open(q, dev, flag, sflag, credp)
	queue_t *q;
	dev_t *dev;
	int flag, sflag;
	cred_t *credp;
{
	int i;

	if (q->q_ptr != NULL)
		return 0;
	i = minor(*dev);
	(void)LOCK(hplo_lock, plstr);
	if (sflag == CLONEOPEN || i == 0)
		for (i = 1; i < NLO; i++)
			if (!hplo_used[i])
				break;
	if (i < NLO)
		hplo_used[i] = 1;
	UNLOCK(hplo_lock, plbase);
	if (i >= NLO)
		return ENXIO;
	*dev = makedev(major(*dev), i);
	q->q_ptr = WR(q)->q_ptr = (caddr_t)&hplo_used[i];
	return 0;
}

static int
hplo_close(q, flag, credp)
	queue_t *q;
	int flag;
	cred_t *credp;
{
	*(int *)q->q_ptr = 0;
	return 0;
}

static int
hplo_wput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		mp->b_datap->db_type = M_IOCNAK;
		/* FALLTHROUGH */
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
		qreply(q, mp);
		break;
	case M_FLUSH:
		*mp->b_rptr &= ~FLUSHW;
		if (*mp->b_rptr & FLUSHR)
			qreply(q, mp);
		else
			freemsg(mp);
		break;
	default:
		freemsg(mp);
	}
	return 0;
}

static int
hplo_link(void)
{
	int retval;

	if ((retval = install_driver(&hplo_drv_info, &hplo_drv_ops)) != 0)
		return retval;
	if ((retval = str_install(&hplo_str_info)) != 0) {
		uninstall_driver(&hplo_drv_info);
		return retval;
	}
	return 0;
}

/* It is loaded: a new address, and nothing has been set up. */
int
hplo_load(void *arg)
{
	if ((hplo_lock = LOCK_ALLOC(1, plstr, NULL, KM_NOSLEEP)) == NULL)
		return ENOMEM;
	return hplo_link() == 0 ? 0 : ENXIO;
}

int
hplo_unload(void *arg)
{
	int retval;

	if ((retval = str_uninstall(&hplo_str_info)) != 0)
		return retval;
	LOCK_DEALLOC(hplo_lock);
	return 0;
}
