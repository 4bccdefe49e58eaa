/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Our requests to change streams: RFC 6525 s5.1, s5.2.7.
 *
 * One request is under way at a time.  First it waits until what the user sent
 * before has TSNs, and for new TSNs until all is acknowledged; then it is sent,
 * and repeated until each of its parts is answered.  Unanswered ones are errors
 * of the path.  Meanwhile a stream that is being reset takes no new message, so
 * that no message with an old number follows the request.  One beside an open
 * message is taken, and gets its number before the request or after the answer.
 *
 * A request may be the answer to one of the peer's: the peer asks us to reset
 * what we send, or to send more streams.
 */
#include "association.h"

/* The parts have numbers in this order. */
static uint32_t
seq_of(const struct sctp_reconf *r, uint32_t part)
{
	return r->seq[(r->all & (part - 1)) != 0];
}

static size_t
size_of(const struct sctp_reconf *r)
{
	return sizeof(*r) + r->nsids * sizeof(r->sid[0]);
}

void
sctp_reconf_forget(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_reconf *r = as->reconf;
	uint32_t i;

	as->owes &= ~SCTP_OWES_RECONF;
	if (r == NULL)
		return;
	as->reconf = NULL;
	for (i = 0; i < as->nout; i++)
		as->out[i].resetting = 0;
	env->release(env->arg, r, size_of(r));
	if (as->wants_room) {
		as->wants_room = 0;
		as->events |= SCTP_EV_ROOM;
	}
}

/* May a request begin? */
static int
check(const struct sctp_assoc *as)
{
	if (as->state != SCTP_ESTABLISHED)
		return EPIPE;
	if (!sctp_has(as, SCTP_X_RECONF))
		return EOPNOTSUPP;
	return as->reconf != NULL ? EBUSY : 0;
}

/* A request with @parts; @sid is stored. NULL: no memory */
static struct sctp_reconf *
begin(const struct sctp_env *env, struct sctp_assoc *as, uint32_t parts,
	const uint16_t *sid, uint32_t n)
{
	struct sctp_reconf *r = env->alloc(env->arg, sizeof(*r) +
		n * sizeof(r->sid[0]));
	uint32_t i;

	if (r == NULL)
		return NULL;
	__builtin_memset(r, 0, sizeof(*r));
	r->parts = r->all = parts;
	r->after = as->message;
	r->seq[0] = as->reconf_seq++;
	r->seq[1] = as->reconf_seq;
	as->reconf_seq += (parts & (parts - 1)) != 0;
	r->nsids = n;
	if (n != 0)
		__builtin_memcpy(r->sid, sid, n * sizeof(r->sid[0]));
	if ((parts & SCTP_RECONF_OUT) != 0)
		for (i = 0; i < n; i++)
			as->out[sid[i]].resetting = 1;
	if ((parts & SCTP_RECONF_TSN) != 0 ||
		((parts & SCTP_RECONF_OUT) != 0 && n == 0))
		for (i = 0; i < as->nout; i++)
			as->out[i].resetting = 1;
	as->reconf = r;
	return r;
}

int
sctp_reset_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t what, const uint16_t *sid, uint32_t n)
{
	int err = check(as);
	uint32_t i;

	if (err != 0)
		return err;
	/* the list of both directions fits one packet */
	if (what == 0 || (what & ~(SCTP_RECONF_OUT | SCTP_RECONF_IN)) != 0 ||
		SCTP_TLV + SCTP_RECONF_OUT_HDR + SCTP_RECONF_IN_HDR +
		4ull * n > as->frag)
		return EINVAL;
	for (i = 0; i < n; i++)
		if (((what & SCTP_RECONF_OUT) != 0 && sid[i] >= as->nout) ||
			((what & SCTP_RECONF_IN) != 0 && sid[i] >= as->nin))
			return EINVAL;
	return begin(env, as, what, sid, n) != NULL ? 0 : ENOMEM;
}

int
sctp_reset_tsn(const struct sctp_env *env, struct sctp_assoc *as)
{
	int err = check(as);

	if (err != 0)
		return err;
	return begin(env, as, SCTP_RECONF_TSN, NULL, 0) != NULL ? 0 : ENOMEM;
}

