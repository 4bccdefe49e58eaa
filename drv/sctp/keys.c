/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The shared keys of AUTH: RFC 4895 s2.1; RFC 6458 s8.3 has what users may do
 * with them.
 *
 * Key 0 exists without an entry in the list, and is empty, until the user sets
 * or deletes it.  Then it has an entry; a deleted one stays, to say that there is
 * no key 0.
 */
#include "association.h"

enum {
	KEY_USED,
	KEY_RETIRED, /* for what arrives only */
	KEY_GONE,    /* key 0 was deleted */
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

static void
drop(const struct sctp_env *env, struct sctp_keyring *r,
	struct sctp_shared **p)
{
	struct sctp_shared *k = *p;
	size_t size = sizeof(*k) + k->n;

	*p = k->next;
	r->n--;
	/* the memory may become another user's */
	__builtin_memset(k->p, 0, k->n);
	__asm__ volatile("" : : "r"(k->p) : "memory");
	env->release(env->arg, k, size);
}

static int
add(const struct sctp_env *env, struct sctp_keyring *r, uint16_t id,
	const void *p, size_t n, int state)
{
	struct sctp_shared *k, **old = find(r, id);

	if (*old == NULL && r->n >= SCTP_AUTH_KEYS)
		return ENOSPC;
	k = env->alloc(env->arg, sizeof(*k) + n);
	if (k == NULL)
		return ENOMEM;
	k->id = id;
	k->n = (uint16_t)n;
	k->state = (uint8_t)state;
	if (n != 0)
		__builtin_memcpy(k->p, p, n);
	if (*old != NULL)
		drop(env, r, old);
	k->next = r->first;
	r->first = k;
	r->n++;
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
	return k != NULL ? k->state != KEY_GONE : id == 0;
}

int
sctp_key_use(struct sctp_keyring *r, uint16_t id)
{
	const struct sctp_shared *k = *find(r, id);

	if (k != NULL ? k->state != KEY_USED : id != 0)
		return EINVAL;
	r->active = id;
	return 0;
}

int
sctp_key_retire(struct sctp_keyring *r, uint16_t id)
{
	struct sctp_shared *k = *find(r, id);

	if (k == NULL || k->state == KEY_GONE || id == r->active)
		return EINVAL;
	k->state = KEY_RETIRED;
	return 0;
}

int
sctp_key_delete(const struct sctp_env *env, struct sctp_keyring *r,
	uint16_t id)
{
	struct sctp_shared **p = find(r, id);

	if (id == r->active || (*p == NULL && id != 0) ||
		(*p != NULL && (*p)->state == KEY_GONE))
		return EINVAL;
	if (id == 0)
		return add(env, r, 0, NULL, 0, KEY_GONE);
	drop(env, r, p);
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
	return 0;
}

void
sctp_keyring_free(const struct sctp_env *env, struct sctp_keyring *r)
{
	while (r->first != NULL)
		drop(env, r, &r->first);
	r->active = 0;
}
