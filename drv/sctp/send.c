/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sending: the user's messages, and the DATA chunks made of them (RFC 9260 s6.1,
 * s6.9, s6.10).
 *
 * A message waits in `queue' as the pieces in which the user sent it.  A chunk
 * is cut off the first piece at the moment when there is a packet to put it in,
 * so that it fits; only then it gets a TSN and, with the first fragment, the
 * message its SSN.  Chunks refer to the bytes of the piece, which exists until
 * all of them are acknowledged or abandoned.  The last piece of a message whose
 * end is not known is held back, so that its last fragment can have the E bit.
 *
 * The user may send a message of another kind (ordered or not, or of another
 * stream) between two pieces of a message.  Fragments of two messages cannot
 * be mixed, so that message waits in `aside' until the open one has its end.
 */
#include "association.h"

#define TX_FIRST 32u	/* entries of the ring */
#define TX_MOST SCTP_MAP /* what a peer like us accepts */

static int
send_check(const struct sctp_assoc *as, const struct sctp_info *info, size_t n)
{
	if (as->state != SCTP_COOKIE_WAIT && as->state != SCTP_COOKIE_ECHOED &&
		as->state != SCTP_ESTABLISHED &&
		(as->state != SCTP_SHUTDOWN_RECEIVED || !as->half_closed))
		return EPIPE;
	return n == 0 || n > 0x7fffffff || info->sid >= as->nout ? EINVAL : 0;
}

/* Does what @info describes continue the open message? */
static int
continues(const struct sctp_assoc *as, const struct sctp_info *info)
{
	return info->sid == as->open_info.sid &&
		info->ppid == as->open_info.ppid &&
		((info->flags ^ as->open_info.flags) &
			SCTP_SEND_UNORDERED) == 0;
}

/* ... the last message of `aside'? */
static int
continues_aside(const struct sctp_assoc *as, const struct sctp_info *info)
{
	const struct sctp_seg *s = as->aside_tail;

	return info->sid == s->sid && info->ppid == s->ppid &&
		((info->flags & SCTP_SEND_UNORDERED) != 0) ==
		((s->flags & SCTP_DATA_U) != 0);
}

/* The open message has its end: those that waited for it follow. */
static void
aside_follows(struct sctp_assoc *as)
{
	struct sctp_seg *s;

	while ((s = as->aside) != NULL) {
		as->aside = s->next;
		as->open = s->next == NULL && as->aside_open;
		as->open_abandoned = 0;
		as->open_message = s->message;
		as->open_info.sid = s->sid;
		as->open_info.ppid = s->ppid;
		as->open_info.flags = (s->flags & SCTP_DATA_U) != 0 ?
			SCTP_SEND_UNORDERED : 0;
		sctp_enqueue(as, s);
	}
	as->aside_tail = NULL;
}

/* sctp_send_end - no more is sent: messages without an end have it now */
void
sctp_send_end(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_seg *s;

	(void)env;
	while (as->open) {
		s = sctp_open_piece(as);
		if (s != NULL)
			s->ends = 1;
		as->open = 0;
		sctp_sched_fill(as);
		aside_follows(as);
	}
}

/* Drop pieces of a list whose stream is not below @n. */
static void
drop_pieces(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_seg **list, struct sctp_seg **tail, uint32_t n)
{
	struct sctp_seg *s, *last = NULL;

	while ((s = *list) != NULL) {
		if (s->sid < n) {
			last = s;
			list = &s->next;
			continue;
		}
		*list = s->next;
		if (*tail == s)
			*tail = last;
		sctp_seg_fail(s);
		sctp_seg_done(env, as, s, s->len - s->sent);
	}
}

/*
 * sctp_send_fewer - the peer has the streams below @n only
 * What waits for others is dropped, so that no piece of a message is ever of a
 * stream that does not exist.  An open message of such a stream ends.
 */
void
sctp_send_fewer(const struct sctp_env *env, struct sctp_assoc *as, uint32_t n)
{
	sctp_sched_forget(env, as, n);
	drop_pieces(env, as, &as->queue, &as->queue_tail, n);
	if (as->aside != NULL && as->aside_tail->sid >= n)
		as->aside_open = 0;
	drop_pieces(env, as, &as->aside, &as->aside_tail, n);
	if (as->open && as->open_info.sid >= n) {
		as->open = 0;
		as->open_abandoned = 0;
	}
	sctp_sched_fill(as);
	if (!as->open)
		aside_follows(as);
}

