/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Functions that all drivers share: M_FLUSH, the states of an ioctl, minor
 * numbers.  They are inline, so that a driver remains one object that refers to
 * the DDI only.
 *
 * Life of an ioctl.  I_STR has its data in b_cont.  A transparent ioctl has the
 * caller's address, and the driver gets its data by M_COPYIN and returns data
 * by M_COPYOUT.  These functions hide the difference from the driver:
 *
 *	case M_IOCTL:		if (canon_args(q, mp, size)) command(q, mp);
 *	case M_IOCDATA:		if (canon_iocdata(q, mp)) command(q, mp);
 *
 * command() is called with @size bytes at mp->b_cont->b_rptr in both cases, and
 * ends with canon_nak(), canon_ack() or canon_ack_data().  Between the states
 * of a transparent ioctl its data is kept in the message itself, in cq_filler,
 * which comes back unchanged.  Nothing is kept in the driver or in another
 * block.  So if the message is lost, because the caller gives up or a thread is
 * killed, nothing is leaked.  A driver also gets M_IOCDATA messages that answer
 * the requests of other modules.  It uses for all commands that it does not
 * implement:
 *
 *	case M_IOCDATA:		canon_stray(q, mp);
 */
#ifndef DRV_CANON_H
#define DRV_CANON_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/ddi.h>

static inline void
canon_flush_side(queue_t *q, mblk_t *mp)
{
	if ((*mp->b_rptr & FLUSHBAND) != 0 && MBLKL(mp) > 1)
		flushband(q, mp->b_rptr[1], FLUSHDATA);
	else
		flushq(q, FLUSHDATA);
}

/* canon_flush - SVR4 M_FLUSH(D7), at a driver's write queue; consumes @mp. */
static inline void
canon_flush(queue_t *q, mblk_t *mp)
{
	if (MBLKL(mp) < 1) {
		freemsg(mp);
		return;
	}
	if ((*mp->b_rptr & FLUSHW) != 0) {
		canon_flush_side(q, mp);
		*mp->b_rptr &= (unsigned char)~FLUSHW;
	}
	if ((*mp->b_rptr & FLUSHR) == 0) {
		freemsg(mp);
		return;
	}
	canon_flush_side(RD(q), mp);
	qreply(q, mp);
}

/* canon_flush_pass - the same for a module, on either side; passes @mp on. */
static inline void
canon_flush_pass(queue_t *q, mblk_t *mp)
{
	if (MBLKL(mp) > 0 && (*mp->b_rptr & FLUSHR) != 0)
		canon_flush_side(RD(q), mp);
	if (MBLKL(mp) > 0 && (*mp->b_rptr & FLUSHW) != 0)
		canon_flush_side(WR(q), mp);
	putnext(q, mp);
}

/* ------------------------------------------------------------------ ioctls */

/* Content of cq_filler. */
struct canon_ioc {
	char *addr; /* the caller's */
	void *keep; /* arguments of several copies: data kept by a command */
	int extra;  /* ... and what more */
	int rval;   /* of the acknowledgement, when the data has gone out */
	unsigned short stage; /* ... which of the copies this is, from 0 */
	unsigned short out;   /* the data goes out: nothing else is left */
	unsigned int mark;    /* marks our requests: CANON_MARK, and the
			       * command */
};
#define CANON_MARK 0x63616e6fu
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct canon_ioc) ==
	sizeof(((struct copyreq *)0)->cq_filler), "struct canon_ioc");
_Static_assert(__builtin_offsetof(struct copyreq, cq_filler) ==
	__builtin_offsetof(struct copyresp, cp_filler), "cq_filler");
#endif

static inline int
canon_is_transparent(mblk_t *mp)
{
	return DB_TYPE(mp) == M_IOCTL && IOCP(mp)->ioc_count == TRANSPARENT;
}

/* The command of an M_IOCTL or M_IOCDATA. */
static inline int
canon_cmd(mblk_t *mp)
{
	return IOCP(mp)->ioc_cmd;
}

/*
 * The state in an M_IOCDATA; NULL: @mp is not an M_IOCDATA, or not an answer to
 * canon_copy().
 */
static inline struct canon_ioc *
canon_state(mblk_t *mp)
{
	struct canon_ioc *ci;

	if (DB_TYPE(mp) != M_IOCDATA)
		return NULL;
	ci = (struct canon_ioc *)(void *)
		((struct copyresp *)(void *)mp->b_rptr)->cp_filler;
	return ci->mark == (CANON_MARK ^ (unsigned int)canon_cmd(mp)) ? ci :
									NULL;
}

static inline void
canon_nak(queue_t *q, mblk_t *mp, int error)
{
	miocnak(q, mp, 0, error);
}

