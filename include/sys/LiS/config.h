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

#if !defined(__STR_CORE__) && defined(__GNUC__)
#if __has_include(<linux/version.h>)
#include <linux/version.h>
#endif
#endif

#endif /* _SYS_LIS_CONFIG_H */
