/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The second thread of streamsd.
 *
 * It reaps the killed threads one after the other.  The search through the
 * arena takes 20 ms for 400,000 blocks, and the wait for a lock of a stopped
 * process may take as long as that process is stopped.  The first thread closes
 * streams and runs callbacks meanwhile.
 *
 * Life.  It is started when there is work, ends with it, and is joined;
 * streamsd does not end before.
 *
 * Failure.  If no thread can be made the first one does its work.
 */
#include <pthread.h>
#include <signal.h>

#include "streamsd.h"

enum { IDLE, BUSY, DONE };

static str_a32 state; /* IDLE, BUSY and back by the first thread */
static str_a32 asked;
static bool freed; /* a thread was reaped since memory_done() said so */
static pthread_t thread;

static void
reap_all(void)
{
	struct host_call hc = { .fd = -1 };
	uint32_t at;
	bool more;

	while (str_xchg(&asked, 0u) != 0) {
		at = 0;
		do {
			if (host_enter(&hc) != 0)
				return;
			more = host_reap_next(&at);
			freed = freed || more;
			host_leave();
		} while (more);
	}
}

static void *
run(void *arg)
{
	(void)arg;
	reap_all();
	str_store_rel(&state, (uint32_t)DONE);
	/* no search is necessary */
	(void)str_or(&host_shared(host_domain)->daemon_asks, HOST_ASK_MEMBER);
	host_bell_ring_proc(&host_domain->proc[host_priv_page->proc]);
	return NULL;
}

void
memory_ask(void)
{
	str_store(&asked, 1u);
}

void
memory_go(void)
{
	sigset_t all, was;
	int err;

	if (str_load(&state) != IDLE || str_load(&asked) == 0)
		return;
	str_store(&state, (uint32_t)BUSY);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&thread, NULL, run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err != 0) {
		reap_all();
		str_store(&state, (uint32_t)IDLE);
	}
}

bool
memory_busy(void)
{
	return str_load(&state) != IDLE;
}

bool
memory_done(void)
{
	bool any;

	if (str_load_acq(&state) != DONE)
		return false;
	(void)pthread_join(thread, NULL);
	any = freed;
	freed = false;
	str_store(&state, (uint32_t)IDLE);
	memory_go(); /* it may have been asked when the thread was ending */
	return any;
}
