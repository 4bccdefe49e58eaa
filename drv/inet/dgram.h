/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Datagrams of one endpoint that wait to be sent; for dgram*.c. */
#ifndef INET_DGRAM_H
#define INET_DGRAM_H

#include "inet_impl.h"

#define DG_ROOM 131072u	 /* bytes that wait */
#define DG_MAX 512u	 /* datagrams that wait */
#define DG_BATCH 65536u	 /* bytes that are enough to be sent */
#define DG_ADDRS 8u	 /* addresses of waiting ones */

struct dg_addr {
	uint32_t len;
	struct sockaddr_in6 sa; /* of either family */
};

struct dg_ent {
	uint32_t off;
	uint16_t len;
	uint16_t addr;
};

struct inet_dg {
	volatile uint32_t n; /* entries; counts what is whole */
	uint32_t done;	     /* of these, sent */
	uint32_t used;	     /* bytes of buf */
	uint32_t naddr;
	uint32_t want;	     /* last KS_* of ksock_want() */
	uint32_t notrain;    /* the kernel cannot */
	uint64_t last;	     /* when something was sent */
	uint64_t since;	     /* since when datagrams wait */
	struct dg_addr addr[DG_ADDRS];
	struct dg_ent ent[DG_MAX];
	unsigned char buf[DG_ROOM];
};

static inline int
inet_dg_is_udp(const struct inet *in)
{
	return inet_kind[in->kind].type == SOCK_DGRAM;
}

/* A raw socket whose user does not handle IP headers. */
static inline int
inet_dg_is_rawip(const struct inet *in)
{
	return in->family == AF_INET && (in->kind == INET_RAWIP ||
		(in->kind == INET_RAW2 &&
			!inet_is_on(in, T_INET_IP, T_IP_HDRINCL)));
}

/* Ask for the events KS_* that the endpoint waits for. */
static inline void
inet_dg_want(struct inet *in, uint32_t events)
{
	if (in->dg != NULL && in->dg->want != events) {
		in->dg->want = events;
		ksock_want(in->ks, events);
	}
}

/* dgram_send.c */
void inet_dg_flush(struct inet *in);
int inet_dg_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
void inet_dg_wsrv(struct tpi *tp, int after);

/* dgram_recv.c */
void inet_dg_rsrv(struct tpi *tp);

#endif
