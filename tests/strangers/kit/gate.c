/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * gate - a driver of the old kind: an open waits until it is let in,
 * by what is written to minor 0; 1 says that a signal is enough, 2 that
 * it is not, 3 waits by way of a timeout, 4 has found an error before it waits.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/user.h>
#include <sys/stream.h>
#include <sys/stropts.h>

#define	GATEPRI	(PZERO + 1)

static int	gateopen(), gateclose(), gatewput();
static void	gateopens();

static struct module_info gm_info = { 99, "gate", 0, INFPSZ, 512, 128 };
static struct qinit gaterinit = {
	NULL, NULL, gateopen, gateclose, NULL, &gm_info, NULL
};
static struct qinit gatewinit = {
	gatewput, NULL, NULL, NULL, NULL, &gm_info, NULL
};
struct streamtab gateinfo = { &gaterinit, &gatewinit, NULL, NULL };
int gatedevflag = D_OLD;

static int gate_is_open, gate_waiters, gate_timer;

static int
gateopen(q, dev, flag, sflag)
	queue_t *q;
	dev_t dev;
	int flag, sflag;
{
	int m = minor(dev);

	if (sflag || m > 4) {
		u.u_error = EINVAL;
		return OPENFAIL;
	}
	if (m == 0)
		return 0;
	if (m == 4)
		u.u_error = ENOTTY;
	gate_waiters++;
	while (!gate_is_open) {
		if (m == 3)
			timeout(gateopens, (caddr_t)0, 1);
		if (sleep((caddr_t)&gate_is_open, /* lint-ok: System V's */
		    m == 1 ? GATEPRI | PCATCH : GATEPRI)) {
			gate_waiters--;
			u.u_error = EINTR;
			return OPENFAIL;
		}
	}
	gate_waiters--;
	return m == 4 ? OPENFAIL : m;
}

static void
gateopens(arg)
	caddr_t arg;
{
	gate_is_open = 1;
	wakeup((caddr_t)&gate_is_open);
}

static int
gateclose(q)
	queue_t *q;
{
	return 0;
}

static int
gatewput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	switch (mp->b_datap->db_type) {
	case M_DATA:
		gate_is_open = *mp->b_rptr == 'o';
		wakeup((caddr_t)&gate_is_open);
		break;
	case M_IOCTL:
		mp->b_datap->db_type = M_IOCACK;
		*(int *)mp->b_cont->b_rptr = gate_waiters;
		qreply(q, mp);
		return 0;
	}
	freemsg(mp);
	return 0;
}
