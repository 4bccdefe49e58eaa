/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The end of an association in order: RFC 9260 s9.2.
 *
 * When a SHUTDOWN arrives the user is told, may send nothing more, and what was
 * accepted before is delivered.
 *
 * Half-close.  With conf.half_close the user may send until it shuts down, too.
 * To the peer that looks as if the data had been accepted before its SHUTDOWN
 * arrived: SHUTDOWN ACK has to follow all data.  The peer's T5 limits the time.
 */
#include "association.h"

static int
is_drained(const struct sctp_assoc *as)
{
	return as->queue == NULL && as->acked + 1 == as->next_tsn;
}

static void
t2_path(struct sctp_assoc *as)
{
	as->t2_path = sctp_path_for_data(as);
}

/* Once all data is acknowledged, the next step is due. */
void
sctp_shutdown_look(const struct sctp_env *env, struct sctp_assoc *as)
{
	(void)env;
	if (!is_drained(as))
		return;
	if (as->state == SCTP_SHUTDOWN_PENDING) {
		as->state = SCTP_SHUTDOWN_SENT;
		as->owes |= SCTP_OWES_SHUTDOWN;
		t2_path(as);
	} else if (as->state == SCTP_SHUTDOWN_RECEIVED && !as->half_closed) {
		as->state = SCTP_SHUTDOWN_ACK_SENT;
		as->owes |= SCTP_OWES_SHUTDOWN_ACK;
		t2_path(as);
	}
}

int
sctp_shutdown(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->down != SCTP_DOWN_NOT)
		return EPIPE;
	if (as->state < SCTP_ESTABLISHED) {
		as->shutdown_wanted = 1;
		return 0;
	}
	/* a message whose end the user has not sent ends here */
	sctp_send_end(env, as);
	as->half_closed = 0;
	if (as->state == SCTP_ESTABLISHED) {
		as->state = SCTP_SHUTDOWN_PENDING;
		/* s9.2: T5, five times RTO.Max */
		as->t5_at = env->now + 5ull * as->conf.rto_max;
	}
	sctp_shutdown_look(env, as);
	return 0;
}

/* A SHUTDOWN or SHUTDOWN ACK is in a packet. */
void
sctp_t2_begin(const struct sctp_env *env, struct sctp_assoc *as)
{
	as->t2_at = env->now + as->path[as->t2_path].rto;
}

void
sctp_t2_expired(const struct sctp_env *env, struct sctp_assoc *as)
{
	as->t2_at = 0;
	sctp_rto_backoff(&as->conf, &as->path[as->t2_path]);
	sctp_path_error(env, as, as->t2_path);
	if (as->down != SCTP_DOWN_NOT)
		return;
	as->owes |= as->state == SCTP_SHUTDOWN_SENT ? SCTP_OWES_SHUTDOWN :
						      SCTP_OWES_SHUTDOWN_ACK;
	t2_path(as);
}

void
sctp_shutdown_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	uint32_t cum;

	if (c->len != SCTP_SHUTDOWN_LEN || as->state < SCTP_ESTABLISHED)
		return;
	cum = sctp_get32(c->p + SCTP_SHUTDOWN_CUM);
	if (!sctp_before(cum, as->next_tsn)) {
		if (sctp_is_delayed(as, cum))
			return;
		sctp_violation(in->env, as,
			"SHUTDOWN with a TSN that was not sent");
		return;
	}
	if (!sctp_before(cum, as->acked))
		sctp_cum_acked(in->env, as, cum);
	switch (as->state) {
	case SCTP_ESTABLISHED:
		as->half_closed = as->conf.half_close;
		/* fall through */
	case SCTP_SHUTDOWN_PENDING:
		as->state = SCTP_SHUTDOWN_RECEIVED;
		as->events |= SCTP_EV_SHUTDOWN;
		if (!as->half_closed)
			sctp_send_end(in->env, as);
		break;
	case SCTP_SHUTDOWN_RECEIVED: /* it waits for our SHUTDOWN ACK */
		as->owes |= SCTP_OWES_SACK;
		break;
	case SCTP_SHUTDOWN_SENT: /* both at once */
		as->state = SCTP_SHUTDOWN_ACK_SENT;
		as->events |= SCTP_EV_SHUTDOWN;
		as->owes &= ~SCTP_OWES_SHUTDOWN;
		as->owes |= SCTP_OWES_SHUTDOWN_ACK;
		break;
	case SCTP_SHUTDOWN_ACK_SENT: /* ours was lost */
		as->owes |= SCTP_OWES_SHUTDOWN_ACK;
		break;
	default:
		break;
	}
}

void
sctp_shutdown_ack_received(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;

	if (as->state != SCTP_SHUTDOWN_SENT &&
		as->state != SCTP_SHUTDOWN_ACK_SENT)
		return;
	as->owes = SCTP_OWES_SHUTDOWN_COMPLETE;
	as->events |= SCTP_EV_SHUTDOWN;
	sctp_assoc_down(as, SCTP_DOWN_SHUTDOWN);
}

void
sctp_shutdown_complete_received(struct sctp_in *in)
{
	if (in->as->state == SCTP_SHUTDOWN_ACK_SENT) {
		in->as->owes = 0;
		sctp_assoc_down(in->as, SCTP_DOWN_SHUTDOWN);
	}
}
