/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <ticots.h> - <sys/ticots.h> under System V's name
 */
#ifndef _TICOTS_H
#define _TICOTS_H

#include <sys/ticots.h>

#endif /* _TICOTS_H */
