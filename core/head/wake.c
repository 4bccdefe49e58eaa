/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waking the threads that sleep at a Stream head.
 *
 * Protocol.  The sleeper sets its bit in the queue's want word, executes the
 * heavy fence, and looks again (sleep.c).  The waker publishes, executes the
 * light fence, and reads the want word; it wakes all threads that set a bit (one
 * futex wake, one token), and takes the bits.  So no second wake is sent until a
 * thread has set a bit again.  A sleeper whose time is over does not clear
 * STR_WANT_FUTEX, because another sleeper may have set the bit since; a sleeper
 * that died cannot clear it.  A bit that is left costs at most one unnecessary
 * wake (models/sleep.pml).
 *
 * Tokens are sent from one end to the other.  A waker that holds the same end
 * as the sleeper, or none, rings the sleeper's bell.  One token is for all
 * threads that sleep at that end: the thread that takes it out rings the bells
 * of the other ones.
 *
 * Failure.  If a waker is killed before it has woken a sleeper, the waker's
 * reaper rings the sleepers of the streams that the waker was inside.  A
 * sleeper on a carrier may sleep without limit.  Therefore a waker clears the
 * bit for a token after it has sent the token, not before: if it is killed in
 * between, the next waker sends one.  Each request for a token changes the
 * number in the word (want.h), and the bit is cleared only if the word still has
 * the number seen before the sending.
 *
 * Batches.  A thread that passes up several messages (str_wake_begin()) stores
 * the head in its slot instead of waking the reader, if the reader sleeps on the
 * word.  It wakes the reader when it stores another head, and at the end.  The
 * stream may have ended meanwhile; its memory is still that of a stream, so the
 * wake is at worst unnecessary.  If the thread is killed before, its reaper
 * finds the head in the slot.
 */
#include "core.h"
#include "patience.h"
#include "sig.h"
#include "sock/sock.h"
#include "want.h"
#include <str/hold.h>

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
	/* the program outside would read the token as data, or the token would
	 * lie behind bytes that wait in the socket */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0 ||
		    (str_load(&sd->peer->flags) & STR_H_AWAY) != 0)) {
		str_ring_sleepers(sd, true);
		return;
	}
	err = hc != NULL ? host_token_send(hc->fd) : EPIPE;
	/* the other end has no holder any more: the next call at the sending
	 * end looks at its carrier */
	if (str_unlikely(err == EPIPE && hc != NULL &&
		    (str_load(&hc->head->flags) & (STR_H_PEER | STR_H_LOST)) ==
			    0))
		(void)str_or(&hc->head->flags, STR_H_LOOK);
	if (err != 0 && (hc == NULL ||
			(str_load(&sd->flags) & STR_H_CLOSED) == 0))
		str_ring_sleepers(sd, true);
}

/* str_want_token - request a token, for a poller. */
void
str_want_token(str_a32 *want)
{
	uint32_t n;

	(void)want_arm(want, &n);
}

/* Return: number of threads woken by the futex. */
static STR_NOINLINE STR_WAKE_TEXT int
wake(struct str_head *sd, str_a32 *want, str_a32 *word)
{
	uint32_t w = str_and(want, ~STR_WANT_FUTEX);
	int n = 0;

	(void)str_add(word, 1u);
	if (w & STR_WANT_FUTEX) {
		str_count(&host_self()->wakes);
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
		want_disarm(want, w);
	}
	return n;
}

/*
 * The requests of sleepers at @want, without those of @quiet.  The caller has
 * published the event and has executed a light fence.  A thread that is about
 * to sleep sets STR_WANT_FENCE: from then on each waker executes a full fence
 * here, so that the next sleeper needs no heavy one.  VAIN_FENCES full fences
 * cost as much as a heavy one.  A waker that has executed so many in a row, and
 * has found no sleeper, clears STR_WANT_FENCE.
 */
static STR_WAKE_TEXT uint32_t
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

/* Wake the reader whose wake was put off. */
static void
wake_late(struct str_thread *t)
{
	struct str_head *sd = (struct str_head *)(uintptr_t)str_load(&t->late);
	uint32_t w;

	if (sd == NULL)
		return;
	w = str_and(&sd->hq.rwant, ~STR_WANT_FUTEX);
	(void)str_add(&sd->hq.rword, 1u);
	STR_CRASH_POINT("wake:late");
	if (w & STR_WANT_FUTEX) {
		str_count(&t->wakes);
		(void)host_wake(&sd->hq.rword, INT_MAX);
	}
	str_store(&t->late, (uint64_t)0);
}

/* str_wake_now - wake the reader whose wake str_wake_begin() has put off. */
void
str_wake_now(void)
{
	if (host_tls.lates != 0)
		wake_late(host_self());
}

void
str_wake_begin(void)
{
	host_tls.lates++;
}

void
str_wake_end(void)
{
	if (--host_tls.lates == 0)
		wake_late(host_self());
}

/*
 * str_wake_readers - an event for which readers of @sd may wait
 * Return: number of threads woken by the futex.
 */
STR_WAKE_TEXT int
str_wake_readers(struct str_head *sd)
{
	struct str_thread *t = host_self();
	uint32_t w;

	host_fence_light();
	w = wanted(&sd->hq.rwant, 0);
	if (w == 0) {
		str_count(&t->elided);
		return 0;
	}
	if (str_unlikely(host_tls.lates != 0) &&
		(w & ~STR_WANT_QUIET) == STR_WANT_FUTEX) {
		if (str_load(&t->late) != (uint64_t)(uintptr_t)sd)
			wake_late(t);
		str_store_rel(&t->late, (uint64_t)(uintptr_t)sd);
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
	bool woke = false;

	if (str_headq_is_full(hq))
		return;
	if (w & STR_WANT_BACK) {
		(void)str_and(&hq->wwant, ~STR_WANT_BACK);
		qbackenable(&sd->qp->rq, 0);
		woke = true;
	}
	if (w & STR_WANT_ROOM) {
		(void)str_and(&hq->wwant, ~STR_WANT_ROOM);
		(void)str_add(&hq->wword, 1u);
		str_count(&host_self()->wakes);
		(void)host_wake(&hq->wword, INT_MAX);
		woke = true;
	}
	/* with modules, writers are woken by back-enabling: qbackenable() */
	if (str_load(&sd->flags) & STR_H_MODS)
		return;
	/* a thread woken here may have preempted this one, filled the queue and
	 * gone to sleep again: that request is for the next read */
	if (woke) {
		w = wanted(&hq->wwant, 0);
		if (str_headq_is_full(hq))
			return;
	}
	if (w & ~(STR_WANT_BACK | STR_WANT_ROOM))
		(void)wake(sd->peer, &hq->wwant, &hq->wword);
}

/*
 * str_wake_writers_behind - @sd's own writers may try again
 * Return: number of threads woken by the futex.
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
 * No thread sleeps at the dummy peer of a device stream or FIFO (STR_H_STUB).
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
