/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <netconfig.h> - network selection
 *
 * The list of transports: the file netconfig(5), or those of its entries that
 * the environment variable NETPATH names.  See getnetconfig(3), getnetpath(3).
 */
#ifndef _NETCONFIG_H
#define _NETCONFIG_H

#include <sys/netconfig.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETCONFIG	"/etc/netconfig"
#define NETPATH		"NETPATH"

extern void *setnetconfig(void);
extern struct netconfig *getnetconfig(void *handle);
extern int endnetconfig(void *handle);
extern struct netconfig *getnetconfigent(const char *netid);
extern void freenetconfigent(struct netconfig *ent);
extern void nc_perror(const char *msg);
extern char *nc_sperror(void);

extern void *setnetpath(void);
extern struct netconfig *getnetpath(void *handle);
extern int endnetpath(void *handle);

#ifdef __cplusplus
}
#endif

#endif
