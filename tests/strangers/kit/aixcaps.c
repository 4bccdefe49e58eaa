/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * aixcaps - a module as for AIX's PSE: what is written becomes capitals, but
 * for every tenth message.  Counted: how often it was configured, opened and
 * what passed.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <pse/mi.h>

static int	capsopen(), capsclose(), capswput(), capsrput();

static struct module_info caps_minfo = { 5417, "aixcaps", 0, INFPSZ, 2048, 128 };
static struct qinit capsrinit = {
	capsrput, 0, capsopen, capsclose, 0, &caps_minfo, 0
};
static struct qinit capswinit = { capswput, 0, 0, 0, 0, &caps_minfo, 0 };
static struct streamtab capstab = { &capsrinit, &capswinit, 0, 0 };

static caddr_t	caps_head;	/* of the mi_ functions */
static int	caps_configs, caps_opens, caps_rcvd;

struct caps {
	int	c_seen;
};

static int
caps_is_interesting(mp)
	mblk_t *mp;
{
	return mp->b_datap->db_type == M_DATA;
}

static int
capsopen(q, devp, flag, sflag, credp)
	queue_t *q;
	dev_t *devp;
	int flag, sflag;
	cred_t *credp;
{
	caps_opens++;
	/* would be faster, if it could be had */
	wantmsg(q, caps_is_interesting);
	return mi_open_comm(&caps_head, sizeof (struct caps), q, devp, flag,
		sflag, credp);
}

static int
capsclose(q, flag, credp)
	queue_t *q;
	int flag;
	cred_t *credp;
{
	return mi_close_comm(&caps_head, q);
}

static int
capswput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	struct caps *c = (struct caps *)q->q_ptr;
	struct iocblk *ioc;
	unsigned char *p;
	mblk_t *bp;
	int *n;

	switch (mp->b_datap->db_type) {
	case M_DATA:
		if (++c->c_seen % 10 == 0)
			break;
		for (bp = mp; bp; bp = bp->b_cont)
			for (p = bp->b_rptr; p < bp->b_wptr; p++)
				if (*p >= 'a' && *p <= 'z')
					*p -= 'a' - 'A';
		break;
	case M_IOCTL:
		ioc = (struct iocblk *)mp->b_rptr;
		if (ioc->ioc_cmd != (('A' << 8) | 1) ||
		    ioc->ioc_count != 3 * sizeof (int))
			break;
		n = (int *)mp->b_cont->b_rptr;
		n[0] = caps_configs;
		n[1] = caps_opens;
		n[2] = caps_rcvd;
		mp->b_datap->db_type = M_IOCACK;
		qreply(q, mp);
		return 0;
	}
	putnext(q, mp);
	return 0;
}

static int
capsrput(q, mp)
	queue_t *q;
	mblk_t *mp;
{
	if (mp->b_datap->db_type == M_DATA)
		caps_rcvd++;
	putnext(q, mp);
	return 0;
}

#include <sys/device.h>
#include <sys/strconf.h>

int
aixcaps_config(cmd, uiop)
	int cmd;
	struct uio *uiop;
{
	static strconf_t conf = { "aixcaps", &capstab, STR_NEW_OPEN };

	caps_configs++;
	conf.sc_sqlevel = SQLVL_MODULE;
	switch (cmd) {
	case CFG_INIT:
		/* its argument, if it is given one */
		if (uiop != NULL && uiop->uio_resid != 0)
			return EINVAL;
		return str_install(STR_LOAD_MOD, &conf);
	case CFG_TERM:
		return str_install(STR_UNLOAD_MOD, &conf);
	default:
		return EINVAL;
	}
}
