/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The XTI conformance suite.  Written once: what differs between transports
 * stands in a table (xt.c), and XT_TARGET says which of them a run is about.
 * A case is registered only for transports of the services it is for.
 *
 *	XT_CASE(CO, a_refused_connection_is_a_disconnect)
 *	{
 *		int fd = xt_bound(0, 0);
 *		...
 *		T_TERR(t_rcv(fd, buf, 1, &flags), TLOOK);
 *	}
 */
#ifndef TESTS_XTI_XT_H
#define TESTS_XTI_XT_H

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <xti.h>

/* Names that XTI and the harness both have. */
#undef T_NULL
#undef T_UNUSED

#include "t.h"

#define CL (1u << T_CLTS)
#define ORD (1u << T_COTS_ORD)
#define CO (ORD | 1u << T_COTS)
#define ANY (CO | CL)

struct xt_target {
	const char *name;
	const char *device;
	int service;
	int inet;	/* addresses are struct sockaddr_in */
	int expedited;
	int at_once;	/* connections are confirmed before they are accepted */
	int raw;	/* IP's protocols: everybody gets what comes */
	int six;	/* addresses are struct sockaddr_in6 */
	int native;	/* drv/udp: within the domain nothing is dropped */
	int whole;	/* sctp: units of data in packets of its own making; */
#define XT_PACKETS 2	/* ... within the domain, too */
};
extern const struct xt_target *xt; /* the one this run is about */

/* An address. */
struct xt_addr {
	unsigned len;
	char buf[256];
};

/* An option, with room for its value. */
struct option {
	struct t_opthdr h;
	t_uscalar_t v[2];
};

#define XT_CASE(services_, name_) XT_CASE_TIMEOUT(services_, name_, 0)
#define XT_CASE_TIMEOUT(services_, name_, seconds_) \
	static void xt_run_##name_(struct t *t); \
	T_CONSTRUCTOR static void \
	xt_add_##name_(void) \
	{ \
		static struct t_case c = {#name_, xt_run_##name_, seconds_, \
			NULL}; \
\
		xt_case_add(services_, &c); \
	} \
	static void \
	xt_run_##name_(struct t *t T_UNUSED)

void xt_case_add(unsigned services, struct t_case *c);

/* A call that must not fail; its value.  One that must, with this t_errno. */
#define T_TOK(e) xt_ok(__FILE__, __LINE__, #e, (e))
#define T_TERR(e, want) \
	do { \
		t_errno = 0; \
		errno = 0; \
		long r_ = (long)(e); \
		xt_err(__FILE__, __LINE__, #e, r_, want); \
	} while (0)
#define T_STATE(fd, want) T_EQ(T_TOK(t_getstate(fd)), want)
/* The event comes, soon. */
#define T_EVENT(fd, want) xt_event(__FILE__, __LINE__, fd, want)

int xt_ok(const char *file, int line, const char *what, int ret);
void xt_err(const char *file, int line, const char *what, long ret, int want);
void xt_event(const char *file, int line, int fd, int want);

/* New endpoints; the case is skipped when there is no such device. */
int xt_open(int nonblock);
int xt_open_info(int nonblock, struct t_info *info);
int xt_bound(int nonblock, unsigned qlen);	/* to any address */
/* ... that is free, also when it is given back */
int xt_bound_at(int nonblock, unsigned qlen, struct xt_addr *ret);
void xt_block(int fd, int block);

/* An address that is free. */
void xt_nobody(struct xt_addr *ret);
void xt_netbuf(struct netbuf *nb, struct xt_addr *a);
/* This host's address, as the transport has it; port 0: any. */
void xt_local(struct xt_addr *a, int port);

/* What a listener needs for a client: connect, and be accepted. */
void xt_call(int fd, struct xt_addr *to);	/* t_connect, does not wait */
int xt_accept(int lfd);				/* the new endpoint */
/* A connection: 0 who called, 1 who was called; both block. */
void xt_pair(int fd[2]);
/* Two callers at the listener *@lfd, at *@at, with room for both. */
void xt_two(struct xt_addr *at, int *lfd, int who[2], int seq[2]);
/* ... and an endpoint of it, or another, in @state; nonblocking. */
struct xt_end {
	int fd;
	int peer;	/* the other end, or -1 */
	int extra;	/* a bound listener, or -1 */
	struct xt_addr addr;	/* of an endpoint to be called, sent to */
	int seq;	/* T_INCON */
};
void xt_make(struct xt_end *e, int state);
const char *xt_state_name(int state);

/* All of it, whatever pieces it goes in. */
void xt_snd_all(int fd, const void *buf, size_t n, int flags);
size_t xt_rcv_all(int fd, void *buf, size_t n);

/*
 * xt_traffic - processes that work on one connection at once: @send at fd[0]
 *		and @receive at fd[1], and, if @ways is 2, the reverse too
 * xt_traffic_ends - wait for them; none has failed
 */
struct xt_traffic {
	int n;
	pid_t pid[4];
};
void xt_traffic(struct xt_traffic *tr, int ways, const int fd[2],
	void (*send)(int fd), void (*receive)(int fd));
void xt_traffic_ends(struct xt_traffic *tr);

#endif
