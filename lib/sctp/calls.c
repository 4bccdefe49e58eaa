/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls of RFC 6458 s9 whose names begin with sctp_.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "next.h"
#include "sock.h"

static int
result(ssize_t ret)
{
	if (ret >= 0)
		return (int)ret;
	errno = (int)-ret;
	return -1;
}

/* Is it a socket of another protocol? */
static int
is_socket(int sd)
{
	socklen_t len = sizeof(int);
	int type;

	return NEXT(getsockopt)(sd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
}

/* The socket @sd; 0, or -1 with errno. */
static int
begin(struct sock *s, int sd)
{
	int err;

	if (sk_find(s, sd))
		return 0;
	err = strm_id(sd, &s->id, &s->w);
	errno = err == -EBADF ? EBADF : is_socket(sd) ? ENOPROTOOPT : ENOTSOCK;
	return -1;
}

STR_EXPORT int
sctp_getaddrlen(sa_family_t family)
{
	socklen_t n = sk_addr_size(family);

	if (n != 0)
		return (int)n;
	errno = EINVAL;
	return -1;
}

STR_EXPORT int
sctp_bindx(int sd, struct sockaddr *addrs, int addrcnt, int flags)
{
	struct sk_addrs a;
	struct sock s;
	int err;

	if (begin(&s, sd) < 0)
		return -1;
	if (flags != SCTP_BINDX_ADD_ADDR && flags != SCTP_BINDX_REM_ADDR)
		return result(-EINVAL);
	err = sk_addrs_in(&s, addrs, addrcnt, &a);
	if (err == 0)
		err = sk_bindx(&s, &a, flags == SCTP_BINDX_REM_ADDR);
	return result(err);
}

STR_EXPORT int
sctp_connectx(int sd, struct sockaddr *addrs, int addrcnt, sctp_assoc_t *id)
{
	uint32_t n = SK_ASSOC;
	struct sk_addrs a;
	struct sock s;
	int err;

	if (begin(&s, sd) < 0)
		return -1;
	err = sk_addrs_in(&s, addrs, addrcnt, &a);
	if (err == 0)
		err = (SK(&s) & SK_MANY) != 0 ?
			sk_many_connect(&s, &a, &n) : sk_connect(&s, &a);
	if (id != NULL && (err == 0 || err == -EINPROGRESS) &&
	    strm_copy(id, &n, sizeof(n)) != 0)
		err = -EFAULT;
	return result(err);
}

/* RFC 6458 s9.2: of one-to-many sockets */
STR_EXPORT int
sctp_peeloff_flags(int sd, sctp_assoc_t id, unsigned flags)
{
	struct sock s;

	if (begin(&s, sd) < 0)
		return -1;
	if ((SK(&s) & SK_MANY) == 0 || id <= SCTP_ALL_ASSOC ||
	    (flags & ~(unsigned)(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0)
		return result(-EINVAL);
	return result(sk_many_peel(&s, (uint32_t)id,
		((flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0) |
		((flags & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0)));
}

STR_EXPORT int
sctp_peeloff(int sd, sctp_assoc_t id)
{
	return sctp_peeloff_flags(sd, id, 0);
}

STR_EXPORT int
sctp_opt_info(int sd, sctp_assoc_t id, int opt, void *arg, socklen_t *size)
{
	socklen_t room = 0;
	struct sock s;

	if (begin(&s, sd) < 0)
		return -1;
	switch (opt) {
	case SCTP_RTOINFO:
	case SCTP_ASSOCINFO:
	case SCTP_PRIMARY_ADDR:
	case SCTP_PEER_ADDR_PARAMS:
	case SCTP_DEFAULT_SEND_PARAM:
	case SCTP_STATUS:
	case SCTP_GET_PEER_ADDR_INFO:
	case SCTP_PEER_ADDR_THLDS:
	case SCTP_DELAYED_SACK:
	case SCTP_CONTEXT:
	case SCTP_MAX_BURST:
	case SCTP_MAXSEG:
	case SCTP_EVENT:
	case SCTP_DEFAULT_PRINFO:
	case SCTP_PR_SUPPORTED:
	case SCTP_PR_ASSOC_STATUS:
	case SCTP_PR_STREAM_STATUS:
	case SCTP_RECONFIG_SUPPORTED:
	case SCTP_ENABLE_STREAM_RESET:
	case SCTP_STREAM_SCHEDULER:
	case SCTP_STREAM_SCHEDULER_VALUE:
	case SCTP_INTERLEAVING_SUPPORTED:
	case SCTP_PEER_ADDR_THLDS_V2:
	case SCTP_SET_PEER_PRIMARY_ADDR:
	case SCTP_AUTH_ACTIVE_KEY:
	case SCTP_LOCAL_AUTH_CHUNKS:
	case SCTP_PEER_AUTH_CHUNKS:
	case SCTP_AUTH_SUPPORTED:
	case SCTP_ASCONF_SUPPORTED:
		/* the association is the first word of all of these */
		if (arg == NULL || size == NULL)
			return result(-EFAULT);
		if (strm_copy(&room, size, sizeof(room)) != 0)
			return result(-EFAULT);
		if (room < sizeof(id))
			return result(-EINVAL);
		if (strm_copy(arg, &id, sizeof(id)) != 0)
			return result(-EFAULT);
		break;
	case SCTP_DEFAULT_SNDINFO:
		if (arg == NULL || size == NULL)
			return result(-EFAULT);
		if (strm_copy(&room, size, sizeof(room)) != 0)
			return result(-EFAULT);
		if (room < sizeof(struct sctp_sndinfo))
			return result(-EINVAL);
		if (strm_copy(&((struct sctp_sndinfo *)arg)->snd_assoc_id, &id,
			sizeof(id)) != 0)
			return result(-EFAULT);
		break;
	default:
		return result(-EOPNOTSUPP);
	}
	if (opt == SCTP_SET_PEER_PRIMARY_ADDR) /* as in RFC 6458 s9.10 */
		return result(sk_setsockopt(&s, IPPROTO_SCTP, opt, arg, room));
	return result(sk_getsockopt(&s, IPPROTO_SCTP, opt, arg, size));
}

/* ------------------------------------------------------------------ addresses */

/*
 * The addresses at @list, @len bytes, as the socket shows them, in memory that
 * the caller frees.  Return: how many, or minus an errno.
 */
static int
give_list(struct sock *s, const unsigned char *list, size_t len,
	struct sockaddr **ret)
{
	struct sockaddr_storage ss;
	unsigned char *p;
	sa_family_t family;
	size_t at, used = 0;
	int n = 0, err;

	p = calloc(SK_ADDRS, sizeof(struct sockaddr_in6));
	if (p == NULL)
		return -ENOMEM;
	for (at = 0; at < len; at += sk_addr_size(family), n++) {
		memcpy(&family, list + at, sizeof(family));
		if (sk_addr_size(family) == 0)
			break;
		(void)sk_addr_conv(s, list + at, &ss);
		memcpy(p + used, &ss, sk_addr_size(ss.ss_family));
		used += sk_addr_size(ss.ss_family);
	}
	if (n == 0) {
		free(p);
		p = NULL;
	}
	err = strm_copy(ret, &p, sizeof(p)) != 0 ? -EFAULT : 0;
	if (err != 0)
		free(p);
	return err != 0 ? err : n;
}

STR_EXPORT int
sctp_getpaddrs(int sd, sctp_assoc_t id, struct sockaddr **addrs)
{
	struct sctpio_paths ps = {.assoc = 0};
	struct sk_addrs a = {.len = 0};
	struct sock s;
	socklen_t size;
	uint32_t i;

	if (begin(&s, sd) < 0)
		return -1;
	if (addrs == NULL)
		return result(-EINVAL);
	ps.assoc = (SK(&s) & SK_MANY) != 0 ? (uint32_t)id : 0;
	if (sk_get(&s, SCTPIO_PATHS, &ps, sizeof(ps)) != 0)
		return result(-ENOTCONN);
	for (i = 0; i < ps.n; i++) {
		size = sk_addr_size(ps.path[i].addr.v4.sin_family);
		memcpy(a.buf + a.len, &ps.path[i].addr, size);
		a.len += size;
	}
	return result(give_list(&s, a.buf, a.len, addrs));
}

STR_EXPORT int
sctp_getladdrs(int sd, sctp_assoc_t id, struct sockaddr **addrs)
{
	struct sk_addrs local, peer;
	struct sock s;
	int err;

	(void)id;
	if (begin(&s, sd) < 0)
		return -1;
	if (addrs == NULL)
		return result(-EINVAL);
	err = sk_names(&s, &local, &peer);
	return result(err != 0 ? err :
		give_list(&s, local.buf, local.len, addrs));
}

STR_EXPORT int
sctp_freepaddrs(struct sockaddr *addrs)
{
	free(addrs);
	return 0;
}

STR_EXPORT int
sctp_freeladdrs(struct sockaddr *addrs)
{
	free(addrs);
	return 0;
}

STR_EXPORT sctp_assoc_t
sctp_getassocid(int sd, struct sockaddr *addr)
{
	struct sctpio_paths ps = {.assoc = 0};
	struct sk_addrs a;
	struct sock s;
	uint32_t id;
	int err;

	if (begin(&s, sd) < 0)
		return 0;
	err = sk_addrs_in(&s, addr, 1, &a);
	if (err == 0 && (SK(&s) & SK_MANY) != 0) {
		err = sk_many_find(&s, &a, &id);
		errno = EINVAL;
		return err == 0 ? (sctp_assoc_t)id : 0;
	}
	if (err != 0 || sk_get(&s, SCTPIO_PATHS, &ps, sizeof(ps)) != 0 ||
	    sk_path_of(&ps, a.buf) < 0) {
		errno = EINVAL;
		return 0;
	}
	return SK_ASSOC;
}

/* -------------------------------------------------------------------- sending */

STR_EXPORT int
sctp_sendmsg(int sd, const void *msg, size_t len, struct sockaddr *to,
	socklen_t tolen, uint32_t ppid, uint32_t flags, uint16_t stream,
	uint32_t timetolive, uint32_t context)
{
	struct iovec iov = {(void *)(uintptr_t)msg, len};
	struct sk_snd snd = {.sid = stream, .ppid = ppid, .context = context,
		.flags = (uint16_t)(flags & ~(uint32_t)SCTP_PR_SCTP_MASK),
		.policy = SCTP_PR_POLICY(flags), .value = timetolive};
	struct sk_addrs a;
	struct sock s;
	int err;

	if (begin(&s, sd) < 0)
		return -1;
	if (snd.policy == SCTP_PR_SCTP_NONE && timetolive != 0)
		snd.policy = SCTP_PR_SCTP_TTL;
	if (to == NULL || tolen == 0)
		return result(sk_send(&s, &iov, 1, &snd, NULL, 0));
	err = sk_addr_in(&s, to, tolen, &a);
	return result(err != 0 ? err : sk_send(&s, &iov, 1, &snd, &a, 0));
}

STR_EXPORT int
sctp_send(int sd, const void *msg, size_t len,
	const struct sctp_sndrcvinfo *sinfo, int flags)
{
	struct iovec iov = {(void *)(uintptr_t)msg, len};
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(*sinfo))];
	} c;
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	struct sctp_sndrcvinfo si;
	struct sock s;

	if (begin(&s, sd) < 0)
		return -1;
	if (sinfo != NULL) {
		if (strm_copy(&si, sinfo, sizeof(si)) != 0)
			return result(-EFAULT);
		memset(&c, 0, sizeof(c));
		c.align.cmsg_len = CMSG_LEN(sizeof(*sinfo));
		c.align.cmsg_level = IPPROTO_SCTP;
		c.align.cmsg_type = SCTP_SNDRCV;
		memcpy(CMSG_DATA(&c.align), &si, sizeof(si));
		mh.msg_control = &c;
		mh.msg_controllen = CMSG_SPACE(sizeof(*sinfo));
	}
	return result(sk_sendmsg(&s, &mh, flags));
}

static int
read_struct(void *to, size_t size, const void *info, socklen_t len)
{
	if (info == NULL || len < size)
		return -EINVAL;
	return strm_copy(to, info, size) != 0 ? -EFAULT : 0;
}

/* The parts of @info that @type says.  0, or minus an errno. */
static int
read_info(struct sk_snd *snd, const void *info, socklen_t len, unsigned type)
{
	const struct sctp_sndinfo *si = NULL;
	const struct sctp_prinfo *pr = NULL;
	struct sctp_sendv_spa spa;
	int err;

	switch (type) {
	case SCTP_SENDV_NOINFO:
		return len == 0 || info == NULL ? 0 : -EINVAL;
	case SCTP_SENDV_SNDINFO:
		err = read_struct(&spa.sendv_sndinfo,
			sizeof(spa.sendv_sndinfo), info, len);
		if (err != 0)
			return err;
		si = &spa.sendv_sndinfo;
		break;
	case SCTP_SENDV_PRINFO:
		err = read_struct(&spa.sendv_prinfo, sizeof(spa.sendv_prinfo),
			info, len);
		if (err != 0)
			return err;
		pr = &spa.sendv_prinfo;
		break;
	case SCTP_SENDV_SPA:
		err = read_struct(&spa, sizeof(spa), info, len);
		if (err != 0)
			return err;
		if ((spa.sendv_flags & SCTP_SEND_AUTHINFO_VALID) != 0)
			return -EINVAL;
		if ((spa.sendv_flags & SCTP_SEND_SNDINFO_VALID) != 0)
			si = &spa.sendv_sndinfo;
		if ((spa.sendv_flags & SCTP_SEND_PRINFO_VALID) != 0)
			pr = &spa.sendv_prinfo;
		break;
	default: /* SCTP_SENDV_AUTHINFO: a key is for all messages */
		return -EINVAL;
	}
	if (si != NULL) {
		snd->sid = si->snd_sid;
		snd->flags = si->snd_flags;
		snd->ppid = si->snd_ppid;
		snd->context = si->snd_context;
		snd->assoc = si->snd_assoc_id;
	}
	if (pr != NULL) {
		if ((pr->pr_policy & ~SCTP_PR_SCTP_MASK) != 0)
			return -EINVAL;
		snd->policy = pr->pr_policy;
		snd->value = pr->pr_value;
	}
	return 0;
}

/* All addresses have the port of the first one. */
static void
one_port(struct sk_addrs *a)
{
	struct sockaddr_in first, sa;
	uint32_t at;

	memcpy(&first, a->buf, sizeof(first)); /* the same place in both */
	for (at = 0; at < a->len; at += sk_addr_size(sa.sin_family)) {
		memcpy(&sa, a->buf + at, sizeof(sa));
		sa.sin_port = first.sin_port;
		memcpy(a->buf + at, &sa, offsetof(struct sockaddr_in, sin_addr));
	}
}

STR_EXPORT int
sctp_sendv(int sd, const struct iovec *iov, int iovcnt,
	struct sockaddr *addrs, int addrcnt, void *info, socklen_t infolen,
	unsigned int infotype, int flags)
{
	struct iovec vec[SK_PIECES];
	struct sk_addrs a;
	struct sk_snd snd;
	struct sock s;
	int err;

	if (begin(&s, sd) < 0)
		return -1;
	if (iovcnt < 0 || (iovcnt != 0 && iov == NULL) || addrcnt < 0)
		return result(-EINVAL);
	err = sk_vec_in(iov, (size_t)iovcnt, vec, EMSGSIZE);
	if (err == 0)
		err = sk_send_defaults(&s, &snd);
	if (err == 0)
		err = read_info(&snd, info, infolen, infotype);
	if (err == 0 && addrcnt != 0)
		err = sk_addrs_in(&s, addrs, addrcnt, &a);
	if (err != 0)
		return result(err);
	if (addrcnt > 1)
		one_port(&a);
	return result(sk_send(&s, vec, (size_t)iovcnt, &snd,
		addrcnt != 0 ? &a : NULL, flags));
}

/* ------------------------------------------------------------------- receiving */

/* The flags for a receive that the caller has put at @p. */
static int
flags_in(const int *p, int *ret)
{
	*ret = 0;
	if (p == NULL)
		return 0;
	if (strm_copy(ret, p, sizeof(*ret)) != 0)
		return -EFAULT;
	*ret &= MSG_PEEK | MSG_DONTWAIT;
	return 0;
}

/* @size bytes of @from for the caller, if they are wanted. */
static int
give(void *to, const void *from, size_t size)
{
	return to != NULL && strm_copy(to, from, size) != 0 ? -EFAULT : 0;
}

STR_EXPORT int
sctp_recvmsg(int sd, void *msg, size_t len, struct sockaddr *from,
	socklen_t *fromlen, struct sctp_sndrcvinfo *sinfo, int *msg_flags)
{
	struct iovec iov = {msg, len};
	struct sctp_sndrcvinfo si;
	struct sk_got got;
	struct sock s;
	ssize_t ret;
	int err, flags;

	if (begin(&s, sd) < 0)
		return -1;
	err = flags_in(msg_flags, &flags);
	if (err != 0)
		return result(err);
	ret = sk_recv(&s, &iov, 1, flags, from != NULL, &got);
	if (ret < 0)
		return result(ret);
	err = sk_from_out(&got, from, fromlen);
	if (err == 0)
		err = give(msg_flags, &got.flags, sizeof(got.flags));
	/* RFC 6458 s8.12: filled in if SCTP_DATA_IO_EVENT is subscribed to */
	if (err == 0 && ret > 0 && got.has_info && (SK(&s) & SK_SNDRCV) != 0) {
		si = (struct sctp_sndrcvinfo){
			.sinfo_stream = got.info.rcv_sid,
			.sinfo_ssn = got.info.rcv_ssn,
			.sinfo_flags = got.info.rcv_flags,
			.sinfo_ppid = got.info.rcv_ppid,
			.sinfo_context = got.info.rcv_context,
			.sinfo_tsn = got.info.rcv_tsn,
			.sinfo_cumtsn = got.info.rcv_cumtsn,
			.sinfo_assoc_id = got.info.rcv_assoc_id};
		err = give(sinfo, &si, sizeof(si));
	}
	return result(err != 0 ? err : ret);
}

/* What sctp_recvv() tells of a message, and of the next.  0, or -EFAULT. */
static int
put_rcvinfo(struct sock *s, const struct sk_got *got, int any, void *info,
	socklen_t *infolen, unsigned int *infotype)
{
	struct sctp_recvv_rn rn = {.recvv_rcvinfo = got->info};
	socklen_t room, size = 0;
	unsigned type = SCTP_RECVV_NOINFO;
	const void *from = &rn;
	int err = 0, next;

	if (info == NULL || infolen == NULL || infotype == NULL)
		return give(infotype, &type, sizeof(type));
	if (strm_copy(&room, infolen, sizeof(room)) != 0)
		return -EFAULT;
	any = any && got->has_info;
	next = any && sk_next(s, got, &rn.recvv_nxtinfo);
	any = any && (SK(s) & SK_RCVINFO) != 0;
	if (any && next && room >= sizeof(rn)) {
		size = sizeof(rn);
		type = SCTP_RECVV_RN;
	} else if (any && room >= sizeof(rn.recvv_rcvinfo)) {
		size = sizeof(rn.recvv_rcvinfo);
		type = SCTP_RECVV_RCVINFO;
	} else if (next && room >= sizeof(rn.recvv_nxtinfo)) {
		from = &rn.recvv_nxtinfo;
		size = sizeof(rn.recvv_nxtinfo);
		type = SCTP_RECVV_NXTINFO;
	}
	if (size != 0)
		err = give(info, from, size);
	if (err == 0)
		err = give(infolen, &size, sizeof(size));
	return err != 0 ? err : give(infotype, &type, sizeof(type));
}

STR_EXPORT int
sctp_recvv(int sd, const struct iovec *iov, int iovlen,
	struct sockaddr *from, socklen_t *fromlen, void *info,
	socklen_t *infolen, unsigned int *infotype, int *flags)
{
	struct iovec vec[SK_PIECES];
	struct sk_got got;
	struct sock s;
	ssize_t ret;
	int err, fl;

	if (begin(&s, sd) < 0)
		return -1;
	if (iovlen < 0 || (iovlen != 0 && iov == NULL))
		return result(-EINVAL);
	err = sk_vec_in(iov, (size_t)iovlen, vec, EMSGSIZE);
	if (err == 0)
		err = flags_in(flags, &fl);
	if (err != 0)
		return result(err);
	ret = sk_recv(&s, vec, (size_t)iovlen, fl, from != NULL, &got);
	if (ret < 0)
		return result(ret);
	err = sk_from_out(&got, from, fromlen);
	if (err == 0)
		err = give(flags, &got.flags, sizeof(got.flags));
	if (err == 0)
		err = put_rcvinfo(&s, &got, ret > 0, info, infolen, infotype);
	return result(err != 0 ? err : ret);
}
