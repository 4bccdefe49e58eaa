/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Carriers: the kernel objects under descriptors of Streams.  Data passes
 * through them only for processes outside the domain.  The kernel counts their
 * holders, and a token makes a descriptor readable when there is an event.
 *
 * Under a pipe they are the ends of a connected AF_UNIX stream socket pair:
 * a token is one byte, and the other end gets a hang-up when the last holder is
 * gone.  Under all other streams it is one AF_UNIX datagram socket with an
 * address in the socket directory (sockdir.c): a token is a datagram, which any
 * member can send, from its bell.
 *
 * A carrier is identified by its cookie, which is unique, and its inode, by
 * which the kernel's socket diagnosis finds a carrier that this process does
 * not have open.
 *
 * Trust.  A token has no content that is evaluated.  A datagram with a content
 * has the credentials of its sender, which the kernel guarantees: the receiver
 * drops datagrams of other users' processes.
 */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "user_impl.h"

static void
number_set(struct host_carrier *c, uint64_t number)
{
	memcpy(c->addr, &number, sizeof c->addr);
	c->addrlen = number != 0 ? sizeof c->addr : 0;
}

/* The number of @c in the socket directory; 0: it has no address. */
static uint64_t
number_of(const struct host_carrier *c)
{
	uint64_t number;

	if (c->kind != HOST_CARRIER_OPEN || c->addrlen != sizeof c->addr)
		return 0;
	memcpy(&number, c->addr, sizeof number);
	return number;
}

/* The address of socket @fd; length 0 if it has none. */
static void
address(int fd, struct host_carrier *c)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof sun;

	if (sys_call3(SYS_getsockname, fd, &sun, &len) == 0)
		number_set(c, host_sockdir_number(&sun, len));
}

static int
identity(int fd, struct host_carrier *c)
{
	int err = host_fd_cookie(fd, &c->cookie);
	struct stat st;

	if (err == 0)
		err = -(int)sys_call2(SYS_fstat, fd, &st);
	if (err == 0)
		c->ino = st.st_ino;
	return err;
}

int
host_carrier_id(int fd, struct host_carrier *ret_carrier)
{
	struct host_carrier c = { 0 };
	int type = 0, id = identity(fd, &c);
	socklen_t len = sizeof type;
	long err;

	if (id != 0)
		return id;
	err = sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &len);
	if (err != 0)
		return (int)-err;
	if (type == SOCK_DGRAM) {
		c.kind = HOST_CARRIER_OPEN;
		address(fd, &c);
	}
	*ret_carrier = c;
	return 0;
}

/* The errno to return for @err: limits and errors of a sandbox unchanged. */
int
host_carrier_err(int err)
{
	switch (err) {
	case ENOSR: /* the reason was reported: host_sockdir_full() */
	case EMFILE:
	case ENFILE:
	case EACCES:
	case EPERM:
	case ENOSYS:
		return err;
	default:
		return ENOMEM;
	}
}

int
host_carrier_pair(int oflags, int ret_fd[2], struct host_carrier ret_carrier[2])
{
	struct host_carrier c[2] = { { 0 }, { 0 } };
	int type = SOCK_STREAM, fd[2], err;

	if (host_spare_take_pair(oflags, ret_fd, ret_carrier))
		return 0;
	if (oflags & O_CLOEXEC)
		type |= SOCK_CLOEXEC;
	if (oflags & O_NONBLOCK)
		type |= SOCK_NONBLOCK;
	err = -(int)sys_call4(SYS_socketpair, AF_UNIX, type, 0, fd);
	if (err != 0)
		return host_carrier_err(err);
	err = identity(fd[0], &c[0]);
	if (err == 0)
		err = identity(fd[1], &c[1]);
	if (err != 0) {
		(void)sys_close(fd[0]);
		(void)sys_close(fd[1]);
		return host_carrier_err(err);
	}
	memcpy(ret_fd, fd, sizeof fd);
	memcpy(ret_carrier, c, sizeof c);
	return 0;
}

int
host_carrier_open(int oflags, int *ret_fd, struct host_carrier *ret_carrier)
{
	struct host_carrier c = { .kind = HOST_CARRIER_OPEN };
	int type = SOCK_DGRAM;
	uint64_t number = 0;
	int fd, err;

	if (host_spare_take(oflags, ret_fd, ret_carrier))
		return 0;
	if (oflags & O_CLOEXEC)
		type |= SOCK_CLOEXEC;
	if (oflags & O_NONBLOCK)
		type |= SOCK_NONBLOCK;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, type, 0);
	if (fd < 0)
		return host_carrier_err(-fd);
	err = host_sockdir_bind(fd, &number);
	if (err == 0) {
		host_creds_want(fd);
		number_set(&c, number);
		err = identity(fd, &c);
	}
	if (err != 0) {
		(void)sys_close(fd);
		host_carrier_gone(&c);
		return host_carrier_err(err);
	}
	*ret_fd = fd;
	*ret_carrier = c;
	return 0;
}

