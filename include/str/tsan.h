/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The atomics of <str/types.h> under the thread sanitizer.
 *
 * The sanitizer observes one process only.  If a thread passes an object to
 * another process, and that process passes it to a second thread of the first
 * one, the sanitizer finds no order between these two threads and reports a
 * race. Therefore the domain records for each of its words, with few
 * collisions, which process wrote it last.  A thread that reads a word of
 * another process is ordered behind everything that this process has published
 * so far.  No order is added between threads of one process.
 *
 * Implemented in host/user/tsan.c; hosts with one process do not need it.
 */
#ifndef STR_TSAN_H
#define STR_TSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <str/annot.h>

unsigned host_tsan_begin(const volatile void *p) STR_WEAK STR_HIDDEN;
void host_tsan_end(const volatile void *p, unsigned was) STR_WEAK STR_HIDDEN;
void host_tsan_undo(const volatile void *p, unsigned was) STR_WEAK STR_HIDDEN;
void host_tsan_loaded(const volatile void *p) STR_WEAK STR_HIDDEN;

#define str_load_acq(p) \
	__extension__({ \
		__typeof__(p) str_lp_ = (p); \
		__typeof__((void)0, *str_lp_) str_lv_ = \
			__atomic_load_n(STR_PLAIN(str_lp_), __ATOMIC_ACQUIRE); \
		if (host_tsan_loaded != NULL) \
			host_tsan_loaded(str_lp_); \
		str_lv_; \
	})
#define str_store_rel(p, v) \
	__extension__({ \
		__typeof__(p) str_sp_ = (p); \
		__typeof__((void)0, *str_sp_) str_sv_ = (v); \
		if (host_tsan_begin != NULL) \
			(void)host_tsan_begin(str_sp_); \
		__atomic_store_n(STR_PLAIN(str_sp_), str_sv_, \
			__ATOMIC_RELEASE); \
	})
#define STR_TSAN_RMW(op, p, v) \
	__extension__({ \
		__typeof__(p) str_rp_ = (p); \
		unsigned str_rw_ = host_tsan_begin == NULL ? 0 : \
			host_tsan_begin(str_rp_); \
		__typeof__((void)0, *str_rp_) str_rv_ = \
			op(STR_PLAIN(str_rp_), (v), __ATOMIC_ACQ_REL); \
		if (host_tsan_end != NULL) \
			host_tsan_end(str_rp_, str_rw_); \
		str_rv_; \
	})
#define str_xchg(p, v) STR_TSAN_RMW(__atomic_exchange_n, p, v)
#define str_add(p, v) STR_TSAN_RMW(__atomic_fetch_add, p, v)
#define str_sub(p, v) STR_TSAN_RMW(__atomic_fetch_sub, p, v)
#define str_or(p, v) STR_TSAN_RMW(__atomic_fetch_or, p, v)
#define str_and(p, v) STR_TSAN_RMW(__atomic_fetch_and, p, v)
#define str_cas(p, old, new) \
	__extension__({ \
		__typeof__(p) str_cp_ = (p); \
		__typeof__((void)0, *str_cp_) str_cas_old_ = (old); \
		unsigned str_cw_ = host_tsan_begin == NULL ? 0 : \
			host_tsan_begin(str_cp_); \
		bool str_cok_ = str_cas_see(str_cp_, &str_cas_old_, (new)); \
		if (host_tsan_end != NULL) { \
			host_tsan_end(str_cp_, str_cw_); \
			if (!str_cok_) \
				host_tsan_undo(str_cp_, str_cw_); \
		} \
		str_cok_; \
	})

#endif
