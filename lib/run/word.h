/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The words `tail' and `head' of a pipe's record: the epoch in the upper 24
 * bits, then flags, then the position in the lower 32 bits.
 */
#ifndef RUN_WORD_H
#define RUN_WORD_H

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

#endif
