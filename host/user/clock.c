/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Clocks.  host_now() is the kernel's monotonic clock; host_ticks() the
 * processor's counter, for back-off and for rough durations, for which an error
 * of some parts in a thousand is acceptable.  The processor tells its rate, or
 * the process that makes the domain measures it during 50 us, for all members.
 */
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "user_impl.h"

#define CALIBRATE_NS 50000u

uint64_t host_ticks_per_ms = 1000000;

uint64_t
host_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t
host_wall(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec;
}

STR_WAKE_TEXT uint64_t
host_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

/* The rate that the processor tells, or 0. */
static uint64_t
rate_told(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a != 0 && b != 0 && c != 0)
		return (uint64_t)c * b / a / 1000;
	return 0;
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(v));
	return v / 1000;
#endif
}

/* Read both clocks at the same moment, as closely as a few attempts allow. */
static void
sample(uint64_t *ret_ns, uint64_t *ret_ticks)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 4; i++) {
		uint64_t a = host_ticks();
		uint64_t ns = host_now();
		uint64_t b = host_ticks();

		if (b - a >= best)
			continue;
		best = b - a;
		*ret_ns = ns;
		*ret_ticks = a + (b - a) / 2;
	}
}

void
host_clock_init(str_a64 *known)
{
	uint64_t ns0 = 0, t0 = 0, ns1 = 0, t1 = 0;
	uint64_t rate = str_load(known);

	if (rate == 0)
		rate = rate_told();
	if (rate == 0) {
		sample(&ns0, &t0);
		while (host_now() - ns0 < CALIBRATE_NS)
			str_cpu_relax();
		sample(&ns1, &t1);
		rate = ns1 > ns0 && t1 > t0 ?
			(t1 - t0) * 1000000u / (ns1 - ns0) : 0;
	}
	if (rate == 0)
		return;
	str_store(known, rate);
	host_ticks_per_ms = rate;
}
