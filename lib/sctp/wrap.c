/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls of sockets, and read(2) and write(2), for sockets of this library;
 * for all other descriptors the next definition is called.
 */
#include <sys/types.h>

#include "next.h"
#include "sock.h"

/* The result of a call: -1 and errno, or a count. */
static ssize_t
result(ssize_t ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

/* A call @name that is @inner for a socket @s, else passed on. */
#define CALL(type, name, params, args, inner) \
	type name params; \
	STR_EXPORT type name params \
	{ \
		struct sock s; \
		if (!sk_find(&s, fd)) \
			return NEXT(name) args; \
		return (type)result(inner); \
	}

static ssize_t
put(struct sock *s, const void *buf, size_t n, int flags,
	const struct sockaddr *sa, socklen_t len)
{
	struct iovec iov = {(void *)(uintptr_t)buf, n};
	struct sk_addrs to;
	int err;

	if (sa == NULL)
		return sk_send(s, &iov, 1, NULL, NULL, flags);
	err = sk_addr_in(s, sa, len, &to);
	return err != 0 ? err : sk_send(s, &iov, 1, NULL, &to, flags);
}

static ssize_t
get(struct sock *s, void *buf, size_t n, int flags, struct sockaddr *sa,
	socklen_t *len)
{
	struct iovec iov = {buf, n};
	struct sk_got got;
	ssize_t ret = sk_recv(s, &iov, 1, flags, sa != NULL, &got);

	int err = ret >= 0 ? sk_from_out(&got, sa, len) : 0;

	return err != 0 ? err : ret;
}

static ssize_t
getv(struct sock *s, const struct iovec *iov, int n)
{
	struct iovec vec[SK_PIECES];
	struct sk_got got;
	int err = sk_vec_in(iov, (size_t)n, vec, EINVAL);

	return err != 0 ? err : sk_recv(s, vec, (size_t)n, 0, 0, &got);
}

static ssize_t
putv(struct sock *s, const struct iovec *iov, int n)
{
	struct iovec vec[SK_PIECES];
	int err = sk_vec_in(iov, (size_t)n, vec, EINVAL);

	return err != 0 ? err : sk_send(s, vec, (size_t)n, NULL, NULL, 0);
}

static int
to_addr(struct sock *s, const struct sockaddr *sa, socklen_t len,
	int (*call)(struct sock *, const struct sk_addrs *))
{
	struct sk_addrs a;
	int err = sk_addr_in(s, sa, len, &a);

	return err != 0 ? err : call(s, &a);
}

/* Tell the caller how long a message was. */
static int
put_len(struct mmsghdr *msg, ssize_t ret)
{
	unsigned len = (unsigned)ret;

	return strm_copy(&msg->msg_len, &len, sizeof(len)) != 0 ? -EFAULT : 0;
}

/* As many messages as there are; the first one's error counts. */
static int
put_many(struct sock *s, struct mmsghdr *msg, unsigned n, int flags)
{
	ssize_t ret;
	unsigned i;

	for (i = 0; i < n; i++) {
		ret = sk_sendmsg(s, &msg[i].msg_hdr, flags);
		if (ret >= 0)
			ret = put_len(&msg[i], ret);
		if (ret < 0)
			return i != 0 ? (int)i : (int)ret;
	}
	return (int)n;
}

static int
get_many(struct sock *s, struct mmsghdr *msg, unsigned n, int flags)
{
	ssize_t ret;
	unsigned i;

	for (i = 0; i < n; i++) {
		ret = sk_recvmsg(s, &msg[i].msg_hdr, flags & ~MSG_WAITFORONE);
		if (ret >= 0)
			ret = put_len(&msg[i], ret);
		if (ret < 0)
			return i != 0 ? (int)i : (int)ret;
		if ((flags & MSG_WAITFORONE) != 0)
			flags |= MSG_DONTWAIT;
	}
	return (int)n;
}

STR_EXPORT int
socket(int domain, int type, int protocol)
{
	int style = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

	/* the kernel knows what other families say to the number */
	if (protocol != IPPROTO_SCTP ||
	    (domain != AF_INET && domain != AF_INET6) ||
	    (style != SOCK_STREAM && style != SOCK_SEQPACKET))
		return NEXT(socket)(domain, type, protocol);
	return (int)result(sk_socket(domain, type, protocol));
}

CALL(int, bind, (int fd, const struct sockaddr *sa, socklen_t len),
	(fd, sa, len), to_addr(&s, sa, len, sk_bind))
CALL(int, connect, (int fd, const struct sockaddr *sa, socklen_t len),
	(fd, sa, len), to_addr(&s, sa, len, sk_connect))
CALL(int, listen, (int fd, int n), (fd, n), sk_listen(&s, n))
CALL(int, accept, (int fd, struct sockaddr *sa, socklen_t *len),
	(fd, sa, len), sk_accept(&s, sa, len, 0))
CALL(int, accept4, (int fd, struct sockaddr *sa, socklen_t *len, int flags),
	(fd, sa, len, flags), sk_accept(&s, sa, len, flags))
CALL(int, shutdown, (int fd, int how), (fd, how), sk_shutdown(&s, how))
CALL(int, getsockname, (int fd, struct sockaddr *sa, socklen_t *len),
	(fd, sa, len), sk_getname(&s, sa, len, 0))
CALL(int, getpeername, (int fd, struct sockaddr *sa, socklen_t *len),
	(fd, sa, len), sk_getname(&s, sa, len, 1))
CALL(int, getsockopt,
	(int fd, int level, int name, void *val, socklen_t *len),
	(fd, level, name, val, len),
	sk_getsockopt(&s, level, name, val, len))
CALL(int, setsockopt,
	(int fd, int level, int name, const void *val, socklen_t len),
	(fd, level, name, val, len),
	sk_setsockopt(&s, level, name, val, len))

CALL(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n),
	put(&s, buf, n, 0, NULL, 0))
