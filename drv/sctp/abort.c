/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ABORT and ERROR: RFC 9260 s3.3.7, s3.3.10, s9.1.
 */
#include "association.h"

static size_t
quoted(size_t n)
{
	return n < SCTP_ERROR_MOST ? n : SCTP_ERROR_MOST;
}

/*
 * Answer the packet by an ABORT.
 * @tag:       the verification tag
 * @reflected: it is the packet's own: the T bit
 * @cause:     SCTP_E_NONE: without a cause
 */
void
sctp_reply_abort(struct sctp_in *in, uint32_t tag, int reflected,
	enum sctp_cause cause, const void *info, size_t n)
{
	struct sctp_out o;
	unsigned char *p;

	n = quoted(n);
	sctp_out_begin(&o, in->reply->p, in->reply->size, in->dport, in->sport,
		tag);
	p = sctp_out_chunk(&o, SCTP_C_ABORT, reflected ? SCTP_T_BIT : 0,
		SCTP_TLV + (cause != SCTP_E_NONE ? SCTP_TLV + n : 0));
	if (p == NULL)
		return;
	if (cause != SCTP_E_NONE)
		(void)sctp_put_tlv(p + SCTP_TLV, cause, info, n);
	in->reply->n = sctp_out_end(&o, in->ep->instruction);
}

/* End the association by an ABORT with this cause. */
void
sctp_abort_with(const struct sctp_env *env, struct sctp_assoc *as,
	enum sctp_down why, enum sctp_cause cause, const void *info, size_t n)
{
	unsigned char *p;

	if (as->down != SCTP_DOWN_NOT)
		return;
	n = quoted(n);
	while (as->control != NULL)
		sctp_control_drop(env, as);
	/* in COOKIE-WAIT the peer's tag is not known: nothing is sent */
	if (as->peer_tag != 0) {
		p = sctp_control_add(env, as, SCTP_NONE, SCTP_C_ABORT, 0,
			SCTP_TLV + SCTP_TLV + n);
		if (p != NULL) {
			(void)sctp_put_tlv(p + SCTP_TLV, cause, info, n);
			as->owes |= SCTP_OWES_ABORT;
		}
	}
	sctp_assoc_down(as, why);
	sctp_assoc_forget_data(env, as);
}

/* The peer violated the protocol; @what says how, in the ABORT. */
void
sctp_violation(const struct sctp_env *env, struct sctp_assoc *as,
	const char *what)
{
	sctp_abort_with(env, as, SCTP_DOWN_PROTOCOL, SCTP_E_PROTOCOL, what,
		__builtin_strlen(what));
}

void
sctp_abort(const struct sctp_env *env, struct sctp_assoc *as, const void *p,
	size_t n)
{
	sctp_abort_with(env, as, SCTP_DOWN_USER, SCTP_E_USER, p, n);
}

size_t
sctp_abort_packet(unsigned char *p, uint16_t sport, uint16_t dport,
	uint32_t peer_tag)
{
	struct sctp_out o;

	sctp_out_begin(&o, p, 64, sport, dport, peer_tag);
	o.unsummed = 1;
	p = sctp_out_chunk(&o, SCTP_C_ABORT, 0, SCTP_TLV + SCTP_TLV);
	if (p != NULL)
		(void)sctp_put_tlv(p + SCTP_TLV, SCTP_E_USER, NULL, 0);
	return sctp_out_end(&o, 0);
}

/* Queue an ERROR with one cause. */
void
sctp_error_send(const struct sctp_env *env, struct sctp_assoc *as,
	enum sctp_cause cause, const void *info, size_t n)
{
	unsigned char *p;

	n = quoted(n);
	p = sctp_control_add(env, as, SCTP_NONE, SCTP_C_ERROR, 0,
		SCTP_TLV + SCTP_TLV + n);
	if (p != NULL)
		(void)sctp_put_tlv(p + SCTP_TLV, cause, info, n);
}

/* Keep a cause for the user. */
static void
keep(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_tlv *cause)
{
	uint32_t n = cause->len - SCTP_TLV;

	if (as->cause_data != NULL)
		env->release(env->arg, as->cause_data, as->ncause);
	as->cause_data = NULL;
	as->ncause = 0;
	as->cause = cause->type;
	n = (uint32_t)quoted(n);
	if (n == 0)
		return;
	as->cause_data = env->alloc(env->arg, n);
	if (as->cause_data == NULL)
		return;
	__builtin_memcpy(as->cause_data, cause->p + SCTP_TLV, n);
	as->ncause = (uint16_t)n;
}

void
sctp_abort_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_tlv cause;
	size_t at = SCTP_TLV;

	if (sctp_param_next(c->p, c->len, &at, &cause) == 1)
		keep(in->env, in->as, &cause);
	while (in->as->control != NULL)
		sctp_control_drop(in->env, in->as);
	in->as->owes = 0;
	sctp_assoc_down(in->as, SCTP_DOWN_PEER);
}

/* The user learns of the last cause; one changes the association. */
void
sctp_error_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct sctp_tlv cause;
	size_t at = SCTP_TLV;

	while (sctp_param_next(c->p, c->len, &at, &cause) == 1) {
		if (cause.type == SCTP_E_STALE) {
			if (cause.len == 8)
				sctp_stale_received(in,
					sctp_get32(cause.p + SCTP_TLV));
			continue;
		}
		if (cause.type == SCTP_E_CHUNK && cause.len > SCTP_TLV &&
			cause.p[SCTP_TLV] == SCTP_C_ASCONF)
			sctp_asconf_unknown(in->env, as);
		keep(in->env, as, &cause);
		as->events |= SCTP_EV_ERROR;
	}
}
