/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Implementation of the drivers' fixture.
 */
#include "drvfix.h"
#include "canon.h"

#define NDRV 8
#define DRV_STATE 400000 /* no driver's state is greater */

/* The opens in progress are of this device. */
static dev_t dev;
static int open_sflag, open_flag;

/* A driver's own open procedure, by its name. */
static struct {
	char name[16];
	qi_qopen_t open;
	qi_qclose_t close;
} drv[NDRV];

static unsigned
drv_of(queue_t *q)
{
	unsigned i;

	for (i = 0; i < NDRV; i++)
		if (strcmp(drv[i].name, q->q_pair->fmod->name) == 0)
			return i;
	T_FAIL("no driver %s", q->q_pair->fmod->name);
	return 0;
}

static int
as_driver(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag;
	return drv[drv_of(q)].open(q, &dev, open_flag, open_sflag, crp);
}

static int
low_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
low_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	return 0;
}

static int
no_put(queue_t *q, mblk_t *mp)
{
	(void)q;
	freemsg(mp);
	T_FAIL("a put procedure that is not there");
	return 0;
}

void
dv_driver(const struct str_builtin *b)
{
	struct qinit ri = *b->tab->st_rdinit, wi = *b->tab->st_wrinit;
	struct streamtab tab = {.st_rdinit = &ri, .st_wrinit = &wi};
	char low[16];
	unsigned i;

	for (i = 0; drv[i].name[0] != '\0' &&
		strcmp(drv[i].name, b->name) != 0; i++)
		T_TRUE(i + 1 < NDRV);
	snprintf(drv[i].name, sizeof(drv[i].name), "%s", b->name);
	drv[i].open = ri.qi_qopen;
	drv[i].close = ri.qi_qclose;
	ri.qi_qopen = as_driver;
	if (ri.qi_putp == NULL)
		ri.qi_putp = no_put; /* none is below a driver */
	fx_module(b->name, &tab, b->flag);
	/* what all its streams share is made with the first of them */
	T_NOTNULL(str_drv_state(b->name, DRV_STATE));
	fx_keep();
	if (b->tab->st_muxrinit == NULL)
		return;
	ri = *b->tab->st_muxrinit;
	wi = *b->tab->st_muxwinit;
	ri.qi_qopen = low_open;
	ri.qi_qclose = low_close;
	if (wi.qi_putp == NULL)
		wi.qi_putp = no_put; /* none is above a lower side */
	snprintf(low, sizeof(low), "%.4s.low", b->name);
	fx_module(low, &tab, b->flag);
}

int
dv_open_flag(struct dv *d, const char *name, unsigned minor, int sflag,
	int flag)
{
	int err;

	memset(d, 0, sizeof(*d));
	fx_pipe(&d->pipe);
	dev = makedevice(200, minor);
	open_sflag = sflag;
	open_flag = flag;
	err = fx_push_err(&d->pipe, 0, name);
	if (err != 0)
		return err;
	d->rq = RD(d->pipe.sd[0]->qp->wq.q_next);
	d->minor = getminor(dev);
	d->above = fx_push(&d->pipe, 0, "store");
	return 0;
}

int
dv_open(struct dv *d, const char *name, unsigned minor, int sflag)
{
	return dv_open_flag(d, name, minor, sflag, FREAD | FWRITE);
}

int
dv_reopen(struct dv *d, int flag)
{
	dev = makedevice(200, d->minor);
	return drv[drv_of(d->rq)].open(d->rq, &dev, flag, DRVOPEN, NULL);
}

void
dv_close(struct dv *d)
{
	T_EQ(fx_pop(&d->pipe, 0), 0);
	T_EQ(fx_pop(&d->pipe, 0), 0);
}

void
dv_run(struct dv *d)
{
	while (fx_run(&d->pipe))
		;
}

void
dv_down(struct dv *d, mblk_t *mp)
{
	putnext(WR(d->above), mp);
	dv_run(d);
}

mblk_t *
dv_up(struct dv *d)
{
	mblk_t *mp;

	dv_run(d);
	mp = getq(d->above);
	dv_run(d);
	return mp;
}

mblk_t *
dv_up_type(struct dv *d, unsigned type)
{
	mblk_t *mp = dv_up(d);

	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, type);
	return mp;
}

mblk_t *
dv_ioctl_msg(int cmd, size_t count, const void *data, size_t len)
{
	mblk_t *mp = allocb(sizeof(union ioctypes), BPRI_MED), *bp;
	struct iocblk *ioc;

	T_NOTNULL(mp);
	mp->b_datap->db_type = M_IOCTL;
	memset(mp->b_wptr, 0, sizeof(union ioctypes));
	mp->b_wptr += sizeof(struct iocblk);
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	ioc->ioc_cmd = cmd;
	ioc->ioc_id = 42;
	ioc->ioc_count = count;
	if (data != NULL) {
		bp = allocb(len, BPRI_MED);
		T_NOTNULL(bp);
		memcpy(bp->b_wptr, data, len);
		bp->b_wptr += len;
		linkb(mp, bp);
	}
	return mp;
}

