/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires of frames: which station gets a packet, by ARP (RFC 826, 5227) and
 * Neighbor Discovery (RFC 4861, 4862).
 *
 * Life of a packet.  If the station of its next hop is known, the packet is
 * sent to it.  Otherwise it waits at the entry of the table (neightab.h), and a
 * request is sent.  The thread that receives the answer sends the waiting
 * packets.  If three requests have no answer, the packets' senders get
 * EHOSTUNREACH, as if a router had reported it.
 *
 * Order.  While packets wait at an entry, later packets for it wait behind
 * them.  Waiting packets are sent under the lock, so no other comes between.
 *
 * Limits.  At one entry 64 KiB wait: the oldest packets make room for new ones
 * (RFC 1122 s2.3.2.2).  At all entries of a wire 8 MiB wait: above that
 * senders wait.
 *
 * Own addresses.  An address of the wire is used at once.  Meanwhile the
 * station asks whether another one has it, and then announces it.  If another
 * station has it, the address is not used any more.  An address that another
 * station begins to use later is defended by an announcement, once in 10 s.
 * The perimeter of the wire's stream protects this state.
 *
 * Locks.  The wire's nlock: the table, and the packets that wait.
 *
 * Crash.  The table mends itself.  A list of packets is changed by single
 * stores: a packet may be sent twice, or lost.  The wire's timer sends packets
 * whose station is known.
 */
#include <sys/uio.h>
#include <linux/if_ether.h>
#include "ip_impl.h"

#define SECOND 1000000000ull
#define MOST_EACH 65536u /* bytes that wait for a station */
#define MOST_ALL (8u << 20)
#define BATCH 32u /* requests of one turn of the timer */

/* RFC 5227 s1.1, RFC 4862 s5.1, RFC 4861 s7.2.6 */
#define PROBES 3u
#define PROBES6 1u
#define ANNOUNCES 2u
#define ANNOUNCE_WAIT (2 * SECOND)
#define DEFEND (10 * SECOND)

