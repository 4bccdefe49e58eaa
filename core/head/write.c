/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * write(2) on a Stream head.
 *
 * There are two paths.  Without modules between the heads the bytes are copied
 * directly into the peer's head queue: one lock, one copy, one release store.
 * One write of at most CHUNK bytes is one message.  With modules, or a driver,
 * the bytes become message blocks that travel by putnext().  There the packet
 * sizes of the topmost queue also limit a message: packet_size().
 *
 * Is there a reader?  A writer that never fills the queue would not notice that
 * its reader was killed.  The writer asks the carrier whenever another 20 ms
 * have passed in which the reader has not read; ask() keeps this check off the
 * fast path.
 */
#include "core.h"
#include "fast.h"
#include "msg/alloc.h"
#include "sig.h"
#include "sock/sock.h"
#include "source.h"

#define CHUNK 65536u	 /* bytes a single message takes from a write(2) */
#define ATOMIC 4096u /* bytes of a writev that are sent outside as one piece */
#define ASK_MS 20u
#define BRISK_CALLS 64u
#define FROM_MERROR 0x10000 /* or'ed to the errno: it is from an M_ERROR */

/* The error with which a write fails now, or 0.  The caller must report it,
 * because an M_ERROR that does not persist (I_SERROPT) is cleared here. */
static int
write_error(struct str_head *sd)
{
	uint32_t f = str_load(&sd->flags);
	int e;

	if (f & STR_H_PLEX)
		return EINVAL;
	if (f & STR_H_WRERR) {
		e = str_head_wrerr(sd);
		return (e != 0 ? e : EPIPE) | FROM_MERROR;
	}
	if (f & (STR_H_HUP | STR_H_PEER | STR_H_CLOSED | STR_H_NORD))
		return (f & STR_H_DEV) ? ENXIO : EPIPE;
	return 0;
}

/* The result of a write that has failed with @err.  EPIPE comes with SIGPIPE;
 * with SNDPIPE, which pipes have, so does any error after an M_ERROR. */
static long
write_fails(struct str_head *sd, int err)
{
	if ((err & ~FROM_MERROR) == EPIPE ||
	    ((err & FROM_MERROR) != 0 && (sd->wropt & 2) != 0))
		host_signal_self(13);
	err &= ~FROM_MERROR;
	if (err == EAGAIN && (str_load(&sd->flags) & STR_H_NDEL) != 0)
		return 0; /* SO_NDELON */
	return -err;
}

STR_INLINE void
note_cpu(str_a32 *where)
{
	uint32_t cpu = host_cpu();

	if (str_unlikely(str_load(where) != cpu))
		str_store(where, cpu);
}

/*
 * Has the reader read since the last check?  Called under plock when the credit
 * is used up; reads the clock at every call of a slow writer, at every 64th
 * call of a fast one.  Return: true if the carrier must be asked.
 */
static STR_NOINLINE STR_WAKE_TEXT bool
ask(struct str_headq *hq)
{
	uint64_t now = host_ticks(), cpos = str_load(&hq->cpos);
	uint64_t since = now - hq->seen_try;

	/* writes that found no sleeper are counted here, approximately */
	str_store(&host_self()->elided, str_load(&host_self()->elided) +
		(hq->brisk ? BRISK_CALLS : 1));
	note_cpu(&hq->pcpu);
	/* 64 calls within a millisecond, or two within 4 us */
	hq->brisk = since < host_ticks_per_ms / (hq->brisk ? 1 : 256);
	hq->seen_try = now;
	hq->credit = hq->brisk ? BRISK_CALLS : 1;
	if (cpos != hq->seen_cpos) {
		hq->seen_cpos = cpos;
		hq->seen_at = now;
		return false;
	}
	if (now - hq->seen_at < ASK_MS * host_ticks_per_ms)
		return false;
	hq->seen_at = now;
	return true;
}

/*
 * Must the carrier be asked?  Called under plock.  If the reader has slept so
 * long that it waits for a token, the answer is no: this write sends the token,
 * which fails if the other end has no holder.  Then send_token() (wake.c) sets
 * STR_H_LOOK, and the next write takes the slow path and looks at the carrier.
 */
STR_INLINE bool
must_ask(struct str_headq *hq)
{
	if (str_likely(hq->credit > 1)) {
		hq->credit--;
		return false;
	}
	if ((str_load(&hq->rwant) & STR_WANT_TOKEN) == 0)
		return ask(hq);
	note_cpu(&hq->pcpu); /* the reader will use this CPU number */
	return false;
}

