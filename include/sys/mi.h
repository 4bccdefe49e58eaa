/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/mi.h> - module interface functions, after Mentat
 *
 * Lists of the instances of a driver or module, the steps of transparent
 * ioctls, and timers that are messages.
 */
#ifndef _SYS_MI_H
#define _SYS_MI_H

#define _STR_DDI	/* its functions, too */
#include <sys/stream.h>
#include <sys/dditypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * mi_open_comm - the common part of an open procedure
 * @headp: head of the list of instances, NULL at first
 * @size:  bytes of an instance's private data
 * @q:     the read queue; it and its partner get the data as q_ptr
 * @devp, @flag, @sflag, @crp: arguments of the open procedure
 *
 * Does nothing for a stream that is open already.  With CLONEOPEN *@devp gets
 * the lowest unused minor from 1 on.  The data is zeroed.
 *
 * The caller protects the list: opens and closes must exclude each other, by
 * the module's perimeter or by a lock.
 *
 * Context: open procedures.
 * Return: 0; ENOMEM; EBUSY: another instance has the minor.
 */
int mi_open_comm(caddr_t *headp, size_t size, queue_t *q, dev_t *devp,
	int flag, int sflag, cred_t *crp) STR_DDI(mi_open_comm);

/* mi_close_comm - the common part of a close procedure.  Return: 0. */
int mi_close_comm(caddr_t *headp, queue_t *q) STR_DDI(mi_close_comm);

/* The first instance's data, the next one's; NULL after the last. */
caddr_t mi_first_ptr(caddr_t *headp) STR_DDI(mi_first_ptr);
caddr_t mi_next_ptr(caddr_t ptr) STR_DDI(mi_next_ptr);

/**
 * mi_open_alloc - an instance's data, zeroed, that is in no list yet
 * @size: bytes
 *
 * mi_open_link puts it in the list as mi_open_comm() does, but does not use
 * queues; mi_close_unlink takes it out, mi_close_free frees it.
 *
 * Context: open and close procedures.
 * Return: mi_open_alloc: the data; NULL: no memory; mi_open_link: 0, or EBUSY
 * if another instance has the minor.
 */
caddr_t mi_open_alloc(size_t size) STR_DDI(mi_open_alloc);
int mi_open_link(caddr_t *headp, caddr_t ptr, dev_t *devp, int flag,
	int sflag, cred_t *crp) STR_DDI(mi_open_link);
void mi_close_unlink(caddr_t *headp, caddr_t ptr) STR_DDI(mi_close_unlink);
void mi_close_free(caddr_t ptr) STR_DDI(mi_close_free);

/* mi_bufcall - enable @q when there is memory for @size bytes. 0: failed. */
int mi_bufcall(queue_t *q, int size, int pri) STR_DDI(mi_bufcall);

/*
 * Copying for ioctls, transparent or not.
 *
 *	case M_IOCTL:	mi_copyin(q, mp, NULL, sizeof(struct arg));
 *	case M_IOCDATA:	switch (mi_copy_state(q, mp, &dp)) {
 *		case -1: return;	it failed, and has been answered
 *		case MI_COPY_CASE(MI_COPY_IN, 1):
 *			dp holds the struct; fill what
 *			mi_copyout_alloc() gives; mi_copyout(q, mp);
 *		case MI_COPY_CASE(MI_COPY_OUT, 1):
 *			mi_copyout(q, mp);	the next, or the end
 *
 * An I_STR with its data takes the same steps without the copying; its answer
 * is the data of the first mi_copyout().
 */
#define MI_COPY_IN 1
#define MI_COPY_OUT 2
#define MI_COPY_CASE(dir, n) (((n) << 2) | (dir))

/**
 * mi_copyin - ask for @len bytes at @uaddr of the caller
 * @q:     the write queue
 * @mp:    the M_IOCTL or M_IOCDATA; consumed
 * @uaddr: NULL: the argument of a transparent ioctl, or the data of another
 */
void mi_copyin(queue_t *q, mblk_t *mp, caddr_t uaddr, size_t len)
	STR_DDI(mi_copyin);

/**
 * mi_copyout_alloc - room for @len bytes that go to @uaddr of the caller
 * @free_on_error: without memory, refuse the ioctl with ENOMEM
 *
 * Several blocks are sent in the order of their allocation.
 * Return: a block of the message, with b_wptr behind @len bytes; NULL.
 */
mblk_t *mi_copyout_alloc(queue_t *q, mblk_t *mp, caddr_t uaddr, size_t len,
	int free_on_error) STR_DDI(mi_copyout_alloc);

/* mi_copyout - send the next block; if there is none left, acknowledge. */
void mi_copyout(queue_t *q, mblk_t *mp) STR_DDI(mi_copyout);

/* mi_copy_done - answer the ioctl: acknowledge, or refuse with @err. */
void mi_copy_done(queue_t *q, mblk_t *mp, int err) STR_DDI(mi_copy_done);