static int
add(const struct sctp_env *env, struct sctp_assoc *as, uint32_t out,
	uint32_t in)
{
	struct sctp_reconf *r = begin(env, as,
		(out != 0 ? SCTP_RECONF_ADD_OUT : 0) |
		(in != 0 ? SCTP_RECONF_ADD_IN : 0), NULL, 0);

	if (r == NULL)
		return ENOMEM;
	r->add_out = (uint16_t)out;
	r->add_in = (uint16_t)in;
	return 0;
}

int
sctp_add_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t out, uint32_t in)
{
	int err = check(as);

	if (err != 0)
		return err;
	if (out + in == 0 || out > 0xffffu - as->nout ||
		in > 0xffffu - as->nin)
		return EINVAL;
	return add(env, as, out, in);
}

/* The peer asks us to reset what we send; its request has number @seq. */
int
sctp_reconf_answer_out(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, const uint16_t *sid, uint32_t n)
{
	struct sctp_reconf *r = begin(env, as, SCTP_RECONF_OUT, sid, n);

	if (r == NULL)
		return ENOMEM;
	r->is_answer = 1;
	r->answers = seq;
	return 0;
}

/* The peer asks us to send @n more streams. */
int
sctp_reconf_answer_add(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n)
{
	int err = add(env, as, n, 0);

	if (err == 0)
		as->reconf->is_answer = 1;
	return err;
}

/* ---------------------------------------------------------------- sending */

/*
 * Has a part of the message at the front of the queue a TSN?  With I-DATA another
 * scheduler may have begun others.
 */
static int
is_queue_amid(const struct sctp_assoc *as)
{
	const struct sctp_seg *s = as->queue, *last = NULL;

	if (s == NULL)
		return as->open;
	if (!sctp_has(as, SCTP_X_IDATA))
		return !s->begins || s->sent != 0;
	for (; s != NULL; last = s, s = s->next)
		if (s->sent != 0 || (!s->begins &&
			(last == NULL || last->message != s->message)))
			return 1;
	return 0;
}

/* Has a part of a message a TSN, and the rest none yet? */
int
sctp_is_amid(const struct sctp_assoc *as)
{
	return is_queue_amid(as) || sctp_sched_amid(as, 0);
}

/* May no chunk be cut off the queue, which is not empty? */
int
sctp_reconf_holds(const struct sctp_assoc *as)
{
	const struct sctp_reconf *r = as->reconf;

	if (as->hold_until != 0) /* messages that are begun go on */
		return as->queue->begins && as->queue->sent == 0;
	/* a message that was accepted in spite of the reset */
	return r != NULL && r->sent && as->queue->sid < as->nout &&
		as->out[as->queue->sid].resetting;
}

/* Is a message of a stream that is being reset sent in part?  All its fragments
 * have the number that it got at first. */
static int
is_amid_reset(const struct sctp_assoc *as)
{
	uint32_t sid = as->queue != NULL ? as->queue->sid : as->open_info.sid;

	return (is_queue_amid(as) && sid < as->nout &&
		as->out[sid].resetting) || sctp_sched_amid(as, 1);
}

/* Has what the user sent before the request TSNs, as far as it matters? */
static int
is_drained(const struct sctp_assoc *as, const struct sctp_reconf *r)
{
	if ((r->all & (SCTP_RECONF_OUT | SCTP_RECONF_TSN)) == 0)
		return 1;
	if (is_amid_reset(as))
		return 0;
	if (as->queue != NULL && !sctp_before(r->after, as->queue->message))
		return 0;
	if ((as->open && !sctp_before(r->after, as->open_message)) ||
		sctp_sched_waits(as, r->after))
		return 0;
	return (r->all & SCTP_RECONF_TSN) == 0 ||
		as->acked + 1 == as->next_tsn;
}

/* Is the request to be sent now? */
void
sctp_reconf_look(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_reconf *r = as->reconf;

	if (as->state != SCTP_ESTABLISHED &&
		as->state != SCTP_SHUTDOWN_PENDING &&
		as->state != SCTP_SHUTDOWN_RECEIVED) {
		sctp_reconf_forget(env, as);
		return;
	}
	if (r->sent || !is_drained(as, r))
		return;
	r->sent = 1;
	r->last = as->next_tsn - 1;
	as->owes |= SCTP_OWES_RECONF;
}

static unsigned char *
put_head(unsigned char *p, unsigned int type, uint32_t len, uint32_t seq)
{
	sctp_put16(p, type);
	sctp_put16(p + 2, len);
	sctp_put32(p + SCTP_RECONF_SEQ, seq);
	return p + 8;
}

