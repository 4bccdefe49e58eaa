/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/lislimits.h> - LiS's name for <limits.h>
 */
#ifndef _SYS_LIS_LISLIMITS_H
#define _SYS_LIS_LISLIMITS_H

#include <limits.h>
#include <sys/types.h>

#endif /* _SYS_LIS_LISLIMITS_H */
