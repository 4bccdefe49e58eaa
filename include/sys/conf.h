/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/conf.h> - fmodsw, cdevsw and FMNAMESZ, after SVR4 and Solaris
 *
 * And the table that a driver for HP-UX passes to install_driver() before it
 * calls str_install() of <sys/strreg.h>.  Only str_install() has an effect
 * here.
 */
#ifndef _SYS_CONF_H
#define _SYS_CONF_H

#include <sys/strconf.h>

/* Flags of drivers that are not STREAMS drivers, or for the kernel only. */
#ifndef D_64BIT
#define D_64BIT 0
#define D_U64BIT 0
#define D_HOTPLUG 0
#define D_TAPE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* HP-UX: flags of a driver.  None has an effect; one is refused. */
#define DRV_CHAR 0x01
#define DRV_BLOCK 0x02
#define DRV_PSEUDO 0x04
#define DRV_SCAN 0x08
#define DRV_MP_SAFE 0x10
#define DRV_SAVE_CONF 0x20
#define C_NODELAY 0x01
#define C_MGR_IS_MP 0x08
#define C_CLONESMAJOR 0x40 /* its open may always choose another minor */
#define C_ALLCLOSES 0x80   /* its close is called at each close(2): refused */

#ifndef __cplusplus
typedef struct drv_info {
	char *name;
	char *class;
	unsigned int flags; /* DRV_* */
	int b_major, c_major;
	void *cdio, *gio_private, *cdio_private;
} drv_info_t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
typedef struct drv_ops {
	int (*d_open)();
	int (*d_close)();
	int (*d_strategy)();
	int (*d_dump)();
	int (*d_psize)();
	int (*reserved0)();
	int (*d_read)();
	int (*d_write)();
	int (*d_ioctl)();
	int (*d_select)();
	int (*d_option1)();
	void *pfilter;
	int (*reserved1)();
	int (*reserved2)();
	void *d_aio_ops;
	int d_flags; /* C_* */
} drv_ops_t;
#pragma GCC diagnostic pop

/*
 * install_driver - announce str_install() of a driver uninstall_driver -
 * withdraw the announcement
 * Return: 0; EINVAL: there is no name, or C_ALLCLOSES is set.
 */
static __inline__ __attribute__((__unused__)) int
install_driver(drv_info_t *info, drv_ops_t *ops)
{
	return info == (drv_info_t *)0 || info->name == (char *)0 ||
		(ops != (drv_ops_t *)0 && (ops->d_flags & C_ALLCLOSES) != 0) ?
		22 : 0;
}

static __inline__ __attribute__((__unused__)) int
uninstall_driver(drv_info_t *info)
{
	(void)info;
	return 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_CONF_H */
