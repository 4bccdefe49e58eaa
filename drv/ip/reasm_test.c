/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fragments both ways: RFC 791, 815, 5722, 8200.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "t.h"
#include "pkt.h"
#include "reasm.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND 1000000000ull

static struct ip_reasm r;
static size_t in_use, most_use = 1u << 30; /* bytes that the test gives */
static unsigned char data[70000], pkt[70000], out[70000];
static struct ip_hdr h;

static void *
get(size_t n)
{
	if (in_use + n > most_use)
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
	return 77;
}

static const struct ip_mem mem = {get, put, number};

/* Drop everything: only slots are still allocated. */
static void
forget(void)
{
	unsigned char begins[IP_REASM_HDR + 8];
	uint32_t at = 0, tag, n;

	while (ip_reasm_expire(&r, &mem, UINT64_MAX, &at, &tag, begins, &n))
		;
	T_EQ(r.bytes, 0);
	T_EQ(in_use, r.nchunks * IP_REASM_CHUNK * sizeof(struct ip_slot));
}

static void
begin(unsigned len)
{
	unsigned i;

	forget();
	for (i = 0; i < r.nchunks; i++)
		put(r.chunk[i], IP_REASM_CHUNK * sizeof(struct ip_slot));
	memset(&r, 0, sizeof(r));
	most_use = 1u << 30;
	memset(&h, 0, sizeof(h));
	h.src.len = h.dst.len = len;
	h.src.b[0] = 10;
	h.dst.b[0] = 10;
	h.src.b[len - 1] = 1;
	h.dst.b[len - 1] = 2;
	h.proto = 253;
	h.ttl = 64;
	h.id = 77;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
}

static struct {
	unsigned char p[9000];
	uint32_t n;
} frag[64];

/* Cut a packet of @len bytes of data; how many there are. */
static unsigned
cut(uint32_t len, uint32_t mtu, const unsigned char *opt)
{
	unsigned char o[IP4_OPTMAX];
	uint32_t off = 0, was = 0, size;
	struct ip_hdr f;
	unsigned n = 0;
	int ret;

	h.len = len;
	while ((ret = ip_frag(&h, opt, mtu, &off, &f, o)) == 1) {
		T_LT(n, 64u);
		size = (uint32_t)ip_size(&f);
		T_EQ(ip_build(frag[n].p + size, &f, o, 0), size);
		memcpy(frag[n].p + size, data + was, f.len);
		frag[n].n = size + f.len;
		T_LE(frag[n].n, mtu);
		was += f.len;
		n++;
	}
	T_EQ(ret, 0);
	T_EQ(was, len);
	return n;
}

static int
add(const unsigned char *p, uint32_t n, uint64_t now, uint32_t *slot)
{
	struct ip_hdr f;
	uint32_t lost;

	T_EQ(ip_parse(p, n, n, 0, &f), 0);
	T_TRUE(f.more || f.frag != 0);
	return ip_reasm_add(&r, &mem, 0, p, &f, now, slot, &lost);
}

static int
add_frag(unsigned i, uint64_t now, uint32_t *slot)
{
	return add(frag[i].p, frag[i].n, now, slot);
}

/* The packet in @slot is what was cut. */
static void
is_whole(uint32_t slot)
{
	uint32_t n = ip_reasm_len(&r, slot);
	struct ip_hdr f;

	ip_reasm_take(&r, &mem, slot, out);
	T_EQ(ip_parse(out, n, n, 0, &f), 0);
	T_EQ(f.more, 0);
	T_EQ(f.frag, 0);
	T_EQ(f.len, h.len);
	T_EQ(f.proto, h.proto);
	T_MEM(f.src.b, h.src.b, 16);
	T_MEM(f.dst.b, h.dst.b, 16);
	T_EQ(f.hlen + f.len, n);
	T_MEM(out + f.hlen, data, h.len);
}

