/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What the cases about stdio share.
 */
#ifndef TESTS_POSIX_STDIO_CALLS_H
#define TESTS_POSIX_STDIO_CALLS_H

#include "posix.h"

struct files {
	FILE *r, *w;
};

int stdio_is(const char *target);
const char *stdio_fifo_path(void);

/* A new pipe, or what the target is: fd[0] is to be read, fd[1] written. */
void stdio_ends(int fd[2]);

/* The same, with a FILE for each end. */
void stdio_files(struct files *f);

#endif
