/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping at a Stream head, and waking the sleepers.
 *
 * Purpose.  No system call while the other side runs; no context switch without
 * an event; no thread misses its event, a signal, or the death of the other
 * end.
 *
 * Order.  A caller that must wait first runs the enabled queues of its stream.
 * It spins only if the other side last ran on another CPU, with back-off, and
 * never longer than a wake costs.  Then it sleeps on words, without limit: the
 * queue's, and those by which it is told of a death (notice.c).
 *
 * Without notices there are two stages, because only the carrier tells of a
 * death then: (1) a futex wait on the queue's word for at most 20 ms; (2) a look
 * at the carrier, and a wait on the carrier, first 50 ms, then without limit.
 * That is the case if streamsd does not run, if the kernel has no
 * futex_waitv(2), and for an end that a process outside may hold.
 *
 * Protocol.  The sleeper sets its bit in the queue's want word, executes the
 * heavy fence, and looks again.  The waker publishes, executes the light
 * fence, and reads the want word; it wakes all threads that set a bit (one
 * futex wake, one token).  So a wake is sent once per transition.  A sleeper
 * whose time is over, or that died, leaves STR_WANT_FUTEX set, because it may be
 * another one's request by then; that costs one unnecessary wake at most
 * (models/sleep.pml).
 *
 * Tokens are sent from one end to the other.  A waker that holds the same end
 * as the sleeper, or none, rings the sleeper's bell.  One token is for all
 * threads that sleep at that end: the thread that takes it out rings the
 * others.
 *
 * Failure.  If a waker is killed before it has woken a sleeper, the thread that
 * reaps it rings the sleepers of the streams that it was inside.  A sleeper in
 * stage 1 wakes after 20 ms at the latest.  A sleeper in
 * stage 2 may sleep without limit.  Therefore a waker clears the bit for a
 * token after it has sent the token, not before: if it is killed in between,
 * the next waker sends one.  Each arming changes the value of the word, and the
 * bit is cleared only if the word still has the value seen before the sending.
 * For the same reason a thread that takes a token out arms first, and disarms
 * when it has rung the others.
 */
#include "core.h"
#include "fastmsg.h"
#include "headq.h"
#include "patience.h"
#include "sig.h"
#include "sock/sock.h"
#include "want.h"

#define NEAR_NS 20000000ull /* stage 1: a death is not noticed in it */
#define STAGE_NS 50000000ull

/* ----------------------------------------------------------------- waking */

void
str_head_dropped(struct str_head *sd)
{
	uint32_t w = str_load(&sd->hq.rwant) | str_load(&sd->peer->hq.wwant);

	if (str_unlikely((w & STR_WANT_FUTEX) != 0))
		str_ring_sleepers(sd, false);
}

/* Send a token to every open file that has an address. */
static void
send_by_address(struct str_head *sd)
{
	struct str_file *f;

	for (f = &sd->file; f != NULL; f = f->next)
		if (str_load(&f->open) == 1 &&
		    f->carrier.kind == HOST_CARRIER_OPEN)
			(void)host_carrier_send(&f->carrier);
}

static void
send_token(struct str_head *sd)
{
	struct host_call *hc = str_call_toward(sd);
	int err;

	(void)str_add(str_root(STR_ROOT_TOKENS), (uint64_t)1);
	send_by_address(sd);
	if ((str_load(&sd->flags) & (STR_H_DEV | STR_H_FIFO)) != 0)
		return;
	/* a token would be read outside, or be queued after waiting bytes */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0 ||
		    (str_load(&sd->peer->flags) & STR_H_AWAY) != 0)) {
		str_ring_sleepers(sd, true);
		return;
	}
	err = hc != NULL ? host_token_send(hc->fd) : EPIPE;
	/* the other end has no holder any more: let the next call look */
	if (str_unlikely(err == EPIPE && hc != NULL &&
		    (str_load(&hc->head->flags) & (STR_H_PEER | STR_H_LOST)) ==
			    0))
		(void)str_or(&hc->head->flags, STR_H_LOOK);
	if (err != 0 && (hc == NULL ||
			(str_load(&sd->flags) & STR_H_CLOSED) == 0))
		str_ring_sleepers(sd, true);
}

/*
 * Request a token. *ret_n: the word's new value, whose number is another one
 * than before (want.h).
 * Return: true if no other thread had requested one.
 */
static bool
arm(str_a32 *want, uint32_t *ret_n)
{
	return (want_request(want, STR_WANT_TOKEN, ret_n) &
		STR_WANT_TOKEN) == 0;
}

/* Cancel the request that set the word to @n, if it still has this value. */
static void
disarm(str_a32 *want, uint32_t n)
{
	uint32_t w;

	do {
		w = str_load(want);
		if (((w ^ n) & ~STR_WANT_BITS) != 0)
			return;
	} while (!str_cas(want, w, want_without(w, STR_WANT_TOKEN)));
}

/* str_want_token - request a token, for a poller. */
void
str_want_token(str_a32 *want)
{
	uint32_t n;

	(void)arm(want, &n);
}