void
host_carrier_gone(const struct host_carrier *c)
{
	host_sockdir_unlink(number_of(c));
}

/* ----------------------------------------------------------- credentials */

/*
 * Only for a bound socket: the kernel would give another one an abstract
 * address.
 */
void
host_creds_want(int fd)
{
	int on = 1;

	(void)sys_call5(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, &on,
		sizeof on);
}

/* By default the kernel sends the real user, not the effective one. */
size_t
host_creds_put(void *room)
{
	struct host_cred c;
	struct ucred cr;
	struct cmsghdr h = {CMSG_LEN(sizeof cr), SOL_SOCKET, SCM_CREDENTIALS};

	host_cred(&c);
	cr = (struct ucred){(pid_t)c.pid, c.uid, c.gid};
	memset(room, 0, CMSG_SPACE(sizeof cr));
	memcpy(room, &h, sizeof h);
	memcpy((char *)room + CMSG_LEN(0), &cr, sizeof cr);
	return CMSG_SPACE(sizeof cr);
}

bool
host_creds_ours(struct msghdr *m)
{
	struct cmsghdr *h;
	struct ucred cr;

	for (h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h))
		if (h->cmsg_level == SOL_SOCKET &&
		    h->cmsg_type == SCM_CREDENTIALS &&
		    h->cmsg_len >= CMSG_LEN(sizeof cr)) {
			memcpy(&cr, CMSG_DATA(h), sizeof cr);
			return host_uid_mine(cr.uid);
		}
	return false;
}

/* --------------------------------------------------------------- tokens */

static int
dgram_error(long r)
{
	if (r >= 0)
		return 0;
	if (r == -ENOENT)
		return ECONNREFUSED; /* its name went with it */
	return r == -EAGAIN || r == -ENOBUFS || r == -ENOMEM ||
		r == -ETOOMANYREFS ? EAGAIN : (int)-r;
}

/*
 * Send @m from the bell to the socket called @number.
 * The unread messages of the bell are limited too: at the limit the message is
 * sent from a temporary socket, so that EAGAIN always means that the receiver's
 * queue is full.
 */
int
host_dgram_send(uint64_t number, struct msghdr *m, bool sure)
{
	int fd = host_bell_open();
	int err = EAGAIN;

	if (fd >= 0)
		err = dgram_error(host_sockdir_send(fd, number, m, sure));
	if (err != EAGAIN)
		return err;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return EAGAIN;
	err = dgram_error(host_sockdir_send(fd, number, m, sure));
	(void)sys_close(fd);
	return err;
}

int
host_carrier_send(const struct host_carrier *c)
{
	struct iovec iov = { (char[]){ '\0' }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	uint64_t number = number_of(c);
	int err;

	if (number == 0)
		return ECONNREFUSED;
	err = host_dgram_send(number, &m, false);
	return err == 0 || err == EAGAIN ? err : ECONNREFUSED;
}

/*
 * The mark of a token is a descriptor that is sent with it.  We do not receive
 * it: without room for it the kernel closes it, and sets MSG_CTRUNC.  It must
 * refer to an object that is useless to a process outside, and not to a socket,
 * for which the kernel would search for cycles.  Return: -1: there is none.
 */
static int
mark(void)
{
	int fd = host_fd_get(HOST_FD_MARK);
	if (str_likely(fd >= 0))
		return fd;
	fd = (int)sys_call2(SYS_eventfd2, 0, 02000000 /* EFD_CLOEXEC */);
	return fd < 0 ? -1 : host_fd_hide(HOST_FD_MARK, fd, true);
}

long
host_marked_send(int fd, int with)
{
	struct cmsghdr h = { CMSG_LEN(sizeof with), SOL_SOCKET, SCM_RIGHTS };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof with)];
	} u = { .room = { 0 } };
	struct iovec iov = { (char[]){ '\0' }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u.room };

	memcpy(u.room, &h, sizeof h);
	memcpy(u.room + CMSG_LEN(0), &with, sizeof with);
	return sys_call3(SYS_sendmsg, fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int
host_token_send(int fd)
{
	int with = mark();
	long r = with >= 0 ? host_marked_send(fd, with) : -EAGAIN;

	if (r == -EBADF && sys_fcntl(fd, F_GETFD, 0) >= 0) {
		/* the program has closed the mark, not the carrier */
		host_fd_drop(HOST_FD_MARK);
		with = mark();
		r = with >= 0 ? host_marked_send(fd, with) : -EAGAIN;
	}
	if (r == 1)
		return 0;
	return r == -EAGAIN || r == -ENOBUFS || r == -ENOMEM ||
		r == -ETOOMANYREFS ? EAGAIN : EPIPE;
}

/* ------------------------------------------------------------- diagnosis */

struct query {
	struct nlmsghdr nlh;
	struct unix_diag_req req;
};

/* The netlink socket of this process, opened at first use. */
static int
diag_fd(void)
{
	int fd = host_fd_get(HOST_FD_DIAG);
	int proto = 0;
	socklen_t len = sizeof proto;

	if (fd >= 0 && sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN,
			       &proto, &len) == 0 && proto == AF_NETLINK)
		return fd;
	fd = (int)sys_call3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
		NETLINK_SOCK_DIAG);
	return fd < 0 ? -1 : host_fd_hide(HOST_FD_DIAG, fd, true);
}

