/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sysconfig.h> - configuration procedures of OSF/1 modules
 *
 * NAME_configure() is called once in the domain, to configure, with neither
 * input nor output: see <sys/strreg.h>.  The other operations, and the table of
 * attributes, are defined only so that sources compile.  The commands of AIX's
 * NAME_config() are defined here too.
 */
#ifndef _SYS_SYSCONFIG_H
#define _SYS_SYSCONFIG_H

#include <sys/strreg.h>
#include <sys/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int sysconfig_op_t;
typedef int cfg_op_t;
#define SYSCONFIG_CONFIGURE 1
#define SYSCONFIG_UNCONFIGURE 2
#define SYSCONFIG_QUERY 3
#define SYSCONFIG_RECONFIGURE 4
#define CFG_OP_CONFIGURE SYSCONFIG_CONFIGURE
#define CFG_OP_UNCONFIGURE SYSCONFIG_UNCONFIGURE
#define CFG_OP_QUERY SYSCONFIG_QUERY
#define CFG_OP_RECONFIGURE SYSCONFIG_RECONFIGURE

#ifndef ESUCCESS
#define ESUCCESS 0
#endif

/* Input and output of NAME_configure(). */
typedef struct str_config {
	unsigned int sc_version;
	unsigned int sc_sa_flags;
	char sc_sa_name[FMNAMESZ + 1];
	dev_t sc_devnum;
} str_config_t;
#define OSF_STREAMS_CONFIG_10 OSF_STREAMS_10

typedef struct {
	char name[40];
	unsigned int type, operation;
	caddr_t whereis;
	unsigned long min_val, max_val;
	unsigned long val_len;
} cfg_subsys_attr_t;

#ifdef __cplusplus
}
#endif

#endif /* _SYS_SYSCONFIG_H */
