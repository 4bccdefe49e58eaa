/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/module.h> - the first header of modules for LiS
 */
#ifndef _SYS_LIS_MODULE_H
#define _SYS_LIS_MODULE_H

#include <sys/LiS/strport.h>

#endif /* _SYS_LIS_MODULE_H */
