/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/isa_defs.h> - properties of the machine, after Solaris
 *
 * One of _LITTLE_ENDIAN and _BIG_ENDIAN, defined without a value; the order of
 * bit-fields; _LP64; and the alignment of the types.
 */
#ifndef _SYS_ISA_DEFS_H
#define _SYS_ISA_DEFS_H

#ifndef __ASSEMBLER__
#include <sys/types.h>
#endif

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define _BIG_ENDIAN
#define _BIT_FIELDS_HTOL
#else
#define _LITTLE_ENDIAN
#define _BIT_FIELDS_LTOH
#endif

#ifdef __LP64__
#ifndef _LP64
#define _LP64
#endif
#define _LONG_ALIGNMENT 8
#define _POINTER_ALIGNMENT 8
#else
#ifndef _ILP32
#define _ILP32
#endif
#define _LONG_ALIGNMENT 4
#define _POINTER_ALIGNMENT 4
#endif
#define _CHAR_ALIGNMENT 1
#define _SHORT_ALIGNMENT 2
#define _INT_ALIGNMENT 4
#define _LONG_LONG_ALIGNMENT 8
#define _DOUBLE_ALIGNMENT 8
#define _LONG_DOUBLE_ALIGNMENT 16
#define _MAX_ALIGNMENT 16
#define _ALIGNMENT_REQUIRED 0

#endif /* _SYS_ISA_DEFS_H */
