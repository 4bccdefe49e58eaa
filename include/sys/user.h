/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/user.h> - the u-area for open procedures of SVR3
 *
 * SVR3's open(q, dev, flag, sflag) has neither a credential nor an errno among
 * its arguments: they are in the u-area.  There is one u-area for a module; its
 * open procedures are called one at a time, and the u-area is filled in before
 * each call.  If the procedure returns OPENFAIL, u_error contains the error,
 * and 0 there means ENXIO.  After a sleep an open procedure may find the data
 * of another call in the u-area.
 *
 * D_OLD marks a module with SVR3's open: set in NAMEdevflag, or by STR_OLD_OPEN
 * or the absence of STR_SYSV4_OPEN, <sys/strreg.h>.
 *
 * Programs get the C library's header of that name.
 */
#if !defined(_KERNEL) && !defined(__STR_CORE__)
#ifdef __GNUC__
#pragma GCC system_header /* for what follows */
#if __has_include_next(<sys/user.h>)
#include_next <sys/user.h>
#endif
#endif
#elif !defined(_SYS_USER_H_STR)
#define _SYS_USER_H_STR

struct user {
	int u_error;	   /* error for OPENFAIL */
	int u_uid, u_gid;  /* effective */
	int u_ruid, u_rgid;
};

#if defined(_KERNEL) && !defined(__cplusplus)
/* The executive searches for it by this name: one for all files of a module. */
struct user u __asm__("str_user_area") __attribute__((__weak__));

static __inline__ __attribute__((__unused__)) int
suser(void)
{
	if (u.u_uid != 0)
		u.u_error = 1; /* EPERM */
	return u.u_uid == 0;
}

#define setuerror(err) (u.u_error = (err)) /* AIX */
#define getuerror() (u.u_error)
#endif

#endif /* _SYS_USER_H_STR */
