/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/tiuser.h> - constants and structures of TLI
 *
 * The Transport Level Interface is the predecessor of XTI.  Structures, errors,
 * events and states are those of XTI, except the following.
 */
#ifndef _SYS_TIUSER_H
#define _SYS_TIUSER_H

#include <sys/xti.h>

#ifdef __cplusplus
extern "C" {
#endif

#define T_ERROR		0x0020	/* event: a fatal error on the Stream */

#define T_BADSTATE	8	/* no state: the number after the last */

/* Structures t_alloc() makes, by their older names. */
#define T_BIND_STR	T_BIND
#define T_OPTMGMT_STR	T_OPTMGMT
#define T_CALL_STR	T_CALL
#define T_DIS_STR	T_DIS
#define T_UNITDATA_STR	T_UNITDATA
#define T_UDERROR_STR	T_UDERROR
#define T_INFO_STR	T_INFO

/**
 * struct opthdr - header of each option of a TLI list @level, @name: as for
 * socket options
 * @len: bytes of the value, which follows, rounded up to a multiple of
 *       sizeof(long)
 */
struct opthdr {
	long level;
	long name;
	long len;
};
#define OPTLEN(x)	((((x) + sizeof(long) - 1) / sizeof(long)) * \
				sizeof(long))
#define OPTVAL(opt)	((char *)((opt) + 1))

/* t_getname() */
#define LOCALNAME	0
#define REMOTENAME	1

#ifdef __cplusplus
}
#endif

#endif
