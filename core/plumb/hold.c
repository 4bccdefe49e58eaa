/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Claims for drivers that connect streams: <str/hold.h>.
 *
 * The memory of a stream is only reused for streams, so that a freed stream may
 * be claimed; its number then shows whether it is still the same stream.
 * `closer' is tested after the claim has been published; its setter executes
 * the heavy fence of str_plumb_lock() before it removes a queue, and waits for
 * the claim.
 *
 * A note is not a claim: no thread waits for it.  It is only stored in the
 * slot, where the reaper finds the streams to examine (core/plumb/region.c).
 * Without it the reaper would treat a message that had just been queued as one
 * held by the dead thread, and put it back.
 */
#include "core.h"
#include "msg/origin.h"
#include "sock/sock.h"
#include <str/hold.h>

void
str_ref(queue_t *q, struct str_ref *ret)
{
	/* a killed thread may leave the reference: with the stream, both are set */
	ret->sid = q->q_pair->plumb->sid;
	str_barrier();
	*(void *volatile *)&ret->stream = q->q_pair->plumb;
}

/* Check that @pl is still the stream with the number @sid, and that no thread
 * is closing it.  Return: 0, ESRCH, EBUSY, as str_hold(). */
static int
look(struct str_plumb *pl, uint64_t sid)
{
	uint32_t v;

	if (*(const volatile uint64_t *)&pl->sid != sid)
		return ESRCH;
	v = str_load(&pl->closer);
	if (str_likely(v == 0))
		return 0;
	/* `closer' is not cleared when the close is complete */
	return (v != host_self_tag() && host_owner_dead(v)) ||
		!str_stream_lives(pl) ? ESRCH : EBUSY;
}

/*
 * A thread that claimed the stream while it existed is found by
 * str_plumb_claimed(); one that claims it later finds that it has ended.
 */
int
str_ref_gone(const struct str_ref *ref)
{
	struct str_plumb *pl = ref->stream;

	if (pl == NULL || *(const volatile uint64_t *)&pl->sid != ref->sid)
		return 1;
	return !str_stream_lives(pl) &&
		!str_plumb_claimed(pl, STR_CLAIM_LIVING);
}

/* Does any process hold @sd, or can one get it by a reference? */
static bool
has_holder(struct str_head *sd)
{
	struct str_file *f;

	if (str_head_refs(sd) != 0)
		return true;
	for (f = &sd->file; f != NULL; f = f->next) {
		uint32_t open = str_load_acq(&f->open);
		struct host_carrier c = f->carrier;

		if (open == 0 || (open > 3 && host_owner_dead(open)))
			continue;
		if (open > 3 || c.kind != HOST_CARRIER_OPEN ||
			host_carrier_alive(&c))
			return true;
	}
	return false;
}

/* Does the close of @pl wait for data that is still to be sent? */
static bool
is_sending(struct str_plumb *pl)
{
	queue_t *q = pl->head[0].qp->wq.q_next;
	bool yes = false, progress;

	if (str_load(&pl->drain_end) == 0)
		return false;
	for (; q != NULL && q->q_head == NULL && q->q_pair->plumb == pl && !yes;
		q = q->q_next)
		yes = str_load(&q->q_count) != 0;
	return yes || str_sock_unsent(pl, &progress);
}

/* The claim keeps the stream, its files and its chain of queues. */
int
str_ref_unheld(const struct str_ref *ref, int ask)
{
	struct str_plumb *pl = ref->stream, *was = host_tls.at;
	bool unheld = true;

	if (pl == NULL || *(const volatile uint64_t *)&pl->sid != ref->sid ||
		!str_stream_lives(pl))
		return 0;
	if (str_claim_stream(pl)) {
		unheld = *(const volatile uint64_t *)&pl->sid == ref->sid &&
			!has_holder(&pl->head[0]) && !is_sending(pl);
		str_far_leave(pl, STR_FAR_CLAIMED, was);
	}
	/* without streamsd no thread would close it before the next open */
	if (str_likely(!unheld) || host_daemon() != 0)
		return 0;
	if (ask)
		host_daemon_look();
	return 1;
}

#define NOTED (-1) /* str_hold.how, beside STR_FAR_* */
#define NOT_NOTED (-2)

void
str_hold_note(struct str_hold *h, const struct str_ref *ref)
{
	struct str_plumb *pl = ref->stream;
	struct str_thread *t = host_self();

	h->pl = pl;
	h->was = NULL;
	h->how = NOT_NOTED;
	if (str_load(&t->held) != 0)
		return;
	h->how = NOTED;
	str_store_rel(&t->held, (uint64_t)(uintptr_t)&pl->head[0]);
	str_barrier();
}

