/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What strwire(8) shows of a wire. */
#ifndef TOOLS_WIRESHOW_H
#define TOOLS_WIRESHOW_H

#include <sys/ipwire.h>

#include "tool.h"

/* The names of the kinds, by IPW_LO, IPW_RAW and so on. */
#define WIRE_NKINDS 5u
extern const char *const wire_kinds[WIRE_NKINDS];

void wire_show_json(struct json *j, const struct ipw_info *in);
void wire_show_list(const struct ipw_info *in); /* one line */
void wire_show_stat(const struct ipw_info *in); /* counters that are not 0 */

#endif
