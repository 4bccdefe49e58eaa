/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The UDP suite: what RFC 768, RFC 1122 and Sockets have UDP do, the same over
 * the kernel's sockets (inet) and native (udp2), IPv4 and IPv6.
 */
#ifndef UD_H
#define UD_H

#include <errno.h>
#include <netinet/ip.h>
#include <stdio.h>
#include <sys/timod.h>

#include "../inet/in.h"

int ud_native(void);
int ud_six(void);
int ud_family(void);
const char *ud_dev(void);
const char *ud_home(void); /* the loopback address */
const char *ud_any(void);

/* An address; what is at it, an endpoint or a plain socket. */
struct ud {
	int fd;
	struct sockaddr_storage at;
	socklen_t len;
};

void ud_addr(struct ud *u, const char *text, int port);
/*
 * Endpoints, plain sockets, bound there; port 0: one that is given only to
 * a program that asks for it, UD_ANY: the kernel's choice.
 */
#define UD_ANY (-1)
void ud_bound(struct ud *u, const char *text, int port);
void ud_plain(struct ud *u, const char *text, int port);
/* ... with the option that others may be there, too. */
void ud_shared(struct ud *u, const char *text, int port);
void ud_close(struct ud *u);

/* @from sends to @to; @to has received that from there, and nothing else. */
void ud_send(const struct ud *from, const struct ud *to, const void *p, int n);
void ud_get(const struct ud *to, const void *p, int n, const struct ud *from);
void ud_plain_send(const struct ud *from, const struct ud *to, const void *p,
	int n);
void ud_plain_get(const struct ud *to, const void *p, int n,
	const struct ud *from);
void ud_quiet(const struct ud *u);
/* T_UDERROR_IND about @to. */
void ud_error(const struct ud *u, const struct ud *to, int error);

/* T_OPTMGMT_REQ; the status in the answer. */
int ud_set(int fd, int level, int name, const void *val, unsigned len);
void ud_set_int(int fd, int level, int name, int val);
int ud_get_opt(int fd, int level, int name, void *val, unsigned room);
unsigned ud_drops(int fd);

#endif