/* Return: number of threads woken in stage 1. */
static STR_NOINLINE int
wake(struct str_head *sd, str_a32 *want, str_a32 *word)
{
	uint32_t w = str_and(want, ~STR_WANT_FUTEX);
	int n = 0;

	(void)str_add(word, 1u);
	if (w & STR_WANT_FUTEX) {
		(void)str_add(str_root(STR_ROOT_WAKES), (uint64_t)1);
		n = host_wake(word, INT_MAX);
	}
	if (str_unlikely((w & (STR_WANT_SIG | STR_WANT_SIGBAND)) != 0))
		str_sig_woken(sd, want != &sd->hq.rwant);
	if (str_unlikely((w & STR_WANT_WATCH) != 0))
		str_watch_fire(sd, want);
	w = str_load(want);
	if ((w & STR_WANT_TOKEN) != 0) {
		STR_CRASH_POINT("wake:token");
		send_token(sd);
		STR_CRASH_POINT("wake:sent");
		/*
		 * A sleeper that has armed again has looked since, and has seen
		 * the event of this wake: it needs no second token.  Otherwise
		 * a sleeper that preempts this thread at each token, and arms
		 * again before this thread runs, would cause tokens without
		 * end.
		 */
		disarm(want, w);
	}
	return n;
}

/*
 * The requests of sleepers at @want, without @quiet; called after the event has
 * been published, and after a light fence.  After a thread has slept here, this
 * thread executes the full fence for some time, so that the next sleeper needs
 * no heavy one.  VAIN_FENCES full fences in a row without a sleeper cost as
 * much as a heavy one; then this thread withdraws the request for full fences.
 */
static uint32_t
wanted(str_a32 *want, uint32_t quiet)
{
	uint32_t w = str_load(want), v;

	if ((w & STR_WANT_FENCE) == 0)
		return w & STR_WANT_BITS & ~quiet;
	str_fence_full();
	w = str_load(want);
	v = w & STR_WANT_BITS & ~(quiet | STR_WANT_QUIET);
	if (v != 0)
		host_tls.vain_fences = 0;
	else if (++host_tls.vain_fences >= VAIN_FENCES &&
		str_cas(want, w, want_without(w, STR_WANT_QUIET)))
		host_tls.vain_fences = 0;
	return v;
}

/*
 * A thread is about to sleep at @want: request a wake, and make sure that a
 * waker that does not see the request has published the data which the thread
 * checks next.
 *
 * STR_WANT_FENCED says that all wakers have seen STR_WANT_FENCE since that was
 * set.  The number in the word changes each time that it is set: a thread
 * that has executed the heavy fence for an earlier setting does not set
 * STR_WANT_FENCED for this one (models/fence.pml).
 */
static void
ask_wake(str_a32 *want)
{
	uint32_t w = str_load(want), n;

	while ((w & STR_WANT_FENCED) != 0)
		if (str_cas_see(want, &w, w | STR_WANT_FUTEX))
			return; /* that was the fence */
	if ((w & STR_WANT_FENCE) == 0)
		(void)want_request(want, STR_WANT_FUTEX | STR_WANT_FENCE,
			&n);
	else
		n = str_or(want, STR_WANT_FUTEX) | STR_WANT_FUTEX;
	host_fence_heavy(); /* pairs with the waker's light fence */
	want_fenced(want, n);
}

/*
 * str_wake_readers - an event for which readers of @sd may wait
 * Return: number of threads woken in stage 1.
 */
int
str_wake_readers(struct str_head *sd)
{
	struct str_thread *t = host_self();

	host_fence_light();
	if (wanted(&sd->hq.rwant, 0) == 0) {
		str_store(&t->elided, str_load(&t->elided) + 1);
		return 0;
	}
	return wake(sd, &sd->hq.rwant, &sd->hq.rword);
}

/*
 * str_wake_writers - @sd's head queue has been read from
 * Refused writers are woken when the count is zero or below low water.
 */
void
str_wake_writers(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;
	uint32_t w = wanted(&hq->wwant, 0);

	if (str_headq_is_full(hq))
		return;
	if (w & STR_WANT_BACK) {
		(void)str_and(&hq->wwant, ~STR_WANT_BACK);
		qbackenable(&sd->qp->rq, 0);
	}
	if (w & STR_WANT_ROOM) {
		(void)str_and(&hq->wwant, ~STR_WANT_ROOM);
		(void)str_add(&hq->wword, 1u);
		(void)str_add(str_root(STR_ROOT_WAKES), (uint64_t)1);
		(void)host_wake(&hq->wword, INT_MAX);
	}
	/* with modules, the module's service procedure enables them */
	if (str_load(&sd->flags) & STR_H_MODS)
		return;
	if (w & ~(STR_WANT_BACK | STR_WANT_ROOM))
		(void)wake(sd->peer, &hq->wwant, &hq->wword);
}

/*
 * str_wake_writers_behind - @sd's own writers may try again
 * Return: number of threads woken in stage 1.
 */
int
str_wake_writers_behind(struct str_head *sd)
{
	struct str_headq *hq = &sd->peer->hq;

	host_fence_light();
	if (wanted(&hq->wwant, STR_WANT_BACK | STR_WANT_ROOM) != 0)
		return wake(sd, &hq->wwant, &hq->wword);
	return 0;
}

/*
 * str_wake_all - wake every thread at @sd: its state has changed
 * No thread sleeps at the unused second head of a stream with one (STR_H_STUB).
 */
void
str_wake_all(struct str_head *sd)
{
	if (str_load(&sd->flags) & STR_H_STUB)
		return;
	(void)str_wake_readers(sd);
	(void)str_wake_writers_behind(sd);
	/* while an ioctl is in progress a caller may wait for an answer, or for
	 * its turn */
	if (str_load(&sd->iocbusy) != 0) {
		(void)str_add(&sd->iocword, 1u);
		host_wake(&sd->iocword, INT_MAX);
	}
}

