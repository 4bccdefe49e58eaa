/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notes of the provider as notifications of RFC 6458 s6.1.
 */
#include "sock.h"

static uint32_t
assoc_change(union sctp_notification *e, const struct sctpio_note *n,
	sctp_assoc_t id)
{
	struct sctp_assoc_change *c = &e->sn_assoc_change;

	c->sac_type = SCTP_ASSOC_CHANGE;
	c->sac_state = (uint16_t)n->state; /* the numbers are the same */
	c->sac_error = (uint16_t)n->error;
	c->sac_outbound_streams = (uint16_t)n->ostreams;
	c->sac_inbound_streams = (uint16_t)n->istreams;
	c->sac_assoc_id = id;
	return sizeof(*c);
}
_Static_assert(SCTPIO_COMM_UP + 0 == (unsigned)SCTP_COMM_UP &&
		       SCTPIO_COMM_LOST + 0 == (unsigned)SCTP_COMM_LOST &&
		       SCTPIO_COMM_DONE + 0 == (unsigned)SCTP_SHUTDOWN_COMP &&
		       SCTPIO_COMM_FAILED + 0 == (unsigned)SCTP_CANT_STR_ASSOC,
	"states");
_Static_assert(SCTPIO_AUTH_NEW_KEY + 0 == (unsigned)SCTP_AUTH_NEW_KEY &&
		       SCTPIO_AUTH_FREE_KEY + 0 ==
			       (unsigned)SCTP_AUTH_FREE_KEY &&
		       SCTPIO_AUTH_NONE + 0 == (unsigned)SCTP_AUTH_NO_AUTH,
	"indications");
_Static_assert(SCTPIO_CHANGE_IN == SCTP_STREAM_RESET_INCOMING_SSN &&
		       SCTPIO_CHANGE_OUT == SCTP_STREAM_RESET_OUTGOING_SSN &&
		       SCTPIO_CHANGE_DENIED == SCTP_STREAM_RESET_DENIED &&
		       SCTPIO_CHANGE_FAILED == SCTP_STREAM_RESET_FAILED &&
		       SCTPIO_CHANGE_DENIED == SCTP_ASSOC_RESET_DENIED &&
		       SCTPIO_CHANGE_FAILED == SCTP_ASSOC_RESET_FAILED &&
		       SCTPIO_CHANGE_DENIED == SCTP_STREAM_CHANGE_DENIED &&
		       SCTPIO_CHANGE_FAILED == SCTP_STREAM_CHANGE_FAILED,
	"flags");

static uint32_t
addr_change(const struct sock *s, union sctp_notification *e,
	const struct sctpio_note *n, sctp_assoc_t id)
{
	struct sctp_paddr_change *c = &e->sn_paddr_change;
	struct sockaddr_storage ss;

	c->spc_type = SCTP_PEER_ADDR_CHANGE;
	(void)sk_addr_conv(s, &n->addr, &ss);
	memcpy(&c->spc_aaddr, &ss, sizeof(ss));
	c->spc_state = n->confirmed ? SCTP_ADDR_CONFIRMED :
		n->state == SCTPIO_PATH_ACTIVE ? SCTP_ADDR_AVAILABLE :
		n->state == SCTPIO_PATH_PF ? SCTP_ADDR_POTENTIALLY_FAILED :
		n->state == SCTPIO_PATH_ADDED ? SCTP_ADDR_ADDED :
		n->state == SCTPIO_PATH_REMOVED ? SCTP_ADDR_REMOVED :
		n->state == SCTPIO_PATH_PRIMARY ? SCTP_ADDR_MADE_PRIM :
		SCTP_ADDR_UNREACHABLE;
	c->spc_assoc_id = id;
	return sizeof(*c);
}

static uint32_t
remote_error(union sctp_notification *e, const struct sctpio_note *n,
	sctp_assoc_t id)
{
	struct sctp_remote_error *r = &e->sn_remote_error;

	r->sre_type = SCTP_REMOTE_ERROR;
	r->sre_error = htons((uint16_t)n->error);
	r->sre_assoc_id = id;
	return sizeof(*r);
}

/* As the newer of the two types, if the socket subscribes to it. */
static uint32_t
send_failed(struct sock *s, union sctp_notification *e,
	const struct sctpio_note *n, sctp_assoc_t id)
{
	uint16_t flags = n->state ? SCTP_DATA_SENT : SCTP_DATA_UNSENT;
	uint16_t snd = n->unordered ? SCTP_UNORDERED : 0;
	struct sctpio_keep k;

	if (sk_keep_get(s, &k) == 0 && (k.w[KEEP_EVENTS] &
		1u << (SCTP_SEND_FAILED_EVENT - SCTP_SN_TYPE_BASE)) == 0) {
		e->sn_send_failed = (struct sctp_send_failed){
			.ssf_type = SCTP_SEND_FAILED, .ssf_flags = flags,
			.ssf_error = n->error, .ssf_assoc_id = id,
			.ssf_info = {.sinfo_stream = n->sid,
				.sinfo_flags = snd, .sinfo_ppid = n->ppid,
				.sinfo_context = n->context,
				.sinfo_assoc_id = id}};
		return sizeof(e->sn_send_failed);
	}
	e->sn_send_failed_event = (struct sctp_send_failed_event){
		.ssf_type = SCTP_SEND_FAILED_EVENT, .ssf_flags = flags,
		.ssf_error = n->error, .ssf_assoc_id = id,
		.ssfe_info = {.snd_sid = n->sid, .snd_flags = snd,
			.snd_ppid = n->ppid, .snd_context = n->context,
			.snd_assoc_id = id}};
	return sizeof(e->sn_send_failed_event);
}

