/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * AUTH: RFC 4895.
 *
 * Agreement.  Each side that offers AUTH sends RANDOM, CHUNKS (what it wants to
 * be authenticated) and HMAC-ALGO.  These parameters are kept as they were sent:
 * the two vectors.  Until COOKIE ECHO a listener keeps them in the cookie, which
 * has no shared key.
 *
 * The key of a code is a shared key, the smaller vector, the larger vector
 * (s6.1).  It is made when it is needed.
 *
 * Sending.  sctp_out_chunk() puts an AUTH chunk in front of the first chunk of a
 * packet that the peer wants so; what follows is covered, too.  The code is
 * made when the packet is complete.
 *
 * Receiving.  A packet has one AUTH chunk at most: the work for a packet is
 * limited.  Chunks that we want to be authenticated are dropped in front of it.
 * If the code is wrong, nothing behind it is read.
 */
#include "cookie.h"

_Static_assert(HMAC_SHA1 == SCTP_HMAC_SHA1 &&
	HMAC_SHA256 == SCTP_HMAC_SHA256, "identifiers");

static void
set_bit(uint32_t bits[8], unsigned int type)
{
	bits[type / 32] |= 1u << type % 32;
}

/* s3.2: these cannot be authenticated. */
static int
is_exempt(unsigned int type)
{
	return type == SCTP_C_INIT || type == SCTP_C_INIT_ACK ||
		type == SCTP_C_SHUTDOWN_COMPLETE || type == SCTP_C_AUTH;
}

/* RFC 5061 s4.1: these are always authenticated. */
static int
is_asconf(unsigned int type)
{
	return type == SCTP_C_ASCONF || type == SCTP_C_ASCONF_ACK;
}

int
sctp_auth_require(struct sctp_conf *conf, unsigned int type)
{
	if (type > 255 || is_exempt(type))
		return EINVAL;
	set_bit(conf->auth_chunks, type);
	return 0;
}

/* 0 or EINVAL */
int
sctp_auth_check_conf(const struct sctp_conf *c)
{
	unsigned int i, has_sha1 = 0;

	if (!c->auth)
		return c->asconf ? EINVAL : 0;
	for (i = 0; i < 2 && c->hmac[i] != 0; i++) {
		if (hmac_len(c->hmac[i]) == 0)
			return EINVAL;
		has_sha1 |= c->hmac[i] == HMAC_SHA1;
	}
	for (i = 0; i < 256; i++)
		if (is_exempt(i) && sctp_bit(c->auth_chunks, i))
			return EINVAL;
	return has_sha1 ? 0 : EINVAL; /* s3.3 */
}

/* -------------------------------------------------------------- the vectors */

static void
append(struct sctp_vector *v, unsigned int type, const void *value, size_t n)
{
	unsigned char *p = v->p + v->n;

	sctp_put16(p, type);
	sctp_put16(p + 2, (uint32_t)(SCTP_TLV + n));
	__builtin_memcpy(p + SCTP_TLV, value, n);
	v->n += (uint16_t)(SCTP_TLV + n);
}

/* sctp_auth_offer - our parameters, with a new random number */
void
sctp_auth_offer(const struct sctp_env *env, const struct sctp_conf *conf,
	struct sctp_vector *ret)
{
	unsigned char b[256];
	unsigned int i;
	size_t n = 0;

	ret->n = 0;
	env->random(env->arg, b, SCTP_RANDOM_LEN);
	append(ret, SCTP_P_RANDOM, b, SCTP_RANDOM_LEN);
	for (i = 0; i < 256; i++)
		if (sctp_bit(conf->auth_chunks, i) ||
			(conf->asconf && is_asconf(i)))
			b[n++] = (unsigned char)i;
	if (n != 0)
		append(ret, SCTP_P_CHUNKS, b, n);
	for (i = 0; i < 2 && conf->hmac[i] != 0; i++)
		sctp_put16(b + 2 * i, conf->hmac[i]);
	append(ret, SCTP_P_HMACS, b, 2 * i);
}

/* The next parameter of a vector, in which there is no padding; 0: the end. */
static int
vector_next(const struct sctp_vector *v, size_t *at, struct sctp_tlv *ret)
{
	if (v->n - *at < SCTP_TLV)
		return 0;
	ret->p = v->p + *at;
	ret->type = sctp_get16(ret->p);
	ret->len = sctp_get16(ret->p + 2);
	*at += ret->len;
	return 1;
}

