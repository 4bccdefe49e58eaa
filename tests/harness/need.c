/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a case needs of its user, and is skipped without.  It asks by trying:
 * root in a container need not be allowed to.
 */
#include "t.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void
t_need_raw(void)
{
	int fd = (int)syscall(SYS_socket, AF_INET, SOCK_RAW | SOCK_CLOEXEC,
		IPPROTO_RAW);

	if (fd < 0)
		T_SKIP("raw sockets: %s", strerror(errno));
	(void)syscall(SYS_close, fd);
}

void
t_own_mounts(void)
{
	if (unshare(CLONE_NEWNS) != 0)
		T_SKIP("no mount namespace of one's own: %s", strerror(errno));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		T_SKIP("the root is no mount point, as in a chroot");
}

void
t_need_files(unsigned int n)
{
	struct rlimit rl;

	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	if (rl.rlim_cur >= n)
		return;
	if (rl.rlim_max < n)
		T_SKIP("%u descriptors: %llu may be had", n,
			(unsigned long long)rl.rlim_max);
	rl.rlim_cur = n;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
}
