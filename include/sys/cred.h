/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/cred.h> - the credentials of a caller
 *
 * Argument of open and close procedures.  An M_IOCTL has ioc_uid and ioc_gid;
 * its ioc_cr is NULL.  The members have SVR4's names.  The structure is valid
 * during the call; a driver that needs it later must copy it.
 */
#ifndef _SYS_CRED_H
#define _SYS_CRED_H

struct cred {
	unsigned int cr_ref;	 /* not counted here */
	unsigned int cr_ngroups; /* 0: groups are not recorded */
	unsigned int cr_uid;	 /* effective */
	unsigned int cr_gid;
	unsigned int cr_ruid; /* real */
	unsigned int cr_rgid;
	unsigned int cr_suid; /* saved: same as the effective ones */
	unsigned int cr_sgid;
};
typedef struct cred cred_t;

#endif /* _SYS_CRED_H */