static void
set_life(const struct sctp_env *env, const struct sctp_assoc *as,
	struct sctp_seg *s, const struct sctp_info *info)
{
	s->pr = 0;
	s->life = 0;
	/* a peer that does not know FORWARD TSN gets everything */
	if (as->state == SCTP_ESTABLISHED && !sctp_has(as, SCTP_X_PR))
		return;
	s->pr = info->flags & (SCTP_SEND_TTL | SCTP_SEND_RTX);
	s->life = info->life + (s->pr == SCTP_SEND_TTL ? env->now : 0);
}

static void
put_aside(struct sctp_assoc *as, struct sctp_seg *s)
{
	if (as->aside == NULL)
		as->aside = s;
	else
		as->aside_tail->next = s;
	as->aside_tail = s;
	as->aside_open = !s->ends;
}

/*
 * Bytes that are not sent before the user has sent more: the piece that is held
 * back, and what waits aside.
 */
static uint32_t
held(const struct sctp_assoc *as)
{
	const struct sctp_seg *s = sctp_open_piece(as);
	uint32_t n = s != NULL ? s->len - s->sent : 0;

	for (s = as->aside; s != NULL; s = s->next)
		n += s->len;
	return n;
}

int
sctp_send(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_info *info, const void *p, size_t n)
{
	int err = send_check(as, info, n), aside, begins;
	struct sctp_seg *s;

	if (err != 0)
		return err;
	aside = as->open && !continues(as, info);
	if (aside && as->aside != NULL && as->aside_open &&
		!continues_aside(as, info))
		return EINVAL; /* a third one between the pieces of two */
	begins = !(aside ? as->aside != NULL && as->aside_open : as->open);
	/* one beside an open message is not refused: the user may have the end
	 * of that, for which the reset waits, behind it */
	if (begins && !aside && as->out[info->sid].resetting &&
		(info->flags & SCTP_SEND_FORCE) == 0) {
		as->wants_room = 1;
		return EAGAIN;
	}
	if (as->snd_bytes + n > as->conf.sndbuf &&
		(info->flags & SCTP_SEND_FORCE) == 0 &&
		as->snd_bytes > held(as)) {
		as->wants_room = 1;
		return EAGAIN;
	}
	s = env->alloc(env->arg, sizeof(*s) + n);
	if (s == NULL)
		return ENOMEM;
	as->burst = 0;
	s->next = NULL;
	s->len = s->left = (uint32_t)n;
	s->sent = 0;
	s->ppid = info->ppid;
	s->sid = info->sid;
	s->begins = (uint8_t)begins;
	s->ends = (info->flags & SCTP_SEND_MORE) == 0;
	s->failed = 0;
	s->context = info->context;
	s->flags = ((info->flags & SCTP_SEND_UNORDERED) != 0 ? SCTP_DATA_U : 0)
		| ((info->flags & SCTP_SEND_NOW) != 0 ? SCTP_DATA_I : 0);
	s->message = s->begins ? ++as->message :
		aside ? as->aside_tail->message : as->open_message;
	set_life(env, as, s, info);
	__builtin_memcpy(s->data, p, n);
	as->snd_bytes += s->len;
	if (aside) {
		put_aside(as, s);
		return 0;
	}
	if (s->begins)
		as->open_abandoned = 0;
	as->open = !s->ends;
	as->open_info = *info;
	as->open_message = s->message;
	if (as->open_abandoned) { /* the peer will skip what it has of it */
		s->failed = SCTP_FAILED_UNSENT;
		sctp_seg_done(env, as, s, s->len);
	} else {
		sctp_enqueue(as, s);
	}
	if (!as->open)
		aside_follows(as);
	return 0;
}

/* @n bytes of @s are acknowledged or abandoned. */
void
sctp_seg_done(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_seg *s, uint32_t n)
{
	s->left -= n;
	as->snd_bytes -= n;
	if (s->left == 0 && s->failed != 0 && as->conf.report)
		sctp_failed_add(as, s);
	else if (s->left == 0)
		env->release(env->arg, s, sizeof(*s) + s->len);
	if (as->wants_room && (as->snd_bytes <= as->conf.sndbuf / 4 * 3 ||
		as->snd_bytes <= held(as))) {
		as->wants_room = 0;
		as->events |= SCTP_EV_ROOM;
	}
}

