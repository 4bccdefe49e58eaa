/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Where foreign modules are looked for, and whose are taken.
 *
 * Module NAME is the file NAME.so in a directory of the module path: the
 * absolute directories of STREAMS_MODULE_PATH, or the one that was chosen
 * when the library was built.
 *
 * Trust.  Its code will run in every process of the domain.  So it must be
 * impossible that anybody but the user or the system has put it there: the
 * file and every directory on the way to it belong to one of them, and nobody
 * else may write them; except that in a directory with the sticky bit others
 * may make files of their own, since they cannot touch ours.  The way is
 * followed by descriptors, from the root, without symbolic links, so that
 * what was checked is what is opened; links in the path are resolved before.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "modload.h"

#ifndef HOST_MODULE_DIR
#define HOST_MODULE_DIR "/usr/local/lib/fast-streams/modules"
#endif

#define PATH_ROOM 512

struct search {
	char dir[PATH_ROOM];	/* without symbolic links */
	char *why;
	size_t len;
};

static int STR_PRINTF(2, 3)
refuse(struct search *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->why, s->len, fmt, ap);
	va_end(ap);
	return EACCES;
}

/* May others have changed what @fd stands for?  @what: its name. */
static int
check(struct search *s, int fd, const char *what)
{
	struct stat st;

	if (host_domain_stat(fd, &st) != 0)
		return refuse(s, "%s cannot be looked at", what);
	if (st.st_uid != 0 && !host_uid_mine(st.st_uid))
		return refuse(s, "%s belongs to user %u", what,
			(unsigned)st.st_uid);
	if ((st.st_mode & 022) != 0 &&
	    !(S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0))
		return refuse(s, "%s can be written by others", what);
	return 0;
}

/* The name of directory @dir without links in it; -1: there is none. */
static int
resolve(const char *dir, char out[PATH_ROOM])
{
	char self[40];
	long n;
	int fd = sys_openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC,
		0);

	if (fd < 0)
		return -1;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	n = sys_call4(SYS_readlinkat, AT_FDCWD, self, out, PATH_ROOM - 1);
	(void)sys_close(fd);
	if (n <= 0 || n >= PATH_ROOM - 1 || out[0] != '/')
		return -1;
	out[n] = '\0';
	return 0;
}

/* Go down to s->dir; the descriptor is of the last directory. */
static int
walk(struct search *s, int *ret_fd)
{
	char *at = s->dir + 1, *end;
	int fd, next, err;

	fd = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return refuse(s, "/ cannot be opened");
	err = check(s, fd, "/");
	while (err == 0 && *at != '\0') {
		end = strchrnul(at, '/');
		if (*end == '/')
			*end = '\0';
		else
			end = NULL;
		next = sys_openat(fd, at,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		(void)sys_close(fd);
		if (next < 0)
			return refuse(s, "%s cannot be opened: %s", s->dir,
				strerror(-next));
		fd = next;
		err = check(s, fd, s->dir);
		if (end == NULL)
			break;
		*end = '/';
		at = end + 1;
	}
	if (err != 0) {
		(void)sys_close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

static int
open_in(struct search *s, const char *file, int *ret_fd)
{
	struct stat st;
	int dir = -1, fd, err;

	err = walk(s, &dir);
	if (err != 0)
		return err;
	fd = sys_openat(dir, file,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	(void)sys_close(dir);
	if (fd == -ENOENT)
		return ENOENT;
	if (fd == -ELOOP)
		return refuse(s, "it is a symbolic link");
	if (fd < 0)
		return refuse(s, "%s", strerror(-fd));
	err = check(s, fd, "it");
	if (err == 0 && (host_domain_stat(fd, &st) != 0 ||
			!S_ISREG(st.st_mode)))
		err = refuse(s, "it is not a file");
	if (err != 0)
		(void)sys_close(fd);
	else
		*ret_fd = fd;
	return err;
}

/* In one directory of the path. */
static int
find_in(struct search *s, const char *dir, const char *file, int *ret_fd,
	char *path, size_t size)
{
	struct stat st;

	if ((size_t)snprintf(path, size, "%s/%s", dir, file) >= size ||
	    sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		    AT_SYMLINK_NOFOLLOW) != 0)
		return ENOENT;
	if (dir[0] != '/')
		return refuse(s, "its directory is not an absolute path");
	if (resolve(dir, s->dir) != 0)
		return refuse(s, "%s cannot be resolved", dir);
	return open_in(s, file, ret_fd);
}

int
host_module_find(const char *name, int *ret_fd, char *path, size_t size,
	char *why, size_t len)
{
	const char *list = getenv("STREAMS_MODULE_PATH"), *end;
	struct search s = {.why = why, .len = len};
	char dir[PATH_ROOM], file[32];
	int err = ENOENT;

	if (list == NULL || list[0] == '\0')
		list = HOST_MODULE_DIR;
	snprintf(file, sizeof file, "%.24s.so", name);
	for (;; list = end + 1) {
		end = strchrnul(list, ':');
		if (end != list && (size_t)(end - list) < sizeof dir) {
			memcpy(dir, list, (size_t)(end - list));
			dir[end - list] = '\0';
			err = find_in(&s, dir, file, ret_fd, path, size);
		}
		if (err != ENOENT || *end == '\0')
			return err;
	}
}
