/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: any bytes as an IP packet, with UDP or ICMP in it.  The first
 * byte holds flags, the next two an MTU.  What is read keeps the promises of
 * <str/ip.h>; what is written from it can be read again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pkt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
	if (!ok)
		abort();
}

static bool
same(const struct ip_hdr *a, const struct ip_hdr *b)
{
	return a->len == b->len && a->proto == b->proto && a->tos == b->tos &&
		a->ttl == b->ttl && a->df == b->df && a->more == b->more &&
		a->frag == b->frag && a->src.len == b->src.len &&
		memcmp(a->src.b, b->src.b, 16) == 0 &&
		memcmp(a->dst.b, b->dst.b, 16) == 0;
}

/* The header alone, in one piece of every length. */
static void
pieces(const uint8_t *p, size_t n, unsigned flags, const struct ip_hdr *h)
{
	struct ip_hdr k;

	for (size_t i = h->hlen < 8 ? 0 : h->hlen - 8u; i <= h->hlen; i++) {
		uint8_t *q = malloc(i != 0 ? i : 1);
		int err;

		memcpy(q, p, i);
		err = ip_parse(q, i, n, flags, &k);
		must(err == 0 || err == -IP_SHORT);
		must(err != 0 || same(&k, h));
		free(q);
	}
}

static void
rebuild(const uint8_t *p, const struct ip_hdr *h)
{
	static uint8_t out[128 + 65536 + 48];
	const unsigned char *opt = h->src.len == 4 ? p + 20 : NULL;
	struct ip_hdr k;
	size_t size = ip_size(h);

	if (size + h->len > (h->src.len == 4 ? 65535u : 65575u))
		return; /* extension headers are not written again */
	must(ip_build(out + 128, h, opt, 0) == size);
	k = *h;
	must(ip_parse(out + 128 - size, size + h->len, size + h->len, 0, &k) ==
		0 || h->src.len == 16); /* what follows may be a header */
	if (h->src.len == 4)
		must(same(&k, h) && k.optlen == h->optlen);
}

static void
cut(const uint8_t *p, const struct ip_hdr *h, uint32_t mtu)
{
	const unsigned char *opt = h->src.len == 4 ? p + 20 : NULL;
	unsigned char ret_opt[IP4_OPTMAX], out[128];
	uint32_t off = 0, all = 0;
	struct ip_hdr f, k;
	int r;

	while ((r = ip_frag(h, opt, mtu, &off, &f, ret_opt)) == 1) {
		size_t size = ip_size(&f);

		must(size + f.len <= mtu);
		must(f.frag == h->frag + all);
		all += f.len;
		must(f.more == (all < h->len || h->more));
		must(ip_build(out + 128, &f, ret_opt, 0) == size);
		if (h->src.len == 4)
			must(ip_parse(out + 128 - size, size, size + f.len, 0,
				&k) == 0 && same(&k, &f));
		must(f.len != 0 || h->len == 0);
	}
	must(r == 0 ? all == h->len : r == -EMSGSIZE);
}

static void
icmp(const uint8_t *p, size_t n, const struct ip_hdr *h)
{
	static const enum icmp_error what[] = {
		ICMP_NOPORT, ICMP_NOPROTO, ICMP_TOOLATE};
	static unsigned char out[ICMP_MOST];
	struct icmp_msg m;
	struct ip_hdr k;
	uint32_t len;

	if ((h->proto == P_ICMP || h->proto == P_ICMP6) &&
		icmp_parse(p + h->hlen, h->len, h, &m) == 0) {
		if (m.kind == ICMP_ERR) {
			must(m.at <= m.n && m.n == h->len - 8);
			must(m.error > 0 && m.mtu <= IP_MOST);
			must(m.begin == p + h->hlen + 8);
		} else if (m.kind == ICMP_ECHO) {
			uint8_t *q = malloc(n);

			memcpy(q, p, n);
			icmp_reply(q, h->hlen + h->len, h, &h->dst);
			if (h->dst.b[0] < 0xe0)
				must(ip_parse(q, n, n, 0, &k) == 0);
			free(q);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		len = icmp_error(what[i], p, h->hlen + h->len, h, &h->dst,
			out);
		must(len <= ICMP_MOST);
		if (len == 0)
			continue;
		must(ip_parse(out, len, len, 0, &k) == 0);
		must(icmp_parse(out + k.hlen, k.len, &k, &m) == 0);
		must(m.kind == ICMP_ERR && same(&m.h, h));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned flags;
	struct udp_hdr u;
	struct ip6_problem problem;
	struct ip_hdr h;
	uint32_t mtu;
	int err;

	if (size < 3)
		return 0;
	flags = data[0] & IP_TRUST;
	mtu = data[1] * 256u + data[2];
	data += 3;
	size -= 3;
	err = ip_parse(data, size, size, flags, &h);
	if (ip6_problem(data, size, &problem))
		must(problem.at < size && problem.h.hlen <= size);
	must(err <= 0 && err > -IP_NBAD);
	if (err != 0)
		return 0;
	must(h.hlen + h.len <= size && h.hlen >= 20);
	must(h.src.len == h.dst.len && (h.src.len == 4 || h.src.len == 16));
	must((!h.more && h.frag == 0) || h.frag + h.len <= IP_MOST);
	must(!h.more || (h.len % 8 == 0 && h.len != 0));
	pieces(data, size, flags, &h);
	rebuild(data, &h);
	cut(data, &h, mtu);
	icmp(data, size, &h);
	err = udp_parse(data + h.hlen, h.len, h.len, &u);
	must(err != 0 || (u.len >= UDP_HDRLEN && u.len <= h.len));
	return 0;
}
