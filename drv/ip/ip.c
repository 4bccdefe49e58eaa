/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ip - a driver whose streams are wires and taps: ip(4).
 *
 * Life.  A stream is neither until an ioctl makes it a wire or a tap, which it
 * remains until it is closed.
 *
 * Locks.  D_MTQPAIR: a struct ip_ep is changed by one thread at a time.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/strconf.h>
#include <sys/stropts.h>
#include "../canon.h"
#include "ip_impl.h"

#define IP_MINORS 262144u
/* High water mark of a tap, for slow readers. */
#define IP_TAP_HIWAT (4u << 20)
#define IP_TAP_LOWAT (3u << 20)

/* SVR4 M_SETOPTS(D7): the head's water marks. */
static int
ip_marks(queue_t *q, size_t hiwat, size_t lowat)
{
	struct stroptions *so;
	mblk_t *mp = allocb(sizeof(*so), BPRI_MED);

	if (mp == NULL)
		return ENOSR;
	so = (struct stroptions *)(void *)mp->b_wptr;
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT;
	so->so_hiwat = hiwat;
	so->so_lowat = lowat;
	mp->b_wptr += sizeof(*so);
	DB_TYPE(mp) = M_SETOPTS;
	putnext(q, mp);
	return 0;
}

static int
ip_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct ip_shared *sh;
	struct ip_ep *ep;
	unsigned int m;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	if (sflag != CLONEOPEN)
		return ENXIO;
	sh = wire_lo() == NULL ? NULL : ip_shared();
	ep = kmem_zalloc(sizeof(*ep), KM_SLEEP);
	if (sh == NULL || ep == NULL) {
		if (ep != NULL)
			kmem_free(ep, sizeof(*ep));
		return ENOSR;
	}
	m = __atomic_add_fetch(&sh->minor, 1, __ATOMIC_RELAXED);
	*devp = makedevice(getmajor(*devp), 1 + m % (IP_MINORS - 1));
	ep->rq = q;
	noenable(q); /* it keeps a block: see lower.c */
	q->q_ptr = WR(q)->q_ptr = ep;
	qprocson(q);
	return 0;
}

static int
ip_close(queue_t *q, int flag, cred_t *crp)
{
	struct ip_ep *ep = q->q_ptr;

	qprocsoff(q); /* this cancels the timer of the queue */
	ip_tap_del(ep);
	ip_wire_del(ep);
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(ep, sizeof(*ep));
	return 0;
}

static int
ip_begin_tap(struct ip_ep *ep, const struct ipw_tap *want)
{
	int err = ip_marks(ep->rq, IP_TAP_HIWAT, IP_TAP_LOWAT);

	return err != 0 ? err : ip_tap_add(ep, want);
}

/* Its timer may change these fields meanwhile. */
STR_RACY static void
ip_state(const struct ip_wire *w, struct ipw_info *in)
{
	in->conf.mtu = w->mtu;
	in->state = w->state;
	in->error = w->error;
	in->remade = w->remade;
	in->muxid = w->muxid;
	in->taps = __atomic_load_n(&w->pub.taps, __ATOMIC_RELAXED);
}

static void
ip_info(queue_t *q, mblk_t *mp)
{
	struct ip_shared *sh = ip_shared();
	struct ipw_info in;
	struct ip_wire *w;
	unsigned int i;

	bcopy(mp->b_cont->b_rptr, &in, sizeof(in));
	for (i = in.index; i < IP_WIRES; i++) {
		ip_wire_look(&sh->wire[i]);
		if (ip_in_use(&sh->wire[i].gen))
			break;
	}
	if (i >= IP_WIRES) {
		canon_nak(q, mp, ENXIO);
		return;
	}
	w = &sh->wire[i];
	bzero(&in, sizeof(in));
	in.index = i;
	in.conf = w->conf;
	bcopy(w->name, in.conf.name, sizeof(in.conf.name));
	ip_state(w, &in);
	for (i = 0; i < WIRE_NCOUNTS; i++)
		in.count[i] = ip_counted(w, i);
	canon_ack_data(q, mp, canon_block(&in, sizeof(in)), 0);
}

_Static_assert(WIRE_NCOUNTS <= IPW_NCOUNTS, "room for all that is counted");

static size_t
ip_argsize(int cmd)
{
	switch (cmd) {
	case IPW_TAP:
		return sizeof(struct ipw_tap);
	case IPW_INFO:
		return sizeof(struct ipw_info);
	case IPW_ADD:
		return sizeof(struct ipw_conf);
	case IPW_IMPAIR:
	case IPW_IMPAIRED:
		return sizeof(struct ipw_impair);
	default:
		return 0;
	}
}

