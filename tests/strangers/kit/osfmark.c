/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * osfmark - for OSF/1, a module with SVR3's open, and a driver of the same
 * name: each marks what passes.
 */
#include <sys/sysconfig.h>
#include <string.h>
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>

static int mark_open(), mark_close(), mark_rput(), mark_wput(), drv_open(),
	drv_wput();

static struct module_info minfo = { 901, "osfmark", 0, INFPSZ, 2048, 128 };
static struct qinit rinit = {
	mark_rput, NULL, mark_open, mark_close, NULL, &minfo, NULL
};
static struct qinit winit = { mark_wput, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct streamtab marktab = { &rinit, &winit, NULL, NULL };
static struct qinit drinit = {
	NULL, NULL, drv_open, mark_close, NULL, &minfo, NULL
};
static struct qinit dwinit = { drv_wput, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct streamtab drvtab = { &drinit, &dwinit, NULL, NULL };

int
osfmark_configure(op, indata, indatalen, outdata, outdatalen)
	sysconfig_op_t op;
	str_config_t *indata, *outdata;
	size_t indatalen, outdatalen;
{
	struct streamadm sa;
	dev_t devno = NODEV;

	if (op != SYSCONFIG_CONFIGURE)
		return EINVAL;
	if (indata != NULL && indatalen == sizeof (str_config_t) &&
	    indata->sc_version == OSF_STREAMS_CONFIG_10)
		devno = indata->sc_devnum;
	sa.sa_version = OSF_STREAMS_11;
	sa.sa_flags = STR_IS_MODULE;
	sa.sa_ttys = NULL;
	sa.sa_sync_level = SQLVL_QUEUE;
	sa.sa_sync_info = NULL;
	strcpy(sa.sa_name, "osfmark");
	if (strmod_add(devno, &marktab, &sa) == NODEV)
		return ENODEV;
	sa.sa_flags = STR_IS_DEVICE | STR_SYSV4_OPEN;
	sa.sa_sync_level = SQLVL_GLOBAL;
	if ((devno = strmod_add(devno, &drvtab, &sa)) == NODEV)
		return ENODEV;
	if (outdata != NULL && outdatalen == sizeof (str_config_t)) {
		outdata->sc_version = OSF_STREAMS_CONFIG_10;
		outdata->sc_devnum = devno;
	}
	return ESUCCESS;
}

static int
mark_open(q, dev, flag, sflag)
	queue_t *q;
	dev_t dev;
	int flag, sflag;
{
	if (sflag != MODOPEN)
		return OPENFAIL;
	return 0;
}

static int
mark_close(q)
	queue_t *q;
{
	return 0;
}

static int
mark_rput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	if (mp->b_datap->db_type == M_DATA && mp->b_wptr > mp->b_rptr)
		*mp->b_rptr = '<';
	putnext(q, mp);
	return 0;
}

static int
mark_wput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	if (mp->b_datap->db_type == M_DATA && mp->b_wptr > mp->b_rptr)
		mp->b_wptr[-1] = '>';
	putnext(q, mp);
	return 0;
}

static int
drv_open(q, devp, flag, sflag, credp)
	queue_t *q;
	dev_t *devp;
	int flag, sflag;
	cred_t *credp;
{
	static int next;

	if (sflag == CLONEOPEN)
		*devp = makedev(major(*devp), ++next);
	return 0;
}

static int
drv_wput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	if (mp->b_datap->db_type == M_DATA) {
		if (mp->b_wptr - mp->b_rptr > 2)
			mp->b_rptr[1] = '=';
		qreply(q, mp);
	} else if (mp->b_datap->db_type == M_IOCTL) {
		mp->b_datap->db_type = M_IOCNAK;
		qreply(q, mp);
	} else
		freemsg(mp);
	return 0;
}
