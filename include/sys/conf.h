/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/conf.h> - where SVR4 and Solaris have fmodsw, cdevsw and FMNAMESZ
 */
#ifndef _SYS_CONF_H
#define _SYS_CONF_H

#include <sys/strconf.h>

/* Of drivers that are no STREAMS drivers, or of a kernel's own matters. */
#ifndef D_64BIT
#define D_64BIT 0
#define D_U64BIT 0
#define D_HOTPLUG 0
#define D_TAPE 0
#endif

#endif /* _SYS_CONF_H */
