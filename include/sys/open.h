/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/open.h> - kinds of opens, for drivers for SVR4 and Solaris
 *
 * The open of a stream does not pass one to its driver.
 */
#ifndef _SYS_OPEN_H
#define _SYS_OPEN_H

#include <sys/types.h>

#define OTYP_BLK 0
#define OTYP_MNT 1
#define OTYP_CHR 2
#define OTYP_SWP 3
#define OTYP_LYR 4
#define OTYPCNT 5

#endif /* _SYS_OPEN_H */
