/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "parse.h"

#include <errno.h>

#include "t.h"

T_CASE(a_number_within_bounds_is_taken)
{
	long value = 0;

	T_EQ(bench_parse_long("32768", 1, 32768, &value), 0);
	T_EQ(value, 32768);
}

T_CASE(what_is_no_number_is_refused)
{
	static const char *const rows[] = {
		"",
		"x",
		"1x",
		"1 ",
		"1.5",
		"--1",
	};
	long value = 7;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ(bench_parse_long(rows[i], 0, 9, &value), EINVAL);
	T_EQ(value, 7);
}

T_CASE(a_number_out_of_bounds_is_refused)
{
	long value = 7;

	T_EQ(bench_parse_long("0", 1, 9, &value), ERANGE);
	T_EQ(bench_parse_long("10", 1, 9, &value), ERANGE);
	T_EQ(bench_parse_long("99999999999999999999", 1, 9, &value), ERANGE);
	T_EQ(value, 7);
}

T_CASE(seconds_are_finite_fractions)
{
	double value = 7;

	T_EQ(bench_parse_seconds("0.25", 0, 1, &value), 0);
	T_TRUE(value == 0.25);
	T_EQ(bench_parse_seconds("nan", 0, 1, &value), EINVAL);
	T_EQ(bench_parse_seconds("inf", 0, 1, &value), EINVAL);
	T_EQ(bench_parse_seconds("2", 0, 1, &value), ERANGE);
	T_EQ(bench_parse_seconds("", 0, 1, &value), EINVAL);
	T_TRUE(value == 0.25);
}

T_CASE(a_range_doubles)
{
	long sizes[20];
	size_t n = 0;

	T_EQ(bench_parse_sizes("1..16384", 1, 32768, sizes, 20, &n), 0);
	T_EQ(n, 15u);
	T_EQ(sizes[0], 1);
	T_EQ(sizes[7], 128);
	T_EQ(sizes[14], 16384);
}

T_CASE(a_range_ends_with_its_last_value)
{
	long sizes[20];
	size_t n = 0;

	T_EQ(bench_parse_sizes("3..20", 1, 32768, sizes, 20, &n), 0);
	T_EQ(n, 4u);
	T_EQ(sizes[0], 3);
	T_EQ(sizes[1], 6);
	T_EQ(sizes[2], 12);
	T_EQ(sizes[3], 20);
}

T_CASE(lists_and_ranges_mix)
{
	long sizes[20];
	size_t n = 0;

	T_EQ(bench_parse_sizes("5,1..4,64", 1, 32768, sizes, 20, &n), 0);
	T_EQ(n, 5u);
	T_EQ(sizes[0], 5);
	T_EQ(sizes[3], 4);
	T_EQ(sizes[4], 64);
}

T_CASE(a_bad_list_is_refused_and_the_result_left_alone)
{
	static const char *const rows[] = {
		"",
		",",
		"1,",
		"4..1",
		"1..",
		"..4",
		"1...4",
		"a",
		"1;2",
	};
	long sizes[20];
	size_t n = 7;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ(bench_parse_sizes(rows[i], 1, 99, sizes, 20, &n), EINVAL);
	T_EQ(bench_parse_sizes("0", 1, 99, sizes, 20, &n), ERANGE);
	T_EQ(bench_parse_sizes("1..100", 1, 99, sizes, 20, &n), ERANGE);
	T_EQ(bench_parse_sizes("1..64", 1, 99, sizes, 3, &n), E2BIG);
	T_EQ(n, 7u);
}
