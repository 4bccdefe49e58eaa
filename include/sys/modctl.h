/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/modctl.h> - how a module for Solaris makes itself known
 *
 * Its _init(9E) calls mod_install() with a modlinkage, whose modlstrmod has an
 * fmodsw.  Called once in the domain, when the module is loaded.  It stays
 * until the domain ends: _fini() is not called, and mod_remove() is EBUSY.
 *
 * A modldrv makes a driver known, by the name of its file: the streamtab is in
 * the cb_ops of its dev_ops, <sys/devops.h>.  When _init() has returned 0, its
 * attach(9E) is called, once, with DDI_ATTACH and an instance 0 that is there
 * as long as the domain; if that fails, so does the open.
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

/* What kind of module it is: by the address of one of these. */
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

/* fmodsw as Solaris has it, where the flags are no pointer. */
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
 * mod_install - make known what a modlinkage leads to
 * @ml: static data of the module
 *
 * mod_remove - take it back: never; mod_info - tell about it.
 * Context: _init(), _fini(), _info() of the module.
 * Return:  mod_install: 0, EINVAL when something is not complete or there are
 *          two drivers, EBUSY when the name is taken.  mod_remove: EBUSY.
 *          mod_info: 1.
 */
int mod_install(struct modlinkage *ml) STR_DDI(mod_install);
int mod_remove(struct modlinkage *ml) STR_DDI(mod_remove);
int mod_info(struct modlinkage *ml, struct modinfo *info) STR_DDI(mod_info);

/* The linker has a use of its own for a function called _init. */
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
