/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Receiving: the next message at the Stream head, or a part of it; a
 * notification; or the end, which stays at the head.
 *
 * The rest of a message that did not fit is the first message at the head, as
 * plain data; the words say so, and how it ends.
 */
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <stropts.h>

#include "sock.h"

union control {
	struct T_data_ind di;
	struct T_optdata_ind od;
	struct T_unitdata_ind ui;
	struct T_discon_ind dis;
	unsigned char room[1024];
};

/* A message, or a part of one, that was taken or looked at. */
struct taken {
	int32_t prim;
	int ctl_len, len; /* bytes of control part and data */
	int cut;	  /* there is more data in this message */
	union control c;
};

/* The first message, looked at.  1, 0: there is none, or minus an errno. */
static int
look(struct sock *s, struct taken *t, void *buf, size_t room)
{
	struct strpeek sp = {
		.ctlbuf = {.maxlen = sizeof(t->c), .buf = (char *)&t->c},
		.databuf = {.maxlen = (int)room, .buf = buf},
		.flags = 0};
	int ret = ioctl(s->fd, I_PEEK, &sp);

	if (ret <= 0)
		return ret < 0 ? -errno : 0;
	t->ctl_len = sp.ctlbuf.len;
	t->len = sp.databuf.len > 0 ? sp.databuf.len : 0;
	t->prim = sp.ctlbuf.len >= (int)sizeof(t_scalar_t) ?
		t->c.di.PRIM_type : STRM_PRIM_NONE;
	t->cut = (size_t)t->len == room;
	return 1;
}

/*
 * The end is the first message.  Its reason is returned once; then, and after
 * an orderly end, there is just no data.
 */
static ssize_t
end(struct sock *s, int32_t prim)
{
	return prim == T_DISCON_IND ? -strm_error(&s->id, 0) : 0;
}

/* The value of the option @name in a T_OPTDATA_IND; 0: it is not there. */
static int
option(const struct taken *t, uint32_t name, void *val, size_t size)
{
	uint32_t at, until;
	struct t_opthdr h;

	if (t->prim == T_OPTDATA_IND && t->ctl_len >= (int)sizeof(t->c.od)) {
		at = (uint32_t)t->c.od.OPT_offset;
		until = at + (uint32_t)t->c.od.OPT_length;
	} else if (t->prim == T_UNITDATA_IND &&
		t->ctl_len >= (int)sizeof(t->c.ui)) {
		at = (uint32_t)t->c.ui.OPT_offset;
		until = at + (uint32_t)t->c.ui.OPT_length;
	} else {
		return 0;
	}
	if (until > (uint32_t)t->ctl_len)
		return 0;
	for (; at + sizeof(h) <= until; at += T_ALIGN(h.len)) {
		memcpy(&h, t->c.room + at, sizeof(h));
		if (h.len < sizeof(h) || h.len > until - at)
			return 0;
		if (h.level == T_INET_SCTP && h.name == name &&
		    h.len == sizeof(h) + size) {
			memcpy(val, t->c.room + at + sizeof(h), size);
			return 1;
		}
	}
	return 0;
}

/* What is known about the message; *more: it goes on in the next one. */
static void
describe(struct sock *s, const struct taken *t, struct sk_got *got, int *more)
{
	struct sctpio_rcvinfo ri;
	struct sctpio_keep k;

	got->info = (struct sctp_rcvinfo){.rcv_assoc_id = SK_ASSOC};
	*more = 0;
	if (t->prim == STRM_PRIM_NONE && (SK(s) & SK_REST) != 0) {
		got->has_info = sk_last_get(s, &got->info);
		*more = (SK(s) & SK_MORE) != 0;
		return;
	}
	got->has_info = 1;
	if (t->prim == T_DATA_IND || t->prim == T_EXDATA_IND)
		*more = t->c.di.MORE_flag != 0;
	if (t->prim == T_OPTDATA_IND)
		*more = (t->c.od.DATA_flag & T_ODF_MORE) != 0;
	if (!option(t, T_SCTP_RCVINFO, &ri, sizeof(ri)))
		return;
	if (t->prim == T_UNITDATA_IND)
		*more = ri.more;
	got->info.rcv_assoc_id = (sctp_assoc_t)ri.assoc;
	got->info.rcv_sid = ri.sid;
	got->info.rcv_ssn = ri.ssn;
	got->info.rcv_flags = ri.unordered ? SCTP_UNORDERED : 0;
	got->info.rcv_ppid = ri.ppid;
	got->info.rcv_tsn = ri.tsn;
	got->info.rcv_cumtsn = ri.cumtsn;
	if ((SK(s) & SK_DEFAULTS) != 0 && sk_keep_get(s, &k) == 0)
		got->info.rcv_context = k.w[KEEP_RCV_CONTEXT];
}

