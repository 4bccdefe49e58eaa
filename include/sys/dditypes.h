/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/dditypes.h> - type names that SVR4 has in <sys/types.h>
 *
 * We do not replace the C library's <sys/types.h>, so <sys/stream.h> defines
 * the names that SVR4 modules expect there.
 */
#ifndef _SYS_DDITYPES_H
#define _SYS_DDITYPES_H

#ifndef __STR_CORE__
#include <sys/types.h>
#ifdef __GLIBC__
/* Types that <sys/types.h> does not define in strict C mode. */
#ifndef __clock_t_defined
#define __clock_t_defined 1
typedef __clock_t clock_t;
#endif
#ifndef __daddr_t_defined
#define __daddr_t_defined
typedef __daddr_t daddr_t;
typedef __caddr_t caddr_t;
#endif
#endif
#else
typedef char *caddr_t;
typedef long clock_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned char uchar_t;
typedef unsigned short ushort_t;
typedef unsigned int uint_t;
typedef unsigned long ulong_t;

typedef unsigned int major_t; /* part of a device number: which driver */
typedef unsigned int minor_t; /* the other: which of its devices */

typedef enum { B_FALSE = 0, B_TRUE = 1 } boolean_t;

typedef int pl_t;	   /* interrupt priority level, see spl(9) */
typedef int processorid_t; /* number of a processor */

#ifdef __cplusplus
}
#endif

#endif /* _SYS_DDITYPES_H */
