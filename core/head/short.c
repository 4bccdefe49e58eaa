/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shortcuts: writing at the head of one stream into that of another, to which
 * a driver has connected it (<str/short.h>).
 *
 * Purpose.  Without a shortcut, a small write between two endpoints of a
 * loopback transport passes through two modules, a driver, its gate, and a
 * message block, before it is copied into the other head's log.  With a
 * shortcut the writer copies it there directly, as on a pipe without modules.
 *
 * Objects. `ticket' is a number that is used only once.  It is stored in the
 * target head queue, and, with the address of that queue, in the writing head.
 * There is a shortcut only if both numbers are equal.  An odd number at the
 * writing head means that a shortcut is being made.
 *
 * Safety of the other stream.  The writer claims both streams, as it would
 * without a shortcut, and then checks both plumbers and the ticket.  A thread
 * that changes the other stream's plumbing waits for claims, and clears the
 * ticket (str_short_off); a thread that frees the stream also clears it, before
 * it looks for claims (core/plumb/stream.c).  The address may by now belong to
 * another stream: the memory of streams is only reused for streams, and the new
 * stream's ticket is different.  Before this check the writer writes nothing
 * there.
 *
 * Order.  Ticket and log change under the producer's lock, and the writer
 * checks the ticket once more when it holds the lock: so all data written
 * before str_short_end() precedes the driver's next message.  When a driver
 * queues a message of the writing side, no such order is needed, because
 * simultaneous writes have no order: a writer that knows that the message is
 * queued also sees that the ticket in its own head is cleared.
 *
 *	str_short_make: odd number, full fence, is the queue empty?, ticket,
 *			even number if the odd one is still there
 *	the queueing thread: message on the queue, then clear the number
 *
 * So either str_short_make() sees the message, or the queueing thread clears
 * the number.
 *
 * Crash.  A thread that dies here holds the lock of the log, which the next
 * owner repairs, and two claims, by which the reaper finds both streams.
 */
#include "fast.h"
#include "fastmsg.h"

#include <str/builtin.h>
#include <str/short.h>

STR_INLINE struct str_head *
head_of(const queue_t *q)
{
	return &q->q_pair->plumb->head[0];
}

/*
 * Do all modules between a driver and the head pass data on unchanged?  A claim
 * is held.
 */
static bool
passes(queue_t *rq)
{
	queue_t *q = rq;

	if (q->q_pair->role != STR_QP_DRIVER)
		return false;
	for (;;) {
		const queue_t *w = WR(q);

		if (w->q_minpsz != 0 || w->q_maxpsz != INFPSZ)
			return false;
		q = q->q_next;
		if (q == NULL)
			return false; /* linked below a multiplexor */
		if (q->q_head != NULL)
			return q->q_head == head_of(rq);
		if (q->q_pair->role != STR_QP_MODULE || q->q_pair->pm != NULL ||
		    (q->q_pair->fmod->flag & STR_D_PLAIN) == 0)
			return false;
	}
}

int
str_short_stands(queue_t *wq, queue_t *rq)
{
	struct str_headq *hq = &head_of(rq)->hq;
	struct str_head *sd = head_of(wq);
	uint64_t v = str_load(&sd->ticket);

	return (v & 1) == 0 && v != 0 && str_load(&sd->cut) == hq &&
		str_load(&hq->ticket) == v;
}

int
str_short_make(queue_t *wq, queue_t *rq)
{
	struct str_head *sd = head_of(wq), *to = head_of(rq);
	struct str_headq *hq = &to->hq;
	uint64_t v;

	if (str_load(&wq->q_first) != NULL || !passes(RD(wq)) || !passes(rq))
		return 0;
	v = str_add(str_root(STR_ROOT_TICKET), (uint64_t)2) + 2;
	str_store(&sd->ticket, v | 1);
	str_fence_full();
	if (str_load(&wq->q_first) != NULL)
		return 0;
	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	str_store(&hq->ticket, v);
	str_hunlock(&hq->plock, STR_HOLD_P);
	str_store_rel(&sd->cut, hq);
	STR_CRASH_POINT("short:made");
	return str_cas(&sd->ticket, v | 1, v);
}

void
str_short_break(queue_t *wq)
{
	struct str_head *sd = head_of(wq);

	str_store_rel(&sd->ticket, (uint64_t)0);
}

static void
end(struct str_headq *hq)
{
	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	str_store(&hq->ticket, (uint64_t)0);
	str_hunlock(&hq->plock, STR_HOLD_P);
}

void
str_short_end(queue_t *rq)
{
	end(&head_of(rq)->hq);
}

/*
 * str_short_off - the plumbing of @pl changes: end shortcuts from and to it.
 * Locks: plumber.
 */
void
str_short_off(struct str_plumb *pl)
{
	struct str_head *sd = &pl->head[0];

	str_store(&sd->ticket, (uint64_t)0);
	if (str_load(&sd->hq.ticket) != 0)
		end(&sd->hq);
}

/* ------------------------------------------------------------- the writer */

/*
 * Prepare this thread so that other functions of the executive may be called.
 */
STR_INLINE void
in_earnest(struct str_plumb *to)
{
	host_tls.nclaim = 2;
	host_tls.at = to;
}

STR_INLINE void
unclaim(struct str_thread *t, struct str_plumb *pl, struct str_plumb *to)
{
	str_store_rel(&t->claim[1], (uint64_t)0);
	str_store_rel(&t->claim[0], (uint64_t)0);
	host_tls.nclaim = 0;
	host_tls.at = NULL;
	str_barrier();
	if (str_unlikely((str_load(&pl->plumber.owner) |
		str_load(&to->plumber.owner) | host_tls.ntouch) != 0)) {
		str_unclaimed(to);
		str_unclaimed(pl);
	}
}

static STR_NOINLINE void
wake(struct str_head *sd, struct str_plumb *to, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};
	struct host_call *old = host_tls.call;

	STR_CRASH_POINT("short:wake");
	in_earnest(to);
	host_tls.call = &hc;
	(void)str_wake_readers(&to->head[0]);
	host_tls.call = old;
}

/*
 * The lock is not biased to this thread, or the record needs more than a test
 * for room.
 */
static STR_NOINLINE bool
append_slow(struct str_headq *hq, uint64_t ticket, const void *ubuf, size_t len)
{
	const struct str_iov iov = {(void *)(uintptr_t)ubuf, len};
	const struct str_src src = {&iov, 0};
	bool done = false;

	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	str_headq_settle(hq);
	if (str_load(&hq->ticket) == ticket &&
	    (str_load(&hq->full) == 0 || !str_headq_is_full(hq)))
		done = headq_put(hq, &src, len, 0) == 0;
	str_hunlock(&hq->plock, STR_HOLD_P);
	return done;
}

STR_INLINE bool
append(struct str_thread *t, struct str_plumb *to, struct str_headq *hq,
	uint64_t ticket, const void *ubuf, size_t len)
{
	if (str_likely(fast_lock(&hq->plock, STR_HOLD_P, t))) {
		bool done = str_load(&hq->ticket) == ticket &&
			headq_put_quick(hq, ubuf, len);

		if (str_likely(done))
			str_headq_note_cpu(hq);
		fast_unlock(&hq->plock, STR_HOLD_P, t);
		if (str_likely(done))
			return true;
	}
	in_earnest(to);
	return append_slow(hq, ticket, ubuf, len);
}

/*
 * One attempt.  Return: bytes; STR_NOT_FAST: make the full call; 0: not
 * possible, or not now.
 */
STR_INLINE long
try_short(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	struct str_headq *hq, uint64_t ticket, const void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl, *to;
	uint32_t f;
	bool done;

	if (str_unlikely(!fast_enter(sd, id, gen, t)))
		return fast_back(t);
	f = str_load(&sd->flags);
	if (str_unlikely((f & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id))))
		return fast_back(t);
	pl = sd->plumb;
	to = str_container(str_container(hq, struct str_head, hq),
		struct str_plumb, head[0]);
	str_store(&t->claim[0], (uint64_t)(uintptr_t)pl);
	str_store(&t->claim[1], (uint64_t)(uintptr_t)to);
	str_barrier(); /* pairs with the plumber's heavy one */
	done = str_likely((str_load_acq(&pl->plumber.owner) |
			str_load_acq(&to->plumber.owner)) == 0 &&
		str_load_acq(&hq->ticket) == ticket);
	STR_CRASH_POINT("short:claimed");
	if (str_likely(done))
		done = append(t, to, hq, ticket, ubuf, len);
	if (str_likely(done)) {
		STR_CRASH_POINT("short:written");
		host_tls.wrote = 1;
		if (str_unlikely(str_load(&hq->rwant) != 0))
			wake(sd, to, fd);
		else
			str_store(&t->elided, str_load(&t->elided) + 1);
	}
	unclaim(t, pl, to);
	fast_leave(t);
	return done ? (long)len : 0;
}

/*
 * str_head_write_short - the fast write where a driver has made a shortcut
 * As str_head_write_mods(), which it calls if there is no shortcut.  If only
 * room is lacking it waits for a moment, because a message sent through the
 * driver would end the shortcut, be queued, and depend on the reader.
 */
STR_HOT long
str_head_write_short(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len)
{
	unsigned tries = 0;
	long ret;

	for (;;) {
		uint64_t ticket = str_load_acq(&sd->ticket);
		struct str_headq *hq = str_load(&sd->cut);

		if (str_unlikely(hq == NULL || ticket == 0 || (ticket & 1) != 0))
			break;
		ret = try_short(sd, id, gen, fd, hq, ticket, ubuf, len);
		if (str_likely(ret != 0))
			return ret;
		if (str_load(&hq->full) == 0 || str_load(&hq->ticket) != ticket ||
		    tries++ == STR_DIRECT_TRIES ||
		    (str_load(id) & STR_O_NONBLOCK) != 0)
			break;
		if (!str_direct_soon(sd, hq))
			return STR_NOT_FAST; /* the full call sleeps */
	}
	return str_head_write_mods(sd, id, gen, fd, ubuf, len);
}
