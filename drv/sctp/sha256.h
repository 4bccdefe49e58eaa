/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-256 (FIPS 180-4), without libc: for hmac.h.
 */
#ifndef DRV_SCTP_SHA256_H
#define DRV_SCTP_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32u
#define SHA256_BLOCK 64u

struct sha256 {
	uint32_t h[8];
	uint64_t n; /* bytes so far */
	unsigned char block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char ret[SHA256_LEN]);

#endif
