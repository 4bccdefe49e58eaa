/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1 and SHA-256 (FIPS 180-4), without libc: for hmac.h.  RFC 4895 requires
 * HMAC-SHA-1 of every implementation of AUTH.
 */
#ifndef DRV_SCTP_SHA_H
#define DRV_SCTP_SHA_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the hashes, and of the blocks from which both are made. */
#define SHA1_LEN 20u
#define SHA256_LEN 32u
#define SHA_BLOCK 64u

struct sha_kind {
	uint32_t len;
	uint32_t first[8]; /* the hash of no blocks; @len / 4 words */
	/* add the block at @p to the hash @h */
	void (*compress)(uint32_t *h, const unsigned char *p);
};

extern const struct sha_kind sha1, sha256;

struct sha {
	const struct sha_kind *kind;
	uint32_t h[8];
	uint64_t n; /* bytes so far */
	unsigned char block[SHA_BLOCK];
};

/*
 * sha_begin - a hash of kind @kind
 * sha_add - @n bytes of the text, at @p
 * sha_end - the hash: @kind->len bytes
 * Context: any.
 */
void sha_begin(struct sha *s, const struct sha_kind *kind);
void sha_add(struct sha *s, const void *p, size_t n);
void sha_end(struct sha *s, unsigned char *ret);

#endif
