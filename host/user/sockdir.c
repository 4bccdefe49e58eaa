/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The socket directory of a domain, in which sockets with an address are bound.
 *
 * Purpose.  An abstract address belongs to the network namespace: any user can
 * bind a free one and can send to one in use.  A file in a directory of mode
 * 0700 can be bound, reached and removed only by its owner.
 *
 * Name.  The creator of a domain chooses the directory's path, which holds 64
 * random bits, and records it in the domain; it never changes.  The first
 * socket that needs an address makes the directory.  A socket's name is a
 * number from a counter in the domain, written in base 32.  No number is used
 * twice, so a stale name can be unlinked at any time.
 *
 * Trust.  Before a process binds a socket there, or sends a message with a
 * content, it opens the directory and checks type, owner and mode.  The
 * descriptor stays open and identifies the directory from then on.
 *
 * Life.  Each process that has the directory open holds a shared flock() on it.
 * With the exclusive lock, and when no socket in it has a holder, the directory
 * is removed: by the last member to leave, and by the process that makes the
 * next domain of the user.
 *
 * Failure.  A process that is killed leaves the names of its sockets.  The
 * process that reaps its slot unlinks its bell, the process that closes a file
 * unlinks its carrier, and streamsd unlinks names without a bound socket.
 */
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "sockdir.h"

#define PREFIX "streams-sock-"
#define OPEN_TRIES 2000	 /* of 1 ms */
#define STALE_S 5	 /* age of a name before it may count as stale */
#define TIDY_MAX 64	 /* names that streamsd checks in one call */

struct dirent64 {
	uint64_t ino, off;
	uint16_t len;
	uint8_t type;
	char name[];
};

static uint64_t dir_dev, dir_ino; /* [sockdir] the directory once opened */

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

static int
fail_words(int err, const char *why)
{
	struct host_priv *pv = host_priv_page;
	char text[192];

	snprintf(text, sizeof text, "no socket directory %s: %s", shared()->dir,
		why);
	if (!pv->sockdir_warned) {
		pv->sockdir_warned = 1;
		host_log(1, text);
	}
	return host_fail(err, "%s", text);
}

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int
stat_at(int dir, const char *path, struct stat *st)
{
	return -(int)sys_call4(SYS_newfstatat, dir, path, st,
		AT_SYMLINK_NOFOLLOW);
}

/* -------------------------------------------------------------- choosing */

