/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signing and verifying state cookies (RFC 9260 s5.1.3, s5.1.5).
 *
 * Secrets.  A secret is used for KEY_LIFE, then replaced; the one before is
 * kept, so that cookies made with it stay valid for their life, which is
 * shorter.
 */
#include "cookie.h"

#define KEY_LIFE (600ull * SCTP_S)

static void
new_key(const struct sctp_env *env, struct sctp_key *k, uint32_t id)
{
	env->random(env->arg, k->secret, SCTP_KEYLEN);
	k->made = env->now;
	k->id = id != 0 ? id : 1;
}

void
sctp_keys_make(const struct sctp_env *env, struct sctp_ep *ep)
{
	new_key(env, &ep->key[0], 1);
}

static void
sign(const struct sctp_key *k, const struct sctp_cookie *ck,
	unsigned char mac[SHA256_LEN])
{
	hmac_sha256(k->secret, SCTP_KEYLEN,
		(const unsigned char *)ck + SHA256_LEN,
		sctp_cookie_size(ck) - SHA256_LEN, mac);
}

/* Put the vectors of AUTH behind the addresses, which are there. */
void
sctp_cookie_keep(struct sctp_cookie *ck, const struct sctp_vector *mine,
	const struct sctp_vector *peer)
{
	unsigned char *p = (unsigned char *)ck + sctp_cookie_at(ck);

	ck->nmine = mine->n;
	ck->npeer = peer->n;
	__builtin_memcpy(p, mine->p, mine->n);
	__builtin_memcpy(p + mine->n, peer->p, peer->n);
}

void
sctp_cookie_vectors(const struct sctp_cookie *ck, struct sctp_vector *mine,
	struct sctp_vector *peer)
{
	const unsigned char *p = (const unsigned char *)ck +
		sctp_cookie_at(ck);

	mine->n = ck->nmine;
	peer->n = ck->npeer;
	__builtin_memcpy(mine->p, p, mine->n);
	__builtin_memcpy(peer->p, p + mine->n, peer->n);
}

/* Complete @ck: the time, the secret, the signature. */
void
sctp_cookie_sign(const struct sctp_env *env, struct sctp_ep *ep,
	struct sctp_cookie *ck)
{
	if (env->now - ep->key[0].made >= KEY_LIFE) {
		ep->key[1] = ep->key[0];
		new_key(env, &ep->key[0], ep->key[1].id + 1);
	}
	ck->made = env->now;
	ck->key = ep->key[0].id;
	sign(&ep->key[0], ck, ck->mac);
}

/* The cookie of a COOKIE ECHO; 0: this endpoint did not make it. */
int
sctp_cookie_read(struct sctp_ep *ep, const struct sctp_tlv *c,
	struct sctp_cookie *ret)
{
	size_t n = c->len - SCTP_TLV;
	unsigned char mac[SHA256_LEN];
	const struct sctp_key *k;

	if (n < offsetof(struct sctp_cookie, addr) || n > sizeof(*ret))
		return 0;
	__builtin_memset(ret, 0, sizeof(*ret));
	__builtin_memcpy(ret, c->p + SCTP_TLV, n);
	if (ret->naddr > SCTP_PATHS || ret->nmine > SCTP_VECTOR_MOST ||
		ret->npeer > SCTP_VECTOR_MOST || sctp_cookie_size(ret) != n)
		return 0;
	for (k = ep->key; k < ep->key + 2; k++) {
		if (k->id == 0 || k->id != ret->key)
			continue;
		sign(k, ret, mac);
		return hmac_is_equal(mac, ret->mac, SHA256_LEN);
	}
	return 0;
}
