/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/mkdev.h> - where SVR4 has major(), minor() and makedev()
 */
#ifndef _SYS_MKDEV_H
#define _SYS_MKDEV_H

#include <sys/sysmacros.h>

#endif /* _SYS_MKDEV_H */
