/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/user.h> - the u-area for open procedures of SVR3
 *
 * SVR3's open(q, dev, flag, sflag) has neither a credential nor an errno among
 * its arguments: they are in the u-area.  Each call of an open procedure has
 * one of its own, which is filled in before the call.  If the procedure returns
 * OPENFAIL, u_error contains the error, and 0 there means ENXIO.  In other
 * procedures u_error has no meaning, and the ids are -1, so that suser() fails.
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

#ifndef STR_DDI
#define STR_DDI(name) __asm__("ddi_" #name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Extension: what is behind the names of the fields. */
struct str_uarea {
	int uu_error;		/* error for OPENFAIL */
	int uu_uid, uu_gid;	/* effective */
	int uu_ruid, uu_rgid;
};

/* Extension: str_uarea - the u-area of the calling thread. */
struct str_uarea *str_uarea(void) STR_DDI(str_uarea);

/*
 * The variable `u' is the same for all calls, and has no data: u.u_error is
 * u.u_area()->uu_error.
 */
struct user {
	struct str_uarea *(*u_area)(void);
};
#define u_error u_area()->uu_error
#define u_uid u_area()->uu_uid
#define u_gid u_area()->uu_gid
#define u_ruid u_area()->uu_ruid
#define u_rgid u_area()->uu_rgid

#ifdef __cplusplus
}
#endif

#if defined(_KERNEL) && !defined(__cplusplus)
/* One for all files of a module, each of which may declare it again. */
struct user u __attribute__((__weak__)) = { str_uarea };

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
