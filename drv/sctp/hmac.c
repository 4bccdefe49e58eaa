/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * HMAC: hmac.h.  The two hashes have blocks of the same size.
 */
#include "hmac.h"

#define BLOCK SHA256_BLOCK
_Static_assert(SHA1_BLOCK == BLOCK, "one size of blocks");

size_t
hmac_len(unsigned int id)
{
	return id == HMAC_SHA1 ? SHA1_LEN : id == HMAC_SHA256 ? SHA256_LEN : 0;
}

static void
begin(struct hmac *h)
{
	if (h->id == HMAC_SHA1)
		sha1_begin(&h->u.sha1);
	else
		sha256_begin(&h->u.sha256);
}

void
hmac_add(struct hmac *h, const void *p, size_t n)
{
	if (h->id == HMAC_SHA1)
		sha1_add(&h->u.sha1, p, n);
	else
		sha256_add(&h->u.sha256, p, n);
}

static void
end(struct hmac *h, unsigned char *ret)
{
	if (h->id == HMAC_SHA1)
		sha1_end(&h->u.sha1, ret);
	else
		sha256_end(&h->u.sha256, ret);
}

void
hmac_begin(struct hmac *h, unsigned int id, const void *key, size_t keylen)
{
	unsigned char inner[BLOCK];
	size_t i;

	h->id = id;
	__builtin_memset(h->key, 0, BLOCK);
	if (keylen > BLOCK) {
		begin(h);
		hmac_add(h, key, keylen);
		end(h, h->key);
	} else if (keylen != 0) {
		__builtin_memcpy(h->key, key, keylen);
	}
	for (i = 0; i < BLOCK; i++) {
		inner[i] = h->key[i] ^ 0x36;
		h->key[i] ^= 0x5c;
	}
	begin(h);
	hmac_add(h, inner, BLOCK);
}

void
hmac_end(struct hmac *h, unsigned char *ret)
{
	unsigned char inner[HMAC_MOST];

	end(h, inner);
	begin(h);
	hmac_add(h, h->key, BLOCK);
	hmac_add(h, inner, hmac_len(h->id));
	end(h, ret);
}

void
hmac_sha256(const void *key, size_t keylen, const void *p, size_t n,
	unsigned char ret[SHA256_LEN])
{
	struct hmac h;

	hmac_begin(&h, HMAC_SHA256, key, keylen);
	hmac_add(&h, p, n);
	hmac_end(&h, ret);
}

int
hmac_is_equal(const unsigned char *a, const unsigned char *b, size_t n)
{
	unsigned char differ = 0;

	for (; n != 0; n--)
		differ |= *a++ ^ *b++;
	return differ == 0;
}
