/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Interrupt context: a thread that runs the executive's timers.
 *
 * Which.  A thread of streamsd runs the timers of all members.  If streamsd
 * cannot be started, is a second late (it gets no CPU time), or cannot be woken
 * (it is stopped), the member that sets a timer starts such a thread itself, the
 * *helper*, with every signal blocked; it ends when there has been no deadline
 * for a second.  Several of them may run.  A forked child has no helper.
 *
 * Sleep.  `timer_until' of the domain says until when the thread sleeps;
 * UINT64_MAX: there is no timer; while it is awake: since when.  It stores that,
 * executes a full fence, and looks at the earliest deadline once more before it
 * sleeps.  A member that has made a deadline the earliest one loads
 * `timer_until' after an atomic instruction.  So either the thread sees the
 * deadline, or the member sees that the thread must be woken.  Deadlines are
 * rounded up to GRAIN, so that there are at most a thousand looks a second.
 *
 * Hold.  The callbacks take messages off queues.  So before a process exits,
 * execs or leaves the domain, it waits until they have finished, and prevents
 * new ones.  The thread touches the domain only while it is RUNNING.  At exit it
 * ends, so that the process gives all its slots back.
 */
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "user_impl.h"

#define GRAIN (1ull << 20)
#define IDLE_NS 1000000000u
#define LATE_NS 1000000000u
#define STACK_SIZE (256u << 10)
#define LOOK_YIELDS 16u /* until a thread that is awake has looked */

#define HOLD_NS 1000000000u /* the other thread may be stopped */

/*
 * RUNNING while the thread uses the domain, HELD when it must not.  Belongs to
 * the process that started the thread: timer_start() resets it.
 */
static str_a32 running;
#define RUNNING 1u
#define HELD 2u
#define ENDS 4u
static pthread_t thread; /* [timer] while timer_up is set */

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

static uint64_t
in_grains(uint64_t at)
{
	return at >= UINT64_MAX - GRAIN ? at : (at + GRAIN - 1) & ~(GRAIN - 1);
}

/* -------------------------------------------------------------- the thread */

/* Sleep while *@word is @val, not longer than until @at. */
static void
timer_wait(str_a32 *word, uint32_t val, uint64_t at)
{
	struct timespec ts = {
		(time_t)(at / 1000000000u), (long)(at % 1000000000u)
	};

	host_park();
	(void)sys_call6(SYS_futex, word, FUTEX_WAIT_BITSET, val,
		at == UINT64_MAX ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY);
	host_unpark();
}

static bool
hold_begin(void)
{
	return str_cas(&running, 0u, RUNNING);
}

static void
hold_end(void)
{
	if ((str_and(&running, ~RUNNING) & HELD) != 0)
		(void)sys_call3(SYS_futex, &running, FUTEX_WAKE, INT_MAX);
}

/*
 * Run what is due.  Return: until when to sleep; 0: look again.  *ret_word: the
 * value of the word that changes when a deadline becomes the earliest.
 */
static uint64_t
timer_look(uint32_t *ret_word)
{
	struct host_call hc = { .fd = -1 };
	uint64_t now = host_now(), next;

	*ret_word = str_load_acq(&shared()->timer_word);
	str_store(&shared()->timer_until, now);
	if (host_enter(&hc) != 0)
		return now + LATE_NS;
	next = str_timer_run(now);
	host_leave();
	str_store(&shared()->timer_until, in_grains(next));
	str_fence_full(); /* pairs with host_defer() */
	return str_timer_next() < next || next <= host_now() ? 0 :
		in_grains(next);
}

/*
 * End the thread, which is RUNNING, unless it is held: its end would be waited
 * for in vain.  Locks: timer.
 */
static bool
timer_over(struct host_priv *pv)
{
	if (!str_cas(&running, RUNNING, 0u))
		return false;
	(void)pthread_detach(pthread_self());
	str_store(&pv->timer_up, 0u);
	return true;
}

/* Has the helper nothing to do any more?  Then it is not RUNNING any more. */
static bool
timer_ends(struct host_priv *pv, uint64_t idle_since)
{
	bool done = false;

	if (host_is_daemon || host_now() - idle_since < IDLE_NS)
		return false;
	host_plock_lock(&pv->timer);
	str_store(&shared()->timer_until, 0ull);
	str_fence_full(); /* as above */
	done = str_timer_next() == UINT64_MAX && timer_over(pv);
	host_plock_unlock(&pv->timer);
	return done;
}

/* Has the process left the domain?  As timer_ends(). */
static bool
timer_left(struct host_priv *pv)
{
	bool done;

	if (host_domain != NULL)
		return false;
	host_plock_lock(&pv->timer);
	done = timer_over(pv);
	host_plock_unlock(&pv->timer);
	return done;
}

