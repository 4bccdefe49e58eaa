/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The run lists: which thread runs service procedures, and when.
 *
 * Every stream has its own run list, so that a stopped process delays only the
 * streams it is inside.  One thread at a time runs it, the *runner*. Other
 * threads do not wait for the runner, but leave their queues on the list.  The
 * runner checks the list once more after it has given up its role.
 *
 * When.  Service procedures do not run at the moment they are enabled.  A
 * thread that is about to block runs them first.  A thread that leaves the
 * executive with queues still enabled (str_sched_leave) leaves them to a runner
 * that is awake and committed; otherwise it wakes a reader that sleeps at the
 * other end (of a device stream: at its head) and commits it; otherwise it runs
 * them itself.  A commitment expires after 10 ms.
 *
 * Other streams.  A thread may enable a queue of another stream than that of
 * its call.  It records that stream (*touch*).  When it has released its last
 * claim (str_sched_touched), it leaves the stream to a runner, or runs it, in
 * the same way; but it may wake any reader or writer that sleeps at that
 * stream.  Procedures that run then may touch further streams, which are added
 * to the list, so that a cascade is a loop and not a recursion.
 *
 * Slices.  A thread works on one stream for SLICE_MS, or TURNS rounds.  Of the
 * streams that it has touched the first has such a slice to itself; the others
 * are begun within one more slice.  What is left goes to a sleeper of its
 * stream, or to the thread that runs timers (str_sched_defer), which serves all
 * streams in turn.
 *
 * Late messages.  A message that a thread could not put on another stream's
 * queue, because there was a plumber or no free claim entry, is put on that
 * stream's late list.  That list counts as one entry of the run list (`nrun'),
 * and is served before the queues.  Later messages are added to it until all
 * have been delivered, so the order is kept.  A late message counts against the
 * high water mark of the queue that it was put to: canput() of that queue
 * refuses above the mark, and sets STR_LATE_FULL.  When the late list is empty,
 * this flag makes the runner enable every queue of the stream that has a
 * service procedure, and wake the heads' writers.  These then call canput()
 * again.
 *
 * Failure.  A runner that dies leaves its tag behind.  After 10 ms the next
 * thread that has something to run asks whether the runner lives.  If not, the
 * thread has the dead runner reaped: the messages that the runner held return
 * to their queues.  Then the thread becomes the runner, and enables every queue
 * of the stream, including the one that was being served.
 */
#include <str/builtin.h>
#include "core.h"
#include "msg/origin.h"

#define PASSES 64  /* service procedures in a round, after late messages */
#define TURNS 64   /* such rounds before other streams are served */
#define SLICE_MS 1 /* or this time in ms */
#define ASK_MS 10  /* ms between two checks of the runner */
#define BETWEEN 8  /* messages, service procedures between reads of the clock */

/* Has a task that began at @began used up its slice? */
static bool
is_over(uint64_t began)
{
	return host_ticks() - began >= SLICE_MS * host_ticks_per_ms;
}

static void
lockr(struct str_plumb *pl)
{
	if (str_unlikely(str_lock(&pl->rlock)))
		str_sched_repair(pl);
}

static void
append(struct str_plumb *pl, queue_t *q)
{
	q->q_link = NULL;
	str_qset(q, QENAB);
	STR_CRASH_POINT("sched:marked");
	if (pl->run_last != NULL)
		pl->run_last->q_link = q;
	else
		pl->run_first = q;
	pl->run_last = q;
	str_store(&pl->nrun, str_load(&pl->nrun) + 1);
}

/*
 * Call @fn for every queue that is not a head's: from a head down to the other
 * head of a pipe, to the same head of a FIFO, or to the end of a device stream.
 */
static void
each_queue(struct str_plumb *pl, void (*fn)(struct str_plumb *, queue_t *))
{
	bool dev = pl->kind == STR_PL_DEV;
	unsigned end;

	for (end = 0; end < pl->nheads; end++) {
		queue_t *q;

		if (pl->head[end].qp == NULL)
			continue;
		q = &pl->head[end].qp->wq;
		if (pl->under != NULL) {
			q = &pl->under->qp->wq;
			fn(pl, q);
			fn(pl, str_otherq(q));
		}
		for (q = q->q_next; q != NULL && q->q_head == NULL &&
			q->q_pair->plumb == pl; q = q->q_next) {
			fn(pl, q);
			if (dev)
				fn(pl, str_otherq(q));
		}
	}
}