int
dv_str_get(struct dv *d, int cmd, const void *data, size_t len, void *ret,
	size_t size)
{
	struct iocblk *ioc;
	mblk_t *mp;
	int err;

	dv_down(d, dv_ioctl_msg(cmd, len, data, len));
	mp = dv_up(d);
	T_NOTNULL(mp);
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	T_EQ(ioc->ioc_id, 42);
	T_EQ(ioc->ioc_cmd, cmd);
	err = ioc->ioc_error;
	T_EQ(mp->b_datap->db_type, err != 0 ? M_IOCNAK : M_IOCACK);
	if (err == 0 && ret != NULL) {
		T_EQ(ioc->ioc_count, size);
		T_EQ(pullupmsg(mp->b_cont, -1), 1);
		memcpy(ret, mp->b_cont->b_rptr, size);
	} else if (err == 0) {
		T_EQ(ioc->ioc_count, 0);
	}
	freemsg(mp);
	return err;
}

int
dv_str(struct dv *d, int cmd, const void *data, size_t len)
{
	return dv_str_get(d, cmd, data, len, NULL, 0);
}

/* Carry out the copy request @mp, and send its M_IOCDATA down. */
static void
copy(struct dv *d, mblk_t *mp)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;
	struct copyresp *cp = (struct copyresp *)(void *)mp->b_rptr;
	mblk_t *priv = cq->cq_private, *bp = mp->b_cont;
	size_t off = 0, n = cq->cq_size;
	char *addr = cq->cq_addr;

	T_EQ(cq->cq_id, 42);
	if (mp->b_datap->db_type == M_COPYOUT) {
		T_EQ(msgdsize(bp), n);
		for (; bp != NULL; bp = bp->b_cont) {
			memcpy(addr + off, bp->b_rptr,
				(size_t)(bp->b_wptr - bp->b_rptr));
			off += (size_t)(bp->b_wptr - bp->b_rptr);
		}
		freemsg(unlinkb(mp));
	} else {
		T_NULL(bp);
		bp = allocb(n, BPRI_MED);
		T_NOTNULL(bp);
		memcpy(bp->b_wptr, addr, n);
		bp->b_wptr += n;
		linkb(mp, bp);
	}
	mp->b_datap->db_type = M_IOCDATA;
	mp->b_wptr = mp->b_rptr + sizeof(*cp);
	cp->cp_rval = NULL;
	cp->cp_private = priv;
	dv_down(d, mp);
}

int
dv_plain(struct dv *d, int cmd, const void *arg)
{
	struct iocblk *ioc;
	mblk_t *mp;
	int r;

	dv_down(d, dv_ioctl_msg(cmd, TRANSPARENT, &arg, sizeof(arg)));
	for (;;) {
		mp = dv_up(d);
		T_NOTNULL(mp);
		if (mp->b_datap->db_type != M_COPYIN &&
			mp->b_datap->db_type != M_COPYOUT)
			break;
		copy(d, mp);
	}
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	T_EQ(ioc->ioc_id, 42);
	T_EQ(ioc->ioc_cmd, cmd);
	T_EQ(ioc->ioc_count, 0);
	if (mp->b_datap->db_type == M_IOCNAK) {
		r = -ioc->ioc_error;
	} else {
		T_EQ(mp->b_datap->db_type, M_IOCACK);
		r = ioc->ioc_rval;
	}
	freemsg(mp);
	return r;
}

void
dv_strays(struct dv *d)
{
	static const struct canon_ioc like[] = {
		{.mark = 0x5a5a5a5a, .out = 1},
		{.mark = CANON_MARK ^ 0x1234},
		{.mark = CANON_MARK ^ 0x1234, .out = 1},
	};
	struct copyresp *cp;
	mblk_t *mp;
	unsigned i;
	int ok;

	for (i = 0; i < 2 * STR_ARRAY_LEN(like); i++) {
		ok = i % 2;
		mp = dv_ioctl_msg(0x1234, TRANSPARENT, NULL, 0);
		cp = (struct copyresp *)(void *)mp->b_rptr;
		mp->b_datap->db_type = M_IOCDATA;
		memcpy(cp->cp_filler, &like[i / 2], sizeof(like[0]));
		cp->cp_private = (mblk_t *)(void *)d;
		cp->cp_rval = ok ? NULL : (char *)1;
		mp->b_wptr = mp->b_rptr + sizeof(*cp);
		if (ok)
			linkb(mp, fx_msg("data", 0));
		dv_down(d, mp);
		mp = dv_up(d);
		if (!ok) {
			T_NULL(mp); /* no caller waits */
			continue;
		}
		T_EQ(mp->b_datap->db_type, M_IOCNAK);
		T_EQ(((struct iocblk *)(void *)mp->b_rptr)->ioc_error, EINVAL);
		freemsg(mp);
	}
}
