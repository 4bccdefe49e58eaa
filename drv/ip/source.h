/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Choice of a source address (RFC 6724 s5).  Pure functions.
 */
#ifndef DRV_IP_SOURCE_H
#define DRV_IP_SOURCE_H

#include <str/ip.h>

/*
 * ip_source_better - is @a a better source than @b for packets to @dst?
 * @abits, @bbits: lengths of their prefixes.  All three of one version.  The
 * rules 1, 2, 6 and 8; for IPv4 the addresses count as in RFC 6724 s3.2.
 * Return: 1: it is; 0: @b is better, or as good.
 */
int ip_source_better(const struct ip_addr *a, uint32_t abits,
	const struct ip_addr *b, uint32_t bbits, const struct ip_addr *dst);

#endif
