/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The IP driver's own: wires and taps, in memory that all processes share.
 *
 * Objects.  struct ip_wire, one of a table, the first of them `lo'; struct
 * ip_shared, all there is.  An entry is in use while `gen' is odd, and is used
 * again for another wire later; who takes a pointer from the table looks at
 * gen once more when it holds the wire's stream.
 */
#ifndef DRV_IP_IMPL_H
#define DRV_IP_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <str/builtin.h>
#include <str/hold.h>
#include <str/ip.h>
#include <str/wire.h>

#define IP_WIRES 32u
#define IP_ID 0x6970

/* Counters are kept in pieces, for threads not to share their lines. */
#define IP_PIECES 8u
struct ip_counts {
	volatile uint64_t n[WIRE_NCOUNTS];
} STR_LINE;

struct ip_wire {
	struct wire pub;
	volatile uint32_t gen;	/* odd: in use; of lo always */
	uint32_t kind;		/* IPW_*; lo's is 0 */
	char name[WIRE_NAMELEN];
	struct ip_counts count[IP_PIECES];
};

struct ip_shared {
	struct ip_wire wire[IP_WIRES]; /* [0] is lo */
};

static inline struct ip_wire *
ip_wire_of(struct wire *w)
{
	return (struct ip_wire *)(void *)w;
}

struct ip_shared *ip_shared(void);
uint64_t ip_counted(const struct ip_wire *w, unsigned int what);

#endif
