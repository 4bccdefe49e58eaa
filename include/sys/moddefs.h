/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/moddefs.h> - wrappers of SVR4.2's loadable modules and drivers
 *
 *	MOD_STR_WRAPPER(fr, fr_load, fr_unload, "fr - a framing module");
 *
 * names the procedures that are called when the module is loaded.  The prefix
 * is the module's name for I_PUSH or open.  The load procedure is called once
 * in the domain, after frinit() and frstart(); if it does not return 0 the
 * module is refused.  Modules stay until the domain ends: the unload and halt
 * procedures are not called.  Each of the three may be NULL.
 */
#ifndef _SYS_MODDEFS_H
#define _SYS_MODDEFS_H

#ifdef __cplusplus
extern "C" {
#endif

#define MODREV 10

/* The executive searches for it by the name PREFIX_wrapper. */
struct modwrapper {
	int mw_rev;	     /* MODREV */
	int (*mw_load)(void);
	int (*mw_unload)(void);
	void (*mw_halt)(void);
	const char *mw_desc; /* a line about it */
};

#define _STR_WRAPPER(p, load, unload, halt, desc) \
	extern struct modwrapper p##_wrapper; \
	struct modwrapper p##_wrapper = { \
		MODREV, (int (*)(void))(load), (int (*)(void))(unload), \
		(void (*)(void))(halt), (desc) \
	}

#define MOD_STR_WRAPPER(p, load, unload, desc) \
	_STR_WRAPPER(p, load, unload, 0, desc)
#define MOD_MISC_WRAPPER(p, load, unload, desc) \
	_STR_WRAPPER(p, load, unload, 0, desc)
#define MOD_DRV_WRAPPER(p, load, unload, halt, desc) \
	_STR_WRAPPER(p, load, unload, halt, desc)
#define MOD_HDRV_WRAPPER(p, load, unload, halt, desc) \
	_STR_WRAPPER(p, load, unload, halt, desc)

/*
 * They attach a driver's interrupts to its bus; there are no interrupts here.
 */
#define mod_drvattach(info) ((void)0)
#define mod_drvdetach(info) ((void)0)

#ifdef __cplusplus
}
#endif

#endif /* _SYS_MODDEFS_H */
