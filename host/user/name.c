/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The values of STREAMS_DOMAIN.
 *
 *	unset		the default domain
 *	private		a new one without a name, inherited by children
 *	fd:N		the one whose file is open as N
 *	/path		the one in that file
 *	name		another one beside the default one
 *
 * Named domains live in $XDG_RUNTIME_DIR/streams, or in /dev/shm/streams-UID if
 * the user has no such directory; or in another directory of /dev/shm if
 * another user has taken that name (place.c).  The directory must belong to the
 * user and have mode 0700.  A file's name contains the user, the ABI and the
 * inodes of the pid and net namespaces, because pids and sockets of one
 * namespace are not valid in another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "user_impl.h"

/*
 * fstatat() as a system call, because another library may replace that
 * function.
 */
static int
name_lstat(const char *path, struct stat *st)
{
	return (int)sys_call4(SYS_newfstatat, AT_FDCWD, path, st,
		AT_SYMLINK_NOFOLLOW);
}

/* 0, EACCES, or the errno of the check. */
static int
dir_is_mine(const char *path, struct stat *st)
{
	int err = name_lstat(path, st);

	if (err != 0)
		return -err;
	return S_ISDIR(st->st_mode) && host_uid_mine(st->st_uid) &&
		(st->st_mode & 077) == 0 ? 0 : EACCES;
}

/* <linux/pidfd.h> of Linux 6.9 and 6.11 */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#ifndef PIDFD_GET_NET_NAMESPACE
#define PIDFD_GET_NET_NAMESPACE _IO(0xFF, 4)
#define PIDFD_GET_PID_NAMESPACE _IO(0xFF, 5)
#endif

/*
 * The inode of the namespace that the link @path of /proc names, such as
 * "pid:[4026531836]"; 0: unknown.  The name costs less than a look at the file.
 */
