/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Routes: which wire leads to an address, with which source, and how long a
 * packet may be.  Networks and addresses of a wire are those of its
 * configuration.  Locks: none.
 */
#include "ip_impl.h"

/* ip_matches - the length of the prefix @net, if @a is in that network; else -1 */
int
ip_matches(const struct ip_addr *a, const struct ipw_addr *net)
{
	unsigned int full = net->bits / 8u, rest = net->bits % 8u;

	if (net->len == 0 || net->len != a->len ||
		bcmp(a->b, net->b, full) != 0)
		return -1;
	if (rest != 0 &&
		((a->b[full] ^ net->b[full]) & (0xff00u >> rest & 0xff)) != 0)
		return -1;
	return net->bits;
}

/* Has another station this address? */
static int
is_lost(const struct ip_wire *w, unsigned int i)
{
	return (str_load(&w->lost) >> i & 1) != 0;
}

int
ip_is_own(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == a->len && !is_lost(w, i) &&
			bcmp(w->conf.own[i].b, a->b, a->len) == 0)
			return 1;
	return 0;
}

static void
addr_of(const struct ipw_addr *from, struct ip_addr *to)
{
	bzero(to, sizeof(*to));
	if (from == NULL)
		return;
	to->len = from->len;
	bcopy(from->b, to->b, from->len);
}

/* The best source address of @w for @dst; NULL: none. */
static const struct ipw_addr *
own_for(const struct ip_wire *w, const struct ip_addr *dst)
{
	const struct ipw_addr *a, *best = NULL;
	struct ip_addr x, y;
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++) {
		a = &w->conf.own[i];
		if (a->len != dst->len || is_lost(w, i))
			continue;
		addr_of(a, &x);
		addr_of(best, &y);
		if (best == NULL || ip_source_better(&x, a->bits, &y,
			best->bits, dst))
			best = a;
	}
	return best;
}

int
ip_own_for(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret)
{
	addr_of(own_for(w, dst), ret);
	return ret->len != 0;
}

/* Is @a in the network of one of the wire's addresses? */
int
ip_is_near(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++)
		if (ip_matches(a, &w->conf.own[i]) >= 0)
			return 1;
	/* RFC 4291 s2.5.6: link-local */
	return a->len == 16 && a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

static uint32_t
number(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		(uint32_t)b[2] << 8 | b[3];
}

/* Is the IPv4 address @a on a network of the wire, and is its host number all
 * ones, or all zeros if @zeros? */
static int
is_no_host(const struct ip_wire *w, const struct ip_addr *a, int zeros)
{
	const struct ipw_addr *o;
	uint32_t mask;

	for (o = w->conf.own; o < w->conf.own + IPW_NOWN; o++) {
		if (o->len != 4 || o->bits > 30 || ip_matches(a, o) < 0)
			continue;
		mask = ~0u >> o->bits;
		if ((number(a->b) & mask) == (zeros ? 0 : mask))
			return 1;
	}
	return 0;
}

/* ip_is_broadcast - is @a 255.255.255.255, or the broadcast address of a network
 * of the wire? */
int
ip_is_broadcast(const struct ip_wire *w, const struct ip_addr *a)
{
	return a->len == 4 && (number(a->b) == ~0u || is_no_host(w, a, 0));
}

/*
 * ip_is_bad_source - no other host sends packets from @a
 * RFC 1122 s3.2.1.3: not from this host, network 0, host 0 of a network,
 * loopback, class E, groups or broadcasts.  RFC 4291 s2.5.2, s2.5.3, s2.5.5: the unspecified address,
 * loopback, mapped addresses.
 */
int
ip_is_bad_source(const struct ip_wire *w, const struct ip_addr *a)
{
	static const unsigned char none[15];

	if (ip_is_own(w, a))
		return 1;
	if (a->len == 4)
		return a->b[0] == 0 || a->b[0] == 127 || a->b[0] >= 224 ||
			ip_is_broadcast(w, a) || is_no_host(w, a, 1);
	if (a->b[0] == 0xff)
		return 1;
	if (bcmp(a->b, none, 10) != 0)
		return 0;
	return (a->b[10] == 0xff && a->b[11] == 0xff) ||
		(bcmp(a->b + 10, none, 5) == 0 && a->b[15] <= 1);
}

/*
 * How well @w suits @dst, by the length of the prefix, then the metric; -1: not
 * at all.
 */
