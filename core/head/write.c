/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * write(2) on a Stream head.
 *
 * Two ways.  With no module between the heads the bytes go straight into the
 * peer's head queue (the direct path: one lock, one copy, one release
 * store).  With modules they become a message block that travels by
 * putnext().  Either way one write of at most CHUNK bytes is one message.
 *
 * Is there a reader?  A writer that never fills the queue would not notice that its
 * reader was killed.  When the reader has not moved for 20 ms the writer
 * asks the carrier once; brisk() keeps the question off the fast path.
 */
#include "core.h"
#include "fast.h"
#include "msg/alloc.h"
#include "sig.h"
#include "sock/sock.h"

#define CHUNK 65536u	 /* bytes a single message takes from a write(2) */
#define ASK_MS 20u
#define BRISK_CALLS 64u

/* Error a write meets now, 0 if none. */
static int
write_error(struct str_head *sd)
{
	uint32_t f = str_load(&sd->flags);

	if (f & STR_H_PLEX)
		return EINVAL;
	if (f & STR_H_WRERR) {
		int e = str_head_wrerr(sd);

		return e != 0 ? e : EPIPE;
	}
	if (f & (STR_H_HUP | STR_H_PEER | STR_H_CLOSED | STR_H_NORD))
		return (f & STR_H_DEV) ? ENXIO : EPIPE;
	return 0;
}

