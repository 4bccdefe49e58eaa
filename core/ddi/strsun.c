/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * <sys/strsun.h>: turning one message into another, after Solaris. A message
 * that is changed in place may share its data block with others only if these
 * may see the change; M_IOCTL and M_IOCDATA messages are never shared.
 */
#include "ddi_impl.h"
#include <sys/strsun.h>

static void
drop_rest(mblk_t *mp)
{
	mblk_t *rest = unlinkb(mp);

	if (rest != NULL)
		freemsg(rest);
}

/*
 * Make a copy request of the M_IOCTL or M_IOCDATA @mp.  Command, credentials
 * and identifier are at the same offsets in all three.
 */
static void
copy_request(mblk_t *mp, int type, void *priv, size_t size, void *uaddr)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;

	if (uaddr == NULL) {
		/* the argument of the transparent ioctl */
		STR_VERIFY(mp->b_cont != NULL &&
			MBLKL(mp->b_cont) >= (long)sizeof(void *));
		__builtin_memcpy(&uaddr, mp->b_cont->b_rptr, sizeof(uaddr));
	}
	mp->b_datap->db_type = (unsigned char)type;
	mp->b_wptr = mp->b_rptr + sizeof(*cq);
	cq->cq_addr = uaddr;
	cq->cq_size = size;
	cq->cq_flag = 0;
	cq->cq_private = priv;
}

void
mcopyin(mblk_t *mp, void *priv, size_t size, void *uaddr)
{
	copy_request(mp, M_COPYIN, priv, size, uaddr);
	drop_rest(mp);
}

void
mcopyout(mblk_t *mp, void *priv, size_t size, void *uaddr, mblk_t *dp)
{
	copy_request(mp, M_COPYOUT, priv, size, uaddr);
	if (dp != NULL) {
		drop_rest(mp);
		mp->b_cont = dp;
		dp->b_wptr = dp->b_rptr + size;
	}
}

void
merror(queue_t *q, mblk_t *mp, int error)
{
	mblk_t *bp = mexchange(q, mp, 1, M_ERROR, -1);

	if (bp == NULL)
		return;
	*bp->b_rptr = (unsigned char)error;
	qreply(q, bp);
}

mblk_t *
mexchange(queue_t *q, mblk_t *mp, size_t size, int type, int prim)
{
	mblk_t *bp = mp;

	if (mp == NULL || mp->b_datap->db_ref > 1 ||
	    (size_t)MBLKSIZE(mp) < size) {
		bp = allocb(size, BPRI_HI);
		if (mp != NULL)
			freemsg(mp);
		if (bp == NULL) {
			if (q != NULL && type != M_ERROR)
				merror(q, NULL, ENOSR);
			return NULL;
		}
	} else {
		drop_rest(bp);
		bp->b_rptr = bp->b_datap->db_base;
	}
	bp->b_datap->db_type = (unsigned char)type;
	bp->b_flag = 0;
	bp->b_wptr = bp->b_rptr + size;
	if (prim >= 0)
		__builtin_memcpy(bp->b_rptr, &prim, sizeof(prim));
	return bp;
}

void
mioc2ack(mblk_t *mp, mblk_t *dp, size_t count, int rval)
{
	struct iocblk *ioc = IOCP(mp);

	mp->b_datap->db_type = M_IOCACK;
	mp->b_wptr = mp->b_rptr + sizeof(*ioc);
	ioc->ioc_count = count;
	ioc->ioc_error = 0;
	ioc->ioc_rval = rval;
	drop_rest(mp);
	mp->b_cont = dp;
	if (dp != NULL)
		dp->b_wptr = dp->b_rptr + count;
}

int
miocpullup(mblk_t *mp, size_t size)
{
	mblk_t *bp = mp->b_cont, *all;

	if (IOCP(mp)->ioc_count == TRANSPARENT ||
	    IOCP(mp)->ioc_count < size || (bp == NULL && size != 0))
		return EINVAL;
	if (bp == NULL || str_blen(bp) >= size)
		return 0;
	if (xmsgsize(bp) < size) /* blocks of other types are not joined */
		return EINVAL;
	all = msgpullup(bp, -1);
	if (all == NULL)
		return ENOMEM;
	mp->b_cont = all;
	freemsg(bp);
	return 0;
}

void
mcopymsg(mblk_t *mp, void *buf)
{
	unsigned char *to = buf;
	mblk_t *bp;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		size_t n = str_blen(bp);

		if (n != 0)
			__builtin_memcpy(to, bp->b_rptr, n);
		to += n;
	}
	freemsg(mp);
}

mblk_t *
mkiocb(unsigned int command)
{
	mblk_t *mp = allocb(sizeof(union ioctypes), BPRI_HI);
	struct iocblk *ioc;

	if (mp == NULL)
		return NULL;
	__builtin_memset(mp->b_wptr, 0, sizeof(union ioctypes));
	mp->b_datap->db_type = M_IOCTL;
	ioc = (struct iocblk *)(void *)mp->b_wptr;
	ioc->ioc_cmd = (int)command;
	ioc->ioc_id = (unsigned int)(str_add(str_root(STR_ROOT_IOCID),
		(uint64_t)1) + 1);
	mp->b_wptr += sizeof(*ioc);
	return mp;
}

#define TRY_NS 10000000u

/* Memory comes back when a thread frees some: there is no event for it. */
mblk_t *
allocb_wait(size_t size, unsigned int pri, unsigned int flags, int *error)
{
	struct host_call *hc = (flags & STR_NOSIG) != 0 ? NULL : str_ddi_call();
	str_a32 word = 0;
	struct str_nap nap;
	mblk_t *mp;
	int err = 0;

	if (size > STR_MEM_MAX - 64)
		err = ENOSR; /* so much can never be allocated */
	while (err == 0) {
		mp = allocb(size, pri);
		if (mp != NULL)
			return mp;
		str_ddi_presleep(&nap);
		if (host_wait(hc, &word, 0u, TRY_NS) == EINTR)
			err = EINTR;
		str_ddi_postsleep(&nap);
	}
	if (error != NULL)
		*error = err;
	return NULL;
}
