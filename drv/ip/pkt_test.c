/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fragments both ways, ICMP: RFC 791, 815, 5722, 8200, 792, 4443.
 */
#include <errno.h>
#include <string.h>
#include "t.h"
#include "pkt.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND 1000000000ull

static struct ip_reasm r;
static struct ip_slot slots[IP_REASM_SLOTS];
static unsigned char data[70000], pkt[70000], out[70000], big[70000];
static struct ip_hdr h;

static void
begin(unsigned len)
{
	unsigned i;

	memset(&r, 0, sizeof(r));
	memset(slots, 0, sizeof(slots));
	T_EQ(ip_reasm_wants(&r), 1);
	for (i = 0; i < LEN(slots); i++)
		ip_reasm_give(&r, &slots[i]);
	T_EQ(ip_reasm_wants(&r), 0);
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
	return ip_reasm_add(&r, 0, p, &f, now, slot, &lost);
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

	ip_reasm_take(&r, slot, out);
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

T_CASE(what_fits_is_not_cut)
{
	begin(4);
	T_EQ(cut(1480, 1500, NULL), 1);
	T_EQ(frag[0].p[6] | frag[0].p[7], 0);
	T_EQ(cut(0, 1500, NULL), 1);
	h.df = 1;
	T_EQ(cut(1480, 1500, NULL), 1);
	begin(16);
	T_EQ(cut(1460, 1500, NULL), 1);
	T_EQ(frag[0].n, 1500);
}

T_CASE(what_may_not_be_cut_is_not)
{
	unsigned char o[IP4_OPTMAX];
	uint32_t off = 0;
	struct ip_hdr f;

	begin(4);
	h.len = 1481;
	h.df = 1;
	T_EQ(ip_frag(&h, NULL, 1500, &off, &f, o), -EMSGSIZE);
	h.df = 0;
	T_EQ(ip_frag(&h, NULL, 27, &off, &f, o), -EMSGSIZE);
	T_EQ(ip_frag(&h, NULL, 28, &off, &f, o), 1);
	begin(16);
	h.len = 1500;
	h.hlen = 48; /* it has extension headers */
	off = 0;
	T_EQ(ip_frag(&h, NULL, 1500, &off, &f, o), -EMSGSIZE);
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

T_CASE(options_go_where_they_shall)
{
	/* loose source route (copied), record route (not), end */
	static const unsigned char opt[] = {
		0x83, 3, 4, 7, 7, 4, 0, 0, 0, 0, 0, 0};
	struct ip_hdr f;

	begin(4);
	h.optlen = sizeof(opt);
	T_EQ(cut(2000, 1500, opt), 2);
	T_EQ(ip_parse(frag[0].p, frag[0].n, frag[0].n, 0, &f), 0);
	T_EQ(f.optlen, 12);
	T_MEM(frag[0].p + 20, opt, 12);
	T_EQ(ip_parse(frag[1].p, frag[1].n, frag[1].n, 0, &f), 0);
	T_EQ(f.optlen, 4);
	T_MEM(frag[1].p + 20, "\203\3\4\0", 4);
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
		T_EQ(ip_reasm_add(&r, 5, a1, &f, 1, &slot, &lost), IP_HELD);
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

T_CASE(what_does_not_come_in_time_is_given_up)
{
	unsigned char begins[IP_REASM_HDR + 8];
	uint32_t slot, tag, n;
	struct ip_hdr f;

	begin(4);
	T_EQ(cut(2000, 1500, NULL), 2);
	T_EQ(add_frag(0, SECOND, &slot), IP_HELD);
	T_EQ(ip_reasm_expire(&r, 30 * SECOND, &tag, begins, &n), 0);
	T_EQ(ip_reasm_expire(&r, 31 * SECOND, &tag, begins, &n), 1);
	T_EQ(n, 28);
	T_EQ(ip_parse(begins, n, 2000, 0, &f), 0);
	T_MEM(begins + 20, data, 8);
	T_EQ(ip_reasm_expire(&r, 31 * SECOND, &tag, begins, &n), 0);
	/* without the first, it is not known what it was */
	T_EQ(add_frag(1, 40 * SECOND, &slot), IP_HELD);
	T_EQ(ip_reasm_expire(&r, 80 * SECOND, &tag, begins, &n), 1);
	T_EQ(n, 0);
	/* of IPv6 what is left of the first stands for itself */
	begin(6);
	T_EQ(cut(2000, 1500, NULL), 2);
	T_EQ(add_frag(0, SECOND, &slot), IP_HELD);
	T_EQ(ip_reasm_expire(&r, 31 * SECOND, &tag, begins, &n), 1);
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
	T_EQ(add_frag(1, 131 * SECOND, &slot), IP_HELD);
}

T_CASE(memory_is_bounded_and_the_oldest_goes)
{
	uint32_t slot, lost, i;
	struct ip_hdr f;

	begin(4);
	T_LE(sizeof(slots), 2200000);
	for (i = 0; i < IP_REASM_SLOTS; i++) {
		h.id = i;
		(void)cut(2000, 1500, NULL);
		T_EQ(ip_parse(frag[0].p, 1500, 1500, 0, &f), 0);
		T_EQ(ip_reasm_add(&r, 0, frag[0].p, &f, i + 1, &slot, &lost),
			IP_HELD);
		T_EQ(lost, 0);
	}
	h.id = 1000;
	(void)cut(2000, 1500, NULL);
	T_EQ(ip_parse(frag[0].p, 1500, 1500, 0, &f), 0);
	T_EQ(ip_reasm_add(&r, 0, frag[0].p, &f, 100, &slot, &lost), IP_HELD);
	T_EQ(lost, 1);
	h.id = 1; /* the second is there still, the first is not */
	(void)cut(2000, 1500, NULL);
	T_EQ(add_frag(1, 101, &slot), IP_WHOLE);
	h.id = 0;
	(void)cut(2000, 1500, NULL);
	T_EQ(add_frag(1, 102, &slot), IP_HELD);
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
	ip_reasm_take(&r, slot, out);
	T_EQ(out[5], 36);
	T_EQ(out[48], 60);
	T_EQ(ip_parse(out, n, n, 0, &f), 0);
	T_EQ(f.proto, 17);
	T_EQ(f.hlen, 64);
	T_EQ(f.len, 12);
}

/* ---------------------------------------------------------------------- ICMP */

/* A packet with an ICMP message of @n bytes at @out; its length. */
static uint32_t
icmp(unsigned type, unsigned code, const unsigned char *more, uint32_t n)
{
	unsigned char *p;
	uint32_t sum;

	h.proto = h.src.len == 4 ? P_ICMP : P_ICMP6;
	h.len = 8 + n;
	p = out + ip_size(&h);
	(void)ip_build(p, &h, NULL, 0);
	memset(p, 0, 8);
	p[0] = (unsigned char)type;
	p[1] = (unsigned char)code;
	p[6] = 0x05;
	p[7] = 0xdc;
	memcpy(p + 8, more, n);
	sum = h.src.len == 4 ? 0 : ip_pseudo(&h.src, &h.dst, P_ICMP6, h.len);
	sum = ip_fold(ip_sum(p, h.len, sum, 0));
	p[2] = (unsigned char)(sum >> 8);
	p[3] = (unsigned char)sum;
	return (uint32_t)(p - out) + h.len;
}

static int
read_icmp(uint32_t n, struct icmp_msg *m)
{
	struct ip_hdr f;

	T_EQ(ip_parse(out, n, n, 0, &f), 0);
	return icmp_parse(out + f.hlen, f.len, &f, m);
}

T_CASE(echoes_are_answered)
{
	struct icmp_msg m;
	struct ip_hdr f;
	unsigned v;
	uint32_t n;

	for (v = 4; v <= 16; v += 12) {
		begin(v);
		n = icmp(v == 4 ? 8 : 128, 0, data, 57);
		T_EQ(read_icmp(n, &m), 0);
		T_EQ(m.kind, ICMP_ECHO);
		T_EQ(ip_parse(out, n, n, 0, &f), 0);
		icmp_reply(out, n, &f, &h.dst);
		T_EQ(ip_parse(out, n, n, 0, &f), 0);
		T_MEM(f.src.b, h.dst.b, 16);
		T_MEM(f.dst.b, h.src.b, 16);
		T_EQ(icmp_parse(out + f.hlen, f.len, &f, &m), 0);
		T_EQ(m.kind, ICMP_OTHER);
		T_EQ(out[f.hlen], v == 4 ? 0 : 129);
		T_MEM(out + f.hlen + 8, data, 57);
	}
}

T_CASE(broken_icmp_is_refused)
{
	struct icmp_msg m;
	unsigned v;
	uint32_t n, i;

	for (v = 4; v <= 16; v += 12) {
		begin(v);
		n = icmp(v == 4 ? 8 : 128, 0, data, 57);
		for (i = n - 65; i < n; i++) {
			out[i] ^= 0x10;
			T_EQ(read_icmp(n, &m), -IP_CKSUM);
			out[i] ^= 0x10;
		}
		h.len = 7;
		T_EQ(icmp_parse(out + ip_size(&h), 7, &h, &m), -IP_SHORT);
	}
}

T_CASE(errors_are_read)
{
	static const struct {
		unsigned v, type, code;
		int error;
		uint32_t mtu;
	} row[] = {
		{4, 3, 0, ENETUNREACH, 0}, {4, 3, 1, EHOSTUNREACH, 0},
		{4, 3, 2, ENOPROTOOPT, 0}, {4, 3, 3, ECONNREFUSED, 0},
		{4, 3, 4, EMSGSIZE, 1500}, {4, 3, 13, EHOSTUNREACH, 0},
		{4, 3, 200, EHOSTUNREACH, 0}, {4, 11, 0, EHOSTUNREACH, 0},
		{4, 12, 0, EPROTO, 0},
		{16, 1, 0, ENETUNREACH, 0}, {16, 1, 3, EHOSTUNREACH, 0},
		{16, 1, 4, ECONNREFUSED, 0}, {16, 1, 99, EHOSTUNREACH, 0},
		{16, 2, 0, EMSGSIZE, 1500}, {16, 3, 0, EHOSTUNREACH, 0},
		{16, 4, 1, EPROTO, 0},
	};
	static unsigned char mine[1300];
	struct icmp_msg m;
	uint32_t n, size;
	unsigned i;

	for (i = 0; i < LEN(row); i++) {
		begin(row[i].v);
		h.proto = 17;
		h.len = 1000;
		size = (uint32_t)ip_size(&h);
		(void)ip_build(mine + size, &h, NULL, 0);
		memcpy(mine + size, data, 8);
		n = icmp(row[i].type, row[i].code, mine, size + 8);
		T_EQ(read_icmp(n, &m), 0);
		T_EQ(m.kind, ICMP_ERR);
		T_EQ(m.error, row[i].error);
		T_EQ(m.mtu, row[i].mtu);
		T_EQ(m.h.proto, 17);
		T_EQ(m.h.len, 1000);
		T_EQ(m.at, size);
		T_EQ(m.n, size + 8);
		T_MEM(m.begin + m.at, data, 8);
		/* about something that is no packet */
		n = icmp(row[i].type, row[i].code, mine, 5);
		T_LT(read_icmp(n, &m), 0);
		T_EQ(m.kind, ICMP_OTHER);
	}
}

T_CASE(complaints_are_good_packets_and_are_understood)
{
	static const enum icmp_error what[] = {
		ICMP_NOPORT, ICMP_NOPROTO, ICMP_TOOLATE};
	static const int error[] = {ECONNREFUSED, 0, EHOSTUNREACH};
	struct icmp_msg m;
	struct ip_hdr f;
	unsigned v, i;
	uint32_t n, len;

	for (v = 4; v <= 16; v += 12)
		for (i = 0; i < 3; i++)
			for (len = 0; len < 3000; len += 200) {
				begin(v);
				h.proto = 17;
				h.len = len;
				n = (uint32_t)ip_size(&h) + len;
				(void)ip_build(big + n - len, &h, NULL, 0);
				memcpy(big + n - len, data, len);
				n = icmp_error(what[i], big, n, &h, &h.dst, out);
				T_GT(n, 0u);
				T_LE(n, v == 4 ? 576u : 1280u);
				T_EQ(ip_parse(out, n, n, 0, &f), 0);
				T_EQ(f.hlen + f.len, n);
				T_MEM(f.dst.b, h.src.b, 16);
				T_EQ(icmp_parse(out + f.hlen, f.len, &f, &m), 0);
				T_EQ(m.kind, ICMP_ERR);
				T_EQ(m.error, error[i] != 0 ? error[i] :
					v == 4 ? ENOPROTOOPT : EPROTO);
				T_EQ(m.h.len, len);
				if (v == 16 && what[i] == ICMP_NOPROTO)
					T_EQ(out[f.hlen + 7], 6);
				/* no complaint about a complaint */
				T_EQ(icmp_error(ICMP_NOPROTO, out, n, &f,
					&f.dst, big), 0);
			}
}

T_CASE(about_some_nobody_complains)
{
	unsigned v;

	for (v = 4; v <= 16; v += 12) {
		begin(v);
		h.len = 100;
		h.hlen = v == 4 ? 20 : 40;
		T_GT(icmp_error(ICMP_NOPORT, data, 60, &h, &h.dst, out), 0u);
		h.dst.b[0] = v == 4 ? 224 : 255;
		T_EQ(icmp_error(ICMP_NOPORT, data, 60, &h, &h.src, out), 0);
		h.dst.b[0] = 10;
		h.src.b[0] = v == 4 ? 255 : 255;
		T_EQ(icmp_error(ICMP_NOPORT, data, 60, &h, &h.dst, out), 0);
		memset(h.src.b, 0, 16);
		T_EQ(icmp_error(ICMP_NOPORT, data, 60, &h, &h.dst, out), 0);
		begin(v);
		h.frag = 8;
		T_EQ(icmp_error(ICMP_NOPORT, data, 60, &h, &h.dst, out), 0);
		h.frag = 0;
		h.dst.len = 0; /* no host to come from */
		T_EQ(icmp_error(ICMP_NOPORT, data, 60, &h, &h.dst, out), 0);
		/* an echo may be complained about, an error not */
		begin(v);
		h.proto = v == 4 ? P_ICMP : P_ICMP6;
		h.hlen = v == 4 ? 20 : 40;
		memset(big, 0, 100);
		big[h.hlen] = v == 4 ? 8 : 128;
		T_GT(icmp_error(ICMP_NOPROTO, big, 60, &h, &h.dst, out), 0u);
		big[h.hlen] = v == 4 ? 3 : 1;
		T_EQ(icmp_error(ICMP_NOPROTO, big, 60, &h, &h.dst, out), 0);
	}
}

T_CASE(complaints_are_rate_limited)
{
	struct icmp_limit l = {0, 0};
	unsigned i, n = 0;

	for (i = 0; i < 1000; i++)
		n += (unsigned)icmp_allowed(&l, SECOND);
	T_EQ(n, ICMP_BURST);
	for (i = 0, n = 0; i < 1000; i++) /* two seconds, in steps of 2 ms */
		n += (unsigned)icmp_allowed(&l, SECOND + i * 2000000ull);
	T_GE(n, 2 * ICMP_RATE - 1);
	T_LE(n, 2 * ICMP_RATE + 1);
	/* who was silent for long does not have more than a burst */
	for (i = 0, n = 0; i < 1000; i++)
		n += (unsigned)icmp_allowed(&l, 1000 * SECOND);
	T_EQ(n, ICMP_BURST);
}

/* ---------------------------------------------------------------- neighbours */

T_CASE(arp_is_written_and_read)
{
	static const unsigned char mac[6] = {2, 1, 2, 3, 4, 5};
	unsigned char buf[128];
	struct neigh_msg m;
	uint32_t n, i;

	begin(4);
	n = arp_build(buf, 1, &h.src, mac, &h.dst, mac);
	T_EQ(n, 28);
	T_MEM(buf, "\0\1\10\0\6\4\0\1\2\1\2\3\4\5\12\0\0\1\0\0\0\0\0\0"
		"\12\0\0\2", 28);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.ask, 1);
	T_EQ(m.known, 1);
	T_MEM(m.mac, mac, 6);
	T_MEM(m.who.b, h.src.b, 4);
	T_MEM(m.target.b, h.dst.b, 4);
	for (i = 0; i < n; i++)
		T_EQ(arp_parse(buf, i, &m), 0);
	for (i = 0; i < 7; i++) {
		buf[i] ^= 1;
		T_EQ(arp_parse(buf, n, &m), 0);
		buf[i] ^= 1;
	}
	/* a probe says nothing about who asks: RFC 5227 */
	memset(buf + 14, 0, 4);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.known, 0);
	n = arp_build(buf, 0, &h.dst, mac, &h.src, mac);
	T_EQ(arp_parse(buf, n, &m), 1);
	T_EQ(m.ask, 0);
	T_MEM(m.who.b, h.dst.b, 4);
}

T_CASE(neighbour_discovery_is_written_and_read)
{
	static const unsigned char mac[6] = {2, 1, 2, 3, 4, 5};
	unsigned char buf[128], to[6];
	struct ip_addr group, from, target;
	struct neigh_msg m;
	struct ip_hdr f;
	uint32_t n, i;

	begin(16);
	from = h.src;
	target = h.dst;
	ndp_group(&target, &group);
	T_MEM(group.b, "\377\2\0\0\0\0\0\0\0\0\0\1\377\0\0\2", 16);
	T_EQ(neigh_many(&group, to), 1);
	T_MEM(to, "\63\63\377\0\0\2", 6);
	n = ndp_build(buf, 1, &from, mac, &group, &target);
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(f.ttl, 255);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 1);
	T_EQ(m.ask, 1);
	T_EQ(m.known, 1);
	T_MEM(m.mac, mac, 6);
	T_MEM(m.who.b, from.b, 16);
	T_MEM(m.target.b, target.b, 16);
	for (i = 0; i < f.len; i++) {
		T_EQ(ndp_parse(buf + 40, i, &f, &m), 0);
		buf[40 + i] ^= 4;
		T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
		buf[40 + i] ^= 4;
	}
	/* RFC 4861 s7.1: it must not have come from elsewhere */
	f.ttl = 254;
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 0);
	n = ndp_build(buf, 0, &target, mac, &from, &target);
	T_EQ(ip_parse(buf, n, n, 0, &f), 0);
	T_EQ(ndp_parse(buf + 40, f.len, &f, &m), 1);
	T_EQ(m.ask, 0);
	T_MEM(m.who.b, target.b, 16);
	T_EQ(buf[44], 0x60);
}