/* str_head_set - set state flags and wake all threads. */
void
str_head_set(struct str_head *sd, uint32_t flags)
{
	uint32_t was = str_or(&sd->flags, flags);

	str_fence_full();
	str_wake_all(sd);
	if ((flags & ~was & STR_H_HUP) != 0)
		str_sig_event(sd, STR_S_HANGUP);
}

/* --------------------------------------------------------------- carriers */

/*
 * Is @fd a file of @sd?  Another thread may have closed it, and the number may
 * belong to another file now.
 */
static STR_COLD bool
is_own(struct str_head *sd, int fd)
{
	struct host_carrier c;
	struct str_file *f;

	if (host_carrier_id(fd, &c) != 0)
		return false;
	for (f = &sd->file; f != NULL; f = f->next)
		if (f->carrier.cookie == c.cookie)
			return true;
	return false;
}

/* Look at @sd's carrier.  Return: 0, or EBADF. */
static int
look(struct str_head *sd, struct host_call *hc, uint32_t *ret_ev)
{
	uint32_t ev, was = str_and(&sd->flags, ~STR_H_LOOK);

	*ret_ev = 0;
	if (hc == NULL || hc->fd < 0)
		return 0;
	*ret_ev = ev = host_carrier_look(hc->fd);
	if ((ev & HOST_C_NVAL) || (((ev & HOST_C_HUP) || (was & STR_H_LOOK)) &&
		!is_own(sd, hc->fd)))
		return EBADF;
	if (str_unlikely((str_load(&sd->flags) & STR_H_AWAY) != 0))
		(void)str_outside_flush(sd, hc, false);
	else if (str_unlikely((str_load(&sd->flags) & STR_H_LEFT) != 0))
		str_outside_ask(sd, hc);
	/* bytes from outside come before the hang-up */
	if ((ev & HOST_C_TOKEN) && sd->plumb->kind == STR_PL_PIPE &&
	    ((ev & HOST_C_HUP) || !str_head_pending(sd))) {
		str_head_drain(sd, hc->fd, true);
		*ret_ev = ev = host_carrier_look(hc->fd);
		if (ev & HOST_C_TOKEN)
			ev &= ~HOST_C_HUP;
	}
	if ((ev & HOST_C_HUP) && sd->plumb->kind == STR_PL_PIPE &&
	    (str_load(&sd->flags) & (STR_H_PEER | STR_H_LOST)) == 0) {
		struct host_call *old = host_tls.call;

		host_tls.call = hc;
		str_pipe_pair_gone(sd->peer);
		host_tls.call = old;
	}
	return 0;
}

/*
 * str_head_look - consult @sd's carrier: is the other end still held?
 * Return: 0, or EBADF if the descriptor belongs to another object now.
 */
int
str_head_look(struct str_head *sd, struct host_call *hc)
{
	uint32_t ev;

	return look(sd, hc, &ev);
}

/* --------------------------------------------------------------- sleeping */

/* Events for which a reader waits, including errors and hang-up. */
bool
str_head_readable(struct str_head *sd)
{
	return str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos) ||
		(str_load(&sd->hq.npri) | str_load(&sd->hq.overflow)) != 0 ||
		(str_load(&sd->flags) & (STR_H_RDERR | STR_H_HUP |
			STR_H_PEER | STR_H_PLEX | STR_H_LOOK |
			STR_H_NOWR | STR_H_EOF)) != 0;
}

#define UNWRITABLE \
	(STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_PLEX | STR_H_LOOK | \
		STR_H_NORD)

bool
str_head_writable(struct str_head *sd)
{
	if ((str_load(&sd->flags) & UNWRITABLE) != 0)
		return true;
	if (str_unlikely(str_head_noroom(sd)))
		return false;
	if (str_load(&sd->direct) != NULL)
		return !str_headq_is_full(&sd->peer->hq);
	if (str_claim(sd->plumb) == 0) {
		int ok = sd->qp->wq.q_next == NULL ||
			canput(sd->qp->wq.q_next);

		str_unclaim(sd->plumb);
		return ok;
	}
	return false;
}

/*
 * An event rarer than data of band 0: STR_SLEEP_* in @why.  There may be other
 * messages already; then the condition is that of the sleeping call (msg.c), so
 * that no thread sleeps although its message is there.
 */
static STR_NOINLINE bool
rare_ready(struct str_head *sd, unsigned why)
{
	queue_t *q = &sd->qp->rq;
	unsigned band = STR_SLEEP_BAND_OF(why);
	bool yes = false;
	mblk_t *mp;

	if (str_load(&sd->flags) & STR_H_LOOK)
		return true;
	if ((why & STR_SLEEP_READ) == 0)
		return (str_load(&sd->flags) & (STR_H_PLEX | STR_H_NORD)) ||
			str_head_band_writable(sd, (int)band);
	if (str_load(&sd->flags) & (STR_H_RDERR | STR_H_HUP | STR_H_PEER |
		STR_H_PLEX | STR_H_NOWR | STR_H_EOF))
		return true;
	if ((why & STR_SLEEP_NORMAL) != 0 &&
	    (str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos) ||
		    str_load(&sd->hq.overflow) != 0))
		return true;
	if (str_load(&sd->hq.npri) == 0)
		return false;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	mp = q->q_first;
	if (mp != NULL && mp->b_datap->db_type >= QPCTL)
		yes = (why & STR_SLEEP_NORMAL) == 0;
	else if (mp != NULL)
		yes = (why & STR_SLEEP_HIPRI) == 0 && mp->b_band >= band;
	str_unlock(&q->q_klock);
	return yes;
}

