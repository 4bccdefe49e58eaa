/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: XTI's names, and the corresponding options of the kernel.
 *
 * drv/tpi negotiates; the functions here get values from the socket and set
 * them.  A value that is set is also kept (in->set) for later sockets of the
 * endpoint: after a bind, a connect in another family, or an accepted
 * connection. drv/tpi keeps the values that have no option in the kernel
 * (tpi.val).
 */
#include <linux/tcp.h>
#include "inet_opts.h"

const struct tpi_opt inet_opt_tcp[INET_NOPT_TCP] = {
	GENERIC_OPTS,
	SOCKET_OPTS,
	YES_OPT(T_INET_TCP, T_TCP_NODELAY, TPI_OPT_OPS, T_NO),
	INT_OPT(T_INET_TCP, T_TCP_MAXSEG, TPI_OPT_OPS | TPI_OPT_RDONLY, 536,
		1),
	{T_INET_TCP, T_TCP_KEEPALIVE, TPI_OPT_PAIR, TPI_OPT_OPS, 120, 1, 546,
		0},
	YES_OPT(T_INET_TCP, T_TCP_CORK, TPI_OPT_OPS, T_NO),
	INT_OPT(T_INET_TCP, T_TCP_KEEPIDLE, TPI_OPT_OPS, 7200, 1),
	INT_OPT(T_INET_TCP, T_TCP_KEEPINTVL, TPI_OPT_OPS, 75, 1),
	INT_OPT(T_INET_TCP, T_TCP_KEEPCNT, TPI_OPT_OPS, 9, 1),
	INT_OPT(T_INET_TCP, T_TCP_SYNCNT, TPI_OPT_OPS, 6, 1),
	INT_OPT(T_INET_TCP, T_TCP_LINGER2, TPI_OPT_OPS, 60, 0),
	INT_OPT(T_INET_TCP, T_TCP_DEFER_ACCEPT, TPI_OPT_OPS, 0, 0),
	INT_OPT(T_INET_TCP, T_TCP_WINDOW_CLAMP, TPI_OPT_OPS, 0, 0),
	{T_INET_TCP, T_TCP_INFO, TPI_OPT_BYTES,
		TPI_OPT_OPS | TPI_OPT_RDONLY, 0, 0, 512, 0},
	YES_OPT(T_INET_TCP, T_TCP_QUICKACK, TPI_OPT_OPS, T_YES),
	IP_OPTS,
};

const struct tpi_opt inet_opt_udp[INET_NOPT_UDP] = {
	GENERIC_OPTS,
	SOCKET_OPTS,
	YES_OPT(T_INET_UDP, T_UDP_CHECKSUM, TPI_OPT_OPS, T_YES),
	IP_OPTS,
	RECV_OPTS,
	GROUP_OPTS,
};

const struct tpi_opt inet_opt_raw[INET_NOPT_RAW] = {
	GENERIC_OPTS,
	SOCKET_OPTS,
	IP_OPTS,
	RECV_OPTS,
	GROUP_OPTS,
};


/* Type of the kernel's value: an int, unless one of these. */
#define AS_INT 0
#define AS_NOT 1    /* the opposite */
#define AS_HALF 2   /* get returns twice the value of set */
#define AS_BYTES 3

struct kopt {
	t_uscalar_t level, name;
	int klevel, kname;
	int as;
	int level6, name6;  /* of an IPv6 socket; 0: the same */
};

