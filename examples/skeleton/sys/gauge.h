/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ioctl command of the driver gauge: gauge(4).
 */
#ifndef _SYS_GAUGE_H
#define _SYS_GAUGE_H

#define GAUGE_GET (('G' << 8) | 1) /* returns a long: bytes so far */

#endif