/* SIGPIPE goes with EPIPE where SNDPIPE is set, which pipes have. */
static long
write_fails(struct str_head *sd, int err)
{
	if (err == EPIPE || ((sd->wropt & 2) != 0 &&
			(str_load(&sd->flags) & STR_H_WRERR) != 0))
		host_signal_self(13);
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
 * Has the reader moved since the last question?  Called under plock when the
 * credit is used up; asks the clock at every call of a slow writer, at every
 * 64th of a brisk one.  Return: true when the carrier is to be asked.
 */
static STR_NOINLINE bool
ask(struct str_headq *hq)
{
	uint64_t now = host_ticks(), cpos = str_load(&hq->cpos);
	uint64_t since = now - hq->seen_try;

	/* writes that found no sleeper are counted here, roughly */
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
 * A reader that has slept for so long that it wants a token is not asked for:
 * the token says whether there is a reader, and the next write asks.
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
	note_cpu(&hq->pcpu); /* the reader will look where we are */
	return false;
}

STR_INLINE void
lock_p(struct str_headq *hq)
{
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
}

/* A message through the modules; the head's claim is taken here. */
static long
write_message(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t n, bool block)
{
	struct str_plumb *pl = sd->plumb;
	struct host_call *old = host_tls.call;
	queue_t *q;
	mblk_t *mp;
	bool tried = false;
	bool looked = !block || (hc->fflags & STR_O_NONBLOCK) != 0;
	int err = 0;
	size_t off = (size_t)(sd->wroff <= 4096 ? sd->wroff : 0);

	mp = allocb(n + off + sd->wrpad, BPRI_MED);
	if (mp == NULL)
		return -ENOSR;
	mp->b_rptr += off;
	mp->b_wptr = mp->b_rptr;
	if (n != 0 && host_copyin(ubuf, mp->b_wptr, n) != 0) {
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
		/* a waiter looks for a while before it asks to be told, which
		 * str_sleep() does */
		if (err == 0 && (looked || q == NULL || !full_ahead(q)) &&
		    canput(q)) {
			host_tls.call = hc;
			str_put(q, mp);
			str_sched_leave(sd);
			host_tls.call = old;
			str_unclaim(pl);
			return (long)n;
		}
		if (err == 0 && str_load(&pl->nrun) != 0) {
			/* what is full must be drained: do it first */
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
		    write_error(sd) != 0)
			err = write_error(sd);
		if (err == 0)
			err = str_sleep(sd, hc, STR_SLEEP_WRITE, UINT64_MAX);
		looked = true;
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
 * With SNDHOLD a small write joins the last message while that is small and
 * unread.
 */
static long
append(struct str_head *sd, struct str_headq *hq, const void *ubuf, size_t n)
{
	uint32_t f = str_load(&sd->flags), flags = 0;
	int err;

	if (f & STR_H_DELIM)
		flags = STR_REC_DELIM;
	if ((f & STR_H_HOLD) && n <= STR_FASTBUF / 2)
		err = str_headq_coalesce(hq, ubuf, n, flags);
	else
		err = str_headq_append(hq, ubuf, n, flags);
	return err != 0 ? -(long)err : (long)n;
}

/*
 * One message's worth.  Return: bytes, or minus an errno; -EAGAIN when the
 * queue is full and @block is false.
 */
static STR_NOINLINE long
write_slow(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t n, bool block)
{
	struct str_headq *hq = &sd->peer->hq;
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
			ret = str_outside_write(sd, hc, ubuf, n, block);
			if (ret != STR_INSIDE)
				return ret;
		}
		if (str_load(&sd->direct) == NULL) {
			ret = write_message(sd, hc, ubuf, n, block);
			if (ret >= 0 && (str_load(&sd->flags) & STR_H_AWAY))
				(void)str_outside_flush(sd, hc, block);
			return ret;
		}
		lock_p(hq);
		str_headq_settle(hq);
		if (str_load(&sd->direct) == NULL) {
			str_hunlock(&hq->plock, STR_HOLD_P);
			continue;
		}
		if (!str_headq_is_full(hq)) {
			ret = append(sd, hq, ubuf, n);
			str_hunlock(&hq->plock, STR_HOLD_P);
			if (ret >= 0)
				str_wake_readers_from(sd, hc);
			return ret;
		}
		str_hunlock(&hq->plock, STR_HOLD_P);
		str_sig_refused(sd, 0);
		if (!block) {
			/* who never sleeps would not learn of a death */
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

/* Wake @sd's peer's readers with @hc as the call the token goes by. */
void
str_wake_readers_from(struct str_head *sd, struct host_call *hc)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_wake_readers(sd->peer);
	host_tls.call = old;
}

/* The fast path: no module, no error, room, a reader. */
STR_INLINE long
write_one(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t n, bool block)
{
	struct str_headq *hq = &sd->peer->hq;
	bool look;
	int err;

	if (str_unlikely((str_load(&sd->flags) & STR_WRITE_SLOW) != 0 ||
		n > STR_FAST_MAX))
		return write_slow(sd, hc, ubuf, n, block);
	if (str_load(&sd->direct) == NULL)
		return write_message(sd, hc, ubuf, n, block);
	lock_p(hq);
	if (str_unlikely(str_load(&sd->direct) == NULL ||
		(str_load(&hq->full) != 0 && str_headq_is_full(hq)))) {
		str_hunlock(&hq->plock, STR_HOLD_P);
		return write_slow(sd, hc, ubuf, n, block);
	}
	err = headq_put(hq, ubuf, n, 0);
	look = must_ask(hq);
	str_hunlock(&hq->plock, STR_HOLD_P); /* its light fence orders pos and rwant */
	if (str_unlikely(err != 0))
		return -(long)err;
	if (str_unlikely(str_load(&hq->rwant) != 0))
		str_wake_readers_from(sd, hc);
	if (str_unlikely(look))
		(void)str_head_look(sd, hc);
	return (long)n;
}

/* A write of zero bytes: SNDZERO sends it, pipes do not by default. */
static long
write_zero(struct str_head *sd, struct host_call *hc)
{
	int err = write_error(sd);

	if (err != 0)
		return write_fails(sd, err);
	if ((sd->wropt & 1) == 0)
		return 0;
	return write_slow(sd, hc, NULL, 0, (hc->fflags & STR_O_NONBLOCK) == 0);
}

/*
 * str_head_write_after - after a fast write: a reader sleeps
 * It need not be asked for: a token without a holder to take it is refused.
 */
void
str_head_write_after(struct str_head *sd, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};

	str_wake_readers_from(sd, &hc);
}

/* After a fast write, its lock held: it is time to ask whether anybody reads. */
static STR_NOINLINE void
write_look(struct str_head *sd, int fd)
{
	struct str_headq *hq = &sd->peer->hq;
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};
	bool look = must_ask(hq);

	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_load(&hq->rwant) != 0)
		str_wake_readers_from(sd, &hc);
	else if (look)
		(void)str_head_look(sd, &hc);
}