/* Take plock, and record this CPU: from its number a reader that has to wait
 * decides whether to spin or to yield (sleep.c). */
STR_INLINE void
lock_p(struct str_headq *hq)
{
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	note_cpu(&hq->pcpu);
}

/* Send one message through the modules, or to the driver, with a claim on the
 * stream. */
static long
write_message(struct str_head *sd, struct host_call *hc,
	const struct str_src *src, size_t n, bool block)
{
	struct str_plumb *pl = sd->plumb;
	struct host_call *old = host_tls.call;
	queue_t *q;
	mblk_t *mp;
	bool tried = false;
	/* ask_canput: this thread has slept once, or will not sleep */
	bool ask_canput = !block || (hc->fflags & STR_O_NONBLOCK) != 0;
	int now, err = 0;
	size_t off = (size_t)(sd->wroff <= 4096 ? sd->wroff : 0);

	if (block)
		err = str_sleep_room(sd, hc);
	if (err != 0)
		return -err;
	mp = allocb(n + off + sd->wrpad, BPRI_MED);
	if (mp == NULL)
		return -ENOSR;
	mp->b_rptr += off;
	mp->b_wptr = mp->b_rptr;
	if (n != 0 && src_copy(src, mp->b_wptr, n) != 0) {
		freeb(mp);
		return -EFAULT;
	}
	mp->b_wptr += n;
	if (str_load(&sd->flags) & STR_H_DELIM)
		mp->b_flag |= MSGDELIM;
	for (;;) {
		err = str_claim(pl);
		if (err != 0)
			break;
		err = write_error(sd);
		q = sd->qp->wq.q_next;
		/* canput() requests a wake if it fails.  If the queue looks
		 * full the first time, do not call it: str_sleep() spins for a
		 * while before this thread requests a wake */
		if (err == 0 &&
		    (ask_canput || q == NULL || !full_ahead(q)) && canput(q)) {
			host_tls.call = hc;
			str_put(q, mp);
			str_sched_leave(sd);
			host_tls.call = old;
			str_unclaim(pl);
			str_outside_sent(sd, hc, block);
			return (long)n;
		}
		if (err == 0 && str_load(&pl->nrun) != 0) {
			/* full queues must be drained: run them first */
			host_tls.call = hc;
			(void)str_sched_run(pl);
			host_tls.call = old;
			if (canput(q)) {
				str_unclaim(pl);
				continue;
			}
		}
		str_unclaim(pl);
		if (err == 0 && (hc->fflags & STR_O_NONBLOCK || !block)) {
			if (!tried && (tried = str_sock_try(sd, hc, KS_OUT)))
				continue;
			err = EAGAIN;
		}
		if (err == EAGAIN || err == 0)
			str_sig_refused(sd, 0);
		if (err == EAGAIN && str_head_look(sd, hc) == 0 &&
		    (now = write_error(sd)) != 0)
			err = now;
		if (err == 0)
			err = str_sleep(sd, hc, STR_SLEEP_WRITE, UINT64_MAX);
		ask_canput = true;
		if (err == 0 && (str_load(&sd->flags) & STR_H_LOOK))
			err = str_head_look(sd, hc);
		if (err != 0)
			break;
	}
	freeb(mp);
	return -err;
}

/*
 * Append to the peer's queue with the head's write options.  Locks: plock.
 * With SNDHOLD a small write is appended to the last message while that is
 * small and unread.
 */
static long
append(struct str_head *sd, struct str_headq *hq, const struct str_src *src,
	size_t n)
{
	uint32_t f = str_load(&sd->flags), flags = 0;
	int err;

	if (f & STR_H_DELIM)
		flags = STR_REC_DELIM;
	if ((f & STR_H_HOLD) && n <= STR_FASTBUF / 2)
		err = str_headq_coalesce(hq, src, n, flags);
	else
		err = str_headq_append(hq, src, n, flags);
	return err != 0 ? -(long)err : (long)n;
}

/*
 * Write to a program outside.  Return: bytes, perhaps only those of the first
 * part; or minus an errno; STR_INSIDE as str_outside_write().
 */
static STR_NOINLINE long
write_outside(struct str_head *sd, struct host_call *hc,
	const struct str_src *src, size_t n, bool block)
{
	unsigned char whole[ATOMIC];

	if (n <= src_piece(src))
		return str_outside_write(sd, hc, src_base(src), n, block);
	if (n > sizeof(whole))
		return str_outside_write(sd, hc, src_base(src), src_piece(src),
			block);
	if (str_src_gather(src, whole, n) != 0)
		return -EFAULT;
	return str_outside_write(sd, hc, whole, n, block);
}

