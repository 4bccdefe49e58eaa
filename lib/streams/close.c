/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Every way in which a number is freed, taken or copied.
 *
 * The host's hidden descriptors are passed over by those that close; what
 * wants their number for itself gets it, and they move.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#include "call.h"
#include "sys.h"

/* ----------------------------------------------------------------- close */

STR_EXPORT int
close(int fd)
{
	struct fd_release rel;
	int ret;

	if (str_unlikely(host_fd_is_ours(fd)))
		return fail(EBADF);
	do {
		uintptr_t v = fd_get(fd);

		/* one that nobody has asked about may be a Stream all the
		 * same, and there are those of which the kernel tells nobody
		 * that they close */
		if (v == FD_UNKNOWN && host_domain != NULL)
			v = fd_word_of(fd);
		if (v > FD_NOT) {
			pthread_testcancel();
			ret = fd_close(fd, &rel);
			if (rel.sd != NULL)
				fd_release_end(&rel);
			return ret != 0 ? fail(ret) : 0;
		}
	} while (!fd_forget_not(fd));
	ret = REAL(close)(fd);
	/* somebody may have asked in between, about what is closed now */
	(void)fd_forget_not(fd);
	return ret;
}

/* The greatest number worth looking at: beyond it none is open. */
static unsigned
number_limit(void)
{
	struct rlimit rl = {0, 0};

	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	/* open ones may lie above a limit that was lowered */
	return (unsigned)STR_MIN(
		       STR_MAX(rl.rlim_cur, (rlim_t)FD_LOW), (rlim_t)FD_MAX) -
	       1;
}

/* Streams in the range by the wrapper, what lies between by the kernel. */
static int
close_between(unsigned first, unsigned last, int flags)
{
	unsigned top = STR_MIN(last, number_limit());

	for (unsigned fd = first; fd <= top; fd++) {
		uintptr_t v = fd_get((int)fd);

		if (v == FD_UNKNOWN)
			continue;
		if (v != FD_NOT)
			(void)close((int)fd);
		else
			fd_put((int)fd, FD_UNKNOWN);
	}
	return REAL(close_range)(first, last, flags);
}

/* Call @fn for the parts of [first, last] without hidden descriptors. */
static int
parts(unsigned first, unsigned last, int flags,
	int (*fn)(unsigned, unsigned, int))
{
	int hidden, ret = 0;

	for (;;) {
		hidden = first <= INT_MAX ? fd_hidden_from((int)first) : -1;
		if (hidden < 0 || (unsigned)hidden > last)
			return fn(first, last, flags);
		if ((unsigned)hidden > first)
			ret = fn(first, (unsigned)hidden - 1, flags);
		if (ret != 0 || (unsigned)hidden == last)
			return ret;
		first = (unsigned)hidden + 1;
		/* once is enough */
		flags &= ~CLOSE_RANGE_UNSHARE;
	}
}

static int
mark_between(unsigned first, unsigned last, int flags)
{
	return REAL(close_range)(first, last, flags);
}

STR_EXPORT int
close_range(unsigned first, unsigned last, int flags)
{
	if (first > last ||
		(flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) != 0)
		return REAL(close_range)(first, last, flags);
	if (flags & CLOSE_RANGE_CLOEXEC)
		return parts(first, last, flags, mark_between);
	return parts(first, last, flags, close_between);
}

STR_EXPORT void
closefrom(int low)
{
	(void)close_range(low < 0 ? 0 : (unsigned)low, ~0u, 0);
}

/* ------------------------------------------------------------------- dup */

STR_EXPORT int
dup(int fd)
{
	int to = REAL(dup)(fd);

	if (to >= 0)
		fd_copy(fd, to);
	return to;
}

/* @to becomes a duplicate of @from by dup3(); @flags as there, or -1. */
static int
dup_onto(int from, int to, int flags)
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	uintptr_t v;
	int ret;

	if (str_unlikely(host_fd_is_ours(to)) && from != to &&
		sys_fcntl(from, F_GETFD, 0) >= 0)
		fd_hidden_move(to);
	if (from == to || to < 0)
		return flags < 0 ? REAL(dup2)(from, to)
				 : REAL(dup3)(from, to, flags);
	v = fd_get(to);
	if (v > FD_NOT && sys_fcntl(from, F_GETFD, 0) >= 0 &&
		(flags < 0 || (flags & ~O_CLOEXEC) == 0)) {
		fd_release_begin(to, &rel);
		fd_release_hold(&rel);
	}
	ret = flags < 0 ? REAL(dup2)(from, to) : REAL(dup3)(from, to, flags);
	if (ret >= 0)
		fd_copy(from, to);
	if (rel.sd != NULL)
		fd_release_end(&rel);
	return ret;
}

