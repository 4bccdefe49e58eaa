/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/filio.h> - file ioctls, after BSD and System V
 *
 * FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX, FIOSETOWN and FIOGETOWN have
 * Linux's values.
 */
#ifndef _SYS_FILIO_H
#define _SYS_FILIO_H

#include <sys/ioctl.h>

#endif /* _SYS_FILIO_H */