/* A chunk is no longer needed. */
void
sctp_tx_done(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_tx *tx)
{
	if (tx->state == SCTP_TX_FLIGHT) {
		as->path[tx->path].flight -= tx->len;
		as->flight -= tx->len;
	}
	as->nlost -= tx->state == SCTP_TX_LOST;
	as->ngapped -= tx->state == SCTP_TX_ACKED;
	if (tx->seg != NULL)
		sctp_seg_done(env, as, tx->seg, tx->len);
	tx->seg = NULL;
}

/* Bytes that the peer has room for, beyond what is in flight. */
uint32_t
sctp_window(const struct sctp_assoc *as)
{
	return as->peer_rwnd > as->flight ? as->peer_rwnd - as->flight : 0;
}

/* Is there a chunk to be cut off? */
int
sctp_has_new(const struct sctp_assoc *as)
{
	const struct sctp_seg *s = as->queue;

	if (s == NULL || (!s->ends && !sctp_sched_more(as, s)))
		return 0;
	if ((as->reconf != NULL || as->hold_until != 0) &&
		sctp_reconf_holds(as))
		return 0;
	/* RFC 1122 s4.2.3.4, as RFC 9260 s6.1 permits */
	if (as->conf.nagle && as->flight != 0 && s->next == NULL &&
		as->active == SCTP_NONE &&
		s->len - s->sent < as->frag && as->state == SCTP_ESTABLISHED)
		return 0;
	return 1;
}

/* Does new data wait, and only for a closed window to open? */
int
sctp_is_shut_out(const struct sctp_assoc *as)
{
	return as->peer_rwnd == 0 && as->flight == 0 && as->nlost == 0 &&
		sctp_has_new(as);
}

/* Room for one more chunk in the ring; 0: no memory. */
int
sctp_tx_room(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t n = as->next_tsn - as->acked - 1, size, tsn;
	struct sctp_tx *ring;

	if (n < as->tx_size)
		return 1;
	size = as->tx_size != 0 ? 2 * as->tx_size : TX_FIRST;
	if (size > TX_MOST)
		return 0;
	ring = env->alloc(env->arg, size * sizeof(*ring));
	if (ring == NULL)
		return 0;
	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++)
		ring[tsn & (size - 1)] = *sctp_tx_of(as, tsn);
	if (as->tx != NULL)
		env->release(env->arg, as->tx, as->tx_size * sizeof(*ring));
	as->tx = ring;
	as->tx_size = size;
	return 1;
}

/* How many bytes of @s go into the next chunk of @o; 0: none. */
static uint32_t
cut(const struct sctp_assoc *as, const struct sctp_seg *s,
	const struct sctp_out *o, int first)
{
	uint32_t rest = s->len - s->sent;
	uint32_t len = rest < as->frag ? rest : as->frag;
	size_t room = sctp_out_room(o, sctp_data_type(as));

	if (room <= as->data_hdr)
		return 0;
	room -= as->data_hdr;
	if (len <= room)
		return len;
	/* a message that needs fragments anyway may fill the packet */
	if (first && rest > as->frag && room >= SCTP_DATA_LEAST)
		return (uint32_t)room & ~3u;
	return 0;
}

/* RFC 7053 s4.1: the sender waits for this SACK. */
static int
wants_sack(const struct sctp_assoc *as, const struct sctp_seg *s)
{
	if (s->sent != s->len)
		return 0;
	if ((s->flags & SCTP_DATA_I) != 0)
		return 1;
	return s->next == NULL && (as->wants_room ||
		as->state == SCTP_SHUTDOWN_PENDING);
}

