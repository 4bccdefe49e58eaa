/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Replaces the executive in the host's own tests: it counts the up-calls in the
 * domain, and allocates the arena linearly.
 */
#ifndef HOST_USER_UPCALLS_TEST_DOUBLE_H
#define HOST_USER_UPCALLS_TEST_DOUBLE_H

#include "user_impl.h"

/* In str_domain.core[]. */
enum { UP_INIT, UP_ATTACH, UP_REAP, UP_REAPED_TAG, UP_TIMER, UP_NEXT,
	UP_COOKIE, UP_INO, UP_REGION, UP_DIED, UP_WANTED,
	UP_SOCK, UP_SOCKWORD, UP_SOCKS, UP_LOCK, UP_NOTICES, UP_SLEEPERS,
	UP_SWEEP_NS, UP_BEGUN, UP_SWEPT, UP_USER };

/* While UP_LOCK is set, the reaper's lock is taken.  UP_SOCKS: number of live
 * sockets, from this id on. */
#define UP_SOCKS_FIRST (1ull << 32 | 100)

/* UP_SWEEP_NS: how long a sweep lasts.  UP_BEGUN: walks that have begun; one that
 * is requested during a walk follows at once.  UP_SWEPT: sweeps that have
 * ended. */

/* UP_NEXT: the only deadline.  UP_TIMER: how many have been served. */
#define up_word(n) (&host_domain->core[n])

/* A zeroed, committed piece of the arena. */
void *up_alloc(size_t size);

/* Inside a call; fails the case when there is no domain. */
void up_enter(struct host_call *hc);

#endif