/* A thread may have died before it marked a queue with messages. */
static void
relist(struct str_plumb *pl, queue_t *q)
{
	if ((str_load(&q->q_flag) & QENAB) != 0 ||
	    (str_load(&q->q_first) != NULL && q->q_qinfo != NULL &&
		    q->q_qinfo->qi_srvp != NULL &&
		    (str_load(&q->q_flag) & QPROCS) == 0))
		append(pl, q);
}

/*
 * str_sched_repair - the owner of the list's lock died: rebuild the list from
 * the queues that are marked, and those with messages
 */
void
str_sched_repair(struct str_plumb *pl)
{
	mblk_t *mp;

	for (mp = pl->late_first; mp != NULL && mp->b_next != NULL;
		mp = mp->b_next)
		;
	pl->late_last = mp;
	if (mp != NULL)
		(void)str_or(&pl->late, STR_LATE_MSG);
	pl->run_first = pl->run_last = NULL;
	str_store(&pl->nrun, str_load(&pl->late) != 0 ? 1u : 0u);
	each_queue(pl, relist);
}

/*
 * str_sched_touch - run @pl's list before this thread leaves
 * If the table overflows, the lists of all streams are examined.
 */
void
str_sched_touch(struct str_plumb *pl)
{
	uint32_t n = host_tls.ntouch, i;

	for (i = n; i-- > 0;)
		if (host_tls.touch[i] == pl)
			return;
	if (n == HOST_NTOUCH) {
		host_tls.touch[0] = NULL; /* all */
		return;
	}
	host_tls.touch[n] = pl;
	host_tls.ntouch = n + 1;
}

/* Touch @pl, unless it is the stream of this thread's outermost claim, which is
 * looked at before that claim is released (str_sched_leave(),
 * str_far_leave()). */
STR_INLINE void
touch_other(struct str_plumb *pl)
{
	if (str_unlikely(str_load(&host_self()->claim[0]) !=
		(uint64_t)(uintptr_t)pl))
		str_sched_touch(pl);
}

/*
 * str_sched_enable - put @q on its stream's run list
 * The queue may be on the list already.  The service procedure that runs then
 * must see everything that the caller has stored before this, without a lock:
 * so the mark is tested after these stores, and a thread that takes the queue
 * off the list clears the mark before it calls the service procedure.
 */
void
str_sched_enable(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;

	if (q->q_qinfo == NULL || q->q_qinfo->qi_srvp == NULL)
		return;
	if ((str_load(&q->q_flag) & (QENAB | QPROCS)) != 0) {
		str_fence_full(); /* pairs with str_qclr() of take() */
		if ((str_load(&q->q_flag) & (QENAB | QPROCS)) != 0)
			return;
	}
	lockr(pl);
	if ((str_load(&q->q_flag) & QENAB) == 0)
		append(pl, q);
	str_unlock(&pl->rlock);
	touch_other(pl);
}

static queue_t *
take(struct str_plumb *pl)
{
	queue_t *q;

	lockr(pl);
	q = pl->run_first;
	if (q != NULL) {
		pl->run_first = q->q_link;
		if (pl->run_first == NULL)
			pl->run_last = NULL;
		q->q_link = NULL;
		str_store(&pl->nrun, str_load(&pl->nrun) - 1);
		str_qclr(q, QENAB);
	}
	str_unlock(&pl->rlock);
	return q;
}

/* str_sched_remove - @q is about to be freed: take it off the list. */
void
str_sched_remove(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	queue_t *p, *prev = NULL;

	/* a queue is marked before it is listed, both under the list's lock: so
	 * without a mark and a holder of the lock it is not on the list */
	if (str_likely((str_load(&q->q_flag) & QENAB) == 0 &&
		str_load(&pl->rlock.owner) == 0))
		return;
	lockr(pl);
	for (p = pl->run_first; p != NULL; prev = p, p = p->q_link) {
		if (p != q)
			continue;
		if (prev != NULL)
			prev->q_link = q->q_link;
		else
			pl->run_first = q->q_link;
		if (pl->run_last == q)
			pl->run_last = prev;
		str_store(&pl->nrun, str_load(&pl->nrun) - 1);
		break;
	}
	str_qclr(q, QENAB);
	str_unlock(&pl->rlock);
}

/* ---------------------------------------------------------- late messages */

