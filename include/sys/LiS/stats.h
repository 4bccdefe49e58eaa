/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/stats.h> - counters, for programs written for LiS
 *
 * The counters of a module are its module_stat(9); read them with the module
 * sc.
 */
#ifndef _SYS_LIS_STATS_H
#define _SYS_LIS_STATS_H

#include <sys/sc.h>

#endif /* _SYS_LIS_STATS_H */
