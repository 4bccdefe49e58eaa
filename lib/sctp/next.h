/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The next definitions of the functions that this library defines: those of
 * libstreams, or of the C library.
 */
#ifndef LIB_SCTP_NEXT_H
#define LIB_SCTP_NEXT_H

#include <dlfcn.h>

/* A pointer that is looked up once; the lookups of threads find the same. */
#define NEXT(name) \
	({ \
		static __typeof__(&name) next_; \
		__typeof__(&name) f_ = __atomic_load_n(&next_, \
			__ATOMIC_RELAXED); \
		if (f_ == NULL) { \
			f_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
			__atomic_store_n(&next_, f_, __ATOMIC_RELAXED); \
		} \
		f_; \
	})

#endif
