/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The Stream head's put procedure: the effect of each message that arrives
 * there.  One case per message type; messages of other types are freed.
 */
#include "msg/alloc.h"
#include "fast.h"
#include "sig.h"

#include <str/builtin.h>

#define LOGGED(mp) ((mp)->b_band == 0 && (mp)->b_datap->db_type < QPCTL)

/* Is @mp the first of its band?  Return: the events to signal. */
static uint32_t
first_of_band(struct str_head *sd, const mblk_t *mp)
{
	queue_t *q = &sd->qp->rq;
	const mblk_t *bp;

	if (mp->b_datap->db_type >= QPCTL)
		return STR_S_HIPRI;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (bp = q->q_first; bp != NULL; bp = bp->b_next)
		if (bp->b_datap->db_type < QPCTL && bp->b_band == mp->b_band)
			break;
	str_unlock(&q->q_klock);
	return bp == NULL ?
		STR_SIG_ABOUT(STR_S_INPUT | STR_S_RDBAND, mp->b_band) : 0;
}

/* Record the CPU of the sender from time to time: see head/sleep.c:try_first. */
STR_INLINE void
note_cpu(struct str_headq *hq)
{
	uint32_t cpu;

	if (str_likely((hq->unseen++ & 63) != 0))
		return;
	cpu = host_cpu();
	if (str_load(&hq->pcpu) != cpu)
		str_store(&hq->pcpu, cpu);
}

/* The beginning of a primitive that ends a connection, or its receiving. */
struct ending {
	int32_t prim, reason, seq; /* the latter two of a T_DISCON_IND */
};

/*
 * What such a primitive means for a socket.  The error is there before the
 * message; the rest is not, because a read that finds no message then returns
 * the end of the file.
 */
static uint32_t
socket_end(struct str_head *sd, const struct ending *e)
{
	if ((str_load(&sd->flags) & STR_H_SOCK) == 0)
		return 0;
	if (e->prim == STR_PRIM_RELEASE)
		return STR_H_EOF;
	if (e->seq != -1)
		return 0; /* a caller of a listener has gone */
	str_store(&sd->sockerr, (uint32_t)e->reason);
	return STR_H_EOF | STR_H_WSHUT;
}

static void
log_append(struct str_head *sd, mblk_t *mp)
{
	struct str_headq *hq = &sd->hq;
	struct ending e = {0};
	uint32_t end = 0;
	ssize_t n;

	if (mp->b_datap->db_type == M_PROTO) {
		n = mp->b_wptr - mp->b_rptr;
		if (n >= (ssize_t)sizeof(e.prim))
			__builtin_memcpy(&e.prim, mp->b_rptr, sizeof(e.prim));
		if (str_unlikely(e.prim == STR_PRIM_END ||
			    e.prim == STR_PRIM_RELEASE)) {
			if (n >= (ssize_t)sizeof(e))
				__builtin_memcpy(&e, mp->b_rptr, sizeof(e));
			end = socket_end(sd, &e);
		}
	}
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	str_headq_settle(hq);
	str_headq_deliver(hq, mp);
	if (str_unlikely(e.prim == STR_PRIM_END))
		str_store(&hq->ended, str_load(&hq->pos));
	note_cpu(hq);
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_unlikely(end != 0))
		(void)str_or(&sd->flags, end);
}

/*
 * Ordinary messages of band 0 are appended to the head queue; those of higher
 * bands and of high priority are put on the read queue.
 */
static void
deliver(struct str_head *sd, mblk_t *mp)
{
	uint32_t ev = 0;

	if (LOGGED(mp)) {
		log_append(sd, mp);
	} else {
		if (str_unlikely(sd->sigs != NULL))
			ev = first_of_band(sd, mp);
		if (!putq(&sd->qp->rq, mp)) {
			/* a head's queue refuses no message */
			STR_ASSERT(false);
			freemsg(mp);
			return;
		}
	}
	str_wake_readers(sd);
	if (str_unlikely(ev != 0))
		str_sig_event(sd, ev);
}