/* sctp_auth_put - write the parameters, with padding.  Return: bytes. */
size_t
sctp_auth_put(const struct sctp_vector *v, unsigned char *p)
{
	size_t at = 0, n = 0;
	struct sctp_tlv t;

	while (vector_next(v, &at, &t))
		n += sctp_put_tlv(p + n, t.type, t.p + SCTP_TLV,
			t.len - SCTP_TLV);
	return n;
}

static void
take(struct sctp_vector *v, const struct sctp_tlv *t)
{
	if (t->p != NULL)
		append(v, t->type, t->p + SCTP_TLV, t->len - SCTP_TLV);
}

/*
 * sctp_auth_take - the peer's parameters, in the order of s6.1
 * Return: 1: AUTH is offered; 0: it is not; -1: they violate the protocol.
 */
int
sctp_auth_take(const struct sctp_init *i, struct sctp_vector *ret)
{
	size_t n;

	ret->n = 0;
	if ((i->ext & SCTP_X_AUTH) == 0 && i->random.p == NULL)
		return 0;
	if (i->random.p == NULL || i->hmacs.p == NULL ||
		i->random.len != SCTP_TLV + SCTP_RANDOM_LEN ||
		i->hmacs.len % 2 != 0)
		return -1;
	n = i->random.len + i->hmacs.len + (i->chunks.p != NULL ?
		i->chunks.len : 0);
	if (n > SCTP_VECTOR_MOST)
		return -1;
	take(ret, &i->random);
	take(ret, &i->chunks);
	take(ret, &i->hmacs);
	return 1;
}

/* What a vector says: the chunks, and the HMAC to be used, 0: none of ours. */
static unsigned int
read_vector(const struct sctp_vector *v, uint32_t chunks[8])
{
	unsigned int hmac = 0, id;
	size_t at = 0, k;
	struct sctp_tlv t;

	__builtin_memset(chunks, 0, 8 * sizeof(chunks[0]));
	while (vector_next(v, &at, &t)) {
		for (k = SCTP_TLV; t.type == SCTP_P_CHUNKS && k < t.len; k++)
			if (!is_exempt(t.p[k])) /* s3.2: ignored */
				set_bit(chunks, t.p[k]);
		for (k = SCTP_TLV; t.type == SCTP_P_HMACS && k < t.len;
			k += 2) {
			id = sctp_get16(t.p + k);
			if (hmac == 0 && hmac_len(id) != 0)
				hmac = id;
		}
	}
	return hmac;
}

/* sctp_auth_room - a block for what is agreed exists.  Return: 0: no memory. */
int
sctp_auth_room(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->auth != NULL)
		return 1;
	as->auth = env->alloc(env->arg, sizeof(*as->auth));
	if (as->auth != NULL)
		__builtin_memset(as->auth, 0, sizeof(*as->auth));
	return as->auth != NULL;
}

/* sctp_auth_begin - the caller offers AUTH in its INIT.  Return: 0: no memory. */
int
sctp_auth_begin(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (!as->conf.auth)
		return 1;
	if (!sctp_auth_room(env, as))
		return 0;
	sctp_auth_offer(env, &as->conf, &as->auth->mine);
	return 1;
}

/*
 * sctp_auth_agree - both vectors are known, if as->ext has AUTH; sctp_auth_room()
 * has made the block
 */
void
sctp_auth_agree(struct sctp_assoc *as, const struct sctp_vector *mine,
	const struct sctp_vector *peer)
{
	struct sctp_auth *a = as->auth;

	if (a == NULL)
		return;
	a->hmac = a->peer_key = 0;
	if (!sctp_has(as, SCTP_X_AUTH))
		return;
	if (mine != &a->mine)
		a->mine = *mine;
	a->peer = *peer;
	(void)read_vector(&a->mine, a->check);
	a->hmac = (uint16_t)read_vector(&a->peer, a->send);
	if (a->hmac == 0)
		a->hmac = HMAC_SHA1; /* every peer has to have it */
}

void
sctp_auth_forget(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->auth != NULL)
		env->release(env->arg, as->auth, sizeof(*as->auth));
	as->auth = NULL;
}

/* s6.1: the smaller one as a number; a shorter one is smaller, as none begins
 * with a zero. */
