/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * udp2, rawip2 - datagrams and raw IP, native: transports that make the
 * packets themselves.
 *
 * Purpose.  A datagram for an endpoint of the domain is delivered in memory, on
 * the wire `lo' (lo.c).  All others are sent on a configured wire (drv/ip) or
 * by a socket of the kernel, which needs no privilege.
 *
 * Objects. struct udp, which begins with a struct inet: an endpoint has the
 * socket, the operations and the options of drv/inet, and additional data for
 * lo.  The socket also reserves the port: the kernel decides whether the port
 * may be bound, programs of other domains and ordinary programs reach the
 * endpoint through the socket, and for a free port the kernel makes the ICMP
 * message that becomes T_UDERROR_IND.
 *
 * Input.  On lo the sender puts a datagram at the receiver's head.  From the
 * socket, the procedures of dgram_recv.c receive in the context of a thread that
 * waits at the stream; if nearly all input comes on wires, streamsd watches the
 * socket (ksock_near()).
 *
 * Files. udp.c the driver, port.c the endpoints in the table of ports, lo.c the
 * wire in memory, far.c output on the other wires, input.c input of wires.
 *
 * Locks.  D_MTQPAIR: one thread is in an endpoint.  <str/ports.h> has the others.
 */
#include "udp_impl.h"
#include "../inet/inet_opts.h"

/* Minors of the devices; those of streams follow them. */
#define UDP_MINOR4 0u
#define UDP_MINOR6 1u
#define UDP_FIRST 64u

struct udp_state *
udp_state(void)
{
	return str_drv_state("udp2", sizeof(struct udp_state));
}

static struct tpi_prov *
udp_prov(void)
{
	struct udp_state *st = udp_state();

	return st != NULL ? &st->udp : NULL;
}

static struct tpi_prov *
raw_prov(void)
{
	struct udp_state *st = udp_state();

	return st != NULL ? &st->raw : NULL;
}

/* --------------------------------------------------------------- operations */

static int
udp_open(struct tpi *tp, cred_t *crp)
{
	struct udp *u = udp_of(tp);

	u->st = udp_state();
	u->ttl = 64;
	u->discover = UDP_DF_WANT;
	u->manyttl = 1;
	u->input = 1;
	return inet_open(tp, crp);
}

/* Connect the kernel's socket to @u's default destination; minus an errno. */
static int
tell_peer(struct udp *u)
{
	struct sockaddr_storage none;
	uint32_t len = sizeof(none);
	int err;

	if (u->peerlen != 0)
		return ksock_connect(u->in.ks, u->peer, u->peerlen);
	bzero(&none, sizeof(none));
	none.ss_family = AF_UNSPEC;
	err = ksock_connect(u->in.ks, &none, sizeof(struct sockaddr_in));
	/* the kernel releases a port that it had chosen */
	if (err == 0 && u->in.tp.local.len != 0 &&
		ksock_name(u->in.ks, 0, &none, &len) == 0 &&
		((struct sockaddr_in *)(void *)&none)->sin_port == 0)
		err = ksock_bind(u->in.ks, u->in.tp.local.buf,
			u->in.tp.local.len);
	return err;
}

/* rawip2: a port in the address is the protocol. */
static void
set_proto(struct udp *u, const struct tpi_buf *want)
{
	struct sockaddr_in s4;

	u->in.proto = 0;
	if (!u->raw || want->len < sizeof(s4))
		return;
	bcopy(want->buf, &s4, sizeof(s4));
	if (ntohs(s4.sin_port) <= 255)
		u->in.proto = ntohs(s4.sin_port);
}

static int
udp_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	static const struct tpi_opt freebind = {T_INET_IP, T_IP_FREEBIND,
		TPI_OPT_YESNO, TPI_OPT_OPS, T_NO, T_NO, T_YES, 0};
	struct udp *u = udp_of(tp);
	t_scalar_t free;
	struct ports_at a;
	int err;

	u->raw = inet_kind[u->in.kind].type == SOCK_RAW;
	set_proto(u, want);
	/* an address of a wire is not one of the host */
	free = udp_at_of(want->buf, want->len, &a) &&
		udp_is_wires(u->st, &a.a) ? T_YES : T_NO;
	if (free == T_YES || inet_is_set(&u->in, T_INET_IP, T_IP_FREEBIND))
		(void)inet_setopt(tp, &freebind, &free, sizeof(free));
	err = inet_udp_ops.bind(tp, want, any, qlen, got);
	if (err != 0)
		return err;
	u->input = 1;
	if (u->peerlen != 0 && tell_peer(u) != 0)
		u->peerlen = 0;
	err = udp_port_bound(u, got);
	if (err != 0) {
		(void)inet_udp_ops.unbind(tp);
	} else {
		if (u->in.ks != NULL)
			ksock_may_be_near(u->in.ks);
		if (u->peerlen != 0)
			udp_port_peer(u);
	}
	return err;
}

static int
udp_unbind(struct tpi *tp)
{
	struct udp *u = udp_of(tp);

	udp_port_free(u);
	udp_forget(u);
	u->since = 0;
	u->wait = NULL;
	str_store(&u->near, 0u);
	return inet_udp_ops.unbind(tp);
}

static void
udp_close(struct tpi *tp)
{
	struct udp *u = udp_of(tp);
	struct wire *lo = udp_lo(u->st);
	struct str_ref ref;

	if (u->groups && lo != NULL) {
		str_ref(u->in.rq, &ref);
		wire_leave(lo, &ref);
	}
	udp_port_free(udp_of(tp));
	udp_lo_gone(udp_of(tp));
	inet_udp_ops.close(tp);
}

static int
udp_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct udp *u = udp_of(tp);
	int err = opts->len != 0 ? inet_call_check(&u->in, opts) : 0;
	uint32_t changed = str_load_acq(&udp_table(u)->changed);

	if (err == 0)
		err = udp_lo_unitdata(u, to, opts, mp);
	if (err != UDP_NOT_LO)
		return err;
	err = udp_far_unitdata(u, to, opts, mp);
	if (err != UDP_NOT_LO)
		return err;
	err = inet_udp_ops.unitdata(tp, to, opts, mp);
	if (err == 0 && opts->len == 0)
		udp_far_went(u, to, changed);
	return err;
}

/* Raw IP is sent by the kernel, so that all raw sockets get a copy. */
static int
raw_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	int err = opts->len != 0 ? inet_call_check(inet_of(tp), opts) : 0;

	if (err == 0)
		err = udp_far_unitdata(udp_of(tp), to, opts, mp);
	return err != UDP_NOT_LO ? err :
		inet_udp_ops.unitdata(tp, to, opts, mp);
}

#define LOOK INET_US(10000)

/*
 * There is room above, or input at the socket.  After a back-enable caused by
 * lo the socket is usually empty, so it is checked only now and then.
 */
static void
udp_up(struct tpi *tp)
{
	struct udp *u = udp_of(tp);
	struct ports_entry *nm = u->port;
	uint32_t got = u->in.out.got;
	uint64_t now;

	str_store(&u->full, (uint64_t)0);
	if (nm != NULL) {
		str_store(&u->stuck, 0u);
		ports_wake(nm);
	}
	now = inet_ticks();
	if (!u->input && now - u->looked < LOOK)
		return;
	u->looked = now;
	u->in.out.got = 0;
	inet_udp_ops.rsrv(tp);
	if (u->in.out.got == 0) {
		u->in.out.got = got;
		u->input = !tpi_canput(tp);
		return;
	}
	u->input = 1;
	str_store(&u->kernel, now);
	str_store(&u->near, 0u);
	if (u->in.ks != NULL)
		ksock_near(u->in.ks, 0);
}

/* There is room, or it is time to send what waits for the socket. */
static void
udp_drain(struct tpi *tp, int after)
{
	inet_udp_ops.wsrv(tp, after);
}

/*
 * The address from the kernel, which may have chosen it; and the default
 * destination.
 */
static void
udp_addrs(struct tpi *tp, struct tpi_addr *local, struct tpi_addr *remote)
{
	struct udp *u = udp_of(tp);

	inet_addrs(tp, local, remote);
	bcopy(u->peer, remote->buf, u->peerlen);
	remote->len = u->peerlen;
}

/* ------------------------------------------------------------------ options */

#define DISCOVER_OPT \
	{T_INET_IP, T_IP_MTU_DISCOVER, TPI_OPT_INT, TPI_OPT_OPS, \
		UDP_DF_WANT, UDP_DF_NEVER, UDP_DF_PROBE, 0}

static const struct tpi_opt udp_opts[] = {
	GENERIC_OPTS,
	SOCKET_OPTS,
	YES_OPT(T_INET_UDP, T_UDP_CHECKSUM, TPI_OPT_OPS, T_YES),
	{T_INET_UDP, T_UDP_PEER, TPI_OPT_BYTES, TPI_OPT_OPS, 0, 0, 28, 0},
	YES_OPT(T_INET_UDP, T_UDP_LOCHECK, TPI_OPT_OPS, T_NO),
	DISCOVER_OPT,
	IP_OPTS,
	RECV_OPTS,
	GROUP_OPTS,
};

static const struct tpi_opt raw_opts[] = {
	GENERIC_OPTS,
	SOCKET_OPTS,
	YES_OPT(T_INET_IP, T_IP_HDRINCL, TPI_OPT_OPS, T_NO),
	DISCOVER_OPT,
	IP_OPTS,
	RECV_OPTS,
	GROUP_OPTS,
};

static int
is_udp_opt(const struct tpi_opt *o, t_uscalar_t name)
{
	return o->level == T_INET_UDP && o->name == name;
}

static int
udp_getopt(struct tpi *tp, const struct tpi_opt *o, void *val,
	unsigned int *len)
{
	struct udp *u = udp_of(tp);

	if (is_udp_opt(o, T_UDP_PEER)) {
		*len = u->peerlen;
		bcopy(u->peer, val, u->peerlen);
		return 0;
	}
	if (is_udp_opt(o, T_UDP_LOCHECK)) {
		*(t_scalar_t *)val = u->check ? T_YES : T_NO;
		*len = sizeof(t_scalar_t);
		return 0;
	}
	return inet_getopt(tp, o, val, len);
}

static int
set_peer(struct udp *u, const void *val, unsigned int len)
{
	unsigned char was[sizeof(u->peer)];
	uint32_t waslen = u->peerlen;
	struct tpi_buf b = {val, len};
	struct sockaddr_storage ss;
	int err = 0;

	bcopy(u->peer, was, sizeof(was));
	u->peerlen = 0;
	if (len != 0) {
		if (inet_addr_check(&b, &ss, &u->peerlen) != 0 ||
			(u->port != NULL && ss.ss_family != u->in.family))
			err = -TBADOPT;
		else
			bcopy(&ss, u->peer, u->peerlen);
	}
	if (err == 0 && u->port != NULL)
		err = -tell_peer(u);
	if (err != 0) {
		bcopy(was, u->peer, sizeof(was));
		u->peerlen = waslen;
		return err;
	}
	udp_port_peer(u);
	return 0;
}

/* Set the limit of data that waits to be read. */
static void
set_rcvbuf(queue_t *rq, t_scalar_t n)
{
	mblk_t *mp = allocb(sizeof(struct stroptions), BPRI_MED);
	struct stroptions *so;

	if (mp == NULL)
		return;
	if (n < (t_scalar_t)UDP_HIMIN)
		n = UDP_HIMIN;
	if (n > (t_scalar_t)UDP_HIMOST)
		n = UDP_HIMOST;
	DB_TYPE(mp) = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	mp->b_wptr += sizeof(*so);
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT | SO_WROFF;
	so->so_wroff = IP_ROOM;
	so->so_hiwat = (size_t)n;
	so->so_lowat = (size_t)n / 4;
	putnext(rq, mp);
}

static void
set_special(struct udp *u, uint32_t bit, int on)
{
	u->special = on ? u->special | bit : u->special & ~bit;
}

/* Note an option for lo's headers, or one that only the kernel implements. */
static void
note(struct udp *u, const struct tpi_opt *o, const void *val, unsigned int len)
{
	t_scalar_t v = 0;

	if (o->type == TPI_OPT_CHAR)
		v = *(const unsigned char *)val;
	else if (len >= sizeof(v))
		bcopy(val, &v, sizeof(v));
	if (o->level == T_INET_IP && o->name == T_IP_TOS)
		u->tos = (uint32_t)v;
	if (o->level == T_INET_IP && o->name == T_IP_TTL)
		u->ttl = (uint32_t)v;
	if (o->level == T_INET_IP && o->name == T_IP_MTU_DISCOVER)
		u->discover = (uint32_t)v;
	if (o->level == T_INET_IP && o->name == T_IP_MULTICAST_TTL)
		u->manyttl = (uint32_t)v;
	if (o->level == T_INET_IP && o->name == T_IP_MULTICAST_LOOP)
		u->noloop = v == T_NO;
	if (o->level == T_INET_IP && o->name == T_IP_OPTIONS)
		set_special(u, UDP_IPOPTS, len != 0);
	if (o->level == T_INET_IP && o->name == T_IP_HDRINCL)
		set_special(u, UDP_HDRINCL, v == T_YES);
	if (is_udp_opt(o, T_UDP_CHECKSUM))
		u->nosum = v == T_NO;
	/* as much as the kernel allows, which has a limit */
	if (o->level == XTI_GENERIC && o->name == XTI_RCVBUF &&
		inet_getopt(&u->in.tp, o, &v, &len) == 0)
		set_rcvbuf(u->in.rq, v);
	udp_forget(u);
}

static int
is_group_opt(const struct tpi_opt *o)
{
	return o->level == T_INET_IP && (o->name == T_IP_ADD_MEMBERSHIP ||
		o->name == T_IP_DROP_MEMBERSHIP);
}

/* Read a membership, a value as of the kernel's options. 0: invalid. */
static int
group_of(const struct udp *u, const void *val, unsigned int len,
	struct wire_group *ret)
{
	struct ipv6_mreq m6;
	struct ip_mreqn m4;

	bzero(ret, sizeof(*ret));
	if (inet_kind[u->in.kind].family == AF_INET6) {
		if (len < sizeof(m6))
			return 0;
		bcopy(val, &m6, sizeof(m6));
		ret->group.len = 16;
		bcopy(&m6.ipv6mr_multiaddr, ret->group.b, 16);
		ret->ifindex = (int)m6.ipv6mr_interface;
		return 1;
	}
	if (len < sizeof(struct ip_mreq))
		return 0;
	bzero(&m4, sizeof(m4));
	bcopy(val, &m4, len < sizeof(m4) ? len : sizeof(m4));
	ret->group.len = 4;
	bcopy(&m4.imr_multiaddr, ret->group.b, 4);
	ret->ifindex = m4.imr_ifindex;
	if (m4.imr_ifindex == 0 && m4.imr_address.s_addr != 0) {
		ret->own.len = 4;
		bcopy(&m4.imr_address, ret->own.b, 4);
	}
	return 1;
}

/*
 * Join or leave a group on a wire, or in the kernel; it is an error only if
 * both fail.
 */
static int
set_group(struct udp *u, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	struct wire *lo = udp_lo(u->st);
	struct wire_group how;
	struct str_ref ref;
	int err = ENODEV;

	if (lo != NULL && str_load(&lo->others) != 0 &&
		group_of(u, val, len, &how)) {
		str_ref(u->in.rq, &ref);
		u->groups = 1;
		err = wire_group(lo, &ref, &how,
			o->name == T_IP_ADD_MEMBERSHIP);
	}
	return err != ENODEV ? err : inet_setopt(&u->in.tp, o, val, len);
}

/*
 * T_IP_MULTICAST_IF: an address or interface of a wire, or one of the kernel's.
 * The value has the forms of the kernel's option.
 */
static int
set_many_if(struct udp *u, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	int six = inet_kind[u->in.kind].family == AF_INET6;
	struct wire *lo = udp_lo(u->st);
	struct wire_group by;
	struct ip_mreqn m4;
	struct ip_addr any = {six ? 16u : 4u, {0}};
	struct wire_path path;

	bzero(&by, sizeof(by));
	bzero(&m4, sizeof(m4));
	if (six && len >= sizeof(by.ifindex)) {
		bcopy(val, &by.ifindex, sizeof(by.ifindex));
	} else if (!six && len == sizeof(m4.imr_address)) {
		bcopy(val, &m4.imr_address, len);
	} else if (!six && len >= sizeof(struct ip_mreq)) {
		bcopy(val, &m4, len < sizeof(m4) ? len : sizeof(m4));
		by.ifindex = m4.imr_ifindex;
	}
	if (by.ifindex == 0 && m4.imr_address.s_addr != 0) {
		by.own.len = 4;
		bcopy(&m4.imr_address, by.own.b, 4);
	}
	u->by.own.len = 0;
	u->by.ifindex = 0;
	if (lo == NULL || (by.own.len == 0 && by.ifindex == 0) ||
		wire_route_by(lo, &by.own, by.ifindex, &any, &path) ==
		NULL)
		return inet_setopt(&u->in.tp, o, val, len);
	u->by = by;
	return 0;
}

static int
udp_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	struct udp *u = udp_of(tp);
	int err;

	if (is_udp_opt(o, T_UDP_PEER))
		return set_peer(u, val, len);
	if (is_udp_opt(o, T_UDP_LOCHECK)) {
		u->check = *(const t_scalar_t *)val == T_YES;
		return 0;
	}
	err = is_group_opt(o) ? set_group(u, o, val, len) :
		o->level == T_INET_IP && o->name == T_IP_MULTICAST_IF ?
		set_many_if(u, o, val, len) : inet_setopt(tp, o, val, len);
	if (err == 0)
		note(u, o, val, len);
	return err;
}

/* -------------------------------------------------------------- procedures */

static int
open_as(queue_t *q, dev_t *devp, int sflag, cred_t *crp, unsigned int kind4,
	unsigned int kind6)
{
	unsigned int m = getminor(*devp), kind, minor;
	struct udp_state *st;
	int err;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return EINVAL;
	if (sflag == CLONEOPEN || m == UDP_MINOR4)
		kind = kind4;
	else if (m == UDP_MINOR6)
		kind = kind6;
	else
		return ENXIO;
	st = udp_state();
	if (st == NULL)
		return ENOSR;
	err = canon_minor_take(&st->minors, CLONEOPEN, UDP_FIRST, &minor);
	if (err != 0)
		return err;
	err = tpi_open(q, devp, sflag, crp, minor, inet_kind[kind].ops);
	if (err != 0) {
		canon_minor_give(&st->minors, minor);
		return err;
	}
	((struct udp *)q->q_ptr)->in.kind = kind;
	*devp = makedevice(getmajor(*devp), minor);
	(void)udp_lo(st);
	set_rcvbuf(q, UDP_HIWAT);
	return 0;
}

static int
udp_qopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)flag;
	return open_as(q, devp, sflag, crp, INET_UDP2, INET_UDP2_6);
}

static int
raw_qopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)flag;
	return open_as(q, devp, sflag, crp, INET_RAW2, INET_RAW2_6);
}

static int
udp_qclose(queue_t *q, int flag, cred_t *crp)
{
	struct udp *u = q->q_ptr;
	struct udp_state *st = u->st;
	unsigned int minor = u->in.tp.minor;
	int err = tpi_close(q, inet_ops(&u->in));

	(void)flag, (void)crp;
	canon_minor_give(&st->minors, minor);
	return err;
}

/*
 * A datagram without an address is sent to the default destination: insert that
 * address.  Return: the message; NULL: no memory, @mp is freed.
 */
static mblk_t *
to_peer(struct udp *u, mblk_t *mp)
{
	struct T_unitdata_req ur;
	uint32_t size = sizeof(ur) + (uint32_t)T_ALIGN(u->peerlen);
	mblk_t *bp;

	bcopy(mp->b_rptr, &ur, sizeof(ur));
	if (ur.DEST_length != 0)
		return mp;
	if (ur.OPT_length < 0 || ur.OPT_offset < 0 || (ur.OPT_length != 0 &&
		(ur.OPT_offset > MBLKL(mp) ||
		ur.OPT_length > MBLKL(mp) - ur.OPT_offset)))
		return mp; /* drv/tpi reports the error */
	bp = allocb(size + (uint32_t)ur.OPT_length, BPRI_MED);
	if (bp == NULL) {
		freemsg(mp);
		return NULL;
	}
	bzero(bp->b_wptr, size);
	bcopy(u->peer, bp->b_wptr + sizeof(ur), u->peerlen);
	if (ur.OPT_length != 0)
		bcopy(mp->b_rptr + ur.OPT_offset, bp->b_wptr + size,
			(size_t)ur.OPT_length);
	ur.DEST_length = (t_scalar_t)u->peerlen;
	ur.DEST_offset = sizeof(ur);
	ur.OPT_offset = ur.OPT_length != 0 ? (t_scalar_t)size : 0;
	bcopy(&ur, bp->b_wptr, sizeof(ur));
	bp->b_wptr += size + (uint32_t)ur.OPT_length;
	DB_TYPE(bp) = DB_TYPE(mp);
	bp->b_band = mp->b_band;
	bp->b_cont = unlinkb(mp);
	freeb(mp);
	return bp;
}

/* UDP2_LOCHECK */
static void
set_check(queue_t *q, mblk_t *mp)
{
	struct udp *u = q->q_ptr;
	int v;

	if (canon_is_transparent(mp)) {
		canon_nak(q, mp, EINVAL);
		return;
	}
	if (!canon_args(q, mp, sizeof(v)))
		return;
	bcopy(mp->b_cont->b_rptr, &v, sizeof(v));
	str_store(&u->st->check, v != 0);
	canon_ack(q, mp, 0);
}

static int
udp_wput(queue_t *q, mblk_t *mp)
{
	struct udp *u = q->q_ptr;

	if (str_likely(DB_TYPE(mp) == M_PROTO && q->q_first == NULL) &&
		!str_msg_taken(mp) && udp_lo_fast(u, mp))
		return 0;
	inet_enter(&u->in);
	if (DB_TYPE(mp) == M_IOCTL && canon_cmd(mp) == UDP2_LOCHECK) {
		set_check(q, mp);
		return 0;
	}
	if (u->peerlen != 0 && (DB_TYPE(mp) == M_PROTO ||
		DB_TYPE(mp) == M_PCPROTO) &&
		MBLKL(mp) >= (long)sizeof(struct T_unitdata_req) &&
		*(t_scalar_t *)(void *)mp->b_rptr == T_UNITDATA_REQ) {
		mp = to_peer(u, mp);
		if (mp == NULL)
			return 0;
	}
	return tpi_wput(q, mp, inet_ops(&u->in));
}

static int
udp_wsrv(queue_t *q)
{
	struct udp *u = q->q_ptr;

	inet_enter(&u->in);
	if (u->in.ks != NULL)
		(void)ksock_events(u->in.ks);
	return tpi_wsrv(q, inet_ops(&u->in));
}

static int
udp_rsrv(queue_t *q)
{
	struct udp *u = q->q_ptr;
	uint32_t ev = u->in.ks != NULL ? ksock_events(u->in.ks) : KS_ODD;

	inet_enter(&u->in);
	u->in.odd = (ev & (KS_IN | KS_ODD)) != KS_IN;
	if (ev != 0)
		u->input = 1;
	return tpi_rsrv(q, inet_ops(&u->in));
}

/* ------------------------------------------------------------------- tables */

#define UDP_OPS(name_, addr_, tsdu_, opt_, prov_, unitdata_) \
	const struct tpi_ops name_ = { \
		.name = "udp2", \
		.size = sizeof(struct udp), \
		.keeps = 1, \
		.info = INET_DGRAM_INFO(addr_, tsdu_), \
		.opt = (opt_), \
		.nopt = STR_ARRAY_LEN(opt_), \
		.prov = (prov_), \
		.open = udp_open, \
		.close = udp_close, \
		.bind = udp_bind, \
		.unbind = udp_unbind, \
		.clash = tpi_port_clash, \
		.unitdata = (unitdata_), \
		.direct = udp_far_send, \
		.udbad = {0, EINVAL, EINVAL}, \
		.addrs = udp_addrs, \
		.getopt = udp_getopt, \
		.setopt = udp_setopt, \
		.rsrv = udp_up, \
		.wsrv = udp_drain, \
	}

UDP_OPS(udp2_ops, 16, 65507, udp_opts, udp_prov, udp_unitdata);
UDP_OPS(udp2_6_ops, 28, 65507, udp_opts, udp_prov, udp_unitdata);
UDP_OPS(rawip2_ops, 16, 65515, raw_opts, raw_prov, raw_unitdata);
UDP_OPS(rawip2_6_ops, 28, 65515, raw_opts, raw_prov, raw_unitdata);

static const struct module_info udp_info = {
	.mi_idnum = UDP_ID,
	.mi_idname = "udp2",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = UDP_WAITING,
	.mi_lowat = UDP_WAITING / 4,
};

/*
 * All datagrams go through the kernel's socket, so the marks are those of
 * rawip(4).  Often the receiver's thread serves the queue, inside the perimeter.
 * A sender of higher priority that it wakes preempts it and can only leave
 * datagrams on the queue: with room for one, they would switch for each.
 */
static const struct module_info raw_info = {
	.mi_idnum = UDP_ID + 1,
	.mi_idname = "rawip2",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = INET_HIWAT,
	.mi_lowat = INET_LOWAT,
};

static void (*const udp_calls[])(void) = {
	(void (*)(void))tpi_tick,
	NULL,
};

static const struct qinit udp_rinit = {
	.qi_srvp = udp_rsrv,
	.qi_qopen = udp_qopen,
	.qi_qclose = udp_qclose,
	.qi_minfo = (struct module_info *)&udp_info,
};

static const struct qinit udp_winit = {
	.qi_putp = udp_wput,
	.qi_srvp = udp_wsrv,
	.qi_minfo = (struct module_info *)&udp_info,
};

static const struct qinit raw_rinit = {
	.qi_srvp = udp_rsrv,
	.qi_qopen = raw_qopen,
	.qi_qclose = udp_qclose,
	.qi_minfo = (struct module_info *)&raw_info,
};

static const struct qinit raw_winit = {
	.qi_putp = udp_wput,
	.qi_srvp = udp_wsrv,
	.qi_minfo = (struct module_info *)&raw_info,
};

STR_DRIVER_DIRECT(udp2, udp_rinit, udp_winit, STR_NOMUX, STR_NOMUX,
	D_MTQPAIR, STR_MAJOR_UDP2, udp_calls, udp_lo_direct);
STR_DRIVER(rawip2, raw_rinit, raw_winit, STR_NOMUX, STR_NOMUX, D_MTQPAIR,
	STR_MAJOR_RAWIP2, udp_calls);
