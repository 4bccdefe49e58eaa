/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <xti.h> - the X/Open Transport Interface
 *
 * Each function has a manual page in section 3; xti(7) is the introduction.
 *
 * On errors functions return -1 and set t_errno, unless noted otherwise; with
 * TSYSERR errno is set too.  Each thread has its own t_errno.  Every function
 * with a descriptor argument may fail with TBADF, TPROTO and TSYSERR.
 */
#ifndef _XTI_H
#define _XTI_H

#include <fcntl.h>
#include <unistd.h>	/* _SC_T_IOV_MAX */

#include <sys/xti.h>
#include <sys/xti_inet.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int *_t_errno(void);
#define t_errno (*_t_errno())

#ifndef _SC_T_IOV_MAX
#define _SC_T_IOV_MAX	66
#endif

/* The endpoint. */
extern int t_open(const char *name, int oflag, struct t_info *info);
extern int t_bind(int fd, const struct t_bind *req, struct t_bind *ret);
extern int t_unbind(int fd);
extern int t_close(int fd);
extern int t_optmgmt(int fd, const struct t_optmgmt *req,
	struct t_optmgmt *ret);
extern int t_getinfo(int fd, struct t_info *info);
extern int t_getprotaddr(int fd, struct t_bind *bound, struct t_bind *peer);
extern int t_getstate(int fd);
extern int t_look(int fd);
extern int t_sync(int fd);

/* Connections. */
extern int t_connect(int fd, const struct t_call *sndcall,
	struct t_call *rcvcall);
extern int t_rcvconnect(int fd, struct t_call *call);
extern int t_listen(int fd, struct t_call *call);
extern int t_accept(int fd, int resfd, const struct t_call *call);
extern int t_snd(int fd, void *buf, unsigned int nbytes, int flags);
extern int t_sndv(int fd, const struct t_iovec *iov, unsigned int iovcount,
	int flags);
extern int t_rcv(int fd, void *buf, unsigned int nbytes, int *flags);
extern int t_rcvv(int fd, struct t_iovec *iov, unsigned int iovcount,
	int *flags);
extern int t_sndrel(int fd);
extern int t_sndreldata(int fd, struct t_discon *discon);
extern int t_rcvrel(int fd);
extern int t_rcvreldata(int fd, struct t_discon *discon);
extern int t_snddis(int fd, const struct t_call *call);
extern int t_rcvdis(int fd, struct t_discon *discon);

/* Datagrams. */
extern int t_sndudata(int fd, const struct t_unitdata *unitdata);
extern int t_sndvudata(int fd, struct t_unitdata *unitdata,
	struct t_iovec *iov, unsigned int iovcount);
extern int t_rcvudata(int fd, struct t_unitdata *unitdata, int *flags);
extern int t_rcvvudata(int fd, struct t_unitdata *unitdata,
	struct t_iovec *iov, unsigned int iovcount, int *flags);
extern int t_rcvuderr(int fd, struct t_uderr *uderr);

/* The rest. */
#ifdef _STR_XPG4
extern char *t_alloc(int fd, int struct_type, int fields);
extern char *t_strerror(int errnum);
#else
extern void *t_alloc(int fd, int struct_type, int fields);
extern const char *t_strerror(int errnum);
#endif
extern int t_free(void *ptr, int struct_type);
extern int t_error(const char *errmsg);
extern int t_sysconf(int name);

/* Data with options, for the properties of SCTP messages.  Not in XNS. */
extern int t_sndopt(int fd, const struct t_optmgmt *opt, void *buf,
	unsigned int nbytes, int flags);
extern int t_sndvopt(int fd, const struct t_optmgmt *opt,
	const struct t_iovec *iov, unsigned int iovcount, int flags);
extern int t_rcvopt(int fd, struct t_optmgmt *opt, void *buf,
	unsigned int nbytes, int *flags);
extern int t_rcvvopt(int fd, struct t_optmgmt *opt, struct t_iovec *iov,
	unsigned int iovcount, int *flags);

/* Connections with several leaves; no provider supports them: TNOTSUPPORT. */
extern int t_addleaf(int fd, int leafid, struct netbuf *addr);
extern int t_removeleaf(int fd, int leafid, int reason);
extern int t_rcvleafchange(int fd, struct t_leaf_status *change);

/* From TLI: all messages, and their number. */
extern char *t_errlist[];
extern int t_nerr;

#ifdef __cplusplus
}
#endif

#endif
