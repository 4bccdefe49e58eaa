/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The first step of a host: first.c.
 */
#ifndef FIRST_H
#define FIRST_H

#include <stddef.h>

/* Make a domain of @cap bytes, with this thread in it.  0, or an errno. */
int first_init(size_t cap);
void first_fini(void);

/* A function of host.h was called that this host does not have yet. */
void first_later(const char *name);

#endif
