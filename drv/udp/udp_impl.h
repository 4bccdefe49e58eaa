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
#include <str/ip.h>
#include <str/ports.h>
#include <str/wire.h>

#define UDP_ID 0x7564
#define UDP_HIWAT 524288u /* of the head */
#define UDP_HIMIN 1024u	  /* ... whatever is asked for */
#define UDP_HIMOST (4u << 20)
/* high water mark, in bytes, of a queue of messages to be sent: while one waits
 * there, later ones wait behind it; above the mark the sender sleeps */
#define UDP_WAITING 1024u
#define UDP_HOLD HZ	  /* how long a datagram waits for a full receiver */
#define UDP_NDEST 8u

/* struct udp: special */
#define UDP_IPOPTS 1u
#define UDP_HDRINCL 2u

/* T_IP_MTU_DISCOVER: where a packet that exceeds the path MTU is fragmented. */
#define UDP_DF_NEVER 0u	 /* by any router */
#define UDP_DF_WANT 1u	 /* by the sender, if it knows the MTU */
#define UDP_DF_DO 2u	 /* nowhere: refused, here if the MTU is known */
#define UDP_DF_PROBE 3u	 /* nowhere; the known MTU is ignored */

struct udp;

/* Shared by all streams and processes. */
struct udp_state {
	struct tpi_prov udp, raw;
	struct ports ports;	   /* of UDP */
	struct ports protos;	   /* of raw IP; its ports are protocols */
	volatile uint32_t check;   /* checksums on lo too */
	volatile uint64_t nowait;  /* inet_ticks(): until then no wire waits for
				    * room */
	struct wire *volatile lo;
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
	uint32_t changed;      /* the table's then */
	uint32_t gen;	       /* nm's */
	struct ports_entry *nm;
	struct udp *ep;	       /* nm's, like ref: valid if gen is still nm's */
	struct str_ref ref;
	uint64_t until;	       /* inet_ticks(); 0: for ever */
	unsigned char sa[28];  /* in the user's format */
	unsigned char hdr[48]; /* IP and UDP, but for lengths */
};

struct udp {
	struct inet in;
	struct udp_state *st;
	struct ports_entry *port;	/* bound */
	struct ports_entry *wait;	/* its receiver is full */
	unsigned long since;	/* ... when last looked, ticks; 0: it is not */
	unsigned long waited;	/* ... for so long, ticks: tpi_waited() */
	uint64_t mark;		/* ... and how far it had read then */
	volatile uint32_t stuck; /* we do not read: senders do not wait for
				  * us */
	volatile uint64_t stop;	/* ... how far we had */
	volatile uint64_t full;	/* inet_ticks(): no room for what comes by
				 * wires until then; 0: there may be */
	volatile uint32_t vain;	/* the last waits for room were in vain: so */
	volatile uint32_t skips; /* ... many, or so many more, are left out */
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
	volatile uint32_t near;	/* input comes on lo and other wires */
	uint64_t kernel;	/* inet_ticks() of the last other input */
	uint64_t looked;	/* ... when that was checked */
	volatile uint64_t sent, bytes; /* on lo; see udp_lo_counted() */
	uint32_t last;		/* which of dest */
	uint32_t peerlen;
	unsigned char peer[28];
	struct udp_dest dest[UDP_NDEST];
	uint32_t awaylen;	/* last destination through the socket; 0 */
	uint32_t awaychanged;	/* the table's then */
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

/* The sender's address in the receiver's family. */
static inline uint32_t
udp_put_source(unsigned char *to, int six, const unsigned char *addr,
	uint32_t alen, uint16_t port)
{
	uint16_t fam = six ? AF_INET6 : AF_INET;
	uint16_t ones = 0xffff;

	__builtin_memcpy(to, &fam, 2);
	__builtin_memcpy(to + 2, &port, 2);
	if (str_likely(!six)) {
		__builtin_memcpy(to + 4, addr, 4);
		__builtin_memset(to + 8, 0, 8);
		return sizeof(struct sockaddr_in);
	}
	__builtin_memset(to + 4, 0, 24);
	if (alen == 16) {
		__builtin_memcpy(to + 8, addr, 16);
	} else {
		__builtin_memcpy(to + 18, &ones, 2);
		__builtin_memcpy(to + 20, addr, 4);
	}
	return sizeof(struct sockaddr_in6);
}

/* The table in which @u is bound. */
static inline struct ports *
udp_table(const struct udp *u)
{
	return u->raw ? &u->st->protos : &u->st->ports;
}

/* ports_hold() for the endpoints of this driver. */
static inline int
udp_hold(struct ports *t, struct ports_entry *e, uint32_t gen,
	struct str_hold *h, struct udp **ret_ep)
{
	void *ep = NULL;
	int err = ports_hold(t, e, gen, h, &ep);

	*ret_ep = ep;
	return err;
}

static inline int
udp_has_room(struct udp *to)
{
	return str_load_acq(&to->in.tp.up) == 0 && canputnext(to->in.tp.rq);
}

/* udp.c */
struct udp_state *udp_state(void);

/* port.c */
int udp_at_of(const void *sa, uint32_t len, struct ports_at *ret);
int udp_port_bound(struct udp *u, const struct tpi_addr *at);
void udp_port_peer(struct udp *u);
void udp_port_free(struct udp *u);
int udp_is_wires(struct udp_state *st, const struct ip_addr *a);

/* lo.c */
#define UDP_NOT_LO (-1000) /* not within the domain */
#define UDP_LIFE INET_US(1000000) /* lifetime of an answer of the kernel */
int udp_lo_fast(struct udp *u, mblk_t *mp);
int udp_lo_direct(queue_t *q, const struct str_direct *sd);
void udp_come_near(struct udp *u);
void udp_lo_gone(struct udp *u);
int udp_lo_unitdata(struct udp *u, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
int udp_full(struct udp *u, struct ports_entry *nm, struct udp *to);
#define UDP_TOLD ((long)INET_TOLD_MOST + 8)
mblk_t *udp_ind(struct wire *w, const struct ip_hdr *h, mblk_t *mp,
	const struct udp *to, const struct ports_at *src);
void udp_put_sums(unsigned char *h, uint32_t hlen, const mblk_t *bp, uint32_t n,
	int no);
mblk_t *udp_wrap(const unsigned char *hdr, uint32_t hlen, mblk_t *bp,
	mblk_t **ret_block);
mblk_t *udp_unwrap(mblk_t *pkt, uint32_t hlen, mblk_t *block);
void udp_forget(struct udp *u);
struct wire *udp_lo(struct udp_state *st);
uint64_t udp_lo_counted(enum wire_count what);

/* call.c */
int udp_apply(const struct tpi_buf *opts, unsigned char *hdr);
int udp_call_info(const struct udp *u, const struct tpi_buf *opts,
	struct ip_addr *src, int *ifindex);

/* input.c */
extern const struct wire_proto udp_wire, raw_wire;
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
