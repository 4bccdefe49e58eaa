/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls of a program on descriptors.
 *
 * read(2) and write(2) use the ring.  Before any other call that could notice
 * the difference, the kernel's pipe gets the data back; the call itself is then
 * the kernel's.  The other calls: transfer.c, poll.c, leave.c, exec.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"

#define READER_AFTER 4  /* calls, doubled for each change back */
#define WRITER_AFTER 8

static long
missing(void)
{
	errno = ENOSYS;
	return -1;
}

void *
run_find_next(void **cache, const char *name)
{
	long (*none)(void) = missing;
	int err = errno;
	void *p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		memcpy(&p, &none, sizeof p);
	__atomic_store_n(cache, p, __ATOMIC_RELAXED);
	errno = err;
	return p;
}

/* ---------------------------------------------------------- read, write */

NEXT_SLOT(read);
NEXT_SLOT(write);

ssize_t
run_next_read(int fd, void *buf, size_t len)
{
	return NEXT(read)(fd, buf, len);
}

ssize_t
run_next_write(int fd, const void *buf, size_t len)
{
	return NEXT(write)(fd, buf, len);
}

/* The kind of @fd after one more call. */
STR_INLINE unsigned
kind_of(int fd, unsigned after, bool writes)
{
	unsigned kind;

	if (str_unlikely(!run_on || (unsigned)fd >= RUN_NFD))
		return RUN_NEVER;
	kind = run_fds[fd].kind;
	if (str_likely(kind != RUN_COUNTING))
		return kind;
	if (str_likely(++run_fds[fd].calls < after << run_fds[fd].shift))
		return RUN_NEVER;
	return run_consider(fd, writes);
}

STR_EXPORT ssize_t
read(int fd, void *buf, size_t len)
{
	unsigned kind = kind_of(fd, READER_AFTER, false);

	if (str_unlikely(run_is_asked())) {
		if (run_answer(fd)) {
			errno = EINTR;
			return -1;
		}
		kind = kind_of(fd, READER_AFTER, false);
	}
	if (kind < RUN_END || !run_end(kind)->reads)
		return NEXT(read)(fd, buf, len);
	return run_ring_read(run_end(kind), fd, buf, len);
}

STR_EXPORT ssize_t
write(int fd, const void *buf, size_t len)
{
	unsigned kind = kind_of(fd, WRITER_AFTER, true);

	if (kind < RUN_END || run_end(kind)->reads)
		return NEXT(write)(fd, buf, len);
	return run_ring_write(run_end(kind), fd, buf, len);
}

ssize_t __read_chk(int fd, void *buf, size_t len, size_t room);
NEXT_SLOT(__read_chk);

STR_EXPORT ssize_t
__read_chk(int fd, void *buf, size_t len, size_t room)
{
	if (len > room)
		return NEXT(__read_chk)(fd, buf, len, room);
	return read(fd, buf, len);
}

/* ----------------------------------------------- pipe, dup, close, fcntl */

NEXT_SLOT(pipe2);

STR_EXPORT int
pipe2(int fd[2], int flags)
{
	int ret = NEXT(pipe2)(fd, flags);
	struct stat st;

	if (ret != 0 || !run_on)
		return ret;
	run_forget(fd[0]);
	run_forget(fd[1]);
	if ((flags & (O_NONBLOCK | O_DIRECT)) == 0 && run_attach() &&
		sys_call4(SYS_newfstatat, fd[0], "", &st, AT_EMPTY_PATH) == 0 &&
		S_ISFIFO(st.st_mode))
		run_record((uint64_t)st.st_ino, (uint64_t)st.st_dev);
	return ret;
}

STR_EXPORT int
pipe(int fd[2])
{
	return pipe2(fd, 0);
}

NEXT_SLOT(close);

STR_EXPORT int
close(int fd)
{
	if (run_on)
		run_forget(fd);
	return NEXT(close)(fd);
}

static void
forget_range(unsigned from, unsigned to)
{
	for (unsigned fd = from; fd <= to && fd < RUN_NFD && run_on; fd++)
		run_forget((int)fd);
}

NEXT_SLOT(close_range);

STR_EXPORT int
close_range(unsigned from, unsigned to, int flags)
{
	forget_range(from, to);
	return NEXT(close_range)(from, to, flags);
}

NEXT_SLOT(closefrom);

STR_EXPORT void
closefrom(int from)
{
	forget_range(from < 0 ? 0 : (unsigned)from, RUN_NFD);
	NEXT(closefrom)(from);
}

/* A new descriptor of the file under @fd will be made. */
static void
copying(int fd)
{
	if (run_on)
		run_settle_fd(fd, false, RUN_CALL);
}

/* @fd is new. */
static int
made(int fd)
{
	if (run_on && fd >= 0)
		run_forget(fd);
	return fd;
}

/* @fd has been opened.  Its name may have led to a pipe that is carried. */
static int
opened(int fd)
{
	struct stat st;
	char none = '\0';

	if (fd >= 0 && run_armed != 0 &&
		sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) == 0 &&
			S_ISFIFO(st.st_mode))
		run_settle_all(RUN_CALL);
	return made(fd);
}

NEXT_SLOT(dup);

STR_EXPORT int
dup(int fd)
{
	copying(fd);
	return made(NEXT(dup)(fd));
}

NEXT_SLOT(dup2);