/* Write the chunk of @tx at @p. */
void
sctp_tx_write(const struct sctp_assoc *as, const struct sctp_tx *tx,
	uint32_t tsn, unsigned char *p)
{
	const struct sctp_seg *s = tx->seg;

	p[1] = tx->flags;
	sctp_put32(p + SCTP_DATA_TSN, tsn);
	sctp_put16(p + SCTP_DATA_SID, s->sid);
	if (!sctp_has(as, SCTP_X_IDATA)) {
		sctp_put16(p + SCTP_DATA_SSN, tx->ssn);
		__builtin_memcpy(p + SCTP_DATA_PPID, &s->ppid, 4);
	} else {
		sctp_put16(p + SCTP_DATA_SSN, 0); /* reserved */
		sctp_put32(p + SCTP_I_DATA_MID, tx->ssn);
		if ((tx->flags & SCTP_DATA_B) != 0)
			__builtin_memcpy(p + SCTP_I_DATA_PPID, &s->ppid, 4);
		else
			sctp_put32(p + SCTP_I_DATA_PPID, tx->fsn);
	}
	__builtin_memcpy(p + as->data_hdr, s->data + tx->off, tx->len);
}

/* It is in a packet to @path. */
void
sctp_tx_sent(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_tx *tx, uint32_t tsn, uint32_t path)
{
	struct sctp_path *pa = &as->path[path];

	tx->state = SCTP_TX_FLIGHT;
	tx->path = (uint8_t)path;
	tx->miss = tx->refused = 0;
	as->probe = 0;
	tx->sends += tx->sends != 255;
	tx->sent_at = env->now;
	pa->flight += tx->len;
	as->flight += tx->len;
	/* s6.3.2 (R1); in COOKIE-ECHOED T1 does this */
	if (pa->t3_at == 0 && as->state != SCTP_COOKIE_ECHOED)
		pa->t3_at = env->now + pa->rto;
	/* s6.3.1 (C4), (C5): one measurement in a round trip */
	if (!pa->timing && tx->sends == 1) {
		pa->timing = 1;
		pa->timed_tsn = tsn;
	}
}

/* The message that @s begins gets its number. */
static void
number(struct sctp_assoc *as, const struct sctp_seg *s)
{
	struct sctp_out_stream *st = &as->out[s->sid];

	st->fsn = 0;
	if ((s->flags & SCTP_DATA_U) == 0)
		st->mid = st->next++;
	else
		st->mid = sctp_has(as, SCTP_X_IDATA) ? st->next_u++ : 0;
}

/*
 * Cut a chunk off the queue and put it into @o, for @path.
 * Return: 1; 0: it does not fit, or must not be sent now; 2: a message was
 * dropped instead.
 */
int
sctp_tx_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path, int first)
{
	struct sctp_seg *s = as->queue;
	uint32_t len, tsn = as->next_tsn;
	struct sctp_tx *tx;
	unsigned char *p;

	if (sctp_pr_is_over(env, as, s, 0) &&
		sctp_pr_abandon(env, as, s->sid, s->message))
		return 2;
	if (first)
		sctp_cc_idle(&as->path[path], env->now);
	len = cut(as, s, o, first);
	if (len == 0 || (len > sctp_window(as) && as->flight != 0))
		return 0;
	if (!sctp_tx_room(env, as)) {
		/* tried again at the next event; T3 makes sure of one */
		if (as->path[path].t3_at == 0)
			as->path[path].t3_at = env->now + as->path[path].rto;
		return 0;
	}
	p = sctp_out_chunk(o, sctp_data_type(as), 0, as->data_hdr + len);
	if (s->begins && s->sent == 0)
		number(as, s);
	tx = sctp_tx_of(as, tsn);
	__builtin_memset(tx, 0, sizeof(*tx));
	tx->seg = s;
	tx->sid = s->sid;
	tx->off = s->sent;
	tx->len = (uint16_t)len;
	tx->ssn = as->out[s->sid].mid;
	tx->fsn = as->out[s->sid].fsn++;
	tx->flags = (s->flags & SCTP_DATA_U) |
		(s->begins && s->sent == 0 ? SCTP_DATA_B : 0);
	s->sent += len;
	if (s->ends && s->sent == s->len)
		tx->flags |= SCTP_DATA_E;
	if (wants_sack(as, s))
		tx->flags |= SCTP_DATA_I;
	sctp_tx_write(as, tx, tsn, p);
	sctp_tx_sent(env, as, tx, tsn, path);
	as->next_tsn++;
	if (as->ep != NULL)
		as->ep->count[SCTP_N_DATA_OUT]++;
	if (s->sent == s->len)
		as->queue = s->next;
	if (as->scheduler != SCTP_SCHED_FCFS)
		sctp_sched_sent(as, s, len);
	return 1;
}