static const struct ip_addr all_nodes = {
	16, {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
static const unsigned char everybody[6] = {255, 255, 255, 255, 255, 255};

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

/* A request or an announcement that is to be sent. */
struct query {
	enum ip_neigh_do what;
	struct ip_addr addr;
	unsigned char mac[6];
};

/* Copy a frame that was sent to the taps. */
static void
show(struct ip_wire *w, const void *p, uint32_t n, uint32_t proto)
{
	mblk_t *mp = allocb(n, BPRI_LO);

	if (mp != NULL) {
		bcopy(p, mp->b_wptr, n);
		mp->b_wptr += n;
	}
	ip_tap(w, mp, n, proto == ETH_P_ARP ? IPW_IS_ARP : IPW_IS_IP, 1);
	freemsg(mp);
}

/* Send a message of ARP or Neighbor Discovery.  Context: no lock is held. */
static void
small_frame(struct ip_wire *w, void *p, uint32_t n, uint32_t proto,
	const unsigned char *mac)
{
	struct iovec iov = {p, n};

	if (ip_frame(w, &iov, 1, proto, mac) == 0 && wire_tapped(&w->pub))
		show(w, p, n, proto);
}

/* ------------------------------------------------------------------ requests */

static void
set_query(struct query *r, enum ip_neigh_do what, const struct ip_neigh *e)
{
	r->what = what;
	r->addr = e->addr;
	bcopy(e->mac, r->mac, 6);
}

/* RFC 4861 s7.2.2: to all, or to the station where it was before. */
static void
ask(struct ip_wire *w, const struct query *r)
{
	const unsigned char *to = everybody;
	unsigned char buf[128], mac[6];
	struct ip_addr from, dst;
	uint32_t n;
	int one = r->what == NEIGH_ASK_ONE;

	if (r->what == NEIGH_NOTHING || !ip_own_for(w, &r->addr, &from))
		return;
	if (r->addr.len == 4) {
		n = arp_build(buf, 1, &from, w->mac, &r->addr, everybody);
		small_frame(w, buf, n, ETH_P_ARP, one ? r->mac : to);
		return;
	}
	if (one) {
		dst = r->addr;
		to = r->mac;
	} else {
		ndp_group(&r->addr, &dst);
		(void)neigh_many(&dst, mac);
		to = mac;
	}
	n = ndp_build(buf, 1, &from, w->mac, &dst, &r->addr);
	small_frame(w, buf, n, ETH_P_IPV6, to);
}

/* ------------------------------------------------------------------- waiting */

/* The wire's table; NULL: no memory.  Locks: nlock, here and below. */
static struct ip_neightab *
table(struct ip_wire *w)
{
	struct ip_neightab *t = w->neighs;
	struct ip_neigh *chunk;

	if (t == NULL) {
		t = kmem_zalloc(sizeof(*t), KM_NOSLEEP);
		if (t == NULL)
			return NULL;
		t->key = str_random();
		__atomic_store_n(&w->neighs, t, __ATOMIC_RELEASE);
	}
	ip_neigh_enter(t);
	if (ip_neigh_wants(t)) {
		chunk = kmem_zalloc(IP_NEIGH_CHUNK * sizeof(*chunk),
			KM_NOSLEEP);
		if (chunk != NULL)
			ip_neigh_give(t, chunk);
	}
	return t;
}

/* Take the first packet from @e's list. */
static mblk_t *
take(struct ip_wire *w, struct ip_neigh *e)
{
	mblk_t *mp = e->first;
	uint32_t n = (uint32_t)MBLKL(mp);

	str_msg_hold(mp);
	__atomic_store_n(&e->first, (void *)mp->b_next, __ATOMIC_RELEASE);
	mp->b_next = NULL;
	e->bytes = e->first == NULL || e->bytes < n ? 0 : e->bytes - n;
	w->waiting = w->waiting < n ? 0 : w->waiting - n;
	return mp;
}

static void
append(struct ip_wire *w, struct ip_neigh *e, mblk_t *mp)
{
	mblk_t *last = e->last;

	mp->b_next = NULL;
	if (e->first == NULL) {
		e->last = mp;
		__atomic_store_n(&e->first, (void *)mp, __ATOMIC_RELEASE);
	} else {
		while (last->b_next != NULL) /* its appender was killed */
			last = last->b_next;
		__atomic_store_n(&last->b_next, mp, __ATOMIC_RELEASE);
		e->last = mp;
	}
	e->bytes += (uint32_t)MBLKL(mp);
	w->waiting += (uint32_t)MBLKL(mp);
}

static uint32_t
proto_of(const mblk_t *mp)
{
	return mp->b_rptr[0] >> 4 == 4 ? ETH_P_IP : ETH_P_IPV6;
}

/* Send the packets that wait for @e's station, which is known. */
static void
flush(struct ip_wire *w, struct ip_neigh *e)
{
	struct iovec iov;
	mblk_t *mp;
	int err;

	while ((mp = e->first) != NULL) {
		iov.iov_base = mp->b_rptr;
		iov.iov_len = (size_t)MBLKL(mp);
		err = ip_frame(w, &iov, 1, proto_of(mp), e->mac);
		if (err == EAGAIN || err == ENOBUFS || err == ENOMEM)
			return; /* the timer tries again */
		if (err != 0)
			wire_count(&w->pub, WIRE_FULL, 1);
		freemsg(take(w, e));
	}
}

/* Queue a copy of @pkt.  Return: 0, or an errno. */
static int
wait_for(struct ip_wire *w, struct ip_neigh *e, const mblk_t *pkt)
{
	mblk_t *mp;

	if (w->waiting >= MOST_ALL)
		return EAGAIN;
	mp = msgpullup((mblk_t *)(uintptr_t)pkt, -1);
	if (mp == NULL)
		return ENOSR;
	while (e->first != NULL && e->bytes + MBLKL(mp) > MOST_EACH) {
		freemsg(take(w, e));
		wire_count(&w->pub, WIRE_FULL, 1);
	}
	append(w, e, mp);
	return 0;
}

/* ip_resolve - find the station of @next: 1: it is @mac; 0: a copy of @pkt waits
 * for it; or minus an errno; -EBUSY: @pkt is NULL, and would have to wait */
int
ip_resolve(struct ip_wire *w, const mblk_t *pkt, const struct ip_addr *next,
	unsigned char *mac)
{
	struct ip_neigh *e = NULL;
	struct ip_neightab *t;
	struct query r;
	int err, waits = 1;

	r.what = NEIGH_NOTHING;
	mutex_enter(&w->nlock);
	t = table(w);
	err = t == NULL ? ENOSR : EAGAIN;
	if (t != NULL)
		e = ip_neigh_get(t, next, str_now());
	if (e != NULL) {
		set_query(&r, ip_neigh_use(e, str_now()), e);
		waits = !ip_neigh_known(e) || e->first != NULL;
		err = !waits ? 0 : pkt == NULL ? EBUSY : wait_for(w, e, pkt);
		if (waits && ip_neigh_known(e))
			flush(w, e);
	}
	if (t != NULL)
		ip_neigh_leave(t);
	mutex_exit(&w->nlock);
	ask(w, &r);
	if (!waits)
		bcopy(r.mac, mac, 6);
	return waits ? -err : 1;
}

/* ------------------------------------------------------------------- the timer */

/* One entry, in time.  Return: the packet that cannot be sent, or NULL. */
static mblk_t *
entry_tick(struct ip_wire *w, struct ip_neightab *t, struct ip_neigh *e,
	struct query *r, uint32_t *n)
{
	uint64_t now = str_now();
	enum ip_neigh_do what;

	if (e->state == NEIGH_FREE)
		return NULL;
	what = ip_neigh_tick(e, now);
	if (what != NEIGH_NOTHING)
		set_query(&r[(*n)++], what, e);
	if (ip_neigh_known(e) && e->first != NULL)
		flush(w, e);
	if (e->state == NEIGH_FAILED && e->first != NULL)
		return take(w, e);
	if (ip_neigh_is_old(e, now))
		ip_neigh_drop(t, e);
	return NULL;
}

/*
 * Look at the entries from *@i on, until there is something to do without the
 * lock.  Return: 0: these were all.
 */
static int
some(struct ip_wire *w, uint32_t *i, struct query *r, uint32_t *n,
	mblk_t **unsent, struct ip_addr *hop)
{
	struct ip_neightab *t;
	struct ip_neigh *e;
	int more = 0;

	*unsent = NULL;
	*n = 0;
	mutex_enter(&w->nlock);
	t = w->neighs;
	if (t != NULL) {
		ip_neigh_enter(t);
		if (*i == 0 && t->nused == 0)
			w->waiting = 0;
		while (t->nused != 0 && *i < t->nchunks * IP_NEIGH_CHUNK &&
			*n < BATCH && *unsent == NULL) {
			e = ip_neigh_at(t, *i);
			*hop = e->addr;
			*unsent = entry_tick(w, t, e, r, n);
			if (*unsent == NULL)
				++*i;
		}
		more = t->nused != 0 && *i < t->nchunks * IP_NEIGH_CHUNK;
		ip_neigh_leave(t);
	}
	mutex_exit(&w->nlock);
	return more;
}

/* ip_resolve_clear - forget all neighbours.  Context: as ip_wire_del(). */
void
ip_resolve_clear(struct ip_wire *w)
{
	struct ip_neightab *t;
	struct ip_neigh *e;
	uint32_t i;

	mutex_enter(&w->nlock);
	t = w->neighs;
	__atomic_store_n(&w->neighs, NULL, __ATOMIC_RELEASE);
	for (i = 0; t != NULL && i < t->nchunks * IP_NEIGH_CHUNK; i++) {
		e = ip_neigh_at(t, i);
		while (e->state != NEIGH_FREE && e->first != NULL)
			freemsg(take(w, e));
	}
	for (i = 0; t != NULL && i < t->nchunks; i++)
		kmem_free(t->chunk[i], IP_NEIGH_CHUNK * sizeof(*e));
	if (t != NULL)
		kmem_free(t, sizeof(*t));
	w->waiting = 0;
	mutex_exit(&w->nlock);
}

/* -------------------------------------------------------------- own addresses */

/* RFC 5227 s2.1.1, RFC 4862 s5.4.2: does another station have @a? */
static void
probe(struct ip_wire *w, const struct ip_addr *a)
{
	struct ip_addr none = {a->len, {0}}, group;
	unsigned char buf[128], mac[6];
	uint32_t n;

	if (a->len == 4) {
		n = arp_build(buf, 1, &none, w->mac, a, everybody);
		small_frame(w, buf, n, ETH_P_ARP, everybody);
		return;
	}
	ndp_group(a, &group);
	(void)neigh_many(&group, mac);
	n = ndp_build(buf, 1, &none, w->mac, &group, a);
	small_frame(w, buf, n, ETH_P_IPV6, mac);
}

/* RFC 5227 s2.3, RFC 4861 s7.2.6: @a is at this station. */
static void
announce(struct ip_wire *w, const struct ip_addr *a)
{
	unsigned char buf[128], mac[6];
	uint32_t n;

	if (a->len == 4) {
		n = arp_build(buf, 1, a, w->mac, a, everybody);
		small_frame(w, buf, n, ETH_P_ARP, everybody);
		return;
	}
	(void)neigh_many(&all_nodes, mac);
	n = ndp_build(buf, 0, a, w->mac, &all_nodes, a);
	small_frame(w, buf, n, ETH_P_IPV6, mac);
}

static void
own_tick(struct ip_wire *w, unsigned int i, uint64_t now)
{
	struct ip_claim *c = &w->claim[i];
	struct ip_addr a;
	int v4 = w->conf.own[i].len == 4;

	if (w->conf.own[i].len == 0 || c->state >= CLAIM_HELD)
		return;
	if (c->next == 0) /* RFC 4862 s5.4.2: not all stations at once */
		c->next = now + str_random() % SECOND;
	if (now < c->next)
		return;
	bzero(&a, sizeof(a));
	a.len = w->conf.own[i].len;
	bcopy(w->conf.own[i].b, a.b, a.len);
	if (c->state == CLAIM_PROBING && c->sent == (v4 ? PROBES : PROBES6)) {
		c->state = CLAIM_ANNOUNCING;
		c->sent = 0;
		__atomic_store_n(&w->lost, w->lost & ~(1u << i),
			__ATOMIC_RELEASE);
	}
	c->sent++;
	if (c->state == CLAIM_ANNOUNCING) {
		announce(w, &a);
		c->next = now + ANNOUNCE_WAIT;
		if (c->sent == ANNOUNCES)
			c->state = CLAIM_HELD;
	} else {
		probe(w, &a);
		c->next = now + (!v4 ? SECOND : c->sent == PROBES ?
			ANNOUNCE_WAIT : SECOND + str_random() % SECOND);
	}
}

/* ip_resolve_moved - this station has another address: announce ours again */
void
ip_resolve_moved(struct ip_wire *w)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++) {
		if (w->claim[i].state < CLAIM_ANNOUNCING ||
			w->claim[i].state == CLAIM_LOST)
			continue;
		w->claim[i].state = CLAIM_ANNOUNCING;
		w->claim[i].sent = 0;
		w->claim[i].next = str_now();
		own_tick(w, i, str_now());
	}
}

