/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <netdir.h> - names to addresses, for any transport
 *
 * See netdir(3).
 */
#ifndef _NETDIR_H
#define _NETDIR_H

#include <netconfig.h>
#include <sys/xti.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nd_hostserv {
	char *h_host;
	char *h_serv;
};

struct nd_hostservlist {
	int h_cnt;
	struct nd_hostserv *h_hostservs;
};

struct nd_addrlist {
	int n_cnt;
	struct netbuf *n_addrs;
};

/* For ND_MERGEADDR. */
struct nd_mergearg {
	char *s_uaddr;	/* the server's universal address */
	char *c_uaddr;	/* the client's */
	char *m_uaddr;	/* out: the server's, as the client reaches it */
};

/* What netdir_free() frees. */
#define ND_HOSTSERV	0
#define ND_HOSTSERVLIST	1
#define ND_ADDR		2
#define ND_ADDRLIST	3

/* Options. */
#define ND_SET_BROADCAST	1
#define ND_SET_RESERVEDPORT	2
#define ND_CHECK_RESERVEDPORT	3
#define ND_MERGEADDR		4

/* Hosts with a meaning. */
#define HOST_SELF		"\\1"
#define HOST_ANY		"\\2"
#define HOST_BROADCAST		"\\3"
#define HOST_SELF_BIND		HOST_SELF
#define HOST_SELF_CONNECT	HOST_SELF

/* Results. */
#define ND_BADARG	(-2)
#define ND_NOMEM	(-1)
#define ND_OK		0
#define ND_NOHOST	1
#define ND_NOSERV	2
#define ND_NOSYM	3
#define ND_OPEN		4
#define ND_ACCESS	5
#define ND_UKNWN	6
#define ND_NOCTRL	7
#define ND_FAILCTRL	8
#define ND_SYSTEM	9

extern int *_nd_errno(void);
#define _nderror (*_nd_errno())

extern int netdir_getbyname(struct netconfig *config,
	struct nd_hostserv *service, struct nd_addrlist **addrs);
extern int netdir_getbyaddr(struct netconfig *config,
	struct nd_hostservlist **service, struct netbuf *netaddr);
extern void netdir_free(void *ptr, int struct_type);
extern int netdir_options(struct netconfig *config, int option, int fd,
	char *arg);
extern char *taddr2uaddr(struct netconfig *config, struct netbuf *addr);
extern struct netbuf *uaddr2taddr(struct netconfig *config, char *uaddr);
extern void netdir_perror(const char *msg);
extern char *netdir_sperror(void);

#ifdef __cplusplus
}
#endif

#endif