static const struct kopt kopts[] = {
	{XTI_GENERIC, XTI_SNDBUF, SOL_SOCKET, SO_SNDBUF, AS_HALF, 0, 0},
	{XTI_GENERIC, XTI_RCVBUF, SOL_SOCKET, SO_RCVBUF, AS_HALF, 0, 0},
	{XTI_GENERIC, XTI_REUSEADDR, SOL_SOCKET, SO_REUSEADDR, AS_INT, 0, 0},
	{XTI_GENERIC, XTI_DONTROUTE, SOL_SOCKET, SO_DONTROUTE, AS_INT, 0, 0},
	{XTI_GENERIC, XTI_BROADCAST, SOL_SOCKET, SO_BROADCAST, AS_INT, 0, 0},
	{XTI_GENERIC, XTI_KEEPALIVE, SOL_SOCKET, SO_KEEPALIVE, AS_INT, 0, 0},
	{XTI_GENERIC, XTI_PRIORITY, SOL_SOCKET, SO_PRIORITY, AS_INT, 0, 0},
	{SOL_SOCKET, SO_REUSEADDR, SOL_SOCKET, SO_REUSEADDR, AS_INT, 0, 0},
	{SOL_SOCKET, SO_BROADCAST, SOL_SOCKET, SO_BROADCAST, AS_INT, 0, 0},
	{SOL_SOCKET, SO_KEEPALIVE, SOL_SOCKET, SO_KEEPALIVE, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_NODELAY, IPPROTO_TCP, TCP_NODELAY, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_MAXSEG, IPPROTO_TCP, TCP_MAXSEG, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_CORK, IPPROTO_TCP, TCP_CORK, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_KEEPIDLE, IPPROTO_TCP, TCP_KEEPIDLE, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_KEEPINTVL, IPPROTO_TCP, TCP_KEEPINTVL, AS_INT, 0,
		0},
	{T_INET_TCP, T_TCP_KEEPCNT, IPPROTO_TCP, TCP_KEEPCNT, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_SYNCNT, IPPROTO_TCP, TCP_SYNCNT, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_LINGER2, IPPROTO_TCP, TCP_LINGER2, AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_DEFER_ACCEPT, IPPROTO_TCP, TCP_DEFER_ACCEPT,
		AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_WINDOW_CLAMP, IPPROTO_TCP, TCP_WINDOW_CLAMP,
		AS_INT, 0, 0},
	{T_INET_TCP, T_TCP_INFO, IPPROTO_TCP, TCP_INFO, AS_BYTES, 0, 0},
	{T_INET_TCP, T_TCP_QUICKACK, IPPROTO_TCP, TCP_QUICKACK, AS_INT, 0, 0},
	{T_INET_UDP, T_UDP_CHECKSUM, SOL_SOCKET, SO_NO_CHECK, AS_NOT, 0, 0},
	{T_INET_IP, T_IP_OPTIONS, IPPROTO_IP, IP_OPTIONS, AS_BYTES, 0, 0},
	{T_INET_IP, T_IP_TOS, IPPROTO_IP, IP_TOS, AS_INT, IPPROTO_IPV6,
		IPV6_TCLASS},
	{T_INET_IP, T_IP_TTL, IPPROTO_IP, IP_TTL, AS_INT, IPPROTO_IPV6,
		IPV6_UNICAST_HOPS},
	{T_INET_IP, T_IP_REUSEADDR, SOL_SOCKET, SO_REUSEADDR, AS_INT, 0, 0},
	{T_INET_IP, T_IP_DONTROUTE, SOL_SOCKET, SO_DONTROUTE, AS_INT, 0, 0},
	{T_INET_IP, T_IP_BROADCAST, SOL_SOCKET, SO_BROADCAST, AS_INT, 0, 0},
	{T_INET_IP, T_IP_HDRINCL, IPPROTO_IP, IP_HDRINCL, AS_INT, 0, 0},
	{T_INET_IP, T_IP_FREEBIND, IPPROTO_IP, IP_FREEBIND, AS_INT,
		IPPROTO_IPV6, IPV6_FREEBIND},
	{T_INET_IP, T_IP_MTU_DISCOVER, IPPROTO_IP, IP_MTU_DISCOVER, AS_INT,
		IPPROTO_IPV6, IPV6_MTU_DISCOVER},
	{T_INET_IP, T_IP_RECVPKTINFO, IPPROTO_IP, IP_PKTINFO, AS_INT,
		IPPROTO_IPV6, IPV6_RECVPKTINFO},
	{T_INET_IP, T_IP_RECVTTL, IPPROTO_IP, IP_RECVTTL, AS_INT,
		IPPROTO_IPV6, IPV6_RECVHOPLIMIT},
	{T_INET_IP, T_IP_RECVTOS, IPPROTO_IP, IP_RECVTOS, AS_INT,
		IPPROTO_IPV6, IPV6_RECVTCLASS},
	{T_INET_IP, T_IP_MULTICAST_TTL, IPPROTO_IP, IP_MULTICAST_TTL, AS_INT,
		IPPROTO_IPV6, IPV6_MULTICAST_HOPS},
	{T_INET_IP, T_IP_MULTICAST_LOOP, IPPROTO_IP, IP_MULTICAST_LOOP,
		AS_INT, IPPROTO_IPV6, IPV6_MULTICAST_LOOP},
	{T_INET_IP, T_IP_MULTICAST_IF, IPPROTO_IP, IP_MULTICAST_IF, AS_BYTES,
		IPPROTO_IPV6, IPV6_MULTICAST_IF},
	{T_INET_IP, T_IP_ADD_MEMBERSHIP, IPPROTO_IP, IP_ADD_MEMBERSHIP,
		AS_BYTES, IPPROTO_IPV6, IPV6_JOIN_GROUP},
	{T_INET_IP, T_IP_DROP_MEMBERSHIP, IPPROTO_IP, IP_DROP_MEMBERSHIP,
		AS_BYTES, IPPROTO_IPV6, IPV6_LEAVE_GROUP},
};

