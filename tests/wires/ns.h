/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A network namespace of the case's own, for wires that need privilege.
 *
 * It ends, with all that is in it, with the last process in it.
 */
#ifndef TESTS_WIRES_NS_H
#define TESTS_WIRES_NS_H

#include <sys/types.h>
#include "t.h"

/* A command of the shell's, which must succeed. */
void sh(const char *fmt, ...) T_PRINTF(1, 2);
void put_file(const char *path, const char *text);
/* The case is skipped, with the reason, where this may not be done. */
void may_write(const char *path);
void may_make(const char *what, int family, int type, int proto);
void own_namespace(void);
/* streamsd of the case's domain; 0: there is none. */
pid_t ns_streamsd(void);
/* Has @pid ended, whichever is to reap it?  Not while it is on its way: it has
 * left its namespaces before it has closed its files. */
int ns_ended(pid_t pid);
/* T_OPTMGMT_REQ; the status in the answer. */
int ns_option(int fd, int level, int name, const void *val, unsigned len);
/* Is the device told to listen to that address, in hexadecimal? */
int ns_listens(const char *dev, const char *mac);

#endif