/* Discard the rest of the message that was taken. */
static void
discard(struct sock *s)
{
	char sink[1024];
	struct strm_prim gp;
	int ret;

	do {
		gp = (struct strm_prim){.data = {.maxlen = sizeof(sink),
			.buf = sink}, .want = STRM_DATA, .nowait = 1};
		ret = strm_getprim(s->fd, &gp);
	} while (ret > 0 && (ret & MOREDATA) != 0);
}

/* The peer's address that came with it. */
static void
from_of(struct sock *s, const struct taken *t, struct sk_got *got)
{
	uint32_t off = (uint32_t)t->c.ui.SRC_offset;
	uint32_t len = (uint32_t)t->c.ui.SRC_length;

	if (t->prim == T_UNITDATA_IND && t->ctl_len >= (int)sizeof(t->c.ui) &&
		len >= sizeof(struct sockaddr_in) &&
		off + len <= (uint32_t)t->ctl_len)
		got->fromlen = sk_addr_conv(s, t->c.room + off, &got->from);
}

/*
 * A notification for the note @n, in the place of the data that came with the
 * note and is in @buf.
 */
static ssize_t
notify(struct sock *s, const struct taken *t, const struct sctpio_note *n,
	char *buf, size_t room, struct sk_got *got)
{
	union sctp_notification e;
	size_t size = sk_event(s, n, &e), len = (size_t)t->len, rest;
	char few[512], *data = few;
	int err = 0;

	got->flags = MSG_NOTIFICATION |
		(size + n->len > room ? MSG_TRUNC : MSG_EOR);
	if (size > room)
		size = room;
	rest = room - size < len ? room - size : len;
	if (rest > sizeof(few))
		data = malloc(rest);
	if (data == NULL)
		return -ENOMEM;
	if ((rest != 0 && strm_copy(data, buf, rest) != 0) ||
	    strm_copy(buf, &e, size) != 0 ||
	    (rest != 0 && strm_copy(buf + size, data, rest) != 0))
		err = -EFAULT;
	if (data != few)
		free(data);
	return err != 0 ? err : (ssize_t)(size + rest);
}

/* The message in @buf, @room bytes, which was taken, or looked at. */
static ssize_t
give(struct sock *s, const struct taken *t, char *buf, size_t room, int peek,
	struct sk_got *got)
{
	struct sctpio_note n;
	ssize_t ret;
	int more;

	from_of(s, t, got);
	got->peeked = peek;
	if (option(t, T_SCTP_NOTE, &n, sizeof(n))) {
		ret = notify(s, t, &n, buf, room, got);
		if (t->cut && !peek)
			discard(s);
		return ret;
	}
	describe(s, t, got, &more);
	if (!peek && t->cut) {
		sk_last_put(s, &got->info);
		sk_word(s, SK_MORE, SK_REST | (more ? SK_MORE : 0));
	} else if (!peek && t->prim == STRM_PRIM_NONE &&
		(SK(s) & SK_REST) != 0) {
		sk_word(s, SK_REST | SK_MORE, 0);
	}
	if (!t->cut && !more)
		got->flags |= MSG_EOR;
	return t->len;
}

/* Take the first message, if it is data.  0, or minus an errno. */
static int
take(struct sock *s, struct taken *t, void *buf, size_t room, int nowait)
{
	struct strm_prim gp = {.ctl = {.maxlen = sizeof(t->c), .buf = &t->c},
		.data = {.maxlen = (int)room, .buf = buf},
		.want = P_DATA, .nowait = (uint32_t)nowait};
	int ret = strm_getprim(s->fd, &gp);

	t->prim = gp.prim;
	if (ret < 0)
		return ret;
	t->ctl_len = gp.ctl.len;
	t->len = gp.data.len > 0 ? gp.data.len : 0;
	t->cut = (ret & MOREDATA) != 0;
	return 0;
}

/* Wait until there is a message, for MSG_PEEK. */
static int
peek(struct sock *s, struct taken *t, void *buf, size_t room, int nowait)
{
	int ret;

	for (;;) {
		ret = look(s, t, buf, room);
		if (ret != 0)
			return ret < 0 ? ret :
				t->prim == T_ORDREL_IND ||
				t->prim == T_DISCON_IND ? -ENOMSG : 0;
		if ((SK(s) & SK_RSHUT) != 0)
			return -ENXIO;
		if (nowait)
			return -EAGAIN;
		ret = sk_wait(s, POLLIN, -1);
		if (ret != 0)
			return ret;
	}
}

