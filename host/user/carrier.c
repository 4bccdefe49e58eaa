/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Carriers: the kernel objects under a pipe's descriptors, one end each of a
 * connected AF_UNIX stream socket pair.  Data never passes through them.
 * The kernel counts their holders, tells the other end when the last one is
 * gone, and says by a token, one byte, that there is something to look at.
 *
 * A carrier is named by its cookie, which is unique, and its inode, by which
 * the kernel's socket diagnosis finds it when nobody here has it open.
 */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user_impl.h"

int
host_carrier_id(int fd, struct host_carrier *ret_carrier)
{
	struct stat st;
	uint64_t cookie;
	socklen_t len = sizeof cookie;
	long err;

	err = sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		&len);
	if (err != 0)
		return (int)-err;
	err = sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	if (err != 0)
		return (int)-err;
	ret_carrier->cookie = cookie;
	ret_carrier->ino = st.st_ino;
	return 0;
}

int
host_carrier_pair(int oflags, int ret_fd[2], struct host_carrier ret_carrier[2])
{
	struct host_carrier c[2];
	int type = SOCK_STREAM;
	int fd[2], err;

	if (oflags & O_CLOEXEC)
		type |= SOCK_CLOEXEC;
	if (oflags & O_NONBLOCK)
		type |= SOCK_NONBLOCK;
	err = -(int)sys_call4(SYS_socketpair, AF_UNIX, type, 0, fd);
	if (err != 0)
		return err == ENOBUFS ? ENOMEM : err;
	err = host_carrier_id(fd[0], &c[0]);
	if (err == 0)
		err = host_carrier_id(fd[1], &c[1]);
	if (err != 0) {
		(void)sys_close(fd[0]);
		(void)sys_close(fd[1]);
		return ENOMEM;
	}
	memcpy(ret_fd, fd, sizeof fd);
	memcpy(ret_carrier, c, sizeof c);
	return 0;
}

int
host_token_send(int fd)
{
	long r = sys_call6(SYS_sendto, fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
		NULL, 0);

	if (r == 1)
		return 0;
	return r == -EAGAIN || r == -ENOBUFS || r == -ENOMEM ? EAGAIN : EPIPE;
}

void
host_token_drain(int fd)
{
	char buf[512];

	while (sys_call6(SYS_recvfrom, fd, buf, sizeof buf, MSG_DONTWAIT, NULL,
		       NULL) > 0)
		;
}

/* ------------------------------------------------------------- diagnosis */

struct query {
	struct nlmsghdr nlh;
	struct unix_diag_req req;
};

/* The socket of this process, opened when it is first asked. */
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

/* 0: the socket is there; ENOENT, ESTALE: it is not; others: do not know. */
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
	/* the answer is there when sendto() returns */
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

bool
host_carrier_alive(const struct host_carrier *c)
{
	static uint32_t seq; /* [diag] */
	struct host_priv *pv = host_priv_page;
	uint64_t old;
	int fd, err = EIO;

	host_sig_block(&old);
	host_plock_lock(&pv->diag);
	fd = diag_fd();
	if (fd >= 0)
		err = diag_ask(fd, c, ++seq);
	host_plock_unlock(&pv->diag);
	host_sig_restore(&old);
	return err != ENOENT && err != ESTALE;
}
