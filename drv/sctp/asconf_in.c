/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of the peer's addresses: RFC 5061 s5.2.
 *
 * A request has the next serial number.  Its answer is kept, and sent again if
 * the request is repeated.  A new address is used for data only when a heartbeat
 * has confirmed it.  A request may come from an address that the association
 * does not have yet: another one, in the request, names the association, and the
 * answer goes where the request came from.
 */
#include "association.h"

#define QUOTE_MOST 64u
#define ANSWER_MOST (SCTP_ASCONF_HDR + SCTP_TLV + QUOTE_MOST)
#define PARAMS_MOST (2 * SCTP_PATHS) /* that are performed of one request */

/* s4.2.4, s4.2.5: @cause 0: success */
static void
answer(struct sctp_asconf_ack *a, const unsigned char *id, uint32_t cause,
	const struct sctp_tlv *about)
{
	unsigned char *p = a->p + a->n;
	size_t quote = cause != SCTP_E_NONE && about->len <= QUOTE_MOST ?
		about->len : 0;
	size_t len = SCTP_ASCONF_HDR + (cause != SCTP_E_NONE ?
		SCTP_TLV + quote : 0);

	a->failed |= cause != SCTP_E_NONE;
	if ((cause == SCTP_E_NONE && !a->failed) ||
		a->n + sctp_padded(len) > sizeof(a->p))
		return;
	sctp_put16(p, cause != SCTP_E_NONE ? SCTP_P_ASCONF_ERROR :
					     SCTP_P_ASCONF_SUCCESS);
	sctp_put16(p + 2, (uint32_t)len);
	__builtin_memcpy(p + 4, id, 4);
	if (cause != SCTP_E_NONE)
		(void)sctp_put_tlv(p + SCTP_ASCONF_HDR, cause, about->p,
			quote);
	a->n += (uint32_t)sctp_padded(len);
}

static int
is_wildcard(const struct ip_addr *a)
{
	static const struct ip_addr zero;

	return __builtin_memcmp(a->b, zero.b, a->len) == 0;
}

/* The address of a parameter, or the wildcard; 0: neither. */
static int
addr_of(const unsigned char *p, size_t n, struct ip_addr *ret)
{
	struct sctp_tlv t;
	size_t at = 0;

	if (sctp_param_next(p, n, &at, &t) != 1 ||
		t.len != SCTP_TLV + (t.type == SCTP_P_IPV4 ? 4u : 16u) ||
		(t.type != SCTP_P_IPV4 && t.type != SCTP_P_IPV6))
		return 0;
	if (sctp_param_addr(&t, ret))
		return 1;
	return is_wildcard(ret); /* it was filled in all the same */
}

/* s5.3 (D1, D2): a new address, to be confirmed by a heartbeat. */
static uint32_t
add(struct sctp_in *in, struct ip_addr *a)
{
	struct sctp_assoc *as = in->as;

	if (is_wildcard(a))
		*a = in->pkt->src;
	if (sctp_path_find(as, a) != SCTP_NONE)
		return SCTP_E_NONE;
	if (sctp_assoc_find(in->ep, a, as->pport) != NULL)
		return SCTP_E_NOT_AUTHORIZED; /* another association has it */
	if (!sctp_path_add(as, a, 0))
		return SCTP_E_ASCONF_RESOURCE;
	as->path[as->npaths - 1].hb_owed = 1;
	sctp_path_sizes(as);
	sctp_addr_changed(in->env, as, SCTP_ADDR_ADDED, a);
	return SCTP_E_NONE;
}

/* s5.3 (D): no data, and no answers, to this address any more. */
static void
remove_path(struct sctp_in *in, uint32_t i)
{
	struct ip_addr a = in->as->path[i].addr;

	sctp_path_remove(in->as, i);
	sctp_addr_changed(in->env, in->as, SCTP_ADDR_REMOVED, &a);
}

static uint32_t
delete(struct sctp_in *in, const struct ip_addr *a)
{
	struct sctp_assoc *as = in->as;
	uint32_t i, from = sctp_path_find(as, &in->pkt->src);

	if (is_wildcard(a)) { /* s4.2.2: all but the source */
		if (from == SCTP_NONE)
			return SCTP_E_LAST_ADDR;
		for (i = as->npaths; i-- != 0;)
			if (!sctp_addr_eq(&as->path[i].addr, &in->pkt->src))
				remove_path(in, i);
		return SCTP_E_NONE;
	}
	i = sctp_path_find(as, a);
	if (i == SCTP_NONE)
		return SCTP_E_ADDRESS;
	if (as->npaths == 1)
		return SCTP_E_LAST_ADDR;
	if (i == from)
		return SCTP_E_SOURCE_ADDR;
	remove_path(in, i);
	return SCTP_E_NONE;
}

/* s4.2.3: where we shall send; as soon as it is confirmed. */
static uint32_t
primary(struct sctp_in *in, const struct ip_addr *a)
{
	struct sctp_assoc *as = in->as;
	uint32_t i = sctp_path_find(as, is_wildcard(a) ? &in->pkt->src : a);

	if (i == SCTP_NONE)
		return SCTP_E_ADDRESS;
	sctp_path_prefer(as, i);
	sctp_addr_changed(in->env, as, SCTP_ADDR_PRIMARY, &as->path[i].addr);
	return SCTP_E_NONE;
}

