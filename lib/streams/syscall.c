/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * syscall(2), of which one number is ours: io_uring_setup.
 *
 * libuv from 1.45 on makes its calls of epoll_ctl through a ring when it can, and
 * waits by epoll_pwait.  The library then knows nothing of the descriptors in the
 * instance, and the program gets tokens of Streams as if they were data.  Where
 * there is no ring libuv calls epoll_ctl.  liburing makes its system calls by
 * itself and is not affected.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"

#undef syscall

STR_EXPORT long
syscall(long number, ...)
{
	long a[6];
	va_list ap;

	if (number == SYS_io_uring_setup) {
		errno = ENOSYS;
		return -1;
	}
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
