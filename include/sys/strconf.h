/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strconf.h> - how a module is known to the system
 *
 * A module or driver is its streamtab(D4) and its name; fmodsw is the table
 * of the modules that can be pushed.
 */
#ifndef _SYS_STRCONF_H
#define _SYS_STRCONF_H

#include <sys/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Water marks of a queue that has no reason for others, bytes. */
#ifndef STRHIGH
#define STRHIGH 5120
#define STRLOW 1024
#endif

/* One module that can be pushed. */
struct fmodsw {
	char f_name[FMNAMESZ + 1]; /* its name, NUL-terminated */
	struct streamtab *f_str;   /* its two sides */
	int *f_flag;		   /* D_*: how much of it runs at once */
};

#ifdef __cplusplus
}
#endif

#ifdef __STR_MOD__
/* Extension: STR_MODULE(), for the modules that are built in. */
#include <str/builtin.h>
#endif

#endif /* _SYS_STRCONF_H */
