/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The words `tail' and `head' of a pipe's record: the epoch in the upper 24
 * bits, then flags, then the position in the lower 32 bits.
 */
#ifndef RUN_WORD_H
#define RUN_WORD_H

#include <sched.h>
#include <time.h>

#include "run.h"

#define POS(w) ((uint32_t)(w))
#define FLAG(w, f) (((w) & (uint64_t)(f) << 32) != 0)
#define SAME_EPOCH(w, ep) ((w) >> 40 == ((ep) & 0xffffff))

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)

STR_INLINE bool
swap(uint64_t *word, uint64_t old, uint64_t new)
{
	return __atomic_compare_exchange_n(word, &old, new, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

STR_INLINE void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

/* The line at @p will be written: have it here by then. */
STR_INLINE void
ask_line(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw (%0)" : : "r"(p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* A clock in units of about a third of a nanosecond, up to one. */
STR_INLINE uint64_t
ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

/* Note in @own on which CPU this process is.  Return: is @other the same one?
 * Then the other side runs only when this one does not. */
STR_INLINE bool
on_cpu_of(int32_t *own, const int32_t *other)
{
	int32_t cpu = sched_getcpu();

	if (__atomic_load_n(own, __ATOMIC_RELAXED) != cpu)
		__atomic_store_n(own, cpu, __ATOMIC_RELAXED);
	return __atomic_load_n(other, __ATOMIC_RELAXED) == cpu;
}

/*
 * A wait begins with a look that lasts for some time, because a sleep and a wake
 * cost more.  It is twice as long as the last look that was worth it.  When no look
 * is, the looks become short; a long one, now and then, finds out whether that
 * has changed.
 */
#define LOOK_MIN 500u
#define LOOK_MAX 60000u /* about 20 us, what a sleep and a wake cost */
#define LOOK_SKIP 4u /* short looks before the next long one */
#define LOOK_SKIP_MAX 256u

STR_INLINE uint32_t
look_begin(struct run_look *l)
{
	if (l->time > LOOK_MIN)
		return l->time;
	if (l->skipped < l->skip) {
		l->skipped++;
		return LOOK_MIN;
	}
	l->skipped = 0;
	return LOOK_MAX;
}

/* The look has lasted @took of @time, and was worth it (@came) or not. */
STR_INLINE void
look_end(struct run_look *l, uint64_t took, uint32_t time, bool came)
{
	uint32_t old = l->time;

	if (came) {
		l->time = took > LOOK_MAX / 2 ? LOOK_MAX : 2 * (uint32_t)took;
		if (l->time < old - old / 4)
			l->time = old - old / 4;
		l->skip = LOOK_SKIP;
	} else {
		l->time = old / 2;
		if (time == LOOK_MAX && l->skip < LOOK_SKIP_MAX)
			l->skip *= 2;
	}
	if (l->time < LOOK_MIN)
		l->time = LOOK_MIN;
}

#endif
