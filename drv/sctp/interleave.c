/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of I-DATA: RFC 8260 s2.
 *
 * A fragment has the number of its message (MID) and of itself (FSN), so that
 * fragments of several messages may be mixed.  Fragments of a message with
 * consecutive numbers are a run, which is an entry of the tree (tree.c) and
 * grows at both ends; its first fragment has `tail', `total', and in `last' the
 * number of its last fragment.  A run from a B to an E fragment is a message; it
 * stays in the tree until its turn.  Ordered and unordered messages of a stream
 * have MIDs of their own.
 *
 * Partial delivery.  A message that is long is passed to the user in parts: the
 * first fragments are passed, and an anchor takes their place.  It is an entry
 * without data, flagged SCTP_RX_PART, whose `last' is the number of the last
 * fragment passed.  What continues it is passed as it arrives.
 *
 * One message of each stream and kind may be passed in parts at a time, and
 * others are passed between these parts: the user tells them apart by stream
 * and number.  If a message that is passed in parts held up the others, these
 * could fill the buffer, and the rest of it would never arrive.
 *
 * So the window opens again whatever the peer mixes: if all below the highest
 * TSN has arrived, each stream and kind has at most one message that is not
 * complete, it is the next one, and there are no gaps in what there is of it.
 * The user gets that part.
 */
#include "association.h"

#define ALL 0xffffffffu

static int
is_whole(const struct sctp_rx *m)
{
	return (m->flags & (SCTP_DATA_B | SCTP_RX_PART)) == SCTP_DATA_B &&
		(m->tail->flags & SCTP_DATA_E) != 0;
}

static uint64_t
key_of(const struct sctp_rx *rx)
{
	return sctp_message_key(rx->sid, rx->flags, rx->ssn);
}

static int
is_turn(const struct sctp_assoc *as, const struct sctp_rx *m)
{
	return (m->flags & SCTP_DATA_U) != 0 ||
		m->ssn == as->in[m->sid].next;
}

/* @m is no longer in the tree. */
static void
leave(struct sctp_assoc *as, struct sctp_rx *m)
{
	sctp_tree_remove(as, m);
	as->nparts -= !is_whole(m);
	if (as->grown == m)
		as->grown = NULL;
}

/* The parts of the message that has anchor @m are passed; @m is freed. */
static void
part_end(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *m)
{
	struct sctp_in_stream *st = &as->in[m->sid];
	int ordered = (m->flags & SCTP_DATA_U) == 0;
	uint16_t sid = m->sid;

	leave(as, m);
	st->partial[!ordered] = 0;
	sctp_rx_drop(env, as, m);
	if (!ordered)
		return;
	st->next++;
	sctp_rx_turn(as, sid);
}

/* Give the user the fragments behind anchor @m. */
static void
pass(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *m)
{
	struct sctp_rx *rest = m->next;

	rest->tail = m->tail;
	rest->total = m->total;
	rest->ppid = m->ppid;
	m->next = NULL;
	m->tail = m;
	m->total = 0;
	sctp_rx_append(&as->ready, &as->ready_tail, rest);
	if ((rest->tail->flags & SCTP_DATA_E) != 0)
		part_end(env, as, m);
}

/* Run @b continues run @a. */
static void
join(struct sctp_rx *a, struct sctp_rx *b)
{
	a->tail->next = b;
	a->tail = b->tail;
	a->last = b->last;
	a->total += b->total;
}

/* May @rx be between its neighbours in the tree?  NULL, or what is wrong. */
static const char *
check(const struct sctp_rx *prev, const struct sctp_rx *next,
	const struct sctp_rx *rx)
{
	if ((prev != NULL && prev->last >= rx->fsn) ||
		(next != NULL && next->fsn == rx->fsn))
		return "a fragment is there twice";
	if ((prev != NULL && (prev->tail->flags & SCTP_DATA_E) != 0) ||
		(next != NULL && (rx->flags & SCTP_DATA_E) != 0))
		return "a fragment is behind the end of its message";
	return NULL;
}

/*
 * sctp_ix_add - a new chunk
 * Return: NULL, or the text of a violation.  @rx belongs to the association, or
 * has been freed.
 */
const char *
sctp_ix_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	uint64_t key = key_of(rx);
	struct sctp_rx *prev = sctp_tree_below(as, key, rx->fsn);
	struct sctp_rx *next = sctp_tree_from(as, key, rx->fsn), *m = rx;
	const char *wrong;

	prev = prev != NULL && key_of(prev) == key ? prev : NULL;
	next = next != NULL && key_of(next) == key ? next : NULL;
	wrong = check(prev, next, rx);
	if (wrong == NULL && (rx->flags & SCTP_DATA_U) == 0 &&
		sctp_before(rx->ssn, as->in[rx->sid].next)) {
		/* the rest of a message that was skipped: RFC 8260 s2.3.1 */
		if (!sctp_has(as, SCTP_X_PR))
			wrong = "a message number is used twice";
		sctp_rx_drop(env, as, rx);
		return wrong;
	}
	if (wrong != NULL) {
		sctp_rx_drop(env, as, rx);
		return wrong;
	}
	if (prev != NULL && prev->last + 1 == rx->fsn) {
		join(prev, rx);
		m = prev;
	} else {
		sctp_tree_insert(as, rx);
		as->nparts++;
	}
	if (next != NULL && rx->fsn + 1 == next->fsn) {
		leave(as, next);
		join(m, next);
	}
	as->grown = m;
	as->searched = 0;
	if ((m->flags & SCTP_RX_PART) != 0) {
		if (m->next != NULL)
			pass(env, as, m);
		return NULL;
	}
	if (!is_whole(m))
		return NULL;
	as->nparts--;
	as->grown = NULL;
	if ((m->flags & SCTP_DATA_U) == 0) {
		sctp_rx_turn(as, m->sid);
		return NULL;
	}
	sctp_tree_remove(as, m);
	sctp_rx_append(&as->ready, &as->ready_tail, m);
	return NULL;
}

/* -------------------------------------------------------- partial delivery */

/* Pass the beginning of @m to the user if it is long enough; 0: no. */
static int
begin(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *m,
	uint32_t least)
{
	struct sctp_rx *anchor;
	int u = (m->flags & SCTP_DATA_U) != 0;

	if ((m->flags & (SCTP_DATA_B | SCTP_RX_PART)) != SCTP_DATA_B ||
		is_whole(m) || m->total < least || !is_turn(as, m) ||
		as->in[m->sid].partial[u])
		return 0;
	anchor = sctp_rx_make(env, as, 0);
	if (anchor == NULL) {
		as->searched = 0; /* the next packet tries again */
		return 0;
	}
	leave(as, m);
	anchor->tsn = m->tsn;
	anchor->sid = m->sid;
	anchor->ssn = m->ssn;
	anchor->ppid = m->ppid;
	anchor->flags = (m->flags & SCTP_DATA_U) | SCTP_DATA_B | SCTP_RX_PART;
	anchor->last = m->last;
	sctp_tree_insert(as, anchor);
	as->nparts++;
	as->in[m->sid].partial[u] = 1;
	sctp_rx_append(&as->ready, &as->ready_tail, m);
	return 1;
}

/*
 * sctp_ix_partial - a packet has been read
 * The message that has grown last is passed in parts if it is long.  If the
 * window is closed, and the user has read all, any message may be the one that
 * fills the buffer.
 */
void
sctp_ix_partial(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t least = as->conf.rcvbuf / 2;
	struct sctp_rx *m;

	if (as->conf.partial < least)
		least = as->conf.partial;
	if ((as->grown != NULL && begin(env, as, as->grown, least)) ||
		as->ready != NULL || sctp_rcv_window(as) != 0 || as->searched)
		return;
	as->searched = 1; /* nothing is found before another chunk is added */
	for (m = sctp_tree_from(as, 0, 0); m != NULL; m = sctp_tree_next(as, m))
		if (begin(env, as, m, 1))
			return;
}

/* ------------------------------------------------- messages that will not come */

/* The rest of the message that has anchor @m will not come. */
static void
cut(struct sctp_assoc *as, struct sctp_rx *m)
{
	as->in[m->sid].partial[(m->flags & SCTP_DATA_U) != 0] = 0;
	m->flags = (m->flags & SCTP_DATA_U) | SCTP_RX_CUT | SCTP_DATA_E;
	sctp_rx_append(&as->ready, &as->ready_tail, m);
}

/* Entries of the stream and kind, with numbers from @from to @to, leave. */
static void
clear_range(const struct sctp_env *env, struct sctp_assoc *as, uint16_t sid,
	uint32_t flags, uint32_t from, uint32_t to)
{
	uint64_t end = sctp_message_key(sid, flags, to);
	struct sctp_rx *m;

	as->searched = 0;
	for (;;) {
		m = sctp_tree_from(as, sctp_message_key(sid, flags, from), 0);
		if (m == NULL || key_of(m) > end)
			return;
		leave(as, m);
		if (is_whole(m))
			sctp_rx_ready(as, m);
		else if ((m->flags & SCTP_RX_PART) != 0)
			cut(as, m);
		else
			sctp_rx_drop(env, as, m);
	}
}

/*
 * sctp_rx_clear - messages of the stream and kind from number @from to @to, which
 * may wrap, leave the tree: complete ones are ready, others dropped
 */
void
sctp_rx_clear(const struct sctp_env *env, struct sctp_assoc *as, uint16_t sid,
	uint32_t flags, uint32_t from, uint32_t to)
{
	if (to >= from) {
		clear_range(env, as, sid, flags, from, to);
		return;
	}
	clear_range(env, as, sid, flags, from, ALL);
	clear_range(env, as, sid, flags, 0, to);
}

/* sctp_ix_skip - messages of the stream up to @mid will not come, or not whole */
void
sctp_ix_skip(const struct sctp_env *env, struct sctp_assoc *as, uint16_t sid,
	int unordered, uint32_t mid)
{
	if (unordered)
		sctp_rx_clear(env, as, sid, SCTP_DATA_U, mid - 0x7fffffff, mid);
	else
		sctp_rx_skip_stream(env, as, sid, mid);
}
