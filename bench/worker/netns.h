/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_NETNS_H
#define WORKER_NETNS_H

#include <stdint.h>

/*
 * Two network namespaces, "here", which this process and what it starts are
 * in, and "there", with a pair of Ethernet devices between them; netns.c.
 */
#define NETNS_DEVICE "strb0"
#define NETNS_BITS   24
#define NETNS_NET    UINT32_C(0x0a4e0000) /* 10.78.0.0/24 */
#define NETNS_HERE   (NETNS_NET + 1)
#define NETNS_THERE  (NETNS_NET + 2)

/* Addresses that the kernel here has not got, for wires that have their own */
#define NETNS_STATION     (NETNS_NET + 9)
#define NETNS_ROUTED      UINT32_C(0x0a4f0000) /* 10.79.0.0/24 */
#define NETNS_ROUTED_HERE (NETNS_ROUTED + 1)
#define NETNS_ROUTED_END  (NETNS_ROUTED + 2)

/* Each: 0, or -1 and errno, with the rest of it in worker_detail(). */
int netns_make(void);
int netns_enter(int there);    /* sockets are made there from now on */
int netns_route(int forwards); /* whether "here" passes packets on */

/* All processes in "here" onto one CPU.  0, or -1 and errno. */
int netns_pin(int cpu);

#endif
