/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strport.h> - <sys/LiS/strport.h>, in modules
 *
 * In programs for LiS it is empty.
 */
#ifndef _SYS_STRPORT_H
#define _SYS_STRPORT_H

#ifdef _KERNEL
#include <sys/LiS/strport.h>
#else
#include <sys/stropts.h>
#endif

#endif /* _SYS_STRPORT_H */
