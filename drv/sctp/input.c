/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A packet arrives: checksum, association, verification tag, chunks.
 *
 * The packet's association is found by addresses and ports.  The tag must be
 * the one we chose (RFC 9260 s8.5), except with the chunks of s8.5.1, of which
 * each is checked where it is named below.
 */
#include "cookie.h"
#include "crc32c.h"
#include "peek.h"

static int
checksum_is_good(const struct sctp_ep *ep, const struct sctp_packet *pkt)
{
	const unsigned char *s = pkt->p + SCTP_AT_SUM;
	uint32_t sum = s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 |
		(uint32_t)s[3] << 24;

	return crc32c_packet(pkt->p, pkt->n, ep->instruction) == sum;
}

/*
 * s8.5.1 (B), (C): the tag is ours, or with the T bit the peer's, if that is
 * known.
 */
static int
tag_or_t_bit(const struct sctp_in *in, const struct sctp_tlv *c)
{
	if ((c->flags & SCTP_T_BIT) == 0)
		return in->vtag == in->as->my_tag;
	return in->as->peer_tag != 0 && in->vtag == in->as->peer_tag;
}

/* s3.2: the upper bits of the type say what is done. 0: stop */
static int
unknown(struct sctp_in *in, const struct sctp_tlv *c)
{
	if ((c->type & SCTP_C_REPORT) != 0)
		sctp_error_send(in->env, in->as, SCTP_E_CHUNK, c->p, c->len);
	return (c->type & SCTP_C_SKIP) != 0;
}

/* A chunk of a packet with the right tag; 0: no more of them are read. */
static int
chunk(struct sctp_in *in, const struct sctp_tlv *c)
{
	switch (c->type) {
	case SCTP_C_I_DATA:
		if (!sctp_has(in->as, SCTP_X_IDATA) &&
			!in->as->conf.interleave)
			return unknown(in, c);
		/* fall through */
	case SCTP_C_DATA:
		sctp_data_received(in, c);
		return 1;
	case SCTP_C_INIT_ACK: /* never with others: s6.10 */
		if (c->p == in->pkt->p + SCTP_HDR && in->last)
			sctp_init_ack_received(in, c);
		return 0;
	case SCTP_C_SACK:
		sctp_sack_received(in, c);
		return 1;
	case SCTP_C_HEARTBEAT:
		sctp_heartbeat_received(in, c);
		return 1;
	case SCTP_C_HEARTBEAT_ACK:
		sctp_heartbeat_ack_received(in, c);
		return 1;
	case SCTP_C_SHUTDOWN:
		sctp_shutdown_received(in, c);
		return 1;
	case SCTP_C_SHUTDOWN_ACK:
		sctp_shutdown_ack_received(in);
		return 1;
	case SCTP_C_ERROR:
		sctp_error_received(in, c);
		return 1;
	case SCTP_C_COOKIE_ACK:
		sctp_cookie_ack_received(in);
		return 1;
	case SCTP_C_I_FORWARD_TSN:
		if (!sctp_has(in->as, SCTP_X_IFORWARD))
			return unknown(in, c);
		sctp_forward_received(in, c);
		return 1;
	case SCTP_C_FORWARD_TSN:
		if (((sctp_offered(&in->as->conf) | in->as->ext) &
			SCTP_X_PR) == 0)
			return unknown(in, c);
		sctp_forward_received(in, c);
		return 1;
	case SCTP_C_RECONF:
		if (!sctp_has(in->as, SCTP_X_RECONF))
			return unknown(in, c);
		sctp_reconf_received(in, c);
		return 1;
	case SCTP_C_ASCONF:
		if (!sctp_has(in->as, SCTP_X_ASCONF))
			return unknown(in, c);
		sctp_asconf_received(in, c);
		return 1;
	case SCTP_C_ASCONF_ACK:
		if (!sctp_has(in->as, SCTP_X_ASCONF))
			return unknown(in, c);
		sctp_asconf_ack_received(in, c);
		return 1;
	case SCTP_C_COOKIE_ECHO: /* only as the first: sctp_input() */
	case SCTP_C_INIT:
	case SCTP_C_SHUTDOWN_COMPLETE:
	case SCTP_C_ABORT: /* with a wrong tag */
	case SCTP_C_ECNE:
	case SCTP_C_CWR:
		return 1;
	default:
		return unknown(in, c);
	}
}

/* Chunks that are recognized whatever the tag is. 1: the packet is done */
static int
special(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;

	switch (c->type) {
	case SCTP_C_ABORT:
		if (tag_or_t_bit(in, c))
			sctp_abort_received(in, c);
		else if (in->vtag == as->my_tag)
			return 1; /* the T bit, and our tag: wrong */
		return in->as->down != SCTP_DOWN_NOT;
	case SCTP_C_SHUTDOWN_COMPLETE: /* never with others: s6.10 */
		if (tag_or_t_bit(in, c) && in->last &&
			c->p == in->pkt->p + SCTP_HDR)
			sctp_shutdown_complete_received(in);
		return 1;
	case SCTP_C_SHUTDOWN_ACK:
		/* s8.5.1 (E): the peer has an association that we have not */
		if (as->state == SCTP_COOKIE_WAIT ||
			as->state == SCTP_COOKIE_ECHOED) {
			sctp_out_of_the_blue(in);
			return 1;
		}
		return 0;
	default:
		return 0;
	}
}

