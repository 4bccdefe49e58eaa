/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Claims: how put and service procedures are kept away from plumbing.
 *
 * A thread that is about to follow q_next publishes the stream in its own
 * slot (a plain store and a light fence) and then looks whether a plumber is
 * at work; if so it withdraws and waits.  The plumber takes the stream by
 * compare-and-swap, executes the heavy fence, and waits until no live
 * thread's slot names the stream (models/claim.pml).  So claiming costs two
 * stores, and a dead thread's claim is void by its generation.
 *
 * The direct path of a pipe without modules needs no claim: it runs under
 * the producer lock of the peer's head queue, which the plumber takes too
 * when it changes `direct'.
 */
#include "core.h"

#define POLL_NS 1000000u

int
str_claim(struct str_plumb *pl)
{
	struct str_thread *t = host_self();
	unsigned i = STR_NCLAIM, k;
	bool held = false;
	uint32_t v;

	/* whoever has a claim on it already has kept the plumber out, who may be
	 * waiting for that claim: this one must not wait for him */
	for (k = STR_NCLAIM; k-- > 0;) {
		uint64_t c = str_load(&t->claim[k]);

		held |= c == (uint64_t)(uintptr_t)pl;
		if (c == 0)
			i = k;
	}
	STR_VERIFY(i < STR_NCLAIM);
	if (held) {
		str_store(&t->claim[i], (uint64_t)(uintptr_t)pl);
		return 0;
	}
	for (;;) {
		str_store(&t->claim[i], (uint64_t)(uintptr_t)pl);
		host_fence_light();
		v = str_load_acq(&pl->plumber.owner);
		if (str_likely(v == 0 || v == host_self_tag()))
			return 0;
		str_store_rel(&t->claim[i], (uint64_t)0);
		/* he may have seen it; and may be about to sleep on the word */
		(void)str_add(&pl->pword, 1u);
		(void)host_wake(&pl->pword, INT_MAX);
		str_store(&pl->plumber.waiters, 1u);
		host_fence_heavy();
		if (str_load(&pl->plumber.owner) != v)
			continue;
		(void)host_wait(NULL, (str_a32 *)&pl->plumber.owner, v,
			10 * POLL_NS);
		if (str_load(&pl->plumber.owner) == v && host_owner_dead(v) &&
		    str_plumb_lock(pl, NULL) == 0)
			str_plumb_unlock(pl);
	}
}

void
str_unclaim(struct str_plumb *pl)
{
	struct str_thread *t = host_self();
	unsigned i;

	for (i = STR_NCLAIM; i-- > 0;) {
		if (str_load(&t->claim[i]) != (uint64_t)(uintptr_t)pl)
			continue;
		str_store_rel(&t->claim[i], (uint64_t)0);
		break;
	}
	host_fence_light();
	if (str_unlikely(str_load(&pl->plumber.owner) != 0)) {
		(void)str_add(&pl->pword, 1u);
		host_wake(&pl->pword, INT_MAX);
	}
}

static bool
claimed(struct str_domain *d, struct str_plumb *pl)
{
	uint32_t n = str_load(&d->thread_high), i, k;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t tag = str_load(&t->tag);

		if (tag == 0 || t == host_self())
			continue;
		for (k = 0; k < STR_NCLAIM; k++)
			if (str_load_acq(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl &&
			    !host_owner_dead(tag))
				return true;
	}
	return false;
}

/*
 * str_plumb_lock - exclude everybody from the stream's plumbing
 * @pl: the stream; the caller holds no claim and no lock
 * @hc: the call, whose signals may interrupt the wait; NULL: none do
 *
 * Return: 0, or EINTR.
 */
int
str_plumb_lock(struct str_plumb *pl, struct host_call *hc)
{
	bool died = str_lock(&pl->plumber);

	host_fence_heavy();
	for (;;) {
		uint32_t w = str_load_acq(&pl->pword);

		if (!claimed(host_domain, pl)) {
			/* alone, whoever took it over from a dead plumber */
			if (died)
				str_plumb_repair(pl);
			return 0;
		}
		(void)host_wait(NULL, &pl->pword, w, POLL_NS);
		/* a stream that was taken over is repaired before it is left */
		if (!died && hc != NULL &&
		    host_interrupted(hc) == HOST_SIG_INTR) {
			str_plumb_unlock(pl);
			return EINTR;
		}
	}
}

void
str_plumb_unlock(struct str_plumb *pl)
{
	str_unlock(&pl->plumber);
}
