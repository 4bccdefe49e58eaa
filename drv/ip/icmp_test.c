/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ICMP: RFC 792, 4443.
 */
#include <errno.h>
#include <string.h>
#include "t.h"
#include "pkt.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND 1000000000ull

static unsigned char data[70000], out[70000], big[70000];
static struct ip_hdr h;

static void
begin(unsigned len)
{
	unsigned i;

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

/* RFC 792, RFC 4861 s4.5, s8.1 */
T_CASE(redirects_are_read)
{
	static unsigned char more[200];
	struct icmp_msg m;
	struct ip_hdr f;
	uint32_t n, at, size;
	unsigned v;

	for (v = 4; v <= 16; v += 12) {
		begin(v);
		memset(more, 0, sizeof(more));
		/* of IPv6: target, destination, an option of 8 bytes, and one
		 * with the packet */
		at = v == 4 ? 0 : 32 + 8 + 8;
		if (v == 16) {
			more[0] = 0xfe;
			more[1] = 0x80;
			more[15] = 7;
			memcpy(more + 16, h.dst.b, 16);
			more[32] = 2;
			more[33] = 1;
			more[40] = 4;
			more[41] = 7;
		}
		f = h;
		f.proto = 17;
		f.len = 8;
		size = (uint32_t)ip_size(&f);
		(void)ip_build(more + at + size, &f, NULL, 0);
		n = icmp(v == 4 ? 5 : 137, v == 4 ? 1 : 0, more,
			at + size + 8);
		T_EQ(ip_parse(out, n, n, 0, &f), 0);
		f.ttl = 255;
		T_EQ(icmp_parse(out + f.hlen, f.len, &f, &m), 0);
		T_EQ(m.kind, ICMP_REDIRECT);
		T_EQ(m.to.len, v);
		T_EQ(m.h.proto, 17);
		T_MEM(m.h.dst.b, h.dst.b, v);
		T_EQ(m.begin - out, f.hlen + 8 + at);
		if (v == 4)
			continue;
		T_MEM(m.to.b, more, 16);
		f.ttl = 254;
		T_EQ(icmp_parse(out + f.hlen, f.len, &f, &m), 0);
		T_EQ(m.kind, ICMP_OTHER);
		f.ttl = 255;
		for (n = 0; n < 8 + at + size; n++) {
			T_LE(icmp_parse(out + f.hlen, n, &f, &m), 0);
			T_EQ(m.kind, ICMP_OTHER);
		}
	}
}

/* RFC 1122 s3.2.2, RFC 4443 s2.4: timestamps, address masks, unknown types */
T_CASE(other_types_are_ignored)
{
	static const unsigned char type[] = {0, 1, 2, 7, 9, 10, 13, 14, 15, 17,
		18, 40, 127, 200, 255};
	struct icmp_msg m;
	unsigned i, v;

	for (v = 4; v <= 16; v += 12)
		for (i = 0; i < LEN(type); i++) {
			if (v == 16 && type[i] > 0 && type[i] < 5)
				continue; /* errors there */
			begin(v);
			T_EQ(read_icmp(icmp(type[i], 0, data, 100), &m), 0);
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
	/* a long silence saves up no more than a burst */
	for (i = 0, n = 0; i < 1000; i++)
		n += (unsigned)icmp_allowed(&l, 1000 * SECOND);
	T_EQ(n, ICMP_BURST);
}