/* May anything be received?  0; 1: no, and there is nothing; or -errno. */
static int
ready(struct sock *s, int flags)
{
	struct sctpio_assocs all = {.assoc = 0};
	uint32_t w = SK(s);
	int err;

	if ((w & SK_CALLING) != 0) {
		err = sk_progress(s, sk_nonblock(s, flags));
		if (err != 0)
			return err;
		w = SK(s);
	}
	if ((w & SK_MANY) != 0) {
		/* nothing can come: there is no association, and will be none */
		if ((w & SK_LISTEN) == 0 && !strm_pending(&s->id) &&
		    sk_get(s, SCTPIO_ASSOCS, &all, sizeof(all)) == 0 &&
		    all.n == 0 && !strm_pending(&s->id))
			return -ENOTCONN;
		return sk_nonblock(s, flags) ? 0 :
			sk_wait_time(s, POLLIN, KEEP_RCVTIME);
	}
	if ((w & SK_LISTEN) != 0 || (w & SK_CONNECTED) == 0)
		return -ENOTCONN;
	if ((w & SK_RSHUT) != 0)
		return 1;
	return sk_nonblock(s, flags) ? 0 :
		sk_wait_time(s, POLLIN, KEEP_RCVTIME);
}

static ssize_t
receive(struct sock *s, void *buf, size_t room, int flags, struct sk_got *got)
{
	char sink[512];
	struct strm_prim gp = {.ctl = {.maxlen = sizeof(sink), .buf = sink},
		.want = P_ACKS | P(T_UDERROR_IND), .nowait = 1};
	int nowait = (flags & MSG_DONTWAIT) != 0, ret;
	struct taken t;

	if (room > SK_MSG_MOST)
		room = SK_MSG_MOST;
	for (;;) {
		ret = ready(s, flags);
		if (ret != 0)
			return ret > 0 ? 0 : ret;
		ret = (flags & MSG_PEEK) != 0 ?
			peek(s, &t, buf, room, sk_nonblock(s, flags)) :
			take(s, &t, buf, room, nowait);
		if (ret == -ENOMSG && (t.prim == T_ORDREL_IND ||
			t.prim == T_DISCON_IND))
			return end(s, t.prim);
		if (ret == -ENOMSG) {
			/* an answer to a request of a killed process, or a
			 * message for an association that is over */
			ret = strm_getprim(s->fd, &gp);
			if (ret < 0 && ret != -ENOMSG && ret != -EAGAIN)
				return ret;
			continue;
		}
		if (ret == -ENXIO)
			return 0;
		if (ret < 0)
			return ret;
		if (t.len == 0 && room != 0 && t.prim != T_OPTDATA_IND &&
			t.prim != T_UNITDATA_IND)
			continue;
		return give(s, &t, buf, room, (flags & MSG_PEEK) != 0, got);
	}
}

/* Distribute @len bytes of @from. */
static int
scatter(const struct iovec *iov, size_t n, const char *from, size_t len)
{
	size_t i, part;

	for (i = 0; i < n && len != 0; i++, from += part, len -= part) {
		part = iov[i].iov_len < len ? iov[i].iov_len : len;
		if (strm_copy(iov[i].iov_base, from, part) != 0)
			return -EFAULT;
	}
	return 0;
}

/*
 * sk_recv - receive a message, or a part of it
 * @want_from: the sender's address is wanted, in got->from
 * Return: bytes; 0: the end; or minus an errno.
 */
ssize_t
sk_recv(struct sock *s, const struct iovec *iov, size_t n, int flags,
	int want_from, struct sk_got *got)
{
	size_t sum = 0, i;
	ssize_t ret;
	char *all;
	int err;

	memset(got, 0, sizeof(*got));
	if ((flags & MSG_OOB) != 0)
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > SSIZE_MAX - sum)
			return -EINVAL;
		sum += iov[i].iov_len;
	}
	if (n == 1) {
		ret = receive(s, iov[0].iov_base, sum, flags, got);
	} else {
		if (sum > SK_MSG_MOST)
			sum = SK_MSG_MOST;
		all = malloc(sum != 0 ? sum : 1);
		if (all == NULL)
			return -ENOMEM;
		ret = receive(s, all, sum, flags, got);
		if (ret > 0) {
			err = scatter(iov, n, all, (size_t)ret);
			ret = err != 0 ? err : ret;
		}
		free(all);
	}
	if (ret >= 0 && want_from && got->fromlen == 0 &&
		(SK(s) & SK_MANY) == 0)
		sk_last_from(s, &got->from, &got->fromlen);
	return ret;
}

/*
 * sk_next - describe the message behind the one that was received, RFC 6458
 * s5.3.6, if the socket wants that
 * Another thread may receive it first.  Return: 1; 0: there is none yet, or the
 * one that was received goes on.
 */
