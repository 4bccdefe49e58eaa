/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The shared keys of AUTH: RFC 4895 s2.1; RFC 6458 s8.3 has what users may do
 * with them.
 *
 * Key 0 exists without an entry in the list, and is empty, until the user sets
 * it.  `zero' is its state while it has no entry.
 *
 * Crash.  The list changes by one store, so a ring in memory that survives a
 * killed thread is the one before the change or the one after it.
 */
#include "association.h"

enum {
	KEY_USED,
	KEY_RETIRED, /* for what arrives only */
	KEY_GONE,    /* in `zero': key 0 was deleted */
};

struct sctp_shared {
	struct sctp_shared *next;
	uint16_t id;
	uint16_t n; /* bytes */
	uint8_t state;
	unsigned char p[];
};

static struct sctp_shared **
find(const struct sctp_keyring *r, uint16_t id)
{
	struct sctp_shared **p = (struct sctp_shared **)(uintptr_t)&r->first;

	while (*p != NULL && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

/* The state of key @id; -1: there is none. */
static int
state_of(const struct sctp_keyring *r, uint16_t id)
{
	const struct sctp_shared *k = *find(r, id);

	if (k != NULL)
		return k->state;
	return id == 0 && r->zero != KEY_GONE ? r->zero : -1;
}

static uint32_t
count(const struct sctp_keyring *r)
{
	const struct sctp_shared *k;
	uint32_t n = 0;

	for (k = r->first; k != NULL; k = k->next)
		n++;
	return n;
}

/* Put @to into the place of the entry *@at, which is wiped and freed. */
static void
replace(const struct sctp_env *env, struct sctp_shared **at,
	struct sctp_shared *to)
{
	struct sctp_shared *k = *at;

	__atomic_store_n(at, to, __ATOMIC_RELEASE);
	/* the memory may become another user's */
	__builtin_memset(k->p, 0, k->n);
	__asm__ volatile("" : : "r"(k->p) : "memory");
	env->release(env->arg, k, sizeof(*k) + k->n);
}

static int
add(const struct sctp_env *env, struct sctp_keyring *r, uint16_t id,
	const void *p, size_t n, int state)
{
	struct sctp_shared *k, **old = find(r, id);

	if (*old == NULL && count(r) >= SCTP_AUTH_KEYS)
		return ENOSPC;
	k = env->alloc(env->arg, sizeof(*k) + n);
	if (k == NULL)
		return ENOMEM;
	k->id = id;
	k->n = (uint16_t)n;
	k->state = (uint8_t)state;
	if (n != 0)
		__builtin_memcpy(k->p, p, n);
	k->next = *old != NULL ? (*old)->next : NULL;
	if (*old != NULL)
		replace(env, old, k);
	else
		__atomic_store_n(old, k, __ATOMIC_RELEASE);
	return 0;
}

int
sctp_key_set(const struct sctp_env *env, struct sctp_keyring *r, uint16_t id,
	const void *p, size_t n)
{
	return n > SCTP_AUTH_KEYLEN ? EINVAL : add(env, r, id, p, n, KEY_USED);
}

int
sctp_key_find(const struct sctp_keyring *r, uint16_t id,
	const unsigned char **ret, size_t *ret_n)
{
	const struct sctp_shared *k = *find(r, id);

	*ret = k != NULL ? k->p : NULL;
	*ret_n = k != NULL ? k->n : 0;
	return state_of(r, id) >= 0;
}

int
sctp_key_use(struct sctp_keyring *r, uint16_t id)
{
	if (state_of(r, id) != KEY_USED)
		return EINVAL;
	r->active = id;
	return 0;
}

int
sctp_key_retire(struct sctp_keyring *r, uint16_t id)
{
	struct sctp_shared *k = *find(r, id);

	if (state_of(r, id) < 0 || id == r->active)
		return EINVAL;
	if (k != NULL)
		k->state = KEY_RETIRED;
	else
		r->zero = KEY_RETIRED;
	return 0;
}

int
sctp_key_delete(const struct sctp_env *env, struct sctp_keyring *r,
	uint16_t id)
{
	struct sctp_shared **p = find(r, id);

	if (state_of(r, id) < 0 || id == r->active)
		return EINVAL;
	if (id == 0)
		r->zero = KEY_GONE;
	if (*p != NULL)
		replace(env, p, (*p)->next);
	return 0;
}

int
sctp_keyring_copy(const struct sctp_env *env, struct sctp_keyring *to,
	const struct sctp_keyring *from)
{
	const struct sctp_shared *k;
	int err;

	for (k = from->first; k != NULL; k = k->next) {
		err = add(env, to, k->id, k->p, k->n, k->state);
		if (err != 0) {
			sctp_keyring_free(env, to);
			return err;
		}
	}
	to->active = from->active;
	to->zero = from->zero;
	return 0;
}

void
sctp_keyring_free(const struct sctp_env *env, struct sctp_keyring *r)
{
	while (r->first != NULL)
		replace(env, &r->first, r->first->next);
	r->active = 0;
	r->zero = KEY_USED;
}