static uint64_t
ns_by_link(const char *path)
{
	char text[64];
	long n = sys_call4(SYS_readlinkat, AT_FDCWD, path, text, sizeof text);
	uint64_t ino = 0;
	long i = 0;

	while (i < n && text[i] != '[')
		i++;
	for (i++; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		ino = ino * 10 + (uint64_t)(text[i] - '0');
	return i < n && text[i] == ']' ? ino : 0;
}

/* The namespace's inode by this thread's pidfd; 0: unknown. */
static uint64_t
ns_by_pidfd(bool net)
{
	int tid = sys_gettid();
	int pidfd = (int)sys_call2(SYS_pidfd_open, tid,
		tid != sys_getpid() ? PIDFD_THREAD : 0);
	struct stat st;
	long fd;

	if (pidfd < 0)
		return 0;
	fd = sys_call3(SYS_ioctl, pidfd,
		net ? PIDFD_GET_NET_NAMESPACE : PIDFD_GET_PID_NAMESPACE, 0);
	(void)sys_close(pidfd);
	if (fd < 0)
		return 0;
	if (sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0)
		st.st_ino = 0;
	(void)sys_close((int)fd);
	return st.st_ino;
}

/* The system's first user namespace, in which every user has a number: the
 * kernel's PROC_USER_INIT_INO, since Linux 3.8. */
#define FIRST_USERNS 0xeffffffdu

enum { NS_PID, NS_NET, NS_USER, NS_COUNT };

static bool ns_keep;	/* [attach] */
static str_a32 ns_kept; /* [attach] a bit for each of ns_told[] */
static str_a64 ns_told[NS_COUNT]; /* [attach] */

static unsigned
ns_kind(const char *name)
{
	return name[0] == 'n' ? NS_NET : name[0] == 'u' ? NS_USER : NS_PID;
}

/*
 * The inode of the namespace, by the kernel; 0: unknown.  Each thread has a
 * network namespace of its own: /proc/self shows that of the group leader.
 */
static uint64_t
ns_ask(unsigned kind)
{
	static const char path[][20] = { "/proc/self/ns/pid",
		"/proc/self/ns/net", "/proc/self/ns/user" };
	uint64_t ino;

	if (kind == NS_NET && sys_gettid() != sys_getpid())
		ino = ns_by_link("/proc/thread-self/ns/net");
	else
		ino = ns_by_link(path[kind]);
	if (ino == 0 && kind != NS_USER)
		ino = ns_by_pidfd(kind == NS_NET);
	return ino;
}

/*
 * host_ns_now - the inode of this thread's "pid", "net" or "user" namespace
 * Return: a value of this moment, or of this attach; 0: unknown.
 */
uint64_t
host_ns_now(const char *name)
{
	unsigned kind = ns_kind(name);
	uint64_t ino;

	if (str_load(&ns_kept) >> kind & 1)
		return str_load(&ns_told[kind]);
	ino = ns_ask(kind);
	if (ino != 0)
		str_store(&ns_told[kind], ino);
	if (ino != 0 && ns_keep)
		(void)str_or(&ns_kept, 1u << kind);
	return ino;
}

/*
 * host_ns_inode - as host_ns_now(); but without /proc, and without such a pidfd,
 * "pid" and "net" are the last value of this process or of its parent
 *
 * A process in a new pid namespace detects that its parent is outside.
 */
uint64_t
host_ns_inode(const char *name)
{
	unsigned kind = ns_kind(name);
	uint64_t ino = host_ns_now(name);

	if (ino != 0 || kind == NS_USER ||
	    (kind == NS_PID && sys_call1(SYS_getppid, 0) == 0))
		return ino;
	return str_load(&ns_told[kind]);
}

/*
 * host_ns_keep - from now on one look at each namespace is enough, because the
 * process is attaching: a look costs 3 us; or not any more
 */
void
host_ns_keep(bool on)
{
	str_store(&ns_kept, 0u);
	ns_keep = on;
	host_uid_every = on && host_ns_now("user") == FIRST_USERNS;
}

/*
 * The user's runtime directory in @buf; false: there is none that can be
 * trusted.
 */
static bool
runtime_dir(char *buf, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	return xdg != NULL && xdg[0] == '/' && dir_is_mine(xdg, &st) == 0 &&
		(size_t)snprintf(buf, size, "%s/streams", xdg) < size;
}

int
host_name_base(char *buf, size_t size)
{
	char place[HOST_PLACE];
	int err = 0;

	if (runtime_dir(buf, size))
		return 0;
	err = host_place_find(place);
	if (err == 0 && strlen(place) >= size)
		err = ENAMETOOLONG;
	if (err == 0)
		strcpy(buf, place);
	return err;
}

/*
 * Give the user's directory @path, which has no permissions for others, the
 * owner's permissions.  By a descriptor: if a directory in /tmp is removed
 * between the check and the change of its path, another user can put a link
 * there.  Without read permission it can only be opened with O_PATH, which
 * fchmod() refuses; so this needs /proc.
 */
bool
host_dir_mend(const char *path)
{
	int fd = sys_openat(AT_FDCWD, path,
		O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	char self[40];
	struct stat st;
	bool done;

	if (fd < 0)
		return false;
	done = host_domain_stat(fd, &st) == 0 && st.st_uid == geteuid() &&
		(st.st_mode & 077) == 0;
	if (done && (st.st_mode & 0777) != 0700) {
		snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
		done = sys_call3(SYS_fchmodat, AT_FDCWD, self, 0700) == 0;
	}
	(void)sys_close(fd);
	return done;
}

/* Make a directory with the owner's permissions, independent of the umask. */
int
host_dir_make(const char *path)
{
	int err = -(int)sys_call3(SYS_mkdirat, AT_FDCWD, path, 0700);

	if (err == 0)
		(void)host_dir_mend(path);
	return err;
}

int
host_name_base_make(const char *base)
{
	char path[HOST_PLACE] = "";

	if (strncmp(base, "/dev/shm/", 9) == 0)
		(void)host_place_make(path);
	return host_dir_make(base);
}

static int
set_path(struct host_name *n)
{
	int len = snprintf(n->path, sizeof n->path, "%s/%s-%u-%u-%llu-%llu",
		n->dir, n->name, (unsigned)geteuid(), STR_ABI,
		(unsigned long long)host_ns_inode("pid"),
		(unsigned long long)host_ns_inode("net"));

	return (size_t)len < sizeof n->path ? 0 :
		host_fail(EINVAL, "STREAMS_DOMAIN is too long");
}

static int
name_in_dir(const char *name, struct host_name *n)
{
	int err;

	if (strlen(name) >= sizeof n->name)
		return host_fail(EINVAL, "STREAMS_DOMAIN is too long");
	strcpy(n->name, name);
	err = host_name_base(n->dir, sizeof n->dir);
	n->place = !runtime_dir(n->path, sizeof n->path);
	return err != 0 ? err : set_path(n);
}

/* Make the directory of a named domain, or check that it is ours. */
int
host_name_mkdir(struct host_name *n)
{
	struct stat st;
	int err;

	if (n->dir[0] == '\0')
		return 0;
	if (n->place) {
		char place[HOST_PLACE];

		/* it may have changed since the check */
		strcpy(place, n->dir);
		err = host_place_make(place);
		strcpy(n->dir, place);
		return err != 0 ? err : set_path(n);
	}
	err = host_dir_make(n->dir);
	if (err != 0 && err != EEXIST)
		return host_fail_file(err, n->dir);
	err = dir_is_mine(n->dir, &st);
	/* the maker's umask, if it was killed before it set the mode */
	if (err == 0 && (st.st_mode & 0700) != 0700 && !host_dir_mend(n->dir))
		return host_fail(EACCES, "%s has mode %04o, made with the umask "
			"of a process that could not set it without /proc: "
			"use a umask that leaves the owner's rights", n->dir,
			(unsigned)st.st_mode & 07777);
	if (err != 0 && err != EACCES)
		return host_fail_file(err, n->dir);
	if (err == EACCES)
		return host_fail(EACCES, "%s is not a directory of mine with "
			"mode 0700: it was changed" HOST_ELSEWHERE, n->dir);
	return 0;
}

/*
 * Check the directory of STREAMS_DOMAIN=/path.  If another user can change it,
 * that user could replace the file: then later members would make a separate
 * domain.
 */
static int
path_check(const struct host_name *n)
{
	char dir[sizeof n->path], why[200];
	char *slash;
	int fd, err;

	strcpy(dir, n->path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	err = host_trust_open(dir, HOST_TRUST_DIR, &fd, why, sizeof why);
	if (err == EMFILE || err == ENFILE)
		return host_fail_file(err, dir);
	if (err != 0)
		return host_fail(err == EACCES ? EACCES : EINVAL, "the "
			"directory of STREAMS_DOMAIN=%.300s is refused: %s; set "
			"it to a path in a directory of yours", n->path, why);
	(void)sys_close(fd);
	return 0;
}

int
host_name_resolve(struct host_name *n)
{
	const char *env;
	char *end;
	int err;

	n->fd = -1;
	n->private = n->place = false;
	n->dir[0] = n->path[0] = '\0';
	/* another user's environment must not select our domain */
	if (getauxval(AT_SECURE) != 0)
		return host_fail(EACCES,
			"set-id programs do not attach to a domain");
	env = getenv("STREAMS_DOMAIN");
	if (env != NULL && strcmp(env, "private") == 0) {
		n->private = true;
		return 0;
	}
	err = host_ids_single();
	if (err != 0)
		return err;
	if (env == NULL || env[0] == '\0')
		return name_in_dir("default", n);
	if (strncmp(env, "fd:", 3) == 0) {
		long fd = strtol(env + 3, &end, 10);

		if (env[3] < '0' || env[3] > '9' || *end != '\0' ||
		    fd > INT_MAX)
			return host_fail(EINVAL,
				"STREAMS_DOMAIN=%.40s: no descriptor number",
				env);
		n->fd = (int)fd;
		return 0;
	}
	if (strchr(env, '/') == NULL)
		return name_in_dir(env, n);
	if (env[0] != '/' || strlen(env) >= sizeof n->path - 32)
		return host_fail(EINVAL, "STREAMS_DOMAIN=%.80s: neither a "
			"name nor an absolute path", env);
	strcpy(n->path, env);
	/* streamsd gets the path of an existing domain */
	return host_daemon_comes ? 0 : path_check(n);
}
