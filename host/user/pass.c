/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Descriptors in datagrams, between members and streamsd: keep.c.
 *
 * Either one descriptor is sent with the eight bytes of its id, to a carrier
 * that a waiting process has named to streamsd.  Or many are sent in one
 * datagram, whose text describes each of them, in order.  If the receiver has
 * room for fewer, the kernel delivers the first ones, and reports the loss.
 *
 * The line.  A process sends to the keeper from a socket that is connected to
 * the keeper's: a path would be looked up twice for each datagram, to check the
 * directory and to send.  A new keeper has another name, and gets a new line.
 *
 * Trust.  A datagram contains the credentials of its sender; one from a process
 * of another user is dropped, with its descriptors.
 */
#include <string.h>
#include <sys/socket.h>

#include "user_impl.h"

/* Credentials first, as the kernel delivers them, then descriptors. */
#define CREDS CMSG_SPACE(sizeof(struct ucred))

union control {
	struct cmsghdr h;
	char room[CREDS + CMSG_SPACE(sizeof(int))];
};

union control_many {
	struct cmsghdr h;
	char room[CREDS + CMSG_SPACE(sizeof(int) * HOST_FDS)];
};

/* Add @n descriptors to the control data at @room; returns their size. */
static size_t
rights_put(char *room, const int *fd, unsigned n)
{
	struct cmsghdr h = { CMSG_LEN(n * sizeof *fd), SOL_SOCKET, SCM_RIGHTS };

	memcpy(room, &h, sizeof h);
	memcpy(room + CMSG_LEN(0), fd, n * sizeof *fd);
	return CMSG_SPACE(n * sizeof *fd);
}

/* The descriptors that came with @m, at most @max of them. */
static unsigned
rights_get(struct msghdr *m, int *fd, unsigned max)
{
	struct cmsghdr *h;
	size_t len;

	for (h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS ||
		    h->cmsg_len < CMSG_LEN(sizeof *fd))
			continue;
		len = STR_MIN(h->cmsg_len - CMSG_LEN(0), sizeof *fd * max);
		memcpy(fd, CMSG_DATA(h), len);
		return (unsigned)(len / sizeof *fd);
	}
	return 0;
}

int
host_fd_pass(const struct host_carrier *to, int fd, uint64_t id)
{
	union control u;
	struct iovec iov = { &id, sizeof id };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u };
	uint64_t number;
	size_t creds;

	if (sys_fcntl(fd, F_GETFD, 0) < 0)
		return EBADF;
	if (to->kind != HOST_CARRIER_OPEN || to->addrlen != sizeof number)
		return ECONNREFUSED;
	memcpy(&number, to->addr, sizeof number);
	creds = host_creds_put(&u);
	m.msg_controllen = creds + rights_put(u.room + creds, &fd, 1);
	return host_dgram_send(number, &m, true);
}

static uint64_t line_to, line_cookie; /* [line] name of the keeper, the line */

/* Is @fd still the line?  The program may have closed it. */
static bool
line_is(int fd)
{
	uint64_t cookie = 0;

	return fd >= 0 && host_fd_cookie(fd, &cookie) == 0 &&
		cookie == line_cookie;
}

static void
line_drop(void)
{
	if (line_is(host_fd_get(HOST_FD_LINE)))
		host_fd_drop(HOST_FD_LINE);
	else
		host_fd_note(HOST_FD_LINE, -1);
}

/* Locks: [line]  Return: -1: there is none. */
static int
line_make(uint64_t number)
{
	int fd;

	line_drop();
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	fd = host_fd_hide(HOST_FD_LINE, fd, true);
	if (host_sockdir_connect(fd, number, true) != 0 ||
		host_fd_cookie(fd, &line_cookie) != 0) {
		host_fd_drop(HOST_FD_LINE);
		return -1;
	}
	line_to = number;
	return fd;
}

/*
 * Return: 0; EAGAIN: the keeper's queue is full; another errno: send by another
 * way, which also finds out the reason.  So no thread, and no handler, waits for
 * the one that sends.
 */
static int
line_send(uint64_t number, struct msghdr *m)
{
	struct host_priv *pv = host_priv_page;
	long r = -EBADF;
	int fd;

	if (!host_plock_try(&pv->line))
		return EBUSY;
	fd = host_fd_get(HOST_FD_LINE);
	if (line_to != number || !line_is(fd))
		fd = line_make(number);
	if (fd >= 0)
		r = sys_call3(SYS_sendmsg, fd, m, MSG_DONTWAIT | MSG_NOSIGNAL);
	host_plock_unlock(&pv->line);
	return r < 0 ? (int)-r : 0;
}

int
host_fds_send(uint64_t number, const void *text, size_t len, const int *fd,
	unsigned n)
{
	union control_many u;
	struct iovec iov = { (void *)(uintptr_t)text, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u };
	int err;

	if (n > HOST_FDS)
		return EINVAL;
	m.msg_controllen = host_creds_put(&u);
	if (n != 0)
		m.msg_controllen +=
			rights_put(u.room + m.msg_controllen, fd, n);
	err = line_send(number, &m);
	return err == 0 || err == EAGAIN ? err :
		host_dgram_send(number, &m, true);
}

long
host_fds_recv(int via, void *text, size_t size, int fd[HOST_FDS],
	unsigned *ret_n, bool *ret_lost)
{
	union control_many u;
	struct iovec iov = { text, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u };
	long r;

	*ret_n = 0;
	*ret_lost = false;
	r = sys_call3(SYS_recvmsg, via, &m, MSG_CMSG_CLOEXEC);
	if (r < 0)
		return r;
	*ret_lost = (m.msg_flags & MSG_CTRUNC) != 0;
	/* the kernel delivers the descriptors of a message together */
	*ret_n = rights_get(&m, fd, HOST_FDS);
	if (!host_creds_ours(&m)) {
		while (*ret_n != 0)
			(void)sys_close(fd[--*ret_n]);
		return 0;
	}
	if (m.msg_flags & MSG_TRUNC)
		r = 0; /* no valid text is that long: ignore it */
	return r;
}

/*
 * Take one datagram out of @via.  Return: 0, with *ret_fd -1 if it was a token
 * or is dropped; ENOENT: there is none; EMFILE: its descriptor is lost.
 */
static int
take_one(int via, int *ret_fd, uint64_t *ret_id)
{
	struct iovec iov = { ret_id, sizeof *ret_id };
	union control u;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u };
	int fd[2]; /* the room is padded: a stranger may send two */
	unsigned n;

	*ret_fd = -1;
	*ret_id = 0;
	if (sys_call3(SYS_recvmsg, via, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <
	    0)
		return ENOENT;
	n = rights_get(&m, fd, 2);
	if (n == 0)
		return m.msg_flags & MSG_CTRUNC ? EMFILE : 0;
	if (n == 1 && host_creds_ours(&m)) {
		*ret_fd = fd[0];
		return 0;
	}
	while (n-- != 0)
		(void)sys_close(fd[n]);
	return 0;
}

int
host_fd_take(int via, uint64_t id, int *ret_fd)
{
	int fd, err;
	uint64_t got;

	for (;;) {
		/* do not receive what we have no number for */
		fd = sys_fcntl(via, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return fd == -EBADF ? ENOENT : EMFILE;
		(void)sys_close(fd);
		err = take_one(via, &fd, &got);
		if (err == 0 && fd < 0)
			continue; /* a token */
		if (err != 0 || got == id) {
			if (err == 0)
				*ret_fd = fd;
			return err;
		}
		(void)sys_close(fd);
	}
}

void
host_fd_close(int fd)
{
	(void)sys_close(fd);
}
