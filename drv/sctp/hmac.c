/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * HMAC: hmac.h.
 */
#include "hmac.h"

static const struct sha_kind *
kind_of(unsigned int id)
{
	return id == HMAC_SHA1 ? &sha1 : id == HMAC_SHA256 ? &sha256 : NULL;
}

size_t
hmac_len(unsigned int id)
{
	const struct sha_kind *kind = kind_of(id);

	return kind == NULL ? 0 : kind->len;
}

void
hmac_add(struct hmac *h, const void *p, size_t n)
{
	sha_add(&h->text, p, n);
}

void
hmac_begin(struct hmac *h, unsigned int id, const void *key, size_t keylen)
{
	unsigned char inner[SHA_BLOCK];
	size_t i;

	h->kind = kind_of(id);
	__builtin_memset(h->key, 0, SHA_BLOCK);
	if (keylen > SHA_BLOCK) {
		sha_begin(&h->text, h->kind);
		sha_add(&h->text, key, keylen);
		sha_end(&h->text, h->key);
	} else if (keylen != 0) {
		__builtin_memcpy(h->key, key, keylen);
	}
	for (i = 0; i < SHA_BLOCK; i++) {
		inner[i] = h->key[i] ^ 0x36;
		h->key[i] ^= 0x5c;
	}
	sha_begin(&h->text, h->kind);
	sha_add(&h->text, inner, SHA_BLOCK);
}

void
hmac_end(struct hmac *h, unsigned char *ret)
{
	unsigned char inner[HMAC_MOST];

	sha_end(&h->text, inner);
	sha_begin(&h->text, h->kind);
	sha_add(&h->text, h->key, SHA_BLOCK);
	sha_add(&h->text, inner, h->kind->len);
	sha_end(&h->text, ret);
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
