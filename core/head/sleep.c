/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping at a Stream head, and waking who sleeps there.
 *
 * Purpose.  No system call while the other side runs; no context switch
 * while nothing happens; no thread sleeps through its event, a signal, or the
 * death of the other end.
 *
 * Stages.  A caller that finds nothing first runs what is enabled on its
 * stream.  It spins only while the other side was last seen on another CPU,
 * with back-off, and never longer than a wake costs.  Then: (1) a futex wait
 * on the queue's word for at most 20 ms; (2) a look at the carrier, and a
 * wait on the carrier, first 50 ms, then without limit.  The death of the
 * other end is seen in stage 2 alone, so that stage 1 is what it may be late.
 *
 * Protocol.  The sleeper sets its bit in the queue's want word, executes the
 * heavy fence, and looks again.  The waker publishes, executes the light
 * fence, and reads the want word; it wakes all who set a bit (one futex
 * wake, one token).  So a wake is sent once per transition, and a bit left by
 * a sleeper that died costs one wake and no more (models/sleep.pml).
 *
 * Tokens travel from one end to the other.  A waker that holds the same end
 * as the sleeper, or none, rings the sleeper's bell.  One token is for all
 * that sleep at that end: the one that takes it out rings the others.
 *
 * Failure.  A sleeper in stage 1 comes to look by itself.  One in stage 2 may
 * sleep for ever, so that the bit for a token is taken away after the token
 * was sent, not before: a thread killed in between leaves it to the next.  Each
 * arming gives the word another value, and only the value seen before the
 * sending is taken away.  For the same reason a thread that takes a token out arms
 * first and disarms when it has rung the others.
 */
#include "core.h"
#include "headq.h"
#include "sig.h"
#include "sock/sock.h"

#define NEAR_NS 20000000ull /* stage 1: a death is not seen in it */
#define STAGE_NS 50000000ull
#define SPIN_READ_US 30u
#define SPIN_WRITE_US 20u
#define SPIN_FLOW_US 60u /* of bytes by the socket: till more are there */
#define YIELDS 2u
#define FLOW_FAR 8u /* times it comes from here, before that is believed */
#define FAR 24u /* pauses between two looks: about a microsecond */

/* ----------------------------------------------------------------- waking */

/* Sleepers in stage 2 that no token of this caller can reach. */
STR_COLD void
str_ring_sleepers(struct str_head *sd, bool pollers)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t on = str_load(&t->asleep_on);

		if (str_load(&t->tag) == 0 || t == host_self())
			continue;
		if (on == (uint64_t)(uintptr_t)sd || (pollers && on == ~0ull))
			host_bell_ring(t);
	}
}

/* To every open file that has an address. */
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
	/* a token would be read outside, or stand behind bytes that wait */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0 ||
		    (str_load(&sd->peer->flags) & STR_H_AWAY) != 0)) {
		str_ring_sleepers(sd, true);
		return;
	}
	err = hc != NULL ? host_token_send(hc->fd) : EPIPE;
	/* the other end has no holder any more: the next call looks */
	if (str_unlikely(err == EPIPE && hc != NULL &&
		    (str_load(&hc->head->flags) & (STR_H_PEER | STR_H_LOST)) ==
			    0))
		(void)str_or(&hc->head->flags, STR_H_LOOK);
	if (err != 0 && (hc == NULL ||
			(str_load(&sd->flags) & STR_H_CLOSED) == 0))
		str_ring_sleepers(sd, true);
}

/*
 * Ask for a token.  *ret_n: the word's new value, unlike any it had.
 * Return: true when no other had asked.
 */
static bool
arm(str_a32 *want, uint32_t *ret_n)
{
	uint32_t w, n;

	do {
		w = str_load(want);
		n = (w & STR_WANT_BITS) | STR_WANT_TOKEN |
			((uint32_t)host_ticks() << 8);
		if (n == w)
			n += STR_WANT_BITS + 1;
	} while (!str_cas(want, w, n));
	*ret_n = n;
	return (w & STR_WANT_TOKEN) == 0;
}

/* Take the request back that made the word @n, if it still is. */
static void
disarm(str_a32 *want, uint32_t n)
{
	uint32_t w;

	do {
		w = str_load(want);
		if (((w ^ n) & ~STR_WANT_BITS) != 0)
			return;
	} while (!str_cas(want, w, w & STR_WANT_BITS & ~STR_WANT_TOKEN));
}

/* str_want_token - ask for a token, as a poller does. */
void
str_want_token(str_a32 *want)
{
	uint32_t n;

	(void)arm(want, &n);
}

