/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What wires do with packets beyond reading their headers: fragments both
 * ways, ICMP.  Pure, as <str/ip.h> is: bytes, and a time that is told.
 */
#ifndef DRV_IP_PKT_H
#define DRV_IP_PKT_H

#include <str/ip.h>

#define IP4_OPTMAX 40u
#define IP4_MTU 68u	/* the least: RFC 791 s3.2 */
#define IP6_MTU 1280u	/* RFC 8200 s5 */

/* -------------------------------------------------------------- fragments */

/*
 * ip_frag - the header of the next fragment
 * @h:   of the packet, or of a fragment that is still too long (IPv4)
 * @opt: its options, @h->optlen bytes, or NULL
 * @off: bytes of data in those before; 0 at first; moved on, in the end to
 *	 IP_FRAG_END
 * @ret: the fragment's, for ip_build(); its data is @ret->len bytes from the
 *	 old *@off
 * @ret_opt: its options, IP4_OPTMAX bytes of room
 * Return: 1; 0: there are no more; -EMSGSIZE: it may not, or cannot, be
 * fragmented.  A packet that fits is one fragment that is none.
 */
#define IP_FRAG_END 0xffffffffu
int ip_frag(const struct ip_hdr *h, const unsigned char *opt, uint32_t mtu,
	uint32_t *off, struct ip_hdr *ret, unsigned char *ret_opt);

#define IP_REASM_SLOTS 32u		/* packets, 2 to 4 MiB */
#ifndef STR_CRASH_POINTS
#define IP_REASM_LIFE 30000000000ull	/* ns */
#else
#define IP_REASM_LIFE 1000000000ull	/* tests wait for it */
#endif
#define IP_REASM_HDR 256u		/* bytes of headers */

/* A packet that is being put together. */
struct ip_slot {
	uint32_t state;		/* 0: free */
	uint32_t tag;		/* the caller's: which wire */
	struct ip_addr src, dst;
	uint32_t id;
	uint8_t proto;		/* IPv4: it is a part of the name */
	uint8_t next;		/* IPv6: what the data begins with */
	uint16_t hlen;		/* bytes in hdr; 0: the first has not come */
	uint16_t link;		/* IPv6: where in hdr the fragment header is
				 * named */
	uint32_t total;		/* bytes of data; 0: the last has not come */
	uint32_t got;		/* bytes of data that are there */
	uint32_t high;		/* none is behind that */
	uint64_t end;		/* when it is given up */
	unsigned char hdr[IP_REASM_HDR];
	unsigned char there[65536 / 64]; /* a bit for 8 bytes of data */
	unsigned char data[65536];
};

struct ip_reasm {
	uint32_t busy;	/* a thread is inside, or has died there */
	uint32_t resets; /* times that everything was thrown away for that */
	uint32_t nslots; /* it has been given */
	struct ip_slot *slot[IP_REASM_SLOTS];
};

/*
 * ip_reasm_wants - would more memory be of use?  It has none, or it is full.
 * ip_reasm_give - here is some, zeroed, for good
 */
int ip_reasm_wants(const struct ip_reasm *r);
void ip_reasm_give(struct ip_reasm *r, struct ip_slot *s);

/* What became of a fragment. */
#define IP_HELD 0    /* others are missing */
#define IP_WHOLE 1   /* the packet is whole: ip_reasm_take() */
#define IP_REFUSED 2 /* it contradicts others: the packet is given up */
#define IP_AGAIN 3   /* it was there already */

/*
 * ip_reasm_add - a fragment
 * @r:	  zeroed at first, and given some memory; the caller lets one at a
 *	  time in
 * @p:	  it, in one piece, with the header @h
 * @now:  ns
 * @ret:  the slot, when it is whole
 * Return: IP_HELD ...; *@lost is how many other packets were given up for it,
 * because of their age or for want of room.
 */
int ip_reasm_add(struct ip_reasm *r, uint32_t tag, const unsigned char *p,
	const struct ip_hdr *h, uint64_t now, uint32_t *ret, uint32_t *lost);
/* How long the packet is, and the packet itself; the slot is free then. */
uint32_t ip_reasm_len(const struct ip_reasm *r, uint32_t slot);
void ip_reasm_take(struct ip_reasm *r, uint32_t slot, unsigned char *to);
/*
 * ip_reasm_expire - give up one packet whose time is over
 * @ret: begin of its first fragment, of which *@ret_n bytes are good, 0 when
 *	 that has not come; IP_REASM_HDR + 8 bytes of room
 * Return: 1, with whose it was in *@tag; 0: there is none
 */
int ip_reasm_expire(struct ip_reasm *r, uint64_t now, uint32_t *tag,
	unsigned char *ret, uint32_t *ret_n);

