/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Hidden descriptors: the domain's file, the bell, the diagnosis socket.
 *
 * They live at high numbers, where no program counts on finding one free,
 * and the wrappers of close() and its like skip them.  A program that closes
 * them behind our back harms only itself: each user of one checks what it is
 * first, and does without or makes another.
 *
 * The table is inherited by fork, as the descriptors are.
 */
#include <sys/resource.h>

#include "sock.h"
#include "user_impl.h"

#define FD_BASE 1000

/* Descriptor + 1, 0 = none. */
static str_a32 hidden[HOST_NFD];
/* No hidden one was ever below: what close() asks about mostly is. */
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

/* Make @fd one of the hidden ones as it is. */
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
