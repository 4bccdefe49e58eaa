/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The autopush configuration file, autopush.conf(5): for the autopush tool
 * and for the first open of a device in a domain.
 */
#ifndef STREAMS_APCONF_H
#define STREAMS_APCONF_H

#include <stddef.h>

#include <str/annot.h>
#include <sys/sad.h>

#define APCONF_MAXTEXT 65536u /* bytes of a file */

/*
 * apconf_parse - read lines "DRIVER MINOR LASTMINOR MODULE ..."
 * @entry: called for each; ap->sap_major is -1 if the driver is given by its
 *         name, which is in sap_module.  A result other than 0 ends the
 *         reading.
 * @err: called for each line that cannot be parsed, or NULL
 *
 * Return: 0, the result of @entry, or -1 if a line was bad.
 */
int apconf_parse(const char *text, size_t len,
	int (*entry)(void *arg, unsigned line, struct strapush *ap),
	void (*err)(void *arg, unsigned line, const char *what), void *arg);

/* The built-in file, share/autopush.conf. */
extern const char apconf_builtin[] STR_HIDDEN;

/*
 * streams_autopush_load - apply the system's autopush.conf, or the file of
 * STREAMS_AUTOPUSH, to the domain, unless that has been done.  Called before
 * the first open of a device; inside a call.
 */
void streams_autopush_load(void);

#endif
