/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shared by foreign.c, which registers loaded modules and drivers, and
 * flavour.c, which handles the registration methods of other systems.
 */
#ifndef PLUMB_FOREIGN_H
#define PLUMB_FOREIGN_H

#include "core.h"

/*
 * str_foreign_enter - register a module or driver of an image
 * @name:  1 to FMNAMESZ characters; copied
 * @group: see str_fmod_new()
 *
 * The image is marked as one that registers itself.
 * Return: 0; EINVAL, with a reason in the log; EBUSY: str_fmod_new() refuses
 * it.
 */
int str_foreign_enter(const char *name, uint32_t kind, uint32_t flag,
	uint32_t major, const struct streamtab *st, const char *group,
	struct str_fmod **ret);

/*
 * str_foreign_leave - remove @fm, which may be NULL
 * Return: 0; ENXIO: it is not foreign, or not registered with @st; EBUSY: it is
 * in use.
 */
int str_foreign_leave(struct str_fmod *fm, const struct streamtab *st);

bool str_foreign_name_is_good(const char *name);

/* The symbol @name followed by @suffix of image @image, or NULL. */
void *str_foreign_symbol(uint32_t image, const char *name,
	const char *suffix);

/*
 * str_flavour_begin - call the configuration procedure that another system
 * would call in module or driver @name, wanted as @kind, if it has one
 * Return: 0; EINVAL: it returned an error, which is in the log.
 */
int str_flavour_begin(uint32_t image, const char *name, uint32_t kind);

#endif
