/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Programs outside the domain for outside.c and bothways.c.
 */
#ifndef TESTS_LINKING_OUTSIDE_H
#define TESTS_LINKING_OUTSIDE_H

#include <stdint.h>
#include <sys/types.h>

#include "t.h"

#define SHELL(text) (char *[]){"sh", "-c", (char *)(uintptr_t)(text), NULL}

/*
 * start - a shell that runs @text with @in and @out (-1: its own) by fork and
 * exec; the child closes these two and @unused (-1: none).
 * status_of - wait for @pid.  Return: its status, as waitpid() gives it.
 * nap - for @ms milliseconds.
 */
pid_t start(const char *text, int in, int out, int unused);
int status_of(pid_t pid);
void nap(unsigned ms);

#endif