int
sk_next(struct sock *s, const struct sk_got *got, struct sctp_nxtinfo *ret)
{
	struct sk_got next = {.flags = 0};
	struct sctpio_note n;
	struct taken t;
	int more, len = 0;

	if ((SK(s) & SK_NXTINFO) == 0 || (got->flags & MSG_EOR) == 0 ||
		got->peeked || look(s, &t, NULL, 0) != 1 || t.prim == T_ORDREL_IND ||
		t.prim == T_DISCON_IND)
		return 0;
	(void)ioctl(s->fd, I_NREAD, &len);
	describe(s, &t, &next, &more);
	*ret = (struct sctp_nxtinfo){.nxt_sid = next.info.rcv_sid,
		.nxt_flags = next.info.rcv_flags,
		.nxt_ppid = next.info.rcv_ppid, .nxt_length = (uint32_t)len,
		.nxt_assoc_id = next.info.rcv_assoc_id};
	if (option(&t, T_SCTP_NOTE, &n, sizeof(n))) {
		ret->nxt_flags = (uint16_t)SCTP_NOTIFICATION;
		ret->nxt_assoc_id = (sctp_assoc_t)n.assoc;
	}
	return 1;
}

/* ---------------------------------------------------------------- recvmsg(2) */

/* Append ancillary data; without room MSG_CTRUNC.  0, or -EFAULT. */
static int
put_cmsg(struct msghdr *msg, size_t *used, int type, const void *p, size_t len)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(struct sctp_sndrcvinfo))];
	} c;

	if (*used + CMSG_LEN(len) > msg->msg_controllen) {
		msg->msg_flags |= MSG_CTRUNC;
		return 0;
	}
	memset(&c, 0, sizeof(c));
	c.h.cmsg_len = CMSG_LEN(len);
	c.h.cmsg_level = IPPROTO_SCTP;
	c.h.cmsg_type = type;
	memcpy(CMSG_DATA(&c.h), p, len);
	if (strm_copy((char *)msg->msg_control + *used, &c, CMSG_LEN(len)) != 0)
		return -EFAULT;
	*used += *used + CMSG_SPACE(len) <= msg->msg_controllen ?
		CMSG_SPACE(len) : CMSG_LEN(len);
	return 0;
}

static int
put_info(struct sock *s, struct msghdr *msg, const struct sk_got *got)
{
	const struct sctp_rcvinfo *ri = &got->info;
	struct sctp_sndrcvinfo sr = {.sinfo_stream = ri->rcv_sid,
		.sinfo_ssn = ri->rcv_ssn, .sinfo_flags = ri->rcv_flags,
		.sinfo_ppid = ri->rcv_ppid, .sinfo_context = ri->rcv_context,
		.sinfo_tsn = ri->rcv_tsn, .sinfo_cumtsn = ri->rcv_cumtsn,
		.sinfo_assoc_id = ri->rcv_assoc_id};
	struct sctp_nxtinfo ni;
	uint32_t w = SK(s);
	size_t used = 0;
	int err = 0;

	if ((w & SK_RCVINFO) != 0)
		err = put_cmsg(msg, &used, SCTP_RCVINFO, ri, sizeof(*ri));
	if (err == 0 && sk_next(s, got, &ni))
		err = put_cmsg(msg, &used, SCTP_NXTINFO, &ni, sizeof(ni));
	if ((w & SK_SNDRCV) != 0 && err == 0)
		err = put_cmsg(msg, &used, SCTP_SNDRCV, &sr, sizeof(sr));
	msg->msg_controllen = used;
	return err;
}

ssize_t
sk_recvmsg(struct sock *s, struct msghdr *msg, int flags)
{
	struct iovec vec[SK_PIECES];
	struct msghdr mh;
	struct sk_got got;
	ssize_t ret;
	int err;

	if (strm_copy(&mh, msg, sizeof(mh)) != 0)
		return -EFAULT;
	err = sk_vec_in(mh.msg_iov, mh.msg_iovlen, vec, EMSGSIZE);
	if (err != 0)
		return err;
	ret = sk_recv(s, vec, mh.msg_iovlen, flags, mh.msg_name != NULL, &got);
	if (ret < 0)
		return ret;
	mh.msg_flags = got.flags;
	err = sk_from_out(&got, mh.msg_name, &mh.msg_namelen);
	if (mh.msg_control == NULL)
		mh.msg_controllen = 0; /* what would be put there is cut */
	if (ret > 0 && got.has_info && err == 0)
		err = put_info(s, &mh, &got);
	else
		mh.msg_controllen = 0;
	if (err == 0 && strm_copy(msg, &mh, sizeof(mh)) != 0)
		err = -EFAULT;
	return err != 0 ? err : ret;
}