/*
 * str_head_write_tail - what str_head_write_fast() has left to do
 * Return: @len, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_head_write_tail(struct str_head *sd, int fd, size_t len, enum str_fast how)
{
	struct str_thread *t = host_tls.slot;

	/* no switch: its table is a page more for who has slept long */
	if (how == STR_FAST_LOOK) {
		write_look(sd, fd);
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

/* Would canput() say yes, and need not ask twice?  A claim is held. */
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
 * str_head_write_mods - the fast write where modules stand between the heads
 * It is write_message() for the case that there is room and no plumber:
 * out of a call no claim is held, so that the first place is free.
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
 * How much of a write of @len bytes is one message: what the topmost module,
 * or the driver, takes.  SVR4 write(2): more is split when there is no least
 * size, else refused.  Return: bytes, or -ERANGE.
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

STR_HOT long
str_head_write(struct str_head *sd, struct host_call *hc, const void *ubuf,
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
	if (str_likely(len <= (size_t)most && len != 0)) {
		n = write_one(sd, hc, ubuf, len, block);
		return str_likely(n >= 0) ? n : write_fails(sd, (int)-n);
	}
	if (len == 0)
		return write_zero(sd, hc);
	while (done < len) {
		n = write_one(sd, hc, (const char *)ubuf + done,
			STR_MIN(len - done, (size_t)most), block);
		if (n < 0) {
			if (done != 0)
				return (long)done;
			return write_fails(sd, (int)-n);
		}
		done += (size_t)n;
		hc->flags |= HOST_CALL_ONCE;
	}
	return (long)done;
}

/*
 * writev(2): one message of all parts when they fit into one, so that it is
 * as atomic as a write of their sum.
 */
long
str_head_writev(struct str_head *sd, struct host_call *hc,
	const struct str_iov *iov, int n)
{
	size_t total = 0, off = 0;
	struct str_blk *b;
	long ret;
	int i;

	hc->head = sd;
	if (str_unlikely(NOT_FOR_WRITING(str_load(&sd->flags),
		    (uint32_t)hc->fflags)))
		return -EBADF;
	for (i = 0; i < n; i++)
		total += iov[i].len;
	if (n == 1)
		return str_head_write(sd, hc, iov[0].base, total);
	if (total == 0)
		return write_zero(sd, hc);
	if (total > CHUNK) {
		long done = 0;

		for (i = 0; i < n; i++) {
			if (iov[i].len == 0)
				continue;
			ret = str_head_write(sd, hc, iov[i].base, iov[i].len);
			if (ret < 0)
				return done != 0 ? done : ret;
			done += ret;
			hc->flags |= HOST_CALL_ONCE;
			if ((size_t)ret < iov[i].len)
				break;
		}
		return done;
	}
	/* gather first: one message, one wake */
	b = str_mem_alloc(total + 64, STR_BLK_BUF);
	if (b == NULL)
		return -ENOSR;
	for (i = 0; i < n; i++) {
		if (iov[i].len != 0 && host_copyin(iov[i].base,
				(char *)b + 64 + off, iov[i].len) != 0) {
			str_mem_free(b);
			return -EFAULT;
		}
		off += iov[i].len;
	}
	ret = str_head_write(sd, hc, (char *)b + 64, total);
	str_mem_free(b);
	return ret;
}
