/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Packets "out of the blue", which belong to no association: RFC 9260 s8.4.
 * INIT has been dealt with before, and COOKIE ECHO at an endpoint that makes
 * cookies.
 */
#include "association.h"

/* s8.4 (1): the source may be answered. */
static int
is_host(const struct ip_addr *a)
{
	if (a->len == 4)
		return a->b[0] != 0 && a->b[0] < 0xe0;
	return a->len == 16 && a->b[0] != 0xff;
}

static int
is_stale_error(const struct sctp_tlv *c)
{
	struct sctp_tlv cause;
	size_t at = SCTP_TLV;

	while (sctp_param_next(c->p, c->len, &at, &cause) == 1)
		if (cause.type == SCTP_E_STALE)
			return 1;
	return 0;
}

/*
 * 1: the packet is not to be answered: (2), (6), (7); or COOKIE ECHO is not the
 * first chunk.
 */
static int
is_silent(const struct sctp_tlv *c, int first)
{
	return c->type == SCTP_C_ABORT || c->type == SCTP_C_COOKIE_ACK ||
		c->type == SCTP_C_SHUTDOWN_COMPLETE ||
		c->type == SCTP_C_INIT || (c->type == SCTP_C_COOKIE_ECHO && !first) ||
		(c->type == SCTP_C_ERROR && is_stale_error(c));
}

static void
shutdown_complete(struct sctp_in *in)
{
	struct sctp_out o;

	sctp_out_begin(&o, in->reply->p, in->reply->size, in->dport, in->sport,
		in->vtag);
	if (sctp_out_chunk(&o, SCTP_C_SHUTDOWN_COMPLETE, SCTP_T_BIT,
		SCTP_TLV) != NULL)
		in->reply->n = sctp_out_end(&o, in->ep->instruction);
}

void
sctp_out_of_the_blue(struct sctp_in *in)
{
	const struct sctp_packet *pkt = in->pkt;
	size_t at = SCTP_HDR;
	struct sctp_tlv c;
	int ack = 0, first = 1;

	in->ep->count[SCTP_N_BLUE]++;
	if (!is_host(&pkt->src))
		return;
	while (sctp_chunk_next(pkt->p, pkt->n, &at, &c) == 1) {
		if (is_silent(&c, first))
			return;
		first &= c.type == SCTP_C_AUTH; /* RFC 4895 s6.3 */
		ack |= c.type == SCTP_C_SHUTDOWN_ACK;
	}
	if (ack) /* (5) */
		shutdown_complete(in);
	else if (pkt->n > SCTP_HDR) /* (8) */
		sctp_reply_abort(in, in->vtag, 1, SCTP_E_NONE, NULL, 0);
}