/*
 * Write one message, after the checks that write_one() omits.
 * Return: bytes, or minus an errno; -EAGAIN when the queue is full and @block
 * is false.
 */
static STR_NOINLINE long
write_slow(struct str_head *sd, struct host_call *hc,
	const struct str_src *src, size_t n, bool block)
{
	struct str_headq *hq = &sd->peer->hq;
	bool over;
	long ret;
	int err;

	for (;;) {
		if (str_load(&sd->flags) & STR_H_LOOK) {
			err = str_head_look(sd, hc);
			if (err != 0)
				return -err;
		}
		err = write_error(sd);
		if (err != 0)
			return -err;
		if (str_unlikely((str_load(&sd->flags) &
			    (STR_H_AWAY | STR_H_MIXED)) != 0)) {
			ret = write_outside(sd, hc, src, n, block);
			if (ret != STR_INSIDE)
				return ret;
		}
		if (str_load(&sd->direct) == NULL)
			return write_message(sd, hc, src, n, block);
		lock_p(hq);
		str_headq_settle(hq);
		if (str_load(&sd->direct) == NULL) {
			str_hunlock(&hq->plock, STR_HOLD_P);
			continue;
		}
		if (!str_headq_is_full(hq)) {
			ret = append(sd, hq, src, n);
			over = headq_over(hq);
			str_hunlock(&hq->plock, STR_HOLD_P);
			if (ret >= 0)
				str_wake_readers_from(sd, hc);
			if (str_load(&sd->flags) & STR_H_LEFT)
				str_outside_ask(sd, hc);
			if (over)
				str_headq_yield(hq);
			return ret;
		}
		str_hunlock(&hq->plock, STR_HOLD_P);
		str_sig_refused(sd, 0);
		if (!block) {
			/* a thread that never sleeps must look for deaths */
			err = str_head_look(sd, hc);
			if (err == 0)
				err = write_error(sd);
			return -(err != 0 ? err : EAGAIN);
		}
		err = str_sleep(sd, hc, STR_SLEEP_WRITE, UINT64_MAX);
		if (err != 0)
			return -err;
	}
}

/* Wake @sd's peer's readers; @hc: the call whose descriptor sends the token. */
STR_WAKE_TEXT void
str_wake_readers_from(struct str_head *sd, struct host_call *hc)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_wake_readers(sd->peer);
	host_tls.call = old;
}

/* Write one message.  This function appends it if there is no module, no error,
 * and room; otherwise write_slow() or write_message() does the work. */
STR_INLINE long
write_one(struct str_head *sd, struct host_call *hc,
	const struct str_src *src, size_t n, bool block)
{
	struct str_headq *hq = &sd->peer->hq;
	bool look, over;
	int err;

	if (str_unlikely((str_load(&sd->flags) & STR_WRITE_SLOW) != 0 ||
		n > STR_FAST_MAX))
		return write_slow(sd, hc, src, n, block);
	if (str_load(&sd->direct) == NULL)
		return write_message(sd, hc, src, n, block);
	if (block && str_unlikely((err = headq_await(sd, hc)) != 0))
		return -(long)err;
	lock_p(hq);
	if (str_unlikely(str_load(&sd->direct) == NULL ||
		(str_load(&hq->full) != 0 && str_headq_is_full(hq)))) {
		str_hunlock(&hq->plock, STR_HOLD_P);
		return write_slow(sd, hc, src, n, block);
	}
	err = headq_put(hq, src, n, 0);
	look = must_ask(hq);
	over = headq_over(hq);
	str_hunlock(&hq->plock, STR_HOLD_P); /* its light fence orders pos and rwant */
	if (str_unlikely(err != 0))
		return -(long)err;
	if (str_unlikely(str_load(&hq->rwant) != 0))
		str_wake_readers_from(sd, hc);
	if (str_unlikely(look))
		(void)str_head_look(sd, hc);
	if (str_unlikely(over))
		str_headq_yield(hq);
	return (long)n;
}

/* A write of zero bytes sends an empty message if SNDZERO is set, as it is by
 * default on device streams, but not on pipes. */
static long
write_zero(struct str_head *sd, struct host_call *hc)
{
	const struct str_iov none = {NULL, 0};
	const struct str_src src = {&none, 0};
	long n = -(long)write_error(sd);

	if (n == 0 && (sd->wropt & 1) != 0)
		n = write_slow(sd, hc, &src, 0,
			(hc->fflags & STR_O_NONBLOCK) == 0);
	return n < 0 ? write_fails(sd, (int)-n) : 0;
}

