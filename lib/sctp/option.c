/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * setsockopt(2) and getsockopt(2): levels, SOL_SOCKET, and what all options
 * share.  The association in an option of a socket of connections is not used.
 */
#include <netinet/in.h>
#include <stropts.h>
#include <sys/time.h>

#include "sock.h"

/* seconds: the most that I_SETCLTIME accepts */
#define LINGER_MOST 299u

/* sk_opt_in - the caller's value, which has @size bytes, or more */
int
sk_opt_in(void *to, size_t size, const void *val, socklen_t len)
{
	if (len < size)
		return -EINVAL;
	return val == NULL || strm_copy(to, val, size) != 0 ? -EFAULT : 0;
}

/* sk_opt_out - a value for the caller, who must have room for all of it */
int
sk_opt_out(void *val, socklen_t *len, const void *from, size_t size)
{
	socklen_t room, n = (socklen_t)size;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	if ((int)room < 0 || room < size)
		return -EINVAL;
	if (val == NULL || strm_copy(val, from, size) != 0 ||
	    strm_copy(len, &n, sizeof(n)) != 0)
		return -EFAULT;
	return 0;
}

/*
 * sk_assoc_of - the association in the first word of an option's value, for a
 * socket that has many
 */
uint32_t
sk_assoc_of(const struct sock *s, const void *val, socklen_t len)
{
	uint32_t id = 0;

	if ((SK(s) & SK_MANY) == 0 || len < sizeof(id) ||
		strm_copy(&id, val, sizeof(id)) != 0 || id <= SCTP_ALL_ASSOC)
		return 0;
	return id;
}

/*
 * sk_conf_id - the association that an option of parameters is for; 0: the socket
 * A number alone names none.
 */
uint32_t
sk_conf_id(const struct sock *s, int name, const void *val, socklen_t len)
{
	switch (name) {
	case SCTP_RTOINFO:
	case SCTP_ASSOCINFO:
	case SCTP_DELAYED_SACK:
	case SCTP_MAX_BURST:
	case SCTP_PEER_ADDR_PARAMS:
	case SCTP_PEER_ADDR_THLDS:
	case SCTP_PEER_ADDR_THLDS_V2:
		return len > sizeof(uint32_t) ? sk_assoc_of(s, val, len) : 0;
	default:
		return 0;
	}
}

/* sk_conf_get - the parameters of association @id; 0: those of the socket */
int
sk_conf_get(struct sock *s, uint32_t id, struct sctpio_conf *c)
{
	c->assoc = id;
	return sk_get(s, SCTPIO_GCONF, c, sizeof(*c));
}

int
sk_conf_set(struct sock *s, const struct sctpio_conf *c)
{
	struct sctpio_conf copy = *c;
	int n = sk_ioctl(s, SCTPIO_SCONF, &copy, sizeof(copy), sizeof(copy));

	return n < 0 ? n : 0;
}

/* An address without its port: 16 bytes, of IPv4 as a mapped one. */
static int
bare(const void *addr, unsigned char *ret)
{
	struct sockaddr_in6 s6;
	struct sockaddr_in s4;
	sa_family_t family;

	memcpy(&family, addr, sizeof(family));
	memset(ret, 0, 16);
	if (family == AF_INET) {
		memcpy(&s4, addr, sizeof(s4));
		ret[10] = ret[11] = 0xff;
		memcpy(ret + 12, &s4.sin_addr, 4);
		return 1;
	}
	if (family != AF_INET6)
		return 0;
	memcpy(&s6, addr, sizeof(s6));
	memcpy(ret, &s6.sin6_addr, 16);
	return 1;
}

/* sk_path_of - the index of the peer's address; -1: it has no such address */
int
sk_path_of(const struct sctpio_paths *ps, const void *addr)
{
	unsigned char want[16], have[16];
	uint32_t i;

	if (!bare(addr, want))
		return -1;
	for (i = 0; i < ps->n; i++)
		if (bare(&ps->path[i].addr, have) &&
		    memcmp(want, have, sizeof(want)) == 0)
			return (int)i;
	return -1;
}

