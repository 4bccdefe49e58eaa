/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The invariants of an association, as code: what is derived agrees with what
 * it is derived from.  Tests call it after every event.
 */
#include "association.h"

static const char *
audit_sending(struct sctp_assoc *as)
{
	uint32_t flight[SCTP_PATHS] = {0}, all = 0, lost = 0, gapped = 0, i;
	uint32_t bytes = 0, tsn;
	const struct sctp_seg *s;
	const struct sctp_tx *tx;

	if (as->next_tsn - as->acked - 1 > as->tx_size)
		return "the ring is too small";
	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if ((tx->seg == NULL) != (tx->state == SCTP_TX_ABANDONED))
			return "a chunk without data";
		bytes += tx->seg != NULL ? tx->len : 0;
		lost += tx->state == SCTP_TX_LOST;
		gapped += tx->state == SCTP_TX_ACKED;
		if (tx->state == SCTP_TX_LOST &&
			sctp_before(tsn, as->lost_from))
			return "a lost chunk before the first";
		if (tx->state != SCTP_TX_FLIGHT)
			continue;
		if (tx->path >= as->npaths)
			return "a chunk on no path";
		flight[tx->path] += tx->len;
		all += tx->len;
	}
	for (s = as->queue; s != NULL; s = s->next) {
		if (s->sent >= s->len || s->left < s->len - s->sent)
			return "a piece of a message";
		if (s->sid >= as->nout)
			return "a message of a stream that does not exist";
		if (s->next == NULL && s != as->queue_tail)
			return "the end of the queue";
		bytes += s->len - s->sent;
	}
	for (i = 0; i < as->nout; i++) {
		for (s = as->out[i].first; s != NULL; s = s->next)
			bytes += s->len - s->sent;
		s = as->out[i].first;
		if ((s == NULL) != (as->out[i].last == NULL) ||
			(s != NULL) != (as->out[i].active != 0))
			return "the list of a stream";
		if (s != NULL && (!as->out[i].active ||
			(as->queue == NULL && (s->ends || s->next != NULL))))
			return "a stream that has data is not chosen";
	}
	for (s = as->aside; s != NULL; s = s->next) {
		if (s->next == NULL && s != as->aside_tail)
			return "the end of what is aside";
		if (s->sid >= as->nout)
			return "a message of a stream that does not exist";
		bytes += s->len;
	}
	if (as->open && as->open_info.sid >= as->nout)
		return "an open message of a stream that does not exist";
	if (as->aside != NULL && !as->open)
		return "something waits for a message that has its end";
	if (lost != as->nlost || gapped != as->ngapped || all != as->flight)
		return "chunks lost, acknowledged or in flight";
	if (bytes != as->snd_bytes)
		return "bytes to be sent";
	for (i = 0; i < as->npaths; i++)
		if (flight[i] != as->path[i].flight)
			return "bytes in flight on a path";
	if (sctp_before(as->advanced, as->acked) ||
		!sctp_before(as->advanced, as->next_tsn))
		return "the advanced TSN";
	return NULL;
}

/* Something waits for an answer: is there a timer that ends the wait? */
static const char *
audit_timers(struct sctp_assoc *as)
{
	uint32_t i, running = 0;

	for (i = 0; i < as->npaths; i++) {
		running += as->path[i].t3_at != 0;
		/* a heartbeat that confirms the path, or ends the association */
		running += sctp_path_confirmed(as) == SCTP_NONE &&
			as->path[i].hb_at != 0;
		if (as->path[i].flight != 0 && as->path[i].t3_at == 0 &&
			as->state > SCTP_COOKIE_ECHOED)
			return "no T3";
	}
	if (as->asconf != NULL && as->asconf->at == 0 &&
		(as->owes & SCTP_OWES_ASCONF) == 0)
		return "no T4";
	if (as->reconf != NULL && as->reconf->sent && as->reconf->at == 0 &&
		(as->owes & SCTP_OWES_RECONF) == 0)
		return "no timer of a request";
	if (sctp_before(as->acked, as->advanced) && !running &&
		as->state > SCTP_COOKIE_ECHOED)
		return "no T3 for FORWARD TSN";
	if (!running && (as->nlost != 0 || sctp_has_new(as)) &&
		(as->state == SCTP_ESTABLISHED ||
		as->state == SCTP_SHUTDOWN_PENDING ||
		as->state == SCTP_SHUTDOWN_RECEIVED))
		return "data waits for nothing";
	if (as->state == SCTP_COOKIE_ECHOED && as->t1_at == 0 &&
		(as->owes & SCTP_OWES_COOKIE_ECHO) == 0)
		return "no T1";
	if (as->state == SCTP_COOKIE_WAIT && as->t1_at == 0 &&
		(as->owes & SCTP_OWES_INIT) == 0)
		return "no T1";
	if ((as->state == SCTP_SHUTDOWN_SENT ||
		as->state == SCTP_SHUTDOWN_ACK_SENT) && as->t2_at == 0 &&
		(as->owes & (SCTP_OWES_SHUTDOWN | SCTP_OWES_SHUTDOWN_ACK)) ==
			0)
		return "no T2";
	return NULL;
}