/* 0: the socket exists; ENOENT, ESTALE: it does not; others: unknown. */
static int
diag_ask(int fd, const struct host_carrier *c, uint32_t seq)
{
	struct query q = {
		.nlh = {
			.nlmsg_len = sizeof q,
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = seq,
		},
		.req = {
			.sdiag_family = AF_UNIX,
			.udiag_states = ~0u,
			.udiag_ino = (uint32_t)c->ino,
			.udiag_cookie = {
				(uint32_t)c->cookie,
				(uint32_t)(c->cookie >> 32),
			},
		},
	};
	union {
		struct nlmsghdr nlh;
		char bytes[1024];
	} a;
	struct nlmsgerr *e = NLMSG_DATA(&a.nlh);
	long n;

	n = sys_call6(SYS_sendto, fd, &q, sizeof q, MSG_DONTWAIT, NULL, 0);
	if (n != (long)sizeof q)
		return EIO;
	/* the answer has been queued when sendto() returns */
	do {
		n = sys_call6(SYS_recvfrom, fd, &a, sizeof a, MSG_DONTWAIT,
			NULL, NULL);
		if (n < (long)sizeof a.nlh)
			return EIO;
	} while (a.nlh.nlmsg_seq != seq);
	if (a.nlh.nlmsg_type == NLMSG_ERROR &&
	    n >= (long)NLMSG_LENGTH(sizeof *e))
		return -e->error;
	return a.nlh.nlmsg_type == SOCK_DIAG_BY_FAMILY ? 0 : EIO;
}

/* Without the diagnosis: is the address bound?  connect() sends nothing. */
static bool
address_taken(const struct host_carrier *c)
{
	uint64_t number = number_of(c);
	int fd;
	long r;

	if (number == 0)
		return true;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		/* no descriptor is left: the bell sends a superfluous token */
		struct msghdr m = { 0 };

		return host_dgram_send(number, &m, false) != ECONNREFUSED;
	}
	r = host_sockdir_connect(fd, number, false);
	(void)sys_close(fd);
	return r != -ECONNREFUSED && r != -ENOENT;
}

/*
 * For streamsd, which checks each open file of a sweep: by the address, which
 * the kernel finds in 2 us.  The diagnosis walks through all sockets, and
 * through 512 lists if there is none: 15 us.  A missing name proves nothing,
 * because others can remove it.  Return: 0: there is a socket; ECONNREFUSED:
 * there is none; others: unknown.
 * Locks: [diag]
 */
static int
probe(const struct host_carrier *c)
{
	static int fd = -1; /* no program closes a descriptor of streamsd */
	uint64_t number = number_of(c);

	if (!host_is_daemon || number == 0)
		return EIO;
	if (fd < 0)
		fd = (int)sys_call3(SYS_socket, AF_UNIX,
			SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return EIO;
	return (int)-host_sockdir_connect(fd, number, false);
}

bool host_carrier_unsure;

bool
host_carrier_alive(const struct host_carrier *c)
{
	static uint32_t seq; /* [diag] */
	struct host_priv *pv = host_priv_page;
	uint64_t old;
	int fd, err;

	host_sig_block(&old);
	host_plock_lock(&pv->diag);
	err = probe(c);
	if (err == ECONNREFUSED) {
		err = ENOENT;
	} else if (err != 0) {
		err = EIO;
		fd = diag_fd();
		if (fd >= 0)
			err = diag_ask(fd, c, ++seq);
	}
	host_plock_unlock(&pv->diag);
	host_sig_restore(&old);
	host_carrier_unsure = err != 0 && err != ENOENT && err != ESTALE;
	return host_carrier_unsure ? address_taken(c) : err == 0;
}
