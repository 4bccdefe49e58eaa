/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * IP packets, for transports that make them themselves.
 *
 * Purpose.  Parse and build the headers of IPv4, IPv6, UDP and ICMP (RFC 791,
 * 8200, 768, 792, 4443).  These are pure functions on bytes, without queues,
 * memory or a clock, so that fuzzers and the host `sim' can call them.  Only
 * reassembly has its own memory; its callers pass the time.
 *
 * A packet is a message of M_DATA blocks; its first block begins with the IP
 * header and has at least all headers in it.  Headers are built in front of the
 * data, in the block's head room.  A Stream head leaves IP_ROOM bytes there
 * (SO_WROFF).
 */
#ifndef STR_IP_H
#define STR_IP_H

#include <stddef.h>
#include <stdint.h>

#define IP_ROOM 64u	  /* head room for IPv6, a fragment header, UDP */
#define IP_MOST 65535u	  /* bytes of an IPv4 packet */
#define IP_UDP_MOST 65507u /* of a datagram's data over IPv4 */

/* An address in network order; its length, 4 or 16 bytes, says the family. */
struct ip_addr {
	uint32_t len;
	unsigned char b[16];
};

/* The fields of a packet's IP header; numbers in host order. */
struct ip_hdr {
	struct ip_addr src, dst;
	uint16_t hlen;	  /* bytes of headers, options and extensions too */
	uint8_t proto;	  /* of what follows them */
	uint8_t tos;
	uint8_t ttl;
	uint8_t df;	  /* not to be fragmented */
	uint8_t more;	  /* fragments follow */
	uint8_t optlen;	  /* IPv4: bytes of options, at offset 20 */
	uint32_t frag;	  /* offset of this fragment, bytes; 0 */
	uint32_t id;
	uint32_t len;	  /* bytes behind the headers */
	uint32_t flow;	  /* IPv6 flow label */
	/* UDP port of the other host, if the packet is encapsulated (udp-encap
	 * wires): received: the one that it came from; sent: the one to use, 0:
	 * the wire's */
	uint16_t encap;
};

/* Why a packet is bad; negative results of ip_parse(), udp_parse(). */
enum ip_bad {
	IP_OK,
	IP_SHORT,	/* shorter than its headers, or than it says */
	IP_VERSION,
	IP_HLEN,
	IP_CKSUM,
	IP_LENGTH,	/* lengths that contradict each other */
	IP_OPTION,	/* broken options or extensions */
	IP_ADDR,	/* a source that cannot be one host, or a destination
			 * that is not here */
	IP_NBAD
};

#define IP_TRUST 1u /* checksums are not looked at: it never left memory */
#define IP_MANY 2u  /* it was sent to several stations at once */
#define IP_LENT 4u  /* its block is used again: what is kept is copied */
/* Flags of a packet that came inside of UDP, from port @p; the port. */
#define IP_FROM_PORT(p) ((unsigned int)(p) << 16)
#define IP_PORT_OF(flags) ((uint16_t)((flags) >> 16))

/*
 * ip_parse - read the IP header at @p
 * @n:     bytes that are there, in one piece
 * @total: bytes of the whole packet, @n or more.  If it is more than the header
 *         says, the rest is padding; if it is less, IP_SHORT
 * Return: 0 or minus an ip_bad.  IP_SHORT while @n is less than @total: the
 * headers are longer than @n, and the caller must pull them up.  If ret->more
 * or ret->frag is not 0, the packet is a fragment, and ret->proto is the
 * protocol behind the fragment header.
 */
int ip_parse(const unsigned char *p, size_t n, size_t total, unsigned int flags,
	struct ip_hdr *ret);

/*
 * ip6_problem - why ip_parse() returned IP_OPTION or IP_LENGTH for the IPv6
 * packet at @p, if its sender is to be told (RFC 8200 s4.2, s4.4, s4.5)
 * Return: 1: it is to be told by a Parameter Problem of ICMPv6.
 */
struct ip6_problem {
	uint8_t code;
	int many;	 /* even if the packet was for a group */
	uint32_t at;	 /* offset of what was not understood */
	struct ip_hdr h; /* addresses; protocol behind the headers; their
			  * length */
};
int ip6_problem(const unsigned char *p, size_t n, struct ip6_problem *ret);

/*
 * ip_build - write the header that @h describes in front of @end
 * There must be room for ip_size(@h) bytes.  An IPv4 header's checksum is
 * filled in, with IP_TRUST left 0.
 * @opt: @h->optlen bytes, or NULL.
 * Return: bytes written.
 */
size_t ip_build(unsigned char *end, const struct ip_hdr *h,
	const unsigned char *opt, unsigned int flags);
size_t ip_size(const struct ip_hdr *h);

/*
 * ip_sum - add @n bytes to a checksum in progress (RFC 1071); @odd: an odd
 * number of bytes was added before; ip_fold - the value for the header, in host
 * order like all numbers here (0 for a correct packet that is checked)
 */
uint32_t ip_sum(const unsigned char *p, size_t n, uint32_t sum, int odd);
uint16_t ip_fold(uint32_t sum);
/* ip_pseudo - the pseudo-header of either version */
uint32_t ip_pseudo(const struct ip_addr *src, const struct ip_addr *dst,
	uint8_t proto, uint32_t len);

struct udp_hdr {
	uint16_t sport, dport; /* host order */
	uint16_t len;	       /* of header and data */
	uint16_t sum;	       /* as it stands there; 0: none (IPv4) */
};
#define UDP_HDRLEN 8u
int udp_parse(const unsigned char *p, size_t n, size_t total,
	struct udp_hdr *ret);
void udp_build(unsigned char *p, const struct udp_hdr *h);

#endif
