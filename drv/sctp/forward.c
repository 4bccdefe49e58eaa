/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Partial reliability: RFC 3758, with I-DATA RFC 8260 s2.3; the policy
 * "retransmissions" of RFC 7496.
 *
 * A message whose life is over when a fragment of it is to be sent is
 * abandoned, with all its fragments.  The peer learns by FORWARD TSN that it
 * need not wait for them; the chunk is repeated until the peer's cumulative TSN
 * shows that it has arrived.
 *
 * The fragments that have TSNs may all arrive.  If the last fragment has none
 * yet, it gets one when the message is abandoned, for a chunk that is never
 * sent: so the cumulative TSN of the peer passes the end of a message only if
 * the peer has the whole message, or a FORWARD TSN that names it.
 */
#include "association.h"

#define STREAMS_MOST 64u /* told in one FORWARD TSN */

/*
 * Is the message's life over?
 * @sends: how often the chunk in question was sent
 */
int
sctp_pr_is_over(const struct sctp_env *env, const struct sctp_assoc *as,
	const struct sctp_seg *s, uint32_t sends)
{
	if (s->pr == 0 || !sctp_has(as, SCTP_X_PR))
		return 0;
	if (s->pr == SCTP_SEND_TTL)
		return env->now >= s->life;
	return sends > s->life;
}

/* The first piece without a TSN of a message that has one already; NULL */
static const struct sctp_seg *
rest_of(const struct sctp_assoc *as, uint16_t sid, uint32_t message)
{
	const struct sctp_seg *s = as->queue;

	/* messages in the queue are in the order of their numbers */
	while (s != NULL && sctp_before(s->message, message))
		s = s->next;
	if ((s == NULL || s->message != message) && sid < as->nout)
		s = as->out[sid].first;
	if (s == NULL || s->message != message || (s->begins && s->sent == 0))
		return NULL;
	return s;
}

/* A TSN for the last fragment of the message, of which @s is the rest. */
static void
skip_rest(struct sctp_assoc *as, const struct sctp_seg *s)
{
	struct sctp_tx *tx = sctp_tx_of(as, as->next_tsn++);

	__builtin_memset(tx, 0, sizeof(*tx));
	tx->state = SCTP_TX_ABANDONED;
	tx->sid = s->sid;
	tx->ssn = as->out[s->sid].mid;
	tx->fsn = as->out[s->sid].fsn;
	tx->flags = (s->flags & SCTP_DATA_U) | SCTP_DATA_E;
	tx->path = (uint8_t)sctp_path_for_data(as);
}

/* What waits of the message in the queue is dropped; its limit, or 0. */
static uint32_t
drop_queued(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t message, int *sent)
{
	struct sctp_seg **list = &as->queue, *last = NULL, *s;
	uint32_t pr = 0;

	while ((s = *list) != NULL && !sctp_before(message, s->message)) {
		if (s->message != message) {
			last = s;
			list = &s->next;
			continue;
		}
		*list = s->next;
		if (as->queue_tail == s)
			as->queue_tail = last;
		*sent |= !s->begins || s->sent != 0;
		pr = s->pr;
		s->failed = *sent ? SCTP_FAILED_SENT : SCTP_FAILED_UNSENT;
		sctp_seg_done(env, as, s, s->len - s->sent);
	}
	return pr;
}

/*
 * Drop all of the message that is not acknowledged.
 * Return: 1; 0: no memory, nothing has changed.
 */
int
sctp_pr_abandon(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t message)
{
	const struct sctp_seg *rest = rest_of(as, sid, message);
	struct sctp_tx *tx;
	uint32_t tsn, pr = 0;
	int sent = 0;

	if (rest != NULL) {
		if (!sctp_tx_room(env, as))
			return 0;
		skip_rest(as, rest);
	}
	if (as->open && as->open_message == message)
		as->open_abandoned = 1;
	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->seg == NULL || tx->seg->message != message)
			continue;
		sent = 1;
		pr = tx->seg->pr;
		tx->seg->failed = SCTP_FAILED_SENT;
		sctp_tx_done(env, as, tx);
		tx->state = SCTP_TX_ABANDONED;
	}
	pr |= drop_queued(env, as, message, &sent);
	sctp_sched_abandon(env, as, sid, message, sent);
	sctp_abandoned(env, as, sid, pr, sent);
	if (as->ep != NULL)
		as->ep->count[SCTP_N_ABANDONED]++;
	return 1;
}

/* Messages that would be sent next, and whose life is over. */
static void
abandon_next(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_tx *tx;

	while (as->nlost != 0) {
		tx = sctp_tx_of(as, sctp_first_lost(as));
		if (!sctp_pr_is_over(env, as, tx->seg, tx->sends) ||
			!sctp_pr_abandon(env, as, tx->sid, tx->seg->message))
			break;
	}
	while (as->queue != NULL && sctp_pr_is_over(env, as, as->queue, 0) &&
		sctp_pr_abandon(env, as, as->queue->sid, as->queue->message))
		;
}

/* s3.5 (C2): how far may the peer go?  Is it to be told? */
void
sctp_pr_look(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t was = as->advanced;

	if (!sctp_has(as, SCTP_X_PR) || as->state < SCTP_ESTABLISHED)
		return;
	abandon_next(env, as);
	while (as->advanced + 1 != as->next_tsn &&
		sctp_tx_of(as, as->advanced + 1)->state == SCTP_TX_ABANDONED)
		as->advanced++;
	/* what did not fit into the last one follows when that is acknowledged */
	if (sctp_before(as->acked, as->advanced) &&
		(as->advanced != was || !sctp_before(as->acked, as->told)))
		as->owes |= SCTP_OWES_FORWARD;
}

