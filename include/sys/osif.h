/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/osif.h> - kernel functions for LiS drivers
 *
 * See <sys/LiS/strport.h> for the functions that exist here.
 */
#ifndef _SYS_OSIF_H
#define _SYS_OSIF_H

#include <sys/LiS/strport.h>

#endif /* _SYS_OSIF_H */
