/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages by which routers learn which groups have members: IGMPv3 (RFC 3376),
 * IGMPv2 (RFC 2236), IGMPv1 (RFC 1112), MLDv2 (RFC 3810), MLDv1 (RFC 2710).
 * Pure functions.
 */
#ifndef DRV_IP_MCAST_H
#define DRV_IP_MCAST_H

#include <str/ip.h>

/* What a report says about a group; the numbers of the standards. */
enum mcast_record {
	MCAST_IS_MEMBER = 2,   /* an answer: MODE_IS_EXCLUDE, no sources */
	MCAST_LEAVES = 3,      /* CHANGE_TO_INCLUDE_MODE, no sources */
	MCAST_JOINS = 4	       /* CHANGE_TO_EXCLUDE_MODE, no sources */
};

/* What the routers understand. */
enum mcast_version {
	MCAST_NEW,  /* IGMPv3, MLDv2 */
	MCAST_OLD,  /* IGMPv2, MLDv1 */
	MCAST_OLDEST /* IGMPv1 */
};

#define MCAST_MOST 96u /* bytes of a report, with its IP header */

/*
 * mcast_report - make a packet that reports @group
 * @from: the sender's address; of IPv6 link-local or unspecified
 * @to: MCAST_MOST bytes of room
 * Return: bytes; 0: such a group is not reported, or @version has no such report.
 */
uint32_t mcast_report(unsigned char *to, enum mcast_record what,
	const struct ip_addr *group, const struct ip_addr *from,
	enum mcast_version version);

struct mcast_query {
	struct ip_addr group; /* len 0: all */
	uint64_t delay;	      /* ns in which to answer */
	enum mcast_version version;
};

/*
 * mcast_query - read a router's query, @n bytes behind the IP header @h at @p
 * Return: 1: it is one; 0: it is another message, or invalid.
 */
int mcast_query(const unsigned char *p, uint32_t n, const struct ip_hdr *h,
	struct mcast_query *ret);

#endif
