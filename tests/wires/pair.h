/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two network namespaces, and what they say to each other.
 *
 * This process is in the first one, with native endpoints; the second has
 * plain programs of the kernel's UDP (there()).  A veth pair connects them.
 *
 *	wire t0 (own addresses)		this namespace	   that namespace
 *	10.79.0.2, fd79::2  -- TUN --  10.79.0.1, fd79::1
 *					10.78.0.1, fd78::1 -- 10.78.0.2, fd78::2
 *
 * Both namespaces and all that is in them end with their last process, that
 * is, with the case; nothing is sent anywhere else.
 */
#ifndef TESTS_WIRES_PAIR_H
#define TESTS_WIRES_PAIR_H

#include "t.h"

#define MOST 65507
#define ECHO 7000 /* the other side sends back what comes at that port */
#define SINK 7001 /* ... and only counts what comes here */

#define TRAIN 1000 /* bytes of a train */

/* Set before two_namespaces(). */
extern int between; /* bytes that the link between both carries */
extern int offload; /* the link's devices make checksums and cut trains, which
		     * the capture of the other side does not */

/* First in a case, which is skipped where this may not be done. */
void two_namespaces(void);
/* Wire t0, as above. */
void add_tun(void);

/*
 * What the other side is asked to do, and says.  @what is 'c': call addr, 'p':
 * ping it, 'f': flood it with @size datagrams of a byte, 'm': the same, @addr
 * is a group, 't': send it a train of TRAIN bytes by one call, in datagrams of
 * @size, 'k': look at what passed, 'n': count
 * what came for SINK at any address of 10.80/16.
 */
struct report {
	int ok;
	unsigned packets;
	unsigned requests; /* of ARP, to all; without probes */
	char text[80];
};
void order(char what, const char *addr, int port, int size);
struct report answer(void);
void good(struct report r);

/* A native endpoint, of the family of @addr. */
int family_of(const char *addr);
int endpoint(const char *addr, int *ret_port);
/* What came at @fd goes back where it came from; how much it was. */
int turn_round(int fd);
/* @size bytes there and back, begun here. */
void dialogue(int fd, const char *addr, int size);

/* The expression of `strwire stat --json' of wire @name, w, and its counts, c,
 * is true. */
void stat_says(const char *name, const char *expr);

#endif
