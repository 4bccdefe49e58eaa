/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strsun.h> - shorthand for messages, after Solaris
 *
 * Everything here is made of what <sys/stream.h> offers.
 */
#ifndef _SYS_STRSUN_H
#define _SYS_STRSUN_H

#include <sys/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members of a message's data block. */
#define DB_BASE(mp) ((mp)->b_datap->db_base)
#define DB_LIM(mp) ((mp)->b_datap->db_lim)
#define DB_REF(mp) ((mp)->b_datap->db_ref)
#define DB_TYPE(mp) ((mp)->b_datap->db_type)
#define DB_FRTNP(mp) ((mp)->b_datap->db_frtnp)

/* Bytes: of data, of the buffer, before the data, after it. */
#define MBLKL(mp) ((mp)->b_wptr - (mp)->b_rptr)
#define MBLKSIZE(mp) (DB_LIM(mp) - DB_BASE(mp))
#define MBLKHEAD(mp) ((mp)->b_rptr - DB_BASE(mp))
#define MBLKTAIL(mp) (DB_LIM(mp) - (mp)->b_wptr)

/* Do @len bytes at @off lie within the block's data? */
#define MBLKIN(mp, off, len) \
	(((off) <= MBLKL(mp)) && (((mp)->b_rptr + (off) + (len)) <= \
		(mp)->b_wptr))

/* M_IOCTL and M_IOCDATA: what the caller's ioctl is about. */
#define IOCP(mp) ((struct iocblk *)(void *)(mp)->b_rptr)

/**
 * miocack - acknowledge an ioctl
 * @q:     where @mp came to; the answer goes the other way
 * @mp:    the M_IOCTL or M_IOCDATA; consumed
 * @count: bytes of data in b_cont that the caller gets
 * @rval:  what ioctl(2) returns
 */
static __inline__ void
miocack(queue_t *q, mblk_t *mp, size_t count, int rval)
{
	mblk_t *bp;

	if (count == 0 && (bp = unlinkb(mp)) != NULL)
		freemsg(bp);
	DB_TYPE(mp) = M_IOCACK;
	mp->b_wptr = mp->b_rptr + sizeof(struct iocblk);
	IOCP(mp)->ioc_count = count;
	IOCP(mp)->ioc_error = 0;
	IOCP(mp)->ioc_rval = rval;
	qreply(q, mp);
}

/**
 * miocnak - refuse an ioctl
 * @q:     where @mp came to; the answer goes the other way
 * @mp:    the M_IOCTL or M_IOCDATA; consumed
 * @count: bytes of data left in b_cont, as a rule 0
 * @error: errno; 0 is EINVAL
 */
static __inline__ void
miocnak(queue_t *q, mblk_t *mp, size_t count, int error)
{
	mblk_t *bp;

	if (count == 0 && (bp = unlinkb(mp)) != NULL)
		freemsg(bp);
	DB_TYPE(mp) = M_IOCNAK;
	mp->b_wptr = mp->b_rptr + sizeof(struct iocblk);
	IOCP(mp)->ioc_count = count;
	IOCP(mp)->ioc_error = error != 0 ? error : 22;
	IOCP(mp)->ioc_rval = 0;
	qreply(q, mp);
}

#ifdef __cplusplus
}
#endif

#endif /* _SYS_STRSUN_H */
