/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1: sha.h.  The names W, f and k are those of FIPS 180-4 s6.1.
 */
#include "sha.h"
#include "wire_format.h"

static uint32_t
rotl(uint32_t v, unsigned int n)
{
	return v << n | v >> (32 - n);
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
compress(uint32_t *h, const unsigned char *p)
{
	static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc,
		0xca62c1d6};
	uint32_t W[80], v[5], x;
	int t, i;

	for (t = 0; t < 16; t++, p += 4)
		W[t] = sctp_get32(p);
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

const struct sha_kind sha1 = {
	.len = SHA1_LEN,
	.first = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
	.compress = compress,
};
