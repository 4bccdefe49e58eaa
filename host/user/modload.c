/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Search for foreign modules, and check of their owner.
 *
 * Module NAME is the file NAME.so in a directory of the module path: the
 * absolute directories of STREAMS_MODULE_PATH, or the built-in one.
 *
 * Trust.  Its code will run in every process of the domain.  So no other user
 * may have put the file there: trust.c.
 */
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
	unsigned how; /* HOST_TRUST_* */
	char *why;
	size_t len;
};

/* Search one directory of the path. */
static int
find_in(struct search *s, const char *dir, const char *file, int *ret_fd,
	char *path, size_t size)
{
	struct stat st;
	int err;

	if ((size_t)snprintf(path, size, "%s/%s", dir, file) >= size ||
	    sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		    AT_SYMLINK_NOFOLLOW) != 0)
		return ENOENT;
	err = host_trust_open(path, s->how, ret_fd, s->why, s->len);
	return err == 0 || err == ENOENT ? err : EACCES;
}

int
host_module_find(const char *name, int *ret_fd, char *path, size_t size,
	char *why, size_t len)
{
	const char *list = getenv("STREAMS_MODULE_PATH"), *end;
	struct search s = {HOST_TRUST_CHOSEN, why, len};
	char dir[PATH_ROOM], file[32];
	int err = ENOENT;

	if (list == NULL || list[0] == '\0') {
		list = HOST_MODULE_DIR;
		s.how = 0;
	}
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
