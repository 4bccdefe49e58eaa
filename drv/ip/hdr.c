/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The headers of IPv4, IPv6 and UDP: <str/ip.h>.
 *
 * Purpose.  Reading trusts only @n and @total: every length is compared with
 * them before it is used.  Writing trusts its caller.
 *
 * The walk through the extension headers of IPv6 ends at the first other
 * header, or at the fragment header of a real fragment: what follows belongs to
 * the reassembled packet (RFC 8200 s4.5).  Still, a first fragment must contain
 * the whole chain (RFC 7112 s5).
 *
 * Checksums.  A sum is the sum of 16-bit words in network order, as a number in
 * host order.  One's complement sums do not depend on the byte order (RFC 1071
 * s2 (B)), so eight bytes at a time are added in memory order, and the bytes
 * are swapped at the end.
 */
#include <str/ip.h>
#include "bytes.h"

#define IP4_HLEN 20u
#define IP6_HLEN 40u
#define EXT_HLEN 8u /* the least of an extension header */

/* Protocols and extension headers by number (IANA). */
#define P_HOPOPTS 0u
#define P_ROUTING 43u
#define P_FRAGMENT 44u
#define P_AUTH 51u
#define P_DSTOPTS 60u

/* ---------------------------------------------------------------- checksums */

static uint64_t
add64(uint64_t sum, uint64_t v)
{
	sum += v;
	return sum + (sum < v); /* add the carry */
}

/* Reduce to 16 bits, adding the carries. */
static uint32_t
fold64(uint64_t sum)
{
	sum = (sum & 0xffffffffu) + (sum >> 32);
	sum = (sum & 0xffffffffu) + (sum >> 32);
	sum = (sum & 0xffffu) + (sum >> 16);
	sum = (sum & 0xffffu) + (sum >> 16);
	return (uint32_t)((sum & 0xffffu) + (sum >> 16));
}

static uint32_t
swap16(uint32_t v)
{
	return (v & 0xff) << 8 | v >> 8;
}

