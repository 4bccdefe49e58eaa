/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets: made, bound, listening, accepting, shut down.
 */
#include <fcntl.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/timod.h>

#include "sock.h"

#define DEVICE "/dev/sctp"

/*
 * sk_open - a Stream of the device with timod; minus an errno
 * Its close does not wait: the association keeps the data that was accepted.
 */
int
sk_open(int flags)
{
	int fd = open(DEVICE, O_RDWR | flags), err, none = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, I_PUSH, "timod") < 0 ||
	    ioctl(fd, I_SETCLTIME, &none) < 0) {
		err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

/* @fd has become a socket: set its words. */
static void
begin(struct sock *s, int fd, uint32_t word)
{
	s->fd = fd;
	(void)strm_id(fd, &s->id, &s->w);
	__atomic_store_n(&s->w[1], 0u, __ATOMIC_RELEASE);
	__atomic_store_n(&s->w[0], SK_TAG | word, __ATOMIC_RELEASE);
	if ((word & SK_MANY) == 0)
		strm_shut(s->fd, 0, STRM_SHUT_SOCK);
}

int
sk_socket(int domain, int type, int protocol)
{
	struct sctpio_word w = {.value = (uint32_t)domain};
	int flags = 0, fd, err, many;
	struct sock s;

	(void)protocol;
	if (domain != AF_INET && domain != AF_INET6)
		return -EAFNOSUPPORT;
	if ((type & SOCK_NONBLOCK) != 0)
		flags |= O_NONBLOCK;
	if ((type & SOCK_CLOEXEC) != 0)
		flags |= O_CLOEXEC;
	type &= ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	many = type == SOCK_SEQPACKET;
	if (many)
		w.value |= SCTPIO_MANY;
	fd = sk_open(flags);
	if (fd < 0)
		return fd;
	begin(&s, fd, (domain == AF_INET6 ? SK_V6 : 0) | (many ? SK_MANY : 0));
	err = sk_ioctl(&s, SCTPIO_MODE, &w, sizeof(w), sizeof(w));
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

/* ------------------------------------------------------------------------- bind */

int
sk_bind(struct sock *s, const struct sk_addrs *a)
{
	struct {
		struct T_bind_req br;
		struct sk_addrs room;
	} b;
	int n;

	if ((SK(s) & SK_BOUND) != 0)
		return -EINVAL;
	memset(&b.br, 0, sizeof(b.br));
	b.br.PRIM_type = T_BIND_REQ;
	b.br.ADDR_length = (t_scalar_t)a->len;
	b.br.ADDR_offset = sizeof(b.br);
	memcpy((unsigned char *)&b + sizeof(b.br), a->buf, a->len);
	n = sk_ti(s, TI_BIND, &b, sizeof(b.br) + a->len, sizeof(b));
	if (n < 0)
		return n;
	sk_word(s, 0, SK_BOUND);
	return 0;
}

/* sk_bind_any - to any address and a free port, unless it is bound */
int
sk_bind_any(struct sock *s)
{
	struct sockaddr_in6 s6 = {.sin6_family = AF_INET6};
	struct sockaddr_in s4 = {.sin_family = AF_INET};
	struct sk_addrs a;
	int err;

	if ((SK(s) & SK_BOUND) != 0)
		return 0;
	if ((SK(s) & SK_V6) != 0)
		(void)sk_addrs_in(s, &s6, 1, &a);
	else
		(void)sk_addrs_in(s, &s4, 1, &a);
	err = sk_bind(s, &a);
	/* another thread was first */
	return err == -EINVAL && (SK(s) & SK_BOUND) != 0 ? 0 : err;
}

/* sk_bindx - more addresses, or fewer, or the first ones */
int
sk_bindx(struct sock *s, const struct sk_addrs *a, int remove)
{
	struct sctpio_addrs o = {.remove = (uint32_t)remove};
	uint32_t at, size;
	sa_family_t family;
	int n;

	if ((SK(s) & SK_BOUND) == 0)
		return remove ? -EINVAL : sk_bind(s, a);
	for (at = 0; at < a->len; at += size) {
		memcpy(&family, a->buf + at, sizeof(family));
		size = sk_addr_size(family);
		memcpy(&o.addr[o.n++], a->buf + at, size);
	}
	n = sk_ioctl(s, SCTPIO_BINDX, &o, sizeof(o), sizeof(o));
	return n < 0 ? n : 0;
}

int
sk_getname(struct sock *s, struct sockaddr *sa, socklen_t *len, int peer)
{
	struct sockaddr_in6 s6 = {.sin6_family = AF_INET6};
	struct sockaddr_in s4 = {.sin_family = AF_INET};
	struct sk_addrs local, remote;
	int err;

	if (peer && (SK(s) & SK_MANY) != 0)
		return -EOPNOTSUPP;
	if (peer && (SK(s) & SK_CALLING) != 0)
		(void)sk_progress(s, 1);
	if (peer && (SK(s) & SK_CONNECTED) == 0)
		return -ENOTCONN;
	err = sk_names(s, &local, &remote);
	if (err != 0)
		return err;
	if (peer && remote.len == 0)
		return -ENOTCONN;
	if (sa == NULL || len == NULL)
		return -EFAULT;
	if (peer)
		return sk_addr_out(s, remote.buf, sa, len);
	if (local.len != 0)
		return sk_addr_out(s, local.buf, sa, len);
	return (SK(s) & SK_V6) != 0 ? sk_addr_out(s, &s6, sa, len) :
				      sk_addr_out(s, &s4, sa, len);
}

/* ------------------------------------------------------------- listen, accept */

/* Threads in accept() return EINVAL. */
static int
stop_listening(struct sock *s)
{
	struct sctpio_word w = {.value = 0};
	int err;

	sk_word(s, SK_LISTEN, 0); /* first: a woken thread looks at it */
	err = sk_ioctl(s, SCTPIO_LISTEN, &w, sizeof(w), sizeof(w));
	if (err < 0)
		sk_word(s, 0, SK_LISTEN);
	return err < 0 ? err : 0;
}

int
sk_listen(struct sock *s, int backlog)
{
	struct sctpio_word w = {.value = backlog < 0 ? 0 : (uint32_t)backlog};
	int err;

	if ((SK(s) & (SK_CALLING | SK_CONNECTED)) != 0)
		return -EINVAL;
	err = sk_bind_any(s);
	if (err != 0)
		return err;
	/* RFC 6458 s4.1.3: with 0 it does not listen any more */
	if (w.value == 0)
		return stop_listening(s);
	err = sk_ioctl(s, SCTPIO_LISTEN, &w, sizeof(w), sizeof(w));
	if (err < 0)
		return err;
	if ((SK(s) & SK_LISTEN) == 0) {
		/* it may have made a call that failed */
		strm_shut(s->fd, STRM_SHUT_READ | STRM_SHUT_WRITE, 0);
		(void)strm_error(&s->id, 0);
	}
	sk_word(s, 0, SK_LISTEN);
	return 0;
}

/* Number by which T_CONN_RES names the endpoint of @s. */
static int
acceptor(struct sock *s, uint32_t *ret)
{
	union {
		struct T_capability_req cr;
		struct T_capability_ack ca;
	} b = {.cr = {.PRIM_type = T_CAPABILITY_REQ,
		.CAP_bits1 = TC1_ACCEPTOR_ID}};
	int n = sk_ti(s, TI_CAPABILITY, &b, sizeof(b.cr), sizeof(b));

	if (n < 0)
		return n;
	if (n < (int)sizeof(b.ca))
		return -EPROTO;
	*ret = b.ca.ACCEPTOR_id;
	return 0;
}

/* Accept the call @seq of @s on @to. */
static int
respond(struct sock *s, uint32_t id, int32_t seq)
{
	struct {
		struct ti_req tr;
		struct T_conn_res cr;
	} b = {.tr = {.len = sizeof(b.cr)}, .cr = {.PRIM_type = T_CONN_RES,
		.ACCEPTOR_id = id, .SEQ_number = seq}};
	int n = sk_ti(s, TI_REQUEST, &b, sizeof(b), sizeof(b));

	return n < 0 ? n : 0;
}

/* Take the next call.  1: one; 0: none any more; or minus an errno. */
static int
take_call(struct sock *s, struct T_conn_ind *ci, struct sk_addrs *from)
{
	union {
		struct T_conn_ind ci;
		unsigned char room[sizeof(*ci) + sizeof(*from)];
	} b;
	struct strm_prim gp = {.ctl = {.maxlen = sizeof(b), .buf = &b},
		.data = {.maxlen = 0}, .want = P(T_CONN_IND), .nowait = 1};
	int ret = strm_getprim(s->fd, &gp);

	if (ret == -ENOMSG || ret == -EAGAIN)
		return 0;
	if (ret < 0)
		return ret;
	*ci = b.ci;
	from->len = (uint32_t)ci->SRC_length;
	if (gp.ctl.len < (int)sizeof(*ci) ||
	    from->len > sizeof(from->buf) ||
	    (int)(ci->SRC_offset + ci->SRC_length) > gp.ctl.len)
		return -EPROTO;
	memcpy(from->buf, b.room + ci->SRC_offset, from->len);
	return 1;
}

/*
 * Wait for a call, or for the T_ORDREL_IND that the end of listening brings and
 * that stays for other threads; what else is first at the head goes.
 */
static int
wait_call(struct sock *s)
{
	unsigned char b[256];
	struct strm_prim gp = {.ctl = {.maxlen = sizeof(b), .buf = b},
		.data = {.maxlen = 0}, .want = ~(P(T_CONN_IND) | P(T_ORDREL_IND))};
	int ret = sk_nonblock(s, 0) ? 0 :
		sk_wait_time(s, 1 /* POLLIN */, KEEP_RCVTIME);

	if (ret != 0)
		return ret;
	for (;;) {
		ret = strm_getprim(s->fd, &gp);
		if (ret == -ENOMSG)
			return 0;
		if (ret < 0)
			return ret;
	}
}

/* sk_discard_end - the T_ORDREL_IND of the last end goes, if it is first */
void
sk_discard_end(struct sock *s)
{
	struct T_ordrel_ind oi;
	struct strm_prim gp = {.ctl = {.maxlen = sizeof(oi), .buf = &oi},
		.data = {.maxlen = 0}, .want = P(T_ORDREL_IND), .nowait = 1};

	/* first: without a message a read would return the end */
	strm_shut(s->fd, STRM_SHUT_READ, 0);
	(void)strm_getprim(s->fd, &gp);
}

/*
 * sk_accepted - the Stream @fd is to get an association
 * *ret_id: how the provider names it.
 */
int
sk_accepted(struct sock *to, int fd, uint32_t *ret_id)
{
	begin(to, fd, 0);
	return acceptor(to, ret_id);
}

/* sk_connected - it has one, from @from */
void
sk_connected(struct sock *to, struct sock *from)
{
	struct sctpio_status st = {.assoc = 0};
	struct sctpio_conf c;

	if (sk_get(to, SCTPIO_STATUS, &st, sizeof(st)) == 0)
		sk_nout(to, st.ostreams);
	if ((SK(from) & SK_LINGER) != 0 && sk_conf_get(to, 0, &c) == 0)
		(void)sk_linger(to, &c);
	sk_word(to, 0, SK_BOUND | SK_CONNECTED | (SK(from) & SK_INHERITED));
}

/* The socket of the call @ci, on the Stream @fd. */
static int
accept_on(struct sock *s, int fd, const struct T_conn_ind *ci)
{
	struct sock to;
	uint32_t id;
	int err = sk_accepted(&to, fd, &id);

	if (err == 0)
		err = respond(s, id, (int32_t)ci->SEQ_number);
	if (err == 0)
		sk_connected(&to, s);
	/* the provider does not wait for an answer any more */
	return err == -EINVAL ? -ECONNABORTED : err;
}

int
sk_accept(struct sock *s, struct sockaddr *sa, socklen_t *len, int flags)
{
	struct T_conn_ind ci;
	struct sk_addrs from;
	int fd, err, open_flags = 0;

	if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0)
		return -EINVAL;
	if ((SK(s) & SK_MANY) != 0)
		return -EOPNOTSUPP;
	if ((SK(s) & SK_LISTEN) == 0)
		return -EINVAL;
	if ((flags & SOCK_NONBLOCK) != 0)
		open_flags |= O_NONBLOCK;
	if ((flags & SOCK_CLOEXEC) != 0)
		open_flags |= O_CLOEXEC;
	for (;;) {
		err = wait_call(s);
		if (err != 0)
			return err;
		/* first the descriptor: without one the call stays */
		fd = sk_open(open_flags);
		if (fd < 0)
			return fd;
		err = take_call(s, &ci, &from);
		if (err == 1) {
			err = accept_on(s, fd, &ci);
			if (err == 0)
				break;
			if (err == -ECONNABORTED)
				err = 0; /* the caller has gone */
		}
		close(fd);
		if (err < 0)
			return err;
		if ((SK(s) & SK_LISTEN) == 0)
			return -EINVAL;
		sk_discard_end(s); /* it listens again */
	}
	if (sa != NULL) {
		err = sk_addr_out(s, from.buf, sa, len);
		if (err != 0) {
			close(fd);
			return err;
		}
	}
	return fd;
}

/* ------------------------------------------------------------------ shutdown */

/* sk_shutdown - SHUT_WR begins the end of the association: RFC 6458 s4.1.7 */
int
sk_shutdown(struct sock *s, int how)
{
	struct sctpio_word w = {.assoc = 0};
	int ret;

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	if ((SK(s) & SK_MANY) != 0)
		return -EOPNOTSUPP; /* SCTP_EOF ends an association */
	if ((SK(s) & SK_CALLING) != 0)
		(void)sk_progress(s, 1);
	if ((SK(s) & SK_LISTEN) != 0)
		return how == SHUT_WR ? 0 : stop_listening(s);
	if ((SK(s) & SK_CONNECTED) == 0)
		return -ENOTCONN;
	if (how != SHUT_WR) {
		sk_word(s, 0, SK_RSHUT);
		strm_shut(s->fd, 0, STRM_SHUT_READ);
	}
	if (how == SHUT_RD || (SK(s) & SK_WSHUT) != 0)
		return 0;
	sk_word(s, 0, SK_WSHUT);
	ret = sk_ioctl(s, SCTPIO_RELEASE, &w, sizeof(w), sizeof(w));
	if (ret < 0) {
		sk_word(s, SK_WSHUT, 0);
		return ret;
	}
	strm_shut(s->fd, 0, STRM_SHUT_WRITE);
	return 0;
}
