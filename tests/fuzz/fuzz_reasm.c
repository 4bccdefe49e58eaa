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

#include "pkt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PACKETS 256u

static struct ip_reasm r;
static struct ip_slot slots[IP_REASM_SLOTS];
static bool forged[PACKETS];
static uint64_t now;
static unsigned char pkt[70000], out[70000];

static void
must(bool ok)
{
	if (!ok)
		abort();
}

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

	must(slot < IP_REASM_SLOTS && n <= IP_MOST + 40u);
	ip_reasm_take(&r, slot, out);
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
	int what = ip_reasm_add(&r, 0, p, h, now, &slot, &lost);

	must(lost <= IP_REASM_SLOTS);
	if (what == IP_WHOLE)
		whole(slot, id, ours);
	else
		must(what == IP_HELD || what == IP_REFUSED ||
			what == IP_AGAIN);
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
pass(const uint8_t *c)
{
	unsigned char begin[IP_REASM_HDR + 8];
	uint32_t tag, n, count = 0;

	now += c[1] * 1000000000ull;
	while (ip_reasm_expire(&r, now, &tag, begin, &n)) {
		must(n <= sizeof(begin) && tag == 0);
		must(++count <= IP_REASM_SLOTS);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned i;

	if (size > 400 * 8)
		size = 400 * 8;
	for (i = 0; i < IP_REASM_SLOTS; i++) {
		if (r.nslots <= i)
			ip_reasm_give(&r, &slots[i]);
		slots[i].state = 0;
	}
	memset(forged, 0, sizeof(forged));
	now = 1;
	for (; size >= 8; data += 8, size -= 8) {
		switch (data[0] >> 4) {
		case 14:
			pass(data);
			break;
		case 15:
			raw(data + 1, size - 1);
			return 0;
		default:
			fragment(data);
			break;
		}
	}
	must(r.busy == 0 && r.resets == 0);
	return 0;
}
