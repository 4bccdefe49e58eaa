/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strsun.h> - shorthand for messages, after Solaris
 *
 * Everything here is made of what <sys/stream.h> offers.
 */
#ifndef _SYS_STRSUN_H
#define _SYS_STRSUN_H

#define _STR_DDI	/* its functions, too */
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

/**
 * mcopyin - turn an M_IOCTL or M_IOCDATA into a request for the caller's data
 * @mp:    the message; becomes M_COPYIN, what hung on it is freed
 * @priv:  comes back in cp_private of the M_IOCDATA
 * @size:  bytes
 * @uaddr: where they are; NULL: the argument of a transparent ioctl, @mp
 *
 * mcopyout does so with M_COPYOUT, and @size bytes of @dp, or, when that is
 * NULL, of what hangs on @mp.  The message is then passed with qreply().
 *
 * Context: any.
 */
void mcopyin(mblk_t *mp, void *priv, size_t size, void *uaddr)
	STR_DDI(mcopyin);
void mcopyout(mblk_t *mp, void *priv, size_t size, void *uaddr, mblk_t *dp)
	STR_DDI(mcopyout);

/**
 * merror - answer with an M_ERROR
 * @q:     where @mp came to; the answer goes the other way
 * @mp:    any message, or NULL; consumed
 * @error: errno of both sides of the stream
 */
void merror(queue_t *q, mblk_t *mp, int error) STR_DDI(merror);

/**
 * mexchange - replace a message by one of another type and size
 * @q:    gets an M_ERROR with ENOSR when there is no memory; or NULL
 * @mp:   the message, or NULL; used again when it is not shared and is large
 *        enough, else freed
 * @size: bytes between b_rptr and b_wptr of the result
 * @type: its type
 * @prim: its first four bytes, when not negative
 *
 * Return: the message, NULL when there is no memory.
 */
mblk_t *mexchange(queue_t *q, mblk_t *mp, size_t size, int type, int prim)
	STR_DDI(mexchange);

/**
 * mioc2ack - turn an M_IOCTL or M_IOCDATA into its acknowledgement
 * @mp:    the message; becomes M_IOCACK, what hung on it is freed
 * @dp:    @count bytes for the caller, or NULL
 * @rval:  what ioctl(2) returns
 */
void mioc2ack(mblk_t *mp, mblk_t *dp, size_t count, int rval)
	STR_DDI(mioc2ack);

/**
 * miocpullup - have the first @size bytes of an M_IOCTL's data in one block
 *
 * Return: 0; EINVAL: there are not as many, or it is transparent; ENOMEM.
 */
int miocpullup(mblk_t *mp, size_t size) STR_DDI(miocpullup);

/* mcopymsg - copy all bytes of @mp to @buf, which has room, and free it. */
void mcopymsg(mblk_t *mp, void *buf) STR_DDI(mcopymsg);

/* mkiocb - an M_IOCTL of a module's own making; NULL: no memory. */
mblk_t *mkiocb(unsigned int command) STR_DDI(mkiocb);

/**
 * allocb_wait - allocb() that sleeps until there is memory
 * @size, @pri: as of allocb()
 * @flags:      STR_NOSIG: no signal ends it; else 0
 * @error:      set when NULL is returned: EINTR, or ENOSR for a size that no
 *              wait would give
 *
 * Context: open and close procedures.
 * Return:  the block, or NULL.
 */
#define STR_NOSIG 0x01
mblk_t *allocb_wait(size_t size, unsigned int pri, unsigned int flags,
	int *error) STR_DDI(allocb_wait);

#ifdef __cplusplus
}
#endif

#endif /* _SYS_STRSUN_H */
