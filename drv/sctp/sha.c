/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What SHA-1 and SHA-256 have in common: blocks and padding (FIPS 180-4 s5.1.1,
 * s5.2.1).  sha1.c and sha256.c process the blocks.
 */
#include "sha.h"
#include "wire_format.h"

#define LEN_AT 56u /* where the length is in the last block */

void
sha_begin(struct sha *s, const struct sha_kind *kind)
{
	s->kind = kind;
	__builtin_memcpy(s->h, kind->first, sizeof(s->h));
	s->n = 0;
}

void
sha_add(struct sha *s, const void *from, size_t n)
{
	const unsigned char *p = from;
	size_t at, part;

	while (n != 0) {
		at = s->n % SHA_BLOCK;
		part = SHA_BLOCK - at < n ? SHA_BLOCK - at : n;
		__builtin_memcpy(s->block + at, p, part);
		s->n += part;
		p += part;
		n -= part;
		if (at + part == SHA_BLOCK)
			s->kind->compress(s->h, s->block);
	}
}

void
sha_end(struct sha *s, unsigned char *ret)
{
	static const unsigned char pad[SHA_BLOCK] = {0x80};
	unsigned char len[8];
	uint64_t bits = s->n * 8;
	size_t at = s->n % SHA_BLOCK, i;

	sctp_put32(len, (uint32_t)(bits >> 32));
	sctp_put32(len + 4, (uint32_t)bits);
	sha_add(s, pad, (at < LEN_AT ? LEN_AT : LEN_AT + SHA_BLOCK) - at);
	sha_add(s, len, 8);
	for (i = 0; i < s->kind->len / 4; i++)
		sctp_put32(ret + 4 * i, s->h[i]);
}
