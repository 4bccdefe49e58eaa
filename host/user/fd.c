/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Hidden descriptors: the domain's file, the bell, the diagnosis socket.
 *
 * They have high numbers, which no program expects to be free, and the wrappers
 * of close() and similar functions skip them.  A program that closes them
 * without our knowledge harms only itself: before each use the descriptor is
 * checked, and if it is wrong it is made again or not used.
 *
 * The table is inherited by fork, as the descriptors are.
 */
#include <sys/resource.h>
#include <sys/socket.h>

#include "sock.h"
#include "user_impl.h"

#define FD_BASE 1000

/* Descriptor + 1, 0 = none. */
static str_a32 hidden[HOST_NFD];
/*
 * All hidden ones were at or above this number; most closes are of lower ones.
 */
static str_a32 lowest = INT_MAX;

int
host_fd_get(enum host_fd which)
{
	return (int)str_load(&hidden[which]) - 1;
}

static int
fd_raise(int fd, bool cloexec)
{
	struct rlimit rl = { 0, 0 };
	int cmd = cloexec ? F_DUPFD_CLOEXEC : F_DUPFD;
	int base = FD_BASE;
	int high;

	if (fd >= FD_BASE)
		return fd;
	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	if (rl.rlim_cur < FD_BASE + 8)
		base = (int)(rl.rlim_cur - rl.rlim_cur / 8);
	high = base > fd ? sys_fcntl(fd, cmd, base) : -1;
	if (high < 0)
		return fd;
	(void)sys_close(fd);
	return high;
}

int
host_fd_protect(int fd)
{
	return fd_raise(fd, true);
}

/* Make @fd one of the hidden ones, with its number. */
void
host_fd_note(enum host_fd which, int fd)
{
	uint32_t low = str_load(&lowest);

	while ((uint32_t)fd < low && !str_cas(&lowest, low, (uint32_t)fd))
		low = str_load(&lowest);
	str_store_rel(&hidden[which], (uint32_t)fd + 1);
}

/* Make @fd one of the hidden ones; returns its new number. */
int
host_fd_hide(enum host_fd which, int fd, bool cloexec)
{
	fd = fd_raise(fd, cloexec);
	host_fd_note(which, fd);
	return fd;
}

/* Make a duplicate of @fd one of the hidden ones.  Return: -1: no number. */
int
host_fd_copy(enum host_fd which, int fd)
{
	int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, FD_BASE);

	if (high < 0)
		return -1;
	host_fd_note(which, high);
	return high;
}

int
host_fd_cookie(int fd, uint64_t *ret)
{
	socklen_t len = sizeof *ret;

	return -(int)sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, ret,
		&len);
}

void
host_fd_drop(enum host_fd which)
{
	uint32_t v = str_xchg(&hidden[which], 0u);

	if (v != 0)
		(void)sys_close((int)v - 1);
}

bool
host_fd_is_ours(int fd)
{
	for (int i = 0; i < HOST_NFD && fd >= (int)str_load(&lowest); i++)
		if (str_load(&hidden[i]) == (uint32_t)fd + 1)
			return true;
	return host_sock_is_ours(fd);
}
