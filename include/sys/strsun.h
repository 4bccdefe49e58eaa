/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strsun.h> - shorthand for messages, after Solaris
 *
 * These functions use <sys/stream.h> only.
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

/* M_IOCTL and M_IOCDATA: fields of the caller's ioctl. */
#define IOCP(mp) ((struct iocblk *)(void *)(mp)->b_rptr)

/**
 * miocack - acknowledge an ioctl
 * @q:     queue that received @mp; the answer is sent in the other direction
 * @mp:    the M_IOCTL or M_IOCDATA; consumed
 * @count: bytes of data in b_cont for the caller
 * @rval:  result of ioctl(2)
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
 * @q:     queue that received @mp; the answer is sent in the other direction
 * @mp:    the M_IOCTL or M_IOCDATA; consumed
 * @count: bytes of data left in b_cont, usually 0
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
 * @mp:    the message; becomes M_COPYIN, its b_cont is freed
 * @priv:  returned in cp_private of the M_IOCDATA
 * @size:  bytes
 * @uaddr: their address; NULL: @mp is a transparent ioctl, use its argument
 *
 * mcopyout makes an M_COPYOUT of @size bytes of @dp or, if that is NULL, of the
 * b_cont of @mp.  The caller then passes the message to qreply().
 *
 * Context: any.
 */
void mcopyin(mblk_t *mp, void *priv, size_t size, void *uaddr)
	STR_DDI(mcopyin);
void mcopyout(mblk_t *mp, void *priv, size_t size, void *uaddr, mblk_t *dp)
	STR_DDI(mcopyout);

/**
 * merror - answer with an M_ERROR
 * @q:     queue that received @mp; the answer is sent in the other direction
 * @mp:    any message, or NULL; consumed
 * @error: errno of both sides of the stream
 */
void merror(queue_t *q, mblk_t *mp, int error) STR_DDI(merror);

/**
 * mexchange - replace a message by one of another type and size
 * @q:    gets an M_ERROR with ENOSR if there is no memory; or NULL
 * @mp:   the message, or NULL; reused if it is large enough and not shared,
 *        else freed
 * @size: bytes between b_rptr and b_wptr of the result
 * @type: its type
 * @prim: its first four bytes, if not negative
 *
 * Return: the message; NULL: no memory.
 */
mblk_t *mexchange(queue_t *q, mblk_t *mp, size_t size, int type, int prim)
	STR_DDI(mexchange);

/**
 * mioc2ack - turn an M_IOCTL or M_IOCDATA into its acknowledgement
 * @mp:   the message; becomes M_IOCACK, its b_cont is freed
 * @dp:   @count bytes for the caller, or NULL
 * @rval: result of ioctl(2)
 */
void mioc2ack(mblk_t *mp, mblk_t *dp, size_t count, int rval)
	STR_DDI(mioc2ack);

/**
 * miocpullup - move the first @size bytes of an M_IOCTL's data into one block
 *
 * Return: 0; EINVAL: there are fewer bytes, or it is transparent; ENOMEM.
 */
int miocpullup(mblk_t *mp, size_t size) STR_DDI(miocpullup);

/* mcopymsg - copy all bytes of @mp to @buf, which has room, and free it. */
void mcopymsg(mblk_t *mp, void *buf) STR_DDI(mcopymsg);

/* mkiocb - make an M_IOCTL in a module; NULL: no memory. */
mblk_t *mkiocb(unsigned int command) STR_DDI(mkiocb);

/**
 * allocb_wait - allocb() that sleeps until there is memory
 * @size, @pri: as of allocb()
 * @flags:      STR_NOSIG: no signal ends the sleep; else 0
 * @error:      set if NULL is returned: EINTR, or ENOSR for a size that is too
 *              large for any wait
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
