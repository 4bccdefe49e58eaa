/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Impairment of a wire: packets that are sent on it are lost, delayed, sent
 * twice, out of order, changed, or at a limited rate: strwire(8).
 *
 * Life of a packet.  The same number of random numbers is drawn for each
 * packet, needed or not, so that the treatment of the n-th packet depends only
 * on the seed and on n.  A copy is held until it is due; copies are held in the
 * order of these times.  The caller sends what ip_impair_due() gives.
 *
 * Objects.  One struct in each wire; held packets are messages, each behind a
 * block with its time and header.
 *
 * Locks.  `lock' protects all fields, and is held by the functions only.
 *
 * Crash.  A thread that is killed with the lock leaves `busy' set; the next one
 * counts the held packets again.  The packet that it was working on is lost.
 */
#ifndef DRV_IP_IMPAIR_H
#define DRV_IP_IMPAIR_H

#include <sys/types.h>
#include <sys/stream.h>
#include <sys/ksynch.h>
#include <sys/ipwire.h>
#include <str/ip.h>

struct ip_impair {
	kmutex_t lock;
	uint32_t busy;
	struct ipw_impair conf; /* and the counters */
	uint64_t rand;
	uint64_t idle;	/* ns: when the rate permits the next packet */
	uint32_t nlate; /* held ones that wait for the next packet */
	mblk_t *first, *last;
};

/* Is @conf possible?  Does it change anything? */
int ip_impair_is_good(const struct ipw_impair *conf);
int ip_impair_is_any(const struct ipw_impair *conf);
/* Treat packets as @conf says, from now on.  Held ones stay. */
void ip_impair_set(struct ip_impair *im, const struct ipw_impair *conf);
/* @ret: the parameters and counters. */
void ip_impair_get(struct ip_impair *im, struct ipw_impair *ret);

/*
 * ip_impair_take - treat a packet that is sent at the time @now; not consumed
 * Return: when the first of the held packets is due; UINT64_MAX: none is held.
 */
uint64_t ip_impair_take(struct ip_impair *im, const mblk_t *pkt,
	const struct ip_hdr *h, uint64_t now);
/*
 * ip_impair_due - take the next packet that is due at @now out
 * Return: the packet, with *@h; NULL: none is due; *@ret_next: when the next one
 * is, UINT64_MAX: none is held.
 */
mblk_t *ip_impair_due(struct ip_impair *im, uint64_t now, struct ip_hdr *h,
	uint64_t *ret_next);
/* Forget all held packets. */
void ip_impair_clear(struct ip_impair *im);

#endif