/* See <str/builtin.h>. */
int
str_head_again(queue_t *q, mblk_t *(*fn)(queue_t *q, mblk_t *mp))
{
	queue_t *up = q->q_next;
	struct str_head *sd = up != NULL ? up->q_head : NULL;
	mblk_t *first = NULL, **end = &first, *late = NULL, *mp, *next;
	struct str_headq *hq;
	struct str_rec rec;
	bool all;

	if (sd == NULL)
		return 0;
	hq = &sd->hq;
	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	while ((mp = str_headq_take(hq)) != NULL) {
		mp->b_next = NULL;
		*end = mp;
		end = &mp->b_next;
	}
	/*
	 * a record that could not be taken for lack of memory comes before the
	 * others
	 */
	all = !str_headq_first(hq, &rec);
	/* messages that waited for memory are next */
	while (all && (mp = getq(&sd->qp->wq)) != NULL) {
		mp->b_next = NULL;
		*end = mp;
		end = &mp->b_next;
	}
	if (all && str_load(&hq->overflow) != 0)
		str_headq_hold(hq, false);
	for (mp = first; mp != NULL && !all; mp = next) {
		next = mp->b_next;
		mp->b_next = NULL;
		if (!putq(up, mp)) /* messages there are read first */
			freemsg(mp); /* cannot happen: band 0 needs no memory */
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
	for (mp = first; mp != NULL && all; mp = next) {
		next = mp->b_next;
		mp->b_next = NULL;
		mp = fn(q, mp);
		if (mp != NULL && mp->b_datap->db_type > M_PROTO) {
			freemsg(late);
			late = mp;
		} else if (mp != NULL) {
			str_headq_deliver(hq, mp);
		}
	}
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (late != NULL)
		putnext(q, late);
	str_wake_readers(sd);
	return all ? 0 : ENOSR;
}

/* See <str/builtin.h>. */
void
str_head_end(queue_t *q, int ended)
{
	struct str_head *sd;

	while (q->q_next != NULL)
		q = q->q_next;
	sd = q->q_head;
	if (sd == NULL)
		return;
	if (ended) {
		(void)str_or(&sd->flags, STR_H_EOF);
		str_wake_readers(sd);
		return;
	}
	(void)str_and(&sd->flags, ~STR_H_EOF);
	str_store(&sd->user[0], 0u);
	str_store(&sd->user[1], 0u);
}

/*
 * M_SIG takes effect when all earlier messages have been read.  Until then it
 * is a record of the log, which readers skip: str_sig_front().
 */
static void
m_sig(struct str_head *sd, mblk_t *mp)
{
	if (mp->b_wptr - mp->b_rptr < 1) {
		freemsg(mp);
		return;
	}
	if (!str_head_pending(sd) && str_load(&sd->hq.overflow) == 0) {
		str_sig_message(sd, *mp->b_rptr);
		freemsg(mp);
		return;
	}
	mp->b_band = 0;
	log_append(sd, mp);
	(void)str_or(&sd->flags, STR_H_MSIG);
	str_fence_full();
	str_sig_front(sd);
}

void
str_head_putback(struct str_head *sd, mblk_t *mp)
{
	STR_CRASH_POINT("head:putback");
	if (!putbq(&sd->qp->rq, mp))
		freemsg(mp); /* its band is there: cannot happen */
}

/* SVR4: at most one M_PCPROTO waits; a second one is discarded. */
static void
m_pcproto(struct str_head *sd, mblk_t *mp)
{
	queue_t *q = &sd->qp->rq;
	bool have;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	have = q->q_first != NULL &&
		q->q_first->b_datap->db_type == M_PCPROTO;
	str_unlock(&q->q_klock);
	if (have)
		freemsg(mp);
	else
		deliver(sd, mp);
}

/* str_head_flush_read - discard the messages to be read, of all bands or one */
void
str_head_flush_read(struct str_head *sd, int band)
{
	struct str_headq *hq = &sd->hq;
	queue_t *q = &sd->qp->rq;

	if (band <= 0)
		str_headq_flush(hq, true);
	/* a thread that looks at the first message (I_PEEK, ioctl.c) holds
	 * the consumer's lock */
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	if (band < 0)
		flushq(q, FLUSHALL);
	else
		flushband(q, (unsigned char)band, FLUSHALL);
	str_hunlock(&hq->clock, STR_HOLD_C);
	host_fence_light();
	if (str_load(&hq->wwant) != 0)
		str_wake_writers(sd);
}

/*
 * A message that is changed in place must not be shared, for example by a
 * multiplexor that sent it to several Streams by dupmsg().  Consumes
 * @mp.  Return: NULL when it was shared and there is no memory.
 */
static mblk_t *
unshared(mblk_t *mp)
{
	mblk_t *nb;

	if (str_likely(str_load_acq(&mp->b_datap->db_ref) == 1))
		return mp;
	nb = copyb(mp);
	if (nb != NULL) {
		nb->b_cont = mp->b_cont;
		mp->b_cont = NULL;
	}
	freemsg(mp);
	return nb;
}

/* SVR4 M_FLUSH at the head: flush, then send FLUSHW back down. */
static void
m_flush(struct str_head *sd, queue_t *q, mblk_t *mp)
{
	int band = -1;

	if (str_blen(mp) < 1) {
		freemsg(mp);
		return;
	}
	if ((*mp->b_rptr & FLUSHBAND) && mp->b_wptr - mp->b_rptr > 1)
		band = mp->b_rptr[1];
	if (*mp->b_rptr & FLUSHR)
		str_head_flush_read(sd, band);
	if ((*mp->b_rptr & FLUSHW) && (mp->b_flag & MSGNOLOOP) == 0) {
		mp = unshared(mp);
		if (mp == NULL)
			return;
		*mp->b_rptr &= (unsigned char)~FLUSHR;
		mp->b_flag |= MSGNOLOOP;
		qreply(q, mp);
		return;
	}
	freemsg(mp);
}

int
str_head_rderr(struct str_head *sd)
{
	uint32_t e;

	if ((str_load(&sd->flags) & STR_H_RDERR) == 0)
		return 0;
	e = str_load(&sd->rerror);
	if (sd->errpersist & 1u)
		(void)str_and(&sd->flags, ~STR_H_RDERR);
	return (int)e;
}

int
str_head_wrerr(struct str_head *sd)
{
	uint32_t e;

	if ((str_load(&sd->flags) & STR_H_WRERR) == 0)
		return 0;
	e = str_load(&sd->werror);
	if (sd->errpersist & 2u)
		(void)str_and(&sd->flags, ~STR_H_WRERR);
	return (int)e;
}

/*
 * SVR4: an error flushes the queues of that side, and an M_FLUSH goes down.  On
 * a pipe this M_FLUSH arrives at the other end, whose read side is this end's
 * write side.  So only the flush for writing is sent.  With pipemod between the
 * ends it becomes a flush for reading there, of the data written here; without
 * pipemod the other head ignores it (MSGNOLOOP).  A flush for reading would,
 * without pipemod, discard the data written here, although the error is that of
 * reading.
 */
static void
flush_after(struct str_head *sd, mblk_t *mp, uint32_t set)
{
	unsigned how = ((set & STR_H_RDERR) ? FLUSHR : 0) |
		((set & STR_H_WRERR) ? FLUSHW : 0);

	if (set & STR_H_RDERR)
		str_head_flush_read(sd, -1);
	if ((str_load(&sd->flags) & STR_H_DEV) == 0)
		how &= FLUSHW;
	if (how == 0 || (str_load(&sd->flags) & STR_H_FIFO) != 0) {
		freemsg(mp);
		return;
	}
	mp = unshared(mp);
	if (mp == NULL)
		return;
	mp->b_datap->db_type = M_FLUSH;
	mp->b_rptr = mp->b_datap->db_base;
	*mp->b_rptr = (unsigned char)how;
	mp->b_wptr = mp->b_rptr + 1;
	mp->b_flag |= MSGNOLOOP;
	qreply(&sd->qp->rq, mp);
}

/* SVR4 M_ERROR: one byte for both sides, or read and write apart. */
static void
m_error(struct str_head *sd, mblk_t *mp)
{
	unsigned char r, w;
	uint32_t set = 0, clr = 0;

	if (str_blen(mp) < 1) {
		freemsg(mp);
		return;
	}
	r = mp->b_rptr[0];
	w = mp->b_wptr - mp->b_rptr > 1 ? mp->b_rptr[1] : r;
	if (r != NOERROR) {
		str_store(&sd->rerror, (uint32_t)r);
		*(r != 0 ? &set : &clr) |= STR_H_RDERR;
	}
	if (w != NOERROR) {
		str_store(&sd->werror, (uint32_t)w);
		*(w != 0 ? &set : &clr) |= STR_H_WRERR;
	}
	(void)str_and(&sd->flags, ~clr);
	if (set == 0) {
		freemsg(mp);
		str_wake_all(sd);
		return;
	}
	str_head_set(sd, set);
	flush_after(sd, mp, set);
	str_sig_event(sd, STR_SIG_ABOUT(STR_S_ERROR,
		(set & STR_H_RDERR) ? r : w));
}

/* A water mark as stored in a head: the maximum means no limit. */
static uint32_t
mark(size_t v)
{
	return (uint32_t)STR_MIN(v, (size_t)UINT32_MAX);
}

/* Set the so_readopt of an M_SETOPTS, as I_SRDOPT does. */
static void
set_readopt(struct str_head *sd, unsigned v)
{
	unsigned proto = v & 0x1cu;

	if ((v & ~0x3fu) == 0 && (v & 3u) != 3u && (proto & (proto - 1)) == 0)
		sd->rdopt = v & ~0x10u;
}

static void
set_flag(struct str_head *sd, unsigned long f, unsigned long on,
	unsigned long off, uint32_t flag)
{
	if (f & on)
		(void)str_or(&sd->flags, flag);
	if (f & off)
		(void)str_and(&sd->flags, ~flag);
}

static void
m_setopts(struct str_head *sd, mblk_t *mp)
{
	const struct stroptions *so =
		(const struct stroptions *)(const void *)mp->b_rptr;
	unsigned long f;
	uint32_t hi = sd->hq.hiwat, lo = sd->hq.lowat;

	if (str_blen(mp) < sizeof(*so)) {
		freemsg(mp);
		return;
	}
	f = so->so_flags;
	if (f & SO_READOPT)
		set_readopt(sd, (unsigned)so->so_readopt);
	if (f & SO_WROFF)
		sd->wroff = so->so_wroff;
	if (f & SO_WRPAD)
		sd->wrpad = so->so_wrpad;
	if (f & SO_MINPSZ)
		sd->qp->rq.q_minpsz = so->so_minpsz;
	if (f & SO_MAXPSZ)
		sd->qp->rq.q_maxpsz = so->so_maxpsz;
	if (f & SO_BAND) {
		if (f & SO_HIWAT)
			(void)strqset(&sd->qp->rq, QHIWAT, so->so_band,
				(long)so->so_hiwat);
		if (f & SO_LOWAT)
			(void)strqset(&sd->qp->rq, QLOWAT, so->so_band,
				(long)so->so_lowat);
	} else {
		if (f & SO_HIWAT)
			hi = mark(so->so_hiwat);
		if (f & SO_LOWAT)
			lo = mark(so->so_lowat);
		if ((f & (SO_HIWAT | SO_LOWAT)) && lo <= hi) {
			str_headq_limits(&sd->hq, hi, lo);
			sd->qp->rq.q_hiwat = hi;
			sd->qp->rq.q_lowat = lo;
		}
	}
	set_flag(sd, f, SO_MREADON, SO_MREADOFF, STR_H_MREAD);
	set_flag(sd, f, SO_NDELON, SO_NDELOFF, STR_H_NDEL);
	set_flag(sd, f, SO_DELIM, SO_NODELIM, STR_H_DELIM);
	set_flag(sd, f, SO_ISTTY, SO_ISNTTY, STR_H_TTY);
	set_flag(sd, f, SO_TOSTOP, SO_TONSTOP, STR_H_TOSTOP);
	set_flag(sd, f, SO_STRHOLD, 0, STR_H_HOLD);
	if (f & SO_ERROPT)
		sd->errpersist = so->so_erropt & 3u;
	freemsg(mp);
	str_wake_all(sd);
}

/*
 * str_ioctl_stale - no caller waits for answer @mp any more
 * A module that requested a copy gets a failure, so that it can free its state.
 */
void
str_ioctl_stale(struct str_head *sd, mblk_t *mp)
{
	struct copyresp *cp = (struct copyresp *)(void *)mp->b_rptr;

	if (mp->b_datap->db_type != M_COPYIN &&
	    mp->b_datap->db_type != M_COPYOUT) {
		freemsg(mp);
		return;
	}
	freemsg(mp->b_cont);
	mp->b_cont = NULL;
	mp->b_datap->db_type = M_IOCDATA;
	cp->cp_rval = (char *)1;
	mp->b_wptr = mp->b_rptr + sizeof(*cp);
	qreply(&sd->qp->rq, mp);
}

/* An answer to the ioctl in progress; anything else is stale. */
static void
ioctl_answer(struct str_head *sd, mblk_t *mp)
{
	const struct iocblk *ioc =
		(const struct iocblk *)(const void *)mp->b_rptr;
	size_t room = (size_t)(mp->b_datap->db_lim - mp->b_rptr);

	/* too short to be one; or a copy request without room for the answer
	 * that is made of it later */
	if (str_blen(mp) < offsetof(struct iocblk, ioc_flag) ||
	    ((mp->b_datap->db_type == M_COPYIN ||
		     mp->b_datap->db_type == M_COPYOUT) &&
		    room < sizeof(struct copyreq))) {
		freemsg(mp);
		return;
	}
	if (ioc->ioc_id != sd->ioc.id ||
	    !str_cas(&sd->ioc.state, 1u, host_self_tag())) {
		str_ioctl_stale(sd, mp);
		return;
	}
	/* after a death from here on: str_ioctl_revive() */
	STR_CRASH_POINT("ioctl:answer");
	str_msg_own(mp);
	sd->ioc.reply = mp;
	STR_CRASH_POINT("ioctl:answered");
	str_msg_disown(mp);
	str_store_rel(&sd->ioc.state, 2u);
	str_ioctl_tell(sd);
}

/*
 * The other end of a pipe answers an M_IOCTL with a negative acknowledgement.
 */
static void
m_ioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc;

	if (str_blen(mp) < offsetof(struct iocblk, ioc_flag)) {
		freemsg(mp);
		return;
	}
	mp = unshared(mp);
	if (mp == NULL)
		return;
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	mp->b_datap->db_type = M_IOCNAK;
	ioc->ioc_error = EINVAL;
	ioc->ioc_rval = 0;
	ioc->ioc_count = 0;
	if (mp->b_cont != NULL) {
		freemsg(mp->b_cont);
		mp->b_cont = NULL;
	}
	qreply(q, mp);
}

