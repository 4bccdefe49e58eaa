/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Descriptors of processes, as /proc shows them.  No malloc(): calls that are
 * allowed in a signal handler come here.
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "run.h"
#include "sys.h"

#define FREE_LOOKS 512    /* descriptors examined before any call is made */
#define MOST_EARNED 65536 /* calls that pay for later scans */
#define FD_MAX (1 << 20) /* descriptors are not looked for from here on */

struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

static void
list_path(char path[40], pid_t pid, const char *what)
{
	char *p = path + 6, digits[12];
	int n = 0;

	strcpy(path, "/proc/self");
	if (pid != 0) {
		for (; pid != 0; pid /= 10)
			digits[n++] = (char)('0' + pid % 10);
		while (n > 0)
			*p++ = digits[--n];
		*p = '\0';
	}
	strcat(path, what);
}

/* Return: false if @dir/@name cannot be examined. */
static bool
look(long dir, const char *name, run_seen *f, void *arg)
{
	struct stat st, link;
	long err;
	int fd = 0;

	if (name[0] < '0' || name[0] > '9')
		return true;
	for (const char *s = name; *s >= '0' && *s <= '9'; s++)
		fd = fd * 10 + (*s - '0');
	err = sys_call4(SYS_newfstatat, dir, name, &st, 0);
	if (err == -ENOENT)
		return true;
	if (err != 0)
		return false;
	/* a FIFO of a file system is no pipe */
	if (!S_ISFIFO(st.st_mode) || (run_map != NULL &&
			(uint64_t)st.st_dev != run_map->dev))
		return true;
	if (sys_call4(SYS_newfstatat, dir, name, &link, AT_SYMLINK_NOFOLLOW) !=
			0)
		return false;
	f(arg, fd, (uint64_t)st.st_ino, link.st_mode & (S_IRUSR | S_IWUSR));
	return true;
}

/* That it has no entry in /proc is not enough: entries may be hidden. */
static bool
is_gone(pid_t pid)
{
	return sys_call2(SYS_kill, pid, 0) == -ESRCH;
}

/*
 * @pid has no descriptors.  Do its threads have some?  Of a process whose first
 * thread has ended, /proc does not list them.
 */
static bool
has_threads(pid_t pid)
{
	char path[40];
	struct stat st;

	list_path(path, pid, "/task");
	return sys_call4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 ?
		st.st_nlink > 3 : !is_gone(pid);
}

/* Descriptors examined, less the calls made since. */
static int32_t debt STR_HOT_DATA;

bool
run_may_scan(void)
{
	return __atomic_load_n(&debt, __ATOMIC_RELAXED) < FREE_LOOKS;
}

void
run_earn(uint32_t calls)
{
	if (__atomic_load_n(&debt, __ATOMIC_RELAXED) > -MOST_EARNED)
		(void)__atomic_fetch_sub(&debt, (int32_t)calls, __ATOMIC_RELAXED);
}

static void
pay(unsigned looks)
{
	(void)__atomic_fetch_add(&debt, (int32_t)looks, __ATOMIC_RELAXED);
	if (run_map != NULL)
		(void)__atomic_fetch_add(&run_map->count[RUN_LOOKED], looks,
			__ATOMIC_RELAXED);
}

bool
run_scan(pid_t pid, run_seen *f, void *arg)
{
	_Alignas(8) char buf[2048];
	char path[40];
	unsigned found = 0;
	bool ok = true;
	long dir, n;

	list_path(path, pid, "/fd");
	dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir < 0)
		return pid != 0 && is_gone(pid);
	while (ok && (n = sys_call3(SYS_getdents64, dir, buf, sizeof buf)) != 0) {
		if (n < 0) {
			ok = pid != 0 && is_gone(pid);
			break;
		}
		for (long at = 0; at < n && ok; found++) {
			struct entry *e = (struct entry *)(void *)(buf + at);

			ok = look(dir, e->name, f, arg);
			at += e->len;
		}
	}
	(void)sys_close((int)dir);
	pay(found);
	/* "." and ".." are there always */
	return ok && (found > 2 || pid == 0 || !has_threads(pid));
}

/* ---------------------------------------------------------------- marking */

/*
 * The mark is the sticky bit of the pipe's inode, which means nothing there.
 * Every holder can set it, and sees it.
 */
static void
mark(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct stat st;
	struct statfs fs;
	char none = '\0';

	(void)arg;
	(void)id;
	(void)mode;
	if (sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) == 0 &&
			S_ISFIFO(st.st_mode) &&
			sys_call2(SYS_fstatfs, fd, &fs) == 0 &&
			fs.f_type == PIPEFS_MAGIC)
		(void)sys_call2(SYS_fchmod, fd,
			(st.st_mode & 07777) | S_ISVTX);
}

void
run_mark_all(void)
{
	struct rlimit rl = {RUN_NFD, RUN_NFD};

	if (run_scan(0, mark, NULL))
		return;
	/* without a list: each number that there may be */
	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	for (int fd = 0; fd < FD_MAX && (fd < RUN_NFD ||
			(rlim_t)fd < rl.rlim_max); fd++)
		mark(NULL, fd, 0, 0);
}

bool
run_is_marked(int fd)
{
	struct stat st;
	char none = '\0';

	return sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) != 0 ||
		(st.st_mode & S_ISVTX) != 0;
}

/* ---------------------------------------------------------------- holders */

struct holds {
	uint64_t id;
	unsigned mode;
};

static void
see_holder(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct holds *h = arg;

	(void)fd;
	if (id == h->id)
		h->mode |= mode;
}

/* Are the ends of @id that @pid holds those of @mode? */
static bool
holds_just(uint32_t pid, uint64_t id, unsigned mode)
{
	struct holds h = {id, 0};

	return run_scan((pid_t)pid, see_holder, &h) && h.mode == mode;
}

bool
run_two_only(struct run_pipe *p, int fd)
{
	uint32_t me = (uint32_t)getpid();
	uint32_t forks = __atomic_load_n(&p->forks, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&p->pending, __ATOMIC_SEQ_CST) != 0)
		return false;
	if (p->rpid == me || !holds_just(p->rpid, *run_id(p), S_IRUSR) ||
		!holds_just(me, *run_id(p), S_IWUSR))
		return false;
	for (unsigned i = 0; i < RUN_HOLDERS; i++) {
		uint32_t pid = __atomic_load_n(&p->holder[i], __ATOMIC_SEQ_CST);

		if (pid != 0 && pid != me && pid != p->rpid &&
			!holds_just(pid, *run_id(p), 0))
			return false;
	}
	/* a holder that closed its ends may have made another before */
	return __atomic_load_n(&p->forks, __ATOMIC_SEQ_CST) == forks &&
		!run_is_marked(fd);
}
