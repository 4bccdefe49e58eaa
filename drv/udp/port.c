/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of bound ports.
 *
 * Purpose.  A datagram to an endpoint of the domain does not pass through the
 * kernel; this table finds the endpoint.  The kernel decides whether a port may
 * be bound: each endpoint has a socket that is bound to it.
 *
 * Objects. struct udp_port, in chains by port that all processes share; raw
 * endpoints in other chains, by protocol.  An entry stays in its chain for ever
 * and is reused.
 *
 * Finding.  A sender walks a chain without a lock, takes the best match, holds
 * its stream and checks `gen' again.  The rules are those of sockets: an
 * endpoint with a default destination gets only datagrams from there; an
 * endpoint with an address precedes one without, an IPv4 socket precedes an
 * IPv6 one for IPv4 datagrams; among equals the one that was bound last gets
 * the datagram.
 *
 * `changed' counts the changes of the table, so that a sender can use its last
 * result again without a walk.
 *
 * Crash.  One store binds an entry or marks it as unused.  If the owner's
 * closer died, the first sender that cannot hold the stream marks the entry.
 */
#include "udp_impl.h"

/* udp_at_of - get address and port of a socket address; 0: it is not one */
int
udp_at_of(const void *sa, uint32_t len, struct udp_at *ret)
{
	static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff};
	struct sockaddr_in6 s6;
	struct sockaddr_in s4;
	uint16_t fam;

	bzero(ret, sizeof(*ret));
	if (len < sizeof(s4))
		return 0;
	bcopy(sa, &fam, sizeof(fam));
	if (fam == AF_INET) {
		bcopy(sa, &s4, sizeof(s4));
		ret->a.len = 4;
		bcopy(&s4.sin_addr, ret->a.b, 4);
		ret->port = s4.sin_port;
		return 1;
	}
	if (fam != AF_INET6 || len < sizeof(s6))
		return 0;
	bcopy(sa, &s6, sizeof(s6));
	ret->port = s6.sin6_port;
	if (bcmp(&s6.sin6_addr, mapped, sizeof(mapped)) == 0) {
		ret->a.len = 4;
		bcopy((char *)&s6.sin6_addr + 12, ret->a.b, 4);
	} else {
		ret->a.len = 16;
		bcopy(&s6.sin6_addr, ret->a.b, 16);
	}
	return 1;
}

