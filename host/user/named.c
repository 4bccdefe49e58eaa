/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Domains with a name, and their lifetime.
 *
 * Life.  Members hold a shared flock() on the file.  The creator fills an
 * unnamed file, locks it, and only then gives it its name, so no process ever
 * sees an incomplete domain.  To attach, a process opens and locks the file,
 * checks that the name still refers to the same inode, and starts again if not.
 * A domain is never reinitialised in place.  A process that gets the exclusive
 * lock is alone.  If also no carrier recorded in the domain exists any more, no
 * process can return to it: at attach the file is a leftover of a crash, and a
 * new file is renamed over it; at exit it is unlinked.  A leftover of a crash,
 * or of a bad disk, is not mapped before that decision.
 *
 * Locks.  A lock belongs to an open file, which exists as long as a descriptor
 * or a mapping of it, and which fork shares; so a child that attaches opens the
 * file again and replaces the inherited mapping.
 *
 * Failure.  A new domain's file has no name until it is complete, so the kernel
 * frees it if its creator dies. streamsd is a member as long as there is
 * another (daemon.c:host_daemon_begin), so it removes the file if the others
 * are killed.  If streamsd is killed with them the file remains: the next
 * process that attaches is alone and makes a new domain; if no process can
 * attach any more, the next process that makes another domain removes the file
 * (sweep.c).
 */
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <str/inspect.h>

#include "user_impl.h"

#define ATTACH_TRIES 2000 /* of 1 ms */
#define LOCK_TRIES 200 /* of 1 ms */

/* "" unless attached to a named domain; its directory, if that is ours too */
static char named_path[768], named_dir[512];

static int
lock_op(int fd, int op)
{
	return -(int)sys_call2(SYS_flock, fd, op | LOCK_NB);
}

static void
nap(void)
{
	struct timespec ts = { 0, 1000000 };

	(void)sys_call2(SYS_nanosleep, &ts, NULL);
}

/*
 * Can a process still use the domain with the file @df, although it has no
 * member: by the descriptor of a stream, or as the holder of the lock?
 */
static bool
needed(const struct host_file *df)
{
	return host_members_recorded(df) ||
		str_region_carriers(df, host_carrier_alive);
}

/* host_named_alone - has the domain no other member, and no carrier? */
bool
host_named_alone(void)
{
	struct host_file df;
	int fd = host_domain_fd();

	return fd >= 0 && host_domain_check(fd, "", &df) == 0 && !needed(&df);
}

/* host_named_wires - is there a file of wires beside that of the domain? */
bool
host_named_wires(void)
{
	char path[sizeof named_path + sizeof STR_WIRES_SUFFIX];
	struct stat st;

	if (named_path[0] == '\0')
		return false;
	snprintf(path, sizeof path, "%s" STR_WIRES_SUFFIX, named_path);
	return sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		AT_SYMLINK_NOFOLLOW) == 0;
}