struct sum {
	uint32_t bytes, mem;
};

/* A list of runs or messages. */
static const char *
audit_list(const struct sctp_rx *rx, const struct sctp_rx *last, int is_run,
	struct sum *sum)
{
	const struct sctp_rx *before = NULL, *f, *tail;
	uint32_t total, tsn;

	for (; rx != NULL; before = rx, rx = rx->after) {
		if (rx->before != before)
			return "links of a list";
		total = 0;
		tail = NULL;
		tsn = rx->tsn;
		for (f = rx; f != NULL; tail = f, f = f->next, tsn++) {
			if (is_run && f->tsn != tsn)
				return "TSNs of a run";
			total += f->len - f->taken;
			sum->mem += f->len + (uint32_t)sizeof(*f);
		}
		if (tail != rx->tail || total != rx->total)
			return "the sum of a run";
		if (is_run && rx->last != tail->tsn)
			return "the last TSN of a run";
		if (is_run && before != NULL &&
			!sctp_before(before->last, rx->tsn))
			return "the order of runs";
		sum->bytes += total;
	}
	return before != last ? "the end of a list" : NULL;
}

/* The tree of what waits: runs of fragments, and messages. */
static const char *
audit_tree(const struct sctp_assoc *as, struct sum *sum)
{
	const struct sctp_rx *rx = sctp_tree_from(as, 0, 0), *next, *f;
	uint32_t total, fsn, parts = 0;

	for (; rx != NULL; rx = next) {
		total = 0;
		fsn = rx->fsn;
		for (f = rx; f != NULL; f = f->next, fsn++) {
			if ((f == rx->tail) != (f->next == NULL))
				return "the end of a run in the tree";
			if (f != rx && sctp_has(as, SCTP_X_IDATA) &&
				f->fsn != fsn)
				return "numbers of fragments in the tree";
			total += f->len - f->taken;
			sum->mem += f->len + (uint32_t)sizeof(*f);
			if ((rx->flags & SCTP_RX_PART) != 0)
				fsn = rx->last; /* an anchor, alone */
		}
		if (total != rx->total || rx->sid >= as->nin)
			return "a run in the tree";
		parts += (rx->flags & SCTP_DATA_B) == 0 ||
			(rx->tail->flags & SCTP_DATA_E) == 0;
		next = sctp_tree_next(as, rx);
		if (next != NULL && sctp_message_key(next->sid, next->flags,
			next->ssn) == sctp_message_key(rx->sid, rx->flags,
			rx->ssn) && next->fsn <= rx->last + 1)
			return "the order of runs in the tree";
		sum->bytes += total;
	}
	return parts != as->nparts ? "runs that are not complete" : NULL;
}

static const char *
audit_receiving(const struct sctp_assoc *as)
{
	struct sum sum = {0, 0};
	const char *wrong;

	wrong = audit_list(as->run, as->run_tail, 1, &sum);
	if (wrong == NULL)
		wrong = audit_list(as->ready, as->ready_tail, 0, &sum);
	if (wrong == NULL)
		wrong = audit_list(as->held, as->held_tail, 0, &sum);
	if (wrong == NULL)
		wrong = audit_tree(as, &sum);
	if ((as->mark != NULL) != (as->partial != 0))
		return "the mark of a partial message";
	if (wrong != NULL)
		return wrong;
	if (sum.bytes != as->rcv_bytes || sum.mem != as->rcv_mem)
		return "bytes received";
	if (sctp_before(as->high, as->cum))
		return "the highest TSN";
	if (as->rcv_mem / SCTP_RX_OVERHEAD > 3 * as->conf.rcvbuf + 70000)
		return "more memory than the buffer permits";
	return NULL;
}

/*
 * sctp_audit - check the invariants
 * Call it when sctp_output() has returned 0.  Return: NULL, or what is wrong.
 */
const char *
sctp_audit(struct sctp_assoc *as)
{
	const struct sctp_control *c;
	const char *wrong;
	uint32_t n = 0;

	for (c = as->control; c != NULL; c = c->next)
		n++;
	if (n != as->ncontrols)
		return "control chunks";
	if ((as->state == SCTP_CLOSED) != (as->down != SCTP_DOWN_NOT) ||
		(as->ep == NULL) != (as->down != SCTP_DOWN_NOT))
		return "the state";
	if (as->npaths == 0 || as->primary >= as->npaths)
		return "the paths";
	if (as->down == SCTP_DOWN_NOT && as->state >= SCTP_ESTABLISHED &&
		!as->path[as->primary].confirmed &&
		sctp_path_confirmed(as) != SCTP_NONE)
		return "a primary path that is not confirmed";
	wrong = audit_sending(as);
	if (wrong == NULL && as->down == SCTP_DOWN_NOT)
		wrong = audit_timers(as);
	return wrong != NULL ? wrong : audit_receiving(as);
}
