/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/debug.h> - ASSERT, for modules and drivers compiled with DEBUG
 */
#ifndef _SYS_DEBUG_H
#define _SYS_DEBUG_H

#include <sys/cmn_err.h>

#ifdef DEBUG
#define ASSERT(ex)							\
	((ex) ? (void)0 :						\
		cmn_err(CE_PANIC, "%s, line %d: %s", __FILE__, __LINE__, #ex))
#else
#define ASSERT(ex) ((void)0)
#endif

#endif /* _SYS_DEBUG_H */
