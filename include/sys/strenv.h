/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strenv.h> - what modules for HP-UX include for the DDI
 */
#ifndef _SYS_STRENV_H
#define _SYS_STRENV_H

#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/cmn_err.h>
#include <sys/conf.h>

/* How kmem_alloc(9) is asked there. */
#define M_WAITOK KM_SLEEP
#define M_NOWAIT KM_NOSLEEP
#define M_WAIT KM_SLEEP

#endif /* _SYS_STRENV_H */
