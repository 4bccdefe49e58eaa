/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which members are in which group on a wire (RFC 1112, RFC 4291 s2.7).
 *
 * Objects.  A wire has a table of members: a group and a stream of a transport
 * that is in it.  Beside it stands which groups the descriptor below has been
 * told of.
 *
 * Life.  Who joins or leaves changes the table, and has the wire's service
 * procedure tell the descriptor, in the wire's perimeter: a group is joined below
 * for its first member, and left with its last.  A descriptor that is made again
 * is told all of it again.
 *
 * Locks.  The table of wires' for who changes it.  Who looks whether one is a
 * member has none: an entry is in use while `gen' is odd.
 *
 * Crash.  An entry is there, or gone, by one store.  That of one whose close has
 * died names a stream that is no more: the wire's clock looks for such.  What the
 * descriptor is told is written down before, as not sure, and after; of what is
 * not sure it is told again, by the clock at the latest, when it has left it,
 * which is no harm where it was not in it.  So it is where whose turn it is has
 * no descriptor, for the next streamsd, which has just come, gets it in a moment
 * from those who have.
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
 * Which member is in which group: what @m says, as it was at one time.  False: nothing.
 * It may be left, and be another's, while this looks.
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

/* Is anybody in @a? */
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

/* What is known of @a; or a place for it, or NULL. */
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

/* ip_groups_tell - the descriptor learns what has changed.  Context: the wire's
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
			continue; /* the clock comes again */
		STR_POINT("ip:left");
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
		if (ip_lower_group(w, &a, 1) == 0)
			ip_set(&t->sure, 1);
	}
}

/* ip_groups_again - it is another descriptor, which knows of nothing */
void
ip_groups_again(struct ip_wire *w)
{
	bzero(w->told, sizeof(w->told));
	ip_groups_tell(w);
}

/* Have the wire's service procedure see to it. */
static void
changed(struct ip_wire *w)
{
	struct str_ref ref = w->ref;
	queue_t *rq = w->rq;
	struct str_hold h;

	str_store(&w->regroup, 1u);
	if (str_hold(&h, &ref) != 0)
		return; /* its clock does */
	qenable(rq);
	str_unhold(&h);
}

/* --------------------------------------------------------------- the members */

/* The wire that @how speaks of; NULL: none. */
static struct ip_wire *
wire_of(struct ip_shared *sh, const struct wire_group *how)
{
	struct ip_addr src;
	struct ip_wire *w;
	struct wire *p;
	uint32_t mtu;

	for (w = sh->wire + 1; w < sh->wire + IP_WIRES; w++) {
		if (!ip_in_use(&w->gen))
			continue;
		if (how->own.len != 0 ? ip_is_own(w, &how->own) :
			how->ifindex != 0 && w->ifindex == how->ifindex)
			return w;
	}
	if (how->own.len != 0 || how->ifindex != 0)
		return NULL;
	p = wire_route(&sh->wire[0].pub, &how->group, &src, &mtu);
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
	/* of the host's own addresses its system is asked, too */
	return err == 0 && w->kind == IPW_RAW ? ENODEV : err;
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

/* ip_groups_look - members that are no more.  Context: the wire's clock. */
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
