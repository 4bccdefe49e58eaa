/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Internal interface of the IP driver: wires and taps, in memory that all
 * processes share.
 *
 * Objects. struct ip_wire, an entry of a table, whose first is `lo'; struct
 * ip_tap, likewise; struct ip_shared with both tables; struct ip_ep, a stream
 * of the driver, which is a wire, a tap or neither.  An entry is in use while
 * `gen' is odd, and is reused later; a thread that takes one from a table
 * checks gen again when it holds the stream.
 *
 * Locks.  `lock' protects changes of the tables.  Sending and receiving take no
 * lock.  Tags on fields: docs/locking.md.
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
#include <str/driver.h>
#include <str/ip.h>
#include <str/wire.h>
#include "impair.h"
#include "mcast.h"
#include "neightab.h"
#include "pkt.h"
#include "reasm.h"
#include "sent.h"
#include "source.h"

#define IP_WIRES 32u
#define IP_TAPS 16u
#define IP_ALL IP_WIRES /* a tap on all wires */
#define IP_ID 0x6970

/* Counters are kept in pieces, so that threads do not share cache lines. */
#define IP_PIECES 8u
struct ip_counts {
	volatile uint64_t n[WIRE_NCOUNTS];
} STR_LINE;

/* Descriptors below a wire. */
#define IP_KSOCKS (2u + 2u * IPW_NPROTO)
/* ... of a packet wire: one receives UDP, the other one all else; see frames.c */
#define IP_FRAMES_IN 0u
#define IP_UDP_IN 2u
#define IP_FRAMES 8u /* received by one system call */

/* How far an address of the wire's own is claimed; see resolve.c. */
enum ip_claim_state {
	CLAIM_PROBING, CLAIM_ANNOUNCING,
	CLAIM_HELD,
	CLAIM_LOST /* another station has it */
};
struct ip_claim {
	uint32_t state; /* enum ip_claim_state */
	uint32_t sent;	/* probes, or announcements */
	uint64_t next;	/* when the next is sent; ns; 0: not begun */
	uint64_t defended;
};

/* A member of a group; see group.c. */
#define IP_MEMBERS 64u
struct ip_member {
	volatile uint32_t gen; /* [A] odd: in use */
	struct ip_addr group;  /* [I] */
	struct str_ref ref;    /* [I] a stream of a transport */
};

/* A destination that a router has redirected; see router.c. */
#define IP_REDIRECTS 16u
#define IP_ROUTERS (IPW_NROUTE + 2u)
struct ip_redirect {
	struct ip_addr dst, to;
	uint64_t until; /* ns; 0: not in use */
};

/* An answer of the kernel about an address; see local.c. */
#define IP_LOCALS 64u
struct ip_local {
	volatile uint32_t gen; /* [A] odd: it is being written */
	uint32_t ours;
	struct ip_addr dst;
	struct ip_addr src; /* source of packets to dst */
	uint64_t until;	    /* ns */
};

/* A group that routers are told about; see listen.c. */
#define IP_LISTENS 70u
struct ip_listen {
	struct ip_addr group; /* len 0: free */
	uint32_t what;	      /* enum mcast_record */
	uint32_t left;	      /* reports that are still to be sent */
	uint64_t next;	      /* when; ns */
};

struct ip_wire {
	struct wire pub;
	volatile uint32_t gen;	/* [A] odd: in use; of lo always */
	uint32_t kind;		/* [I] IPW_*; lo's is 0 */
	char name[WIRE_NAMELEN]; /* [I] */
	struct ipw_conf conf;	/* [I] */
	volatile uint32_t mtu;	/* [A] */
	volatile uint32_t dead;	/* [A] its interface is down or gone */
	volatile uint32_t state; /* [A] IPW_UP, IPW_DOWN */
	int error;		/* why it is down */
	uint32_t remade;
	int muxid;		/* of the persistent link, or 0 */
	struct icmp_limit limit; /* perimeter of its stream */
	queue_t *rq;		/* [I] NULL: nothing below it */
	struct str_ref ref;	/* [I] its stream */
	volatile uint64_t ticked; /* [A] str_now(), by its clock */
	struct str_timer *clock; /* perimeter of its stream; NULL: not yet */
	ksock_t *ks[IP_KSOCKS];	/* perimeter to change, a hold to read */
	/* for wires of frames */
	int ifindex;
	unsigned char mac[6];
	kmutex_t nlock;		/* for neighs to waiting */
	struct ip_neightab *neighs; /* gets its memory at first use */
	struct ip_redirect redirect[IP_REDIRECTS];
	uint64_t deaduntil[IP_ROUTERS]; /* ns; of routers that did not answer */
	uint32_t burst[2];	/* perimeter: frames to be received at once from
				 * IP_FRAMES_IN, IP_UDP_IN */
	uint32_t more;		/* perimeter: IP_FRAMES_IN may have frames */
	uint32_t waiting;	/* bytes of packets that wait for a station */
	struct ip_claim claim[IPW_NOWN]; /* perimeter */
	volatile uint32_t lost;	/* [A] own addresses that others have; bits */
	struct ip_member member[IP_MEMBERS];
	struct ip_told { /* perimeter: what is joined below */
		struct ip_addr group; /* len 0: nothing */
		uint32_t sure;	      /* else it may be joined or not */
	} told[IP_MEMBERS];
	struct ip_listen listen[IP_LISTENS]; /* perimeter */
	uint64_t oldquery[3];	/* perimeter: until then reports have the form
				 * of IGMPv2, MLDv1, IGMPv1 */
	volatile uint32_t regroup; /* [A] the joined groups must change */
	struct ip_impair impair;
	struct str_timer *release; /* [L] of the packets that impair holds;
				    * kept when the wire ends */
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
	kmutex_t rlock;		 /* protects reasm */
	struct ip_reasm reasm;	 /* gets its memory at first use */
	kmutex_t mlock;		 /* for changes of pmtu */
	struct ip_pmtu pmtu;	 /* [A] */
	struct ip_secret secret; /* [A] made at first use; ip_secret() */
	struct ip_sent sent;	 /* [A] */
	struct ip_local local[IP_LOCALS]; /* [A] */
	uint32_t ids[IP_IDS];	 /* [A] */
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

/* A store that is ordered after all earlier and before all later writes, so
 * that the state left by a killed thread is consistent. */
static inline void
ip_set(uint32_t *p, uint32_t v)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Are the addresses on @w those of the host? */
static inline int
ip_is_hosts(const struct ip_wire *w)
{
	return w->kind == IPW_RAW || w->kind == IPW_ENCAP;
}

/* wire.c */
struct ip_shared *ip_shared(void);
uint64_t ip_counted(const struct ip_wire *w, unsigned int what);
struct ip_wire *ip_wire_named(struct ip_shared *sh, const char *name);
const struct wire_proto *const *ip_proto_next(
	const struct wire_proto *const *at, int proto);
void ip_sent_one(struct ip_wire *w, const mblk_t *pkt);
void ip_note(const mblk_t *pkt, const struct ip_hdr *h);
int ip_send_held(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h);
void ip_expire(struct ip_shared *sh);

/* id.c */
const struct ip_secret *ip_secret(struct ip_shared *sh);

/* route.c */
int ip_matches(const struct ip_addr *a, const struct ipw_addr *net);
struct ip_wire *ip_wire_by(struct ip_shared *sh, const struct ip_addr *own,
	int ifindex);
int ip_is_own(const struct ip_wire *w, const struct ip_addr *a);
int ip_is_broadcast(const struct ip_wire *w, const struct ip_addr *a);
int ip_is_bad_source(const struct ip_wire *w, const struct ip_addr *a);
int ip_is_near(const struct ip_wire *w, const struct ip_addr *a);
int ip_own_for(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret);
uint32_t ip_path_mtu(const struct ip_wire *w, const struct ip_addr *dst);

/* report.c: ICMP on wires */
int ip_icmp(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h);
void ip_answer(struct ip_wire *w, mblk_t *mp);
void ip_complain(struct ip_wire *w, enum icmp_error what,
	const unsigned char *p, uint32_t n, const struct ip_hdr *h);
void ip_complain_header(struct ip_wire *w, const unsigned char *pkt,
	uint32_t n);
void ip_wire_unsent(struct ip_wire *w, mblk_t *mp, int error);

/* add.c: wires that are streams */
int ip_wire_add(struct ip_ep *ep, const struct ipw_conf *conf);
void ip_wire_del(struct ip_ep *ep);
void ip_wire_linked(queue_t *low, int muxid);
void ip_wire_input(struct ip_ep *ep);
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
int ip_lower_bytes(struct ip_wire *w, void *p, uint32_t n, uint32_t sum_at,
	const struct ip_hdr *h);
int ip_lower_group(struct ip_wire *w, const struct ip_addr *group, int joins);
mblk_t *ip_block(struct ip_wire *w, uint32_t most);
void ip_block_keep(struct ip_wire *w, mblk_t *mp);

int ip_lower_get(struct ip_wire *w, uint32_t k, int family, int type,
	int proto);
struct sockaddr_in6;
uint32_t ip_raw_to(const struct ip_hdr *h, struct sockaddr_in6 *ret);

/* train.c: several packets by one system call */
uint32_t ip_train_cut(struct ip_wire *w, const mblk_t *pkt,
	const struct ip_hdr *h, uint32_t mtu, int *ret_err);
uint32_t ip_train_send(struct ip_wire *w, const struct wire_pkt *v, uint32_t n,
	int *ret_err);

/* encap.c: one protocol inside of UDP */
int ip_encap_make(struct ip_wire *w);
int ip_encap_recv(struct ip_wire *w);
uint32_t ip_encap_send(struct ip_wire *w, const struct wire_pkt *v, uint32_t n,
	int *ret_err);
void ip_told(const struct ksock_msg *m, struct ip_hdr *h);
void ip_set_int(ksock_t *ks, int level, int name, int val);

/* link.c: changes of the interface.  Context: the wire's procedures. */
int ip_link_make(struct ip_wire *w);
void ip_link_look(struct ip_wire *w);
void ip_link_input(struct ip_wire *w);

/* filter.c */
int ip_filter_set(struct ip_wire *w);

/* frames.c: datagrams in frames */
int ip_frames_set(struct ip_wire *w);
int ip_frames_send(struct ip_wire *w, unsigned char *p, uint32_t n,
	uint32_t sum_at, const struct ip_hdr *h);
uint32_t ip_frames_some(struct ip_wire *w, uint32_t most);

/* packet.c: wires of frames */
struct iovec;
struct sockaddr_ll;
int ip_packet_set(struct ip_wire *w);
int ip_packet_recv(struct ip_wire *w, uint32_t most);
int ip_packet_to(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	struct sockaddr_ll *ret);
int ip_packet_group(struct ip_wire *w, const struct ip_addr *group, int joins);
int ip_packet_send(struct ip_wire *w, struct iovec *iov, uint32_t n,
	const mblk_t *pkt, const struct ip_hdr *h);
int ip_frame(struct ip_wire *w, struct iovec *iov, uint32_t n, uint32_t proto,
	const unsigned char *mac);

/* impaired.c */
int ip_impair_send(struct ip_wire *w, const mblk_t *pkt,
	const struct ip_hdr *h);
void ip_impair_release(void *arg);
void ip_impair_end(struct ip_wire *w);
int ip_wire_impair(const struct ipw_impair *conf);
int ip_wire_impaired(struct ipw_impair *conf);

/* router.c: next hops */
#define IP_HOP 1
#define IP_HOP_DEAD 2
int ip_next_hop(struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret);
int ip_router_dead(struct ip_wire *w, const struct ip_addr *a);
void ip_redirect(struct ip_wire *w, const struct ip_addr *from,
	const struct ip_addr *dst, const struct ip_addr *to);

/* resolve.c: the stations of addresses */
int ip_resolve(struct ip_wire *w, const mblk_t *pkt,
	const struct ip_addr *next, unsigned char *mac);
void ip_resolve_heard(struct ip_wire *w, const struct neigh_msg *m,
	const unsigned char *from);
void ip_resolve_tick(struct ip_wire *w);
void ip_resolve_clear(struct ip_wire *w);
void ip_resolve_moved(struct ip_wire *w);

/* group.c */
void ip_groups_tell(struct ip_wire *w);
void ip_groups_again(struct ip_wire *w);
void ip_groups_look(struct ip_wire *w);

/* listen.c: reports to routers.  Context: the wire's procedures. */
void ip_listen_joined(struct ip_wire *w, const struct ip_addr *group);
void ip_listen_left(struct ip_wire *w, const struct ip_addr *group);
void ip_listen_again(struct ip_wire *w);
void ip_listen_tick(struct ip_wire *w);
void ip_listen_query(struct ip_wire *w, const unsigned char *p, uint32_t n,
	const struct ip_hdr *h);

/* tap.c */
int ip_tap_add(struct ip_ep *ep, const struct ipw_tap *want);
void ip_tap_del(struct ip_ep *ep);
void ip_tap_count(struct ip_shared *sh);
void ip_tap(struct ip_wire *w, const mblk_t *pkt, uint32_t n,
	unsigned char what, int out);

#endif
