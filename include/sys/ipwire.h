/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ipwire.h> - wires of IP packets, and taps on them
 *
 * Commands of the driver ip, by I_STR.  See ip(4), strwire(8), strtap(8).
 */
#ifndef _SYS_IPWIRE_H
#define _SYS_IPWIRE_H

#define IPW ('W' << 8)
#define IPW_TAP (IPW | 1)  /* struct ipw_tap: packets come up, as ipw_pkt */
#define IPW_ADD (IPW | 2)  /* struct ipw_conf: this stream is a wire */
#define IPW_INFO (IPW | 3) /* struct ipw_info of `index', or the next; ENXIO */
#define IPW_STOP (IPW | 4) /* end the tap; packets that have arrived can be
			    * read */

#define IPW_IMPAIR (IPW | 5)   /* struct ipw_impair: treat packets of a wire so */
#define IPW_IMPAIRED (IPW | 6) /* struct ipw_impair of the wire `name'; ENXIO */

#define IPW_NAMELEN 16
#define IPW_NOWN 4
#define IPW_NROUTE 8
#define IPW_NPROTO 4
#define IPW_NCOUNTS 32

/* Kinds of wires. */
#define IPW_LO 0     /* in memory; always there */
#define IPW_RAW 1    /* raw sockets, with this host's addresses */
#define IPW_TUN 2    /* a TUN device; addresses of its own */
#define IPW_PACKET 3 /* frames on an interface; addresses of its own */
#define IPW_ENCAP 4  /* one protocol inside of UDP, with this host's addresses */
#define IPW_ENCAP_PORT 9899 /* the default: RFC 6951 s6 */

/* An address and the length of its network prefix. */
struct ipw_addr {
	unsigned char len; /* 4, 16; 0: none */
	unsigned char bits;
	unsigned char zero[2];
	unsigned char b[16];
};

struct ipw_conf {
	char name[IPW_NAMELEN];
	char ifname[IPW_NAMELEN]; /* TUN: may be empty; packet: needed */
	unsigned int kind;
	unsigned int mtu; /* 0: packet: the interface's; encap: 1492; else 1500 */
	struct ipw_addr own[IPW_NOWN];	   /* addresses, with their prefix */
	struct ipw_addr route[IPW_NROUTE]; /* further destinations */
	/* For IPv4 and IPv6, or none.  TUN: addresses that this host gets on
	 * it.  Packet: the routers to other networks */
	struct ipw_addr gateway[2];
	/* raw: further protocols to receive; encap: the one that it carries */
	unsigned char proto[IPW_NPROTO];
	/* Of `route', in its order: the router (packet; len 0: the gateway), and
	 * the metric: of equal prefixes the least counts */
	struct ipw_addr via[IPW_NROUTE];
	unsigned int metric[IPW_NROUTE];
	/* encap: the UDP port, and that of hosts whose port is not known; 0: the
	 * default */
	unsigned short port[2];
	/* IPW_INFO: the `mtu' that IPW_ADD was given; ignored by IPW_ADD */
	unsigned short given;
	unsigned char flags; /* IPW_LATER */
	unsigned char zero;
};

/* IPW_ADD does not fail if the socket or device cannot be made now: the wire is
 * IPW_DOWN, and tries again. */
#define IPW_LATER 1

#define IPW_UP 1   /* it has its descriptor */
#define IPW_DOWN 2 /* it has none, and tries to get one; `error' says why */

struct ipw_info {
	unsigned int index; /* in: the least; out: the wire's index */
	struct ipw_conf conf;
	unsigned int state;
	int error;
	unsigned int taps;   /* number of its taps */
	unsigned int remade; /* how often its descriptor was made again */
	int muxid;	     /* of its persistent link, or 0 */
	unsigned long long count[IPW_NCOUNTS]; /* in the order of wire_count */
};

struct ipw_tap {
	char name[IPW_NAMELEN]; /* of a wire; empty: of all */
	unsigned int snap;	/* bytes of a packet, at most; 0: all */
	unsigned int flags;	/* 0 */
};

/* What a tap shows: the bytes behind a struct ipw_pkt. */
#define IPW_IS_IP 0  /* a packet, from its IP header on */
#define IPW_IS_ARP 1 /* a message of ARP, on a wire of the kind packet */

/* Header of each packet from a tap; one message for each packet. */
struct ipw_pkt {
	unsigned long long time; /* ns, CLOCK_MONOTONIC */
	unsigned int len;	 /* length of the packet in bytes */
	unsigned int caplen;	 /* bytes that follow */
	unsigned int drops;	 /* packets this tap has lost so far */
	unsigned short wire;	 /* its index */
	unsigned char out;	 /* it was sent, else received */
	unsigned char what;	 /* IPW_IS_* */
};

/*
 * How a wire treats the packets that are sent on it: strwire(8).  All zero: it
 * sends each at once.
 */
#define IPW_ALWAYS 1000000u    /* chances are in millionths */
#define IPW_LONGEST 3600000000u /* us */
struct ipw_impair {
	char name[IPW_NAMELEN];
	unsigned int loss;
	unsigned int dup;	 /* sent twice */
	unsigned int reorder;	 /* sent after the next one */
	unsigned int corrupt;	 /* one bit behind the IP header is inverted */
	unsigned int delay;	 /* us */
	unsigned int jitter;	 /* us: the most that is added at random */
	unsigned int limit;	 /* most packets that are held; 0: 1000 */
	unsigned int zero;
	unsigned long long rate; /* bytes a second; 0: no limit */
	unsigned long long seed;
	/* counters; ignored by IPW_IMPAIR, which sets them to 0 */
	unsigned long long seen, lost, twice, late, damaged;
	unsigned long long full; /* lost because `limit' packets were held */
	unsigned long long held; /* now */
};

#endif /* _SYS_IPWIRE_H */
