/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/cred.h> - who makes a call
 *
 * What open and close procedures are given, and what an M_IOCTL carries in
 * ioc_cr.  Member names are SVR4's.  It is the caller's for the call: a
 * driver that wants to remember it copies it.
 */
#ifndef _SYS_CRED_H
#define _SYS_CRED_H

struct cred {
	unsigned int cr_ref;	 /* not counted here */
	unsigned int cr_ngroups; /* 0: groups are not told */
	unsigned int cr_uid;	 /* effective */
	unsigned int cr_gid;
	unsigned int cr_ruid; /* real */
	unsigned int cr_rgid;
	unsigned int cr_suid; /* saved: as the effective ones */
	unsigned int cr_sgid;
};
typedef struct cred cred_t;

#endif /* _SYS_CRED_H */
