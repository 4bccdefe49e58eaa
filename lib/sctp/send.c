/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sending.
 *
 * A message on stream 0 without further wishes is plain data, which libstreams
 * sends as by write(2); it needs no packets within a domain.  All others are a
 * T_OPTDATA_REQ with the option T_SCTP_SNDINFO.  A message is one message of the
 * Stream in both cases.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "sock.h"

#define UNIT 65535u /* bytes that write(2) sends as one message */
#define KNOWN_FLAGS \
	(SCTP_UNORDERED | SCTP_ADDR_OVER | SCTP_ABORT | \
		SCTP_SACK_IMMEDIATELY | SCTP_EOF | SCTP_SENDALL | \
		SCTP_PR_SCTP_MASK)

/* What the provider keeps for messages without information of their own. */
int
sk_send_defaults(struct sock *s, struct sk_snd *snd)
{
	struct sctpio_keep k;
	int err;

	memset(snd, 0, sizeof(*snd));
	if ((SK(s) & SK_DEFAULTS) == 0)
		return 0;
	err = sk_keep_get(s, &k);
	if (err != 0)
		return err;
	snd->sid = (uint16_t)k.w[KEEP_SID];
	snd->flags = (uint16_t)k.w[KEEP_FLAGS];
	snd->ppid = k.w[KEEP_PPID];
	snd->context = k.w[KEEP_CONTEXT];
	snd->policy = k.w[KEEP_POLICY];
	snd->value = k.w[KEEP_VALUE];
	return 0;
}

/* Is there an association that takes data?  0, or minus an errno. */
static int
ready(struct sock *s, const struct sk_addrs *to, int flags)
{
	struct sctpio_status st = {.assoc = 0};
	uint32_t w = SK(s);
	int err;

	if ((w & SK_LISTEN) != 0)
		return -EPIPE;
	if ((w & SK_CALLING) != 0) {
		err = sk_progress(s, sk_nonblock(s, flags));
		if (err != 0)
			return err;
		w = SK(s);
	}
	if ((w & SK_CONNECTED) == 0) {
		if (to == NULL)
			return -ENOTCONN;
		err = sk_connect(s, to);
		return err == -EINPROGRESS ? -EAGAIN : err;
	}
	if ((w & SK_WSHUT) != 0)
		return -EPIPE;
	if (!strm_pending(&s->id))
		return 0;
	/* behind what has not been read there may be the end */
	if (!strm_ended(&s->id) &&
	    sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) == 0 && st.may_send)
		return 0;
	err = strm_error(&s->id, 0);
	return err != 0 ? -err : -EPIPE;
}

/* All pieces in one; NULL: no memory, or, *err, bad memory. */
static char *
gather(const struct iovec *iov, size_t n, size_t sum, int *err)
{
	char *all = malloc(sum != 0 ? sum : 1);
	size_t at = 0, i;

	*err = -ENOMEM;
	if (all == NULL)
		return NULL;
	for (i = 0; i < n; at += iov[i].iov_len, i++)
		if (strm_copy(all + at, iov[i].iov_base, iov[i].iov_len) != 0) {
			*err = -EFAULT;
			free(all);
			return NULL;
		}
	return all;
}

static ssize_t
send_plain(struct sock *s, const void *buf, size_t len)
{
	struct strm_buf ctl = {.len = -1};
	struct strm_buf data = {.len = (int)len,
		.buf = (void *)(uintptr_t)buf};
	int err;

	if (len <= UNIT)
		return strm_write(s->fd, buf, len);
	err = strm_putprim(s->fd, &ctl, &data, 0);
	return err < 0 ? err : (ssize_t)len;
}

/* sk_sndinfo - for the provider */
void
sk_sndinfo(const struct sk_snd *snd, struct sctpio_sndinfo *ret)
{
	ret->sid = snd->sid;
	ret->now = (snd->flags & SCTP_SACK_IMMEDIATELY) != 0;
	ret->ppid = snd->ppid;
	ret->context = snd->context;
	ret->life = snd->value;
	ret->unordered = (snd->flags & SCTP_UNORDERED) != 0;
	ret->pr = snd->policy == SCTP_PR_SCTP_TTL ? SCTPIO_PR_TTL :
		snd->policy == SCTP_PR_SCTP_RTX ? SCTPIO_PR_RTX :
		SCTPIO_PR_NONE;
}

