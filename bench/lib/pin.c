/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "pin.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

int
bench_cpus_allowed(int *cpus, int max)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (n < max)
			cpus[n] = cpu;
		n++;
	}
	return n;
}

int
bench_pin_self(int cpu)
{
	cpu_set_t set;

	if (cpu == -1)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : errno;
}

int
bench_parse_cpus(const char *text, int *ret_writer, int *ret_reader)
{
	char *copy = strdup(text);
	char *comma;
	long writer, reader;
	int error = EINVAL;

	if (copy == NULL)
		return ENOMEM;
	comma = strchr(copy, ',');
	if (comma == NULL)
		goto out;
	*comma = '\0';
	error = bench_parse_long(copy, 0, CPU_SETSIZE - 1, &writer);
	if (error != 0)
		goto out;
	error = bench_parse_long(comma + 1, 0, CPU_SETSIZE - 1, &reader);
	if (error != 0)
		goto out;
	*ret_writer = (int)writer;
	*ret_reader = (int)reader;
out:
	free(copy);
	return error;
}