/* Changes of streams: RFC 6525 s6.1. */
static uint32_t
change(union sctp_notification *e, const struct sctpio_note *n,
	sctp_assoc_t id)
{
	if (n->event == SCTPIO_EV_RESET) {
		e->sn_strreset_event.strreset_type = SCTP_STREAM_RESET_EVENT;
		e->sn_strreset_event.strreset_flags = (uint16_t)n->state;
		e->sn_strreset_event.strreset_assoc_id = id;
		return sizeof(e->sn_strreset_event);
	}
	if (n->event == SCTPIO_EV_TSN) {
		e->sn_assocreset_event = (struct sctp_assoc_reset_event){
			.assocreset_type = SCTP_ASSOC_RESET_EVENT,
			.assocreset_flags = (uint16_t)n->state,
			.assocreset_assoc_id = id,
			.assocreset_local_tsn = n->tsn[0],
			.assocreset_remote_tsn = n->tsn[1]};
		return sizeof(e->sn_assocreset_event);
	}
	e->sn_strchange_event = (struct sctp_stream_change_event){
		.strchange_type = SCTP_STREAM_CHANGE_EVENT,
		.strchange_flags = (uint16_t)n->state,
		.strchange_assoc_id = id,
		.strchange_instrms = (uint16_t)n->istreams,
		.strchange_outstrms = (uint16_t)n->ostreams};
	return sizeof(e->sn_strchange_event);
}

/*
 * sk_event - the note @n as a notification
 * Return: bytes of *e; the n->len bytes behind the note follow them in the
 * notification, whose length has both.
 */
size_t
sk_event(struct sock *s, const struct sctpio_note *n,
	union sctp_notification *e)
{
	sctp_assoc_t id = (sctp_assoc_t)n->assoc;
	uint32_t size;

	memset(e, 0, sizeof(*e));
	switch (n->event) {
	case SCTPIO_EV_ASSOC:
		size = assoc_change(e, n, id);
		break;
	case SCTPIO_EV_PATH:
		size = addr_change(s, e, n, id);
		break;
	case SCTPIO_EV_ERROR:
		size = remote_error(e, n, id);
		break;
	case SCTPIO_EV_FAILED:
		size = send_failed(s, e, n, id);
		break;
	case SCTPIO_EV_RESET:
	case SCTPIO_EV_TSN:
	case SCTPIO_EV_STREAMS:
		size = change(e, n, id);
		break;
	case SCTPIO_EV_AUTH:
		e->sn_authkey_event = (struct sctp_authkey_event){
			.auth_type = SCTP_AUTHENTICATION_EVENT,
			.auth_keynumber = (uint16_t)n->value,
			.auth_indication = n->state, /* the same numbers */
			.auth_assoc_id = id};
		size = sizeof(e->sn_authkey_event);
		break;
	case SCTPIO_EV_ADAPT:
		e->sn_adaptation_event = (struct sctp_adaptation_event){
			.sai_type = SCTP_ADAPTATION_INDICATION,
			.sai_adaptation_ind = n->value,
			.sai_assoc_id = id};
		size = sizeof(e->sn_adaptation_event);
		break;
	case SCTPIO_EV_SHUTDOWN:
		e->sn_shutdown_event.sse_type = SCTP_SHUTDOWN_EVENT;
		e->sn_shutdown_event.sse_assoc_id = id;
		size = sizeof(e->sn_shutdown_event);
		break;
	case SCTPIO_EV_CUT:
		e->sn_pdapi_event.pdapi_type = SCTP_PARTIAL_DELIVERY_EVENT;
		e->sn_pdapi_event.pdapi_indication =
			SCTP_PARTIAL_DELIVERY_ABORTED;
		e->sn_pdapi_event.pdapi_stream = n->sid;
		e->sn_pdapi_event.pdapi_seq = n->ssn;
		e->sn_pdapi_event.pdapi_assoc_id = id;
		size = sizeof(e->sn_pdapi_event);
		break;
	default: /* SCTPIO_EV_DRY */
		e->sn_sender_dry_event.sender_dry_type =
			SCTP_SENDER_DRY_EVENT;
		e->sn_sender_dry_event.sender_dry_assoc_id = id;
		size = sizeof(e->sn_sender_dry_event);
		break;
	}
	e->sn_header.sn_length = size + n->len;
	return size;
}