/* Does @path still refer to the inode of @fd? */
static bool
still_named(int fd, const char *path)
{
	struct stat a, b;

	return host_domain_stat(fd, &a) == 0 &&
		sys_call4(SYS_newfstatat, AT_FDCWD, path, &b,
			AT_SYMLINK_NOFOLLOW) == 0 &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Give the nameless file @fd the name @path.  AT_EMPTY_PATH needs no /proc, but
 * privilege before Linux 6.10: without that it is ENOENT.
 */
static int
nameless_link(int fd, const char *path)
{
	char self[32];
	int err = -(int)sys_call5(SYS_linkat, fd, "", AT_FDCWD, path,
		AT_EMPTY_PATH);

	if (err != ENOENT && err != EPERM && err != EINVAL)
		return err;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return -(int)sys_call5(SYS_linkat, AT_FDCWD, self, AT_FDCWD, path,
		AT_SYMLINK_FOLLOW);
}

/*
 * A new file for a domain called @path: without a name if one can be given
 * later, so that a crash leaves nothing; else with the name @tmp.
 */
static int
file_make(const char *path, const char *tmp, bool *ret_nameless)
{
	char dir[sizeof named_path];
	char *slash;
	int fd;

	strcpy(dir, path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	fd = sys_openat(AT_FDCWD, dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* EEXIST for "." shows that linking the file would work */
	*ret_nameless = fd >= 0 && nameless_link(fd, ".") == EEXIST;
	if (!*ret_nameless && fd != -ENOENT) {
		if (fd >= 0)
			(void)sys_close(fd);
		/* left by a dead process with the same pid: not in use */
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0);
		fd = sys_openat(AT_FDCWD, tmp, O_RDWR | O_CREAT | O_EXCL |
			O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	/* independent of the umask */
	if (fd >= 0)
		(void)sys_call2(SYS_fchmod, fd, 0600);
	return fd;
}

static int
file_link(int fd, const char *tmp, bool nameless, const char *path)
{
	return nameless ? nameless_link(fd, path) :
		-(int)sys_call5(SYS_linkat, AT_FDCWD, tmp, AT_FDCWD, path, 0);
}

/* Give the finished file its name, @over an old one of that name. */
static int
file_name(int fd, const char *tmp, bool nameless, const char *path, bool over)
{
	int err;

	if (!over)
		return file_link(fd, tmp, nameless, path);
	(void)(nameless && sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0));
	err = nameless ? file_link(fd, tmp, true, tmp) : 0;
	if (err == 0)
		err = -(int)sys_call5(SYS_renameat2, AT_FDCWD, tmp, AT_FDCWD,
			path, 0);
	return err;
}

/*
 * Make a domain with the name @path: a new name, or @over an old file.  EAGAIN:
 * another process was faster.
 */
static int
named_create(const char *path, bool over)
{
	char tmp[sizeof named_path + 32];
	bool nameless;
	int fd, err;

	snprintf(tmp, sizeof tmp, "%s.%d", path, sys_getpid());
	fd = file_make(path, tmp, &nameless);
	if (fd == -ENOENT)
		return EAGAIN;
	if (fd < 0)
		return host_fail_file(-fd, path);
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, true);
	err = lock_op(fd, LOCK_SH);
	if (err != 0)
		err = host_fail(EACCES, "%s: no locks: %s"
			HOST_ELSEWHERE, path, strerror(err));
	if (err == 0)
		err = host_domain_build(fd);
	if (err == 0) {
		err = file_name(fd, tmp, nameless, path, over);
		if (err != 0)
			host_domain_unmap();
		if (err == EEXIST || err == ENOENT)
			err = EAGAIN;
		else if (err != 0)
			err = host_fail_file(err, path);
	}
	if (!nameless)
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0);
	if (err != 0)
		host_fd_drop(HOST_FD_DOMAIN);
	return err;
}

/* Attach to the locked, checked file @fd, which is hidden or closed then. */
static int
named_join(int fd, const char *path)
{
	int err = host_domain_map(fd, path);

	if (err != 0) {
		(void)sys_close(fd);
		return err;
	}
	(void)host_fd_hide(HOST_FD_DOMAIN, fd, true);
	err = host_domain_join();
	if (err != 0)
		host_fd_drop(HOST_FD_DOMAIN);
	return err;
}

/*
 * May a new domain replace the file @fd, which is not a domain?  In our own
 * directory always: it contains only domains.  At a path that the user chose,
 * only if the file was a domain.
 */
static bool
replaceable(int fd, const struct host_name *n)
{
	struct {
		uint64_t magic;
		uint32_t abi;
	} h = { 0, 0 };

	return n->dir[0] != '\0' ||
		(sys_call4(SYS_pread64, fd, &h, sizeof h, 0) > 0 &&
			h.magic == STR_MAGIC && h.abi == STR_ABI);
}

/*
 * We have the exclusive lock on @fd: the domain has no member.  Join it if a
 * process can still use it, else replace it by a new one.
 */
static int
named_alone(int fd, const struct host_name *n)
{
	struct host_file df;
	int err = host_domain_check(fd, n->path, &df);

	if (err != 0 && !replaceable(fd, n)) {
		(void)sys_close(fd);
		return err;
	}
	if (err == 0 && needed(&df)) {
		/* not atomic: check the name again */
		if (lock_op(fd, LOCK_SH) == 0 && still_named(fd, n->path))
			return named_join(fd, n->path);
		err = EAGAIN;
	} else if (host_daemon_comes) {
		/* streamsd removes leftovers, and makes no domain */
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, n->path, 0);
		err = host_fail(ENOENT, "%s: the domain has ended", n->path);
	} else {
		err = named_create(n->path, true);
	}
	(void)sys_close(fd);
	return err;
}

/*
 * The file at the name is not a regular file of ours, or cannot be opened, with
 * @err.  In our own directory it is removed.
 */
