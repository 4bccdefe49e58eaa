/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the suites of sockets share.  They use nothing but the calls of RFC 6458
 * and of POSIX.
 */
#ifndef TESTS_SCTP_SK_H
#define TESTS_SCTP_SK_H

#include <arpa/inet.h>
#include <netinet/sctp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t.h"

static inline struct sockaddr_in
loop(unsigned port)
{
	struct sockaddr_in sa;

	memset(&sa, 0, sizeof(sa));
	sa.sin_family = AF_INET;
	sa.sin_port = htons((uint16_t)port);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sa;
}

static inline unsigned
port_of(int fd)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	T_OK(getsockname(fd, (struct sockaddr *)&sa, &len));
	T_EQ((int)len, (int)sizeof(sa));
	return ntohs(sa.sin_port);
}

static inline int
new_socket(void)
{
	return (int)T_OK(socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP));
}

/* A socket that listens on the loopback address. */
static inline int
listener(int backlog)
{
	struct sockaddr_in sa = loop(0);
	int fd = new_socket();

	T_OK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(fd, backlog));
	return fd;
}

static inline int
call(int fd, unsigned port)
{
	struct sockaddr_in sa = loop(port);

	return connect(fd, (struct sockaddr *)&sa, sizeof(sa));
}

/* Two connected sockets: [0] has called, [1] was accepted. */
static inline void
pair(int fd[2])
{
	int l = listener(5);

	fd[0] = new_socket();
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

static inline void
subscribe(int fd, int type)
{
	struct sctp_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.se_type = (uint16_t)type;
	ev.se_on = 1;
	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)));
}

static inline void
set_int(int fd, int level, int name, int v)
{
	T_OK(setsockopt(fd, level, name, &v, sizeof(v)));
}

static inline int
get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int v = -1;

	T_OK(getsockopt(fd, level, name, &v, &len));
	T_EQ((int)len, (int)sizeof(v));
	return v;
}

#endif
