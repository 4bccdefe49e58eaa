/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/devops.h> - how a driver for Solaris describes itself
 *
 * The executive uses two parts of a STREAMS driver's dev_ops: the streamtab and
 * the flags in its cb_ops, and attach(9E), which is called once for instance 0,
 * when the driver has been loaded.  The rest is defined only so that sources
 * compile, and is never called.  See <sys/modctl.h>.
 */
#ifndef _SYS_DEVOPS_H
#define _SYS_DEVOPS_H

#include <sys/stream.h>
#include <sys/dditypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Argument of attach(9E): the only instance. */
struct dev_info {
	char di_name[FMNAMESZ + 1]; /* the driver's */
	int di_instance;
	void *di_private;	    /* ddi_set_driver_private(9F) */
};
typedef struct dev_info dev_info_t;

typedef enum { DDI_ATTACH = 0, DDI_RESUME = 1, DDI_PM_RESUME = 2 }
	ddi_attach_cmd_t;
typedef enum { DDI_DETACH = 0, DDI_SUSPEND = 1, DDI_PM_SUSPEND = 2 }
	ddi_detach_cmd_t;
typedef enum { DDI_INFO_DEVT2DEVINFO = 0, DDI_INFO_DEVT2INSTANCE = 1 }
	ddi_info_cmd_t;
typedef enum { DDI_RESET_FORCE = 0 } ddi_reset_cmd_t;

#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
struct cb_ops {
	int (*cb_open)();
	int (*cb_close)();
	int (*cb_strategy)();
	int (*cb_print)();
	int (*cb_dump)();
	int (*cb_read)();
	int (*cb_write)();
	int (*cb_ioctl)();
	int (*cb_devmap)();
	int (*cb_mmap)();
	int (*cb_segmap)();
	int (*cb_chpoll)();
	int (*cb_prop_op)();
	struct streamtab *cb_str; /* used */
	int cb_flag;		  /* used: D_* */
	int cb_rev;
	int (*cb_aread)();
	int (*cb_awrite)();
};
#define CB_REV 1

struct dev_ops {
	int devo_rev;
	int devo_refcnt;
	int (*devo_getinfo)();
	int (*devo_identify)();
	int (*devo_probe)();
	int (*devo_attach)(); /* counts: dev_info_t *, ddi_attach_cmd_t */
	int (*devo_detach)();
	int (*devo_reset)();
	struct cb_ops *devo_cb_ops;
	struct bus_ops *devo_bus_ops;
	int (*devo_power)();
	int (*devo_quiesce)();
};
#pragma GCC diagnostic pop
#define DEVO_REV 4

static __inline__ __attribute__((__unused__)) int
nodev(void)
{
	return 6; /* ENXIO */
}

static __inline__ __attribute__((__unused__)) int
nulldev(void)
{
	return 0;
}

#define nochpoll nodev
#define ddi_prop_op nodev
#define ddi_quiesce_not_needed nulldev
#define ddi_quiesce_not_supported nodev

/* Older sources omit the last argument, the quiesce function. */
#define DDI_DEFINE_STREAM_OPS(name, identify, probe, attach, detach, reset, \
	getinfo, flag, ...) \
	static struct cb_ops str_cb_##name = { \
		.cb_open = nulldev, .cb_close = nulldev, .cb_strategy = nodev, \
		.cb_print = nodev, .cb_dump = nodev, .cb_read = nodev, \
		.cb_write = nodev, .cb_ioctl = nodev, .cb_devmap = nodev, \
		.cb_mmap = nodev, .cb_segmap = nodev, .cb_chpoll = nochpoll, \
		.cb_prop_op = ddi_prop_op, \
		.cb_str = str_first(__VA_ARGS__, 0), .cb_flag = (flag), \
		.cb_rev = CB_REV, .cb_aread = nodev, .cb_awrite = nodev \
	}; \
	static struct dev_ops name = { \
		DEVO_REV, 0, (getinfo), (identify), (probe), (attach), \
		(detach), (reset), &str_cb_##name, (struct bus_ops *)0, nodev, \
		nodev \
	}
#define str_first(one, ...) (one)
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_DEVOPS_H */
