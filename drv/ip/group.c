/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Members of multicast groups on a wire (RFC 1112, RFC 4291 s2.7).
 *
 * Objects.  A wire has a table of members: a group and a stream of a transport
 * that has joined it.  A second table lists the groups that the descriptor
 * below has joined.
 *
 * Life.  A join or leave changes the table and enables the wire's service
 * procedure, which changes the descriptor in the wire's perimeter: it joins a
 * group for its first member, and leaves it after its last.  A new descriptor
 * joins all groups again.
 *
 * Locks.  Changes take the lock of the table of wires.  Lookups take no lock:
 * an entry is in use while `gen' is odd.
 *
 * Crash.  One store adds or removes an entry.  After a kill in a close the
 * entry refers to a stream that no longer exists; the wire's timer removes it.
 * A join or leave of the descriptor is noted before, as `not sure', and after.
 * A group that is not sure is left, which does no harm if it was not joined,
 * and then joined again if necessary, at the latest by the timer.  The same
 * happens if the current process has no descriptor: a new streamsd gets one
 * shortly from the processes that have one.
 */
#include "ip_impl.h"

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

static int
is_group(const struct ip_addr *a)
{
	return a->len == 4 ? (a->b[0] & 0xf0) == 0xe0 :
		a->len == 16 && a->b[0] == 0xff;
}

/*
 * Get a consistent copy of the entry @m.  False: it is free.  It may be freed
 * and reused while this reads it.
 */
STR_RACY static int
member(const struct ip_member *m, struct ip_addr *group, uint64_t *sid)
{
	uint32_t gen;

	do {
		gen = __atomic_load_n(&m->gen, __ATOMIC_ACQUIRE);
		if ((gen & 1) == 0)
			return 0;
		*group = m->group;
		*sid = m->ref.sid;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&m->gen, __ATOMIC_RELAXED) != gen);
	return 1;
}

/* ------------------------------------------------------------- what is below */

/* Has @a a member? */
static int
is_wanted(const struct ip_wire *w, const struct ip_addr *a)
{
	const struct ip_member *m;
	struct ip_addr group;
	uint64_t sid;

	for (m = w->member; m < w->member + IP_MEMBERS; m++)
		if (member(m, &group, &sid) && same(&group, a))
			return 1;
	return 0;
}

/* The entry of @a in the second table, or a free one for it, or NULL. */
static struct ip_told *
told(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_told *t, *found = NULL;

	for (t = w->told; t < w->told + IP_MEMBERS; t++) {
		if (t->group.len != 0 && same(&t->group, a))
			return t;
		if (t->group.len == 0 && found == NULL)
			found = t;
	}
	return found;
}

/* ip_groups_tell - change the groups of the descriptor.  Context: the wire's
 * perimeter. */
void
ip_groups_tell(struct ip_wire *w)
{
	struct ip_told *t;
	struct ip_addr a;
	unsigned int i;
	uint64_t sid;

	for (t = w->told; t < w->told + IP_MEMBERS; t++) {
		if (t->group.len == 0 || is_wanted(w, &t->group))
			continue;
		ip_set(&t->sure, 0);
		if (ip_lower_group(w, &t->group, 0) != 0)
			continue; /* the timer tries again */
		STR_POINT("ip:left");
		ip_listen_left(w, &t->group);
		ip_set(&t->group.len, 0);
	}
	for (i = 0; i < IP_MEMBERS; i++) {
		if (!member(&w->member[i], &a, &sid))
			continue;
		t = told(w, &a);
		if (t == NULL || (t->group.len != 0 && t->sure))
			continue;
		if (t->group.len != 0 && ip_lower_group(w, &a, 0) != 0)
			continue;
		ip_set(&t->sure, 0);
		t->group = a;
		STR_POINT("ip:joined");
		if (ip_lower_group(w, &a, 1) != 0)
			continue;
		ip_set(&t->sure, 1);
		ip_listen_joined(w, &a);
	}
	ip_listen_tick(w);
}

/* ip_groups_again - there is a new descriptor, which has joined no groups */
void
ip_groups_again(struct ip_wire *w)
{
	bzero(w->told, sizeof(w->told));
	ip_groups_tell(w);
}

/* Make the wire's service procedure update the descriptor. */
static void
changed(struct ip_wire *w)
{
	struct str_ref ref = w->ref;
	queue_t *rq = w->rq;
	struct str_hold h;

	str_store(&w->regroup, 1u);
	if (str_hold(&h, &ref) != 0)
		return; /* its timer does */
	qenable(rq);
	str_unhold(&h);
}

/* --------------------------------------------------------------- the members */

