/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strenv.h> - the DDI for modules for HP-UX
 */
#ifndef _SYS_STRENV_H
#define _SYS_STRENV_H

#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/cmn_err.h>
#include <sys/conf.h>
#include <sys/sleep.h>

/* HP-UX's flags for kmem_alloc(9). */
#define M_WAITOK KM_SLEEP
#define M_NOWAIT KM_NOSLEEP
#define M_WAIT KM_SLEEP

/* HP-UX's sleep functions: see <sys/sleep.h>. */
#if defined(_KERNEL) && !defined(__cplusplus)
#undef _STR_SLEEP2
#define _STR_SLEEP2(event, pri) \
	streams_mpsleep((void *)(event), (pri), (caddr_t)0, 0, (void *)0, 0)
#define get_sleep_lock(event) streams_get_sleep_lock((void *)(event))
#endif

#endif /* _SYS_STRENV_H */