/* Locks: rlock. */
static void
late_mark(struct str_plumb *pl, uint32_t flag)
{
	uint32_t was = str_load(&pl->late);

	if (was == 0)
		str_store(&pl->nrun, str_load(&pl->nrun) + 1);
	str_store(&pl->late, was | flag);
}

static queue_t *
late_queue(const mblk_t *mp)
{
	return (queue_t *)((uintptr_t)mp->b_prev & ~(uintptr_t)STR_MP_BITS);
}

/* Bytes of late messages for @q.  Locks: rlock. */
static str_a64 *
late_bytes(queue_t *q)
{
	return &q->q_pair->late[(str_load(&q->q_flag) & QREADR) ? 0 : 1];
}

/* A message without data counts, too. */
static uint64_t
late_weight(mblk_t *mp)
{
	return ((uintptr_t)mp->b_prev & STR_MP_JOB) != 0 ? 0 : msgsize(mp) + 1;
}

/*
 * Subtract @mp from the count.  A message is subtracted before it is unlinked,
 * and added after it is linked: a crash in between leaves a count that is too
 * low, never one that refuses although no message waits.  Locks: rlock.
 */
static void
late_uncount(mblk_t *mp)
{
	str_a64 *n = late_bytes(late_queue(mp));

	str_store(n, str_load(n) - STR_MIN(str_load(n), late_weight(mp)));
}

/*
 * str_sched_late_full - do more late messages wait for @q than it may have?
 * @own: QFULL if the queue's own messages count, else 0
 * A refused sender is back-enabled when no late message is left.  The flag for
 * that is set under rlock, like the list: the runner that takes the last
 * message sees it.
 */
bool
str_sched_late_full(queue_t *q, unsigned long own)
{
	struct str_plumb *pl = q->q_pair->plumb;
	bool full;

	lockr(pl);
	full = str_load(late_bytes(q)) > str_queue_most(q) ||
		(str_load(&q->q_flag) & own) != 0;
	if (full)
		late_mark(pl, STR_LATE_FULL);
	str_unlock(&pl->rlock);
	if (full) {
		str_fence_full(); /* pairs with the one in str_plumb_unlock() */
		touch_other(pl);
	}
	return full;
}

/*
 * Link @mp, for @q, first or last.  This thread's slot names the stream
 * meanwhile, so that the reaper finds a message that is linked and stamped.
 * The slot has one word for that, `held': if str_ref_hold() or str_hold_note()
 * uses it, a crash loses @mp.
 */
static void
late_link(struct str_plumb *pl, queue_t *q, mblk_t *mp, unsigned bits,
	bool first)
{
	struct str_thread *t = host_self();
	bool noted = str_load(&t->held) == 0;
	uint64_t weight;

	if (noted)
		str_store_rel(&t->held, (uint64_t)(uintptr_t)&pl->head[0]);
	lockr(pl);
	mp->b_next = first ? pl->late_first : NULL;
	mp->b_prev = (mblk_t *)((uintptr_t)q | bits);
	weight = late_weight(mp);
	late_mark(pl, STR_LATE_MSG);
	STR_CRASH_POINT("sched:late");
	if (noted)
		str_msg_hold(mp);
	else
		str_msg_disown(mp);
	str_barrier();
	if (first || pl->late_last == NULL)
		pl->late_first = mp;
	else
		pl->late_last->b_next = mp;
	STR_CRASH_POINT("sched:latelinked");
	if (noted)
		str_msg_disown(mp);
	if (mp->b_next == NULL)
		pl->late_last = mp;
	str_store(late_bytes(q), str_load(late_bytes(q)) + weight);
	str_unlock(&pl->rlock);
	if (noted)
		str_store_rel(&t->held, (uint64_t)0);
}

/*
 * str_sched_late - put @mp, for @q, on the late list; @bits: STR_MP_*
 * @pl: @q's stream; a claim on it is not needed
 */
void
str_sched_late(struct str_plumb *pl, queue_t *q, mblk_t *mp, unsigned bits)
{
	late_link(pl, q, mp, bits, false);
	str_fence_full(); /* pairs with the one in str_plumb_unlock() */
	touch_other(pl);
}

/* str_sched_late_return - put back a message that a dead thread had taken */
void
str_sched_late_return(struct str_plumb *pl, queue_t *q, mblk_t *mp,
	unsigned bits)
{
	late_link(pl, q, mp, bits, true);
	str_sched_touch(pl);
}

