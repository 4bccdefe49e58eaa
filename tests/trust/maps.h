/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#ifndef TRUST_MAPS_H
#define TRUST_MAPS_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t.h"

/*
 * Does a line of the file, or a link in the directory, name a domain?  By system
 * calls alone: a path that is opened by the library may be a Stream's name in
 * the new user's domain, which the process joins to find out.
 */
static bool
maps_have_domain(const char *path)
{
	static char buf[262144];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	size_t have = 0;
	long n;

	T_GE(fd, 0);
	while ((n = syscall(SYS_read, fd, buf + have,
			sizeof buf - 1 - have)) > 0)
		have += (size_t)n;
	T_EQ(n, 0);
	buf[have] = '\0';
	T_EQ(syscall(SYS_close, fd), 0);
	/* the last: the code window */
	return strstr(buf, "memfd:streams") != NULL ||
		strstr(buf, "/streams-") != NULL ||
		strncmp(buf, "69fffc", 6) == 0 ||
		strstr(buf, "\n69fffc") != NULL;
}

#endif
