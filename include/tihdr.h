/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <tihdr.h> - <sys/tihdr.h> under its other name
 */
#ifndef _TIHDR_H
#define _TIHDR_H

#include <sys/tihdr.h>

#endif /* _TIHDR_H */
