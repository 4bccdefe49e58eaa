/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping at a Stream head.
 *
 * Purpose.  No system call while the other side runs; no context switch without
 * an event; no thread misses its event, a signal, or the death of the other
 * end.
 *
 * Order.  A caller that must wait first runs the enabled queues of its stream.
 * If the other side last ran on this CPU, the caller yields to it; if on
 * another CPU, the caller spins with back-off, never longer than a wake costs.
 * It does neither if that was in vain lately (patience.h, host/user/way.h).
 * Then it sleeps without limit on two words: the queue's word, and a word that
 * the kernel changes when streamsd ends.  streamsd reports deaths to it
 * (notice.c).  Without streamsd the sleep has stages (carrier.c).
 *
 * Protocol.  The sleeper sets its bit in the queue's want word, executes the
 * heavy fence, and looks again.  wake.c has the other side.
 *
 * Speed.  A thread that wakes after a millisecond finds cold caches.  So the
 * functions that every sleep executes lie together (STR_WAKE_TEXT).  The thread
 * writes only to its own slot and to one cache line of the queue, and reads the
 * clock only if it learns something from the time.
 */
#include "core.h"
#include "fastmsg.h"
#include "headq.h"
#include "patience.h"
#include "sleep.h"
#include "sock/sock.h"
#include "want.h"

/* Events for which a reader waits, including errors and hang-up. */
STR_WAKE_TEXT bool
str_head_readable(struct str_head *sd)
{
	return str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos) ||
		(str_load(&sd->hq.npri) | str_load(&sd->hq.overflow)) != 0 ||
		(str_load(&sd->flags) & (STR_H_RDERR | STR_H_HUP |
			STR_H_PEER | STR_H_PLEX | STR_H_LOOK |
			STR_H_NOWR | STR_H_EOF)) != 0;
}

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

STR_WAKE_TEXT bool
str_sleep_ready(struct str_head *sd, unsigned why)
{
	if (str_unlikely((why & STR_SLEEP_RARE) != 0))
		return rare_ready(sd, why);
	return why == STR_SLEEP_READ ? str_head_readable(sd) :
				       str_head_writable(sd);
}

/*
 * str_sleep_ready() for a thread that spins: it requests no wake, because that would cost
 * a heavy fence and a function call in every read of the other side.
 */