T_CASE(cuts_and_puts_together)
{
	static const uint32_t len[] = {1481, 1488, 2960, 3000, 8191, 30000};
	uint32_t slot = 99;
	unsigned v, i, k, n;

	for (v = 4; v <= 16; v += 12)
		for (i = 0; i < LEN(len); i++) {
			begin(v);
			n = cut(len[i], 1500, NULL);
			T_GT(n, 1u);
			for (k = 0; k + 1 < n; k++)
				T_EQ(add_frag(k, 1, &slot), IP_HELD);
			T_EQ(add_frag(k, 1, &slot), IP_WHOLE);
			is_whole(slot);
			/* backwards */
			for (k = n - 1; k > 0; k--)
				T_EQ(add_frag(k, 1, &slot), IP_HELD);
			T_EQ(add_frag(0, 1, &slot), IP_WHOLE);
			is_whole(slot);
			/* the middle first */
			for (k = n / 2; k < n; k++)
				T_EQ(add_frag(k, 1, &slot), IP_HELD);
			for (k = 0; k + 1 < n / 2; k++)
				T_EQ(add_frag(k, 1, &slot), IP_HELD);
			T_EQ(add_frag(k, 1, &slot), IP_WHOLE);
			is_whole(slot);
		}
}

T_CASE(a_fragment_is_cut_again)
{
	static unsigned char first[1600];
	uint32_t slot, off = 0, was = 0, size;
	unsigned char o[IP4_OPTMAX];
	struct ip_hdr f, g;
	int ret = -1;

	begin(4);
	T_EQ(cut(3000, 1500, NULL), 3);
	memcpy(first, frag[0].p, 1500);
	T_EQ(add_frag(1, 1, &slot), IP_HELD);
	T_EQ(add_frag(2, 1, &slot), IP_HELD);
	T_EQ(ip_parse(first, 1500, 1500, 0, &f), 0);
	while (ip_frag(&f, NULL, 576, &off, &g, o) == 1) {
		size = (uint32_t)ip_build(out + 20, &g, NULL, 0);
		memcpy(out + size, first + 20 + was, g.len);
		was += g.len;
		T_EQ(g.more, 1);
		ret = add(out, size + g.len, 1, &slot);
	}
	T_EQ(ret, IP_WHOLE);
	is_whole(slot);
}

T_CASE(the_longest_packet_goes)
{
	uint32_t slot;
	unsigned n, k;

	begin(4);
	n = cut(65515, 8980, NULL);
	for (k = 0; k + 1 < n; k++)
		T_EQ(add_frag(k, 1, &slot), IP_HELD);
	T_EQ(add_frag(k, 1, &slot), IP_WHOLE);
	T_EQ(ip_reasm_len(&r, slot), 65535);
	is_whole(slot);
}

T_CASE(one_that_grows_too_long_does_not)
{
	static const unsigned char opt[4] = {1, 1, 1, 1};
	struct ip_hdr f;
	uint32_t slot;

	/* 40 + 65535: each fragment is good, the whole is not */
	begin(4);
	h.optlen = 4;
	h.frag = 65528;
	h.len = 7;
	T_EQ(ip_build(pkt + 24, &h, opt, 0), 24);
	T_EQ(add(pkt, 31, 1, &slot), IP_HELD);
	for (h.frag = 0; h.frag < 65528; h.frag += 8192) {
		h.len = h.frag == 57344 ? 8184 : 8192;
		h.more = 1;
		T_EQ(ip_build(pkt + 24, &h, opt, 0), 24);
		memcpy(pkt + 24, data + h.frag, h.len);
		T_EQ(ip_parse(pkt, 24 + h.len, 24 + h.len, 0, &f), 0);
		T_EQ(add(pkt, 24 + h.len, 1, &slot),
			h.frag == 57344 ? IP_REFUSED : IP_HELD);
	}
}

T_CASE(packets_do_not_mix)
{
	static unsigned char a0[1500], a1[1500];
	uint32_t na0, na1, slot;
	unsigned k;

	begin(4);
	T_EQ(cut(2000, 1500, NULL), 2);
	memcpy(a0, frag[0].p, na0 = frag[0].n);
	memcpy(a1, frag[1].p, na1 = frag[1].n);
	T_EQ(add(a0, na0, 1, &slot), IP_HELD);
	for (k = 0; k < 4; k++) {
		if (k == 0)
			h.id++;
		if (k == 1)
			h.proto++;
		if (k == 2)
			h.src.b[3]++;
		if (k == 3)
			h.dst.b[3]++;
		(void)cut(2000, 1500, NULL);
		T_EQ(add_frag(1, 1, &slot), IP_HELD);
	}
	{
		struct ip_hdr f;
		uint32_t lost;

		T_EQ(ip_parse(a1, na1, na1, 0, &f), 0);
		T_EQ(ip_reasm_add(&r, &mem, 5, a1, &f, 1, &slot, &lost), IP_HELD);
	}
	T_EQ(add(a1, na1, 1, &slot), IP_WHOLE);
}

