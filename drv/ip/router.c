/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which router of a packet wire gets a packet.
 *
 * Choice.  A destination on the network is its own next hop.  Otherwise the
 * next hop is the router to which it was redirected; that of the route with the
 * longest prefix, and of these with the least metric; or the gateway.  A router
 * that did not answer is left out for DEAD while there is another one (RFC 1122
 * s3.3.1.5).
 *
 * Redirects.  A redirect is believed if it comes from the present router of the
 * destination, quotes a packet that was sent lately, and names a router on the
 * network (RFC 1122 s3.2.2.2, RFC 4861 s8.1).
 *
 * Locks.  The wire's nlock: redirects, and which routers are dead.
 *
 * Crash.  An entry is in use while its `until' is not 0, which is stored last.
 */
#include "ip_impl.h"

#define SECOND 1000000000ull
#define DEAD (30 * SECOND)
#define REDIRECTED (600 * SECOND)

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

static int
is_router(const struct ipw_addr *r, const struct ip_addr *a)
{
	return r->len == a->len && bcmp(r->b, a->b, a->len) == 0;
}

/* Router number @i of the wire: of a route, or one of the two gateways. */
static const struct ipw_addr *
router(const struct ip_wire *w, uint32_t i)
{
	return i < IPW_NROUTE ? &w->conf.via[i] :
		&w->conf.gateway[i - IPW_NROUTE];
}

static int
is_dead(const struct ip_wire *w, uint32_t i, uint64_t now)
{
	return w->deaduntil[i] > now;
}

/* How good router number @i is for @dst: greater is better; 0: it is none. */
static uint64_t
rank(const struct ip_wire *w, uint32_t i, const struct ip_addr *dst,
	uint64_t now)
{
	const struct ipw_addr *r = router(w, i);
	uint64_t bits = 0, metric = ~0u;
	int n;

	if (r->len != dst->len)
		return 0;
	if (i < IPW_NROUTE) {
		n = ip_matches(dst, &w->conf.route[i]);
		if (n < 0)
			return 0;
		bits = (uint64_t)n + 1;
		metric = w->conf.metric[i];
	}
	return (is_dead(w, i, now) ? 1 : (uint64_t)1 << 62) +
		(bits << 34) + (~0u - (uint32_t)metric);
}

/* The router to which @dst was redirected, or NULL. */
static const struct ip_addr *
redirected(const struct ip_wire *w, const struct ip_addr *dst, uint64_t now)
{
	const struct ip_redirect *r;

	for (r = w->redirect; r < w->redirect + IP_REDIRECTS; r++)
		if (r->until > now && same(&r->dst, dst))
			return &r->to;
	return NULL;
}

/* Locks: nlock. */
static int
next_hop(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret)
{
	uint64_t now = str_now(), best = 0, n;
	const struct ip_addr *to;
	uint32_t i, at = 0;

	to = redirected(w, dst, now);
	if (to != NULL) {
		*ret = *to;
		return IP_HOP;
	}
	for (i = 0; i < IP_ROUTERS; i++) {
		n = rank(w, i, dst, now);
		if (n > best) {
			best = n;
			at = i;
		}
	}
	if (best == 0)
		return 0;
	*ret = *dst;
	bcopy(router(w, at)->b, ret->b, dst->len);
	return is_dead(w, at, now) ? IP_HOP_DEAD : IP_HOP;
}

/*
 * ip_next_hop - the next hop of a packet to @dst
 * Return: IP_HOP; IP_HOP_DEAD: only routers that did not answer lead there; 0:
 * none does.
 */
int
ip_next_hop(struct ip_wire *w, const struct ip_addr *dst, struct ip_addr *ret)
{
	int found;

	if (ip_is_near(w, dst)) {
		*ret = *dst;
		return IP_HOP;
	}
	mutex_enter(&w->nlock);
	found = next_hop(w, dst, ret);
	mutex_exit(&w->nlock);
	return found;
}

/*
 * ip_router_dead - @a did not answer
 * Return: 1: it is a router of the wire; it is left out for some time.
 */
int
ip_router_dead(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_redirect *r;
	uint32_t i;
	int found = 0;

	mutex_enter(&w->nlock);
	for (i = 0; i < IP_ROUTERS; i++)
		if (is_router(router(w, i), a)) {
			w->deaduntil[i] = str_now() + DEAD;
			found = 1;
		}
	for (r = w->redirect; r < w->redirect + IP_REDIRECTS; r++)
		if (r->until != 0 && same(&r->to, a)) {
			r->until = 0;
			found = 1;
		}
	mutex_exit(&w->nlock);
	return found;
}

/* ip_redirect - @from says that packets to @dst should go to @to */
void
ip_redirect(struct ip_wire *w, const struct ip_addr *from,
	const struct ip_addr *dst, const struct ip_addr *to)
{
	struct ip_redirect *r, *found = NULL;
	struct ip_addr now_by;

	if (w->kind != IPW_PACKET || to->len != dst->len ||
		ip_is_near(w, dst) || !ip_is_near(w, to) || ip_is_own(w, to) ||
		ip_is_bad_source(w, to))
		return;
	mutex_enter(&w->nlock);
	if (next_hop(w, dst, &now_by) && same(&now_by, from)) {
		for (r = w->redirect; r < w->redirect + IP_REDIRECTS; r++)
			if (found == NULL || same(&r->dst, dst) ||
				(!same(&found->dst, dst) &&
				r->until < found->until))
				found = r;
		found->until = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		found->dst = *dst;
		found->to = *to;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		found->until = str_now() + REDIRECTED;
	}
	mutex_exit(&w->nlock);
}
