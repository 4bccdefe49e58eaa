/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What was sent lately, and identifications of packets.
 *
 * Purpose.  Any host can send an ICMP error that quotes a packet of ours.  An
 * error is believed only if such a packet was sent lately: with the same
 * addresses, protocol and ports, and at least as long as the quoted one.
 * Identifications that a stranger can predict let it spoil reassembly, count
 * our packets, and guess what an error must quote (RFC 7739).
 *
 * Objects.  A table of words, each a flow: 32 bits of a hash of addresses,
 * protocol and ports, the time, and the length of the longest packet.  A flow
 * has two places; the older entry is replaced.  A table of counters for
 * identifications, chosen by a hash of addresses and protocol (RFC 7739 s5.3).
 *
 * Locks.  None: words are read and written at once.  Two senders that write one
 * word at the same time may lose a flow, which its next packet brings back.
 */
#ifndef DRV_IP_SENT_H
#define DRV_IP_SENT_H

#include <str/ip.h>

#define IP_SENT 4096u
#define IP_SENT_LIFE 10000000000ull /* ns */
#define IP_IDS 512u

struct ip_secret {
	uint64_t k[2]; /* random; 0: not yet */
};

struct ip_sent {
	uint64_t word[IP_SENT];
};

/* ip_sip - SipHash-2-4 of @n bytes at @p */
uint64_t ip_sip(const struct ip_secret *s, const unsigned char *p, size_t n);

/*
 * ip_sent_note - the packet with the header @h is sent; @begin: the first @n
 * bytes of its data
 * ip_sent_most - length of the longest packet of that flow that was sent lately,
 * with its IP header; 0: none
 */
void ip_sent_note(struct ip_sent *t, const struct ip_secret *s,
	const struct ip_hdr *h, const unsigned char *begin, size_t n,
	uint64_t now);
uint32_t ip_sent_most(const struct ip_sent *t, const struct ip_secret *s,
	const struct ip_hdr *h, const unsigned char *begin, size_t n,
	uint64_t now);

/* ip_new_id - the identification of a new packet; not 0 */
uint32_t ip_new_id(uint32_t count[IP_IDS], const struct ip_secret *s,
	const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto);

#endif
