/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses: lists of struct sockaddr_in and sockaddr_in6, one behind the
 * other, that have the same port; and the wires that lead to them.
 */
#include "sctp_t.h"
#include "../udp/udp_impl.h"

int
sctpt_addr_eq(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

int
sctpt_addr_any(const struct ip_addr *a)
{
	uint32_t i;

	for (i = 0; i < a->len; i++)
		if (a->b[i] != 0)
			return 0;
	return 1;
}

uint32_t
sctpt_addr_hash(const struct ip_addr *a)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < a->len; i++)
		h = (h ^ a->b[i]) * 16777619u;
	return h;
}

/* The size of the socket address that begins at @p; 0: it is none. */
static uint32_t
size_at(const unsigned char *p, uint32_t left)
{
	uint16_t fam = 0;

	if (left >= sizeof(fam))
		bcopy(p, &fam, sizeof(fam));
	if (fam == AF_INET && left >= sizeof(struct sockaddr_in))
		return sizeof(struct sockaddr_in);
	if (fam == AF_INET6 && left >= sizeof(struct sockaddr_in6))
		return sizeof(struct sockaddr_in6);
	return 0;
}

/*
 * sctpt_addr_of - read a list of at most @most addresses
 * Return: 0, or -TBADADDR
 */
int
sctpt_addr_of(const struct tpi_buf *b, struct ip_addr *ret, uint32_t most,
	uint32_t *ret_n, uint16_t *ret_port)
{
	uint32_t at = 0, n = 0, size;
	struct ports_at one;

	while (at < b->len) {
		size = size_at(b->buf + at, b->len - at);
		if (size == 0 || n == most ||
			!udp_at_of(b->buf + at, size, &one))
			return -TBADADDR;
		if (n != 0 && ntohs(one.port) != *ret_port)
			return -TBADADDR;
		*ret_port = ntohs(one.port);
		ret[n++] = one.a;
		at += size;
	}
	*ret_n = n;
	return n == 0 ? -TBADADDR : 0;
}

/* sctpt_addr_put - write @a, len 0: any, as an address of @family; its size */
uint32_t
sctpt_addr_put(unsigned char *to, const struct ip_addr *a, uint16_t port,
	uint32_t family)
{
	struct sockaddr_in6 s6;
	struct sockaddr_in s4;

	if (a->len == 4 || (a->len == 0 && family != AF_INET6)) {
		bzero(&s4, sizeof(s4));
		s4.sin_family = AF_INET;
		s4.sin_port = htons(port);
		bcopy(a->b, &s4.sin_addr, a->len);
		bcopy(&s4, to, sizeof(s4));
		return sizeof(s4);
	}
	bzero(&s6, sizeof(s6));
	s6.sin6_family = AF_INET6;
	s6.sin6_port = htons(port);
	bcopy(a->b, &s6.sin6_addr, a->len);
	bcopy(&s6, to, sizeof(s6));
	return sizeof(s6);
}

/* sctpt_lo - wire_lo(), which searches for it */
struct wire *
sctpt_lo(struct sctpt_state *st)
{
	struct wire *lo = str_load_acq(&st->lo);

	if (str_unlikely(lo == NULL)) {
		lo = wire_lo();
		str_store_rel(&st->lo, lo);
	}
	return lo;
}

/*
 * sctpt_route - the wire to @dst
 * @own: the source address that is wanted; len 0: any
 * Return: NULL: there is none.
 */
struct wire *
sctpt_route(struct sctpt_state *st, const struct ip_addr *dst,
	const struct ip_addr *own, struct ip_addr *ret_src, uint32_t *ret_mtu)
{
	struct wire *lo = sctpt_lo(st), *w;
	struct wire_path path;
	uint64_t life;

	if (lo == NULL)
		return NULL;
	*ret_mtu = SCTPT_LO_MTU;
	if (wire_local(dst, ret_src, &life)) {
		w = lo;
	} else {
		w = wire_route_for(lo, dst, own, SCTPT_PROTO, &path);
		if (w == NULL || (path.src.len == 0 &&
			!wire_source(dst, &path.src)))
			return NULL;
		*ret_src = path.src;
		if (path.mtu < SCTPT_LO_MTU)
			*ret_mtu = path.mtu;
	}
	if (own->len != 0)
		*ret_src = *own;
	return ret_src->len == dst->len ? w : NULL;
}