/* ------------------------------------------------------------------ SOL_SOCKET */

static int
set_flag(struct sock *s, uint32_t flag, int on)
{
	struct sctpio_keep k;
	int err = sk_keep_get(s, &k);

	if (err != 0)
		return err;
	if (on)
		k.w[KEEP_FLAGGED] |= flag;
	else
		k.w[KEEP_FLAGGED] &= ~flag;
	return sk_keep_set(s, &k);
}

static int
set_buffer(struct sock *s, int name, int v)
{
	struct sctpio_conf c;
	int err = sk_conf_get(s, 0, &c);
	uint32_t n = v < 4096 ? 4096 : v > 1 << 26 ? 1u << 26 : (uint32_t)v;

	if (err != 0)
		return err;
	if (name == SO_SNDBUF) {
		c.sndbuf = n;
		sk_word(s, 0, SK_SNDBUF);
	} else {
		c.rcvbuf = n;
	}
	return sk_conf_set(s, &c);
}

static int
set_time(struct sock *s, enum sk_keep which, const void *val, socklen_t len)
{
	struct sctpio_keep k;
	struct timeval tv;
	int err = sk_opt_in(&tv, sizeof(tv), val, len);

	if (err == 0 && (tv.tv_usec < 0 || tv.tv_usec >= 1000000))
		err = -EDOM;
	if (err == 0)
		err = sk_keep_get(s, &k);
	if (err != 0)
		return err;
	/* a limit below a millisecond is one */
	k.w[which] = tv.tv_sec < 0 || tv.tv_sec > 2000000 ? 0 :
		(uint32_t)(tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000);
	err = sk_keep_set(s, &k);
	if (err == 0)
		sk_word(s, 0, SK_TIMES);
	return err;
}

/*
 * sk_linger - SO_LINGER is as @c says: set how long the Stream's close waits for
 * data that the association has not accepted.  0, or minus an errno.
 */
int
sk_linger(struct sock *s, const struct sctpio_conf *c)
{
	int ms = c->linger == 0 ? 0 : c->linger_time > LINGER_MOST ?
		(int)LINGER_MOST * 1000 : (int)c->linger_time * 1000;

	if (ioctl(s->fd, I_SETCLTIME, &ms) < 0)
		return -errno;
	sk_word(s, ms == 0 ? SK_LINGER : 0, ms == 0 ? 0 : SK_LINGER);
	return 0;
}

static int
set_linger(struct sock *s, const void *val, socklen_t len)
{
	struct sctpio_conf c;
	struct linger l;
	int err = sk_opt_in(&l, sizeof(l), val, len);

	if (err == 0)
		err = sk_conf_get(s, 0, &c);
	if (err != 0)
		return err;
	c.linger = l.l_onoff != 0;
	c.linger_time = l.l_linger < 0 || l.l_linger > 32767 ? 32767 :
		(uint32_t)l.l_linger;
	err = sk_conf_set(s, &c);
	return err != 0 ? err : sk_linger(s, &c);
}

int
sk_setopt_generic(struct sock *s, int name, const void *val, socklen_t len)
{
	int v = 0, err;

	switch (name) {
	case SO_LINGER:
		return set_linger(s, val, len);
	case SO_RCVTIMEO:
		return set_time(s, KEEP_RCVTIME, val, len);
	case SO_SNDTIMEO:
		return set_time(s, KEEP_SNDTIME, val, len);
	default:
		err = sk_opt_in(&v, sizeof(v), val, len);
		if (err != 0)
			return err;
	}
	switch (name) {
	case SO_REUSEADDR: /* a port is free as soon as it is unbound */
		return set_flag(s, SK_OPT_REUSE, v != 0);
	case SO_KEEPALIVE: /* that is what heartbeats are for */
		return set_flag(s, SK_OPT_KEEPALIVE, v != 0);
	case SO_SNDBUF:
	case SO_RCVBUF:
		return set_buffer(s, name, v);
	default:
		return -ENOPROTOOPT;
	}
}

