/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tpx: a transport provider: connectionless, addresses of four bytes, for timod
 * and a library on top.  SVR4 style.
 */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/tihdr.h>
#include <sys/tiuser.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#define NTPX	10
struct tpx {
	queue_t	*rq;
	int	state;
	char	addr[4];
};
static struct tpx tpxs[NTPX];
static int	tpxnext = 1;

static int tpxopen(), tpxclose(), tpxwput(), tpxwsrv(), tpxrsrv();
static struct module_info tpxmi = { 3030, "tpx", 0, INFPSZ, 2048, 512 };
static struct qinit tpxrinit = { NULL, tpxrsrv, tpxopen, tpxclose, NULL, &tpxmi, NULL };
static struct qinit tpxwinit = { tpxwput, tpxwsrv, NULL, NULL, NULL, &tpxmi, NULL };
struct streamtab tpxinfo = { &tpxrinit, &tpxwinit, NULL, NULL };

static int
tpxopen(q, devp, flag, sflag, crp)
	queue_t *q; dev_t *devp; int flag, sflag; cred_t *crp;
{
	int i;

	if (q->q_ptr)
		return (0);
	for (i = 0; i < NTPX && tpxs[i].rq; i++)
		;
	if (i == NTPX)
		return (ENOSPC);
	if (sflag == CLONEOPEN)
		*devp = makedevice(getmajor(*devp), i + 100);
	tpxs[i].rq = q;
	tpxs[i].state = TS_UNBND;
	q->q_ptr = WR(q)->q_ptr = (caddr_t)&tpxs[i];
	qprocson(q);
	return (0);
}

static int
tpxclose(q, flag, crp)
	queue_t *q; int flag; cred_t *crp;
{
	struct tpx *t = (struct tpx *)q->q_ptr;

	qprocsoff(q);
	t->rq = NULL;
	return (0);
}

static void
error_ack(q, prim, terr, uerr)
	queue_t *q; int prim, terr, uerr;
{
	mblk_t *mp = allocb(sizeof (struct T_error_ack), BPRI_HI);
	struct T_error_ack *e;

	if (mp == NULL)
		return;
	mp->b_datap->db_type = M_PCPROTO;
	e = (struct T_error_ack *)mp->b_wptr;
	e->PRIM_type = T_ERROR_ACK;
	e->ERROR_prim = prim;
	e->TLI_error = terr;
	e->UNIX_error = uerr;
	mp->b_wptr += sizeof *e;
	qreply(q, mp);
}

static int
tpxwput(q, mp)
	queue_t *q; mblk_t *mp;
{
	struct tpx *t = (struct tpx *)q->q_ptr, *o;
	union T_primitives *p;
	struct T_info_ack *ia;
	struct T_bind_ack *ba;
	mblk_t *bp;
	int i;

	switch (mp->b_datap->db_type) {
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW) {
			flushq(q, FLUSHALL);
			*mp->b_rptr &= ~FLUSHW;
		}
		if (*mp->b_rptr & FLUSHR)
			qreply(q, mp);
		else
			freemsg(mp);
		return (0);
	case M_IOCTL:
		mp->b_datap->db_type = M_IOCNAK;
		((struct iocblk *)mp->b_rptr)->ioc_error = EINVAL;
		qreply(q, mp);
		return (0);
	case M_PROTO:
	case M_PCPROTO:
		break;
	default:
		freemsg(mp);
		return (0);
	}
	p = (union T_primitives *)mp->b_rptr;
	switch (p->type) {
	case T_INFO_REQ:
		if ((bp = allocb(sizeof *ia, BPRI_HI)) == NULL)
			break;
		bp->b_datap->db_type = M_PCPROTO;
		ia = (struct T_info_ack *)bp->b_wptr;
		bzero((caddr_t)ia, sizeof *ia);
		ia->PRIM_type = T_INFO_ACK;
		ia->TSDU_size = 512;
		ia->ETSDU_size = ia->CDATA_size = ia->DDATA_size = -2;
		ia->ADDR_size = 4;
		ia->OPT_size = -2;
		ia->TIDU_size = 512;
		ia->SERV_type = T_CLTS;
		ia->CURRENT_state = t->state;
		bp->b_wptr += sizeof *ia;
		qreply(q, bp);
		break;
	case T_BIND_REQ:
		if (t->state != TS_UNBND) {
			error_ack(q, T_BIND_REQ, TOUTSTATE, 0);
			break;
		}
		if (p->bind_req.ADDR_length == 4)
			bcopy((caddr_t)p + p->bind_req.ADDR_offset, t->addr, 4);
		else if (p->bind_req.ADDR_length == 0)
			bcopy((caddr_t)&tpxnext, t->addr, 4), tpxnext++;
		else {
			error_ack(q, T_BIND_REQ, TBADADDR, 0);
			break;
		}
		for (i = 0, o = tpxs; o < &tpxs[NTPX]; o++)
			if (o != t && o->rq && o->state == TS_IDLE &&
			    bcmp(o->addr, t->addr, 4) == 0)
				i = 1;
		if (i) {
			error_ack(q, T_BIND_REQ, TADDRBUSY, 0);
			break;
		}
		if ((bp = allocb(sizeof *ba + 4, BPRI_HI)) == NULL) {
			error_ack(q, T_BIND_REQ, TSYSERR, ENOSR);
			break;
		}
		bp->b_datap->db_type = M_PCPROTO;
		ba = (struct T_bind_ack *)bp->b_wptr;
		ba->PRIM_type = T_BIND_ACK;
		ba->ADDR_length = 4;
		ba->ADDR_offset = sizeof *ba;
		ba->CONIND_number = 0;
		bcopy(t->addr, (caddr_t)(ba + 1), 4);
		bp->b_wptr += sizeof *ba + 4;
		t->state = TS_IDLE;
		qreply(q, bp);
		break;
	case T_UNBIND_REQ:
		if (t->state != TS_IDLE) {
			error_ack(q, T_UNBIND_REQ, TOUTSTATE, 0);
			break;
		}
		t->state = TS_UNBND;
		putnextctl1(RD(q), M_FLUSH, FLUSHRW);
		if ((bp = allocb(sizeof (struct T_ok_ack), BPRI_HI)) == NULL)
			break;
		bp->b_datap->db_type = M_PCPROTO;
		((struct T_ok_ack *)bp->b_wptr)->PRIM_type = T_OK_ACK;
		((struct T_ok_ack *)bp->b_wptr)->CORRECT_prim = T_UNBIND_REQ;
		bp->b_wptr += sizeof (struct T_ok_ack);
		qreply(q, bp);
		break;
	case T_UNITDATA_REQ:
		putq(q, mp);
		return (0);
	default:
		error_ack(q, p->type, TNOTSUPPORT, 0);
		break;
	}
	freemsg(mp);
	return (0);
}

