/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The types and atomic operations of the executive: fixed-width integers and
 * explicit memory orders.  Freestanding: compiler headers only.
 */
#ifndef STR_TYPES_H
#define STR_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <str/annot.h>

/* <limits.h> is not freestanding everywhere. */
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#endif
#ifndef LONG_MAX
#define LONG_MAX __LONG_MAX__
#endif
#ifndef ULONG_MAX
#define ULONG_MAX (__LONG_MAX__ * 2UL + 1UL)
#endif

typedef _Atomic uint8_t str_a8;
typedef _Atomic uint16_t str_a16;
typedef _Atomic uint32_t str_a32;
typedef _Atomic uint64_t str_a64;

/*
 * The same object without _Atomic in its type: clang has these built-ins for
 * plain objects only.  The comma operator drops the qualifiers of its right
 * operand.
 */
#define STR_PLAIN(p) ((__typeof__((void)0, *(p)) *)(p))

#define str_load(p) __atomic_load_n(STR_PLAIN(p), __ATOMIC_RELAXED)
#define str_store(p, v) __atomic_store_n(STR_PLAIN(p), (v), __ATOMIC_RELAXED)

/* As str_cas() below; if it fails, *pold gets the value of *p. */
#define str_cas_see(p, pold, new) \
	__atomic_compare_exchange_n(STR_PLAIN(p), (pold), (new), 0, \
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#if !defined(__SANITIZE_THREAD__)
#define str_load_acq(p) __atomic_load_n(STR_PLAIN(p), __ATOMIC_ACQUIRE)
#define str_store_rel(p, v) \
	__atomic_store_n(STR_PLAIN(p), (v), __ATOMIC_RELEASE)
#define str_xchg(p, v) \
	__atomic_exchange_n(STR_PLAIN(p), (v), __ATOMIC_ACQ_REL)
#define str_add(p, v) \
	__atomic_fetch_add(STR_PLAIN(p), (v), __ATOMIC_ACQ_REL)
#define str_sub(p, v) \
	__atomic_fetch_sub(STR_PLAIN(p), (v), __ATOMIC_ACQ_REL)
#define str_or(p, v) \
	__atomic_fetch_or(STR_PLAIN(p), (v), __ATOMIC_ACQ_REL)
#define str_and(p, v) \
	__atomic_fetch_and(STR_PLAIN(p), (v), __ATOMIC_ACQ_REL)

/* Compare and swap: true if *p was @old and is now @new. */
#define str_cas(p, old, new) \
	__extension__({ \
		__typeof__((void)0, *(p)) str_cas_old_ = (old); \
		str_cas_see((p), &str_cas_old_, (new)); \
	})
#else
#include <str/tsan.h>
#endif

/* The compiler moves no access to memory across this; no instruction. */
#define str_barrier() __asm__ volatile("" ::: "memory")
/* Full fence: an instruction.  Those in pairs are listed in docs/locking.md. */
#define str_fence_full() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#define STR_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define STR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STR_MAX(a, b) ((a) > (b) ? (a) : (b))
#define STR_ROUNDUP(n, m) (((n) + (m) - 1) / (m) * (m))
#define str_container(p, type, member) \
	((type *)(void *)((char *)(p) - offsetof(type, member)))

/* Do other processors see two stores of a thread in their order? */
#if defined(__x86_64__)
#define STR_STORES_IN_ORDER 1
#else
#define STR_STORES_IN_ORDER 0
#endif

STR_INLINE void
str_cpu_relax(void)
{
#if defined(__x86_64__)
	__asm__ volatile("pause");
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
