/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * inet - the Internet's transports, over the kernel's sockets.
 *
 * Purpose.  Each stream is a transport endpoint, tcp, udp, rawip or icmp, with
 * TPI above (drv/tpi) and a socket of the kernel below (<str/ksock.h>).  The
 * minor number of the device selects the transport; each open gets a stream and
 * a minor of its own.
 *
 * Files. tcp.c connections, out.c their output, dgram*.c datagrams, credit.c
 * their flow control within a domain, addr.c addresses and sockets, opt.c
 * options.
 *
 * Entering.  All procedures begin with inet_enter().  It completes the work
 * that a killed process left unfinished, takes over the connection that a
 * listener has accepted for this endpoint, and ends the loan to the Stream
 * head. inet_out_lend() renews the loan when the procedure ends.
 *
 * Locks.  D_MTQPAIR: one thread is in an endpoint at a time.  No other locks.
 */
#include "../canon.h"
#include "inet_impl.h"

/* Minors of the devices; those of streams follow them. */
#define INET_FIRST 64u

/* Shared by all streams and processes. */
struct inet_state {
	struct canon_minors minors;
	struct tpi_prov tcp, udp, raw;
	struct inet_port *volatile ports; /* credit.c */
};

const struct inet_kind inet_kind[INET_NKINDS] = {
	{"tcp", 36, AF_INET, SOCK_STREAM, IPPROTO_TCP, &inet_tcp_ops},
	{"udp", 39, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &inet_udp_ops},
	{"rawip", 41, AF_INET, SOCK_RAW, IPPROTO_RAW, &inet_rawip_ops},
	{"icmp", 33, AF_INET, SOCK_RAW, IPPROTO_ICMP, &inet_rawip_ops},
	{"tcp6", 46, AF_INET6, SOCK_STREAM, IPPROTO_TCP, &inet_tcp6_ops},
	{"udp6", 47, AF_INET6, SOCK_DGRAM, IPPROTO_UDP, &inet_udp6_ops},
	{"ip", 32, AF_INET, SOCK_RAW, IPPROTO_RAW, &inet_rawip_ops},
	{"ggp", 34, AF_INET, SOCK_RAW, 3, &inet_rawip_ops},
	{"ipip", 35, AF_INET, SOCK_RAW, IPPROTO_IPIP, &inet_rawip_ops},
	{"egp", 37, AF_INET, SOCK_RAW, IPPROTO_EGP, &inet_rawip_ops},
	{"pup", 38, AF_INET, SOCK_RAW, IPPROTO_PUP, &inet_rawip_ops},
	{"idp", 40, AF_INET, SOCK_RAW, IPPROTO_IDP, &inet_rawip_ops},
	{"udp2", INET_NOMINOR, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &udp2_ops},
	{"udp2_6", INET_NOMINOR, AF_INET6, SOCK_DGRAM, IPPROTO_UDP,
		&udp2_6_ops},
	{"rawip2", INET_NOMINOR, AF_INET, SOCK_RAW, IPPROTO_RAW, &rawip2_ops},
	{"rawip2_6", INET_NOMINOR, AF_INET6, SOCK_RAW, IPPROTO_RAW,
		&rawip2_6_ops},
};

static struct inet_state *
inet_state(void)
{
	return str_drv_state("inet", sizeof(struct inet_state));
}

/* inet_ports - the word that points to the table of credit.c */
struct inet_port *volatile *
inet_ports(void)
{
	struct inet_state *st = inet_state();

	return st != NULL ? &st->ports : NULL;
}

struct tpi_prov *
inet_prov_tcp(void)
{
	struct inet_state *st = inet_state();

	return st != NULL ? &st->tcp : NULL;
}

struct tpi_prov *
inet_prov_udp(void)
{
	struct inet_state *st = inet_state();

	return st != NULL ? &st->udp : NULL;
}

struct tpi_prov *
inet_prov_raw(void)
{
	struct inet_state *st = inet_state();

	return st != NULL ? &st->raw : NULL;
}

/* --------------------------------------------------------------- endpoints */

/* Take over a connection that a listener has accepted for this endpoint. */
static void
inet_take(struct inet *in)
{
	ksock_t *ks = str_xchg(&in->given, (ksock_t *)NULL);

	if (ks == NULL)
		return;
	if (in->tp.back == TS_UNBND)
		in->inherited = 1; /* until it is bound */
	inet_drop_sock(in, 0);
	in->ks = ks;
	in->family = in->tp.remote.len == sizeof(struct sockaddr_in6) ?
		AF_INET6 : AF_INET;
	ksock_attach(ks, in->rq);
	inet_apply(in);
	inet_tcp_begin(in);
}