/* Bytes of an entry. */
static uint32_t
entry_size(const struct sctp_assoc *as)
{
	return sctp_has(as, SCTP_X_IDATA) ? 8 : 4;
}

/*
 * Write entry @p.  SSN, or flags and MID; an unordered message of DATA has none.
 */
static void
put_entry(const struct sctp_assoc *as, unsigned char *p,
	const struct sctp_tx *tx)
{
	sctp_put16(p, tx->sid);
	if (!sctp_has(as, SCTP_X_IDATA)) {
		sctp_put16(p + 2, tx->ssn);
		return;
	}
	sctp_put16(p + 2, (tx->flags & SCTP_DATA_U) != 0 ? SCTP_I_FORWARD_U :
							   0);
	sctp_put32(p + 4, tx->ssn);
}

/* Is entry @p of the same stream, and kind, as @tx? */
static int
is_of(const struct sctp_assoc *as, const unsigned char *p,
	const struct sctp_tx *tx)
{
	return sctp_get16(p) == tx->sid && (!sctp_has(as, SCTP_X_IDATA) ||
		(sctp_get16(p + 2) != 0) == ((tx->flags & SCTP_DATA_U) != 0));
}

/*
 * Streams and numbers of skipped messages, @most of them; the last of each stream.
 * @ret_cum: the list is complete up to this TSN
 */
static uint32_t
skipped(const struct sctp_assoc *as, unsigned char *list, uint32_t most,
	uint32_t *ret_cum)
{
	uint32_t tsn, n = 0, i, size = entry_size(as);
	const struct sctp_tx *tx;

	*ret_cum = as->advanced;
	for (tsn = as->acked + 1; tsn != as->advanced + 1; tsn++) {
		tx = &as->tx[tsn & (as->tx_size - 1)];
		if ((tx->flags & SCTP_DATA_U) != 0 && size == 4)
			continue;
		for (i = 0; i < n; i++)
			if (is_of(as, list + size * i, tx))
				break;
		if (i == most) {
			*ret_cum = tsn - 1;
			break;
		}
		n += i == n;
		put_entry(as, list + size * i, tx);
	}
	return n;
}

void
sctp_forward_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o)
{
	struct sctp_path *pa;
	unsigned char list[8 * STREAMS_MOST], *p;
	uint32_t n, cum, type = sctp_has(as, SCTP_X_IDATA) ?
		SCTP_C_I_FORWARD_TSN : SCTP_C_FORWARD_TSN;
	size_t room = sctp_out_room(o, type);

	as->owes &= ~SCTP_OWES_FORWARD;
	if (!sctp_before(as->acked, as->advanced))
		return;
	as->forward_path = sctp_path_for_data(as);
	pa = &as->path[as->forward_path];
	n = room > SCTP_FORWARD_HDR ? (uint32_t)(room - SCTP_FORWARD_HDR) /
		entry_size(as) : 0;
	n = skipped(as, list, n < STREAMS_MOST ? n : STREAMS_MOST, &cum) *
		entry_size(as);
	if (cum != as->advanced && o->n > SCTP_HDR) {
		as->owes |= SCTP_OWES_FORWARD; /* a packet of its own */
		return;
	}
	p = sctp_out_chunk(o, type, 0, SCTP_FORWARD_HDR + n);
	if (p == NULL) {
		as->owes |= SCTP_OWES_FORWARD;
		return;
	}
	as->told = cum;
	sctp_put32(p + SCTP_FORWARD_CUM, cum);
	__builtin_memcpy(p + SCTP_FORWARD_HDR, list, n);
	if (pa->t3_at == 0) /* s3.5 (C5) */
		pa->t3_at = env->now + pa->rto;
}

/* RFC 3758 s3.6: what the list says. */
static void
skip_list(struct sctp_in *in, const struct sctp_tlv *c)
{
	uint32_t at;
	uint16_t sid;

	for (at = SCTP_FORWARD_HDR; at + 4 <= c->len; at += 4) {
		sid = sctp_get16(c->p + at);
		if (sid < in->as->nin)
			sctp_rx_skip_stream(in->env, in->as, sid,
				sctp_get16(c->p + at + 2));
	}
}

/* RFC 8260 s2.3.1 */
static void
skip_i_list(struct sctp_in *in, const struct sctp_tlv *c)
{
	uint32_t at;
	uint16_t sid;

	for (at = SCTP_FORWARD_HDR; at + 8 <= c->len; at += 8) {
		sid = sctp_get16(c->p + at);
		if (sid < in->as->nin)
			sctp_ix_skip(in->env, in->as, sid,
				(sctp_get16(c->p + at + 2) &
					SCTP_I_FORWARD_U) != 0,
				sctp_get32(c->p + at + 4));
	}
}

void
sctp_forward_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	uint32_t cum;

	if (c->len < SCTP_FORWARD_HDR || as->state < SCTP_ESTABLISHED ||
		as->state > SCTP_SHUTDOWN_SENT)
		return;
	if ((c->type == SCTP_C_I_FORWARD_TSN) != sctp_has(as, SCTP_X_IDATA)) {
		sctp_violation(in->env, as, "FORWARD TSN of another kind");
		return;
	}
	in->data = in->now = 1;
	cum = sctp_get32(c->p + SCTP_FORWARD_CUM);
	if (!sctp_before(as->cum, cum))
		return; /* an old one; the SACK tells */
	sctp_rcv_skip(as, cum);
	if (sctp_has(as, SCTP_X_IDATA)) {
		skip_i_list(in, c);
		return;
	}
	sctp_rx_skip_runs(in->env, as, cum);
	skip_list(in, c);
}