static bool
ready(struct str_head *sd, unsigned why)
{
	if (str_unlikely((why & STR_SLEEP_RARE) != 0))
		return rare_ready(sd, why);
	return why == STR_SLEEP_READ ? str_head_readable(sd) :
				       str_head_writable(sd);
}

/* Does the thread wait to read, whatever the message? */
STR_INLINE bool
reads(unsigned why)
{
	return (why & STR_SLEEP_READ) != 0;
}

/*
 * ready() for a thread that spins: it requests no wake, because that would cost
 * a heavy fence and a function call in every read of the other side.
 */
static bool
seems_ready(struct str_head *sd, unsigned why)
{
	queue_t *q;
	bool full;

	if (why != STR_SLEEP_WRITE || str_load(&sd->direct) != NULL ||
	    str_claim(sd->plumb) != 0)
		return ready(sd, why);
	q = sd->qp->wq.q_next;
	full = q != NULL && full_ahead(q);
	str_unclaim(sd->plumb);
	if (full && (str_load(&sd->flags) & UNWRITABLE) == 0)
		return false;
	return ready(sd, why);
}

/* The CPU on which the reader of data written at @sd last ran. */
static uint32_t
reader_cpu(struct str_head *sd)
{
	struct str_headq *cut = str_load(&sd->cut);

	/* a hint: a shortcut's target may have been freed and be another
	 * stream */
	return str_load(cut != NULL ? &cut->ccpu : &sd->peer->hq.ccpu);
}

/*
 * Spin while the other side runs elsewhere.
 */
static bool
spin(struct str_head *sd, struct host_call *hc, unsigned why)
{
	uint32_t other = reads(why) ? str_load(&sd->hq.pcpu) : reader_cpu(sd);
	uint64_t start, budget;
	unsigned pause = 1, i;

	if (other == ~0u)
		return false;
	if (other == host_cpu()) {
		/* it cannot run while we do: yield to it before requesting a
		 * wake, so that neither side needs another system call */
		for (i = 0; i < YIELDS; i++) {
			bool yes;

			if (!host_give_way())
				return false;
			yes = seems_ready(sd, why);
			if (yes && (!reads(why) || headq_much(&sd->hq)))
				host_way_used();
			if (yes || host_interrupted(hc) != HOST_SIG_NONE)
				return true;
		}
		return false;
	}
	/* a thread that has written since waits for an answer: look at once; a
	 * thread that only reads waits longer, so that its looks do not move
	 * the cache line for each record */
	pause = reads(why) && host_tls.wrote != 0 ? 1 : SPIN_PAUSES;
	budget = reads(why) ? SPIN_READ_US : SPIN_WRITE_US;
	host_tls.wrote = 0;
	budget = budget * host_ticks_per_ms / 1000;
	start = host_ticks();
	do {
		for (i = 0; i < pause; i++)
			str_cpu_relax();
		if (seems_ready(sd, why))
			return true;
		if (host_interrupted(hc) != HOST_SIG_NONE)
			return true;
		if (pause < SPIN_PAUSES && host_ticks() - start > budget / 8)
			pause = SPIN_PAUSES;
	} while (host_ticks() - start < budget);
	return false;
}

static uint64_t
left(uint64_t deadline, uint64_t most)
{
	uint64_t now;

	if (deadline == UINT64_MAX)
		return most;
	now = host_now();
	if (now >= deadline)
		return 0;
	return STR_MIN(most, deadline - now);
}

/* str_signalled - a signal handler ran: does the call end? */
int
str_signalled(struct host_call *hc)
{
	int s = host_interrupted(hc);

	if (s == HOST_SIG_INTR ||
	    (s == HOST_SIG_RESTART && (hc->flags & HOST_CALL_ONCE)))
		return EINTR;
	if (s == HOST_SIG_RESTART)
		host_resample(hc);
	return 0;
}

/*
 * Before a sleep without limit: did a thread die inside this stream, with a
 * queue enabled or a wake not sent?  The check reaps it, and this makes the
 * stream's queues run.
 */
static void
look_for_dead(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i, k;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t tag = str_load(&t->tag);
		uint64_t in = str_load(&t->inside);
		bool here = in == (uint64_t)(uintptr_t)&pl->head[0] ||
			in == (uint64_t)(uintptr_t)&pl->head[1];

		for (k = 0; k < STR_NCLAIM && !here; k++)
			here = str_load(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl;
		if (here && tag != 0 && t != host_self())
			(void)host_reap_dead(tag);
	}
}

/*
 * str_head_drain - take the tokens out of @sd's carrier, which is under @fd
 * They were for all threads that sleep at this end: those that may not have
 * seen them are rung.
 */
void
str_head_drain(struct str_head *sd, int fd, bool pollers)
{
	str_a32 *want[2] = {&sd->hq.rwant, &sd->peer->hq.wwant};
	uint32_t n[2];
	int i;

	for (i = 0; i < 2; i++)
		(void)arm(want[i], &n[i]);
	if (sd->plumb->kind == STR_PL_PIPE)
		(void)str_outside_take(sd, fd);
	else
		host_token_drain(fd);
	STR_CRASH_POINT("sleep:drained");
	str_ring_sleepers(sd, pollers);
	for (i = 0; i < 2; i++)
		disarm(want[i], n[i]);
}