void
inet_enter(struct inet *in)
{
	inet_out_unlend(in);
	if (str_unlikely((in->out.busy | in->out.direct) != 0 ||
		in->out.going != 0 || in->out.adding != 0))
		inet_out_mend(in);
	if (str_unlikely(str_load(&in->given) != NULL))
		inet_take(in);
}

/* inet_open - op open */
int
inet_open(struct tpi *tp, cred_t *crp)
{
	struct inet *in = inet_of(tp);

	in->rq = tp->rq;
	in->wq = WR(tp->rq);
	in->lend = ksock_lend(tp->rq);
	in->phase = INET_NONE;
	in->out.dead = 1;
	noenable(in->wq);
	return 0;
}

/* inet_unbind - op unbind: the next bind makes a new socket */
int
inet_unbind(struct tpi *tp)
{
	inet_drop_sock(inet_of(tp), 0);
	return 0;
}

/*
 * inet_addrs - op addrs: the addresses from the kernel, where they are more
 * exact
 */
void
inet_addrs(struct tpi *tp, struct tpi_addr *local, struct tpi_addr *remote)
{
	struct inet *in = inet_of(tp);
	struct sockaddr_storage ss;
	uint32_t len = sizeof(ss);

	if (in->phase != INET_OPEN || in->ks == NULL)
		return;
	if (ksock_name(in->ks, 0, &ss, &len) == 0) {
		bcopy(&ss, local->buf, len);
		local->len = len;
	}
}

static void
inet_memory(void *arg)
{
	qenable(arg);
}

static void
inet_tick(void *arg)
{
	queue_t *q = arg;
	struct inet *in = q->q_ptr;

	in->timing = 0;
	in->ticked = 1;
	qenable(q);
}

/*
 * inet_later - enable the read side again in @ticks
 * The timer is noted after it was started: a kill in between makes a second
 * timer.  Without memory, the next event tries again.
 */
void
inet_later(struct inet *in, long ticks)
{
	if (!in->timing)
		in->timing = qtimeout(in->rq, inet_tick, in->rq, ticks) != 0;
}

/* inet_again - no memory for @size bytes to read into: try again later */
void
inet_again(struct inet *in, size_t size)
{
	(void)qbufcall(in->rq, size, BPRI_MED, inet_memory, in->rq);
}

/* -------------------------------------------------------------- procedures */

static int
inet_qopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	unsigned int m = getminor(*devp), kind, minor;
	struct inet_state *st;
	mblk_t *mp;
	struct stroptions *so;
	int err;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	for (kind = 0; kind < INET_NKINDS; kind++)
		if (sflag != CLONEOPEN && inet_kind[kind].minor == m)
			break;
	if (kind == INET_NKINDS)
		return ENXIO;
	st = inet_state();
	if (st == NULL)
		return ENOSR;
	err = canon_minor_take(&st->minors, CLONEOPEN, INET_FIRST, &minor);
	if (err != 0)
		return err;
	err = tpi_open(q, devp, sflag, crp, minor, inet_kind[kind].ops);
	if (err != 0) {
		canon_minor_give(&st->minors, minor);
		return err;
	}
	((struct inet *)q->q_ptr)->kind = kind;
	*devp = makedevice(getmajor(*devp), minor);
	mp = allocb(sizeof(*so), BPRI_MED);
	if (mp != NULL) {
		so = (struct stroptions *)(void *)mp->b_wptr;
		bzero(so, sizeof(*so));
		so->so_flags = SO_HIWAT | SO_LOWAT;
		so->so_hiwat = INET_HEAD_HIWAT;
		so->so_lowat = INET_HEAD_LOWAT;
		mp->b_wptr += sizeof(*so);
		DB_TYPE(mp) = M_SETOPTS;
		putnext(q, mp);
	}
	return 0;
}

static int
inet_qclose(queue_t *q, int flag, cred_t *crp)
{
	struct inet *in = q->q_ptr;
	struct inet_state *st = inet_state();
	unsigned int minor = in->tp.minor;
	int err = tpi_close(q, inet_ops(in));

	if (st != NULL)
		canon_minor_give(&st->minors, minor);
	return err;
}

/*
 * A request that has no meaning for a stream of bytes: T_DATA_REQ, and
 * T_OPTDATA_REQ of normal data.  drv/tpi would queue it behind the data that
 * waits, where inet_tcp_push() expects requests of other kinds.
 */