static int
is_smaller(const struct sctp_vector *a, const struct sctp_vector *b)
{
	if (a->n != b->n)
		return a->n < b->n;
	return __builtin_memcmp(a->p, b->p, a->n) < 0;
}

/* A code with this key begins; 0: there is no such key. */
static int
code_begin(const struct sctp_keyring *r, const struct sctp_auth *a,
	uint16_t key, unsigned int hmac, struct hmac *h)
{
	unsigned char k[SCTP_AUTH_KEYLEN + 2 * SCTP_VECTOR_MOST];
	int first = is_smaller(&a->mine, &a->peer);
	const struct sctp_vector *x = first ? &a->mine : &a->peer;
	const struct sctp_vector *y = first ? &a->peer : &a->mine;
	const unsigned char *p;
	size_t n;

	if (!sctp_key_find(r, key, &p, &n))
		return 0;
	if (n != 0)
		__builtin_memcpy(k, p, n);
	__builtin_memcpy(k + n, x->p, x->n);
	__builtin_memcpy(k + n + x->n, y->p, y->n);
	hmac_begin(h, hmac, k, n + x->n + y->n);
	return 1;
}

/* ------------------------------------------------------------------ sending */

/* sctp_auth_is_due - is an AUTH chunk to be put in front of one of @type? */
int
sctp_auth_is_due(const struct sctp_out *o, unsigned int type)
{
	return o->auth_at == 0 && o->as->auth->hmac != 0 &&
		(sctp_bit(o->as->auth->send, type) || is_asconf(type));
}

/* sctp_auth_of_data - bytes of the AUTH chunk in front of data; 0: none */
size_t
sctp_auth_of_data(const struct sctp_assoc *as)
{
	const struct sctp_auth *a = as->auth;

	return a != NULL && a->hmac != 0 &&
		sctp_bit(a->send, sctp_data_type(as)) ?
		SCTP_AUTH_HDR + hmac_len(a->hmac) : 0;
}

/* Its bytes. */
size_t
sctp_auth_size(const struct sctp_out *o)
{
	return SCTP_AUTH_HDR + hmac_len(o->as->auth->hmac);
}

/* There is room for it. */
void
sctp_auth_put_chunk(struct sctp_out *o)
{
	size_t n = sctp_auth_size(o);
	unsigned char *p = o->p + o->n;

	__builtin_memset(p, 0, n);
	p[0] = SCTP_C_AUTH;
	sctp_put16(p + 2, (uint32_t)n);
	sctp_put16(p + SCTP_AUTH_KEY, o->as->keys.active);
	sctp_put16(p + SCTP_AUTH_HMAC, o->as->auth->hmac);
	o->auth_at = o->n;
	o->n += n;
}

/* sctp_auth_seal - the packet is complete: s6.2 */
void
sctp_auth_seal(struct sctp_out *o)
{
	const struct sctp_assoc *as = o->as;
	unsigned char *p = o->p + o->auth_at;
	struct hmac h;

	/* the active key cannot be deleted */
	if (!code_begin(&as->keys, as->auth, as->keys.active, as->auth->hmac,
		&h))
		return;
	hmac_add(&h, p, o->n - o->auth_at);
	hmac_end(&h, p + SCTP_AUTH_HDR);
}

/* ---------------------------------------------------------------- receiving */

/* s6.3: did we offer to check codes of the algorithm @id? */
static int
is_offered(const struct sctp_vector *mine, unsigned int id)
{
	struct sctp_tlv t;
	size_t at = 0, k;

	while (vector_next(mine, &at, &t))
		for (k = SCTP_TLV; t.type == SCTP_P_HMACS && k < t.len; k += 2)
			if (sctp_get16(t.p + k) == id)
				return 1;
	return 0;
}

/* s6.3: is the code of the AUTH chunk @c right? */
static int
is_right(struct sctp_in *in, const struct sctp_keyring *r,
	const struct sctp_auth *a, const struct sctp_tlv *c)
{
	static const unsigned char zero[HMAC_MOST];
	const unsigned char *end = in->pkt->p + in->pkt->n;
	unsigned int id = sctp_get16(c->p + SCTP_AUTH_HMAC);
	size_t len = hmac_len(id);
	unsigned char code[HMAC_MOST];
	struct hmac h;

	if (len == 0 || c->len != SCTP_AUTH_HDR + len ||
		!is_offered(&a->mine, id) ||
		!code_begin(r, a, sctp_get16(c->p + SCTP_AUTH_KEY), id, &h))
		return 0;
	hmac_add(&h, c->p, SCTP_AUTH_HDR);
	hmac_add(&h, zero, len);
	hmac_add(&h, c->p + c->len, (size_t)(end - (c->p + c->len)));
	hmac_end(&h, code);
	return hmac_is_equal(code, c->p + SCTP_AUTH_HDR, len);
}