STR_EXPORT int
dup2(int from, int to)
{
	return dup_onto(from, to, -1);
}

STR_EXPORT int
dup3(int from, int to, int flags)
{
	return dup_onto(from, to, flags & INT_MAX);
}

/* ----------------------------------------------------------------- fcntl */

#define STATUS_FLAGS (O_NONBLOCK | O_ASYNC | O_APPEND | O_NOATIME)

static int
status_set(struct fd_rec *r, int fd, long arg)
{
	uint32_t want = (uint32_t)arg & STATUS_FLAGS;
	str_a32 *fflags = str_load(&r->fflags);
	uint32_t old = str_load(fflags);

	/* for holders that do not know us, and for O_ASYNC */
	if (sys_fcntl(fd, F_SETFL, (long)(want & ~(uint32_t)O_NOATIME)) ==
		-EBADF)
		return EBADF;
	while (!str_cas(fflags, old, (old & ~(uint32_t)STATUS_FLAGS) | want))
		old = str_load(fflags);
	return 0;
}

static int
fcntl_any(int fd, int cmd, long arg, int (*next)(int, int, ...))
{
	struct host_call hc;
	struct fd_rec *r;
	int ret;

	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		ret = next(fd, cmd, arg);
		if (ret >= 0)
			fd_copy(fd, ret);
		return ret;
	case F_GETFL:
	case F_SETFL:
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		break;
	default:
		return next(fd, cmd, arg);
	}
	r = fd_stream(fd);
	if (r == NULL)
		return next(fd, cmd, arg);
	if (cmd == F_GETPIPE_SZ || cmd == F_SETPIPE_SZ)
		return fail(EINVAL);
	if (fd_stale(fd, r, NULL))
		return fcntl_any(fd, cmd, arg, next);
	ret = call_begin(&hc, r, fd, 0);
	if (ret != 0)
		return fail(ret);
	if (cmd == F_SETFL)
		ret = status_set(r, fd, arg);
	host_leave();
	if (ret != 0)
		return fail(ret);
	return cmd == F_GETFL ? hc.fflags : 0;
}

STR_EXPORT int
fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return fcntl_any(fd, cmd, arg, REAL(fcntl));
}

int fcntl64(int fd, int cmd, ...);

STR_EXPORT int
fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return fcntl_any(fd, cmd, arg, REAL(fcntl64));
}

/* ----------------------------------------------------------------- stdio */

/*
 * The C library closes these descriptors by itself.  They are known before,
 * and the peer is told after, as with close().
 *
 * What takes its time in between, the wait of pclose() or the open of
 * freopen(), is not for a call that holds the Stream.  There the Stream goes
 * first, as by close(), and what the C library closes is something that
 * stands in for it.
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
		return false; /* as it was, then */
	fd_not(null);
	(void)dup_onto(null, fd, O_CLOEXEC);
	(void)close(null);
	return true;
}

static int
stream_close(FILE *f, int (*next)(FILE *))
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	int fd = f != NULL ? fileno(f) : -1;
	int ret;

	if (next == REAL(pclose))
		(void)stand_in(f, fd);
	if (fd >= 0)
		fd_release_begin(fd, &rel);
	if (rel.sd != NULL && next != REAL(pclose)) {
		(void)fflush(f); /* this may take its time */
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
	return stream_close(f, REAL(fclose));
}

STR_EXPORT int
pclose(FILE *f)
{
	return stream_close(f, REAL(pclose));
}

static FILE *
stream_reopen(const char *path, const char *mode, FILE *f,
	FILE *(*next)(const char *, const char *, FILE *))
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	int fd = f != NULL ? fileno(f) : -1;
	FILE *ret;

	/* without a path it is the same file that is opened once more: a
	 * socket's cannot be, and that takes no time */
	if (path != NULL)
		(void)stand_in(f, fd);
	if (fd >= 0)
		fd_release_begin(fd, &rel);
	if (rel.sd != NULL && path == NULL) {
		(void)fflush(f);
		fd_release_hold(&rel);
	}
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
	return stream_reopen(path, mode, f, REAL(freopen));
}

STR_EXPORT FILE *
freopen64(const char *path, const char *mode, FILE *f)
{
	return stream_reopen(path, mode, f, REAL(freopen64));
}