/* The wire that @how names; NULL: none. */
static struct ip_wire *
wire_of(struct ip_shared *sh, const struct wire_group *how)
{
	struct wire_path path;
	struct ip_wire *w;
	struct wire *p;

	w = ip_wire_by(sh, &how->own, how->ifindex);
	if (w != NULL)
		return w;
	if (how->own.len != 0 || how->ifindex != 0)
		return NULL;
	p = wire_route(&sh->wire[0].pub, &how->group, NULL, &path);
	return p == NULL || p == &sh->wire[0].pub ? NULL : ip_wire_of(p);
}

/* The entry of that stream and group, or NULL. */
static struct ip_member *
find(struct ip_wire *w, const struct str_ref *who, const struct ip_addr *group)
{
	struct ip_member *m;

	for (m = w->member; m < w->member + IP_MEMBERS; m++)
		if (ip_in_use(&m->gen) && m->ref.sid == who->sid &&
			same(&m->group, group))
			return m;
	return NULL;
}

static void
drop(struct ip_member *m)
{
	str_store_rel(&m->gen, m->gen + 1);
}

/* Locks: the table's. */
static int
join(struct ip_wire *w, const struct str_ref *who, const struct ip_addr *group)
{
	struct ip_member *m;

	if (find(w, who, group) != NULL)
		return EADDRINUSE;
	for (m = w->member; m < w->member + IP_MEMBERS; m++)
		if (!ip_in_use(&m->gen))
			break;
	if (m == w->member + IP_MEMBERS)
		return ENOBUFS;
	m->group = *group;
	m->ref = *who;
	STR_POINT("ip:joining");
	str_store_rel(&m->gen, m->gen + 1);
	return 0;
}

int
wire_group(struct wire *lo, const struct str_ref *who,
	const struct wire_group *how, int joins)
{
	struct ip_shared *sh = ip_shared();
	struct ip_member *m;
	struct ip_wire *w;
	int err;

	if (sh == NULL || lo->others == 0 || !is_group(&how->group))
		return ENODEV;
	mutex_enter(&sh->lock);
	w = wire_of(sh, how);
	if (w == NULL) {
		err = ENODEV;
	} else if (joins) {
		err = join(w, who, &how->group);
	} else {
		m = find(w, who, &how->group);
		err = m == NULL ? EADDRNOTAVAIL : 0;
		if (m != NULL)
			drop(m);
	}
	mutex_exit(&sh->lock);
	if (w != NULL)
		changed(w);
	/* with the host's own addresses the system must join too */
	return err == 0 && ip_is_hosts(w) ? ENODEV : err;
}

void
wire_leave(struct wire *lo, const struct str_ref *who)
{
	struct ip_shared *sh = ip_shared();
	struct ip_member *m;
	struct ip_wire *w;
	int n;

	if (sh == NULL || lo->others == 0)
		return;
	for (w = sh->wire + 1; w < sh->wire + IP_WIRES; w++) {
		if (!ip_in_use(&w->gen))
			continue;
		n = 0;
		mutex_enter(&sh->lock);
		for (m = w->member; m < w->member + IP_MEMBERS; m++)
			if (ip_in_use(&m->gen) && m->ref.sid == who->sid) {
				drop(m);
				STR_POINT("ip:leaving");
				n++;
			}
		mutex_exit(&sh->lock);
		if (n != 0)
			changed(w);
	}
}

int
wire_is_member(const struct wire *pub, const struct str_ref *who,
	const struct ip_addr *group)
{
	const struct ip_wire *w = (const struct ip_wire *)(const void *)pub;
	const struct ip_member *m;
	struct ip_addr a;
	uint64_t sid;

	for (m = w->member; m < w->member + IP_MEMBERS; m++)
		if (member(m, &a, &sid) && sid == who->sid && same(&a, group))
			return 1;
	return 0;
}

int
wire_has_members(struct wire *w, const struct ip_addr *group)
{
	return is_wanted(ip_wire_of(w), group);
}

/*
 * ip_groups_look - remove members that no longer exist.  Context: the wire's
 * timer.
 */
void
ip_groups_look(struct ip_wire *w)
{
	struct ip_shared *sh = ip_shared();
	struct ip_member *m;
	struct str_hold h;
	int err;

	for (m = w->member; m < w->member + IP_MEMBERS && sh != NULL; m++) {
		if (!ip_in_use(&m->gen))
			continue;
		mutex_enter(&sh->lock);
		err = ip_in_use(&m->gen) ? str_hold(&h, &m->ref) : EBUSY;
		if (err == 0)
			str_unhold(&h);
		if (err == ESRCH) {
			drop(m);
			str_store(&w->regroup, 1u);
		}
		mutex_exit(&sh->lock);
	}
}