static int64_t
goodness(const struct ip_wire *w, const struct ip_addr *dst)
{
	int64_t best = -1, n;
	unsigned int i;

	/* if the addresses are the host's, the networks are, too */
	for (i = 0; i < IPW_NOWN && !ip_is_hosts(w); i++) {
		n = ip_matches(dst, &w->conf.own[i]);
		if (n >= 0)
			n = n << 32 | ~0u;
		best = n > best ? n : best;
	}
	for (i = 0; i < IPW_NROUTE; i++) {
		n = ip_matches(dst, &w->conf.route[i]);
		if (n >= 0)
			n = n << 32 | (~0u - w->conf.metric[i]);
		best = n > best ? n : best;
	}
	return best;
}

/* Length of the longest packet on the path to @dst. */
uint32_t
ip_path_mtu(const struct ip_wire *w, const struct ip_addr *dst)
{
	struct ip_shared *sh = ip_shared();

	if (str_likely(sh == NULL ||
		__atomic_load_n(&sh->pmtu.used, __ATOMIC_ACQUIRE) == 0))
		return w->mtu;
	return ip_pmtu_of(&sh->pmtu, dst, w->mtu, str_now());
}

/* ip_wire_by - the wire that has the address @own, or the interface; or NULL */
struct ip_wire *
ip_wire_by(struct ip_shared *sh, const struct ip_addr *own, int ifindex)
{
	struct ip_wire *w;

	for (w = sh->wire + 1; w < sh->wire + IP_WIRES; w++)
		if (ip_in_use(&w->gen) && (own->len != 0 ? ip_is_own(w, own) :
			ifindex != 0 && w->ifindex == ifindex))
			return w;
	return NULL;
}

struct wire *
wire_route_by(struct wire *lo, const struct ip_addr *own, int ifindex,
	const struct ip_addr *dst, struct wire_path *ret)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w;

	if (lo->others == 0 || sh == NULL)
		return NULL;
	w = ip_wire_by(sh, own, ifindex);
	if (w == NULL || ip_is_hosts(w))
		return NULL;
	addr_of(own_for(w, dst), &ret->src);
	if (own->len == dst->len)
		ret->src = *own;
	ret->mtu = ip_path_mtu(w, dst);
	return ret->src.len == 0 ? NULL : &w->pub;
}

#define LOOPBACK_INDEX 1 /* of the system, in every network namespace */

int
wire_ifindex(struct wire *w)
{
	struct ip_wire *iw = ip_wire_of(w);

	return iw->kind == IPW_LO ? LOOPBACK_INDEX : iw->ifindex;
}

int
wire_is_broadcast(struct wire *w, const struct ip_addr *dst)
{
	return ip_is_broadcast(ip_wire_of(w), dst);
}

int
wire_has(struct wire *w, const struct ip_addr *a)
{
	struct ip_wire *iw = ip_wire_of(w);
	struct ip_addr src;

	return ip_is_hosts(iw) ? wire_source(a, &src) &&
		src.len == a->len && bcmp(src.b, a->b, a->len) == 0 :
		ip_is_own(iw, a);
}

struct wire *
wire_route_for(struct wire *lo, const struct ip_addr *dst,
	const struct ip_addr *src, int proto, struct wire_path *ret)
{
	struct ip_wire *first = ip_wire_of(lo), *w, *to = NULL;
	int has_src, best_has = 0;
	int64_t best = -1, n;

	if (str_likely(lo->others == 0))
		return NULL;
	if (src != NULL && src->len != dst->len)
		src = NULL;
	for (w = first + 1; w < first + IP_WIRES; w++) {
		if (!ip_in_use(&w->gen))
			continue;
		if (w->kind == IPW_ENCAP && w->conf.proto[0] != proto)
			continue;
		if (!ip_is_hosts(w) && ip_is_own(w, dst)) {
			ret->src = src != NULL ? *src : *dst;
			ret->mtu = IP_MOST;
			return lo;
		}
		n = goodness(w, dst);
		has_src = src != NULL && ip_is_own(w, src);
		if (n < 0 || has_src < best_has ||
			(has_src == best_has && n <= best))
			continue;
		best = n;
		best_has = has_src;
		to = w;
	}
	if (to == NULL)
		return NULL;
	if (best_has)
		ret->src = *src;
	else
		addr_of(own_for(to, dst), &ret->src);
	ret->mtu = ip_path_mtu(to, dst);
	return &to->pub;
}
