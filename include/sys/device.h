/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/device.h> - configuration procedures of AIX modules
 *
 * NAME_config() is called once in the domain, with CFG_INIT and no uio: see
 * <sys/strreg.h>.  The other commands are defined only so that sources compile.
 */
#ifndef _SYS_DEVICE_H
#define _SYS_DEVICE_H

#include <sys/strreg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CFG_INIT 1
#define CFG_TERM 2
#define CFG_QVPD 3
#define CFG_UCODE 4

#ifndef __cplusplus
/* Input of the configuration; always empty. */
struct uio {
	int uio_resid; /* bytes left of it */
};
enum uio_rw { UIO_READ, UIO_WRITE };

static __inline__ __attribute__((__unused__)) int
uiomove(void *to, int n, enum uio_rw rw, struct uio *uiop)
{
	(void)to, (void)rw, (void)uiop;
	return n > 0 ? 14 : 0; /* EFAULT */
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_DEVICE_H */