/* Return: how many were woken in stage 1. */
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
	w = str_load(want);
	if ((w & STR_WANT_TOKEN) != 0) {
		STR_CRASH_POINT("wake:token");
		send_token(sd);
		STR_CRASH_POINT("wake:sent");
		/*
		 * A sleeper that has armed anew has looked after that, and has
		 * seen what this wake is for: no second token.  A sleeper that
		 * preempts this thread at each token arms anew before this
		 * thread runs again, each time.
		 */
		disarm(want, w);
	}
	return n;
}

/*
 * str_wake_readers - something happened that readers of @sd wait for
 * Return: how many were asleep in stage 1.
 */
int
str_wake_readers(struct str_head *sd)
{
	struct str_thread *t = host_self();

	host_fence_light();
	if (str_load(&sd->hq.rwant) == 0) {
		str_store(&t->elided, str_load(&t->elided) + 1);
		return 0;
	}
	return wake(sd, &sd->hq.rwant, &sd->hq.rword);
}

/*
 * str_wake_writers - @sd's head queue has been read from
 * Those refused are served when the count is zero or below low water.
 */
void
str_wake_writers(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;
	uint32_t w = str_load(&hq->wwant);

	if (str_headq_is_full(hq))
		return;
	if (w & STR_WANT_BACK) {
		(void)str_and(&hq->wwant, ~STR_WANT_BACK);
		qbackenable(&sd->qp->rq, 0);
	}
	/* behind a module it is the module's service that lets them go on */
	if (str_load(&sd->flags) & STR_H_MODS)
		return;
	if (w & ~STR_WANT_BACK)
		(void)wake(sd->peer, &hq->wwant, &hq->wword);
}

/*
 * str_wake_writers_behind - @sd's own writers may try again
 * Return: how many were asleep in stage 1.
 */
int
str_wake_writers_behind(struct str_head *sd)
{
	struct str_headq *hq = &sd->peer->hq;

	host_fence_light();
	if (str_load(&hq->wwant) & ~STR_WANT_BACK)
		return wake(sd, &hq->wwant, &hq->wword);
	return 0;
}

/*
 * str_wake_all - each thread at @sd shall look: state changed
 * None is at a dummy; a sleeper on its words is at the head it belongs to.
 */
void
str_wake_all(struct str_head *sd)
{
	if (str_load(&sd->flags) & STR_H_STUB)
		return;
	(void)str_wake_readers(sd);
	(void)str_wake_writers_behind(sd);
	/* a caller waits for an answer, or for its turn, while an ioctl is in
	 * progress */
	if (str_load(&sd->iocbusy) != 0) {
		(void)str_add(&sd->iocword, 1u);
		host_wake(&sd->iocword, INT_MAX);
	}
}

/* str_head_set - raise state flags and let everybody know. */
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
 * Does @fd name a file of @sd?  Another thread may have closed it, and the
 * number be another file's by now.
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

/* What @sd's carrier shows.  Return: 0, or EBADF. */
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
 * Return: 0, or EBADF when the descriptor is another object now.
 */
int
str_head_look(struct str_head *sd, struct host_call *hc)
{
	uint32_t ev;

	return look(sd, hc, &ev);
}

/* --------------------------------------------------------------- sleeping */

/* Events a reader waits for, errors and hang-up among them. */
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
 * Something rarer than data of band 0, which may be there already: STR_SLEEP_*
 * says what.  Where others of it can be, the answer is that of the thread that asked for it
 * and went to sleep (msg.c), so that no thread sleeps at what it could have.
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

/* For reading, for whatever messages. */
STR_INLINE bool
reads(unsigned why)
{
	return (why & STR_SLEEP_READ) != 0;
}

/*
 * ready() for a thread that goes on looking: no wake is asked for, since that
 * costs a heavy fence and makes every read a call to look after the sleeper.
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

/* Who reads what is written at @sd, was last seen on this CPU. */
static uint32_t
reader_cpu(struct str_head *sd)
{
	struct str_headq *cut = str_load(&sd->cut);

	/* a shortcut's other end may be another stream by now: a guess */
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
		/* it cannot run while we do: give it the CPU before asking it
		 * to wake us, so that neither needs a system call more */
		for (i = 0; i < YIELDS; i++) {
			host_yield();
			if (seems_ready(sd, why) ||
			    host_interrupted(hc) != HOST_SIG_NONE)
				return true;
		}
		return false;
	}
	/* one that has written since is in a dialogue: look at once; one that
	 * only reads lets the writer get ahead, so that its looks do not
	 * drag the line across per record */
	pause = reads(why) && host_tls.wrote != 0 ? 1 : FAR;
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
		if (pause < FAR && host_ticks() - start > budget / 8)
			pause = FAR;
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
 * queue enabled or a wake not sent?  Asking reaps it, and that revives the stream.
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
 * They were for all who sleep at this end: those that may not have seen them
 * are rung.
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