T_CASE(many_hear_at_one_place)
{
	unsigned char mac[6];

	begin(4);
	T_EQ(neigh_many(&h.dst, mac), 0);
	memcpy(h.dst.b, "\340\200\1\2", 4);
	T_EQ(neigh_many(&h.dst, mac), 1);
	T_MEM(mac, "\1\0\136\0\1\2", 6);
	memset(h.dst.b, 255, 4);
	T_EQ(neigh_many(&h.dst, mac), 1);
	T_MEM(mac, "\377\377\377\377\377\377", 6);
	begin(16);
	T_EQ(neigh_many(&h.dst, mac), 0);
}

/* --------------------------------------------------------------- path MTUs */

#define MINUTE 60000000000ull

static struct ip_pmtu paths;

static struct ip_addr
four(unsigned a, unsigned b)
{
	struct ip_addr x = {4, {10, 1, (unsigned char)a, (unsigned char)b}};

	return x;
}

static struct ip_addr
six(unsigned a)
{
	struct ip_addr x = {16, {0xfd, 0x77}};

	x.b[15] = (unsigned char)a;
	return x;
}

/* RFC 1191 s3: only ever less; s6.3: for 10 minutes */
T_CASE(a_narrower_path_is_remembered_for_a_while)
{
	struct ip_addr a = four(0, 1), b = four(0, 2);

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 1), 1500);
	T_EQ(ip_pmtu_learn(&paths, &a, 1400, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1400);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1500);
	T_EQ(ip_pmtu_of(&paths, &a, 1300, 2), 1300); /* the link's is less */
	T_EQ(ip_pmtu_learn(&paths, &a, 1450, 1500, 1500, 2), 0);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1400);
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1400, 1500, 5 * MINUTE), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 15 * MINUTE - 1), 1000);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 15 * MINUTE), 1500);
	/* and may be learned once more */
	T_EQ(ip_pmtu_learn(&paths, &a, 1200, 1500, 1500, 16 * MINUTE), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 16 * MINUTE), 1200);
}

