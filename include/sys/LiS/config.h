/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/config.h> - how LiS was configured
 *
 * Nothing of that is here; programs and modules for LiS compare the kernel's
 * version without including its header.
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

/* Of poll(2): that of <poll.h>, which has it with _GNU_SOURCE only. */
#ifndef POLLMSG
#define POLLMSG 0x400
#endif

typedef struct bandinfo bandinfo_t; /* <sys/stropts.h> */

#endif /* _SYS_LIS_CONFIG_H */
