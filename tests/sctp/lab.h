/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two SCTP endpoints in one process, a network between them, and virtual time.
 * Everything follows from the seed.
 */
#ifndef TESTS_SCTP_LAB_H
#define TESTS_SCTP_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

#define LAB_PORT 7000
#define LAB_ADDRS 2
#define LAB_PACKET 2048

/* What the network does to packets; chances of 1000. */
struct lab_link {
	uint64_t delay, jitter; /* us; jitter reorders */
	unsigned lose, twice, corrupt;
	uint64_t rate;		/* bytes a second; 0: any */
	unsigned mtu;		/* longer packets come back; 0: none do */
	unsigned queue;		/* packets that wait for the rate; 0: any */
	bool cut[LAB_ADDRS];	/* nothing passes between these addresses */
};

struct lab_end {
	struct sctp_ep ep;
	struct ip_addr addr[LAB_ADDRS];
	struct sctp_assoc *as;	/* the last one that was made */
	uint64_t free_at;	/* the link's sender */
	unsigned waiting;
	void (*input)(struct lab_end *e); /* after events and data */
};

struct lab_flight {
	struct lab_flight *next;
	uint64_t at;
	int to;
	unsigned n;
	struct ip_addr src, dst;
	unsigned char p[LAB_PACKET];
};

struct lab {
	struct sctp_env env;
	uint64_t seed;
	struct lab_link link;
	struct lab_end end[2];
	struct lab_flight *air; /* by time */
	uint64_t packets, lost;
};

extern struct lab lab;
extern long lab_blocks, lab_bytes;  /* allocated now */
extern long lab_fail;		    /* 1 of so many allocations fails; 0 */

uint64_t lab_rand(uint64_t below);
void lab_begin(uint64_t seed);
void lab_connect(unsigned naddrs);
void lab_call(int from);       /* at one address */
void lab_flush(struct lab_end *e);
bool lab_step(uint64_t until); /* one event; false: none before @until */
void lab_end(void);	       /* checks that no memory is left */

#endif