STR_EXPORT int
dup2(int fd, int to)
{
	copying(fd);
	if (run_on)
		run_forget(to);
	return made(NEXT(dup2)(fd, to));
}

NEXT_SLOT(dup3);

STR_EXPORT int
dup3(int fd, int to, int flags)
{
	copying(fd);
	if (run_on)
		run_forget(to);
	return made(NEXT(dup3)(fd, to, flags));
}

static void
fcntl_begin(int fd, int cmd)
{
	if (!run_on || cmd == F_GETFD || cmd == F_SETFD || cmd == F_GETFL)
		return;
	run_settle_fd(fd, cmd != F_DUPFD && cmd != F_DUPFD_CLOEXEC, RUN_CALL);
}

static int
fcntl_end(int cmd, int ret)
{
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? made(ret) : ret;
}

#define FCNTL(name) \
	int name(int fd, int cmd, ...); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(int fd, int cmd, ...) \
	{ \
		va_list ap; \
		void *arg; \
		va_start(ap, cmd); \
		arg = va_arg(ap, void *); \
		va_end(ap); \
		fcntl_begin(fd, cmd); \
		return fcntl_end(cmd, NEXT(name)(fd, cmd, arg)); \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

NEXT_SLOT(ioctl);

STR_EXPORT int
ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (run_on && cmd != FIOCLEX && cmd != FIONCLEX)
		run_settle_fd(fd, true, RUN_CALL);
	return NEXT(ioctl)(fd, cmd, arg);
}

/* ------------------------------------------------- open by another name */

/* A name of /proc or /dev/fd may be one of a pipe that is carried. */
static void
opening(const char *path)
{
	if (run_armed == 0 || path == NULL)
		return;
	if (path[0] != '/' || strncmp(path, "/proc/", 6) == 0 ||
		strncmp(path, "/dev/fd", 7) == 0 ||
		strncmp(path, "/dev/std", 8) == 0)
		run_settle_all(RUN_CALL);
}

#define OPEN(name) \
	int name(const char *path, int flags, ...); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(const char *path, int flags, ...) \
	{ \
		va_list ap; \
		mode_t mode; \
		va_start(ap, flags); \
		mode = va_arg(ap, mode_t); \
		va_end(ap); \
		opening(path); \
		return opened(NEXT(name)(path, flags, mode)); \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
	int name(int dir, const char *path, int flags, ...); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(int dir, const char *path, int flags, ...) \
	{ \
		va_list ap; \
		mode_t mode; \
		va_start(ap, flags); \
		mode = va_arg(ap, mode_t); \
		va_end(ap); \
		opening(path); \
		return opened(NEXT(name)(dir, path, flags, mode)); \
	}
OPENAT(openat)
OPENAT(openat64)

#define OPEN_2(name) \
	int name(const char *path, int flags); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(const char *path, int flags) \
	{ \
		opening(path); \
		return opened(NEXT(name)(path, flags)); \
	}
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(name) \
	int name(int dir, const char *path, int flags); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(int dir, const char *path, int flags) \
	{ \
		opening(path); \
		return opened(NEXT(name)(dir, path, flags)); \
	}
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

#define CREAT(name) \
	int name(const char *path, mode_t mode); \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(const char *path, mode_t mode) \
	{ \
		opening(path); \
		return opened(NEXT(name)(path, mode)); \
	}
CREAT(creat)
CREAT(creat64)

#define FOPEN(name) \
	NEXT_SLOT(name); \
	STR_EXPORT FILE * \
	name(const char *path, const char *mode) \
	{ \
		FILE *f; \
		opening(path); \
		f = NEXT(name)(path, mode); \
		if (f != NULL && run_armed != 0) \
			(void)opened(f->_fileno); \
		return f; \
	}
FOPEN(fopen)
FOPEN(fopen64)

#define FREOPEN(name) \
	NEXT_SLOT(name); \
	STR_EXPORT FILE * \
	name(const char *path, const char *mode, FILE *f) \
	{ \
		if (run_armed != 0) \
			run_settle_all(RUN_CALL); \
		return NEXT(name)(path, mode, f); \
	}
FREOPEN(freopen)
FREOPEN(freopen64)

void
run_find_common(void)
{
	(void)NEXT(read);
	(void)NEXT(write);
	(void)NEXT(close);
	(void)NEXT(dup2);
	(void)NEXT(fcntl);
	(void)NEXT(open);
}

/* ------------------------------------------- other names for the same calls */

#define ALIAS(type, alias, name, args, ...) \
	type alias args; \
	STR_EXPORT type \
	alias args \
	{ \
		return name(__VA_ARGS__); \
	}
ALIAS(ssize_t, __read, read, (int fd, void *buf, size_t n), fd, buf, n)
ALIAS(ssize_t, __write, write, (int fd, const void *buf, size_t n), fd, buf, n)
ALIAS(int, __pipe, pipe, (int fd[2]), fd)
ALIAS(int, __close, close, (int fd), fd)
ALIAS(int, __dup2, dup2, (int fd, int to), fd, to)
ALIAS(int, __fcntl, fcntl, (int fd, int cmd, void *arg), fd, cmd, arg)
ALIAS(int, __open, open, (const char *path, int flags, mode_t mode), path,
	flags, mode)
ALIAS(int, __open64, open64, (const char *path, int flags, mode_t mode), path,
	flags, mode)
