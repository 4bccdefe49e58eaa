/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Calls that move data in other ways than read(2) and write(2).
 * The kernel's pipe carries the data from then on.
 */
#include <aio.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"

/* ------------------------------------------------- other ways of moving */

static void
moving(int fd)
{
	if (!run_on)
		return;
	if (str_unlikely(run_is_asked()))
		(void)run_answer(fd);
	run_settle_fd(fd, true, RUN_CALL);
}

NEXT_SLOT(splice);

STR_EXPORT ssize_t
splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t n,
	unsigned flags)
{
	moving(in);
	moving(out);
	return NEXT(splice)(in, in_at, out, out_at, n, flags);
}

NEXT_SLOT(tee);

STR_EXPORT ssize_t
tee(int in, int out, size_t n, unsigned flags)
{
	moving(in);
	moving(out);
	return NEXT(tee)(in, out, n, flags);
}

NEXT_SLOT(vmsplice);

STR_EXPORT ssize_t
vmsplice(int fd, const struct iovec *iov, size_t n, unsigned flags)
{
	moving(fd);
	return NEXT(vmsplice)(fd, iov, n, flags);
}

#define SENDFILE(name, type) \
	NEXT_SLOT(name); \
	STR_EXPORT ssize_t \
	name(int out, int in, type *at, size_t n) \
	{ \
		moving(in); \
		moving(out); \
		return NEXT(name)(out, in, at, n); \
	}
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

NEXT_SLOT(copy_file_range);

STR_EXPORT ssize_t
copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t n,
	unsigned flags)
{
	moving(in);
	moving(out);
	return NEXT(copy_file_range)(in, in_at, out, out_at, n, flags);
}

#define VECTOR(name) \
	NEXT_SLOT(name); \
	STR_EXPORT ssize_t \
	name(int fd, const struct iovec *iov, int n) \
	{ \
		moving(fd); \
		return NEXT(name)(fd, iov, n); \
	}
VECTOR(readv)
VECTOR(writev)

#define VECTOR_AT(name, type) \
	NEXT_SLOT(name); \
	STR_EXPORT ssize_t \
	name(int fd, const struct iovec *iov, int n, type at, int flags) \
	{ \
		moving(fd); \
		return NEXT(name)(fd, iov, n, at, flags); \
	}
VECTOR_AT(preadv2, off_t)
VECTOR_AT(pwritev2, off_t)
VECTOR_AT(preadv64v2, off64_t)
VECTOR_AT(pwritev64v2, off64_t)

#define AIO(name, type) \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(struct type *cb) \
	{ \
		moving(cb->aio_fildes); \
		return NEXT(name)(cb); \
	}
AIO(aio_read, aiocb)
AIO(aio_write, aiocb)
AIO(aio_read64, aiocb64)
AIO(aio_write64, aiocb64)

#define LIO(name, type) \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(int mode, struct type *const list[], int n, struct sigevent *ev) \
	{ \
		for (int i = 0; i < n; i++) \
			if (list[i] != NULL) \
				moving(list[i]->aio_fildes); \
		return NEXT(name)(mode, list, n, ev); \
	}
LIO(lio_listio, aiocb)
LIO(lio_listio64, aiocb64)

NEXT_SLOT(vdprintf);

STR_EXPORT int
vdprintf(int fd, const char *fmt, va_list ap)
{
	moving(fd);
	return NEXT(vdprintf)(fd, fmt, ap);
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

int __vdprintf_chk(int fd, int flag, const char *fmt, va_list ap);
int __dprintf_chk(int fd, int flag, const char *fmt, ...);
NEXT_SLOT(__vdprintf_chk);

STR_EXPORT int
__vdprintf_chk(int fd, int flag, const char *fmt, va_list ap)
{
	moving(fd);
	return NEXT(__vdprintf_chk)(fd, flag, fmt, ap);
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

NEXT_SLOT(backtrace_symbols_fd);

STR_EXPORT void
backtrace_symbols_fd(void *const *at, int n, int fd)
{
	moving(fd);
	NEXT(backtrace_symbols_fd)(at, n, fd);
}
