/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ioccom.h> - _IO, _IOR, _IOW and _IOWR, after BSD and Solaris
 *
 * They make Linux's numbers, with size and direction in Linux's bits.  The
 * numbers are ints, so that a module can compare them with ioc_cmd; those of
 * <sys/ioctl.h> are unsigned long.
 */
#ifndef _SYS_IOCCOM_H
#define _SYS_IOCCOM_H

#include <sys/ioctl.h>

#undef _IO
#undef _IOR
#undef _IOW
#undef _IOWR
#define _IO(g, n) ((int)_IOC(_IOC_NONE, (g), (n), 0))
#define _IOR(g, n, t) ((int)_IOC(_IOC_READ, (g), (n), sizeof(t)))
#define _IOW(g, n, t) ((int)_IOC(_IOC_WRITE, (g), (n), sizeof(t)))
#define _IOWR(g, n, t) ((int)_IOC(_IOC_READ | _IOC_WRITE, (g), (n), sizeof(t)))

#ifndef IOCPARM_MASK
#define IOCPARM_MASK _IOC_SIZEMASK
#endif

#endif /* _SYS_IOCCOM_H */