/* Can the user make a directory in @dir that no other user can remove? */
static bool
usable(const char *dir, bool must_be_mine)
{
	struct stat st;

	if (stat_at(AT_FDCWD, dir, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    sys_call3(SYS_faccessat, AT_FDCWD, dir, W_OK | X_OK) != 0)
		return false;
	if (must_be_mine)
		return host_uid_mine(st.st_uid) && (st.st_mode & 077) == 0;
	return (st.st_mode & 022) == 0 || (st.st_mode & S_ISVTX) != 0;
}

/* Does @base belong to us, or can it be made? */
static bool
base_usable(const char *base)
{
	char up[sizeof ((struct host_shared *)0)->dir];
	struct stat st;
	char *slash;

	if (base[0] != '/' || strlen(base) >= sizeof up)
		return false;
	if (stat_at(AT_FDCWD, base, &st) != ENOENT)
		return usable(base, true);
	strcpy(up, base);
	slash = strrchr(up, '/');
	slash[slash == up] = '\0';
	return usable(up, false);
}

/*
 * host_sockdir_choose - record the path of the directory in a new domain:
 * beside the named domains, or in /tmp if there is no such place or if its path
 * would be too long for an address.
 */
void
host_sockdir_choose(struct host_shared *s)
{
	uint64_t rnd = host_random();
	char base[512], text[HOST_SOCKDIR_DIGITS + 1];
	int n;

	host_sockdir_text(rnd, text);
	if (host_name_base(base, sizeof base) != 0)
		base[0] = '\0';
	s->dir_in_base = base_usable(base);
	if (s->dir_in_base) {
		n = snprintf(s->dir, sizeof s->dir, "%s/" PREFIX "%s", base,
			text);
		s->dir_in_base = n > 0 && (size_t)n < sizeof s->dir;
	}
	if (!s->dir_in_base) {
		strcpy(base, "/tmp");
		snprintf(s->dir, sizeof s->dir, "/tmp/" PREFIX "%s", text);
	}
	host_sockdir_sweep(base);
}

/* --------------------------------------------------------------- opening */

/* The descriptor of the directory; -1: the program has closed it. */
int
host_sockdir_fd(void)
{
	int fd = host_fd_get(HOST_FD_SOCKDIR);
	struct stat st;

	if (fd >= 0 && dir_ino != 0 && host_domain_stat(fd, &st) == 0 &&
	    st.st_ino == dir_ino && st.st_dev == dir_dev)
		return fd;
	return -1;
}

static const char *
dir_name(void)
{
	const char *slash = strrchr(shared()->dir, '/');

	return slash != NULL ? slash + 1 : shared()->dir;
}

/* Does the directory @fd still exist?  Checked in its parent, not by the path,
 * which does not work after a change of the root. */
static bool
still_there(int fd)
{
	struct stat a, b;
	char path[64];

	snprintf(path, sizeof path, "../%.48s", dir_name());
	return host_domain_stat(fd, &a) == 0 && stat_at(fd, path, &b) == 0 &&
		same(&a, &b);
}

static int
open_dir(int at, const char *path)
{
	return sys_openat(at, path,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

static int
flock_nb(int fd, int op)
{
	return -(int)sys_call2(SYS_flock, fd, op | LOCK_NB);
}

static void
nap(void)
{
	struct timespec ts = { 0, 1000000 };

	(void)sys_call2(SYS_nanosleep, &ts, NULL);
}

/* Make it, and its parent directory.  Return: 0 or an errno. */
static int
make(void)
{
	struct host_shared *s = shared();
	char up[sizeof s->dir];
	int err;

	str_store(&s->dir_made, 1u);
	STR_CRASH_POINT("sockdir:making");
	err = host_dir_make(s->dir);
	if (err == ENOENT && s->dir_in_base) {
		strcpy(up, s->dir);
		*strrchr(up, '/') = '\0';
		err = host_name_base_make(up);
		if (err == 0 || err == EEXIST)
			err = host_dir_make(s->dir);
	}
	STR_CRASH_POINT("sockdir:made");
	return err == EEXIST ? 0 : err;
}

/*
 * Is @fd a directory that only this user can use?  Else an errno with a report.
 */
static int
check(int fd)
{
	struct stat st;
	int err = host_domain_stat(fd, &st);

	if (err != 0)
		return fail_words(EACCES, strerror(err));
	if (!S_ISDIR(st.st_mode) || !host_uid_mine(st.st_uid) ||
	    (st.st_mode & 077) != 0)
		return fail_words(EACCES, "it is not a directory of this user "
			"with mode 0700");
	return 0;
}

/*
 * The file system has no space or no inode left, or the user's quota is used
 * up.
 */
int
host_sockdir_full(int err)
{
	char text[160];

	snprintf(text, sizeof text, "%s: make room in its file system, which "
		"has no space or no inode left", strerror(err));
	return fail_words(ENOSR, text);
}

/* Open it by its path, and make it if necessary. */
static int
by_path(int *ret_fd)
{
	int fd, err, last = ENOENT;

	if (host_ids_numbered() != 0)
		return fail_words(EACCES, "the user has no number in this "
			"user namespace");
	for (int i = 0; i < OPEN_TRIES; i++) {
		fd = open_dir(AT_FDCWD, shared()->dir);
		if (fd == -ENOENT) {
			err = make();
			if (err == ENOSPC || err == EDQUOT)
				return host_sockdir_full(err);
			fd = open_dir(AT_FDCWD, shared()->dir);
		}
		/* its maker may have been killed before it could set the mode */
		if (fd == -EACCES && host_dir_mend(shared()->dir))
			fd = open_dir(AT_FDCWD, shared()->dir);
		if (fd == -EMFILE || fd == -ENFILE)
			return -fd;
		if (fd < 0) {
			last = -fd;
			if (last != ENOENT || i > 3)
				return fail_words(EACCES, strerror(last));
			continue;
		}
		err = check(fd);
		if (err == 0 && flock_nb(fd, LOCK_SH) == 0 && still_there(fd)) {
			*ret_fd = fd;
			return 0;
		}
		(void)sys_close(fd);
		if (err != 0)
			return err;
		nap(); /* it is being removed */
	}
	return fail_words(EBUSY, "another process keeps it locked");
}

/* In a forked child: get its own lock on the parent's directory. */
static int
by_parent(int old)
{
	int fd = open_dir(old, ".");

	if (fd >= 0 && (check(fd) != 0 || flock_nb(fd, LOCK_SH) != 0 ||
			!still_there(fd))) {
		(void)sys_close(fd);
		fd = -1;
	}
	return fd;
}

/* Open and check the directory.  Locks: [sockdir] */
static int
enter(void)
{
	int old = host_sockdir_fd(), fd = -1, err = 0;
	struct stat st;

	if (old >= 0)
		fd = by_parent(old);
	if (fd < 0)
		err = by_path(&fd);
	if (err != 0)
		return err;
	err = host_domain_stat(fd, &st);
	if (err != 0) {
		(void)sys_close(fd);
		return err;
	}
	dir_dev = st.st_dev;
	dir_ino = st.st_ino;
	(void)host_fd_hide(HOST_FD_SOCKDIR, fd, true);
	if (old >= 0)
		(void)sys_close(old);
	return 0;
}

int
host_sockdir_ready(bool again)
{
	struct host_priv *pv = host_priv_page;
	uint64_t old;
	int err = 0;

	host_sig_block(&old);
	host_plock_lock(&pv->sockdir);
	if (str_load(&pv->sockdir_up) == 0 || (again && host_sockdir_fd() < 0)) {
		err = enter();
		str_store_rel(&pv->sockdir_up, err == 0 ? 1u : 0u);
	}
	host_plock_unlock(&pv->sockdir);
	host_sig_restore(&old);
	return err;
}

/* Does the path lead to the directory that was checked? */
bool
host_sockdir_visible(void)
{
	struct stat st;

	return stat_at(AT_FDCWD, shared()->dir, &st) == 0 &&
		st.st_ino == dir_ino && st.st_dev == dir_dev;
}

/* -------------------------------------------------------------- removing */

struct look {
	const char *dir;
	int fd, sock;
};

/* Does a process hold the socket @name? */
static bool
name_alive(const char *name, void *arg)
{
	const struct look *l = arg;
	struct sockaddr_un sun;
	socklen_t len;
	long r;

	if (name[0] == '.')
		return false;
	len = host_sockdir_address(&sun, l->dir, name);
	r = sys_call3(SYS_connect, l->sock, &sun, len);
	return r != -ECONNREFUSED && r != -ENOENT;
}

static bool
name_unlink(const char *name, void *arg)
{
	const struct look *l = arg;

	if (name[0] != '.')
		(void)sys_call3(SYS_unlinkat, l->fd, name, 0);
	return false;
}

/*
 * With the exclusive lock on @fd, which is the directory @dir: remove it if no
 * socket in it has a holder.  Return: true when it is gone.
 */
static bool
remove_dir(int fd, const char *dir)
{
	struct look l = { .dir = dir, .fd = fd };

	l.sock = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC,
		0);
	if (l.sock < 0)
		return false;
	if (host_dir_find(dir, name_alive, &l)) {
		(void)sys_close(l.sock);
		return false;
	}
	(void)sys_close(l.sock);
	(void)host_dir_find(dir, name_unlink, &l);
	return sys_call3(SYS_unlinkat, AT_FDCWD, dir, AT_REMOVEDIR) == 0;
}

/*
 * host_sockdir_exit - the process leaves: the last member of the domain removes
 * the directory.  If the lock cannot be made exclusive it is lost, so of
 * several that leave at once the last one gets it.
 */
void
host_sockdir_exit(void)
{
	struct host_shared *s = shared();
	char up[sizeof s->dir];
	int fd, own;

	if (str_load(&s->dir_made) == 0)
		return;
	own = host_sockdir_fd();
	if (own >= 0 && str_load(&host_priv_page->sockdir_up) == 0) {
		/* a forked child that has not locked: LOCK_UN would release
		 * the lock of its parent, whose open file this is */
		fd = open_dir(own, ".");
		host_fd_drop(HOST_FD_SOCKDIR);
		own = -1;
	} else {
		fd = own >= 0 ? own : open_dir(AT_FDCWD, s->dir);
	}
	if (fd < 0)
		return;
	if (flock_nb(fd, LOCK_EX) == 0) {
		if (host_named_alone() && still_there(fd) &&
		    remove_dir(fd, s->dir) && s->dir_in_base) {
			strcpy(up, s->dir);
			*strrchr(up, '/') = '\0';
			host_name_rmdir(up);
		}
		(void)flock_nb(fd, LOCK_UN);
	}
	if (own < 0)
		(void)sys_close(fd);
}

static bool
sweep_one(const char *name, void *arg)
{
	char path[600];
	struct stat st, now;
	int fd;

	if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0 ||
	    (size_t)snprintf(path, sizeof path, "%s/%s", (const char *)arg,
		    name) >= sizeof path)
		return false;
	if (stat_at(AT_FDCWD, path, &st) != 0 || !host_uid_mine(st.st_uid))
		return false;
	fd = open_dir(AT_FDCWD, path);
	if (fd < 0)
		return false;
	if (host_domain_stat(fd, &st) == 0 && host_uid_mine(st.st_uid) &&
	    flock_nb(fd, LOCK_EX) == 0 &&
	    stat_at(AT_FDCWD, path, &now) == 0 && same(&st, &now))
		(void)remove_dir(fd, path);
	(void)sys_close(fd);
	return false;
}

/*
 * host_sockdir_sweep - remove the directories in @base that crashes have left.
 */
void
host_sockdir_sweep(const char *base)
{
	(void)host_dir_find(base, sweep_one, (void *)(uintptr_t)base);
}

/* Is @name so old that its maker must have bound it? */
static bool
is_old(int dir, const char *name)
{
	struct timespec now;
	struct stat st;

	return sys_call2(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0 &&
		stat_at(dir, name, &st) == 0 &&
		now.tv_sec - st.st_ctim.tv_sec > STALE_S;
}

/*
 * host_sockdir_tidy - in streamsd: unlink names without a bound socket, which
 * killed processes have left.  Each call checks the next few.
 */
void
host_sockdir_tidy(void)
{
	static long place; /* where the next call continues */
	struct look l = { .dir = shared()->dir };
	uint64_t buf[TIDY_MAX * 32 / 8];
	long n;
	int at;

	if (str_load(&shared()->dir_made) == 0)
		return;
	at = open_dir(AT_FDCWD, l.dir);
	if (at < 0)
		return;
	(void)sys_call3(SYS_lseek, at, place, SEEK_SET);
	n = sys_call3(SYS_getdents64, at, buf, sizeof buf);
	place = n > 0 ? sys_call3(SYS_lseek, at, 0, SEEK_CUR) : 0;
	l.sock = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC,
		0);
	for (long i = 0; n > 0 && l.sock >= 0 && i < n;) {
		struct dirent64 *e = (void *)((char *)buf + i);

		if (e->name[0] != '.' && is_old(at, e->name) &&
		    !name_alive(e->name, &l))
			(void)sys_call3(SYS_unlinkat, at, e->name, 0);
		i += e->len;
	}
	if (l.sock >= 0)
		(void)sys_close(l.sock);
	(void)sys_close(at);
}