static bool
seems_ready(struct str_head *sd, unsigned why)
{
	queue_t *q;
	bool full;

	if (why != STR_SLEEP_WRITE || str_load(&sd->direct) != NULL ||
	    str_claim(sd->plumb) != 0)
		return str_sleep_ready(sd, why);
	q = sd->qp->wq.q_next;
	full = q != NULL && full_ahead(q);
	str_unclaim(sd->plumb);
	if (full && (str_load(&sd->flags) & UNWRITABLE) == 0)
		return false;
	return str_sleep_ready(sd, why);
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

/* What a thread did before it slept. */
enum tried { NOT_TRIED, IN_VAIN, BROUGHT };

/*
 * The other side last ran on this CPU, and cannot run while this thread does:
 * yield to it before requesting a wake, so that neither side needs another
 * system call.
 */
static STR_WAKE_TEXT enum tried
give_way(struct str_head *sd, struct host_call *hc, unsigned why)
{
	unsigned i;

	for (i = 0; i < YIELDS; i++) {
		bool yes;

		if (!host_give_way())
			return i == 0 ? NOT_TRIED : IN_VAIN;
		yes = seems_ready(sd, why);
		if (yes && (!sleep_reads(why) || headq_much(&sd->hq)))
			host_way_used();
		if (yes || host_interrupted(hc) != HOST_SIG_NONE)
			return BROUGHT;
	}
	return IN_VAIN;
}

/* The other side last ran on another CPU: look again and again for a while. */
static STR_WAKE_TEXT enum tried
spin(struct str_head *sd, struct host_call *hc, unsigned why)
{
	uint64_t start, budget;
	unsigned pause, i;

	/* a thread that has written since waits for an answer: look at once; a
	 * thread that only reads waits longer, so that its looks do not move
	 * the cache line for each record */
	pause = sleep_reads(why) && host_tls.wrote != 0 ? 1 : SPIN_PAUSES;
	budget = sleep_reads(why) ? SPIN_READ_US : SPIN_WRITE_US;
	host_tls.wrote = 0;
	budget = budget * host_ticks_per_ms / 1000;
	start = host_ticks();
	do {
		for (i = 0; i < pause; i++)
			str_cpu_relax();
		if (seems_ready(sd, why))
			return BROUGHT;
		if (host_interrupted(hc) != HOST_SIG_NONE)
			return BROUGHT;
		if (pause < SPIN_PAUSES && host_ticks() - start > budget / 8)
			pause = SPIN_PAUSES;
	} while (host_ticks() - start < budget);
	return IN_VAIN;
}

static STR_WAKE_TEXT enum tried
try_first(struct str_head *sd, struct host_call *hc, unsigned why)
{
	uint32_t other = sleep_reads(why) ? str_load(&sd->hq.pcpu) :
					    reader_cpu(sd);

	if (other == ~0u)
		return NOT_TRIED;
	return other == host_cpu() ? give_way(sd, hc, why) : spin(sd, hc, why);
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

/*
 * A thread is about to sleep at @want: request a wake by @bit, and make sure
 * that a waker that does not see the request has published the data which the
 * thread checks next.
 *
 * STR_WANT_FENCED says that all wakers have seen STR_WANT_FENCE since that was
 * set.  The number in the word changes each time that it is set: a thread
 * that has executed the heavy fence for an earlier setting does not set
 * STR_WANT_FENCED for this one (models/fence.pml).
 */
STR_WAKE_TEXT void
str_sleep_ask(str_a32 *want, uint32_t bit)
{
	uint32_t w = str_load(want), n;

	while ((w & STR_WANT_FENCED) != 0)
		if (str_cas_see(want, &w, w | bit))
			return; /* the exchange was the fence */
	if ((w & STR_WANT_FENCE) == 0)
		(void)want_request(want, bit | STR_WANT_FENCE, &n);
	else
		n = str_or(want, bit) | bit;
	host_fence_heavy(); /* pairs with the waker's light fence */
	want_fenced(want, n);
}

/*
 * str_sleep_count - this thread is about to sleep as a writer of @hq: writers
 * leave each other a share of the queue (turn.c:str_headq_share)
 * str_thread_uncount() ends it.  Crash: a thread that is killed between the two
 * stores stays counted.
 */
void
str_sleep_count(struct str_headq *hq)
{
	(void)str_add(&hq->wsleep, 1u);
	str_store(&host_self()->counted, (uint64_t)(uintptr_t)&hq->wsleep);
}

/*
 * Flags of a head at which a thread cannot rely on notices of deaths, because a
 * process outside the domain may hold the other end, or write there: only the
 * carrier tells that.
 */
#define UNNOTICED (STR_H_FED | STR_H_AWAY | STR_H_LEFT)

/*
 * May the thread rely on notices of deaths?  Not at a stream with a socket
 * either: after stage 1 the thread watches the socket.
 */
static bool
begin_notice(struct str_head *sd, struct host_notice *n, str_a32 *word)
{
	return (str_load(&sd->flags) & UNNOTICED) == 0 &&
		str_sock_of(sd->plumb) == 0 && host_notice_begin(n, word);
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
	err = str_carrier_look(sd, hc, &ev);
	if (err == 0 && hc->fd >= 0)
		str_store(&sd->looked, n);
	return err;
}

/* The bell, or the end of streamsd, has ended the sleep, and no event. */
static int
look_around(struct str_head *sd, struct host_call *hc)
{
	uint32_t ev;
	int err = str_carrier_look(sd, hc, &ev);

	if (host_serve != NULL)
		host_serve();
	if (err == 0 && hc->fd >= 0 && !str_carrier_own(sd, hc->fd))
		err = EBADF;
	return err;
}

/*
 * The thread is about to sleep with notices: publish where, request a wake, and
 * look once more.
 * Return: SLEEP_NOW: wait for the change of the word from *ret_w.  Otherwise
 * nothing is published: 0 look again; EBADF; ENOSYS: there are no notices.
 */
STR_INLINE int
notice_begin(const struct str_sleep *s, struct host_notice *ret_n,
	uint32_t *ret_w)
{
	struct str_head *sd = s->sd;
	uint32_t f;
	int err;

	*ret_w = str_load_acq(s->word);
	if (!begin_notice(sd, ret_n, s->word))
		return ENOSYS;
	if (!sleep_reads(s->why))
		str_sleep_count(&sd->peer->hq);
	/*
	 * before the fence: streamsd, and a thread that rings bells, must find
	 * this thread
	 */
	str_store_rel(&host_self()->asleep_on, (uint64_t)(uintptr_t)sd);
	str_sleep_ask(s->want, STR_WANT_FUTEX);
	if (host_serve != NULL)
		host_serve();
	err = look_for_deaths(sd, s->hc);
	f = str_load(&sd->flags);
	if (err == 0 && (f & STR_H_CLOSED) != 0)
		err = EBADF;
	/* a thread that set one of UNNOTICED before the fence did not
	 * wake this one */
	if (err == 0 && (f & UNNOTICED) == 0 && !str_sleep_ready(sd, s->why))
		return SLEEP_NOW;
	str_store(&host_self()->asleep_on, (uint64_t)0);
	str_thread_uncount(host_self());
	return err;
}

/*
 * The sleep with notices, which has no limit.
 * Return: 0 look again; EINTR; ETIMEDOUT, perhaps before the deadline; EBADF;
 * ENOSYS: there are none, nothing was done.
 */
static STR_WAKE_TEXT int
notice_sleep(const struct str_sleep *s)
{
	struct str_head *sd = s->sd;
	uint64_t sid = sd->plumb->sid;
	uint32_t w, seq = host_tls.sig_seq;
	struct host_notice n;
	int err = notice_begin(s, &n, &w);

	if (err != SLEEP_NOW)
		return err;
	STR_CRASH_POINT("sleep:notice");
	err = host_wait_notice(s->hc, s->word, w, &n,
		sleep_left(s->deadline, UINT64_MAX));
	str_store(&host_self()->asleep_on, (uint64_t)0);
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	str_thread_uncount(host_self());
	if (err == EAGAIN)
		err = look_around(sd, s->hc);
	return err;
}

static STR_WAKE_TEXT int
sleep_long(const struct str_sleep *s)
{
	uint64_t stage = 0;
	int err;

	for (;;) {
		err = notice_sleep(s);
		if (str_likely(err == 0))
			return 0;
		if (err == ENOSYS) {
			/* many signals with SA_RESTART must not keep the thread
			 * in stage 1 */
			if (stage == 0)
				stage = host_now() + NEAR_NS;
			err = str_stage_near(s, stage);
			if (err == ETIMEDOUT &&
			    sleep_left(s->deadline, 1) != 0)
				err = str_stage_far(s);
		} else if (err == ETIMEDOUT && sleep_left(s->deadline, 1) != 0) {
			continue;
		}
		if (err != EINTR)
			return err;
		err = str_signalled(s->hc);
		if (err != 0)
			return err;
	}
}

/*
 * After a sleep of @slept ticks: record whether the event would have come while
 * the thread spins or yields, so that the next sleep tries that or omits it.
 *
 * On one CPU a short sleep says nothing about a writer's yields: a reader of
 * lower priority runs while the writer sleeps, and not while it yields.  So only
 * the yields themselves decide.
 */
static void
learn(struct str_head *sd, struct str_headq *hq, unsigned why,
	enum tried tried, uint64_t slept)
{
	unsigned way = sleep_reads(why) ? 0 : 1;
	uint64_t most = sleep_reads(why) ? LONG_READ_US : LONG_WRITE_US;

	if (!sleep_reads(why) && reader_cpu(sd) == host_cpu()) {
		if (tried == IN_VAIN)
			patience_vain(&hq->skip[way], &hq->rest[way], SKIP_TRY);
		return;
	}
	if (slept < most * host_ticks_per_ms / 1000 ||
	    (sleep_reads(why) && headq_much(hq)))
		patience_paid(&hq->skip[way], &hq->rest[way]);
	else if (tried == IN_VAIN)
		patience_vain(&hq->skip[way], &hq->rest[way], SKIP_SLEEP);
}

static STR_WAKE_TEXT int
sleep_on(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline)
{
	struct str_headq *hq = sleep_reads(why) ? &sd->hq : &sd->peer->hq;
	const struct str_sleep s = {.sd = sd, .hc = hc, .why = why,
		.want = sleep_reads(why) ? &hq->rwant : &hq->wwant,
		.word = sleep_reads(why) ? &hq->rword : &hq->wword,
		.deadline = deadline};
	unsigned way = sleep_reads(why) ? 0 : 1;
	enum tried tried = NOT_TRIED;
	uint64_t start;
	int err;

	if (str_load(&sd->flags) & STR_H_LOOK)
		return str_head_look(sd, hc);
	err = sleep_prepare(sd, hc);
	if (err != SLEEP_NOW)
		return err;
	if (str_unlikely(str_sock_of(sd->plumb) != 0) &&
	    !str_sock_near(str_sock_of(sd->plumb)))
		return str_sock_sleep(&s, NULL);
	/* data in the carrier is not noticed in stage 1 */
	if (str_unlikely((str_load(&sd->flags) & STR_H_FED) != 0)) {
		err = str_carrier_sleep(&s);
		return err == EINTR ? str_signalled(hc) : err;
	}
	if (!patience_rests(&hq->rest[way]))
		tried = try_first(sd, hc, why);
	if (tried == BROUGHT) {
		if (!sleep_reads(why))
			patience_paid(&hq->skip[way], &hq->rest[way]);
		return str_signalled(hc);
	}
	if (sleep_reads(why))
		headq_lost(hq);
	str_count(&host_self()->sleeps);
	str_store(&host_self()->why, why & STR_SLEEP_WAY);
	/* nothing can be learnt: the clock is not needed */
	if (tried == NOT_TRIED && str_load(&hq->skip[way]) == 0)
		return sleep_long(&s);
	start = host_ticks();
	err = sleep_long(&s);
	if (err == 0) /* else the stream may be gone */
		learn(sd, hq, why, tried, host_ticks() - start);
	return err;
}

/*
 * str_sleep_awaited - str_sleep() for a reader whose stream is slow: a try would
 * be in vain (await.c)
 *
 * Speed.  What follows the sleep is short: it reads few cache lines, and calls
 * no function.
 * Return: 0: look again; EINTR, EBADF; ENOSYS: nothing was done, call
 * str_sleep().
 */
STR_WAKE_TEXT int
str_sleep_awaited(struct str_head *sd, struct host_call *hc)
{
	struct str_headq *hq = &sd->hq;
	const struct str_sleep s = {.sd = sd, .hc = hc, .why = STR_SLEEP_READ,
		.want = &hq->rwant, .word = &hq->rword, .deadline = UINT64_MAX};
	struct str_thread *t = host_self();
	uint64_t sid = sd->plumb->sid, start;
	uint32_t w, seq = host_tls.sig_seq;
	struct host_notice n;
	int err;

	err = notice_begin(&s, &n, &w);
	if (err != SLEEP_NOW)
		return err;
	(void)patience_rests(&hq->rest[0]);
	str_count(&t->sleeps);
	str_store(&t->why, STR_SLEEP_READ);
	start = host_ticks();
	STR_CRASH_POINT("sleep:awaited");
	err = host_wait_notice(hc, &hq->rword, w, &n, UINT64_MAX);
	t = host_self(); /* a forked child has another slot */
	str_store(&t->asleep_on, (uint64_t)0);
	if (str_unlikely(str_head_gone(sd, sid, seq)))
		return EBADF;
	if (str_unlikely(err == EAGAIN))
		return look_around(sd, hc);
	if (str_unlikely(err == EINTR))
		return str_signalled(hc);
	if (str_unlikely(host_ticks() - start <
		LONG_READ_US * host_ticks_per_ms / 1000 || headq_much(hq)))
		patience_paid(&hq->skip[0], &hq->rest[0]);
	/* the waker may have left the stream's queues to this thread */
	if (str_unlikely((str_load(&sd->plumb->committed) |
		str_load(&sd->plumb->nrun)) != 0))
		(void)str_sched_run_head(sd, hc);
	return 0;
}

/*
 * str_sleep - wait until something may be read, or written, at @sd
 * @sd:       the head; no lock and no claim is held
 * @why: STR_SLEEP_READ or STR_SLEEP_WRITE, or a rarer event of these
 * @deadline: host_now() time, or UINT64_MAX
 *
 * Return: 0: look again; EINTR, ETIMEDOUT, EBADF.
 */
STR_WAKE_TEXT int
str_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline)
{
	uint64_t sid = sd->plumb->sid;
	uint32_t seq = host_tls.sig_seq;
	int err = sleep_on(sd, hc, why, deadline);

	if (err == EBADF && str_head_gone(sd, sid, seq))
		return err;
	/* the waker may have left the stream's queues to this thread */
	(void)str_sched_run_head(sd, hc);
	return err;
}
