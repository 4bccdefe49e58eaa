/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The modules of the stream that is a tool's standard input.
 */
#ifndef TOOLS_MODS_H
#define TOOLS_MODS_H

#include <sys/types.h>
#include <sys/stropts.h>

#include "tool.h"

/* Names topmost first, the driver's last, if it has one. */
struct mods {
	struct str_mlist *v;
	int n;
	int npush; /* of these, modules */
};

/* A remaining operand is opened and becomes standard input. */
void mods_input(const struct tool *t, int argc, char **argv);
/* Read them from descriptor @fd; does not return if it is not a stream. */
void mods_get(const struct tool *t, int fd, struct mods *ret);
void mods_free(struct mods *m);

#endif