static int
tpxwsrv(q)
	queue_t *q;
{
	struct tpx *t = (struct tpx *)q->q_ptr, *o;
	struct T_unitdata_req *u;
	struct T_unitdata_ind *ind;
	struct T_uderror_ind *ue;
	mblk_t *mp, *bp;

	while ((mp = getq(q)) != NULL) {
		u = (struct T_unitdata_req *)mp->b_rptr;
		for (o = tpxs; o < &tpxs[NTPX]; o++)
			if (o->rq && o->state == TS_IDLE && bcmp(o->addr,
			    (caddr_t)u + u->DEST_offset, 4) == 0)
				break;
		if (o == &tpxs[NTPX]) {
			if ((bp = allocb(sizeof *ue + 4, BPRI_HI)) != NULL) {
				bp->b_datap->db_type = M_PROTO;
				ue = (struct T_uderror_ind *)bp->b_wptr;
				bzero((caddr_t)ue, sizeof *ue);
				ue->PRIM_type = T_UDERROR_IND;
				ue->DEST_length = 4;
				ue->DEST_offset = sizeof *ue;
				ue->ERROR_type = 42;
				bcopy((caddr_t)u + u->DEST_offset, (caddr_t)(ue + 1), 4);
				bp->b_wptr += sizeof *ue + 4;
				qreply(q, bp);
			}
			freemsg(mp);
			continue;
		}
		if (!canputnext(o->rq)) {
			putbq(q, mp);
			return (0);
		}
		if ((bp = allocb(sizeof *ind + 4, BPRI_MED)) == NULL) {
			putbq(q, mp);
			if (bufcall(sizeof *ind + 4, BPRI_MED, (void (*)())qenable, (long)q) == 0)
				timeout((void (*)())qenable, (caddr_t)q, HZ);
			return (0);
		}
		bp->b_datap->db_type = M_PROTO;
		ind = (struct T_unitdata_ind *)bp->b_wptr;
		bzero((caddr_t)ind, sizeof *ind);
		ind->PRIM_type = T_UNITDATA_IND;
		ind->SRC_length = 4;
		ind->SRC_offset = sizeof *ind;
		bcopy(t->addr, (caddr_t)(ind + 1), 4);
		bp->b_wptr += sizeof *ind + 4;
		bp->b_cont = unlinkb(mp);
		freeb(mp);
		putnext(o->rq, bp);
	}
	return (0);
}

static int
tpxrsrv(q)
	queue_t *q;
{
	struct tpx *o;

	for (o = tpxs; o < &tpxs[NTPX]; o++)
		if (o->rq)
			qenable(WR(o->rq));
	return (0);
}
