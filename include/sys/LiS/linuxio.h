/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/linuxio.h> - where programs for LiS find open() and ioctl()
 */
#ifndef _SYS_LIS_LINUXIO_H
#define _SYS_LIS_LINUXIO_H

#include <fcntl.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stropts.h>

#endif /* _SYS_LIS_LINUXIO_H */