/*
 * An M_IOCDATA for a module that has been popped: answer the waiting caller,
 * unless the copy failed.
 */
static void
m_iocdata(queue_t *q, mblk_t *mp)
{
	const struct copyresp *cp =
		(const struct copyresp *)(const void *)mp->b_rptr;

	if (str_blen(mp) < offsetof(struct copyresp, cp_filler) ||
	    cp->cp_rval != NULL)
		freemsg(mp);
	else
		m_ioctl(q, mp);
}

/*
 * M_READ: the number of bytes that a reader at the other end requests.  No
 * action is needed: each write is published at once, small ones with SNDHOLD
 * too.
 */
static void
m_read(struct str_head *sd, mblk_t *mp)
{
	(void)sd;
	freemsg(mp);
}

/*
 * One of the extensions of M_MI is for the head: no more data comes for the
 * waiting read, which ends as with an empty message.
 */
static void
m_mi(struct str_head *sd, mblk_t *mp)
{
	if (str_blen(mp) < 1 || *mp->b_rptr != M_MI_READ_END ||
	    (mp = unshared(mp)) == NULL) {
		freemsg(mp);
		return;
	}
	freemsg(mp->b_cont);
	mp->b_cont = NULL;
	mp->b_datap->db_type = M_DATA;
	mp->b_band = 0;
	mp->b_wptr = mp->b_rptr;
	deliver(sd, mp);
}

