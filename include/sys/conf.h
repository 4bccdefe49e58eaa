/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/conf.h> - where SVR4 and Solaris have fmodsw, cdevsw and FMNAMESZ
 *
 * And HP-UX what a driver tells install_driver(), before str_install() of
 * <sys/strreg.h>, which is what counts: it is all in this table there, and
 * none of it is needed here.
 */
#ifndef _SYS_CONF_H
#define _SYS_CONF_H

#include <sys/strconf.h>

/* Of drivers that are no STREAMS drivers, or of a kernel's own matters. */
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
#define C_ALLCLOSES 0x80   /* is told of each close: refused */

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
 * install_driver - say that str_install() of a driver follows
 * uninstall_driver - that it did not come to that
 * Return: 0; EINVAL: there is no name, or C_ALLCLOSES is asked for.
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