/* If the carrier cannot be used, only the bell can wake. */
static int
wait_carrier(struct str_head *sd, struct host_call *hc, uint64_t ns,
	uint32_t *ret_ev)
{
	int fd = hc->fd, err;

	if (str_unlikely(str_head_lost(sd) || str_head_stuffed(sd)))
		hc->fd = -1;
	err = host_wait_carrier(hc, ns, ret_ev);
	hc->fd = fd;
	return err;
}

/* Stage 2: on the carrier.  Return: 0 look again, EINTR, ETIMEDOUT, EBADF. */
static int
carrier_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	str_a32 *want, uint64_t deadline)
{
	struct str_thread *t = host_self();
	uint64_t most = STAGE_NS, sid = sd->plumb->sid;
	uint32_t ev, n, seq = host_tls.sig_seq;
	int err = look(sd, hc, &ev);

	if (err == 0 && hc->fd >= 0 && !is_own(sd, hc->fd))
		err = EBADF;
	if (err != 0)
		return err;
	/* the token that woke us is taken out only now, after its event was
	 * handled; until then it wakes other sleepers as well */
	if (ev & HOST_C_TOKEN)
		str_head_drain(sd, hc->fd, true);
	for (;; most = UINT64_MAX) {
		bool alone;

		/* a waker must find our bell */
		host_wait_prepare();
		str_store(&t->asleep_on, (uint64_t)(uintptr_t)sd);
		alone = arm(want, &n);
		host_fence_heavy();
		/* the bell rings for work that comes later */
		if (host_serve != NULL)
			host_serve();
		/* closed: the number may belong to another carrier now */
		if (ready(sd, why) ||
		    (str_load(&sd->flags) & STR_H_CLOSED) != 0) {
			str_store(&t->asleep_on, (uint64_t)0);
			if (alone)
				disarm(want, n);
			return 0;
		}
		STR_CRASH_POINT("sleep:carrier");
		ev = 0;
		err = wait_carrier(sd, hc, left(deadline, most), &ev);
		str_store(&t->asleep_on, (uint64_t)0);
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (err == ETIMEDOUT && most == STAGE_NS &&
		    left(deadline, 1) != 0) {
			look_for_dead(sd->plumb);
			continue;
		}
		if (err != 0 || (ev & HOST_C_TOKEN) == 0) {
			if (alone)
				disarm(want, n);
		}
		if (err == ETIMEDOUT)
			return left(deadline, 1) == 0 ? ETIMEDOUT : 0;
		if (err != 0)
			return err;
		if ((ev & HOST_C_BELL) && host_serve != NULL)
			host_serve();
		if (ev & HOST_C_NVAL)
			return EBADF;
		if (ev & HOST_C_HUP)
			(void)str_head_look(sd, hc);
		return 0;
	}
}

/* A thread that uses the lent socket (HOST_C_*) waits only for the socket. */
static bool
lent_ready(struct str_head *sd, uint32_t lent)
{
	return lent == HOST_C_IN ? str_head_readable(sd) :
		(str_load(&sd->flags) & (STR_H_WRERR | STR_H_HUP |
			STR_H_PEER | STR_H_PLEX | STR_H_LOOK)) != 0;
}

/* Does the data of socket @id come from another CPU, as far as known? */
static bool
from_afar(uint64_t id)
{
	int cpu = -1;
	uint32_t len = sizeof(cpu);

	return host_sock_getopt(id, KS_LEVEL, KS_CPU, &cpu, &len) == 0 &&
		cpu >= 0 && (uint32_t)cpu != host_cpu();
}

/*
 * Before a thread sleeps for the socket it yields the CPU; after a send it
 * waits a moment for the answer, because a wake-up would cost more.  A receiver
 * of a flow of bytes from another CPU does so, too, because otherwise the
 * sender would have to wake it each time.  After an unsuccessful attempt this
 * is not tried for a while.  Return: true if only the socket's event has
 * occurred.
 */
static bool
lent_soon(struct str_head *sd, struct host_call *hc, uint32_t what,
	uint32_t (*try)(struct str_head *sd, struct host_call *hc, void *arg),
	void *arg)
{
	struct ksock_lend *l = &sd->plumb->lend;
	unsigned way = what == HOST_C_OUT, us = SPIN_READ_US, i;
	uint64_t id = str_sock_of(sd->plumb), start = host_ticks(), most;
	bool flow = try == NULL && host_tls.wrote == 0;
	uint32_t ev;
	uint8_t n;

	/* room: with fewer wake-ups there is more room each time */
	if (try == NULL && way)
		return false;
	if (patience_rests(&l->rest[way]))
		return false;
	/* a flow of bytes on one CPU: fewer wake-ups are better */
	if (flow) {
		/* a timer on this CPU may have delivered it nevertheless */
		n = from_afar(id) ? FAR_WAITS + 1 : str_load(&l->far);
		if (n == 0)
			return false;
		str_store(&l->far, (uint8_t)(n - 1));
		us = SPIN_FLOW_US;
	}
	most = us * host_ticks_per_ms / 1000;
	host_tls.wrote = 0;
	do {
		for (i = flow ? SPIN_PAUSES : 0; i != 0; i--)
			str_cpu_relax();
		if (!host_give_way())
			return false;
		if (lent_ready(sd, what) || host_interrupted(hc) !=
				HOST_SIG_NONE)
			return false;
		ev = try != NULL ? try(sd, hc, arg) :
				   host_sock_look(id, what);
		if (ev != 0) {
			patience_paid(&l->skip[way], &l->rest[way]);
			return ev == what;
		}
	} while (host_ticks() - start < most);
	patience_vain(&l->skip[way], &l->rest[way], SKIP_TRY);
	return false;
}

