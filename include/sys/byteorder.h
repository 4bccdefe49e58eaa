/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/byteorder.h> - byte order, after SVR4 and Solaris
 *
 * htonl(), ntohl(), htons() and ntohs(); Solaris's BSWAP_16() and others, which
 * reverse the bytes of a number; LE_32(), BE_32() and others, which do so if
 * the machine has the other byte order.  They may evaluate their argument more
 * than once.
 */
#ifndef _SYS_BYTEORDER_H
#define _SYS_BYTEORDER_H

#include <arpa/inet.h>
#include <sys/isa_defs.h>

#define BSWAP_8(x) ((x) & 0xff)
#define BSWAP_16(x) ((BSWAP_8(x) << 8) | BSWAP_8((x) >> 8))
#define BSWAP_32(x) \
	(((BSWAP_16(x) & 0xffffu) << 16) | (BSWAP_16((x) >> 16) & 0xffffu))
#define BSWAP_64(x)                                   \
	((((unsigned long)BSWAP_32(x) & 0xffffffffu) << 32) | \
		((unsigned long)BSWAP_32((x) >> 32) & 0xffffffffu))

#ifdef _BIG_ENDIAN
#define BE_8(x) BMASK_8(x)
#define BE_16(x) BMASK_16(x)
#define BE_32(x) BMASK_32(x)
#define BE_64(x) BMASK_64(x)
#define LE_8(x) BSWAP_8(x)
#define LE_16(x) BSWAP_16(x)
#define LE_32(x) BSWAP_32(x)
#define LE_64(x) BSWAP_64(x)
#else
#define LE_8(x) BMASK_8(x)
#define LE_16(x) BMASK_16(x)
#define LE_32(x) BMASK_32(x)
#define LE_64(x) BMASK_64(x)
#define BE_8(x) BSWAP_8(x)
#define BE_16(x) BSWAP_16(x)
#define BE_32(x) BSWAP_32(x)
#define BE_64(x) BSWAP_64(x)
#endif
#define BMASK_8(x) ((x) & 0xff)
#define BMASK_16(x) ((x) & 0xffff)
#define BMASK_32(x) ((x) & 0xffffffffu)
#define BMASK_64(x) (x)

#endif /* _SYS_BYTEORDER_H */
