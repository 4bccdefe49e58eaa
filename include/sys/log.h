/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/log.h> - the log driver, log(4)
 *
 * Priorities have the values of <syslog.h>.  A program that needs the name
 * LOG_ERR includes <syslog.h>.
 */
#ifndef _SYS_LOG_H
#define _SYS_LOG_H

#include <sys/strlog.h>

#define LOGMAX 1024	/* most bytes of one message */
#define NLOGARGS 20	/* most arguments of strlog(9) */

#endif /* _SYS_LOG_H */
