/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/mux.h> - commands of the mux driver
 *
 * The argument is an int, the number that I_LINK or I_PLINK returned.  I_STR
 * or plain.  See mux(4).
 */
#ifndef _SYS_MUX_H
#define _SYS_MUX_H

#include <sys/types.h>

#define MUX_UP 1   /* that lower stream sends to this stream */
#define MUX_DOWN 2 /* this stream sends to that lower stream */

#endif /* _SYS_MUX_H */
