/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/linuxio.h> - open() and ioctl() for LiS programs
 *
 * Also under the names that LiS gives them in programs that may be linked with
 * it.
 */
#ifndef _SYS_LIS_LINUXIO_H
#define _SYS_LIS_LINUXIO_H

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <stropts.h>

#include <sys/LiS/config.h>

#define user_open open
#define user_close close
#define user_read read
#define user_write write
#define user_ioctl ioctl
#define user_poll poll
#define user_getmsg getmsg
#define user_getpmsg getpmsg
#define user_putmsg putmsg
#define user_putpmsg putpmsg
#define user_mknod mknod
#define user_unlink unlink
#define user_fattach fattach
#define user_fdetach fdetach

#endif /* _SYS_LIS_LINUXIO_H */
