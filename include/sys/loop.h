/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/loop.h> - commands of the loop driver
 *
 * LOOP_SET (dev_t, a device of the driver) connects the stream on which it is
 * sent with that device's stream: data written to one is read from the other.
 * I_STR or plain.
 *
 * The driver also accepts the commands of <sys/LiS/loop.h>.  They are other
 * numbers, some with the same names, so a program includes only one of the two
 * headers.
 */
#ifndef _SYS_LOOP_H
#define _SYS_LOOP_H

#include <sys/types.h>

#define LOOP_SET (('1' << 8) | 1)

#endif /* _SYS_LOOP_H */
