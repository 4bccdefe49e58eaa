/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Headers: RFC 791, 8200, 768, 1071.
 */
#include <string.h>
#include "t.h"
#include <str/ip.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* UDP from 192.0.2.1 port 1024 to 192.0.2.2 port 53: "abc" */
static const unsigned char udp4[] = {
	0x45, 0x00, 0x00, 0x1f, 0x12, 0x34, 0x40, 0x00,
	0x40, 0x11, 0xa4, 0x96, 0xc0, 0x00, 0x02, 0x01,
	0xc0, 0x00, 0x02, 0x02,
	0x04, 0x00, 0x00, 0x35, 0x00, 0x0b, 0x00, 0x00, 'a', 'b', 'c',
};

static unsigned char buf[70000];
static struct ip_hdr h;

/* The rule as it stands in RFC 1071 s4.1, word by word. */
static uint16_t
plain_sum(const unsigned char *p, size_t n)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	if (n % 2 != 0)
		sum += (uint32_t)(p[n - 1] << 8);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void
noise(unsigned char *p, size_t n, uint32_t seed)
{
	size_t i;

	for (i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (unsigned char)(seed >> 24);
	}
}

/* An IPv6 header of @len bytes behind it, the first of kind @next. */
static void
v6(unsigned char next, unsigned len)
{
	memset(buf, 0, 40);
	buf[0] = 0x60;
	buf[4] = (unsigned char)(len >> 8);
	buf[5] = (unsigned char)len;
	buf[6] = next;
	buf[7] = 64;
	buf[8] = 0xfe;
	buf[23] = 1;
	buf[39] = 1;
}

static int
parse(size_t n)
{
	return ip_parse(buf, n, n, 0, &h);
}