CALL(ssize_t, writev, (int fd, const struct iovec *iov, int n), (fd, iov, n),
	putv(&s, iov, n))
CALL(ssize_t, send, (int fd, const void *buf, size_t n, int flags),
	(fd, buf, n, flags), put(&s, buf, n, flags, NULL, 0))
CALL(ssize_t, sendto,
	(int fd, const void *buf, size_t n, int flags,
		const struct sockaddr *sa, socklen_t len),
	(fd, buf, n, flags, sa, len), put(&s, buf, n, flags, sa, len))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags),
	(fd, msg, flags), sk_sendmsg(&s, msg, flags))
CALL(int, sendmmsg, (int fd, struct mmsghdr *msg, unsigned n, int flags),
	(fd, msg, n, flags), put_many(&s, msg, n, flags))

CALL(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n),
	get(&s, buf, n, 0, NULL, NULL))
CALL(ssize_t, __read_chk, (int fd, void *buf, size_t n, size_t room),
	(fd, buf, n, room), get(&s, buf, n < room ? n : room, 0, NULL, NULL))
CALL(ssize_t, readv, (int fd, const struct iovec *iov, int n), (fd, iov, n),
	getv(&s, iov, n))
CALL(ssize_t, recv, (int fd, void *buf, size_t n, int flags),
	(fd, buf, n, flags), get(&s, buf, n, flags, NULL, NULL))
CALL(ssize_t, __recv_chk, (int fd, void *buf, size_t n, size_t room, int flags),
	(fd, buf, n, room, flags),
	get(&s, buf, n < room ? n : room, flags, NULL, NULL))
CALL(ssize_t, recvfrom,
	(int fd, void *buf, size_t n, int flags, struct sockaddr *sa,
		socklen_t *len),
	(fd, buf, n, flags, sa, len), get(&s, buf, n, flags, sa, len))
CALL(ssize_t, __recvfrom_chk,
	(int fd, void *buf, size_t n, size_t room, int flags,
		struct sockaddr *sa, socklen_t *len),
	(fd, buf, n, room, flags, sa, len),
	get(&s, buf, n < room ? n : room, flags, sa, len))
CALL(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags),
	(fd, msg, flags), sk_recvmsg(&s, msg, flags))
CALL(int, recvmmsg,
	(int fd, struct mmsghdr *msg, unsigned n, int flags,
		struct timespec *ts),
	(fd, msg, n, flags, ts), get_many(&s, msg, n, flags))
