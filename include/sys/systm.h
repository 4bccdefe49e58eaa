/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/systm.h> - bcopy, splstr and timeout for old sources
 */
#ifndef _SYS_SYSTM_H
#define _SYS_SYSTM_H

#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/sunddi.h> /* text */

#endif /* _SYS_SYSTM_H */
