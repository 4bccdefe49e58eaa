/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The peer's requests to change streams: RFC 6525 s5.2.
 *
 * Requests have consecutive numbers.  The last two answers are kept: a request
 * that is repeated gets its answer again.  One that cannot be done yet is
 * answered by "in progress", and is not counted as received: the peer repeats
 * it, with the same number.
 */
#include "association.h"

/* Answers, for one chunk. */
struct answers {
	unsigned char p[2 * SCTP_RECONF_ANSWER_TSNS];
	size_t n;
};

static void
answer(struct answers *a, uint32_t seq, uint32_t result, const uint32_t *tsns)
{
	unsigned char *p = a->p + a->n;
	uint32_t len = tsns != NULL ? SCTP_RECONF_ANSWER_TSNS :
				      SCTP_RECONF_ANSWER;

	sctp_put16(p, SCTP_P_RECONF_ANSWER);
	sctp_put16(p + 2, len);
	sctp_put32(p + 4, seq);
	sctp_put32(p + 8, result);
	if (tsns != NULL) {
		sctp_put32(p + 12, tsns[0]);
		sctp_put32(p + 16, tsns[1]);
	}
	a->n += len;
}

/* The streams of a list from @at on; 0: one of them is not below @limit. */
static int
sids_are_good(const struct sctp_tlv *t, uint32_t at, uint32_t limit)
{
	for (; at + 2 <= t->len; at += 2)
		if (sctp_get16(t->p + at) >= limit)
			return 0;
	return 1;
}

/* s5.2.2: the peer resets what it sends. */
static uint32_t
reset_out(struct sctp_in *in, const struct sctp_tlv *t)
{
	struct sctp_assoc *as = in->as;
	uint32_t at = SCTP_RECONF_OUT_HDR, i, n = (t->len - at) / 2;
	uint16_t *sid;

	if ((as->conf.reconf & SCTP_RECONF_OUT) == 0)
		return SCTP_R_DENIED;
	if (!sids_are_good(t, at, as->nin))
		return SCTP_R_WRONG_SSN;
	/* what was sent before has not arrived */
	if (sctp_before(as->cum, sctp_get32(t->p + 12)))
		return SCTP_R_IN_PROGRESS;
	if (n == 0)
		for (i = 0; i < as->nin; i++)
			sctp_rx_reset_stream(in->env, as, (uint16_t)i);
	sid = sctp_change_add(in->env, as, 0, SCTP_RECONF_OUT, SCTP_R_DONE, n);
	for (i = 0; i < n; i++, at += 2) {
		sctp_rx_reset_stream(in->env, as, sctp_get16(t->p + at));
		if (sid != NULL)
			sid[i] = sctp_get16(t->p + at);
	}
	return SCTP_R_DONE;
}

/*
 * s5.2.3: the peer wants us to reset what we send.  Our own request answers it;
 * until that is answered, the answer to repetitions is "in progress".
 */
static uint32_t
reset_in(struct sctp_in *in, const struct sctp_tlv *t, uint32_t seq)
{
	struct sctp_assoc *as = in->as;
	uint16_t sid[SCTP_ERROR_MOST];
	uint32_t n = (t->len - SCTP_RECONF_IN_HDR) / 2, i;

	if ((as->conf.reconf & SCTP_RECONF_IN) == 0 || n > SCTP_ERROR_MOST ||
		as->state != SCTP_ESTABLISHED ||
		SCTP_TLV + SCTP_RECONF_OUT_HDR + 2 * n > as->frag)
		return SCTP_R_DENIED;
	if (!sids_are_good(t, SCTP_RECONF_IN_HDR, as->nout))
		return SCTP_R_WRONG_SSN;
	if (as->reconf != NULL)
		return SCTP_R_BUSY;
	for (i = 0; i < n; i++)
		sid[i] = sctp_get16(t->p + SCTP_RECONF_IN_HDR + 2 * i);
	return sctp_reconf_answer_out(in->env, as, seq, sid, n) == 0 ?
		SCTP_R_IN_PROGRESS : SCTP_NONE;
}

/*
 * s5.2.4: new TSNs.  What we have sent has to be acknowledged before, and be
 * whole messages; new ones wait for a while, so that this will be so when the
 * peer asks again.
 *
 * Our own TSNs jump, too, so that the peer drops our new data until it has the
 * answer: if the answer is lost, the peer could not tell new stream sequence
 * numbers from old ones.
 */
static uint32_t
reset_tsn(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;

	if ((as->conf.reconf & SCTP_RECONF_TSN) == 0)
		return SCTP_R_DENIED;
	if (as->reconf != NULL)
		return SCTP_R_BUSY;
	if (as->acked + 1 != as->next_tsn || sctp_is_amid(as) ||
		as->cum != as->high || as->run != NULL || as->partial ||
		as->nparts != 0) {
		as->hold_until = in->env->now +
			4ull * as->path[as->primary].rto;
		return SCTP_R_IN_PROGRESS;
	}
	as->hold_until = 0;
	as->answer_tsns[0] = as->next_tsn + 0x40000000u;
	as->answer_tsns[1] = as->cum + 1 + 0x80000000u;
	sctp_new_tsns(in->env, as, as->answer_tsns[0], as->answer_tsns[1]);
	(void)sctp_change_add(in->env, as, 0, SCTP_RECONF_TSN, SCTP_R_DONE, 0);
	return SCTP_R_DONE;
}