/* One wait of sock_sleep(); @most ns. */
static int
sock_wait(struct str_head *sd, struct host_call *hc, unsigned why,
	str_a32 *want, uint64_t most, uint32_t lent, uint32_t *ret_ev)
{
	struct str_thread *t = host_self();
	uint64_t id = str_sock_of(sd->plumb);
	uint32_t n;
	bool alone;
	int err = 0;

	*ret_ev = 0;
	/* first wait only for the socket, which is cheaper: other wakers find
	 * us in the second stage */
	if (lent != 0 && most <= STAGE_NS) {
		if (lent_ready(sd, lent) ||
		    (str_load(&sd->flags) & STR_H_CLOSED) != 0)
			return 0;
		return host_wait_sock(hc, id, lent | HOST_C_ALONE, most,
			ret_ev);
	}
	host_wait_prepare();
	str_store(&t->asleep_on, (uint64_t)(uintptr_t)sd);
	alone = arm(want, &n);
	if (most <= STAGE_NS)
		str_fence_full();
	else
		host_fence_heavy();
	if (!(lent != 0 ? lent_ready(sd, lent) : ready(sd, why)) &&
	    (str_load(&sd->flags) & STR_H_CLOSED) == 0) {
		STR_CRASH_POINT("sleep:sock");
		err = host_wait_sock(hc, id, lent != 0 ? lent :
			str_sock_interest(id), most, ret_ev);
	}
	str_store(&t->asleep_on, (uint64_t)0);
	/* before the event is handled: we need no token */
	if (alone)
		disarm(want, n);
	return err;
}

/*
 * The stream has a socket.  The waiting thread receives itself, and there is no
 * stage 1: it waits for the socket and the carrier, first for 50 ms.  For this
 * wait a full fence is used instead of the heavy fence: a missed wake costs at
 * most these 50 ms and is rare, but a heavy fence would cost time at each
 * sleep.
 */
static int
sock_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	str_a32 *want, uint64_t deadline, uint32_t *lent)
{
	uint32_t what = lent != NULL ? *lent : 0;
	uint64_t most = STAGE_NS, sid = sd->plumb->sid;
	uint32_t ev, seq = host_tls.sig_seq;
	int err;

	str_store(&host_self()->why, why & STR_SLEEP_WAY);
	for (;; most = UINT64_MAX) {
		err = sock_wait(sd, hc, why, want, left(deadline, most), what,
			&ev);
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (what != 0 && err == 0 && ev == what)
			return 0; /* its own */
		if (lent != NULL)
			*lent = 0;
		if (err == ETIMEDOUT && left(deadline, 1) == 0)
			return ETIMEDOUT;
		if (err == ETIMEDOUT && most == STAGE_NS) {
			look_for_dead(sd->plumb);
			err = look(sd, hc, &ev);
			if (err != 0)
				return err;
			if (lent != NULL)
				*lent = what;
			continue;
		}
		if (err == EINTR) {
			err = str_signalled(hc);
			if (err != 0)
				return err;
		}
		if (ev & HOST_C_NVAL)
			return str_head_look(sd, hc);
		if (ev & (HOST_C_IN | HOST_C_OUT | HOST_C_MORE))
			str_sock_fired(str_sock_of(sd->plumb), ev, hc);
		/* remove a token whose event was handled before */
		if ((ev & HOST_C_TOKEN) && !ready(sd, why))
			str_head_drain(sd, hc->fd, true);
		/*
		 * a socket that cannot be watched is tried again, for a limited
		 * time
		 */
		if (err == 0 && ev == 0 && left(deadline, 1) == 0 &&
		    !ready(sd, why))
			return ETIMEDOUT;
		return 0;
	}
}

/*
 * str_head_gone - was @sd's stream freed while a call slept there?
 * The call's `inside' protects the stream, except while a signal handler runs,
 * whose calls use `inside' themselves.  The stream's number shows whether it is
 * still the same stream; if not, the call must leave at once.
 * @sid: the stream's; @seq: host_tls.sig_seq, both from before the sleep
 */
STR_RACY bool
str_head_gone(struct str_head *sd, uint64_t sid, uint32_t seq)
{
	return str_unlikely(host_tls.sig_seq != seq) &&
		(!str_stream_inside(sd->plumb) || sd->plumb->sid != sid);
}

/* ------------------------------------------------------- sleep on words */

struct sleep {
	struct str_head *sd;
	struct host_call *hc;
	unsigned why;
	str_a32 *want, *word, *sleep; /* in the head queue */
	uint64_t deadline;
};

/*
 * May the thread rely on notices of deaths?  Not if a process outside the domain
 * may hold the other end, or write there: only the carrier tells that.
 */
static bool
begin_notice(struct str_head *sd, struct host_notice *n, str_a32 *word)
{
	return (str_load(&sd->flags) & (STR_H_FED | STR_H_AWAY |
		STR_H_LEFT)) == 0 && str_sock_of(sd->plumb) == 0 &&
		host_notice_begin(n, word);
}

/*
 * Has a process died since the last look at this end?  Then look once more: the
 * notice may have come before this thread had published where it sleeps.
 */