T_CASE(twice_the_same_is_once)
{
	uint32_t slot;

	begin(16);
	T_EQ(cut(3000, 1280, NULL), 3);
	T_EQ(add_frag(1, 1, &slot), IP_HELD);
	T_EQ(add_frag(1, 1, &slot), IP_AGAIN);
	T_EQ(add_frag(2, 1, &slot), IP_HELD);
	T_EQ(add_frag(2, 1, &slot), IP_AGAIN);
	T_EQ(add_frag(0, 1, &slot), IP_WHOLE);
	is_whole(slot);
}

/* A fragment of @len bytes at @off, whose bytes are @salt more. */
static int
piece(uint32_t off, uint32_t len, int more, unsigned salt)
{
	uint32_t slot, size, i;
	struct ip_hdr f = h;

	f.frag = off;
	f.len = len;
	f.more = (uint8_t)more;
	size = (uint32_t)ip_size(&f);
	(void)ip_build(pkt + size, &f, NULL, 0);
	for (i = 0; i < len; i++)
		pkt[size + i] = (unsigned char)(data[off + i] + salt);
	return add(pkt, size + len, 1, &slot);
}

T_CASE(overlaps_end_the_packet)
{
	/* rows of a first fragment, 16 to 48, and one that contradicts */
	static const struct {
		uint32_t off, len;
		int more;
		unsigned salt;
	} row[] = {
		{16, 32, 1, 1}, /* other bytes */
		{8, 16, 1, 0},
		{40, 16, 1, 0},
		{0, 64, 1, 0},
		{24, 8, 1, 9},
		{16, 32, 0, 0}, /* the same, but the last */
		{40, 4, 0, 0},
		{8, 8, 0, 0}, /* an end before it */
	};
	unsigned i, v;

	for (v = 4; v <= 16; v += 12)
		for (i = 0; i < LEN(row); i++) {
			begin(v);
			T_EQ(piece(16, 32, 1, 0), IP_HELD);
			T_EQ(piece(row[i].off, row[i].len, row[i].more,
				row[i].salt), IP_REFUSED);
			/* RFC 5722: nor does what comes later make it good */
			T_EQ(piece(0, 16, 1, 0), IP_REFUSED);
			T_EQ(piece(48, 8, 0, 0), IP_REFUSED);
		}
	begin(4);
	T_EQ(piece(48, 4, 0, 0), IP_HELD);
	T_EQ(piece(56, 8, 1, 0), IP_REFUSED); /* behind the end */
	begin(4);
	T_EQ(piece(48, 4, 0, 0), IP_HELD);
	T_EQ(piece(56, 4, 0, 0), IP_REFUSED); /* another end */
	begin(4);
	T_EQ(piece(65528, 7, 0, 0), IP_HELD);
	T_EQ(piece(65520, 8, 0, 0), IP_REFUSED);
	/* a part of what is there, byte for byte */
	begin(4);
	T_EQ(piece(16, 32, 1, 0), IP_HELD);
	T_EQ(piece(24, 8, 1, 0), IP_AGAIN);
}

static int
expire(uint64_t now, uint32_t *tag, unsigned char *begins, uint32_t *n)
{
	uint32_t at = 0;

	return ip_reasm_expire(&r, &mem, now, &at, tag, begins, n);
}

