/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * udp, rawip and icmp - datagrams over the kernel's sockets.  dgram_send.c
 * sends them, dgram_recv.c receives them.
 */
#include <netinet/udp.h>
#include "dgram.h"

/*
 * inet_dg_trains - many datagrams arrive: receive trains from now on
 * In this order: first the receive path is ready for trains, then the socket
 * and the senders may produce them.
 */
void
inet_dg_trains(struct inet *in)
{
	int one = 1;

	if (in->trains || !inet_dg_is_udp(in))
		return;
	str_store(&in->trains, 1u);
	STR_POINT("dgram:trains");
	(void)ksock_setopt(in->ks, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
	inet_credit_trains(in);
}

/* A new socket: set the options for received data and errors. */
static void
dg_begin(struct inet *in)
{
	int one = 1, zero = 0, most = 1 << 20;

	/* as much as possible, unless the user has set it */
	if (!inet_is_set(in, XTI_GENERIC, XTI_RCVBUF))
		(void)ksock_setopt(in->ks, SOL_SOCKET, SO_RCVBUF, &most,
			sizeof(most));
	if (inet_dg_is_rawip(in))
		(void)ksock_setopt(in->ks, IPPROTO_IP, IP_HDRINCL, &zero,
			sizeof(zero));
	if (in->family == AF_INET6)
		(void)ksock_setopt(in->ks, IPPROTO_IPV6, IPV6_RECVERR, &one,
			sizeof(one));
	else
		(void)ksock_setopt(in->ks, IPPROTO_IP, IP_RECVERR, &one,
			sizeof(one));
	in->trains = 0;
	in->row = 0;
	if (in->kind != INET_UDP4 && in->kind != INET_UDP6)
		inet_dg_trains(in);
	in->out.got = 1;
	in->level = 1;
}

/* ------------------------------------------------------------- operations */

static int
dg_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct inet *in = inet_of(tp);
	int err = inet_bind_to(in, want, any, got);

	/* XTI t_bind: without connections the number has no meaning */
	*qlen = 0;
	if (err == 0) {
		dg_begin(in);
		inet_credit_bound(in, got);
		in->phase = INET_OPEN;
		qenable(in->rq);
	}
	return err;
}

static int
dg_unbind(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	inet_credit_gone(in); /* first: noted even if we are killed in the
			       * rest */
	if (in->dg != NULL && in->ks != NULL)
		inet_dg_flush(in);
	if (in->dg != NULL)
		in->dg->n = in->dg->done = in->dg->used = 0;
	inet_dg_want(in, 0);
	in->phase = INET_NONE;
	return inet_unbind(tp);
}

static void
dg_close(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	(void)dg_unbind(tp);
	inet_short_end(in);
	kmem_free(in->dg, sizeof(*in->dg));
	in->dg = NULL;
}

/* ------------------------------------------------------------------- tables */

#define DG_OPS(name_, addr_, tsdu_, opt_, nopt_, prov_) \
	const struct tpi_ops name_ = { \
		.name = "inet", \
		.size = sizeof(struct inet), \
		.info = INET_DGRAM_INFO(addr_, tsdu_), \
		.opt = (opt_), \
		.nopt = (nopt_), \
		.prov = (prov_), \
		.open = inet_open, \
		.close = dg_close, \
		.bind = dg_bind, \
		.unbind = dg_unbind, \
		.clash = tpi_port_clash, \
		.unitdata = inet_dg_unitdata, \
		.direct = inet_short_send, \
		.udbad = {0, EINVAL, EINVAL}, \
		.getopt = inet_getopt, \
		.setopt = inet_setopt, \
		.rsrv = inet_dg_rsrv, \
		.wsrv = inet_dg_wsrv, \
	}

DG_OPS(inet_udp_ops, 16, 65507, inet_opt_udp, INET_NOPT_UDP, inet_prov_udp);
DG_OPS(inet_udp6_ops, 28, 65507, inet_opt_udp, INET_NOPT_UDP, inet_prov_udp);
DG_OPS(inet_rawip_ops, 16, 65515, inet_opt_raw, INET_NOPT_RAW, inet_prov_raw);
