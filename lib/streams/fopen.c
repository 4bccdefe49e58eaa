/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls of stdio that open or close FILEs, or that have a descriptor.
 *
 * A FILE reads and writes Streams by the functions that iotable.c puts into the
 * C library's tables.  But the C library still opens and closes descriptors
 * itself: a path may refer to a Stream, and dup3(2) may replace one.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "close.h"
#include "open.h"
#include "shell.h"
#include "iotable.h"

#define MODE_LEN 7 /* characters of a mode that glibc reads */

/*
 * The flags of open(2) for @mode of fopen(3); -1: invalid mode.
 */
static int
mode_flags(const char *mode)
{
	int flags, access = mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	switch (mode[0]) {
	case 'r':
		flags = 0;
		break;
	case 'w':
		flags = O_CREAT | O_TRUNC;
		break;
	case 'a':
		flags = O_CREAT | O_APPEND;
		break;
	default:
		return -1;
	}
	for (int i = 1; i < MODE_LEN && mode[i] != '\0' && mode[i] != ',';
		i++) {
		if (mode[i] == '+')
			access = O_RDWR;
		else if (mode[i] == 'x')
			flags |= O_EXCL;
		else if (mode[i] == 'e')
			flags |= O_CLOEXEC;
	}
	return flags | access;
}

/* ------------------------------------------------------------------ open */

/*
 * The kernel's flags are those of the carrier, which is always open for both;
 * the Stream's flags decide whether it may be read or written.
 */
STR_EXPORT FILE *
fdopen(int fd, const char *mode)
{
	struct fd_rec *r = fd_stream(fd);
	int have, flags;

	if (r == NULL)
		return REAL(fdopen)(fd, mode);
	if (stdio_refused())
		return NULL;
	have = (int)fd_fflags(r);
	flags = mode_flags(mode);
	if (flags != -1 && (have & O_ACCMODE) != O_RDWR &&
		(have & O_ACCMODE) != (flags & O_ACCMODE)) {
		errno = EINVAL;
		return NULL;
	}
	if (flags != -1 && (flags & O_APPEND) && !(have & O_APPEND) &&
		fcntl(fd, F_SETFL, have | O_APPEND) != 0)
		return NULL;
	return REAL(fdopen)(fd, mode);
}

/* A FILE for @fd, a Stream that has just been opened, or -1. */
static FILE *
stream_file(int fd, const char *mode)
{
	FILE *f = fd >= 0 ? fdopen(fd, mode) : NULL;
	int err = errno;

	if (f == NULL && fd >= 0)
		(void)close(fd);
	errno = err;
	return f;
}

/* Has the table no information about @fd, in a process that is not a member? */
STR_INLINE bool
nothing_said(int fd)
{
	return host_domain == NULL && (unsigned)fd < FD_LOW &&
		str_load(&fd_low[fd]) == FD_UNKNOWN;
}

/* A file that the C library has opened is not a Stream.  The table gets that at
 * the first lookup. */
STR_INLINE FILE *
file_opened(FILE *f)
{
	if (!nothing_said(f->_fileno))
		fd_not(f->_fileno);
	return f;
}

/* The C library's open has failed; errno is unchanged since. */
static STR_NOINLINE FILE *
file_failed(const char *path, const char *mode)
{
	int fd = open_failed(AT_FDCWD, path, mode_flags(mode));

	return fd != NOT_OURS ? stream_file(fd, mode) : NULL;
}

static STR_NOINLINE FILE *
file_open_slow(const char *path, const char *mode,
	FILE *(*next)(const char *, const char *))
{
	int flags = mode_flags(mode), fd;
	FILE *f;

	if (flags == -1)
		return next(path, mode);
	fd = open_stream(AT_FDCWD, path, flags);
	if (fd != NOT_OURS)
		return stream_file(fd, mode);
	f = next(path, mode);
	return f != NULL ? file_opened(f) : file_failed(path, mode);
}

STR_INLINE FILE *
file_open(const char *path, const char *mode,
	FILE *(*next)(const char *, const char *))
{
	FILE *f;

	if (mode[0] != 'r' || !open_plain())
		return file_open_slow(path, mode, next);
	f = next(path, mode);
	return str_likely(f != NULL) ? file_opened(f) :
		file_failed(path, mode);
}

STR_EXPORT FILE *
fopen(const char *path, const char *mode)
{
	return file_open(path, mode, REAL(fopen));
}

STR_EXPORT FILE *
fopen64(const char *path, const char *mode)
{
	return file_open(path, mode, REAL(fopen64));
}

/* ----------------------------------------------------------------- close */

/*
 * A FILE of another table closes its descriptor by a system call.  The Stream
 * is determined before, and the peer is informed after, as for close().
 *
 * But no call may hold the Stream during the wait of pclose() or the open of
 * freopen().  There the Stream is closed first, as by close(), and a substitute
 * descriptor takes its number for the C library to close.
 */
static bool
stand_in(FILE *f, int fd)
{
	int null;

	if (fd < 0 || fd_stream(fd) == NULL)
		return false;
	(void)fflush(f);
	null = REAL(open)("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return false; /* leave it unchanged */
	fd_not(null);
	(void)dup_onto(null, fd, O_CLOEXEC);
	(void)close(null);
	return true;
}

static int
file_close(FILE *f, int (*next)(FILE *))
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	int fd = f != NULL ? fileno(f) : -1;
	int ret;

	if (next == REAL(pclose))
		(void)stand_in(f, fd);
	if (fd >= 0)
		fd_release_begin(fd, &rel);
	if (rel.sd != NULL && next != REAL(pclose)) {
		(void)fflush(f); /* this may take long */
		fd_release_hold(&rel);
	}
	ret = next(f);
	if (rel.sd != NULL)
		fd_release_end(&rel);
	else if (fd >= 0)
		(void)fd_forget_not(fd);
	return ret;
}