/* Any message that deliver_quick() did not handle. */
static STR_NOINLINE void
rput(struct str_head *sd, queue_t *q, mblk_t *mp)
{
	mp = str_msg_unpin_or_free(mp);
	if (mp == NULL)
		return;
	if ((str_load(&q->q_flag) & QREADR) == 0) {
		freemsg(mp); /* messages put on a head's write queue are not
			      * supported */
		return;
	}
	switch (mp->b_datap->db_type) {
	case M_DATA:
	case M_PROTO:
	case M_PASSFP:
		deliver(sd, mp);
		break;
	case M_HPDATA:
	case M_PCPROTO:
		m_pcproto(sd, mp);
		break;
	case M_FLUSH:
		m_flush(sd, q, mp);
		break;
	case M_ERROR:
		m_error(sd, mp);
		break;
	case M_HANGUP:
		freemsg(mp);
		str_head_set(sd, STR_H_HUP);
		str_tty_hangup(sd);
		break;
	case M_UNHANGUP:
		freemsg(mp);
		if ((str_load(&sd->flags) & STR_H_PEER) == 0)
			(void)str_and(&sd->flags, ~STR_H_HUP);
		str_wake_all(sd);
		break;
	case M_SIG:
		m_sig(sd, mp);
		break;
	case M_PCSIG:
		if (str_blen(mp) != 0)
			str_sig_message(sd, *mp->b_rptr);
		freemsg(mp);
		break;
	case M_SETOPTS:
	case M_PCSETOPTS:
		m_setopts(sd, mp);
		break;
	case M_IOCACK:
	case M_IOCNAK:
	case M_COPYIN:
	case M_COPYOUT:
		ioctl_answer(sd, mp);
		break;
	case M_IOCTL:
		m_ioctl(q, mp);
		break;
	case M_IOCDATA:
		m_iocdata(q, mp);
		break;
	case M_READ:
		m_read(sd, mp);
		break;
	case M_MI:
		m_mi(sd, mp);
		break;
	default:
		/*
		 * M_BREAK, M_CTL, M_DELAY, M_STOP, M_START and the like are for
		 * modules and drivers
		 */
		freemsg(mp);
		break;
	}
}

