/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1: sha1.h.  The names W, f and k are those of FIPS 180-4 s6.1.
 */
#include "sha1.h"

static uint32_t
rotl(uint32_t v, unsigned int n)
{
	return v << n | v >> (32 - n);
}

static void
put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static uint32_t
f(int t, uint32_t b, uint32_t c, uint32_t d)
{
	if (t < 20)
		return (b & c) ^ (~b & d);
	if (t >= 40 && t < 60)
		return (b & c) ^ (b & d) ^ (c & d);
	return b ^ c ^ d;
}

static void
compress(uint32_t h[5], const unsigned char *p)
{
	static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc,
		0xca62c1d6};
	uint32_t W[80], v[5], x;
	int t, i;

	for (t = 0; t < 16; t++, p += 4)
		W[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
			(uint32_t)p[2] << 8 | p[3];
	for (; t < 80; t++)
		W[t] = rotl(W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16], 1);
	for (i = 0; i < 5; i++)
		v[i] = h[i];
	for (t = 0; t < 80; t++) { /* v: a, b, c, d, e */
		x = rotl(v[0], 5) + f(t, v[1], v[2], v[3]) + v[4] +
			k[t / 20] + W[t];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotl(v[1], 30);
		v[1] = v[0];
		v[0] = x;
	}
	for (i = 0; i < 5; i++)
		h[i] += v[i];
}

void
sha1_begin(struct sha1 *s)
{
	static const uint32_t first[5] = {0x67452301, 0xefcdab89, 0x98badcfe,
		0x10325476, 0xc3d2e1f0};

	__builtin_memcpy(s->h, first, sizeof(first));
	s->n = 0;
}

void
sha1_add(struct sha1 *s, const void *from, size_t n)
{
	const unsigned char *p = from;
	size_t at, part;

	while (n != 0) {
		at = s->n % SHA1_BLOCK;
		part = SHA1_BLOCK - at < n ? SHA1_BLOCK - at : n;
		__builtin_memcpy(s->block + at, p, part);
		s->n += part;
		p += part;
		n -= part;
		if (at + part == SHA1_BLOCK)
			compress(s->h, s->block);
	}
}

void
sha1_end(struct sha1 *s, unsigned char ret[SHA1_LEN])
{
	static const unsigned char pad[SHA1_BLOCK] = {0x80};
	unsigned char len[8];
	uint64_t bits = s->n * 8;
	size_t at = s->n % SHA1_BLOCK, i;

	put32(len, (uint32_t)(bits >> 32));
	put32(len + 4, (uint32_t)bits);
	sha1_add(s, pad, at < 56 ? 56 - at : 120 - at);
	sha1_add(s, len, 8);
	for (i = 0; i < 5; i++)
		put32(ret + 4 * i, s->h[i]);
}