static int
is_data_req(const mblk_t *mp)
{
	struct T_optdata_req od;
	struct tpi_buf opts;
	t_scalar_t prim;

	bcopy(mp->b_rptr, &prim, sizeof(prim));
	return prim == T_DATA_REQ ||
		(prim == T_OPTDATA_REQ &&
			tpi_optdata_read(mp, &od, &opts) == 0 &&
			(od.DATA_flag & T_ODF_EX) == 0);
}

/* The data of @mp if it may be sent now; or NULL, and @mp is unchanged. */
static mblk_t *
inet_is_data(struct inet *in, mblk_t *mp)
{
	mblk_t *bp;

	if (!inet_tcp_sends(in))
		return NULL;
	if (DB_TYPE(mp) == M_DATA)
		return mp;
	if (DB_TYPE(mp) != M_PROTO ||
		MBLKL(mp) < (long)sizeof(struct T_data_req))
		return NULL;
	if (!is_data_req(mp) || mp->b_cont == NULL)
		return NULL;
	for (bp = mp->b_cont; bp != NULL; bp = bp->b_cont)
		if (DB_TYPE(bp) != M_DATA)
			return NULL;
	bp = unlinkb(mp);
	freeb(mp);
	return bp;
}

static int
inet_wput(queue_t *q, mblk_t *mp)
{
	struct inet *in = q->q_ptr;
	mblk_t *data;
	int flush;

	in->reads = 0;
	inet_enter(in);
	data = inet_is_data(in, mp);
	if (str_likely(data != NULL)) {
		inet_out_data(in, data);
		inet_out_lend(in);
		return 0;
	}
	flush = DB_TYPE(mp) == M_FLUSH && MBLKL(mp) > 0 &&
		(*mp->b_rptr & FLUSHW) != 0 &&
		((*mp->b_rptr & FLUSHBAND) == 0 || MBLKL(mp) < 2 ||
			mp->b_rptr[1] == 0);
	if (flush)
		inet_out_flushq(in);
	(void)tpi_wput(q, mp, inet_ops(in));
	if (in->phase == INET_OPEN && q->q_first != NULL &&
		(in->out.want & KS_OUT) == 0)
		inet_tcp_push(in);
	inet_out_lend(in);
	return 0;
}

/* Take the socket's events.  A thread that dies here leaves `drained' clear. */
static uint32_t
inet_events(struct inet *in)
{
	uint32_t drained = in->drained, events;

	if (in->ks == NULL)
		return 0;
	str_store(&in->drained, 0u);
	events = ksock_events(in->ks);
	str_store(&in->drained, events == 0 ? drained : 0u);
	return events;
}

static int
inet_wsrv(queue_t *q)
{
	struct inet *in = q->q_ptr;

	in->reads = 0;
	inet_enter(in);
	(void)inet_events(in);
	if (inet_kind[in->kind].type == SOCK_STREAM)
		inet_tcp_wsrv(in);
	else
		(void)tpi_wsrv(q, inet_ops(in));
	inet_out_lend(in);
	return 0;
}

static int
inet_rsrv(queue_t *q)
{
	struct inet *in = q->q_ptr;
	int err;

	in->reads = 1;
	inet_enter(in);
	in->odd = (inet_events(in) & (KS_IN | KS_ODD)) != KS_IN;
	err = tpi_rsrv(q, inet_ops(in));
	in->reads = 0;
	inet_out_lend(in);
	return err;
}

static STR_HOT int
inet_direct(queue_t *q, const struct str_direct *d)
{
	struct inet *in = q->q_ptr;

	if (d->take != NULL)
		return inet_short_take(q, d->take);
	return in == NULL || inet_ops(in)->direct == NULL ? STR_DIRECT_NOT :
		tpi_direct(q, d, inet_ops(in));
}

static const struct module_info inet_info = {
	.mi_idnum = 0x696e,
	.mi_idname = "inet",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = INET_HIWAT,
	.mi_lowat = INET_LOWAT,
};

static const struct qinit inet_rinit = {
	.qi_srvp = inet_rsrv,
	.qi_qopen = inet_qopen,
	.qi_qclose = inet_qclose,
	.qi_minfo = (struct module_info *)&inet_info,
};

static const struct qinit inet_winit = {
	.qi_putp = inet_wput,
	.qi_srvp = inet_wsrv,
	.qi_minfo = (struct module_info *)&inet_info,
};

static void (*const inet_calls[])(void) = {
	(void (*)(void))tpi_tick,
	(void (*)(void))inet_memory,
	(void (*)(void))inet_tick,
	NULL,
};

STR_DRIVER_DIRECT(inet, inet_rinit, inet_winit, STR_NOMUX, STR_NOMUX,
	D_MTQPAIR, STR_MAJOR_INET, inet_calls, inet_direct);
