/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Internal interface of the native transports: endpoints, the table of ports.
 *
 * Locks.  The perimeter of the queue pair (D_MTQPAIR) covers a struct udp
 * except the fields that senders in other streams write, `near', `stuck' and
 * `stop', and its entry in the table.  Entries of the table are changed under
 * the provider's lock.
 */
#ifndef DRV_UDP_IMPL_H
#define DRV_UDP_IMPL_H

#include "../inet/inet_impl.h"
#include "../canon.h"
#include <str/builtin.h>
#include <str/ip.h>
#include <str/wire.h>

#define UDP_ID 0x7564
#define UDP_HASH 4096u
#define UDP_RAWHASH 64u
#define UDP_HIWAT 524288u /* of the head */
#define UDP_HIMIN 1024u	  /* ... whatever is asked for */
#define UDP_HIMOST (4u << 20)
/* high water mark, in bytes, of a queue of messages to be sent: while one waits
 * there, later ones wait behind it; above the mark the sender sleeps */
#define UDP_WAITING 1024u
#define UDP_HOLD HZ	  /* how long a datagram waits for a full receiver */
#define UDP_NWAIT 8u
#define UDP_NDEST 8u
#define UDP_NLOCAL 64u

/* struct udp: special */
#define UDP_IPOPTS 1u
#define UDP_HDRINCL 2u

/* T_IP_MTU_DISCOVER: where a packet that exceeds the path MTU is fragmented. */
#define UDP_DF_NEVER 0u	 /* by any router */
#define UDP_DF_WANT 1u	 /* by the sender, if it knows the MTU */
#define UDP_DF_DO 2u	 /* nowhere: refused, here if the MTU is known */
#define UDP_DF_PROBE 3u	 /* nowhere; the known MTU is ignored */

struct udp;

/* An IP address and a port (network order); for raw IP the protocol instead. */
struct udp_at {
	struct ip_addr a; /* len 0: any */
	uint16_t port;
};

/*
 * An address that is or was bound; never freed or unlinked. `gen' is odd while
 * it is bound.  A copy of its owner is valid if it was made before `ref' was
 * held and gen is the same after that.
 */
struct udp_port {
	struct udp_port *next;	 /* [I] in its chain */
	volatile uint32_t gen;
	uint32_t seq;		 /* greater for later binders */
	struct udp_at at;
	struct udp_at peer;	 /* the default destination; port 0: none */
	uint8_t six;		 /* its socket is one of IPv6 */
	uint8_t v6only;		 /* ... and does not receive IPv4 */
	uint8_t raw;		 /* [I] in a chain of raw IP's */
	struct udp *ep;
	struct str_ref ref;
	volatile uint32_t nwait; /* > UDP_NWAIT: more than the list has room
				  * for */
	kmutex_t lock;		 /* for the list of waiters */
	struct str_ref wref[UDP_NWAIT];
	queue_t *wq[UDP_NWAIT];
};

/* An answer of the kernel about an address, valid for a limited time. */
struct udp_local {
	volatile uint32_t gen;	 /* odd: it is being written */
	uint32_t ours;
	struct ip_addr dst;
	struct ip_addr src;	 /* source of a datagram to dst */
	uint64_t until;		 /* inet_ticks() */
};

/* Shared by all streams and processes. */
struct udp_state {
	struct tpi_prov udp, raw;
	volatile uint32_t changed; /* counts changes of the table */
	volatile uint32_t seq;
	volatile uint32_t check;   /* checksums on lo too */
	volatile uint32_t nraw[UDP_RAWHASH]; /* raw endpoints, by protocol */
	struct wire *volatile lo;
	struct udp_port *volatile chain[UDP_HASH];
	struct udp_port *volatile rawchain[UDP_RAWHASH];
	struct udp_local local[UDP_NLOCAL];
	struct canon_minors minors;
};

/*
 * A destination in the domain, result of the last lookup.  Written in the
 * perimeter and read outside: `seq' is odd during a change.
 */
struct udp_dest {
	volatile uint32_t seq;
	uint32_t len;	       /* of sa; 0: none */
	uint32_t hlen;	       /* of hdr */
	uint32_t changed;      /* udp_state's then */
	uint32_t gen;	       /* nm's */
	struct udp_port *nm;
	struct udp *ep;	       /* nm's, like ref: valid if gen is still nm's */
	struct str_ref ref;
	uint64_t until;	       /* inet_ticks(); 0: for ever */
	unsigned char sa[28];  /* in the user's format */
	unsigned char hdr[48]; /* IP and UDP, but for lengths */
};

