/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <fcntl.h>
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
