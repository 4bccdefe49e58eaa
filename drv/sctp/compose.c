/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Composing packets, chunks and parameters; and the control chunks that wait
 * to be sent.
 */
#include "association.h"
#include "crc32c.h"

void
sctp_out_begin(struct sctp_out *o, unsigned char *p, size_t most,
	uint16_t sport, uint16_t dport, uint32_t vtag)
{
	o->p = p;
	o->n = SCTP_HDR;
	o->most = o->size = most & ~(size_t)3;
	o->unsummed = 0;
	o->as = NULL;
	o->auth_at = 0;
	sctp_put16(p + SCTP_AT_SPORT, sport);
	sctp_put16(p + SCTP_AT_DPORT, dport);
	sctp_put32(p + SCTP_AT_VTAG, vtag);
	sctp_put32(p + SCTP_AT_SUM, 0);
}

/*
 * Bytes of a chunk of @type, header and padding included, for which there is
 * room: an AUTH chunk may have to be put in front of it.
 */
size_t
sctp_out_room(const struct sctp_out *o, unsigned int type)
{
	size_t room = o->most - o->n, n;

	if (o->as == NULL || o->as->auth == NULL || !sctp_auth_is_due(o, type))
		return room;
	n = sctp_auth_size(o);
	return room > n ? room - n : 0;
}

/*
 * The packet, if it is empty, may become longer than its path's MTU, for a chunk
 * of @len bytes: IP fragments it then.
 */
void
sctp_out_widen(struct sctp_out *o, unsigned int type, size_t len)
{
	size_t room = sctp_out_room(o, type), all = sctp_padded(len);

	if (o->n == SCTP_HDR && all > room && o->most + all - room <= o->size)
		o->most += all - room;
}

/*
 * Append a chunk of @len bytes, header included; the caller fills in what
 * follows the header.  NULL: there is no room.
 */
unsigned char *
sctp_out_chunk(struct sctp_out *o, unsigned int type, unsigned int flags,
	size_t len)
{
	size_t all = sctp_padded(len);
	unsigned char *p;

	if (all > sctp_out_room(o, type) || len > 0xffff)
		return NULL;
	if (o->as != NULL && o->as->auth != NULL && sctp_auth_is_due(o, type))
		sctp_auth_put_chunk(o);
	p = o->p + o->n;
	p[0] = (unsigned char)type;
	p[1] = (unsigned char)flags;
	sctp_put16(p + 2, (uint32_t)len);
	while (all > len)
		p[--all] = 0;
	o->n += sctp_padded(len);
	return p;
}

static void
put_sum(unsigned char *p, size_t n, int instruction)
{
	uint32_t sum = crc32c_packet(p, n, instruction);

	p[SCTP_AT_SUM] = (unsigned char)sum;
	p[SCTP_AT_SUM + 1] = (unsigned char)(sum >> 8);
	p[SCTP_AT_SUM + 2] = (unsigned char)(sum >> 16);
	p[SCTP_AT_SUM + 3] = (unsigned char)(sum >> 24);
}

/* Set the checksum; the packet's length. 0: no chunk is in it. */
size_t
sctp_out_end(struct sctp_out *o, int instruction)
{
	if (o->n == SCTP_HDR)
		return 0;
	if (o->auth_at != 0)
		sctp_auth_seal(o);
	if (!o->unsummed)
		put_sum(o->p, o->n, instruction);
	return o->n;
}

void
sctp_sum(struct sctp_packet *pkt)
{
	/* the sum is made as if its field were zero */
	sctp_put32(pkt->p + SCTP_AT_SUM, 0);
	put_sum(pkt->p, pkt->n, crc32c_has_instruction());
	pkt->unsummed = 0;
}

/* Write a parameter or cause; its length with padding. */
size_t
sctp_put_tlv(unsigned char *p, unsigned int type, const void *value, size_t n)
{
	size_t all = sctp_padded(SCTP_TLV + n), i;

	sctp_put16(p, type);
	sctp_put16(p + 2, (uint32_t)(SCTP_TLV + n));
	if (n != 0)
		__builtin_memcpy(p + SCTP_TLV, value, n);
	for (i = SCTP_TLV + n; i < all; i++)
		p[i] = 0;
	return all;
}

size_t
sctp_put_addr(unsigned char *p, const struct ip_addr *a)
{
	return sctp_put_tlv(p, a->len == 4 ? SCTP_P_IPV4 : SCTP_P_IPV6, a->b,
		a->len);
}

/*
 * Queue a control chunk of @len bytes; the caller fills in what follows the
 * header.  NULL: no memory, or too many wait; the chunk is then not sent, as if
 * it had been lost.
 */
unsigned char *
sctp_control_add(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path, unsigned int type, unsigned int flags, size_t len)
{
	struct sctp_control *c;

	if (as->ncontrols >= SCTP_CONTROLS || len > 0xffff)
		return NULL;
	c = env->alloc(env->arg, sizeof(*c) + sctp_padded(len));
	if (c == NULL)
		return NULL;
	c->next = NULL;
	c->path = path;
	c->len = (uint32_t)len;
	__builtin_memset(c->chunk, 0, sctp_padded(len));
	c->chunk[0] = (unsigned char)type;
	c->chunk[1] = (unsigned char)flags;
	sctp_put16(c->chunk + 2, (uint32_t)len);
	if (as->control == NULL)
		as->control = c;
	else
		as->control_tail->next = c;
	as->control_tail = c;
	as->ncontrols++;
	return c->chunk;
}

/* Remove the first one. */
void
sctp_control_drop(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_control *c = as->control;

	as->control = c->next;
	as->ncontrols--;
	env->release(env->arg, c, sizeof(*c) + sctp_padded(c->len));
}