/*
 * sctp_auth_received - an AUTH chunk
 * Return: 0: the rest of the packet is not read.
 */
int
sctp_auth_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	unsigned char id[2];
	uint16_t key;

	if (as->auth == NULL || as->auth->hmac == 0)
		return 0; /* unknown, of the kind that ends reading */
	if (in->auth != 0 || c->len < SCTP_AUTH_HDR)
		return 0;
	in->auth = -1;
	if (!is_offered(&as->auth->mine, sctp_get16(c->p + SCTP_AUTH_HMAC))) {
		__builtin_memcpy(id, c->p + SCTP_AUTH_HMAC, 2);
		sctp_error_send(in->env, as, SCTP_E_HMAC, id, 2);
		return 0;
	}
	if (!is_right(in, &as->keys, as->auth, c)) {
		in->ep->count[SCTP_N_AUTH_BAD]++;
		return 0;
	}
	in->auth = 1;
	key = sctp_get16(c->p + SCTP_AUTH_KEY);
	if (key != as->auth->peer_key)
		as->events |= SCTP_EV_AUTH;
	as->auth->peer_key = key;
	return 1;
}

/* sctp_auth_is_missing - is the chunk to be dropped, since it should be
 * authenticated, and is not? */
int
sctp_auth_is_missing(struct sctp_in *in, unsigned int type)
{
	const struct sctp_auth *a = in->as->auth;

	if (in->auth > 0 || a->hmac == 0 || !sctp_bit(a->check, type))
		return 0;
	in->ep->count[SCTP_N_NOT_AUTH]++;
	return 1;
}

/*
 * sctp_auth_cookie - COOKIE ECHO @c of a valid cookie @ck has arrived, perhaps
 * behind an AUTH chunk
 * Without an association, the parameters in the cookie and the keys of the
 * endpoint apply: s6.3.
 * Return: 0: it is dropped.
 */
int
sctp_auth_cookie(struct sctp_in *in, const struct sctp_cookie *ck)
{
	const struct sctp_assoc *as = in->as;
	const struct sctp_keyring *r = as != NULL ? &as->keys : &in->ep->keys;
	struct sctp_auth a, *use = &a;
	size_t at = SCTP_HDR;
	struct sctp_tlv first;

	if (as != NULL && as->auth != NULL && as->auth->hmac != 0) {
		use = as->auth;
	} else if ((ck->ext & SCTP_X_AUTH) != 0) {
		sctp_cookie_vectors(ck, &a.mine, &a.peer);
		(void)read_vector(&a.mine, a.check);
	} else {
		return 1;
	}
	if (sctp_chunk_next(in->pkt->p, in->pkt->n, &at, &first) == 1 &&
		first.type == SCTP_C_AUTH) {
		if (first.len < SCTP_AUTH_HDR || !is_right(in, r, use, &first)) {
			in->ep->count[SCTP_N_AUTH_BAD]++;
			return 0;
		}
		in->auth = 1;
		return 1;
	}
	if (!sctp_bit(use->check, SCTP_C_COOKIE_ECHO))
		return 1;
	in->ep->count[SCTP_N_NOT_AUTH]++;
	return 0;
}

/* ------------------------------------------------------- for the engine's user */

struct sctp_keyring *
sctp_keys(struct sctp_assoc *as)
{
	return &as->keys;
}

unsigned int
sctp_auth_hmac(const struct sctp_assoc *as)
{
	return as->auth != NULL ? as->auth->hmac : 0;
}

uint16_t
sctp_auth_peer_key(const struct sctp_assoc *as)
{
	return as->auth != NULL ? as->auth->peer_key : 0;
}

uint32_t
sctp_auth_list(const struct sctp_assoc *as, int ours, unsigned char ret[256])
{
	uint32_t i, n = 0;

	for (i = 0; i < 256 && sctp_auth_hmac(as) != 0; i++)
		if (sctp_bit(ours ? as->auth->send : as->auth->check, i))
			ret[n++] = (unsigned char)i;
	return n;
}
