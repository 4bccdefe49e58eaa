/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ICMP of either version (RFC 792, 4443): reading errors about our packets,
 * answering echoes, making errors.
 */
#include <errno.h>
#include "bytes.h"
#include "pkt.h"

#define HLEN 8u
#define QUOTE4 576u /* RFC 1812 s4.3.2.3: the whole packet, at most */

/* Types. */
#define T4_REPLY 0
#define T4_UNREACH 3
#define T4_ECHO 8
#define T4_TIME 11
#define T4_PARAM 12
#define T6_UNREACH 1
#define T6_BIG 2
#define T6_TIME 3
#define T6_PARAM 4
#define T6_ECHO 128
#define T6_REPLY 129
#define T6_REDIRECT 137
#define T4_REDIRECT 5

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The checksum of the message of @n bytes at @p. */
static uint16_t
sum(const unsigned char *p, uint32_t n, const struct ip_addr *src,
	const struct ip_addr *dst)
{
	uint32_t s = src->len == 4 ? 0 : ip_pseudo(src, dst, P_ICMP6, n);

	return ip_fold(ip_sum(p, n, s, 0));
}

/* ----------------------------------------------------------------- reading */

/* RFC 1122 s4.1.3.3: the error for the transport, same as for sockets. */
static const int unreach4[] = {
	ENETUNREACH, EHOSTUNREACH, ENOPROTOOPT, ECONNREFUSED, EMSGSIZE,
	EOPNOTSUPP, ENETUNREACH, EHOSTDOWN, ENONET, ENETUNREACH, EHOSTUNREACH,
	ENETUNREACH, EHOSTUNREACH, EHOSTUNREACH, EHOSTUNREACH, EHOSTUNREACH,
};
static const int unreach6[] = {
	ENETUNREACH, EACCES, EHOSTUNREACH, EHOSTUNREACH, ECONNREFUSED, EACCES,
	EACCES,
};

static int
error4(const unsigned char *p, struct icmp_msg *m)
{
	switch (p[0]) {
	case T4_UNREACH:
		if (p[1] >= LEN(unreach4))
			return EHOSTUNREACH;
		if (unreach4[p[1]] == EMSGSIZE)
			m->mtu = get16(p + 6); /* RFC 1191 */
		return unreach4[p[1]];
	case T4_TIME:
		return EHOSTUNREACH;
	case T4_PARAM:
		return EPROTO;
	default:
		return 0;
	}
}

static int
error6(const unsigned char *p, struct icmp_msg *m)
{
	switch (p[0]) {
	case T6_UNREACH:
		return p[1] < LEN(unreach6) ? unreach6[p[1]] : EHOSTUNREACH;
	case T6_BIG:
		m->mtu = get16(p + 4) != 0 ? IP_MOST : get16(p + 6);
		return EMSGSIZE;
	case T6_TIME:
		return EHOSTUNREACH;
	case T6_PARAM:
		return EPROTO;
	default:
		return 0;
	}
}

/* RFC 792; RFC 4861 s4.5, s8.1.  One that is invalid is ICMP_OTHER. */
static int
redirect(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct icmp_msg *m)
{
	uint32_t at = h->src.len == 4 ? HLEN : 40u;

	__builtin_memset(&m->to, 0, sizeof(m->to));
	m->to.len = h->src.len;
	if (h->src.len == 4) {
		__builtin_memcpy(m->to.b, p + 4, 4);
	} else {
		if (n < at + 8 || h->ttl != 255 || p[1] != 0)
			return 0;
		__builtin_memcpy(m->to.b, p + 8, 16);
		/* the redirected packet is in an option */
		while (p[at] != 4) {
			if (p[at + 1] == 0 || n - at < p[at + 1] * 8u + 8u)
				return 0;
			at += p[at + 1] * 8u;
		}
		at += 8;
	}
	m->begin = p + at;
	m->n = n - at;
	if (ip_parse(m->begin, m->n, IP_MOST + 40u, IP_TRUST, &m->h) != 0 ||
		m->h.src.len != h->src.len || (h->src.len == 16 &&
		__builtin_memcmp(p + 24, m->h.dst.b, 16) != 0))
		return 0;
	m->at = m->h.hlen;
	m->kind = ICMP_REDIRECT;
	return 0;
}

int
icmp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct icmp_msg *ret)
{
	int err;

	ret->kind = ICMP_OTHER;
	ret->mtu = 0;
	if (n < HLEN)
		return -IP_SHORT;
	if (sum(p, n, &h->src, &h->dst) != 0)
		return -IP_CKSUM;
	if (p[0] == (h->src.len == 4 ? T4_ECHO : T6_ECHO)) {
		ret->kind = ICMP_ECHO;
		return 0;
	}
	if (p[0] == (h->src.len == 4 ? T4_REDIRECT : T6_REDIRECT))
		return redirect(p, n, h, ret);
	ret->error = h->src.len == 4 ? error4(p, ret) : error6(p, ret);
	if (ret->error == 0)
		return 0;
	ret->begin = p + HLEN;
	ret->n = n - HLEN;
	/* it may be cut off, and its checksum need not be right */
	err = ip_parse(ret->begin, ret->n, IP_MOST + 40u, IP_TRUST, &ret->h);
	if (err != 0)
		return err;
	if (ret->h.src.len != h->src.len)
		return -IP_VERSION;
	ret->at = ret->h.hlen;
	ret->kind = ICMP_ERR;
	return 0;
}

/* ---------------------------------------------------------------- answering */

