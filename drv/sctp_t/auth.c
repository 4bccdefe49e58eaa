/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Authentication (RFC 4895): the shared keys of an endpoint and of its
 * associations, and the notes about them.
 *
 * The endpoint's ring is in struct sctpt, and its blocks are not the engine's:
 * they are still there after a thread was killed in a turn of the home.  Each
 * new association gets a copy.  Keys are wiped where they are freed, and in the
 * messages of the requests that bring them.
 *
 * Locks.  The gate, and the turn of the home, in which callers get their copy.
 *
 * Crash.  The ring is changed by one store (drv/sctp/keys.c).
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

static void *
lend(void *arg, size_t n)
{
	(void)arg;
	return kmem_alloc(n, KM_NOSLEEP);
}

static void
give_back(void *arg, void *p, size_t n)
{
	(void)arg;
	kmem_free(p, n);
}

/* Of the endpoint's ring; it needs neither time nor random numbers. */
static const struct sctp_env *
ring_env(struct sctp_env *env)
{
	bzero(env, sizeof(*env));
	env->alloc = lend;
	env->release = give_back;
	return env;
}

/* sctpt_keys_free - the stream is closed */
void
sctpt_keys_free(struct sctpt *u)
{
	struct sctp_env env;

	sctp_keyring_free(ring_env(&env), &u->keys);
}

/* One change of @r.  0, or an errno. */
static int
change(const struct sctp_env *env, struct sctp_keyring *r,
	const struct sctpio_key *k)
{
	uint16_t id = (uint16_t)k->id;

	switch (k->what) {
	case SCTPIO_KEY_SET:
		return sctp_key_set(env, r, id, k->key, k->n);
	case SCTPIO_KEY_USE:
		return sctp_key_use(r, id);
	case SCTPIO_KEY_RETIRE:
		return sctp_key_retire(r, id);
	default:
		return sctp_key_delete(env, r, id);
	}
}

/* Of the endpoint: for associations to come. */
static int
change_own(struct sctpt *u, const struct sctpio_key *k)
{
	struct sctpt_slot *sl = u->home;
	struct sctp_env env;
	int err;

	if (!u->conf.auth)
		return EACCES;
	if (sl != NULL)
		sctpt_turn_wait(sl);
	err = change(ring_env(&env), &u->keys, k);
	if (sl != NULL)
		sctpt_turn_leave(sl);
	return err;
}

/* Of an association, in its turn, which ends here. */
static int
change_assoc(struct sctpt_conn *c, const struct sctpio_key *k)
{
	struct sctpio_note n = {.event = SCTPIO_EV_AUTH,
		.state = SCTPIO_AUTH_FREE_KEY, .value = k->id};
	struct sctp_env env;
	int err;

	sctpt_env(&env, c);
	if (sctp_assoc_state(c->as) >= SCTP_ESTABLISHED &&
		sctp_auth_hmac(c->as) == 0)
		err = EACCES;
	else
		err = change(&env, sctp_keys(c->as), k);
	/* codes are made when a packet is sent: it is not used any more */
	if (err == 0 && k->what == SCTPIO_KEY_RETIRE &&
		sctpt_wants(c, SCTPIO_EV_AUTH))
		sctpt_note(c, &n, NULL, 0);
	sctpt_serve_owned(c->slot, 1);
	return err;
}

/* SCTPIO_CURRENT, SCTPIO_ALL: the first error is the answer. */
static int
change_all(struct sctpt *u, const struct sctpio_key *k)
{
	const void *pos = NULL;
	struct sctpt_conn *c;
	uint32_t at = 0;
	int err = 0, one;

	if (k->assoc == SCTPIO_ALL)
		err = change_own(u, k);
	while (sctpt_many_next(u, &at, &pos) != NULL) {
		if (sctpt_enter_wait(u, sctpt_many_id(pos), &c) != 0)
			continue;
		one = change_assoc(c, k);
		err = err != 0 ? err : one;
	}
	return err;
}

static int
active(struct sctpt *u, struct sctpio_key *k, mblk_t **ret)
{
	struct sctpt_conn *c;

	k->id = u->keys.active;
	if (sctpt_enter_wait(u, k->assoc, &c) == 0) {
		k->id = sctp_keys(c->as)->active;
		sctpt_serve_owned(c->slot, 1);
	} else if (k->assoc != 0) {
		return ENOTCONN;
	}
	*ret = canon_block(k, sizeof(*k));
	return *ret != NULL ? 0 : ENOSR;
}