/* RFC 791: 68; RFC 8201 s4: less than 1280 is discarded */
T_CASE(a_path_is_not_narrower_than_can_be)
{
	struct ip_addr a = four(0, 1), b = six(1);

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_learn(&paths, &a, 20, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 68);
	T_EQ(ip_pmtu_learn(&paths, &b, 1279, 1500, 1500, 1), 0);
	T_EQ(ip_pmtu_learn(&paths, &b, 0, 1500, 1500, 1), 0);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1500);
	T_EQ(ip_pmtu_learn(&paths, &b, 1280, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1280);
	/* about what would have been passed on: no router has said that */
	a = four(0, 2);
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1000, 1500, 1), 0);
	T_EQ(ip_pmtu_learn(&paths, &a, 1400, 100, 1500, 1), 0);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1500);
}

/* RFC 1191 s5: routers that do not say */
T_CASE(a_router_that_does_not_say_is_guessed_at)
{
	static const struct { uint32_t len, mtu; } is[] = {
		{65535, 32000}, {32000, 17914}, {1500, 1492}, {1492, 1006},
		{1006, 508}, {508, 296}, {296, 68}, {69, 68},
	};
	struct ip_addr a;
	unsigned i;

	memset(&paths, 0, sizeof(paths));
	for (i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		a = four(1, i);
		T_EQ(ip_pmtu_learn(&paths, &a, 0, is[i].len, 65535, 1), 1);
		T_EQ(ip_pmtu_of(&paths, &a, 65535, 2), is[i].mtu);
	}
	a = four(1, 100);
	T_EQ(ip_pmtu_learn(&paths, &a, 0, 68, 65535, 1), 0);
}

