/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Removes domains that crashes in other network namespaces have left.
 *
 * A domain's name contains the namespaces of its members.  If all members of a
 * domain were killed, the next process that attaches finds it; but if the
 * network namespace no longer exists, there is none.  So the maker of a domain
 * checks the other domains in its directory: if no process is in the network
 * namespace of a name, and no process has the file's lock, the file is removed.
 * Another pid namespace may have processes that are not visible from here: its
 * domains are not touched.  The file that describes the wires of a domain is
 * removed after the domain, by this or the next sweep; not while the namespace
 * is bound to a file, because a process can enter it later.
 */
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <str/inspect.h>

#include "user_impl.h"

/* No opendir(): we may be in a handler that interrupted malloc(). */
bool
host_dir_find(const char *path, bool (*fn)(const char *name, void *arg),
	void *arg)
{
	struct {
		uint64_t ino, off;
		uint16_t len;
		uint8_t type;
		char name[];
	} *e;
	uint64_t buf[256];
	bool yes = false;
	long n, at;
	int fd = (int)sys_call4(SYS_openat, AT_FDCWD, path,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	while (!yes && (n = sys_call3(SYS_getdents64, fd, buf, sizeof buf)) > 0)
		for (at = 0; !yes && at < n; at += e->len) {
			e = (void *)((char *)buf + at);
			yes = fn(e->name, arg);
		}
	(void)sys_call1(SYS_close, fd);
	return yes;
}

/* Is the process @pid in the network namespace *@arg? */
static bool
is_in(const char *pid, void *arg)
{
	const uint64_t *net = arg;
	char path[64];
	struct stat st;

	if (pid[0] < '1' || pid[0] > '9')
		return false;
	snprintf(path, sizeof path, "/proc/%.20s/ns/net", pid);
	return sys_call4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 &&
		st.st_ino == *net;
}

/*
 * Is the network namespace @net bound to a file, as ip-netns(8) does it?  Then
 * it goes on without a process.  Also if that is unknown.
 */
static bool
is_bound(uint64_t net)
{
	char text[48], buf[4096];
	size_t len = (size_t)snprintf(text, sizeof text, " net:[%llu] ",
		(unsigned long long)net);
	size_t n = 0, rest;
	bool yes = false;
	long r;
	int fd = sys_openat(AT_FDCWD, "/proc/self/mountinfo",
		O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return true;
	while (!yes && (r = sys_read(fd, buf + n, sizeof buf - n)) > 0) {
		n += (size_t)r;
		yes = memmem(buf, n, text, len) != NULL;
		rest = n < len ? n : len;
		memmove(buf, buf + n - rest, rest);
		n = rest;
	}
	(void)sys_close(fd);
	return yes;
}

/* The namespaces in @name: NAME-UID-ABI-PID-NET, for its wires with a suffix. */
static bool
namespaces(const char *name, uint64_t *ret_pid, uint64_t *ret_net, bool *wires)
{
	const char *p = name + strlen(name);
	unsigned long long pid, net;
	int dashes = 0, end = 0;

	while (p > name && dashes < 2)
		dashes += *--p == '-';
	if (dashes < 2 || sscanf(p, "-%llu-%llu%n", &pid, &net, &end) != 2)
		return false;
	*wires = strcmp(p + end, STR_WIRES_SUFFIX) == 0 ||
		strcmp(p + end, STR_WIRES_SUFFIX STR_WIRES_NEW) == 0;
	if (p[end] != '\0' && !*wires)
		return false;
	*ret_pid = pid;
	*ret_net = net;
	return true;
}

struct sweep {
	const char *dir;
	uint64_t pid, net; /* ours */
};

/* The file @path describes the wires of a domain: remove it if there is none. */
static void
sweep_wires(char *path)
{
	char *suffix = strrchr(path, STR_WIRES_SUFFIX[0]);
	struct stat st;

	if (strcmp(suffix, STR_WIRES_NEW) == 0)
		suffix -= strlen(STR_WIRES_SUFFIX);
	*suffix = '\0';
	if (sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		    AT_SYMLINK_NOFOLLOW) == -ENOENT) {
		*suffix = STR_WIRES_SUFFIX[0];
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, path, 0);
	}
}

static bool
sweep_one(const char *name, void *arg)
{
	const struct sweep *s = arg;
	struct stat st, now;
	uint64_t pid, net;
	char path[1024];
	bool wires;
	int fd;

	if (!namespaces(name, &pid, &net, &wires) || pid != s->pid || net == s->net ||
	    host_dir_find("/proc", is_in, &net) ||
	    (size_t)snprintf(path, sizeof path, "%s/%s", s->dir, name) >=
		    sizeof path)
		return false;
	if (wires) {
		if (!is_bound(net))
			sweep_wires(path);
		return false;
	}
	fd = sys_openat(AT_FDCWD, path,
		O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	/* while we have the lock no process can attach */
	if (host_domain_stat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    host_uid_mine(st.st_uid) &&
	    sys_call2(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0 &&
	    sys_call4(SYS_newfstatat, AT_FDCWD, path, &now,
		    AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == now.st_dev && st.st_ino == now.st_ino)
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, path, 0);
	(void)sys_close(fd);
	return false;
}

void
host_named_sweep(const char *dir)
{
	struct stat st;
	struct sweep s = {.dir = dir, .pid = host_ns_inode("pid"),
		.net = host_ns_inode("net")};

	/* without /proc the namespaces of processes are unknown */
	if (dir[0] != '\0' && s.pid != 0 && s.net != 0 &&
	    sys_call4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/net", &st, 0) ==
		    0)
		(void)host_dir_find(dir, sweep_one, &s);
}