static inline void
canon_ack(queue_t *q, mblk_t *mp, int rval)
{
	miocack(q, mp, 0, rval);
}

/*
 * canon_stray - handle an M_IOCDATA of a command that this driver does not
 * implement
 * The module that asked for the data has been popped.  Answers the caller if
 * it waits; after a failure, SVR4 M_IOCDATA(D7), it does not.
 */
static inline void
canon_stray(queue_t *q, mblk_t *mp)
{
	if (((struct copyresp *)(void *)mp->b_rptr)->cp_rval == NULL)
		canon_nak(q, mp, EINVAL);
	else
		freemsg(mp);
}

/* Make @mp a copy request of @size bytes at @addr. */
static inline void
canon_copy(queue_t *q, mblk_t *mp, int type, char *addr, size_t size, int rval)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;
	struct canon_ioc *ci = canon_state(mp);

	if (ci == NULL) {
		ci = (struct canon_ioc *)(void *)cq->cq_filler;
		bzero(ci, sizeof(*ci));
		ci->mark = CANON_MARK ^ (unsigned int)canon_cmd(mp);
	}
	ci->addr = addr;
	ci->out = type == M_COPYOUT;
	ci->rval = rval;
	if (type == M_COPYIN && mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	DB_TYPE(mp) = (unsigned char)type;
	mp->b_wptr = mp->b_rptr + sizeof(*cq);
	cq->cq_addr = addr;
	cq->cq_size = size;
	cq->cq_flag = 0;
	cq->cq_private = NULL;
	qreply(q, mp);
}

/* The address in a transparent M_IOCTL. */
static inline int
canon_addr(mblk_t *mp, char **ret)
{
	long arg;

	if (mp->b_cont == NULL || MBLKL(mp->b_cont) < (long)sizeof(arg))
		return EINVAL;
	bcopy(mp->b_cont->b_rptr, &arg, sizeof(arg));
	*ret = (char *)arg;
	return 0;
}

/* Move all data of the ioctl into one block. */
static inline int
canon_pull(mblk_t *mp)
{
	if (mp->b_cont == NULL || mp->b_cont->b_cont == NULL)
		return 0;
	return pullupmsg(mp->b_cont, -1) ? 0 : ENOSR;
}

/*
 * canon_args - get an M_IOCTL's argument of exactly @size bytes.
 * Return: 1: the argument is in @mp; 0: @mp was consumed to get the argument or
 * to refuse the ioctl.  With @size 0 there is no argument; an I_STR that has
 * one is accepted.
 */
static inline int
canon_args(queue_t *q, mblk_t *mp, size_t size)
{
	char *addr;
	int err;

	if (!canon_is_transparent(mp)) {
		err = size != 0 && (IOCP(mp)->ioc_count != size ||
			msgdsize(mp) < size) ? EINVAL : canon_pull(mp);
		if (err != 0)
			canon_nak(q, mp, err);
		return err == 0;
	}
	if (size == 0)
		return 1;
	err = canon_addr(mp, &addr);
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_copy(q, mp, M_COPYIN, addr, size, 0);
	return 0;
}

/*
 * canon_iocdata - handle an M_IOCDATA of a command of this driver.
 * Return: 1: it contains the requested argument; 0: @mp was consumed.
 */
static inline int
canon_iocdata(queue_t *q, mblk_t *mp)
{
	struct copyresp *cp = (struct copyresp *)(void *)mp->b_rptr;
	const struct canon_ioc *ci = canon_state(mp);
	int err;

	if (cp->cp_rval != NULL || ci == NULL) {
		canon_stray(q, mp);
		return 0;
	}
	if (ci->out) {
		canon_ack(q, mp, ci->rval);
		return 0;
	}
	err = mp->b_cont == NULL ? EINVAL : canon_pull(mp);
	if (err != 0)
		canon_nak(q, mp, err);
	return err == 0;
}

/*
 * canon_ack_data - acknowledge with @bp's bytes, by copying out or in the
 * answer according to the kind of the ioctl; @bp is consumed, and NULL is
 * ENOSR.
 */
static inline void
canon_ack_data(queue_t *q, mblk_t *mp, mblk_t *bp, int rval)
{
	const struct canon_ioc *ci = canon_state(mp);
	char *addr = NULL;
	size_t len;

	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	if (ci != NULL) {
		addr = ci->addr;
	} else if (canon_is_transparent(mp) && canon_addr(mp, &addr) != 0) {
		freemsg(bp);
		canon_nak(q, mp, EINVAL);
		return;
	}
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	linkb(mp, bp);
	len = msgdsize(bp);
	if (ci != NULL || canon_is_transparent(mp))
		canon_copy(q, mp, M_COPYOUT, addr, len, rval);
	else
		miocack(q, mp, len, rval);
}

