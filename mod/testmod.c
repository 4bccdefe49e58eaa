/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * testmod - makes a stream misbehave on purpose.
 *
 * It passes everything on, as nullmod does, except the commands of
 * <sys/testmod.h>: each sends up the message that a failing driver would send,
 * and is then acknowledged.  Tests use them to check how the Stream head
 * handles hang-ups, errors, signals and copy requests.
 *
 * Life of a command.  An M_IOCTL comes down with its argument in b_cont: the
 * data of an I_STR, or the third argument of a plain ioctl() (transparent).
 * tm_ioctl() answers it, or, for the copy commands, turns it into an
 * M_COPYIN or M_COPYOUT and goes on in tm_iocdata() when the data arrives.
 * TM_IOC_COPYIO needs the user's address twice: between the two copies it is
 * kept in cq_private itself, which the Stream head returns in cp_private.  A
 * separate block would be leaked if the message is lost.
 *
 * D_MTQPAIR: answers are sent up the read side, whose put procedure may be
 * called meanwhile; with one thread at a time a hang-up always precedes its
 * answer.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/testmod.h>
#include <sys/ddi.h>

#define TM_ERR_MAX 254 /* 255 is NOERROR */
#define TM_SIG_MAX 64

static int
tm_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	qprocson(q);
	return 0;
}

static int
tm_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

/* The command's argument lies in the block behind the iocblk. */
static int
tm_arg(mblk_t *mp, long *argp)
{
	if (mp->b_cont == NULL || MBLKL(mp->b_cont) < (long)sizeof(*argp))
		return EINVAL;
	bcopy(mp->b_cont->b_rptr, argp, sizeof(*argp));
	return 0;
}

/* The forms of M_ERROR: two bytes, of which one may be NOERROR, or one. */
static int
tm_error(queue_t *q, mblk_t *mp)
{
	queue_t *rq = RD(q);
	long err;

	if (tm_arg(mp, &err) != 0 || err < 0 || err > TM_ERR_MAX)
		return EINVAL;
	switch (IOCP(mp)->ioc_cmd) {
	case TM_IOC_RDERR:
		return putnextctl2(rq, M_ERROR, (int)err, NOERROR) ? 0 : ENOSR;
	case TM_IOC_WRERR:
		return putnextctl2(rq, M_ERROR, NOERROR, (int)err) ? 0 : ENOSR;
	default:
		return putnextctl1(rq, M_ERROR, (int)err) ? 0 : ENOSR;
	}
}

static int
tm_signal(queue_t *q, mblk_t *mp, int type)
{
	long sig;

	if (tm_arg(mp, &sig) != 0 || sig < 1 || sig > TM_SIG_MAX)
		return EINVAL;
	return putnextctl1(RD(q), type, (int)sig) ? 0 : ENOSR;
}

/*
 * I_STR with any data: return as many bytes of TM_FILL, which shows that it
 * arrived.
 */
static void
tm_fill(queue_t *q, mblk_t *mp)
{
	size_t count = IOCP(mp)->ioc_count;
	mblk_t *bp;

	if (count == TRANSPARENT || count != msgdsize(mp)) {
		miocnak(q, mp, 0, EINVAL);
		return;
	}
	for (bp = mp->b_cont; bp != NULL; bp = bp->b_cont)
		if (MBLKL(bp) > 0)
			__builtin_memset(bp->b_rptr, TM_FILL,
				(size_t)MBLKL(bp));
	miocack(q, mp, count, 0);
}

/* Turn @mp, whose first block is an iocblk or copyresp, into a request. */
static void
tm_request(queue_t *q, mblk_t *mp, int type, char *addr, char *again)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;

	DB_TYPE(mp) = (unsigned char)type;
	mp->b_wptr = mp->b_rptr + sizeof(*cq);
	cq->cq_addr = addr;
	cq->cq_size = TM_COPYSZ;
	cq->cq_flag = 0;
	cq->cq_private = (mblk_t *)(void *)again;
	qreply(q, mp);
}

