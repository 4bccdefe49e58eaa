/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Boxes: descriptors on their way, in a queue that the kernel keeps.
 *
 * Object.  A box is an AF_UNIX datagram socket that is connected to itself; it
 * has an address in the socket directory only until it is connected.  Each
 * process that has a descriptor of it can put messages into its receive queue
 * and take them out, and the kernel refuses datagrams from any other socket.
 * For a socket that sends to itself the limit is not the length of the receive
 * queue, but its send buffer: 277 descriptors with the usual 208 KiB.
 *
 * Life.  A box has an entry in the table of sockets (sock.c, keep.c): streamsd
 * keeps a descriptor of it, a process gets one from streamsd when it needs it,
 * and the processes that have one pass it to the next streamsd.  The content of
 * a box is lost only if streamsd and all these processes are killed together.
 *
 * Taking.  MSG_PEEK duplicates the descriptor of a datagram and leaves the
 * datagram in the queue, so nothing is lost if a process has no free descriptor
 * or is killed.
 */
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "sock_impl.h"

#define KEPT_NS 500000000ull /* wait for streamsd to take a box */

union control {
	struct cmsghdr h;
	char room[CMSG_SPACE(sizeof(int))];
};

int
host_box_new(int *ret_fd, struct host_carrier *ret_carrier)
{
	uint64_t number = 0;
	int fd, err;

	fd = (int)sys_call3(SYS_socket, AF_UNIX,
		SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return host_carrier_err(-fd);
	err = host_sockdir_bind(fd, &number);
	if (err == 0)
		err = (int)-host_sockdir_connect(fd, number, false);
	host_sockdir_unlink(number);
	if (err == 0)
		err = host_carrier_id(fd, ret_carrier);
	if (err != 0) {
		(void)sys_close(fd);
		return host_carrier_err(err);
	}
	*ret_fd = fd;
	return 0;
}

static int
fd_of(uint64_t box)
{
	return fd_in(str_load_acq(&place_of(box)->word), box);
}

bool
host_box_here(uint64_t box)
{
	return fd_of(box) >= 0;
}

/* The descriptor of @box, fetched if necessary; never a number that the program
 * has closed without our knowledge and reused.  Or minus an errno. */
static int
fetch(uint64_t box)
{
	struct place *p = place_of(box);
	int fd = fd_of(box), probe;

	if (fd >= 0 && host_sock_cookie(fd) == str_load(&p->cookie))
		return fd;
	if (fd >= 0)
		host_sock_forget(p, word_of(box, fd));
	/* without a free number we have it, but cannot duplicate it */
	probe = sys_fcntl(STR_MAX(host_fd_get(HOST_FD_DOMAIN), 0),
		F_DUPFD_CLOEXEC, 0);
	if (probe == -EMFILE)
		return -EMFILE;
	if (probe >= 0)
		(void)sys_close(probe);
	return host_sock_fd(box);
}

/* False: streamsd has not taken it. */
static bool
is_kept(uint64_t box)
{
	struct timespec ts = { 0, 100000 };
	uint64_t end = 0;

	while (!host_sock_kept(box)) {
		if (end == 0)
			end = host_now() + KEPT_NS;
		else if (host_now() >= end)
			return false;
		if (host_sock_owes())
			host_sock_pass_all();
		(void)sys_call2(SYS_nanosleep, &ts, NULL);
	}
	return true;
}

int
host_box_ready(uint64_t box, bool kept)
{
	int fd = fetch(box);

	if (fd < 0)
		return fd == -EMFILE ? EMFILE : EIO;
	return !kept || host_is_daemon || is_kept(box) ? 0 : EIO;
}

int
host_box_put(uint64_t box, int fd, const struct host_label *l)
{
	union control u = {
		.h = { CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS }
	};
	struct iovec iov = { (void *)(uintptr_t)l, sizeof *l };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = CMSG_SPACE(sizeof fd) };
	int via = fd_of(box);
	long r;

	memcpy(CMSG_DATA(&u.h), &fd, sizeof fd);
	if (sys_fcntl(fd, F_GETFD, 0) < 0)
		return EBADF;
	if (via < 0)
		return EIO;
	r = sys_call3(SYS_sendmsg, via, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r >= 0)
		return 0;
	return r == -EAGAIN || r == -ENOBUFS || r == -ENOMEM ||
		r == -ETOOMANYREFS ? EAGAIN : r == -EBADF ? EBADF : EIO;
}

int
host_box_look(uint64_t box, struct host_label *ret)
{
	int via = fd_of(box);
	long r;

	if (via < 0)
		return EIO;
	r = sys_call6(SYS_recvfrom, via, ret, sizeof *ret,
		MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
	return r == (long)sizeof *ret ? 0 : ENOENT;
}

int
host_box_dup(uint64_t box, int *ret_fd)
{
	struct host_label l;
	struct iovec iov = { &l, sizeof l };
	union control u;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u };
	struct cmsghdr *h;
	int via = fd_of(box);

	if (via < 0)
		return EIO;
	if (sys_call3(SYS_recvmsg, via, &m, MSG_PEEK | MSG_DONTWAIT) < 0)
		return ENOENT;
	h = CMSG_FIRSTHDR(&m);
	if (h == NULL || h->cmsg_level != SOL_SOCKET ||
	    h->cmsg_type != SCM_RIGHTS ||
	    h->cmsg_len < CMSG_LEN(sizeof *ret_fd))
		return EMFILE;
	memcpy(ret_fd, CMSG_DATA(h), sizeof *ret_fd);
	return 0;
}

/* Without room for it the kernel closes the descriptor. */
static bool
drop(int via)
{
	struct host_label l;

	return sys_call6(SYS_recvfrom, via, &l, sizeof l, MSG_DONTWAIT, NULL,
		NULL) >= 0;
}

void
host_box_drop(uint64_t box)
{
	int via = fd_of(box);

	if (via >= 0)
		(void)drop(via);
}

void
host_box_empty(uint64_t box)
{
	int via = fetch(box);

	while (via >= 0 && drop(via))
		;
}