/* The list of streams at @p, with padding. */
static unsigned char *
put_sids(unsigned char *p, const struct sctp_reconf *r)
{
	uint32_t i;

	for (i = 0; i < r->nsids; i++, p += 2)
		sctp_put16(p, r->sid[i]);
	if (r->nsids % 2 != 0) {
		sctp_put16(p, 0);
		p += 2;
	}
	return p;
}

/* The length of the parts that are not answered, without last padding. */
static size_t
parts_size(const struct sctp_reconf *r)
{
	size_t list = 2 * (size_t)r->nsids, n = 0;

	if ((r->parts & SCTP_RECONF_OUT) != 0)
		n = SCTP_RECONF_OUT_HDR + list;
	if ((r->parts & SCTP_RECONF_IN) != 0)
		n = sctp_padded(n) + SCTP_RECONF_IN_HDR + list;
	if ((r->parts & SCTP_RECONF_TSN) != 0)
		n += SCTP_RECONF_IN_HDR;
	if ((r->parts & SCTP_RECONF_ADD_OUT) != 0)
		n += SCTP_RECONF_ADD_LEN;
	if ((r->parts & SCTP_RECONF_ADD_IN) != 0)
		n += SCTP_RECONF_ADD_LEN;
	return n;
}

/* The parts that are not answered, and their padding, at @at. */
static void
put_parts(const struct sctp_reconf *r, unsigned char *at)
{
	uint32_t list = 2 * r->nsids;

	if ((r->parts & SCTP_RECONF_OUT) != 0) {
		at = put_head(at, SCTP_P_RESET_OUT, SCTP_RECONF_OUT_HDR + list,
			seq_of(r, SCTP_RECONF_OUT));
		sctp_put32(at, r->is_answer ? r->answers : 0);
		sctp_put32(at + 4, r->last);
		at = put_sids(at + 8, r);
	}
	if ((r->parts & SCTP_RECONF_IN) != 0)
		at = put_sids(put_head(at, SCTP_P_RESET_IN, SCTP_RECONF_IN_HDR
			+ list, seq_of(r, SCTP_RECONF_IN)), r);
	if ((r->parts & SCTP_RECONF_TSN) != 0)
		at = put_head(at, SCTP_P_RESET_TSN, SCTP_RECONF_IN_HDR,
			seq_of(r, SCTP_RECONF_TSN));
	if ((r->parts & SCTP_RECONF_ADD_OUT) != 0) {
		at = put_head(at, SCTP_P_ADD_OUT, SCTP_RECONF_ADD_LEN,
			seq_of(r, SCTP_RECONF_ADD_OUT));
		sctp_put32(at, (uint32_t)r->add_out << 16);
		at += 4;
	}
	if ((r->parts & SCTP_RECONF_ADD_IN) != 0) {
		at = put_head(at, SCTP_P_ADD_IN, SCTP_RECONF_ADD_LEN,
			seq_of(r, SCTP_RECONF_ADD_IN));
		sctp_put32(at, (uint32_t)r->add_in << 16);
	}
}

void
sctp_reconf_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	struct sctp_reconf *r = as->reconf;
	size_t n = SCTP_TLV + parts_size(r);
	unsigned char *p;

	/* the path's MTU has become less: IP fragments the packet */
	sctp_out_widen(o, SCTP_C_RECONF, n);
	p = sctp_out_chunk(o, SCTP_C_RECONF, 0, n);
	if (p == NULL && o->n > SCTP_HDR)
		return; /* the next packet has room */
	as->owes &= ~SCTP_OWES_RECONF;
	if (p != NULL)
		put_parts(r, p + SCTP_TLV);
	r->path = path;
	r->at = env->now + as->path[path].rto;
}

/* s5.1.1: the request is not answered. */
void
sctp_reconf_expired(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_reconf *r = as->reconf;
	uint32_t path = r->path < as->npaths ? r->path : as->primary;

	r->at = 0;
	if (!r->waits) {
		sctp_rto_backoff(&as->conf, &as->path[path]);
		sctp_path_error(env, as, path);
		if (as->down != SCTP_DOWN_NOT)
			return;
	}
	r->waits = 0;
	as->owes |= SCTP_OWES_RECONF;
}

/* ---------------------------------------------------------------- answers */