/*
 * str_head_write_after - after a fast write: wake sleeping readers
 * The carrier is not asked here: hq->credit is not used up, otherwise the fast
 * write would have returned STR_FAST_LOOK.
 */
STR_WAKE_TEXT void
str_head_write_after(struct str_head *sd, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};

	str_wake_readers_from(sd, &hc);
}

/* A fast write has used up hq->credit, and its plock is still held: release it,
 * wake readers, and check whether the reader lives. */
static STR_NOINLINE STR_WAKE_TEXT void
write_look(struct str_head *sd, int fd)
{
	struct str_headq *hq = &sd->peer->hq;
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};
	bool look = must_ask(hq);

	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_load(&hq->rwant) != 0)
		str_wake_readers_from(sd, &hc);
	if (str_unlikely(look))
		(void)str_head_look(sd, &hc);
}

/* Do readers of @hq sleep on its word, and is nothing else requested? */
STR_INLINE bool
is_slept_at(struct str_headq *hq)
{
	return (str_load(&hq->rwant) & STR_WANT_BITS & ~STR_WANT_QUIET) ==
		STR_WANT_FUTEX;
}

/*
 * wake.c:wake() for the case that is_slept_at() has found.  The exchange is the
 * full fence, and what is requested after it needs no wake for this record.
 * Return: has a thread been woken?
 */
STR_INLINE bool
wake_slept(struct str_head *sd, int fd)
{
	struct str_headq *hq = &sd->peer->hq;
	uint32_t w = str_and(&hq->rwant, ~STR_WANT_FUTEX);
	int n;

	host_tls.vain_fences = 0;
	(void)str_add(&hq->rword, 1u);
	str_count(&host_self()->wakes);
	n = host_wake(&hq->rword, INT_MAX);
	if (str_unlikely((w & STR_WANT_BITS &
		~(STR_WANT_QUIET | STR_WANT_FUTEX)) != 0))
		str_head_write_after(sd, fd);
	return n > 0;
}

/*
 * str_head_write_tail - complete a str_head_write_fast()
 * Return: @len, or STR_NOT_FAST with nothing done.
 */
STR_HOT STR_WAKE_TEXT long
str_head_write_tail(struct str_head *sd, int fd, size_t len, enum str_fast how)
{
	struct str_thread *t = host_tls.slot;

	struct str_headq *hq = &sd->peer->hq;

	/* no switch: its table would be one more cold page after a sleep */
	if (how == STR_FAST_LOOK && str_likely(is_slept_at(hq))) {
		note_cpu(&hq->pcpu);
		fast_unlock(&hq->plock, STR_HOLD_P, t);
		/* a reader that was woken lives: it need not be asked */
		if (str_unlikely(!wake_slept(sd, fd))) {
			lock_p(hq);
			write_look(sd, fd);
		}
	} else if (how == STR_FAST_LOOK) {
		write_look(sd, fd);
	} else if (how == STR_FAST_AFTER && is_slept_at(hq)) {
		(void)wake_slept(sd, fd);
	} else if (how == STR_FAST_AFTER) {
		str_head_write_after(sd, fd);
	} else if (how == STR_FAST_PASS) {
		str_hunlock_slow(&sd->peer->hq.plock);
		if (str_load(&sd->peer->hq.rwant) != 0)
			str_head_write_after(sd, fd);
	} else if (how == STR_FAST_SIGNAL) {
		host_leave_slow();
		return (long)len;
	} else {
		if (how == STR_FAST_HELD)
			fast_unlock(&sd->peer->hq.plock, STR_HOLD_P, t);
		return fast_back(t);
	}
	fast_leave(t);
	return (long)len;
}

/* Will canput(@q) certainly find room, in the first queue from @q on that has a
 * service procedure, or else at the head?  False also if messages wait for a
 * perimeter on the way.  A claim is held. */
STR_INLINE bool
room_ahead(queue_t *q)
{
	while (q->q_head == NULL && q->q_next != NULL &&
		(q->q_qinfo == NULL || q->q_qinfo->qi_srvp == NULL)) {
		if (str_unlikely(str_perim_waits(q)))
			return false;
		q = q->q_next;
	}
	if (str_unlikely(str_perim_waits(q)))
		return false;
	if (q->q_head != NULL)
		return (str_load(&q->q_flag) & QREADR) != 0 &&
			str_load(&q->q_head->hq.full) == 0;
	return (str_load(&q->q_flag) & QFULL) == 0;
}

