/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Nodes: the entries by which opens of one device number, or of one FIFO's
 * file, find the same stream.
 *
 * A node is made by the first open of its key and exists as long as the domain;
 * its stream is made and freed many times.  Nodes are on lists, by their keys,
 * which grow at the front by compare-and-swap, so that finding one needs no
 * lock.  A driver that gives each open a new minor makes long lists.  The
 * node's own lock is held by one open, or last close, at a time, while a
 * driver's open procedure runs; it names its owner and is taken over from a
 * dead one.
 */
#include "core.h"

static str_a64 *
list_of(uint64_t k0, uint64_t k1)
{
	uint64_t h = (k0 * 31 + k1) * 0x9e3779b97f4a7c15ull;

	return &host_domain->node[(h >> 32) % STR_NNODE];
}

static struct str_node *
first(str_a64 *list)
{
	return (struct str_node *)(uintptr_t)str_load_acq(list);
}

struct str_node *
str_node_find(uint64_t k0, uint64_t k1)
{
	struct str_node *n;

	for (n = first(list_of(k0, k1)); n != NULL; n = n->next)
		if (n->key[0] == k0 && n->key[1] == k1)
			return n;
	return NULL;
}

/* str_node_listed - is @n on its list?  For the reaper of the thread that made
 * it. */
bool
str_node_listed(const struct str_node *n)
{
	const struct str_node *p;

	for (p = first(list_of(n->key[0], n->key[1])); p != NULL && p != n;
		p = p->next)
		;
	return p != NULL;
}

/* str_node_get - the node of this key, made if there is none; NULL: ENOSR */
struct str_node *
str_node_get(uint64_t k0, uint64_t k1)
{
	struct str_node *n = str_node_find(k0, k1), *other;
	str_a64 *list = list_of(k0, k1);
	uint64_t old;

	if (n != NULL)
		return n;
	n = str_mem_zalloc(sizeof(*n), STR_BLK_NODE);
	if (n == NULL)
		return NULL;
	n->key[0] = k0;
	n->key[1] = k1;
	for (;;) {
		old = str_load_acq(list);
		n->next = (struct str_node *)(uintptr_t)old;
		other = str_node_find(k0, k1);
		if (other != NULL) {
			str_mem_free(n); /* another thread was first */
			return other;
		}
		if (str_cas(list, old, (uint64_t)(uintptr_t)n))
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
		host_resample(hc); /* otherwise the next wait returns at once */
	}
}

/*
 * Another thread may have left the close of a stream to this thread
 * (str_node_leave()).  If this thread has not closed the stream, a sweep closes
 * it.
 */
void
str_node_unlock(struct str_node *n)
{
	str_unlock(&n->lock);
	if (str_unlikely(str_load(&n->left) != 0) && str_cas(&n->left, 1u, 0u))
		host_daemon_soon();
}

/* Has another living thread the lock? */
static bool
is_busy(struct str_node *n)
{
	uint32_t v = str_load(&n->lock.owner);

	return v != 0 && v != host_self_tag() && !host_owner_dead(v);
}

/*
 * str_node_leave - leave a close to the thread that has locked @n
 * If it does not close the stream, it asks for a sweep when it releases the
 * lock; if it is killed, its death is a reason for a sweep.
 * Return: false: no other living thread has locked it.
 */
bool
str_node_leave(struct str_node *n)
{
	if (!is_busy(n))
		return false;
	if (str_load(&n->left) != 0)
		return true;
	str_store(&n->left, 1u);
	host_fence_heavy(); /* pairs with the light one of str_unlock() */
	return is_busy(n);
}
