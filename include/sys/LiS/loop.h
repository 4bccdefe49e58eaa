/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/loop.h> - commands of the loop driver, for LiS programs
 *
 * All are sent with I_STR; the argument is the object that ic_dp points to.
 * See loop(4).
 */
#ifndef _SYS_LIS_LOOP_H
#define _SYS_LIS_LOOP_H

#include <sys/LiS/config.h>

#define LOOP_IOCTL(n) (('l' << 8) | (n))

#define LOOP_SET LOOP_IOCTL(1)	      /* int: minor to connect with */
#define LOOP_PUTNXT LOOP_IOCTL(2)     /* send at once when there is room */
#define LOOP_MSGLVL LOOP_IOCTL(3)     /* int: hold until more are queued */
#define LOOP_TIMR LOOP_IOCTL(4)	      /* int: hold for so many ticks */
#define LOOP_MARK LOOP_IOCTL(5)	      /* mark one more message */
#define LOOP_GET_DEV LOOP_IOCTL(6)    /* int, returned: own minor */
#define LOOP_BUFCALL LOOP_IOCTL(7)    /* send from a bufcall() callback */
#define LOOP_CONCAT LOOP_IOCTL(8)     /* int: join the next messages */
#define LOOP_COPY LOOP_IOCTL(9)	      /* send copies */
#define LOOP_DENY_OPEN LOOP_IOCTL(10) /* only refuse opens */
#define LOOP_BURST LOOP_IOCTL(11)     /* int: send the next so many times */
#define LOOP_FLUSH LOOP_IOCTL(12)     /* data, optional: flush, then send it */

/* Argument of the two transparent commands below. */
typedef struct {
	int cmnd;    /* the command */
	int i_arg;   /* bytes */
	void *p_arg; /* address to copy from or to */
} loop_xparent_t;

#define LOOP_XPARENT_COPYIN 101	 /* keep the bytes */
#define LOOP_XPARENT_COPYOUT 102 /* return the kept bytes */

#endif /* _SYS_LIS_LOOP_H */
