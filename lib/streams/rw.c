/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * read(2), write(2) and their vectors.
 *
 * This path is optimised: one lookup in the table, a host_call on the stack,
 * the head's function.  A call on another file continues in the next definition
 * after that lookup.  A number that was not open fails here: otherwise the
 * kernel might read the carrier of a pipe that another thread has just made.
 */
#include <limits.h>

#include "call.h"
#include "cancel.h"
#include "head/fast.h"
#include "sys.h"

/* What Linux takes: IOV_MAX parts. */
#define IOV_LIMIT 1024
#define IOV_FEW   64

/* Run signals that read_tail() has left deferred, without beginning a call. */
STR_INLINE void
settle(void)
{
	if (str_unlikely(host_tls.sig_saved != 0 && host_tls.depth == 0))
		host_leave_slow();
}

/* The rare end of a call: an error, or a process polls by epoll. */
static STR_NOINLINE ssize_t
rw_failed(struct fd_rec *r, long ret, uint32_t events)
{
	settle();
	fd_again(r, ret, events);
	return fail((int)-ret);
}

/*
 * Linux checks the whole range first: one that exceeds the address space is
 * EFAULT, without a partial transfer.
 */
STR_INLINE bool
nowhere(const void *buf, size_t len)
{
	return str_unlikely(len > SSIZE_MAX || (uintptr_t)buf > SSIZE_MAX - len);
}

static STR_NOINLINE STR_WAKE_TEXT ssize_t
read_stream(struct fd_rec *r, int fd, void *buf, size_t len)
{
	struct host_call hc;
	long ret;

	pthread_testcancel();
	if (nowhere(buf, len)) {
		settle();
		return fail(EFAULT);
	}
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_head_read(hc.head, &hc, buf, len);
		host_leave();
		if (ret == 0)
			exit_look();
		if (str_likely(ret >= 0))
			return ret;
	}
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return read(fd, buf, len);
	return rw_failed(r, ret, STR_POLL_READ);
}

static STR_NOINLINE ssize_t
write_stream(struct fd_rec *r, int fd, const void *buf, size_t len)
{
	struct host_call hc;
	long ret;

	pthread_testcancel();
	if (nowhere(buf, len))
		return fail(EFAULT);
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_head_write(hc.head, &hc, buf, len);
		host_leave();
		if (str_likely(ret >= 0))
			return ret;
	}
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return write(fd, buf, len);
	return rw_failed(r, ret, STR_POLL_WRITE);
}

/* What is no Stream, or not yet known to be one. */
static STR_COLD ssize_t
read_other(int fd, void *buf, size_t len)
{
	struct fd_rec *r = fd_stream(fd);

	if (r != NULL)
		return read_stream(r, fd, buf, len);
	settle(); /* it was a Stream a moment ago */
	return fd_known(fd) ? REAL(read)(fd, buf, len) : fail(EBADF);
}

static STR_COLD ssize_t
write_other(int fd, const void *buf, size_t len)
{
	struct fd_rec *r = fd_stream(fd);

	if (r != NULL)
		return write_stream(r, fd, buf, len);
	return fd_known(fd) ? REAL(write)(fd, buf, len) : fail(EBADF);
}

/* The rest after the fast path. */
static STR_NOINLINE STR_WAKE_TEXT ssize_t
read_tail(int fd, void *buf, size_t len, struct str_head *sd, size_t done,
	enum str_fast how)
{
	long ret = str_head_read_tail(sd, fd, buf, len, done, how);
	struct fd_rec *r;

	if (str_likely(ret > 0))
		return ret;
	/* this thread may end here */
	if (str_unlikely(host_tls.sig_saved != 0 && str_load(&cancel_used) != 0))
		host_leave_slow();
	r = fd_likely_stream(fd);
	return str_likely(r != NULL) ? read_stream(r, fd, buf, len) :
				       read_other(fd, buf, len);
}

static STR_NOINLINE STR_WAKE_TEXT ssize_t
write_tail(int fd, const void *buf, size_t len, struct str_head *sd,
	enum str_fast how)
{
	long ret = str_head_write_tail(sd, fd, len, how);

	return str_likely(ret > 0) ? ret : write_other(fd, buf, len);
}

static STR_NOINLINE ssize_t
write_indirect(int fd, const void *buf, size_t len, struct str_head *sd,
	const str_a32 *id, uint32_t gen)
{
	long ret = str_head_write_indirect(sd, id, gen, fd, buf, len);

	return str_likely(ret > 0) ? ret : write_other(fd, buf, len);
}

/* All calls of these are their last, so that no register need be saved. */
STR_INLINE ssize_t
read_quick(int fd, void *buf, size_t len)
{
	struct fd_rec *r = fd_likely_stream(fd);
	enum str_fast how;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	size_t done;

	if (str_unlikely(r == NULL || !fast_ready() ||
		!fd_read(fd, r, &sd, &fflags, &gen)))
		return read_other(fd, buf, len);
	how = str_head_read_fast(sd, fflags, gen, buf, len, &done);
	if (str_likely(how == STR_FAST_DONE))
		return (ssize_t)done;
	if (how == STR_FAST_HELD)
		done = str_load(fflags);
	return read_tail(fd, buf, len, sd, done, how);
}

