/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-256 and HMAC: the examples of FIPS 180-4, the test cases of RFC 4231.
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

static const char *
hmac(const void *key, size_t keylen, const void *p, size_t n)
{
	unsigned char ret[SHA256_LEN];

	hmac_sha256(key, keylen, p, n, ret);
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

T_CASE(cases_of_rfc_4231)
{
	unsigned char key[131], data[50];

	memset(key, 0x0b, 20);
	T_STR(hmac(key, 20, "Hi There", 8),
		"b0344c61d8db38535ca8afceaf0bf12b"
		"881dc200c9833da726e9376c2e32cff7");
	T_STR(hmac("Jefe", 4, "what do ya want for nothing?", 28),
		"5bdcc146bf60754e6a042426089575c7"
		"5a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, 131);
	memset(data, 0xdd, 50);
	T_STR(hmac(key, 20, data, 50),
		"773ea91e36800e46854db8ebd09181a7"
		"2959098b3ef8c122d9635514ced565fe");
	T_STR(hmac(key, 131, "Test Using Larger Than Block-Size Key - "
		"Hash Key First", 54),
		"60e431591ee0b67f0d8a26aacbf5b77f"
		"8e0bc6213728c5140546040f0ee37f54");
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

T_CASE(a_difference_in_any_byte_is_seen)
{
	unsigned char a[SHA256_LEN] = {0}, b[SHA256_LEN] = {0};
	unsigned i;

	T_TRUE(hmac_is_equal(a, b, SHA256_LEN));
	for (i = 0; i < SHA256_LEN; i++) {
		b[i] = 0x80;
		T_FALSE(hmac_is_equal(a, b, SHA256_LEN));
		b[i] = 0;
	}
}