static STR_NOINLINE int
hold(struct str_hold *h, const struct str_ref *ref)
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

/*
 * Usually only the call's own stream is claimed, and the other stream has no
 * plumber; then the second claim entry is set here without a call of hold(),
 * which would store the same.
 */
STR_HOT int
str_hold(struct str_hold *h, const struct str_ref *ref)
{
	struct str_plumb *pl = ref->stream, *was = host_tls.at;
	str_a64 *place = host_tls.slot->claim;

	if (str_unlikely(host_tls.nclaim != 1 || pl == was || pl == NULL ||
		str_load(&place[0]) != (uint64_t)(uintptr_t)was))
		return hold(h, ref);
	str_store(&place[1], (uint64_t)(uintptr_t)pl);
	host_fence_light(); /* as in claim.c:publish() */
	if (str_unlikely(str_load_acq(&pl->plumber.owner) != 0 ||
		*(const volatile uint64_t *)&pl->sid != ref->sid ||
		str_load(&pl->closer) != 0))
		return hold(h, ref);
	host_tls.nclaim = 2;
	host_tls.at = pl;
	h->pl = pl;
	h->was = was;
	h->how = STR_FAR_CLAIMED;
	return 0;
}

STR_HOT void
str_unhold(struct str_hold *h)
{
	struct str_plumb *pl = h->pl;
	str_a64 *place = host_tls.slot->claim;

	if (str_unlikely(h->how != STR_FAR_CLAIMED || host_tls.nclaim != 2 ||
		str_load(&place[0]) != (uint64_t)(uintptr_t)h->was ||
		str_load(&place[1]) != (uint64_t)(uintptr_t)pl)) {
		if (h->how >= 0)
			str_far_leave(pl, h->how, h->was);
		else if (h->how == NOTED)
			str_store_rel(&host_self()->held, (uint64_t)0);
		return;
	}
	str_store_rel(&place[1], (uint64_t)0);
	host_tls.nclaim = 1;
	host_tls.at = h->was;
	host_fence_light();
	if (str_unlikely(str_load(&pl->plumber.owner) != 0))
		str_plumber_wake(pl);
}

void
str_msg_watch(mblk_t *mp, uint64_t *word)
{
	str_origin_set(str_mdb_of_m(mp), str_origin_watch(word));
	str_barrier();
	/* not a pointer to the message, which the reaper would respect */
	str_store(word, ~(uint64_t)(uintptr_t)mp);
}

/* Has @x, which may be another message by now, the record @mine? */
static bool
watched(const struct str_mdb *x, uint64_t mine)
{
	uint64_t w, proper;

	while (str_load(&x->blk.state) == STR_BLK_MDB) {
		w = str_origin(x);
		if (w == mine)
			return true;
		if ((w & 1u) != 0 || (w & STR_ORIGIN_UNTIL) == 0)
			return false;
		proper = str_origin_proper(x, w);
		if (str_origin(x) == w)
			return proper == mine;
	}
	return false;
}

/*
 * The record is cleared when the message is linked, or freed.  The reaper clears
 * the word before it frees the message (str_reap_tell()).  A message that has the
 * record may be linked, until the reaper has looked; with no owner it is neither
 * linked nor freed, because a pointer to it has been found somewhere.
 */
int
str_msg_fate(const uint64_t *word)
{
	uint64_t v = str_load_acq(word);
	const struct str_mdb *x = str_mdb_of_m((mblk_t *)(uintptr_t)~v);

	if (v == 0)
		return 0;
	if (watched(x, str_origin_watch(word)))
		return str_load(&x->blk.owner) == 0 ? 0 : EAGAIN;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_load(word) != 0;
}

/*
 * The function takes no lock, so it may read the counts between two stores.
 * The factors prevent changes of two counts from cancelling each other out.
 */
uint64_t
str_read_mark(queue_t *rq)
{
	struct str_plumb *pl = rq->q_pair->plumb;
	struct str_headq *hq = &pl->head[0].hq;
	uint64_t mark, n = 0;
	queue_t *q;

	mark = str_load(&hq->cpos) * 0x9e3779b97f4a7c15u +
		str_load(&hq->cbytes) * 0xc2b2ae3d27d4eb4fu +
		str_load(&hq->part) * 0x165667b19e3779f9u;
	for (q = rq->q_next; q != NULL && q->q_pair->plumb == pl;
		q = q->q_next)
		n = n * 31 + *(const volatile size_t *)&q->q_count;
	return mark + n;
}
