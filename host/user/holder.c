/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Finds the processes that hold a carrier, or another socket, by their
 * descriptors in /proc.
 *
 * It reads every descriptor of every process of the user, so it is used only if
 * a reader has not read for a long time, or if a socket cannot be got
 * otherwise.  Processes of other users, and descriptors in messages, are not
 * visible and not counted.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "user_impl.h"

#define ROOM 2048u
#define LIBRARY "libstreams"

struct entry { /* linux_dirent64 */
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

/*
 * Call @fn for the entries of directory @dir with numbers as names, until it
 * returns true.  Return: did it?
 */
static bool
walk(int dir, bool (*fn)(int dir, const char *name, const void *arg),
	const void *arg)
{
	_Alignas(struct entry) char buf[ROOM];
	long n;

	while ((n = sys_call3(SYS_getdents64, dir, buf, sizeof buf)) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (const void *)(buf + at);

			if (e->name[0] >= '0' && e->name[0] <= '9' &&
				fn(dir, e->name, arg))
				return true;
			at += e->len;
		}
	return false;
}

static bool
is_link_to(int dir, const char *name, const void *arg)
{
	char to[64];
	long n = sys_call4(SYS_readlinkat, dir, name, to, sizeof to - 1);

	if (n <= 0)
		return false;
	to[n] = '\0';
	return strcmp(to, arg) == 0;
}

/* Has the process @name, in the directory @proc, mapped the library? */
static bool
is_member(int proc, const char *name)
{
	char path[32], buf[ROOM];
	size_t kept = 0;
	bool yes = false;
	long n;
	int fd;

	snprintf(path, sizeof path, "%.16s/maps", name);
	fd = sys_openat(proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true; /* it is unknown */
	while (!yes && (n = sys_call3(SYS_read, fd, buf + kept,
				sizeof buf - kept)) > 0) {
		kept += (size_t)n;
		yes = memmem(buf, kept, LIBRARY, sizeof LIBRARY - 1) != NULL;
		n = (long)STR_MIN(kept, sizeof LIBRARY);
		memmove(buf, buf + kept - (size_t)n, (size_t)n);
		kept = (size_t)n;
	}
	(void)sys_close(fd);
	return yes;
}

struct search {
	char link[64];
	bool *found;
};

/* Is the process a member that holds the socket? */
static bool
holds_as_member(int proc, const char *name, const void *arg)
{
	const struct search *s = arg;
	char path[32];
	bool holds;
	int fd;

	snprintf(path, sizeof path, "%.16s/fd", name);
	fd = sys_openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	holds = walk(fd, is_link_to, s->link);
	(void)sys_close(fd);
	*s->found = *s->found || holds;
	return holds && is_member(proc, name);
}

/* --------------------------------------------------------------- taking one */

struct taking {
	char link[64];
	uint64_t cookie;
	int *fd;
};

struct held {
	const struct taking *t;
	int pid;
};

static bool
take_it(int dir, const char *name, const void *arg)
{
	const struct held *h = arg;
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;
	int of, fd;

	if (!is_link_to(dir, name, h->t->link))
		return false;
	of = (int)sys_call2(SYS_pidfd_open, h->pid, 0);
	if (of < 0)
		return false;
	fd = (int)sys_call3(SYS_pidfd_getfd, of, atoi(name), 0);
	(void)sys_close(of);
	if (fd < 0)
		return false;
	/* that process may have closed it and reused the number */
	if (sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		    &len) != 0 || cookie != h->t->cookie) {
		(void)sys_close(fd);
		return false;
	}
	*h->t->fd = fd;
	return true;
}

static bool
take_from(int proc, const char *name, const void *arg)
{
	struct held h = { arg, atoi(name) };
	char path[32];
	bool yes;
	int fd;

	if (h.pid == sys_getpid())
		return false;
	snprintf(path, sizeof path, "%.16s/fd", name);
	fd = sys_openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	yes = walk(fd, take_it, &h);
	(void)sys_close(fd);
	return yes;
}

int
host_holder_take(const struct host_carrier *c)
{
	int fd = -1, proc;
	struct taking t = { .cookie = c->cookie, .fd = &fd };

	snprintf(t.link, sizeof t.link, "socket:[%llu]",
		(unsigned long long)c->ino);
	proc = sys_openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		0);
	if (proc < 0)
		return -EIO;
	(void)walk(proc, take_from, &t);
	(void)sys_close(proc);
	return fd >= 0 ? fd : -EIO;
}

/* ------------------------------------------------------------------- outside */

bool
host_outside_only(const struct host_carrier *c, bool in_flight)
{
	bool found = false, member;
	struct search s = { .found = &found };
	int proc;

	snprintf(s.link, sizeof s.link, "socket:[%llu]",
		(unsigned long long)c->ino);
	proc = sys_openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		0);
	if (proc < 0)
		return false;
	member = walk(proc, holds_as_member, &s);
	(void)sys_close(proc);
	return (found || in_flight) && !member;
}