static int
request(struct sctpt *u, struct sctpio_key *k, mblk_t **ret)
{
	struct sctpt_conn *c;

	if (k->what == SCTPIO_KEY_ACTIVE)
		return active(u, k, ret);
	if (u->many != NULL &&
		(k->assoc == SCTPIO_CURRENT || k->assoc == SCTPIO_ALL))
		return change_all(u, k);
	if (u->many == NULL && k->assoc != 0)
		return EINVAL;
	if (sctpt_enter_wait(u, k->assoc, &c) == 0)
		return change_assoc(c, k);
	return k->assoc != 0 ? ENOTCONN : change_own(u, k);
}

/* SCTPIO_KEY; @arg is aligned to 4 bytes, and is wiped. */
int
sctpt_key(struct sctpt *u, const struct tpi_buf *arg, mblk_t **ret)
{
	struct sctpio_key *k = (void *)(uintptr_t)arg->buf;
	int err = EINVAL;

	if (arg->len >= sizeof(*k) && arg->len - sizeof(*k) == k->n &&
		k->id <= 0xffff && k->what >= SCTPIO_KEY_SET &&
		k->what <= SCTPIO_KEY_ACTIVE &&
		(k->n == 0 || k->what == SCTPIO_KEY_SET))
		err = request(u, k, ret);
	if (arg->len != 0)
		bzero(k, arg->len);
	__asm__ volatile("" : : "r"(k) : "memory");
	return err;
}

/* The chunks that an endpoint's associations will ask for. */
static uint32_t
wanted(const struct sctp_conf *c, unsigned char *type)
{
	uint32_t i, n = 0;

	for (i = 0; i < 256; i++)
		if ((c->auth_chunks[i / 32] >> i % 32 & 1) != 0 ||
			(c->asconf && (i == SCTP_C_ASCONF ||
				i == SCTP_C_ASCONF_ACK)))
			type[n++] = (unsigned char)i;
	return n;
}

/* SCTPIO_CHUNKS */
int
sctpt_chunks(struct sctpt *u, const struct sctpio_word *w, mblk_t **ret)
{
	struct sctpio_chunks o = {.assoc = w->assoc};
	struct sctpt_conn *c;
	int err = 0;

	if (w->value > 1)
		return EINVAL;
	if (sctpt_enter_wait(u, w->assoc, &c) == 0) {
		if (sctp_auth_hmac(c->as) == 0)
			err = EACCES;
		else
			o.n = sctp_auth_list(c->as, (int)w->value, o.type);
		sctpt_serve_owned(c->slot, 1);
	} else if (w->assoc != 0 || w->value != 0) {
		err = ENOTCONN;
	} else if (!u->conf.auth) {
		err = EACCES;
	} else {
		o.n = wanted(&u->conf, o.type);
	}
	if (err != 0)
		return err;
	*ret = canon_block(&o, sizeof(o));
	return *ret != NULL ? 0 : ENOSR;
}

/* ----------------------------------------------------------------------- notes */

/* sctpt_note_agreed - what the peer has told when the association began */
void
sctpt_note_agreed(struct sctpt_conn *c)
{
	struct sctpio_note n = {.event = SCTPIO_EV_ADAPT};

	if (sctp_peer_adaptation(c->as, &n.value) &&
		sctpt_wants(c, SCTPIO_EV_ADAPT))
		sctpt_note(c, &n, NULL, 0);
	n = (struct sctpio_note){.event = SCTPIO_EV_AUTH,
		.state = SCTPIO_AUTH_NONE};
	if (sctp_auth_hmac(c->as) == 0 && sctpt_wants(c, SCTPIO_EV_AUTH))
		sctpt_note(c, &n, NULL, 0);
}

/*
 * sctpt_note_key - the peer uses another key
 * The peer decides how often: a full queue gets no more.
 */
void
sctpt_note_key(struct sctpt_conn *c)
{
	struct sctpio_note n = {.event = SCTPIO_EV_AUTH,
		.state = SCTPIO_AUTH_NEW_KEY,
		.value = sctp_auth_peer_key(c->as)};

	if (sctpt_wants(c, SCTPIO_EV_AUTH) && !sctpt_is_full(c))
		sctpt_note(c, &n, NULL, 0);
}
