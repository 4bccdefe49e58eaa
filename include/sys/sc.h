/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sc.h> - commands of the configuration module
 *
 * SC_IOC_LIST and SC_IOC_RESET (struct sc_list): all modules and drivers, with
 * their module_info and counters; RESET clears the counters that it returns.
 * With a null pointer, or sc_nmods 0, the result is the number of modules and
 * drivers.  Plain ioctl() only.  See sc(7).
 */
#ifndef _SYS_SC_H
#define _SYS_SC_H

#include <sys/types.h>

#ifndef FMNAMESZ
#define FMNAMESZ 8
#endif

#define SC_IOC_MAGIC 'C'
#define SC_IOC_LIST ((SC_IOC_MAGIC << 8) | 1)
#define SC_IOC_RESET ((SC_IOC_MAGIC << 8) | 2)
#define SC_IOC_TUNE ((SC_IOC_MAGIC << 8) | 3)

/* Data of one queue.  Index 0: there is no such queue. */
struct sc_module_info {
	int index;
	unsigned short mi_idnum;	/* module identifier */
	char mi_idname[FMNAMESZ + 1];	/* its name */
	ssize_t mi_minpsz;		/* least packet size */
	ssize_t mi_maxpsz;		/* greatest */
	size_t mi_hiwat;		/* water marks */
	size_t mi_lowat;
};

struct sc_module_stat {
	int index;
	long ms_pcnt;		/* calls of the put procedure */
	long ms_scnt;		/* ... service procedure */
	long ms_ocnt;		/* ... open procedure */
	long ms_ccnt;		/* ... close procedure */
	long ms_acnt;		/* ... admin procedure */
	void *ms_xptr;		/* not for programs: NULL */
	short ms_xsize;
	unsigned int ms_flags;
};

/* One module or driver: read, write, lower read and lower write queue. */
struct sc_mlist {
	long major;		/* of a driver; 0: a module */
	char name[FMNAMESZ + 1];
	struct sc_module_info mi[4];
	struct sc_module_stat ms[4];
};

struct sc_list {
	int sc_nmods;		  /* structures at sc_mlist */
	struct sc_mlist *sc_mlist;
};

/* Which members of a struct sc_tune are used. */
#define SC_TUNE_MINPSZ 0x1
#define SC_TUNE_MAXPSZ 0x2
#define SC_TUNE_HIWAT 0x4
#define SC_TUNE_LOWAT 0x8

struct sc_tune {
	int index;	    /* queue: 1 read, 2 write, 3 and 4 lower ones */
	unsigned int flags; /* SC_TUNE_* */
	ssize_t minpsz;
	ssize_t maxpsz;
	size_t hiwat;
	size_t lowat;
	unsigned long reserved; /* 0 */
};

struct sc_tlist {
	char name[FMNAMESZ + 1]; /* of a module or driver */
	int count;		 /* structures at list, 1 to 4 */
	struct sc_tune *list;
	unsigned long reserved;
};

#endif /* _SYS_SC_H */