uint32_t
ip_sum(const unsigned char *p, size_t n, uint32_t sum, int odd)
{
	unsigned char rest[8] = {0};
	uint64_t all = 0, v, w;
	uint32_t part;
	size_t i;

	for (; n >= 16; n -= 16, p += 16) {
		__builtin_memcpy(&v, p, 8);
		__builtin_memcpy(&w, p + 8, 8);
		all = add64(add64(all, v), w);
	}
	if (n >= 8) {
		__builtin_memcpy(&v, p, 8);
		all = add64(all, v);
		p += 8;
		n -= 8;
	}
	for (i = 0; i < n; i++)
		rest[i] = p[i];
	__builtin_memcpy(&v, rest, 8);
	part = fold64(add64(all, v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	part = swap16(part);
#endif
	if (odd)
		part = swap16(part);
	sum += part;
	return sum + (sum < part);
}

uint16_t
ip_fold(uint32_t sum)
{
	return (uint16_t)~fold64(sum);
}

uint32_t
ip_pseudo(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	uint32_t len)
{
	uint32_t sum = ip_sum(src->b, src->len, 0, 0);

	/*
	 * RFC 768; RFC 8200 s8.1: the IPv6 fields have 32 bits, with the same
	 * sum
	 */
	sum = ip_sum(dst->b, dst->len, sum, 0);
	return sum + proto + (len >> 16) + (len & 0xffff);
}

/* ------------------------------------------------------------------ reading */

static void
addr_get(struct ip_addr *a, const unsigned char *p, uint32_t len)
{
	uint32_t i;

	a->len = len;
	for (i = 0; i < 16; i++)
		a->b[i] = i < len ? p[i] : 0;
}

/* RFC 1122 s3.2.1.3: a source is neither multicast nor broadcast. */
static int
source_is_bad(const struct ip_addr *a)
{
	if (a->len == 4)
		return (a->b[0] & 0xf0) == 0xe0 ||
			(a->b[0] & a->b[1] & a->b[2] & a->b[3]) == 0xff;
	return a->b[0] == 0xff;
}

/*
 * RFC 791 s3.1: the lengths of the options must end at the end of the header.
 */
static int
ip4_options(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != 0) { /* the end of the list */
		if (p[i] == 1) {     /* nothing */
			i++;
			continue;
		}
		if (n - i < 2 || p[i + 1] < 2 || p[i + 1] > n - i)
			return -IP_OPTION;
		i += p[i + 1];
	}
	return 0;
}

/* Checks of a fragment, for both versions. */
static int
fragment_check(const struct ip_hdr *h)
{
	if (h->more && (h->len == 0 || h->len % 8 != 0))
		return -IP_LENGTH;
	return h->frag + h->len > IP_MOST ? -IP_LENGTH : 0;
}

static int
ip4_parse(const unsigned char *p, size_t n, size_t total, unsigned int flags,
	struct ip_hdr *h)
{
	uint32_t hlen, len, off;
	int err;

	if (n < IP4_HLEN)
		return -IP_SHORT;
	hlen = (p[0] & 15u) * 4;
	len = get16(p + 2);
	if (hlen < IP4_HLEN)
		return -IP_HLEN;
	if (len < hlen)
		return -IP_LENGTH;
	if (n < hlen || total < len)
		return -IP_SHORT;
	if ((flags & IP_TRUST) == 0 && ip_fold(ip_sum(p, hlen, 0, 0)) != 0)
		return -IP_CKSUM;
	off = get16(p + 6);
	h->hlen = (uint16_t)hlen;
	h->optlen = (uint8_t)(hlen - IP4_HLEN);
	h->len = len - hlen;
	h->tos = p[1];
	h->id = get16(p + 4);
	h->df = (off & 0x4000) != 0;
	h->more = (off & 0x2000) != 0;
	h->frag = (off & 0x1fff) * 8;
	h->ttl = p[8];
	h->proto = p[9];
	h->flow = 0;
	addr_get(&h->src, p + 12, 4);
	addr_get(&h->dst, p + 16, 4);
	if (source_is_bad(&h->src))
		return -IP_ADDR;
	err = ip4_options(p + IP4_HLEN, h->optlen);
	return err != 0 ? err : fragment_check(h);
}

/*
 * RFC 8200 s4.2: options of hop-by-hop and destination headers.  The two
 * highest bits of an unknown option say whether the packet is to be discarded.
 */
static int
ip6_options(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		if (p[i] == 0) { /* Pad1 */
			i++;
			continue;
		}
		if (n - i < 2 || p[i + 1] > n - i - 2 || (p[i] & 0xc0) != 0)
			return -IP_OPTION;
		i += 2u + p[i + 1];
	}
	return 0;
}

/* The extension header @type at @p: its length, or minus an ip_bad. */
static long
ip6_ext(unsigned int type, const unsigned char *p, size_t n)
{
	size_t len;
	int err = 0;

	if (n < EXT_HLEN)
		return -IP_SHORT;
	len = type == P_FRAGMENT ? EXT_HLEN :
		type == P_AUTH	 ? (p[1] + 2u) * 4 :
				   (p[1] + 1u) * 8;
	if (n < len)
		return -IP_SHORT;
	if (type == P_HOPOPTS || type == P_DSTOPTS)
		err = ip6_options(p + 2, len - 2);
	else if (type == P_ROUTING && p[3] != 0)
		err = -IP_OPTION; /* RFC 8200 s4.4: we are not a router */
	return err != 0 ? err : (long)len;
}

static int
ip6_is_ext(unsigned int type)
{
	return type == P_HOPOPTS || type == P_ROUTING || type == P_FRAGMENT ||
		type == P_AUTH || type == P_DSTOPTS;
}

/*
 * Walk through the extension headers at @p; the packet ends @most bytes from
 * there. @h->proto is the type of the first one.
 */
static int
ip6_walk(const unsigned char *p, size_t n, size_t most, struct ip_hdr *h)
{
	unsigned int type = h->proto, seen = 0, fragment = 0;
	size_t at = 0, end = n < most ? n : most;
	long len;

	h->hlen = IP6_HLEN;
	while (ip6_is_ext(type)) {
		if ((type == P_HOPOPTS && at != 0) ||
			(type == P_FRAGMENT && seen))
			return -IP_OPTION; /* RFC 8200 s4.1 */
		len = ip6_ext(type, p + at, end - at);
		if (len == -IP_SHORT && n >= most)
			return -IP_OPTION; /* the header is cut off */
		if (len < 0)
			return (int)len;
		if (type == P_FRAGMENT) {
			seen = 1;
			h->frag = get16(p + at + 2) & 0xfff8u;
			h->more = p[at + 3] & 1;
			h->id = get32(p + at + 4);
		}
		type = p[at];
		at += (size_t)len;
		if (fragment)
			continue; /* checked and skipped */
		h->proto = (uint8_t)type;
		h->hlen = (uint16_t)(IP6_HLEN + at);
		fragment = h->more || h->frag != 0;
		if (h->frag != 0)
			break;
	}
	h->len = (uint32_t)(most + IP6_HLEN - h->hlen);
	return fragment_check(h);
}