/* On a carrier that is of no use the bell alone can wake. */
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

	if (host_serve != NULL)
		host_serve();
	if (err == 0 && hc->fd >= 0 && !is_own(sd, hc->fd))
		err = EBADF;
	if (err != 0)
		return err;
	/* what woke us the last time is taken out now, not before the news it
	 * brought was read; until then it is there for others as well */
	if (ev & HOST_C_TOKEN)
		str_head_drain(sd, hc->fd, true);
	for (;; most = UINT64_MAX) {
		bool alone;

		/* who wants to ring must find where */
		host_wait_prepare();
		str_store(&t->asleep_on, (uint64_t)(uintptr_t)sd);
		alone = arm(want, &n);
		host_fence_heavy();
		/* closed: the number may be another carrier's by now */
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

/*
 * Stage 1 is over for this thread, which was not woken.  The last one takes the
 * bit away, so that the waker of those in stage 2 does not make a call in vain.
 * A thread that comes in that moment may be missed by a waker: it is looked after
 * here, and wakes by himself in 20 ms if this is where we die.
 */
static void
leave_stage(struct str_head *sd, unsigned why, str_a32 *want, str_a32 *word,
	str_a32 *sleep)
{
	if (str_sub(sleep, 1u) != 1)
		return;
	(void)str_and(want, ~STR_WANT_FUTEX);
	if (str_load_acq(sleep) == 0)
		return;
	(void)str_or(want, STR_WANT_FUTEX);
	host_fence_heavy();
	if (ready(sd, why))
		host_wake(word, INT_MAX);
}

/* Who uses what the driver has lent, HOST_C_*, waits for the socket alone. */
static bool
lent_ready(struct str_head *sd, uint32_t lent)
{
	return lent == HOST_C_IN ? str_head_readable(sd) :
		(str_load(&sd->flags) & (STR_H_WRERR | STR_H_HUP |
			STR_H_PEER | STR_H_PLEX | STR_H_LOOK)) != 0;
}

/* Does what comes by the socket @id come from another CPU, as far as seen? */
static bool
from_afar(uint64_t id)
{
	int cpu = -1;
	uint32_t len = sizeof(cpu);

	return host_sock_getopt(id, KS_LEVEL, KS_CPU, &cpu, &len) == 0 &&
		cpu >= 0 && (uint32_t)cpu != host_cpu();
}

/*
 * Before a thread sleeps for the socket it lets others run, and who has just
 * said something waits a moment for the answer: to be woken costs more than
 * that.  So does a receiver of a flow of bytes from another CPU, for it is the
 * sender that would have to wake it, each time.  Where this is in vain it is
 * not tried for a while.
 * Return: *what* has come, and nothing else.
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
	uint8_t n = str_load(&l->rest[way]);
	uint32_t ev;

	/* room: the fewer times, the more there is */
	if (try == NULL && way)
		return false;
	if (n != 0) {
		str_store(&l->rest[way], (uint8_t)(n - 1));
		return false;
	}
	/* of bytes that only come, on one CPU, the fewer times the better */
	if (flow) {
		/* a timer on this CPU may have sent it all the same */
		n = from_afar(id) ? FLOW_FAR + 1 : str_load(&l->far);
		if (n == 0)
			return false;
		str_store(&l->far, (uint8_t)(n - 1));
		us = SPIN_FLOW_US;
	}
	most = us * host_ticks_per_ms / 1000;
	host_tls.wrote = 0;
	do {
		for (i = flow ? FAR : 0; i != 0; i--)
			str_cpu_relax();
		host_yield();
		if (lent_ready(sd, what) || host_interrupted(hc) !=
				HOST_SIG_NONE)
			return false;
		ev = try != NULL ? try(sd, hc, arg) :
				   host_sock_look(id, what);
		if (ev != 0) {
			str_store(&l->vain[way], (uint8_t)0);
			return ev == what;
		}
	} while (host_ticks() - start < most);
	n = (uint8_t)(str_load(&l->vain[way]) % 64 * 2 + 1);
	str_store(&l->vain[way], n);
	str_store(&l->rest[way], n);
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
	/* first for the socket and nothing else, which is cheaper: a
	 * waker for anything else finds us in the second stage */
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
	/* before the news is fetched: no token is needed for us */
	if (alone)
		disarm(want, n);
	return err;
}

