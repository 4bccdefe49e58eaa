/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef BENCH_LIB_PARSE_H
#define BENCH_LIB_PARSE_H

#include <stddef.h>

/*
 * Numbers and lists of the command lines.  All functions return 0, or a
 * positive errno (EINVAL not a number or a bad list, ERANGE out of bounds,
 * E2BIG more values than fit) and leave the result untouched on failure.
 */

/* A whole decimal, hexadecimal (0x) or octal number within lo..hi. */
int bench_parse_long(const char *text, long lo, long hi, long *ret_value);

/* A finite decimal fraction within lo..hi. */
int bench_parse_seconds(
	const char *text, double lo, double hi, double *ret_value);

/*
 * "1,64,4096", "1..16384" (each value twice the one before, the last value
 * always included) and mixtures.  Ascending order and uniqueness are the
 * caller's affair: the values come out as they were written.
 */
int bench_parse_sizes(const char *text, long lo, long hi, long *sizes,
	size_t max, size_t *ret_n);

#endif
