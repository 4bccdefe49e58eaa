/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/conf.h> - where SVR4 and Solaris have fmodsw, cdevsw and FMNAMESZ
 */
#ifndef _SYS_CONF_H
#define _SYS_CONF_H

#include <sys/strconf.h>

#endif /* _SYS_CONF_H */
