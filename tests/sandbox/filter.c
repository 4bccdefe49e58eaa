/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A real filter (seccomp) that forbids close_range: streamsd must not inherit
 * what the process has open, or the other end is never told of a close.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t.h"

static void
forbid(unsigned nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof code[0], code };

	T_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		T_SKIP("filters are not permitted");
}

T_CASE(streamsd_inherits_nothing_without_close_range)
{
	struct pollfd pfd = { .events = POLLIN };
	int p[2], said[2], fd;
	char c;

	/* what it says on standard error: that it cannot be started */
	T_OK((int)syscall(SYS_pipe2, said, O_NONBLOCK));
	T_OK(dup2(said[1], 2));
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setenv("STREAMS_LINGER", "60000", 1));
	forbid(SYS_close_range);
	T_OK((int)syscall(SYS_pipe2, p, 0));
	T_OK(dup2(p[1], 777));
	/* it starts streamsd */
	fd = T_OK(open("/dev/streams/loop/1", O_RDWR));
	T_OK(close(p[1]));
	T_OK(close(777));
	pfd.fd = p[0];
	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_EQ(pfd.revents, POLLHUP);
	T_OK(close(fd));
	T_ERR(read(said[0], &c, 1), EAGAIN);
}