/* The number of the wire's address @a, or IPW_NOWN. */
static unsigned int
own_number(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == a->len &&
			bcmp(w->conf.own[i].b, a->b, a->len) == 0)
			break;
	return i;
}

/* Another station uses the address @a. */
static void
conflict(struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i = own_number(w, a);
	struct ip_claim *c = &w->claim[i % IPW_NOWN];
	uint64_t now = str_now();

	if (i == IPW_NOWN || c->state == CLAIM_LOST)
		return;
	if (c->state == CLAIM_PROBING) {
		c->state = CLAIM_LOST;
		w->error = EADDRINUSE;
		__atomic_store_n(&w->lost, w->lost | 1u << i, __ATOMIC_RELEASE);
	} else if (a->len == 4 && (c->defended == 0 ||
		now - c->defended >= DEFEND)) {
		c->defended = now;
		announce(w, a);
	}
}

static int
is_probing(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i = own_number(w, a);

	return i < IPW_NOWN && w->claim[i].state == CLAIM_PROBING;
}

/*
 * The router @hop did not answer: send the packet @mp to another one, if there
 * is one.  Return: 1: @mp is consumed.
 */
static int
other_router(struct ip_wire *w, mblk_t *mp, const struct ip_addr *hop)
{
	struct iovec iov = {mp->b_rptr, (size_t)MBLKL(mp)};
	struct ip_addr next;
	struct ip_hdr h;

	if (ip_parse(mp->b_rptr, iov.iov_len, iov.iov_len, IP_TRUST, &h) != 0 ||
		ip_next_hop(w, &h.dst, &next) != IP_HOP || same(&next, hop) ||
		ip_packet_send(w, &iov, 1, mp, &h) != 0)
		return 0;
	freemsg(mp);
	return 1;
}