int
udp_at_eq(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

static int
is_any(const struct ip_addr *a)
{
	uint32_t i;

	for (i = 0; i < a->len; i++)
		if (a->b[i] != 0)
			return 0;
	return 1;
}

static uint32_t
hash(uint16_t port)
{
	return (port * 40503u >> 4) % UDP_HASH;
}

/* How well @nm matches; 0: not at all. */
static uint32_t
score(const struct udp_port *nm, const struct udp_at *dst,
	const struct udp_at *src)
{
	uint32_t n = 1;

	if (nm->at.a.len != 0) {
		if (!udp_at_eq(&nm->at.a, &dst->a))
			return 0;
		n += 4;
	} else if (dst->a.len == 16 ? !nm->six : nm->six && nm->v6only) {
		return 0;
	}
	if (nm->peer.port != 0) {
		if (nm->peer.port != src->port ||
			!udp_at_eq(&nm->peer.a, &src->a))
			return 0;
		n += 8;
	}
	return n + (dst->a.len == 4 && !nm->six);
}

/*
 * udp_port_find - the receiver of datagrams from @src to @dst; NULL: none The
 * result is valid if gen is still *@ret_gen once its stream is held.
 */
struct udp_port *
udp_port_find(struct udp_state *st, const struct udp_at *dst,
	const struct udp_at *src, uint32_t *ret_gen)
{
	struct udp_port *nm, *best = NULL;
	uint32_t most = 0, gen, n;

	nm = str_load_acq(&st->chain[hash(dst->port)]);
	for (; nm != NULL; nm = nm->next) {
		gen = udp_gen(nm);
		if ((gen & 1) == 0 || nm->at.port != dst->port)
			continue;
		n = score(nm, dst, src);
		if (n == 0 || n < most || (n == most &&
			(int32_t)(nm->seq - best->seq) < 0))
			continue;
		if (udp_gen(nm) != gen)
			continue; /* it has changed since it was read */
		most = n;
		best = nm;
		*ret_gen = gen;
	}
	return best;
}

/*
 * udp_port_next - for groups and broadcasts: the next receiver of datagrams
 * from @src to @dst after @nm, NULL at first
 */
struct udp_port *
udp_port_next(struct udp_state *st, struct udp_port *nm,
	const struct udp_at *dst, const struct udp_at *src, uint32_t *ret_gen)
{
	uint32_t gen;

	nm = nm != NULL ? nm->next : str_load_acq(&st->chain[hash(dst->port)]);
	for (; nm != NULL; nm = nm->next) {
		gen = udp_gen(nm);
		if ((gen & 1) == 0 || nm->at.port != dst->port ||
			score(nm, dst, src) == 0)
			continue;
		*ret_gen = gen;
		return nm;
	}
	return NULL;
}

/* udp_port_any - is any endpoint bound to that port? */
int
udp_port_any(struct udp_state *st, uint16_t port)
{
	struct udp_port *nm = str_load_acq(&st->chain[hash(port)]);

	for (; nm != NULL; nm = nm->next)
		if ((udp_gen(nm) & 1) != 0 && nm->at.port == port)
			return 1;
	return 0;
}

/* udp_raw_next - the next raw endpoint of @proto behind @nm, NULL at first */
struct udp_port *
udp_raw_next(struct udp_state *st, struct udp_port *nm, unsigned int proto,
	const struct ip_addr *dst, const struct ip_addr *src, uint32_t *ret_gen)
{
	nm = nm != NULL ? nm->next :
		str_load_acq(&st->rawchain[proto % UDP_RAWHASH]);
	for (; nm != NULL; nm = nm->next) {
		uint32_t gen = udp_gen(nm);

		if ((gen & 1) == 0 || nm->at.port != proto ||
			(dst->len == 16) != nm->six)
			continue;
		if (nm->at.a.len != 0 && !udp_at_eq(&nm->at.a, dst))
			continue;
		if (nm->peer.port != 0 && !udp_at_eq(&nm->peer.a, src))
			continue;
		*ret_gen = gen;
		return nm;
	}
	return NULL;
}

/*
 * Count the raw endpoints of @proto's chain, plus @more.  They are counted
 * again each time, so that a wrong count after a kill is corrected.  Locks: the
 * provider's.
 */
static void
count_raw(struct udp_state *st, uint32_t proto, uint32_t more)
{
	struct udp_port *nm;
	uint32_t n = more;

	for (nm = str_load_acq(&st->rawchain[proto % UDP_RAWHASH]); nm != NULL;
		nm = nm->next)
		n += udp_gen(nm) & 1;
	str_store(&st->nraw[proto % UDP_RAWHASH], n);
}

/* The closer of @nm died before it could mark the entry as unused. */
static void
free_lost(struct udp_state *st, struct udp_port *nm, uint32_t gen)
{
	(void)__atomic_compare_exchange_n(&nm->gen, &gen, gen + 1, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	(void)str_add(&st->changed, 1u);
	if (!nm->raw)
		return;
	mutex_enter(&st->raw.lock);
	count_raw(st, nm->at.port, 0);
	mutex_exit(&st->raw.lock);
}

/*
 * udp_port_hold - hold the endpoint that was found
 * The entry may be reused at any time, so both the stream and the endpoint are
 * copied before `gen' is checked again: *@ret_ep is the endpoint of the held
 * stream; do not read the entry's endpoint afterwards.
 * Return: 0; EBUSY: not now; ESRCH: it is gone, search again.
 */
int
udp_port_hold(struct udp_state *st, struct udp_port *nm, uint32_t gen,
	struct str_hold *h, struct udp **ret_ep)
{
	struct str_ref ref = nm->ref;
	int err;

	*ret_ep = str_load(&nm->ep);
	err = str_hold(h, &ref);
	if (err == 0) {
		STR_POINT("udp:held");
		if (udp_gen(nm) == gen)
			return 0;
		str_unhold(h);
		return ESRCH;
	}
	if (err == ESRCH && udp_gen(nm) == gen)
		free_lost(st, nm, gen);
	return err;
}

/* ------------------------------------------------------------------ binding */

/* A free entry of @chain, not bound yet.  Locks: the provider's. */
static struct udp_port *
make(struct udp_port *volatile *chain)
{
	struct udp_port *nm;

	for (nm = *chain; nm != NULL && (nm->gen & 1) != 0; nm = nm->next)
		;
	if (nm == NULL) {
		nm = kmem_zalloc(sizeof(*nm), KM_NOSLEEP);
		if (nm == NULL)
			return NULL;
		nm->next = *chain;
		__atomic_store_n(chain, nm, __ATOMIC_RELEASE);
	}
	return nm;
}

static void
set_peer(struct udp *u, struct udp_port *nm)
{
	if (u->peerlen == 0 || !udp_at_of(u->peer, u->peerlen, &nm->peer))
		bzero(&nm->peer, sizeof(nm->peer));
	else if (u->raw)
		nm->peer.port = nm->at.port;
}

/*
 * udp_port_bound - @u's socket is bound to
 * @at: make an entry for it; 0, ENOSR
 */
int
udp_port_bound(struct udp *u, const struct tpi_addr *at)
{
	struct udp_state *st = u->st;
	struct udp_port *nm;
	struct udp_at a;
	int only = 0;
	uint32_t len = sizeof(only);

	if (!udp_at_of(at->buf, at->len, &a))
		return 0; /* lo does not support the family */
	if (is_any(&a.a))
		a.a.len = 0;
	if (u->in.family == AF_INET6)
		(void)ksock_getopt(u->in.ks, IPPROTO_IPV6, IPV6_V6ONLY, &only,
			&len);
	if (u->raw)
		a.port = (uint16_t)(u->in.proto != 0 ? u->in.proto :
			IPPROTO_RAW);
	mutex_enter(&u->in.tp.prov->lock);
	nm = make(u->raw ? &st->rawchain[a.port % UDP_RAWHASH] :
		&st->chain[hash(a.port)]);
	if (nm != NULL) {
		nm->at = a;
		nm->six = u->in.family == AF_INET6;
		nm->v6only = only != 0;
		nm->ep = u;
		str_ref(u->in.tp.rq, &nm->ref);
		nm->seq = str_add(&st->seq, 1u);
		str_store(&u->stuck, 0u);
		set_peer(u, nm);
		u->port = nm;
		/*
		 * a count that is too high costs time; one too low loses
		 * packets
		 */
		if (u->raw) {
			nm->raw = 1;
			count_raw(st, a.port, 1);
		}
		STR_POINT("udp:bound");
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
		STR_POINT("udp:named");
		(void)str_add(&st->changed, 1u);
	}
	mutex_exit(&u->in.tp.prov->lock);
	return nm != NULL ? 0 : ENOSR;
}

/* udp_port_peer - @u's default destination, or local address, has changed */
void
udp_port_peer(struct udp *u)
{
	struct udp_port *nm = u->port;
	struct sockaddr_storage ss;
	uint32_t len = sizeof(ss);
	struct udp_at a;

	if (nm == NULL)
		return;
	mutex_enter(&u->in.tp.prov->lock);
	if (nm->ep == u && (nm->gen & 1) != 0) {
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_SEQ_CST);
		if (!u->raw && ksock_name(u->in.ks, 0, &ss, &len) == 0 &&
			udp_at_of(&ss, len, &a) && a.port == nm->at.port) {
			nm->at = a;
			if (is_any(&a.a))
				nm->at.a.len = 0;
		}
		set_peer(u, nm);
		STR_POINT("udp:peer");
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
		(void)str_add(&u->st->changed, 1u);
	}
	mutex_exit(&u->in.tp.prov->lock);
	udp_forget(u);
}

/*
 * udp_port_free - @u is not bound any more
 * The thread that bound it may have died before it noted the binding: then
 * `port' is set already.
 */
void
udp_port_free(struct udp *u)
{
	struct udp_port *nm = u->port;

	if (nm == NULL)
		return;
	mutex_enter(&u->in.tp.prov->lock);
	u->port = NULL;
	STR_POINT("udp:freeing");
	if (nm->ep == u && (nm->gen & 1) != 0) {
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
		if (u->raw)
			count_raw(u->st, nm->at.port, 0);
		(void)str_add(&u->st->changed, 1u);
	}
	mutex_exit(&u->in.tp.prov->lock);
	STR_POINT("udp:freed");
	udp_wake(nm);
}

/* ------------------------------------------------------------------ waiting */

/* udp_wait - enable @u's write side when there is room at @nm */
void
udp_wait(struct udp_port *nm, struct udp *u)
{
	uint32_t i;

	mutex_enter(&nm->lock);
	for (i = 0; i < nm->nwait && i < UDP_NWAIT && nm->wq[i] != u->in.wq;
		i++)
		;
	if (i < UDP_NWAIT) {
		STR_POINT("udp:waiting");
		str_ref(u->in.rq, &nm->wref[i]);
		nm->wq[i] = u->in.wq;
	}
	if (i == nm->nwait)
		str_store(&nm->nwait, i + 1);
	mutex_exit(&nm->lock);
	STR_POINT("udp:waits");
	/* senders without an entry in the list are woken by the tick */
	tpi_retry(&u->in.tp);
}

/*
 * udp_wake - there is room at @nm, or it is gone: enable the senders that wait
 */
void
udp_wake(struct udp_port *nm)
{
	struct str_ref ref[UDP_NWAIT];
	queue_t *wq[UDP_NWAIT];
	struct str_hold h;
	uint32_t n, i;

	str_fence_full(); /* pairs with the one in udp_full() */
	if (str_load(&nm->nwait) == 0)
		return;
	mutex_enter(&nm->lock);
	STR_POINT("udp:waking");
	n = nm->nwait < UDP_NWAIT ? nm->nwait : UDP_NWAIT;
	bcopy(nm->wref, ref, sizeof(ref));
	bcopy(nm->wq, wq, sizeof(wq));
	str_store(&nm->nwait, 0u);
	mutex_exit(&nm->lock);
	STR_POINT("udp:woken");
	for (i = 0; i < n; i++) {
		if (str_hold(&h, &ref[i]) != 0)
			continue; /* its clock runs */
		qenable(wq[i]);
		str_unhold(&h);
	}
}

/* --------------------------------------------------------- whose address it is */


static uint32_t
to_sa(const struct ip_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *s6 = (struct sockaddr_in6 *)(void *)ss;
	struct sockaddr_in *s4 = (struct sockaddr_in *)(void *)ss;

	bzero(ss, sizeof(*ss));
	s4->sin_port = htons(9);
	if (a->len == 4) {
		s4->sin_family = AF_INET;
		bcopy(a->b, &s4->sin_addr, 4);
		return sizeof(*s4);
	}
	s6->sin6_family = AF_INET6;
	bcopy(a->b, &s6->sin6_addr, 16);
	return sizeof(*s6);
}

/* udp_source - the source address of a datagram to @dst; 0: none */
int
udp_source(const struct ip_addr *dst, struct sockaddr_storage *src,
	uint32_t *srclen)
{
	struct sockaddr_storage ss;
	uint32_t len = to_sa(dst, &ss);

	return ksock_source(&ss, len, src, srclen) == 0;
}

/* Does @a belong to a wire, and not to the host? */
int
udp_is_wires(struct udp_state *st, const struct ip_addr *a)
{
	struct wire *lo = udp_lo(st);
	struct ip_addr src;
	uint32_t mtu;

	return lo != NULL && str_load(&lo->others) != 0 && a->len != 0 &&
		wire_route(lo, a, &src, &mtu) == lo;
}

/*
 * Ask the kernel for the source address of a datagram to @dst.  If and only if
 * @dst is an address of this host, the source is the same address.
 */
static void
ask(struct udp_state *st, const struct ip_addr *dst, struct udp_local *ret)
{
	struct sockaddr_storage src;
	uint32_t srclen = sizeof(src);
	struct udp_at a;

	ret->dst = *dst;
	ret->ours = udp_is_wires(st, dst) ||
		(udp_source(dst, &src, &srclen) &&
		udp_at_of(&src, srclen, &a) && udp_at_eq(&a.a, dst));
	ret->src = *dst;
	ret->until = inet_ticks() + UDP_LIFE;
}

static uint32_t
place(const struct ip_addr *a)
{
	uint32_t h = 0, i;

	for (i = 0; i < a->len; i++)
		h = h * 31 + a->b[i];
	return h % UDP_NLOCAL;
}

/*
 * Use a stored answer of the kernel, if it is complete, for @dst, and not too
 * old.
 */
static int
recall(struct udp_local *l, const struct ip_addr *dst, struct udp_local *ret)
{
	uint32_t gen = str_load_acq(&l->gen);

	if ((gen & 1) != 0)
		return 0;
	ret->ours = l->ours;
	ret->dst = l->dst;
	ret->src = l->src;
	ret->until = l->until;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_load(&l->gen) == gen && udp_at_eq(&ret->dst, dst) &&
		(int64_t)(ret->until - inet_ticks()) > 0;
}

static void
remember(struct udp_local *l, const struct udp_local *what)
{
	uint32_t gen = str_load(&l->gen);

	/* a thread killed here leaves an entry that is not used again */
	if ((gen & 1) != 0 || !__atomic_compare_exchange_n(&l->gen, &gen,
		gen + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	l->ours = what->ours;
	l->dst = what->dst;
	l->src = what->src;
	l->until = what->until;
	__atomic_store_n(&l->gen, gen + 2, __ATOMIC_RELEASE);
}

/*
 * udp_local - is @dst an address of this host, and which source address is used
 * for it?
 * @ret_until: until when that is valid; 0: always.  Groups, broadcasts and
 * link-local addresses do not count as addresses of this host.
 */
int
udp_local(struct udp_state *st, const struct ip_addr *dst,
	struct ip_addr *ret_src, uint64_t *ret_until)
{
	struct udp_local *l, now;
	uint32_t i;

	*ret_until = 0;
	bzero(ret_src, sizeof(*ret_src));
	ret_src->len = dst->len;
	if (dst->len == 4 && dst->b[0] == 127) {
		/* its last address is the loopback network's broadcast */
		ret_src->b[0] = 127;
		ret_src->b[3] = 1;
		return !(dst->b[1] == 255 && dst->b[2] == 255 &&
			dst->b[3] == 255);
	}
	if (is_any(dst) || (dst->len == 4 && dst->b[0] >= 224))
		return 0;
	if (dst->len == 16) {
		for (i = 0; i < 15 && dst->b[i] == 0; i++)
			;
		if (i == 15 && dst->b[15] == 1) {
			ret_src->b[15] = 1;
			return 1;
		}
		if (dst->b[0] == 0xff || (dst->b[0] == 0xfe &&
			(dst->b[1] & 0xc0) == 0x80))
			return 0;
	}
	l = &st->local[place(dst)];
	if (!recall(l, dst, &now)) {
		ask(st, dst, &now);
		remember(l, &now);
	}
	*ret_src = now.src;
	*ret_until = now.until;
	return (int)now.ours;
}