T_CASE(sums_are_those_of_the_rfc)
{
	static const unsigned char rfc1071[] = {
		0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	/* RFC 1071 s3: ddf2 is the sum */
	T_EQ(ip_fold(ip_sum(rfc1071, 8, 0, 0)), (uint16_t)~0xddf2);
	T_EQ(ip_fold(0), 0xffff);
	T_EQ(ip_fold(0xffffffff), 0);
}

T_CASE(sums_of_every_length_and_place)
{
	size_t n, at;

	noise(buf, 1100, 1);
	for (n = 0; n < 130; n++)
		for (at = 0; at < 9; at++)
			T_EQ(ip_fold(ip_sum(buf + at, n, 0, 0)),
				plain_sum(buf + at, n));
	memset(buf, 0xff, 65535);
	T_EQ(ip_fold(ip_sum(buf, 65535, 0, 0)), plain_sum(buf, 65535));
	noise(buf, 65535, 2);
	T_EQ(ip_fold(ip_sum(buf, 65535, 0, 0)), plain_sum(buf, 65535));
}

T_CASE(sums_in_pieces_are_those_of_the_whole)
{
	size_t cut, more;
	uint32_t sum;

	noise(buf, 64, 3);
	for (cut = 0; cut <= 64; cut++)
		for (more = cut; more <= 64; more += 5) {
			sum = ip_sum(buf, cut, 0, 0);
			sum = ip_sum(buf + cut, more - cut, sum, cut % 2);
			sum = ip_sum(buf + more, 64 - more, sum, more % 2);
			T_EQ(ip_fold(sum), plain_sum(buf, 64));
		}
	/* a sum that is full already carries round */
	T_EQ(ip_fold(ip_sum(buf, 64, 0xffffffff, 0)), plain_sum(buf, 64));
}

T_CASE(the_pseudo_header_is_that_of_the_rfc)
{
	struct ip_addr a = {4, {192, 0, 2, 1}}, b = {4, {192, 0, 2, 2}};
	unsigned char p[40] = {192, 0, 2, 1, 192, 0, 2, 2, 0, 17, 0, 11};

	T_EQ(ip_fold(ip_pseudo(&a, &b, 17, 11)), plain_sum(p, 12));
	/* RFC 8200 s8.1: addresses, 32 bits of length, zeros, next header */
	noise(p, 32, 4);
	a.len = b.len = 16;
	memcpy(a.b, p, 16);
	memcpy(b.b, p + 16, 16);
	memcpy(p + 32, "\0\1\2\3\0\0\0\21", 8);
	T_EQ(ip_fold(ip_pseudo(&a, &b, 17, 0x010203)), plain_sum(p, 40));
}

T_CASE(reads_an_ipv4_header)
{
	memcpy(buf, udp4, sizeof(udp4));
	T_EQ(parse(sizeof(udp4)), 0);
	T_EQ(h.src.len, 4);
	T_MEM(h.src.b, "\300\0\2\1", 4);
	T_MEM(h.dst.b, "\300\0\2\2", 4);
	T_EQ(h.hlen, 20);
	T_EQ(h.len, 11);
	T_EQ(h.proto, 17);
	T_EQ(h.ttl, 64);
	T_EQ(h.id, 0x1234);
	T_EQ(h.df, 1);
	T_EQ(h.more, 0);
	T_EQ(h.frag, 0);
	T_EQ(h.optlen, 0);
}

T_CASE(writes_the_header_it_has_read)
{
	unsigned char out[64];

	memcpy(buf, udp4, sizeof(udp4));
	T_EQ(parse(sizeof(udp4)), 0);
	T_EQ(ip_size(&h), 20);
	T_EQ(ip_build(out + 64, &h, NULL, 0), 20);
	T_MEM(out + 44, udp4, 20);
	T_EQ(ip_build(out + 64, &h, NULL, IP_TRUST), 20);
	T_MEM(out + 54, "\0\0", 2); /* it is not verified */
	T_EQ(ip_parse(out + 44, 20, 31, IP_TRUST, &h), 0);
	T_EQ(ip_parse(out + 44, 20, 31, 0, &h), -IP_CKSUM);
}

T_CASE(writes_options_filled_up_to_words)
{
	static const unsigned char opt[] = {7, 7, 4, 0, 0, 0, 0};
	unsigned char out[64];

	memcpy(buf, udp4, sizeof(udp4));
	T_EQ(parse(sizeof(udp4)), 0);
	h.optlen = sizeof(opt);
	T_EQ(ip_size(&h), 28);
	T_EQ(ip_build(out + 64, &h, opt, 0), 28);
	T_EQ(out[36], 0x47);
	T_MEM(out + 56, "\7\7\4\0\0\0\0\0", 8);
	T_EQ(ip_parse(out + 36, 28, 39, 0, &h), 0);
	T_EQ(h.hlen, 28);
	T_EQ(h.optlen, 8);
	T_EQ(h.len, 11);
}

T_CASE(padding_behind_a_packet_is_none_of_it)
{
	memset(buf, 0, 60);
	memcpy(buf, udp4, sizeof(udp4));
	T_EQ(parse(60), 0);
	T_EQ(h.len, 11);
}

T_CASE(every_truncation_is_found)
{
	size_t n;

	memcpy(buf, udp4, sizeof(udp4));
	for (n = 0; n < sizeof(udp4); n++)
		T_EQ(parse(n), -IP_SHORT);
	/* the header is here, the rest elsewhere */
	T_EQ(ip_parse(buf, 20, 31, 0, &h), 0);
	T_EQ(ip_parse(buf, 19, 31, 0, &h), -IP_SHORT);
	v6(17, 8);
	for (n = 0; n < 48; n++)
		T_EQ(parse(n), -IP_SHORT);
	T_EQ(parse(48), 0);
}

T_CASE(every_broken_bit_of_an_ipv4_header_is_found)
{
	unsigned i;

	for (i = 0; i < 160; i++) {
		memcpy(buf, udp4, sizeof(udp4));
		buf[i / 8] ^= (unsigned char)(1 << i % 8);
		T_LT(parse(sizeof(udp4)), 0);
	}
}

/* A field of udp4 is changed and the checksum made good. */
static int
changed(unsigned at, unsigned char val)
{
	memcpy(buf, udp4, sizeof(udp4));
	buf[at] = val;
	buf[10] = buf[11] = 0;
	h.len = ip_fold(ip_sum(buf, 20, 0, 0));
	buf[10] = (unsigned char)(h.len >> 8);
	buf[11] = (unsigned char)h.len;
	return parse(sizeof(udp4));
}

T_CASE(what_contradicts_itself_is_refused)
{
	T_EQ(changed(0, 0x44), -IP_HLEN);
	T_EQ(changed(0, 0x40), -IP_HLEN);
	T_EQ(changed(0, 0x55), -IP_VERSION);
	T_EQ(changed(0, 0x05), -IP_VERSION);
	T_EQ(changed(3, 19), -IP_LENGTH);
	T_EQ(changed(3, 20), 0);
	T_EQ(h.len, 0);
	T_EQ(changed(3, 32), -IP_SHORT);
	T_EQ(changed(12, 224), -IP_ADDR);
	T_EQ(changed(12, 239), -IP_ADDR);
	T_EQ(changed(12, 127), 0); /* the wire knows better */
	/* RFC 1122 s3.2.1.7: a host takes what has come this far */
	T_EQ(changed(8, 0), 0);
}

T_CASE(fragments_have_to_fit)
{
	T_EQ(changed(6, 0x20), -IP_LENGTH); /* 11 bytes, and more follow */
	T_EQ(changed(6, 0x1f), 0);
	T_EQ(h.frag, 0x1f00 * 8);
	memcpy(buf, udp4, 20);
	buf[3] = 28;
	buf[6] = 0x1f;
	buf[7] = 0xff; /* 65528 + 8 */
	T_EQ(ip_parse(buf, 28, 28, IP_TRUST, &h), -IP_LENGTH);
	buf[3] = 27;
	T_EQ(ip_parse(buf, 28, 28, IP_TRUST, &h), 0);
	T_EQ(h.frag, 65528);
	T_EQ(h.len, 7);
	buf[3] = 20;
	buf[6] = 0x20;
	buf[7] = 0;
	T_EQ(ip_parse(buf, 28, 28, IP_TRUST, &h), -IP_LENGTH); /* empty */
}

T_CASE(broken_options_are_refused)
{
	static const struct {
		unsigned char opt[4];
		int ret;
	} row[] = {
		{{0, 0, 0, 0}, 0},
		{{1, 1, 1, 1}, 0},
		{{1, 1, 1, 7}, -IP_OPTION}, /* no length */
		{{7, 0, 0, 0}, -IP_OPTION},
		{{7, 1, 0, 0}, -IP_OPTION},
		{{7, 5, 0, 0}, -IP_OPTION},
		{{7, 4, 4, 0}, 0},
		{{1, 7, 3, 4}, 0},
		{{0, 7, 9, 9}, 0}, /* behind the end of the list */
	};
	unsigned i;

	for (i = 0; i < LEN(row); i++) {
		memcpy(buf, udp4, 20);
		buf[0] = 0x46;
		buf[3] = 24;
		memcpy(buf + 20, row[i].opt, 4);
		T_EQ(ip_parse(buf, 24, 24, IP_TRUST, &h), row[i].ret);
	}
}

T_CASE(reads_and_writes_an_ipv6_header)
{
	unsigned char out[64];

	v6(17, 8);
	memcpy(buf, "\x6a\xbc\xde\xf1", 4);
	T_EQ(parse(48), 0);
	T_EQ(h.src.len, 16);
	T_EQ(h.src.b[0], 0xfe);
	T_EQ(h.dst.b[15], 1);
	T_EQ(h.tos, 0xab);
	T_EQ(h.flow, 0xcdef1);
	T_EQ(h.hlen, 40);
	T_EQ(h.len, 8);
	T_EQ(h.proto, 17);
	T_EQ(h.ttl, 64);
	T_EQ(ip_size(&h), 40);
	T_EQ(ip_build(out + 64, &h, NULL, 0), 40);
	T_MEM(out + 24, buf, 40);
}

T_CASE(writes_an_ipv6_fragment_header)
{
	unsigned char out[64];

	v6(17, 16);
	T_EQ(parse(56), 0);
	h.frag = 1448;
	h.more = 1;
	h.id = 0xdeadbeef;
	T_EQ(ip_size(&h), 48);
	T_EQ(ip_build(out + 64, &h, NULL, 0), 48);
	T_MEM(out + 56, "\21\0\5\251\336\255\276\357", 8);
	memcpy(buf, out + 16, 48);
	memset(buf + 48, 0, 16);
	T_EQ(parse(64), 0);
	T_EQ(h.frag, 1448);
	T_EQ(h.more, 1);
	T_EQ(h.id, 0xdeadbeef);
	T_EQ(h.hlen, 48);
	T_EQ(h.len, 16);
	T_EQ(h.proto, 17);
}

T_CASE(walks_through_extension_headers)
{
	static const unsigned char ext[] = {
		60, 0, 1, 4, 0, 0, 0, 0,      /* hop-by-hop: PadN */
		43, 1, 0, 0, 0, 0, 1, 6,      /* destination: 16 bytes */
		0, 0, 0, 0, 0, 0, 0, 0,
		51, 0, 0, 0, 0, 0, 0, 0,      /* routing, none left */
		44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* authentication */
		17, 0, 0, 0, 0, 0, 0, 9,      /* an atomic fragment */
	};
	size_t n;

	v6(0, sizeof(ext) + 8);
	memcpy(buf + 40, ext, sizeof(ext));
	T_EQ(parse(40 + sizeof(ext) + 8), 0);
	T_EQ(h.proto, 17);
	T_EQ(h.hlen, 40 + sizeof(ext));
	T_EQ(h.len, 8);
	T_EQ(h.id, 9);
	/* in the first block there must be all of them */
	for (n = 40; n < 40 + sizeof(ext); n++)
		T_EQ(ip_parse(buf, n, 100, 0, &h), -IP_SHORT);
	T_EQ(ip_parse(buf, 40 + sizeof(ext), 100, 0, &h), 0);
	/* ... and the packet must be as long as they say */
	for (n = 0; n < sizeof(ext); n++) {
		buf[5] = (unsigned char)n;
		T_EQ(parse(100), -IP_OPTION);
	}
}

T_CASE(bad_extension_headers_are_refused)
{
	static const struct {
		unsigned char next, ext[16];
		int ret;
	} row[] = {
		{0, {17, 0, 5, 2, 0, 0, 1, 0}, 0}, /* router alert */
		{0, {17, 0, 0x1e, 4, 0, 0, 0, 0}, 0}, /* may be skipped */
		{0, {17, 0, 0x5e, 4, 0, 0, 0, 0}, -IP_OPTION},
		{0, {17, 0, 0xc2, 4, 0, 1, 0, 0}, -IP_OPTION}, /* jumbo */
		{0, {17, 0, 1, 5, 0, 0, 0, 0}, -IP_OPTION}, /* too long */
		{0, {17, 0, 0, 0, 0, 0, 0, 1}, -IP_OPTION}, /* no length */
		{60, {0, 0, 1, 4, 0, 0, 0, 0}, -IP_OPTION}, /* not first */
		{43, {17, 0, 0, 1, 0, 0, 0, 0}, -IP_OPTION}, /* one left */
		{44, {44, 0, 0, 0, 0, 0, 0, 0}, -IP_OPTION}, /* twice */
		{17, {0}, 0},
		{59, {0}, 0},
		{50, {0}, 0},
		/* first fragment; the chain does not end in it: RFC 7112 */
		{44, {60, 0, 0, 1, 0, 0, 0, 0, 17, 9}, -IP_OPTION},
		{44, {60, 0, 0, 1, 0, 0, 0, 0, 17, 0, 1, 4}, 0},
		/* a later one may have anything */
		{44, {60, 0, 0, 9, 0, 0, 0, 0, 17, 9}, 0},
	};
	unsigned i;

	for (i = 0; i < LEN(row); i++) {
		v6(row[i].next, 16);
		memcpy(buf + 40, row[i].ext, 16);
		T_EQ(parse(56), row[i].ret);
	}
	/* what belongs to the packet that is put together stays with it */
	v6(44, 16);
	memcpy(buf + 40, row[13].ext, 16);
	T_EQ(parse(56), 0);
	T_EQ(h.proto, 60);
	T_EQ(h.hlen, 48);
	T_EQ(h.len, 8);
}

T_CASE(many_cannot_have_sent_it)
{
	v6(17, 8);
	buf[8] = 0xff;
	T_EQ(parse(48), -IP_ADDR);
}

T_CASE(reads_and_writes_udp)
{
	struct udp_hdr u;
	unsigned char out[8];
	size_t n;

	for (n = 0; n < 8; n++)
		T_EQ(udp_parse(udp4 + 20, n, n, &u), -IP_SHORT);
	T_EQ(udp_parse(udp4 + 20, 8, 8, &u), -IP_SHORT);
	T_EQ(udp_parse(udp4 + 20, 8, 10, &u), -IP_SHORT);
	T_EQ(udp_parse(udp4 + 20, 8, 11, &u), 0);
	T_EQ(udp_parse(udp4 + 20, 8, 30, &u), 0); /* the rest is padding */
	T_EQ(u.sport, 1024);
	T_EQ(u.dport, 53);
	T_EQ(u.len, 11);
	T_EQ(u.sum, 0);
	u.sum = 0x1234;
	udp_build(out, &u);
	T_MEM(out, "\4\0\0\65\0\13\22\64", 8);
	memcpy(out, "\0\1\0\2\0\7\0\0", 8);
	T_EQ(udp_parse(out, 8, 8, &u), -IP_LENGTH);
}
