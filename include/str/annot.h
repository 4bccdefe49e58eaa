/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Annotations: the only place where compiler attributes are spelt out.
 */
#ifndef STR_ANNOT_H
#define STR_ANNOT_H

#define str_likely(x) __builtin_expect(!!(x), 1)
#define str_unlikely(x) __builtin_expect(!!(x), 0)

#define STR_ALIGNED(n) __attribute__((aligned(n)))
#define STR_LINE STR_ALIGNED(64) /* own cache line */
#define STR_MUST_CHECK __attribute__((warn_unused_result))
#define STR_NORETURN __attribute__((noreturn))
#define STR_COLD __attribute__((cold, noinline))
#define STR_HOT __attribute__((hot))
#define STR_NOINLINE __attribute__((noinline))
#define STR_INLINE static inline __attribute__((always_inline))
#define STR_UNUSED __attribute__((unused))
#define STR_WEAK __attribute__((weak))
#define STR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define STR_EXPORT __attribute__((visibility("default")))
#define STR_HIDDEN __attribute__((visibility("hidden")))
/* Variables that every call reads.  They lie together, so that a process that
 * has slept for a long time has few cache misses on them. */
#define STR_HOT_DATA __attribute__((section("str_hot")))
/* A table of which the first entries are hot, and large variables.  The linker
 * puts sections in the order in which it meets them. */
#define STR_HOT_TABLE __attribute__((section("str_hot_table")))
#define STR_LARGE_DATA __attribute__((section("str_large")))
/* A zeroed array of many pages.  The linker puts it behind all other variables,
 * so that those lie in few pages.  It cannot be static. */
#define STR_LARGE __attribute__((common))
/* A constant that is an entry of a list: the linker puts all entries of the
 * image together, between __start_LIST and __stop_LIST. */
#define STR_LISTED(list) __attribute__((section(#list), used))
/* Functions that every sleep and every wake executes.  They lie together for the
 * same reason; GNU ld places sections of this name in order. */
#define STR_WAKE_TEXT __attribute__((section(".text.sorted.wake")))
/* Functions that most programs call at their start or their end.  They lie with
 * the constructors, so that one page fault brings all of them. */
#define STR_START_TEXT __attribute__((section(".text.startup")))
#define STR_TLS __thread __attribute__((tls_model("initial-exec")))
#define STR_CONSTRUCTOR __attribute__((constructor))
#define STR_CONSTRUCTOR_AT(prio) __attribute__((constructor(prio)))
#define STR_PACKED __attribute__((packed))
/* Clang says it in another way than gcc. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/*
 * Another thread may write the memory that such a function reads, or it may be
 * free.  Its caller detects that.
 */
#if defined(__SANITIZE_THREAD__)
#define STR_RACY __attribute__((no_sanitize_thread, noinline))
#elif defined(__SANITIZE_ADDRESS__)
#define STR_RACY __attribute__((no_sanitize_address, noinline))
#else
#define STR_RACY
#endif
#define STR_FALLTHROUGH __attribute__((fallthrough))

/*
 * Lock annotations of functions, for Clang's thread-safety analysis.  No
 * declaration of this tree has one.
 */
#if defined(__clang__) && defined(STR_THREAD_SAFETY)
#define STR_MUST_HOLD(l) __attribute__((exclusive_locks_required(l)))
#define STR_ACQUIRES(l) __attribute__((exclusive_lock_function(l)))
#define STR_RELEASES(l) __attribute__((unlock_function(l)))
#else
#define STR_MUST_HOLD(l)
#define STR_ACQUIRES(l)
#define STR_RELEASES(l)
#endif

#endif
