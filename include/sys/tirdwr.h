/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/tirdwr.h> - empty; sources for Solaris include it
 */
#ifndef _SYS_TIRDWR_H
#define _SYS_TIRDWR_H

#include <sys/stream.h>

#endif /* _SYS_TIRDWR_H */
