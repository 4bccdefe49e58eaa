/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Delivery of messages to the user: RFC 9260 s6.5, s6.6.
 *
 * An unordered message is ready when it is complete.  An ordered one waits in
 * its stream until all messages with lower stream sequence numbers are ready.
 * The user takes them from `ready'.
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

static void
ready(struct sctp_assoc *as, struct sctp_rx *rx)
{
	if (as->partial)
		sctp_rx_append(&as->held, &as->held_tail, rx);
	else
		sctp_rx_append(&as->ready, &as->ready_tail, rx);
}

static struct sctp_rx *
take_first(struct sctp_in_stream *st)
{
	struct sctp_rx *rx = st->first;

	st->first = rx->after;
	if (st->first != NULL)
		st->first->before = NULL;
	else
		st->last = NULL;
	return rx;
}

/* Messages of the stream whose turn it is. */
void
sctp_rx_turn(struct sctp_assoc *as, uint16_t sid)
{
	struct sctp_in_stream *st = &as->in[sid];

	/* a partial message has its turn until its end */
	if (as->partial && (as->partial_flags & SCTP_DATA_U) == 0 &&
		as->partial_sid == sid)
		return;
	while (st->first != NULL && st->first->ssn == st->next) {
		st->next = sctp_ssn_after(as, st->next);
		ready(as, take_first(st));
	}
}

/* A complete message. */
const char *
sctp_rx_deliver(struct sctp_assoc *as, struct sctp_rx *rx)
{
	struct sctp_in_stream *st = &as->in[rx->sid];
	struct sctp_rx *p;

	if ((rx->flags & SCTP_DATA_U) != 0) {
		ready(as, rx);
		return NULL;
	}
	p = st->last;
	if (p != NULL && sctp_is_earlier(as, rx->ssn, st->first->ssn))
		p = NULL; /* the first */
	while (p != NULL && sctp_is_earlier(as, rx->ssn, p->ssn))
		p = p->before;
	rx->before = p;
	rx->after = p != NULL ? p->after : st->first;
	if (p != NULL)
		p->after = rx;
	else
		st->first = rx;
	if (rx->after != NULL)
		rx->after->before = rx;
	else
		st->last = rx;
	if ((p != NULL && p->ssn == rx->ssn) ||
		sctp_is_earlier(as, rx->ssn, st->next))
		return "a stream sequence number is used twice";
	sctp_rx_turn(as, rx->sid);
	return NULL;
}

/* The partial message has ended. */
void
sctp_rx_partial_end(struct sctp_assoc *as)
{
	struct sctp_rx *rx;

	as->partial = 0;
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
sctp_rx_skip_stream(struct sctp_assoc *as, uint16_t sid, uint32_t ssn)
{
	struct sctp_in_stream *st = &as->in[sid];

	if (sctp_is_earlier(as, ssn, st->next))
		return;
	while (st->first != NULL && !sctp_is_earlier(as, ssn, st->first->ssn))
		ready(as, take_first(st));
	st->next = sctp_ssn_after(as, ssn);
	sctp_rx_turn(as, sid);
}

/*
 * RFC 6525 s5.2.2: the stream's numbers begin with 0.  Messages that wait for
 * others would wait for ever, and are delivered.
 */
void
sctp_rx_reset_stream(struct sctp_assoc *as, uint16_t sid)
{
	struct sctp_in_stream *st = &as->in[sid];

	while (st->first != NULL)
		ready(as, take_first(st));
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
		next->ppid = rx->ppid; /* I-DATA has it in the first one only */
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
