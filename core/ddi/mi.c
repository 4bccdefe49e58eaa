/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * <sys/mi.h>: instances, ioctls in steps, timers.
 *
 * Instances.  The private data of an instance follows a header that links it
 * into the list: first those without a minor, then in the order of minors.
 *
 * Copying.  The state of an ioctl is kept in a message, which travels as
 * cq_private and cp_private.  Blocks that are to be copied out are linked to
 * it, each with its address in front of its bytes.  So everything is freed
 * with that message.
 *
 * Timers.  A timer's state is in front of its message's bytes.  A thread that
 * starts or stops a timer first cancels the callback, and waits for one that
 * is running.  After that only mi_timer_valid() in the service procedure can
 * run at the same time; the module's perimeter excludes that.
 *
 * Crash. Messages that are kept here have no owner.  They stay when the process
 * that made them is killed.
 */
#include "ddi_impl.h"
#include <sys/mi.h>
#include <sys/strsun.h>

/* -------------------------------------------------------------- instances */

struct instance {
	struct instance *next;
	size_t size;	/* of the block */
	long minor;	/* -1: a module's */
	uint64_t pad;
};

static struct instance *
instance_of(caddr_t ptr)
{
	return (struct instance *)(void *)(ptr - sizeof(struct instance));
}

static caddr_t
data_of(struct instance *in)
{
	return in != NULL ? (caddr_t)(in + 1) : NULL;
}

/* The position of minor @m in the list; *ret_taken: it is in use. */
static struct instance **
place(caddr_t *headp, long m, bool *ret_taken)
{
	struct instance **link = (struct instance **)(void *)headp;

	while (*link != NULL && (*link)->minor < m)
		link = &(*link)->next;
	*ret_taken = m >= 0 && *link != NULL && (*link)->minor == m;
	return link;
}

caddr_t
mi_open_alloc(size_t size)
{
	struct instance *in;

	if (size > STR_MEM_MAX)
		return NULL;
	in = kmem_zalloc(sizeof(*in) + size, KM_NOSLEEP);
	if (in == NULL)
		return NULL;
	in->size = sizeof(*in) + size;
	return data_of(in);
}

void
mi_close_free(caddr_t ptr)
{
	if (ptr != NULL)
		kmem_free(instance_of(ptr), instance_of(ptr)->size);
}

int
mi_open_link(caddr_t *headp, caddr_t ptr, dev_t *devp, int flag, int sflag,
	cred_t *crp)
{
	long m = sflag == MODOPEN ? -1 : (long)getminor(*devp);
	struct instance *in = instance_of(ptr), **link;
	bool taken;

	(void)flag, (void)crp;
	link = place(headp, m, &taken);
	if (sflag == CLONEOPEN)
		for (m = 1; link = place(headp, m, &taken), taken; m++)
			;
	if (taken)
		return EBUSY;
	in->minor = m;
	in->next = *link;
	str_barrier();
	*link = in;
	if (sflag == CLONEOPEN)
		*devp = makedevice(getmajor(*devp), (minor_t)m);
	return 0;
}

