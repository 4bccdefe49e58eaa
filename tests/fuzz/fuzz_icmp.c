/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: what other hosts tell a wire.  The input is a packet, whose data
 * is read as ICMP, Neighbor Discovery and IGMP or MLD, and, from its first
 * byte, as ARP.  Checksums are made right, so that the input reaches what lies
 * behind them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mcast.h"
#include "pkt.h"

#define MOST 3000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
	if (!ok)
		abort();
}

/* An IPv6 header that is not understood is reported. */
static void
problem(const uint8_t *p, size_t n)
{
	unsigned char out[ICMP_MOST];
	struct ip6_problem why;

	if (!ip6_problem(p, n, &why))
		return;
	must(why.at < n && why.h.hlen <= n);
	must(icmp_problem(&why, p, (uint32_t)n, &why.h.dst, out) <= ICMP_MOST);
}

static void
right_sum(uint8_t *p, const struct ip_hdr *h)
{
	uint32_t sum = h->src.len == 4 ? 0 :
		ip_pseudo(&h->src, &h->dst, P_ICMP6, h->len);

	if (h->len < 4)
		return;
	p[2] = p[3] = 0;
	sum = ip_fold(ip_sum(p, h->len, sum, 0));
	p[2] = (uint8_t)(sum >> 8);
	p[3] = (uint8_t)sum;
}

static void
messages(const uint8_t *p, struct ip_hdr *h)
{
	struct mcast_query query;
	struct neigh_msg neigh;
	struct icmp_msg m;
	bool six = h->src.len == 16;

	h->proto = six ? P_ICMP6 : P_ICMP;
	if (icmp_parse(p, h->len, h, &m) == 0 &&
		(m.kind == ICMP_ERR || m.kind == ICMP_REDIRECT))
		must(m.begin >= p && m.begin + m.n == p + h->len &&
			m.at <= m.n && m.h.src.len == h->src.len);
	h->ttl = 255;
	if (icmp_parse(p, h->len, h, &m) == 0 && m.kind == ICMP_REDIRECT)
		must(m.to.len == h->src.len && m.begin + m.n == p + h->len);
	if (six && ndp_parse(p, h->len, h, &neigh))
		must(neigh.target.len == 16 && neigh.target.b[0] != 0xff &&
			(!neigh.probe || !neigh.known));
	h->ttl = 1;
	h->proto = six ? P_ICMP6 : 2;
	if (mcast_query(p, h->len, h, &query))
		must(query.group.len == 0 || query.group.len == h->src.len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct neigh_msg neigh;
	struct ip_hdr h;
	uint8_t *p;

	if (size == 0 || size > MOST)
		return 0;
	p = malloc(size); /* of that size: what is read behind it is found */
	must(p != NULL);
	memcpy(p, data, size);
	if (arp_parse(p, (uint32_t)size, &neigh))
		must(neigh.target.len == 4 && (neigh.ask || !neigh.probe));
	problem(p, size);
	if (ip_parse(p, size, size, IP_TRUST, &h) == 0) {
		right_sum(p + h.hlen, &h);
		messages(p + h.hlen, &h);
	}
	free(p);
	return 0;
}
