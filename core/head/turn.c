/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Many writers of one head queue: a writer that has written its share of the
 * queue lets the others write.
 *
 * Life.  A few writers yield at the end of their share.  A crowd
 * (headq_crowded()) writes by turns: `turn_of' names the writer whose turn it is,
 * and the others sleep on `turns', in the order in which they came.  So they do
 * not contend for the producer's lock, which a preempted writer may hold, and do
 * not take its cache lines away from the writer.
 *
 * A turn ends with the writer's share: this writer sets `turn_of' to TURN_NEXT and
 * wakes the thread that has slept longest, which then takes the turn.  A writer
 * may also stop writing in its turn, or die.  Then a reader that has emptied the
 * queue ends the turn before it sleeps (str_headq_lost()).  If no reader does so,
 * the sleepers wake after the time of a round: if the queue is full they wait for
 * room, and if nothing was written they are no crowd any more.  Two turns lost one
 * after the other, or a turn that no thread waits for, are a sign that the crowd is
 * smaller than it was: the queue forgets a quarter of it.  When it is too small, all
 * sleepers are woken and write as a few writers do.
 *
 * Signals.  A handler ends a writer's sleep.  If the writer was woken for the turn
 * at the same time, it wakes the next one.
 *
 * Failure.  Everything here is a hint; the producer's lock protects the queue.  A
 * writer that was killed while it slept is taken out of `wsleep' by its reaper, or by
 * the thread that frees the stream.
 *
 * No lost wake-up.  A thread that ends a turn stores `turn_of' and adds 1 to
 * `turns' before it wakes.  A writer that is about to sleep loads `turns' first
 * and `turn_of' afterwards, and the kernel compares `turns' once more.
 */
#include "core.h"
#include "headq.h"
#include "sleep.h"

#define SHARE_MIN 4096u /* bytes of a turn, at the least */
#define CROWD_SHARE 65536u /* the same of many writers */
#define TOUCH 4096u /* bytes ahead of the writer that are touched */
#define LOST_US 250u	/* a longer yield is lost if nothing is written */
/* ns in which each of a crowd of @n has usually had a turn */
#define ROUND_NS(n) (4000000ull + 250000ull * (n))
#define ROUND_MAX 20000000ull

/* Writers that have waited at once, of late. */
static uint32_t
crowd_of(struct str_headq *hq)
{
	return str_load(&hq->crowd) >> (HEADQ_CROWD_SHIFT + 1);
}

/*
 * str_headq_share - writers wait, or have been woken and not run yet
 * The limit becomes the end of the writer's turn.  At that end the next turn
 * begins, which may be the same writer's if no other one runs.
 * @pb: bytes published.  Locks: plock.
 */
STR_NOINLINE void
str_headq_share(struct str_headq *hq, uint64_t pb)
{
	uint32_t n = str_load(&hq->wsleep);
	bool crowded = headq_crowded(hq);
	uint64_t share;

	if (crowded)
		n = crowd_of(hq);
	share = STR_MAX(hq->hiwat / ((uint64_t)n + 1), crowded ? CROWD_SHARE : SHARE_MIN);
	if (pb >= hq->turn || hq->turn - pb > share) {
		n = str_load(&hq->crowd);
		n -= n >> HEADQ_CROWD_SHIFT;
		str_store(&hq->crowd,
			STR_MAX(n, 2 * str_load(&hq->wsleep) << HEADQ_CROWD_SHIFT));
		hq->over = pb >= hq->turn;
		hq->turn = pb + share;
	}
	hq->pblimit = STR_MIN(hq->pblimit, hq->turn);
}

/*
 * str_headq_turn - this thread has written a message, and begins a turn
 * A process that uses a page of the log for the first time gets it by a page
 * fault.  A load maps the pages around it, too; a store maps one page.
 * Locks: plock.
 */
STR_NOINLINE void
str_headq_turn(struct str_headq *hq)
{
	const struct str_seg *s = hq->tail;
	uint64_t at = str_load(&hq->pos) - s->base + TOUCH;

	str_store(&hq->turn_of, host_self_tag());
	if (at < s->size)
		(void)*(const volatile unsigned char *)(s->data + at);
}

/* Set `turn_of' to @of, and wake at most @most of those that wait for a turn.
 * Return: number of threads woken. */
static int
turn_set(struct str_headq *hq, uint32_t of, int most)
{
	str_store(&hq->turn_of, of);
	(void)str_add(&hq->turns, 1u);
	return host_wake(&hq->turns, most);
}

/* The crowd is smaller than it was. */
static void
forget(struct str_headq *hq)
{
	uint32_t n = str_load(&hq->crowd);

	str_store(&hq->crowd, n - (n >> 2));
	if (!headq_crowded(hq))
		(void)turn_set(hq, 0, INT_MAX);
}

