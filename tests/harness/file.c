/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t.h"

size_t
t_file(const char *path, char *buf, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	size_t have = 0;
	long n;

	while (fd >= 0 && (n = syscall(SYS_read, fd, buf + have,
			size - 1 - have)) > 0)
		have += (size_t)n;
	buf[have] = '\0';
	if (fd >= 0)
		(void)syscall(SYS_close, fd);
	return have;
}

static char doomed[256];

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void
remove_doomed(void)
{
	(void)nftw(doomed, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
t_remove_at_end(const char *path)
{
	snprintf(doomed, sizeof(doomed), "%s", path);
	t_at_end(remove_doomed);
}
