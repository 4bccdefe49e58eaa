/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/stats.h> - counters, for programs written for LiS
 *
 * What a module counts is its module_stat(9), read through the sc module.
 */
#ifndef _SYS_LIS_STATS_H
#define _SYS_LIS_STATS_H

#include <sys/sc.h>

#endif /* _SYS_LIS_STATS_H */