/* SVR4 linkblk(D4): a wire is linked persistently, or unlinked. */
static int
ip_link(mblk_t *mp)
{
	struct linkblk lb;

	if (mp->b_cont == NULL || MBLKL(mp->b_cont) < (long)sizeof(lb))
		return EINVAL;
	bcopy(mp->b_cont->b_rptr, &lb, sizeof(lb));
	if (canon_cmd(mp) == I_PLINK)
		ip_wire_linked(lb.l_qbot, lb.l_index);
	return 0;
}

static int
ip_impair(mblk_t *mp)
{
	struct ipw_impair conf;

	bcopy(mp->b_cont->b_rptr, &conf, sizeof(conf));
	return ip_wire_impair(&conf);
}

static void
ip_impaired(queue_t *q, mblk_t *mp)
{
	struct ipw_impair conf;
	int err;

	bcopy(mp->b_cont->b_rptr, &conf, sizeof(conf));
	err = ip_wire_impaired(&conf);
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack_data(q, mp, canon_block(&conf, sizeof(conf)), 0);
}

/* The argument is here. */
static void
ip_command(queue_t *q, mblk_t *mp)
{
	struct ip_ep *ep = q->q_ptr;
	struct ipw_conf conf;
	struct ipw_tap tap;
	int err = 0;

	switch (canon_cmd(mp)) {
	case IPW_TAP:
		bcopy(mp->b_cont->b_rptr, &tap, sizeof(tap));
		err = ip_begin_tap(ep, &tap);
		break;
	case IPW_STOP:
		ip_tap_del(ep);
		break;
	case IPW_ADD:
		bcopy(mp->b_cont->b_rptr, &conf, sizeof(conf));
		err = ip_wire_add(ep, &conf);
		break;
	case I_LINK:
	case I_PLINK:
	case I_UNLINK:
	case I_PUNLINK:
		err = ip_link(mp);
		break;
	case IPW_IMPAIR:
		err = ip_impair(mp);
		break;
	case IPW_IMPAIRED:
		ip_impaired(q, mp);
		return;
	case IPW_INFO:
		ip_info(q, mp);
		return;
	default:
		err = EINVAL;
		break;
	}
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

/*
 * A packet that is written to a tap on one wire is processed as if it had been
 * received there: nothing in it is trusted.
 */
static void
ip_inject(struct ip_ep *ep, mblk_t *mp)
{
	struct ip_shared *sh = ip_shared();
	struct ip_tap *tap = ep->tap;

	if (sh != NULL && tap != NULL && tap->wire < IP_WIRES)
		wire_input(&sh->wire[tap->wire].pub, mp, 0);
	else
		freemsg(mp);
}

static int
ip_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		ip_inject(q->q_ptr, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	case M_IOCTL:
		if (canon_args(q, mp, ip_argsize(canon_cmd(mp))))
			ip_command(q, mp);
		break;
	case M_IOCDATA:
		if (ip_argsize(canon_cmd(mp)) == 0)
			canon_stray(q, mp); /* none of our commands copies */
		else if (canon_iocdata(q, mp))
			ip_command(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

/* There is input on a wire's descriptors. */
static int
ip_rsrv(queue_t *q)
{
	ip_wire_input(q->q_ptr);
	return 0;
}

/* Messages from a linked stream: wires send nothing up. */
static int
ip_lrput(queue_t *q, mblk_t *mp)
{
	freemsg(mp);
	return 0;
}

static int
ip_lwsrv(queue_t *q)
{
	return 0;
}

static const struct module_info ip_modinfo = {
	.mi_idnum = IP_ID,
	.mi_idname = "ip",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit ip_rinit = {
	.qi_srvp = ip_rsrv,
	.qi_qopen = ip_open,
	.qi_qclose = ip_close,
	.qi_minfo = (struct module_info *)&ip_modinfo,
};

static const struct qinit ip_winit = {
	.qi_putp = ip_wput,
	.qi_minfo = (struct module_info *)&ip_modinfo,
};

/* The lower side: persistent wires. */
static const struct qinit ip_lrinit = {
	.qi_putp = ip_lrput,
	.qi_minfo = (struct module_info *)&ip_modinfo,
};

static const struct qinit ip_lwinit = {
	.qi_srvp = ip_lwsrv,
	.qi_minfo = (struct module_info *)&ip_modinfo,
};

static void (*const ip_calls[])(void) = {
	(void (*)(void))ip_wire_tick,
	(void (*)(void))ip_impair_release,
	NULL,
};

STR_DRIVER(ip, ip_rinit, ip_winit, ip_lrinit, ip_lwinit,
	D_MTQPAIR | STR_D_LOCAL, STR_MAJOR_IP, ip_calls);