/*
 * The first option in @n bytes at @p that must be reported: its offset, or @n.
 * *@many: it is reported to multicasts, too (RFC 8200 s4.2).
 */
static size_t
option_problem(const unsigned char *p, size_t n, int *many)
{
	size_t i = 2;

	while (i < n) {
		if (p[i] == 0) {
			i++;
			continue;
		}
		if (n - i < 2 || p[i + 1] > n - i - 2 ||
			(p[i] & 0xc0) == 0x40)
			return n; /* discarded without a report */
		if ((p[i] & 0x80) != 0) {
			*many = (p[i] & 0x40) == 0;
			return i;
		}
		i += 2u + p[i + 1];
	}
	return n;
}

/* The problem with the header @type of @len bytes at @p + @at. 1: there is one */
static int
ext_problem(const unsigned char *p, size_t at, size_t len, unsigned int type,
	struct ip6_problem *ret)
{
	size_t i = len;

	ret->many = 0;
	ret->code = 0;
	if (type == P_HOPOPTS || type == P_DSTOPTS) {
		ret->code = 2;
		i = option_problem(p + at, len, &ret->many);
	} else if (type == P_ROUTING && p[at + 3] != 0) {
		i = 2; /* RFC 8200 s4.4: its type */
	}
	ret->at = (uint32_t)(at + i);
	return i != len;
}

/*
 * The problem with the fragment header at @p + @at of a packet of @n bytes (RFC
 * 8200 s4.5).  1: there is one
 */
static int
fragment_problem(const unsigned char *p, size_t at, size_t n,
	struct ip6_problem *ret)
{
	size_t begin = get16(p + at + 2) & 0xfff8u, len = n - at - EXT_HLEN;
	int cut = (p[at + 3] & 1) != 0 && len % 8 != 0;

	ret->many = 0;
	ret->code = 0;
	ret->at = cut ? 4 : (uint32_t)at + 2;
	return cut || at - IP6_HLEN + begin + len > IP_MOST;
}

int
ip6_problem(const unsigned char *p, size_t n, struct ip6_problem *ret)
{
	unsigned int type;
	size_t at = IP6_HLEN, from = 6, len;
	int found = 0;

	if (n < IP6_HLEN || p[0] >> 4 != 6)
		return 0;
	len = IP6_HLEN + get16(p + 4);
	if (n > len)
		n = len; /* padding of the link */
	for (type = p[6]; ip6_is_ext(type) && type != P_FRAGMENT; type = p[from]) {
		if (n - at < EXT_HLEN)
			return 0;
		len = type == P_AUTH ? (p[at + 1] + 2u) * 4 :
				       (p[at + 1] + 1u) * 8;
		if (n - at < len)
			return 0;
		if (!found && type == P_HOPOPTS && at != IP6_HLEN) {
			/* RFC 8200 s4.1: as an unknown header */
			ret->code = 1;
			ret->at = (uint32_t)from;
			ret->many = 0;
			found = 1;
		}
		if (!found)
			found = ext_problem(p, at, len, type, ret);
		from = at;
		at += len;
	}
	if (type == P_FRAGMENT && n - at >= EXT_HLEN) {
		if (!found)
			found = fragment_problem(p, at, n, ret);
		type = p[at];
		at += EXT_HLEN;
	}
	__builtin_memset(&ret->h, 0, sizeof(ret->h));
	addr_get(&ret->h.src, p + 8, 16);
	addr_get(&ret->h.dst, p + 24, 16);
	ret->h.proto = (uint8_t)type;
	ret->h.hlen = (uint16_t)at;
	return found;
}