void
mi_close_unlink(caddr_t *headp, caddr_t ptr)
{
	struct instance **link = (struct instance **)(void *)headp;

	while (*link != NULL && *link != instance_of(ptr))
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

int
mi_open_comm(caddr_t *headp, size_t size, queue_t *q, dev_t *devp, int flag,
	int sflag, cred_t *crp)
{
	caddr_t ptr;
	int err;

	if (q->q_ptr != NULL)
		return 0;
	ptr = mi_open_alloc(size);
	if (ptr == NULL)
		return ENOMEM;
	err = mi_open_link(headp, ptr, devp, flag, sflag, crp);
	if (err != 0) {
		mi_close_free(ptr);
		return err;
	}
	q->q_ptr = WR(q)->q_ptr = ptr;
	return 0;
}

int
mi_close_comm(caddr_t *headp, queue_t *q)
{
	caddr_t ptr = q->q_ptr;

	if (ptr == NULL)
		return 0;
	mi_close_unlink(headp, ptr);
	q->q_ptr = WR(q)->q_ptr = NULL;
	mi_close_free(ptr);
	return 0;
}

caddr_t
mi_first_ptr(caddr_t *headp)
{
	return data_of((struct instance *)(void *)*headp);
}

caddr_t
mi_next_ptr(caddr_t ptr)
{
	return data_of(instance_of(ptr)->next);
}

void
str_mi_enable(void *arg)
{
	qenable(arg);
}

int
mi_bufcall(queue_t *q, int size, int pri)
{
	return qbufcall(q, (size_t)size, (unsigned)pri, str_mi_enable,
		q) != 0;
}

/* ---------------------------------------------------------------- copying */

struct copy {
	uint32_t transparent;
	int dir;
	int n[3];  /* copies so far, by direction */
	int rval;
	void *arg; /* of the transparent ioctl */
};

struct dest {
	void *uaddr;
	size_t len;
};

static struct copyresp *
resp(mblk_t *mp)
{
	return (struct copyresp *)(void *)mp->b_rptr;
}

/* The state of the ioctl that @mp is part of, NULL before the first step. */
static mblk_t *
state_msg(mblk_t *mp)
{
	return mp->b_datap->db_type == M_IOCDATA ? resp(mp)->cp_private : NULL;
}

static struct copy *
copy_of(mblk_t *st)
{
	return (struct copy *)(void *)st->b_rptr;
}

/* The state; made at the first step. NULL: no memory. */
static mblk_t *
state_make(mblk_t *mp)
{
	mblk_t *st = state_msg(mp);
	struct copy *c;

	if (st != NULL)
		return st;
	st = allocb(sizeof(*c), BPRI_HI);
	if (st == NULL)
		return NULL;
	st->b_datap->db_type = M_CTL;
	st->b_wptr += sizeof(*c);
	c = copy_of(st);
	*c = (struct copy){0};
	c->transparent = IOCP(mp)->ioc_count == TRANSPARENT;
	if (c->transparent && mp->b_cont != NULL &&
	    MBLKL(mp->b_cont) >= (long)sizeof(c->arg))
		__builtin_memcpy(&c->arg, mp->b_cont->b_rptr, sizeof(c->arg));
	str_msg_disown(st);
	return st;
}

void
mi_copy_done(queue_t *q, mblk_t *mp, int err)
{
	mblk_t *st = state_msg(mp);
	int rval = 0;

	if (st != NULL) {
		rval = copy_of(st)->rval;
		str_msg_own(st);
		freemsg(st);
	}
	if (err != 0)
		miocnak(q, mp, 0, err);
	else
		miocack(q, mp, 0, rval);
}

/* Treat data that came with the ioctl as if it had been copied in. */
static void
have_data(queue_t *q, mblk_t *mp, mblk_t *st, size_t len)
{
	if (miocpullup(mp, len) != 0) {
		str_msg_own(st);
		freemsg(st);
		miocnak(q, mp, 0, EINVAL);
		return;
	}
	mp->b_datap->db_type = M_IOCDATA;
	mp->b_wptr = mp->b_rptr + sizeof(struct copyresp);
	resp(mp)->cp_rval = NULL;
	resp(mp)->cp_private = st;
	put(q, mp);
}

void
mi_copyin(queue_t *q, mblk_t *mp, caddr_t uaddr, size_t len)
{
	bool first = mp->b_datap->db_type == M_IOCTL;
	mblk_t *st = state_make(mp);
	struct copy *c;

	if (st == NULL) {
		miocnak(q, mp, 0, ENOMEM);
		return;
	}
	c = copy_of(st);
	c->dir = MI_COPY_IN;
	c->n[MI_COPY_IN]++;
	if (!c->transparent && first && uaddr == NULL) {
		have_data(q, mp, st, len);
		return;
	}
	if (uaddr == NULL)
		uaddr = c->arg;
	if (uaddr == NULL) {
		str_msg_own(st);
		freemsg(st);
		miocnak(q, mp, 0, first ? EINVAL : EFAULT);
		return;
	}
	mcopyin(mp, st, len, uaddr);
	qreply(q, mp);
}

mblk_t *
mi_copyout_alloc(queue_t *q, mblk_t *mp, caddr_t uaddr, size_t len,
	int free_on_error)
{
	mblk_t *st = state_msg(mp), *bp;
	struct dest *d;

	bp = st != NULL && len <= STR_MEM_MAX ?
		allocb(sizeof(*d) + len, BPRI_MED) : NULL;
	if (bp == NULL) {
		if (free_on_error)
			mi_copy_done(q, mp, st != NULL ? ENOMEM : EINVAL);
		return NULL;
	}
	d = (struct dest *)(void *)bp->b_rptr;
	d->uaddr = uaddr != NULL ? uaddr : copy_of(st)->arg;
	d->len = len;
	bp->b_rptr += sizeof(*d);
	bp->b_wptr = bp->b_rptr + len;
	str_msg_disown(bp);
	linkb(st, bp);
	return bp;
}

/* The first block that waits to be copied out, or NULL. */
static mblk_t *
take_out(mblk_t *st, struct dest *ret_dest)
{
	mblk_t *bp = st->b_cont;

	if (bp == NULL)
		return NULL;
	str_msg_own(bp);
	st->b_cont = bp->b_cont;
	bp->b_cont = NULL;
	*ret_dest = *(struct dest *)(void *)bp->b_datap->db_base;
	return bp;
}

void
mi_copyout(queue_t *q, mblk_t *mp)
{
	mblk_t *st = state_msg(mp), *bp;
	struct copy *c;
	struct dest d;

	bp = st != NULL ? take_out(st, &d) : NULL;
	if (bp == NULL) {
		mi_copy_done(q, mp, 0);
		return;
	}
	c = copy_of(st);
	if (!c->transparent) {
		int rval = c->rval;

		str_msg_own(st);
		freemsg(st);
		mioc2ack(mp, bp, d.len, rval);
	} else {
		c->dir = MI_COPY_OUT;
		c->n[MI_COPY_OUT]++;
		mcopyout(mp, st, d.len, d.uaddr, bp);
	}
	qreply(q, mp);
}

int
mi_copy_state(queue_t *q, mblk_t *mp, mblk_t **mpp)
{
	mblk_t *st = state_msg(mp);
	struct copy *c;

	(void)q;
	if (mpp != NULL)
		*mpp = NULL;
	if (st == NULL || resp(mp)->cp_rval != NULL) {
		/* the head has answered its caller already */
		if (st != NULL) {
			str_msg_own(st);
			freemsg(st);
		}
		freemsg(mp);
		return -1;
	}
	c = copy_of(st);
	if (mpp != NULL && c->dir == MI_COPY_IN)
		*mpp = mp->b_cont;
	return MI_COPY_CASE(c->dir, c->n[c->dir]);
}

void
mi_copy_set_rval(mblk_t *mp, int rval)
{
	mblk_t *st = state_msg(mp);

	if (st != NULL)
		copy_of(st)->rval = rval;
}

/* ----------------------------------------------------------------- timers */

#define TIMER_IDLE 0u
#define TIMER_RUNNING 1u /* the callback will come */
#define TIMER_QUEUED 2u	 /* the message is on the queue */
#define TIMER_VOID 3u	 /* on the queue, to be ignored */
#define TIMER_DEAD 4u	 /* on the queue, to be freed */

struct timer {
	queue_t *q;
	toid_t id;
	str_a32 state;
	uint32_t again;	    /* restart when it is taken off the queue */
	clock_t msec;	    /* ... for so long */
	uint64_t pad;
};

static struct timer *
timer_of(mblk_t *mp)
{
	return (struct timer *)(void *)mp->b_datap->db_base;
}

mblk_t *
mi_timer_alloc(size_t size)
{
	mblk_t *mp = size <= STR_MEM_MAX ?
		allocb(sizeof(struct timer) + size, BPRI_MED) : NULL;

	if (mp == NULL)
		return NULL;
	mp->b_datap->db_type = M_PCSIG;
	*timer_of(mp) = (struct timer){0};
	mp->b_rptr += sizeof(struct timer);
	mp->b_wptr = mp->b_rptr + size;
	str_msg_disown(mp);
	return mp;
}

void
str_mi_expire(void *arg)
{
	mblk_t *mp = arg;
	struct timer *tm = timer_of(mp);

	if (!str_cas(&tm->state, TIMER_RUNNING, TIMER_QUEUED))
		return;
	str_msg_own(mp);
	if (putq(tm->q, mp) == 0) {
		str_msg_disown(mp);
		str_store(&tm->state, TIMER_IDLE);
	}
}

static int
start(queue_t *q, mblk_t *mp, clock_t msec)
{
	struct timer *tm = timer_of(mp);

	tm->q = q;
	str_store(&tm->state, TIMER_RUNNING);
	tm->id = qtimeout(q, str_mi_expire, mp,
		(long)drv_msectohz((unsigned long)msec));
	if (tm->id != 0)
		return 1;
	str_store(&tm->state, TIMER_IDLE);
	return 0;
}

int
mi_timer_stop(mblk_t *mp)
{
	struct timer *tm = timer_of(mp);

	tm->again = 0;
	if (str_load(&tm->state) == TIMER_RUNNING)
		(void)quntimeout(tm->q, tm->id);
	if (str_cas(&tm->state, TIMER_RUNNING, TIMER_IDLE))
		return 1;
	return str_cas(&tm->state, TIMER_QUEUED, TIMER_VOID) ? 1 : 0;
}

int
mi_timer(queue_t *q, mblk_t *mp, clock_t msec)
{
	struct timer *tm = timer_of(mp);

	(void)mi_timer_stop(mp);
	if (msec < 0)
		return 1;
	if (str_load(&tm->state) == TIMER_IDLE)
		return start(q, mp, msec);
	/* it is still on the queue */
	tm->q = q;
	tm->msec = msec;
	tm->again = 1;
	return 1;
}

int
mi_timer_valid(mblk_t *mp)
{
	struct timer *tm = timer_of(mp);

	if (str_load(&tm->state) == TIMER_DEAD) {
		freeb(mp);
		return 0;
	}
	str_msg_disown(mp);
	if (str_cas(&tm->state, TIMER_QUEUED, TIMER_IDLE))
		return 1;
	(void)str_cas(&tm->state, TIMER_VOID, TIMER_IDLE);
	if (tm->again) {
		tm->again = 0;
		(void)start(tm->q, mp, tm->msec);
	}
	return 0;
}

void
mi_timer_free(mblk_t *mp)
{
	struct timer *tm;

	if (mp == NULL)
		return;
	tm = timer_of(mp);
	(void)mi_timer_stop(mp);
	if (str_cas(&tm->state, TIMER_VOID, TIMER_DEAD))
		return; /* mi_timer_valid() frees it, or flushq() */
	str_msg_own(mp);
	freeb(mp);
}

/* --------------------------------------------------------------------- text */

#define TEXT_MIN 512u /* bytes of a block that is added */

int
mi_mpprintf(mblk_t *mp, const char *fmt, ...)
{
	mblk_t *bp = mp, *more;
	va_list ap;
	size_t room;
	int n;

	va_start(ap, fmt);
	n = str_ddi_vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	while (bp->b_cont != NULL)
		bp = bp->b_cont;
	room = (size_t)(bp->b_datap->db_lim - bp->b_wptr);
	if ((size_t)n >= room) { /* its NUL is written as well */
		room = STR_MAX((size_t)n + 1, (size_t)TEXT_MIN);
		more = allocb(room, BPRI_MED);
		if (more == NULL)
			return -1;
		linkb(mp, more);
		bp = more;
	}
	va_start(ap, fmt);
	(void)str_ddi_vsnprintf((char *)bp->b_wptr, room, fmt, ap);
	va_end(ap);
	bp->b_wptr += n;
	return n;
}

int
mi_sprintf(char *buf, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = str_ddi_vsnprintf(buf, (size_t)INT_MAX, fmt, ap);
	va_end(ap);
	return n;
}

int
mi_strlog(queue_t *q, char level, unsigned short flags, const char *fmt, ...)
{
	va_list ap;
	int done;

	va_start(ap, fmt);
	done = vstrlog((short)q->q_qinfo->qi_minfo->mi_idnum, 0, level, flags,
		fmt, ap);
	va_end(ap);
	return done;
}
