/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sad.h> - the STREAMS administrative driver, see <sys/sad.h>
 */
#ifndef _SAD_H
#define _SAD_H

#include <sys/sad.h>

#endif /* _SAD_H */
