/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "stats.h"

#include <math.h>

#include "t.h"

T_CASE(the_median_of_an_odd_number_is_the_middle_one)
{
	const double values[] = {9, 1, 5};

	T_TRUE(bench_median(values, 3) == 5);
	/* The caller's order stays. */
	T_TRUE(values[0] == 9);
}

T_CASE(the_median_of_an_even_number_lies_between_the_middle_two)
{
	const double values[] = {4, 1, 2, 100};

	T_TRUE(bench_median(values, 4) == 3);
}

T_CASE(percentiles_are_values_that_occurred)
{
	double values[100];

	for (int i = 0; i < 100; i++)
		values[i] = 100 - i;
	T_TRUE(bench_percentile(values, 100, 50) == 50);
	T_TRUE(bench_percentile(values, 100, 99) == 99);
	T_TRUE(bench_percentile(values, 100, 100) == 100);
	T_TRUE(bench_percentile(values, 100, 0) == 1);
	T_TRUE(bench_percentile(values, 5, 99) == 100);
}

T_CASE(the_spread_of_few_is_that_of_all)
{
	const double values[] = {5, 4, 3, 6};

	T_TRUE(bench_spread(values, 1) == 0);
	T_TRUE(bench_spread(values, 2) == 1 / 4.5);
	T_TRUE(bench_spread(values, 3) == 0.5);
	T_TRUE(bench_spread(values, 4) == 3 / 4.5);
}

T_CASE(the_spread_of_many_is_that_of_their_middle_half)
{
	const double five[] = {1, 100, 8, 12, 10};
	const double nine[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};

	T_TRUE(bench_spread(five, 5) == 0.4);
	T_TRUE(bench_spread(nine, 9) == 0.8);
}

T_CASE(the_geometric_mean_is_that_of_ratios)
{
	const double values[] = {2, 8};
	const double bad[] = {2, 0};

	T_TRUE(fabs(bench_geomean(values, 2) - 4) < 1e-12);
	T_TRUE(bench_geomean(bad, 2) == 0);
}

T_CASE(nothing_has_no_mean)
{
	T_TRUE(bench_median(NULL, 0) == 0);
	T_TRUE(bench_percentile(NULL, 0, 50) == 0);
	T_TRUE(bench_geomean(NULL, 0) == 0);
	T_TRUE(bench_spread(NULL, 0) == 0);
}
