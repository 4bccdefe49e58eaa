/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notice of deaths: what streamsd does for threads that sleep on words.
 *
 * Purpose.  The kernel tells of a closed descriptor only on the carrier of the
 * other end.  A thread that sleeps on its queue's word is not told.  streamsd
 * learns of each death of a member or of a forked child by a pidfd, and then
 * asks the kernel about the carriers of those streams at which threads sleep.
 *
 * Protocol.  The sleeper publishes `asleep_on', executes the heavy fence, loads
 * the count of notices, and looks at its carrier if the count has changed since
 * the last look at this end.  streamsd increments the count, executes a full
 * fence, and loads `asleep_on' of all threads.  A process closes its descriptors
 * before its pidfd becomes readable.  So either the sleeper looks after the
 * close, or streamsd finds the sleeper (models/notice.pml).
 *
 * Failure.  If streamsd dies, the kernel wakes the sleepers (host/user/notice.c),
 * and the next streamsd begins with a notice.  A descriptor that a process
 * outside the domain has closed is found by the next notice; while threads
 * rely on them, streamsd gives one every few seconds.
 */
#include "core.h"
#include "head.h"

#define MANY 64u /* for so many sleepers or more, one listing is cheaper */

/* The stream of the head at @on, or NULL.  On success this thread is inside. */
STR_RACY static struct str_plumb *
stream_of(uint64_t on)
{
	struct str_head *sd = (struct str_head *)(uintptr_t)on;
	struct str_plumb *pl;

	if ((on & 7u) != 0 || !str_mem_valid(sd))
		return NULL;
	pl = *(struct str_plumb *const volatile *)&sd->plumb;
	if (((uintptr_t)pl & 7u) != 0 || !str_mem_valid(pl) ||
	    (sd != &pl->head[0] && sd != &pl->head[1]) ||
	    !str_stream_inside(pl))
		return NULL;
	return pl;
}

/*
 * Has the carrier that pipe(2) made for the other end of @sd no holder any
 * more, and has no thread noticed this yet?  (The end may have other holders:
 * the thread that looks finds that out.)
 */
static bool
is_alone(struct str_head *sd, struct host_listing *l)
{
	const struct str_file *f = &sd->peer->file;

	return sd->plumb->kind == STR_PL_PIPE &&
		f->carrier.kind == HOST_CARRIER_PAIR &&
		str_load(&f->open) == 1 &&
		(str_load(&sd->flags) & (STR_H_PEER | STR_H_LOST)) == 0 &&
		!host_listing_has(l, &f->carrier) &&
		!host_carrier_alive(&f->carrier);
}

unsigned
str_notice_give(void)
{
	struct str_domain *d = host_domain;
	uint32_t high = str_load(&d->thread_high), i;
	uint64_t was = str_load(&host_self()->inside);
	struct host_listing *l = NULL;
	unsigned n = 0;

	(void)str_add(str_root(STR_ROOT_DEATHS), (uint64_t)1);
	str_fence_full(); /* pairs with the sleeper's heavy fence */
	for (i = 0; i < high && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t on = str_load(&t->asleep_on);
		struct str_head *sd = (struct str_head *)(uintptr_t)on;

		if (str_load(&t->tag) == 0 || t == host_self() || on == 0 ||
		    on == ~0ull || str_load(&t->state) == STR_THR_CARRIER)
			continue;
		if (++n == MANY)
			l = host_listing_make();
		if (stream_of(on) != NULL && is_alone(sd, l)) {
			(void)str_or(&sd->flags, STR_H_LOOK);
			str_fence_full();
			str_wake_all(sd);
			/* a killed waker may have taken the request */
			host_bell_ring(t);
		}
		str_store_rel(&host_self()->inside, was);
	}
	host_listing_free(l);
	return n;
}