static ssize_t
send_info(struct sock *s, const void *buf, size_t len,
	const struct sk_snd *snd)
{
	int un = (snd->flags & SCTP_UNORDERED) != 0, err;
	struct {
		struct T_optdata_req od;
		struct t_opthdr h;
		struct sctpio_sndinfo si;
	} b;
	struct strm_buf ctl = {.len = sizeof(b), .buf = &b};
	struct strm_buf data = {.len = (int)len,
		.buf = (void *)(uintptr_t)buf};

	memset(&b, 0, sizeof(b));
	b.od.PRIM_type = T_OPTDATA_REQ;
	b.od.DATA_flag = un ? T_ODF_EX : 0;
	b.od.OPT_offset = offsetof(__typeof__(b), h);
	b.od.OPT_length = sizeof(b.h) + sizeof(b.si);
	b.h.len = sizeof(b.h) + sizeof(b.si);
	b.h.level = T_INET_SCTP;
	b.h.name = T_SCTP_SNDINFO;
	sk_sndinfo(snd, &b.si);
	err = strm_putprim(s->fd, &ctl, &data, un);
	return err < 0 ? err : (ssize_t)len;
}

static int
is_plain(const struct sk_snd *snd)
{
	return snd->sid == 0 && snd->ppid == 0 && snd->context == 0 &&
		snd->policy == SCTP_PR_SCTP_NONE &&
		(snd->flags & (SCTP_UNORDERED | SCTP_SACK_IMMEDIATELY)) == 0;
}

/* Check what the caller wants.  0, or minus an errno. */
static int
check(struct sock *s, const struct sk_snd *snd, size_t len,
	const struct sk_addrs *to)
{
	struct sctpio_conf c = {.assoc = 0};
	struct sctpio_status st = {.assoc = (uint32_t)snd->assoc};

	if ((snd->flags & ~KNOWN_FLAGS) != 0 ||
	    snd->policy == SCTP_PR_SCTP_PRIO)
		return -EINVAL;
	if (len == 0 && (snd->flags & (SCTP_EOF | SCTP_ABORT)) == 0)
		return -EINVAL;
	if (len > SK_MSG_MOST)
		return -EMSGSIZE;
	if ((SK(s) & SK_SNDBUF) != 0 && sk_get(s, SCTPIO_GCONF, &c,
		sizeof(c)) == 0 && len > c.sndbuf)
		return -EMSGSIZE;
	if ((SK(s) & SK_WHOLE) == 0)
		return 0;
	if (to != NULL && (SK(s) & SK_MANY) != 0)
		(void)sk_many_find(s, to, &st.assoc);
	return sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) == 0 &&
		len > st.fragment ? -EMSGSIZE : 0;
}

static ssize_t
transmit(struct sock *s, const struct iovec *iov, size_t n, size_t sum,
	const struct sk_snd *snd, const struct sk_addrs *to, int flags)
{
	int un = (snd->flags & SCTP_UNORDERED) != 0, err;
	const char *buf = n != 0 ? iov[0].iov_base : NULL;
	char *all = NULL;
	ssize_t ret;

	if (n > 1) {
		all = gather(iov, n, sum, &err);
		if (all == NULL)
			return err;
		buf = all;
	}
	if ((SK(s) & SK_MANY) != 0) {
		ret = sk_many_send(s, buf, sum, snd, to, flags);
		free(all);
		return ret;
	}
	if ((snd->flags & SCTP_ABORT) != 0) {
		ret = sk_abort(s, buf, sum);
		ret = ret == 0 ? (ssize_t)sum : ret;
	} else if (sum == 0) {
		ret = 0;
	} else if (!sk_has_stream(s, snd->sid)) {
		ret = -EINVAL;
	} else if ((flags & MSG_DONTWAIT) != 0 && strm_canput(s->fd, un) != 1) {
		ret = -EAGAIN;
	} else {
		ret = is_plain(snd) ? send_plain(s, buf, sum) :
				      send_info(s, buf, sum, snd);
	}
	free(all);
	if (ret >= 0 && (snd->flags & SCTP_EOF) != 0) {
		err = sk_shutdown(s, SHUT_WR);
		if (err != 0)
			ret = err;
	}
	return ret;
}

/*
 * sk_send - send a message
 * @snd: NULL: the defaults.  @to: where to connect to before, or NULL
 * Return: its length, or minus an errno.  -EPIPE comes with SIGPIPE, unless
 * @flags has MSG_NOSIGNAL.
 */
ssize_t
sk_send(struct sock *s, const struct iovec *iov, size_t n,
	const struct sk_snd *snd, const struct sk_addrs *to, int flags)
{
	struct sk_snd dflt;
	size_t sum = 0, i;
	ssize_t ret;

	if ((flags & MSG_OOB) != 0)
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > SK_MSG_MOST ||
		    sum + iov[i].iov_len > SK_MSG_MOST)
			return -EMSGSIZE;
		sum += iov[i].iov_len;
	}
	ret = 0;
	if (snd == NULL) {
		ret = sk_send_defaults(s, &dflt);
		snd = &dflt;
	}
	if (ret == 0)
		ret = check(s, snd, sum, to);
	if (ret == 0 && (SK(s) & SK_MANY) == 0)
		ret = ready(s, to, flags);
	if (ret == 0 && !sk_nonblock(s, flags))
		ret = sk_wait_time(s, POLLOUT, KEEP_SNDTIME);
	if (ret == 0)
		ret = transmit(s, iov, n, sum, snd, to, flags);
	if (ret == -EPIPE && (flags & MSG_NOSIGNAL) == 0)
		(void)pthread_kill(pthread_self(), SIGPIPE);
	return ret;
}