static void *
timer_main(void *arg)
{
	struct host_priv *pv = arg;
	uint64_t idle_since = host_now(), at;
	uint32_t val = 0, was;
	str_a32 *word;

	for (;;) {
		was = str_load_acq(&running);
		if ((was & ENDS) != 0)
			return NULL; /* and is joined */
		if (!hold_begin()) {
			if ((was & HELD) != 0)
				timer_wait(&running, was, host_now() + HOLD_NS);
			continue;
		}
		if (host_domain == NULL) {
			if (timer_left(pv))
				return NULL;
			hold_end(); /* it is held */
			continue;
		}
		word = &shared()->timer_word;
		at = timer_look(&val);
		if (at != UINT64_MAX)
			idle_since = host_now();
		else if (timer_ends(pv, idle_since))
			return NULL;
		hold_end();
		if (at == UINT64_MAX && !host_is_daemon)
			at = host_now() + IDLE_NS;
		if (at != 0)
			timer_wait(word, val, at);
	}
}

static bool
timer_start(struct host_priv *pv)
{
	pthread_attr_t attr;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	str_store(&running, 0u);
	err = pthread_create(&thread, &attr, timer_main, pv);
	(void)pthread_attr_destroy(&attr);
	return err == 0;
}

/*
 * host_timer_serve - start the thread, unless this process has it
 * For streamsd, and for members that do without it.
 */
void
host_timer_serve(void)
{
	struct host_priv *pv = host_priv_page;
	uint64_t old;

	if (str_load(&pv->timer_up) != 0)
		return;
	/* the thread inherits the mask */
	host_sig_block(&old);
	host_plock_lock(&pv->timer);
	if (str_load(&pv->timer_up) == 0) {
		/* as if it were awake */
		str_store(&shared()->timer_until, host_now());
		str_store(&pv->timer_up, timer_start(pv) ? 1u : 0u);
	}
	host_plock_unlock(&pv->timer);
	host_sig_restore(&old);
}

/* ----------------------------------------------------------- its customers */

/*
 * No thread slept.  Is there none that looks?  It has not looked in time; or it
 * is said to sleep, and so is stopped or dead, unless it looks just now.
 */
static bool
is_absent(uint64_t until)
{
	uint64_t now = host_now();
	unsigned i;

	if (until < now)
		return now - until > LATE_NS;
	for (i = 0; i < LOOK_YIELDS; i++) {
		if (str_load(&shared()->timer_until) != until)
			return false;
		host_yield();
	}
	return str_load(&shared()->timer_until) == until;
}

static STR_COLD void
timer_wake(void)
{
	str_a32 *word = &shared()->timer_word;

	(void)str_add(word, 1u);
	if (host_wake(word, INT_MAX) > 0 || host_is_daemon ||
	    !is_absent(str_load(&shared()->timer_until)))
		return;
	if (host_daemon() != 0 || is_absent(str_load(&shared()->timer_until)))
		host_timer_serve();
}

void
host_defer(uint64_t now, uint64_t when)
{
	uint64_t until;

	if (when == UINT64_MAX)
		return;
	until = str_load(&shared()->timer_until);
	if (str_unlikely(in_grains(when) < until ||
		(until < now && now - until > LATE_NS)))
		timer_wake();
}

/*
 * host_timer_help - there is no streamsd, and none can be started: if callbacks
 * are pending, this process runs them.
 */
void
host_timer_help(void)
{
	if (str_timer_next() != UINT64_MAX)
		host_timer_serve();
}

/* Return: does it not run timers? */
static bool
hold(uint32_t how)
{
	uint64_t until = host_now() + HOLD_NS;
	struct timespec ms = { 0, 1000000 };
	uint32_t v;

	(void)str_or(&running, how);
	while (((v = str_load_acq(&running)) & RUNNING) != 0 &&
	       host_now() < until)
		(void)sys_call4(SYS_futex, &running, FUTEX_WAIT, v, &ms);
	if (host_domain != NULL) {
		/* so that another thread takes its work over, or it ends */
		str_store(&shared()->timer_until, 0ull);
		(void)str_add(&shared()->timer_word, 1u);
		(void)host_wake(&shared()->timer_word, INT_MAX);
	}
	return (v & RUNNING) == 0;
}

/*
 * host_timer_hold - stop the thread, and wait until it does not run timers
 * Waits at most a second. host_timer_release() undoes it.
 */
void
host_timer_hold(void)
{
	struct host_priv *pv = host_priv_page;

	if (pv != NULL && str_load(&pv->timer_up) != 0)
		(void)hold(HELD);
}

/*
 * host_timer_end - at exit: the same for ever, and the thread ends, unless it is
 * the caller, or in a callback that lasts longer than a second
 */
void
host_timer_end(void)
{
	struct host_priv *pv = host_priv_page;
	bool up;

	if (pv == NULL || str_load(&pv->timer_up) == 0 ||
	    pthread_equal(thread, pthread_self()))
		return;
	/* either it has ended by itself, or this thread joins it */
	host_plock_lock(&pv->timer);
	up = str_load(&pv->timer_up) != 0;
	if (up)
		(void)str_or(&running, HELD | ENDS);
	host_plock_unlock(&pv->timer);
	if (!up || !hold(HELD | ENDS))
		return;
	(void)sys_call3(SYS_futex, &running, FUTEX_WAKE, INT_MAX);
	(void)pthread_join(thread, NULL);
	str_store(&pv->timer_up, 0u);
}

void
host_timer_release(void)
{
	if ((str_and(&running, ~HELD) & HELD) != 0)
		(void)sys_call3(SYS_futex, &running, FUTEX_WAKE, INT_MAX);
}
