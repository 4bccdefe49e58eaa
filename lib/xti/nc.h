/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The network configuration's file, as its readers share it.
 */
#ifndef XTI_NC_H
#define XTI_NC_H

#include <netconfig.h>

#define NC_MAXLOOKUPS 8

extern const char netconfig_builtin[];

int xti_nc_line(char *line, struct netconfig *nc,
	char *lookups[NC_MAXLOOKUPS]);

#endif