/* ---------------------------------------------------------------- sendmsg(2) */

/* sinfo_timetolive without a policy is a limit of time. */
static void
from_sndrcv(struct sk_snd *snd, const struct sctp_sndrcvinfo *si)
{
	snd->sid = si->sinfo_stream;
	snd->flags = si->sinfo_flags & (uint16_t)~SCTP_PR_SCTP_MASK;
	snd->policy = SCTP_PR_POLICY(si->sinfo_flags);
	snd->ppid = si->sinfo_ppid;
	snd->context = si->sinfo_context;
	snd->value = si->sinfo_timetolive;
	snd->assoc = si->sinfo_assoc_id;
	if (snd->policy == SCTP_PR_SCTP_NONE && snd->value != 0)
		snd->policy = SCTP_PR_SCTP_TTL;
}

/* One piece of ancillary data.  0, or minus an errno. */
static int
one_cmsg(struct sk_snd *snd, const struct cmsghdr *c, int *info)
{
	size_t len = c->cmsg_len - CMSG_LEN(0);
	struct sctp_sndrcvinfo sr;
	struct sctp_sndinfo si;
	struct sctp_prinfo pr;

	if (c->cmsg_level != IPPROTO_SCTP)
		return 0;
	switch (c->cmsg_type) {
	case SCTP_SNDRCV:
		if (len != sizeof(sr))
			return -EINVAL;
		memcpy(&sr, CMSG_DATA(c), sizeof(sr));
		from_sndrcv(snd, &sr);
		*info = 1;
		return 0;
	case SCTP_SNDINFO:
		if (len != sizeof(si))
			return -EINVAL;
		memcpy(&si, CMSG_DATA(c), sizeof(si));
		snd->sid = si.snd_sid;
		snd->flags = si.snd_flags;
		snd->ppid = si.snd_ppid;
		snd->context = si.snd_context;
		snd->assoc = si.snd_assoc_id;
		*info = 1;
		return 0;
	case SCTP_PRINFO:
		if (len != sizeof(pr))
			return -EINVAL;
		memcpy(&pr, CMSG_DATA(c), sizeof(pr));
		if ((pr.pr_policy & ~SCTP_PR_SCTP_MASK) != 0)
			return -EINVAL;
		snd->policy = pr.pr_policy;
		snd->value = pr.pr_value;
		*info = 1;
		return 0;
	case SCTP_INIT: /* of an association that a message begins */
		return len == sizeof(struct sctp_initmsg) ? 0 : -EINVAL;
	case SCTP_DSTADDRV4:
	case SCTP_DSTADDRV6:
		return 0;
	default:
		return -EINVAL; /* SCTP_AUTHINFO: there is no authentication */
	}
}

static int
read_cmsgs(const struct msghdr *msg, struct sk_snd *snd, int *info)
{
	struct cmsghdr *c;
	int err = 0;

	for (c = CMSG_FIRSTHDR(msg); c != NULL && err == 0;
		c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c)) {
		if (c->cmsg_len < CMSG_LEN(0) ||
		    (char *)c + c->cmsg_len > (char *)msg->msg_control +
			    msg->msg_controllen)
			return -EINVAL;
		err = one_cmsg(snd, c, info);
	}
	return err;
}

ssize_t
sk_sendmsg(struct sock *s, const struct msghdr *msg, int flags)
{
	union {
		struct cmsghdr align;
		char room[SK_CONTROL];
	} control;
	struct sk_addrs to, *top = NULL;
	struct iovec vec[SK_PIECES];
	struct sk_snd snd;
	struct msghdr mh;
	int info = 0, err;

	if (strm_copy(&mh, msg, sizeof(mh)) != 0)
		return -EFAULT;
	err = sk_vec_in(mh.msg_iov, mh.msg_iovlen, vec, EMSGSIZE);
	if (err == 0 && mh.msg_control != NULL && mh.msg_controllen != 0) {
		if (mh.msg_controllen > sizeof(control))
			return -ENOBUFS;
		if (strm_copy(&control, mh.msg_control, mh.msg_controllen) != 0)
			return -EFAULT;
		mh.msg_control = &control;
	} else {
		mh.msg_controllen = 0;
	}
	if (err == 0)
		err = sk_send_defaults(s, &snd);
	if (err == 0)
		err = read_cmsgs(&mh, &snd, &info);
	if (err == 0 && mh.msg_name != NULL && mh.msg_namelen != 0) {
		err = sk_addr_in(s, mh.msg_name, mh.msg_namelen, &to);
		top = &to;
	}
	if (err != 0)
		return err;
	return sk_send(s, vec, mh.msg_iovlen, info ? &snd : NULL, top, flags);
}