static const struct kopt *
kopt_of(const struct tpi_opt *o)
{
	unsigned int i;

	for (i = 0; i < STR_ARRAY_LEN(kopts); i++)
		if (kopts[i].level == o->level && kopts[i].name == o->name)
			return &kopts[i];
	return NULL;
}

static void
kopt_where(const struct inet *in, const struct kopt *k, int *level, int *name)
{
	int six = in->family == AF_INET6 && k->name6 != 0;

	*level = six ? k->level6 : k->klevel;
	*name = six ? k->name6 : k->kname;
}

/* IPv4's header options: an IPv6 socket has none. */
static int
is_strange(const struct inet *in, const struct kopt *k)
{
	return in->family == AF_INET6 && k->kname == IP_OPTIONS &&
		k->klevel == IPPROTO_IP;
}

/* To get an option there must be a socket; a value to set can be kept. */
static int
have_sock(struct inet *in)
{
	if (in->ks != NULL)
		return 0;
	return inet_sock(in, inet_kind[in->kind].family);
}

static int
joins(const struct kopt *k)
{
	return k->level == T_INET_IP && k->name == T_IP_ADD_MEMBERSHIP;
}

static int
leaves(const struct kopt *k)
{
	return k->level == T_INET_IP && k->name == T_IP_DROP_MEMBERSHIP;
}

/*
 * Keep a value that was set; a membership is kept in addition to the others.
 * The index of @k in the table identifies it. 0: there is no room.
 */
static int
keep(struct inet *in, const struct kopt *k, const void *val, unsigned int len)
{
	struct inet_set *s = NULL;
	uint32_t i;

	if (len > INET_SETLEN)
		return 0;
	for (i = 0; i < in->nset && s == NULL; i++)
		if (in->set[i].kopt == (uint32_t)(k - kopts) && !joins(k))
			s = &in->set[i];
	if (s == NULL) {
		if (in->nset == INET_NSET)
			return 0;
		s = &in->set[in->nset];
		s->kopt = (uint32_t)(k - kopts);
		in->nset++;
	}
	bcopy(val, s->val, len);
	s->len = len;
	str_store(&in->tuned, 1u);
	return 1;
}

/* A group was left: do not join it on the next socket. */
static void
unjoin(struct inet *in, const void *val, unsigned int len)
{
	struct inet_set *s;
	uint32_t i;

	for (i = 0; i < in->nset; i++) {
		s = &in->set[i];
		if (!joins(&kopts[s->kopt]) || s->len != len ||
			bcmp(s->val, val, len) != 0)
			continue;
		*s = in->set[in->nset - 1];
		in->nset--;
		return;
	}
}

static const struct inet_set *
kept(const struct inet *in, t_uscalar_t level, t_uscalar_t name)
{
	uint32_t i;

	for (i = 0; i < in->nset; i++)
		if (kopts[in->set[i].kopt].level == level &&
			kopts[in->set[i].kopt].name == name)
			return &in->set[i];
	return NULL;
}

/* inet_is_set - has the user set that option? */
int
inet_is_set(const struct inet *in, t_uscalar_t level, t_uscalar_t name)
{
	return kept(in, level, name) != NULL;
}

/* inet_is_on - ... one that is yes or no, to yes? */
int
inet_is_on(const struct inet *in, t_uscalar_t level, t_uscalar_t name)
{
	const struct inet_set *s = kept(in, level, name);
	int v = 0;

	if (s != NULL && s->len == sizeof(v))
		bcopy(s->val, &v, sizeof(v));
	return v != 0;
}

/*
 * An IPv6 socket gives the TTL and the type of service of an IPv4 datagram only
 * if IPv4's option is set, too.
 */
static void
set_mapped(struct inet *in, const struct kopt *k, const void *val, uint32_t len)
{
	if (in->family == AF_INET6 && k->level == T_INET_IP &&
		(k->name == T_IP_RECVTTL || k->name == T_IP_RECVTOS))
		(void)ksock_setopt(in->ks, k->klevel, k->kname, val, len);
}

