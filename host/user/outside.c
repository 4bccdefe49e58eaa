/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The bytes in a pipe's carrier: those that processes outside the domain write,
 * among tokens, and those that are written for such processes.
 *
 * Trust.  A process outside may send anything, also urgent bytes (MSG_OOB) and
 * descriptors.  No descriptor is received: the kernel closes it.
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "user_impl.h"

#define IS_MARKED(m) (((m)->msg_flags & MSG_CTRUNC) != 0)

/* Take the tokens before the first other byte. */
static void
take_front(int fd)
{
	for (;;) {
		char byte;
		struct iovec iov = { &byte, 1 };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

		if (sys_call3(SYS_recvmsg, fd, &m, MSG_DONTWAIT | MSG_PEEK) !=
				1 || !IS_MARKED(&m))
			return;
		m.msg_controllen = 0;
		(void)sys_call3(SYS_recvmsg, fd, &m, MSG_DONTWAIT);
	}
}

static bool
is_stream(int fd)
{
	int type = 0;
	socklen_t len = sizeof type;

	return sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type,
		&len) == 0 && type == SOCK_STREAM;
}

/*
 * A token ends what one message of recvmmsg(2) returns, and is its last byte.
 * Usually there is only a token, and one call finds that out.
 */
size_t
host_token_take(int fd, void *buf, size_t len)
{
	char rest[64];
	size_t done = 0;

	if (len <= sizeof rest) {
		take_front(fd);
		return 0;
	}
	while (len - done > sizeof rest) {
		struct iovec iov[2] = {
			{ (char *)buf + done, len - done - sizeof rest },
			{ rest, sizeof rest },
		};
		struct mmsghdr m[2] = {
			{ .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
			{ .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } },
		};
		long n = sys_call5(SYS_recvmmsg, fd, m, 2, MSG_DONTWAIT, NULL);
		size_t got[2] = { 0, 0 };

		/* at the end of file every message is received, and is empty */
		for (long i = 0; i < n; i++)
			got[i] = m[i].msg_len -
				(m[i].msg_len != 0 && IS_MARKED(&m[i].msg_hdr));
		memcpy((char *)buf + done + got[0], rest, got[1]);
		done += got[0] + got[1];
		if (n < 2 || m[1].msg_len == 0)
			break;
	}
	return done == 0 || is_stream(fd) ? done : 0;
}

void
host_token_drain(int fd)
{
	char buf[256];

	while (host_token_take(fd, buf, sizeof buf) != 0)
		;
}

long
host_outside_put(int fd, const void *buf, size_t len)
{
	long r = sys_call6(SYS_sendto, fd, buf, len,
		MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);

	if (r >= 0)
		return r;
	switch (r) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
		return -EAGAIN;
	case -EFAULT:
		return r;
	case -ENOTSOCK:
		return host_plain_put(fd, buf, len);
	case -ENOTCONN:
	case -EDESTADDRREQ:
	case -EBADF:
		return -ENOTSOCK;
	default:
		return -EPIPE;
	}
}

/*
 * The kernel counts a byte that was sent with MSG_OOB as unread after it has
 * discarded it.  So only a byte that can be read shows that there is one.
 */
size_t
host_outside_waiting(int fd)
{
	int n = 0;
	char c;
	long r;

	if (sys_call3(SYS_ioctl, fd, 0x541b /* FIONREAD */, &n) != 0 || n <= 0)
		return 0;
	r = sys_call6(SYS_recvfrom, fd, &c, 1, MSG_PEEK | MSG_DONTWAIT, NULL,
		NULL);
	/* a pipe of the kernel has no such bytes */
	return r == 1 || r == -ENOTSOCK ? (size_t)n : 0;
}

bool
host_outside_unread(int fd)
{
	int n = 0;

	return sys_call3(SYS_ioctl, fd, 0x5411 /* SIOCOUTQ */, &n) == 0 &&
		n > 0;
}

bool
host_outside_room(int fd)
{
	struct pollfd pfd = { fd, POLLOUT, 0 };
	struct timespec ts = { 0, 0 };

	return sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) != 0;
}
