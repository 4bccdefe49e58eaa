/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stat(2) and access(2) of names of devices at which there is no file.
 *
 * The kernel is asked first.  If it finds no file below /dev, the name may be
 * one that open(2) accepts (names.c): then it is a character device, or a FIFO,
 * of mode 0666, if its driver is built in or its module's file is in the path.
 * Nothing is loaded, and no domain is joined, for that; so only a built-in
 * driver has a device number before it is opened.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "call.h"
#include "modload.h"
#include "names.h"
#include "statpath.h"
#include "sys.h"

#include <str/registry.h>

/* In the C library for programs of before 2.33, and in no header. */
int __xstat(int ver, const char *path, struct stat *st);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstatat(int ver, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int ver, int dir, const char *path, struct stat64 *st,
	int flags);

static bool
has_driver(const char *drv, unsigned *ret_major)
{
	char path[512], why[NAMES_WHY];
	int fd;

	*ret_major = str_registry_builtin(drv);
	if (*ret_major != 0)
		return true;
	if (host_module_find(drv, &fd, path, sizeof path, why, sizeof why) != 0)
		return false;
	(void)sys_close(fd);
	return true;
}

mode_t
stat_device(const char *path, uint64_t *ret_dev)
{
	struct streams_name name;
	int err = errno;
	unsigned maj;
	mode_t mode = 0;

	*ret_dev = 0;
	if ((err != ENOENT && err != ENOTDIR) || strncmp(path, "/dev/", 5) != 0)
		return 0;
	if (getauxval(AT_SECURE) != 0)
		return 0; /* a set-id program opens none */
	if (streams_name_resolve(path, &name) != 0)
		name.kind = NAME_NONE;
	switch (name.kind) {
	case NAME_FIFO:
		mode = S_IFIFO | 0666;
		break;
	case NAME_PIPE:
		mode = S_IFCHR | 0666;
		break;
	case NAME_DEV:
	case NAME_CLONE:
		if (name.kind == NAME_CLONE && strcmp(name.drv, "fifo") == 0)
			mode = S_IFIFO | 0666;
		else if (has_driver(name.drv, &maj))
			mode = S_IFCHR | 0666;
		if (mode != 0 && S_ISCHR(mode) && name.kind == NAME_DEV &&
		    maj != 0)
			*ret_dev = makedev(maj, name.minor);
		break;
	default:
		break;
	}
	errno = err;
	return mode;
}

/*
 * Store the description of such a device at @st.  The address may be bad, and
 * without a domain only the kernel detects that: so it writes there first.
 */
static int
stat_put(struct stat *st, mode_t mode, uint64_t dev)
{
	if (sys_call4(SYS_newfstatat, AT_FDCWD, "/", st, 0) != 0)
		return fail(EFAULT);
	memset(st, 0, sizeof *st);
	st->st_mode = mode;
	st->st_nlink = 1;
	st->st_uid = geteuid();
	st->st_gid = getegid();
	st->st_rdev = (dev_t)dev;
	st->st_blksize = 4096;
	return 0;
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
	"one layout, two names");

int
stat_failed(const char *path, void *user)
{
	uint64_t dev;
	mode_t mode = stat_device(path, &dev);

	return mode == 0 ? -1 : stat_put(user, mode, dev);
}

#define STAT(name, params, args, st) \
	STR_EXPORT int \
	name params \
	{ \
		int ret = REAL(name) args; \
\
		return str_likely(ret == 0) ? 0 : stat_failed(path, st); \
	}

STAT(stat, (const char *path, struct stat *st), (path, st), st)
STAT(stat64, (const char *path, struct stat64 *st), (path, st), st)
STAT(lstat, (const char *path, struct stat *st), (path, st), st)
STAT(lstat64, (const char *path, struct stat64 *st), (path, st), st)
STAT(__xstat, (int ver, const char *path, struct stat *st), (ver, path, st),
	st)
STAT(__xstat64, (int ver, const char *path, struct stat64 *st),
	(ver, path, st), st)
STAT(__lxstat, (int ver, const char *path, struct stat *st), (ver, path, st),
	st)
STAT(__lxstat64, (int ver, const char *path, struct stat64 *st),
	(ver, path, st), st)
STAT(__fxstatat, (int ver, int dir, const char *path, struct stat *st,
	int flags), (ver, dir, path, st, flags), st)
STAT(__fxstatat64, (int ver, int dir, const char *path, struct stat64 *st,
	int flags), (ver, dir, path, st, flags), st)

/* ------------------------------------------------------------------ access */

static int
access_failed(const char *path, int mode)
{
	uint64_t dev;

	if (stat_device(path, &dev) == 0)
		return -1;
	return (mode & X_OK) != 0 ? fail(EACCES) : 0;
}

#define ACCESS(name, params, args) \
	STR_EXPORT int \
	name params \
	{ \
		int ret = REAL(name) args; \
\
		return str_likely(ret == 0) ? 0 : access_failed(path, mode); \
	}

ACCESS(access, (const char *path, int mode), (path, mode))
ACCESS(eaccess, (const char *path, int mode), (path, mode))
ACCESS(euidaccess, (const char *path, int mode), (path, mode))
ACCESS(faccessat, (int dir, const char *path, int mode, int flags),
	(dir, path, mode, flags))