/* The stage of an M_IOCDATA; an M_IOCTL's is 0. */
static inline int
canon_stage(mblk_t *mp)
{
	const struct canon_ioc *ci = canon_state(mp);

	return ci == NULL ? 0 : ci->stage;
}

/* The @extra of the last canon_more(). */
static inline int
canon_extra(mblk_t *mp)
{
	const struct canon_ioc *ci = canon_state(mp);

	return ci == NULL ? 0 : ci->extra;
}

/*
 * canon_more - get @size more bytes at @addr, to which the argument of a
 * transparent ioctl points.  The next canon_iocdata() is of the next stage.
 */
static inline void
canon_more(queue_t *q, mblk_t *mp, char *addr, size_t size, int extra)
{
	struct canon_ioc *ci = canon_state(mp);

	ci->stage++;
	ci->extra = extra;
	canon_copy(q, mp, M_COPYIN, addr, size, 0);
}

/*
 * canon_ack_at - as canon_ack_data(), but copy to @addr, which came from an
 * argument.
 */
static inline void
canon_ack_at(queue_t *q, mblk_t *mp, char *addr, mblk_t *bp, int rval)
{
	canon_state(mp)->addr = addr;
	canon_ack_data(q, mp, bp, rval);
}

/* @len bytes at @data in a message block. */
static inline mblk_t *
canon_block(const void *data, size_t len)
{
	mblk_t *bp = allocb(len, BPRI_MED);

	if (bp != NULL) {
		bcopy(data, bp->b_wptr, len);
		bp->b_wptr += len;
	}
	return bp;
}

/* The int argument of an ioctl. */
static inline int
canon_int(mblk_t *mp)
{
	int val;

	bcopy(mp->b_cont->b_rptr, &val, sizeof(val));
	return val;
}

/* ------------------------------------------------------------------ minors */

/*
 * Minors in use, a bit each.  Bits are set and cleared by one instruction,
 * so opens in several processes need no lock.  Crash: if an opener dies before
 * its stream is made, its minor stays in use; a driver has enough minors.
 */
#define CANON_MINORS 65536u
struct canon_minors {
	volatile unsigned long bits[CANON_MINORS / 64];
};

/*
 * canon_minor_take - take minor @m, or with CLONEOPEN the lowest free one from
 * @m on.
 */
static inline int
canon_minor_take(struct canon_minors *cm, int sflag, unsigned int m,
	unsigned int *ret)
{
	unsigned long bit;

	if (sflag != CLONEOPEN) {
		if (m >= CANON_MINORS)
			return ENXIO;
		(void)__atomic_fetch_or(&cm->bits[m / 64], 1ul << (m % 64),
			__ATOMIC_ACQ_REL);
		*ret = m;
		return 0;
	}
	for (; m < CANON_MINORS; m++) {
		unsigned long used = __atomic_load_n(&cm->bits[m / 64],
			__ATOMIC_RELAXED);

		bit = 1ul << (m % 64);
		if (used == ~0ul)
			m |= 63;
		if ((used & bit) != 0)
			continue;
		if ((__atomic_fetch_or(&cm->bits[m / 64], bit,
			__ATOMIC_ACQ_REL) & bit) == 0) {
			*ret = m;
			return 0;
		}
	}
	return ENXIO;
}

static inline void
canon_minor_give(struct canon_minors *cm, unsigned int m)
{
	(void)__atomic_fetch_and(&cm->bits[m / 64], ~(1ul << (m % 64)),
		__ATOMIC_ACQ_REL);
}

/*
 * canon_open, canon_close - open and close procedures of driver @name, whose
 * streams have no data except their minor, kept in q_ptr plus one.
 */
static inline int
canon_open(const char *name, queue_t *q, dev_t *devp, int sflag)
{
	struct canon_minors *cm;
	unsigned int m;
	int err;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	cm = str_drv_state(name, sizeof(*cm));
	if (cm == NULL)
		return ENOSR;
	err = canon_minor_take(cm, sflag,
		sflag == CLONEOPEN ? 1 : getminor(*devp), &m);
	if (err != 0)
		return err;
	*devp = makedevice(getmajor(*devp), m);
	q->q_ptr = WR(q)->q_ptr = (void *)(uintptr_t)(m + 1);
	qprocson(q);
	return 0;
}

static inline int
canon_close(const char *name, queue_t *q)
{
	struct canon_minors *cm = str_drv_state(name, sizeof(*cm));
	unsigned int m = (unsigned int)(uintptr_t)q->q_ptr - 1;

	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	if (cm != NULL)
		canon_minor_give(cm, m);
	return 0;
}

#endif
