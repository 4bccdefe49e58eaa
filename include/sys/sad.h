/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sad.h> - commands of the STREAMS administrative driver
 *
 * SAD_SAP (struct strapush): configure autopush; SAD_GAP (struct strapush):
 * get the autopush entry of a device; SAD_VML (struct str_list): are these all
 * modules?; SAD_LAP (struct strapush): the next entry of the table.  Plain, or
 * with I_STR; then the names of SAD_VML follow its struct.  See sad(4).
 */
#ifndef _SYS_SAD_H
#define _SYS_SAD_H

#ifndef FMNAMESZ
#define FMNAMESZ 8
#endif

#define SAD_IOC_MAGIC 'D'
#define SAD_SAP ((SAD_IOC_MAGIC << 8) | 1)
#define SAD_GAP ((SAD_IOC_MAGIC << 8) | 2)
#define SAD_VML ((SAD_IOC_MAGIC << 8) | 3)
#define SAD_LAP ((SAD_IOC_MAGIC << 8) | 4)

/* sap_cmd */
#define SAP_CLEAR 0 /* remove an entry */
#define SAP_ONE 1   /* of one minor */
#define SAP_RANGE 2 /* of minor to lastminor */
#define SAP_ALL 3   /* of all minors */

#define MAXAPUSH 8 /* modules pushed at an open */


struct strapush {
	unsigned int sap_cmd;	/* SAP_* */
	long sap_major;		/* of the driver */
	long sap_minor;		/* SAP_RANGE: the first */
	long sap_lastminor;	/* SAP_RANGE: the last */
	unsigned int sap_npush; /* names at sap_list */
	char sap_list[MAXAPUSH][FMNAMESZ + 1]; /* pushed in this order */
	int sap_anchor;		/* modules below an anchor; 0 none */
	char sap_module[FMNAMESZ + 1]; /* name of the driver, or empty */
};

#endif /* _SYS_SAD_H */
