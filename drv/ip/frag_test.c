/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Cutting packets: RFC 791, 8200.
 */
#include <errno.h>
#include <string.h>
#include "t.h"
#include "pkt.h"

static unsigned char data[70000];
static struct ip_hdr h;

static void
begin(unsigned len)
{
	unsigned i;

	memset(&h, 0, sizeof(h));
	h.src.len = h.dst.len = len;
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
