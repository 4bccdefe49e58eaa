/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sunddi.h> - what modules for Solaris include after <sys/ddi.h>
 */
#ifndef _SYS_SUNDDI_H
#define _SYS_SUNDDI_H

#include <sys/cmn_err.h>
#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>

#define DDI_SUCCESS 0
#define DDI_FAILURE (-1)

/* There are no devices for qassociate(9F) to attach to: all is well. */
#define qassociate(q, instance) ((void)(q), (void)(instance), 0)

#endif /* _SYS_SUNDDI_H */
