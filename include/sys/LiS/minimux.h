/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/minimux.h> - commands of the minimux driver
 *
 * With I_STR; the argument is an int, the number that I_LINK or I_PLINK
 * returned.  See minimux(4).
 */
#ifndef _SYS_LIS_MINIMUX_H
#define _SYS_LIS_MINIMUX_H

#include <sys/types.h>

#define MINIMUX_IOCTL(n) (('m' << 8) | (n))

#define MINIMUX_DOWN MINIMUX_IOCTL(1) /* this stream sends to that lower */
#define MINIMUX_UP MINIMUX_IOCTL(2)   /* that lower sends to this stream */

#endif /* _SYS_LIS_MINIMUX_H */
