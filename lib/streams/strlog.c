/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strlog(3): a program's message for the STREAMS loggers.
 *
 * Life.  The log device is opened for each message and closed again: programs
 * could close or inherit a descriptor that is kept, or its number could
 * conflict with theirs.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <strlog.h>
#include <stropts.h>
#include <sys/log.h>

#include "call.h"

#define LOGDEV "/dev/strlog"

static int
submit(struct log_ctl *lc, const char *fmt, va_list ap)
{
	char text[LOGMAX];
	struct strbuf ctl = { 0, sizeof(*lc), (char *)lc };
	struct strbuf data = { 0, 0, text };
	int fd, n, err;

	n = vsnprintf(text, sizeof(text), fmt, ap);
	if (n < 0)
		return -1;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	data.len = n + 1; /* with its NUL */
	fd = open(LOGDEV, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	n = putmsg(fd, &ctl, &data, 0);
	err = errno;
	(void)close(fd);
	errno = err;
	return n;
}

STR_EXPORT int
vstrlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, va_list ap)
{
	struct log_ctl lc = { .mid = mid, .sid = sid, .level = level,
		.flags = (short)flags, .ttime = (unsigned)time(NULL) };

	return submit(&lc, fmt, ap);
}

STR_EXPORT int
strlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vstrlog(mid, sid, level, flags, fmt, ap);
	va_end(ap);
	return ret;
}

STR_EXPORT int
pstrlog(short mid, short sid, char level, unsigned short flags, int pri,
	const char *fmt, ...)
{
	struct log_ctl lc = { .mid = mid, .sid = sid, .level = level,
		.flags = (short)flags, .ttime = (unsigned)time(NULL),
		.pri = pri };
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = submit(&lc, fmt, ap);
	va_end(ap);
	return ret;
}
