/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Tables of ports: which endpoint of the domain has an address and a port.
 *
 * Purpose.  A transport (UDP, SCTP, raw IP) has one table, which all processes
 * share.  A sender in the domain, or a wire's input, finds the receiver of a
 * packet in it.
 *
 * Objects. struct ports, zeroed at first, in memory from str_drv_state().
 * struct ports_entry, a bound address, in chains by port; an entry stays in its
 * chain for ever and is reused.  An endpoint may have several entries, one for
 * each of its addresses.  Raw IP has the protocol in place of the port.
 *
 * Finding.  A thread walks a chain without a lock, takes the best match, holds
 * its stream and checks `gen' again: ports_hold().  The rules are those of
 * sockets: an endpoint with a default destination gets only packets from there;
 * an endpoint with an address precedes one without, an IPv4 endpoint precedes
 * an IPv6 one for IPv4 packets; among equals the one that was bound last is
 * found.
 *
 * `changed' counts the changes of the table, so that a sender can use its last
 * result again without a walk.
 *
 * Locks.  Changes take the table's lock; no other lock is taken under it.
 *
 * Crash.  One store binds an entry or marks it as unused.  If the owner's
 * closer died, the first thread that cannot hold the stream marks the entry.
 */
#ifndef STR_PORTS_H
#define STR_PORTS_H

#include <sys/types.h>
#include <sys/stream.h>
#include <sys/ksynch.h>
#include <str/hold.h>
#include <str/ip.h>

#define PORTS_HASH 4096u
#define PORTS_NWAIT 8u /* senders that are woken at once */
/* Ports that ports_bind() chooses: RFC 6335 s6. */
#define PORTS_FREE_FIRST 49152u
#define PORTS_FREE_LAST 65535u

/* An address and a port (network order); for raw IP the protocol instead. */
struct ports_at {
	struct ip_addr a; /* len 0: any */
	uint16_t port;
};

/*
 * A copy of `ep' and `ref' is valid if it was made before `ref' was held and
 * `gen' is the same after that.
 */
struct ports_entry {
	struct ports_entry *next; /* [I] in its chain */
	volatile uint32_t gen;	  /* [A] odd: bound */
	uint32_t seq;		  /* greater for later binders */
	struct ports_at at;
	struct ports_at peer;	  /* the default destination; port 0: none */
	uint8_t six;		  /* an endpoint of IPv6 */
	uint8_t v6only;		  /* ... which does not receive IPv4 */
	void *ep;		  /* the transport's structure of the endpoint */
	struct str_ref ref;	  /* its stream */
	volatile uint32_t nwait;  /* > PORTS_NWAIT: more than the list has room
				   * for */
	kmutex_t lock;		  /* of the list of waiters */
	struct str_ref wref[PORTS_NWAIT];
	queue_t *wq[PORTS_NWAIT];
};

struct ports {
	kmutex_t lock;
	volatile uint32_t changed;
	volatile uint32_t seq;
	struct ports_entry *volatile chain[PORTS_HASH];
	volatile uint32_t count[PORTS_HASH]; /* bound, in each chain */
};

static inline uint32_t
ports_hash(uint16_t port)
{
	return (port * 40503u >> 4) % PORTS_HASH;
}

/* ports_any - may an endpoint be bound to @port?  0: certainly not.  Costs one
 * load. */
static inline int
ports_any(const struct ports *t, uint16_t port)
{
	return __atomic_load_n(&t->count[ports_hash(port)],
		__ATOMIC_RELAXED) != 0;
}

static inline uint32_t
ports_gen(const struct ports_entry *e)
{
	return __atomic_load_n(&e->gen, __ATOMIC_ACQUIRE);
}

static inline int
ports_same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && __builtin_memcmp(a->b, b->b, a->len) == 0;
}

/*
 * ports_find - the receiver of packets from @src to @dst; NULL: none.  The
 * result is valid if gen is still *@ret_gen once its stream is held.
 * ports_next - for groups, broadcasts and raw IP: the next receiver behind @e,
 * NULL at first
 */
struct ports_entry *ports_find(struct ports *t, const struct ports_at *dst,
	const struct ports_at *src, uint32_t *ret_gen);
struct ports_entry *ports_next(struct ports *t, struct ports_entry *e,
	const struct ports_at *dst, const struct ports_at *src,
	uint32_t *ret_gen);

/*
 * ports_hold - hold the stream of the endpoint that was found
 * The entry may be reused at any time: *@ret_ep is the endpoint of the held
 * stream; do not read the entry's endpoint afterwards.
 * Return: 0: the caller releases @h by str_unhold(); EBUSY: not now; ESRCH: it
 * is gone, search again.
 */
int ports_hold(struct ports *t, struct ports_entry *e, uint32_t gen,
	struct str_hold *h, void **ret_ep);

/*
 * ports_bind - bind the endpoint @w->ep to an address
 * @w->at: port 0: choose a free one of PORTS_FREE_FIRST ..., and fill it in
 * @w->shared: the address may have other endpoints; the caller has made sure
 * by other means, such as a kernel socket, that it is free
 * @ret: the entry; set before the entry can be found, and unchanged on error,
 * so in the endpoint's memory it is valid even if the caller is killed.
 * Return: 0; EADDRINUSE; ENOSR.
 * Context: the endpoint's procedures.
 */
struct ports_want {
	struct ports_at at, peer;
	uint8_t six, v6only, shared;
	void *ep;
	queue_t *rq; /* a queue of its stream */
};
int ports_bind(struct ports *t, struct ports_want *w,
	struct ports_entry **ret);
/* ports_change - set the default destination of @ep's entry @e, port 0: none;
 * and, if @own is not NULL, its address. */
void ports_change(struct ports *t, struct ports_entry *e, const void *ep,
	const struct ip_addr *own, const struct ports_at *peer);
/* ports_free - @ep is no longer bound to @e: wakes the senders that wait. */
void ports_free(struct ports *t, struct ports_entry *e, const void *ep);

/*
 * A sender in the domain may wait for room at a receiver.
 * ports_wait - enable @wq, of a stream with the queue @rq, when there is room
 * at @e.  Only PORTS_NWAIT senders are noted, so the caller also tries again by
 * a clock.
 * ports_wake - there is room at @e, or it is gone: enable those queues.  Costs a
 * fence and a load if no sender waits.
 */
void ports_wait(struct ports_entry *e, queue_t *rq, queue_t *wq);
void ports_wake(struct ports_entry *e);

#endif
