/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Calls for sockets, terminals and files with a position, which fail on a
 * Stream.
 *
 * The carrier is a socket, so the kernel would accept some of these, and a byte
 * sent to it would be taken for a token.
 */
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "call.h"
#include "passed.h"
#include "sys.h"

/* Refuse call @name on a Stream with @err, else pass it on. */
#define NOT(type, err, name, params, args) \
	type name params; \
	STR_EXPORT type name params \
	{ \
		if (fd_stream(fd) != NULL) \
			return fail(err); \
		return REAL(name) args; \
	}

NOT(off_t, ESPIPE, lseek, (int fd, off_t off, int whence), (fd, off, whence))
NOT(off64_t, ESPIPE, lseek64, (int fd, off64_t off, int whence),
	(fd, off, whence))
NOT(ssize_t, ESPIPE, pread, (int fd, void *buf, size_t n, off_t off),
	(fd, buf, n, off))
NOT(ssize_t, ESPIPE, pread64, (int fd, void *buf, size_t n, off64_t off),
	(fd, buf, n, off))
NOT(ssize_t, ESPIPE, __pread_chk,
	(int fd, void *buf, size_t n, off_t off, size_t room),
	(fd, buf, n, off, room))
NOT(ssize_t, ESPIPE, __pread64_chk,
	(int fd, void *buf, size_t n, off64_t off, size_t room),
	(fd, buf, n, off, room))
NOT(ssize_t, ESPIPE, pwrite, (int fd, const void *buf, size_t n, off_t off),
	(fd, buf, n, off))
NOT(ssize_t, ESPIPE, pwrite64,
	(int fd, const void *buf, size_t n, off64_t off), (fd, buf, n, off))
NOT(ssize_t, ESPIPE, preadv,
	(int fd, const struct iovec *iov, int n, off_t off), (fd, iov, n, off))
NOT(ssize_t, ESPIPE, preadv64,
	(int fd, const struct iovec *iov, int n, off64_t off),
	(fd, iov, n, off))
NOT(ssize_t, ESPIPE, pwritev,
	(int fd, const struct iovec *iov, int n, off_t off), (fd, iov, n, off))
NOT(ssize_t, ESPIPE, pwritev64,
	(int fd, const struct iovec *iov, int n, off64_t off),
	(fd, iov, n, off))

/*
 * With position -1 they are readv(2) and writev(2).  A Stream supports none of
 * the flags.
 */
#define NO_PLACE(name, plain, off_type) \
	ssize_t name(int fd, const struct iovec *iov, int n, off_type off, \
		int flags); \
	STR_EXPORT ssize_t name(int fd, const struct iovec *iov, int n, \
		off_type off, int flags) \
	{ \
		if (fd_stream(fd) == NULL) \
			return REAL(name)(fd, iov, n, off, flags); \
		if (off != -1) \
			return fail(off < 0 ? EINVAL : ESPIPE); \
		return flags != 0 ? fail(EOPNOTSUPP) : plain(fd, iov, n); \
	}

NO_PLACE(preadv2, readv, off_t)
NO_PLACE(preadv64v2, readv, off64_t)
NO_PLACE(pwritev2, writev, off_t)
NO_PLACE(pwritev64v2, writev, off64_t)

NOT(int, EINVAL, fsync, (int fd), (fd))
NOT(int, EINVAL, fdatasync, (int fd), (fd))
NOT(int, EINVAL, ftruncate, (int fd, off_t len), (fd, len))
NOT(int, EINVAL, ftruncate64, (int fd, off64_t len), (fd, len))
NOT(ssize_t, ENOTSOCK, send, (int fd, const void *buf, size_t n, int flags),
	(fd, buf, n, flags))
NOT(ssize_t, ENOTSOCK, sendto,
	(int fd, const void *buf, size_t n, int flags,
		const struct sockaddr *sa, socklen_t len),
	(fd, buf, n, flags, sa, len))