/*
 * Parameter @i; 0: those behind it are not read, which the peer takes as refused.
 * Each is work, and needs room for its answer: a request has a limit.
 */
static int
param(struct sctp_in *in, const struct sctp_tlv *t, uint32_t i,
	struct sctp_asconf_ack *ret)
{
	struct ip_addr a;
	uint32_t cause;

	if (t->len < SCTP_ASCONF_HDR)
		return 0;
	if (i == PARAMS_MOST || ret->n + 2 * ANSWER_MOST > sizeof(ret->p)) {
		answer(ret, t->p + 4, SCTP_E_ASCONF_RESOURCE, t);
		return 0;
	}
	if (t->type != SCTP_P_ADD_ADDR && t->type != SCTP_P_DELETE_ADDR &&
		t->type != SCTP_P_PRIMARY) {
		if ((t->type & SCTP_P_REPORT) != 0)
			answer(ret, t->p + 4, SCTP_E_UNRECOGNIZED, t);
		return (t->type & SCTP_P_SKIP) != 0;
	}
	if (!addr_of(t->p + SCTP_ASCONF_HDR, t->len - SCTP_ASCONF_HDR, &a))
		cause = SCTP_E_ADDRESS;
	else if (t->type == SCTP_P_ADD_ADDR)
		cause = add(in, &a);
	else if (t->type == SCTP_P_DELETE_ADDR)
		cause = delete(in, &a);
	else
		cause = primary(in, &a);
	answer(ret, t->p + 4, cause, t);
	return 1;
}

static void
put_answer(const struct sctp_asconf_ack *a, unsigned char *p)
{
	sctp_put32(p + SCTP_ASCONF_SERIAL, a->serial);
	__builtin_memcpy(p + SCTP_ASCONF_HDR, a->p, a->n);
}

/* Send the answer that is kept to where the request came from: s5.2 (E). */
static void
reply(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;
	uint32_t path = sctp_path_find(as, &in->pkt->src);
	const struct sctp_asconf_ack *a = as->asconf_ack;
	size_t len = SCTP_ASCONF_HDR + a->n;
	struct sctp_out o;
	unsigned char *p;

	if (path != SCTP_NONE) {
		p = sctp_control_add(in->env, as, path, SCTP_C_ASCONF_ACK, 0,
			len);
		if (p != NULL)
			put_answer(a, p);
		return;
	}
	/* no path leads there; another chunk of the packet may have replied */
	if (in->reply->n != 0)
		return;
	sctp_out_begin(&o, in->reply->p, in->reply->size, as->lport,
		as->pport, as->peer_tag);
	o.as = as;
	p = sctp_out_chunk(&o, SCTP_C_ASCONF_ACK, 0, len);
	if (p == NULL)
		return;
	put_answer(a, p);
	in->reply->n = sctp_out_end(&o, as->instruction);
}

/* s5.2 */
void
sctp_asconf_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct sctp_asconf_ack *a = as->asconf_ack;
	struct ip_addr name;
	size_t at = SCTP_ASCONF_HDR;
	struct sctp_tlv t;
	uint32_t serial, i = 0;

	if (in->auth <= 0 || as->state < SCTP_ESTABLISHED ||
		c->len < SCTP_ASCONF_HDR + SCTP_TLV ||
		!addr_of(c->p + at, c->len - at, &name))
		return;
	serial = sctp_get32(c->p + SCTP_ASCONF_SERIAL);
	if (serial != as->peer_asconf) { /* (C): repeated, or wrong */
		if (a != NULL && serial == a->serial)
			reply(in);
		return;
	}
	(void)sctp_param_next(c->p, c->len, &at, &t);
	if (a == NULL)
		a = in->env->alloc(in->env->arg, sizeof(*a));
	if (a == NULL)
		return; /* no memory: as if it were lost */
	as->asconf_ack = a;
	a->serial = serial;
	a->n = a->failed = 0;
	while (sctp_param_next(c->p, c->len, &at, &t) == 1)
		if (!param(in, &t, i++, a))
			break;
	as->peer_asconf++;
	as->from_path = sctp_path_find(as, &in->pkt->src);
	reply(in);
}

/*
 * sctp_asconf_find - the association of a packet from an unknown address
 * It begins with ASCONF, perhaps behind AUTH; an address in it names the
 * association: s5.2, RFC 4895 s6.3.  The code of AUTH is checked later.
 */
struct sctp_assoc *
sctp_asconf_find(struct sctp_in *in)
{
	const struct sctp_packet *pkt = in->pkt;
	size_t at = SCTP_HDR;
	struct sctp_assoc *as;
	struct ip_addr a;
	struct sctp_tlv c;

	if (sctp_chunk_next(pkt->p, pkt->n, &at, &c) != 1 ||
		c.type != SCTP_C_AUTH ||
		sctp_chunk_next(pkt->p, pkt->n, &at, &c) != 1 ||
		c.type != SCTP_C_ASCONF || c.len < SCTP_ASCONF_HDR ||
		!addr_of(c.p + SCTP_ASCONF_HDR, c.len - SCTP_ASCONF_HDR, &a))
		return NULL;
	as = sctp_assoc_find(in->ep, &a, in->sport);
	return as != NULL && as->my_tag == in->vtag ? as : NULL;
}
