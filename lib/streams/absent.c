/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Paths that have no file.
 *
 * The kernel's file has precedence over a device of ours, so each open of one
 * finds out first that there is no file.  In a file system of devices the kernel
 * does not remember that, and searches again each time: 1.3 us.  Therefore a
 * path without a file is remembered together with the state of its directory:
 * no file has been added while that is unchanged, and to read it takes a third
 * of the time.
 *
 * State.  Device, inode and ctime; not the mtime, which the owner of a
 * directory can set back, as tar and rsync do.  The kernel's clock for times of
 * files advances in steps, so a directory that was changed within the last
 * SETTLED could be changed again without a new time: nothing is remembered
 * then.
 *
 * Locks.  None: a path and a state are one word, a hash of both.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "names.h"
#include "sys.h"
#include "user_impl.h"

#define DIR_MAX 64u
#define PLACES 16u
#define SETTLED 100000000ll /* ns */

static str_a64 absent[PLACES]; /* [A] 0: unused */

static int
stat_at(const char *path, struct stat *st, int flags)
{
	return (int)sys_call4(SYS_newfstatat, AT_FDCWD, path, st, flags);
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t
path_hash(const char *path)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *path != '\0'; path++)
		h = mix(h, (unsigned char)*path);
	return h;
}

/* The directory of @path, which is absolute; false: its name is too long. */
static bool
directory_of(const char *path, char dir[DIR_MAX])
{
	size_t n = (size_t)(strrchr(path, '/') - path);

	if (n == 0 || n >= DIR_MAX)
		return false;
	memcpy(dir, path, n);
	dir[n] = '\0';
	return true;
}

static bool
is_settled(const struct stat *st)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (now.tv_sec - st->st_ctim.tv_sec) * 1000000000ll +
		(now.tv_nsec - st->st_ctim.tv_nsec) > SETTLED;
}

bool
names_absent(const char *path)
{
	uint64_t h = path_hash(path), key = 0;
	str_a64 *place = &absent[h % PLACES];
	char dir[DIR_MAX];
	struct stat st, file;
	bool known = directory_of(path, dir) && stat_at(dir, &st, 0) == 0;

	if (known) {
		key = mix(mix(h, st.st_dev), st.st_ino);
		key = mix(key, (uint64_t)st.st_ctim.tv_sec);
		key = mix(key, (uint64_t)st.st_ctim.tv_nsec) | 1;
		if (str_load(place) == key)
			return true;
	}
	if (stat_at(path, &file, AT_SYMLINK_NOFOLLOW) != -ENOENT)
		return false;
	if (known && is_settled(&st))
		str_store(place, key);
	return true;
}