/*
 * str_head_write_mods - the fast write with modules between the heads
 * It does what write_message() does, if there is room and no plumber.
 * A thread that begins a call holds no claim, so its first claim entry is free.
 */
STR_HOT long
str_head_write_mods(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};
	struct host_call *old = host_tls.call;
	struct str_plumb *pl;
	mblk_t *mp;
	queue_t *q;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		(str_load(&sd->flags) & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(str_load(&sd->flags), str_load(id)) ||
		(sd->wroff | sd->wrpad) != 0))
		return fast_back(t);
	mp = str_likely(len <= STR_FASTBUF) ? mdb_small(len) :
		str_likely(len <= MDB_MOST) ? mdb_large(len) :
					      allocb(len, BPRI_MED);
	if (str_unlikely(mp == NULL))
		return fast_back(t);
	pl = sd->plumb;
	if (str_unlikely(!str_claim_first(pl))) {
		mdb_done(mp);
		return fast_back(t);
	}
	q = sd->qp->wq.q_next;
	if (str_unlikely(q == NULL || !room_ahead(q) ||
		q->q_minpsz > (ssize_t)len ||
		(q->q_maxpsz > 0 && q->q_maxpsz < (ssize_t)len) ||
		host_copyin(ubuf, mp->b_wptr, len) != 0)) {
		str_unclaim_first(pl);
		mdb_done(mp);
		return fast_back(t);
	}
	mp->b_wptr += len;
	host_tls.wrote = 1;
	host_tls.call = &hc;
	str_put(q, mp);
	if (str_unlikely(str_load(&pl->nrun) != 0))
		str_sched_leave(sd);
	host_tls.call = old;
	str_unclaim_first(pl);
	fast_leave(t);
	return (long)len;
}

/*
 * Size of one message in a write of @len bytes: the limit of the topmost
 * module, or of the driver.  SVR4 write(2): longer data is divided if the
 * minimum size is 0, else refused.  Return: bytes, or -ERANGE.
 */
static STR_NOINLINE long
packet_size(struct str_head *sd, size_t len)
{
	long ret = CHUNK;
	queue_t *q;

	(void)str_claim(sd->plumb);
	q = sd->qp->wq.q_next;
	if (q != NULL && q->q_maxpsz > 0 && (size_t)q->q_maxpsz < len)
		ret = q->q_minpsz > 0 ? -ERANGE :
			STR_MIN(ret, (long)q->q_maxpsz);
	if (q != NULL && q->q_minpsz > (ssize_t)len)
		ret = -ERANGE;
	str_unclaim(sd->plumb);
	return ret;
}

/* All @len bytes of @src, in as many messages as they need. */
STR_INLINE long
write_all(struct str_head *sd, struct host_call *hc, struct str_src *src,
	size_t len)
{
	bool block = (hc->fflags & STR_O_NONBLOCK) == 0;
	size_t done = 0;
	long n, most = CHUNK;

	hc->head = sd;
	host_tls.wrote = 1;
	if (str_unlikely(NOT_FOR_WRITING(str_load(&sd->flags),
		    (uint32_t)hc->fflags)))
		return -EBADF;
	if (str_unlikely((n = str_tty_access(sd, hc, STR_SIGTTOU)) != 0))
		return -n;
	if (str_load(&sd->direct) == NULL) {
		most = packet_size(sd, len);
		if (most < 0)
			return most;
	}
	if (len == 0)
		return write_zero(sd, hc);
	for (;;) {
		n = write_one(sd, hc, src, STR_MIN(len - done, (size_t)most),
			block);
		if (str_unlikely(n < 0)) {
			if (done != 0)
				return (long)done;
			return write_fails(sd, (int)-n);
		}
		done += (size_t)n;
		/* hc->head: NULL if the stream was freed meanwhile */
		if (str_likely(done == len) || hc->head == NULL)
			return (long)done;
		str_src_skip(src, (size_t)n);
		hc->flags |= HOST_CALL_ONCE;
	}
}

STR_HOT long
str_head_write(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t len)
{
	const struct str_iov iov = {(void *)(uintptr_t)ubuf, len};
	struct str_src src = {&iov, 0};

	return write_all(sd, hc, &src, len);
}

/*
 * writev(2): the parts are one message if a write(2) of their total length would
 * be one.  So a writev() is as atomic as such a write.
 */
long
str_head_writev(struct str_head *sd, struct host_call *hc,
	const struct str_iov *iov, int n)
{
	struct str_src src = {iov, 0};
	size_t total = 0;
	int i;

	for (i = 0; i < n; i++)
		total += iov[i].len;
	return write_all(sd, hc, &src, total);
}
