/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: links for IP packets, as transports use them.
 *
 * Purpose.  A transport makes packets (<str/ip.h>) and sends them on a wire.
 * `lo' carries packets to endpoints of the same domain, in memory.  Other wires
 * are streams that were configured by strwire(8); they carry packets to a raw
 * socket, a TUN device or an interface of the kernel.  If no wire leads to a
 * destination, a transport may send by its own kernel socket.
 *
 * Input.  A wire passes a received packet to wire_input(), which checks it,
 * reassembles fragments and calls each receiver of its protocol (struct
 * wire_proto).  The context is the wire's service procedure, in any process; on
 * lo, the sender's procedure.
 *
 * Protocols.  A transport of any IP protocol registers its receiver
 * (STR_WIRE_PROTO), finds the way of a packet by wire_local() and wire_route(),
 * and sends by wire_send() or wire_send_batch(), also on lo.
 *
 * Inside of UDP.  A wire of the kind encap carries one protocol in datagrams of a
 * kernel socket (RFC 6951), without privilege.  Packets have IP headers here as
 * on any wire.  The UDP port of the other host is ip_hdr.encap: a transport
 * stores the port of a packet that it has verified, and gives it with packets
 * to that address.  The wire itself stores no ports, because any host can send
 * to it.
 *
 * Taps.  A program opens a tap to see packets; without taps wire_tapped() costs
 * one load.
 *
 * Objects.  A struct wire is never freed or reused, so pointers to it may be
 * kept, in shared memory too. wire_lo() searches for its wire, so keep its
 * result.
 */
#ifndef STR_WIRE_H
#define STR_WIRE_H

#include <sys/types.h>
#include <sys/stream.h>
#include <str/annot.h>
#include <str/hold.h>
#include <str/ip.h>

#define WIRE_NAMELEN 16u
#define WIRE_MTU_LEAST 552u /* of a path of IPv4 that a router reports */

/*
 * The beginning of a wire; the rest is private to the driver
 * (drv/ip/ip_impl.h).
 */
struct wire {
	volatile uint32_t taps;	  /* number of its taps */
	volatile uint32_t impaired; /* packets are lost, delayed ... on it */
	volatile uint32_t others; /* of lo: number of other wires */
};

/* Counters, for each wire and for all; in shared memory, never reset. */
enum wire_count {
	WIRE_IN, WIRE_OUT,	   /* packets */
	WIRE_INBYTES, WIRE_OUTBYTES,
	WIRE_BAD,		   /* + enum ip_bad: bad packets */
	WIRE_NOPROTO = WIRE_BAD + IP_NBAD,
	WIRE_NOPORT,
	WIRE_FULL,		   /* dropped: the receiver is full */
	WIRE_NOMEM,
	WIRE_REASM, WIRE_REASMOK, WIRE_REASMFAIL, WIRE_FRAGS,
	WIRE_PMTU,		   /* paths found to be narrower */
	WIRE_NCOUNTS
};

/* The wire for all packets within this domain.  NULL: no memory. */
struct wire *wire_lo(void);
/* The index of the interface below @w, as the system counts; lo's is that of the
 * system's loopback interface; 0: there is none. */
int wire_ifindex(struct wire *w);
/* wire_count - add @n to @what; costs an addition in a cache line that few
 * others write. @w NULL: does nothing. */
void wire_count(struct wire *w, enum wire_count what, uint64_t n);

/*
 * wire_route_for - find the wire to @dst for packets of @proto; wire_route - for
 * packets of any protocol, by wires that carry all
 * @lo: result of wire_lo()
 * @src: the source address that the packets are to have, for a transport with
 * several paths: a wire that has this address and leads to @dst is chosen
 * before all others.  NULL, or of the other version: any.
 * @ret: the path; unchanged if there is no wire
 * Return: NULL: there is no wire, the caller uses the kernel's sockets. @lo:
 * @dst is the address of a wire, so packets stay in the domain.  Costs one
 * load while no wire but `lo' is configured.
 */
struct wire_path {
	struct ip_addr src; /* source of the packets: @src, if the wire has it;
			     * len 0: the caller keeps its own source */
	uint32_t mtu;	    /* bytes of the longest packet that is known to
			     * arrive */
};
struct wire *wire_route_for(struct wire *lo, const struct ip_addr *dst,
	const struct ip_addr *src, int proto, struct wire_path *ret);
