/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/modctl.h> - how a module for Solaris registers
 *
 * Its _init(9E) calls mod_install() with a modlinkage, whose modlstrmod has an
 * fmodsw.  Called once in the domain, when the module is loaded.  It stays
 * until the domain ends: _fini() is not called, and mod_remove() is EBUSY.
 *
 * A modldrv registers a driver under the name of its file: the streamtab is in
 * the cb_ops of its dev_ops, <sys/devops.h>.  When _init() has returned 0, its
 * attach(9E) is called once, with DDI_ATTACH and instance 0, which exists as
 * long as the domain.  If attach(9E) fails, the open fails.
 */
#ifndef _SYS_MODCTL_H
#define _SYS_MODCTL_H

#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/devops.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MODREV_1 1

/* The address of one of these tells the kind of a module. */
struct mod_ops {
	int modm_kind; /* MOD_* */
};
#define MOD_STRMOD 1
#define MOD_DRIVER 2
#define MOD_MISC 3
static struct mod_ops mod_strmodops __attribute__((__unused__)) = {
	MOD_STRMOD
};
static struct mod_ops mod_driverops __attribute__((__unused__)) = {
	MOD_DRIVER
};
static struct mod_ops mod_miscops __attribute__((__unused__)) = { MOD_MISC };

/* fmodsw of Solaris, in which the flags are not a pointer. */
struct str_mod_fmodsw {
	char f_name[FMNAMESZ + 1];
	struct streamtab *f_str;
	int f_flag;
};

struct modlstrmod {
	struct mod_ops *strmod_modops;
	char *strmod_linkinfo; /* a line about it */
	struct str_mod_fmodsw *strmod_fmodsw;
};
struct modldrv {
	struct mod_ops *drv_modops;
	char *drv_linkinfo;
	struct dev_ops *drv_dev_ops;
};
struct modlmisc {
	struct mod_ops *misc_modops;
	char *misc_linkinfo;
};

struct modlinkage {
	int ml_rev;	     /* MODREV_1 */
	void *ml_linkage[7]; /* ends with NULL */
};
struct modinfo {
	int mi_id, mi_loadcnt, mi_nextid;
	char mi_name[32];
};

/**
 * mod_install - register the module or driver of a modlinkage
 * @ml: static data of the module
 *
 * mod_remove - end the registration: always fails;
 * mod_info - describe the module.
 * Context: _init(), _fini(), _info() of the module.
 * Return: mod_install: 0; EINVAL: a table is incomplete, or there are two
 *          drivers; EBUSY: the name is in use. mod_remove: EBUSY. mod_info: 1.
 */
int mod_install(struct modlinkage *ml) STR_DDI(mod_install);
int mod_remove(struct modlinkage *ml) STR_DDI(mod_remove);
int mod_info(struct modlinkage *ml, struct modinfo *info) STR_DDI(mod_info);

/* The linker treats a function called _init specially. */
#define _init strmod__init
#define _fini strmod__fini
#define _info strmod__info
#define fmodsw str_mod_fmodsw

int _init(void);
int _fini(void);
int _info(struct modinfo *info);

#ifdef __cplusplus
}
#endif

#endif /* _SYS_MODCTL_H */
