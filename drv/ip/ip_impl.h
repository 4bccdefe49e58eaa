/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The IP driver's own: wires and taps, in memory that all processes share.
 *
 * Objects.  struct ip_wire, one of a table, the first of them `lo'; struct
 * ip_tap, likewise; struct ip_shared, all there is; struct ip_ep, a stream of
 * the driver, which is one of them or nothing yet.  An entry is in use while
 * `gen' is odd, and is used again for another later; a thread that takes one
 * from a table looks at gen once more when it holds the stream.
 *
 * Locks.  `lock' is for who changes the tables.  Who sends or receives takes
 * none.  [L] the lock's, [I] constant while gen is odd, [A] atomic
 */
#ifndef DRV_IP_IMPL_H
#define DRV_IP_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/strsun.h>
#include <sys/ddi.h>
#include <sys/ipwire.h>
#include <str/annot.h>
#include <str/builtin.h>
#include <str/hold.h>
#include <str/ip.h>
#include <str/ksock.h>
#include <str/wire.h>
#include "pkt.h"

#define IP_WIRES 32u
#define IP_TAPS 16u
#define IP_ALL IP_WIRES /* a tap's wire: every one */
#define IP_ID 0x6970

/* Counters are kept in pieces, for threads not to share their lines. */
#define IP_PIECES 8u
struct ip_counts {
	volatile uint64_t n[WIRE_NCOUNTS];
} STR_LINE;

/* Descriptors below a wire. */
#define IP_KSOCKS (2u + 2u * IPW_NPROTO)

/* Who has an address on an Ethernet; see packet.c.  Lock: nlock */
#define IP_NEIGHS 64u
struct ip_neigh {
	uint32_t state;
	struct ip_addr addr;
	unsigned char mac[6];
	uint32_t held;	/* packets for it may wait on the wire's queue */
	uint64_t since, asked, used; /* ns */
};

/* Who is in a group; see group.c. */
#define IP_MEMBERS 64u
struct ip_member {
	volatile uint32_t gen; /* [A] odd: in use */
	struct ip_addr group;  /* [I] */
	struct str_ref ref;    /* [I] a stream of a transport's */
};

struct ip_wire {
	struct wire pub;
	volatile uint32_t gen;	/* [A] odd: in use; of lo always */
	uint32_t kind;		/* [I] IPW_*; lo's is 0 */
	char name[WIRE_NAMELEN]; /* [I] */
	struct ipw_conf conf;	/* [I] */
	uint32_t mtu;		/* [I] */
	volatile uint32_t state; /* [A] IPW_UP, IPW_DOWN */
	int error;		/* why it is down */
	uint32_t remade;
	int muxid;		/* of the persistent link, or 0 */
	volatile uint32_t id;	/* [A] of the last packet that was cut */
	struct icmp_limit limit; /* perimeter of its stream */
	queue_t *rq;		/* [I] NULL: nothing below it */
	struct str_ref ref;	/* [I] its stream */
	volatile uint64_t ticked; /* [A] str_now(), by its clock */
	toid_t clock;		/* perimeter of its stream */
	ksock_t *ks[IP_KSOCKS];	/* perimeter to change, a hold to read */
	/* of wires of frames */
	int ifindex;
	unsigned char mac[6];
	uint64_t waited;	/* perimeter: how long the first has */
	struct ip_neigh neigh[IP_NEIGHS];
	struct ip_member member[IP_MEMBERS];
	struct ip_told { /* perimeter: what is joined below */
		struct ip_addr group; /* len 0: nothing */
		uint32_t sure;	      /* else it may be, or not */
	} told[IP_MEMBERS];
	volatile uint32_t regroup; /* [A] that is not what it should be */
	struct ip_counts count[IP_PIECES]; /* [A] */
};

struct ip_tap {
	volatile uint32_t gen;	 /* [A] odd: in use */
	uint32_t wire;		 /* [I] index, or IP_ALL */
	uint32_t snap;		 /* [I] */
	volatile uint32_t drops; /* [A] */
	queue_t *rq;		 /* [I] */
	struct str_ref ref;	 /* [I] its stream */
};

struct ip_shared {
	kmutex_t lock;
	kmutex_t nlock;		 /* of all wires' neighbours */
	kmutex_t rlock;		 /* of what is below it */
	struct ip_reasm reasm;	 /* its memory comes when it is needed */
	kmutex_t mlock;		 /* of who changes what is below it */
	struct ip_pmtu pmtu;	 /* [A] */
	uint32_t minor;	/* [L] the last one given */
	struct ip_tap tap[IP_TAPS];
	struct ip_wire wire[IP_WIRES]; /* [0] is lo */
};

_Static_assert(sizeof(struct ip_shared) < 400000, "tests have as much");

struct ip_ep {
	queue_t *rq;
	struct ip_tap *tap;
	struct ip_wire *wire;
};

static inline struct ip_wire *
ip_wire_of(struct wire *w)
{
	return (struct ip_wire *)(void *)w;
}

static inline int
ip_in_use(const volatile uint32_t *gen)
{
	return (str_load_acq(gen) & 1) != 0;
}

/* A store with all that was written before it before it, and all after it
 * after it, for who finds what a death has left. */
static inline void
ip_set(uint32_t *p, uint32_t v)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* wire.c */
struct ip_shared *ip_shared(void);
uint64_t ip_counted(const struct ip_wire *w, unsigned int what);
struct ip_wire *ip_wire_named(struct ip_shared *sh, const char *name);
int ip_is_own(const struct ip_wire *w, const struct ip_addr *a);
int ip_is_near(const struct ip_wire *w, const struct ip_addr *a);
int ip_own_for(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret);
void ip_expire(struct ip_shared *sh);

/* add.c: wires that are streams */
int ip_wire_add(struct ip_ep *ep, const struct ipw_conf *conf);
void ip_wire_del(struct ip_ep *ep);
void ip_wire_linked(queue_t *low, int muxid);
void ip_wire_input(struct ip_ep *ep);
void ip_wire_output(struct ip_ep *ep);
void ip_wire_tick(void *arg);
int ip_wire_is_slow(const struct ip_wire *w);
void ip_wire_lost(struct ip_wire *w, uint32_t gen);
void ip_wire_look(struct ip_wire *w);

/* lower.c: what is below them.  All return 0 or an errno. */
int ip_lower_make(struct ip_wire *w);
void ip_lower_close(struct ip_wire *w);
int ip_lower_is_alive(struct ip_wire *w);
int ip_lower_input(struct ip_wire *w);
int ip_lower_send(struct ip_wire *w, const mblk_t *pkt,
	const struct ip_hdr *h);
int ip_lower_group(struct ip_wire *w, const struct ip_addr *group, int joins);
mblk_t *ip_block(struct ip_wire *w, uint32_t most);
void ip_block_keep(struct ip_wire *w, mblk_t *mp);
mblk_t *ip_block_fit(struct ip_wire *w, mblk_t *mp, uint32_t most);

/* packet.c: wires of frames */
struct iovec;
int ip_packet_set(struct ip_wire *w);
int ip_packet_recv(struct ip_wire *w);
int ip_packet_group(struct ip_wire *w, const struct ip_addr *group, int joins);
void ip_packet_again(struct ip_wire *w);
int ip_packet_send(struct ip_wire *w, struct iovec *iov, uint32_t n,
	const mblk_t *pkt, const struct ip_hdr *h);

/* group.c */
void ip_groups_tell(struct ip_wire *w);
void ip_groups_again(struct ip_wire *w);
void ip_groups_look(struct ip_wire *w);

/* tap.c */
int ip_tap_add(struct ip_ep *ep, const struct ipw_tap *want);
void ip_tap_del(struct ip_ep *ep);
void ip_tap_count(struct ip_shared *sh);

#endif