STR_EXPORT int
fclose(FILE *f)
{
	int fd = f->_fileno, ret;

	/* only @fd is checked: a FILE in memory has none */
	if (str_likely(nothing_said(fd))) {
		ret = REAL(fclose)(f);
		if (!nothing_said(fd))
			(void)fd_forget_not(fd);
		return ret;
	}
	if (stdio_is_ours(f))
		return REAL(fclose)(f);
	return file_close(f, REAL(fclose));
}

STR_EXPORT int
pclose(FILE *f)
{
	int status;

	if (shell_close(f, &status))
		return status;
	return file_close(f, REAL(pclose));
}

/* ---------------------------------------------------------------- reopen */

typedef FILE *reopen_fn(const char *, const char *, FILE *);

/* Close @f, as a failing freopen() does; errno is preserved. */
static FILE *
reopen_fail(FILE *f, reopen_fn *next)
{
	int err = errno, fd = fileno(f);

	(void)stand_in(f, fd);
	(void)next("/dev/null/", "r", f);
	if (fd >= 0)
		fd_forget(fd);
	errno = err;
	return NULL;
}

/* Make @f, with the flags @flags of the mode, a FILE of the Stream @to. */
static FILE *
reopen_onto(int to, const char *mode, int flags, FILE *f, reopen_fn *next)
{
	FILE *ret;

	(void)stand_in(f, fileno(f));
	ret = next("/dev/null", mode, f);
	if (ret != NULL) {
		fd_forget(fileno(ret));
		(void)dup_onto(to, fileno(ret), flags & O_CLOEXEC);
		/* mode "a" has found a position in the former file */
		ret->_offset = -1;
	}
	(void)close(to);
	return ret;
}

/* The Stream that freopen() is to open; NOT_OURS; or -1 with errno. */
static int
reopen_target(const char *path, int flags, FILE *f)
{
	struct stat st;
	int fd;

	if (path == NULL) {
		fd = fileno(f);
		if (fd < 0 || fd_stream(fd) == NULL)
			return NOT_OURS;
		(void)fflush(f);
		return open_duplicate(fd, flags);
	}
	fd = open_stream(AT_FDCWD, path, flags);
	if (fd != NOT_OURS)
		return fd;
	/* do not let the C library open: that would close @f */
	if (stat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return NOT_OURS;
		errno = ENXIO;
	}
	return open_failed(AT_FDCWD, path, flags);
}

static FILE *
file_reopen(const char *path, const char *mode, FILE *f, reopen_fn *next)
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	int flags = mode_flags(mode), fd, to = NOT_OURS;
	FILE *ret;

	if (flags != -1)
		to = reopen_target(path, flags, f);
	if (to >= 0 && stdio_refused()) {
		(void)close(to);
		errno = ENOTSUP;
		to = -1;
	}
	if (to != NOT_OURS)
		return to < 0 ? reopen_fail(f, next) :
			reopen_onto(to, mode, flags, f, next);
	fd = fileno(f);
	if (path != NULL)
		(void)stand_in(f, fd);
	if (fd >= 0)
		fd_release_begin(fd, &rel);
	ret = next(path, mode, f);
	if (rel.sd != NULL)
		fd_release_end(&rel);
	if (ret != NULL && (fd = fileno(ret)) >= 0)
		fd_forget(fd);
	return ret;
}

STR_EXPORT FILE *
freopen(const char *path, const char *mode, FILE *f)
{
	return file_reopen(path, mode, f, REAL(freopen));
}

STR_EXPORT FILE *
freopen64(const char *path, const char *mode, FILE *f)
{
	return file_reopen(path, mode, f, REAL(freopen64));
}

/* --------------------------------------------------------------- dprintf */

int __dprintf_chk(int fd, int flag, const char *fmt, ...);
int __vdprintf_chk(int fd, int flag, const char *fmt, va_list ap);
int __vasprintf_chk(char **ret, int flag, const char *fmt, va_list ap);

static STR_NOINLINE int
write_all(int fd, const char *text, int n)
{
	for (int done = 0; done < n;) {
		ssize_t k = write(fd, text + done, (size_t)(n - done));

		if (k < 0)
			return -1;
		done += (int)k;
	}
	return n;
}

/* Write @text of @n bytes, or -1 for none, and free it. */
static int
text_write(int fd, char *text, int n)
{
	int ret;

	if (n < 0)
		return -1;
	pthread_cleanup_push(free, text);
	ret = write_all(fd, text, n);
	pthread_cleanup_pop(1);
	return ret;
}

STR_EXPORT int
vdprintf(int fd, const char *fmt, va_list ap)
{
	char *text;
	int n;

	if (fd_stream(fd) == NULL)
		return REAL(vdprintf)(fd, fmt, ap);
	n = vasprintf(&text, fmt, ap);
	return text_write(fd, text, n);
}

STR_EXPORT int
__vdprintf_chk(int fd, int flag, const char *fmt, va_list ap)
{
	char *text;
	int n;

	if (fd_stream(fd) == NULL)
		return REAL(__vdprintf_chk)(fd, flag, fmt, ap);
	n = __vasprintf_chk(&text, flag, fmt, ap);
	return text_write(fd, text, n);
}

STR_EXPORT int
dprintf(int fd, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vdprintf(fd, fmt, ap);
	va_end(ap);
	return n;
}

STR_EXPORT int
__dprintf_chk(int fd, int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __vdprintf_chk(fd, flag, fmt, ap);
	va_end(ap);
	return n;
}