static int
look_for_deaths(struct str_head *sd, struct host_call *hc)
{
	uint32_t n = (uint32_t)str_load(str_root(STR_ROOT_DEATHS)) + 1, ev;
	int err;

	if (str_likely(str_load(&sd->looked) == n))
		return 0;
	err = look(sd, hc, &ev);
	if (err == 0 && hc->fd >= 0)
		str_store(&sd->looked, n);
	return err;
}

/* The bell, or the end of streamsd, has ended the sleep, and no event. */
static int
look_around(struct str_head *sd, struct host_call *hc)
{
	uint32_t ev;
	int err = look(sd, hc, &ev);

	if (host_serve != NULL)
		host_serve();
	if (err == 0 && hc->fd >= 0 && !is_own(sd, hc->fd))
		err = EBADF;
	return err;
}

/*
 * The sleep with notices, which has no limit.
 * Return: 0 look again; EINTR; ETIMEDOUT, perhaps before the deadline; EBADF;
 * ENOSYS: there are none, nothing was done.
 */
static int
notice_sleep(struct sleep *s)
{
	struct str_head *sd = s->sd;
	uint64_t sid = sd->plumb->sid;
	uint32_t w, seq = host_tls.sig_seq;
	struct host_notice n;
	int err;

	w = str_load_acq(s->word);
	if (!begin_notice(sd, &n, s->word))
		return ENOSYS;
	(void)str_add(s->sleep, 1u);
	/* before the fence: streamsd, and those that ring, must find us */
	str_store_rel(&host_self()->asleep_on, (uint64_t)(uintptr_t)sd);
	ask_wake(s->want);
	if (host_serve != NULL)
		host_serve();
	err = look_for_deaths(sd, s->hc);
	if (err == 0 && (str_load(&sd->flags) & STR_H_CLOSED) != 0)
		err = EBADF;
	if (err != 0 || ready(sd, s->why)) {
		str_store(&host_self()->asleep_on, (uint64_t)0);
		(void)str_sub(s->sleep, 1u);
		return err;
	}
	STR_CRASH_POINT("sleep:notice");
	err = host_wait_notice(s->hc, s->word, w, &n,
		left(s->deadline, UINT64_MAX));
	str_store(&host_self()->asleep_on, (uint64_t)0);
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	(void)str_sub(s->sleep, 1u);
	if (err == EAGAIN)
		err = look_around(sd, s->hc);
	return err;
}

/* Stage 1 of a sleep without notices; @until: its end.  Return: the same. */
static int
near_sleep(struct sleep *s, uint64_t until)
{
	struct str_head *sd = s->sd;
	uint64_t sid = sd->plumb->sid;
	uint32_t w = str_load(s->word), seq = host_tls.sig_seq;
	int err;

	(void)str_add(s->sleep, 1u);
	ask_wake(s->want);
	if (ready(sd, s->why)) {
		(void)str_sub(s->sleep, 1u);
		return 0;
	}
	STR_CRASH_POINT("sleep:armed");
	err = host_wait(s->hc, s->word, w,
		left(STR_MIN(s->deadline, until), NEAR_NS));
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	(void)str_sub(s->sleep, 1u);
	return err;
}

/* After stage 1. */
static int
far_sleep(struct sleep *s)
{
	struct str_head *sd = s->sd;

	look_for_dead(sd->plumb);
	/* the descriptor was closed: there is no carrier to sleep on and no
	 * event to wait for, because this end has no holder any more */
	if ((str_load(&sd->flags) & STR_H_CLOSED) != 0)
		return EBADF;
	/* no data from the domain: now data may also come through the socket */
	if (str_sock_of(sd->plumb) != 0)
		return sock_sleep(sd, s->hc, s->why, s->want, s->deadline,
			NULL);
	return carrier_sleep(sd, s->hc, s->why, s->want, s->deadline);
}

static int
sleep_long(struct sleep *s)
{
	/* many signals with SA_RESTART must not keep us in stage 1 */
	uint64_t stage = host_now() + NEAR_NS;
	int err;

	for (;;) {
		err = notice_sleep(s);
		if (err == ENOSYS)
			err = near_sleep(s, stage);
		else if (err == ETIMEDOUT && left(s->deadline, 1) != 0)
			continue;
		if (err == ETIMEDOUT && left(s->deadline, 1) != 0)
			err = far_sleep(s);
		if (err != EINTR)
			return err;
		err = str_signalled(s->hc);
		if (err != 0)
			return err;
	}
}