struct udp {
	struct inet in;
	struct udp_state *st;
	struct udp_port *port;	/* bound */
	struct udp_port *wait;	/* its receiver is full */
	unsigned long since;	/* ... when last looked, ticks; 0: it is not */
	unsigned long waited;	/* ... for so long, ticks: tpi_waited() */
	uint64_t mark;		/* ... and how far it had read then */
	volatile uint32_t stuck; /* we do not read: senders do not wait for
				  * us */
	volatile uint64_t stop;	/* ... how far we had */
	volatile uint64_t full;	/* inet_ticks(): no room for what comes by
				 * wires until then; 0: there may be */
	uint32_t raw;		/* raw IP */
	uint32_t check;		/* T_UDP_LOCHECK */
	uint32_t tos, ttl;	/* of lo's headers */
	uint32_t special;	/* options are set that lo does not support: */
	uint32_t nosum;		/* T_UDP_CHECKSUM is T_NO */
	uint32_t discover;	/* T_IP_MTU_DISCOVER: UDP_DF_* */
	uint32_t manyttl;	/* T_IP_MULTICAST_TTL */
	uint32_t noloop;	/* T_IP_MULTICAST_LOOP is T_NO */
	struct wire_group by;	/* T_IP_MULTICAST_IF, if it names a wire; its
				 * group is not used */
	uint32_t groups;	/* has been in some, on wires */
	uint32_t input;		/* the socket may have something */
	volatile uint32_t near;	/* input comes on lo */
	uint64_t kernel;	/* inet_ticks() of the last other input */
	uint64_t looked;	/* ... when that was checked */
	volatile uint64_t sent, bytes; /* on lo; see udp_lo_counted() */
	uint32_t last;		/* which of dest */
	uint32_t peerlen;
	unsigned char peer[28];
	struct udp_dest dest[UDP_NDEST];
	uint32_t awaylen;	/* last destination through the socket; 0 */
	uint32_t awaychanged;	/* udp_state's then */
	uint64_t awayuntil;	/* inet_ticks(): valid until then */
	struct sockaddr_storage away;
};

static inline struct udp *
udp_of(struct tpi *tp)
{
	return (struct udp *)(void *)tp;
}

static inline int
udp_is_group(const struct ip_addr *a)
{
	return a->len == 4 ? (a->b[0] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

static inline uint32_t
udp_gen(const struct udp_port *nm)
{
	return str_load_acq(&nm->gen);
}

static inline int
udp_has_room(struct udp *to)
{
	return str_load_acq(&to->in.tp.up) == 0 && canputnext(to->in.tp.rq);
}

/* udp.c */
struct udp_state *udp_state(void);

/* port.c */
int udp_at_of(const void *sa, uint32_t len, struct udp_at *ret);
int udp_at_eq(const struct ip_addr *a, const struct ip_addr *b);
struct udp_port *udp_port_find(struct udp_state *st, const struct udp_at *dst,
	const struct udp_at *src, uint32_t *ret_gen);
struct udp_port *udp_port_next(struct udp_state *st, struct udp_port *nm,
	const struct udp_at *dst, const struct udp_at *src, uint32_t *ret_gen);
int udp_port_any(struct udp_state *st, uint16_t port);
int udp_port_hold(struct udp_state *st, struct udp_port *nm, uint32_t gen,
	struct str_hold *h, struct udp **ret_ep);
struct udp_port *udp_raw_next(struct udp_state *st, struct udp_port *nm,
	unsigned int proto, const struct ip_addr *dst,
	const struct ip_addr *src, uint32_t *ret_gen);
int udp_port_bound(struct udp *u, const struct tpi_addr *at);
void udp_port_peer(struct udp *u);
void udp_port_free(struct udp *u);
void udp_wait(struct udp_port *nm, struct udp *u);
void udp_wake(struct udp_port *nm);
int udp_is_wires(struct udp_state *st, const struct ip_addr *a);
int udp_source(const struct ip_addr *dst, struct sockaddr_storage *src,
	uint32_t *srclen);
int udp_local(struct udp_state *st, const struct ip_addr *dst,
	struct ip_addr *ret_src, uint64_t *ret_until);

/* lo.c */
#define UDP_NOT_LO (-1000) /* not within the domain */
#define UDP_LIFE INET_US(1000000) /* lifetime of an answer of the kernel */
int udp_lo_fast(struct udp *u, mblk_t *mp);
int udp_lo_direct(queue_t *q, const struct str_direct *sd);
void udp_lo_gone(struct udp *u);
int udp_lo_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
int udp_far_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp); /* far.c */
int udp_full(struct udp *u, struct udp_port *nm, struct udp *to);
mblk_t *udp_ind(mblk_t *mp, const struct udp *to, const struct udp_at *src);
void udp_put_sums(unsigned char *h, uint32_t hlen, const mblk_t *bp, uint32_t n,
	int no);
mblk_t *udp_wrap(const unsigned char *hdr, uint32_t hlen, mblk_t *bp,
	mblk_t **ret_block);
mblk_t *udp_unwrap(mblk_t *pkt, uint32_t hlen, mblk_t *block);
int udp_apply(const struct tpi_buf *opts, unsigned char *hdr);
void udp_forget(struct udp *u);
struct wire *udp_lo(struct udp_state *st);
void udp_raw_copies(struct udp_state *st, unsigned int proto, mblk_t *pkt,
	const struct ip_hdr *h);

/* far.c */
int udp_far_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
void udp_far_went(struct udp *u, const struct tpi_buf *to, uint32_t changed);
int udp_far_direct(queue_t *q, const struct str_direct *sd);
int udp_far_send(struct tpi *tp, const struct tpi_buf *to,
	const struct str_direct *sd);

#endif
