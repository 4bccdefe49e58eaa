/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * All calls that free, take or copy a descriptor's number.
 *
 * Calls that close skip the host's hidden descriptors; if a call takes the
 * number of a hidden descriptor, that descriptor moves to another number.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "call.h"
#include "close.h"
#include "sys.h"

/* ----------------------------------------------------------------- close */

/*
 * Close @fd if it is a Stream or an epoll instance with Streams.  Return:
 * false: it is not, and the kernel can close it.
 */
static bool
close_known(int fd, bool may_cancel, int *ret)
{
	struct fd_release rel;
	int err;

	do {
		uintptr_t v = fd_get(fd);

		/* an unknown number may be a Stream too, and for some Streams
		 * the kernel does not report a close */
		if (v == FD_UNKNOWN && host_domain != NULL)
			v = fd_word_of(fd);
		if (v > FD_NOT) {
			if (may_cancel)
				pthread_testcancel();
			err = fd_close(fd, &rel);
			if (rel.sd != NULL)
				fd_release_end(&rel);
			*ret = err != 0 ? fail(err) : 0;
			return true;
		}
	} while (!fd_forget_not(fd));
	return false;
}

bool
close_stream(int fd, int *ret)
{
	return close_known(fd, false, ret);
}

STR_EXPORT int
close(int fd)
{
	int ret;

	if (str_unlikely(host_fd_is_ours(fd) || plain_is_hidden(fd)))
		return fail(EBADF);
	if (close_known(fd, true, &ret))
		return ret;
	ret = REAL(close)(fd);
	/* a thread may have entered the closed file in the table meanwhile */
	(void)fd_forget_not(fd);
	return ret;
}

/* The greatest number that close_between() checks. */
static unsigned
number_limit(void)
{
	struct rlimit rl = {0, 0};

	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	/* descriptors above the limit may be open, if the limit was lowered:
	 * check at least the numbers below FD_LOW */
	return (unsigned)STR_MIN(
		       STR_MAX(rl.rlim_cur, (rlim_t)FD_LOW), (rlim_t)FD_MAX) -
	       1;
}

/*
 * Close Streams in the range by the wrapper, the numbers between by the kernel.
 */
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

int
dup_onto(int from, int to, int flags)
{
	struct fd_release rel = {.sd = NULL, .peer = -1};
	uintptr_t v;
	int ret;

	if (str_unlikely(host_fd_is_ours(to) || plain_is_hidden(to)) &&
		from != to &&
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

#define STATUS_FLAGS \
	((uint32_t)(O_NONBLOCK | O_ASYNC | O_APPEND | O_NOATIME))

/* Set the flags of the carrier, for processes without this library, which use
 * it as a socket.  O_ASYNC is not set there. */
static int
carrier_flags(int fd, uint32_t want)
{
	return sys_fcntl(fd, F_SETFL,
		(long)(want & ~(uint32_t)(O_NOATIME | O_ASYNC)));
}

/*
 * The process that gets the signals of O_ASYNC.  The kernel stores it, and the
 * signal's number, with the carrier: F_SETOWN and F_SETSIG go to the kernel.
 * Return: 0: no process.
 */
static int32_t
async_owner(int fd)
{
	struct f_owner_ex own = {F_OWNER_PID, 0};

	if (sys_fcntl(fd, F_GETOWN_EX, (long)(uintptr_t)&own) != 0)
		return 0;
	return own.type == F_OWNER_PGRP ? -own.pid : own.pid;
}

static int
async_begin(struct host_call *hc, int fd)
{
	int32_t id = async_owner(fd);

	return id == 0 ? 0 : str_sig_async(hc->head, id,
		sys_fcntl(fd, F_GETSIG, 0), fd);
}

static void
async_end(struct host_call *hc, int fd)
{
	int32_t id = async_owner(fd);

	if (id != 0)
		str_sig_async_end(hc->head, id);
}

int
status_set(struct fd_rec *r, struct host_call *hc, uint32_t which,
	uint32_t want)
{
	str_a32 *fflags = str_load(&r->fflags);
	uint32_t old = str_load(fflags), now;
	int err = 0;

	which &= STATUS_FLAGS;
	now = (old & ~which) | (want & which);
	if (carrier_flags(hc->fd, (now & STATUS_FLAGS) |
		    (str_load(&r->plain) != 0 ? O_NONBLOCK : 0)) == -EBADF)
		return EBADF;
	while (!str_cas_see(fflags, &old, now))
		now = (old & ~which) | (want & which);
	if ((now & ~old & O_ASYNC) != 0)
		err = async_begin(hc, hc->fd);
	else if ((old & ~now & O_ASYNC) != 0)
		async_end(hc, hc->fd);
	if (err != 0)
		(void)str_and(fflags, ~(uint32_t)O_ASYNC);
	return err;
}

/* F_SETOWN and similar commands: change the owner of a Stream with O_ASYNC. */
static int
owner_set(struct host_call *hc, int fd, int cmd, long arg,
	int (*next)(int, int, ...))
{
	bool on = (hc->fflags & O_ASYNC) != 0;
	int ret, err;

	if (on)
		async_end(hc, fd);
	ret = next(fd, cmd, arg);
	err = errno;
	if (on)
		(void)async_begin(hc, fd);
	errno = err;
	return ret;
}

static int
fcntl_any(int fd, int cmd, long arg, int (*next)(int, int, ...))
{
	struct host_call hc;
	struct fd_rec *r;
	int ret, err = 0;

	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		ret = next(fd, cmd, arg);
		if (ret >= 0)
			fd_copy(fd, ret);
		return ret;
	case F_GETFL:
	case F_SETFL:
	case F_SETOWN:
	case F_SETOWN_EX:
	case F_SETSIG:
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		break;
	default:
		return next(fd, cmd, arg);
	}
	r = fd_stream(fd);
	if (r == NULL)
		return next(fd, cmd, arg);
	if (fd_stale(fd, r, NULL))
		return fcntl_any(fd, cmd, arg, next);
	ret = call_begin(&hc, r, fd, 0);
	if (ret != 0)
		return fail(ret);
	switch (cmd) {
	case F_GETFL:
		ret = hc.fflags;
		break;
	case F_SETFL:
		err = status_set(r, &hc, STATUS_FLAGS, (uint32_t)arg);
		break;
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		ret = (int)(cmd == F_GETPIPE_SZ ? str_head_pipe_size(hc.head) :
			str_head_pipe_resize(hc.head, &hc, (uint64_t)arg));
		err = ret < 0 ? -ret : 0;
		break;
	default:
		fd_changed(r);
		ret = owner_set(&hc, fd, cmd, arg, next);
	}
	host_leave();
	return err != 0 ? fail(err) : ret;
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