static int
sleep_on(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline)
{
	struct str_headq *hq = reads(why) ? &sd->hq : &sd->peer->hq;
	struct sleep s = {.sd = sd, .hc = hc, .why = why,
		.want = reads(why) ? &hq->rwant : &hq->wwant,
		.word = reads(why) ? &hq->rword : &hq->wword,
		.sleep = reads(why) ? &hq->rsleep : &hq->wsleep,
		.deadline = deadline};
	unsigned way = reads(why) ? 0 : 1;
	uint64_t start;
	bool tried;
	int err;

	if (str_load(&sd->flags) & STR_H_LOOK)
		return str_head_look(sd, hc);
	str_sock_flush(hc);
	if (str_sched_run_head(sd, hc))
		return 0;
	err = str_signalled(hc);
	if (err != 0)
		return err;
	if (str_unlikely(str_sock_of(sd->plumb) != 0) &&
	    !str_sock_near(str_sock_of(sd->plumb)))
		return sock_sleep(sd, hc, why, s.want, deadline, NULL);
	/* data in the carrier is not noticed in stage 1 */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0)) {
		err = carrier_sleep(sd, hc, why, s.want, deadline);
		return err == EINTR ? str_signalled(hc) : err;
	}
	tried = !patience_rests(&hq->rest[way]);
	if (tried && spin(sd, hc, why))
		return str_signalled(hc);
	(void)str_add(str_root(STR_ROOT_SLEEPS), (uint64_t)1);
	str_store(&host_self()->why, why & STR_SLEEP_WAY);
	start = host_ticks();
	err = sleep_long(&s);
	if (err != 0)
		return err; /* the stream may be gone */
	if (host_ticks() - start < (reads(why) ? LONG_READ_US : LONG_WRITE_US) *
			host_ticks_per_ms / 1000 ||
	    (reads(why) && headq_much(&sd->hq)))
		patience_paid(&hq->skip[way], &hq->rest[way]);
	else if (tried)
		patience_vain(&hq->skip[way], &hq->rest[way], SKIP_SLEEP);
	return 0;
}

/*
 * str_sleep_room - the direct path, or a shortcut, found no room at the
 * receiver (str_direct_soon()): wait for room before the message is put
 *
 * A message that is put while the receiver is full becomes blocks, which wait
 * on the sender's queue until the receiver's thread serves that queue, and all
 * later messages wait behind it.  Here no block has been made yet: the receiver
 * wakes this thread, by one futex, when its queue has fallen to the low water
 * mark, and the later messages can use the direct path again.
 *
 * The memory of the queue may have been given to another stream meanwhile.  It
 * is still a head queue, so the want bit that is set there costs one useless
 * wake.  The sleep is as short as stage 1.  After it the message is put, and
 * the driver handles a receiver that was closed or killed, or reads slowly.
 * Return: 0: put the message; EINTR, EBADF.
 */
int
str_sleep_room(struct str_head *sd, struct host_call *hc)
{
	struct str_headq *hq = host_tls.full;
	uint64_t sid = sd->plumb->sid;
	uint32_t w, seq = host_tls.sig_seq;
	int err;

	if (str_likely(host_tls.full_at == NULL))
		return 0;
	err = host_tls.full_at == sd;
	host_tls.full_at = NULL;
	if (!err || (hc->fflags & STR_O_NONBLOCK) != 0 ||
	    (str_load(&sd->flags) & (UNWRITABLE | STR_H_CLOSED)) != 0)
		return 0;
	str_sock_flush(hc);
	if (str_sched_run_head(sd, hc))
		return 0;
	err = str_signalled(hc);
	if (err != 0)
		return err;
	w = str_load(&hq->wword);
	(void)str_or(&hq->wwant, STR_WANT_ROOM);
	host_fence_heavy(); /* pairs with the reader's light fence */
	if (str_direct_has_room(hq))
		return 0;
	(void)str_add(str_root(STR_ROOT_SLEEPS), (uint64_t)1);
	str_store(&host_self()->why, (uint32_t)STR_SLEEP_WRITE);
	STR_CRASH_POINT("sleep:room");
	err = host_wait(hc, &hq->wword, w, NEAR_NS);
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	return err == EINTR ? str_signalled(hc) : 0;
}

/*
 * str_sleep_lent - wait for an event of the socket only
 * @lent: HOST_C_IN or HOST_C_OUT; set to 0 if another event has occurred
 *
 * Return: 0: look again; EINTR, EBADF.
 */
int
str_sleep_lent(struct str_head *sd, struct host_call *hc, uint32_t *lent,
	uint32_t (*try)(struct str_head *sd, struct host_call *hc, void *arg),
	void *arg)
{
	bool in = *lent == HOST_C_IN;
	unsigned why = in ? STR_SLEEP_READ : STR_SLEEP_WRITE;
	uint32_t what = *lent, seq = host_tls.sig_seq;
	uint64_t sid = sd->plumb->sid;
	int err;

	*lent = 0;
	if (str_load(&sd->flags) & STR_H_LOOK)
		return str_head_look(sd, hc);
	str_sock_flush(hc);
	if (str_sched_run_head(sd, hc))
		return 0;
	err = str_signalled(hc);
	if (err != 0)
		return err;
	if (str_sock_of(sd->plumb) == 0)
		return 0;
	*lent = what;
	if (lent_soon(sd, hc, what, try, arg))
		return 0;
	err = sock_sleep(sd, hc, why, in ? &sd->hq.rwant :
		&sd->peer->hq.wwant, UINT64_MAX, lent);
	if (err != 0)
		*lent = 0;
	if (err == EBADF && str_head_gone(sd, sid, seq))
		return err;
	(void)str_sched_run_head(sd, hc);
	return err;
}

/*
 * str_sleep - wait until something may be read, or written, at @sd
 * @sd:       the head; no lock and no claim is held
 * @why: STR_SLEEP_READ or STR_SLEEP_WRITE, or a rarer event of these
 * @deadline: host_now() time, or UINT64_MAX
 *
 * Return: 0: look again; EINTR, ETIMEDOUT, EBADF.
 */
int
str_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline)
{
	uint64_t sid = sd->plumb->sid;
	uint32_t seq = host_tls.sig_seq;
	int err = sleep_on(sd, hc, why, deadline);

	if (err == EBADF && str_head_gone(sd, sid, seq))
		return err;
	/* our waker may have left the stream's queues to us */
	(void)str_sched_run_head(sd, hc);
	return err;
}
