/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * timod - sends requests that a transport provider acknowledges as ioctls.
 *
 * Purpose.  A TPI request is a message, and its acknowledgement is another one.
 * Two threads or processes with one endpoint could receive each other's
 * acknowledgements, and an interrupted thread would leave its own unread.  An
 * ioctl avoids that: the Stream head allows one at a time, and discards an
 * answer for which no caller waits.  So this module sends the data of an I_STR
 * down as an M_PROTO message, keeps the M_IOCTL, and returns the
 * acknowledgement as its answer.  All other messages pass, data with one
 * comparison.  A request for information is sent as M_PCPROTO; a driver that
 * sends it back unchanged is not a provider.
 *
 * Life.  The M_IOCTL waits on the module's write queue, where it belongs to the
 * stream and not to a process; ioc_rval contains the number of the primitive
 * that was sent.  A new M_IOCTL replaces an old one, which the head has given
 * up.  The thread that takes it from the queue answers it.
 *
 * TI_GETMYNAME and TI_GETPEERNAME are transparent: a struct netbuf is copied
 * in, the provider is asked (T_ADDR_REQ) with the M_IOCDATA waiting in the
 * M_IOCTL's place, the address is copied out, then len into the netbuf.
 *
 * Crash.  A message on a queue stays there.  If a process dies between taking
 * the M_IOCTL and answering it, the head waits for its time limit; a
 * transparent ioctl has none.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/tihdr.h>
#include <sys/timod.h>
#include <sys/ddi.h>
#include "../drv/canon.h"

#define NO_PRIM (-1)

static int
timod_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	noenable(WR(q));
	qprocson(q);
	return 0;
}

static int
timod_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q); /* the waiting M_IOCTL is refused when the queue is
		       * freed */
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/* The request that belongs to @cmd.  NO_PRIM: none, or any. */
static t_scalar_t
request_of(int cmd)
{
	switch (cmd) {
	case TI_GETINFO:
	case O_TI_GETINFO:
	case TI_SYNC:
		return T_INFO_REQ;
	case TI_OPTMGMT:
	case O_TI_OPTMGMT:
		return T_OPTMGMT_REQ;
	case TI_BIND:
	case O_TI_BIND:
		return T_BIND_REQ;
	case TI_UNBIND:
	case O_TI_UNBIND:
		return T_UNBIND_REQ;
	case TI_GETADDRS:
		return T_ADDR_REQ;
	case TI_CAPABILITY:
		return T_CAPABILITY_REQ;
	default:
		return NO_PRIM;
	}
}

/* The least length of @prim. 0: it is not acknowledged. */
static long
request_size(t_scalar_t prim)
{
	switch (prim) {
	case T_CONN_REQ:
		return sizeof(struct T_conn_req);
	case T_CONN_RES:
		return sizeof(struct T_conn_res);
	case T_DISCON_REQ:
		return sizeof(struct T_discon_req);
	case T_INFO_REQ:
		return sizeof(struct T_info_req);
	case T_BIND_REQ:
	case O_T_BIND_REQ:
		return sizeof(struct T_bind_req);
	case T_UNBIND_REQ:
		return sizeof(struct T_unbind_req);
	case T_OPTMGMT_REQ:
		return sizeof(struct T_optmgmt_req);
	case T_ADDR_REQ:
		return sizeof(struct T_addr_req);
	case T_CAPABILITY_REQ:
		return sizeof(struct T_capability_req);
	default:
		return 0;
	}
}

static t_scalar_t
prim_of(const mblk_t *mp)
{
	t_scalar_t prim = NO_PRIM;

	if (MBLKL(mp) >= (long)sizeof(prim))
		bcopy(mp->b_rptr, &prim, sizeof(prim));
	return prim;
}

/* Does it only ask for information, so that it need not wait? */
static int
is_question(t_scalar_t prim)
{
	return prim == T_INFO_REQ || prim == T_CAPABILITY_REQ;
}

