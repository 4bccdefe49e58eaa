/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/mtdrv.h> - for programs written for LiS
 *
 * LiS's driver of that name tests LiS's locks.  There is no such driver here,
 * so this header defines no commands; it only includes the headers that such
 * programs use as well.
 */
#ifndef _SYS_LIS_MTDRV_H
#define _SYS_LIS_MTDRV_H

#include <stropts.h>

#endif /* _SYS_LIS_MTDRV_H */
