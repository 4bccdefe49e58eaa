/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef BENCH_LIB_STATS_H
#define BENCH_LIB_STATS_H

#include <stddef.h>

/* These sort a copy; values stays as it was.  n = 0 gives 0. */
double bench_median(const double *values, size_t n);

/*
 * Nearest rank: the smallest value that at least percent of all values do
 * not exceed.  percent in 0..100.
 */
double bench_percentile(const double *values, size_t n, double percent);

/*
 * How far they lie apart, as a part of their median: the middle half of them;
 * of fewer than five, all.
 */
double bench_spread(const double *values, size_t n);

/* The geometric mean of positive values; 0 when one of them is not. */
double bench_geomean(const double *values, size_t n);

#endif
