/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of I-DATA: RFC 8260 s2.
 *
 * A fragment has the number of its message (MID) and of itself (FSN), so that
 * fragments of several messages may be mixed.  The messages of a stream that
 * are not complete are in its list `part', in any order, each with its
 * fragments by FSN; `last' of the first one is their number.  Ordered and
 * unordered messages of a stream have MIDs of their own.
 *
 * Partial delivery is that of reassembly.c: of one message at a time, while
 * others are held.  The peer may mix messages until those that are held fill the
 * buffer.  Then the user gets the complete ones; if there are none, the partial
 * message is suspended, and another one is passed.  In the list of its stream
 * a suspended message begins with a stub: a fragment without data, whose number
 * is that of the last fragment that the user has.
 */
#include "association.h"

#define PARTS_MOST 1024u /* messages of a stream that are not complete */

static void
part_insert(struct sctp_in_stream *st, struct sctp_rx *m)
{
	st->nparts++;
	m->before = NULL;
	m->after = st->part;
	if (st->part != NULL)
		st->part->before = m;
	st->part = m;
}

static void
part_remove(struct sctp_assoc *as, struct sctp_rx *m)
{
	if (m->before != NULL)
		m->before->after = m->after;
	else
		as->in[m->sid].part = m->after;
	if (m->after != NULL)
		m->after->before = m->before;
	as->in[m->sid].nparts--;
	m->before = m->after = NULL;
	if (as->grown == m)
		as->grown = as->grown_at = NULL;
}

static struct sctp_rx *
part_find(const struct sctp_assoc *as, uint16_t sid, uint32_t flags,
	uint32_t mid)
{
	struct sctp_rx *m = as->in[sid].part;

	if (as->grown != NULL && as->grown->sid == sid &&
		as->grown->ssn == mid &&
		((as->grown->flags ^ flags) & SCTP_DATA_U) == 0)
		return as->grown;
	while (m != NULL && (m->ssn != mid ||
		((m->flags ^ flags) & SCTP_DATA_U) != 0))
		m = m->after;
	return m;
}

/* Fragment @rx precedes all of @m: it becomes the first. */
static struct sctp_rx *
prepend(struct sctp_assoc *as, struct sctp_rx *m, struct sctp_rx *rx)
{
	rx->next = m;
	rx->tail = m->tail;
	rx->total += m->total;
	rx->last += m->last;
	part_remove(as, m);
	part_insert(&as->in[rx->sid], rx);
	return rx;
}

/*
 * Put @rx between the fragments of @m; 0: there is one with its number.
 * @near: a fragment of @m from which the search may begin, or NULL
 */
static int
insert(struct sctp_rx *m, struct sctp_rx *near, struct sctp_rx *rx)
{
	struct sctp_rx *p = m->tail;

	if (sctp_before(rx->fsn, p->fsn))
		for (p = near != NULL && !sctp_before(rx->fsn, near->fsn) ?
			near : m; p->next != NULL &&
			!sctp_before(rx->fsn, p->next->fsn);)
			p = p->next;
	if (p->fsn == rx->fsn)
		return 0;
	rx->next = p->next;
	p->next = rx;
	if (m->tail == p)
		m->tail = rx;
	m->total += rx->len;
	m->last++;
	return 1;
}

/* Is a fragment behind the end of the message? */
static int
exceeds(const struct sctp_rx *m, const struct sctp_rx *rx)
{
	if ((m->tail->flags & SCTP_DATA_E) != 0)
		return !sctp_before(rx->fsn, m->tail->fsn);
	return (rx->flags & SCTP_DATA_E) != 0 &&
		sctp_before(rx->fsn, m->tail->fsn);
}

static int
is_whole(const struct sctp_rx *m)
{
	return (m->flags & SCTP_DATA_B) != 0 &&
		(m->tail->flags & SCTP_DATA_E) != 0 &&
		m->last == m->tail->fsn + 1;
}

static int
is_stub(const struct sctp_rx *m)
{
	return m != NULL && (m->flags & SCTP_RX_STUB) != 0;
}

static int
is_of_partial(const struct sctp_assoc *as, const struct sctp_rx *rx)
{
	return as->partial && rx->sid == as->partial_sid &&
		rx->ssn == as->partial_ssn &&
		(rx->flags & SCTP_DATA_U) == as->partial_flags;
}

/*
 * sctp_ix_is_full - would the chunk begin one message too many in its stream?
 * A sender has one ordered and one unordered message of a stream under way, and
 * more only while fragments are missing.  The limit keeps searches short.
 */
int
sctp_ix_is_full(const struct sctp_assoc *as, uint16_t sid, uint32_t flags,
	uint32_t mid)
{
	return as->in[sid].nparts >= PARTS_MOST &&
		part_find(as, sid, flags, mid) == NULL;
}