static int
ip6_parse(const unsigned char *p, size_t n, size_t total, struct ip_hdr *h)
{
	uint32_t first, len;

	if (n < IP6_HLEN)
		return -IP_SHORT;
	len = get16(p + 4);
	if (len > total - IP6_HLEN)
		return -IP_SHORT;
	first = get32(p);
	h->tos = (uint8_t)(first >> 20);
	h->flow = first & 0xfffff;
	h->proto = p[6];
	h->ttl = p[7];
	h->df = h->more = h->optlen = 0;
	h->frag = h->id = 0;
	addr_get(&h->src, p + 8, 16);
	addr_get(&h->dst, p + 24, 16);
	if (source_is_bad(&h->src))
		return -IP_ADDR;
	return ip6_walk(p + IP6_HLEN, n - IP6_HLEN, len, h);
}

int
ip_parse(const unsigned char *p, size_t n, size_t total, unsigned int flags,
	struct ip_hdr *ret)
{
	if (n == 0 || total < n)
		return -IP_SHORT;
	if (p[0] >> 4 == 4)
		return ip4_parse(p, n, total, flags, ret);
	if (p[0] >> 4 == 6)
		return ip6_parse(p, n, total, ret);
	return -IP_VERSION;
}

int
udp_parse(const unsigned char *p, size_t n, size_t total, struct udp_hdr *ret)
{
	if (n < UDP_HDRLEN || total < UDP_HDRLEN)
		return -IP_SHORT;
	ret->sport = get16(p);
	ret->dport = get16(p + 2);
	ret->len = get16(p + 4);
	ret->sum = get16(p + 6);
	if (ret->len < UDP_HDRLEN)
		return -IP_LENGTH;
	return ret->len > total ? -IP_SHORT : 0;
}

/* ------------------------------------------------------------------ writing */

size_t
ip_size(const struct ip_hdr *h)
{
	if (h->src.len == 4)
		return IP4_HLEN + ((h->optlen + 3u) & ~3u);
	return h->more || h->frag != 0 ? IP6_HLEN + EXT_HLEN : IP6_HLEN;
}

static void
ip4_build(unsigned char *p, const struct ip_hdr *h, const unsigned char *opt,
	unsigned int flags)
{
	uint32_t hlen = (uint32_t)ip_size(h), i;

	p[0] = (unsigned char)(0x40 | hlen / 4);
	p[1] = h->tos;
	put16(p + 2, hlen + h->len);
	put16(p + 4, h->id);
	put16(p + 6, (h->df ? 0x4000u : 0u) | (h->more ? 0x2000u : 0u) |
		h->frag / 8);
	p[8] = h->ttl;
	p[9] = h->proto;
	put16(p + 10, 0);
	for (i = 0; i < 4; i++) {
		p[12 + i] = h->src.b[i];
		p[16 + i] = h->dst.b[i];
	}
	for (i = 0; i < hlen - IP4_HLEN; i++)
		p[IP4_HLEN + i] = opt != NULL && i < h->optlen ? opt[i] : 0;
	if ((flags & IP_TRUST) == 0)
		put16(p + 10, ip_fold(ip_sum(p, hlen, 0, 0)));
}

static void
ip6_build(unsigned char *p, const struct ip_hdr *h)
{
	uint32_t ext = (uint32_t)ip_size(h) - IP6_HLEN;

	put32(p, 0x60000000u | (uint32_t)h->tos << 20 | (h->flow & 0xfffff));
	put16(p + 4, ext + h->len);
	p[6] = ext != 0 ? P_FRAGMENT : h->proto;
	p[7] = h->ttl;
	__builtin_memcpy(p + 8, h->src.b, 16);
	__builtin_memcpy(p + 24, h->dst.b, 16);
	if (ext == 0)
		return;
	p[IP6_HLEN] = h->proto;
	p[IP6_HLEN + 1] = 0;
	put16(p + IP6_HLEN + 2, (h->frag & 0xfff8u) | (h->more ? 1u : 0u));
	put32(p + IP6_HLEN + 4, h->id);
}

size_t
ip_build(unsigned char *end, const struct ip_hdr *h, const unsigned char *opt,
	unsigned int flags)
{
	size_t size = ip_size(h);

	if (h->src.len == 4)
		ip4_build(end - size, h, opt, flags);
	else
		ip6_build(end - size, h);
	return size;
}

void
udp_build(unsigned char *p, const struct udp_hdr *h)
{
	put16(p, h->sport);
	put16(p + 2, h->dport);
	put16(p + 4, h->len);
	put16(p + 6, h->sum);
}
