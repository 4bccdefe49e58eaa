/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading the registry, for sc(7) and the tools.
 */
#ifndef STR_REGISTRY_H
#define STR_REGISTRY_H

#include <sys/stream.h>

struct str_regent {
	char name[FMNAMESZ + 1];
	unsigned int kind;	 /* 1 module, 2 driver, 3 both */
	unsigned int major;	 /* of a driver */
	unsigned int flag;	 /* D_* */
	unsigned int count;	 /* instances in streams */
	struct module_info *minfo[4]; /* read, write, mux read, mux write; or
				       * NULL; shared memory */
	struct module_stat *mstat[4]; /* likewise */
};

/* str_registry_entry - entry @n, from 0; false: there are fewer. */
int str_registry_entry(unsigned n, struct str_regent *ret);
/* str_registry_builtin - the major number of the built-in driver @name; 0:
 * there is none.  Works without a domain. */
unsigned int str_registry_builtin(const char *name);

#endif
