/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The generic transport provider: open, close, the gate, the procedures.
 * <str/tpi.h> describes the design.
 *
 * The gate.  One thread at a time works on messages from above.  If the gate is
 * taken, a put procedure leaves its message on the write queue, and a service
 * procedure returns; both set `missed', and a thread that leaves the gate
 * checks `missed' and enables the queue.  Both sides store, execute a full
 * fence and load, so that one of them sees the other.  A message that waits for
 * room stays on the queue, and later ones are queued behind it.  Requests that
 * need not follow the data are served at once or, if the gate is taken, wait in
 * front as messages of high priority.
 *
 * Keeping.  Any thread may serve a queue: the reader at the other end, or
 * streamsd.  If that thread is killed, no message may be lost whose send has
 * returned.  So a waiting message stays on the queue while it is served, and a
 * duplicate is sent.  A datagram that a thread took from a module above, or
 * from the backlog, is queued first, for the same reason.  If the server was
 * killed, its successor asks what became of the duplicate (str_msg_fate()), and
 * sends another one only if the first was not handed on.  While that is not
 * known, because the reaper has not finished, the queue waits.  Requests are
 * protected by `busy' instead.
 *
 * Crash.  A thread that finds the gate taken makes the queue run a tick later;
 * if the gate was not left meanwhile, that run checks whether its owner lives,
 * and takes the gate over if not.  Data that the owner was sending from its own
 * call is lost with it; a request is finished or undone, and answered (mend.c).
 */
#include "tpi_impl.h"
#include "../canon.h"
#include <str/timer.h>

#define TICK (1000000000ull / HZ) /* ns */

/*
 * Is the gate taken?  Does not check whether its owner lives, which is
 * expensive.
 */
int
tpi_gate_is_taken(struct tpi *tp)
{
	return __atomic_load_n(&tp->gate.m_lock.owner, __ATOMIC_ACQUIRE) != 0;
}

/* We have taken the gate: repair an unfinished request of its last owner. */
static inline int
got_gate(struct tpi *tp, const struct tpi_ops *ops)
{
	if (__builtin_expect(tp->busy != 0, 0))
		tpi_mend(tp, ops);
	return 1;
}

int
tpi_gate_try(struct tpi *tp, const struct tpi_ops *ops)
{
	if (__builtin_expect(!tpi_gate_is_taken(tp), 1) && mutex_tryenter(&tp->gate))
		return got_gate(tp, ops);
	__atomic_store_n(&tp->missed, 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* if no thread has left it for a tick, check its owner */
	if ((!tpi_gate_is_taken(tp) ||
		    __atomic_load_n(&tp->doubt, __ATOMIC_RELAXED) != 0) &&
	    mutex_tryenter(&tp->gate))
		return got_gate(tp, ops);
	tpi_retry(tp);
	return 0;
}

void
tpi_gate_leave(struct tpi *tp, queue_t *q)
{
	if (__builtin_expect(tp->busy != 0, 0))
		tp->busy = 0; /* a request that was put back is on the queue
			       * again */
	mutex_exit(&tp->gate);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&tp->missed, __ATOMIC_RELAXED) != 0) {
		__atomic_store_n(&tp->missed, 0u, __ATOMIC_RELAXED);
		__atomic_store_n(&tp->doubt, 0u, __ATOMIC_RELAXED);
		qenable(q);
	}
}

/* ------------------------------------------------------------------ keeping */

/* Is it data of band 0, not expedited? */
static int
is_kept_down(const mblk_t *mp)
{
	t_scalar_t prim;

	if (DB_TYPE(mp) == M_DATA)
		return mp->b_band == 0;
	if (!tpi_is_data(mp))
		return 0;
	prim = *(const t_scalar_t *)(const void *)mp->b_rptr;
	return prim == T_DATA_REQ || prim == T_UNITDATA_REQ;
}

/*
 * A duplicate of the first message on @q, if @is accepts that; the original
 * stays.  Other threads put messages there meanwhile, but remove none
 * without the lock.
 */
static mblk_t *
keep(queue_t *q, struct tpi_kept *k, int (*is)(const mblk_t *))
{
	struct tpi *tp = tpi_of(q);
	mblk_t *mp, *bp = NULL;

	if (str_load(&q->q_first) == NULL)
		return NULL;
	tpi_lock(tp);
	mp = str_load_acq(&q->q_first);
	if (mp != NULL && is(mp) && (bp = dupmsg(mp)) != NULL) {
		str_store_rel(&k->state, TPI_KEEP_BEGUN);
		mp->b_flag |= TPI_KEPT;
		k->mp = mp;
	}
	tpi_unlock(tp);
	return bp;
}

/* The duplicate @mp is handed on next. */
static void
goes(struct tpi_kept *k, mblk_t *mp)
{
	str_msg_watch(mp, &k->sent);
	str_store_rel(&k->state, TPI_KEEP_GOES);
}

/* The kept message has been sent (@done), or waits again. */
static void
kept(queue_t *q, struct tpi_kept *k, int done)
{
	struct tpi *tp = tpi_of(q);
	mblk_t *mp;

	tpi_lock(tp);
	mp = k->mp; /* NULL: it was flushed */
	k->mp = NULL;
	if (mp != NULL && done)
		rmvq(q, mp);
	else if (mp != NULL)
		mp->b_flag &= (unsigned short)~TPI_KEPT;
	str_store_rel(&k->state, 0u);
	tpi_unlock(tp);
	if (mp != NULL && done)
		freemsg(mp);
}

/*
 * The server of @q died: the same for the message with TPI_KEPT, if there is
 * one. 0; EAGAIN: look later.
 */
static int
kept_dead(queue_t *q, struct tpi_kept *k)
{
	int done = k->state == TPI_KEEP_GOES ? str_msg_fate(&k->sent) :
		k->state == TPI_KEEP_WENT;
	mblk_t *mp;

	if (done == EAGAIN)
		return EAGAIN;
	tpi_lock(tpi_of(q));
	(void)freezestr(q);
	for (mp = q->q_first; mp != NULL && (mp->b_flag & TPI_KEPT) == 0;)
		mp = mp->b_next;
	unfreezestr(q, 0);
	k->mp = mp;
	tpi_unlock(tpi_of(q));
	kept(q, k, done);
	return 0;
}

void
tpi_goes_kept(struct tpi *tp, mblk_t *mp)
{
	goes(&tp->down, mp);
	STR_POINT("tpi:goes");
}

void
tpi_went(struct tpi *tp)
{
	if (tp->down.state != 0)
		str_store_rel(&tp->down.state, TPI_KEEP_WENT);
}

/* ---------------------------------------------------------- open and close */

/* The low bits of the read queue's address, which I_FDINSERT(7) also uses. */
static t_uscalar_t
token(queue_t *q)
{
	return (t_uscalar_t)(uintptr_t)q;
}

int
tpi_open(queue_t *q, dev_t *devp, int sflag, cred_t *crp, unsigned int minor,
	const struct tpi_ops *ops)
{
	struct tpi_prov *pv;
	struct tpi *tp;
	int err;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	pv = ops->prov();
	if (pv == NULL)
		return ENOSR;
	tp = kmem_zalloc(ops->size, KM_SLEEP);
	if (tp == NULL)
		return ENOSR;
	tp->rq = q;
	tp->prov = pv;
	tp->minor = minor;
	tp->id = token(q);
	tpi_opt_defaults(tp, ops);
	err = ops->open(tp, crp);
	if (err != 0) {
		kmem_free(tp, ops->size);
		return err;
	}
	*devp = makedevice(getmajor(*devp), minor);
	q->q_ptr = WR(q)->q_ptr = tp;
	str_queue_drops(q, &tp->drops);
	qprocson(q);
	mutex_enter(&pv->lock);
	tp->next = pv->first;
	pv->first = tp; /* one store: a thread killed before leaves nothing */
	mutex_exit(&pv->lock);
	return 0;
}

static void
take_out(struct tpi *tp)
{
	struct tpi **pp;

	mutex_enter(&tp->prov->lock);
	for (pp = &tp->prov->first; *pp != NULL; pp = &(*pp)->next)
		if (*pp == tp) {
			*pp = tp->next;
			break;
		}
	mutex_exit(&tp->prov->lock);
}

int
tpi_close(queue_t *q, const struct tpi_ops *ops)
{
	struct tpi *tp = tpi_of(q);
	struct tpi_ind *in;
	int n;

	if (tp == NULL)
		return 0; /* the last closer was killed after the following
			   * steps */
	mutex_enter(&tp->gate); /* no other process has the stream open */
	/*
	 * The last server may have been killed while it sent a message.  Find
	 * out whether the message has arrived, so that it is not sent a second
	 * time.  The stream's close has waited for the server's reaper, so that
	 * this loop waits only if a signal ended that, or a server died later;
	 * and for at most a second, because a thread in the other stream may be
	 * stopped.
	 */
	for (n = 0; tp->down.state != 0 && n < HZ &&
		kept_dead(WR(q), &tp->down) == EAGAIN; n++) {
		mutex_exit(&tp->gate);
		delay(1);
		mutex_enter(&tp->gate);
	}
	mutex_enter(&tp->prov->lock);
	tp->closing = 1;
	mutex_exit(&tp->prov->lock);
	ops->close(tp);
	STR_POINT("tpi:closed");
	take_out(tp);
	mutex_exit(&tp->gate);
	qprocsoff(q); /* waits for the end of all holds; cancels timers */
	q->q_ptr = WR(q)->q_ptr = NULL;
	str_queue_drops(q, NULL);
	while ((in = tp->ind) != NULL) {
		tp->ind = in->next;
		tpi_ind_free(in);
	}
	kmem_free(tp, ops->size);
	return 0;
}

/* --------------------------------------------------------------- procedures */

/* Queue @mp; a request that need not follow data is queued in front. */
static void
put_off(queue_t *q, mblk_t *mp)
{
	int first = DB_TYPE(mp) == M_IOCTL;

	if (!first && !tpi_is_data(mp))
		DB_TYPE(mp) = M_PCPROTO;
	tpi_of(q)->writer = str_self();
	if ((first ? putbq(q, mp) : putq(q, mp)) == 0)
		freemsg(mp);
	else
		str_short_break(q); /* later writes come behind it */
}

/* Expedited data has its own band; other bands have no meaning. */
static void
set_band(mblk_t *mp)
{
	const struct T_optdata_req *od = (const void *)mp->b_rptr;

	mp->b_band = 0;
	if (DB_TYPE(mp) == M_DATA)
		return;
	DB_TYPE(mp) = M_PROTO;
	if (od->PRIM_type == T_EXDATA_REQ ||
		(od->PRIM_type == T_OPTDATA_REQ &&
			MBLKL(mp) >= (ssize_t)sizeof(*od) &&
			(od->DATA_flag & T_ODF_EX) != 0))
		mp->b_band = 1;
}

/*
 * Must @mp wait behind the queue?  A hint if the caller does not have the gate.
 */
STR_RACY static int
is_behind(queue_t *q, const mblk_t *mp)
{
	const mblk_t *first = str_load(&q->q_first);

	return first != NULL && mp->b_band <= first->b_band;
}

/*
 * Op unitdata changes its message in place, and a message with a record of its
 * origin would return changed if this thread were killed then.
 */
static int
returns(mblk_t *mp, const struct tpi_ops *ops)
{
	return ops->keeps && ops->info.SERV_type == T_CLTS && str_msg_taken(mp);
}

static void
message(queue_t *q, mblk_t *mp, const struct tpi_ops *ops)
{
	struct tpi *tp = tpi_of(q);
	int data = tpi_is_data(mp);

	if (data && (DB_TYPE(mp) != M_DATA || mp->b_band != 0))
		set_band(mp);
	if (data && is_behind(q, mp)) {
		put_off(q, mp);
		return;
	}
	if (data && returns(mp, ops)) {
		qenable(q); /* first: we may be killed when it is queued */
		put_off(q, mp);
		return;
	}
	if (__builtin_expect(!tpi_gate_try(tp, ops), 0)) {
		put_off(q, mp);
		/* the gate's owner may have left it before @mp was queued */
		if (tpi_gate_try(tp, ops))
			tpi_gate_leave(tp, q);
		return;
	}
	if ((data && is_behind(q, mp)) || tpi_request(q, mp, tp, ops) == EAGAIN)
		put_off(q, mp);
	tpi_gate_leave(tp, q);
}

static int
is_ordrel(const mblk_t *mp)
{
	return DB_TYPE(mp) != M_DATA &&
		*(const t_scalar_t *)(const void *)mp->b_rptr == T_ORDREL_REQ;
}

/* tpi_free_taken - free messages taken off a frozen queue, linked by b_next */
void
tpi_free_taken(mblk_t *gone)
{
	mblk_t *next;

	for (; gone != NULL; gone = next) {
		next = gone->b_next;
		gone->b_next = NULL;
		freemsg(gone);
	}
}

/*
 * Drop the data that waits on @q, of band @band or, -1, of all bands.  Requests
 * and indications stay, because a caller waits for them.  So does a release
 * behind the data, unless the connection has ended (@all).
 */
void
tpi_flush(queue_t *q, int band, int all)
{
	struct tpi *tp = tpi_of(q);
	mblk_t *mp, *next, *gone = NULL;

	if (str_load(&q->q_first) == NULL)
		return;
	tpi_lock(tp);
	(void)freezestr(q);
	for (mp = q->q_first; mp != NULL; mp = next) {
		next = mp->b_next;
		if (!tpi_is_data(mp) || (band >= 0 && mp->b_band != band) ||
			(!all && is_ordrel(mp)))
			continue;
		tpi_not_kept(tp, mp);
		rmvq(q, mp);
		mp->b_next = gone;
		gone = mp;
	}
	unfreezestr(q, 0);
	tpi_unlock(tp);
	tpi_free_taken(gone);
}

/* SVR4 M_FLUSH(D7) */
static void
flush(queue_t *q, mblk_t *mp)
{
	int band = MBLKL(mp) > 1 && (*mp->b_rptr & FLUSHBAND) != 0 ?
		mp->b_rptr[1] : -1;

	if (MBLKL(mp) > 0 && (*mp->b_rptr & FLUSHW) != 0) {
		tpi_flush(q, band, 0);
		qenable(q); /* for messages behind it */
		*mp->b_rptr &= (unsigned char)~FLUSHW;
	}
	if (MBLKL(mp) < 1 || (*mp->b_rptr & FLUSHR) == 0) {
		freemsg(mp);
		return;
	}
	tpi_flush(RD(q), band, 0);
	qreply(q, mp);
}

int
tpi_wput(queue_t *q, mblk_t *mp, const struct tpi_ops *ops)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
	case M_PCPROTO:
		message(q, mp, ops);
		break;
	case M_FLUSH:
		flush(q, mp);
		break;
	case M_IOCTL:
		if (tpi_ioctl(q, mp, ops))
			message(q, mp, ops);
		break;
	case M_IOCDATA:
		canon_stray(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

/* Serve one message of the write queue. 1: go on; 0: none; EAGAIN. */
static int
serve(queue_t *q, struct tpi *tp, const struct tpi_ops *ops)
{
	mblk_t *mp = ops->keeps ? keep(q, &tp->down, is_kept_down) : NULL;
	int err;

	if (mp != NULL) {
		STR_POINT("tpi:serving");
		err = tpi_request(q, mp, tp, ops);
		STR_POINT("tpi:served");
		kept(q, &tp->down, err != EAGAIN);
		if (err == EAGAIN)
			freemsg(mp);
		return err == EAGAIN ? EAGAIN : 1;
	}
	if (tp->again != NULL)
		tp->busy = TPI_PUT_BACK;
	mp = getq(q);
	if (mp == NULL)
		return 0;
	if (tpi_request(q, mp, tp, ops) != EAGAIN)
		return 1;
	if (putbq(q, mp) == 0)
		freemsg(mp);
	return EAGAIN;
}

int
tpi_wsrv(queue_t *q, const struct tpi_ops *ops)
{
	struct tpi *tp = tpi_of(q);
	int r;

	if (tp == NULL)
		return 0;
	/* a stream has one runner, so the runner before us died */
	if (__builtin_expect(tp->down.state != 0, 0))
		__atomic_store_n(&tp->doubt, 1u, __ATOMIC_RELAXED);
	if (!tpi_gate_try(tp, ops))
		return 0;
	if (__builtin_expect(tp->down.state != 0, 0) &&
		kept_dead(q, &tp->down) == EAGAIN) {
		tpi_gate_leave(tp, q);
		tpi_retry(tp);
		return 0;
	}
	if (ops->wsrv != NULL)
		ops->wsrv(tp, 0);
	while ((r = serve(q, tp, ops)) == 1)
		;
	if (r == 0 && ops->wsrv != NULL)
		ops->wsrv(tp, 1);
	tpi_gate_leave(tp, q);
	return 0;
}

/*
 * The band in which @mp is sent up.  Expedited data has its own band, and
 * messages before it must have the same: otherwise it would overtake a
 * confirmation in the head.
 */
static int
band_up(const mblk_t *mp)
{
	t_scalar_t prim;

	if (DB_TYPE(mp) != M_PROTO)
		return 0;
	prim = *(const t_scalar_t *)(const void *)mp->b_rptr;
	return prim == T_EXDATA_IND || prim == T_CONN_CON ||
		(prim == T_OPTDATA_IND && (((const struct T_optdata_ind *)
			(const void *)mp->b_rptr)->DATA_flag & T_ODF_EX) != 0);
}

/*
 * A T_CONN_CON is sent up: set the state, because its maker may have died
 * before, and the user sends data next.
 */
static void
confirmed(struct tpi *tp)
{
	tpi_lock(tp);
	if (tpi_state(tp) == TS_WCON_CREQ)
		tpi_set(tp, TS_DATA_XFER);
	tpi_unlock(tp);
}

static int
is_kept_up(const mblk_t *mp)
{
	return DB_TYPE(mp) <= M_PROTO && !tpi_is_answer(mp) &&
		band_up(mp) == 0;
}

/* Send a duplicate of the kept message up. 0: there is no room. */
static int
hand_up(struct tpi *tp, queue_t *q, mblk_t *mp)
{
	if (tpi_is_data(mp) && !canputnext(q)) {
		kept(q, &tp->hand, 0);
		freemsg(mp);
		return 0;
	}
	goes(&tp->hand, mp);
	STR_POINT("tpi:handing");
	mp->b_band = 0;
	putnext(q, mp);
	STR_POINT("tpi:handed");
	kept(q, &tp->hand, 1);
	return 1;
}

/* Send the waiting messages up in order; data as long as there is room. */
static int
send_up(struct tpi *tp, queue_t *q)
{
	mblk_t *mp;

	for (;;) {
		int band;

		mp = keep(q, &tp->hand, is_kept_up);
		if (mp != NULL) {
			if (!hand_up(tp, q, mp))
				return 0;
			continue;
		}
		mp = getq(q);
		if (mp == NULL)
			return 1;
		band = band_up(mp);
		if (__builtin_expect(band != 0, 0) &&
			*(t_scalar_t *)(void *)mp->b_rptr == T_CONN_CON)
			confirmed(tp);

		if (tpi_is_data(mp) && !bcanputnext(q, band)) {
			(void)putbq(q, mp);
			return 0;
		}
		if (tpi_is_answer(mp))
			DB_TYPE(mp) = M_PCPROTO;
		mp->b_band = (unsigned char)band;
		putnext(q, mp);
	}
}

int
tpi_rsrv(queue_t *q, const struct tpi_ops *ops)
{
	struct tpi *tp = tpi_of(q);

	if (tp == NULL)
		return 0;
	if (__builtin_expect(tpi_owes(tp) != 0, 0))
		tpi_pay(tp);
	if (__builtin_expect(tp->hand.state != 0, 0) && /* the server died */
		kept_dead(q, &tp->hand) == EAGAIN) {
		tpi_retry(tp);
		return 0;
	}
	if (__atomic_load_n(&tp->up, __ATOMIC_ACQUIRE) != 0) {
		if (!send_up(tp, q))
			return 0;
		tpi_lock(tp);
		if (q->q_first == NULL)
			__atomic_store_n(&tp->up, 0u, __ATOMIC_RELEASE);
		tpi_unlock(tp);
	}
	if (ops->rsrv != NULL)
		ops->rsrv(tp);
	return 0;
}

/* --------------------------------------------------------------------- timer */

void
tpi_tick(void *arg)
{
	struct tpi *tp = arg;

	str_store(&tp->due, (uint64_t)0);
	if (__atomic_load_n(&tp->missed, __ATOMIC_RELAXED) != 0)
		__atomic_store_n(&tp->doubt, 1u, __ATOMIC_RELAXED);
	qenable(WR(tp->rq));
	qenable(tp->rq);
}

/* The endpoint's timer, which is freed with its queues; NULL: no memory. */
static struct str_timer *
timer(struct tpi *tp)
{
	struct str_timer *tm = str_load_acq(&tp->timer), *was = NULL;

	if (__builtin_expect(tm != NULL, 1))
		return tm;
	tm = str_timer_make(WR(tp->rq), tpi_tick, tp);
	if (tm != NULL && !__atomic_compare_exchange_n(&tp->timer, &was, tm, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		str_timer_free(tm);
		tm = was;
	}
	return tm;
}

/*
 * All calls within a tick set the same deadline, its end; later ones set it
 * again until the tick has come, so that none puts it off.  Each sets it: whether
 * the thread that noted it lives to do so is not known.
 */
void
tpi_retry(struct tpi *tp)
{
	struct str_timer *tm = timer(tp);
	uint64_t now = str_now(), due = str_load(&tp->due);

	if (due == 0 || due > now) {
		due = (now / TICK + 1) * TICK;
		str_store(&tp->due, due);
	}
	if (tm != NULL)
		str_timer_set(tm, due);
	else
		tpi_tick(tp); /* at once */
}
