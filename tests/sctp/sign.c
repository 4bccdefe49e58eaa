/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * AUTH (RFC 4895) on the script's side: the codes of AUTH chunks, made from the
 * parameters of INIT and INIT ACK and from the script's keys.  It shares only
 * the hash functions with the engine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmac.h"
#include "script.h"

#define KEYS 8

struct vector {
	unsigned char p[1024];
	size_t n;
};

static struct vector engine, script;
static struct {
	unsigned id;
	char text[300];
} keys[KEYS];
static int nkeys;

/* The parameters of AUTH of an INIT or INIT ACK, without padding. */
void
sign_learn(const unsigned char *c, int sent)
{
	static const unsigned types[] = {SCTP_P_RANDOM, SCTP_P_CHUNKS,
		SCTP_P_HMACS};
	struct vector *v = sent ? &engine : &script;
	size_t len = sctp_get16(c + 2), at, n, i;

	v->n = 0;
	for (i = 0; i < 3; i++)
		for (at = SCTP_INIT_HDR; at + 4 <= len; at += sctp_padded(n)) {
			n = sctp_get16(c + at + 2);
			if (n < 4 || at + n > len)
				return;
			if (sctp_get16(c + at) != types[i] ||
				v->n + n > sizeof(v->p))
				continue;
			memcpy(v->p + v->n, c + at, n);
			v->n += n;
		}
}

/* key ID TEXT: a key that the script has, too */
void
sign_key(unsigned id, const char *text)
{
	int i;

	for (i = 0; i < nkeys && keys[i].id != id; i++)
		;
	if (i == KEYS)
		fail("too many keys");
	nkeys += i == nkeys;
	keys[i].id = id;
	snprintf(keys[i].text, sizeof(keys[i].text), "%s", text);
}

static const char *
key_text(unsigned id)
{
	int i;

	for (i = 0; i < nkeys; i++)
		if (keys[i].id == id)
			return keys[i].text;
	return "";
}

/* The code of the AUTH chunk at @at of a packet of @n bytes. */
static void
code(const unsigned char *p, size_t n, size_t at, unsigned char *ret)
{
	static const unsigned char zero[HMAC_MOST];
	const struct vector *a = &engine, *b = &script;
	const char *text = key_text(sctp_get16(p + at + SCTP_AUTH_KEY));
	unsigned id = sctp_get16(p + at + SCTP_AUTH_HMAC);
	size_t len = hmac_len(id), k = strlen(text);
	unsigned char key[4096];
	struct hmac h;

	/* all vectors begin with the same byte: a longer one is larger */
	if (a->n > b->n || (a->n == b->n && memcmp(a->p, b->p, a->n) > 0)) {
		a = &script;
		b = &engine;
	}
	memcpy(key, text, k);
	memcpy(key + k, a->p, a->n);
	memcpy(key + k + a->n, b->p, b->n);
	hmac_begin(&h, id, key, k + a->n + b->n);
	hmac_add(&h, p + at, 8);
	hmac_add(&h, zero, len);
	hmac_add(&h, p + at + 8 + len, n - at - 8 - len);
	hmac_end(&h, ret);
}

/* Room for the code, of a chunk whose fields are complete. */
size_t
sign_len(const unsigned char *c)
{
	size_t n = hmac_len(sctp_get16(c + SCTP_AUTH_HMAC));

	return n != 0 ? n : 16;
}

/* Write the code of the AUTH chunk at @at; @wrong: with a wrong last byte. */
void
sign(unsigned char *p, size_t n, size_t at, int wrong)
{
	size_t len = sign_len(p + at);

	if (hmac_len(sctp_get16(p + at + SCTP_AUTH_HMAC)) != 0 &&
		at + 8 + len <= n)
		code(p, n, at, p + at + 8);
	if (wrong)
		p[at + 7 + len] ^= 1;
}

/* Is the code of the AUTH chunk at @at right? */
int
sign_is_good(const unsigned char *p, size_t n, size_t at)
{
	size_t len = hmac_len(sctp_get16(p + at + SCTP_AUTH_HMAC));
	unsigned char want[HMAC_MOST];

	if (len == 0 || sctp_get16(p + at + 2) != 8 + len)
		return 0;
	code(p, n, at, want);
	return memcmp(want, p + at + 8, len) == 0;
}