/* inet_apply - a new socket: set the kept values again */
void
inet_apply(struct inet *in)
{
	int level, name;
	uint32_t i;

	for (i = 0; i < in->nset; i++) {
		if (is_strange(in, &kopts[in->set[i].kopt]))
			continue;
		kopt_where(in, &kopts[in->set[i].kopt], &level, &name);
		(void)ksock_setopt(in->ks, level, name, in->set[i].val,
			in->set[i].len);
		set_mapped(in, &kopts[in->set[i].kopt], in->set[i].val,
			in->set[i].len);
	}
}

/* inet_linger_abort - is the connection to be reset by a close? */
int
inet_linger_abort(struct inet *in)
{
	return in->tp.val[AT_LINGER] == T_YES &&
		in->tp.val[AT_LINGER_TIME] == 0;
}

static int
get_int(struct inet *in, int level, int name, int *val)
{
	uint32_t len = sizeof(*val);

	*val = 0;
	return ksock_getopt(in->ks, level, name, val, &len);
}

static int
get_keepalive(struct inet *in, t_scalar_t *v)
{
	int on, idle, err;

	err = get_int(in, SOL_SOCKET, SO_KEEPALIVE, &on);
	if (err == 0)
		err = get_int(in, IPPROTO_TCP, TCP_KEEPIDLE, &idle);
	if (err != 0)
		return -err;
	v[0] = on ? T_YES : T_NO;
	v[1] = idle / 60 != 0 ? idle / 60 : 1;
	return 0;
}

/* inet_getopt - op getopt */
int
inet_getopt(struct tpi *tp, const struct tpi_opt *o, void *val,
	unsigned int *len)
{
	struct inet *in = inet_of(tp);
	const struct kopt *k = kopt_of(o);
	int level, name, v, err = have_sock(in);

	if (err != 0)
		return -err;
	if (o->level == T_INET_TCP && o->name == T_TCP_KEEPALIVE) {
		*len = 2 * sizeof(t_scalar_t);
		return get_keepalive(in, val);
	}
	if (k == NULL)
		return -TBADOPT;
	if (is_strange(in, k)) {
		*len = 0;
		return 0;
	}
	kopt_where(in, k, &level, &name);
	if (k->as == AS_BYTES) {
		err = ksock_getopt(in->ks, level, name, val, len);
		if (err == -ENOPROTOOPT || err == -EOPNOTSUPP)
			*len = 0;
		return err == -ENOPROTOOPT || err == -EOPNOTSUPP ? 0 : -err;
	}
	err = get_int(in, level, name, &v);
	if (err != 0)
		return -err;
	if (k->as == AS_HALF)
		v /= 2;
	if (k->as == AS_NOT)
		v = !v;
	if (o->type == TPI_OPT_YESNO)
		v = v ? T_YES : T_NO;
	if (o->type == TPI_OPT_CHAR) {
		*(unsigned char *)val = (unsigned char)v;
		*len = 1;
	} else {
		*(t_scalar_t *)val = v;
		*len = sizeof(t_scalar_t);
	}
	return 0;
}

static int
set_int(struct inet *in, const struct kopt *k, int v)
{
	int level, name, err;

	kopt_where(in, k, &level, &name);
	err = in->ks == NULL ? 0 :
		ksock_setopt(in->ks, level, name, &v, sizeof(v));
	if (err == 0 && in->ks != NULL)
		set_mapped(in, k, &v, sizeof(v));
	if (err == 0)
		(void)keep(in, k, &v, sizeof(v));
	return err;
}

/*
 * Joining a group needs a socket, which reports errors.  Without a value, as
 * when all options are set to defaults, there is no group.
 */
static int
set_group(struct inet *in, const struct kopt *k, const void *val,
	unsigned int len)
{
	int level, name, err = len != 0 ? have_sock(in) : 0;

	if (len == 0)
		return 0;
	kopt_where(in, k, &level, &name);
	if (err == 0)
		err = ksock_setopt(in->ks, level, name, val, len);
	if (err == 0 && leaves(k)) {
		unjoin(in, val, len);
	} else if (err == 0 && !keep(in, k, val, len)) {
		name = in->family == AF_INET6 ? IPV6_LEAVE_GROUP :
			IP_DROP_MEMBERSHIP;
		(void)ksock_setopt(in->ks, level, name, val, len);
		err = -ENOBUFS;
	}
	return -err;
}