/*
 * The most frequent case: one block of plain data, which is copied into the log
 * if it is short.  Return: false: another message, or not possible now.
 */
STR_INLINE bool
deliver_quick(struct str_head *sd, mblk_t *mp)
{
	struct str_headq *hq = &sd->hq;
	struct str_thread *t = host_self();
	size_t n = (size_t)(mp->b_wptr - mp->b_rptr);
	bool done;

	if (!mdb_is_plain(mp) || mp->b_cont != NULL || mp->b_band != 0 ||
	    (mp->b_flag & (MSGMARK | MSGDELIM)) != 0 || (ssize_t)n <= 0)
		return false;
	/* the fast path, if light fences are only compiler barriers */
	if (str_unlikely(str_load(&host_domain->asym) == 0 ||
		    str_load(&t->hold[STR_HOLD_P]) != 0 ||
		    !fast_lock(&hq->plock, STR_HOLD_P, t)) &&
	    str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	if (n <= COPY_MAX) {
		headq_goes(hq, mp);
		done = headq_put_quick(hq, mp->b_rptr, n);
		if (str_unlikely(!done))
			str_origin_stays(mp);
	} else {
		done = headq_put_ref(hq, mp, n);
	}
	note_cpu(hq);
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_unlikely(!done))
		return false;
	if (n <= COPY_MAX)
		mdb_plain_done(mp);
	if (str_unlikely(str_load(&hq->rwant) != 0))
		str_wake_readers(sd);
	return true;
}

/**
 * str_head_rput - the put procedure of a Stream head's read queue
 * @sd: the head
 * @q:  its read queue
 * @mp: consumed
 *
 * Context: put or service procedure of the queue before it; does not sleep.
 */
STR_HOT void
str_head_rput(struct str_head *sd, queue_t *q, mblk_t *mp)
{
	if (str_unlikely(!deliver_quick(sd, mp)))
		rput(sd, q, mp);
}