void
icmp_reply(unsigned char *pkt, uint32_t n, const struct ip_hdr *h,
	const struct ip_addr *from)
{
	unsigned char *p = pkt + h->hlen;
	struct ip_addr to = h->src;
	uint32_t v6 = from->len == 16;

	__builtin_memcpy(pkt + (v6 ? 24 : 16), to.b, to.len);
	__builtin_memcpy(pkt + (v6 ? 8 : 12), from->b, from->len);
	p[0] = v6 ? T6_REPLY : T4_REPLY;
	put16(p + 2, 0);
	put16(p + 2, sum(p, n - h->hlen, from, &to));
	pkt[v6 ? 7 : 8] = 64;
	if (v6)
		return;
	put16(pkt + 10, 0);
	put16(pkt + 10, ip_fold(ip_sum(pkt, h->hlen, 0, 0)));
}

static int
is_zero(const struct ip_addr *a)
{
	uint32_t i;

	for (i = 0; i < a->len && a->b[i] == 0; i++)
		;
	return i == a->len;
}

/* A group or broadcast, or an unspecified address. */
static int
is_many(const struct ip_addr *a)
{
	return a->len == 4 ? a->b[0] >= 224 || a->b[0] == 0 :
			     a->b[0] == 0xff || is_zero(a);
}

/* Is the packet at @p itself an error? */
static int
is_error(const unsigned char *p, uint32_t n, const struct ip_hdr *h)
{
	unsigned int type;

	if (h->proto != P_ICMP && h->proto != P_ICMP6)
		return 0;
	if (n <= h->hlen)
		return 1;
	type = p[h->hlen];
	if (h->src.len == 16)
		return type < 128 || type == T6_REDIRECT;
	return (type >= 3 && type <= 5) || type == T4_TIME || type == T4_PARAM;
}

/* RFC 4443 s3.4: the offset that names the unknown header. */
static uint32_t
named_at(const unsigned char *p, const struct ip_hdr *h)
{
	uint32_t at = 6, next = 40, type = p[6];

	while (next < h->hlen) {
		at = next;
		next += type == 44 ? 8u :
			type == 51 ? (p[at + 1] + 2u) * 4u :
				     (p[at + 1] + 1u) * 8u;
		type = p[at];
	}
	return at;
}

static void
say(enum icmp_error what, const unsigned char *pkt, const struct ip_hdr *h,
	unsigned char *p)
{
	uint32_t v6 = h->src.len == 16, at;

	__builtin_memset(p, 0, HLEN);
	switch (what) {
	case ICMP_NOPORT:
		p[0] = v6 ? T6_UNREACH : T4_UNREACH;
		p[1] = v6 ? 4 : 3;
		break;
	case ICMP_NOPROTO:
		p[0] = v6 ? T6_PARAM : T4_UNREACH;
		p[1] = v6 ? 1 : 2;
		at = v6 ? named_at(pkt, h) : 0;
		put16(p + 6, at);
		break;
	case ICMP_TOOLATE:
		p[0] = v6 ? T6_TIME : T4_TIME;
		p[1] = 1;
		break;
	}
}

/*
 * Make the packet with an error about @pkt: the first @most bytes of it; its
 * type and so on are at @head.
 */
static uint32_t
quote(const unsigned char *head, const unsigned char *pkt, uint32_t n,
	const struct ip_addr *dst, const struct ip_addr *from,
	unsigned char *to)
{
	uint32_t v6 = from->len == 16, most = v6 ? ICMP_MOST : QUOTE4, size;
	struct ip_hdr o;
	unsigned char *p;

	__builtin_memset(&o, 0, sizeof(o));
	o.src = *from;
	o.dst = *dst;
	o.proto = v6 ? P_ICMP6 : P_ICMP;
	o.ttl = 64;
	size = (uint32_t)ip_size(&o);
	if (n > most - size - HLEN)
		n = most - size - HLEN;
	o.len = HLEN + n;
	p = to + size;
	__builtin_memcpy(p, head, HLEN);
	__builtin_memcpy(p + HLEN, pkt, n);
	put16(p + 2, sum(p, o.len, &o.src, &o.dst));
	(void)ip_build(p, &o, NULL, 0);
	return size + o.len;
}

uint32_t
icmp_error(enum icmp_error what, const unsigned char *pkt, uint32_t n,
	const struct ip_hdr *h, const struct ip_addr *from, unsigned char *to)
{
	unsigned char head[HLEN];

	if (n < h->hlen || h->frag != 0 || is_many(&h->src) || is_many(&h->dst) ||
		from->len != h->src.len || is_error(pkt, n, h))
		return 0;
	say(what, pkt, h, head);
	return quote(head, pkt, n, &h->src, from, to);
}

uint32_t
icmp_problem(const struct ip6_problem *why, const unsigned char *pkt,
	uint32_t n, const struct ip_addr *from, unsigned char *to)
{
	unsigned char head[HLEN] = {T6_PARAM, why->code};

	if (is_many(&why->h.src) || (is_many(&why->h.dst) && !why->many) ||
		from->len != 16 || is_error(pkt, n, &why->h))
		return 0;
	put16(head + 6, why->at);
	return quote(head, pkt, n, &why->h.src, from, to);
}

int
icmp_allowed(struct icmp_limit *l, uint64_t now)
{
	uint64_t each = 1000000000ull / ICMP_RATE, more;

	if (l->last == 0 || now < l->last) {
		l->last = now;
		l->left = ICMP_BURST;
	}
	more = (now - l->last) / each;
	l->last += more * each;
	l->left = more > ICMP_BURST - l->left ? ICMP_BURST :
						l->left + (uint32_t)more;
	if (l->left == 0)
		return 0;
	l->left--;
	return 1;
}
