/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading chunks and parameters.  Every length is compared with the bytes that
 * are there before it is used; what is returned lies within them.
 */
#include "association.h"

static int
tlv_next(const unsigned char *p, size_t n, size_t *at, struct sctp_tlv *ret)
{
	size_t rest = n - *at;

	if (rest == 0)
		return 0;
	if (rest < SCTP_TLV)
		return -1;
	p += *at;
	ret->p = p;
	ret->len = sctp_get16(p + 2);
	if (ret->len < SCTP_TLV || ret->len > rest)
		return -1;
	/* the padding of the last one may be missing */
	*at += sctp_padded(ret->len) < rest ? sctp_padded(ret->len) : rest;
	return 1;
}

int
sctp_chunk_next(const unsigned char *p, size_t n, size_t *at,
	struct sctp_tlv *ret)
{
	int r = tlv_next(p, n, at, ret);

	if (r == 1) {
		ret->type = ret->p[0];
		ret->flags = ret->p[1];
	}
	return r;
}

int
sctp_param_next(const unsigned char *p, size_t n, size_t *at,
	struct sctp_tlv *ret)
{
	int r = tlv_next(p, n, at, ret);

	if (r == 1) {
		ret->type = sctp_get16(ret->p);
		ret->flags = 0;
	}
	return r;
}

/* The address of a parameter; 0: it is none that a host can have. */
int
sctp_param_addr(const struct sctp_tlv *t, struct ip_addr *ret)
{
	uint32_t len = t->type == SCTP_P_IPV4 ? 4 : 16;
	const unsigned char *b = t->p + SCTP_TLV;

	if ((t->type != SCTP_P_IPV4 && t->type != SCTP_P_IPV6) ||
		t->len != SCTP_TLV + len)
		return 0;
	__builtin_memset(ret, 0, sizeof(*ret));
	ret->len = len;
	__builtin_memcpy(ret->b, b, len);
	if (len == 4)
		return b[0] != 0 && b[0] < 0xe0; /* RFC 1122 s3.2.1.3 */
	return b[0] != 0xff;
}

int
sctp_addr_eq(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, a->len) == 0;
}

static void
report(struct sctp_init *i, const struct sctp_tlv *t)
{
	size_t n = sctp_padded(t->len);

	if (n > sizeof(i->report) - i->nreport)
		return; /* as many as there is room for */
	__builtin_memset(i->report + i->nreport, 0, n);
	__builtin_memcpy(i->report + i->nreport, t->p, t->len);
	i->nreport += (uint32_t)n;
}

static void
add_addr(struct sctp_init *i, const struct sctp_tlv *t)
{
	struct ip_addr a;
	uint32_t k;

	if (t->len != SCTP_TLV + (t->type == SCTP_P_IPV4 ? 4u : 16u)) {
		i->bad = 1;
		return;
	}
	if (!sctp_param_addr(t, &a) || i->naddr == SCTP_PATHS)
		return;
	for (k = 0; k < i->naddr; k++)
		if (sctp_addr_eq(&i->addr[k], &a))
			return;
	i->addr[i->naddr++] = a;
}

static void
extensions(struct sctp_init *i, const struct sctp_tlv *t)
{
	uint32_t k;

	for (k = SCTP_TLV; k < t->len; k++)
		switch (t->p[k]) {
		case SCTP_C_FORWARD_TSN:
			i->ext |= SCTP_X_PR;
			break;
		case SCTP_C_RECONF:
			i->ext |= SCTP_X_RECONF;
			break;
		case SCTP_C_ASCONF:
			i->ext |= SCTP_X_ASCONF;
			break;
		case SCTP_C_AUTH:
			i->ext |= SCTP_X_AUTH;
			break;
		case SCTP_C_I_DATA:
			i->ext |= SCTP_X_IDATA;
			break;
		case SCTP_C_I_FORWARD_TSN:
			i->ext |= SCTP_X_IFORWARD;
			break;
		default:
			break;
		}
}

/* A parameter that may come once. */
static void
first(struct sctp_tlv *ret, const struct sctp_tlv *t)
{
	if (ret->p == NULL)
		*ret = *t;
}

/* A parameter; 0: no more of the chunk's are read (RFC 9260 s3.2.1). */
static int
param(struct sctp_init *i, const struct sctp_tlv *t)
{
	uint32_t k;

	switch (t->type) {
	case SCTP_P_IPV4:
	case SCTP_P_IPV6:
		add_addr(i, t);
		return 1;
	case SCTP_P_COOKIE:
		i->cookie = *t;
		return 1;
	case SCTP_P_PRESERVATIVE:
		if (t->len == 8)
			i->preservative = sctp_get32(t->p + 4);
		return 1;
	case SCTP_P_HOST_NAME:
		i->host_name = 1;
		i->host = *t;
		return 0;
	case SCTP_P_EXTENSIONS:
		extensions(i, t);
		return 1;
	case SCTP_P_FORWARD_TSN:
		i->ext |= SCTP_X_PR;
		return 1;
	case SCTP_P_RANDOM:
		first(&i->random, t);
		return 1;
	case SCTP_P_CHUNKS:
		first(&i->chunks, t);
		return 1;
	case SCTP_P_HMACS:
		first(&i->hmacs, t);
		return 1;
	case SCTP_P_ADAPTATION:
		if (t->len == 8) {
			i->ext |= SCTP_X_ADAPTS;
			i->adaptation = sctp_get32(t->p + 4);
		}
		return 1;
	case SCTP_P_FAMILIES:
		for (k = SCTP_TLV; k + 2 <= t->len; k += 2)
			i->families |= sctp_get16(t->p + k) == SCTP_P_IPV4 ? 1 :
				sctp_get16(t->p + k) == SCTP_P_IPV6 ? 2 : 4;
		return 1;
	case SCTP_P_UNRECOGNIZED:
	case SCTP_P_ECN:
		return 1;
	default:
		if ((t->type & SCTP_P_REPORT) != 0)
			report(i, t);
		return (t->type & SCTP_P_SKIP) != 0;
	}
}

/*
 * Read an INIT or INIT ACK of at least SCTP_INIT_HDR bytes.  @ret->bad: its
 * parameters are cut off.
 */
void
sctp_init_parse(const struct sctp_tlv *c, struct sctp_init *ret)
{
	size_t at = SCTP_INIT_HDR;
	struct sctp_tlv t;
	int r;

	__builtin_memset(ret, 0, sizeof(*ret));
	ret->tag = sctp_get32(c->p + SCTP_INIT_TAG);
	ret->rwnd = sctp_get32(c->p + SCTP_INIT_RWND);
	ret->os = sctp_get16(c->p + SCTP_INIT_OS);
	ret->mis = sctp_get16(c->p + SCTP_INIT_MIS);
	ret->tsn = sctp_get32(c->p + SCTP_INIT_TSN);
	while ((r = sctp_param_next(c->p, c->len, &at, &t)) == 1)
		if (!param(ret, &t))
			return;
	if (r < 0)
		ret->bad = 1;
}
