/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/mtdrv.h> - for programs written for LiS
 *
 * LiS's driver of that name tests its own locks.  There is none here, so
 * this header brings what such programs use beside it and no commands.
 */
#ifndef _SYS_LIS_MTDRV_H
#define _SYS_LIS_MTDRV_H

#include <stropts.h>

#endif /* _SYS_LIS_MTDRV_H */
