/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reports to routers about the groups of a wire (mcast.h).
 *
 * Life.  A group that the wire joins or leaves is reported twice, the second
 * time within a second (RFC 3376 s5.1, RFC 3810 s6.1).  A query is answered for
 * each group at a random time within its limit.  After a query of an older
 * version reports have that version's form for 260 seconds.
 *
 * Locks.  The perimeter of the wire's stream.
 *
 * Crash.  An entry that is written in part reports a group once too often, or
 * not.  The next query brings it back.
 */
#include "ip_impl.h"

#define SECOND 1000000000ull
#define TWICE 2u     /* the robustness variable */
#define OLD (260 * SECOND)
#define TICK (SECOND / 2)

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

/* The entry of @a, or a free one, or NULL. */
static struct ip_listen *
entry(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_listen *l, *found = NULL;

	for (l = w->listen; l < w->listen + IP_LISTENS; l++) {
		if (l->group.len != 0 && same(&l->group, a))
			return l;
		if (l->group.len == 0 && found == NULL)
			found = l;
	}
	return found;
}

/* The source of reports; IPv6: RFC 3810 s5.2.13. */
static int
source(const struct ip_wire *w, uint32_t len, struct ip_addr *ret)
{
	struct ip_addr a = {len, {0xfe, 0x80}};

	if (len == 4)
		return ip_own_for(w, &a, ret);
	if (ip_own_for(w, &a, ret) && ret->b[0] == 0xfe &&
		(ret->b[1] & 0xc0) == 0x80)
		return 1;
	bzero(ret, sizeof(*ret));
	ret->len = len;
	return 1;
}

/* Which of w->oldquery is about routers of @version. */
static uint32_t
old_of(uint32_t len, enum mcast_version version)
{
	return len == 16 ? 1 : version == MCAST_OLDEST ? 2 : 0;
}

/* RFC 3376 s7.2.1: the oldest version that a router has used lately. */
static enum mcast_version
version_for(const struct ip_wire *w, uint32_t len)
{
	uint64_t now = str_now();

	if (len == 4 && now < w->oldquery[old_of(len, MCAST_OLDEST)])
		return MCAST_OLDEST;
	return now < w->oldquery[old_of(len, MCAST_OLD)] ? MCAST_OLD :
							    MCAST_NEW;
}

static void
report(struct ip_wire *w, struct ip_listen *l)
{
	struct ip_addr from;
	mblk_t *mp;
	uint32_t n;

	if (!source(w, l->group.len, &from))
		return;
	mp = allocb(MCAST_MOST, BPRI_MED);
	if (mp == NULL)
		return;
	n = mcast_report(mp->b_wptr, (enum mcast_record)l->what, &l->group,
		&from, version_for(w, l->group.len));
	mp->b_wptr += n;
	if (n != 0)
		ip_answer(w, mp);
	else
		freemsg(mp);
}

/* ip_listen_tick - send the reports whose time has come */
void
ip_listen_tick(struct ip_wire *w)
{
	uint64_t now = str_now();
	struct ip_listen *l;

	if (w->kind != IPW_PACKET && w->kind != IPW_TUN)
		return;
	for (l = w->listen; l < w->listen + IP_LISTENS; l++) {
		if (l->group.len == 0 || l->left == 0 || now < l->next)
			continue;
		report(w, l);
		l->left--;
		l->next = now + str_random() % TICK;
		if (l->left == 0 && l->what == MCAST_LEAVES)
			ip_set(&l->group.len, 0);
	}
}

static void
change(struct ip_wire *w, const struct ip_addr *group, enum mcast_record what)
{
	struct ip_listen *l = entry(w, group);

	if (l == NULL || (l->group.len == 0 && what == MCAST_LEAVES))
		return;
	l->what = what;
	l->left = TWICE;
	l->next = 0;
	if (l->group.len == 0)
		l->group = *group;
}

/* ip_listen_joined, ip_listen_left - the wire has joined @group, or left it */
void
ip_listen_joined(struct ip_wire *w, const struct ip_addr *group)
{
	change(w, group, MCAST_JOINS);
}

void
ip_listen_left(struct ip_wire *w, const struct ip_addr *group)
{
	change(w, group, MCAST_LEAVES);
}

/* ip_listen_again - routers of this network know nothing */
void
ip_listen_again(struct ip_wire *w)
{
	struct ip_listen *l;

	for (l = w->listen; l < w->listen + IP_LISTENS; l++)
		if (l->group.len != 0 && l->what != MCAST_LEAVES)
			ip_listen_joined(w, &l->group);
	bzero(w->oldquery, sizeof(w->oldquery));
}

/* ip_listen_query - a packet of IGMP or ICMPv6 came, @n bytes at @p */
void
ip_listen_query(struct ip_wire *w, const unsigned char *p, uint32_t n,
	const struct ip_hdr *h)
{
	uint64_t now = str_now(), most;
	struct mcast_query q;
	struct ip_listen *l;

	if (!mcast_query(p, n, h, &q))
		return;
	if (q.version != MCAST_NEW)
		w->oldquery[old_of(h->src.len, q.version)] = now + OLD;
	/* the clock's next tick may be late by TICK */
	most = q.delay > TICK ? q.delay - TICK : 0;
	for (l = w->listen; l < w->listen + IP_LISTENS; l++) {
		if (l->group.len != h->src.len || l->left != 0 ||
			l->what == MCAST_LEAVES ||
			(q.group.len != 0 && !same(&q.group, &l->group)))
			continue;
		l->what = MCAST_IS_MEMBER;
		l->left = 1;
		l->next = now + (most == 0 ? 0 : str_random() % most);
	}
}