/**
 * mi_copy_state - find out which request this M_IOCDATA answers
 * @mpp: gets the data of a copyin, which stays part of @mp; or NULL
 *
 * Return: MI_COPY_CASE(direction, which one of it, from 1), or -1: the copy
 *         failed, the ioctl has been answered and @mp is gone.
 */
int mi_copy_state(queue_t *q, mblk_t *mp, mblk_t **mpp)
	STR_DDI(mi_copy_state);

/* mi_copy_set_rval - set the result of ioctl(2). */
void mi_copy_set_rval(mblk_t *mp, int rval) STR_DDI(mi_copy_set_rval);

/**
 * mi_timer_alloc - a message that is a timer
 * @size: bytes of content, between b_rptr and b_wptr
 *
 * mi_timer starts it, or restarts it if it runs.  After @msec milliseconds the
 * message, of type M_PCSIG, is put on @q.  The service procedure of @q calls
 * mi_timer_valid() to find out whether the timer is still valid, and does not
 * free the message.  A negative @msec or mi_timer_stop stops the timer.
 * mi_timer_free stops and frees it; the close procedure must do so.
 *
 * Context: any procedure of @q's module.
 */
mblk_t *mi_timer_alloc(size_t size) STR_DDI(mi_timer_alloc);
int mi_timer(queue_t *q, mblk_t *mp, clock_t msec) STR_DDI(mi_timer);
int mi_timer_stop(mblk_t *mp) STR_DDI(mi_timer_stop);
int mi_timer_valid(mblk_t *mp) STR_DDI(mi_timer_valid);
void mi_timer_free(mblk_t *mp) STR_DDI(mi_timer_free);

/**
 * mi_set_sth_hiwat - set a Stream head's high water mark, from a module
 * @q:    the read queue of the module
 * @size: bytes
 *
 * mi_set_sth_lowat, mi_set_sth_maxblk, mi_set_sth_wroff and
 * mi_set_sth_copyopt likewise.  They send an M_SETOPTS message up.
 *
 * Context: any procedure of @q's module.
 * Return: 1; 0: no memory.
 */
int mi_set_sth_hiwat(queue_t *q, size_t size) STR_DDI(mi_set_sth_hiwat);
int mi_set_sth_lowat(queue_t *q, size_t size) STR_DDI(mi_set_sth_lowat);
int mi_set_sth_maxblk(queue_t *q, ssize_t size) STR_DDI(mi_set_sth_maxblk);
int mi_set_sth_wroff(queue_t *q, size_t size) STR_DDI(mi_set_sth_wroff);
int mi_set_sth_copyopt(queue_t *q, int copyopt) STR_DDI(mi_set_sth_copyopt);

/**
 * mi_offset_param - part of a message at an offset and a length
 * @mp: the message; mi_offset_param: its first block, mi_offset_paramc: any
 *
 * Return: its address; NULL: it does not lie in one block.
 */
unsigned char *mi_offset_param(mblk_t *mp, size_t offset, size_t len)
	STR_DDI(mi_offset_param);
unsigned char *mi_offset_paramc(mblk_t *mp, size_t offset, size_t len)
	STR_DDI(mi_offset_paramc);

/**
 * mi_reallocb - make a message empty and large enough
 * @mp: any message; consumed
 *
 * Return: a message of one block with room for @size bytes, @mp itself if it is
 *         large enough and has no duplicate; NULL: no memory, and @mp is
 *         unchanged.
 */
mblk_t *mi_reallocb(mblk_t *mp, size_t size) STR_DDI(mi_reallocb);

/**
 * mi_mpprintf - add text to a message
 * @mp: a message; blocks are added to it when necessary
 * @fmt: as of cmn_err(9)
 *
 * mi_sprintf is sprintf(9). mi_strlog is strlog(9) with the number of @q's
 * module and @sid 0.
 *
 * Context: any.
 * Return: mi_mpprintf, mi_sprintf: bytes of the text; mi_mpprintf: -1: no
 * memory, and nothing has been added. mi_strlog: as strlog(9).
 */
int mi_mpprintf(mblk_t *mp, const char *fmt, ...) STR_DDI(mi_mpprintf)
	__attribute__((__format__(__printf__, 2, 3)));
int mi_sprintf(char *buf, const char *fmt, ...) STR_DDI(mi_sprintf)
	__attribute__((__format__(__printf__, 2, 3)));
int mi_strlog(queue_t *q, char level, unsigned short flags, const char *fmt,
	...) STR_DDI(mi_strlog)
	__attribute__((__format__(__printf__, 4, 5)));

#ifndef __cplusplus
#include <sys/kmem.h>

/*
 * mi_alloc,
 * mi_zalloc,
 * mi_free - kmem_alloc(9) memory that is freed without its size.
 * Return: NULL: no memory. mi_free(NULL) does nothing.
 */
#define mi_alloc(size, pri) ((void)(pri), kmem_alloc((size), KM_NOSLEEP))
#define mi_zalloc(size) kmem_zalloc((size), KM_NOSLEEP)
#define mi_free(ptr) kmem_free((ptr), 0)
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_MI_H */
