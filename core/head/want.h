/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The want word: bits of threads that want to be woken, and above them a number.
 *
 * Each request for a token, a watcher or a fence changes the number.  So a
 * thread that has seen the word sees whether one of these was requested again
 * since.  When the last of the three requests is taken away, the number becomes
 * 0.  Then the word is 0 if nothing is requested, and the fast path of a waker
 * looks no further.
 *
 * The number is the low 23 bits of host_ticks(), or one more if the word has
 * this number already.  An older number returns only by chance; then a thread
 * that saw it the first time may cancel the new request.
 */
#ifndef STR_WANT_H
#define STR_WANT_H

#include "core.h"

/*
 * want_request - set @bits in the word, and change its number
 * *ret_n: the word's new value.  Return: the old one.
 */
STR_INLINE uint32_t
want_request(str_a32 *want, uint32_t bits, uint32_t *ret_n)
{
	uint32_t w, n;

	do {
		w = str_load(want);
		n = (w & STR_WANT_BITS) | bits |
			((uint32_t)host_ticks() << STR_WANT_SHIFT);
		if (((n ^ w) & ~STR_WANT_BITS) == 0)
			n += STR_WANT_BITS + 1;
	} while (!str_cas(want, w, n));
	*ret_n = n;
	return w;
}

/* The value @w of the word without @bits. */
STR_INLINE uint32_t
want_without(uint32_t w, uint32_t bits)
{
	w &= ~bits;
	return (w & (STR_WANT_TOKEN | STR_WANT_WATCH | STR_WANT_FENCE)) != 0 ?
		w : w & STR_WANT_BITS;
}

/*
 * want_fenced - the heavy fence was executed after the word had the value @n:
 * all wakers have seen STR_WANT_FENCE, if it was set.  A thread that is late
 * does not change a later request (models/fence.pml).
 */
STR_INLINE void
want_fenced(str_a32 *want, uint32_t n)
{
	if ((n & STR_WANT_QUIET) == STR_WANT_FENCE)
		(void)str_cas(want, n, n | STR_WANT_FENCED);
}

/*
 * want_arm - request a token
 * *ret_n: as want_request().  Return: true if no other thread had requested one.
 */
STR_INLINE bool
want_arm(str_a32 *want, uint32_t *ret_n)
{
	return (want_request(want, STR_WANT_TOKEN, ret_n) &
		STR_WANT_TOKEN) == 0;
}

/* want_disarm - cancel the request for a token, if the word has the same number
 * as in its value @n: there was no later request; other bits may differ */
STR_INLINE void
want_disarm(str_a32 *want, uint32_t n)
{
	uint32_t w;

	do {
		w = str_load(want);
		if (((w ^ n) & ~STR_WANT_BITS) != 0)
			return;
	} while (!str_cas(want, w, want_without(w, STR_WANT_TOKEN)));
}

#endif