/* ------------------------------------------------------------- path MTUs */

#define IP_PMTUS 256u
#define IP_PMTU_WAYS 4u
#define IP_PMTU_LIFE 600000000000ull /* ns; RFC 1191 s6.3: 10 minutes */

struct ip_pmtu_entry {
	uint32_t gen;	/* odd: it is being written; 0: never was */
	uint32_t mtu;
	struct ip_addr dst;
	uint64_t until; /* ns */
};

struct ip_pmtu {
	uint32_t used; /* something has been learned */
	struct ip_pmtu_entry entry[IP_PMTUS];
};

/* ip_pmtu_of - bytes of a packet to @dst on a link that carries @link */
uint32_t ip_pmtu_of(const struct ip_pmtu *t, const struct ip_addr *dst,
	uint32_t link, uint64_t now);
/*
 * ip_pmtu_learn - a router on the way to @dst says @mtu, 0: it does not say,
 * about a packet of @len bytes; the caller lets one at a time in
 * Return: 1: it is less now.
 */
int ip_pmtu_learn(struct ip_pmtu *t, const struct ip_addr *dst, uint32_t mtu,
	uint32_t len, uint32_t link, uint64_t now);

/* ------------------------------------------------------------------ ICMP */

#define P_ICMP 1
#define P_ICMP6 58

enum icmp_kind {
	ICMP_OTHER,	/* nothing that we know or care for */
	ICMP_ECHO,	/* a question: icmp_reply() */
	ICMP_ERR	/* about a packet of ours */
};

struct icmp_msg {
	enum icmp_kind kind;
	int error;		    /* errno */
	uint32_t mtu;		    /* EMSGSIZE: what would go; 0: unknown */
	const unsigned char *begin; /* the packet, as much as there is */
	uint32_t n;
	struct ip_hdr h;	    /* what its header says */
	uint32_t at;		    /* where its data is; n or less */
};

/*
 * icmp_parse - read the ICMP message in the packet of header @h, @n bytes at
 * @p behind that header
 * Return: 0 or minus an ip_bad.
 */
int icmp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct icmp_msg *ret);
/* Turn a packet with an ICMP_ECHO, @n bytes with its header, into the answer,
 * which comes from @from; in place, its checksums too. */
void icmp_reply(unsigned char *pkt, uint32_t n, const struct ip_hdr *h,
	const struct ip_addr *from);

/* What there is to complain about. */
enum icmp_error {
	ICMP_NOPORT, ICMP_NOPROTO, ICMP_TOOLATE /* of fragments */
};
#define ICMP_MOST 1280u /* bytes of a packet with an error */

/*
 * icmp_error - make a packet that complains about another
 * @pkt: that one, @n bytes of it, with header @h
 * @to:	 ICMP_MOST bytes of room
 * Return: bytes; 0: about that one no host may complain (RFC 1122 s3.2.2,
 * RFC 4443 s2.4)
 */
uint32_t icmp_error(enum icmp_error what, const unsigned char *pkt, uint32_t n,
	const struct ip_hdr *h, const struct ip_addr *from, unsigned char *to);

/* --------------------------------------------------------------- neighbours */

/* What ARP or Neighbor Discovery has said. */
struct neigh_msg {
	int ask;	       /* who has target? */
	int known;	       /* mac is who's */
	struct ip_addr who;    /* asks, or tells of itself */
	struct ip_addr target;
	unsigned char mac[6];
};

/* Read @n bytes behind the frame's header, or the IPv6 header @h.  1: good. */
int arp_parse(const unsigned char *p, uint32_t n, struct neigh_msg *ret);
int ndp_parse(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct neigh_msg *ret);
/*
 * Write a question of @from, which is at @mac, for @to or @target; or the
 * answer, that @from is at @mac.  128 bytes of room.  Return: bytes; of IPv6
 * with the IP header.
 */
uint32_t arp_build(unsigned char *p, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *to,
	const unsigned char *tomac);
uint32_t ndp_build(unsigned char *to, int ask, const struct ip_addr *from,
	const unsigned char *mac, const struct ip_addr *dst,
	const struct ip_addr *target);
/* The group in which who has @target hears questions. */
void ndp_group(const struct ip_addr *target, struct ip_addr *ret);
/* Is @dst many stations'?  Then where they all hear. */
int neigh_many(const struct ip_addr *dst, unsigned char *mac);

/* So many errors at once, and then in a second. */
#define ICMP_BURST 50u
#define ICMP_RATE 200u
struct icmp_limit {
	uint64_t last; /* ns */
	uint32_t left;
};
/* May one be sent at @now?  It counts. */
int icmp_allowed(struct icmp_limit *l, uint64_t now);

#endif
