/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strreg.h> - how modules for AIX, HP-UX and OSF/1 register
 *
 * A module passes a table with a name, a streamtab, flags and a level of
 * synchronization: a strconf_t (AIX) or a streams_info_t (HP-UX) to
 * str_install(), a streamadm (OSF/1) to strmod_add().  It does so in its
 * configuration procedure.  If the module uses one of these functions, that
 * procedure is called once in the domain, when the module NAME is loaded:
 *
 *	AIX NAME_config(CFG_INIT, NULL) of a module, NAME_config(dev, CFG_INIT,
 *		NULL) of a driver
 *	HP-UX	NAME_install(), or else NAME_load(NULL)
 *	OSF/1	NAME_configure(SYSCONFIG_CONFIGURE, NULL, 0, NULL, 0)
 *
 * If the procedure does not return 0, the module is refused and its
 * registration is undone.
 *
 * <sys/stream.h> includes this header in modules, as on HP-UX and OSF/1, and
 * <sys/strconf.h> includes it, as on AIX.
 */
#ifndef _SYS_STRREG_H
#define _SYS_STRREG_H

#include <sys/stream.h>
#include <sys/dditypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many threads may run in it at once. */
#define SQLVL_DEFAULT 0	  /* SQLVL_MODULE */
#define SQLVL_GLOBAL 1	  /* one thread in all modules of this level */
#define SQLVL_ELSEWHERE 2 /* one thread in all modules of a group */
#define SQLVL_MODULE 3	  /* D_MTPERMOD */
#define SQLVL_QUEUEPAIR 4 /* D_MTQPAIR */
#define SQLVL_QUEUE 5	  /* D_MTPERQ */
#define SQLVL_NOP 6	  /* D_MP */
#define SQLVL_NOSYNC SQLVL_NOP
#define SQLVL_FAMILY SQLVL_ELSEWHERE
#define SQLVL_QUEUE_PAIR SQLVL_QUEUEPAIR

/*
 * Flags.  HP-UX and OSF/1: driver or module; the open of SVR3 is the default.
 */
#define STR_IS_DEVICE 0x00000001
#define STR_IS_MODULE 0x00000002
#define STR_TYPE_MASK 0x00000003
#define MGR_IS_MP 0x00000008 /* HP-UX: else SQLVL_MODULE or stricter */
#define STR_SYSV4_OPEN 0x00000100
#define STR_QSAFETY 0x00000200	     /* callbacks are safe: no effect */
#define STR_MP_OPEN_CLOSE 0x00001000 /* likewise */
/* AIX: the open of SVR4 is the default. */
#define STR_NEW_OPEN 0x00000000
#define STR_OLD_OPEN 0x00000010
#define STR_MPSAFE 0x00000020	   /* else SQLVL_MODULE or stricter */
#define STR_Q_SAFETY 0x00000040	   /* no effect */
#define STR_Q_NOTTOSPEC 0x00000080 /* no effect */
#define STR_PERSTREAM 0x00000400   /* SQLVL_QUEUEPAIR or stricter */
#define STR_64BIT 0x00000800	   /* no effect */

/* AIX: commands of str_install(). */
#define STR_LOAD_DEV 1
#define STR_LOAD_MOD 2
#define STR_UNLOAD_DEV 3
#define STR_UNLOAD_MOD 4
/* Executive: commands for the functions of HP-UX. */
#define STR_INSTALL_INFO 5
#define STR_UNINSTALL_INFO 6

/* AIX.  Read during the call only; the streamtab must remain valid. */
typedef struct {
	char *sc_name;		  /* name for I_PUSH or open */
	struct streamtab *sc_str; /* static data of the module */
	int sc_flags;		  /* STR_OLD_OPEN, STR_MPSAFE, ... */
	int sc_major;		  /* of a driver; 0 or -1: one that is free */
	int sc_sqlevel;		  /* SQLVL_* */
	caddr_t sc_sqinfo;	  /* SQLVL_ELSEWHERE: name of the group */
} strconf_t;
#define sc_open_style sc_flags
#define sc_open_stylesc_flags sc_flags

/* HP-UX.  Static data of the module, for its streamtab. */
typedef struct {
	char *name;
	int inst_major; /* of a driver; -1: one that is free */
	struct streamtab inst_str_tab;
	unsigned int inst_flags; /* STR_IS_DEVICE, STR_SYSV4_OPEN, ... */
	int inst_sync_level;	 /* SQLVL_* */
	char inst_sync_info[FMNAMESZ + 1]; /* SQLVL_ELSEWHERE: the group */
} streams_info_t;

