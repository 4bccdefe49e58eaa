/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *
sorted_copy(const double *values, size_t n)
{
	double *copy = n == 0 ? NULL : malloc(n * sizeof(*copy));

	if (copy == NULL)
		return NULL;
	memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare_doubles);
	return copy;
}

double
bench_median(const double *values, size_t n)
{
	double *v = sorted_copy(values, n);
	double median;

	if (v == NULL)
		return 0;
	median = n % 2 != 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	free(v);
	return median;
}

double
bench_percentile(const double *values, size_t n, double percent)
{
	double *v = sorted_copy(values, n);
	double value;
	size_t rank;

	if (v == NULL)
		return 0;
	rank = (size_t)ceil(percent / 100 * (double)n);
	if (rank < 1)
		rank = 1;
	if (rank > n)
		rank = n;
	value = v[rank - 1];
	free(v);
	return value;
}

double
bench_spread(const double *values, size_t n)
{
	double *v = sorted_copy(values, n);
	double median = bench_median(values, n), spread;
	size_t off = n < 5 ? 0 : (n - 1) / 4;

	if (v == NULL)
		return 0;
	spread = median > 0 ? (v[n - 1 - off] - v[off]) / median : 0;
	free(v);
	return spread;
}

double
bench_geomean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(values[i] > 0))
			return 0;
		sum += log(values[i]);
	}
	return n == 0 ? 0 : exp(sum / (double)n);
}
