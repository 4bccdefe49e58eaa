/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SHA-1: the examples of FIPS 180-4.
 */
#include <stdio.h>
#include <string.h>
#include "t.h"
#include "sha1.h"

static const char *
hex(const unsigned char *p)
{
	static char s[2 * SHA1_LEN + 1];
	unsigned i;

	for (i = 0; i < SHA1_LEN; i++)
		snprintf(s + 2 * i, 3, "%02x", p[i]);
	return s;
}

static const char *
sha(const char *text, size_t times)
{
	unsigned char ret[SHA1_LEN];
	struct sha1 s;

	sha1_begin(&s);
	while (times-- != 0)
		sha1_add(&s, text, strlen(text));
	sha1_end(&s, ret);
	return hex(ret);
}

T_CASE(examples_of_the_standard)
{
	T_STR(sha("", 1), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	T_STR(sha("abc", 1), "a9993e364706816aba3e25717850c26c9cd0d89d");
	T_STR(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		1), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	T_STR(sha("aaaaaaaaaa", 100000),
		"34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

T_CASE(pieces_give_the_same_as_the_whole)
{
	unsigned char in[200], whole[SHA1_LEN], part[SHA1_LEN];
	struct sha1 s;
	size_t cut;

	memset(in, 0x42, sizeof(in));
	sha1_begin(&s);
	sha1_add(&s, in, sizeof(in));
	sha1_end(&s, whole);
	for (cut = 0; cut <= sizeof(in); cut++) {
		sha1_begin(&s);
		sha1_add(&s, in, cut);
		sha1_add(&s, in + cut, sizeof(in) - cut);
		sha1_end(&s, part);
		T_MEM(part, whole, SHA1_LEN);
	}
}
