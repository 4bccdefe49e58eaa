/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Transport primitives by hand, and plain sockets beside them.
 *
 * in_*() are about the STREAMS side and fail the case when something is not
 * as it has to be; every wait has an end.
 */
#ifndef IN_H
#define IN_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/socket.h>
#include <sys/tihdr.h>
#include <sys/wait.h>
#include <sys/xti_inet.h>
#include <unistd.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "t.h"

/* Message taken off an endpoint. */
struct in_msg {
	int prim;	  /* -1: data alone */
	union {
		union T_primitives p;
		unsigned char ctl[512];
	};
	int ctllen;
	unsigned char data[70000];
	int datalen;	  /* -1: none */
	int flags;	  /* what getmsg gave */
	int more;
};
extern struct in_msg in;

int in_open(const char *dev);
void in_put(int fd, const void *ctl, int ctllen, const void *data,
	int datalen, int hipri);
/* The next message, whatever it is; its primitive. */
int in_get(int fd);
/* ... which must be this one. */
void in_want(int fd, int prim);
/* Is there none within @ms? */
int in_quiet(int fd, int ms);
void in_ok(int fd, int prim);
void in_error(int fd, int prim, int tli, int err);

/* Addresses. */
socklen_t in_addr(struct sockaddr_storage *ss, int family, const char *text,
	int port);
int in_port(const void *addr);

int in_bind(int fd, const struct sockaddr_storage *ss, socklen_t len,
	unsigned qlen);
void in_bind_req(int fd, int prim, const void *addr, int len, unsigned qlen);
void in_conn_req(int fd, const void *addr, int len);
void in_accept(int fd, int seq, int to);
void in_discon(int fd, int seq);
void in_prim(int fd, int prim);
int in_id(int fd);
int in_state(int fd);
void in_unitdata(int fd, const void *addr, int alen, const void *data,
	int len);

/* An endpoint connected with the plain socket *@ret. */
int in_pair(const char *dev, int family, int *ret);

/*
 * Plain sockets.  in_here: bound to a port that is free, also when it is
 * given back; *ss is told.
 */
int in_here(int family, int type, struct sockaddr_storage *ss, socklen_t *len);
int in_sock(int family, int type);
int in_listener(int family, struct sockaddr_storage *ss, socklen_t *len);
void in_readn(int s, void *buf, size_t n);
/* Does this thread sleep, and has slept for 10 ms?  Then it waits for a message. */
int in_asleep(pid_t pid, pid_t tid);
/* The byte at @at of a stream that both sides can compute. */
static inline unsigned char
in_byte(uint64_t at)
{
	return (unsigned char)(at * 2654435761u >> 13);
}

#endif
