/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * qotd - a pseudo device driver for Solaris: each stream that opens it is
 * told a saying, and can set the next one.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/open.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/cred.h>
#include <sys/stat.h>
#include <sys/conf.h>
#include <sys/devops.h>
#include <sys/cmn_err.h>
#include <sys/debug.h>
#include <sys/modctl.h>
#include <sys/ddi.h>
#include <sys/sunddi.h>

#define	QMAX	64
static char		qotd_text[QMAX] = "be brief";
static kmutex_t		qotd_lock;
static dev_info_t	*qotd_dip;
static minor_t		qotd_next = 1;

static int qotd_open(queue_t *, dev_t *, int, int, cred_t *);
static int qotd_close(queue_t *, int, cred_t *);
static int qotd_wput(queue_t *, mblk_t *);
static int qotd_attach(dev_info_t *, ddi_attach_cmd_t);
static int qotd_detach(dev_info_t *, ddi_detach_cmd_t);
static int qotd_getinfo(dev_info_t *, ddi_info_cmd_t, void *, void **);

static struct module_info minfo = { 0x9107, "qotd", 0, INFPSZ, 512, 128 };
static struct qinit rinit = { NULL, NULL, qotd_open, qotd_close, NULL, &minfo, NULL };
static struct qinit winit = { qotd_wput, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct streamtab qotd_info = { &rinit, &winit, NULL, NULL };

DDI_DEFINE_STREAM_OPS(qotd_ops, nulldev, nulldev, qotd_attach, qotd_detach,
    nodev, qotd_getinfo, D_MP | D_MTPERMOD, &qotd_info, ddi_quiesce_not_supported);

static struct modldrv modldrv = { &mod_driverops, "quote of the day", &qotd_ops };
static struct modlinkage modlinkage = { MODREV_1, { &modldrv, NULL } };

int
_init(void)
{
	int err;

	mutex_init(&qotd_lock, NULL, MUTEX_DRIVER, NULL);
	if ((err = mod_install(&modlinkage)) != 0)
		mutex_destroy(&qotd_lock);
	return (err);
}

int
_fini(void)
{
	int err;

	if ((err = mod_remove(&modlinkage)) == 0)
		mutex_destroy(&qotd_lock);
	return (err);
}

int
_info(struct modinfo *mi)
{
	return (mod_info(&modlinkage, mi));
}

static int
qotd_attach(dev_info_t *dip, ddi_attach_cmd_t cmd)
{
	if (cmd != DDI_ATTACH)
		return (DDI_FAILURE);
	if (ddi_create_minor_node(dip, "qotd", S_IFCHR, ddi_get_instance(dip),
	    DDI_PSEUDO, CLONE_DEV) == DDI_FAILURE) {
		ddi_remove_minor_node(dip, NULL);
		return (DDI_FAILURE);
	}
	qotd_dip = dip;
	ddi_report_dev(dip);
	return (DDI_SUCCESS);
}

static int
qotd_detach(dev_info_t *dip, ddi_detach_cmd_t cmd)
{
	if (cmd != DDI_DETACH)
		return (DDI_FAILURE);
	ddi_remove_minor_node(dip, NULL);
	qotd_dip = NULL;
	return (DDI_SUCCESS);
}

static int
qotd_getinfo(dev_info_t *dip, ddi_info_cmd_t cmd, void *arg, void **result)
{
	switch (cmd) {
	case DDI_INFO_DEVT2DEVINFO:
		*result = qotd_dip;
		return (*result != NULL ? DDI_SUCCESS : DDI_FAILURE);
	case DDI_INFO_DEVT2INSTANCE:
		*result = (void *)0;
		return (DDI_SUCCESS);
	default:
		return (DDI_FAILURE);
	}
}

static int
qotd_open(queue_t *q, dev_t *devp, int oflag, int sflag, cred_t *credp)
{
	mblk_t *mp;

	if (sflag == MODOPEN)
		return (EINVAL);
	if (q->q_ptr != NULL)
		return (0);
	if (qotd_dip == NULL)
		return (ENXIO);
	if (sflag == CLONEOPEN)
		*devp = makedevice(getmajor(*devp), qotd_next++);
	q->q_ptr = WR(q)->q_ptr = (void *)(uintptr_t)(getminor(*devp) + 1);
	qprocson(q);
	mutex_enter(&qotd_lock);
	if ((mp = allocb(QMAX, BPRI_MED)) != NULL) {
		(void) strcpy((char *)mp->b_wptr, qotd_text);
		mp->b_wptr += strlen(qotd_text);
	}
	mutex_exit(&qotd_lock);
	if (mp != NULL)
		putnext(q, mp);
	return (0);
}

static int
qotd_close(queue_t *q, int flag, cred_t *credp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return (0);
}

static int
qotd_wput(queue_t *q, mblk_t *mp)
{
	int n;

	switch (DB_TYPE(mp)) {
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			*mp->b_rptr &= ~FLUSHW;
		if (*mp->b_rptr & FLUSHR)
			qreply(q, mp);
		else
			freemsg(mp);
		break;
	case M_DATA:
		mutex_enter(&qotd_lock);
		ASSERT(MBLKL(mp) >= 0);
		n = MIN(MBLKL(mp), QMAX - 1);
		bcopy(mp->b_rptr, qotd_text, n);
		qotd_text[n] = '\0';
		mutex_exit(&qotd_lock);
		freemsg(mp);
		break;
	case M_IOCTL:
		miocnak(q, mp, 0, ENOTTY);
		break;
	default:
		freemsg(mp);
	}
	return (0);
}