/* str_sched_late_flag - record that @pl has the work @flag to do, STR_LATE_* */
void
str_sched_late_flag(struct str_plumb *pl, uint32_t flag)
{
	lockr(pl);
	late_mark(pl, flag);
	str_unlock(&pl->rlock);
	str_fence_full();
	touch_other(pl);
}

/* str_sched_late_walk - call @fn for every late message. */
void
str_sched_late_walk(struct str_plumb *pl, void (*fn)(mblk_t *mp,
	uintptr_t arg), uintptr_t arg)
{
	mblk_t *mp;

	if (pl->late_first == NULL)
		return;
	lockr(pl);
	for (mp = pl->late_first; mp != NULL; mp = mp->b_next)
		fn(mp, arg);
	str_unlock(&pl->rlock);
}

/* str_sched_late_purge - @q is about to be freed: free the messages for it. */
void
str_sched_late_purge(queue_t *q)
{
	struct str_plumb *pl = q->q_pair->plumb;
	mblk_t *mp, *prev, *gone = NULL;

	if (str_likely(pl->late_first == NULL))
		return;
	lockr(pl);
	for (prev = NULL, mp = pl->late_first; mp != NULL;) {
		mblk_t *next = mp->b_next;

		if (late_queue(mp) != q) {
			prev = mp;
			mp = next;
			continue;
		}
		late_uncount(mp);
		str_msg_own(mp);
		if (prev != NULL)
			prev->b_next = next;
		else
			pl->late_first = next;
		if (next == NULL)
			pl->late_last = prev;
		mp->b_prev = NULL;
		mp->b_next = gone;
		gone = mp;
		mp = next;
	}
	str_unlock(&pl->rlock);
	while ((mp = gone) != NULL) {
		gone = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
}

static void
back(struct str_plumb *pl, queue_t *q)
{
	queue_t *b = q, *n;

	/* an empty one, too: its service procedure may take messages from
	 * queues of other streams */
	str_sched_enable(q);
	/* weldq(9): the previous queues may belong to another stream */
	while ((n = str_otherq(b)->q_next) != NULL) {
		b = str_otherq(n);
		if (b->q_pair->plumb == pl)
			return;
		if (b->q_head != NULL) {
			(void)str_wake_writers_behind(b->q_head);
			return;
		}
		if (b->q_qinfo != NULL && b->q_qinfo->qi_srvp != NULL) {
			str_sched_enable(b);
			return;
		}
	}
}

static void
drain(struct str_plumb *pl, queue_t *q)
{
	(void)pl;
	str_perim_drain(q->q_pair);
}

static void
late_work(struct str_plumb *pl, uint32_t flags)
{
	unsigned e;

	if (flags & STR_LATE_DRAIN)
		each_queue(pl, drain);
	if ((flags & (STR_LATE_BACK | STR_LATE_FULL)) == 0)
		return;
	each_queue(pl, back);
	for (e = 0; e < pl->nheads; e++)
		(void)str_wake_writers_behind(&pl->head[e]);
}

static void
late_put(mblk_t *mp)
{
	uintptr_t v = (uintptr_t)mp->b_prev;
	queue_t *q = late_queue(mp);

	mp->b_prev = NULL;
	if (v & STR_MP_JOB) {
		str_job_late(mp, (v & STR_MP_OUTER) != 0);
		return;
	}
	if (v & STR_MP_NEXT)
		q = q->q_next;
	if (q == NULL || (str_load(&q->q_flag) & QPROCS) != 0)
		freemsg(mp);
	else
		str_put(q, mp);
}

/*
 * Deliver the late messages, for one slice.  The mark stays until none is left,
 * so that later messages are queued after them.
 */
static bool
run_late(struct str_plumb *pl, uint64_t began)
{
	bool ran = false;
	unsigned n;

	for (n = 1; str_unlikely(str_load(&pl->late) != 0); n++) {
		uint32_t work;
		mblk_t *mp;

		lockr(pl);
		work = str_load(&pl->late) & ~STR_LATE_MSG;
		mp = pl->late_first;
		if (mp != NULL)
			work &= ~STR_LATE_FULL; /* later, when the list is
						 * empty */
		if (work != 0) {
			str_store(&pl->late,
				(str_load(&pl->late) & ~work) | STR_LATE_MSG);
		} else if (mp != NULL) {
			uintptr_t v = (uintptr_t)mp->b_prev;

			late_uncount(mp);
			/* a job is not put back by the reaper */
			str_msg_take(mp, (v & STR_MP_JOB) != 0 ? 0 :
				str_origin_word(late_queue(mp),
					STR_ORIGIN_LATE | ((v & STR_MP_NEXT) ?
						STR_ORIGIN_NEXT : 0)));
			str_barrier();
			pl->late_first = mp->b_next;
			if (pl->late_first == NULL)
				pl->late_last = NULL;
			mp->b_next = NULL;
		} else {
			str_store(&pl->late, 0u);
			str_store(&pl->nrun, str_load(&pl->nrun) - 1);
		}
		str_unlock(&pl->rlock);
		if (work != 0) {
			late_work(pl, work);
		} else if (mp != NULL) {
			STR_CRASH_POINT("sched:latetaken");
			late_put(mp);
			ran = true;
		}
		if (n % BETWEEN == 0 && is_over(began))
			break;
	}
	return ran;
}

/* ------------------------------------------------------------- the runner */

static void
revive(struct str_plumb *pl, queue_t *q)
{
	(void)pl;
	str_perim_drain(q->q_pair);
	/* an empty one too: a thread that died after the last getq() has not
	 * set QWANTR, so the next message would not enable it */
	str_sched_enable(q);
}

/* str_sched_revive - thread @dead died inside this stream. */
void
str_sched_revive(struct str_plumb *pl, uint32_t dead)
{
	if (str_load(&pl->runner) == dead)
		(void)str_cas(&pl->runner, dead, 0u);
	str_store(&pl->committed, 0u);
	(void)str_claim(pl);
	each_queue(pl, revive);
	/*
	 * sleepers at a pipe's ends are woken, and run it; other streams may
	 * have none
	 */
	if (pl->kind != STR_PL_PIPE || str_load(&pl->late) != 0)
		(void)str_sched_run(pl);
	str_unclaim(pl);
}

/*
 * str_sched_reaped - may this thread replace dead thread @tag in @pl?
 * The messages that the dead thread held must be put back first, because later
 * messages would overtake them.  There is one exception: the reaper had to give
 * up because of a stopped process (STR_THR_UNDONE).  If they are not back yet,
 * the answer is no, and this thread has @tag reaped when it has released its
 * last claim.  If @pl is NULL, this thread has no claim, because it opens or
 * closes: then it has @tag reaped at once.
 */
bool
str_sched_reaped(uint32_t tag, struct str_plumb *pl)
{
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(tag)];

	if (str_load(&t->tag) != tag || tag == host_tls.reaping ||
	    str_load(&t->state) == STR_THR_UNDONE)
		return true;
	if (pl == NULL) {
		(void)host_reap_dead(tag);
		return str_load(&t->tag) != tag ||
			str_load(&t->state) == STR_THR_UNDONE;
	}
	if (host_tls.busy == 0) {
		host_tls.reap = tag;
		str_sched_touch(pl);
	}
	return false;
}

