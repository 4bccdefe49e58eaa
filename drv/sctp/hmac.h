/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * HMAC (RFC 2104) with SHA-1 and SHA-256, without libc: the signature of SCTP's
 * state cookies, and of AUTH chunks (RFC 4895).
 */
#ifndef DRV_SCTP_HMAC_H
#define DRV_SCTP_HMAC_H

#include "sha.h"

/* Identifiers of RFC 4895 s3.3. */
#define HMAC_SHA1 1u
#define HMAC_SHA256 3u
#define HMAC_MOST SHA256_LEN /* bytes of the longest one */

struct hmac {
	const struct sha_kind *kind;
	struct sha text;
	unsigned char key[SHA_BLOCK]; /* for the outer hash */
};

/* Bytes of the code that @id makes; 0: @id is not known. */
size_t hmac_len(unsigned int id);

/*
 * hmac_begin - a code with the key @key; hmac_len(@id) is not 0
 * hmac_add - some of the text
 * hmac_end - the code: hmac_len() bytes
 */
void hmac_begin(struct hmac *h, unsigned int id, const void *key,
	size_t keylen);
void hmac_add(struct hmac *h, const void *p, size_t n);
void hmac_end(struct hmac *h, unsigned char *ret);

void hmac_sha256(const void *key, size_t keylen, const void *p, size_t n,
	unsigned char ret[SHA256_LEN]);

/* 1: equal.  It takes the same time wherever they differ. */
int hmac_is_equal(const unsigned char *a, const unsigned char *b, size_t n);

#endif
