/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Claims for drivers that connect streams: <str/hold.h>.
 *
 * The memory of a stream is never anything else's, so that a claim may be laid
 * on what was one; the number tells then whether it still is.  `closer' is
 * looked at after the claim has been published; who sets it executes the
 * heavy fence of str_plumb_lock() before he takes a queue away, and waits for
 * the claim.
 */
#include "core.h"
#include <str/hold.h>

void
str_ref(queue_t *q, struct str_ref *ret)
{
	ret->stream = q->q_pair->plumb;
	ret->sid = q->q_pair->plumb->sid;
}

/* Is @pl what it was, and nobody about to end it? */
static int
look(struct str_plumb *pl, uint64_t sid)
{
	uint32_t v;

	if (*(const volatile uint64_t *)&pl->sid != sid)
		return ESRCH;
	v = str_load(&pl->closer);
	if (str_likely(v == 0))
		return 0;
	return v != host_self_tag() && host_owner_dead(v) ? ESRCH : EBUSY;
}

STR_HOT int
str_hold(struct str_hold *h, const struct str_ref *ref)
{
	struct str_plumb *pl = ref->stream, *was;
	int err;

	if (str_unlikely(pl == NULL))
		return ESRCH;
	h->pl = pl;
	h->how = str_far_enter(pl, &was);
	h->was = was;
	err = look(pl, ref->sid);
	if (str_unlikely(h->how == STR_FAR_NO))
		return err != 0 ? err : EBUSY;
	if (str_unlikely(err != 0))
		str_far_leave(pl, h->how, was);
	return err;
}

STR_HOT void
str_unhold(struct str_hold *h)
{
	str_far_leave(h->pl, h->how, h->was);
}
