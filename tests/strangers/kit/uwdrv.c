/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* uwdrv - a driver of SVR4.2 with a wrapper, that answers a little DLPI */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/filio.h>
#include <sys/dlpi.h>
#include <sys/kmem.h>
#include <sys/cmn_err.h>
#include <sys/moddefs.h>
#include <sys/ddi.h>

#define DRVNAME "uwdrv - a driver with a wrapper"

static int uw_load(), uw_unload();
static void uw_halt();
MOD_DRV_WRAPPER(uwdrv, uw_load, uw_unload, uw_halt, DRVNAME);

int uwdrvdevflag = 0;
static int uwopen(), uwclose(), uwwput();
static struct module_info minfo = { 77, "uwdrv", 0, INFPSZ, 4096, 512 };
static struct qinit rinit = { NULL, NULL, uwopen, uwclose, NULL, &minfo, NULL };
static struct qinit winit = { uwwput, NULL, NULL, NULL, NULL, &minfo, NULL };
struct streamtab uwdrvinfo = { &rinit, &winit, NULL, NULL };

static int loads;

static int
uw_load()
{
	loads++;
	return 0;
}

static int
uw_unload()
{
	return EBUSY;
}

static void
uw_halt()
{
}

static int
uwopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (loads != 1)
		return ENXIO;
	qprocson(q);
	return 0;
}

static int
uwclose(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	return 0;
}

static void
answer(queue_t *q, mblk_t *mp)
{
	union DL_primitives *dl = (union DL_primitives *)mp->b_rptr;
	t_uscalar_t prim = dl->dl_primitive;
	mblk_t *bp;

	bp = allocb(DL_INFO_ACK_SIZE, BPRI_MED);
	freemsg(mp);
	if (bp == NULL)
		return;
	dl = (union DL_primitives *)bp->b_rptr;
	bp->b_datap->db_type = M_PCPROTO;
	bzero(dl, DL_INFO_ACK_SIZE);
	if (prim == DL_INFO_REQ) {
		dl->info_ack.dl_primitive = DL_INFO_ACK;
		dl->info_ack.dl_mac_type = DL_ETHER;
		dl->info_ack.dl_provider_style = DL_STYLE2;
		dl->info_ack.dl_version = DL_VERSION_2;
		bp->b_wptr += DL_INFO_ACK_SIZE;
	} else {
		dl->error_ack.dl_primitive = DL_ERROR_ACK;
		dl->error_ack.dl_error_primitive = prim;
		dl->error_ack.dl_errno = DL_UNSUPPORTED;
		bp->b_wptr += DL_ERROR_ACK_SIZE;
	}
	qreply(q, bp);
}

static int
uwwput(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc;

	switch (mp->b_datap->db_type) {
	case M_PROTO:
	case M_PCPROTO:
		answer(q, mp);
		break;
	case M_IOCTL:
		ioc = (struct iocblk *)mp->b_rptr;
		mp->b_datap->db_type = M_IOCNAK;
		ioc->ioc_error = ioc->ioc_cmd == FIONBIO ? EPERM : EINVAL;
		qreply(q, mp);
		break;
	default:
		freemsg(mp);
	}
	return 0;
}
