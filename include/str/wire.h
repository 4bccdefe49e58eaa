/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: what carries IP packets, as transports see it.
 *
 * Purpose.  A transport makes packets (<str/ip.h>) and does not care what
 * takes them.  `lo' takes them to endpoints of the same domain, in memory;
 * other wires, each a stream that was configured (strwire(8)), to a raw
 * socket, a TUN device or an interface of the kernel's.  What no wire takes a
 * transport may send by a kernel's socket of its own.
 *
 * Input.  A wire hands a packet it received to wire_input(), which checks it,
 * puts fragments together and calls each receiver there is for its protocol
 * (struct wire_proto) in the context of the wire's service procedure, in
 * whatever process runs that.
 *
 * Taps.  A program that wants to see packets opens a tap; wire_tapped() is one
 * load when there is none.
 *
 * Objects.  A struct wire stays what it is for ever: pointers to one may be
 * kept, in shared memory too.  wire_lo() searches for it, so keep what it
 * returned.
 */
#ifndef STR_WIRE_H
#define STR_WIRE_H

#include <sys/types.h>
#include <sys/stream.h>
#include <str/hold.h>
#include <str/ip.h>

#define WIRE_NAMELEN 16u

/* A wire begins so; the rest is the driver's (drv/ip/ip_impl.h). */
struct wire {
	volatile uint32_t taps;	  /* how many look at it */
	volatile uint32_t others; /* of lo: how many wires there are beside */
};

/* What is counted, for each wire and for all; shared memory, only added to. */
enum wire_count {
	WIRE_IN, WIRE_OUT,	   /* packets */
	WIRE_INBYTES, WIRE_OUTBYTES,
	WIRE_BAD,		   /* + enum ip_bad: packets that were no good */
	WIRE_NOPROTO = WIRE_BAD + IP_NBAD,
	WIRE_NOPORT,
	WIRE_FULL,		   /* dropped: the receiver is full */
	WIRE_NOMEM,
	WIRE_REASM, WIRE_REASMOK, WIRE_REASMFAIL, WIRE_FRAGS,
	WIRE_PMTU,		   /* paths found to be narrower */
	WIRE_NCOUNTS
};

/* The wire on which everything of this domain goes.  NULL: no memory. */
struct wire *wire_lo(void);
/* wire_count - @n more of @what; costs what an addition in a line that few
 * others write to does.  @w NULL: nothing. */
void wire_count(struct wire *w, enum wire_count what, uint64_t n);

/*
 * wire_route - which wire takes packets to @dst, and with which source
 * @lo:      what wire_lo() returned
 * @ret_src: len 0: the caller's own choice stays
 * @ret_mtu: bytes of the longest packet that is known to arrive
 * Return: NULL: none; the kernel's sockets are asked.  @lo: it is an address
 * of a wire's own, so it stays in the domain.  Cheap when no wire but `lo' has
 * been configured: one load.
 */
struct wire *wire_route(struct wire *lo, const struct ip_addr *dst,
	struct ip_addr *ret_src, uint32_t *ret_mtu);

/*
 * wire_send - a packet goes out on @w, which is not lo; fragmented if need be
 * @h: what its header says; consumed when 0 is returned.  df is for IPv6 too;
 * such a packet goes as it is if the wire carries it, others are cut for their
 * way (RFC 1191).
 * Return: 0; EMSGSIZE: too long, and not to be fragmented; EAGAIN: the wire
 * is full; ENETDOWN, ENOSR.
 */
int wire_send(struct wire *w, mblk_t *pkt, const struct ip_hdr *h);

/*
 * wire_input - a packet came on @w; consumed
 * Context: the wire's service procedure; lo: any put procedure.
 */
void wire_input(struct wire *w, mblk_t *pkt, unsigned int flags);

/*
 * Receivers of protocols; constant tables of built-in drivers, looked through
 * in order.  @pkt begins with the IP header, is whole and checked up to that
 * header; not consumed.  Return: 1: it was taken (no ICMP is due).
 */
struct wire_proto {
	int (*input)(struct wire *w, mblk_t *pkt, const struct ip_hdr *h,
		unsigned int flags);
	/* an ICMP error, about a packet of ours that began so, with its IP
	 * header, which is @h; 0: none, it is only asked who sends such.
	 * Return: 1: an endpoint does */
	int (*error)(struct wire *w, const struct ip_hdr *h,
		const unsigned char *begin, size_t n, int error, uint32_t mtu);
	int proto; /* IPPROTO_*, -1: any */
};
extern const struct wire_proto udp_wire, raw_wire; /* drv/udp */
/* What its endpoints have sent on lo and has not been counted: WIRE_IN ...
 * WIRE_OUTBYTES, to be added when lo's counts are asked for. */
uint64_t udp_lo_counted(enum wire_count what);

/*
 * Groups.  Who is in one on a wire is a stream of a transport's, @who.  What
 * comes for a group is for those of a port, or protocol, that are in it on the
 * wire that it came on.
 */
struct wire_group {
	struct ip_addr group;
	struct ip_addr own; /* the wire that has that address; len 0: any */
	int ifindex;	    /* ... on that interface; 0: any */
};

/*
 * wire_group - @who joins, or leaves, a group on a wire: on the one that @how
 * names, else the one that leads there
 * Return: 0; ENODEV: the system is to be asked; EADDRINUSE, EADDRNOTAVAIL: the
 * caller is in it already, or is not; ENOBUFS
 * wire_leave - @who leaves all groups on all wires
 */
int wire_group(struct wire *lo, const struct str_ref *who,
	const struct wire_group *how, int joins);
void wire_leave(struct wire *lo, const struct str_ref *who);
int wire_is_member(const struct wire *w, const struct str_ref *who,
	const struct ip_addr *group);

/*
 * wire_tapped - does anybody look at @w?
 * wire_tap    - show @pkt, of which a copy is made, to who does
 */
static inline int
wire_tapped(const struct wire *w)
{
	return __atomic_load_n(&w->taps, __ATOMIC_RELAXED) != 0;
}
void wire_tap(struct wire *w, const mblk_t *pkt, int out);

#endif
