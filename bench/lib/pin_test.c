/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "pin.h"

#include <errno.h>
#include <sched.h>

#include "t.h"

T_CASE(a_pinned_process_runs_where_it_was_put)
{
	int cpus[2];
	int n = bench_cpus_allowed(cpus, 2);
	int last = n > 1 ? cpus[1] : cpus[0];
	int left[1];

	T_GE(n, 1);
	T_EQ(bench_pin_self(last), 0);
	T_EQ(sched_getcpu(), last);
	T_EQ(bench_cpus_allowed(left, 1), 1);
	T_EQ(left[0], last);
}

T_CASE(a_cpu_that_does_not_exist_is_refused)
{
	T_EQ(bench_pin_self(1023), EINVAL);
}

T_CASE(a_pair_of_cpus_is_two_numbers)
{
	int writer = -1, reader = -1;

	T_EQ(bench_parse_cpus("3,12", &writer, &reader), 0);
	T_EQ(writer, 3);
	T_EQ(reader, 12);
	T_EQ(bench_parse_cpus("3", &writer, &reader), EINVAL);
	T_EQ(bench_parse_cpus("3,", &writer, &reader), EINVAL);
	T_EQ(bench_parse_cpus("3,4,5", &writer, &reader), EINVAL);
	T_EQ(bench_parse_cpus("-1,0", &writer, &reader), ERANGE);
	T_EQ(writer, 3);
}
