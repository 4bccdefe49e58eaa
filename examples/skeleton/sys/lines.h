/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ioctl commands of the module lines: lines(7).
 */
#ifndef _SYS_LINES_H
#define _SYS_LINES_H

#define LINES_GET (('L' << 8) | 1) /* returns a struct lines_count */
#define LINES_SET (('L' << 8) | 2) /* int: both counts begin there again */

struct lines_count {
	long written, read;
};

#endif