/* OSF/1.  Read during the call only. */
struct streamadm {
	unsigned int sa_version; /* OSF_STREAMS_* */
	unsigned int sa_flags;	 /* STR_IS_DEVICE, STR_SYSV4_OPEN, ... */
	char sa_name[FMNAMESZ + 1];
	caddr_t sa_ttys; /* not used */
	unsigned int sa_sync_level; /* SQLVL_* */
	caddr_t sa_sync_info;	    /* SQLVL_ELSEWHERE: the group */
};
#define OSF_STREAMS_10 10
#define OSF_STREAMS_11 11

/**
 * str_install - register a module or driver, or end that
 * @cmd:  STR_LOAD_*, STR_UNLOAD_*, or an internal command for HP-UX
 * @what: a strconf_t, or a streams_info_t
 *
 * A source calls it with two arguments, as on AIX, or with one, as on HP-UX,
 * where str_uninstall() undoes it.  The macro below distinguishes the two by
 * the number of arguments.
 *
 * The name is 1 to FMNAMESZ characters.  So is the name of a group of
 * SQLVL_ELSEWHERE; modules of either system with the same group share it.  A
 * module that does not declare itself safe for multiprocessors gets
 * SQLVL_MODULE if it asks for less.  Errors in a table are reported in the log.
 *
 * Context: the configuration procedure.
 * Return:  0; EINVAL: a member is missing or invalid, or not static data of a
 *          module; EEXIST: the name or the major is taken.  Unloading: 0;
 *          ENXIO: not registered; EBUSY: in use.
 */
int str_install(int cmd, void *what) STR_DDI(str_install);

/**
 * strmod_add - OSF/1: register a module or driver
 * @devno: of a driver, with its major; NODEV, or major 0: one that is free
 * @tab:   static data of the module
 * @adm:   its description
 *
 * strmod_del ends the registration.
 *
 * Context: the configuration procedure.
 * Return:  strmod_add: the device number of a driver, 0 for a module, NODEV in
 *          the cases in which str_install() fails; strmod_del: as
 *          str_install().
 */
dev_t strmod_add(dev_t devno, struct streamtab *tab, struct streamadm *adm)
	STR_DDI(strmod_add);
int strmod_del(dev_t devno, struct streamtab *tab, struct streamadm *adm)
	STR_DDI(strmod_del);
#ifndef NODEV
#define NODEV ((dev_t)-1)
#endif

/*
 * On AIX wantmsg(q, filter) makes messages bypass a module that does not need
 * them, for speed; 0 means that this is not supported, and all messages come to
 * the put procedure.
 */
#define wantmsg(q, filter) ((void)(q), (void)(filter), 0)

#if !defined(__cplusplus) && !defined(__STR_CORE__)
static __inline__ __attribute__((__unused__)) int
str_install_conf(int cmd, strconf_t *conf)
{
	if (cmd < STR_LOAD_DEV || cmd > STR_UNLOAD_MOD)
		cmd = 0;
	return (str_install)(cmd, conf);
}

static __inline__ __attribute__((__unused__)) int
str_install_info(streams_info_t *info)
{
	return (str_install)(STR_INSTALL_INFO, info);
}

static __inline__ __attribute__((__unused__)) int
str_uninstall(streams_info_t *info)
{
	return (str_install)(STR_UNINSTALL_INFO, info);
}

/* Two arguments: AIX's function; one: HP-UX's. */
#define str_install_which(a, b, name, ...) name
#define str_install(...) \
	str_install_which(__VA_ARGS__, str_install_conf, str_install_info, \
		0)(__VA_ARGS__)

/* Definitions that those systems have in <sys/types.h>, and names of SVR3. */
#ifndef major
#define major(dev) str_getmajor(dev)
#define minor(dev) str_getminor(dev)
#define makedev(maj, min) str_makedev((maj), (min))
#endif
static __inline__ __attribute__((__unused__)) major_t
str_getmajor(dev_t dev)
{
	return (major_t)((dev >> 8 & 0xfff) | (dev >> 16 >> 16 >> 12 << 12));
}

static __inline__ __attribute__((__unused__)) minor_t
str_getminor(dev_t dev)
{
	return (minor_t)((dev & 0xff) | (dev >> 20 << 8));
}

static __inline__ __attribute__((__unused__)) dev_t
str_makedev(major_t maj, minor_t min)
{
	return (dev_t)(maj & 0xfff) << 8 | (dev_t)(maj >> 12) << 16 << 16 << 12
		| (dev_t)(min & 0xff) | (dev_t)(min >> 8) << 20;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_STRREG_H */