static bool
become_runner(struct str_plumb *pl)
{
	uint32_t me = host_self_tag(), v = str_load(&pl->runner);

	if (v == 0) {
		if (!str_cas(&pl->runner, 0u, me))
			return false;
		str_store(&pl->runner_at, host_ticks());
		return true;
	}
	if (v == me)
		return false;
	str_fence_full(); /* nrun before runner; pairs with str_sched_run() */
	v = str_load(&pl->runner);
	if (v == 0)
		return become_runner(pl);
	if (host_ticks() - str_load(&pl->runner_at) < ASK_MS * host_ticks_per_ms)
		return false;
	if (!host_owner_dead(v)) {
		/* it lives, but may not be running: the check is expensive */
		str_store(&pl->runner_at, host_ticks());
		return false;
	}
	if (!str_sched_reaped(v, pl) || !str_cas(&pl->runner, v, me))
		return false;
	str_store(&pl->runner_at, host_ticks());
	each_queue(pl, revive);
	return true;
}

/* Commit a sleeping reader of @sd to run the stream when it wakes. */
static bool
commit_sleeper(struct str_plumb *pl, struct str_head *sd)
{
	if ((str_load(&sd->hq.rwant) & STR_WANT_FUTEX) == 0)
		return false;
	str_store(&pl->committed_at, host_ticks());
	str_store(&pl->committed, host_self_tag());
	if (str_wake_readers(sd) > 0)
		return true;
	str_store(&pl->committed, 0u); /* the bit was left by a dead thread */
	return false;
}

