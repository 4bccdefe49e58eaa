/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/filio.h> - where BSD and System V have FIONREAD and its like
 *
 * FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX, FIOSETOWN and FIOGETOWN are
 * Linux's.
 */
#ifndef _SYS_FILIO_H
#define _SYS_FILIO_H

#include <sys/ioctl.h>

#endif /* _SYS_FILIO_H */
