/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * open(2) and its like, and sockets: whatever they make is no Stream, which
 * saves asking.  A number that recvmsg(2) delivers may well be one.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "call.h"
#include "sys.h"

#undef open
#undef open64
#undef openat
#undef openat64
#undef creat
#undef creat64

static int
opened(int fd)
{
	if (fd >= 0)
		fd_not(fd);
	return fd;
}

/* The mode is there only when a file may be made. */
#define OPEN_MODE(flags, ret_mode) \
	do { \
		va_list ap_; \
		va_start(ap_, flags); \
		if (((flags) & O_CREAT) || \
		    ((flags) & O_TMPFILE) == O_TMPFILE) \
			(ret_mode) = va_arg(ap_, mode_t); \
		va_end(ap_); \
	} while (0)

#define OPEN_WRAPPERS(suffix) \
	int open##suffix(const char *path, int flags, ...); \
	int openat##suffix(int dir, const char *path, int flags, ...); \
	int creat##suffix(const char *path, mode_t mode); \
	int __open##suffix##_2(const char *path, int flags); \
	int __openat##suffix##_2(int dir, const char *path, int flags); \
\
	STR_EXPORT int open##suffix(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
\
		OPEN_MODE(flags, mode); \
		return opened(REAL(open##suffix)(path, flags, mode)); \
	} \
	STR_EXPORT int openat##suffix(int dir, const char *path, int flags, \
		...) \
	{ \
		mode_t mode = 0; \
\
		OPEN_MODE(flags, mode); \
		return opened(REAL(openat##suffix)(dir, path, flags, mode)); \
	} \
	STR_EXPORT int creat##suffix(const char *path, mode_t mode) \
	{ \
		return opened(REAL(creat##suffix)(path, mode)); \
	} \
	STR_EXPORT int __open##suffix##_2(const char *path, int flags) \
	{ \
		return opened(REAL(__open##suffix##_2)(path, flags)); \
	} \
	STR_EXPORT int __openat##suffix##_2(int dir, const char *path, \
		int flags) \
	{ \
		return opened(REAL(__openat##suffix##_2)(dir, path, flags)); \
	}

OPEN_WRAPPERS()
OPEN_WRAPPERS(64)

/* -------------------------------------------------- received descriptors */

static void
received(struct msghdr *msg)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++)
			fd_forget(((int *)(void *)CMSG_DATA(c))[i]);
		fd_possible_again();
	}
}

STR_EXPORT ssize_t
recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n;

	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	n = REAL(recvmsg)(fd, msg, flags);
	if (n >= 0 && msg->msg_controllen != 0)
		received(msg);
	return n;
}

STR_EXPORT int
recvmmsg(int fd, struct mmsghdr *msg, unsigned len, int flags,
	struct timespec *ts)
{
	int n;

	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	n = REAL(recvmmsg)(fd, msg, len, flags, ts);
	for (int i = 0; i < n; i++)
		if (msg[i].msg_hdr.msg_controllen != 0)
			received(&msg[i].msg_hdr);
	return n;
}