/* Other options whose value is bytes; no bytes are the default. */
static int
set_bytes(struct inet *in, const struct kopt *k, const void *val,
	unsigned int len)
{
	static const int any;
	int level, name, err = 0;

	if (len == 0 && k->name == T_IP_MULTICAST_IF) {
		val = &any;
		len = sizeof(any);
	}
	kopt_where(in, k, &level, &name);
	if (in->ks != NULL)
		err = ksock_setopt(in->ks, level, name, val, len);
	if (err == 0)
		(void)keep(in, k, val, len);
	return -err;
}

static int
set_keepalive(struct inet *in, const t_scalar_t *v)
{
	static const struct tpi_opt on = {XTI_GENERIC, XTI_KEEPALIVE, 0, 0, 0,
		0, 0, 0};
	static const struct tpi_opt idle = {T_INET_TCP, T_TCP_KEEPIDLE, 0, 0,
		0, 0, 0, 0};
	int err = 0;

	if ((v[0] & T_YES) != 0 && v[1] > 0)
		err = set_int(in, kopt_of(&idle), v[1] * 60);
	if (err == 0)
		err = set_int(in, kopt_of(&on), (v[0] & T_YES) != 0);
	return -err;
}

/* inet_setopt - op setopt */
int
inet_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	struct inet *in = inet_of(tp);
	const struct kopt *k = kopt_of(o);
	int v, err;

	if ((o->flags & TPI_OPT_OPS) == 0)
		return 0; /* only drv/tpi keeps the value */
	if (o->level == T_INET_TCP && o->name == T_TCP_KEEPALIVE)
		return set_keepalive(in, val);
	if (k == NULL || is_strange(in, k))
		return -TBADOPT;
	if (k->as == AS_BYTES) {
		err = joins(k) || leaves(k) ? set_group(in, k, val, len) :
			set_bytes(in, k, val, len);
		return err == EINVAL ? -TBADOPT : err;
	}
	if (o->type == TPI_OPT_CHAR) {
		v = *(const unsigned char *)val;
	} else {
		v = *(const t_scalar_t *)val;
	}
	if (o->type == TPI_OPT_YESNO)
		v = v == T_YES;
	if (k->as == AS_NOT)
		v = !v;
	err = set_int(in, k, v);
	if (err == 0)
		inet_recv_set(in, o, v);
	if (o->level == XTI_GENERIC && o->name == XTI_RCVBUF)
		inet_credit_room(in);
	/* what has been gathered goes with the end of this request */
	if (err == 0 && o->level == T_INET_TCP && o->name == T_TCP_NODELAY)
		in->out.prompt = v != 0;
	return -err;
}

/* --------------------------------------------------- options of one datagram */

/*
 * inet_call_byte - value of an option of one datagram that is a byte Its @len
 * bytes are at @at.
 * Return: the value; INET_DEFAULT, INET_BAD.
 */
int
inet_call_byte(const unsigned char *at, uint32_t len)
{
	t_scalar_t v;
	long wide;

	switch (len) {
	case 1:
		return *at;
	case sizeof(v):
		bcopy(at, &v, sizeof(v));
		wide = v;
		break;
	case sizeof(wide):
		bcopy(at, &wide, sizeof(wide));
		break;
	default:
		return INET_BAD;
	}
	if (wide == T_UNSPEC)
		return INET_DEFAULT;
	return wide < 0 || wide > 255 ? INET_BAD : (int)wide;
}

/*
 * inet_call_check - can @in send a datagram with these options? 0, or -TBADOPT
 */
int
inet_call_check(const struct inet *in, const struct tpi_buf *opts)
{
	struct t_opthdr h;
	uint32_t at = 0;
	int v;

	for (; at + sizeof(h) <= opts->len; at += T_ALIGN(h.len)) {
		bcopy(opts->buf + at, &h, sizeof(h));
		if (h.len < sizeof(h) || h.len > opts->len - at)
			return -TBADOPT;
		if (h.level != T_INET_IP || h.len == sizeof(h))
			continue;
		if (h.name == T_IP_OPTIONS && h.len - sizeof(h) > INET_IPOPTS)
			return -TBADOPT;
		if (h.name == T_IP_PKTINFO && h.len - sizeof(h) !=
			(in->family == AF_INET6 ? sizeof(struct in6_pktinfo) :
			sizeof(struct in_pktinfo)))
			return -TBADOPT;
		if (h.name != T_IP_TTL && h.name != T_IP_TOS)
			continue;
		v = inet_call_byte(opts->buf + at + sizeof(h),
			(uint32_t)(h.len - sizeof(h)));
		if (v == INET_BAD || (v == 0 && h.name == T_IP_TTL))
			return -TBADOPT;
	}
	return 0;
}
