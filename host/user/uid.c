/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The owner of a file.
 *
 * The overflow user.  In a user namespace that does not map every user, the
 * files of all unmapped users belong to the overflow user (65534).  If a
 * process has this number itself, it cannot know which of them it owns.
 */
#include <stdlib.h>

#include "sys.h"
#include "user_impl.h"

#define OVERFLOW 65534u

/*
 * [attach] The user namespace of this process maps every user: known while the
 * process attaches, because /proc tells the overflow user for 9 us.
 */
bool host_uid_every;

/* The beginning of file @path.  Return: its length, 0: it cannot be read. */
static size_t
beginning(const char *path, char *buf, size_t size)
{
	int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return 0;
	n = sys_call3(SYS_read, fd, buf, size - 1);
	(void)sys_close(fd);
	n = n < 0 ? 0 : n;
	buf[n] = '\0';
	return (size_t)n;
}

static unsigned
overflow_user(void)
{
	static unsigned uid; /* 0: not asked yet */
	char buf[32];

	if (uid == 0)
		uid = beginning("/proc/sys/kernel/overflowuid", buf,
			sizeof buf) != 0 ? (unsigned)strtoul(buf, NULL, 10) :
			OVERFLOW;
	return uid;
}

/* Does this user namespace map every user to itself? */
static bool
maps_all(void)
{
	char buf[128], *p = buf;
	unsigned long from, to, n;

	if (beginning("/proc/self/uid_map", buf, sizeof buf) == 0)
		return false;
	from = strtoul(p, &p, 10);
	to = strtoul(p, &p, 10);
	n = strtoul(p, &p, 10);
	return from == 0 && to == 0 && n >= 0xffffffffu;
}

/* host_uid_known - does @uid, of a file, identify one user? */
bool
host_uid_known(unsigned uid)
{
	return host_uid_every || uid != overflow_user() || maps_all();
}

/*
 * host_uid_mine - is @uid, of a file or a sender, certainly this process's
 * user?
 */
bool
host_uid_mine(unsigned uid)
{
	return uid == geteuid() && host_uid_known(uid);
}