STR_INLINE ssize_t
write_quick(int fd, const void *buf, size_t len)
{
	struct fd_rec *r = fd_likely_stream(fd);
	enum str_fast how;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;

	if (str_unlikely(r == NULL || !fast_ready() ||
		!fd_read(fd, r, &sd, &fflags, &gen)))
		return write_other(fd, buf, len);
	how = str_head_write_fast(sd, fflags, gen, buf, len);
	if (str_likely(how == STR_FAST_DONE))
		return (ssize_t)len;
	if (how == STR_FAST_MODS)
		return write_indirect(fd, buf, len, sd, fflags, gen);
	return write_tail(fd, buf, len, sd, how);
}

/*
 * Cancellation points cost a load of one word until a thread cancels: our
 * pthread_cancel() sets it.
 */
static STR_NOINLINE ssize_t
read_cancel_point(int fd, void *buf, size_t len)
{
	pthread_testcancel();
	return read_quick(fd, buf, len);
}

static STR_NOINLINE ssize_t
write_cancel_point(int fd, const void *buf, size_t len)
{
	pthread_testcancel();
	return write_quick(fd, buf, len);
}

STR_EXPORT STR_HOT ssize_t
read(int fd, void *buf, size_t len)
{
	return str_unlikely(str_load(&cancel_used) != 0) ?
		read_cancel_point(fd, buf, len) : read_quick(fd, buf, len);
}

STR_EXPORT STR_HOT ssize_t
write(int fd, const void *buf, size_t len)
{
	return str_unlikely(str_load(&cancel_used) != 0) ?
		write_cancel_point(fd, buf, len) : write_quick(fd, buf, len);
}

ssize_t __read_chk(int fd, void *buf, size_t len, size_t room);

STR_EXPORT ssize_t
__read_chk(int fd, void *buf, size_t len, size_t room)
{
	struct fd_rec *r = fd_stream(fd);

	/* the next one knows how to complain */
	if (r == NULL || len > room)
		return REAL(__read_chk)(fd, buf, len, room);
	return read_stream(r, fd, buf, len);
}

/* --------------------------------------------------------------- vectors */

/*
 * The executive's copy of a vector: a short one is on the caller's stack, a
 * long one in the domain, where a block costs no system call.
 */
struct vector {
	struct str_iov few[IOV_FEW];
	struct str_iov *iov;
	struct str_blk *block;
};

static void
vector_free(struct vector *v)
{
	if (v->block != NULL)
		str_mem_free(v->block);
}

/* Copy the caller's vector in and check it as Linux does. */
static int
vector_get(struct vector *v, const struct iovec *iov, int n)
{
	size_t total = 0;
	int err;

	v->block = NULL;
	v->iov = v->few;
	if (n < 0 || n > IOV_LIMIT)
		return EINVAL;
	if (n > IOV_FEW) {
		v->block = str_mem_alloc(
			sizeof *v->block + (size_t)n * sizeof *v->iov,
			STR_BLK_BUF);
		if (v->block == NULL)
			return ENOMEM;
		v->iov = (struct str_iov *)(void *)(v->block + 1);
	}
	err = n == 0 ? 0 : host_copyin(iov, v->iov, (size_t)n * sizeof *v->iov);
	for (int i = 0; err == 0 && i < n; i++) {
		if (v->iov[i].len > (size_t)SSIZE_MAX)
			err = EINVAL;
		else if (v->iov[i].len > (size_t)SSIZE_MAX - total)
			err = EINVAL;
		total += v->iov[i].len;
	}
	if (err != 0)
		vector_free(v);
	return err;
}

/* The call was left in its sleep. */
static void
vector_cancelled(void *v)
{
	struct host_call hc = {.fd = -1};

	if (host_enter(&hc) != 0)
		return;
	vector_free(v);
	host_leave();
}

static long
vector_move(struct fd_rec *r, struct host_call *hc, struct vector *v, int n,
	bool out)
{
	return out ? str_head_writev(hc->head, hc, v->iov, n)
		   : str_head_readv(hc->head, hc, v->iov, n);
}

static ssize_t
rwv_stream(struct fd_rec *r, int fd, const struct iovec *iov, int n, bool out)
{
	struct host_call hc;
	struct vector v;
	long ret;
	int err;

	pthread_testcancel();
	err = call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (err != 0)
		return fail(err);
	err = vector_get(&v, iov, n);
	if (err != 0) {
		host_leave();
		return fail(err);
	}
	if (v.block == NULL) {
		ret = vector_move(r, &hc, &v, n, out);
	} else {
		pthread_cleanup_push(vector_cancelled, &v);
		ret = vector_move(r, &hc, &v, n, out);
		pthread_cleanup_pop(0);
		vector_free(&v);
	}
	host_leave();
	if (ret == 0)
		exit_look();
	if (ret >= 0)
		return ret;
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return out ? writev(fd, iov, n) : readv(fd, iov, n);
	return rw_failed(r, ret, out ? STR_POLL_WRITE : STR_POLL_READ);
}

STR_EXPORT ssize_t
readv(int fd, const struct iovec *iov, int n)
{
	struct fd_rec *r = fd_stream(fd);

	if (r == NULL)
		return REAL(readv)(fd, iov, n);
	return rwv_stream(r, fd, iov, n, false);
}

STR_EXPORT ssize_t
writev(int fd, const struct iovec *iov, int n)
{
	struct fd_rec *r = fd_stream(fd);

	if (r == NULL)
		return REAL(writev)(fd, iov, n);
	return rwv_stream(r, fd, iov, n, true);
}
