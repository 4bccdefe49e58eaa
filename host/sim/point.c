/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Every access to memory is a point where the task may change.
 *
 * For the seeded runs the executive is compiled once more, as for the thread
 * sanitizer: the compiler then calls a function before each load and store, and
 * does atomic operations by functions.  This file contains these functions,
 * which only let another task run.  So a task can be interrupted or killed
 * between any two stores, which tests the crash rules of the arena.
 *
 * The order among tasks is sequentially consistent: a missing fence is not
 * found here, but by the models.
 */
#include <string.h>

#include "sim_impl.h"

/*
 * A plain access takes no time; otherwise the clock would depend on the code
 * size.
 */
static inline void
access_point(void)
{
	if (str_likely(--sim.countdown != 0))
		return;
	sim.countdown = 1;
	sim_point();
}

#define HOOK(name) \
	void name(void *p); \
	void \
	name(void *p) \
	{ \
		(void)p; \
		access_point(); \
	}

HOOK(__tsan_read1)
HOOK(__tsan_read2)
HOOK(__tsan_read4)
HOOK(__tsan_read8)
HOOK(__tsan_read16)
HOOK(__tsan_write1)
HOOK(__tsan_write2)
HOOK(__tsan_write4)
HOOK(__tsan_write8)
HOOK(__tsan_write16)
HOOK(__tsan_unaligned_read2)
HOOK(__tsan_unaligned_read4)
HOOK(__tsan_unaligned_read8)
HOOK(__tsan_unaligned_read16)
HOOK(__tsan_unaligned_write2)
HOOK(__tsan_unaligned_write4)
HOOK(__tsan_unaligned_write8)
HOOK(__tsan_unaligned_write16)
HOOK(__tsan_vptr_read)
HOOK(__tsan_func_entry)

#define HOOK_RANGE(name) \
	void name(void *p, unsigned long n); \
	void \
	name(void *p, unsigned long n) \
	{ \
		(void)p, (void)n; \
		access_point(); \
	}

HOOK_RANGE(__tsan_read_range)
HOOK_RANGE(__tsan_write_range)

/* clang calls these instead of memcpy(), memmove() and memset(). */
#define HOOK_COPY(name, ret, ...) \
	void *__tsan_##name(__VA_ARGS__); \
	void * \
	__tsan_##name(__VA_ARGS__) \
	{ \
		access_point(); \
		return ret; \
	}

HOOK_COPY(memcpy, memcpy(to, from, n), void *to, const void *from, size_t n)
HOOK_COPY(memmove, memmove(to, from, n), void *to, const void *from, size_t n)
HOOK_COPY(memset, memset(to, c, n), void *to, int c, size_t n)

void __tsan_init(void);
void
__tsan_init(void)
{
}

void __tsan_func_exit(void);
void
__tsan_func_exit(void)
{
}

#define ATOMIC(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *p, int mo); \
	type \
	__tsan_atomic##bits##_load(const volatile type *p, int mo) \
	{ \
		(void)mo; \
		sim_point(); \
		return *p; \
	} \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int mo); \
	void \
	__tsan_atomic##bits##_store(volatile type *p, type v, int mo) \
	{ \
		(void)mo; \
		sim_point(); \
		*p = v; \
	} \
	ATOMIC_OP(bits, type, exchange, v) \
	ATOMIC_OP(bits, type, fetch_add, (type)(old + v)) \
	ATOMIC_OP(bits, type, fetch_sub, (type)(old - v)) \
	ATOMIC_OP(bits, type, fetch_and, old & v) \
	ATOMIC_OP(bits, type, fetch_or, old | v) \
	ATOMIC_OP(bits, type, fetch_xor, old ^ v) \
	ATOMIC_CAS(bits, type, strong) \
	ATOMIC_CAS(bits, type, weak) \
	type __tsan_atomic##bits##_compare_exchange_val( \
		volatile type *p, type want, type v, int mo, int fmo); \
	type \
	__tsan_atomic##bits##_compare_exchange_val( \
		volatile type *p, type want, type v, int mo, int fmo) \
	{ \
		(void)__tsan_atomic##bits##_compare_exchange_strong( \
			p, &want, v, mo, fmo); \
		return want; \
	}

/* No task can come between the load and the store: there is no point. */
#define ATOMIC_OP(bits, type, op, result) \
	type __tsan_atomic##bits##_##op(volatile type *p, type v, int mo); \
	type \
	__tsan_atomic##bits##_##op(volatile type *p, type v, int mo) \
	{ \
		type old; \
\
		(void)mo; \
		sim_point(); \
		old = *p; \
		*p = result; \
		return old; \
	}

#define ATOMIC_CAS(bits, type, kind) \
	int __tsan_atomic##bits##_compare_exchange_##kind( \
		volatile type *p, type *want, type v, int mo, int fmo); \
	int \
	__tsan_atomic##bits##_compare_exchange_##kind( \
		volatile type *p, type *want, type v, int mo, int fmo) \
	{ \
		(void)mo, (void)fmo; \
		sim_point(); \
		if (*p == *want) { \
			*p = v; \
			return 1; \
		} \
		*want = *p; \
		return 0; \
	}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int mo);
void
__tsan_atomic_thread_fence(int mo)
{
	(void)mo;
	sim_point();
}

void __tsan_atomic_signal_fence(int mo);
void
__tsan_atomic_signal_fence(int mo)
{
	(void)mo;
}