T_CASE(paths_are_bounded_and_the_oldest_go)
{
	struct ip_addr a;
	unsigned i, n = 0;

	memset(&paths, 0, sizeof(paths));
	for (i = 0; i < 4000; i++) {
		a = four(i >> 8, i & 0xff);
		T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1500, 1500, i + 1), 1);
		T_EQ(ip_pmtu_of(&paths, &a, 1500, i + 1), 1000);
	}
	for (i = 0; i < 4000; i++) {
		a = four(i >> 8, i & 0xff);
		n += ip_pmtu_of(&paths, &a, 1500, 4000) == 1000;
	}
	T_LE(n, IP_PMTUS);
	T_GT(n, IP_PMTUS / 2);
}

T_CASE(who_died_writing_a_path_is_not_believed)
{
	struct ip_addr a = four(0, 1), b;
	struct ip_pmtu_entry *e;
	unsigned i;

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1500, 1500, 1), 1);
	for (e = paths.entry; e->gen == 0; e++)
		;
	e->gen |= 1; /* as after ip:pmtu */
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1500);
	T_EQ(ip_pmtu_learn(&paths, &a, 900, 1500, 1500, 2), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 900);
	/* the place is used, by whom it may concern */
	for (i = 0; i < 4000; i++) {
		b = four(i >> 8, i & 0xff);
		T_EQ(ip_pmtu_learn(&paths, &b, 800, 1500, 1500, 3 + i), 1);
		T_EQ(ip_pmtu_of(&paths, &b, 1500, 3 + i), 800);
	}
	T_EQ(e->gen & 1, 0);
}
