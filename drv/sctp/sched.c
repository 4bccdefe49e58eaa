/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which stream sends next: the schedulers of RFC 8260 s3.
 *
 * Without a scheduler (SCTP_SCHED_FCFS) the messages wait in `queue', in the
 * order in which they were sent.  With one each stream has a list of its own,
 * and `queue' has only what is chosen: with DATA one message, because fragments
 * of messages cannot be mixed; with I-DATA one piece, which goes back to its
 * list after each chunk.  If a list has something that may be sent, the queue is
 * not empty.
 *
 * Streams that have something are in a circle, by number; `active' is the one
 * whose turn is next.
 *
 * Fair bandwidth.  Each stream has a virtual time, which its bytes, divided by
 * its weight, let pass; the stream with the earliest sends.  A stream that was
 * idle begins at the time of the one that sent last.
 */
#include "association.h"

static int
with_i_data(const struct sctp_assoc *as)
{
	return sctp_has(as, SCTP_X_IDATA) != 0;
}

static void
activate(struct sctp_assoc *as, uint16_t sid)
{
	struct sctp_out_stream *st = &as->out[sid], *next;

	if (st->active)
		return;
	st->active = 1;
	if (st->vtime < as->vtime)
		st->vtime = as->vtime;
	if (as->active == SCTP_NONE) {
		as->active = st->after = st->before = sid;
		return;
	}
	next = &as->out[as->active]; /* the last in the circle */
	st->after = (uint16_t)as->active;
	st->before = next->before;
	as->out[st->before].after = sid;
	next->before = sid;
}

static void
deactivate(struct sctp_assoc *as, uint16_t sid)
{
	struct sctp_out_stream *st = &as->out[sid];

	if (!st->active)
		return;
	st->active = 0;
	if (as->active == sid)
		as->active = st->after != sid ? st->after : SCTP_NONE;
	as->out[st->before].after = st->after;
	as->out[st->after].before = st->before;
}

/*
 * Take the pieces from the first to @last out of the list of stream @sid, which
 * is whole again before any of them is freed.  Return: the first.
 */
static struct sctp_seg *
detach(struct sctp_assoc *as, uint16_t sid, struct sctp_seg *last)
{
	struct sctp_out_stream *st = &as->out[sid];
	struct sctp_seg *s = st->first;

	st->first = last->next;
	last->next = NULL;
	if (st->first == NULL) {
		st->last = NULL;
		deactivate(as, sid);
	}
	return s;
}

/* The last piece of a message without an end has to wait. */
static int
is_ready(const struct sctp_out_stream *st)
{
	return st->first != NULL &&
		(st->first->ends || st->first->next != NULL);
}

/* Is @a to send before @b? */
static int
precedes(const struct sctp_assoc *as, const struct sctp_out_stream *a,
	const struct sctp_out_stream *b)
{
	switch (as->scheduler) {
	case SCTP_SCHED_PRIO:
		return a->value < b->value;
	case SCTP_SCHED_FAIR:
	case SCTP_SCHED_WEIGHTED:
		return a->vtime < b->vtime;
	default:
		return 0; /* the first in the circle */
	}
}

/* Has a part of the first message of the list a TSN? */
static int
is_amid(const struct sctp_out_stream *st)
{
	return st->first != NULL &&
		(!st->first->begins || st->first->sent != 0);
}

/*
 * The first stream in the circle of which a message is begun, and that may send;
 * SCTP_NONE: there is none.
 */
static uint32_t
pick_amid(const struct sctp_assoc *as)
{
	uint32_t sid = as->active;

	if (sid == SCTP_NONE)
		return SCTP_NONE;
	do {
		if (is_ready(&as->out[sid]) && is_amid(&as->out[sid]))
			return sid;
		sid = as->out[sid].after;
	} while (sid != as->active);
	return SCTP_NONE;
}

/* The stream that sends next; SCTP_NONE: none may. */
static uint32_t
pick(struct sctp_assoc *as)
{
	uint32_t sid = as->active, found = SCTP_NONE;

	/* only messages that are begun go on: sctp_reconf_holds() */
	if (as->hold_until != 0 && (found = pick_amid(as)) != SCTP_NONE) {
		as->new_packet = as->stays = 0;
		return found;
	}
	if (as->scheduler == SCTP_SCHED_RR_PACKET && !as->new_packet &&
		as->turn < as->nout && is_ready(&as->out[as->turn])) {
		as->stays = 1;
		return as->turn;
	}
	as->new_packet = as->stays = 0;
	if (sid == SCTP_NONE)
		return SCTP_NONE;
	do {
		if (is_ready(&as->out[sid]) && (found == SCTP_NONE ||
			precedes(as, &as->out[sid], &as->out[found])))
			found = sid;
		sid = as->out[sid].after;
	} while (sid != as->active);
	return found;
}

/* sctp_sched_fill - choose what is sent next, if nothing is chosen */
void
sctp_sched_fill(struct sctp_assoc *as)
{
	struct sctp_seg *last;
	uint32_t sid;

	if (as->scheduler == SCTP_SCHED_FCFS || as->queue != NULL)
		return;
	sid = pick(as);
	if (sid == SCTP_NONE)
		return;
	as->turn = (uint16_t)sid;
	as->active = sid;
	as->vtime = as->out[sid].vtime;
	last = as->out[sid].first;
	while (!with_i_data(as) && last->next != NULL &&
		last->next->message == last->message)
		last = last->next;
	as->queue = detach(as, (uint16_t)sid, last);
	as->queue_tail = last;
}

/* What is chosen goes back to the front of its list. */
static void
give_back(struct sctp_assoc *as)
{
	struct sctp_seg *s = as->queue;
	struct sctp_out_stream *st = &as->out[s->sid];

	as->queue_tail->next = st->first;
	if (st->first == NULL)
		st->last = as->queue_tail;
	st->first = s;
	as->queue = as->queue_tail = NULL;
	activate(as, s->sid);
}

/* sctp_sched_packet - a packet begins: look again what is to be sent */
void
sctp_sched_packet(struct sctp_assoc *as)
{
	struct sctp_seg *s = as->queue;

	as->new_packet = 1;
	if (as->scheduler == SCTP_SCHED_FCFS || s == NULL ||
		(!with_i_data(as) && (!s->begins || s->sent != 0)))
		return;
	give_back(as);
	if (!as->stays)
		as->active = s->sid; /* its turn has not been */
	sctp_sched_fill(as);
}

/* sctp_sched_sent - @n bytes of @s have a TSN */
void
sctp_sched_sent(struct sctp_assoc *as, struct sctp_seg *s, uint32_t n)
{
	struct sctp_out_stream *st = &as->out[s->sid];
	uint32_t weight = st->value != 0 ? st->value : 1;

	if (as->scheduler == SCTP_SCHED_FCFS)
		return;
	st->vtime += as->scheduler == SCTP_SCHED_WEIGHTED ?
		((uint64_t)n << 16) / weight : n;
	if (as->active == s->sid) /* it has had its turn */
		as->active = st->after;
	if (as->queue != NULL && with_i_data(as))
		give_back(as);
	sctp_sched_fill(as);
}

/* sctp_enqueue - the piece @s waits to be sent */
void
sctp_enqueue(struct sctp_assoc *as, struct sctp_seg *s)
{
	struct sctp_out_stream *st = &as->out[s->sid];

	s->next = NULL;
	if (as->scheduler == SCTP_SCHED_FCFS || (!with_i_data(as) &&
		as->queue != NULL && as->queue->message == s->message)) {
		if (as->queue == NULL)
			as->queue = s;
		else
			as->queue_tail->next = s;
		as->queue_tail = s;
		return;
	}
	if (st->first == NULL)
		st->first = s;
	else
		st->last->next = s;
	st->last = s;
	activate(as, s->sid);
	sctp_sched_fill(as);
}

/* sctp_open_piece - the last piece of the message without an end; NULL */
struct sctp_seg *
sctp_open_piece(const struct sctp_assoc *as)
{
	const struct sctp_out_stream *st;

	if (!as->open || as->open_abandoned)
		return NULL;
	if (as->scheduler != SCTP_SCHED_FCFS &&
		as->open_info.sid < as->nout) {
		st = &as->out[as->open_info.sid];
		if (st->last != NULL && st->last->message == as->open_message)
			return st->last;
	}
	return as->queue != NULL &&
		as->queue_tail->message == as->open_message ?
		as->queue_tail : NULL;
}

/* sctp_sched_more - do more pieces of the message of @s follow it? */
int
sctp_sched_more(const struct sctp_assoc *as, const struct sctp_seg *s)
{
	const struct sctp_seg *next;

	if (s->next != NULL)
		return 1;
	if (as->scheduler == SCTP_SCHED_FCFS || s->sid >= as->nout)
		return 0;
	next = as->out[s->sid].first;
	return next != NULL && next->message == s->message;
}

/*
 * sctp_sched_abandon - what waits of the message, in stream @sid, is dropped
 * @sent: a part of it has been in a packet
 */
void
sctp_sched_abandon(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t message, int sent)
{
	struct sctp_seg *s;

	if (as->scheduler == SCTP_SCHED_FCFS || sid >= as->nout)
		return; /* a chunk may be of a stream that is no more */
	while ((s = as->out[sid].first) != NULL && s->message == message) {
		(void)detach(as, sid, s);
		s->failed = sent || s->sent != 0 ? SCTP_FAILED_SENT :
						   SCTP_FAILED_UNSENT;
		sctp_seg_done(env, as, s, s->len - s->sent);
	}
	sctp_sched_fill(as);
}

/* sctp_sched_forget - drop all that waits in the lists of streams from @n on */
void
sctp_sched_forget(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n)
{
	struct sctp_seg *s;
	uint32_t i;

	for (i = n; i < as->nout; i++)
		while ((s = as->out[i].first) != NULL) {
			(void)detach(as, (uint16_t)i, s);
			sctp_seg_fail(s);
			sctp_seg_done(env, as, s, s->len - s->sent);
		}
}

/* Does something of a stream that is being reset wait, from before @message? */
int
sctp_sched_waits(const struct sctp_assoc *as, uint32_t message)
{
	const struct sctp_seg *s;
	uint32_t i;

	if (as->scheduler == SCTP_SCHED_FCFS)
		return 0;
	for (i = 0; i < as->nout; i++) {
		s = as->out[i].first;
		if (as->out[i].resetting && s != NULL &&
			!sctp_before(message, s->message))
			return 1;
	}
	return 0;
}

/*
 * Is a message of some list begun and not at its end?  @resets: only lists of
 * streams that are being reset count
 */
int
sctp_sched_amid(const struct sctp_assoc *as, int resets)
{
	uint32_t i;

	if (as->scheduler == SCTP_SCHED_FCFS)
		return 0;
	for (i = 0; i < as->nout; i++) {
		if (is_amid(&as->out[i]) &&
			(!resets || as->out[i].resetting))
			return 1;
	}
	return 0;
}

int
sctp_set_stream_value(struct sctp_assoc *as, uint16_t sid, uint16_t value)
{
	if (sid >= as->nout)
		return EINVAL;
	as->out[sid].value = value;
	return 0;
}

int
sctp_stream_value(const struct sctp_assoc *as, uint16_t sid, uint16_t *ret)
{
	if (sid >= as->nout)
		return EINVAL;
	*ret = as->out[sid].value;
	return 0;
}

/* ---------------------------------------------------------- another scheduler */

/* Take the first piece of what waits, in the order in which it was accepted. */
static struct sctp_seg *
take_first(struct sctp_assoc *as)
{
	struct sctp_out_stream *st = NULL;
	struct sctp_seg *s = as->queue, *f;
	uint32_t i;

	for (i = 0; i < as->nout; i++) {
		f = as->out[i].first;
		if (f != NULL && (s == NULL ||
			sctp_before(f->message, s->message))) {
			st = &as->out[i];
			s = f;
		}
	}
	if (s == NULL)
		return NULL;
	if (st == NULL)
		as->queue = s->next;
	else
		st->first = s->next;
	s->next = NULL;
	return s;
}

static void
queue_append(struct sctp_assoc *as, struct sctp_seg *s)
{
	s->next = NULL;
	if (as->queue == NULL)
		as->queue = s;
	else
		as->queue_tail->next = s;
	as->queue_tail = s;
}

/*
 * All that waits is taken out of its lists and put into those of the new
 * scheduler.  A message of DATA of which a part has a TSN stays the first.
 */
int
sctp_set_scheduler(struct sctp_assoc *as, enum sctp_scheduler scheduler)
{
	struct sctp_seg *all = NULL, **end = &all, *s;
	uint32_t i, amid;

	if (scheduler > SCTP_SCHED_WEIGHTED)
		return EINVAL;
	as->conf.scheduler = (uint8_t)scheduler;
	if (as->scheduler == scheduler)
		return 0;
	s = as->queue;
	amid = s != NULL && (!s->begins || s->sent != 0) && !with_i_data(as);
	if (amid) /* it goes first, whatever waits elsewhere */
		while (as->queue != NULL && as->queue->message == s->message) {
			*end = as->queue;
			as->queue = as->queue->next;
			end = &(*end)->next;
		}
	while ((s = take_first(as)) != NULL) {
		*end = s;
		end = &s->next;
	}
	*end = NULL;
	as->queue = as->queue_tail = NULL;
	for (i = 0; i < as->nout; i++) {
		as->out[i].last = NULL;
		as->out[i].active = 0;
		as->out[i].vtime = 0;
	}
	as->active = SCTP_NONE;
	as->vtime = 0;
	as->stays = 0;
	as->scheduler = (uint8_t)scheduler;
	while ((s = all) != NULL) {
		all = s->next;
		if (amid && as->queue == NULL)
			queue_append(as, s);
		else
			sctp_enqueue(as, s);
	}
	return 0;
}
