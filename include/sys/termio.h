/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/termio.h> - struct termio and TCGETA, after SVR4
 */
#ifndef _SYS_TERMIO_H
#define _SYS_TERMIO_H

#include <termio.h>

#endif /* _SYS_TERMIO_H */
