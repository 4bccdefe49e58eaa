/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fstat(2) and its other names: a pipe is a FIFO, a device a device.
 *
 * The kernel describes the carrier.  Its owner, inode and times are used; the
 * type of the file and its size are corrected.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "call.h"
#include "statpath.h"
#include "sys.h"

/* The file type of the Stream under @fd, and its device number. */
static mode_t
kind(int fd, uint64_t *ret_dev)
{
	struct fd_rec *r = fd_stream(fd);
	uint32_t k = r != NULL ? str_head_kind(str_load(&r->sd), ret_dev) :
		STR_KIND_PIPE;

	if (k == STR_KIND_DEV)
		return S_IFCHR | 0666;
	*ret_dev = 0;
	return S_IFIFO | 0600;
}

/* struct stat, struct stat64 and struct statx have other names for it */
#define FIFO_FIX(st) \
	do { \
		uint64_t dev_ = 0; \
\
		(st)->st_mode = kind(fd, &dev_); \
		(st)->st_rdev = (dev_t)dev_; \
		(st)->st_size = 0; \
		(st)->st_blocks = 0; \
		(st)->st_blksize = 4096; \
	} while (0)

STR_EXPORT int
fstat(int fd, struct stat *st)
{
	int ret = REAL(fstat)(fd, st);

	if (ret == 0 && S_ISSOCK(st->st_mode) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

STR_EXPORT int
fstat64(int fd, struct stat64 *st)
{
	int ret = REAL(fstat64)(fd, st);

	if (ret == 0 && S_ISSOCK(st->st_mode) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

/* What programs of before 2.33 call; the layout is that of version @ver. */
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);

STR_EXPORT int
__fxstat(int ver, int fd, struct stat *st)
{
	int ret = REAL(__fxstat)(ver, fd, st);

	if (ret == 0 && S_ISSOCK(st->st_mode) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

STR_EXPORT int
__fxstat64(int ver, int fd, struct stat64 *st)
{
	int ret = REAL(__fxstat64)(ver, fd, st);

	if (ret == 0 && S_ISSOCK(st->st_mode) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

/*
 * New kernels take NULL too.  The header says that it is never NULL, and the
 * compiler believes that of all but a volatile copy.
 */
static bool
path_empty(const char *path)
{
	const char *volatile p = path;
	const char *q = p;

	return q == NULL || q[0] == '\0';
}

/* With AT_EMPTY_PATH and a path that is empty, @fd itself is meant. */
STR_EXPORT int
fstatat(int fd, const char *path, struct stat *st, int flags)
{
	int ret = REAL(fstatat)(fd, path, st, flags);

	if (ret != 0)
		return stat_failed(path, st);
	if ((flags & AT_EMPTY_PATH) && S_ISSOCK(st->st_mode) &&
		path_empty(path) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

STR_EXPORT int
fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	int ret = REAL(fstatat64)(fd, path, st, flags);

	if (ret != 0)
		return stat_failed(path, st);
	if ((flags & AT_EMPTY_PATH) && S_ISSOCK(st->st_mode) &&
		path_empty(path) && fd_stream(fd) != NULL)
		FIFO_FIX(st);
	return ret;
}

static int
statx_failed(const char *path, struct statx *st)
{
	uint64_t dev;
	mode_t mode = stat_device(path, &dev);

	if (mode == 0)
		return -1;
	/* a bad address is EFAULT */
	if (REAL(statx)(AT_FDCWD, "/", 0, STATX_TYPE, st) != 0)
		return -1;
	*st = (struct statx){.stx_mask = STATX_TYPE | STATX_MODE,
		.stx_mode = (uint16_t)mode, .stx_nlink = 1,
		.stx_blksize = 4096};
	st->stx_rdev_major = dev != 0 ? major((dev_t)dev) : 0;
	st->stx_rdev_minor = dev != 0 ? minor((dev_t)dev) : 0;
	return 0;
}

STR_EXPORT int
statx(int fd, const char *path, int flags, unsigned mask, struct statx *st)
{
	int ret = REAL(statx)(fd, path, flags, mask, st);
	uint64_t dev;

	if (ret != 0)
		return statx_failed(path, st);
	if (!(flags & AT_EMPTY_PATH) || !path_empty(path) ||
		!S_ISSOCK(st->stx_mode) || fd_stream(fd) == NULL)
		return ret;
	dev = 0;
	st->stx_mode = (uint16_t)kind(fd, &dev);
	st->stx_rdev_major = dev != 0 ? major((dev_t)dev) : 0;
	st->stx_rdev_minor = dev != 0 ? minor((dev_t)dev) : 0;
	st->stx_size = st->stx_blocks = 0;
	st->stx_blksize = 4096;
	return ret;
}
