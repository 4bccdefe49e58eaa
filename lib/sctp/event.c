/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notes of the provider as notifications of RFC 6458 s6.1.
 */
#include "sock.h"

union event {
	union sctp_notification n;
	unsigned char error[sizeof(struct sctp_remote_error) + SK_NOTE_DATA];
};

static uint32_t
assoc_change(union event *e, const struct sctpio_note *n, sctp_assoc_t id)
{
	struct sctp_assoc_change *c = &e->n.sn_assoc_change;

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

static uint32_t
addr_change(const struct sock *s, union event *e, const struct sctpio_note *n,
	sctp_assoc_t id)
{
	struct sctp_paddr_change *c = &e->n.sn_paddr_change;
	struct sockaddr_storage ss;

	c->spc_type = SCTP_PEER_ADDR_CHANGE;
	(void)sk_addr_conv(s, &n->addr, &ss);
	memcpy(&c->spc_aaddr, &ss, sizeof(ss));
	c->spc_state = n->confirmed ? SCTP_ADDR_CONFIRMED :
		n->state == SCTPIO_PATH_ACTIVE ? SCTP_ADDR_AVAILABLE :
		n->state == SCTPIO_PATH_PF ? SCTP_ADDR_POTENTIALLY_FAILED :
		SCTP_ADDR_UNREACHABLE;
	c->spc_assoc_id = id;
	return sizeof(*c);
}

static uint32_t
remote_error(union event *e, const struct sctpio_note *n, const void *data,
	size_t len, sctp_assoc_t id)
{
	struct sctp_remote_error *r = &e->n.sn_remote_error;

	if (len > SK_NOTE_DATA)
		len = SK_NOTE_DATA;
	r->sre_type = SCTP_REMOTE_ERROR;
	r->sre_error = htons((uint16_t)n->error);
	r->sre_assoc_id = id;
	if (len != 0)
		memcpy(e->error + sizeof(*r), data, len);
	return (uint32_t)(sizeof(*r) + len);
}

/*
 * sk_event - the note @n, and the @len bytes that came with it, as a
 * notification
 * @room: bytes of @to.  Return: the notification's length; what is beyond @room
 * is cut off.
 */
size_t
sk_event(const struct sock *s, const struct sctpio_note *n, const void *data,
	size_t len, void *to, size_t room)
{
	sctp_assoc_t id = (sctp_assoc_t)n->assoc;
	union event e;
	uint32_t size;

	memset(&e, 0, sizeof(e));
	switch (n->event) {
	case SCTPIO_EV_ASSOC:
		size = assoc_change(&e, n, id);
		break;
	case SCTPIO_EV_PATH:
		size = addr_change(s, &e, n, id);
		break;
	case SCTPIO_EV_ERROR:
		size = remote_error(&e, n, data, len, id);
		break;
	case SCTPIO_EV_SHUTDOWN:
		e.n.sn_shutdown_event.sse_type = SCTP_SHUTDOWN_EVENT;
		e.n.sn_shutdown_event.sse_assoc_id = id;
		size = sizeof(e.n.sn_shutdown_event);
		break;
	case SCTPIO_EV_CUT:
		e.n.sn_pdapi_event.pdapi_type = SCTP_PARTIAL_DELIVERY_EVENT;
		e.n.sn_pdapi_event.pdapi_indication =
			SCTP_PARTIAL_DELIVERY_ABORTED;
		e.n.sn_pdapi_event.pdapi_stream = n->sid;
		e.n.sn_pdapi_event.pdapi_seq = n->ssn;
		e.n.sn_pdapi_event.pdapi_assoc_id = id;
		size = sizeof(e.n.sn_pdapi_event);
		break;
	default: /* SCTPIO_EV_DRY */
		e.n.sn_sender_dry_event.sender_dry_type =
			SCTP_SENDER_DRY_EVENT;
		e.n.sn_sender_dry_event.sender_dry_assoc_id = id;
		size = sizeof(e.n.sn_sender_dry_event);
		break;
	}
	e.n.sn_header.sn_length = size;
	memcpy(to, &e, size < room ? size : room);
	return size;
}