/* These may send descriptors; the kernel checks their content. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags);
STR_EXPORT ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct passed p;
	ssize_t ret;

	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	if (fd_any_made())
		fd_shared();
	if (host_domain == NULL)
		return REAL(sendmsg)(fd, msg, flags);
	ret = REAL(sendmsg)(fd, pass_begin(&p, msg), flags);
	pass_end(&p);
	return ret;
}

int sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags);
STR_EXPORT int
sendmmsg(int fd, struct mmsghdr *msg, unsigned n, int flags)
{
	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	for (unsigned i = 0; i < n; i++)
		pass_as_it_is(&msg[i].msg_hdr);
	return REAL(sendmmsg)(fd, msg, n, flags);
}

NOT(ssize_t, ENOTSOCK, recv, (int fd, void *buf, size_t n, int flags),
	(fd, buf, n, flags))
NOT(ssize_t, ENOTSOCK, __recv_chk,
	(int fd, void *buf, size_t n, size_t room, int flags),
	(fd, buf, n, room, flags))
NOT(ssize_t, ENOTSOCK, recvfrom,
	(int fd, void *buf, size_t n, int flags, struct sockaddr *sa,
		socklen_t *len),
	(fd, buf, n, flags, sa, len))
NOT(ssize_t, ENOTSOCK, __recvfrom_chk,
	(int fd, void *buf, size_t n, size_t room, int flags,
		struct sockaddr *sa, socklen_t *len),
	(fd, buf, n, room, flags, sa, len))
NOT(int, ENOTSOCK, shutdown, (int fd, int how), (fd, how))
NOT(int, ENOTSOCK, getsockopt,
	(int fd, int level, int name, void *v, socklen_t *len),
	(fd, level, name, v, len))
NOT(int, ENOTSOCK, setsockopt,
	(int fd, int level, int name, const void *v, socklen_t len),
	(fd, level, name, v, len))
NOT(int, ENOTSOCK, getsockname,
	(int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len))
NOT(int, ENOTSOCK, getpeername,
	(int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len))
NOT(int, ENOTSOCK, bind, (int fd, const struct sockaddr *sa, socklen_t len),
	(fd, sa, len))
NOT(int, ENOTSOCK, connect,
	(int fd, const struct sockaddr *sa, socklen_t len), (fd, sa, len))
NOT(int, ENOTSOCK, listen, (int fd, int n), (fd, n))
NOT(int, ENOTSOCK, accept, (int fd, struct sockaddr *sa, socklen_t *len),
	(fd, sa, len))
NOT(int, ENOTSOCK, accept4,
	(int fd, struct sockaddr *sa, socklen_t *len, int flags),
	(fd, sa, len, flags))

/* 0 is a regular result here, not an error. */
STR_EXPORT int
isatty(int fd)
{
	if (fd_stream(fd) == NULL)
		return REAL(isatty)(fd);
	errno = ENOTTY;
	return 0;
}

/* --------------------------------------- calls that have two descriptors */

static bool
either(int a, int b)
{
	return fd_stream(a) != NULL || fd_stream(b) != NULL;
}

/* As in the kernel, the position is read, and written, before the rest. */
static int
position_refused(void *off)
{
	uint64_t at;

	return off != NULL && (host_copyin(off, &at, sizeof at) != 0 ||
		host_copyout(&at, off, sizeof at) != 0) ? EFAULT : EINVAL;
}

STR_EXPORT ssize_t
sendfile(int out, int in, off_t *off, size_t n)
{
	return either(out, in) ? fail(position_refused(off)) :
				 REAL(sendfile)(out, in, off, n);
}

STR_EXPORT ssize_t
sendfile64(int out, int in, off64_t *off, size_t n)
{
	return either(out, in) ? fail(position_refused(off)) :
				 REAL(sendfile64)(out, in, off, n);
}

STR_EXPORT ssize_t
splice(int in, off64_t *ioff, int out, off64_t *ooff, size_t n,
	unsigned flags)
{
	return either(in, out) ? fail(EINVAL) :
				 REAL(splice)(in, ioff, out, ooff, n, flags);
}

STR_EXPORT ssize_t
tee(int in, int out, size_t n, unsigned flags)
{
	return either(in, out) ? fail(EINVAL) : REAL(tee)(in, out, n, flags);
}

STR_EXPORT ssize_t
vmsplice(int fd, const struct iovec *iov, size_t n, unsigned flags)
{
	struct iovec v;

	if (fd_stream(fd) == NULL)
		return REAL(vmsplice)(fd, iov, n, flags);
	if (n > IOV_MAX)
		return fail(EINVAL);
	/* the kernel copies them before it checks the descriptor's kind */
	for (size_t i = 0; i < n; i++)
		if (host_copyin(&iov[i], &v, sizeof v) != 0)
			return fail(EFAULT);
	return fail(EINVAL);
}