/* End the turn.  Return: false: no thread waits for one. */
static bool
pass(struct str_headq *hq)
{
	/* a thread that begins to wait in between may see TURN_NEXT */
	return turn_set(hq, TURN_NEXT, 1) > 0 || turn_set(hq, 0, 1) > 0;
}

/*
 * No thread waits for a turn, but some have been woken and not run yet: yield.
 * If the yield was long and none has written meanwhile, the kernel gave the CPU to
 * a thread that has nothing to do with this queue; then no writer yields for 64
 * times as long.
 */
static void
let_run(struct str_headq *hq)
{
	uint64_t start = host_ticks(), pb = str_load(&hq->pbytes), cost;

	if (start < str_load(&hq->turn_rest))
		return;
	host_yield();
	cost = host_ticks() - start;
	if (cost > LOST_US * host_ticks_per_ms / 1000 &&
	    str_load(&hq->pbytes) == pb)
		str_store(&hq->turn_rest, start + cost + (cost << 6));
}

/*
 * str_headq_yield - the share of this thread is written: let the other writers
 * write
 * Context: no lock held.
 */
STR_NOINLINE void
str_headq_yield(struct str_headq *hq)
{
	if (!headq_crowded(hq)) {
		if (str_load(&hq->turn_of) != 0)
			(void)turn_set(hq, 0, INT_MAX);
		(void)host_give_way();
	} else if (!pass(hq)) {
		forget(hq);
		if (str_load(&hq->wsleep) != 0)
			let_run(hq);
	}
}

/*
 * str_headq_lost - the reader is about to wait at the empty queue of a crowd, so
 * the writer whose turn it is does not write: end its turn
 * While the next writer is on its way, its turn is not lost.
 */
STR_NOINLINE void
str_headq_lost(struct str_headq *hq)
{
	uint32_t of = str_load(&hq->turn_of);
	bool again = str_load(&hq->turns) == host_tls.turn_seen;

	if (of == 0 || of == TURN_NEXT)
		return;
	(void)pass(hq);
	host_tls.turn_seen = str_load(&hq->turns);
	if (again)
		forget(hq);
}

/*
 * Sleep until the turn ends, at most @ns; @of: whose it is, in and out.
 * Return: 0; ETIMEDOUT; EINTR: a handler has run; EBADF: the stream was freed
 * meanwhile.
 */
static int
turn_sleep(struct str_head *sd, struct host_call *hc, uint32_t *of, uint64_t ns)
{
	struct str_headq *hq = &sd->peer->hq;
	uint64_t sid = sd->plumb->sid;
	uint32_t seq = host_tls.sig_seq, v;
	int err = 0;

	str_sleep_count(hq);
	v = str_load_acq(&hq->turns);
	*of = str_load(&hq->turn_of);
	if (*of != 0 && *of != host_self_tag()) {
		STR_CRASH_POINT("turn:sleep");
		err = host_wait(hc, &hq->turns, v, ns);
	}
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	str_thread_uncount(host_self());
	if (err == EINTR && str_load(&hq->turn_of) == TURN_NEXT)
		(void)turn_set(hq, TURN_NEXT, 1);
	return err;
}

/*
 * str_headq_await - before a write at @sd: if it is the turn of another thread,
 * wait for the next one
 * Context: inside call @hc; no lock, no claim.
 * Return: 0: write; EINTR; EBADF: the stream was freed while a handler ran.
 */
STR_NOINLINE int
str_headq_await(struct str_head *sd, struct host_call *hc)
{
	struct str_headq *hq = &sd->peer->hq;
	uint32_t me = host_self_tag(), of;
	uint64_t pb, ns;
	int err;

	of = str_load(&hq->turn_of);
	while (of != 0 && of != me) {
		pb = str_load(&hq->pbytes);
		ns = STR_MIN(ROUND_NS(crowd_of(hq)), ROUND_MAX);
		err = turn_sleep(sd, hc, &of, ns);
		if (err == EINTR)
			err = str_signalled(hc);
		if (err == EINTR || err == EBADF)
			return err;
		me = host_self_tag(); /* a forked child has another one */
		if (err == ETIMEDOUT && str_load(&hq->full) != 0)
			return 0; /* then it waits for room */
		if (err == ETIMEDOUT && str_load(&hq->pbytes) == pb) {
			str_store(&hq->crowd, 0u);
			forget(hq);
			return 0;
		}
		if ((err == ETIMEDOUT && str_cas(&hq->turn_of, of, me)) ||
		    str_cas(&hq->turn_of, TURN_NEXT, me))
			return 0;
		of = str_load(&hq->turn_of);
	}
	return 0;
}
