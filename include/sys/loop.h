/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/loop.h> - commands of the loop driver
 *
 * LOOP_SET (dev_t, a device of the driver) connects the stream it is given
 * on with that device's stream: what is written to one is read from the
 * other.  I_STR or plain.
 *
 * The driver also knows the commands of <sys/LiS/loop.h>; they are other
 * numbers under partly the same names, so a program includes one of the two.
 */
#ifndef _SYS_LOOP_H
#define _SYS_LOOP_H

#define LOOP_SET (('1' << 8) | 1)

#endif /* _SYS_LOOP_H */
