/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef BENCH_LIB_TIMING_H
#define BENCH_LIB_TIMING_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define BENCH_NS_PER_S 1000000000ull

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t
bench_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * BENCH_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Sleeps until a moment of bench_now_ns(), whatever signals arrive. */
static inline void
bench_sleep_until_ns(uint64_t deadline)
{
	struct timespec ts = {
		.tv_sec = (time_t)(deadline / BENCH_NS_PER_S),
		.tv_nsec = (long)(deadline % BENCH_NS_PER_S),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
		EINTR)
		;
}

static inline uint64_t
bench_seconds_to_ns(double seconds)
{
	return (uint64_t)(seconds * (double)BENCH_NS_PER_S);
}

#endif