/*
 * The same for a writer at @sd that waits for room.  Otherwise the service
 * procedure would wake the writer with the first message that it takes, and the
 * writer would compete with the thread that runs the queues, perhaps on the
 * same CPU.
 */
static bool
commit_writer(struct str_plumb *pl, struct str_head *sd)
{
	if ((str_load(&sd->peer->hq.wwant) & STR_WANT_FUTEX) == 0)
		return false;
	str_store(&pl->committed_at, host_ticks());
	str_store(&pl->committed, host_self_tag());
	if (str_wake_writers_behind(sd) > 0)
		return true;
	str_store(&pl->committed, 0u);
	return false;
}

static bool
commit_any(struct str_plumb *pl)
{
	unsigned e;

	for (e = 0; e < pl->nheads; e++)
		if (commit_sleeper(pl, &pl->head[e]) ||
		    commit_writer(pl, &pl->head[e]))
			return true;
	return false;
}

/*
 * str_sched_run - run the stream's enabled queues
 * @pl: the stream; the caller holds a claim on it
 *
 * Queues that enable themselves again and again are left to other threads after
 * some time.
 * Return: true if a service procedure ran or a late message was put: the caller
 * looks again before it sleeps.
 */
bool
str_sched_run(struct str_plumb *pl)
{
	bool ran = false, over;
	unsigned n, turn = 0;
	uint64_t began = 0;

	while (str_load(&pl->nrun) != 0) {
		queue_t *q;

		if (!become_runner(pl))
			return ran;
		if (turn++ == 0)
			began = str_load(&pl->runner_at);
		str_store(&pl->committed, 0u);
		over = false;
		if (str_unlikely(str_load(&pl->late) != 0)) {
			ran |= run_late(pl, began);
			over = is_over(began);
		}
		for (n = 0; n < PASSES && (q = take(pl)) != NULL; n++) {
			STR_CRASH_POINT("sched:taken");
			str_perim_service(q);
			ran = true;
			if (n % BETWEEN == BETWEEN - 1 && is_over(began)) {
				over = true;
				break;
			}
		}
		str_store_rel(&pl->runner, 0u);
		str_fence_full(); /* a thread that enabled a queue meanwhile saw
				   * a runner, and left the queue to it */
		if (str_unlikely(over || (n == PASSES && turn >= TURNS))) {
			if (str_load(&pl->nrun) == 0 || commit_any(pl) ||
			    str_sched_defer(pl))
				return ran;
			turn = 0;
		}
	}
	return ran;
}

/* Is there a runner that has been woken to run the stream's queues? */
static bool
is_committed(struct str_plumb *pl)
{
	uint32_t c = str_load(&pl->committed);

	if (c == 0 || host_ticks() - str_load(&pl->committed_at) >=
			10 * host_ticks_per_ms)
		return false;
	str_fence_full(); /* pairs with str_sched_run_head() */
	return str_load(&pl->committed) == c;
}

/*
 * str_sched_leave - the end of a call that may have enabled queues
 * @sd: the head the call was made on; a claim is held
 */
void
str_sched_leave(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;

	if (str_likely(str_load(&pl->nrun) == 0))
		return;
	if (str_unlikely(str_load(&host_domain->eager) != 0)) {
		(void)str_sched_run(pl);
		return;
	}
	/* (1) a committed runner has been woken */
	if (is_committed(pl))
		return;
	/* (2) a reader asleep at the other end, or at a device stream's head:
	 * it runs them as it wakes */
	if (commit_sleeper(pl, pl->kind == STR_PL_DEV ? &pl->head[0] :
						       sd->peer))
		return;
	/* (3) no other thread */
	(void)str_sched_run(pl);
}

/* ----------------------------------------------------------- other streams */

/* Has the lock a dead owner?  Then that thread was about to enable a queue. */
static bool
is_dead(struct str_lock *l)
{
	uint32_t v = str_load(&l->owner);

	return v != 0 && host_owner_dead(v);
}

/*
 * As str_sched_leave(), for a stream that this thread touched. @last: the slice
 * for the touched streams is over: defer what would have to be run here.
 */
