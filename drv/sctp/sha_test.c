/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1 and SHA-256: the examples of FIPS 180-4.
 */
#include <stdio.h>
#include <string.h>
#include "t.h"
#include "sha.h"

/* The hash of @times times @text, as hexadecimal digits. */
static const char *
hash(const struct sha_kind *kind, const char *text, size_t times)
{
	static char s[2 * SHA256_LEN + 1];
	unsigned char ret[SHA256_LEN];
	struct sha h;
	unsigned i;

	sha_begin(&h, kind);
	while (times-- != 0)
		sha_add(&h, text, strlen(text));
	sha_end(&h, ret);
	for (i = 0; i < kind->len; i++)
		snprintf(s + 2 * i, 3, "%02x", ret[i]);
	return s;
}

#define LONG "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

T_CASE(examples_of_the_standard)
{
	T_STR(hash(&sha1, "", 1), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	T_STR(hash(&sha1, "abc", 1),
		"a9993e364706816aba3e25717850c26c9cd0d89d");
	T_STR(hash(&sha1, LONG, 1),
		"84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	T_STR(hash(&sha1, "aaaaaaaaaa", 100000),
		"34aa973cd4c4daa4f61eeb2bdbad27316534016f");

	T_STR(hash(&sha256, "", 1), "e3b0c44298fc1c149afbf4c8996fb924"
		"27ae41e4649b934ca495991b7852b855");
	T_STR(hash(&sha256, "abc", 1), "ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad");
	T_STR(hash(&sha256, LONG, 1), "248d6a61d20638b8e5c026930c3e6039"
		"a33ce45964ff2167f6ecedd419db06c1");
	T_STR(hash(&sha256, "aaaaaaaaaa", 100000),
		"cdc76e5c9914fb9281a1c7e284d73e67"
		"f1809a48a497200e046d39ccc7112cd0");
}

static const struct sha_kind *const kinds[] = {&sha1, &sha256};

T_CASE(pieces_give_the_same_as_the_whole)
{
	unsigned char in[200], whole[SHA256_LEN], part[SHA256_LEN];
	struct sha s;
	size_t cut, k;

	memset(in, 0x42, sizeof(in));
	for (k = 0; k < 2; k++) {
		sha_begin(&s, kinds[k]);
		sha_add(&s, in, sizeof(in));
		sha_end(&s, whole);
		for (cut = 0; cut <= sizeof(in); cut++) {
			sha_begin(&s, kinds[k]);
			sha_add(&s, in, cut);
			sha_add(&s, in + cut, sizeof(in) - cut);
			sha_end(&s, part);
			T_MEM(part, whole, kinds[k]->len);
		}
	}
}
