/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Nodes: where opens of one device number, or of one FIFO's path, meet.
 *
 * A node is made by the first open of its key and stays for as long as the
 * domain; its stream comes and goes.  Nodes hang on one list, which grows at
 * its front by compare-and-swap, so that finding one needs no lock.  The
 * node's own lock is held by one open, or last close, at a time, for as long
 * as a driver's open procedure takes; it names its owner and passes from the
 * dead to the next.
 */
#include "core.h"

static struct str_node *
first(void)
{
	return (struct str_node *)(uintptr_t)
		str_load_acq(str_root(STR_ROOT_NODES));
}

struct str_node *
str_node_find(uint64_t k0, uint64_t k1)
{
	struct str_node *n;

	for (n = first(); n != NULL; n = n->next)
		if (n->key[0] == k0 && n->key[1] == k1)
			return n;
	return NULL;
}

/* str_node_listed - for the reaper: its maker died as it entered it */
bool
str_node_listed(const struct str_node *n)
{
	const struct str_node *p;

	for (p = first(); p != NULL && p != n; p = p->next)
		;
	return p != NULL;
}

/* str_node_get - the node of this key, made when there is none; NULL: ENOSR */
struct str_node *
str_node_get(uint64_t k0, uint64_t k1)
{
	struct str_node *n = str_node_find(k0, k1), *other;
	uint64_t old;

	if (n != NULL)
		return n;
	n = str_mem_zalloc(sizeof(*n), STR_BLK_NODE);
	if (n == NULL)
		return NULL;
	n->key[0] = k0;
	n->key[1] = k1;
	for (;;) {
		old = str_load_acq(str_root(STR_ROOT_NODES));
		n->next = (struct str_node *)(uintptr_t)old;
		other = str_node_find(k0, k1);
		if (other != NULL) {
			str_mem_free(n); /* another was first */
			return other;
		}
		if (str_cas(str_root(STR_ROOT_NODES), old,
			(uint64_t)(uintptr_t)n))
			break;
	}
	str_mem_disown(n);
	return n;
}

/* Return: 0, EINTR; EDEADLK when the caller has it already. */
int
str_node_lock(struct str_node *n, struct host_call *hc)
{
	uint32_t me = host_self_tag();

	for (;;) {
		uint32_t v = str_load(&n->lock.owner);

		if (v == me)
			return EDEADLK;
		if ((v == 0 || host_owner_dead(v)) &&
		    str_cas(&n->lock.owner, v, me))
			return 0;
		if (v == 0)
			continue;
		str_store(&n->lock.waiters, 1u);
		str_fence_full();
		if (str_load(&n->lock.owner) == v)
			str_owner_wait(hc, (str_a32 *)&n->lock.owner, v,
				10000000u);
		if (hc == NULL)
			continue;
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* else the next wait is none */
	}
}

void
str_node_unlock(struct str_node *n)
{
	str_unlock(&n->lock);
}
