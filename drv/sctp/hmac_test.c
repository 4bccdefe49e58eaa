/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * HMAC: the test cases of RFC 2202 (SHA-1) and RFC 4231 (SHA-256).
 */
#include <stdio.h>
#include <string.h>
#include "t.h"
#include "hmac.h"

/* In two pieces, which are cut at each place in turn. */
static const char *
hmac(unsigned int id, const void *key, size_t keylen, const void *p, size_t n)
{
	static char s[2 * HMAC_MOST + 1];
	unsigned char ret[HMAC_MOST], other[HMAC_MOST];
	struct hmac h;
	size_t cut, i;

	for (cut = 0; cut <= n; cut++) {
		hmac_begin(&h, id, key, keylen);
		hmac_add(&h, p, cut);
		hmac_add(&h, (const char *)p + cut, n - cut);
		hmac_end(&h, cut == 0 ? ret : other);
		if (cut != 0)
			T_MEM(other, ret, hmac_len(id));
	}
	for (i = 0; i < hmac_len(id); i++)
		snprintf(s + 2 * i, 3, "%02x", ret[i]);
	return s;
}

static const char longer[] =
	"Test Using Larger Than Block-Size Key - Hash Key First";

T_CASE(cases_of_rfc_2202)
{
	unsigned char key[80], data[50];

	memset(key, 0x0b, 20);
	T_STR(hmac(HMAC_SHA1, key, 20, "Hi There", 8),
		"b617318655057264e28bc0b6fb378c8ef146be00");
	T_STR(hmac(HMAC_SHA1, "Jefe", 4, "what do ya want for nothing?", 28),
		"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
	memset(key, 0xaa, 80);
	memset(data, 0xdd, 50);
	T_STR(hmac(HMAC_SHA1, key, 20, data, 50),
		"125d7342b9ac11cd91a39af48aa17b4f63f175d3");
	T_STR(hmac(HMAC_SHA1, key, 80, longer, 54),
		"aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

T_CASE(cases_of_rfc_4231)
{
	unsigned char key[131], data[50];

	memset(key, 0x0b, 20);
	T_STR(hmac(HMAC_SHA256, key, 20, "Hi There", 8),
		"b0344c61d8db38535ca8afceaf0bf12b"
		"881dc200c9833da726e9376c2e32cff7");
	T_STR(hmac(HMAC_SHA256, "Jefe", 4, "what do ya want for nothing?", 28),
		"5bdcc146bf60754e6a042426089575c7"
		"5a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, 131);
	memset(data, 0xdd, 50);
	T_STR(hmac(HMAC_SHA256, key, 20, data, 50),
		"773ea91e36800e46854db8ebd09181a7"
		"2959098b3ef8c122d9635514ced565fe");
	T_STR(hmac(HMAC_SHA256, key, 131, longer, 54),
		"60e431591ee0b67f0d8a26aacbf5b77f"
		"8e0bc6213728c5140546040f0ee37f54");
}

T_CASE(other_identifiers_have_no_length)
{
	T_EQ(hmac_len(HMAC_SHA1), 20);
	T_EQ(hmac_len(HMAC_SHA256), 32);
	T_EQ(hmac_len(0), 0);
	T_EQ(hmac_len(2), 0);
	T_EQ(hmac_len(0x10001), 0);
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
