/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <strlog.h> - messages for the STREAMS loggers, from programs
 *
 * A module or driver uses strlog(9) of <sys/ddi.h> instead.
 */
#ifndef _STRLOG_H
#define _STRLOG_H

#include <stdarg.h>

#include <sys/strlog.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define _STRLOG_PRINTF(f, a) __attribute__((__format__(__printf__, f, a)))
#else
#define _STRLOG_PRINTF(f, a)
#endif

/**
 * strlog - submit a message to the STREAMS log driver
 * @mid:   identifies the program or module
 * @sid:   part of it
 * @level: detail; tracers ask for messages up to a level
 * @flags: SL_ERROR, SL_TRACE, SL_NOTIFY, SL_CONSOLE, SL_FATAL, SL_WARN,
 *         SL_NOTE
 * @fmt:   as printf(3); longer texts than LOGMAX bytes are cut
 *
 * vstrlog() takes its arguments from a va_list; pstrlog() sets the priority
 * too, a facility and level of <syslog.h>.
 *
 * Return: 0, or -1 with errno from open(2) of /dev/strlog or from putmsg(2).
 * See strlog(3), log(4).
 */
extern int strlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, ...) _STRLOG_PRINTF(5, 6);
extern int vstrlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, va_list ap) _STRLOG_PRINTF(5, 0);
extern int pstrlog(short mid, short sid, char level, unsigned short flags,
	int pri, const char *fmt, ...) _STRLOG_PRINTF(6, 7);

#ifdef __cplusplus
}
#endif

#endif /* _STRLOG_H */