static void
settle(struct str_plumb *pl, bool last)
{
	if (!str_claim_stream(pl))
		return; /* it was freed, or its plumber does it: the plumber
			 * looks last */
	if (str_unlikely(is_dead(&pl->rlock))) {
		lockr(pl);
		str_unlock(&pl->rlock);
	}
	if (str_load(&pl->nrun) != 0 && !is_committed(pl) && !commit_any(pl) &&
	    !(last && str_sched_defer(pl)))
		(void)str_sched_run(pl);
	str_unclaim(pl);
}

/* The table has overflowed: examine all streams. */
static void
settle_all(void)
{
	uint64_t began = host_ticks();
	uint32_t i;

	for (i = 0; i < STR_NCOOKIE; i++) {
		struct str_cookie *e = &host_domain->cookie[i];
		const struct str_file *f;
		struct str_head *sd;
		struct str_plumb *pl;

		if (!str_dir_backed(i) || str_load_acq(&e->cookie) <= 1)
			continue;
		f = (const struct str_file *)(uintptr_t)str_load_acq(&e->file);
		sd = f == NULL ? NULL :
			*(struct str_head *const volatile *)&f->head;
		if (sd == NULL || !str_mem_valid(sd))
			continue;
		pl = *(struct str_plumb *const volatile *)&sd->plumb;
		/* a claim proves that it is a stream */
		if (pl != NULL && str_mem_valid(pl) &&
		    (str_load(&pl->nrun) != 0 || is_dead(&pl->rlock)))
			settle(pl, is_over(began));
	}
}

/*
 * str_sched_touched - run the lists of the streams that this thread touched
 * Called when its last claim has been released, and where it may have had none.
 */
void
str_sched_touched(void)
{
	uint64_t began = 0;
	unsigned turn = 0;

	if (host_tls.busy || host_tls.nclaim != 0 || host_tls.ntouch == 0)
		return;
	host_tls.busy = 1;
	if (str_unlikely(host_tls.reap != 0)) {
		uint32_t tag = host_tls.reap;

		host_tls.reap = 0;
		(void)host_reap_dead(tag);
	}
	while (host_tls.ntouch != 0) {
		struct str_plumb *pl = host_tls.touch[0];
		uint32_t n = --host_tls.ntouch, i;

		for (i = 0; i < n; i++)
			host_tls.touch[i] = host_tls.touch[i + 1];
		if (pl == NULL) {
			host_tls.ntouch = 0;
			settle_all();
		} else {
			if (++turn == 2) /* the first stream has a separate
					  * slice */
				began = host_ticks();
			settle(pl, turn > TURNS || (turn > 2 && is_over(began)));
		}
	}
	host_tls.busy = 0;
}

/*
 * str_sched_lost - a thread died, and its record of touched streams is lost
 * Drivers enable queues of other streams, and so do threads that leave a
 * module-wide perimeter.
 */
void
str_sched_lost(void)
{
	if (str_load(str_root(STR_ROOT_NDEVS)) == 0 && !str_foreign_wanted())
		return;
	host_tls.touch[0] = NULL; /* all */
	host_tls.ntouch = STR_MAX(host_tls.ntouch, 1u);
}

/* SVR4 qenable(D3): whatever noenable() said. */
void
qenable(queue_t *q)
{
	str_sched_enable(q);
}

/* enable unless disabled; 1 if enabled */
int
enableq(queue_t *q)
{
	if (str_load(&q->q_flag) & QNOENB)
		return 0;
	str_sched_enable(q);
	return 1;
}

/*
 * Have the queues of the streams that this thread has claimed run, if any are
 * enabled, when it releases its last claim.
 */
void
setqsched(void)
{
	struct str_thread *t = host_self();
	uint32_t i;

	for (i = 0; i < host_tls.nclaim && i < STR_NCLAIM; i++) {
		struct str_plumb *pl = (struct str_plumb *)(uintptr_t)
			str_load(&t->claim[i]);

		if (pl != NULL && str_load(&pl->nrun) != 0)
			str_sched_touch(pl);
	}
}

/* Has a stream that this thread has claimed an enabled queue, or a late list to
 * be served? */
int
qready(void)
{
	struct str_thread *t = host_self();
	uint32_t i;

	for (i = 0; i < host_tls.nclaim; i++) {
		struct str_plumb *pl = (struct str_plumb *)(uintptr_t)
			str_load(&t->claim[i]);

		if (pl != NULL && str_load(&pl->nrun) != 0)
			return 1;
	}
	return 0;
}