T_CASE(what_does_not_come_in_time_is_given_up)
{
	unsigned char begins[IP_REASM_HDR + 8];
	uint32_t slot, tag, n;
	struct ip_hdr f;

	begin(4);
	T_EQ(cut(2000, 1500, NULL), 2);
	T_EQ(add_frag(0, SECOND, &slot), IP_HELD);
	T_EQ(expire(60 * SECOND, &tag, begins, &n), 0);
	T_EQ(expire(61 * SECOND, &tag, begins, &n), 1);
	T_EQ(n, 28);
	T_EQ(ip_parse(begins, n, 2000, 0, &f), 0);
	T_MEM(begins + 20, data, 8);
	T_EQ(expire(61 * SECOND, &tag, begins, &n), 0);
	/* without the first, it is not known what it was */
	T_EQ(add_frag(1, 70 * SECOND, &slot), IP_HELD);
	T_EQ(expire(130 * SECOND, &tag, begins, &n), 1);
	T_EQ(n, 0);
	/* of IPv6 what is left of the first stands for itself */
	begin(6);
	T_EQ(cut(2000, 1500, NULL), 2);
	T_EQ(add_frag(0, SECOND, &slot), IP_HELD);
	T_EQ(expire(61 * SECOND, &tag, begins, &n), 1);
	T_EQ(n, 48);
	T_EQ(ip_parse(begins, n, 65535, 0, &f), 0);
	T_EQ(f.proto, h.proto);
	T_EQ(f.hlen, 40);
	T_EQ(f.len, 1448);
	T_MEM(begins + 40, data, 8);
	begin(4);
	T_EQ(cut(2000, 1500, NULL), 2);
	/* what comes too late begins anew */
	T_EQ(add_frag(0, 100 * SECOND, &slot), IP_HELD);
	T_EQ(add_frag(1, 161 * SECOND, &slot), IP_HELD);
}

/* Fragment @k of the packet @id of host @host; what became of it. */
static int
from(unsigned host, unsigned id, unsigned k, uint32_t *slot, uint32_t *lost)
{
	struct ip_hdr f;

	h.src.b[1] = (unsigned char)(host >> 8);
	h.src.b[2] = (unsigned char)host;
	h.id = id;
	T_GT(cut(h.len, 1500, NULL), k);
	T_EQ(ip_parse(frag[k].p, frag[k].n, frag[k].n, 0, &f), 0);
	return ip_reasm_add(&r, &mem, 0, frag[k].p, &f, 1, slot, lost);
}

T_CASE(many_packets_of_many_hosts_are_put_together)
{
	enum { HOSTS = 100, EACH = 10, PARTS = 3 };
	uint32_t slot, lost, all = 0;
	unsigned i, k;

	begin(4);
	h.len = 4000;
	for (k = 0; k < PARTS; k++)
		for (i = 0; i < HOSTS * EACH; i++) {
			T_EQ(from(i % HOSTS, i / HOSTS, k, &slot, &lost),
				k + 1 < PARTS ? IP_HELD : IP_WHOLE);
			all += lost;
			if (k + 1 == PARTS)
				is_whole(slot);
		}
	T_EQ(all, 0);
	T_EQ(r.bytes, 0);
	forget();
}

/* Only the bytes of one source are taken from it. */
T_CASE(a_flood_of_one_source_takes_only_its_own)
{
	enum { HOSTS = 50, FLOOD = 30000 };
	uint32_t slot, lost;
	unsigned i, n = 0;

	begin(4);
	h.len = 2000;
	for (i = 0; i < HOSTS; i++)
		T_EQ(from(i, 1, 0, &slot, &lost), IP_HELD);
	for (i = 0; i < FLOOD; i++) {
		T_EQ(from(777, i, 0, &slot, &lost), IP_HELD);
		n += lost;
		T_LE(r.bytes, IP_REASM_EACH + HOSTS * 2000);
	}
	T_GT(n, FLOOD - IP_REASM_EACH / 1500);
	for (i = 0; i < HOSTS; i++) {
		T_EQ(from(i, 1, 1, &slot, &lost), IP_WHOLE);
		is_whole(slot);
	}
	/* of the flood the newest are there */
	T_EQ(from(777, FLOOD - 1, 1, &slot, &lost), IP_WHOLE);
	is_whole(slot);
	T_EQ(from(777, 0, 1, &slot, &lost), IP_HELD);
	forget();
}

T_CASE(memory_is_bounded_and_the_greediest_gives)
{
	uint32_t slot, lost, n = 0;
	unsigned i, k;

	/* six sources with 3 MiB each are more than all may hold */
	begin(4);
	h.len = 2000;
	T_EQ(from(999, 5, 0, &slot, &lost), IP_HELD);
	for (k = 0; k < 2000; k++)
		for (i = 0; i < 6; i++) {
			T_EQ(from(i, k, 0, &slot, &lost), IP_HELD);
			n += lost;
			T_LE(r.bytes, IP_REASM_BYTES);
		}
	T_GT(n, 0u);
	T_GT(r.bytes, IP_REASM_BYTES / 2);
	T_EQ(from(999, 5, 1, &slot, &lost), IP_WHOLE); /* it has little */
	is_whole(slot);
	forget();
}

