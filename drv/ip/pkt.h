/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Operations on packets beyond reading headers: fragmentation, ICMP,
 * neighbours.  Pure functions as in <str/ip.h>: on bytes, with the time as an
 * argument.
 */
#ifndef DRV_IP_PKT_H
#define DRV_IP_PKT_H

#include <str/ip.h>

#define IP4_OPTMAX 40u
#define IP4_MTU 68u	/* the least: RFC 791 s3.2 */
#define IP4_LEAST 552u	/* ... that is believed: less is hardly ever true */
#define IP6_MTU 1280u	/* RFC 8200 s5 */

/* -------------------------------------------------------------- fragments */

/*
 * ip_frag - the header of the next fragment
 * @h:   of the packet, or of a fragment that is still too long (IPv4)
 * @opt: its options, @h->optlen bytes, or NULL
 * @off: bytes of data in the fragments before; 0 at first; advanced, at the end
 *	 to IP_FRAG_END
 * @ret: the fragment's, for ip_build(); its data is @ret->len bytes from the
 *	 old *@off
 * @ret_opt: its options, IP4_OPTMAX bytes of room
 * Return: 1; 0: there are no more; -EMSGSIZE: it must not, or cannot, be
 * fragmented.  A packet that fits gives itself, without a fragment header.
 */
#define IP_FRAG_END 0xffffffffu
int ip_frag(const struct ip_hdr *h, const unsigned char *opt, uint32_t mtu,
	uint32_t *off, struct ip_hdr *ret, unsigned char *ret_opt);

/* ------------------------------------------------------------- path MTUs */

#define IP_PMTUS 256u
#define IP_PMTU_WAYS 4u
#define IP_PMTU_LIFE 600000000000ull /* ns; RFC 1191 s6.3: 10 minutes */

struct ip_pmtu_entry {
	uint32_t gen;	/* odd: being written; 0: never written */
	uint32_t mtu;
	struct ip_addr dst;
	uint64_t until; /* ns */
};

struct ip_pmtu {
	uint32_t used; /* the table is not empty */
	struct ip_pmtu_entry entry[IP_PMTUS];
};

/* ip_pmtu_of - longest packet to @dst on a link with the MTU @link */
uint32_t ip_pmtu_of(const struct ip_pmtu *t, const struct ip_addr *dst,
	uint32_t link, uint64_t now);
/*
 * ip_pmtu_learn - a router on the path to @dst reported @mtu, or 0 for unknown,
 * about a packet of @len bytes; the caller makes one call at a time
 * Return: 1: the path MTU has become less.
 */
int ip_pmtu_learn(struct ip_pmtu *t, const struct ip_addr *dst, uint32_t mtu,
	uint32_t len, uint32_t link, uint64_t now);

/* ------------------------------------------------------------------ ICMP */

#define P_ICMP 1
#define P_ICMP6 58

enum icmp_kind {
	ICMP_OTHER,	/* unknown or unused type */
	ICMP_ECHO,	/* a request: icmp_reply() */
	ICMP_REDIRECT,	/* packets like one of ours should go to `to' */
	ICMP_ERR	/* about a packet of ours */
};

struct icmp_msg {
	enum icmp_kind kind;
	struct ip_addr to;	    /* ICMP_REDIRECT: the router */
	int error;		    /* errno */
	uint32_t mtu;		    /* EMSGSIZE: the MTU; 0: unknown */
	const unsigned char *begin; /* the begin of the packet */
	uint32_t n;
	struct ip_hdr h;	    /* its header */
	uint32_t at;		    /* offset of its data; n or less */
};

/*
 * icmp_parse - read the ICMP message in the packet of header @h, @n bytes at
 * @p behind that header
 * Return: 0 or minus an ip_bad.
 */
int icmp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct icmp_msg *ret);
/* Turn a packet with an ICMP_ECHO, @n bytes with its header, into the answer
 * from @from; in place, with its checksums. */
void icmp_reply(unsigned char *pkt, uint32_t n, const struct ip_hdr *h,
	const struct ip_addr *from);

/* Errors that we send. */
enum icmp_error {
	ICMP_NOPORT, ICMP_NOPROTO, ICMP_TOOLATE /* of fragments */
};
#define ICMP_MOST 1280u /* bytes of a packet with an error */

/*
 * icmp_error - make a packet with an error about another one
 * @pkt: that other one, @n bytes of it, with header @h
 * @to:	 ICMP_MOST bytes of room
 * Return: bytes; 0: no error may be sent about that packet (RFC 1122 s3.2.2,
 * RFC 4443 s2.4)
 */
uint32_t icmp_error(enum icmp_error what, const unsigned char *pkt, uint32_t n,
	const struct ip_hdr *h, const struct ip_addr *from, unsigned char *to);

/*
 * icmp_problem - the same about an IPv6 header, from @from (RFC 8200 s4.2)
 */
uint32_t icmp_problem(const struct ip6_problem *why, const unsigned char *pkt,
	uint32_t n, const struct ip_addr *from, unsigned char *to);

/* --------------------------------------------------------------- neighbours */

/* A message of ARP or Neighbor Discovery. */
struct neigh_msg {
	int ask;	       /* a request for target */
	int probe;	       /* ... whose sender has no address */
	int known;	       /* mac is the sender's */
	int solicited;	       /* in answer to a request */
	int override;	       /* it replaces an older answer */
	struct ip_addr who;    /* the sender */
	struct ip_addr target;
	unsigned char mac[6];
};

/* Read @n bytes behind the frame's header, or the IPv6 header @h. 1: valid. */
int arp_parse(const unsigned char *p, uint32_t n, struct neigh_msg *ret);
int ndp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct neigh_msg *ret);
/*
 * Write, if @ask, the request of @from, which is at @mac, for the address @to
 * (arp_build) or @target (ndp_build); else the answer that @from is at @mac.
 * A request of an address of zeros has no option for @mac (RFC 4861 s4.3).
 * Needs 128 bytes of room.  Return: bytes; for IPv6 with the IP header.
 */
uint32_t arp_build(unsigned char *p, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *to,
	const unsigned char *tomac);
uint32_t ndp_build(unsigned char *to, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *dst,
	const struct ip_addr *target);
/* The group in which the owner of @target receives requests. */
void ndp_group(const struct ip_addr *target, struct ip_addr *ret);
/* Is @dst a group or broadcast?  Then @mac gets its Ethernet address. */
int neigh_many(const struct ip_addr *dst, unsigned char *mac);

/* Limit of the errors in a burst, and then in a second. */
#define ICMP_BURST 50u
#define ICMP_RATE 200u
struct icmp_limit {
	uint64_t last; /* ns */
	uint32_t left;
};
/* May an error be sent at @now?  If so, it is counted. */
int icmp_allowed(struct icmp_limit *l, uint64_t now);

#endif
