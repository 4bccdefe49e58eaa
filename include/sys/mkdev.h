/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/mkdev.h> - major(), minor() and makedev(), after SVR4
 */
#ifndef _SYS_MKDEV_H
#define _SYS_MKDEV_H

#include <sys/sysmacros.h>

#endif /* _SYS_MKDEV_H */
