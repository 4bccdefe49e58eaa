/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/config.h> - how LiS was configured
 *
 * This header has no configuration.  It defines the macros that programs and
 * modules for LiS use to compare the kernel's version.
 */
#ifndef _SYS_LIS_CONFIG_H
#define _SYS_LIS_CONFIG_H

#ifndef __STR_CORE__
#include <linux/version.h>
#endif
#ifndef KERNEL_VERSION
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 0, 0)
#endif

/* The POLLMSG of <poll.h>, which defines it with _GNU_SOURCE only. */
#ifndef POLLMSG
#define POLLMSG 0x400
#endif

typedef struct bandinfo bandinfo_t; /* <sys/stropts.h> */

#endif /* _SYS_LIS_CONFIG_H */