/* ip_resolve_tick - twice a second.  Context: the wire's timer. */
void
ip_resolve_tick(struct ip_wire *w)
{
	struct query r[BATCH];
	uint32_t at = 0, n, k;
	struct ip_addr hop;
	mblk_t *unsent;
	int more;

	for (k = 0; k < IPW_NOWN; k++)
		own_tick(w, k, str_now());
	do {
		more = some(w, &at, r, &n, &unsent, &hop);
		for (k = 0; k < n; k++) {
			if (r[k].what == NEIGH_UNREACHABLE)
				(void)ip_router_dead(w, &r[k].addr);
			else
				ask(w, &r[k]);
		}
		if (unsent != NULL && !other_router(w, unsent, &hop))
			ip_wire_unsent(w, unsent, EHOSTUNREACH);
	} while (more);
}

/* ---------------------------------------------------------------- receiving */

/* Note where @m's sender is; only for existing entries, unless @make. */
static void
learn(struct ip_wire *w, const struct neigh_msg *m, int solicited, int make)
{
	struct ip_neigh *e = NULL;
	struct ip_neightab *t;
	uint64_t now = str_now();

	mutex_enter(&w->nlock);
	t = table(w);
	if (t != NULL)
		e = make ? ip_neigh_get(t, &m->who, now) :
			   ip_neigh_find(t, &m->who);
	if (e != NULL) {
		ip_neigh_heard(e, m->known ? m->mac : NULL, solicited,
			m->override, now);
		if (ip_neigh_known(e))
			flush(w, e);
	}
	if (t != NULL)
		ip_neigh_leave(t);
	mutex_exit(&w->nlock);
	STR_POINT("ip:learnt");
}

