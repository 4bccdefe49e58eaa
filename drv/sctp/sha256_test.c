/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-256: the examples of FIPS 180-4.
 */
#include <stdio.h>
#include <string.h>
#include "t.h"
#include "sha256.h"

static const char *
hex(const unsigned char *p)
{
	static char s[2 * SHA256_LEN + 1];
	unsigned i;

	for (i = 0; i < SHA256_LEN; i++)
		snprintf(s + 2 * i, 3, "%02x", p[i]);
	return s;
}

static const char *
sha(const char *text, size_t times)
{
	unsigned char ret[SHA256_LEN];
	struct sha256 s;

	sha256_begin(&s);
	while (times-- != 0)
		sha256_add(&s, text, strlen(text));
	sha256_end(&s, ret);
	return hex(ret);
}

T_CASE(examples_of_the_standard)
{
	T_STR(sha("", 1), "e3b0c44298fc1c149afbf4c8996fb924"
		"27ae41e4649b934ca495991b7852b855");
	T_STR(sha("abc", 1), "ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad");
	T_STR(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		1), "248d6a61d20638b8e5c026930c3e6039"
		"a33ce45964ff2167f6ecedd419db06c1");
	T_STR(sha("aaaaaaaaaa", 100000), "cdc76e5c9914fb9281a1c7e284d73e67"
		"f1809a48a497200e046d39ccc7112cd0");
}

T_CASE(pieces_give_the_same_as_the_whole)
{
	unsigned char in[200], whole[SHA256_LEN], part[SHA256_LEN];
	struct sha256 s;
	size_t cut;

	memset(in, 0x42, sizeof(in));
	sha256_begin(&s);
	sha256_add(&s, in, sizeof(in));
	sha256_end(&s, whole);
	for (cut = 0; cut <= sizeof(in); cut++) {
		sha256_begin(&s);
		sha256_add(&s, in, cut);
		sha256_add(&s, in + cut, sizeof(in) - cut);
		sha256_end(&s, part);
		T_MEM(part, whole, SHA256_LEN);
	}
}
