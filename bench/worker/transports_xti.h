/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_TRANSPORTS_XTI_H
#define WORKER_TRANSPORTS_XTI_H

#include "transport.h"

/* transports_xti.c: struct net's and struct transport's, of XTI. */
int xti_offer(const struct net *net, struct end *end, struct address *at,
	size_t bufsize);
int xti_reach(const struct net *net, struct end *end, const struct address *to,
	struct address *mine, size_t bufsize);
int xti_take(const struct net *net, struct end *end,
	const struct address *from, size_t bufsize);
int xti_reached(const struct net *net, struct end *end);
ssize_t xti_send_datagram(struct end *end, const void *buf, size_t n);
ssize_t xti_recv_datagram(struct end *end, void *buf, size_t n);
int xti_mark(struct end *end);

/* transports_wire.c */
extern const struct transport udp_xti_out;
extern const struct transport udp_xti_in;

/* With the socket in another network namespace: to it and from it. */
#define WIRE_KINDS(_) _(socket) _(raw) _(packet) _(tun)
#define WIRE_TRANSPORTS(kind)                          \
	extern const struct transport wire_##kind##_out; \
	extern const struct transport wire_##kind##_in;
WIRE_KINDS(WIRE_TRANSPORTS)

/* wires.c: 0, or -1 and errno */
int wire_raw(void);
int wire_packet(void);
int wire_tun(void);

#endif