/* s5.2.5: the peer sends @n more streams. */
static uint32_t
add_out(struct sctp_in *in, uint32_t n)
{
	struct sctp_assoc *as = in->as;
	struct sctp_in_stream *more;

	if (n == 0)
		return SCTP_R_NOTHING;
	if ((as->conf.reconf & SCTP_RECONF_ADD_OUT) == 0 ||
		as->nin + n > as->conf.istreams)
		return SCTP_R_DENIED;
	more = sctp_assoc_more(in->env, as->in, &as->nin, as->nin + n,
		sizeof(*more));
	if (more == NULL)
		return SCTP_NONE;
	as->in = more;
	(void)sctp_change_add(in->env, as, 0, SCTP_RECONF_ADD_OUT, SCTP_R_DONE,
		0);
	return SCTP_R_DONE;
}

/* s5.2.6: the peer wants us to send @n more streams; we ask for them. */
static uint32_t
add_in(struct sctp_in *in, uint32_t n)
{
	struct sctp_assoc *as = in->as;

	if (n == 0)
		return SCTP_R_NOTHING;
	if ((as->conf.reconf & SCTP_RECONF_ADD_IN) == 0 ||
		as->nout + n > as->conf.ostreams_most || as->state != SCTP_ESTABLISHED)
		return SCTP_R_DENIED;
	if (as->reconf != NULL)
		return SCTP_R_BUSY;
	return sctp_reconf_answer_add(in->env, as, n) == 0 ? SCTP_R_DONE :
							     SCTP_NONE;
}

/* A request with the next number.  SCTP_NONE: no memory, as if it were lost. */
static uint32_t
request(struct sctp_in *in, const struct sctp_tlv *t, uint32_t seq)
{
	switch (t->type) {
	case SCTP_P_RESET_OUT:
		return reset_out(in, t);
	case SCTP_P_RESET_IN:
		return reset_in(in, t, seq);
	case SCTP_P_RESET_TSN:
		return reset_tsn(in);
	case SCTP_P_ADD_OUT:
		return add_out(in, sctp_get16(t->p + 8));
	default:
		return add_in(in, sctp_get16(t->p + 8));
	}
}

/* Answer a request whose form is good. */
static void
requested(struct sctp_in *in, const struct sctp_tlv *t, struct answers *a)
{
	struct sctp_assoc *as = in->as;
	uint32_t seq = sctp_get32(t->p + SCTP_RECONF_SEQ), result;
	int own; /* our own request is the answer */

	if (seq != as->peer_reconf) { /* repeated, or wrong */
		result = as->peer_reconf - seq <= 2 ? as->answer[seq % 2] :
						      SCTP_R_BAD_SEQ;
		answer(a, seq, result, t->type == SCTP_P_RESET_TSN &&
			result == SCTP_R_DONE ? as->answer_tsns : NULL);
		return;
	}
	result = request(in, t, seq);
	if (result == SCTP_NONE)
		return;
	own = t->type == SCTP_P_RESET_IN && result == SCTP_R_IN_PROGRESS;
	if (result != SCTP_R_IN_PROGRESS || own) {
		as->peer_reconf++;
		as->answer[seq % 2] = (uint8_t)result;
	}
	if (!own)
		answer(a, seq, result, t->type == SCTP_P_RESET_TSN &&
			result == SCTP_R_DONE ? as->answer_tsns : NULL);
	/* s5.2.2: it may answer a request of ours */
	if (t->type == SCTP_P_RESET_OUT && result == SCTP_R_DONE)
		sctp_reconf_answered(in->env, as, sctp_get32(t->p + 8),
			SCTP_R_DONE, NULL);
}

static void
answered(struct sctp_in *in, const struct sctp_tlv *t)
{
	uint32_t tsns[2];

	if (t->len == SCTP_RECONF_ANSWER_TSNS) {
		tsns[0] = sctp_get32(t->p + 12);
		tsns[1] = sctp_get32(t->p + 16);
	}
	sctp_reconf_answered(in->env, in->as, sctp_get32(t->p + 4),
		sctp_get32(t->p + 8),
		t->len == SCTP_RECONF_ANSWER_TSNS ? tsns : NULL);
}

/* The length that a parameter of this type has; 0: wrong, or unknown. */
static int
is_good(const struct sctp_tlv *t)
{
	switch (t->type) {
	case SCTP_P_RESET_OUT:
		return t->len >= SCTP_RECONF_OUT_HDR && t->len % 2 == 0;
	case SCTP_P_RESET_IN:
		return t->len >= SCTP_RECONF_IN_HDR && t->len % 2 == 0;
	case SCTP_P_RESET_TSN:
		return t->len == SCTP_RECONF_IN_HDR;
	case SCTP_P_RECONF_ANSWER:
		return t->len == SCTP_RECONF_ANSWER ||
			t->len == SCTP_RECONF_ANSWER_TSNS;
	case SCTP_P_ADD_OUT:
	case SCTP_P_ADD_IN:
		return t->len == SCTP_RECONF_ADD_LEN;
	default:
		return 0;
	}
}

/* s3.1: one or two parameters. */
void
sctp_reconf_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct answers a = {.n = 0};
	struct sctp_tlv t;
	size_t at = SCTP_TLV;
	unsigned char *p;
	int n;

	if (as->state != SCTP_ESTABLISHED &&
		as->state != SCTP_SHUTDOWN_PENDING &&
		as->state != SCTP_SHUTDOWN_RECEIVED)
		return;
	for (n = 0; n < 2 && sctp_param_next(c->p, c->len, &at, &t) == 1 &&
		is_good(&t); n++) {
		if (t.type == SCTP_P_RECONF_ANSWER)
			answered(in, &t);
		else
			requested(in, &t, &a);
	}
	if (a.n == 0)
		return;
	p = sctp_control_add(in->env, as, as->from_path, SCTP_C_RECONF, 0,
		SCTP_TLV + a.n);
	if (p != NULL)
		__builtin_memcpy(p + SCTP_TLV, a.p, a.n);
}
