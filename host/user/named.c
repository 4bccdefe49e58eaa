/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Domains with a name, and how long they live.
 *
 * Life.  Members hold a shared flock() on the file.  Its
 * creator fills an unnamed file, locks it, and only then gives it its name,
 * so no process ever sees half a domain.  To attach is: open, lock, and see that
 * the name still means the same inode, else begin again.  A domain is never
 * reinitialised in place.  A process that gets the lock exclusively is alone;
 * when also no carrier recorded in the domain exists any more, no process can
 * come back to it: at attach it is then left over from a crash, and a new file
 * is renamed over it; at exit it is unlinked.  What a crash, or a bad disk,
 * left is not mapped until that has been decided.
 *
 * Locks.  A lock belongs to an open file, which lives as long as a descriptor
 * or a mapping of it does, and which fork shares; hence a child that attaches
 * opens the file again and maps it anew over the inherited mapping.
 *
 * Failure.  A new domain's file has no name until it is finished, and loses
 * itself if its creator dies.  streamsd is a member as long as there is another
 * (daemon.c:host_daemon_begin), so it removes the file when the others were
 * killed.  When streamsd was killed with them the file stays: the next process
 * to attach finds itself alone and starts over; where no process can attach any
 * more, the next one to make another domain removes it (sweep.c).
 */
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "user_impl.h"

#define ATTACH_TRIES 2000 /* of 1 ms */

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
 * Can a process come to the domain whose file is @df, though it has no member:
 * by the descriptor of a stream, or because its lock went to another?
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

/* Does @path name the inode of @fd? */
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
 * A new file for a domain called @path, without a name of its own where one
 * can be given later, so that a crash leaves nothing; else called @tmp.
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
	/* "." has a name already: that is found when the file could have one */
	*ret_nameless = fd >= 0 && nameless_link(fd, ".") == EEXIST;
	if (!*ret_nameless && fd != -ENOENT) {
		if (fd >= 0)
			(void)sys_close(fd);
		/* left by a dead process of the same pid: no other has it */
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0);
		fd = sys_openat(AT_FDCWD, tmp, O_RDWR | O_CREAT | O_EXCL |
			O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	/* whatever the umask is */
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
 * Make a domain and call it @path: a new name, or @over an old file.
 * EAGAIN: another was faster.
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
		return host_fail(fd == -ENOSPC ? ENOSR : EACCES,
			"cannot make %s: %s" HOST_ELSEWHERE, path,
			strerror(-fd));
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
			err = host_fail(EACCES, "cannot make %s: %s"
				HOST_ELSEWHERE, path, strerror(err));
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
 * May another take the place of a file that is no domain, as @fd shows?  In
 * our own directory: nothing else has a place there.  At a path that the user
 * chose: if it was a domain once.
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
 * The lock on @fd is ours alone: the file has no member.  Join it if a process
 * could come to it, else let a new one take its place.
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
		/* not atomic: look at the name again */
		if (lock_op(fd, LOCK_SH) == 0 && still_named(fd, n->path))
			return named_join(fd, n->path);
		err = EAGAIN;
	} else if (host_daemon_comes) {
		/* streamsd removes what is left, and makes nothing new */
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, n->path, 0);
		err = host_fail(ENOENT, "%s: the domain has ended", n->path);
	} else {
		err = named_create(n->path, true);
	}
	(void)sys_close(fd);
	return err;
}

/*
 * What is at the name is no regular file of ours, or cannot be opened: @err
 * says why.  In our own directory it is removed.
 */
static int
named_clear(const struct host_name *n, int err)
{
	struct stat st;

	if (sys_call4(SYS_newfstatat, AT_FDCWD, n->path, &st,
			AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(st.st_mode))
		return host_fail(EACCES, "%s: %s" HOST_ELSEWHERE, n->path,
			strerror(err));
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
	/* EWOULDBLOCK: its life is being decided about just now */
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
		/* a directory of another user's is not even looked into */
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
	/* it stays when there is a domain in it, of another name */
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

/* The last member to leave takes the name away. */
void
host_named_exit(void)
{
	int fd = host_domain_fd();

	if (named_path[0] == '\0' || fd < 0)
		return;
	/* A lock that cannot be raised is lost, and so it shall be: of several
	 * that leave at once, the last to come here finds itself alone. */
	if (lock_op(fd, LOCK_EX) == 0 && still_named(fd, named_path) &&
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
 * Can no process come to the domain any more?  Its file has no name, there is no
 * other member, and no descriptor by which a process could find one of its
 * streams.  A child that was forked and has made no call yet is not seen.
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

	if (fd >= 0 && still_named(old, named_path) &&
	    still_named(fd, named_path))
		return fd;
	if (fd >= 0)
		(void)sys_close(fd);
	/* it has no name, or another root directory */
	snprintf(self, sizeof self, "/proc/self/fd/%d", old);
	return sys_openat(AT_FDCWD, self, O_RDWR | O_CLOEXEC, 0);
}

/*
 * In the child of a fork: a lock of its own.  Where the file cannot be opened
 * again the lock is the parent's, and ends with it; the table of processes and
 * the carriers keep the domain then.
 */
void
host_named_forked(void)
{
	struct str_domain *d = host_domain;
	int fd, old = host_domain_fd();
	uint64_t cap = d->cap, at;

	if (named_path[0] == '\0' || old < 0)
		return;
	fd = reopen(old);
	if (fd < 0)
		return;
	for (int i = 0; i < ATTACH_TRIES && lock_op(fd, LOCK_SH) != 0; i++)
		nap();
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, true);
	(void)sys_close(old);
	/* the same pages at the same place, so a failure goes unnoticed */
	if (host_map(0, cap, PROT_READ | PROT_WRITE, MAP_SHARED, fd, &at) ==
			0 &&
	    sys_call5(SYS_mremap, at, cap, cap,
		    MREMAP_MAYMOVE | MREMAP_FIXED, d) == (long)d)
		(void)sys_call3(SYS_madvise, d, cap, HOST_DOMAIN_DUMP);
	host_images_forked();
}