static int
named_clear(const struct host_name *n, int err)
{
	struct stat st;

	if (sys_call4(SYS_newfstatat, AT_FDCWD, n->path, &st,
			AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(st.st_mode))
		return host_fail_file(err, n->path);
	if (n->dir[0] == '\0')
		return host_fail(EACCES, "%s is no regular file: set "
			"STREAMS_DOMAIN to another path", n->path);
	err = -(int)sys_call3(SYS_unlinkat, AT_FDCWD, n->path,
		S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	if (err != 0 && err != ENOENT)
		return host_fail(EACCES, "%s is no domain, and cannot be "
			"removed: %s", n->path, strerror(err));
	return EAGAIN;
}

/* One attempt; EAGAIN: begin again. */
static int
named_try(struct host_name *n)
{
	struct stat st;
	int fd, err;

	fd = sys_openat(AT_FDCWD, n->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW |
		O_NONBLOCK, 0);
	if (fd == -ENOENT && host_daemon_comes)
		return host_fail(ENOENT, "%s: no such domain", n->path);
	if (fd == -ENOENT) {
		err = host_name_mkdir(n);
		if (err == 0)
			host_named_sweep(n->dir);
		return err != 0 ? err : named_create(n->path, false);
	}
	if (fd < 0)
		return named_clear(n, -fd);
	err = host_domain_stat(fd, &st);
	if (err == 0 && !S_ISREG(st.st_mode))
		err = named_clear(n, EPROTO);
	else if (err == 0 && n->dir[0] == '\0' && (!host_uid_mine(st.st_uid) ||
			(st.st_mode & 077) != 0))
		err = host_fail(EACCES, "%s is not a file of mine with mode "
			"0600", n->path);
	else if (err == 0 && lock_op(fd, LOCK_EX) == 0)
		err = still_named(fd, n->path) ? 0 : EAGAIN;
	/* EWOULDBLOCK: another process decides about its removal */
	else if (err == 0 && lock_op(fd, LOCK_SH) == 0)
		err = still_named(fd, n->path) ? EISCONN : EAGAIN;
	else if (err == 0)
		err = EAGAIN;
	if (err == 0)
		return named_alone(fd, n);
	if (err == EISCONN && (!host_uid_mine(st.st_uid) ||
			(st.st_mode & 077) != 0))
		err = host_fail(EACCES, "%s is in use, and not a file of mine "
			"with mode 0600", n->path);
	if (err == EISCONN)
		return named_join(fd, n->path);
	(void)sys_close(fd);
	return err;
}

int
host_named_attach(struct host_name *n)
{
	int err = EAGAIN;

	if (n->dir[0] != '\0') {
		/* another user's directory is not even read */
		err = host_name_mkdir(n);
		if (err != 0)
			return err;
	}
	for (int i = 0; i < ATTACH_TRIES; i++) {
		err = named_try(n);
		if (err != EAGAIN)
			break;
		nap();
	}
	/* it stays if it contains another domain */
	if (err != 0 && n->dir[0] != '\0')
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, n->dir, AT_REMOVEDIR);
	if (err == EAGAIN)
		return host_fail(EBUSY, "%s is locked by a process that does "
			"not go on: look for one that is stopped and has the "
			"file open", n->path);
	if (err == 0) {
		strcpy(named_path, n->path);
		strcpy(named_dir, n->dir);
	}
	return err;
}

bool
host_named(void)
{
	return named_path[0] != '\0';
}

const char *
host_named_dir(void)
{
	return named_dir;
}

void
host_named_dir_set(const char *dir)
{
	if (strlen(dir) < sizeof named_dir)
		strcpy(named_dir, dir);
}

/*
 * For streamsd, which leaves when the last member has ended: the kernel drops
 * the lock of that member with its memory, and a process that reads /proc/PID
 * keeps the memory a moment longer.
 */
static int
lock_last(int fd)
{
	int err = lock_op(fd, LOCK_EX);

	for (int i = 0; err != 0 && host_is_daemon && i < LOCK_TRIES; i++) {
		nap();
		err = lock_op(fd, LOCK_EX);
	}
	return err;
}

/* The last member that leaves removes the name. */
void
host_named_exit(void)
{
	int fd = host_domain_fd();

	if (named_path[0] == '\0' || fd < 0)
		return;
	/* If the lock cannot be made exclusive it is lost, which is intended:
	 * of several that leave at once, the last one is alone. */
	if (lock_last(fd) == 0 && still_named(fd, named_path) &&
	    host_named_alone()) {
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, named_path, 0);
		host_name_rmdir(named_dir);
	}
	(void)lock_op(fd, LOCK_UN);
}

void
host_named_forget(void)
{
	named_path[0] = named_dir[0] = '\0';
}

/*
 * Can no process use the domain any more?  True if its file has no name, there
 * is no other member, and no descriptor of one of its streams.  A forked child
 * that has made no call yet is not detected.
 */
bool
host_named_forsaken(void)
{
	struct stat st;

	return host_domain_stat(host_domain_fd(), &st) == 0 &&
		st.st_nlink == 0 && host_named_alone();
}

/* The domain's file, opened once more; -1: it cannot be. */
static int
reopen(int old)
{
	char self[32];
	int fd = sys_openat(AT_FDCWD, named_path, O_RDWR | O_CLOEXEC |
		O_NOFOLLOW | O_NONBLOCK, 0);

	if (host_domain_is(fd))
		return fd;
	if (fd >= 0)
		(void)sys_close(fd);
	/* it has no name, or the root directory has changed */
	snprintf(self, sizeof self, "/proc/self/fd/%d", old);
	return sys_openat(AT_FDCWD, self, O_RDWR | O_CLOEXEC, 0);
}

/*
 * In a forked child: get its own lock.  If the file cannot be opened again the
 * lock belongs to the parent, and ends with it; then the table of processes and
 * the carriers keep the domain.
 */
void
host_named_forked(void)
{
	struct str_domain *d = host_domain;
	int fd, old = host_domain_fd();
	uint64_t cap = d->cap;

	if (named_path[0] == '\0' || old < 0)
		return;
	fd = reopen(old);
	if (fd < 0)
		return;
	for (int i = 0; i < ATTACH_TRIES && lock_op(fd, LOCK_SH) != 0; i++)
		nap();
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, true);
	(void)sys_close(old);
	host_map_again(d, cap, fd);
	(void)sys_call3(SYS_madvise, d, cap, HOST_DOMAIN_DUMP);
	host_images_forked();
}
