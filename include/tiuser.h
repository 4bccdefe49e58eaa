/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <tiuser.h> - the Transport Level Interface
 *
 * System V's interface, for programs written before XTI.  XTI changed the
 * meaning of some functions; a source file that includes this header gets the
 * old functions under the same names. tli(7) lists the differences.
 */
#ifndef _TIUSER_H
#define _TIUSER_H

#ifdef _XTI_H
#error "a source file is written to <xti.h> or to <tiuser.h>, not to both"
#endif

#include <fcntl.h>

#include <sys/tiuser.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int *_t_errno(void);
#define t_errno (*_t_errno())

extern char *t_errlist[];
extern int t_nerr;

#define _TLI(name) __asm__("_tli_" #name)

/* These differ from XTI's. */
extern int t_open(const char *path, int oflag, struct t_info *info)
	_TLI(open);
extern int t_bind(int fd, struct t_bind *req, struct t_bind *ret)
	_TLI(bind);
extern int t_look(int fd) _TLI(look);
extern int t_optmgmt(int fd, struct t_optmgmt *req,
	struct t_optmgmt *ret) _TLI(optmgmt);
extern void t_error(const char *errmsg) _TLI(error);
extern int t_free(char *ptr, int struct_type) _TLI(free);
extern char *t_alloc(int fd, int struct_type, int fields) _TLI(alloc);
extern int t_getname(int fd, struct netbuf *name, int type);

/* These are the same as in XTI. */
extern int t_accept(int fd, int resfd, struct t_call *call);
extern int t_close(int fd);
extern int t_connect(int fd, struct t_call *sndcall,
	struct t_call *rcvcall);
extern int t_getinfo(int fd, struct t_info *info);
extern int t_getstate(int fd);
extern int t_listen(int fd, struct t_call *call);
extern int t_rcv(int fd, char *buf, unsigned int nbytes, int *flags);
extern int t_rcvconnect(int fd, struct t_call *call);
extern int t_rcvdis(int fd, struct t_discon *discon);
extern int t_rcvrel(int fd);
extern int t_rcvudata(int fd, struct t_unitdata *unitdata, int *flags);
extern int t_rcvuderr(int fd, struct t_uderr *uderr);
extern int t_snd(int fd, char *buf, unsigned int nbytes, int flags);
extern int t_snddis(int fd, struct t_call *call);
extern int t_sndrel(int fd);
extern int t_sndudata(int fd, struct t_unitdata *unitdata);
extern int t_sync(int fd);
extern int t_unbind(int fd);
extern char *t_strerror(int errnum);

#ifdef __cplusplus
}
#endif

#endif
