/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strconf.h> - tables that describe modules and drivers
 *
 * A module or driver consists of its streamtab(D4) and its name; fmodsw is the
 * table of the modules that can be pushed, cdevsw that of the drivers that can
 * be opened.  AIX has another table for both: <sys/strreg.h>.
 */
#ifndef _SYS_STRCONF_H
#define _SYS_STRCONF_H

#include <sys/stream.h>
#ifndef __STR_CORE__
#include <sys/strreg.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Default water marks of a queue, in bytes. */
#ifndef STRHIGH
#define STRHIGH 5120
#define STRLOW 1024
#endif

/* One module that can be pushed. */
struct fmodsw {
	char f_name[FMNAMESZ + 1]; /* its name, NUL-terminated */
	struct streamtab *f_str;   /* its two sides */
	int *f_flag;		   /* D_*: how many threads may run in it */
};

/* One driver that can be opened. */
struct cdevsw {
	const char *d_name;	 /* its name, at most FMNAMESZ characters */
	struct streamtab *d_str; /* its sides */
	int *d_flag;		 /* D_*: how many threads may run in it */
};

/**
 * register_strmod, register_strdev - register a loadable module or driver
 * @fmod, @cdev: its name and tables, static data of the module
 * @major: its major number; 0: one that is free, as register_strdrv(), from 3968
 * to 4095
 *
 * For modules that do not rely on the names of their symbols, and for files
 * with several modules; called from the init procedure.  See
 * docs/writing-a-module.md.  The unregister_ functions end the registration if
 * nothing is open.
 *
 * f_flag and d_flag point to the flags, or are the flags themselves.
 *
 * Context: init and start procedures.
 * Return: 0 or, of a driver, its major; else minus an errno: EINVAL: the tables
 *          are incomplete; EBUSY: the name or major is taken or in use; ENXIO:
 *          it is not registered.
 */
int register_strmod(struct fmodsw *fmod) STR_DDI(register_strmod);
int unregister_strmod(struct fmodsw *fmod) STR_DDI(unregister_strmod);
int register_strdev(struct cdevsw *cdev, unsigned int major)
	STR_DDI(register_strdev);
int unregister_strdev(struct cdevsw *cdev, unsigned int major)
	STR_DDI(unregister_strdev);
int register_strdrv(struct cdevsw *cdev) STR_DDI(register_strdrv);

#ifdef __cplusplus
}
#endif

#ifdef __STR_MOD__
/* Extension: STR_MODULE(), for the modules that are built in. */
#include <str/builtin.h>
#endif

#endif /* _SYS_STRCONF_H */