/* A new chunk.  NULL, or the text of a violation. */
const char *
sctp_ix_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	struct sctp_rx *m = part_find(as, rx->sid, rx->flags, rx->ssn);
	struct sctp_rx *near = m != NULL && m == as->grown ? as->grown_at :
							      NULL;
	int early = is_of_partial(as, rx) ?
		sctp_before(rx->fsn, as->partial_next) :
		(rx->flags & SCTP_DATA_U) == 0 &&
			sctp_before(rx->ssn, as->in[rx->sid].next);

	/* the rest of a message that was skipped: RFC 8260 s2.3.1 */
	if (early && sctp_has(as, SCTP_X_PR) && !is_of_partial(as, rx)) {
		sctp_rx_drop(env, as, rx);
		return NULL;
	}
	if (m == NULL) {
		part_insert(&as->in[rx->sid], rx);
		m = rx;
	} else if (is_stub(m) && !sctp_before(m->fsn, rx->fsn)) {
		part_insert(&as->in[rx->sid], rx);
		return "a fragment is there twice";
	} else if (exceeds(m, rx)) {
		part_insert(&as->in[rx->sid], rx);
		return "a fragment is behind the end of its message";
	} else if (sctp_before(rx->fsn, m->fsn)) {
		m = prepend(as, m, rx);
	} else if (!insert(m, near, rx)) {
		part_insert(&as->in[rx->sid], rx);
		return "a fragment is there twice";
	}
	as->grown = m;
	as->grown_at = rx;
	if (early)
		return "a message number is used twice";
	if (!is_whole(m))
		return NULL;
	part_remove(as, m);
	return sctp_rx_deliver(as, m);
}

/* -------------------------------------------------------- partial delivery */

/* The first fragments of @m, from @fsn on, without a gap: the last of these. */
static struct sctp_rx *
prefix(struct sctp_rx *m, uint32_t fsn, uint32_t *ret_bytes)
{
	struct sctp_rx *p = m, *last = NULL;

	*ret_bytes = 0;
	for (; p != NULL && p->fsn == fsn; p = p->next, fsn++) {
		*ret_bytes += p->len;
		last = p;
	}
	return last;
}

/* Give the user the fragments of @m up to @last. */
static void
pass(struct sctp_assoc *as, struct sctp_rx *m, struct sctp_rx *last,
	uint32_t bytes)
{
	struct sctp_rx *rest = last->next, *p;

	part_remove(as, m);
	if (rest != NULL) {
		rest->tail = m->tail;
		rest->total = m->total - bytes;
		rest->last = 0;
		for (p = rest; p != NULL; p = p->next)
			rest->last++;
		part_insert(&as->in[m->sid], rest);
	}
	if (m->fsn == 0)
		as->partial_ppid = m->ppid;
	m->ppid = as->partial_ppid;
	last->next = NULL;
	m->tail = last;
	m->total = bytes;
	as->partial_next = last->fsn + 1;
	sctp_rx_append(&as->ready, &as->ready_tail, m);
	if ((last->flags & SCTP_DATA_E) != 0)
		sctp_rx_partial_end(as);
}

static int
is_turn(const struct sctp_assoc *as, const struct sctp_rx *m)
{
	return (m->flags & SCTP_DATA_U) != 0 ||
		m->ssn == as->in[m->sid].next;
}

/*
 * Go on with the suspended message @m, if a fragment has come.  0: none has.
 * The others of its fragments take the stub's place.
 */
static int
resume(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *m)
{
	struct sctp_rx *rest = m->next, *last;
	uint32_t bytes;

	if (rest == NULL || rest->fsn != m->fsn + 1)
		return 0;
	as->nstubs--;
	as->partial = 1;
	as->partial_sid = m->sid;
	as->partial_ssn = m->ssn;
	as->partial_ppid = m->ppid;
	as->partial_flags = m->flags & SCTP_DATA_U;
	as->partial_next = rest->fsn;
	part_remove(as, m);
	rest->tail = m->tail;
	rest->total = m->total;
	rest->last = m->last - 1;
	part_insert(&as->in[rest->sid], rest);
	m->next = NULL;
	m->total = 0;
	m->tail = m;
	sctp_rx_drop(env, as, m);
	last = prefix(rest, as->partial_next, &bytes);
	pass(as, rest, last, bytes);
	return 1;
}

/* Suspend the partial message; 0: no memory. */
static int
suspend(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *m = part_find(as, as->partial_sid, as->partial_flags,
		as->partial_ssn);
	struct sctp_rx *stub = sctp_rx_make(env, as, 0);

	if (stub == NULL)
		return 0;
	stub->flags = as->partial_flags | SCTP_RX_STUB;
	stub->sid = as->partial_sid;
	stub->ssn = as->partial_ssn;
	stub->ppid = as->partial_ppid;
	stub->fsn = as->partial_next - 1;
	stub->last = 1;
	as->nstubs++;
	if (m != NULL)
		(void)prepend(as, m, stub);
	else
		part_insert(&as->in[stub->sid], stub);
	as->partial = 0;
	return 1;
}