/* Answer a request for an address of ours; @to is the asker's station. */
static void
reply(struct ip_wire *w, const struct neigh_msg *m, const unsigned char *from)
{
	const struct ip_addr *dst = &m->who;
	unsigned char buf[128], to[6];
	uint32_t n;

	bcopy(m->known ? m->mac : from, to, 6);
	if (m->target.len == 4) {
		n = arp_build(buf, 0, &m->target, w->mac, &m->who, to);
		small_frame(w, buf, n, ETH_P_ARP, to);
		return;
	}
	if (m->probe) { /* RFC 4861 s7.2.4: the sender has no address yet */
		dst = &all_nodes;
		(void)neigh_many(dst, to);
	}
	n = ndp_build(buf, 0, &m->target, w->mac, dst, &m->target);
	small_frame(w, buf, n, ETH_P_IPV6, to);
}

/*
 * ip_resolve_heard - a message of another station, whose frame came from @from
 * Context: the wire's service procedure.
 */
void
ip_resolve_heard(struct ip_wire *w, const struct neigh_msg *m,
	const unsigned char *from)
{
	int mine = m->ask && ip_is_own(w, &m->target);

	if (bcmp(m->known ? m->mac : from, w->mac, 6) == 0)
		return; /* our own, reflected by the network */
	if (!m->probe && ip_is_own(w, &m->who)) {
		conflict(w, &m->who);
		return;
	}
	if (m->probe && mine && is_probing(w, &m->target)) {
		conflict(w, &m->target);
		return;
	}
	if (!m->probe)
		learn(w, m, m->solicited, mine && ip_is_near(w, &m->who));
	if (mine)
		reply(w, m, from);
}