/* Is @mp the acknowledgement of the request @want? */
static int
answers(const mblk_t *mp, t_scalar_t want)
{
	const union T_primitives *p =
		(const union T_primitives *)(const void *)mp->b_rptr;

	switch (prim_of(mp)) {
	case T_OK_ACK:
		return MBLKL(mp) >= (long)sizeof(p->ok_ack) &&
			p->ok_ack.CORRECT_prim == want;
	case T_ERROR_ACK:
		return MBLKL(mp) >= (long)sizeof(p->error_ack) &&
			(p->error_ack.ERROR_prim == want ||
			 (want == O_T_BIND_REQ &&
			  p->error_ack.ERROR_prim == T_BIND_REQ));
	case T_INFO_ACK:
		return want == T_INFO_REQ;
	case T_BIND_ACK:
		return want == T_BIND_REQ || want == O_T_BIND_REQ;
	case T_OPTMGMT_ACK:
		return want == T_OPTMGMT_REQ;
	case T_ADDR_ACK:
		return want == T_ADDR_REQ;
	case T_CAPABILITY_ACK:
		return want == T_CAPABILITY_REQ;
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------ down */

/*
 * Send the request @bp of the ioctl @mp, which waits for the acknowledgement.
 * Consumes both.
 */
static void
ask(queue_t *q, mblk_t *mp, mblk_t *bp)
{
	t_scalar_t prim = prim_of(bp);

	IOCP(mp)->ioc_rval = prim;
	flushq(q, FLUSHALL);
	DB_TYPE(bp) = is_question(prim) ? M_PCPROTO : M_PROTO;
	if (!putq(q, mp)) {
		freemsg(bp);
		canon_nak(q, mp, ENOSR);
		return;
	}
	putnext(q, bp);
}

/* TI_REQUEST: split into the primitive and the user's data. */
static mblk_t *
cut(mblk_t *bp, int *ret_err)
{
	struct ti_req tr;
	mblk_t *dp = NULL;
	long data;

	*ret_err = EINVAL;
	if (MBLKL(bp) < (long)sizeof(tr))
		return NULL;
	bcopy(bp->b_rptr, &tr, sizeof(tr));
	bp->b_rptr += sizeof(tr);
	data = MBLKL(bp) - tr.len;
	if (tr.len < (long)sizeof(t_scalar_t) || data < 0)
		return NULL;
	if (data > 0) {
		dp = canon_block(bp->b_rptr + tr.len, (size_t)data);
		*ret_err = ENOSR;
		if (dp == NULL)
			return NULL;
		bp->b_wptr -= data;
		linkb(bp, dp);
	}
	return bp;
}

/* The data of a command is here. */
static void
request(queue_t *q, mblk_t *mp)
{
	int cmd = canon_cmd(mp), err = EINVAL;
	t_scalar_t want = request_of(cmd), prim;
	mblk_t *bp;

	if (mp->b_cont == NULL || canon_pull(mp) != 0) {
		canon_nak(q, mp, mp->b_cont == NULL ? EINVAL : ENOSR);
		return;
	}
	bp = unlinkb(mp);
	if (cmd == TI_REQUEST && cut(bp, &err) == NULL) {
		freemsg(bp);
		canon_nak(q, mp, err);
		return;
	}
	prim = prim_of(bp);
	if (request_size(prim) == 0 || MBLKL(bp) < request_size(prim) ||
	    (want != NO_PRIM && prim != want &&
		    !(want == T_BIND_REQ && prim == O_T_BIND_REQ))) {
		freemsg(bp);
		canon_nak(q, mp, EINVAL);
		return;
	}
	ask(q, mp, bp);
}

/* Fields of a netbuf that has been copied in. */
struct name {
	unsigned int maxlen;
	unsigned int len;
	char *buf;
};

/* TI_GETMYNAME, TI_GETPEERNAME: the netbuf is here. */
static void
name_in(queue_t *q, mblk_t *mp)
{
	t_scalar_t prim = T_ADDR_REQ;
	mblk_t *bp;

	if (MBLKL(mp->b_cont) < (long)sizeof(struct name)) {
		canon_nak(q, mp, EINVAL);
		return;
	}
	bp = canon_block(&prim, sizeof(prim));
	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	ask(q, mp, bp);
}

/* The address has arrived: copy it out. */
static void
name_out(queue_t *q, mblk_t *mp, const mblk_t *ack)
{
	const struct T_addr_ack *aa =
		(const struct T_addr_ack *)(const void *)ack->b_rptr;
	struct canon_ioc *ci = canon_state(mp);
	struct name nb;
	long len, off;
	mblk_t *bp;

	bcopy(mp->b_cont->b_rptr, &nb, sizeof(nb));
	len = off = 0;
	if (prim_of(ack) == T_ADDR_ACK && MBLKL(ack) >= (long)sizeof(*aa)) {
		len = canon_cmd(mp) == TI_GETMYNAME ? aa->LOCADDR_length :
						      aa->REMADDR_length;
		off = canon_cmd(mp) == TI_GETMYNAME ? aa->LOCADDR_offset :
						      aa->REMADDR_offset;
	}
	if (len < 0 || off < 0 || off + len > MBLKL(ack)) {
		canon_nak(q, mp, EPROTO);
		return;
	}
	if (len == 0 && canon_cmd(mp) == TI_GETPEERNAME) {
		canon_nak(q, mp, ENOTCONN);
		return;
	}
	if (len > (long)nb.maxlen) {
		canon_nak(q, mp, ENAMETOOLONG);
		return;
	}
	bp = canon_block(ack->b_rptr + off, (size_t)len);
	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	freemsg(unlinkb(mp));
	linkb(mp, bp);
	ci->stage = 1;
	ci->keep = ci->addr;
	ci->extra = (int)len;
	canon_copy(q, mp, M_COPYOUT, nb.buf, (size_t)len, 0);
}

/* The address has been copied out: its length follows, into the netbuf. */
static void
name_end(queue_t *q, mblk_t *mp)
{
	struct canon_ioc *ci = canon_state(mp);
	unsigned int len = (unsigned int)ci->extra;
	struct name *at = ci->keep;
	mblk_t *bp = canon_block(&len, sizeof(len));

	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	linkb(mp, bp);
	ci->stage = 2;
	canon_copy(q, mp, M_COPYOUT, (char *)&at->len, sizeof(len), 0);
}

static int
is_ours(int cmd)
{
	return request_of(cmd) != NO_PRIM || cmd == TI_REQUEST ||
		cmd == TI_GETMYNAME || cmd == TI_GETPEERNAME ||
		cmd == TI_SETMYNAME || cmd == TI_SETPEERNAME;
}

static void
wioctl(queue_t *q, mblk_t *mp)
{
	int cmd = canon_cmd(mp);

	if (!is_ours(cmd)) {
		putnext(q, mp);
		return;
	}
	switch (cmd) {
	case TI_GETMYNAME:
	case TI_GETPEERNAME:
		if (!canon_is_transparent(mp))
			canon_nak(q, mp, EINVAL);
		else
			(void)canon_args(q, mp, sizeof(struct name));
		break;
	case TI_SETMYNAME:
	case TI_SETPEERNAME:
		canon_nak(q, mp, EOPNOTSUPP);
		break;
	default:
		if (canon_is_transparent(mp))
			canon_nak(q, mp, EINVAL);
		else
			request(q, mp);
		break;
	}
}

static int
timod_wput(queue_t *q, mblk_t *mp)
{
	if (__builtin_expect(DB_TYPE(mp) <= M_PROTO, 1)) {
		putnext(q, mp);
		return 0;
	}
	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		wioctl(q, mp);
		break;
	case M_IOCDATA:
		if (!is_ours(canon_cmd(mp)))
			putnext(q, mp);
		else if (canon_stage(mp) == 1 &&
			((struct copyresp *)(void *)mp->b_rptr)->cp_rval ==
				NULL)
			name_end(q, mp);
		else if (canon_iocdata(q, mp))
			name_in(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

/* -------------------------------------------------------------------- up */

/* Answer @mp with @ack, for which it has waited; both are consumed. */
static void
answer(queue_t *q, mblk_t *mp, mblk_t *ack)
{
	const struct T_error_ack *ea =
		(const struct T_error_ack *)(const void *)ack->b_rptr;
	size_t n;

	if (DB_TYPE(mp) == M_IOCDATA) {
		name_out(WR(q), mp, ack);
		freemsg(ack);
		return;
	}
	switch (prim_of(ack)) {
	case T_ERROR_ACK:
		n = (size_t)((ea->TLI_error & 0xff) |
			(ea->UNIX_error & 0xff) << 8);
		freemsg(ack);
		miocack(WR(q), mp, 0, (int)n);
		return;
	case T_OK_ACK:
		freemsg(ack);
		miocack(WR(q), mp, 0, 0);
		return;
	default:
		DB_TYPE(ack) = M_DATA;
		n = msgdsize(ack);
		linkb(mp, ack);
		miocack(WR(q), mp, n, 0);
		return;
	}
}

static void
rpcproto(queue_t *q, mblk_t *mp)
{
	mblk_t *wait = getq(WR(q));

	if (wait != NULL && answers(mp, IOCP(wait)->ioc_rval)) {
		answer(q, wait, mp);
		return;
	}
	if (wait != NULL && is_question(prim_of(mp)) &&
	    prim_of(mp) == IOCP(wait)->ioc_rval) {
		freemsg(mp);
		canon_nak(WR(q), wait, EINVAL);
		return;
	}
	if (wait != NULL && !putbq(WR(q), wait))
		freemsg(wait);
	putnext(q, mp);
}

static int
timod_rput(queue_t *q, mblk_t *mp)
{
	if (__builtin_expect(DB_TYPE(mp) == M_PCPROTO, 0))
		rpcproto(q, mp);
	else
		putnext(q, mp);
	return 0;
}

static const struct module_info timod_info = {
	.mi_idnum = 0x7469,
	.mi_idname = "timod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit timod_rinit = {
	.qi_putp = timod_rput,
	.qi_qopen = timod_open,
	.qi_qclose = timod_close,
	.qi_minfo = (struct module_info *)&timod_info,
};

static const struct qinit timod_winit = {
	.qi_putp = timod_wput,
	.qi_minfo = (struct module_info *)&timod_info,
};

STR_MODULE(timod, timod_rinit, timod_winit, D_MP | STR_D_PLAIN);