/*
 * The stream has a socket.  The thread that waits does the input itself, and there
 * is no stage 1: the socket and the carrier, first for 50 ms.  For these the
 * cheap fence will do: a wake that slips through costs that long, once in a
 * long while, where the other fence would cost every time.
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
		/* a token whose news was read before: out with it */
		if ((ev & HOST_C_TOKEN) && !ready(sd, why))
			str_head_drain(sd, hc->fd, true);
		/* a socket that cannot be watched is tried again, not for ever */
		if (err == 0 && ev == 0 && left(deadline, 1) == 0 &&
		    !ready(sd, why))
			return ETIMEDOUT;
		return 0;
	}
}

/*
 * str_head_gone - has @sd's stream come to its end while a call slept there?
 * The call's mark keeps it from being freed, but not while a handler runs, whose
 * own calls have theirs in its place.  The number tells whether it is still the
 * one; if not, all that may be done is to leave.
 * @sid: the stream's; @seq: host_tls.sig_seq, both from before the sleep
 */
STR_RACY bool
str_head_gone(struct str_head *sd, uint64_t sid, uint32_t seq)
{
	return str_unlikely(host_tls.sig_seq != seq) &&
		(!str_stream_inside(sd->plumb) || sd->plumb->sid != sid);
}

/* The stages one after the other. */
static int
sleep_on(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline)
{
	struct str_headq *hq = reads(why) ? &sd->hq :
						       &sd->peer->hq;
	str_a32 *want = reads(why) ? &hq->rwant : &hq->wwant;
	str_a32 *word = reads(why) ? &hq->rword : &hq->wword;
	str_a32 *sleep = reads(why) ? &hq->rsleep : &hq->wsleep;
	uint64_t stage, sid = sd->plumb->sid;
	uint32_t w, seq = host_tls.sig_seq;
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
		return sock_sleep(sd, hc, why, want, deadline, NULL);
	/* what comes by the carrier is not seen in stage 1 */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0)) {
		err = carrier_sleep(sd, hc, why, want, deadline);
		return err == EINTR ? str_signalled(hc) : err;
	}
	if (spin(sd, hc, why))
		return str_signalled(hc);
	(void)str_add(str_root(STR_ROOT_SLEEPS), (uint64_t)1);
	str_store(&host_self()->why, why & STR_SLEEP_WAY);
	/* a storm of signals that restart shall not keep us in stage 1 */
	stage = host_now() + NEAR_NS;
	for (;;) {
		w = str_load(word);
		(void)str_add(sleep, 1u);
		(void)str_or(want, STR_WANT_FUTEX);
		host_fence_heavy(); /* pairs with the waker's light fence */
		if (ready(sd, why)) {
			(void)str_sub(sleep, 1u);
			return 0;
		}
		STR_CRASH_POINT("sleep:armed");
		err = host_wait(hc, word, w,
			left(STR_MIN(deadline, stage), NEAR_NS));
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (err == ETIMEDOUT)
			leave_stage(sd, why, want, word, sleep);
		else
			(void)str_sub(sleep, 1u);
		if (err == EINTR) {
			err = str_signalled(hc);
			if (err != 0)
				return err;
			continue;
		}
		if (err == 0)
			return 0;
		if (left(deadline, 1) == 0)
			return ETIMEDOUT;
		look_for_dead(sd->plumb);
		/* whose descriptor was closed has no carrier to sleep on, and
		 * nothing to wait for: this end has no holder any more */
		if ((str_load(&sd->flags) & STR_H_CLOSED) != 0)
			return EBADF;
		/* nothing came from near: now it may come from far as well */
		if (str_sock_of(sd->plumb) != 0)
			return sock_sleep(sd, hc, why, want, deadline, NULL);
		err = carrier_sleep(sd, hc, why, want, deadline);
		if (err == EINTR) {
			err = str_signalled(hc);
			if (err != 0)
				return err;
			continue;
		}
		return err;
	}
}

/*
 * str_sleep_lent - wait for what only the socket can tell
 * @lent: HOST_C_IN or HOST_C_OUT; 0 afterwards if it is not that, or not
 *	 that alone, that has come
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
 * @why:      STR_SLEEP_READ or STR_SLEEP_WRITE, or of these something rare
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
	/* who woke us may have left the stream's queues to us */
	(void)str_sched_run_head(sd, hc);
	return err;
}