/* All chunks from @at on. */
static void
chunks(struct sctp_in *in, size_t at)
{
	const struct sctp_packet *pkt = in->pkt;
	struct sctp_tlv c;

	while (sctp_chunk_next(pkt->p, pkt->n, &at, &c) == 1) {
		in->last = at == pkt->n;
		if (c.type == SCTP_C_AUTH && in->vtag == in->as->my_tag) {
			if (!sctp_auth_received(in, &c))
				break;
			continue;
		}
		if (in->as->auth != NULL && sctp_auth_is_missing(in, c.type))
			continue;
		if (special(in, &c))
			return;
		if (in->vtag != in->as->my_tag) {
			in->ep->count[SCTP_N_BAD]++;
			return;
		}
		if (!chunk(in, &c) || in->as->down != SCTP_DOWN_NOT)
			break;
	}
	if (in->as->down == SCTP_DOWN_NOT) {
		sctp_data_end(in);
		sctp_shutdown_look(in->env, in->as);
	}
}

/* The COOKIE ECHO with which the packet begins, or that follows AUTH. */
static int
cookie_echo(const struct sctp_packet *pkt, struct sctp_tlv *c)
{
	size_t at = SCTP_HDR;

	if (pkt->n < SCTP_HDR || sctp_chunk_next(pkt->p, pkt->n, &at, c) != 1)
		return 0;
	if (c->type == SCTP_C_AUTH &&
		sctp_chunk_next(pkt->p, pkt->n, &at, c) != 1)
		return 0;
	return c->type == SCTP_C_COOKIE_ECHO;
}

int
sctp_is_cookie_echo(const struct sctp_packet *pkt)
{
	struct sctp_tlv c;

	return cookie_echo(pkt, &c);
}

int
sctp_has_cookie(struct sctp_ep *ep, const struct sctp_packet *pkt)
{
	struct sctp_cookie ck;
	struct sctp_tlv c;

	return cookie_echo(pkt, &c) && sctp_cookie_read(ep, &c, &ck) &&
		ck.pport == sctp_get16(pkt->p) &&
		ck.lport == sctp_get16(pkt->p + 2) &&
		ck.my_tag == sctp_get32(pkt->p + 4);
}

int
sctp_is_abort(const struct sctp_packet *pkt)
{
	size_t at = SCTP_HDR;
	struct sctp_tlv c;

	return pkt->n >= SCTP_HDR &&
		sctp_chunk_next(pkt->p, pkt->n, &at, &c) == 1 &&
		c.type == SCTP_C_ABORT;
}

/* 1: it has been dealt with. */
static int
first_chunk(struct sctp_in *in)
{
	const struct sctp_packet *pkt = in->pkt;
	size_t at = SCTP_HDR;
	struct sctp_tlv c;

	if (sctp_chunk_next(pkt->p, pkt->n, &at, &c) != 1) {
		in->ep->count[SCTP_N_BAD]++;
		return 1;
	}
	if (c.type == SCTP_C_INIT) {
		/* s8.5.1 (A), s6.10: tag 0, and no other chunk */
		if (in->vtag == 0 && at == pkt->n)
			sctp_init_received(in, &c);
		else
			in->ep->count[SCTP_N_BAD]++;
		in->as = in->reply->n != 0 ? NULL : in->as;
		return 1;
	}
	/* RFC 4895 s6.3: AUTH may precede COOKIE ECHO */
	if (c.type == SCTP_C_AUTH && sctp_is_cookie_echo(pkt))
		(void)sctp_chunk_next(pkt->p, pkt->n, &at, &c);
	/* an endpoint without a secret has made no cookie: there is none bound */
	if (c.type == SCTP_C_COOKIE_ECHO && in->ep->key[0].id != 0) {
		sctp_cookie_echo_received(in, &c);
		if (in->as != NULL) {
			in->as->from_path = sctp_path_find(in->as, &pkt->src);
			chunks(in, at);
		}
		return 1;
	}
	return 0;
}

struct sctp_assoc *
sctp_input(const struct sctp_env *env, struct sctp_ep *ep,
	const struct sctp_packet *pkt, struct sctp_packet *reply, int *fresh)
{
	struct sctp_in in = {.env = env, .ep = ep, .pkt = pkt, .reply = reply};

	reply->n = 0;
	reply->src = pkt->dst;
	reply->dst = pkt->src;
	*fresh = 0;
	ep->count[SCTP_N_IN]++;
	if (pkt->n < SCTP_HDR + SCTP_TLV) {
		ep->count[SCTP_N_BAD]++;
		return NULL;
	}
	if (!pkt->unsummed && !checksum_is_good(ep, pkt)) {
		ep->count[SCTP_N_CHECKSUM]++;
		return NULL;
	}
	in.sport = sctp_get16(pkt->p + SCTP_AT_SPORT);
	in.dport = sctp_get16(pkt->p + SCTP_AT_DPORT);
	in.vtag = sctp_get32(pkt->p + SCTP_AT_VTAG);
	if (in.sport == 0 || in.dport != ep->port) {
		ep->count[SCTP_N_BAD]++;
		return NULL;
	}
	in.as = sctp_assoc_find(ep, &pkt->src, in.sport);
	if (in.as == NULL && pkt->p[SCTP_HDR] == SCTP_C_INIT_ACK)
		in.as = sctp_assoc_calling(ep, in.vtag, in.sport);
	if (in.as == NULL && pkt->p[SCTP_HDR] == SCTP_C_AUTH)
		in.as = sctp_asconf_find(&in);
	if (in.as != NULL)
		in.as->burst = 0;
	if (first_chunk(&in)) {
		*fresh = in.fresh;
	} else if (in.as == NULL) {
		sctp_out_of_the_blue(&in);
	} else {
		if (in.vtag == in.as->my_tag)
			in.as->from_path = sctp_path_find(in.as, &pkt->src);
		chunks(&in, SCTP_HDR);
	}
	ep->count[SCTP_N_OUT] += reply->n != 0;
	return in.as;
}