/*
 * New TSNs for both sides, and all SSNs begin with 0 (s5.2.4, s5.2.7).  All of
 * ours is acknowledged; what is incomplete of the peer's is dropped.
 */
void
sctp_new_tsns(const struct sctp_env *env, struct sctp_assoc *as, uint32_t mine,
	uint32_t peers)
{
	struct sctp_path *pa;
	uint32_t i;

	if (!sctp_has(as, SCTP_X_IDATA))
		sctp_rx_skip_runs(env, as, as->high + 1); /* a partial one */
	for (i = 0; i < as->nin; i++)
		sctp_rx_reset_stream(env, as, (uint16_t)i);
	for (i = 0; i < as->nout; i++)
		as->out[i].next = as->out[i].next_u = 0;
	__builtin_memset(as->map, 0, sizeof(as->map));
	as->cum = as->high = peers - 1;
	as->ndups = 0;
	as->jumped = 1;
	as->jumped_from = as->next_tsn;
	as->next_tsn = as->lost_from = mine;
	as->acked = as->advanced = as->told = mine - 1;
	for (pa = as->path; pa < as->path + as->npaths; pa++)
		pa->timing = pa->fast = 0;
	as->owes &= ~SCTP_OWES_FORWARD;
}

static int
more_out(const struct sctp_env *env, struct sctp_assoc *as, uint32_t n)
{
	struct sctp_out_stream *out = sctp_assoc_more(env, as->out, &as->nout,
		as->nout + n, sizeof(*out));

	if (out == NULL)
		return 0;
	as->out = out;
	return 1;
}

/* Do what the peer has agreed to; 0: no memory. */
static int
perform(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_reconf *r, uint32_t part, const uint32_t *tsns)
{
	uint32_t i;

	switch (part) {
	case SCTP_RECONF_OUT:
		for (i = 0; i < as->nout; i++)
			if (as->out[i].resetting)
				as->out[i].next = as->out[i].next_u = 0;
		return 1;
	case SCTP_RECONF_TSN:
		sctp_new_tsns(env, as, tsns[1], tsns[0]);
		return 1;
	case SCTP_RECONF_ADD_OUT:
		return more_out(env, as, r->add_out);
	default: /* what the peer does itself */
		return 1;
	}
}

/* All parts are answered. */
static void
finish(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_reconf *r = as->reconf;
	uint32_t what = r->all;
	uint16_t *sid = NULL;

	if (r->is_answer && r->all == SCTP_RECONF_OUT)
		as->answer[r->answers % 2] = r->result;
	if (r->is_answer) /* as the peer sees it */
		what = r->all == SCTP_RECONF_OUT ? SCTP_RECONF_IN :
						   SCTP_RECONF_ADD_IN;
	if (!r->is_answer || r->result <= SCTP_R_DONE)
		sid = sctp_change_add(env, as, !r->is_answer, what, r->result,
			r->nsids);
	if (sid != NULL)
		__builtin_memcpy(sid, r->sid, r->nsids * sizeof(*sid));
	sctp_reconf_forget(env, as);
}

/*
 * The peer has answered the part with number @seq.
 * @tsns: the peer's next TSN and ours; or NULL
 */
void
sctp_reconf_answered(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, uint32_t result, const uint32_t *tsns)
{
	struct sctp_reconf *r = as->reconf;
	uint32_t part;

	if (r == NULL || !r->sent)
		return;
	for (part = SCTP_RECONF_OUT; part <= SCTP_RECONF_ADD_IN; part <<= 1)
		if ((r->parts & part) != 0 && seq_of(r, part) == seq)
			break;
	if (part > SCTP_RECONF_ADD_IN)
		return; /* an old answer */
	if (r->path < as->npaths)
		sctp_path_alive(as, r->path);
	if (result == SCTP_R_IN_PROGRESS) { /* s5.2.7: ask again later */
		r->waits = 1;
		return;
	}
	if (part == SCTP_RECONF_TSN && result == SCTP_R_DONE && tsns == NULL)
		return;
	if (result == SCTP_R_DONE && !perform(env, as, r, part, tsns))
		return; /* as if the answer had been lost */
	r->parts &= ~part;
	if (result > SCTP_R_DONE || r->result == 0)
		r->result = (uint8_t)(r->result > SCTP_R_DONE ? r->result :
			result < 256 ? result : SCTP_R_DENIED);
	if (r->parts == 0)
		finish(env, as);
}