static int
get_time(struct sock *s, enum sk_keep which, void *val, socklen_t *len)
{
	struct timeval tv = {.tv_sec = 0};
	struct sctpio_keep k;
	int err = sk_keep_get(s, &k);

	if (err != 0)
		return err;
	tv.tv_sec = (time_t)(k.w[which] / 1000);
	tv.tv_usec = (suseconds_t)(k.w[which] % 1000 * 1000);
	return sk_opt_out(val, len, &tv, sizeof(tv));
}

static int
get_flag(struct sock *s, uint32_t flag, int *ret)
{
	struct sctpio_keep k;
	int err = sk_keep_get(s, &k);

	*ret = err == 0 && (k.w[KEEP_FLAGGED] & flag) != 0;
	return err;
}

static int
get_conf(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctpio_conf c;
	struct linger l;
	int err = sk_conf_get(s, 0, &c), v;

	if (err != 0)
		return err;
	l.l_onoff = (int)c.linger;
	l.l_linger = (int)c.linger_time;
	if (name == SO_LINGER)
		return sk_opt_out(val, len, &l, sizeof(l));
	v = (int)(name == SO_SNDBUF ? c.sndbuf : c.rcvbuf);
	return sk_opt_out(val, len, &v, sizeof(v));
}

int
sk_getopt_generic(struct sock *s, int name, void *val, socklen_t *len)
{
	int v = 0, err = 0;

	switch (name) {
	case SO_LINGER:
	case SO_SNDBUF:
	case SO_RCVBUF:
		return get_conf(s, name, val, len);
	case SO_RCVTIMEO:
		return get_time(s, KEEP_RCVTIME, val, len);
	case SO_SNDTIMEO:
		return get_time(s, KEEP_SNDTIME, val, len);
	case SO_ERROR:
		if ((SK(s) & SK_CALLING) != 0)
			(void)sk_progress(s, 1);
		v = strm_error(&s->id, 0);
		break;
	case SO_TYPE:
		v = (SK(s) & SK_MANY) != 0 ? SOCK_SEQPACKET : SOCK_STREAM;
		break;
	case SO_DOMAIN:
		v = (SK(s) & SK_V6) != 0 ? AF_INET6 : AF_INET;
		break;
	case SO_PROTOCOL:
		v = IPPROTO_SCTP;
		break;
	case SO_ACCEPTCONN:
		v = (SK(s) & SK_LISTEN) != 0;
		break;
	case SO_REUSEADDR:
		err = get_flag(s, SK_OPT_REUSE, &v);
		break;
	case SO_KEEPALIVE:
		err = get_flag(s, SK_OPT_KEEPALIVE, &v);
		break;
	default:
		return -ENOPROTOOPT;
	}
	return err != 0 ? err : sk_opt_out(val, len, &v, sizeof(v));
}

/* ---------------------------------------------------------------------- levels */

int
sk_setsockopt(struct sock *s, int level, int name, const void *val,
	socklen_t len)
{
	int v, err;

	if ((int)len < 0)
		return -EINVAL;
	if (level == SOL_SOCKET)
		return sk_setopt_generic(s, name, val, len);
	if (level == IPPROTO_SCTP)
		return sk_setopt_sctp(s, name, val, len);
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY) {
		err = sk_opt_in(&v, sizeof(v), val, len);
		return err != 0 ? err : v == 0 ? 0 : -ENOPROTOOPT;
	}
	return -ENOPROTOOPT;
}

int
sk_getsockopt(struct sock *s, int level, int name, void *val, socklen_t *len)
{
	int v = 0;

	if (level == SOL_SOCKET)
		return sk_getopt_generic(s, name, val, len);
	if (level == IPPROTO_SCTP)
		return sk_getopt_sctp(s, name, val, len);
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		return sk_opt_out(val, len, &v, sizeof(v));
	return -ENOPROTOOPT;
}
