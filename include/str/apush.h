/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The autopush table: which modules an open of a device pushes.  For the sad
 * driver; the table is the executive's.
 *
 * Entries are for one minor (SAP_ONE), a range (SAP_RANGE), or all minors of
 * a major (SAP_ALL); struct strapush is <sys/sad.h>'s.
 */
#ifndef STR_APUSH_H
#define STR_APUSH_H

#include <sys/sad.h>

/*
 * str_apush_set - carry out @ap->sap_cmd: SAP_ONE, SAP_RANGE, SAP_ALL enter;
 * SAP_CLEAR removes.  Return: 0; EINVAL (command, count of modules, name of
 * no module, range), EEXIST (configured already), ENODEV (SAP_CLEAR of what
 * is not; a major that is no driver's), ERANGE (SAP_CLEAR of a range entry by
 * another minor than its first), ENOSR (table full).
 */
int str_apush_set(struct strapush *ap);
/*
 * str_apush_later - enter @ap for the driver called @ap->sap_module, which need
 * not be loaded: the entry holds from when it is, and is not seen before.
 * sap_major is not looked at.  Return: as str_apush_set(), but not ENODEV.
 */
int str_apush_later(const struct strapush *ap);
/* str_apush_get - the entry that governs (major, minor); ENODEV: none. */
int str_apush_get(struct strapush *ap);
/* str_apush_next - the @n-th entry of the table; ENODEV: no more. */
int str_apush_next(unsigned n, struct strapush *ret_ap);
/* str_apush_module - is @name a module's (loading it when it is not yet)? */
int str_apush_module(const char *name);
/* str_apush_fresh - is the system's file yet to be applied to this domain?
 * str_apush_applied - it has been. */
int str_apush_fresh(void);
void str_apush_applied(void);

#endif