/* Begin with @m if it is long enough, and its turn; 0: not so. */
static int
begin(struct sctp_assoc *as, struct sctp_rx *m, uint32_t least)
{
	struct sctp_rx *last;
	uint32_t bytes;

	if (m == NULL || (m->flags & SCTP_DATA_B) == 0 || !is_turn(as, m) ||
		m->total < least)
		return 0;
	last = prefix(m, 0, &bytes);
	if (bytes < least)
		return 0;
	as->partial = 1;
	as->partial_sid = m->sid;
	as->partial_ssn = m->ssn;
	as->partial_flags = m->flags & SCTP_DATA_U;
	pass(as, m, last, bytes);
	return 1;
}

/* All that fills the buffer is of messages that are not complete: pass one. */
static void
pass_any(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *m;
	uint32_t i;

	for (i = 0; i < as->nin; i++)
		for (m = as->in[i].part; m != NULL; m = m->after)
			if (is_stub(m) ? resume(env, as, m) : begin(as, m, 1))
				return;
}

/*
 * The window is closed, and the user has nothing to read: the rest of the
 * partial message will not come before there is room.
 */
static void
make_way(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->held != NULL) {
		as->ready = as->held;
		as->ready_tail = as->held_tail;
		as->held = as->held_tail = NULL;
	} else if (suspend(env, as)) {
		pass_any(env, as);
	}
}

/* No message is partial: go on with a suspended one. 0: none has grown. */
static int
resume_any(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *m;
	uint32_t i;

	for (i = 0; i < as->nin; i++)
		for (m = as->in[i].part; m != NULL; m = m->after)
			if (is_stub(m) && resume(env, as, m))
				return 1;
	return 0;
}

static void
pass_grown(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t least = as->conf.rcvbuf / 2, bytes;
	struct sctp_rx *m, *last;

	if (as->conf.partial < least)
		least = as->conf.partial;
	if (as->partial) {
		m = part_find(as, as->partial_sid, as->partial_flags,
			as->partial_ssn);
		last = m != NULL ? prefix(m, as->partial_next, &bytes) : NULL;
		if (last != NULL)
			pass(as, m, last, bytes);
		else if (sctp_rcv_window(as) == 0 && as->ready == NULL)
			make_way(env, as);
		return;
	}
	if (!is_stub(as->grown) && begin(as, as->grown, least))
		return;
	if (sctp_rcv_window(as) == 0 && as->ready == NULL)
		pass_any(env, as);
}

/*
 * The message that has grown last is passed in parts if it is long.  If the
 * window is closed, any message may be the one that fills the buffer.
 */
void
sctp_ix_partial(const struct sctp_env *env, struct sctp_assoc *as)
{
	do
		pass_grown(env, as);
	while (!as->partial && as->nstubs != 0 && resume_any(env, as));
}

/* -------------------------------------------------------- I-FORWARD-TSN */

/*
 * The rest of @m, which is in no list, will not come.  If it was suspended, the
 * user has a part of it, and the stub says so.
 */
static void
give_up(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *m)
{
	struct sctp_rx *rest = m->next;

	if (!is_stub(m)) {
		sctp_rx_drop(env, as, m);
		return;
	}
	if (rest != NULL) {
		rest->tail = m->tail;
		rest->total = m->total;
		sctp_rx_drop(env, as, rest);
	}
	as->nstubs--;
	m->next = NULL;
	m->tail = m;
	m->total = 0;
	m->flags = (m->flags & SCTP_DATA_U) | SCTP_RX_CUT | SCTP_DATA_E;
	sctp_rx_append(&as->ready, &as->ready_tail, m);
}

/* Messages of the stream up to @mid will not come, or not whole. */
void
sctp_ix_skip(const struct sctp_env *env, struct sctp_assoc *as, uint16_t sid,
	int unordered, uint32_t mid)
{
	uint32_t u = unordered ? SCTP_DATA_U : 0;
	struct sctp_rx *m = as->in[sid].part, *next;

	for (; m != NULL; m = next) {
		next = m->after;
		if ((m->flags & SCTP_DATA_U) != u || sctp_before(mid, m->ssn))
			continue;
		part_remove(as, m);
		give_up(env, as, m);
	}
	if (as->partial && as->partial_sid == sid && as->partial_flags == u &&
		!sctp_before(mid, as->partial_ssn))
		sctp_rx_cut(env, as);
	if (!unordered)
		sctp_rx_skip_stream(as, sid, mid);
}

/* Drop all that is not complete. */
void
sctp_ix_drop(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *m;
	uint32_t i;

	for (i = 0; i < as->nin; i++)
		while ((m = as->in[i].part) != NULL) {
			part_remove(as, m);
			give_up(env, as, m);
		}
	if (as->partial)
		sctp_rx_cut(env, as);
}
