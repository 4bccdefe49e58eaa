/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading a file of pcap, as its format says and not as ours writes it.
 */
#ifndef TESTS_WIRES_PCAP_H
#define TESTS_WIRES_PCAP_H

#include <stddef.h>
#include <stdint.h>

struct pcap {
	unsigned char *text; /* the file */
	size_t size, at;
	uint32_t snaplen, linktype; /* 101: IP, 276: Linux' header is before */
	uint64_t last; /* ns, of the packet before */
};

struct pcap_pkt {
	uint64_t time; /* ns since 1970 */
	uint32_t caplen, len; /* without the header of the link */
	unsigned proto;	     /* as Ethernet's; 0: the link does not say */
	int out, wire;	     /* it was sent; the interface's index */
	const unsigned char *p;
};

/* A file that is not one fails the case. */
void pcap_open(struct pcap *pc, const char *path);
/* The next packet, without the header of the link; 0: no more. */
int pcap_next(struct pcap *pc, struct pcap_pkt *ret);
void pcap_close(struct pcap *pc);

/*
 * What is wrong with an IP packet, its UDP or its ICMP; NULL: nothing.
 * Checksums of 0 pass when @trust.
 */
const char *packet_wrong(const unsigned char *p, size_t n, int trust);

#endif
