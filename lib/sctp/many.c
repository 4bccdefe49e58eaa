/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the one-to-many style: RFC 6458 s3.
 *
 * To TPI such a socket has datagrams.  A message names its association by a
 * number; an address is looked up before, and called if it is no association's.
 */
#include <poll.h>
#include <unistd.h>

#include <sys/timod.h>

#include "sock.h"

/* @cmd with the addresses @a; *ret: the association. */
static int
by_addr(struct sock *s, int cmd, const struct sk_addrs *a, uint32_t *ret)
{
	struct sctpio_addrs o = {.assoc = 0};
	struct sctpio_word w;
	uint32_t at, size;
	sa_family_t family;
	int n;

	for (at = 0; at < a->len && o.n < SCTPIO_ADDRS; at += size) {
		memcpy(&family, a->buf + at, sizeof(family));
		size = sk_addr_size(family);
		memcpy(&o.addr[o.n++], a->buf + at, size);
	}
	n = sk_ioctl(s, cmd, &o, sizeof(o), sizeof(o));
	if (n < 0)
		return n;
	if (n != (int)sizeof(w))
		return -EPROTO;
	memcpy(&w, &o, sizeof(w));
	*ret = w.assoc;
	return 0;
}

/* sk_many_find - the association with the first address of @a, or -ENOTCONN */
int
sk_many_find(struct sock *s, const struct sk_addrs *a, uint32_t *ret)
{
	return by_addr(s, SCTPIO_FIND, a, ret);
}

/* Wait until the association is established, or gone. */
static int
wait_up(struct sock *s, uint32_t id)
{
	struct sctpio_status st;

	/* even if the answer is there already, as on Linux */
	while (!sk_nonblock(s, 0)) {
		memset(&st, 0, sizeof(st));
		st.assoc = id;
		if (sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) != 0)
			return -ECONNREFUSED;
		if (st.state >= T_SCTP_S_ESTABLISHED)
			return 0;
		/* its end would be no event of the Stream */
		if (poll(NULL, 0, 1) < 0)
			return -errno;
	}
	return -EINPROGRESS;
}

/* sk_many_connect - begin an association; *ret: its number */
int
sk_many_connect(struct sock *s, const struct sk_addrs *a, uint32_t *ret)
{
	int err = sk_bind_any(s);

	if (err != 0)
		return err;
	if (sk_many_find(s, a, ret) == 0)
		return -EISCONN;
	err = by_addr(s, SCTPIO_CONNECT, a, ret);
	return err != 0 ? err : wait_up(s, *ret);
}

/*
 * For which association is a message?
 * @to: or NULL; an association begins if it is no one's
 * *begun: it has begun now.
 */
static int
assoc_of(struct sock *s, const struct sk_snd *snd, const struct sk_addrs *to,
	uint32_t *ret, int *begun)
{
	int err;

	*begun = 0;
	*ret = (uint32_t)snd->assoc;
	if (to == NULL)
		return snd->assoc > SCTP_ALL_ASSOC ? 0 : -ENOTCONN;
	err = sk_bind_any(s);
	if (err == 0)
		err = sk_many_find(s, to, ret);
	if (err != -ENOTCONN)
		return err;
	*begun = 1;
	return by_addr(s, SCTPIO_CONNECT, to, ret);
}

static ssize_t
transmit(struct sock *s, const void *buf, size_t len, const struct sk_snd *snd,
	uint32_t id)
{
	struct {
		struct T_unitdata_req ur;
		struct t_opthdr h;
		struct sctpio_sndinfo si;
		struct sockaddr_in to; /* TPI wants one; the option counts */
	} b;
	struct strm_buf ctl = {.len = sizeof(b), .buf = &b};
	struct strm_buf data = {.len = len != 0 ? (int)len : -1,
		.buf = (void *)(uintptr_t)buf};
	int err;

	memset(&b, 0, sizeof(b));
	b.ur.PRIM_type = T_UNITDATA_REQ;
	b.ur.DEST_offset = offsetof(__typeof__(b), to);
	b.ur.DEST_length = sizeof(b.to);
	b.ur.OPT_offset = offsetof(__typeof__(b), h);
	b.ur.OPT_length = sizeof(b.h) + sizeof(b.si);
	b.h.len = sizeof(b.h) + sizeof(b.si);
	b.h.level = T_INET_SCTP;
	b.h.name = T_SCTP_SNDINFO;
	b.to.sin_family = AF_INET;
	sk_sndinfo(snd, &b.si);
	b.si.assoc = id;
	b.si.eof = (snd->flags & SCTP_EOF) != 0;
	err = strm_putprim(s->fd, &ctl, &data, 0);
	return err < 0 ? err : (ssize_t)len;
}

/* sk_many_send - send one message of @len bytes, or end the association */
ssize_t
sk_many_send(struct sock *s, const void *buf, size_t len,
	const struct sk_snd *snd, const struct sk_addrs *to, int flags)
{
	struct sctpio_status st;
	struct sctpio_word w = {.assoc = 0};
	int begun, err = assoc_of(s, snd, to, &w.assoc, &begun);

	if (err != 0)
		return err;
	if ((snd->flags & SCTP_ABORT) != 0) {
		err = sk_ioctl(s, SCTPIO_ABORT, &w, sizeof(w), sizeof(w));
		return err < 0 ? err : (ssize_t)len;
	}
	memset(&st, 0, sizeof(st));
	st.assoc = w.assoc;
	if (sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) != 0 || !st.may_send)
		return begun ? -ECONNREFUSED : -EPIPE;
	/* before the peer has answered it is not known how many there are */
	if (st.ostreams != 0 && snd->sid >= st.ostreams)
		return -EINVAL;
	if ((flags & MSG_DONTWAIT) != 0 && strm_canput(s->fd, 0) != 1)
		return -EAGAIN;
	return transmit(s, buf, len, snd, st.assoc);
}

/* sk_many_peel - association @id as a socket of its own; minus an errno */
int
sk_many_peel(struct sock *s, uint32_t id, int flags)
{
	struct sctpio_word w = {.assoc = id};
	int fd = sk_open(flags), err;
	struct sock to;

	if (fd < 0)
		return fd;
	err = sk_accepted(&to, fd, &w.value);
	if (err == 0)
		err = sk_ioctl(s, SCTPIO_PEEL, &w, sizeof(w), sizeof(w));
	if (err < 0) {
		close(fd);
		return err;
	}
	sk_connected(&to, s);
	return fd;
}
