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

#endif /* _SYS_LIS_CONFIG_H */