static void
tm_copyout(queue_t *q, mblk_t *mp, char *addr)
{
	mblk_t *bp = allocb(TM_COPYSZ, BPRI_MED);

	if (bp == NULL) {
		miocnak(q, mp, 0, ENOSR);
		return;
	}
	__builtin_memset(bp->b_wptr, TM_FILL, TM_COPYSZ);
	bp->b_wptr += TM_COPYSZ;
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	linkb(mp, bp);
	tm_request(q, mp, M_COPYOUT, addr, NULL);
}

static void
tm_copyin(queue_t *q, mblk_t *mp, char *addr, int then_out)
{
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	tm_request(q, mp, M_COPYIN, addr, then_out ? addr : NULL);
}

static void
tm_copy(queue_t *q, mblk_t *mp)
{
	long arg;

	if (IOCP(mp)->ioc_count != TRANSPARENT || tm_arg(mp, &arg) != 0) {
		miocnak(q, mp, 0, EINVAL);
		return;
	}
	if (IOCP(mp)->ioc_cmd == TM_IOC_COPYOUT)
		tm_copyout(q, mp, (char *)arg);
	else
		tm_copyin(q, mp, (char *)arg,
			IOCP(mp)->ioc_cmd == TM_IOC_COPYIO);
}

static void
tm_answer(queue_t *q, mblk_t *mp, int error)
{
	if (error != 0)
		miocnak(q, mp, 0, error);
	else
		miocack(q, mp, 0, 0);
}

static void
tm_ioctl(queue_t *q, mblk_t *mp)
{
	switch (IOCP(mp)->ioc_cmd) {
	case TM_IOC_HANGUP:
		tm_answer(q, mp, putnextctl(RD(q), M_HANGUP) ? 0 : ENOSR);
		break;
	case TM_IOC_RDERR:
	case TM_IOC_WRERR:
	case TM_IOC_RWERR:
		tm_answer(q, mp, tm_error(q, mp));
		break;
	case TM_IOC_PSIGNAL:
		tm_answer(q, mp, tm_signal(q, mp, M_PCSIG));
		break;
	case TM_IOC_NSIGNAL:
		tm_answer(q, mp, tm_signal(q, mp, M_SIG));
		break;
	case TM_IOC_IOCTL:
		tm_fill(q, mp);
		break;
	case TM_IOC_COPYIN:
	case TM_IOC_COPYOUT:
	case TM_IOC_COPYIO:
		tm_copy(q, mp);
		break;
	default:
		putnext(q, mp); /* a module below may implement it */
		break;
	}
}

/* A copy was made, or failed: then the ioctl is over and no caller waits. */
static void
tm_iocdata(queue_t *q, mblk_t *mp)
{
	struct copyresp *cp = (struct copyresp *)(void *)mp->b_rptr;
	char *again = (char *)(void *)cp->cp_private;

	switch (cp->cp_cmd) {
	case TM_IOC_COPYIN:
	case TM_IOC_COPYOUT:
	case TM_IOC_COPYIO:
		break;
	default:
		putnext(q, mp);
		return;
	}
	if (cp->cp_rval != NULL)
		freemsg(mp);
	else if (again == NULL)
		miocack(q, mp, 0, 0);
	else
		tm_copyout(q, mp, again);
}

static int
tm_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		tm_ioctl(q, mp);
		break;
	case M_IOCDATA:
		tm_iocdata(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static int
tm_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static const struct module_info tm_info = {
	.mi_idnum = 0x746d,
	.mi_idname = "testmod",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit tm_rinit = {
	.qi_putp = tm_rput,
	.qi_qopen = tm_open,
	.qi_qclose = tm_close,
	.qi_minfo = (struct module_info *)&tm_info,
};

static const struct qinit tm_winit = {
	.qi_putp = tm_wput,
	.qi_minfo = (struct module_info *)&tm_info,
};

STR_MODULE(testmod, tm_rinit, tm_winit, D_MTQPAIR);