static inline struct wire *
wire_route(struct wire *lo, const struct ip_addr *dst,
	const struct ip_addr *src, struct wire_path *ret)
{
	return wire_route_for(lo, dst, src, -1, ret);
}

/*
 * wire_route_by - the same for groups and broadcasts: the wire that has the
 * address @own, or, if that is none, the interface @ifindex.  NULL: no wire.
 * wire_is_broadcast - is @dst 255.255.255.255, or the broadcast address of a
 * network of @w?
 * wire_has - can packets on @w have the source @a?  A wire of raw sockets has
 * the host's addresses.
 */
struct wire *wire_route_by(struct wire *lo, const struct ip_addr *own,
	int ifindex, const struct ip_addr *dst, struct wire_path *ret);
int wire_is_broadcast(struct wire *w, const struct ip_addr *dst);
int wire_has(struct wire *w, const struct ip_addr *a);

/*
 * wire_local - is @dst an address of this host or of a wire, so that packets to
 * it are delivered on lo?
 * @ret_src: the source address of packets to @dst
 * @ret_life: the answer is valid for so many ns; 0: always
 * Groups, broadcasts and link-local addresses are not local.  The first answer
 * for an address may cost two system calls; it is kept for a second.
 */
int wire_local(const struct ip_addr *dst, struct ip_addr *ret_src,
	uint64_t *ret_life);
/* wire_source - the source address that the kernel uses for packets to @dst; 0:
 * it has no route.  Costs two system calls. */
int wire_source(const struct ip_addr *dst, struct ip_addr *ret_src);

/*
 * wire_send - send a packet on @w; fragment it if necessary
 * @h: its header; @pkt is consumed if 0 is returned. df applies to IPv6 too:
 * such a packet is sent whole if the wire can carry it; others are fragmented
 * for the path MTU (RFC 1191).
 * On lo the packet is delivered before the call returns, by the receiver's
 * input procedure: the caller holds no lock that its own input procedure needs.
 * Checksums are not checked then, so the caller may leave them out if
 * wire_is_plain(@w).  On an impaired lo the receivers run later.
 * Return: 0; EMSGSIZE: too long, and must not be fragmented; EAGAIN: the wire
 * is full; ENETDOWN, ENOSR.
 *
 * wire_send_batch - the same for @n packets, in order, at the cost of one hold
 * of the wire, and of one system call if the wire permits
 * Return: how many were sent, and consumed; *@ret_err: the error of the first
 * that was not sent; 0 if all were sent.
 */
int wire_send(struct wire *w, mblk_t *pkt, const struct ip_hdr *h);
struct wire_pkt {
	mblk_t *mp;
	const struct ip_hdr *h;
};
uint32_t wire_send_batch(struct wire *w, const struct wire_pkt *v, uint32_t n,
	int *ret_err);

/*
 * wire_send_bytes - the same for a packet of @n bytes at @p, in one piece and
 * without a message block
 * @p: WIRE_ROOM bytes in front of the packet can be written, too
 * @sum_at: not 0: the checksum of what follows the IP header is not complete. It
 * is this many bytes behind the IP header, has the sum of the pseudo-header as
 * if it were data, and is never to become 0: the wire or its device completes it
 * Return: 0: it was sent; else an errno, and nothing was done: use wire_send().
 * That is so on lo, with a tap or an impairment, if the packet must be
 * fragmented, and while the station of the next hop is not known.
 */
#define WIRE_ROOM 24u
int wire_send_bytes(struct wire *w, void *p, uint32_t n, uint32_t sum_at,
	const struct ip_hdr *h);

/*
 * wire_id - an identification for a new packet, which hosts that do not receive
 * such packets cannot predict (RFC 7739); not 0; 16 bits for IPv4
 */
uint32_t wire_id(const struct ip_addr *src, const struct ip_addr *dst,
	uint8_t proto);

/*
 * wire_input - receive a packet from @w; consumed, but not with IP_LENT in
 * @flags: then it is one block, which the caller uses again, and the receivers
 * copy what they keep
 * Context: the wire's service procedure; lo: any put procedure.
 */