T_CASE(small_fragments_do_not_take_all_slots)
{
	uint32_t slot, lost;
	unsigned i;

	begin(4);
	h.len = 2000;
	T_EQ(from(5, 5, 0, &slot, &lost), IP_HELD);
	for (i = 0; i < 20000; i++) {
		h.src.b[2] = 9;
		h.id = i;
		T_EQ(piece(0, 8, 1, 0), IP_HELD);
	}
	T_EQ(r.nchunks, IP_REASM_CHUNKS);
	h.len = 2000;
	T_EQ(from(5, 5, 1, &slot, &lost), IP_WHOLE);
	is_whole(slot);
	/* and many of one packet are refused */
	h.id = 30000;
	for (i = 0; i < IP_REASM_PARTS; i++)
		T_EQ(piece(8 + 16 * i, 8, 1, 0), IP_HELD);
	T_EQ(piece(0, 8, 1, 0), IP_REFUSED);
	forget();
}

T_CASE(without_memory_the_greediest_gives)
{
	uint32_t slot, lost;
	unsigned i;

	begin(4);
	h.len = 2000;
	most_use = 100000;
	T_EQ(from(5, 5, 0, &slot, &lost), IP_HELD);
	for (i = 0; i < 200; i++)
		T_EQ(from(6, i, 0, &slot, &lost), IP_HELD);
	T_EQ(from(5, 5, 1, &slot, &lost), IP_WHOLE);
	is_whole(slot);
	most_use = in_use;
	forget();
	begin(4);
	h.len = 2000;
	most_use = 0;
	T_EQ(from(5, 5, 0, &slot, &lost), IP_NOROOM);
	T_EQ(r.busy, 0);
}

T_CASE(who_died_inside_has_left_nothing)
{
	uint32_t slot;

	begin(4);
	T_EQ(cut(2000, 1500, NULL), 2);
	T_EQ(add_frag(0, 1, &slot), IP_HELD);
	r.busy = 1;
	T_EQ(add_frag(1, 1, &slot), IP_HELD);
	T_EQ(r.resets, 1);
	T_EQ(r.bytes, in_use - IP_REASM_CHUNK * sizeof(struct ip_slot) +
		sizeof(struct ip_slot));
	T_EQ(add_frag(0, 1, &slot), IP_WHOLE);
	is_whole(slot);
}

T_CASE(ipv6_headers_before_the_fragment_header_stay)
{
	static const unsigned char ext[] = {
		60, 0, 1, 4, 0, 0, 0, 0, /* hop-by-hop */
		44, 0, 1, 4, 0, 0, 0, 0, /* destination */
		60, 0, 0, 1, 0, 0, 0, 9, /* fragment: destination follows */
		17, 0, 1, 4, 0, 0, 0, 0, /* ... and is data to us */
		1, 2, 3, 4, 5, 6, 7, 8,
	};
	struct ip_hdr f;
	uint32_t slot, n;

	begin(16);
	memset(pkt, 0, 100);
	pkt[0] = 0x60;
	pkt[5] = sizeof(ext);
	pkt[7] = 64;
	pkt[8] = pkt[24] = 0xfe;
	memcpy(pkt + 40, ext, sizeof(ext));
	T_EQ(add(pkt, 40 + sizeof(ext), 1, &slot), IP_HELD);
	pkt[58] = 0;
	pkt[59] = 16; /* the last */
	pkt[5] = 28;
	T_EQ(add(pkt, 68, 1, &slot), IP_WHOLE);
	n = ip_reasm_len(&r, slot);
	T_EQ(n, 40 + 16 + 20);
	ip_reasm_take(&r, &mem, slot, out);
	T_EQ(out[5], 36);
	T_EQ(out[48], 60);
	T_EQ(ip_parse(out, n, n, 0, &f), 0);
	T_EQ(f.proto, 17);
	T_EQ(f.hlen, 64);
	T_EQ(f.len, 12);
}

