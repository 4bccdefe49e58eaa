/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What the modules and drivers of this folder agree on with their users. */
#ifndef PLAIN_H
#define PLAIN_H

/* serial: every message written gets the next number, an int, in front. */
#define SERIAL_WHERE (('S' << 8) | 1)  /* I_STR: void *, its q_ptr */
#define SERIAL_STARVE (('S' << 8) | 2) /* I_STR: int, allocb()s to fail */
#define SERIAL_HANG (('S' << 8) | 3)   /* I_STR: never leaves the module */
#define SERIAL_HUNG (('S' << 8) | 4)   /* I_STR: int *, counts who does that */

/* batch: what is written in a while comes as one message. */
#define BATCH_TICKS 3

/* metro: a driver that sends an int per tick, 1, 2, 3 ...  Clone or minor. */
#define NMETRO 32
#define METRO_START (('M' << 8) | 1) /* I_STR: int, ticks between two */
#define METRO_STOP (('M' << 8) | 2)
#define METRO_WHERE (('M' << 8) | 3) /* I_STR: void *, its q_ptr */

/* xover: minors 2n and 2n+1 are connected crosswise. */
#define NXOVER 16
#define XOVER_HOLD (('X' << 8) | 1) /* I_STR: int, ms to stay inside */
#define XOVER_HELD (('X' << 8) | 2) /* I_STR: int *, counts who does that */

#endif
