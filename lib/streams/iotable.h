/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stdio on Streams. iotable.c describes the design.
 */
#ifndef STREAMS_IOTABLE_H
#define STREAMS_IOTABLE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * stdio_attach - make the C library's FILEs read, write and close Streams
 * Called with the first Stream of the process; later calls return at once.
 * Context: does not sleep, allocates nothing.  Locks: the descriptor table's.
 */
void stdio_attach(void);

/* stdio_attached - has that been done, or found to be impossible? */
bool stdio_attached(void);

/* stdio_is_ours - does @f read, write and close by our functions? */
bool stdio_is_ours(const FILE *f);

/*
 * stdio_refused - is it impossible to have a FILE for a Stream?
 * Then errno is ENOTSUP, and with STREAMS_VERBOSE=1 standard error has the
 * reason, once.
 */
bool stdio_refused(void);

/* stdio_why - the reason as text; "" if there is none */
const char *stdio_why(void);

#endif
