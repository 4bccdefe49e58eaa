/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Packets of a tap as text: strtap(8). */
#ifndef TOOLS_PACKET_H
#define TOOLS_PACKET_H

#include <stdio.h>
#include <sys/ipwire.h>

/* Print source, destination and contents of the packet in @data as a line. */
void packet_print(FILE *out, const struct ipw_pkt *rec,
	const unsigned char *data);

#endif
