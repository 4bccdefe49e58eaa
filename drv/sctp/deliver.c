/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Delivery of messages to the user: RFC 9260 s6.5, s6.6.
 *
 * An unordered message is ready when it is complete.  An ordered one waits in
 * the tree (tree.c) until all messages of its stream with lower numbers are
 * ready.  The user takes them from `ready'.
 */
#include "association.h"

void
sctp_rx_append(struct sctp_rx **first, struct sctp_rx **last,
	struct sctp_rx *rx)
{
	rx->after = NULL;
	rx->before = *first != NULL ? *last : NULL;
	if (*first == NULL)
		*first = rx;
	else
		(*last)->after = rx;
	*last = rx;
}

/* sctp_rx_ready - the complete message @rx may go to the user */
void
sctp_rx_ready(struct sctp_assoc *as, struct sctp_rx *rx)
{
	if (as->partial)
		sctp_rx_append(&as->held, &as->held_tail, rx);
	else
		sctp_rx_append(&as->ready, &as->ready_tail, rx);
}

/* Messages of the stream whose turn it is. */
void
sctp_rx_turn(struct sctp_assoc *as, uint16_t sid)
{
	struct sctp_in_stream *st = &as->in[sid];
	struct sctp_rx *rx;
	uint64_t key;

	/* a partial message of DATA has its turn until its end */
	if (as->partial && (as->partial_flags & SCTP_DATA_U) == 0 &&
		as->partial_sid == sid)
		return;
	for (;;) {
		key = sctp_message_key(sid, 0, st->next);
		rx = sctp_tree_from(as, key, 0);
		if (rx == NULL || rx->fsn != 0 ||
			sctp_message_key(rx->sid, rx->flags, rx->ssn) != key ||
			(rx->flags & (SCTP_DATA_B | SCTP_RX_PART)) !=
				SCTP_DATA_B ||
			(rx->tail->flags & SCTP_DATA_E) == 0)
			return;
		sctp_tree_remove(as, rx);
		st->next = sctp_ssn_after(as, st->next);
		sctp_rx_ready(as, rx);
	}
}

/* A complete message of DATA.  NULL, or the text of a violation. */
const char *
sctp_rx_deliver(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	uint64_t key = sctp_message_key(rx->sid, rx->flags, rx->ssn);
	const struct sctp_rx *same;

	if ((rx->flags & SCTP_DATA_U) != 0) {
		sctp_rx_ready(as, rx);
		return NULL;
	}
	same = sctp_tree_from(as, key, 0);
	if ((same != NULL && sctp_message_key(same->sid, same->flags,
		same->ssn) == key) ||
		sctp_is_earlier(as, rx->ssn, as->in[rx->sid].next)) {
		sctp_rx_drop(env, as, rx);
		return "a stream sequence number is used twice";
	}
	sctp_tree_insert(as, rx);
	sctp_rx_turn(as, rx->sid);
	return NULL;
}

/* The partial message has ended. */
void
sctp_rx_partial_end(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *rx;

	as->partial = 0;
	sctp_rx_drop(env, as, sctp_rx_mark(as));
	while ((rx = as->held) != NULL) {
		as->held = rx->after;
		sctp_rx_append(&as->ready, &as->ready_tail, rx);
	}
	as->held_tail = NULL;
	if ((as->partial_flags & SCTP_DATA_U) != 0)
		return;
	if (as->in[as->partial_sid].next == as->partial_ssn)
		as->in[as->partial_sid].next = sctp_ssn_after(as,
			as->partial_ssn);
	sctp_rx_turn(as, as->partial_sid);
}

/* RFC 3758 s3.6: messages of the stream up to @ssn will not come. */
void
sctp_rx_skip_stream(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t ssn)
{
	struct sctp_in_stream *st = &as->in[sid];

	if (sctp_is_earlier(as, ssn, st->next))
		return;
	sctp_rx_clear(env, as, sid, 0, st->next, ssn);
	st->next = sctp_ssn_after(as, ssn);
	sctp_rx_turn(as, sid);
}

/*
 * RFC 6525 s5.2.2: the stream's numbers begin with 0.  Messages that wait for
 * others would wait for ever, and are delivered; what is not complete never
 * will be, and is dropped.
 */
void
sctp_rx_reset_stream(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid)
{
	struct sctp_in_stream *st = &as->in[sid];

	/* in the order of their numbers, which may have wrapped */
	sctp_rx_clear(env, as, sid, 0, st->next, st->next - 1);
	sctp_rx_clear(env, as, sid, SCTP_DATA_U, 0, 0xffffffff);
	st->next = 0;
}

/* ------------------------------------------------------- for the engine's user */

size_t
sctp_readable(const struct sctp_assoc *as)
{
	if (as->ready == NULL)
		return 0;
	return as->ready->total != 0 ? as->ready->total : 1;
}

/* The first fragment has been read: the next one begins the message. */
static void
next_fragment(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *rx = as->ready, *next = rx->next;

	if (next != NULL) {
		next->after = rx->after;
		next->tail = rx->tail;
		next->total = rx->total;
		next->ppid = rx->ppid; /* I-DATA: the first has it only */
		as->ready = next;
		if (as->ready_tail == rx)
			as->ready_tail = next;
	} else {
		as->ready = rx->after;
		if (as->ready == NULL)
			as->ready_tail = NULL;
	}
	if (as->ready != NULL) {
		as->ready->before = NULL;
		if (as->ready->after != NULL)
			as->ready->after->before = as->ready;
	}
	sctp_rx_release(env, as, rx);
}

static void
describe(const struct sctp_rx *rx, struct sctp_info *info)
{
	info->sid = rx->sid;
	info->ssn = (uint16_t)rx->ssn;
	info->ppid = rx->ppid;
	info->tsn = rx->tsn;
	info->life = 0;
	info->flags = (rx->flags & SCTP_DATA_U) != 0 ? SCTP_SEND_UNORDERED : 0;
	if ((rx->flags & SCTP_RX_CUT) != 0)
		info->flags |= SCTP_RECV_CUT;
}

size_t
sctp_recv(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_info *info, void *to, size_t n)
{
	struct sctp_rx *rx = as->ready;
	unsigned char *p = to;
	size_t all = 0, part;
	int end;

	if (rx == NULL)
		return 0;
	describe(rx, info);
	end = (rx->tail->flags & SCTP_DATA_E) != 0;
	while (rx != NULL) {
		part = rx->len - rx->taken;
		if (part > n - all)
			part = n - all;
		__builtin_memcpy(p + all, rx->data + rx->taken, part);
		all += part;
		rx->taken += (uint32_t)part;
		rx->total -= (uint32_t)part;
		as->rcv_bytes -= (uint32_t)part;
		if (rx->taken != rx->len) {
			end = 0;
			break;
		}
		rx = rx->next;
		next_fragment(env, as);
	}
	if (!end)
		info->flags |= SCTP_RECV_MORE;
	sctp_rcv_read(as);
	return all;
}
