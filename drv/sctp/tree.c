/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The tree of what waits for other chunks: with DATA ordered messages that are
 * complete, with I-DATA also those that are not.
 *
 * An entry is a message, or with I-DATA a run of fragments with consecutive
 * numbers (FSN); its first fragment stands for it.  The key is stream, kind
 * (ordered or not), number of the message, and FSN of the first fragment.  Keys
 * are compared as plain numbers: a caller whose numbers wrap searches two
 * ranges.
 *
 * The peer chooses the keys and their order.  The tree is a treap: entries have
 * a priority that is computed from the TSN of the first fragment and a random
 * number that the peer does not know, and an entry is never above one of higher
 * priority.  So the expected depth is logarithmic whatever the peer sends.
 *
 * The children of an entry are `before' (lesser keys) and `after'.
 */
#include "association.h"

static uint64_t
message_of(const struct sctp_rx *rx)
{
	return sctp_message_key(rx->sid, rx->flags, rx->ssn);
}

static int
is_less(const struct sctp_rx *rx, uint64_t message, uint32_t fsn)
{
	uint64_t m = message_of(rx);

	return m < message || (m == message && rx->fsn < fsn);
}

static uint32_t
priority(const struct sctp_assoc *as, const struct sctp_rx *rx)
{
	uint64_t h = (rx->tsn ^ as->tree_salt) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 32;
	h *= 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(h >> 32);
}

/* sctp_tree_insert - @rx is in no list, and no entry has its key */
void
sctp_tree_insert(struct sctp_assoc *as, struct sctp_rx *rx)
{
	struct sctp_rx **p = &as->tree, **less, **more, *t;
	uint64_t message = message_of(rx);

	while (*p != NULL && priority(as, *p) >= priority(as, rx))
		p = is_less(*p, message, rx->fsn) ? &(*p)->after :
						    &(*p)->before;
	t = *p;
	*p = rx;
	less = &rx->before;
	more = &rx->after;
	while (t != NULL) {
		if (is_less(t, message, rx->fsn)) {
			*less = t;
			less = &t->after;
			t = *less;
		} else {
			*more = t;
			more = &t->before;
			t = *more;
		}
	}
	*less = *more = NULL;
}

/* sctp_tree_remove - @rx is in the tree, with the key that it had before */
void
sctp_tree_remove(struct sctp_assoc *as, struct sctp_rx *rx)
{
	struct sctp_rx **p = &as->tree, *a = rx->before, *b = rx->after;
	uint64_t message = message_of(rx);

	while (*p != rx)
		p = is_less(*p, message, rx->fsn) ? &(*p)->after :
						    &(*p)->before;
	while (a != NULL && b != NULL) {
		if (priority(as, a) >= priority(as, b)) {
			*p = a;
			p = &a->after;
			a = *p;
		} else {
			*p = b;
			p = &b->before;
			b = *p;
		}
	}
	*p = a != NULL ? a : b;
	rx->before = rx->after = NULL;
}

/* sctp_tree_from - the first entry with this key or a greater one; NULL */
struct sctp_rx *
sctp_tree_from(const struct sctp_assoc *as, uint64_t message, uint32_t fsn)
{
	struct sctp_rx *t = as->tree, *found = NULL;

	while (t != NULL) {
		if (is_less(t, message, fsn)) {
			t = t->after;
		} else {
			found = t;
			t = t->before;
		}
	}
	return found;
}

/* sctp_tree_below - the last entry with a lesser key; NULL */
struct sctp_rx *
sctp_tree_below(const struct sctp_assoc *as, uint64_t message, uint32_t fsn)
{
	struct sctp_rx *t = as->tree, *found = NULL;

	while (t != NULL) {
		if (is_less(t, message, fsn)) {
			found = t;
			t = t->after;
		} else {
			t = t->before;
		}
	}
	return found;
}

/* sctp_tree_next - the entry behind @rx; NULL */
struct sctp_rx *
sctp_tree_next(const struct sctp_assoc *as, const struct sctp_rx *rx)
{
	return rx->fsn != 0xffffffff ?
		sctp_tree_from(as, message_of(rx), rx->fsn + 1) :
		sctp_tree_from(as, message_of(rx) + 1, 0);
}
