/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/dki.h> - some drivers for LiS include this instead of <sys/ddi.h>
 */
#ifndef _SYS_DKI_H
#define _SYS_DKI_H

#include <sys/cmn_err.h>
#include <sys/kmem.h>
#include <sys/ddi.h>

#endif /* _SYS_DKI_H */
