/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: fragments in any order.  The input is a program: records of 8
 * bytes, each a fragment of one of a few packets, whose bytes follow from
 * their place unless the record says that they are others; or time that goes
 * by; or the rest of the input as a packet as it stands.  What comes out whole
 * is what was cut, and nothing is ever more than the bounds say.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reasm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PACKETS 256u

static struct ip_reasm r;
static size_t in_use;
static bool forged[PACKETS];
static uint64_t now;
static unsigned char pkt[70000], out[70000];

static void
must(bool ok)
{
	if (!ok)
		abort();
}

/* Sometimes there is no memory. */
static void *
get(size_t n)
{
	if (n < 4096 && in_use % 61 == 7)
		return NULL;
	in_use += n;
	return calloc(1, n);
}

static void
put(void *p, size_t n)
{
	in_use -= n;
	free(p);
}

static uint64_t
number(void)
{
	return 1;
}

static const struct ip_mem mem = {get, put, number};

static unsigned char
byte_at(unsigned id, uint32_t off)
{
	return (unsigned char)(off * 31 + off / 256 + id);
}

static void
whole(uint32_t slot, unsigned id, bool ours)
{
	uint32_t n = ip_reasm_len(&r, slot), i;
	struct ip_hdr h;

	must(slot < r.nchunks * IP_REASM_CHUNK && n <= IP_MOST + 40u);
	ip_reasm_take(&r, &mem, slot, out);
	if (ours)
		must(ip_parse(out, n, n, 0, &h) == 0 && !h.more &&
			h.frag == 0 && h.hlen + h.len == n);
	if (!ours || forged[id])
		return;
	for (i = 0; i < h.len; i++)
		must(out[h.hlen + i] == byte_at(id, i));
}

static void
feed(const unsigned char *p, const struct ip_hdr *h, unsigned id, bool ours)
{
	uint32_t slot = ~0u, lost = 0;
	int what = ip_reasm_add(&r, &mem, 0, p, h, now, &slot, &lost);

	must(lost <= r.nchunks * IP_REASM_CHUNK && r.bytes <= IP_REASM_BYTES);
	if (what == IP_WHOLE)
		whole(slot, id, ours);
	else
		must(what == IP_HELD || what == IP_REFUSED ||
			what == IP_AGAIN || what == IP_NOROOM);
}

/* kind, packet, offset / 8 (2), length (2), salt, more */
static void
fragment(const uint8_t *c)
{
	struct ip_hdr h, k;
	uint32_t size, i, most = 65535 - 48;

	memset(&h, 0, sizeof(h));
	h.src.len = h.dst.len = (c[0] & 1) != 0 ? 16 : 4;
	h.src.b[0] = h.dst.b[0] = 10;
	h.proto = 253;
	h.id = c[1];
	h.frag = (c[2] * 256u + c[3]) % 8192 * 8;
	h.more = c[7] & 1;
	h.len = c[4] * 256u + c[5];
	if ((c[0] & 2) == 0)
		h.len %= 2048; /* mostly: long ones take long */
	if (h.more)
		h.len &= ~7u;
	if (h.len == 0 || h.frag + h.len > most || (!h.more && h.frag == 0))
		return;
	if (c[6] != 0)
		forged[c[1]] = true;
	size = (uint32_t)ip_size(&h);
	(void)ip_build(pkt + size, &h, NULL, 0);
	for (i = 0; i < h.len; i++)
		pkt[size + i] = (unsigned char)(byte_at(c[1], h.frag + i) +
			c[6]);
	must(ip_parse(pkt, size + h.len, size + h.len, 0, &k) == 0);
	/* another version of the same number is another packet */
	feed(pkt, &k, c[1], true);
}

static void
raw(const uint8_t *p, size_t n)
{
	struct ip_hdr h;

	if (ip_parse(p, n, n, IP_TRUST, &h) == 0 && (h.more || h.frag != 0)) {
		memset(forged, 1, sizeof(forged));
		feed(p, &h, 0, false);
	}
}

static void
expire(void)
{
	unsigned char begin[IP_REASM_HDR + 8];
	uint32_t tag, n, at = 0;

	while (ip_reasm_expire(&r, &mem, now, &at, &tag, begin, &n))
		must(n <= sizeof(begin) && tag == 0);
}

static void
pass(const uint8_t *c)
{
	now += c[1] * 1000000000ull;
	expire();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 400 * 8)
		size = 400 * 8;
	memset(forged, 0, sizeof(forged));
	now = 1;
	for (; size >= 8; data += 8, size -= size < 8 ? size : 8) {
		switch (data[0] >> 4) {
		case 14:
			pass(data);
			break;
		case 15:
			raw(data + 1, size - 1);
			size = 0;
			continue;
		default:
			fragment(data);
			break;
		}
	}
	now += IP_REASM_LIFE;
	expire();
	must(r.busy == 0 && r.resets == 0 && r.bytes == 0 && in_use ==
		r.nchunks * IP_REASM_CHUNK * sizeof(struct ip_slot));
	return 0;
}