void wire_input(struct wire *w, mblk_t *pkt, unsigned int flags);

/*
 * A protocol above IP.  A built-in driver registers its constant table by
 * STR_WIRE_PROTO(); nothing else has to name it.  All tables of the packet's
 * protocol are called, in any order.
 */
struct wire_proto {
	int proto; /* IPPROTO_*, -1: any */
	/* packets without a receiver are answered by "port unreachable", not by
	 * "protocol unreachable" */
	int has_ports;
	/*
	 * A complete packet, which begins with the IP header; only that header
	 * has been checked.  Not consumed; with IP_LENT in @flags a receiver
	 * keeps no reference to it.  Return: 1: it was accepted (send no ICMP
	 * error).  Context: that of wire_input(); by any number of threads.
	 */
	int (*input)(struct wire *w, mblk_t *pkt, const struct ip_hdr *h,
		unsigned int flags);
	/*
	 * An ICMP error about a packet that this transport sent, with the IP
	 * header @h and these first bytes; error 0: only find out whether an
	 * endpoint sends such packets.  Return: 1: an endpoint does.  May be
	 * NULL.
	 */
	int (*error)(struct wire *w, const struct ip_hdr *h,
		const unsigned char *begin, size_t n, int error, uint32_t mtu);
	/* Packets or bytes that the endpoints have sent on lo and that are not
	 * in lo's counters: WIRE_IN ... WIRE_OUTBYTES.  Added when lo's counters
	 * are read.  May be NULL. */
	uint64_t (*counted)(enum wire_count what);
	/* A tap or an impairment of lo, or a raw endpoint of the protocol, has
	 * come: packets that the endpoints of the domain left out are made from
	 * now on.  Context: the user's; without locks.  May be NULL. */
	void (*watched)(void);
};
#define STR_WIRE_PROTO(proto_) \
	static const struct wire_proto *const str_wire_##proto_ \
		STR_LISTED(str_wires) = &(proto_)

/*
 * wire_watched - a tap or an impairment of lo (@proto -1), or a raw endpoint of
 * @proto, has come
 */
void wire_watched(int proto);

/*
 * Groups.  The member of a group on a wire is a stream of a transport, @who.  A
 * packet for a group is delivered to the streams with the packet's port, or
 * protocol, that are members on the wire on which it arrived.
 */
struct wire_group {
	struct ip_addr group;
	struct ip_addr own; /* the wire with that address; len 0: any */
	int ifindex;	    /* ... on that interface; 0: any */
};

/*
 * wire_group - @who joins or leaves a group on the wire that @how names, else
 * on the wire that leads to the group
 * Return: 0; ENODEV: the caller uses the kernel: there is no such wire, or it
 * has the host's addresses (then the change is made on the wire, too);
 * EADDRINUSE: the endpoint has joined already; EADDRNOTAVAIL: it is not a
 * member; ENOBUFS
 * wire_leave - @who leaves all groups on all wires
 */
int wire_group(struct wire *lo, const struct str_ref *who,
	const struct wire_group *how, int joins);
void wire_leave(struct wire *lo, const struct str_ref *who);
int wire_is_member(const struct wire *w, const struct str_ref *who,
	const struct ip_addr *group);
int wire_has_members(struct wire *w, const struct ip_addr *group);

/*
 * wire_tapped - has @w a tap?
 * wire_tap - give a copy of @pkt to the taps of @w
 */
static inline int
wire_tapped(const struct wire *w)
{
	return __atomic_load_n(&w->taps, __ATOMIC_RELAXED) != 0;
}
void wire_tap(struct wire *w, const mblk_t *pkt, int out);

/*
 * wire_impaired - are packets on @w to be lost, delayed or changed?  Then they
 * are complete, with checksums, and all are sent by wire_send(), on lo too.
 * wire_is_plain - is @w neither impaired nor tapped?
 */
static inline int
wire_impaired(const struct wire *w)
{
	return __atomic_load_n(&w->impaired, __ATOMIC_RELAXED) != 0;
}
static inline int
wire_is_plain(const struct wire *w)
{
	return !wire_tapped(w) && !wire_impaired(w);
}

#endif
