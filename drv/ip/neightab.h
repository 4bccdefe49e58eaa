/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of a wire's neighbours: which station has which address.
 *
 * Purpose.  The table holds the states of RFC 4861 s7.3.2, for IPv6 and, with
 * requests of ARP, for IPv4 (RFC 1122 s2.3.2).  It does not send: its functions
 * say which request is to be sent.  They are functions on the table's memory,
 * with the time as an argument, so that they can be tested alone.
 *
 * Objects.  A hash table of entries in chunks, which the caller gives when
 * ip_neigh_wants() says so; IP_NEIGH_CHUNKS at most.  In a full table an entry
 * that was not used lately is replaced, but none for which packets wait, and
 * none that was asked for within the last second.
 *
 * Rate.  An address is asked for at most once a second.  This holds for any
 * sequence of calls, because an entry outlives its last request by a second.
 *
 * Locks.  The caller makes one call at a time, between ip_neigh_enter() and
 * ip_neigh_leave().
 *
 * Crash.  A thread that is killed between these two leaves `busy' set.  The
 * next ip_neigh_enter() makes the chains again from the entries.
 */
#ifndef DRV_IP_NEIGHTAB_H
#define DRV_IP_NEIGHTAB_H

#include <str/ip.h>

#define IP_NEIGH_CHUNK 64u   /* entries that are allocated together */
#define IP_NEIGH_CHUNKS 128u /* 8,192 addresses */
#define IP_NEIGH_MOST (IP_NEIGH_CHUNK * IP_NEIGH_CHUNKS)
#define IP_NEIGH_HASH 2048u
#define IP_NEIGH_TRIES 3u /* requests without an answer: RFC 4861 s10 */

enum ip_neigh_state {
	NEIGH_FREE,
	NEIGH_INCOMPLETE, /* its station is not known: packets wait */
	NEIGH_REACHABLE,
	NEIGH_STALE,	  /* known; may have changed */
	NEIGH_DELAY,	  /* used since then; asked soon */
	NEIGH_PROBE,	  /* being asked again; used meanwhile */
	NEIGH_FAILED	  /* it does not answer */
};

struct ip_neigh {
	uint32_t state;	      /* enum ip_neigh_state */
	uint32_t next;	      /* of its chain, or the next free one; index + 1 */
	struct ip_addr addr;
	unsigned char mac[6]; /* unless INCOMPLETE or FAILED */
	uint16_t tries;	      /* requests since the last answer */
	uint64_t since;	      /* when the state began; ns */
	uint64_t asked;	      /* when the last request was sent; 0: never */
	uint64_t used;	      /* when a packet was last sent there */
	/* packets that wait; of the caller */
	uint32_t bytes;
	void *first, *last;
};

struct ip_neightab {
	uint32_t busy;	 /* a thread is inside, or has died there */
	uint32_t resets; /* how often the chains were made again */
	uint64_t key;	 /* of the hash; random */
	uint32_t nchunks;
	uint32_t nused;
	uint32_t free;	 /* first free entry; index + 1 */
	uint32_t hand;	 /* where the search for an old entry continues */
	uint16_t head[IP_NEIGH_HASH]; /* of the chains; index + 1 */
	struct ip_neigh *chunk[IP_NEIGH_CHUNKS];
};

/* What the caller is to do.  Requests are noted as sent. */
enum ip_neigh_do {
	NEIGH_NOTHING,
	NEIGH_ASK_ALL,	    /* a request to all stations, or to its group */
	NEIGH_ASK_ONE,	    /* a request to the station itself */
	NEIGH_UNREACHABLE   /* three requests had no answer: the waiting packets
			     * cannot be sent */
};

void ip_neigh_enter(struct ip_neightab *t);
void ip_neigh_leave(struct ip_neightab *t);

/* Is memory for another chunk wanted?  Give it: zeroed, IP_NEIGH_CHUNK. */
int ip_neigh_wants(const struct ip_neightab *t);
void ip_neigh_give(struct ip_neightab *t, struct ip_neigh *chunk);

/* The entry of @a, or NULL. */
struct ip_neigh *ip_neigh_find(const struct ip_neightab *t,
	const struct ip_addr *a);
/* The entry of @a, a new one if there is none; NULL: none can be replaced. */
struct ip_neigh *ip_neigh_get(struct ip_neightab *t, const struct ip_addr *a,
	uint64_t now);
/* The entry number @i, below nchunks * IP_NEIGH_CHUNK; may be free. */
struct ip_neigh *ip_neigh_at(const struct ip_neightab *t, uint32_t i);
/* Make the entry free.  No packets wait for it. */
void ip_neigh_drop(struct ip_neightab *t, struct ip_neigh *e);

/*
 * ip_neigh_use - a packet is to be sent to @e's address
 * ip_neigh_tick - time passes; called at least twice a second for each entry
 * The entry's station is known afterwards if ip_neigh_known() says so.
 */
enum ip_neigh_do ip_neigh_use(struct ip_neigh *e, uint64_t now);
enum ip_neigh_do ip_neigh_tick(struct ip_neigh *e, uint64_t now);
int ip_neigh_known(const struct ip_neigh *e);
/* Is the entry of no use any more? */
int ip_neigh_is_old(const struct ip_neigh *e, uint64_t now);

/*
 * ip_neigh_heard - a station said that @e's address is at @mac
 * @solicited: in answer to a request of ours
 * @override: it may replace another station's (RFC 4861 s7.2.5)
 * @mac: NULL: the same station as before
 */
void ip_neigh_heard(struct ip_neigh *e, const unsigned char *mac,
	int solicited, int override, uint64_t now);

#endif
