/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef BENCH_LIB_PIN_H
#define BENCH_LIB_PIN_H

/*
 * Where a process runs.  "Allowed" means by the affinity mask the program
 * was started with, so taskset and cpusets are respected.
 */

/* Stores up to max allowed CPU numbers, ascending; returns how many exist. */
int bench_cpus_allowed(int *cpus, int max);

/*
 * Binds the calling process to one CPU; -1 leaves it where it may be.
 * 0 or a positive errno.
 */
int bench_pin_self(int cpu);

/* "W,R": two CPU numbers.  0 or EINVAL/ERANGE. */
int bench_parse_cpus(const char *text, int *ret_writer, int *ret_reader);

#endif
