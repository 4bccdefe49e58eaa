/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping for several things at once.  See sleep.c.
 */
#ifndef STREAMS_SLEEP_H
#define STREAMS_SLEEP_H

#include <poll.h>

#include "call.h"

#define POLL_FEW 32
/* Places behind the descriptors of one poll: for the bell, streamsd, and news
 * of sockets that drivers have. */
#define SLEEP_ROOM 3

struct sleep_set {
	struct pollfd *pfd; /* n of them, and SLEEP_ROOM more */
	unsigned n;
	uint64_t deadline;    /* host_now() time, UINT64_MAX: none */
	const sigset_t *mask; /* for the sleep, filtered; or NULL */
};

/*
 * sleep_begin - say that this thread is about to sleep: from here on a wake
 * that no token carries rings the bell.  Before anything is armed.
 * sleep_end - and that it is awake.
 */
void sleep_begin(void);
void sleep_end(void);

/*
 * sleep_poll - sleep until an event of @s or a ring of the bell
 * In a call, after sleep_begin(), the streams armed and looked at once more.
 * Return: what poll(2) would, without the bell (0: time is over, or the bell
 * has rung: *ret_rung); or minus an errno.
 */
int sleep_poll(struct host_call *hc, struct sleep_set *s, bool *ret_rung);


#endif
