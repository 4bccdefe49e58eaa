/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/tpi.h> - <sys/tihdr.h> under its other name
 */
#ifndef _SYS_TPI_H
#define _SYS_TPI_H

#include <sys/tihdr.h>

#endif /* _SYS_TPI_H */
