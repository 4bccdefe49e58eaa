/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the test driver `wire' is told, in an M_PROTO of two ints.
 */
#ifndef KSOCK_WIRE_H
#define KSOCK_WIRE_H

#define WIRE_CONNECT 1 /* with this port of 127.0.0.1 */
#define WIRE_LISTEN 2  /* at it, 0: any; answered by an M_PROTO: the port */
#define WIRE_GATHER 3  /* from now on less than so many bytes are kept */
#define WIRE_UDP 4     /* datagrams, with that port */
#define WIRE_COUNT 5   /* answered: reads and writes tried so far */
#define WIRE_NEAR 6    /* ksock_near() with this value */

struct wire_msg {
	int cmd;
	int arg;
};
struct wire_count {
	unsigned reads, dry, writes, refused;
};

#endif
