/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/osif.h> - where drivers for LiS have a kernel's functions
 *
 * Those of them that are here: see <sys/LiS/strport.h>.
 */
#ifndef _SYS_OSIF_H
#define _SYS_OSIF_H

#include <sys/LiS/strport.h>

#endif /* _SYS_OSIF_H */
