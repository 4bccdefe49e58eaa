/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What a pipe costs that carries nothing: pipe() and two close(), again and
 * again, in one process.  The time of one begins when the one before has
 * ended, so that the clock is read once for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/pin.h"
#include "lib/stats.h"
#include "lib/timing.h"
#include "worker.h"

#define MAX_TIMES (1u << 20)

static uint64_t
cpu_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * BENCH_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int
open_and_close(void)
{
	int fds[2];

	if (pipe(fds) != 0)
		return worker_fail("pipe");
	if (close(fds[0]) != 0 || close(fds[1]) != 0)
		return worker_fail("close");
	return 0;
}

/* Until @deadline.  How long each took goes to times, as far as it has room. */
static int
repeat(uint64_t deadline, double *times, size_t *ret_n)
{
	uint64_t last = bench_now_ns(), now;
	size_t n = 0;

	do {
		if (open_and_close() != 0)
			return -1;
		now = bench_now_ns();
		if (times != NULL && n < MAX_TIMES)
			times[n] = (double)(now - last);
		n++;
		last = now;
	} while (now < deadline);
	*ret_n = n;
	return 0;
}

int
measure_open(const struct job *job)
{
	double *times = malloc(MAX_TIMES * sizeof(*times));
	int ret = bench_pin_self(job->cpus[0]);
	uint64_t cpu;
	size_t n;

	if (times == NULL || ret != 0) {
		free(times);
		return worker_fail(ret != 0 ? "pinning to a CPU" : "memory");
	}
	ret = repeat(bench_now_ns() + bench_seconds_to_ns(job->warmup), NULL,
		&n);
	cpu = cpu_now_ns();
	if (ret == 0)
		ret = repeat(bench_now_ns() + bench_seconds_to_ns(job->seconds),
			times, &n);
	if (ret == 0) {
		size_t timed = n < MAX_TIMES ? n : MAX_TIMES;

		cpu = cpu_now_ns() - cpu;
		printf("p50_ns %.0f\n", bench_percentile(times, timed, 50));
		printf("p99_ns %.0f\n", bench_percentile(times, timed, 99));
		printf("cpu_ns_per_message %.1f\n", (double)cpu / (double)n);
	}
	free(times);
	return ret;
}
