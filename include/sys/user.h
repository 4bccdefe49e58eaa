/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/user.h> - what an open procedure of SVR3 knows of its caller
 *
 * The four arguments of SVR3's open(q, dev, flag, sflag) have neither a
 * credential nor room for an errno: they are in the u-area.  There is one for
 * a module, whose open procedures are called one at a time, and it is filled
 * in before each; what OPENFAIL means is in u_error when it returns, and
 * ENXIO if that is 0.  An open procedure that sleeps may find another's in it.
 *
 * D_OLD says that open is of that kind: in NAMEdevflag, or by STR_OLD_OPEN
 * and the want of STR_SYSV4_OPEN, <sys/strreg.h>.
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
	int u_error;	   /* why OPENFAIL is returned */
	int u_uid, u_gid;  /* effective */
	int u_ruid, u_rgid;
};

#if defined(_KERNEL) && !defined(__cplusplus)
/* The executive looks for it by this name: one for all files of a module. */
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
