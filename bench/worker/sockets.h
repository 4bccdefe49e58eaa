/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_SOCKETS_H
#define WORKER_SOCKETS_H

#include "transport.h"

/* Both directions; bytes 0 leaves them alone.  0, or -1 and errno. */
int socket_set_buffers(int fd, size_t bytes);

ssize_t socket_send(struct end *end, const void *buf, size_t n);
ssize_t socket_recv_datagram(struct end *end, void *buf, size_t n);
int socket_mark(struct end *end);
void socket_hang_up_datagrams(struct end *end);

extern const struct transport tcp_sockets;
extern const struct transport tcp_sockets_nodelay;
extern const struct net unix_stream_net;
extern const struct transport udp_sockets;
extern const struct transport udp_sockets_netns;
extern const struct transport raw_sockets;

#endif
