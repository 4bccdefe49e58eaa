/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The autopush table: which modules an open of a device pushes.  The sad driver
 * uses these calls; the table is part of the executive.
 *
 * Entries are for one minor (SAP_ONE), a range (SAP_RANGE), or all minors of
 * a major (SAP_ALL); struct strapush is declared in <sys/sad.h>.
 */
#ifndef STR_APUSH_H
#define STR_APUSH_H

#include <sys/sad.h>

/*
 * str_apush_set - carry out @ap->sap_cmd: SAP_ONE, SAP_RANGE and SAP_ALL make
 * an entry; SAP_CLEAR removes one.
 * Return: 0; EINVAL (no driver has that major; bad command, number of modules
 * or module name; a minor below 0, except for SAP_ALL, which ignores it), EEXIST
 * (configured already), ENODEV (SAP_CLEAR and there is no such entry), ERANGE
 * (SAP_RANGE whose last minor is not above its first; SAP_CLEAR of a range entry
 * by a minor that is not its first), ENOSR (table full).
 */
int str_apush_set(struct strapush *ap);
/*
 * str_apush_later - enter @ap for the driver called @ap->sap_module, which need
 * not be loaded yet.  The entry takes effect when the driver is loaded, and is
 * not visible before. sap_major is ignored.
 * Return: as str_apush_set(), except ENODEV.
 */
int str_apush_later(const struct strapush *ap);
/*
 * str_apush_get - the entry that governs (major, minor)
 * Return: 0; EINVAL: no driver has that major; ENODEV: there is no entry.
 */
int str_apush_get(struct strapush *ap);
/*
 * str_apush_next - the @n-th entry of the table; ENODEV: there are fewer
 * entries.
 */
int str_apush_next(unsigned n, struct strapush *ret_ap);
/*
 * str_apush_module - is @name the name of a module?  Loads the module if it is
 * not loaded yet.
 */
int str_apush_module(const char *name);
/* str_apush_fresh - must the system's file still be applied to this domain?
 * str_apush_applied - note that the file has been applied. */
int str_apush_fresh(void);
void str_apush_applied(void);

#endif
