/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1 (FIPS 180-4), without libc: for hmac.h.  RFC 4895 requires HMAC-SHA-1 of
 * every implementation of AUTH.
 */
#ifndef DRV_SCTP_SHA1_H
#define DRV_SCTP_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_LEN 20u
#define SHA1_BLOCK 64u

struct sha1 {
	uint32_t h[5];
	uint64_t n; /* bytes so far */
	unsigned char block[SHA1_BLOCK];
};

void sha1_begin(struct sha1 *s);
void sha1_add(struct sha1 *s, const void *p, size_t n);
void sha1_end(struct sha1 *s, unsigned char ret[SHA1_LEN]);

#endif
