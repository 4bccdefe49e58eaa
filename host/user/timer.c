/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Interrupt context: a helper thread that runs the executive's timers.
 *
 * Started by the first host_defer() of a process, with every signal blocked; it
 * ends when there has been no deadline for a second.  The executive keeps the
 * timers; this file keeps only the nearest deadline.  A forked child has no
 * such thread and no deadline until it calls host_defer(). streamsd, which
 * waits anyway, runs its timers itself.
 *
 * The helper's callbacks take messages off queues.  So before a process exits
 * or execs, it waits until they have finished, and prevents new ones; then
 * streamsd runs the timers.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

#include "user_impl.h"

#define IDLE_NS 1000000000u
#define STACK_SIZE (256u << 10)

#define HOLD_NS 1000000000u /* the other thread may be stopped */

/*
 * RUNNING while the helper runs timers, HELD when it must not.  Belongs to the
 * process that started the helper: timer_start() resets it.
 */
static str_a32 running;
#define RUNNING 1u
#define HELD 2u

static void
timer_wait(struct host_priv *pv, uint32_t word, uint64_t ns)
{
	struct timespec ts = {
		(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)
	};

	host_park();
	(void)sys_call4(SYS_futex, &pv->timer_word, FUTEX_WAIT_PRIVATE, word,
		&ts);
	host_unpark();
}

static void
timer_due(struct host_priv *pv, uint64_t now)
{
	struct host_call hc = { .fd = -1 };
	uint64_t next = UINT64_MAX;

	str_store(&pv->timer_at, 0ull);
	if (host_enter(&hc) != 0)
		return;
	next = str_timer_run(now);
	host_leave();
	host_defer(next);
}

static void *
timer_main(void *arg)
{
	struct host_priv *pv = arg;
	uint64_t idle_since = host_now();

	for (;;) {
		uint32_t word = str_load_acq(&pv->timer_word);
		uint64_t at = str_load_acq(&pv->timer_at);
		uint64_t now = host_now();
		bool done = false;

		if (at != 0 && at - 1 <= now) {
			if (!str_cas(&running, 0u, RUNNING)) {
				timer_wait(pv, word, HOLD_NS);
				continue;
			}
			timer_due(pv, now);
			(void)str_and(&running, ~RUNNING);
			idle_since = host_now();
			continue;
		}
		if (at == 0 && now - idle_since >= IDLE_NS) {
			host_plock_lock(&pv->timer);
			done = str_load(&pv->timer_at) == 0;
			if (done)
				str_store(&pv->timer_up, 0u);
			host_plock_unlock(&pv->timer);
			if (done)
				return NULL;
			continue;
		}
		if (at != 0)
			idle_since = now;
		timer_wait(pv, word, at != 0 ? at - 1 - now : IDLE_NS);
	}
}

static bool
timer_start(struct host_priv *pv)
{
	pthread_attr_t attr;
	pthread_t id;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	str_store(&running, 0u);
	err = pthread_create(&id, &attr, timer_main, pv);
	(void)pthread_attr_destroy(&attr);
	return err == 0;
}

void
host_defer(uint64_t when)
{
	struct host_priv *pv = host_priv_page;
	uint64_t old, at;

	if (when == UINT64_MAX)
		return;
	/* the thread inherits the mask */
	host_sig_block(&old);
	host_plock_lock(&pv->timer);
	at = str_load(&pv->timer_at);
	if (at == 0 || when + 1 < at) {
		str_store_rel(&pv->timer_at, when + 1);
		(void)str_add(&pv->timer_word, 1u);
		if (pv->timer_ours)
			; /* the waiter is this thread */
		else if (str_load(&pv->timer_up) != 0)
			(void)sys_call3(SYS_futex, &pv->timer_word,
				FUTEX_WAKE_PRIVATE, 1);
		else
			str_store(&pv->timer_up, timer_start(pv) ? 1u : 0u);
	}
	host_plock_unlock(&pv->timer);
	host_sig_restore(&old);
}

/*
 * host_timer_hold - stop the helper, and wait until it does not run timers
 * Waits at most a second, and not if the caller is the helper.
 * host_timer_release() undoes it.
 */
void
host_timer_hold(void)
{
	struct host_priv *pv = host_priv_page;
	uint64_t until = host_now() + HOLD_NS;
	struct timespec ms = { 0, 1000000 };

	if (pv == NULL || str_load(&pv->timer_up) == 0)
		return;
	(void)str_or(&running, HELD);
	while ((str_load_acq(&running) & RUNNING) != 0 && host_now() < until)
		(void)sys_call4(SYS_futex, &running, FUTEX_WAIT_PRIVATE,
			RUNNING | HELD, &ms);
}

void
host_timer_release(void)
{
	(void)str_and(&running, ~HELD);
}
